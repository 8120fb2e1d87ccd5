"""Which tasks are asked next: those that are sometimes solved, easy ones first, and some to write in every update."""

from burnish.learn.curriculum import Curriculum, find_stages
from burnish.tasks.task import Task

WRITE = [Task(id=f"write-{n}", prompt="p", gold="x" * n) for n in range(4)]
FIX = [Task(id=f"fix-{n}", prompt="p", gold="x" * n, base_code="def f(): ...\n") for n in range(4)]
SEVERAL = Task(id="several", prompt="p", base_code="def f(): ...", gold="def f(): ...\ndef g(): ...\n")


def measured(right: dict[str, int], tasks: list[Task]) -> Curriculum:
    found = Curriculum(tasks)
    for task in tasks:
        found.record(task.id, [n < right.get(task.id, 4) for n in range(8)])
    return found


def test_what_is_always_or_never_solved_is_not_asked_while_there_is_something_to_learn() -> None:
    found = measured({"fix-0": 0, "fix-1": 8, "write-0": 8}, WRITE[:2] + FIX)
    asked = {name for _ in range(6) for name in found.choose(2)}
    assert asked == {"fix-2", "fix-3", "write-1"}
    found.record("fix-2", [True] * 16)
    assert "fix-2" not in {name for _ in range(6) for name in found.choose(2)}, "it is solved, and leaves"
    found.record("fix-0", [True, False])
    assert "fix-0" in {name for _ in range(6) for name in found.choose(2)}, "it can be learnt now"


def test_every_update_of_several_tasks_has_one_to_write() -> None:
    found = measured({}, WRITE + FIX)
    assert all(any(name.startswith("write") for name in found.choose(2)) for _ in range(10))
    assert len(set(found.choose(8))) == 8, "none is asked twice"


def test_harder_tasks_come_when_easier_ones_are_learnt_and_several_functions_last() -> None:
    tasks = [*FIX, SEVERAL]
    stages = find_stages(tasks)
    assert stages == {"fix-0": 0, "fix-1": 0, "fix-2": 1, "fix-3": 1, "several": 2}
    found = measured({}, tasks)
    assert {*found.choose(1), *found.choose(1), *found.choose(1)} == {"fix-0", "fix-1"}
    for name in ("fix-0", "fix-1"):
        found.record(name, [True] * 16)
    assert {*found.choose(1), *found.choose(1), *found.choose(1)} == {"fix-2", "fix-3"}
    for name in ("fix-2", "fix-3"):
        found.record(name, [True] * 16)
    assert found.choose(1) == ["several"]
    found.record("several", [False] * 16)
    assert found.choose(1) == ["several"], "hard ones come before those that are solved"
