"""What happened: records, the store, the index."""

from burnish.runs.record import Record, read_record
from burnish.runs.replay import Replay, unless_known
from burnish.runs.run import Run, Version
from burnish.runs.store import Store
from burnish.runs.voice import Voice, Watch

__all__ = ["Record", "Replay", "Run", "Store", "Version", "Voice", "Watch", "read_record", "unless_known"]
