"""Sends mutants to a cell and hears what became of each. What comes back is checked: known mutants and words, once,
behind a number that the job alone was told.
"""

import json
import os
import secrets
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from burnish.checks.lab import Lab
from burnish.checks.mutation.inside.run import MODULE, PACKAGE
from burnish.checks.mutation.mutant import Mutant
from burnish.checks.mutation.score import INVALID, NOT_TRIED, NOTICED, UNNOTICED
from burnish.checks.project import Project
from burnish.checks.project_run import doctests, paths, targets
from burnish.errors import CheckError
from burnish.events import CommandRan
from burnish.text import one_line, strip_controls

INSIDE, SHARED = Path(__file__).parent / "inside", Path(__file__).parent.parent / "inside"
MOST_BYTES = 24 * 1024 * 1024
"""Of mutants in one job: more than any budget can try."""
START_SECONDS = 30.0
NOTHING = 5
WORDS = {word: word for word in (*NOTICED, *UNNOTICED, INVALID)} | {"crash": "suspicious", "anew": INVALID}


@dataclass
class Trial:
    """What became of the mutants, by key; and what the run without any of them was like."""

    outcomes: dict[str, str] = field(default_factory=dict)
    tests: int = 0
    baseline_seconds: float = 0.0
    seconds: float = 0.0
    trying_seconds: float = 0.0
    """Of those, how long mutants were tried."""
    notes: list[str] = field(default_factory=list)
    problem: str = ""
    """Why no mutant could be tried."""
    end: Any = None
    """How pytest left; None when it never came to that."""

    def hear(self, fact: Any) -> None:
        """Take one fact from the cell."""
        if not isinstance(fact, dict):
            return
        key, word = fact.get("mutant"), WORDS.get(str(fact.get("was")))
        if word and self.outcomes.get(str(key)) == NOT_TRIED:
            self.outcomes[str(key)] = word
        elif word and key in self.outcomes:
            self.problem = "something other than the tests told what became of a mutant, so nothing is known of any"
        elif "baseline" in fact:
            self.tests, self.baseline_seconds = int(fact["baseline"]["tests"]), float(fact["baseline"]["seconds"])
        elif "trying" in fact:
            self.trying_seconds = float(fact["trying"])
        elif "failed" in fact:
            self.problem = f"the tests fail without any mutant: {one_line(str(fact['failed']), 300)}"
        elif "uncollected" in fact:
            self.problem = uncollected(fact)
        elif fact.get("note") == "threads":
            self.notes.append("the project starts threads when it is imported, so each mutant had a process of its own")
        self.end = fact.get("end", self.end)


def uncollected(fact: dict[str, Any]) -> str:
    """Why the tests never came to run."""
    if fact["uncollected"] == NOTHING:
        return "there are no tests"
    lines = [line for line in strip_controls(str(fact.get("printed", ""))).splitlines() if line.strip()]
    telling = [line for line in lines if "Error" in line and not line.startswith("ERROR ")] or lines or ["no reason"]
    return f"the tests cannot be collected: {one_line(telling[-1], 300)}"


def try_mutants(project: Project, lab: Lab, mutants: Sequence[Mutant], seconds: float) -> Trial:
    """Try mutants in this order, for so long. Raises CheckError when the cell gave no account of itself."""
    trial = Trial(outcomes={mutant.key: NOT_TRIED for mutant in mutants})
    job = a_job(project, lab, mutants, seconds)
    processors = job["at_once"]
    limit = START_SECONDS + project.settings.test_seconds + (seconds + START_SECONDS) * processors
    files = {**inside_files(), "job.json": json.dumps(job)}
    began = time.monotonic()
    listener = Listener(
        trial, job["nonce"], lambda: lab.tell(len(trial.outcomes) - untried(trial), len(trial.outcomes))
    )
    command = ["env", "-u", "PYTHONPATH", lab.python, "-B", "-m", MODULE]
    ran = lab.sandbox.run(command, files, limit, heard=listener)
    trial.seconds = time.monotonic() - began
    if not trial.problem and not trial.tests:
        trial.problem = unready(project, ran)
    elif not trial.problem and trial.end != 0:
        why = "its time was up" if ran.timed_out else f"exit code {ran.exit_code}, pytest's {trial.end}"
        trial.notes.append(f"the cell ended early ({why})")
    return trial


def unready(project: Project, ran: CommandRan) -> str:
    """Why the run without a mutant never ended."""
    if ran.timed_out or -ran.exit_code in (signal.SIGPROF, signal.SIGALRM):
        limit = project.settings.test_seconds
        return f"the project and its tests could not be imported within {limit:g} seconds"
    said = one_line(ran.output[-300:], 200)
    raise CheckError(f"the cell ended before the tests had run without a mutant (exit code {ran.exit_code}): {said}")


class Listener:
    """Cuts what a cell writes into facts, as it comes: the lines that begin with the job's number."""

    def __init__(self, trial: Trial, nonce: str, moved: Callable[[], None]) -> None:
        self.trial = trial
        self.nonce = nonce.encode()
        self.moved = moved
        self.rest = b""

    def __call__(self, data: bytes) -> None:
        """Take the next bytes, wherever they are cut."""
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            if not line.startswith(self.nonce):
                continue
            try:
                self.trial.hear(json.loads(line[len(self.nonce) :]))
            except (ValueError, TypeError, KeyError):
                continue
        self.moved()


def untried(trial: Trial) -> int:
    """How many mutants have no verdict yet."""
    return sum(outcome == NOT_TRIED for outcome in trial.outcomes.values())


def a_job(project: Project, lab: Lab, mutants: Sequence[Mutant], seconds: float) -> dict[str, Any]:
    """All that the cell has to know."""
    examples = doctests(project)
    numbers: dict[tuple[str, int], int] = {}
    functions, sent, room = [], [], MOST_BYTES
    for mutant in mutants:
        place = (mutant.file, mutant.line)
        if place not in numbers:
            numbers[place] = len(numbers)
            whole = mutant.model_dump(include={"file", "line", "first", "owner", "was"})
            functions.append({"number": numbers[place], **whole})
            room -= len(mutant.was)
        sent.append({"key": mutant.key, "function": numbers[place], "text": mutant.text})
        room -= len(mutant.text) + len(mutant.key)
        if room < 0:
            break
    return {
        "functions": functions,
        "mutants": sent,
        "nonce": secrets.token_hex(16),
        "seconds": seconds,
        "test_seconds": project.settings.test_seconds,
        "at_once": max(1, min(32, len(os.sched_getaffinity(0)))),
        "root": lab.root,
        "paths": paths(project, lab),
        "packages": lab.packages,
        "generated": project.generated,
        "targets": targets(project),
        "doctests": [str(path) for path in examples],
        "options": ["-p", "no:langsmith_plugin"] if project.python == Path(sys.executable) else [],
    }


@cache
def inside_files() -> dict[str, str]:
    """Our own files that go into the cell with the mutants."""
    files = {f"{PACKAGE}/mutation/inside/{file.name}": file for file in INSIDE.glob("*.py")}
    files |= {f"{PACKAGE}/inside/{name}": SHARED / name for name in ("__init__.py", "lent.py")}
    return {name: file.read_text(encoding="utf-8") for name, file in files.items()}
