"""A node at work: tools of which each test names what matters to it."""

import threading
from collections.abc import Mapping, Sequence
from typing import Any, cast

from burnish.agent.ask import Tools
from burnish.agent.limits import Limits, Meter
from burnish.checks.suite import Suite
from burnish.errors import SandboxError
from burnish.events import Graded
from burnish.events.replay import Replay
from burnish.models.scripted import ScriptedModel


class Gone:
    """A ground on which nothing can be run."""

    level = "gone"

    def __init__(self, edits: bool = False) -> None:
        self.edits = edits
        self.asked = 0

    def grade(self, module: str, suite: Suite, disputed: tuple[str, ...] = ()) -> Graded:
        self.asked += 1
        raise SandboxError("the cell did not start")

    def grade_quickly(self, module: str, suite: Suite) -> Graded:
        return self.grade(module, suite)

    def passes(self, module: str, suite: Suite) -> bool:
        self.asked += 1
        raise SandboxError("the cell did not start")

    def passing(self, modules: Sequence[str], suite: Suite, seconds: float = 1, most: int = 1) -> tuple[int, ...]:
        self.asked += 1
        if self.edits:
            return (0,)
        raise SandboxError("the cell did not start")

    def fingerprint(self, suite: Suite) -> tuple[tuple[str, str], ...]:
        return suite.files

    def test_texts(self, suite: Suite) -> tuple[str, ...]:
        return ()

    def run_calls(self, modules: Mapping[int, str], calls: Sequence[str]) -> dict[int, tuple[str, ...]]:
        self.asked += 1
        raise SandboxError("the cell did not start")


def tools(
    sandbox: object = None,
    *answers: str,
    ground: object = None,
    limits: Limits | None = None,
    replay: Replay | None = None,
    others: Sequence[ScriptedModel] = (),
) -> Tools:
    return Tools(
        ScriptedModel(list(answers)),
        cast(Any, sandbox),
        Meter(limits or Limits()),
        threading.Event(),
        place=cast(Any, ground),
        replay=replay or Replay(),
        others=tuple(others),
    )
