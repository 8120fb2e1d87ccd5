"""What an answer is worth: parts with names, and nothing for those who fool their judge."""

from pathlib import Path

import pytest

from burnish.errors import SetupProblem
from burnish.events import Evidence, Graded
from burnish.events.checks import Case
from burnish.learn.reward import RewardWeights, find_cheat, read_weights, reward
from tests.support import block

DEFAULT = RewardWeights()


def graded(passed: int, failed: int, problem: str = "") -> Graded:
    outcomes = ["passed"] * passed + ["failed"] * failed
    return Graded(cases=tuple(Case(name=str(n), outcome=said) for n, said in enumerate(outcomes)), problem=problem)


def worth(found: Graded | None, answer: str = block("def f(): ..."), weights: RewardWeights = DEFAULT) -> float:
    return reward(found, answer, "def f(): ...", weights).total


def test_more_passing_tests_are_worth_more_and_all_of_them_most() -> None:
    values = [worth(None), worth(graded(0, 3)), worth(graded(1, 2)), worth(graded(2, 1)), worth(graded(3, 0))]
    assert values == sorted(set(values))
    assert values[0] == 0
    assert values[-1] == 1
    whole = DEFAULT.model_copy(update={"partial": False})
    assert worth(graded(2, 1), weights=whole) == worth(graded(0, 3), weights=whole)


def test_what_stopped_halfway_has_passed_nothing() -> None:
    assert reward(graded(3, 0, "the process ended"), "", "", DEFAULT).parts["correctness"] == 0


def test_words_around_the_code_cost_a_little() -> None:
    assert worth(graded(3, 0), "Sure!\n" + block("def f(): ...")) < worth(graded(3, 0))


def test_a_tidy_wrong_answer_earns_nothing_for_being_tidy() -> None:
    parts = {"complexity": {"score": 100.0}, "duplication": {"score": None}}
    tidy = Evidence(check="quality", verdict="passed", why="", details={"score": 100.0, "parts": parts})
    safe = Evidence(check="security", verdict="not_run", why="the tool crashed")
    wrong, right = (reward(graded(n, 3 - n), "", "", DEFAULT, evidence=[tidy, safe]) for n in (0, 3))
    assert wrong.parts["quality"] == wrong.parts["modularity"] == 0
    assert right.parts["quality"] == 1
    assert "security" not in right.parts, "not run is a third answer"
    assert "reuse" not in right.parts


@pytest.mark.parametrize(
    "code",
    [
        "import sys\ndef f():\n    sys.exit(0)",
        "import os\nos._exit(0)",
        "class A:\n    def __eq__(self, other):\n        return True",
        "import inspect",
        "from _pytest import runner",
        "import builtins\nbuiltins.print = None",
    ],
)
def test_attempts_to_cheat_are_seen(code: str) -> None:
    assert find_cheat(code)
    assert not find_cheat("import math\n\n\ndef f(x):\n    return math.floor(x) == x")


def test_rules_of_ones_own_count_only_for_right_code(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('[weights]\ncomplete = 1.0\n[[rules]]\nname = "typed"\npattern = "->"\nworth = 0.5\n')
    weights = read_weights(str(file))
    assert reward(graded(1, 0), "", "def f() -> int: ...", weights).total == 1.5
    assert reward(graded(0, 1), "", "def f() -> int: ...", weights).total == 0


@pytest.mark.parametrize("text", ["[weights]\nbeauty = 1.0\n", "weights = 3", "[[", '[weights]\ncomplete = "a lot"\n'])
def test_a_file_with_a_mistake_is_refused_with_what_is_allowed(tmp_path: Path, text: str) -> None:
    file = tmp_path / "odd.toml"
    file.write_text(text)
    with pytest.raises(SetupProblem, match="correctness"):
        read_weights(str(file))
    with pytest.raises(SetupProblem, match="scientific"):
        read_weights("scientfic")


def test_what_people_prefer_counts_by_itself_and_few_rounds_only_for_right_code() -> None:
    further = {"preference": 1.0, "rounds": 0.5}
    found = reward(graded(0, 3), "", "", DEFAULT, further=further).parts
    assert (found["preference"], found["rounds"]) == (1.0, 0.0)
