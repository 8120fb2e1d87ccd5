"""The five sentences of `burnish eval apps`, and what a person would try in each app; written before any was built."""
