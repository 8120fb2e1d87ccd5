"""Whether the result of a round for a check is kept; the rounds themselves are in `agent/nodes/refine.py`."""
