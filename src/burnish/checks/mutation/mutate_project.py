"""Breaks a project's code in small ways and finds out which of them its tests notice.

The check judges it, and whoever makes tests begins with it. What comes back from the cell is checked: known mutants and
words, once, behind a number that the job alone was told.
"""

import math
import random
import signal
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from burnish import intervals
from burnish.checks.bench.check_context import CheckContext
from burnish.checks.bench.inside.facts import Fact
from burnish.checks.bench.project_run import NOTHING, describe_job, has_tests, processes_at_once, run_job
from burnish.checks.mutation.branch_mutants import FEW, MARK, make_branch_mutants
from burnish.checks.mutation.changed_code import find_changed_lines
from burnish.checks.mutation.equivalence import TellingInput, compare_survivors
from burnish.checks.mutation.mutant import MUTMUT, Mutant, MutmutClient
from burnish.checks.project import Project
from burnish.errors import CheckError
from burnish.events import CommandRan
from burnish.text import one_line, plural, strip_controls

NOTICED = ("killed", "timeout", "suspicious")
UNNOTICED = ("survived", "no_tests")
EQUIVALENT, INVALID, NOT_TRIED = "equivalent", "invalid", "not_tried"
OUTCOMES = (*NOTICED, *UNNOTICED, EQUIVALENT, INVALID, NOT_TRIED)
"""Suspicious: the process died of it. Equivalent: no test notices it, and no input tells it from the code. Invalid:
mutmut made something that is no Python. The last three do not count.
"""
WORDS = {word: word for word in (*NOTICED, *UNNOTICED, INVALID)} | {"crash": "suspicious", "anew": INVALID}
"""What a cell may say of a mutant."""
SEED = 5
MAKING = 0.5
"""The share of the budget in which mutants are made; files that are not reached then are not tried."""
COMPARING, LEAST_COMPARING_SECONDS = 0.2, 3.0
"""How long survivors are run beside the code: this share of the budget, and at least so long."""
MOST_BYTES = 24 * 1024 * 1024
"""Of mutants in one job: more than any budget can try."""
START_SECONDS, GRACE_SECONDS = 30.0, 5.0
"""For the start of the cell, and for children that are under way at the end of the budget."""
OPTIONS = ["-q", "--tb=native", "--capture=sys"]
OWN_COMMAND = "mutants are tried with pytest, and this project's tests are run by a command of its own"
THREADS = "the project starts threads when it is imported, so each mutant had a process of its own"
ALL_EQUIVALENT = "every small change that was tried behaves as the code does, so there is nothing to notice"
FORGED = "something other than the tests told what became of a mutant, so nothing is known of any"


@dataclass(frozen=True)
class MutantPlan:
    """Mutants, in the order in which they are tried."""

    mutants: Sequence[Mutant] = ()
    changed: frozenset[str] = frozenset()
    """Those of code that differs from the last commit, by key."""
    unreached: int = 0
    """Files for which there was no time."""
    seconds: float = 0.0
    """What the making took."""


class MutantSample(NamedTuple):
    """How many of some mutants were noticed, tried and left, and their share of all those that are spoken of."""

    noticed: int
    tried: int
    left: int
    weight: float


@dataclass
class MutationRun:
    """The mutants, in the order they were tried, what became of each, by key, and the score that makes."""

    mutants: Sequence[Mutant] = ()
    outcomes: dict[str, str] = field(default_factory=dict)
    apart: dict[str, TellingInput] = field(default_factory=dict)
    """Of those that no test noticed: an input that tells it from the code, where one was found."""
    inputs: int = 0
    """On how many inputs equivalent mutants behave the same; on no fewer, where functions have different numbers."""
    tests: int = 0
    """How many there are; 0 when they never ran without a mutant."""
    seconds: float = 0.0
    """All of it, the making of mutants too."""
    trying_seconds: float = 0.0
    """Of those, how long mutants were tried."""
    changed: frozenset[str] = frozenset()
    """Those of code that differs from the last commit, by key: they are tried first, and all others are sampled."""
    notes: list[str] = field(default_factory=list)
    problem: str = ""
    """Why no mutant could be tried; empty when all is well."""
    pytest_exit: Any = None
    """How pytest left; None when it never came to that."""
    process_end: Fact = field(default_factory=dict)
    """How its process ended, and the last of what it printed."""

    def count(self, *outcomes: str) -> int:
        """How many mutants ended so."""
        return sum(outcome in outcomes for outcome in self.outcomes.values())

    @property
    def tried(self) -> int:
        """Mutants with a verdict."""
        return self.count(*NOTICED, *UNNOTICED)

    @property
    def percent(self) -> float:
        """The share that the tests notice, from 0 to 100. Ask only when something was tried.

        What was tried of the code that did not change speaks for the rest of it as well.
        """
        changed, others = self._strata()
        return sum(100.0 * one.noticed * one.weight / one.tried for one in (changed, others) if one.tried)

    @property
    def interval(self) -> tuple[float, float]:
        """Where the score of all mutants lies with 95 % confidence (Wilson); the score itself when all were tried."""
        strata = [one for one in self._strata() if one.tried]
        lows_highs = [
            intervals.wilson(one.noticed, one.tried) if one.left else (one.noticed / one.tried,) * 2 for one in strata
        ]
        low, high = (sum(one.weight * ends[n] for one, ends in zip(strata, lows_highs, strict=True)) for n in (0, 1))
        return 100 * low, 100 * high

    def _strata(self) -> tuple["MutantSample", "MutantSample"]:
        """The mutants of changed code, and all others."""
        counts = [
            Counter(outcome for key, outcome in self.outcomes.items() if (key in self.changed) == is_changed)
            for is_changed in (True, False)
        ]
        tried = [sum(count[word] for word in (*NOTICED, *UNNOTICED)) for count in counts]
        sizes = [many + count[NOT_TRIED] if many else 0 for many, count in zip(tried, counts, strict=True)]
        first, second = (
            MutantSample(sum(count[word] for word in NOTICED), many, count[NOT_TRIED], size / (sum(sizes) or 1))
            for count, many, size in zip(counts, tried, sizes, strict=True)
        )
        return first, second

    def figure(self) -> str:
        """The score as people say it, never rounded up."""
        shown, (low, high) = f"{math.floor(self.percent)} %", self.interval
        if left := self.count(NOT_TRIED):
            shown += f" ({math.floor(low)} to {math.ceil(high)}), {self.tried} of {self.tried + left} tried"
        return shown

    def describe(self) -> str:
        """What `check` and `strengthen` say of the score."""
        return f"the tests notice {self.count(*NOTICED)} of {plural(self.tried, 'small change')} to the code"

    def is_full(self, most: int | None) -> bool:
        """Whether as many were tried as may be."""
        return most is not None and sum(outcome != NOT_TRIED for outcome in self.outcomes.values()) >= most

    @property
    def unnoticed(self) -> list[Mutant]:
        """Those that no test noticed, by file and line."""
        return self.select(*UNNOTICED)

    def select(self, *outcomes: str) -> list[Mutant]:
        """The mutants that ended so, by file and line."""
        found = [mutant for mutant in self.mutants if self.outcomes[mutant.key] in outcomes]
        return sorted(found, key=lambda one: (one.file, one.changed, one.key))

    @property
    def unwatched(self) -> list[Mutant]:
        """Branches and results that no test looks at, though some input tells them apart: each fails the check.

        They are sought only where mutants are few.
        """
        return [mutant for mutant in self.unnoticed if MARK in mutant.key and mutant.key in self.apart]

    def set_equivalent(self, inputs: dict[str, int]) -> None:
        """These mutants, by key, behave as the code does on so many inputs."""
        self.outcomes |= dict.fromkeys(inputs, EQUIVALENT)
        self.inputs = min(inputs.values(), default=0)

    def hear(self, fact: Fact) -> None:
        """Take one fact from the cell; one of another shape is no fact."""
        match fact:
            case {"mutant": str(key), "was": str(word)} if word in WORDS and key in self.outcomes:
                if self.outcomes[key] != NOT_TRIED:
                    self.problem = FORGED
                else:
                    self.outcomes[key] = WORDS[word]
            case {"baseline": dict(baseline)}:
                self.tests = int(baseline.get("tests", 0))
            case {"trying": float(seconds)}:
                self.trying_seconds = seconds
            case {"ended": dict(ended)}:
                self.process_end = ended
            case {"failed": why}:
                self.problem = f"the tests fail without any mutant: {one_line(str(why), 300)}"
            case {"no_tool": why}:
                self.problem = f"the tests cannot be collected: {one_line(str(why), 300)}"
            case {"note": "threads"}:
                self.notes.append(THREADS)
        self.pytest_exit = fact.get("end", self.pytest_exit)


def add_branch_mutants(made: Mapping[str, Mutant], texts: Mapping[str, str], everything: bool) -> dict[str, Mutant]:
    """Where mutmut made few mutants of these files: those of branches, by key."""
    more = (
        [mutant for file in texts for mutant in make_branch_mutants(file, texts[file], everything)]
        if len(made) < FEW
        else []
    )
    known = {(mutant.file, mutant.line, mutant.text) for mutant in made.values()}
    return {mutant.key: mutant for mutant in more if (mutant.file, mutant.line, mutant.text) not in known}


def mutate_project(project: Project, context: CheckContext, client: MutmutClient = MUTMUT) -> MutationRun:
    """Make mutants of all sources and try them, within the project's own budget. Raises CheckError."""
    if project.test_command:
        return MutationRun(problem=OWN_COMMAND)
    if not has_tests(project):
        return MutationRun(problem="there are no tests")
    return score_mutants(project, context, plan_mutants(project, client))


def plan_mutants(project: Project, client: MutmutClient = MUTMUT) -> MutantPlan:
    """The mutants of all sources that the budget has time to make: a random order, changed code first.

    Raises CheckError for a source that is no Python.
    """
    began, seconds = time.monotonic(), project.settings.mutation_seconds
    sources = sorted(project.sources)
    random.Random(SEED).shuffle(sources)
    made: dict[str, Mutant] = {}
    texts: dict[str, str] = {}
    while sources and (time.monotonic() < began + MAKING * seconds or not made):
        source = sources.pop()
        try:
            text = project.text(source)
        except (OSError, SyntaxError, UnicodeDecodeError) as error:
            raise CheckError(f"{source} cannot be read as Python ({error})") from error
        made |= {mutant.key: mutant for mutant in client.mutants(str(source), text, project.generated)}
        texts[str(source)] = text
    made |= add_branch_mutants(made, texts, project.generated)
    if project.functions:
        names = set(project.functions)
        made = {key: mutant for key, mutant in made.items() if names & {mutant.name, mutant.owner}}
    ordered = shuffle_mutants(made.values())
    lines = find_changed_lines(project, texts) if not project.generated else {}
    changed = frozenset(one.key for one in ordered if not lines.get(one.file, frozenset()).isdisjoint(one.lines))
    ordered.sort(key=lambda mutant: mutant.key not in changed)
    return MutantPlan(ordered, changed, len(sources), time.monotonic() - began)


def score_mutants(project: Project, context: CheckContext, plan: MutantPlan) -> MutationRun:
    """Try the mutants within the project's own budget. Raises CheckError.

    Those that no test notices are then run beside the code, to see which of them somebody could notice.
    """
    if not plan.mutants:
        return MutationRun(problem="there is nothing to mutate")
    began, seconds = time.monotonic() - plan.seconds, project.settings.mutation_seconds
    run = try_mutants(project, context, plan.mutants, seconds)
    run.changed = plan.changed
    if not run.problem and run.tried:
        comparing = max(COMPARING * seconds, LEAST_COMPARING_SECONDS)
        compared = compare_survivors(project, context, run.unnoticed, comparing)
        run.apart = compared.apart
        run.set_equivalent(compared.equivalent)
        run.problem = "" if run.tried else ALL_EQUIVALENT
    run.seconds = time.monotonic() - began
    if plan.unreached:
        run.notes.append(f"{plural(plan.unreached, 'file')} not reached")
    if not run.problem and not run.tried:
        run.problem = "the time was up before a mutant could be tried"
    return run


def shuffle_mutants(mutants: Iterable[Mutant]) -> list[Mutant]:
    """In an order of chance, the same each time: what an early stop leaves is then a random sample."""
    ordered = sorted(mutants, key=lambda mutant: mutant.key)
    random.Random(SEED).shuffle(ordered)
    return ordered


def try_mutants(project: Project, context: CheckContext, mutants: Sequence[Mutant], seconds: float) -> MutationRun:
    """Try mutants in this order, for so long. Raises CheckError when the cell gave no account of itself."""
    run = MutationRun(mutants, {mutant.key: NOT_TRIED for mutant in mutants})
    limit = project.settings.test_seconds
    cpu_seconds = START_SECONDS + limit + (seconds + START_SECONDS) * processes_at_once()
    job = {
        **describe_job(project, context, options=OPTIONS),
        **_describe_mutants(mutants[: project.settings.mutants]),
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
        context.tell(len(run.outcomes) - run.count(NOT_TRIED), len(run.outcomes))

    began = time.monotonic()
    ran, _ = run_job(project, context, job, on_fact=on_fact, cpu_seconds=cpu_seconds)
    run.seconds = time.monotonic() - began
    exit_code = run.process_end.get("exit", ran.exit_code)
    if not run.problem and not run.tests:
        run.problem = _explain_start(run, ran, exit_code, limit)
    elif not run.problem and run.pytest_exit != 0:
        why = "its time was up" if ran.timed_out else f"exit code {exit_code}, pytest's {run.pytest_exit}"
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
        # Who made a mutant decides which lines above the `def` are part of its text.
        own = mutant.model_dump(include={"first", "was"}) if mutant.first != functions[place]["first"] else {}
        versions.append({"key": mutant.key, "function": functions[place]["number"], "text": mutant.text, **own})
        room -= len(mutant.text) + len(mutant.key)
        if room < 0:
            break
    return {"functions": list(functions.values()), "versions": versions}


def _explain_start(run: MutationRun, ran: CommandRan, exit_code: int, limit: float) -> str:
    """Why the tests never ran without a mutant. Raises CheckError where the cell itself came to an end."""
    if run.pytest_exit == NOTHING:
        return "there are no tests"
    printed = strip_controls(str(run.process_end.get("printed", "")))
    if run.pytest_exit is not None:
        lines = [line for line in printed.splitlines() if line.strip()]
        telling = [line for line in lines if "Error" in line and not line.startswith("ERROR ")]
        return f"the tests cannot be collected: {one_line((telling or lines or ['no reason'])[-1], 300)}"
    if ran.timed_out or run.process_end.get("over") or -exit_code in (signal.SIGPROF, signal.SIGALRM):
        return f"the project and its tests could not be imported within {limit:g} seconds"
    said = one_line((printed or ran.output)[-300:], 200)
    raise CheckError(f"the cell ended before the tests had run without a mutant (exit code {exit_code}): {said}")
