"""Which questions make up a round: by who is asked, what is at hand, and what has got nowhere."""

import pytest

from burnish.agent import policy
from burnish.events import Compared, Event, Move, TestsProposed
from burnish.tasks.task import NO_WORDS, Task
from tests.agent.history import REPAIR, WRITING, given, proposed, ran, work
from tests.support import ASKING

STRENGTHS = ("local:qwen2.5-coder-0.5b", "local:qwen2.5-coder-1.5b", "anthropic:some-large-model")


@pytest.mark.parametrize(
    ("name", "strength"),
    [
        ("local:qwen2.5-coder-0.5b", "small"),
        ("huggingface:Qwen/Qwen2.5-Coder-0.5B-Instruct", "small"),
        ("local:qwen2.5-coder-1.5b", "middle"),
        ("ollama:qwen2.5-coder:3b", "middle"),
        ("ollama:llama3.1:70b-instruct", "strong"),
        ("openai:gpt-x", "strong"),
        ("local:/models/mine.gguf", "middle"),
        ("huggingface:org/model-27B", "strong"),
        ("local:/data/70b-runs/qwen-0.5b.gguf", "small"),
    ],
)
def test_how_strong_a_model_is_follows_from_the_size_in_its_name(name: str, strength: str) -> None:
    assert policy.strength(name) == strength


def failing(rounds: int, by: str = "rewrite", code: str | None = None) -> list[Event]:
    """A draft and a version in each round; all fail."""
    events: list[Event] = [proposed(1), ran(1, "ff")]
    for round_ in range(1, rounds + 1):
        events += [proposed(round_ + 1, code, by=by, round=round_), ran(round_ + 1, "ff")]
    return events


@pytest.mark.parametrize("model", STRENGTHS)
@pytest.mark.parametrize("task", [WRITING, REPAIR, REPAIR.model_copy(update={"prompt": NO_WORDS.format(name="f")})])
def test_the_first_question_stands_alone_and_is_greedy(model: str, task: Task) -> None:
    [move] = policy.moves(work(given(), ran(0, "ff"), task=task), model, 9)
    assert (move.round, move.temperature) == (0, 0.0)
    assert move.kind in ("draft", "repair")


@pytest.mark.parametrize("model", STRENGTHS)
def test_rounds_grow_wider_never_beyond_what_is_allowed(model: str) -> None:
    widths = [len(policy.moves(work(*failing(round_)), model, 9)) for round_ in range(6)]
    assert widths == sorted(widths)
    assert widths[0] >= 1
    assert all(len(policy.moves(work(*failing(round_)), model, 2)) <= 2 for round_ in range(6))


def test_a_small_model_is_asked_more_at_once_than_a_strong_one() -> None:
    small, strong = (len(policy.moves(work(*failing(4)), model, 9)) for model in (STRENGTHS[0], STRENGTHS[2]))
    assert small > strong


@pytest.mark.parametrize("model", STRENGTHS)
@pytest.mark.parametrize("task", [WRITING, REPAIR])
def test_kinds_take_turns_and_each_has_a_node_of_its_own(model: str, task: Task) -> None:
    seen = set()
    for rounds in range(1, 7):
        events = [given(), ran(0, "ff"), *failing(rounds)]
        seen |= {move.kind for move in policy.moves(work(*events, task=task), model, 9)}
    assert len(seen) > 1
    assert seen <= {*ASKING}


def test_versions_of_a_round_have_numbers_of_their_own_and_say_whom_is_asked() -> None:
    moves = policy.moves(work(*failing(3)), STRENGTHS[0], 9, level=1)
    assert [move.version for move in moves] == list(range(5, 5 + len(moves)))
    assert {(move.round, move.model) for move in moves} == {(4, 1)}


def test_every_answer_after_the_first_is_asked_for_at_the_same_temperature() -> None:
    asked = [policy.moves(work(*failing(rounds)), model, 9) for rounds in range(8) for model in STRENGTHS]
    assert {move.temperature for moves in asked for move in moves} == {policy.TEMPERATURE}


def test_repairs_that_only_repeat_what_was_there_are_dropped() -> None:
    same = proposed(1).code
    events = [proposed(1), ran(1, "ff"), proposed(2, same, "repair", 1), proposed(3, same, "repair", 2)]
    assert policy.repairs_repeat(work(*events))
    assert not policy.repairs_repeat(work(*events[:3])), "once is no proof"
    assert not policy.repairs_repeat(work(*events[:3], proposed(3, None, "repair", 2)))
    for model in STRENGTHS:
        asked = policy.moves(work(*events, ran(3, "ff"), proposed(4, round=3), ran(4, "ff")), model, 9)
        assert {move.kind for move in asked} == {"rewrite"}


def test_writing_afresh_is_never_dropped() -> None:
    same = proposed(1).code
    events = [proposed(1), ran(1, "ff"), proposed(2, same, "rewrite", 1), proposed(3, same, "rewrite", 2)]
    assert "rewrite" in {move.kind for move in policy.moves(work(*events), STRENGTHS[0], 9)}


@pytest.mark.parametrize("model", STRENGTHS)
@pytest.mark.parametrize("without", [frozenset[str](), frozenset({"rewrite"})])
def test_where_nothing_can_be_run_there_is_nothing_to_repair(model: str, without: frozenset[str]) -> None:
    broken = proposed(1, "def f(n:\n  return", problem="the code does not parse: line 1")
    moves = policy.moves(work(broken), model, 9, without=without)
    assert {(move.kind, move.base) for move in moves} == {("draft" if without else "rewrite", None)}


def test_each_kind_shows_the_version_it_is_about() -> None:
    events = [given(), ran(0, "ff"), proposed(1), ran(1, "ff"), proposed(2, round=1), ran(2, "pf")]
    repairing = work(*events, task=REPAIR)
    assert policy.base_of("repair", repairing) == 0
    assert policy.base_of("rewrite", repairing) is policy.base_of("draft", repairing) is None
    assert policy.base_of("repair", work()) is None
    assert policy.base_of("repair", work(*events[2:])) == 2, "where nothing was broken before, the best version"


@pytest.mark.parametrize("model", STRENGTHS)
def test_an_answer_that_passes_the_given_tests_is_not_called_wrong(model: str) -> None:
    own = TestsProposed(tests=("assert f(3) == 7",))
    good = work(own, proposed(1), ran(1, "pp", model="f"))
    assert {move.kind for move in policy.moves(good, model, 9)} == {"rewrite"}
    bad = work(own, proposed(1), ran(1, "pf", model="f"))
    assert policy.may_repair(bad)
    found = work(own, proposed(1), ran(1, "pf", model="f"), proposed(2, by="tweak", base=1), ran(2, "pp", model="f"))
    assert policy.may_repair(found), "a small edit may have been found by chance"


def road(model: str, without: str, task: Task) -> list[Move]:
    """Every question of a run in which each answer is new and fails."""
    asked: list[Move] = []
    events: list[Event] = [given(), ran(0, "ff")]
    for _ in range(6):
        moves = policy.moves(work(*events, task=task), model, 9, without=frozenset({without}))
        asked += moves
        for move in moves:
            events += [proposed(move.version, by=move.kind, round=move.round), ran(move.version, "ff")]
    return asked


@pytest.mark.parametrize("model", STRENGTHS)
@pytest.mark.parametrize("task", [WRITING, REPAIR])
def test_a_part_that_is_left_out_is_not_in_any_round(model: str, task: Task) -> None:
    for kind in ("rewrite", "repair"):
        assert kind not in {move.kind for move in road(model, kind, task)}
    alone = road(model, "portfolio", task)
    assert [move.round for move in alone] == list(range(6))


@pytest.mark.parametrize("model", STRENGTHS)
@pytest.mark.parametrize("task", [WRITING, REPAIR])
@pytest.mark.parametrize("part", ["reflect", "mending", "warmth"])
def test_a_part_of_earlier_versions_can_still_be_named_and_changes_nothing(part: str, model: str, task: Task) -> None:
    assert part not in policy.PARTS
    assert road(model, part, task) == road(model, "", task)


@pytest.mark.parametrize("left_out", [{"rewrite"}, {"rewrite", "repair"}])
@pytest.mark.parametrize("model", STRENGTHS)
@pytest.mark.parametrize("task", [WRITING, REPAIR])
def test_what_is_left_out_does_not_come_back_where_nothing_else_is_left(
    left_out: set[str], model: str, task: Task
) -> None:
    own = TestsProposed(tests=("assert f(3) == 7",))
    good = work(own, given(), ran(0, "ff", model="f"), proposed(1), ran(1, "pp", model="f"), task=task)
    moves = policy.moves(good, model, 9, without=frozenset(left_out))
    assert moves
    assert not left_out & {move.kind for move in moves}
    assert all(move.temperature > 0 for move in moves)


def edited(answers: int, groups: tuple[tuple[int, ...], ...]) -> list[Event]:
    """Broken code, two edits of it that pass, and answers that do not."""
    edits = [event for number in (1, 2) for event in (proposed(number, by="tweak", base=0), ran(number, "pp"))]
    failed = [event for number in range(3, 3 + answers) for event in (proposed(number), ran(number, "ff"))]
    return [given(), ran(0, "ff"), *edits, *failed, Compared(groups=groups, inputs=("f(1)",))]


def test_an_edit_that_nobody_sets_anything_against_is_taken_in_the_end() -> None:
    assert not policy.settled(work(*edited(1, ((1, 2),)), task=REPAIR))
    assert policy.settled(work(*edited(policy.PATIENCE, ((1, 2),)), task=REPAIR))


def test_between_edits_a_model_that_never_helps_is_not_asked_for_ever() -> None:
    assert not policy.settled(work(*edited(policy.PATIENCE, ((1,), (2,))), task=REPAIR))
    assert policy.settled(work(*edited(policy.NO_HELP, ((1,), (2,))), task=REPAIR))
