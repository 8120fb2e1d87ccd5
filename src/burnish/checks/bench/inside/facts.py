"""Jobs and facts: how a cell is told what to do, and how its processes say what they found.

A fact is a JSON object on a line that begins with the job's number, which the code under test is not told. Imported
outside of cells as well, so it imports nothing of ours.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any, Optional

PACKAGE = "burnish_suite_in_cell"
"""What this folder is called in a cell, beside a project that may be Burnish itself."""

EVERYBODY = -1
"""Stands for all tests, where it is not known which of them runs a line."""

Fact = dict[str, Any]


def read_job() -> Fact:
    """The job, removed from where the code under test could read it: it holds the number that our facts begin with."""
    with open("job.json", encoding="utf-8") as file:  # noqa: PTH123 importing pathlib takes longer than many a job
        job: Fact = json.load(file)
    os.unlink("job.json")  # noqa: PTH108
    return job


def say(descriptor: int, nonce: str, fact: Fact) -> None:
    """One fact as one line that only we could have begun."""
    data = f"\n{nonce}{json.dumps(fact)}\n".encode()
    while data:
        data = data[os.write(descriptor, data) :]


class FactReader:
    """Cuts what a process writes into facts, as it comes; a torn line and anything else is passed over."""

    def __init__(self, nonce: str, on_fact: Optional[Callable[[Fact], None]] = None) -> None:  # noqa: UP045
        self.facts: list[Fact] = []
        self.rest = b""
        """The line that has not ended yet."""
        self._nonce, self._on_fact = nonce.encode(), on_fact

    def __call__(self, data: bytes) -> None:
        """Take the next bytes, wherever they are cut."""
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            if line.startswith(self._nonce):
                try:
                    fact = json.loads(line[len(self._nonce) :])
                except (ValueError, RecursionError):
                    continue
                if isinstance(fact, dict):
                    self.facts.append(fact)
                    if self._on_fact:
                        self._on_fact(fact)
