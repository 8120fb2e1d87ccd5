"""Small things that several tests say."""

import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from burnish.commands.fix import FixOptions, FixPlan, plan_fix
from burnish.errors import SetupProblem
from burnish.events import BaseEvent
from burnish.models.model import Model
from burnish.runs import Run
from burnish.runs import attempt as runs_attempt
from burnish.runs.request import Request
from burnish.tasks import Task
from tests.snapshots import assert_snapshot

MINE = "export PATH\n"
"""What the fixture `mine` holds."""
ROOT = Path(__file__).resolve().parent.parent
ESC = "\x1b"
DOUBLE = "a function double(n), e.g. double(2) == 4 and double(5) == 10"


def block(code: str, language: str = "python") -> str:
    """An answer as models write them: one fenced block."""
    return f"```{language}\n{code}\n```"


ASKING = ("draft", "rewrite", "repair")
"""What code may be asked for with."""
GOOD = block("def double(n):\n    return n * 2")
SQUARE = block("def double(n):\n    return n * n")
WRONG = block("def double(n):\n    return 7")
OWN_TESTS = block("assert double(0) == 0\nassert double(-3) == -6\nassert double(10) == 20")


def script(**replies: str | list[str]) -> dict[str, list[str]]:
    """A scripted model's answers by purpose; a good `double` where nothing else is said."""
    usual: dict[str, str | list[str]] = dict.fromkeys(ASKING, GOOD)
    chosen = usual | {"tests": OWN_TESTS, "specify": "def double(n):", "assume": "none"} | replies
    return {purpose: [said] if isinstance(said, str) else said for purpose, said in chosen.items()}


LIVE = ("store", "watch", "answer", "review", "ground", "replay")


def attempt(task: Task, model: Model | Sequence[Model], **asked: Any) -> Run:
    """One attempt at a task, with what is asked of it and what it works with side by side."""
    models = model if isinstance(model, Sequence) else [model]
    live = {name: asked.pop(name) for name in LIVE if asked.get(name) is not None}
    asked = {name: value for name, value in asked.items() if value is not None}
    return runs_attempt.start(Request(task=task, **asked), runs_attempt.Resources(models, **live)).wait()


def plan_for(path: Path | str, **asked: Any) -> FixPlan:
    """What `fix` would do with a file."""
    return plan_fix(FixOptions(path, **asked))


def kinds(events: list[BaseEvent] | tuple[BaseEvent, ...]) -> list[str]:
    """The kinds of events, in order."""
    return [str(getattr(event, "kind", "")) for event in events]


def burnish(
    *arguments: str, cwd: Path, stdin: str | bytes = b"", env: Mapping[str, str] | None = None, seconds: float = 60
) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own, as a user starts it."""
    done = subprocess.run(
        [sys.executable, "-m", "burnish", *arguments],
        cwd=cwd,
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        env={**os.environ, **(env or {})},
        capture_output=True,
        timeout=seconds,
    )
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
    )


VARYING = {
    rf"{re.escape(tempfile.gettempdir())}/pytest-of-[^/]+/pytest-[^/]+/(?:popen-gw\d+/)?[^/\s'\",:)]+": "<tmp>",
    re.escape(str(ROOT)): "<root>",
    re.escape(sys.executable): "<python>",
    r"\b([a-z][\w-]*)-[0-9a-f]{4}\b": r"\1-<id>",
    r" *\d+(?:\.\d+)? (s\b|tokens/s)": r" <n> \1",
    r"^ *-?\d+\.\ds ": " <n>s ",
}
"""What differs from one test run to the next, and what stands for it in a snapshot."""
_snapshots: Counter[str] = Counter()


def assert_words(text: str) -> None:
    """Compare what a person reads with the snapshot that has the name of the test that is running."""
    test = os.environ["PYTEST_CURRENT_TEST"].removesuffix(" (call)")
    _snapshots[test] += 1
    file, _, name = test.partition("::")
    area = file.split("/")[1] if file.count("/") > 1 else "root"
    for pattern, instead in VARYING.items():
        text = re.sub(pattern, instead, text, flags=re.MULTILINE)
    number = f" {_snapshots[test]}" if _snapshots[test] > 1 else ""
    assert_snapshot(text, f"{area}/{Path(file).stem.removeprefix('test_')}: {name.removeprefix('test_')}{number}")


@contextmanager
def refused(
    kind: type[Exception] = SetupProblem, name: str = "", **varying: object
) -> Iterator[pytest.ExceptionInfo[Exception]]:
    """What is done here raises such an error, in the words of the snapshot: that of the running test, unless named."""
    with pytest.raises(kind) as caught:
        yield caught
    if name:
        assert_snapshot(str(caught.value), name, **varying)
    else:
        assert_words(str(caught.value))
