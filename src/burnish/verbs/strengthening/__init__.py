"""The parts of `burnish strengthen`: what is looked at, what goes unnoticed, which calls show it, and the new file."""
