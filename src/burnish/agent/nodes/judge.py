"""judge: take the best version, check it once more from its final files, and say the verdict with its reason."""

from collections.abc import Iterator

from burnish.agent.ask import Tools
from burnish.agent.work import Work
from burnish.checks.tests import TestsCheck
from burnish.events import CheckFinished, Event, Evidence, Notice, Refused, RunFinished, Stopped, Verdict
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
    evidence = TestsCheck(work.disputed).judge(work.best.code, work.suite, tools.ground)
    yield CheckFinished(evidence=evidence)
    if others := _others(work, tools):
        yield from _refused(work, others)
        return
    yield from other_checks(work, work.best.code, evidence.verdict == "passed", tools)
    if tools.cancel.is_set():
        return
    verdict, why = _verdict(work, evidence)
    yield RunFinished(verdict=verdict, why=why, version=work.best.number, disputed=work.disputed)


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
    answers = tools.checks.judge(code, work.suite.render(work.disputed), sound)
    yield from (CheckFinished(evidence=evidence) for evidence in answers if not tools.cancel.is_set())


def _verdict(work: Work, evidence: Evidence) -> tuple[Verdict, str]:
    given, own = len(work.deciding), len(work.suite.model) - len(work.disputed)
    if evidence.verdict != "passed" or not work.holds:
        return "failed", _failed(work, evidence)
    if work.broken and not work.shown_wrong:
        why = "no test failed before" if work.is_known_before else "the code as it was could not be tried"
        return "plausible", f"{why}, so none can show that it is repaired; {_all(work)}"
    if given:
        extra = f" and {counted(own, 'undisputed test')} of the model's" if own else ""
        return "proven", f"{_yours(work)}{extra} pass{_aside(work)}"
    return (
        "plausible",
        f"you gave no example; only its own tests vouch for it ({counted(own, 'test')} pass{_aside(work)})",
    )


def _failed(work: Work, evidence: Evidence) -> str:
    if not work.suite.names:
        return "there is no test: you gave no example and the model wrote none that can be used"
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
    given, own = len(work.deciding), len(work.suite.model) - len(work.disputed)
    if not given:
        return f"only the model's own tests vouch for it ({counted(own, 'test')} pass{_aside(work)})"
    return f"{counted(given, 'test')} pass{_aside(work)}"


def _aside(work: Work) -> str:
    return f"; {counted(len(work.disputed), 'test')} of the model's disputed and set aside" if work.disputed else ""


def _yours(work: Work) -> str:
    """The tests that decide, in words."""
    examples, tests = len(work.suite.given), len(work.suite.project)
    words = ["your example" if examples == 1 else f"your {examples} examples"] if examples else []
    return " and ".join([*words, *([f"{counted(tests, 'test')} of the project"] if tests else [])])


def _no_code(work: Work) -> str:
    if not work.answers:
        return work.stopped.why if work.stopped else "the model gave no answer"
    return f"no version could be run: {work.answers[-1].problem}"
