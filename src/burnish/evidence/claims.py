"""Holds what is said? Verdicts must be the same; a figure may differ by no more than chance makes it differ.

A claim is one thing that the evidence says, beside what was found here.
"""

import math
import platform
import re
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Literal

from burnish.checks.check import Finding, describe_worst
from burnish.checks.final import SETTINGS
from burnish.checks.mutation.branch_mutants import MARK
from burnish.checks.mutation.check import MutationDetails
from burnish.checks.mutation.mutate_project import EQUIVALENT, MutationRun
from burnish.checks.performance.check import PerformanceDetails
from burnish.checks.performance.growth import ORDER
from burnish.events import PROVEN, Evidence, Frozen, Outcome
from burnish.evidence.schema import CheckAnswer, Dossier
from burnish.text import one_line, plural
from burnish.version import __version__

Answer = Literal["holds", "does_not_hold", "not_tried"]
POINTS = {"coverage": 1.0, "mutation": 5.0, "quality": 1.0}
"""By how much a figure may differ: another interpreter counts branches a little differently; a mutant that hangs may be
noticed or not; a newer linter knows a rule more. The figures of all other checks must be what they were, but for how
the time grows.
"""
GROWTH_STEPS = 1
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_WORST = re.compile(r"(\d+ findings?), worst (\w*)/(\w*)")
MOST_NAMED = 3
TOOLS = {
    "tests": ("pytest",),
    "coverage": ("pytest", "coverage"),
    "mutation": ("pytest", "mutmut"),
    "security": ("bandit",),
    "dependencies": ("pip-audit",),
    "quality": ("ruff", "radon"),
    "performance": (),
}
"""Tools whose versions count, by the check that leans on them."""


class Claim(Frozen):
    """One thing that is said, what was found here, and whether the two agree."""

    what: str
    """"tests", "coverage"…: the check; or "verdict", "record"."""
    answer: Answer
    said: str
    found: str = ""
    why: str = ""
    """In a few words; always there unless it holds."""

    def deny(self, why: str, found: str = "") -> "Claim":
        """The same claim, which does not hold."""
        return self.model_copy(update={"answer": "does_not_hold", "why": why, "found": found or self.found})


def read_versions() -> dict[str, str]:
    """The versions at work here, by name: Python's, Burnish's, the tools'; one that is not installed is not there."""
    found = {"python": platform.python_version(), "burnish": __version__}
    for name in dict.fromkeys(tool for tools in TOOLS.values() for tool in tools):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def claim_check(said: CheckAnswer, found: Evidence, then: dict[str, str], now: dict[str, str]) -> Claim:
    """What one check said, beside what it says here; `then` and `now` are versions of tools."""
    if said.check == "mutation" and said.equivalent is None:
        found = recount_mutants(found)
    # In older evidence a figure of the security check ended in two words with a stroke between them.
    if old := _WORST.fullmatch(said.figure):
        said = said.model_copy(update={"figure": f"{old[1]}, {describe_worst(old[2], old[3])}"})
    here = in_words(found.verdict, found.figure)
    claim = Claim(what=said.check, answer="holds", said=in_words(said.verdict, said.figure), found=here)
    if found.verdict == "not_run":
        return claim.model_copy(update={"answer": "not_tried", "why": one_line(found.why, 300)})
    others = [
        f"{name} was {then[name]}, is {now.get(name, 'missing')}"
        for name in ("python", "burnish", *TOOLS.get(said.check, ()))
        if name in then and then[name] != now.get(name)
    ]
    because = f" ({', '.join(others)})" if others else ""
    if found.verdict != said.verdict:
        return claim.deny(f"it {here.split(',')[0]} here: {one_line(found.why, 200)}{because}")
    if said.figure != found.figure and not _is_near(said, found):
        figures = [one_line(figure, 60) or "no figure" for figure in (said.figure, found.figure)]
        return claim.deny(f"said was {figures[0]}, found {figures[1]}{because}")
    return claim


def recount_mutants(found: Evidence) -> Evidence:
    """What the mutation check found here, as older evidence counts: mutmut's mutants alone, equivalent ones too."""
    outcomes = {key: was for key, was in MutationDetails.read(found).outcomes.items() if MARK not in key}
    run = MutationRun(outcomes={key: "survived" if was == EQUIVALENT else was for key, was in outcomes.items()})
    if not run.tried:
        return found
    verdict: Outcome = "passed" if run.percent >= SETTINGS.mutation else "failed"
    figures = {"score": round(run.percent, 2), "interval": run.interval}
    return found.model_copy(
        update={"verdict": verdict, "figure": run.figure(), "details": {**found.details, **figures}}
    )


def claim_nothing(said: CheckAnswer, why: str) -> Claim:
    """A check that was left out, or claims nothing."""
    return Claim(what=said.check, answer="not_tried", said=in_words(said.verdict, said.figure), why=one_line(why, 300))


def claim_tests(dossier: Dossier, results: Mapping[str, Outcome], problem: str) -> Claim:
    """Whether each test says what it is said to say; `problem` is what kept some of them from saying anything."""
    ran = [test for test in dossier.tests if not test.disputed]
    found = [results.get(test.test, "not_run") for test in ran]
    said = _count_passed([test.result for test in ran])
    if not ran:
        return Claim(what="tests", answer="not_tried", said=said, why="there is no test")
    claim = Claim(what="tests", answer="holds", said=said, found=_count_passed(found))
    if other := [test.name for test, result in zip(ran, found, strict=True) if test.result != result]:
        more = f" and {len(other) - MOST_NAMED} more" if len(other) > MOST_NAMED else ""
        why = f"not as said: {', '.join(one_line(name, 60) for name in other[:MOST_NAMED])}{more}"
        return claim.deny(why + (f" ({one_line(problem, 200)})" if problem else ""))
    verdict = "passed" if all(result == "passed" for result in found) else "failed"
    told = next((one.verdict for one in dossier.checks if one.check == "tests"), verdict)
    if told not in (verdict, "not_run"):
        return claim.deny(f"the check is said to have {told}, and it {verdict}")
    return claim


def claim_verdict(
    dossier: Dossier, tests: Claim, results: Mapping[str, Outcome], reaches: Sequence[Finding] = ()
) -> Claim:
    """Whether the tests bear the verdict, by the rules of the judge. By `reaches` code could fool them."""
    said = dossier.verdict or "no verdict"
    claim = Claim(what="verdict", answer="holds", said=said)
    counting = [test for test in dossier.tests if not test.disputed and test.origin != "pinned"]
    if said not in ("proven", "plausible"):
        return claim.model_copy(update={"why": "such a run claims nothing"})
    if tests.answer == "not_tried":
        return claim.model_copy(update={"answer": "not_tried", "why": tests.why})
    if not counting or any(results.get(test.test) != "passed" for test in counting):
        return claim.deny("tests that count fail here", "failed")
    if said == "proven" and not any(test.origin in ("given", "worded") for test in counting):
        return claim.deny("no test was given, so nothing can be proven", "plausible")
    if said == "proven" and dossier.confidence is not None and dossier.confidence < PROVEN:
        return claim.deny(f"its confidence is below {100 * PROVEN:.0f} %", "plausible")
    if said == "proven" and reaches:
        return claim.deny(reaches[0].what, "plausible")
    # What no words and no file bear out: only the evidence says that a person wanted it so.
    trusted = []
    given = [test for test in dossier.tests if test.origin == "given"]
    if told := [test for test in given if test.given_in not in ("words", "file")]:
        places = ", ".join(dict.fromkeys(test.given_in or "another place" for test in told))
        many = f"{len(told)} of {plural(len(given), 'given test')}"
        trusted.append(f"{many} not in the task's words; said to be from: {places}")
    if not given and said == "proven":
        trusted.append("only examples in words decide, and that versions bore them out is said by the evidence alone")
    if dossier.task.test_file:
        shared = "the tests share a file that is said to be the user's own"
        trusted.append(f"{shared}, and what stands in it has a say in all of them")
    if back := dossier.task.taken_back:
        trusted.append(f"{plural(len(back), 'test')} that the words give, taken back by a person, as is said")
    return claim.model_copy(update={"found": said, "why": "; ".join(trusted)})


def claim_record(dossier: Dossier, recorded: Dossier | None) -> Claim:
    """Whether the user's own record of the run says the same: whoever made the folder cannot have changed that.

    `recorded` is made from that record. Not tried where there is none, as the run is somebody else's.
    """
    claim = Claim(what="record", answer="not_tried", said=f"run {dossier.run.id}", why="this run is not on record here")
    # Ids are short, and another's run may have the same.
    if recorded is None or recorded.run.at != dossier.run.at:
        return claim
    if not dossier.cost.by_model:  # older evidence says nothing about each model
        recorded = recorded.model_copy(update={"cost": recorded.cost.model_copy(update={"by_model": ()})})
    if dossier.version < 4:  # nor what was left open, and how sure one can be
        task = recorded.task.model_copy(update={"open_questions": ()})
        recorded = recorded.model_copy(update={"task": task, "confidence": None, "calibrated": False, "basis": ""})
    # Remarks and versions of tools are not compared.
    there, here = _collect_facts(dossier), _collect_facts(recorded)
    other = [name for name in there if there[name] != here[name]]
    said, known = ({one.check: (one.verdict, one.figure) for one in each.checks} for each in (dossier, recorded))
    other += [name for name in dict.fromkeys((*said, *known)) if said.get(name) != known.get(name)]
    if other:
        return claim.deny(f"your own record of the run says otherwise: {', '.join(other)}", "something else")
    return claim.model_copy(update={"answer": "holds", "found": "the same", "why": ""})


def _collect_facts(dossier: Dossier) -> dict[str, object]:
    """All that is compared with a record, by what it is called."""
    steps = dossier.code.steps if dossier.code else ()
    return {
        "the task": dossier.task,
        "the verdict": dossier.verdict,
        "the confidence": (dossier.confidence, dossier.calibrated, dossier.basis),
        "what was repaired": dossier.repair,
        "the page": dossier.page and dossier.page.model_copy(update={"pictures": ()}),
        "the app": dossier.app and dossier.app.model_copy(update={"beside": ()}),
        "the code": steps[0].sha256 if steps else "",
        "who made the code": [
            (step.version, step.made.by, step.made.model, step.made.round, step.made.ask_id) for step in steps
        ],
        "the tests": [(test.name, test.test, test.origin, test.disputed, test.result) for test in dossier.tests],
        "the packages": [(one.name, one.version, one.wheel, one.sha256) for one in dossier.packages],
        "the models": dossier.models,
        "the cost": dossier.cost,
    }


def in_words(verdict: Outcome, figure: str) -> str:
    """An answer in a few words: "passed, 92 %"."""
    return ", ".join(part for part in (verdict.replace("_", " "), one_line(figure, 60)) if part)


def _count_passed(results: Sequence[Outcome]) -> str:
    passed = results.count("passed")
    every = plural(len(results), "test")
    return f"{every} passed" if passed == len(results) else f"{passed} of {every} passed"


def read_value(item: Evidence) -> float | str | None:
    """What a check measured, as data: percent, points of 100, how the time grows; None where it measures none."""
    if item.check == "performance":
        functions = PerformanceDetails.read(item).functions
        return functions[0].growth or None if functions else None
    value = item.details.get({"coverage": "percent", "mutation": "score", "quality": "score"}.get(item.check, ""))
    return float(value) if isinstance(value, int | float) else None


def _read_words(said: CheckAnswer) -> float | str | None:
    """What a reader takes from the words of a figure. Evidence before version 3 has nothing else, and in newer evidence
    words that say something else than the value would mislead whoever reads them.
    """
    if said.check == "performance":
        growth = said.figure.rpartition(": ")[2].split(",")[0].strip()
        return growth if growth in ORDER else None
    number = _NUMBER.search(said.figure)
    return float(number[0]) if number else None


def _is_near(said: CheckAnswer, found: Evidence) -> bool:
    """Whether two figures of a check differ by no more than chance makes them differ.

    Of a sample of mutants that was taken here, the other score may lie anywhere in its interval; what interval the
    evidence names for its own is not believed. Of times only the growth of the slowest function counts: which it is
    among equals, and how long it takes, is chance.
    """
    values = [value for value in (_read_words(said), said.value) if value is not None]
    return bool(values) and all(_is_value_near(value, read_value(found), said.check, found) for value in values)


def _is_value_near(first: object, second: object, check: str, found: Evidence) -> bool:
    """Whether what was said is what was found, but for chance."""
    if check == "performance":
        places = [ORDER.index(one) for one in (first, second) if one in ORDER]
        return len(places) == 2 and abs(places[0] - places[1]) <= GROWTH_STEPS
    if check not in POINTS or not isinstance(first, float) or not isinstance(second, float):
        return False
    low, high = (MutationDetails.read(found).interval if check == "mutation" else None) or (second, second)
    return math.floor(low) <= first <= math.ceil(high) or abs(first - second) <= POINTS[check]
