"""Findings become rounds: what is better and loses nothing takes the place of what passed; all else leaves it alone."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from burnish import Limits, ScriptedModel
from burnish.agent.ask import Tools
from burnish.agent.nodes.refine import fix_with_ruff, refine, restore_head
from burnish.agent.nodes.run import hash_basis
from burnish.agent.refine_gate import NOT_COMPARED, find_difference
from burnish.agent.state import USER, AgentState
from burnish.checks.bench.bench import ModuleBench
from burnish.checks.final import FinalChecks
from burnish.errors import SandboxError
from burnish.events import (
    Asked,
    CodeProposed,
    Decided,
    Event,
    Evidence,
    Graded,
    ModelReplied,
    Mutated,
    NewTest,
    Refined,
    Stopped,
    Strengthened,
    TestsRan,
    write_event,
)
from burnish.events.history import Version
from burnish.events.replay import Replay
from burnish.report.explain import explain
from burnish.runs import Run, Store, read_record
from burnish.runs.record import FILE
from burnish.sandbox import Sandbox
from burnish.tasks import Task
from tests.agent.history import proposed, spec
from tests.agent.nodes.at_work import tools
from tests.snapshots import assert_snapshot
from tests.support import ROOT, attempt, block

UNIQUE = Task(
    id="unique",
    prompt="Each item once.",
    entry_point="unique",
    signature="unique(items)",
    visible_tests=("assert unique([1, 2, 1]) == [1, 2]", "assert unique([]) == []"),
    own_tests=False,
)
READ = Task(
    id="read",
    prompt="Read a value.",
    entry_point="read",
    signature="read(text)",
    visible_tests=("assert read('[1]') == [1]",),
    own_tests=False,
)
LOOP = """def unique(items):
    made = []
    for x in items:
        if {}:
            made.append(x)
    return made
"""
SLOW = LOOP.format("x not in made")
FAST = "def unique(items):\n    return list(dict.fromkeys(items))\n"
UNTIDY = f"import os\n\n\n{FAST}"
OPEN = "def read(text):\n    return eval(text)\n"
SAFE = "import ast\n\n\ndef read(text):\n    return ast.literal_eval(text)\n"


class Said(FinalChecks):
    """Checks that answer by what stands in the code, words parted by "|"; real ones are asked further down."""

    def __init__(self, *names: str, **found: str) -> None:
        super().__init__(names or ("security", "performance", "quality", "mutation"))
        self.found, self.asked = found, list[tuple[str, str]]()

    def judge(
        self, code: str, tests: str, sound: bool = True, names: Sequence[str] | None = None
    ) -> tuple[Evidence, ...]:
        names = self.names if names is None else names
        self.asked += [(name, code) for name in names]
        return tuple(self._answer(name, code) for name in names)

    def _answer(self, name: str, code: str) -> Evidence:
        words = self.found[name].split("|") if name in self.found else []
        bad = sum(word in code for word in words)
        details: dict[str, Any] = {"findings": [{"line": 2, "what": "Bad.", "severity": "high"}] if bad else []}
        if name == "performance":
            growth = "quadratic" if bad else "linear"
            details["functions"] = [{"name": "unique", "growth": growth, "argument": "items", "points": [[8, 0.1, 0]]}]
        details |= {"score": 90 - 35 * bad, "tried": 50}
        verdict: Any = "failed" if bad and name != "performance" else "passed"
        return Evidence(check=name, verdict=verdict, why="", figure="bad" if bad else "good", details=details)


def passing(box: Sandbox, code: str, *more: Event, task: Task = UNIQUE) -> AgentState:
    """A run whose one version passes all tests."""
    start = AgentState(task, [spec(task), *more, proposed(1, code)])
    graded = tools(box).ground.grade(code, start.suite)
    assert graded.all_passed, graded
    return start.after([TestsRan(version=1, graded=graded)])


def at_work(box: Sandbox, checks: FinalChecks, *answers: str, **how: Any) -> Tools:
    return replace(tools(box, *answers, **how), checks=checks, afterwards=frozenset({"refine"}))


def rounds(work: AgentState, kit: Tools) -> tuple[list[Event], AgentState]:
    events = [event for event in refine(work, kit) if event.lasting]
    return events, work.after(events)


def timeless(event: Event) -> dict[str, Any]:
    return event.model_dump(exclude={"at"})


def of(kind: type[Any], events: list[Event]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


@pytest.mark.slow
def test_nothing_found_is_no_round_and_no_question(box: Sandbox) -> None:
    assert rounds(passing(box, FAST), at_work(box, Said()))[0] == []


@pytest.mark.slow
def test_where_refining_was_not_asked_for_no_check_is_run(box: Sandbox) -> None:
    checks = Said(performance="made")
    events, _ = rounds(passing(box, SLOW), replace(at_work(box, checks), afterwards=frozenset()))
    assert (events, checks.asked) == ([], [])


def test_what_a_person_wrote_is_left_as_it_is(box: Sandbox) -> None:
    start = passing(box, FAST)
    grades = [TestsRan(version=2, graded=start.version(1).graded or Graded())]
    edited = start.after([proposed(2, SLOW, by=USER, base=1), *grades])
    assert edited.best
    assert edited.best.number == 2
    assert rounds(edited, at_work(box, Said(performance="x not in made:")))[0] == []


@pytest.mark.slow
def test_what_ruff_can_fix_takes_the_place_of_its_base_without_a_question(box: Sandbox) -> None:
    events, after = rounds(passing(box, UNTIDY), at_work(box, Said(quality="import os")))
    [done] = of(Refined, events)
    assert (done.check, done.base, done.version, done.kept) == ("quality", 1, 2, True)
    assert (done.before, done.after) == ("bad", "good")
    assert after.best
    assert (after.best.number, after.best.by, after.best.base, after.best.code) == (2, "refine", 1, FAST)
    assert after.best_passes
    assert not of(Asked, events)


@pytest.mark.slow
def test_what_ruff_leaves_is_asked_of_the_model_and_the_answer_is_made_from_what_ruff_fixed(box: Sandbox) -> None:
    checks = Said(quality="import os|for x in items")
    events, after = rounds(passing(box, f"import os\n\n\n{SLOW}"), at_work(box, checks, block(FAST)))
    assert [(done.check, done.base, done.version, done.kept) for done in of(Refined, events)] == [
        ("quality", 1, 2, True),
        ("quality", 2, 3, True),
    ]
    assert [asked.ask_id for asked in of(Asked, events)] == ["refine-3"]
    assert "import os" not in of(Asked, events)[0].messages[-1].content
    assert after.best
    assert after.best.code == FAST


@pytest.mark.slow
def test_what_ruff_makes_and_the_gate_does_not_keep_leaves_no_trace(box: Sandbox) -> None:
    events, after = rounds(passing(box, UNTIDY), at_work(box, Said(quality="return"), block(SLOW)))
    assert [done.kept for done in of(Refined, events)] == [False]
    assert [asked.ask_id for asked in of(Asked, events)] == ["refine-2"]
    assert after.best
    assert after.best.number == 1


@pytest.mark.slow
def test_the_model_is_asked_once_for_what_ruff_cannot_fix(box: Sandbox) -> None:
    kit = at_work(box, Said(performance="x not in made:"), block(FAST), block(FAST))
    events, after = rounds(passing(box, SLOW), kit)
    assert [asked.ask_id for asked in of(Asked, events)] == ["refine-2"]
    assert after.best
    assert after.best.code.strip() == FAST.strip()
    [question] = of(Asked, events)
    [opened] = [event for event in of(Decided, events) if event.check]
    assert opened.finding in question.messages[-1].content
    assert_snapshot(opened.finding, "agent/refine: what is found slow")
    assert question.temperature == 0.0


@pytest.mark.slow
def test_an_answer_that_fails_a_test_does_not_land(box: Sandbox) -> None:
    wrong = "def unique(items):\n    return sorted(set(items))[:1]\n"
    events, after = rounds(passing(box, SLOW), at_work(box, Said(performance="x not in made:"), block(wrong)))
    [done] = of(Refined, events)
    assert not done.kept
    assert "assert unique([1, 2, 1]) == [1, 2]" in done.why
    assert after.best
    assert after.best.number == 1
    assert [asked.temperature for asked in of(Asked, events)] == [0.0]


def test_an_answer_that_loses_a_pinned_test_does_not_land(box: Sandbox) -> None:
    pin = NewTest(test="assert unique([3, 1, 3]) == [3, 1]", origin="pinned", notices=("m1",))
    more = Strengthened(version=1, tests=(pin,))
    in_order = "def unique(items):\n    return sorted(set(items))\n"
    events, after = rounds(passing(box, SLOW, more), at_work(box, Said(performance="x not in made:"), block(in_order)))
    [done] = of(Refined, events)
    assert not done.kept
    assert "unique([3, 1, 3])" in done.why
    assert after.best
    assert after.best.number == 1


@pytest.mark.slow
def test_an_answer_that_does_something_else_where_no_test_looks_does_not_land(box: Sandbox) -> None:
    other = "def unique(items):\n    return sorted(set(items))\n"
    events, after = rounds(passing(box, SLOW), at_work(box, Said(performance="x not in made:"), block(other)))
    [done] = of(Refined, events)
    assert not done.kept
    assert re.search(r"\bunique\(.*\)", done.why), "the call on which it differs is named"
    assert after.best
    assert after.best.number == 1


@pytest.mark.slow
def test_faster_but_less_secure_does_not_land(box: Sandbox) -> None:
    bought = "def unique(items):\n    return list(eval('dict').fromkeys(items))\n"
    checks = Said(performance="x not in made:", security="eval(")
    events, after = rounds(passing(box, SLOW), at_work(box, checks, block(bought)))
    [done] = of(Refined, events)
    assert not done.kept
    assert_snapshot(done.why, "agent/refine: another check is worse")
    assert after.best
    assert after.best.number == 1


@pytest.mark.slow
def test_tests_that_notice_less_speak_against_an_answer_only_where_that_was_measured(box: Sandbox) -> None:
    checks = Said(performance="x not in made:", mutation="fromkeys")
    events, _ = rounds(passing(box, SLOW), at_work(box, checks, block(FAST)))
    assert of(Refined, events)[0].kept
    start = passing(box, SLOW).after([Mutated(version=1, mutants=9, noticed=9)])
    events, after = rounds(start, at_work(box, checks, block(FAST)))
    assert (of(Refined, events)[0].kept, of(Refined, events)[0].why.split()[0]) == (False, "mutation")
    assert after.best
    assert after.best.number == 1


def test_an_answer_with_another_signature_does_not_land(box: Sandbox) -> None:
    other = "def unique(items, keep=0):\n    return list(dict.fromkeys(items))\n"
    events, _ = rounds(passing(box, SLOW), at_work(box, Said(performance="x not in made:"), block(other)))
    assert not of(Refined, events)[0].kept
    assert_snapshot(of(Refined, events)[0].why, "agent/refine: another signature")


FIRST = Task(
    id="first",
    prompt="The first word of a text.",
    entry_point="first_word",
    signature="first_word(text)",
    visible_tests=("assert first_word('a') == 'a'", "assert first_word('b c') == 'b'"),
    own_tests=False,
)
EXECUTED = "def first_word(text):\n    return eval(repr(text) + '.split()[0]')\n"
SPLIT = "def first_word(text):\n    return text.split()[0]\n"
CUT = "def first_word(text):\n    return text[0]\n"


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "kept"), [(CUT, False), (SPLIT, True)], ids=["another-value", "the-same"])
def test_a_safer_answer_that_does_something_else_does_not_land(box: Sandbox, answer: str, kept: bool) -> None:
    start = passing(box, EXECUTED, task=FIRST)
    events, after = rounds(start, at_work(box, Said(security="eval("), block(answer)))
    assert [done.kept for done in of(Refined, events)] == [kept]
    assert after.best
    assert after.best.code.strip() == (SPLIT if kept else EXECUTED).strip()


@pytest.mark.slow
def test_a_safer_answer_may_refuse_what_was_a_program_and_no_data(box: Sandbox) -> None:
    code = "def read(text):\n    return eval(text, {})\n"
    events, after = rounds(passing(box, code, task=READ), at_work(box, Said(security="return eval("), block(SAFE)))
    assert of(Refined, events)[0].kept
    assert after.best
    assert after.best.number == 2


@pytest.mark.slow
def test_a_safer_answer_that_no_longer_reads_plain_data_does_not_land(box: Sandbox) -> None:
    poorer = "def read(text):\n    return [int(text.strip('[]'))]\n"
    code = "def read(text):\n    return eval(text, {})\n"
    events, _ = rounds(passing(box, code, task=READ), at_work(box, Said(security="return eval("), block(poorer)))
    assert not of(Refined, events)[0].kept
    assert re.search(r"\bread\(.*\)", of(Refined, events)[0].why)


@pytest.mark.slow
def test_an_answer_that_changes_its_arguments_or_raises_another_error_does_not_land(box: Sandbox) -> None:
    changes = "def unique(items):\n    items.sort(key=str)\n    return list(dict.fromkeys(items))\n"
    raises = "def unique(items):\n    if items is None or isinstance(items, int):\n        raise KeyError\n"
    raises += "    return list(dict.fromkeys(items))\n"
    for answer in (changes, raises):
        calls = ("unique([1, 2, 1])", "unique([2, 1])", "unique(None)")
        assert any(call in find_difference(SLOW, answer, calls, tools(box).ground) for call in calls)


class Silent(ModuleBench):
    """A place where nothing can be compared."""

    def run_calls(self, modules: Mapping[int, str], calls: Sequence[str]) -> dict[int, tuple[str, ...]]:
        raise SandboxError("no place to run")


@pytest.mark.slow
def test_what_could_not_be_compared_does_not_land(box: Sandbox) -> None:
    kit = at_work(box, Said(performance="x not in made:"), block(FAST), ground=Silent(box))
    events, after = rounds(passing(box, SLOW), kit)
    assert not of(Refined, events)[0].kept
    assert after.best
    assert after.best.number == 1
    assert find_difference(SLOW, FAST, (), tools(box).ground) == NOT_COMPARED
    assert find_difference(SLOW, FAST, ("unique(0)",), tools(box).ground) == NOT_COMPARED


@pytest.mark.slow
def test_code_that_its_tests_run_less_of_does_not_land(box: Sandbox) -> None:
    checks = Said("coverage", "performance", performance="x not in made:", coverage="fromkeys")
    events, after = rounds(passing(box, SLOW), at_work(box, checks, block(FAST)))
    assert (of(Refined, events)[0].kept, of(Refined, events)[0].why.split()[0]) == (False, "coverage")
    assert after.best
    assert after.best.number == 1


@pytest.mark.slow
def test_the_rounds_come_in_their_order_and_each_goes_on_from_what_was_kept(box: Sandbox) -> None:
    checks = Said(security="return eval(", quality="import os")
    code = f"import os\n\n\n{OPEN}"
    safer = f"import os\n{SAFE}"
    events, after = rounds(passing(box, code, task=READ), at_work(box, checks, block(safer)))
    assert [(done.check, done.base, done.version) for done in of(Refined, events)] == [
        ("security", 1, 2),
        ("quality", 2, 3),
    ]
    assert after.best
    assert after.best.number == 3
    assert "literal_eval" in after.best.code
    assert "import os" not in after.best.code


@pytest.mark.slow
def test_a_version_that_was_not_kept_is_never_the_best_and_has_no_vote(box: Sandbox) -> None:
    events, after = rounds(passing(box, SLOW), at_work(box, Said(performance="unique"), block(FAST)))
    assert not of(Refined, events)[0].kept
    assert [version.number for version in after.versions] == [1, 2]
    assert [version.number for version in after.rivals] == [1]
    assert [version.number for version in after.answers] == [1]
    assert after.best
    assert after.best.number == 1


@pytest.mark.parametrize("limits", [Limits(calls=0), Limits(tokens=100)])
def test_a_limit_leaves_the_question_out_and_does_not_stop_the_run(box: Sandbox, limits: Limits) -> None:
    events, after = rounds(passing(box, SLOW), at_work(box, Said(performance="x not in made:"), limits=limits))
    [done] = of(Refined, events)
    assert (done.kept, done.version) == (False, None)
    assert not of(Stopped, events)
    assert after.best_passes


def test_once_time_is_over_nothing_is_measured_and_the_reason_is_told(box: Sandbox) -> None:
    checks = Said(security="unique")
    events, _ = rounds(passing(box, SLOW), at_work(box, checks, limits=Limits(seconds=0)))
    assert {(done.kept, done.version) for done in of(Refined, events)} == {(False, None)}
    assert_snapshot(of(Refined, events)[0].why, "agent/refine: no time is left")
    assert checks.asked == []


def test_a_cancelled_run_begins_no_round(box: Sandbox) -> None:
    kit = at_work(box, Said(performance="made"))
    kit.cancel.set()
    assert rounds(passing(box, SLOW), kit)[0] == []


def test_a_run_cancelled_during_a_check_ends_at_once(box: Sandbox) -> None:
    class Ends(Said):
        def judge(self, *given: Any, **named: Any) -> tuple[Evidence, ...]:
            kit.cancel.set()
            return super().judge(*given, **named)

    kit = at_work(box, Ends(security="unique"))
    assert rounds(passing(box, SLOW), kit)[0] == []


@pytest.mark.slow
@pytest.mark.parametrize("upto", [None, Refined, TestsRan])
def test_a_resumed_round_is_told_again_and_nothing_is_asked_twice(box: Sandbox, upto: type[Event] | None) -> None:
    start = passing(box, SLOW)
    events, after = rounds(start, at_work(box, Said(performance="x not in made:"), block(FAST)))
    until = events if upto is None else events[: next(n for n, one in enumerate(events) if isinstance(one, upto))]
    kit = at_work(box, Said(performance="x not in made:"), "never asked", replay=Replay(until))
    again, resumed = rounds(start, kit)
    assert isinstance(kit.model, ScriptedModel)
    assert kit.model.asked == []
    assert kit.meter.calls_left == Limits().calls - 1
    assert resumed.best
    assert after.best
    assert (resumed.best.number, resumed.best.code) == (2, after.best.code)
    assert list(map(type, again)) == list(map(type, events))


@pytest.mark.slow
def test_several_rounds_on_record_are_told_again_each_with_its_own_question(box: Sandbox) -> None:
    start, checks = passing(box, SLOW), Said("security", "quality", security="x not in made:", quality="made")
    answers = (block(LOOP.format("made.count(x) == 0")), block(FAST))
    events, after = rounds(start, at_work(box, checks, *answers))
    assert [asked.ask_id for asked in of(Asked, events)] == ["refine-2", "refine-3"]
    assert [done.kept for done in of(Refined, events)] == [True, True]
    kit = at_work(box, checks, replay=Replay(events))
    again, resumed = rounds(start, kit)
    assert isinstance(kit.model, ScriptedModel)
    assert kit.model.asked == []
    assert list(map(type, again)) == list(map(type, events))
    assert resumed.best
    assert after.best
    assert resumed.best.code == after.best.code


@pytest.mark.slow
def test_a_finished_round_is_not_measured_again(box: Sandbox) -> None:
    start = passing(box, UNTIDY)
    events, _ = rounds(start, at_work(box, Said("quality", quality="import os")))
    checks = Said("quality", quality="import os")
    again, after = rounds(start, at_work(box, checks, replay=Replay(events)))
    assert checks.asked == [("quality", FAST)], "what is left to ask about; the judge needs it too"
    assert [timeless(event) for event in again] == [timeless(event) for event in events]
    assert after.best
    assert after.best.number == 2


@pytest.mark.slow
def test_real_checks_close_a_door_and_the_judge_asks_none_of_them_twice(
    open_box: Sandbox, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []
    judged = FinalChecks._judge_files
    monkeypatch.setattr(
        FinalChecks, "_judge_files", lambda self, names, *rest: ran.extend(names) or judged(self, names, *rest)
    )
    checks = ("security",)
    model = ScriptedModel([block(OPEN), block(SAFE)])
    run = attempt(READ, model, store=store, checks=checks, afterwards=("refine",))
    assert run.verdict == "plausible"
    assert "ast.literal_eval(text)" in run.code
    assert [evidence.verdict for evidence in run.evidence] == ["passed", "passed"]
    assert ran == ["security", "security"], "before and after, and not again at the end"


@pytest.mark.slow
@pytest.mark.usefixtures("open_box")
def test_real_checks_see_a_quadratic_growth_go(store: Store) -> None:
    checks = ("security", "quality", "performance")
    model = ScriptedModel([block(SLOW), block(FAST)])
    run = attempt(UNIQUE, model, store=store, checks=checks, afterwards=("refine",))
    [done] = run.all(Refined)
    assert (done.check, done.kept) == ("performance", True)
    assert "quadratic" in done.before
    assert "linear" in done.after


HEAD = 'def f(a: list[int], b: int = 1) -> int:\n    """Add."""\n'


def test_an_answer_keeps_the_types_and_the_docstring_that_it_leaves_out() -> None:
    said = "import math\n\n\ndef f(a, b=1):\n    return math.fsum(a) + b\n"
    assert restore_head(f"{HEAD}    return sum(a) + b\n", said, "f") == (
        f"import math\n\n\n{HEAD}    return math.fsum(a) + b\n"
    )


@pytest.mark.parametrize(
    "said",
    [
        "def f(a):\n    return sum(a)\n",
        "def f(a, b=1):\n  return sum(a)\n",
        "def f(a, b=1): return sum(a)\n",
        "def g(a, b=1):\n    return sum(a)\n",
        "def f(a, b=1\n",
    ],
    ids=["other-parameters", "other-margin", "one-line", "other-name", "no-python"],
)
def test_an_answer_that_the_head_does_not_fit_stays_as_it_is(said: str) -> None:
    assert restore_head(f"{HEAD}    return sum(a) + b\n", said, "f") == said


def test_ruff_makes_its_safe_fixes_and_leaves_what_it_cannot_vouch_for() -> None:
    code = "import os\n\n\ndef f(a, items=[]):  # noqa\n    if not a in items:\n        unused = 0\n    return items\n"
    fixed = fix_with_ruff(code)
    assert "import os" not in fixed
    assert "a not in items" in fixed
    assert "items=[]" in fixed
    assert "unused = 0" in fixed


def test_what_ruff_cannot_read_or_has_nothing_against_stays_as_it_is() -> None:
    assert fix_with_ruff("def f(:\n") in ("", "def f(:\n")
    assert fix_with_ruff(FAST) == FAST


@pytest.mark.slow
def test_a_round_on_record_that_asked_twice_is_told_again_with_both_answers(box: Sandbox) -> None:
    """Earlier runs asked a second, warmer question where the first answer was not kept."""
    start, checks = passing(box, SLOW), Said("performance", performance="x not in made:")
    wrong = "def unique(items):\n    return sorted(set(items))\n"
    first, _ = rounds(start, at_work(box, checks, block(wrong)))
    asked = of(Asked, first)[0].model_copy(update={"ask_id": "refine-3", "temperature": 0.7, "seed": 3})
    reply = of(ModelReplied, first)[0].model_copy(update={"ask_id": "refine-3", "text": block(FAST)})
    made = proposed(3, FAST, by="refine", base=1).model_copy(update={"ask_id": "refine-3"})
    graded = tools(box).ground.grade(FAST, start.suite)
    done = Refined(check="performance", base=1, version=3, kept=True, before="bad", after="good")
    record = [
        *first[:-1],
        asked,
        reply,
        made,
        TestsRan(version=3, graded=graded, basis=hash_basis(Version(number=3, code=FAST, by="refine"), start.suite)),
    ]
    kit = at_work(box, checks, replay=Replay([*record, done]))
    again, after = rounds(start, kit)
    assert isinstance(kit.model, ScriptedModel)
    assert kit.model.asked == []
    assert [event.version for event in of(CodeProposed, again)] == [2, 3]
    assert after.best
    assert (after.best.number, after.best.code.strip()) == (3, FAST.strip())


REWRITERS = ROOT / "tests" / "runs" / "samples" / "rewriters"
"""An earlier run, whose rounds rewrote code by hand-written rules. This file never changes."""


def test_a_record_of_hand_written_rewriters_opens_and_is_explained() -> None:
    run = Run(read_record(REWRITERS))
    assert (run.verdict, [done.kept for done in run.all(Refined)]) == ("proven", [True, True])
    assert [event.check for event in run.all(Decided) if event.check] == ["security", "quality"]
    assert run.code == SAFE
    assert "Version 2 (refine, from version 1)" in explain(run)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("upto", "answers", "versions"),
    [(Stopped, (), [1, 2, 3]), (Refined, (SAFE,), [1, 2, 2])],
    ids=["after-its-rounds", "within-the-first"],
)
def test_a_record_of_hand_written_rewriters_is_taken_up_again(
    open_box: Sandbox, store: Store, upto: type[Event], answers: tuple[str, ...], versions: list[int]
) -> None:
    events = read_record(REWRITERS)
    events = events[: next(place for place, event in enumerate(events) if isinstance(event, upto))]
    folder = store.runs / events[0].run_id
    folder.mkdir(parents=True)
    (folder / FILE).write_bytes(b"".join(map(write_event, events)))
    model = ScriptedModel([block(answer) for answer in answers])
    how: Any = {"checks": ("security", "quality"), "afterwards": ("refine",), "replay": events}
    run = attempt(READ, model, store=store, **how)
    assert (run.verdict, run.code) == ("plausible", SAFE)
    assert len(model.asked) == len(answers)
    assert [event.version for event in Run(read_record(folder)).all(CodeProposed)] == versions
