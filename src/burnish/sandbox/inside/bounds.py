"""What both sides of a cell know. Nothing is imported here that a system could lack."""

import struct

WALL = 4
"""The wall limit of a job is this many times its CPU limit."""
SERVER_FILES = 1 << 14
"""Descriptors of process 1, where the machine allows it so many."""
HEADER = struct.Struct("!cI")
"""What a frame is, and how many bytes follow, where jobs go through a stream (`control.py`)."""
JOB, MESSAGE, OUTPUT = b"J", b"M", b"O"
MOST_FRAME = 1 << 20
"""Bytes of a frame that comes out of a cell: no pipe holds more."""
