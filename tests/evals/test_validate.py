"""A task is measured with only if its reference passes and its bug shows."""

from pathlib import Path

import pytest

from burnish.evals.validate import hash_tasks, validate, why_broken
from burnish.events import Graded
from burnish.sandbox import Sandbox
from burnish.sandbox.sandbox import NO_KINDS, Kinds
from burnish.tasks import Task
from tests.snapshots import assert_snapshot

GOLD = "import math\n\ndef half(n):\n    return n / 2\n"
GOOD = Task(
    id="good",
    prompt="Halve.",
    entry_point="half",
    base_code=GOLD.replace("/", "*"),
    visible_tests=("assert half(4) == 2", "x = 1\nassert half(x) == 0.5"),
    hidden_tests="assert half(3) == 1.5\n",
    gold=GOLD,
)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "suites"


@pytest.fixture(autouse=True)
def little_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("burnish.evals.validate.TIMEOUT_SECONDS", 1.0)


def test_a_good_task_has_no_fault(box: Sandbox) -> None:
    assert why_broken(GOOD, box) == ""


def test_a_task_in_a_language_that_cannot_be_run_is_named(box: Sandbox) -> None:
    other = GOOD.model_copy(update={"language": "javascript"})
    assert "javascript" in why_broken(other, box)
    assert hash_tasks([GOOD]) != hash_tasks([Task.model_validate({**other.model_dump()})])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("no tests", {"hidden_tests": ""}),
        ("a wrong reference", {"gold": "def half(n):\n    return n"}),
        ("a wrong example", {"visible_tests": ("assert half(4) == 3",)}),
        ("no bug", {"base_code": GOLD}),
        ("an endless reference", {"gold": "def half(n):\n    while True: pass"}),
        ("another function", {"gold": "def other(n):\n    return n"}),
        ("no Python", {"gold": "def half("}),
        (
            "a reference that leans on a name the module takes",
            {
                "gold": GOLD.replace("n / 2", "help(n)") + "def help(n): return n / 2\n",
                "base_code": "help = 1\n" + GOLD.replace("/", "*"),
            },
        ),
    ],
)
def test_each_fault_is_named(kind: str, change: dict[str, object], box: Sandbox) -> None:
    why, _, _ = why_broken(GOOD.model_copy(update=change), box).partition(": ")  # then comes what Python says
    assert_snapshot(why, f"evals/a task with {kind}")


@pytest.mark.slow
def test_buggy_code_that_never_ends_has_failed(box: Sandbox) -> None:
    endless = GOOD.model_copy(update={"base_code": "def half(n):\n    while True: pass\n"})
    assert why_broken(endless, box) == ""


@pytest.mark.slow
def test_broken_rows_are_named_and_left_out_in_order(box: Sandbox) -> None:
    bad = GOOD.model_copy(update={"id": "bad", "gold": "def half(n): return 0"})
    seen: list[tuple[int, int]] = []
    found = validate([GOOD, bad, GOOD.model_copy(update={"id": "third"})], box, lambda n, of, _: seen.append((n, of)))
    assert [task.id for task in found.valid] == ["good", "third"]
    assert [row.id for row in found.broken] == ["bad"]
    assert seen == [(1, 3), (2, 3), (3, 3)]


class Counting:
    """A sandbox that counts what it is asked."""

    def __init__(self, box: Sandbox) -> None:
        self.box = box
        self.kind = box.kind
        self.asked = 0

    def grade(self, code: str, tests: str, timeout_seconds: float = 10.0, kinds: Kinds = NO_KINDS) -> Graded:
        self.asked += 1
        return self.box.grade(code, tests, timeout_seconds, kinds)


@pytest.mark.slow
def test_what_was_validated_once_is_known(box: Sandbox) -> None:
    counting = Counting(box)
    bad = GOOD.model_copy(update={"id": "bad", "gold": "def half(n): return 0"})
    first = validate([GOOD, bad], counting)  # type: ignore[arg-type]
    asked = counting.asked
    assert validate([GOOD, bad], counting) == first  # type: ignore[arg-type]
    assert counting.asked == asked
    worded = [task.model_copy(update={"prompt": "Other words."}) for task in (GOOD, bad)]
    assert validate(worded, counting).valid == (worded[0],)  # type: ignore[arg-type]
    assert counting.asked == asked, "how a task is worded does not change how it is judged"
    validate([GOOD], counting)  # type: ignore[arg-type]
    assert counting.asked > asked


@pytest.mark.parametrize("damage", ["", "{", '{"sha256": "0", "kept": []}', '{"kept": []}', "[1]"])
def test_a_torn_or_edited_answer_is_not_trusted(box: Sandbox, cache: Path, damage: str) -> None:
    bad = GOOD.model_copy(update={"id": "bad", "gold": "def half(n): return 0"})
    first = validate([bad], box)
    (kept,) = cache.iterdir()
    kept.write_text(damage)
    assert validate([bad], box) == first
    assert kept.read_text() != damage
