"""Twenty planted weaknesses: how many are mended, by what, and does anything else get worse?

    python experiments/weaknesses.py [MODEL] [NAME ...]

MODEL is who is asked for what ruff cannot fix (default: local:qwen2.5-coder-1.5b); "none" leaves it at ruff.
Each file in experiments/weaknesses/ is code that passes its given tests and has one weakness; the comments at its top
say what was asked for and which check must find it. The code is handed to the agent as the answer to its first
question; all that follows is what `burnish write` does.
"""

import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from burnish.agent.limits import Limits
from burnish.agent.refine_gate import is_better, is_worse, needs_question
from burnish.checks.final import FinalChecks
from burnish.errors import ModelError
from burnish.events import CodeProposed, Evidence, Mutated, Refined, Strengthened
from burnish.models.model import Ask, Chunk, Done, Model, Waiting
from burnish.models.names import open_model
from burnish.runs import Run, Store
from burnish.runs.attempt import Resources, start
from burnish.runs.request import Request
from burnish.tasks import Task
from burnish.tasks.examples import find_called_names

FOLDER = Path(__file__).with_suffix("")
CHECKS = ("mutation", "security", "quality", "performance")
NOBODY = "none"
HEADS = ("# check:", "# prompt:", "# given:")


class Weakness(NamedTuple):
    """Code with something wrong in it that its given tests do not mind."""

    name: str
    check: str
    prompt: str
    given: tuple[str, ...]
    code: str

    @property
    def task(self) -> Task:
        """What was asked for. The model writes no tests: the given ones are the weakness, or all that is needed."""
        function = find_called_names(self.given[0])[0]
        head = next(line for line in self.code.splitlines() if line.startswith(f"def {function}("))
        signature = head.removeprefix("def ").removesuffix(":")
        return Task(
            id=self.name,
            prompt=self.prompt,
            entry_point=function,
            signature=signature,
            visible_tests=self.given,
            own_tests=False,
        )


class Outcome(NamedTuple):
    """What became of one weakness."""

    name: str
    check: str
    mended: bool
    by: str
    before: str
    after: str
    worse: tuple[str, ...]
    seconds: float
    tokens: int
    why: str


class Planted:
    """A model whose first answer is the planted code; whatever else is asked, the real one answers, if there is one."""

    slots = 1

    def __init__(self, code: str, behind: Model | None) -> None:
        self.name = behind.name if behind else "scripted:planted"
        self._code, self._behind = code, behind

    def stream(self, ask: Ask, cancel: threading.Event) -> Iterator[Chunk | Waiting | Done]:
        """The planted code for a draft; else what the real model says."""
        if ask.purpose == "draft":
            yield Chunk(text=f"```python\n{self._code}```")
            yield Done(tokens_in=0, tokens_out=0)
            return
        if self._behind is None:
            raise ModelError("nobody is asked here")
        yield from self._behind.stream(ask, cancel)

    def warm_up(self) -> None:
        """Load what stands behind."""
        if self._behind:
            self._behind.warm_up()

    def close(self) -> None:
        """The real model stays for the next weakness."""


def weaknesses(folder: Path = FOLDER) -> list[Weakness]:
    """All of them, by check and name."""
    return sorted((read(file) for file in folder.glob("*.py")), key=lambda one: (CHECKS.index(one.check), one.name))


def read(file: Path) -> Weakness:
    """One file: what its comments say, and its code. It is text here and runs nowhere but in the sandbox."""
    lines = file.read_text("utf-8").splitlines(keepends=True)
    said = [line[2:].strip().partition(": ") for line in lines if line.startswith(HEADS)]
    values = {key: value for key, _, value in said}
    given = tuple(value for key, _, value in said if key == "given")
    return Weakness(file.stem, values["check"], values["prompt"], given, "".join(lines[len(said) :]))


def tried(weakness: Weakness, model: Model | None, store: Store) -> Outcome:
    """The rounds of `write` on one weakness, and all checks on what was there and on what came out."""
    began = time.monotonic()
    request = Request(
        task=weakness.task,
        checks=CHECKS,
        afterwards=frozenset({"strengthen", "refine"}),
        limits=Limits(calls=24, tokens=60_000),
    )
    run = start(request, Resources([Planted(weakness.code, model)], store)).wait()
    seconds = time.monotonic() - began
    first = next(event.code for event in run.all(CodeProposed))
    before = {one.check: one for one in FinalChecks(CHECKS).judge(first, file_of_tests(weakness))}
    after = {one.check: one for one in FinalChecks(CHECKS).judge(run.code, file_of_tests(weakness))}
    harmed = tuple(name for name in CHECKS if is_worse(before[name], after[name]))
    figures = _of_tests(run) if weakness.check == "mutation" else _of_check(run, before, after, weakness.check)
    mended, by, was, now, why = figures
    lost = ("tests",) if run.verdict == "failed" else ()
    tokens = run.tokens_in + run.tokens_out
    return Outcome(weakness.name, weakness.check, mended, by, was, now, harmed + lost, seconds, tokens, why)


def file_of_tests(weakness: Weakness) -> str:
    """The given tests as a file."""
    names = ", ".join(dict.fromkeys(name for test in weakness.given for name in find_called_names(test)[:1]))
    tests = "".join(f"\n\ndef test_{place}():\n    {test}\n" for place, test in enumerate(weakness.given))
    return f"from solution import {names}\n{tests}"


def _of_check(
    run: Run, before: dict[str, Evidence], after: dict[str, Evidence], check: str
) -> tuple[bool, str, str, str, str]:
    """Whether the check's figure is better, and who did it."""
    if not needs_question(before[check]):
        return False, "-", before[check].figure, "", f"{check} did not find it"
    kept = [event for event in run.all(Refined) if event.kept and event.check == check]
    asked = {event.version: bool(event.ask_id) for event in run.all(CodeProposed)}
    by = "-" if not kept else "model" if asked[kept[-1].version or 0] else "ruff"
    why = next((event.why for event in reversed(run.all(Refined)) if event.check == check), "there was no round")
    return is_better(before[check], after[check]), by, before[check].figure, after[check].figure, why


def _of_tests(run: Run) -> tuple[bool, str, str, str, str]:
    """Of mutants, how many are noticed before and after; tests that are pinned do not count."""
    mutated, made = run.all(Mutated), run.all(Strengthened)
    if not mutated or not made or not mutated[0].mutants:
        return False, "-", "", "", mutated[0].why if mutated else "nothing was looked at"
    first, last = mutated[0], made[-1]
    noticed = max(last.noticed, first.noticed)
    why = f"{len(last.tests)} new tests, {last.pinned} mutants seen by pinned ones only, {len(last.alike)} left aside"
    was, now = (f"{number} of {first.mutants}" for number in (first.noticed, noticed))
    return noticed > first.noticed, "new tests" if noticed > first.noticed else "-", was, now, why


def main(model: str, wanted: list[str]) -> None:
    """One line for each, and a last one with the counts."""
    answering = None if model == NOBODY else open_model(model)
    outcomes = []
    print(f"{'weakness':18} {'check':12} {'mended':7} {'by':9} {'s':>5} {'tokens':>6}  before -> after")
    for weakness in weaknesses():
        if wanted and weakness.name not in wanted:
            continue
        with tempfile.TemporaryDirectory() as folder:
            one = tried(weakness, answering, Store(Path(folder)))
        outcomes.append(one)
        mended = "yes" if one.mended else "no"
        harm = f"  WORSE: {', '.join(one.worse)}" if one.worse else ""
        print(f"{one.name:18} {one.check:12} {mended:7} {one.by:9} {one.seconds:5.0f} {one.tokens:6}", end="  ")
        told = f"{one.before} -> {one.after}" if one.mended else f"{one.before}; {one.why[:110]}"
        print(f"{told}{harm}", flush=True)
    kinds = {kind: [one for one in outcomes if one.check == kind] for kind in CHECKS}
    print({kind: f"{sum(one.mended for one in those)} of {len(those)}" for kind, those in kinds.items() if those})
    print(f"made something else worse: {sum(bool(one.worse) for one in outcomes)}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "local:qwen2.5-coder-1.5b", sys.argv[2:])
