"""How long one answer and its thoughts may be; whatever is said there, no cap of the run is ever passed."""

import random
import re
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, cast

import pytest

from burnish.agent.ask import Tools, ask
from burnish.agent.limits import Limits, Meter, most_dollars
from burnish.errors import ModelError
from burnish.events import Asked, Event, Message, ModelReplied, Stopped
from burnish.models.model import Ask, Chunk, Done, Piece, Thought
from burnish.models.scripted import ScriptedModel
from burnish.models.tokens import price_of
from tests.models.peers import MODEL, Peer, Turn, serving
from tests.support import kinds

DEAR = "anthropic:claude-sonnet-4-20250514"
CODE = Ask(purpose="draft", messages=(Message(role="user", content="Write a function."),), max_tokens=40)


def tools_for(model: ScriptedModel, limits: Limits) -> Tools:
    return Tools(model, cast(Any, None), Meter(limits), threading.Event())


class Talker(ScriptedModel):
    """Thinks and writes as much as it may, and counts as its provider does; now and then it is short, or breaks off."""

    def __init__(self, seed: int) -> None:
        super().__init__([], name=DEAR)
        self.chance = random.Random(seed)

    def stream(self, ask: Ask, cancel: threading.Event) -> Iterator[Piece]:  # type: ignore[override]
        share = self.chance.choice([0.0, 0.5, 1.0, 1.0])
        thought, written = int(ask.thinking * share), max(1, int(ask.max_tokens * share))
        if thought:
            yield Thought(text="hm " * thought)
        yield Chunk(text="x " * written)
        read = sum(len(message.content) + 8 for message in ask.messages)
        yield Done(tokens_in=read, tokens_out=thought + written, tokens_thought=thought)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_no_cap_is_passed_with_thinking_on(seed: int) -> None:
    chance = random.Random(seed)
    limits = Limits(
        calls=10_000,
        tokens=chance.randint(500, 20_000),
        dollars=chance.uniform(0.001, 0.2),
        max_tokens=chance.choice([None, chance.randint(1, 3000)]),
        thinking=chance.choice([0, chance.randint(1, 4000)]),
    )
    tools = tools_for(Talker(seed), limits)
    events: list[Event] = []
    while not any(isinstance(event, Stopped) for event in events):
        events += ask(tools, f"draft-{len(events)}", CODE)
    replies = [event for event in events if isinstance(event, ModelReplied)]
    price = price_of(DEAR)
    assert price
    assert events[-1].reason in ("tokens", "dollars")  # type: ignore[union-attr]
    assert sum(reply.tokens_in + reply.tokens_out for reply in replies) <= limits.tokens
    assert sum(price.of(reply.tokens_in, reply.tokens_out) for reply in replies) <= cast(float, limits.dollars)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["openai", "anthropic", "ollama"])
@pytest.mark.parametrize(
    "turn",
    [
        Turn(text="x = 1", read=999_999, written=30),
        Turn(text="x = 1", read=30, written=999_999),
        Turn(pieces=tuple("#" + "x(y)+" * 4000 for _ in range(10)), read=30, written=200_000),
        Turn(text="x " * 400, read=0, written=0),
    ],
)
def test_no_cap_is_passed_whatever_a_server_writes_and_says(
    kind: str, turn: Turn, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from burnish.models.names import open_model
    from burnish.models.tokens import Price

    price = Price(read=1000.0, written=2000.0)
    monkeypatch.setattr("burnish.agent.limits.price_of", lambda name: price)
    with serving(Peer(turn)) as peer:
        (tmp_path / "config.toml").write_text(f'[models.lab]\nkind = "{kind}"\nbase_url = "{peer.base_url(kind)}"\n')
        tools = tools_for(cast(ScriptedModel, open_model(f"lab:{MODEL}")), Limits(tokens=600, dollars=0.8))
        events: list[Event] = []
        while not any(isinstance(event, Stopped) for event in events):
            events += ask(tools, f"draft-{len(events)}", CODE)
    replies = [event for event in events if isinstance(event, ModelReplied)]
    assert len(replies) > 1
    assert sum(reply.tokens_in + reply.tokens_out for reply in replies) <= 600
    assert tools.meter.dollars <= 0.8


def test_a_length_for_answers_is_for_those_that_hold_code() -> None:
    tools = tools_for(ScriptedModel(["x"]), Limits(max_tokens=500, thinking=70))
    short = CODE.model_copy(update={"purpose": "tests"})
    assert (tools.with_limits(CODE).max_tokens, tools.with_limits(short).max_tokens) == (500, 40)
    assert (tools.with_limits(CODE).thinking, tools.with_limits(short).thinking) == (70, 70)


def test_no_tokens_for_thoughts_means_none_whatever_the_settings_say() -> None:
    thinker = ScriptedModel(["<think>so many thoughts</think>x"])
    thinker.thinking = 100  # type: ignore[attr-defined]
    events = list(ask(tools_for(thinker, Limits(thinking=0)), "draft-1", CODE))
    assert kinds(events) == ["asked", "model_chunk", "model_replied"]
    events = list(ask(tools_for(thinker, Limits()), "draft-2", CODE))
    assert kinds(events).count("model_thought") == 3


def test_the_lengths_and_who_answered_are_on_record() -> None:
    model = ScriptedModel(["<think>one two three four</think>x y"], name="scripted:thinker")
    events = list(ask(tools_for(model, Limits(max_tokens=9, thinking=3)), "draft-1", CODE))
    asked, reply = events[0], events[-1]
    assert isinstance(asked, Asked)
    assert isinstance(reply, ModelReplied)
    assert (asked.max_tokens, asked.thinking) == (9, 3)
    assert (reply.model, reply.text) == ("scripted:thinker", "x y")
    assert (reply.tokens_out, reply.tokens_thought) == (5, 3)


class Breaks(ScriptedModel):
    """Thinks a little, begins to answer, and is never heard of again."""

    def stream(self, ask: Ask, cancel: threading.Event) -> Iterator[Piece]:  # type: ignore[override]
        yield Thought(text="hm, ")
        yield Chunk(text="def")


def test_an_answer_that_breaks_off_counts_at_the_most_it_can_have_cost() -> None:
    tools = tools_for(Breaks([], name=DEAR), Limits(dollars=1, max_tokens=1000, thinking=2000))
    reply = next(event for event in ask(tools, "draft-1", CODE) if isinstance(event, ModelReplied))
    price = price_of(DEAR)
    assert price
    assert reply.dollars is not None
    assert reply.dollars >= price.of(10, 3000)
    assert tools.meter.dollars == pytest.approx(reply.dollars)
    assert reply.text == "def"


class Uncounted(ScriptedModel):
    """Its provider says how much it wrote, and not how much of that were thoughts."""

    def stream(self, ask: Ask, cancel: threading.Event) -> Iterator[Piece]:  # type: ignore[override]
        yield Thought(text="a thought of forty characters, or nearly")
        yield Chunk(text="x")
        yield Done(tokens_in=5, tokens_out=12)


def test_thoughts_that_nobody_counted_are_counted_about() -> None:
    reply = list(ask(tools_for(Uncounted([]), Limits(thinking=50)), "draft-1", CODE))[-1]
    assert isinstance(reply, ModelReplied)
    assert reply.tokens_thought == 10


def test_what_turns_out_to_be_a_thought_is_on_record_as_one(tmp_path: Any) -> None:
    from burnish.models.names import open_model

    with serving(Peer(Turn(text="Is it x = 3? No.\n</think>\n\nx = 2", written=20))) as peer:
        (tmp_path / "config.toml").write_text(f'[models.lab]\nbase_url = "{peer.base_url("openai")}"\n')
        tools = tools_for(cast(ScriptedModel, open_model(f"lab:{MODEL}")), Limits())
        for number in (1, 2):
            reply = list(ask(tools, f"draft-{number}", CODE))[-1]
            assert isinstance(reply, ModelReplied)
            assert reply.text == "x = 2"
            assert 0 < reply.tokens_thought < reply.tokens_out


@pytest.mark.parametrize("kind", ["openai", "anthropic", "ollama"])
def test_a_pause_longer_than_the_time_left_ends_the_work_at_once(kind: str, tmp_path: Any) -> None:
    from burnish.models.names import open_model

    busy = Turn(status=429, headers={"Retry-After": "40"}, says="slow down")
    with serving(Peer(busy)) as peer:
        (tmp_path / "config.toml").write_text(f'[models.lab]\nkind = "{kind}"\nbase_url = "{peer.base_url(kind)}"\n')
        model = open_model(f"lab:{MODEL}")
        tools = tools_for(cast(ScriptedModel, model), Limits(seconds=30))
        began = time.monotonic()
        events = list(ask(tools, "draft-1", CODE))
    assert time.monotonic() - began < 10
    assert kinds(events) == ["asked", "notice", "model_replied", "stopped"]
    notice, reply, stopped = events[1:]
    assert "slow down" in notice.text  # type: ignore[union-attr]
    assert "40.0 s" in notice.text  # type: ignore[union-attr]
    assert (reply.ended, reply.dollars) == ("cut", 0.0)  # type: ignore[union-attr]
    assert stopped.reason == "seconds"  # type: ignore[union-attr]
    assert re.search(r"\b40 s\b.*\b30 seconds\b", stopped.why)  # type: ignore[union-attr]
    assert len(peer.asked) == 1


WHERE: dict[str, Any] = {
    "openai": lambda asked: asked["max_tokens"],
    "anthropic": lambda asked: asked["max_tokens"],
    "ollama": lambda asked: asked["options"]["num_predict"],
}
"""Where each protocol says how many tokens may be written in all."""


@pytest.mark.parametrize("kind", WHERE)
def test_a_server_is_told_the_tokens_of_answer_and_thoughts_together(kind: str, tmp_path: Any) -> None:
    from burnish.models.names import open_model

    peer = Peer(Turn(text="x = 1", thoughts="hm well", written=9, thought=4))
    peer.thinks = True
    with serving(peer):
        (tmp_path / "config.toml").write_text(f'[models.lab]\nkind = "{kind}"\nbase_url = "{peer.base_url(kind)}"\n')
        model = open_model(f"lab:{MODEL}")
        tools = tools_for(cast(ScriptedModel, model), Limits(max_tokens=500, thinking=2000))
        events = list(ask(tools, "draft-1", CODE))
    reply = events[-1]
    assert isinstance(reply, ModelReplied)
    assert WHERE[kind](peer.last) == 2500
    assert "".join(event.text for event in events if event.kind == "model_thought") == "hm well"
    assert (reply.text, reply.model) == ("x = 1", f"lab:{MODEL}")
    assert 0 < reply.tokens_thought <= reply.tokens_out == 9
    assert reply.tokens_thought == (2 if kind == "ollama" else 4), "Ollama counts no thoughts: the pieces are counted"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["openai", "anthropic", "ollama"])
@pytest.mark.parametrize(("turn", "tries"), [(Turn(fault="cut at once"), 2), (Turn(status=503), 5)])
def test_an_answer_that_was_lost_may_cost_so_each_further_try_is_booked(
    kind: str, turn: Turn, tries: int, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from burnish.models.names import open_model

    monkeypatch.setattr("burnish.models.chat.FIRST_PAUSE_SECONDS", 0.01)
    with serving(Peer(turn)) as peer:
        (tmp_path / "config.toml").write_text(f'[models.lab]\nkind = "{kind}"\nbase_url = "{peer.base_url(kind)}"\n')
        model = open_model(f"lab:{MODEL}")
        tools = tools_for(cast(ScriptedModel, model), Limits(tokens=270))  # two of at most 129
        if tries == 5:  # an error of the server costs nothing
            with pytest.raises(ModelError):
                list(ask(tools, "draft-1", CODE))
        else:
            assert list(ask(tools, "draft-1", CODE))[-1].reason == "tokens"  # type: ignore[union-attr]
    assert len(peer.asked) == tries


LOST_TWICE = (Turn(fault="cut at once"), Turn(fault="cut at once"), Turn(text="ok"))


@pytest.mark.slow
@pytest.mark.parametrize(("turns", "paid"), [(LOST_TWICE, 2), (LOST_TWICE[:1], 5)])
def test_what_lost_answers_may_have_cost_is_not_forgotten_by_a_resume_and_is_reported(
    turns: tuple[Turn, ...], paid: int, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from burnish.agent.limits import meter_after
    from burnish.events.replay import Replay
    from burnish.models.names import open_model
    from burnish.models.tokens import Price
    from burnish.runs import Run

    price = Price(read=100.0, written=100.0)
    monkeypatch.setattr("burnish.models.chat.FIRST_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr("burnish.agent.limits.price_of", lambda name: price)
    with serving(Peer(*turns)) as peer:
        (tmp_path / "config.toml").write_text(f'[models.lab]\nbase_url = "{peer.base_url("openai")}"\n')
        model = open_model(f"lab:{MODEL}")
        tools = tools_for(cast(ScriptedModel, model), Limits(dollars=100))
        events: list[Any] = []
        with suppress(ModelError):
            events.extend(ask(tools, "draft-1", CODE))
    told = [event for event in events if event.lasting]
    resumed = meter_after(Replay(told), tools.meter.limits, [model])
    known = Replay(told).reply("draft-1", CODE.messages, CODE.temperature, CODE.seed)
    if known:
        tokens = (known[1].tokens_in, known[1].tokens_out)
        resumed.spend(1, sum(tokens), price.of(*tokens))
    assert tools.meter.dollars >= paid * (most_dollars(CODE, model.name) or 0) > 0
    assert resumed.dollars == pytest.approx(tools.meter.dollars)
    assert (resumed.calls_left, tools.meter.calls_left) == (15, 15)
    assert Run(told).dollars == pytest.approx(tools.meter.dollars)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "gone"),
    [("openai", True), ("anthropic", True), ("ollama", True), ("openai", False), ("anthropic", False)],
)
def test_a_question_that_reached_nobody_costs_nothing_however_often_it_is_tried(
    kind: str, gone: bool, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from burnish.models.names import open_model

    monkeypatch.setattr("burnish.models.chat.FIRST_PAUSE_SECONDS", 0.01)
    with serving(Peer()) as peer:
        address = peer.base_url(kind) if gone else "http://nowhere.invalid"
        (tmp_path / "config.toml").write_text(f'[models.lab]\nkind = "{kind}"\nbase_url = "{address}"\n')
        model = open_model(f"lab:{MODEL}")
    tools, events = tools_for(cast(ScriptedModel, model), Limits(tokens=130)), list[Event]()
    with pytest.raises(ModelError, match="asked 5 times"):
        events.extend(ask(tools, "draft-1", CODE))
    assert set(kinds(events)) == {"asked", "notice"}
