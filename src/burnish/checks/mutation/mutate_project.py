"""Breaks a project's code in small ways and finds out which of them its tests notice.

The check judges it, and whoever makes tests begins with it. What comes back from the cell is checked: known mutants and
words, once, behind a number that the job alone was told.
"""

import math
import random
import signal
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from burnish import intervals
from burnish.checks.bench.batch_trials import processes_at_once
from burnish.checks.bench.check_context import CheckContext
from burnish.checks.bench.project_run import NOTHING, Fact, describe_job, has_tests, run_job
from burnish.checks.mutation.mutant import Mutant
from burnish.checks.mutation.mutmut_client import MUTMUT, MutmutClient
from burnish.checks.project import Project
from burnish.errors import CheckError
from burnish.events import CommandRan
from burnish.text import one_line, strip_controls

NOTICED = ("killed", "timeout", "suspicious")
UNNOTICED = ("survived", "no_tests")
NOT_TRIED, INVALID = "not_tried", "invalid"
OUTCOMES = (*NOTICED, *UNNOTICED, INVALID, NOT_TRIED)
"""Suspicious: the process died of it. Invalid: mutmut made something that is no Python; it does not count."""
WORDS = {word: word for word in (*NOTICED, *UNNOTICED, INVALID)} | {"crash": "suspicious", "anew": INVALID}
"""What a cell may say of a mutant."""
SEED = 5
MAKING = 0.5
"""The share of the budget in which mutants are made; files that are not reached then are not tried."""
MOST_BYTES = 24 * 1024 * 1024
"""Of mutants in one job: more than any budget can try."""
START_SECONDS, GRACE_SECONDS = 30.0, 5.0
"""For the start of the cell, and for children that are under way at the end of the budget."""
OPTIONS = ["-q", "--tb=native", "--capture=sys"]


class MutationScore:
    """The share of mutants that the tests notice."""

    def __init__(self, outcomes: Mapping[str, str]) -> None:
        self.counts = Counter(outcomes.values())

    def of(self, *outcomes: str) -> int:
        """How many ended so."""
        return sum(self.counts[outcome] for outcome in outcomes)

    @property
    def tried(self) -> int:
        """Mutants with a verdict."""
        return self.of(*NOTICED, *UNNOTICED)

    @property
    def percent(self) -> float:
        """From 0 to 100. Ask only when something was tried."""
        return 100.0 * self.of(*NOTICED) / self.tried

    @property
    def interval(self) -> tuple[float, float]:
        """Where the score of all mutants lies with 95 % confidence (Wilson); the score itself when all were tried."""
        if not self.of(NOT_TRIED):
            return self.percent, self.percent
        low, high = intervals.wilson(self.of(*NOTICED), self.tried)
        return 100 * low, 100 * high

    def figure(self) -> str:
        """The score as people say it, never rounded up."""
        shown = f"{math.floor(self.percent)} %"
        if not self.of(NOT_TRIED):
            return shown
        low, high = self.interval
        total = self.tried + self.of(NOT_TRIED)
        return f"{shown} ({math.floor(low)} to {math.ceil(high)}), {self.tried} of {total} tried"


@dataclass
class MutationRun:
    """The mutants, in the order they were tried, and what became of each, by key."""

    mutants: Sequence[Mutant] = ()
    outcomes: dict[str, str] = field(default_factory=dict)
    tests: int = 0
    """How many there are; 0 when they never ran without a mutant."""
    seconds: float = 0.0
    """All of it, the making of mutants too."""
    trying_seconds: float = 0.0
    """Of those, how long mutants were tried."""
    skipped_files: int = 0
    """Sources that were not reached."""
    notes: list[str] = field(default_factory=list)
    problem: str = ""
    """Why no mutant could be tried; empty when all is well."""
    end: Any = None
    """How pytest left; None when it never came to that."""
    ended: Fact = field(default_factory=dict)
    """How its process ended, and the last of what it printed."""

    @property
    def score(self) -> MutationScore:
        """The outcomes as numbers."""
        return MutationScore(self.outcomes)

    @property
    def unnoticed(self) -> list[Mutant]:
        """Those that no test noticed, by file and line."""
        missed = [mutant for mutant in self.mutants if self.outcomes[mutant.key] in UNNOTICED]
        return sorted(missed, key=lambda one: (one.file, one.changed, one.key))

    def hear(self, fact: Fact) -> None:
        """Take one fact from the cell; one of another shape is no fact."""
        key, word = fact.get("mutant"), WORDS.get(str(fact.get("was")))
        if word and self.outcomes.get(str(key)) == NOT_TRIED:
            self.outcomes[str(key)] = word
        elif word and key in self.outcomes:
            self.problem = "something other than the tests told what became of a mutant, so nothing is known of any"
        elif isinstance(fact.get("baseline"), dict):
            self.tests = int(fact["baseline"].get("tests", 0))
        elif isinstance(fact.get("trying"), float):
            self.trying_seconds = fact["trying"]
        elif isinstance(fact.get("ended"), dict):
            self.ended = fact["ended"]
        elif "failed" in fact:
            self.problem = f"the tests fail without any mutant: {one_line(str(fact['failed']), 300)}"
        elif "no_tool" in fact:
            self.problem = f"the tests cannot be collected: {one_line(str(fact['no_tool']), 300)}"
        elif fact.get("note") == "threads":
            self.notes.append("the project starts threads when it is imported, so each mutant had a process of its own")
        self.end = fact.get("end", self.end)


def mutate_project(project: Project, context: CheckContext, client: MutmutClient = MUTMUT) -> MutationRun:
    """Make mutants of all sources and try them, within the project's own budget. Raises CheckError."""
    if project.test_command:
        why = "mutants are tried with pytest, and this project's tests are run by a command of its own"
        return MutationRun(problem=why)
    if not has_tests(project):
        return MutationRun(problem="there are no tests")
    began, seconds = time.monotonic(), project.settings.mutation_seconds
    mutants, skipped = _make_mutants(project, client, began + MAKING * seconds)
    if not mutants:
        return MutationRun(problem="there is nothing to mutate")
    run = try_mutants(project, context, mutants, seconds)
    run.skipped_files, run.seconds = skipped, time.monotonic() - began
    if not run.problem and not run.score.tried:
        run.problem = "the time was up before a mutant could be tried"
    return run


def _make_mutants(project: Project, client: MutmutClient, deadline: float) -> tuple[list[Mutant], int]:
    """Mutants of all sources in a random order that is always the same, and how many files were not reached."""
    sources = sorted(project.sources)
    random.Random(SEED).shuffle(sources)
    made: dict[str, Mutant] = {}
    while sources and (time.monotonic() < deadline or not made):
        source = sources.pop()
        try:
            text = project.text(source)
        except (OSError, SyntaxError, UnicodeDecodeError) as error:
            raise CheckError(f"{source} cannot be read as Python ({error})") from error
        made.update((mutant.key, mutant) for mutant in client.mutants(str(source), text, project.generated))
    mutants = sorted(made.values(), key=lambda mutant: mutant.key)
    random.Random(SEED).shuffle(mutants)  # what an early stop leaves is then a random sample, the same each time
    return mutants, len(sources)


def try_mutants(project: Project, context: CheckContext, mutants: Sequence[Mutant], seconds: float) -> MutationRun:
    """Try mutants in this order, for so long. Raises CheckError when the cell gave no account of itself."""
    run = MutationRun(mutants, {mutant.key: NOT_TRIED for mutant in mutants})
    limit = project.settings.test_seconds
    cpu_seconds = START_SECONDS + limit + (seconds + START_SECONDS) * processes_at_once()
    job = {
        **describe_job(project, context, options=OPTIONS),
        **_describe_mutants(mutants),
        "baseline": True,
        "at_once": processes_at_once(),
        "load_seconds": limit,
        "test_seconds": limit,
        "trying_seconds": seconds,
        "grace_seconds": GRACE_SECONDS,
        "seconds": 4 * cpu_seconds,
    }

    def on_fact(fact: Fact) -> None:
        run.hear(fact)
        context.tell(len(run.outcomes) - run.score.of(NOT_TRIED), len(run.outcomes))

    began = time.monotonic()
    ran, _ = run_job(project, context, job, on_fact=on_fact, cpu_seconds=cpu_seconds)
    run.seconds = time.monotonic() - began
    exit_code = run.ended.get("exit", ran.exit_code)
    if not run.problem and not run.tests:
        run.problem = _explain_start(run, ran, exit_code, limit)
    elif not run.problem and run.end != 0:
        why = "its time was up" if ran.timed_out else f"exit code {exit_code}, pytest's {run.end}"
        run.notes.append(f"the cell ended early ({why})")
    run.trying_seconds = run.trying_seconds or run.seconds
    return run


def _describe_mutants(mutants: Sequence[Mutant]) -> dict[str, list[dict[str, Any]]]:
    """Each function once, and its versions; as many as there is room for."""
    functions: dict[tuple[str, int], dict[str, Any]] = {}
    versions, room = [], MOST_BYTES
    for mutant in mutants:
        place = (mutant.file, mutant.line)
        if place not in functions:
            whole = mutant.model_dump(include={"file", "line", "first", "owner", "was"})
            functions[place] = {"number": len(functions), **whole}
            room -= len(mutant.was)
        versions.append({"key": mutant.key, "function": functions[place]["number"], "text": mutant.text})
        room -= len(mutant.text) + len(mutant.key)
        if room < 0:
            break
    return {"functions": list(functions.values()), "versions": versions}


def _explain_start(run: MutationRun, ran: CommandRan, exit_code: int, limit: float) -> str:
    """Why the tests never ran without a mutant. Raises CheckError where the cell itself came to an end."""
    if run.end == NOTHING:
        return "there are no tests"
    printed = strip_controls(str(run.ended.get("printed", "")))
    if run.end is not None:
        lines = [line for line in printed.splitlines() if line.strip()]
        telling = [line for line in lines if "Error" in line and not line.startswith("ERROR ")]
        return f"the tests cannot be collected: {one_line((telling or lines or ['no reason'])[-1], 300)}"
    if ran.timed_out or run.ended.get("over") or -exit_code in (signal.SIGPROF, signal.SIGALRM):
        return f"the project and its tests could not be imported within {limit:g} seconds"
    said = one_line((printed or ran.output)[-300:], 200)
    raise CheckError(f"the cell ended before the tests had run without a mutant (exit code {exit_code}): {said}")
