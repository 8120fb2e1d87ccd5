"""What a golden case is: files in an empty folder, and command lines that are run there one after the other."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from signal import Signals

Edit = Callable[[Path], object]
"""Changes files of the case's folder before a step."""


@dataclass(frozen=True)
class Step:
    """One command line after `burnish`, or Python code where `code` is given.

    In each word `{s}` is the case's sentence, `{server}` the address of the case's server, `{folder}` its folder.
    """

    line: str = ""
    code: str = ""
    stdin: str = ""
    edit: Edit | None = None
    signal: Signals | None = None
    """Sent to the process when the server is asked the `at`-th time, or when the record holds an event named `at`."""
    at: int | str = 0
    loose: bool = False
    """Keep only the exit code, the verdict and the files: where a signal falls among events is chance."""


@dataclass(frozen=True)
class Case:
    """A name and steps that share a folder, a home for runs and a server."""

    name: str
    steps: tuple[Step, ...]
    sentence: str = ""
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    answers: tuple[str, ...] = ()
    """What the server answers, the last one again; a number is an HTTP status to refuse with."""
    env: Mapping[str, str] = field(default_factory=dict)
    sample: str = ""
    """A record of a real model's run in samples/, laid out as the case's home and folder."""
    data: bool = False
    """Needs the benchmark files that BURNISH_DATA names."""
