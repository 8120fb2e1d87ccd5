"""A handle on an evaluation: it is followed, waited for, and stopped at every kind of moment."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any

import pytest

import burnish
from burnish import ScriptedModel, SetupProblem
from burnish.evals.eval_store import list_evaluations
from burnish.evals.evaluate import evaluate, replay, resume
from burnish.evals.handle import AttemptFinished, EvalBegun, EvalEvent, EvalHandle, Preparing
from burnish.evals.runner import TooManyErrors
from burnish.models.model import Ask, Piece
from tests.evals.toys import jsonl, toys
from tests.support import block

ADD_1 = block("def add_1(x):\n    return x + 1")
ENDLESS = block("def add_1(x):\n    while True: pass")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is learnt about toy tasks does not end up in the user's cache."""
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def suite(tmp_path: Path) -> str:
    return str(jsonl(tmp_path / "mine.jsonl", toys(3)))


class Silent(ScriptedModel):
    """Never answers, and does not mind that nobody waits any more."""

    def afresh(self) -> "Silent":
        return self

    def stream(self, ask: Ask, cancel: threading.Event) -> Iterator[Piece]:
        time.sleep(30)
        return iter(())


class Loading(ScriptedModel):
    """Takes its time before it can answer."""

    def warm_up(self) -> None:
        time.sleep(4)


def begin(suite: str, model: Any = None, **settings: Any) -> EvalHandle:
    return burnish.start_evaluation(
        evaluate, suite, model or ScriptedModel([ADD_1]), **{"strategy": "single", **settings}
    )


def await_event(handle: EvalHandle, fits: Callable[[EvalEvent], object]) -> EvalEvent:
    return next(event for event in handle.events() if fits(event))


def test_an_evaluation_is_followed_by_several_readers_and_wait_gives_its_results(suite: str) -> None:
    handle = begin(suite)
    first, second = list(handle.events()), [event for event in handle.events() if event.lasting]
    results = handle.wait()
    assert (results.solved, results.finished, results.complete) == (1, 3, True)
    assert [event for event in first if event.lasting] == second, "whoever comes later gets all that lasts"
    assert isinstance(first[0], Preparing)
    begun, *finished = second
    assert isinstance(begun, EvalBegun)
    assert (begun.total, begun.attempts, Path(begun.folder)) == (3, (), list_evaluations()[0])
    told = [event.attempt for event in finished if isinstance(event, AttemptFinished)]
    assert sorted(told, key=lambda one: one.task_id) == list(results.attempts)
    assert handle.folder
    assert (handle.id, (handle.folder.path / "report.html").is_file()) == (list_evaluations()[0].name, True)
    assert handle.wait() == results
    assert list(handle.events(from_now=True)) == []
    handle.stop()
    assert handle.wait() == results, "what is over stays as it is"


@pytest.mark.slow
def test_replay_and_resume_have_the_same_handle(suite: str) -> None:
    first = begin(suite).wait()
    again = burnish.start_evaluation(replay, "last")
    assert (again.wait().replayed, again.wait().solved) == (list_evaluations()[1].name, first.solved)
    assert again.folder
    next((again.folder.path / "attempts").iterdir()).unlink()
    more = burnish.start_evaluation(resume, again.id)
    assert isinstance(begun := await_event(more, lambda event: isinstance(event, EvalBegun)), EvalBegun)
    assert (len(begun.attempts), more.wait().finished, more.id) == (2, 3, again.id)


def test_a_slow_reader_and_one_who_left_slow_nothing_down(suite: str) -> None:
    handle = begin(suite)
    left, heard = handle.events(), list[EvalEvent]()
    next(left)

    def read() -> None:
        for event in handle.events():
            heard.append(event)
            time.sleep(1)

    threading.Thread(target=read, daemon=True).start()
    assert handle.wait().finished == 3
    assert len(heard) < len(list(handle.events())), "it was over long before its reader"


def fetch_for_ever(*_: Any, progress: Callable[[int, int, str], None], **__: Any) -> Any:
    while True:
        progress(1, 100, "fetching the tasks")
        time.sleep(0.05)


MOMENTS: dict[str, tuple[Any, Callable[[EvalEvent], object], bool]] = {
    "at once": (None, lambda event: True, False),
    "tasks are fetched": (None, lambda event: isinstance(event, Preparing), False),
    "weights are read": (Loading([ADD_1]), lambda event: isinstance(event, Preparing), False),
    "an answer is awaited": (Silent([ADD_1]), lambda event: isinstance(event, EvalBegun), True),
    "code runs": (ScriptedModel([ENDLESS]), lambda event: isinstance(event, EvalBegun), True),
}


@pytest.mark.slow
@pytest.mark.parametrize("moment", MOMENTS)
def test_an_evaluation_is_stopped_within_two_seconds_whatever_it_waits_for(
    moment: str, suite: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, fits, has_begun = MOMENTS[moment]
    if moment == "tasks are fetched":
        monkeypatch.setattr("burnish.evals.evaluate.load_suite", fetch_for_ever)
    handle = begin(suite, model)
    if moment != "at once":
        await_event(handle, fits)
        time.sleep(1)
    asked_at = time.monotonic()
    handle.stop()
    assert time.monotonic() - asked_at < 2
    if not has_begun:
        with pytest.raises(CancelledError):
            handle.wait()
        time.sleep(5 if moment == "weights are read" else 0.5)
        assert list_evaluations() == [], "nothing is left of it, also when its thread comes to itself"
        return
    results = handle.wait()
    assert (results.finished < 3, results.planned, results.complete) == (True, 3, False)
    said = list(handle.events())
    time.sleep(0.5)
    assert list(handle.events()) == said, "nothing is said after the end"
    assert resume(handle.id, model=ScriptedModel([ADD_1])).complete, "nobody holds it any more"


@pytest.mark.slow
def test_stopped_half_way_it_keeps_what_is_finished_and_goes_on_from_there(tmp_path: Path) -> None:
    suite = str(jsonl(tmp_path / "many.jsonl", toys(40)))
    handle = begin(suite, at_once=1)
    await_event(handle, lambda event: isinstance(event, AttemptFinished))
    handle.stop()
    results = handle.wait()
    assert 0 < results.finished < 40
    assert handle.folder
    assert (handle.folder.path / "report.html").is_file()
    again = resume(handle.id, model=ScriptedModel([ADD_1]))
    assert (again.finished, again.attempts[0]) == (40, results.attempts[0])


def test_what_keeps_an_evaluation_from_beginning_is_raised_by_wait(tmp_path: Path) -> None:
    handle = begin(str(tmp_path / "nowhere.jsonl"))
    with pytest.raises(SetupProblem):
        handle.wait()
    assert (handle.id, handle.folder, list(handle.events())) == ("", None, [])
    handle.stop()


@pytest.mark.slow
def test_an_evaluation_that_breaks_is_not_taken_for_a_stopped_one(tmp_path: Path) -> None:
    handle = begin(str(jsonl(tmp_path / "many.jsonl", toys(30))), ScriptedModel([]), at_once=1)
    with pytest.raises(TooManyErrors):
        handle.wait()
