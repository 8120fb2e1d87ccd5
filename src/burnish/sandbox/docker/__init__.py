"""Cells in containers: for machines where bubblewrap cannot make them, with an engine that runs on the same machine."""
