"""Our own agent as a strategy: what it may see, what it hands over, and when."""

import pytest

from burnish.evals.metrics import count_attempt
from burnish.events import CodeProposed, RunFinished, Scored, TestsFrozen, TestsProposed, TestsRan
from burnish.sandbox import Sandbox
from burnish.tasks import Task
from tests.evals.strategies.at_work import FAR, FAR_CODE, RIGHT, TALK, TASK, TO_WRITE, WRONG, Worked, plan, work
from tests.support import ASKING, block

EXAMPLES = tuple(f"assert floor_half({n}) == {n // 2}" for n in (*range(-3, 30), 99, 100))


def burnished(box: Sandbox, task: Task = FAR, seed: int = 0, **replies: list[str]) -> Worked:
    script = {kind: [RIGHT] for kind in ASKING} | replies
    return work(box, plan("burnish", rounds=2), script, task, seed)


def everywhere(*answers: str) -> dict[str, list[str]]:
    return {kind: [*answers] for kind in ASKING}


@pytest.mark.slow
def test_a_right_answer_is_handed_over(box: Sandbox) -> None:
    worked = burnished(box)
    calls, _, version = worked.answers[-1]
    assert 1 <= calls <= 3
    assert version is not None
    assert [finished.verdict for finished in worked.all(RunFinished)] == ["plausible"]


@pytest.mark.slow
def test_how_long_answers_and_thoughts_may_be_is_passed_on_to_the_model(box: Sandbox) -> None:
    short = plan("burnish", rounds=2).model_copy(update={"max_tokens": 77, "thinking": 5})
    worked = work(box, short, {kind: [RIGHT] for kind in ASKING}, FAR, 0)
    assert worked.asked
    assert {(ask.max_tokens, ask.thinking) for ask in worked.asked} == {(77, 5)}


@pytest.mark.slow
def test_a_task_without_buggy_code_is_solved_by_one_right_draft(box: Sandbox) -> None:
    answers = burnished(box, TO_WRITE).answers
    assert answers[0] == (1, 0, 1)
    assert {version for _, _, version in answers} == {1}, "later ones agree with it"


@pytest.mark.slow
def test_the_model_writes_no_tests_of_its_own(box: Sandbox) -> None:
    worked = burnished(box, **everywhere(WRONG))
    assert {ask.purpose for ask in worked.asked} <= {*ASKING}
    assert not worked.all(TestsProposed)
    assert [(frozen.given, frozen.model) for frozen in worked.all(TestsFrozen)] == [(2, 0)]


@pytest.mark.slow
def test_a_slip_that_an_edit_mends_counts_as_solved_from_the_first_call(box: Sandbox) -> None:
    worked = burnished(box, TASK.model_copy(update={"visible_tests": EXAMPLES}), **everywhere(WRONG))
    assert worked.asked, "small edits alone are not enough"
    version = worked.answers[-1][2]
    assert version is not None
    counted = count_attempt("toy/1", 0, [*worked.events, Scored(version=version, passed=True)])
    assert (counted.solved, {*counted.solved_by_call}) == (True, {True})


@pytest.mark.slow
def test_the_given_code_is_never_the_answer(box: Sandbox) -> None:
    worked = burnished(box, **everywhere(TALK, block(FAR_CODE)))
    codes = {proposed.version: proposed.code for proposed in worked.all(CodeProposed)}
    assert codes[0] == FAR_CODE
    assert 0 not in {version for _, _, version in worked.answers}


@pytest.mark.slow
def test_a_later_version_that_is_worse_is_not_the_answer(box: Sandbox) -> None:
    worked = burnished(box, TO_WRITE, **everywhere(TALK) | {"draft": [WRONG]})
    assert worked.answers[-1][2] == 1


@pytest.mark.slow
def test_answers_come_right_after_the_runs_they_rest_on(box: Sandbox) -> None:
    kinds = burnished(box, **everywhere(WRONG)).kinds
    runs = [place for place, kind in enumerate(kinds) if kind in ("tests_ran", "compared")]
    assert runs
    assert all(kinds[place + 1] == "answered" for place in runs)


def test_where_nothing_can_be_run_that_is_the_answer(box: Sandbox) -> None:
    worked = burnished(box, TO_WRITE, **everywhere(TALK))
    assert {version for _, _, version in worked.answers} == {None}
    assert worked.answers[-1][0] == len(worked.asked)


@pytest.mark.slow
def test_versions_are_whole_modules_and_are_run_as_such(box: Sandbox) -> None:
    leans_on_math = block("def floor_half(n: float) -> int:\n    return math.floor(n / 2)")
    worked = burnished(box, **everywhere(leans_on_math))
    assert all(proposed.code.startswith("import math\n") for proposed in worked.all(CodeProposed))
    assert worked.all(TestsRan)[-1].graded.all_passed


@pytest.mark.slow
def test_the_buggy_code_is_shown_and_edited_unless_the_function_is_to_be_written(box: Sandbox) -> None:
    shown = burnished(box, **everywhere(WRONG))
    assert FAR_CODE.partition("\n\n\n")[2].strip() in shown.prompts
    assert "tweaked" in shown.kinds
    fresh = work(box, plan("burnish", ask="write"), [WRONG, RIGHT], FAR)
    assert "ceil" not in fresh.prompts
    assert 0 not in {proposed.version for proposed in fresh.all(CodeProposed)}


@pytest.mark.slow
def test_a_script_that_is_no_list_of_asserts_is_one_test(box: Sandbox) -> None:
    loop = "for n in (2, 4, 6):\n    assert floor_half(n) == n / 2\n"
    worked = work(box, plan("burnish", protocol="oracle"), [RIGHT], TO_WRITE.model_copy(update={"hidden_tests": loop}))
    assert {len(ran.graded.cases) for ran in worked.all(TestsRan)} == {1}


@pytest.mark.slow
def test_without_an_example_an_answer_is_handed_over_all_the_same(box: Sandbox) -> None:
    worked = burnished(box, FAR.model_copy(update={"visible_tests": ()}))
    version = worked.answers[-1][2]
    assert version is not None
    [code] = [proposed.code for proposed in worked.all(CodeProposed) if proposed.version == version]
    assert "n // 2" in code


@pytest.mark.slow
def test_a_task_without_words_shows_what_there_is_instead_of_making_them_up(box: Sandbox) -> None:
    worked = burnished(box, FAR.model_copy(update={"prompt": ""}), **everywhere(WRONG))
    assert "floor_half(5) == 2" in worked.prompts
    assert "does not do what it should" not in worked.prompts


@pytest.mark.slow
def test_each_attempt_has_its_own_seeds_and_a_rerun_has_the_same(box: Sandbox) -> None:
    def seeds(seed: int) -> list[int]:
        return sorted(ask.seed for ask in burnished(box, TO_WRITE, seed, draft=[WRONG]).asked)

    assert seeds(0) == seeds(0)
    assert not {*seeds(0)} & {*seeds(1)}


@pytest.mark.slow
def test_it_makes_no_more_calls_than_retry_may(box: Sandbox) -> None:
    wrong = [block(f"def floor_half(n):\n    return '{n}'") for n in range(50, 90)]
    worked = work(box, plan("burnish", rounds=7), wrong, FAR)
    assert len(worked.asked) == 8
    assert set(worked.stopped.split()) <= {"calls", "rounds"}
