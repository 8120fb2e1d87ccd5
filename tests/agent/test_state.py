"""Where the work stands: which version is the best, which are rivals, which tests are disputed."""

import itertools

from burnish.agent.state import not_run
from burnish.errors import SandboxError
from burnish.events import CodeProposed, Compared, Event, Graded, Stopped, TestsProposed, TestsRan
from burnish.tasks import Task
from tests.agent.history import BROKEN, REPAIR, WRITING, given, graded_versions, proposed, ran, work

NO_TESTS = WRITING.model_copy(update={"visible_tests": ()})


def best(*events: Event, task: Task = WRITING) -> int | None:
    found = work(*events, task=task).best
    return found.number if found else None


def test_the_best_is_never_worse_than_an_earlier_version_by_given_and_undisputed_tests() -> None:
    own = TestsProposed(tests=("assert f(3) == 3", "assert f(4) == 4"))
    results = [(a + b, c + d) for a, b, c, d in itertools.product("pf", repeat=4)]
    for sample in itertools.islice(itertools.permutations(results, 3), 0, 400, 7):
        versions = enumerate(sample, 1)
        events = [event for n, (a, b) in versions for event in (proposed(n), ran(n, a, model=b))]
        state = work(own, *events)
        assert state.best is not None
        top = state.score(state.best)[:2]
        assert all(state.score(version)[:2] <= top for version in state.versions)


def test_given_tests_count_before_any_number_of_the_models() -> None:
    own = TestsProposed(tests=tuple(f"assert f({n}) == {n}" for n in range(3, 9)))
    assert best(own, proposed(1), ran(1, "pf", model="p" * 6), proposed(2), ran(2, "pp", model="f" * 6)) == 2


def test_of_equals_the_earlier_one_is_kept() -> None:
    assert best(*graded_versions({1: "pf", 2: "pf", 3: "ff"})) == 1


def test_a_preference_breaks_a_tie_and_nothing_else() -> None:
    def preferring(*groups: tuple[int, ...]) -> Compared:
        return Compared(groups=groups, inputs=("f(0)",), preferred=((1, 0.1), (2, 0.9)), preferred_by="judge")

    alike = graded_versions({1: "pp", 2: "pp"})
    assert best(*alike, preferring((1, 2))) == 2
    assert best(*alike, preferring((1,), (2,))) == 1, "behaviour comes first"
    assert best(*graded_versions({1: "pp", 2: "pf"}), preferring((1, 2))) == 1, "tests come first"


def test_the_given_broken_code_is_never_the_answer() -> None:
    assert best(given(), ran(0, "pp"), task=REPAIR) is None
    assert best(given(), ran(0, "pp"), proposed(1), ran(1, "ff"), task=REPAIR) == 1
    state = work(given(), ran(0, "pp"), proposed(1), ran(1, "pp"), task=REPAIR)
    assert [version.number for version in state.rivals] == [1]


def test_code_that_could_not_be_tried_is_not_shown_to_be_wrong() -> None:
    gone = TestsRan(version=0, graded=not_run(SandboxError("the cell ended")))
    slow = TestsRan(version=0, graded=Graded(problem="over the time limit", timed_out=True))
    assert work(given(), ran(0, "pf"), task=REPAIR).shown_wrong
    assert work(given(), slow, task=REPAIR).shown_wrong
    assert not work(given(), ran(0, "pp"), task=REPAIR).shown_wrong
    assert not work(given(), gone, task=REPAIR).shown_wrong
    assert not work(given(), task=REPAIR).shown_wrong
    unreadable = given().model_copy(update={"problem": "the code does not parse"})
    assert work(unreadable, task=REPAIR).shown_wrong


def test_a_version_that_cannot_be_run_is_no_best() -> None:
    assert best(proposed(1, "nonsense", problem="the answer holds no code")) is None
    assert best(proposed(1)) is None, "nor one that was not run"


def test_of_versions_that_behave_alike_the_one_that_changes_least_is_the_answer() -> None:
    rewritten = "def f(n):\n    total = 0\n    for one in range(n):\n        total += 1\n    return total\n"
    events = [given(), ran(0, "pf"), proposed(1, rewritten), ran(1, "pp")]
    events += [proposed(2, BROKEN.replace("- b", "+ b"), "tweak", base=0), ran(2, "pp")]
    compared = Compared(groups=((1, 2),), inputs=("f(1)",))
    assert best(*events, compared, task=REPAIR) == 2
    assert best(*events, Compared(groups=((1,), (2,)), inputs=("f(1)",)), task=REPAIR) == 1, "behaviour comes first"


def test_the_likeliest_behaviour_wins_among_those_that_pass_the_same_tests() -> None:
    events = graded_versions({1: "pp", 2: "pp", 3: "pp"})
    assert best(*events) == 1
    assert best(*events, Compared(groups=((2, 3), (1,)), inputs=("f(0)",))) == 2
    failed = [proposed(4), ran(4, "pf")]
    assert best(*failed, *events, Compared(groups=((4,), (2, 3), (1,)), inputs=("f(0)",))) == 2, "tests come first"


def test_versions_that_behave_alike_are_known_by_any_of_them() -> None:
    state = work(*graded_versions({1: "pp", 2: "pp", 3: "pp"}), Compared(groups=((2, 3), (1,)), inputs=("f(0)",)))
    assert state.group_of(state.version(3)) == (2, 3)
    assert work(*graded_versions({1: "pp"})).group_of(state.version(1)) == (1,), "itself, where nothing was compared"


def test_rivals_are_those_that_pass_all_that_was_given() -> None:
    state = work(*graded_versions({1: "pf", 2: "pp", 3: "pn", 4: "pp"}))
    assert [version.number for version in state.rivals] == [2, 4]
    assert [version.number for version in work(*graded_versions({1: "", 2: ""}), task=NO_TESTS).rivals] == [1, 2]


def test_a_models_test_that_most_good_answers_fail_is_disputed() -> None:
    own = TestsProposed(tests=("assert f(3) == 7", "assert f(4) == 4"))
    votes = [event for n in (1, 2) for event in (proposed(n, round=n - 1), ran(n, "pp", model="fp"))]
    state = work(own, *votes)
    assert state.disputed == ("assert f(3) == 7",)
    assert state.best_passes


def test_versions_that_fail_a_given_test_and_small_edits_have_no_vote() -> None:
    own = TestsProposed(tests=("assert f(3) == 3",))
    bad = [event for n in (1, 2, 3) for event in (proposed(n), ran(n, "pf", model="f"))]
    edits = [event for n in (4, 5, 6) for event in (proposed(n, by="tweak", base=1), ran(n, "pp", model="f"))]
    assert work(own, *bad, *edits).disputed == ()


def test_one_vote_settles_nothing_until_no_more_can_be_had() -> None:
    own = TestsProposed(tests=("assert f(3) == 3",))
    events = [own, proposed(1), ran(1, "pp", model="f")]
    assert work(*events).disputed == ()
    assert work(*events, Stopped(reason="calls")).disputed == ("assert f(3) == 3",)


def test_without_any_test_two_answers_that_agree_hold_and_one_does_not() -> None:
    one = graded_versions({1: ""})
    two = graded_versions({1: "", 2: ""})
    alike = Compared(groups=((1, 2),), inputs=("f(0)",))
    assert not work(*one, task=NO_TESTS).best_passes
    assert not work(*two, task=NO_TESTS).best_passes
    assert work(*two, alike, task=NO_TESTS).best_passes


def test_where_most_of_the_models_tests_are_disputed_nothing_vouches_for_the_code() -> None:
    own = TestsProposed(tests=("assert f(3) == 7", "assert f(4) == 9", "assert f(5) == 5"))
    votes = [event for n in (1, 2, 3) for event in (proposed(n), ran(n, "", model="ffp"))]
    state = work(own, *votes, task=NO_TESTS)
    assert len(state.disputed) == 2
    assert not state.best_passes


def test_blank_lines_and_comments_do_not_make_an_answer_new() -> None:
    state = work(
        proposed(1, "def f(n):\n    return n\n"), proposed(2, "def f(n):\n\n    # now right\n    return n  \n")
    )
    assert state.is_repeat(state.version(2))
    assert not state.is_repeat(state.version(1))
    fresh = work(proposed(1), proposed(2))
    assert not fresh.is_repeat(fresh.version(2))


def test_records_of_earlier_versions_say_in_words_what_is_a_field_now() -> None:
    silent = {"version": 1, "code": "", "by": "draft", "problem": "the model did not answer: gone"}
    assert CodeProposed.model_validate(silent).no_answer
    assert not CodeProposed.model_validate(silent | {"problem": "the code does not parse"}).no_answer
    assert Graded.model_validate({"problem": "the tests could not be run: gone"}).not_run
    assert not Graded.model_validate({"problem": "over the time limit"}).not_run


SAYS_YES = ("assert f(1) == True", "assert f(2)")
SAYS_NO = ("assert f(3) == False", "assert not f(4)", "assert f(5) is False")
BOTH = TestsProposed(tests=(*SAYS_YES, *SAYS_NO))


def test_the_best_test_for_yes_stays_where_only_those_for_no_would_be_left() -> None:
    """Three versions that always say no outvote every test that expects yes; the fourth is right."""
    no = [event for n in (1, 2, 3) for event in (proposed(n), ran(n, "", model="ffppp"))]
    state = work(BOTH, *no, proposed(4), ran(4, "", model="pfppp"), task=NO_TESTS)
    assert state.disputed == ("assert f(2)",)
    assert state.best is not None
    assert (state.best.number, state.best_passes) == (4, True)
    assert not work(BOTH, *no, task=NO_TESTS).best_passes, "nobody says yes to anything"


def test_a_wrong_test_is_set_aside_while_tests_of_both_kinds_are_left() -> None:
    events = [event for n in (1, 2, 3) for event in (proposed(n), ran(n, "", model="pfppp"))]
    state = work(BOTH, *events, task=NO_TESTS)
    assert (state.disputed, state.best_passes, state.is_one_sided) == (("assert f(2)",), True, False)


def test_given_tests_decide_and_what_is_left_on_one_side_is_said() -> None:
    yes = NO_TESTS.model_copy(update={"visible_tests": ("assert f(0) == True",)})
    events = [event for n in (1, 2) for event in (proposed(n), ran(n, "p", model="ppfff"))]
    state = work(BOTH, *events, task=yes)
    assert (state.disputed, state.best_passes, state.is_one_sided) == (SAYS_NO, True, True)
    assert not work(BOTH, proposed(1), ran(1, "p", model="ppppp"), task=yes).is_one_sided
