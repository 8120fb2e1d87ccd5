"""Whether iterating paid is said in figures and in sentences, for each step what it brought and what it cost."""

from burnish.events import (
    CodeProposed,
    Event,
    Mutated,
    NewTest,
    Refined,
    Resumed,
    RunFinished,
    StepMeasured,
    Stopped,
    Strengthened,
)
from burnish.report.improvement import explain_improvement, list_steps, sort_unnoticed
from burnish.report.narrate import describe
from burnish.runs import Run
from tests.iterated import EVENTS, KEYS, SURVIVORS, iterated, row
from tests.snapshots import assert_snapshot


def run(*events: Event) -> Run:
    return Run((EVENTS[0], *events))


def test_each_step_is_a_row() -> None:
    assert [one.after for one in list_steps(iterated())] == ["first version", "new tests", "security", "the end"]


def test_a_step_that_was_looked_at_again_is_one_row_and_only_the_last_end_counts() -> None:
    again = row("round 1", 2, 2, None, 3.0, 50)
    looked = row("round 1", 2, 2, 50.0, 4.0, 50)
    ends = [row("the end", 2, 2, 50.0, seconds, 50) for seconds in (5.0, 9.0)]
    assert list_steps(run(again, looked, ends[0], Resumed(answers=1), ends[1])) == [looked, ends[1]]


def test_what_each_step_brought_is_told_with_its_cost() -> None:
    assert_snapshot("\n".join(explain_improvement(iterated())), "report/what each step brought")


def test_nothing_is_said_where_nothing_was_done() -> None:
    assert explain_improvement(run()) == []
    assert list_steps(run()) == []
    assert sort_unnoticed(run()) == ((), (), ())


def test_going_back_to_the_code_is_told_too() -> None:
    first = StepMeasured(after="first version", version=1, passed=1, tests=4, lines=2, seconds=2.0, tokens=40)
    later = StepMeasured(after="round 2", version=3, passed=4, tests=4, lines=2, seconds=5.5, tokens=100)
    looked = Mutated(version=3, mutants=2, noticed=2, seconds=3.0)
    same = later.model_copy(update={"passed": 1})
    told = [explain_improvement(run(*events))[0] for events in ((first, later), (first, looked, later), (first, same))]
    assert ["3.5 s" in words for words in told] == [True, False, True], "trying mutants is not going back to the code"
    assert_snapshot("\n".join(told), "report/going back to the code")


def test_tests_that_notice_everything_need_no_others() -> None:
    told = [explain_improvement(run(Mutated(version=1, mutants=many, noticed=many))) for many in (6, 1)]
    assert_snapshot("\n".join(words for [words] in told), "report/tests that notice everything")


def test_pinned_tests_raise_nothing() -> None:
    pinned = Strengthened(version=1, tests=(NewTest(test="x", origin="pinned", notices=("a",)),), noticed=3, pinned=1)
    [said] = explain_improvement(run(Mutated(version=1, mutants=4, noticed=3), pinned))
    assert_snapshot(said, "report/only pinned tests")


def test_only_tests_that_are_pinned_are_called_so() -> None:
    new = (
        NewTest(test="x", origin="agreed", notices=("a",)),
        NewTest(test="y", origin="pinned", notices=("b",)),
        NewTest(test="z", origin="pinned", notices=("c",)),
    )
    before = Mutated(version=1, mutants=400, noticed=300)
    [said] = explain_improvement(run(before, Strengthened(version=1, tests=new, noticed=300, pinned=2)))
    assert_snapshot(said, "report/some pinned tests")


def test_one_more_change_of_many_that_is_noticed_is_a_gain() -> None:
    new = NewTest(test="x", origin="agreed", notices=("a",))
    before = Mutated(version=1, mutants=400, noticed=301)
    [said] = explain_improvement(run(before, Strengthened(version=1, tests=(new,), noticed=302)))
    assert "301 to 302 of 400" in said


def test_why_nothing_was_looked_for_is_told() -> None:
    nothing = Strengthened(version=1, noticed=3, why="too little time is left")
    [said] = explain_improvement(run(Mutated(version=1, mutants=4, noticed=3), nothing))
    assert [nothing.why in words for words in (said, describe(nothing))] == [True, True]


def exposed(*after: Event) -> list[str]:
    new = NewTest(test="assert f(0) == 0", origin="agreed", notices=("a",))
    found = Strengthened(version=1, tests=(new,), exposing=(new.test,), noticed=3, seconds=2.0)
    return explain_improvement(run(Mutated(version=1, mutants=4, noticed=3), found, *after))


def test_a_test_that_shows_the_code_to_be_wrong_is_the_find() -> None:
    [wrong] = exposed()
    fresh = CodeProposed(version=2, code="def f(n):\n    return 0\n", by="reflect")
    [said] = exposed(fresh, RunFinished(verdict="proven", why="", version=2))
    assert_snapshot(f"{wrong}\n{said}", "report/a test that shows the code to be wrong")


def test_a_test_that_nothing_passes_is_said_to_be_set_aside() -> None:
    [said] = exposed(RunFinished(verdict="proven", why="", version=1, disputed=("assert f(0) == 0",)))
    assert said != exposed()[0]
    assert_snapshot(said, "report/a test that nothing passes")


def test_a_round_that_nobody_needed_is_only_told_where_the_check_has_passed() -> None:
    failed = [event for event in EVENTS if not isinstance(event, Refined)]
    needless = explain_improvement(Run(failed))[-1]
    assert_snapshot(needless, "report/a round that nobody needed")
    unfinished = [event for event in failed if event.kind != "run_finished"]
    assert needless not in explain_improvement(Run(unfinished))


def test_a_round_that_was_never_looked_into_is_not_called_needless() -> None:
    """The time was up, or a person's own words or hands made the result after the checks had their say."""
    without = [event for event in EVENTS if not isinstance(event, Refined)]
    needless = explain_improvement(Run(without))[-1]
    over = [Stopped(reason="seconds", why="out of time") if isinstance(event, Stopped) else event for event in without]
    assert needless not in explain_improvement(Run(over))
    for by in ("review", "user"):
        theirs = [
            event.model_copy(update={"by": by}) if isinstance(event, CodeProposed) and event.version == 2 else event
            for event in without
        ]
        assert needless not in explain_improvement(Run(theirs))
    unheard = [event for event in without if not isinstance(event, Stopped)]
    assert needless not in explain_improvement(Run(unheard))


def test_what_still_goes_unnoticed_is_sorted_by_what_is_known_of_it() -> None:
    left = sort_unnoticed(iterated())
    assert left.unnoticed == (SURVIVORS[4],)
    assert left.alike == (SURVIVORS[3],)
    assert left.pinned == (SURVIVORS[2],)
    assert KEYS[0] not in {one.key for kind in left for one in kind}
