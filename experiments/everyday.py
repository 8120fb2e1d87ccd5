"""Does `burnish write` get everyday requests right, and is what it calls proven right?

    python experiments/everyday.py MODEL [--seconds 180] [--out table.md] [--sentences everyday/second.jsonl]

The twenty sentences of each file were written before their first run. Each has ten hidden asserts, which test only
what words and examples demand, and a reference that passes them all; one that is to be refused has the words that the
refusal must hold. Prints a row of a Markdown table as soon as a run
is over, then the totals, of which `proven and wrong` must be zero; --out gets the same lines. The runs are kept in the
usual store (BURNISH_HOME moves it).
"""

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import NamedTuple

import burnish
from burnish.checks import grade_script
from burnish.errors import BurnishError, SetupProblem, TaskError
from burnish.events import Graded, RunFinished
from burnish.models.model import Model
from burnish.models.names import open_model
from burnish.paths import describe_origin
from burnish.report.narrate import add_confidence
from burnish.sandbox import Sandbox, open_sandbox
from burnish.text import one_line

SENTENCES = Path(__file__).parent / "everyday" / "sentences.jsonl"
HEAD = ("id", "verdict", "confidence", "basis", "hidden asserts", "seconds")
LONGEST_CELL = 300


class Everyday(NamedTuple):
    """A sentence as somebody types it, and what decides afterwards whether the code is right."""

    id: str
    sentence: str
    entry_point: str = ""
    asserts: Sequence[str] = ()
    reference: str = ""
    refusal: Sequence[str] = ()
    """What a refusal must say, where the sentence is to be refused; then there is nothing to run."""

    def script(self, name: str = "") -> str:
        """The hidden asserts, each a test of its own; `name` is what the code calls it where the sentence does not."""
        is_named = not name or name in self.entry_point.split(", ")
        renamed = self.entry_point if is_named else f"{name} as {self.entry_point}"
        head = ["import pytest", "from pathlib import Path", f"from solution import {renamed}"]
        bodies = (body.replace("\n", "\n    ") for body in self.asserts)
        tests = [f"def test_{place}():\n    {body}" for place, body in enumerate(bodies, 1)]
        return "\n".join([*head, *tests]) + "\n"


class Outcome(NamedTuple):
    """One row of the table."""

    id: str
    verdict: str
    confidence: str
    basis: str
    graded: Graded | None
    """None where the run came to no verdict."""
    total: int
    seconds: float
    is_answered: bool | None = None
    """Whether it was refused as it should be; None where code is asked for."""

    @property
    def is_right(self) -> bool:
        """Whether every hidden assert passes, or the refusal says what it should."""
        return bool(self.is_answered) or (self.graded is not None and self.graded.all_passed)

    @property
    def is_wrong(self) -> bool:
        """Whether a hidden assert fails, or a refusal is missing; neither right nor wrong is what was not graded."""
        fails = self.graded is not None and not self.graded.not_run and not self.graded.all_passed
        return fails or self.is_answered is False

    @property
    def grade(self) -> str:
        """What the hidden asserts say."""
        if self.graded and self.is_wrong and self.is_answered is None:
            return f"wrong ({self.graded.passed} of {self.total})"
        return "right" if self.is_right else "wrong" if self.is_wrong else "not graded"


def main() -> None:
    """Every request in turn; each line is shown, and kept in a file if one is named, as soon as it is there."""
    given = read_arguments()
    with ExitStack() as stack:
        file = stack.enter_context(given.out.open("w", encoding="utf-8")) if given.out else None
        model = stack.enter_context(closing(open_model(given.model)))
        sandbox = stack.enter_context(open_sandbox(cells=1))
        rows = read_rows(given.sentences, sandbox)
        for line in make_table(rows, model, burnish.Limits(seconds=given.seconds), sandbox):
            print(line, flush=True)
            if file:
                print(line, file=file, flush=True)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="who answers, for instance local:qwen2.5-coder-1.5b")
    parser.add_argument("--seconds", type=float, default=180.0, help="for each run")
    parser.add_argument("--out", type=Path, help="a Markdown file for the table")
    parser.add_argument("--sentences", type=Path, default=SENTENCES, help="others than the first twenty")
    return parser.parse_args()


def read_rows(file: Path, sandbox: Sandbox) -> list[Everyday]:
    """The requests. Raises TaskError where a reference fails one of its own asserts."""
    rows = [Everyday(**json.loads(line)) for line in file.read_text("utf-8").splitlines()]
    for row in rows:
        if not row.refusal and not grade_script(row.reference, row.script(), sandbox).all_passed:
            raise TaskError(f"{row.id}: the reference fails its own asserts")
    return rows


def make_table(rows: Sequence[Everyday], model: Model, limits: burnish.Limits, sandbox: Sandbox) -> Iterator[str]:
    """The lines of the table, each as soon as it is known, and the totals."""
    model.warm_up()  # else the first run would pay for loading the weights
    yield f"`{model.name}`, {limits.seconds:g} s a run; {', '.join(describe_origin().values())}\n"
    yield f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}"
    outcomes = []
    for row in rows:
        outcomes.append(attempt(row, model, limits, sandbox))
        yield render_row(outcomes[-1])
    yield f"\n{render_totals(outcomes)}"


def attempt(row: Everyday, model: Model, limits: burnish.Limits, sandbox: Sandbox) -> Outcome:
    """One run and its grade; what breaks it stands in the place of the basis."""
    began, total = time.monotonic(), len(row.asserts)
    try:
        run = burnish.write(row.sentence, model, limits=limits, fast=True)
        seconds = time.monotonic() - began
        finished = run.ending(RunFinished)
        confidence = add_confidence("", finished)[0].strip(" ()")
        basis = (finished.basis if finished else "") or run.why
        name = run.spec.entry_point if run.spec else ""
        graded = grade_script(run.code, row.script(name), sandbox) if run.verdict and not row.refusal else None
        return Outcome(row.id, run.state, confidence, basis, graded, total, seconds, False if row.refusal else None)
    except BurnishError as error:
        is_refused = isinstance(error, SetupProblem)
        why = str(error) if is_refused else f"{type(error).__name__}: {error}"
        is_answered = is_refused and all(words in why for words in row.refusal) if row.refusal else None
        verdict, seconds = "refused" if is_refused else "broken", time.monotonic() - began
        return Outcome(row.id, verdict, "", why, None, total, seconds, is_answered)


def render_row(outcome: Outcome) -> str:
    cells = (outcome.id, outcome.verdict, outcome.confidence, outcome.basis, outcome.grade, f"{outcome.seconds:.0f}")
    return "| " + " | ".join(one_line(cell, LONGEST_CELL).replace("|", r"\|") for cell in cells) + " |"


def render_totals(outcomes: Sequence[Outcome]) -> str:
    """How many are right, and what the verdicts are worth."""
    proven = [one for one in outcomes if one.verdict == "proven"]
    plausible = [one for one in outcomes if one.verdict == "plausible"]
    ungraded = sum(not one.is_right and not one.is_wrong for one in outcomes)
    lines = (
        f"right: {sum(one.is_right for one in outcomes)} of {len(outcomes)}, {ungraded} not graded",
        f"proven: {len(proven)}",
        f"proven and wrong, which must be zero: {sum(one.is_wrong for one in proven)}",
        f"plausible and right: {sum(one.is_right for one in plausible)} of {len(plausible)}",
        f"seconds: {sum(one.seconds for one in outcomes):.0f}",
    )
    return "\n".join(f"- {line}" for line in lines)


if __name__ == "__main__":
    main()
