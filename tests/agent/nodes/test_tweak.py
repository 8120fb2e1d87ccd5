"""Small edits: a slip is mended without the model; nothing is tried where something passes already."""

from dataclasses import replace

import pytest

from burnish import Limits, ScriptedModel
from burnish.agent.nodes.run import tweak
from burnish.agent.packages import RunPackages
from burnish.events import CodeProposed, Event, Graded, TestsRan, Tweaked
from burnish.events.replay import Replay
from burnish.sandbox import Sandbox
from burnish.tasks import Task
from tests.agent.history import WRITING, given, proposed, ran, work
from tests.agent.nodes.at_work import Gone, tools
from tests.support import attempt, block

RIGHT = "def big(xs, least):\n    return [x for x in xs if x >= least]\n"
SLIP = RIGHT.replace(">=", ">")
LISTS = ([1, 2, 3], [], [5], [4, 4], [0, -1], [9, 1], [3, 1, 2, 1], [-5, 5], [7, 7, 8], [1.5, 0.5, 4.5, -0.5, -1.5])
MANY = tuple(
    f"assert big({xs}, {least}) == {[x for x in xs if x >= least]}" for xs in LISTS for least in (2, 1, 5, 0, -1)
)
"""Enough for any policy, and enough to leave one behaviour only."""
TASK = Task(
    id="big",
    prompt="The numbers of xs that are at least as large as least.",
    entry_point="big",
    signature="big(xs, least)",
    visible_tests=MANY,
    base_code=SLIP,
    broken=True,
    own_tests=False,
)
ANSWER = block("def big(xs, least):\n    return [x for x in xs if not x < least]")


@pytest.mark.slow
@pytest.mark.usefixtures("open_box")
def test_one_wrong_character_is_mended_by_an_edit_that_the_model_agrees_with() -> None:
    model = ScriptedModel([ANSWER])
    run = attempt(TASK, model)
    assert run.verdict in ("proven", "plausible")
    assert model.asked, "small edits alone are not enough, however many tests pass"
    assert run.final
    assert (run.final.by, run.final.base) == ("tweak", 0)
    changed = [pair for pair in zip(SLIP.splitlines(), run.code.splitlines(), strict=True) if pair[0] != pair[1]]
    assert len(changed) == 1, "one line and nothing else"


@pytest.mark.slow
@pytest.mark.usefixtures("open_box")
def test_with_one_test_alone_the_model_is_asked_as_well() -> None:
    model = ScriptedModel([ANSWER])
    run = attempt(TASK.model_copy(update={"visible_tests": MANY[:1]}), model, limits=Limits(rounds=3))
    assert run.verdict == "plausible"
    assert model.asked
    assert run.last(Tweaked)


def made(*events: Event, task: Task = WRITING, box: object = None, **how: object) -> list[Event]:
    return list(tweak(work(*events, task=task), tools(box, **how)))  # type: ignore[arg-type]


@pytest.mark.slow
def test_edits_that_pass_become_versions_with_results_of_their_own(box: Sandbox) -> None:
    near = "def f(n):\n    return n + 1\n"
    events = made(proposed(1, near), ran(1, "ff"), box=box)
    codes = [event for event in events if isinstance(event, CodeProposed)]
    results = [event for event in events if isinstance(event, TestsRan)]
    assert codes
    assert [code.version for code in codes] == list(range(2, 2 + len(codes))) == [ran.version for ran in results]
    assert {(code.by, code.base) for code in codes} == {("tweak", 1)}
    assert all(result.graded.all_passed and result.basis for result in results)
    [done] = [event for event in events if isinstance(event, Tweaked)]
    assert (done.base, done.passed) == (1, len(codes))
    assert done.tried >= done.passed
    again = made(proposed(1, near), ran(1, "ff"), *events, box=box)
    assert again == [], "each version is looked at once"


def test_nothing_is_tried_where_it_cannot_help() -> None:
    ground = Gone()
    passes = [proposed(1), ran(1, "ff"), proposed(2), ran(2, "pp")]
    untested = WRITING.model_copy(update={"visible_tests": ()})
    assert made(ground=ground) == []
    assert made(*passes, ground=ground) == [], "a version passes already"
    assert made(proposed(1), ran(1, ""), task=untested, ground=ground) == [], "no given test could tell"
    assert made(proposed(1, "no", problem="the answer holds no code"), ground=ground) == []
    assert ground.asked == 0


@pytest.mark.slow
def test_a_repetition_is_not_looked_at_again(box: Sandbox) -> None:
    far = "def f(n):\n    return None\n"
    first = made(proposed(1, far), ran(1, "ff"), box=box)
    assert [event.base for event in first if isinstance(event, Tweaked)] == [1]
    assert made(proposed(1, far), ran(1, "ff"), *first, proposed(2, far, round=1), ran(2, "ff"), ground=Gone()) == []


@pytest.mark.slow
def test_on_replay_the_same_edits_come_back_without_being_tried(box: Sandbox) -> None:
    before = [proposed(1, "def f(n):\n    return n + 1\n"), ran(1, "ff")]
    events = made(*before, box=box)
    ground = Gone()
    again = made(*before, ground=ground, replay=Replay(events))
    assert ground.asked == 0
    assert [event.model_dump(exclude={"at", "seconds"}) for event in again] == [
        event.model_dump(exclude={"at", "seconds"}) for event in events
    ]


def test_a_sandbox_that_breaks_is_no_end() -> None:
    events = made(proposed(1, "def f(n):\n    return n + 1\n"), ran(1, "ff"), ground=Gone())
    assert [(event.passed, event.tried) for event in events if isinstance(event, Tweaked)] == [(0, 0)]
    found = made(proposed(1, "def f(n):\n    return n + 1\n"), ran(1, "ff"), ground=Gone(edits=True))
    [result] = [event for event in found if isinstance(event, TestsRan)]
    assert result.graded.not_run
    assert result.basis == "", "so that it is run again when the run is taken up"


@pytest.mark.slow
def test_the_broken_code_is_looked_at_before_anything_is_asked(box: Sandbox) -> None:
    near = "def f(n):\n    return n - 1\n"
    task = WRITING.model_copy(update={"base_code": near, "broken": True})
    events = made(given(near), ran(0, "ff"), task=task, box=box)
    assert {event.base for event in events if isinstance(event, CodeProposed)} == {0}


def test_after_the_user_stopped_it_nothing_is_tried() -> None:
    stopped = tools(ground=Gone())
    stopped.cancel.set()
    assert list(tweak(work(proposed(1), ran(1, "ff")), stopped)) == []


def test_an_evaluation_can_leave_edits_out() -> None:
    ground = Gone()
    own = replace(tools(ground=ground), without=frozenset({"tweak"}))
    assert list(tweak(work(proposed(1), ran(1, "ff")), own)) == []
    assert ground.asked == 0


LACKING = "import quincetools\n\n\ndef f(n):\n    return quincetools.same(n + 1)\n"
NOT_THERE = "the code cannot be imported: ModuleNotFoundError: No module named 'quincetools'"


@pytest.mark.parametrize(
    ("code", "result", "tried"),
    [
        (LACKING, TestsRan(version=1, graded=Graded(problem=NOT_THERE)), False),
        (LACKING, ran(1, "ff", NOT_THERE), False),
        (LACKING, ran(1, "ff", "got: 3"), True),
        ("def f(n):\n    return n + 1\n", ran(1, "ff", NOT_THERE), True),
    ],
    ids=["whole", "each-test", "runs", "only-says-so"],
)
def test_no_edit_is_tried_on_code_that_only_lacks_a_package(code: str, result: TestsRan, tried: bool) -> None:
    ground, seen = Gone(), work(proposed(1, code), result)
    using = tools(ground=ground)
    list(tweak(seen, replace(using, packages=RunPackages(None, (), lambda folder: None))))
    assert bool(ground.asked) == tried
    list(tweak(seen, using))
    assert ground.asked, "where packages are nobody's business, as in evaluations, all is as it was"
