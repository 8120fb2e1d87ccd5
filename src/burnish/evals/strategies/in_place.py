"""A sandbox that grades an answer in the module it belongs to, as the scorer will."""

from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Self

from burnish.events import CommandRan, Graded
from burnish.sandbox.sandbox import Sandbox
from burnish.tasks.assemble import assemble
from burnish.tasks.task import Task


class InPlace:
    """The sandbox behind it, for an agent that knows nothing of the imports and helpers around its function."""

    def __init__(self, box: Sandbox, task: Task) -> None:
        self.kind, self.level = box.kind, box.level
        self._box, self._task = box, task

    def run(
        self,
        argv: Sequence[str],
        files: Mapping[str, str] | None = None,
        timeout_seconds: float = 10.0,
        heard: Callable[[bytes], None] | None = None,
    ) -> CommandRan:
        """As the sandbox behind it."""
        return self._box.run(argv, files, timeout_seconds, heard)

    def grade(self, code: str, tests: str, timeout_seconds: float = 10.0) -> Graded:
        """The whole module against the tests."""
        return self._box.grade(assemble(self._task, code), tests, timeout_seconds)

    def close(self) -> None:
        """As the sandbox behind it."""
        self._box.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
