"""judge: take the best version, check it once more from its final files, and say the verdict with its reason."""

from collections.abc import Generator, Iterator

from burnish.agent.ask import Tools
from burnish.agent.confidence import Confidence, weigh
from burnish.agent.state import AgentState
from burnish.checks.bench.run_calls import find_set_order_dependence
from burnish.checks.check import read_findings
from burnish.checks.security.reach import find_added_reaches
from burnish.checks.tests import SuiteDetails, TestsCheck, describe_sharing
from burnish.events import CheckFinished, Event, Evidence, Notice, Refused, RunFinished, Stopped, TestsFrozen, Verdict
from burnish.events.history import Version
from burnish.tasks.examples import find_unread_example
from burnish.text import join_words, one_line, plural

MOST_NAMED = 200


def judge(state: AgentState, tools: Tools) -> Iterator[Event]:
    """Nothing is decided from memory: the tests run again, all of them, on what will be written to disk."""
    best = state.best
    if not state.stopped:
        yield Stopped(reason="done", why="the best version passes all tests that count")
    if best is None:
        why = state.stopped.why if state.stopped else "the model gave no answer"
        problem = state.answers[-1].problem if state.answers else ""
        yield RunFinished(verdict="failed", why=f"no version could be run: {problem}" if state.answers else why)
        return
    # Once before the tests run and once after: code that runs could change a project's test files meanwhile.
    if (yield from _refuse_changed_tests(state, tools, best)):
        return
    base_passes = state.score(state.base_version)[0] if state.base_version else 0
    if base_passes > (best_passes := state.score(best)[0]):
        total = plural(len(state.deciding_tests), "test")
        why = f"the code as it was passes {base_passes} of {total}, the best version only {best_passes}"
        yield RunFinished(verdict="failed", why=f"{why}; nothing is handed over")
        return
    suite, aside = state.suite, state.disputed
    evidence = TestsCheck(aside).judge(best.code, suite, tools.ground)
    cases = SuiteDetails.read(evidence).cases if evidence.verdict == "failed" else ()
    failed = [case.name for case in cases if case.outcome != "passed"]
    # A pinned test that fails now says nothing about the code.
    if unsure := tuple(test for name, test in suite.names.items() if name in failed and test in suite.pinned):
        aside = (*aside, *unsure)
        evidence = TestsCheck(aside).judge(best.code, suite, tools.ground)
    evidence = _add_doubts(state, best.code, evidence, tools)
    yield CheckFinished(evidence=evidence)
    if (yield from _refuse_changed_tests(state, tools, best)):
        return
    yield from run_other_checks(state, best.code, evidence.verdict == "passed", tools)
    if tools.cancel.is_set():
        return
    confidence = weigh(state, best)
    verdict, why = _decide_verdict(state, evidence, confidence)
    yield RunFinished(
        verdict=verdict,
        why=why,
        version=best.number,
        disputed=aside,
        # Code that fails what was given is wrong, not unlikely.
        confidence=confidence.share if verdict != "failed" else None,
        calibrated=confidence.calibrated and verdict != "failed",
        basis=confidence.basis if verdict != "failed" else "",
    )


def _refuse_changed_tests(state: AgentState, tools: Tools, best: Version) -> Generator[Event, None, bool]:
    """Refuse tests that are not as they were accepted, and say that this was done."""
    frozen, files = state.run.last(TestsFrozen), state.suite.files
    now = tools.ground.fingerprint(state.suite) if files else ()
    changed = one_line(", ".join(sorted({file for file, _ in {*now} ^ {*files}})), MOST_NAMED)
    if frozen and frozen.sha256 != state.suite.sha256:
        changed = "the suite"
    if not changed:
        return False
    why = f"the tests are not those that were accepted ({changed} changed); nothing is proven by others"
    yield Refused(what="the tests at the end", why=why)
    yield RunFinished(verdict="failed", why=why, version=best.number)
    return True


def _add_doubts(state: AgentState, code: str, evidence: Evidence, tools: Tools) -> Evidence:
    """Where tests passed: by what the code could have fooled them in its process, and whether they pass by an order of
    sets that others do not have. Both are findings.
    """
    if evidence.verdict != "passed":
        return evidence
    file = f"{state.task.module or 'solution'}.py"
    found = []
    if not SuiteDetails.read(evidence).separated:
        tests = "\n".join((state.suite.render(state.disputed), *tools.ground.test_texts(state.suite)))
        found += find_added_reaches(state.task.base_code, code, file, tests)
    if tools.place is None and tools.checks is not None:
        found += find_set_order_dependence(code, state.suite, state.disputed, tools.sandbox, file)
    rows = {"findings": [one.model_dump() for one in found]} if found else {}
    return evidence.model_copy(update={"details": evidence.details | rows})


def run_other_checks(state: AgentState, code: str, sound: bool, tools: Tools) -> Iterator[Event]:
    """Run every check but the tests. What they find is on record; the verdict stays with the tests."""
    if tools.checks is None or tools.cancel.is_set():
        return
    yield Notice(text=f"checking {', '.join(tools.checks.names)}")
    answers = tools.checks.judge(code, state.suite.render(state.disputed, pinned=False), sound)
    yield from (CheckFinished(evidence=evidence) for evidence in answers if not tools.cancel.is_set())


def _decide_verdict(state: AgentState, evidence: Evidence, confidence: Confidence) -> tuple[Verdict, str]:
    """The verdict and its sentence; what could have fooled the tests, or thin evidence, leaves it plausible at most."""
    if evidence.verdict != "passed" or not state.best_passes:
        why = evidence.why
        if not state.suite.names:
            why = f"there is no test: {_explain_no_example(state)} and the model wrote none that can be used"
        elif evidence.verdict == "passed":
            why = "most of the model's own tests are disputed, so nothing vouches for the code; give an example"
        return "failed", why
    verdict, why = _describe_pass(state)
    if doubts := read_findings(evidence):
        more = f" and {len(doubts) - 1} more like it" if len(doubts) > 1 else ""
        where = f"line {doubts[0].line}: " if doubts[0].line else ""
        what = doubts[0].what[:1].lower() + doubts[0].what[1:].rstrip(".")
        return "plausible", f"{why}, but {where}{what}{more}"
    details = SuiteDetails.read(evidence)
    why += describe_sharing(details.shared or 0, len(details.cases))
    if verdict == "proven" and not confidence.proves:
        return "plausible", f"{why}, but {confidence.obstacle or 'that is too little to be sure'}"
    return verdict, why


def _describe_pass(state: AgentState) -> tuple[Verdict, str]:
    """The verdict on a version whose tests pass, and why: whose tests vouch for it, and which were set aside."""
    suite, given = state.suite, len(state.deciding_tests)
    model, added = (sum(test not in state.disputed for test in tests) for tests in (suite.model, suite.added))
    doubted = len({*suite.worded} & {*state.disputed})
    aside = [f"{plural(doubted, 'example')} in your words"] if doubted else []
    aside += [f"{plural(count, 'test')} of the model's" for count in [len(suite.model) - model] if count]
    aside += _count_added(len(suite.added) - added)
    end = f"; {join_words(aside)} disputed and set aside" if aside else ""
    own = f"{join_words([plural(model, 'test'), *_count_added(added)])} {_passes(model + added)}"
    if state.broken and not state.shown_wrong:
        why = "no test failed before" if state.base_was_tried else "the code as it was could not be tried"
        tests = f"{plural(given, 'test')} {_passes(given)}{end}"
        vouching = tests if given else f"only the model's own tests vouch for it ({own}{end})"
        return "plausible", f"{why}, so none can show that it is repaired; {vouching}"
    if not given:
        return "plausible", f"{_explain_no_example(state)}; only its own tests vouch for it ({own}{end})"
    yours = [f"your {len(suite.given)} examples" if len(suite.given) > 1 else "your example"] if suite.given else []
    yours += [f"{plural(len(state.confirmed), 'example')} in your words"] if state.confirmed else []
    yours += [f"{plural(len(suite.project), 'test')} of the project"] if suite.project else []
    extra = [f"{plural(model, 'undisputed test')} of the model's"] if model else []
    passing = join_words([join_words(yours), *extra, *_count_added(added)])
    return "proven", f"{passing} {_passes(given + model + added)}{end}"


def _explain_no_example(state: AgentState) -> str:
    """Why nothing that was given decides: none was given, it could not be read, or versions speak against it."""
    if state.suite.worded:
        examples = "examples" if len(state.suite.worded) > 1 else "example"
        return f"too few versions that were written independently pass the {examples} in your words"
    said = find_unread_example(state.task.prompt, {state.task.entry_point, *state.task.also})
    return f"your example was not understood as a test ({said})" if said else "you gave no example"


def _passes(count: int) -> str:
    return "passes" if count == 1 else "pass"


def _count_added(count: int) -> list[str]:
    """How many added tests there are, for a list; nothing where there are none."""
    return [f"{count} added one{'s' if count > 1 else ''}"] if count else []
