"""Our own agent as a strategy: what it may see, what it hands over, and when."""

from burnish.events import CodeProposed, RunFinished, TestsRan
from burnish.sandbox import Sandbox
from tests.evals.strategies.at_work import BUGGY, HALF, NO_TESTS, RIGHT, TALK, TASK, WRONG, Worked, plan, work
from tests.support import block

OWN = block("assert floor_half(0) == 0\nassert floor_half(8) == 4")


def burnished(box: Sandbox, task: object = TASK, seed: int = 0, **replies: list[str]) -> Worked:
    rounds = 2
    script = {"tests": [OWN], "draft": [RIGHT], "reflect": [RIGHT], "rewrite": [RIGHT], "second opinion": [RIGHT]}
    return work(box, plan("burnish", rounds=rounds), script | replies, task, seed)  # type: ignore[arg-type]


def test_a_right_draft_is_handed_over_after_the_tests_were_written_too(box: Sandbox) -> None:
    worked = burnished(box)
    assert worked.answers == [(2, 0, 1)]
    assert [finished.verdict for finished in worked.all(RunFinished)] == ["proven"]


def test_the_best_version_is_the_answer_after_every_run_of_the_tests(box: Sandbox) -> None:
    worked = burnished(box, draft=[WRONG], reflect=[HALF], rewrite=[RIGHT])
    assert worked.answers == [(2, 0, 1), (4, 1, 2), (4, 1, 3)]
    assert worked.all(RunFinished)[-1].version == 3


def test_answers_come_right_after_the_runs_they_rest_on(box: Sandbox) -> None:
    kinds = burnished(box, draft=[WRONG]).kinds
    runs = [place for place, kind in enumerate(kinds) if kind == "tests_ran"]
    assert all(kinds[place + 1] == "answered" for place in runs)


def test_where_nothing_can_be_run_that_is_the_answer(box: Sandbox) -> None:
    worked = burnished(box, draft=[TALK], reflect=[TALK], rewrite=[TALK])
    assert worked.answers == [(6, 2, None)]


def test_versions_are_whole_modules_and_are_run_as_such(box: Sandbox) -> None:
    leans_on_math = block("def floor_half(n: float) -> int:\n    return math.floor(n / 2)")
    worked = burnished(box, draft=[leans_on_math])
    [proposed] = worked.all(CodeProposed)
    assert proposed.code.startswith("import math\n")
    assert worked.all(TestsRan)[0].graded.all_passed


def test_the_buggy_code_is_shown_unless_the_function_is_to_be_written(box: Sandbox) -> None:
    assert BUGGY.strip() in burnished(box).prompts
    assert "ceil" not in work(box, plan("burnish", ask="write"), [RIGHT, OWN]).prompts


def test_a_script_that_is_no_list_of_asserts_is_one_test(box: Sandbox) -> None:
    loop = "for n in (2, 4, 6):\n    assert floor_half(n) == n / 2\n"
    worked = work(box, plan("burnish", protocol="oracle"), [RIGHT], TASK.model_copy(update={"hidden_tests": loop}))
    assert [len(ran.graded.cases) for ran in worked.all(TestsRan)] == [1]


def test_without_an_example_its_own_tests_are_all_it_has(box: Sandbox) -> None:
    assert burnished(box, NO_TESTS).all(RunFinished)[-1].verdict == "plausible"


def test_a_task_without_words_still_says_what_to_do(box: Sandbox) -> None:
    worked = burnished(box, TASK.model_copy(update={"prompt": ""}))
    assert "Make floor_half pass its tests." in worked.prompts


def test_each_attempt_has_its_own_seeds_and_a_rerun_has_the_same(box: Sandbox) -> None:
    def seeds(seed: int) -> list[int]:
        return sorted(ask.seed for ask in burnished(box, seed=seed, draft=[WRONG]).asked)

    assert seeds(0) == seeds(0)
    assert not {*seeds(0)} & {*seeds(1)}


def test_the_agents_limit_of_calls_holds_whatever_the_rounds(box: Sandbox) -> None:
    wrong = [block(f"def floor_half(n):\n    return {n}") for n in range(50, 90)]
    script = {"tests": [OWN], "": wrong}
    worked = work(box, plan("burnish", rounds=30), script)
    assert len(worked.asked) == 16
    assert set(worked.stopped.split()) == {"calls"}
