"""The version, alone in its file so that packaging and the command line read it without importing anything."""

__version__ = "0.1.0"
