"""What happened, and how it comes about: requests, attempts, records, the store."""

from burnish.events.history import Run, Version
from burnish.runs.record import Emitter, Record, Watch, read_record
from burnish.runs.store import Store

__all__ = ["Emitter", "Record", "Run", "Store", "Version", "Watch", "read_record"]
