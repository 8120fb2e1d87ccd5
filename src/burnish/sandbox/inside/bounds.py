"""Numbers that both sides of a cell know. Nothing is imported here, so every system can read them."""

WALL = 4
"""The wall limit of a job is this many times its CPU limit."""
SERVER_FILES = 1 << 14
"""Descriptors of process 1, where the machine allows it so many."""
