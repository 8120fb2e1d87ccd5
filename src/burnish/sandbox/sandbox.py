"""The idea of a sandbox: `run` a command, `grade` code against tests. Its kinds are this file's neighbours."""

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Protocol, Self

from burnish.events import CommandRan, Graded


class Sandbox(Protocol):
    """A place where untrusted code may run.

    Stops: writing outside the work folder, using the network, outliving its time limit.
    Does not stop: a kernel exploit, or measuring time.
    """

    kind: str
    """"bubblewrap" or "process"."""
    level: str
    """One line for reports: which protections are active."""

    def run(
        self, argv: Sequence[str], files: Mapping[str, str] | None = None, timeout_seconds: float = 10.0
    ) -> CommandRan:
        """Run one command in a fresh folder that holds `files`, and say how it ended."""
        ...

    def grade(self, code: str, tests: str, timeout_seconds: float = 10.0) -> Graded:
        """Run `tests` against `code` (importable as `solution`) and say what each test said."""
        ...

    def close(self) -> None:
        """End every process and remove every folder of this sandbox. Safe to call twice and from another thread."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
