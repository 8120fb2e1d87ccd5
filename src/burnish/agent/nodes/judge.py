"""judge: take the best version, check it once more from its final files, and say the verdict with its reason."""

from collections.abc import Iterator

from burnish.agent.ask import Tools
from burnish.agent.work import Work
from burnish.checks.report.words import findings
from burnish.checks.security.reach import added_reaches
from burnish.checks.set_order import order_findings
from burnish.checks.tests import TestsCheck, sharing
from burnish.events import CheckFinished, Event, Evidence, Notice, Refused, RunFinished, Stopped, Verdict
from burnish.runs.sentences import joined
from burnish.tasks.examples_claims import not_understood
from burnish.text import counted, one_line

MOST_NAMED = 200


def judge(work: Work, tools: Tools) -> Iterator[Event]:
    """Nothing is decided from memory: the tests run again, all of them, on what will be written to disk."""
    if not work.stopped:
        yield Stopped(reason="done", why="the best version passes all tests that count")
    if work.best is None:
        yield RunFinished(verdict="failed", why=_no_code(work))
        return
    if others := _others(work, tools):
        yield from _refused(work, others)
        return
    if work.is_worse:
        yield RunFinished(verdict="failed", why=_worse(work))
        return
    evidence, aside = _tested(work, work.best.code, tools)
    evidence = _with_doubts(work, work.best.code, evidence, tools)
    yield CheckFinished(evidence=evidence)
    if others := _others(work, tools):
        yield from _refused(work, others)
        return
    yield from other_checks(work, work.best.code, evidence.verdict == "passed", tools)
    if tools.cancel.is_set():
        return
    verdict, why = _verdict(work, evidence)
    yield RunFinished(verdict=verdict, why=why, version=work.best.number, disputed=aside)


def _tested(work: Work, code: str, tools: Tools) -> tuple[Evidence, tuple[str, ...]]:
    """What all tests say, and which are set aside: a pinned one that fails now says nothing about the code."""
    evidence = TestsCheck(work.disputed).judge(code, work.suite, tools.ground)
    cases = evidence.details.get("cases") if evidence.verdict == "failed" else None
    failed = [case["name"] for case in cases if case["outcome"] != "passed"] if isinstance(cases, list) else []
    unsure = tuple(test for name, test in work.suite.names.items() if name in failed and test in work.suite.pinned)
    if not unsure:
        return evidence, work.disputed
    aside = (*work.disputed, *unsure)
    return TestsCheck(aside).judge(code, work.suite, tools.ground), aside


def _with_doubts(work: Work, code: str, evidence: Evidence, tools: Tools) -> Evidence:
    """Where tests passed: by what the code could have fooled them in its process, and whether they pass by an order of
    sets that others do not have. Both are findings.
    """
    file = f"{work.task.module or 'solution'}.py"
    found = []
    if evidence.verdict != "passed":
        return evidence
    if evidence.details.get("separated") is False:
        tests = "\n".join((work.suite.render(work.disputed), *tools.ground.test_texts(work.suite)))
        found += added_reaches(work.task.base_code, code, file, tests)
    if tools.place is None and tools.checks is not None:
        found += order_findings(code, work.suite, work.disputed, tools.sandbox, file)
    rows = {"findings": [one.model_dump() for one in found]} if found else {}
    return evidence.model_copy(update={"details": evidence.details | rows})


def _others(work: Work, tools: Tools) -> str:
    """What is no more as it was accepted; empty as long as all is."""
    if work.frozen and work.frozen.sha256 != work.suite.sha256:
        return "the suite"
    if not work.suite.files:
        return ""
    changed = {file for file, _ in {*tools.ground.fingerprint(work.suite)} ^ {*work.suite.files}}
    return one_line(", ".join(sorted(changed)), MOST_NAMED)


def _refused(work: Work, what: str) -> Iterator[Event]:
    why = f"the tests are not those that were accepted ({what} changed); nothing is proven by others"
    yield Refused(what="the tests at the end", why=why)
    yield RunFinished(verdict="failed", why=why, version=work.best.number if work.best else None)


def other_checks(work: Work, code: str, sound: bool, tools: Tools) -> Iterator[Event]:
    """What they find is told; the verdict stays with the tests."""
    if tools.checks is None or tools.cancel.is_set():
        return
    yield Notice(text=f"checking {', '.join(tools.checks.names)}")
    answers = tools.checks.judge(code, work.suite.render(work.disputed, pinned=False), sound)
    yield from (CheckFinished(evidence=evidence) for evidence in answers if not tools.cancel.is_set())


def _verdict(work: Work, evidence: Evidence) -> tuple[Verdict, str]:
    if evidence.verdict != "passed" or not work.holds:
        return "failed", _failed(work, evidence)
    verdict, why = _passed(work)
    if reached := findings(evidence):
        more = f" and {len(reached) - 1} more like it" if len(reached) > 1 else ""
        where = f"line {reached[0].line}: " if reached[0].line else ""
        return "plausible", f"{why}, but {where}{_small(reached[0].what)}{more}"
    shared, cases = evidence.details.get("shared"), evidence.details.get("cases")
    total = len(cases) if isinstance(cases, list) else 0
    return verdict, why + sharing(shared if isinstance(shared, int) else 0, total)


def _passed(work: Work) -> tuple[Verdict, str]:
    """The verdict on a version whose tests pass, and why."""
    given = len(work.deciding)
    if work.broken and not work.shown_wrong:
        why = "no test failed before" if work.is_known_before else "the code as it was could not be tried"
        return "plausible", f"{why}, so none can show that it is repaired; {_all(work)}"
    if given:
        own = _left(work, work.suite.model)
        extra = [f"{counted(own, 'undisputed test')} of the model's"] if own else []
        passing = _passes(given + own + _left(work, work.suite.added))
        return "proven", f"{joined([_yours(work), *extra, *_added(work)])} {passing}{_aside(work)}"
    return "plausible", f"{_no_example(work)}; only its own tests vouch for it ({_own(work)}{_aside(work)})"


def _small(sentence: str) -> str:
    """A sentence as a part of another."""
    return sentence[:1].lower() + sentence[1:].rstrip(".")


def _failed(work: Work, evidence: Evidence) -> str:
    if not work.suite.names:
        return f"there is no test: {_no_example(work)} and the model wrote none that can be used"
    if evidence.verdict == "passed":
        return "most of the model's own tests are disputed, so nothing vouches for the code; give an example"
    return evidence.why


def _worse(work: Work) -> str:
    """Why nothing is handed over: what was there is better."""
    assert work.best is not None
    there, made = (work.score(work.version(number))[0] for number in (0, work.best.number))
    return (
        f"the code as it was passes {there} of {counted(len(work.deciding), 'test')}, the best version only {made}; "
        f"nothing is handed over"
    )


def _all(work: Work) -> str:
    """How many tests pass, and whose they are."""
    given = len(work.deciding)
    if not given:
        return f"only the model's own tests vouch for it ({_own(work)}{_aside(work)})"
    return f"{counted(given, 'test')} {_passes(given)}{_aside(work)}"


def _own(work: Work) -> str:
    """How many tests of its own the code passes, in words."""
    model, added = (_left(work, tests) for tests in (work.suite.model, work.suite.added))
    return f"{joined([counted(model, 'test'), *_added(work)])} {_passes(model + added)}"


def _passes(count: int) -> str:
    return "passes" if count == 1 else "pass"


def _no_example(work: Work) -> str:
    """Why nothing that was given decides: none was given, or it could not be read."""
    said = not_understood(work.task.prompt, {work.task.entry_point, *work.task.also})
    return f"your example was not understood as a test ({said})" if said else "you gave no example"


def _added(work: Work) -> list[str]:
    """Tests that were made for what went unnoticed, in words; pinned ones are never among them."""
    count = _left(work, work.suite.added)
    return [_ones(count)] if count else []


def _ones(count: int) -> str:
    return f"{count} added one{'s' if count > 1 else ''}"


def _left(work: Work, tests: tuple[str, ...]) -> int:
    return sum(test not in work.disputed for test in tests)


def _aside(work: Work) -> str:
    """What was set aside, the model's tests and those that were added."""
    model, added = (len(tests) - _left(work, tests) for tests in (work.suite.model, work.suite.added))
    said = [f"{counted(model, 'test')} of the model's"] if model else []
    said += [_ones(added)] if added else []
    return f"; {joined(said)} disputed and set aside" if said else ""


def _yours(work: Work) -> str:
    """The tests that decide, in words."""
    examples, tests = len(work.suite.given), len(work.suite.project)
    words = ["your example" if examples == 1 else f"your {examples} examples"] if examples else []
    return " and ".join([*words, *([f"{counted(tests, 'test')} of the project"] if tests else [])])


def _no_code(work: Work) -> str:
    if not work.answers:
        return work.stopped.why if work.stopped else "the model gave no answer"
    return f"no version could be run: {work.answers[-1].problem}"
