"""The agent at work: a scripted model, the real sandbox, and what the record says of it afterwards."""

import json
import re
import threading
import time
from collections.abc import Iterator

import pytest

from burnish import Limits, Run, ScriptedModel, Store
from burnish.agent.policy import MOST_ANSWERS
from burnish.events import Asked, BaseEvent, CodeProposed, Decided, Stopped, TestsRan
from burnish.models.model import Ask, Chunk, Done, Waiting
from burnish.runs.record import FILE
from burnish.sandbox import Sandbox
from burnish.tasks import Task, from_sentence
from tests import graph_page
from tests.snapshots import assert_snapshot
from tests.support import ASKING, DOUBLE, ESC, GOOD, OWN_TESTS, ROOT, SQUARE, WRONG, attempt, block, kinds, script

pytestmark = pytest.mark.usefixtures("open_box")

NO_EXAMPLE = "a function double(n) that doubles a number"
HALF = block("def double(n):\n    return 4")
"""Passes one of the two examples; no small edit mends it."""
OTHER = block("def double(n):\n    return str(n)")


def everywhere(answer: str | list[str]) -> dict[str, str | list[str]]:
    """The same answer, whatever kind of question it is."""
    return dict.fromkeys(ASKING, answer)


def tried(sentence: str = DOUBLE, limits: Limits | None = None, **replies: str | list[str]) -> Run:
    return attempt(from_sentence(sentence), ScriptedModel(script(**replies)), limits=limits)


def stopped(run: Run) -> str:
    last = run.last(Stopped)
    return last.reason if last else ""


@pytest.mark.slow
def test_a_right_first_draft_is_handed_over_once_further_versions_agree() -> None:
    run = tried()
    assert (run.verdict, run.final and run.final.number, stopped(run)) == ("plausible", 1, "done")
    assert 1 < len(run.versions) <= MOST_ANSWERS
    assert [evidence.verdict for evidence in run.evidence] == ["passed"]
    assert run.code == "def double(n):\n    return n * 2\n"


@pytest.mark.slow
def test_a_slip_of_the_models_is_mended_without_asking_again() -> None:
    run = tried(draft=SQUARE, rewrite=WRONG, repair=WRONG)
    assert run.verdict == "plausible"
    assert run.final
    assert (run.final.by, run.final.base) == ("tweak", 1)


@pytest.mark.slow
def test_a_repair_shows_the_best_version_with_the_first_failing_assertion() -> None:
    run = tried(**everywhere(WRONG) | {"draft": HALF, "repair": GOOD})
    assert run.verdict == "plausible"
    assert run.final
    assert run.final.by == "repair"
    shown = next(ask.messages[1].content for ask in run.all(Asked) if ask.purpose == "repair")
    assert "return 4" in shown
    assert "double(5) == 10" in shown


@pytest.mark.slow
def test_a_rewrite_wins_where_repairs_fail() -> None:
    run = tried(**everywhere(OTHER) | {"draft": WRONG, "rewrite": GOOD})
    assert run.final
    assert (run.verdict, run.final.by) == ("plausible", "rewrite")


@pytest.mark.slow
def test_the_best_version_is_kept_when_later_ones_are_worse() -> None:
    worse = block("def double(n):\n    raise ValueError")
    run = tried(**everywhere([WRONG, worse, OTHER]) | {"draft": HALF}, limits=Limits(rounds=3))
    assert run.verdict == "failed"
    assert run.final
    assert run.final.number == 1
    assert run.code == "def double(n):\n    return 4\n"


@pytest.mark.slow
def test_of_versions_that_behave_alike_the_first_is_kept() -> None:
    run = tried(**everywhere([GOOD, block("def double(n):\n    return n + n")]) | {"draft": WRONG})
    assert run.final
    assert run.final.number == min(version.number for version in run.versions if version.graded and version.number > 1)


@pytest.mark.slow
def test_a_wrong_test_of_the_models_is_outvoted_and_shown_as_disputed() -> None:
    wrong = "assert double(3) == 7"
    run = tried(tests=block(f"assert double(0) == 0\n{wrong}"))
    assert run.verdict == "plausible"
    assert run.disputed == (wrong,)
    assert "disputed" in run.why


@pytest.mark.slow
def test_the_models_own_test_alone_never_bends_code_that_passes_the_given_ones() -> None:
    bent = block("def double(n):\n    return 7 if n == 3 else n * 2")
    run = tried(tests=block("assert double(3) == 7"), repair=bent)
    assert run.verdict == "plausible"
    assert run.code == "def double(n):\n    return n * 2\n"
    assert not [ask for ask in run.all(Asked) if ask.purpose == "repair"]


@pytest.mark.slow
@pytest.mark.parametrize("limits", [Limits(rounds=0), Limits(rounds=1), Limits(calls=2), Limits(calls=3)])
def test_a_wrong_test_of_the_models_rejects_nothing_at_a_limit_either(limits: Limits) -> None:
    run = tried(tests=block("assert double(3) == 7"), limits=limits)
    assert (run.verdict, run.disputed) == ("plausible", ("assert double(3) == 7",))


@pytest.mark.slow
def test_a_test_of_the_models_on_which_good_code_never_ends_does_not_reject_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("burnish.checks.tests.TIMEOUT_SECONDS", 0.5)
    slow = block("def double(n):\n    while n > 1000:\n        pass\n    return n * 2")
    own = "assert double(10 ** 9) == 2 * 10 ** 9"
    run = tried(tests=block(own), **everywhere(slow))
    assert (run.verdict, run.disputed) == ("plausible", (own,))


@pytest.mark.slow
def test_without_an_example_the_result_is_only_plausible() -> None:
    run = tried(NO_EXAMPLE)
    assert run.verdict == "plausible"
    assert_snapshot(run.why, "agent/verdict: no example was given")


@pytest.mark.slow
def test_one_test_of_the_models_own_passes_in_the_singular() -> None:
    run = tried(NO_EXAMPLE, tests=block("assert double(3) == 6"))
    assert_snapshot(run.why, "agent/verdict: one test of the model's passes")


@pytest.mark.slow
def test_an_example_that_was_not_understood_is_not_called_missing() -> None:
    run = tried("a function double(n) that doubles a number, e.g. close(double(2), nearly)")
    assert run.verdict == "plausible"
    assert_snapshot(run.why, "agent/verdict: an example was not understood")


@pytest.mark.slow
def test_an_example_that_begins_with_a_value_decides() -> None:
    run = tried("a function double(n) that doubles a number, e.g. '4' in str(double(2))")
    assert run.verdict == "plausible"


@pytest.mark.slow
def test_without_any_test_nothing_vouches_for_the_code() -> None:
    run = tried(NO_EXAMPLE, tests="I would rather not.", limits=Limits(rounds=1))
    assert run.verdict == "failed"
    assert_snapshot(run.why, "agent/verdict: there is no test")


@pytest.mark.slow
def test_a_name_is_asked_for_only_where_the_sentence_gives_none() -> None:
    run = tried("something that doubles a number")
    assert run.spec
    assert (run.spec.entry_point, run.all(Asked)[0].purpose) == ("double", "specify")
    assert not [ask for ask in tried().all(Asked) if ask.purpose == "specify"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "answer",
    [
        "",
        "   \n",
        "I am only a language model.",
        "```python\n```",
        "def double(n:\n  return",
        block("def triple(n):\n    return n * 3"),
        block("def double():\n    return 1"),
        f"{ESC}]0;gone\x07{ESC}[2J[bold red]no[/]" * 20,
        "\x00" * 50,
        "def " * 2000,
    ],
    ids=["empty", "blank", "prose", "no-code", "broken", "other-name", "no-parameter", "escapes", "nulls", "repeats"],
)
def test_an_answer_that_is_nonsense_ends_in_a_finished_run_that_failed(answer: str) -> None:
    run = tried(limits=Limits(rounds=1), tests=answer, **everywhere(answer))
    assert (run.verdict, run.code) == ("failed", "")
    assert run.versions[-1].problem in run.why


@pytest.mark.slow
@pytest.mark.parametrize(
    "code",
    [
        "while True: pass",
        "import sys\n    sys.exit(0)",
        "import os\n    os._exit(0)",
        "return double(n)",
        "return 'x' * 10**12",
    ],
    ids=["endless", "exit", "hard-exit", "recursion", "memory"],
)
def test_code_that_hangs_or_leaves_has_failed(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("burnish.checks.tests.TIMEOUT_SECONDS", 1.0)
    answer = block(f"def double(n):\n    {code}")
    run = tried(draft=answer, limits=Limits(rounds=0))
    assert run.verdict == "failed"
    assert run.versions[0].graded
    assert run.versions[0].graded.passed == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (Limits(rounds=0), "rounds"),
        (Limits(rounds=1), "rounds"),
        (Limits(calls=3), "calls"),
    ],
)
def test_each_limit_stops_the_work_with_its_reason_and_the_best_version(limits: Limits, reason: str) -> None:
    run = tried(**everywhere(WRONG) | {"draft": HALF}, limits=limits)
    assert (run.verdict, stopped(run)) == ("failed", reason)
    assert run.code == "def double(n):\n    return 4\n"
    assert run.calls <= limits.calls


def test_a_call_that_could_pass_the_token_limit_is_not_made() -> None:
    run = tried(draft=GOOD, limits=Limits(tokens=1000))
    assert (run.verdict, stopped(run)) == ("failed", "tokens")
    assert not run.versions


@pytest.mark.parametrize("cap", ["calls", "tokens", "seconds"])
def test_a_limit_of_zero_asks_nothing_and_still_finishes(cap: str) -> None:
    run = tried(limits=Limits(**{cap: 0}))
    assert (run.verdict, run.calls, stopped(run)) == ("failed", 0, cap)
    assert run.why == run.all(Stopped)[0].why


def test_a_sentence_without_a_name_at_a_limit_of_zero_finishes_too() -> None:
    assert tried("something that doubles", limits=Limits(calls=0)).verdict == "failed"


class Endless(ScriptedModel):
    """Never stops talking."""

    def stream(self, ask: Ask, cancel: threading.Event) -> Iterator[Chunk | Waiting | Done]:
        while not cancel.is_set():
            time.sleep(0.005)
            yield Chunk(text="more ")


@pytest.mark.slow
def test_an_answer_that_never_ends_is_cut_at_the_limit_of_seconds() -> None:
    started = time.monotonic()
    run = attempt(from_sentence(DOUBLE), Endless(script()), limits=Limits(seconds=0.3))
    assert (run.verdict, stopped(run)) == ("failed", "seconds")
    assert time.monotonic() - started < 5
    assert {reply.ended for reply in run.events if reply.kind == "model_replied"} == {"cut"}


@pytest.mark.slow
def test_every_turn_is_explained_in_one_plain_sentence() -> None:
    run = tried(**everywhere([WRONG, OTHER, GOOD]))
    decisions = run.all(Decided)
    assert decisions[-1].choice == "judge"
    assert all(re.fullmatch(r"[A-Z][^\n]+\.", decision.reason) for decision in decisions)
    assert any("double(2) == 4" in decision.reason for decision in decisions)
    assert [bool(decision.moves) for decision in decisions] == [True] * (len(decisions) - 1) + [False]


@pytest.mark.slow
def test_only_the_first_question_is_greedy_so_that_asking_again_can_say_something_new() -> None:
    run = tried(**everywhere(WRONG), limits=Limits(rounds=3))
    warmth = {move.round: move.temperature for decision in run.all(Decided) for move in decision.moves}
    assert list(warmth) == [0, 1, 2, 3]
    assert list(warmth.values()) == [0, 0.7, 0.7, 0.7]
    asked = {ask.temperature for ask in run.all(Asked) if ask.purpose in ASKING}
    assert asked == set(warmth.values())


def test_the_final_files_are_judged_once_more_after_the_last_round(box: Sandbox) -> None:
    run = tried()
    order = kinds(run.events)
    assert order.index("check_finished") > max(place for place, kind in enumerate(order) if kind == "tests_ran")
    assert order[-1] == "run_finished"


class Looker(ScriptedModel):
    """Looks into the record whenever it is asked something."""

    def __init__(self, store: Store) -> None:
        super().__init__(script(**everywhere([WRONG, HALF])))
        self.store = store
        self.seen: dict[str, list[str]] = {}

    def stream(self, ask: Ask, cancel: threading.Event) -> Iterator[Chunk | Waiting | Done]:
        [folder] = self.store.runs.iterdir()
        self.seen[ask.purpose] = [json.loads(line)["kind"] for line in (folder / FILE).read_text().splitlines()]
        yield from super().stream(ask, cancel)


@pytest.mark.slow
def test_every_event_is_on_disk_before_the_next_step(store: Store) -> None:
    model = Looker(store)
    attempt(from_sentence(DOUBLE), model, store=store)
    assert model.seen["draft"][:3] == ["run_started", "spec_agreed", "decided"]
    assert "asked" in model.seen["draft"]
    later = model.seen["repair"] if "repair" in model.seen else model.seen["rewrite"]
    assert {"code_proposed", "tests_proposed", "tests_frozen", "tests_ran", "tweaked"} <= set(later)


def test_what_is_watched_is_what_is_stored_and_the_words_as_they_come(store: Store) -> None:
    watched: list[BaseEvent] = []
    run = attempt(from_sentence(DOUBLE), ScriptedModel(script()), store=store, watch=watched.append)
    lasting = [event.model_dump_json() for event in watched if event.lasting]
    assert sorted(lasting) == sorted(event.model_dump_json() for event in run.events)
    assert "model_chunk" in kinds(watched)


def test_going_on_shows_the_model_the_earlier_code() -> None:
    task = Task(
        id="double",
        prompt="p",
        entry_point="double",
        signature="double(n)",
        visible_tests=("assert double(2) == 4",),
        earlier_tests=("assert double(0) == 0",),
        base_code="def double(n):\n    return n * 2  # earlier\n",
    )
    run = attempt(task, ScriptedModel(script(tests=OWN_TESTS)))
    [shown] = [ask.messages for ask in run.all(Asked) if ask.purpose == "draft"]
    assert "# earlier" in shown[1].content
    ran = run.all(TestsRan)[0]
    assert len(ran.graded.cases) == 4


@pytest.mark.slow
def test_every_version_says_which_answer_it_came_from() -> None:
    run = tried(draft=WRONG)
    asks = {ask.ask_id for ask in run.all(Asked)}
    assert {proposed.ask_id for proposed in run.all(CodeProposed)} <= asks


def test_the_picture_in_the_docs_is_the_graph() -> None:
    told = (ROOT / "docs" / "graph.md").read_text("utf-8")
    assert told == graph_page.page(), "write it anew: python -m tests.graph_page > docs/graph.md"
