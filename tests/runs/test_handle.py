"""A handle on a run: it is followed, waited for, and stopped at every kind of moment."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import burnish
from burnish import Request, Resources, ScriptedModel, SetupProblem, Store
from burnish.agent.ask import Checkpoint
from burnish.commands.write import AFTERWARDS, CHECKS_AT_END
from burnish.events import (
    BaseEvent,
    CheckFinished,
    CodeProposed,
    Decided,
    ModelChunk,
    ModelReplied,
    Notice,
    Resumed,
    Reviewed,
    RunFinished,
    RunStarted,
    Stopped,
)
from burnish.models.model import Ask, Model, Progress
from burnish.models.stream_thread import wait_for_weights
from burnish.runs.record import FILE, follow, is_running, read_thoughts
from burnish.sandbox import Sandbox
from burnish.tasks import from_sentence
from tests.support import DOUBLE, block, script

TASK = from_sentence(DOUBLE)
SLOW = block("import time\ndef double(n):\n    time.sleep(0.1)\n    return n * 2")
ENDLESS = block("def double(n):\n    while True: pass")


class Streaming(ScriptedModel):
    """Writes code a word at a time, each when it is let; or never, or only reads its weights."""

    def __init__(self, replies: dict[str, list[str]] | None = None, weights: bool = False) -> None:
        super().__init__(replies or script())
        self.next, self.weights = threading.Semaphore(0), weights

    def stream(self, ask: Ask, cancel: threading.Event) -> Iterator[Any]:
        if ask.purpose != "draft":
            yield from super().stream(ask, cancel)
            return
        if self.weights:
            yield from wait_for_weights(threading.Event(), cancel)
            return
        for piece in super().stream(ask, cancel):
            while not self.next.acquire(timeout=0.02):
                if cancel.is_set():
                    return
            yield piece


def begin(model: Model, box: Sandbox | None, store: Store, **asked: Any) -> burnish.runs.attempt.RunHandle:
    """A run of the usual task; what only lives beside the rest of what is asked."""
    live = {name: asked.pop(name) for name in ("answer", "review", "watch") if name in asked}
    return burnish.start(Request(task=TASK, **asked), Resources([model], store, sandbox=box, **live))


def await_event(events: Iterator[BaseEvent], fits: Callable[[BaseEvent], object]) -> BaseEvent:
    """The first event that fits."""
    return next(event for event in events if fits(event))


def test_a_run_has_an_id_at_once_and_gives_all_its_events(box: Sandbox, store: Store) -> None:
    handle = begin(ScriptedModel(script()), box, store)
    assert (store.runs / handle.id / FILE).exists()
    live = list(handle.events())
    run = handle.wait()
    assert (run.id, run.verdict) == (handle.id, "plausible")
    assert [event for event in live if event.lasting] == list(run.events)
    assert any(isinstance(event, ModelChunk) for event in live)
    assert [event for event in handle.events() if event.lasting] == list(run.events), "also when it is over"
    assert list(handle.events(from_now=True)) == []
    assert handle.wait().id == run.id


def test_a_run_is_followed_in_sentences_and_its_code_is_there_before_its_end(box: Sandbox, store: Store) -> None:
    handle = begin(ScriptedModel(script()), box, store)
    codes = [handle.code for _ in handle.sentences()]
    told = [*handle.sentences()]
    run = handle.wait()
    assert (len(told), told[-1].split()[0]) == (len(codes), "plausible")
    assert codes[-1] == run.code != ""
    nobody = burnish.start(Request(task=TASK, model="nobody:here"), Resources(store=store))
    (problem,) = nobody.sentences()
    with pytest.raises(SetupProblem, match=re.escape(problem)):
        nobody.wait()
    assert nobody.code == ""


def test_a_slow_reader_and_one_who_left_slow_nothing_down(box: Sandbox, store: Store) -> None:
    handle = begin(ScriptedModel(script()), box, store)
    left, slow = handle.events(), handle.events()
    next(left)
    heard: list[BaseEvent] = []

    def read() -> None:
        for event in slow:
            heard.append(event)
            time.sleep(0.2)

    threading.Thread(target=read, daemon=True).start()
    run = handle.wait()
    assert run.verdict == "plausible"
    assert len(heard) < len(run.events), "the run was over long before its reader"


def test_a_late_reader_gets_the_answer_so_far_and_goes_on_without_gap_or_repetition(box: Sandbox, store: Store) -> None:
    model = Streaming(script(draft="<think>hm hm</think>" + block("def double(n):\n    return n * 2")))
    handle = begin(model, box, store, limits=burnish.Limits(thinking=2))
    for _ in range(5):
        model.next.release()
    early = handle.events()
    for _ in range(5):
        await_event(early, lambda event: getattr(event, "ask_id", "").startswith("draft") and not event.lasting)
    readers = [handle.events(from_now=True), handle.events(), handle.events(from_now=True)]
    for _ in range(100):
        model.next.release()
    for reader in readers:
        told = [event for event in reader if getattr(event, "ask_id", "") == "draft-1"]
        [reply] = [event for event in told if isinstance(event, ModelReplied)]
        assert "".join(event.text for event in told if isinstance(event, ModelChunk)) == reply.text
        assert "".join(event.text for event in told if event.kind == "model_thought") == "hm hm "  # type: ignore[attr-defined]
    assert handle.wait().verdict == "plausible"


def hang(*_: object) -> Any:
    """A person who does not answer."""
    threading.Event().wait(30)
    return ""


def show_hanging(shown: Checkpoint) -> Reviewed:
    hang()
    return Reviewed(where=shown.where, said="go_on")


def fetch_for_ever(names: str, progress: Progress) -> Sequence[Model]:
    while True:
        progress(1, 100, "the hub")
        time.sleep(0.05)


def is_notice(event: BaseEvent) -> bool:
    return isinstance(event, Notice)


def is_draft_asked(event: BaseEvent) -> bool:
    return getattr(event, "kind", "") == "asked" and getattr(event, "purpose", "") == "draft"


def is_assumed(event: BaseEvent) -> bool:
    return getattr(event, "kind", "") == "model_replied" and getattr(event, "purpose", "") == "assume"


VAGUE = {"task": TASK.model_copy(update={"assume": True})}
POINTS = {"assume": "- an empty text gives zero"}
CHECKED = {"checks": CHECKS_AT_END, "afterwards": frozenset(AFTERWARDS)}
MOMENTS: dict[str, tuple[Callable[[BaseEvent], object], dict[str, str], dict[str, Any]]] = {
    "a person is asked": (is_assumed, POINTS, {**VAGUE, "answer": hang}),
    "a person looks at the tests": (
        lambda event: isinstance(event, Notice | CodeProposed),
        {},
        {"review": show_hanging},
    ),
    "packages are fetched first": (is_notice, {}, {"packages": ("numpy",)}),
    "packages are fetched on the way": (is_notice, {"draft": block("import torch\n" + ENDLESS[10:-4])}, {}),
    "weights are fetched": (is_notice, {}, {}),
    "weights are read": (is_draft_asked, {}, {}),
    "an answer comes": (is_draft_asked, {}, {}),
    "code runs": (lambda event: isinstance(event, CodeProposed), {"draft": ENDLESS}, {}),
    "mutants are tried": (lambda event: isinstance(event, Decided) and not event.moves, {"draft": SLOW}, CHECKED),
    "the final checks look": (
        lambda event: isinstance(event, CheckFinished),
        {"draft": SLOW},
        {"checks": CHECKS_AT_END},
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_run_is_stopped_within_two_seconds_whatever_it_waits_for(
    moment: str, store: Store, silent_index: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    fits, replies, asked = MOMENTS[moment]
    asked = dict(asked)
    task = asked.pop("task", TASK)
    models: list[Model] = [ScriptedModel(script(**replies))]
    if moment in ("weights are read", "an answer comes"):
        models = [Streaming(weights=moment == "weights are read")]
    if moment == "weights are fetched":
        models = []
        monkeypatch.setattr("burnish.runs.attempt.open_models", fetch_for_ever)
    live = {name: asked.pop(name) for name in ("answer", "review") if name in asked}
    handle = burnish.start(Request(task=task, **asked), Resources(models, store, **live))
    await_event(handle.events(), fits)
    time.sleep(0.5)
    assert is_running(store.runs / handle.id)

    stopping = threading.Thread(target=handle.stop)
    asked_at = time.monotonic()
    stopping.start()
    run = handle.wait()
    took = time.monotonic() - asked_at
    stopping.join(5)

    assert took < 2
    assert isinstance(run.events[0], RunStarted)
    assert isinstance(run.events[-1], Stopped)
    assert (run.events[-1].reason, run.state) == ("interrupted", "interrupted")
    assert not is_running(store.runs / handle.id)
    record = (store.runs / handle.id / FILE).read_bytes()
    handle.stop()
    time.sleep(0.3)
    assert (store.runs / handle.id / FILE).read_bytes() == record, "nothing is said after the end"
    assert [event for event in handle.events() if event.lasting] == list(run.events)


def test_stopping_a_run_that_is_over_changes_nothing(box: Sandbox, store: Store) -> None:
    resources = Resources([ScriptedModel(script())], store, sandbox=box)
    handle = burnish.start(Request(task=TASK), resources)
    before = handle.wait()
    handle.stop()
    assert handle.wait().events == before.events
    again = burnish.start(Request(task=TASK), replace(resources, models=[ScriptedModel(script())]))
    assert again.wait().verdict == "plausible", "what stopped one run stops no other with the same resources"


def test_a_watcher_may_stop_the_run_it_watches(box: Sandbox, store: Store) -> None:
    handles: list[Any] = []
    ready = threading.Event()

    def watch(event: BaseEvent) -> None:
        if isinstance(event, CodeProposed):
            ready.wait(10)
            handles[0].stop()

    handles.append(begin(ScriptedModel(script()), box, store, watch=watch))
    ready.set()
    assert handles[0].wait().state == "interrupted"


def test_a_stopped_run_is_resumed_from_what_it_had(box: Sandbox, store: Store) -> None:
    model = Streaming()
    handle = begin(model, box, store)
    await_event(handle.events(), is_draft_asked)
    handle.stop()
    stopped = handle.wait()
    resources = Resources([ScriptedModel(script())], store, sandbox=box, replay=stopped.events)
    again = burnish.start(Request(task=TASK), resources)
    live = list(again.events())
    run = again.wait()
    assert (again.id, run.verdict) == (handle.id, "plausible")
    assert [event for event in live if event.lasting] == list(run.events), "from the very beginning"
    assert any(isinstance(event, Resumed) for event in live)


def test_a_run_that_was_stopped_before_its_sandbox_was_there_is_resumed_and_names_it(
    box: Sandbox, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("burnish.runs.attempt.open_models", fetch_for_ever)
    handle = burnish.start(Request(task=TASK, model="local:any"), Resources(store=store, sandbox=box))
    await_event(handle.events(), is_notice)
    handle.stop()
    stopped = handle.wait()
    assert [event.kind for event in stopped.events] == ["run_started", "stopped"]
    assert (stopped.sandbox, stopped.started.model) == ("", "local:any")
    resources = Resources([ScriptedModel(script())], store, sandbox=box, replay=stopped.events)
    run = burnish.start(Request(task=TASK), resources).wait()
    assert (run.id, run.verdict, run.sandbox) == (handle.id, "plausible", box.level)


@pytest.mark.parametrize("what", ["model", "sandbox", "packages"])
def test_what_keeps_a_run_from_beginning_is_raised_by_wait_and_leaves_nothing(what: str, store: Store) -> None:
    wrong: dict[str, dict[str, Any]] = {
        "model": {"model": "nobody:here"},
        "sandbox": {"model": "scripted:demo", "sandbox": "nowhere"},
        "packages": {"model": "scripted:demo", "packages": ("not a name!",)},
    }
    handle = burnish.start(Request(task=TASK, **wrong[what]), Resources(store=store))
    assert list(handle.events(from_now=True)) == []
    for _ in range(2):
        with pytest.raises(SetupProblem):
            handle.wait()
    handle.stop()
    assert list(store.runs.iterdir()) == []


@pytest.mark.slow
@pytest.mark.usefixtures("open_box")
def test_a_request_of_a_sentence_is_what_write_would_do(store: Store) -> None:
    request = burnish.build_request(DOUBLE, "scripted:demo", fast=True, limits=burnish.Limits(calls=9))
    assert (request.task.entry_point, request.limits.calls, request.model) == ("double", 9, "scripted:demo")
    run = burnish.start(request).wait()
    written = burnish.write(DOUBLE, "scripted:demo", fast=True, limits=burnish.Limits(calls=9))
    assert (run.verdict, run.code) == (written.verdict, written.code) == ("plausible", written.code)
    assert run.started.settings == written.started.settings


def test_a_request_refuses_what_it_does_not_know() -> None:
    with pytest.raises(ValueError, match="extra"):
        burnish.build_request(DOUBLE, "scripted:demo", colour="red")
    with pytest.raises(SetupProblem):
        burnish.build_request("", "scripted:demo")


RUNNING = """
import sys, threading
from burnish import Request, Resources, ScriptedModel, start
from burnish.tasks import from_sentence
from tests.support import DOUBLE, script

class Slow(ScriptedModel):
    def stream(self, ask, cancel):
        if ask.purpose == "draft":
            print(handle.id, flush=True)
            sys.stdin.readline()
        yield from super().stream(ask, cancel)

handle = start(Request(task=from_sentence(DOUBLE)), Resources([Slow(script())]))
handle.wait()
"""


@pytest.fixture
def elsewhere(home: Path) -> Iterator[subprocess.Popen[str]]:
    """A run in another process that waits for a word; its id is the first line that it prints."""
    command, pipe = [sys.executable, "-c", RUNNING], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        yield process
        process.kill()


@pytest.mark.slow
def test_a_run_of_another_process_is_followed_to_its_end(elsewhere: subprocess.Popen[str], store: Store) -> None:
    assert elsewhere.stdout
    assert elsewhere.stdin
    run_id = elsewhere.stdout.readline().strip()
    assert [(row.id, row.state) for row in store.list()] == [(run_id, "running")]
    events = follow(store.runs / run_id)
    heard = [await_event(events, is_draft_asked)]
    elsewhere.stdin.write("\n")
    elsewhere.stdin.flush()
    heard += events
    assert isinstance(heard[-1], RunFinished)
    assert heard == list(store.open(run_id).events)[-len(heard) :]
    assert [event.kind for event in follow(store.runs / run_id)][0] == "run_started"


@pytest.mark.slow
def test_a_run_whose_process_was_killed_is_unfinished_and_its_followers_are_let_go(
    elsewhere: subprocess.Popen[str], store: Store
) -> None:
    assert elsewhere.stdout
    run_id = elsewhere.stdout.readline().strip()
    events = follow(store.runs / run_id)
    await_event(events, is_draft_asked)
    assert store.list()[0].state == "running"
    os.kill(elsewhere.pid, signal.SIGKILL)
    elsewhere.wait(10)
    assert not any(isinstance(event, Stopped) for event in events)
    assert store.list()[0].state == "unfinished"
    assert burnish.resume(run_id, ScriptedModel(script()), store=store).verdict is not None


def test_thoughts_are_kept_beside_the_run_only_where_that_was_asked_for(box: Sandbox, store: Store) -> None:
    thinking = {purpose: f"<think>zebra {purpose}</think>{text[0]}" for purpose, text in script().items()}
    for keep in (True, False):
        model = ScriptedModel(script(**thinking))
        run = begin(model, box, store, keep_thoughts=keep, limits=burnish.Limits(thinking=5)).wait()
        assert run.verdict == "plausible"
        told = {thought.ask_id: thought.text for thought in read_thoughts(store.runs / run.id)}
        first = {name: text for name, text in told.items() if not name.startswith("rewrite")}
        assert first == ({"tests-0": "zebra tests ", "draft-1": "zebra draft "} if keep else {})
        assert bool(told) == keep
        files = {file.name: file.read_text() for file in (store.runs / run.id).iterdir()}
        assert [name for name, text in files.items() if "zebra" in text] == (["thoughts.jsonl"] if keep else [])
        assert "zebra" not in "".join(message.content for ask in model.asked for message in ask.messages)
        assert run.settings.keep_thoughts == keep
        if keep:
            assert (store.runs / run.id / "thoughts.jsonl").stat().st_mode & 0o077 == 0
