"""Whatever protocol a server speaks, its model keeps the same promises, with every fault that a server can have."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from burnish.errors import ModelError, SetupProblem
from burnish.events import Message
from burnish.models.chat import ChatModel
from burnish.models.counting import most_read
from burnish.models.faults import without
from burnish.models.model import Ask, Chunk, Done, Piece, Thought, Waiting
from burnish.models.names import open_model
from tests.models.peers import MODEL, Peer, Turn, serving

KINDS = ["openai", "anthropic", "ollama"]
KEY = "planted-key-1234567890"
HELLO = Ask(purpose="test", messages=(Message(role="user", content="Say hello."),), max_tokens=64, seed=3)
BEGUN = HELLO.model_copy(
    update={"messages": (*HELLO.messages, Message(role="assistant", content="```python\ndef f(x):\n"))}
)

SOON = 0.25
"""A tenth of a second, on a machine that has other things to do as well."""
pytestmark = pytest.mark.timeout(20)

Meet = Callable[..., tuple[ChatModel, Peer]]


@pytest.fixture(params=KINDS)
def meet(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Meet]:
    """Opens a model of each kind, named in a file of settings, whose server answers from a script."""
    monkeypatch.setattr("burnish.models.chat.FIRST_PAUSE_SECONDS", 0.01)
    settings = tmp_path / "config.toml"
    monkeypatch.setenv("BURNISH_CONFIG", str(settings))
    monkeypatch.setenv("LAB_KEY", KEY)
    with ExitStack() as open_peers:

        def open_one(*turns: Turn, more: str = "", peer: Peer | None = None) -> tuple[ChatModel, Peer]:
            there = open_peers.enter_context(serving(peer or Peer(*turns)))
            settings.write_text(
                f'[models.lab]\nkind = "{request.param}"\nbase_url = "{there.base_url(request.param)}"\n'
                f'key_env = "LAB_KEY"\n{more}'
            )
            model = open_model(f"lab:{MODEL}")
            assert isinstance(model, ChatModel)
            return model, there

        yield open_one


def answered(model: ChatModel, ask: Ask = HELLO) -> tuple[str, Done]:
    pieces = list(model.stream(ask, threading.Event()))
    done = pieces[-1]
    assert isinstance(done, Done)
    assert not any(isinstance(piece, Done) for piece in pieces[:-1])
    return text_of(pieces), done


def text_of(pieces: list[Piece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, Chunk))


def said_of(pieces: list[Piece]) -> list[str]:
    return [piece.why for piece in pieces if isinstance(piece, Waiting) and piece.why]


def test_an_answer_comes_in_pieces_and_ends_with_what_it_cost(meet: Meet) -> None:
    model, _ = meet()
    pieces = list(model.stream(HELLO, threading.Event()))
    assert text_of(pieces) == "Hello there, you two."
    assert len([piece for piece in pieces if isinstance(piece, Chunk)]) > 2
    assert pieces[-1] == Done(tokens_in=11, tokens_out=7)


def test_an_answer_that_hit_its_length_says_so(meet: Meet) -> None:
    assert answered(meet(Turn(length=True))[0])[1].ended == "length"


def test_several_threads_may_ask_at_once(meet: Meet) -> None:
    model, _ = meet()
    with ThreadPoolExecutor(6) as pool:
        assert {text for text, _ in pool.map(lambda _: answered(model), range(12))} == {"Hello there, you two."}


def test_thoughts_are_kept_apart_from_the_answer(meet: Meet) -> None:
    model, peer = meet(Turn(thoughts="let me see", thought=3, written=9))
    pieces = list(model.stream(HELLO, threading.Event()))
    assert text_of(pieces) == "Hello there, you two."
    thoughts = "".join(piece.text for piece in pieces if isinstance(piece, Thought))
    if peer.asked[0][0] != "/api/chat":  # Ollama keeps to itself what was not asked for
        assert thoughts == "let me see"
        assert pieces[-1] == Done(tokens_in=11, tokens_out=9, tokens_thought=3)


def test_thoughts_inside_the_text_are_taken_out_of_it(meet: Meet) -> None:
    model, _ = meet(Turn(text="<think> is it 2? </think>\n\nIt is </think> 2."))
    pieces = list(model.stream(HELLO, threading.Event()))
    assert text_of(pieces) == "It is </think> 2."
    assert "".join(piece.text for piece in pieces if isinstance(piece, Thought)) == " is it 2? "


UNOPENED = "Is it n * 3?\n```python\nn * 3\n```\nNo, that is wrong.\n</think>\n\nIt is n * 2."


def kept(pieces: list[Piece]) -> tuple[str, str]:
    """The answer and the thoughts, once all has come."""
    text = thoughts = ""
    for piece in pieces:
        if isinstance(piece, Chunk | Thought) and piece.instead:
            text = thoughts = ""
        text += piece.text if isinstance(piece, Chunk) else ""
        thoughts += piece.text if isinstance(piece, Thought) else ""
    return text, thoughts


def test_thoughts_that_were_opened_in_the_prompt_are_no_part_of_the_answer(meet: Meet) -> None:
    model, _ = meet(Turn(text=UNOPENED, written=60))
    for number in range(2):
        pieces = list(model.stream(HELLO, threading.Event()))
        assert kept(pieces) == ("It is n * 2.", UNOPENED.partition("</think>")[0])
        taken_back = [piece for piece in pieces if isinstance(piece, Thought) and piece.instead]
        assert len(taken_back) == (1 if number == 0 else 0), "the second time it is known from the first word on"


def test_who_thinks_at_one_time_and_not_at_another_is_understood_each_time(meet: Meet) -> None:
    plain, cut = Turn(text="It is 4.", written=9), Turn(text="Well, let me see", length=True, written=9)
    model, _ = meet(Turn(text=UNOPENED, written=60), cut, plain, plain)
    answers = [kept(list(model.stream(HELLO, threading.Event()))) for _ in range(4)]
    assert answers[1:] == [("", "Well, let me see"), ("It is 4.", ""), ("It is 4.", "")]


@pytest.mark.parametrize(
    "text", ['Use text.split("</think>")[-1] here.', "Write <think>\nso\n</think>\n\naround it.", "a </think> b"]
)
def test_an_answer_that_speaks_of_thoughts_is_left_alone(meet: Meet, text: str) -> None:
    assert kept(list(meet(Turn(text=text, written=30))[0].stream(HELLO, threading.Event()))) == (text, "")


def test_cancel_ends_a_silent_answer_within_a_tenth_of_a_second_and_hangs_up(meet: Meet) -> None:
    model, peer = meet(Turn(fault="silent"))
    cancel = threading.Event()
    for piece in model.stream(HELLO, cancel):
        assert isinstance(piece, Waiting)
        if peer.asked and not cancel.is_set():
            time.sleep(0.1)
            cancel.set()
            began = time.monotonic()
    assert time.monotonic() - began < SOON
    assert peer.hung_up.wait(2), "a server that nobody listens to must not go on"


def test_who_no_longer_reads_hangs_up(meet: Meet) -> None:
    model, peer = meet(Turn(fault="endless"))
    stream = model.stream(HELLO.model_copy(update={"max_tokens": 10_000}), threading.Event())
    assert next(piece for piece in stream if isinstance(piece, Chunk))
    stream.close()  # type: ignore[attr-defined]
    assert peer.hung_up.wait(2)


def test_while_nothing_comes_the_reader_may_look_at_the_clock(meet: Meet) -> None:
    model, _ = meet(Turn(fault="slow"))
    model.chat  # noqa: B018  # imports are not the server's slowness
    times = [time.monotonic() for _ in model.stream(HELLO, threading.Event())]
    assert max(after - before for before, after in zip(times, times[1:], strict=False)) < 0.5


def test_a_proxy_in_the_shell_is_not_asked_about_a_server_on_this_machine(
    meet: Meet, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "OPENAI_PROXY", "ANTHROPIC_PROXY"):
        monkeypatch.setenv(name, "http://192.0.2.1:9")
    assert answered(meet()[0])[0] == "Hello there, you two."


def test_a_server_that_went_away_is_a_model_error_that_says_so(meet: Meet) -> None:
    model, peer = meet()
    peer.stop()
    with pytest.raises(ModelError, match=r"refused.*asked 5 times"):
        answered(model)


def test_a_busy_server_is_asked_again_after_the_pause_it_asks_for(meet: Meet) -> None:
    busy = Turn(status=429, headers={"Retry-After": "0.3"}, says="slow down")
    model, peer = meet(busy, Turn())
    began = time.monotonic()
    pieces = list(model.stream(HELLO, threading.Event()))
    assert text_of(pieces) == "Hello there, you two."
    assert any(isinstance(piece, Waiting) and "slow down" in piece.why for piece in pieces)
    assert time.monotonic() - began >= 0.3
    assert len(peer.asked) == 2


def test_two_errors_of_the_server_are_outlived(meet: Meet) -> None:
    model, peer = meet(Turn(status=500), Turn(status=503), Turn())
    assert answered(model)[0] == "Hello there, you two."
    assert len(peer.asked) == 3


def test_an_answer_that_never_began_is_asked_for_again(meet: Meet) -> None:
    model, peer = meet(Turn(fault="cut at once"), Turn())
    assert answered(model)[0] == "Hello there, you two."
    assert len(peer.asked) == 2


def test_a_page_in_place_of_an_answer_is_a_wrong_address_and_is_not_asked_for_again(meet: Meet) -> None:
    model, peer = meet(Turn(fault="page"))
    with pytest.raises(
        SetupProblem, match=r"answered with a web page\. Is the address right\? Type: burnish config set"
    ):
        answered(model)
    assert len(peer.asked) == 1


@pytest.mark.parametrize("leads_to", ["", "https://elsewhere.example/v1/chat/completions", "http://127.0.0.1/$(x)"])
def test_who_sends_elsewhere_is_not_followed_and_not_asked_again(meet: Meet, leads_to: str) -> None:
    model, peer = meet(Turn(status=302, says="moved", headers={"Location": leads_to}))
    with pytest.raises(SetupProblem, match=r"sends us elsewhere.* Type: .*base_url http://HOST:PORT(/v1)?$"):
        answered(model)
    assert len(peer.asked) == 1


def test_who_sends_to_another_door_of_the_same_house_has_that_proposed(meet: Meet) -> None:
    def script(path: str, _: dict[str, object]) -> Turn:
        return Turn(status=308, headers={"Location": f"https://127.0.0.1:8443/new{path}"})

    model, _ = meet(peer=Peer(script=script))
    with pytest.raises(SetupProblem, match=r"base_url https://127\.0\.0\.1:8443/new(/v1)?$"):
        answered(model)


def test_a_server_that_stays_broken_is_a_model_error_after_five_tries(meet: Meet) -> None:
    model, peer = meet(Turn(status=500, says="on fire"))
    with pytest.raises(ModelError, match=r"on fire.*asked 5 times"):
        answered(model)
    assert len(peer.asked) == 5


def test_a_pause_of_an_hour_is_not_waited_for(meet: Meet) -> None:
    model, peer = meet(Turn(status=429, headers={"Retry-After": "3600"}, says="come back tomorrow"))
    with pytest.raises(ModelError, match="come back tomorrow"):
        answered(model)
    assert len(peer.asked) == 1


def test_cancel_ends_the_pause_between_two_tries(meet: Meet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("burnish.models.chat.FIRST_PAUSE_SECONDS", 20)
    model, _ = meet(Turn(status=503))
    cancel = threading.Event()
    for piece in model.stream(HELLO, cancel):
        if isinstance(piece, Waiting) and piece.why:
            cancel.set()
            began = time.monotonic()
    assert time.monotonic() - began < SOON


@pytest.mark.parametrize("fault", ["cut", "garbage", "wrong json", "error inside"])
def test_an_answer_that_breaks_off_is_a_model_error_and_never_a_done(meet: Meet, fault: str) -> None:
    model, peer = meet(Turn(fault=fault))
    pieces: list[Piece] = []
    with pytest.raises(ModelError):
        pieces.extend(model.stream(HELLO, threading.Event()))
    assert not any(isinstance(piece, Done) for piece in pieces)
    if text_of(pieces):
        assert len(peer.asked) == 1, "what was read is not taken back"


def test_a_line_without_end_is_not_read_for_ever(meet: Meet) -> None:
    model, _ = meet(Turn(fault="huge line"))
    with pytest.raises(ModelError):
        answered(model)


def test_an_endless_answer_ends_at_its_length(meet: Meet) -> None:
    model, peer = meet(Turn(fault="endless"))
    text, done = answered(model)
    assert done.ended == "length"
    assert len(text) < 64 * 16
    assert peer.hung_up.wait(2)


@pytest.mark.parametrize("written", [7, 200_000])
def test_a_few_big_pieces_end_at_their_length_as_well(meet: Meet, written: int) -> None:
    big = tuple("#" + "x(y)+" * 4000 for _ in range(10))
    model, _ = meet(Turn(pieces=big, written=written))
    pieces = list(model.stream(HELLO, threading.Event()))
    assert len(text_of(pieces)) == HELLO.max_tokens * 16
    assert pieces[-1].ended == "length"  # type: ignore[union-attr]
    assert pieces[-1].tokens_out == HELLO.max_tokens  # type: ignore[union-attr]
    assert any("goes on past the 64 tokens it was asked for" in why for why in said_of(pieces))


def test_one_big_piece_that_is_not_too_long_is_not_cut(meet: Meet) -> None:
    text = "def double(number):\n    return number * 2  # twice\n" * 5
    pieces = list(meet(Turn(pieces=(text,), written=60))[0].stream(HELLO, threading.Event()))
    assert text_of(pieces) == text
    assert (pieces[-1].ended, said_of(pieces)) == ("stop", [])  # type: ignore[union-attr]


@pytest.mark.parametrize("count", [0, -5, "many", 11.5, 1e300, None, [7], {"all": 7}])
def test_counts_that_cannot_be_right_are_replaced_by_our_own(meet: Meet, count: Any) -> None:
    text, done = answered(meet(Turn(read=count, written=count, cached=count, thought=count))[0])
    assert text == "Hello there, you two."
    assert 0 < done.tokens_in <= most_read(HELLO.messages)
    assert done.tokens_out == 8


@pytest.mark.parametrize(("written", "least"), [(0, 400), (1, 300)])
def test_one_big_piece_that_nobody_counted_is_counted_by_what_is_in_it(meet: Meet, written: int, least: int) -> None:
    dense = "a=(b+c)*d[1];" * 50
    _, done = answered(meet(Turn(pieces=(dense,), written=written))[0], HELLO.model_copy(update={"max_tokens": 2000}))
    assert least < done.tokens_out <= len(dense)


def test_a_count_of_more_than_there_can_be_is_cut_to_what_there_can_be_and_that_is_said_once(meet: Meet) -> None:
    model, _ = meet(Turn(read=10**13, written=10**13, cached=10**12, thought=10**12))
    pieces = list(model.stream(HELLO, threading.Event()))
    done = pieces[-1]
    assert isinstance(done, Done)
    assert done.tokens_in == most_read(HELLO.messages)
    assert done.tokens_out == HELLO.max_tokens
    assert done.tokens_cached <= done.tokens_in
    assert done.tokens_thought <= done.tokens_out
    assert len(said_of(pieces)) == 2
    assert "says 10,000,000,000,000 tokens read, more than there can be" in said_of(pieces)[0]
    assert said_of(list(model.stream(HELLO, threading.Event()))) == []


def test_a_count_of_fewer_tokens_than_words_is_not_believed(meet: Meet) -> None:
    long = HELLO.model_copy(update={"messages": (Message(role="user", content="hi " * 3000),), "max_tokens": 1024})
    _, done = answered(meet(Turn(text="word " * 900, read=1, written=1))[0], long)
    assert (done.tokens_in, done.tokens_out) == (3000, 900)


def test_cached_tokens_are_among_those_read(meet: Meet) -> None:
    model, peer = meet(Turn(read=70, cached=60))
    _, done = answered(model)
    assert (done.tokens_in, done.tokens_cached) == (70, 0 if "/api/chat" in peer.asked[0][0] else 60)


def test_what_a_model_refuses_is_left_out_and_not_sent_again(meet: Meet) -> None:
    refusal = Turn(status=400, says="Unsupported value: 'temperature' and 'seed' are not taken; 'think' neither.")
    model, peer = meet(refusal, Turn())
    assert answered(model)[0] == "Hello there, you two."
    answered(model)
    assert len(peer.asked) == 3
    sent = peer.last | peer.last.get("options", {})
    assert not {"seed", "think"} & {key for key, value in sent.items() if value is not None}


def test_what_is_refused_to_several_at_once_is_learnt_by_all(meet: Meet) -> None:
    def script(_: str, question: dict[str, object]) -> Turn:
        sent = question | dict(question.get("options") or {})  # type: ignore[call-overload]
        wrong = [name for name in ("seed", "temperature") if sent.get(name) is not None]
        return Turn(status=400, says=f"{wrong[0]} is not taken") if wrong and "num_ctx" not in sent else Turn()

    model, _ = meet(peer=Peer(script=script))
    with ThreadPoolExecutor(6) as pool:
        assert {text for text, _ in pool.map(lambda _: answered(model), range(6))} == {"Hello there, you two."}


def test_a_question_that_is_refused_for_good_is_a_model_error(meet: Meet) -> None:
    model, peer = meet(Turn(status=400, says="your question is bad"))
    with pytest.raises(ModelError, match="your question is bad"):
        answered(model)
    assert len(peer.asked) == 1


def test_who_cannot_go_on_from_a_begun_answer_is_told_how_to_begin(meet: Meet) -> None:
    refusal = Turn(status=400, says="This model does not support assistant message prefill.")

    def script(_: str, question: dict[str, object]) -> Turn:
        messages = question["messages"]
        assert isinstance(messages, list)
        return refusal if messages[-1]["role"] == "assistant" else Turn()

    model, peer = meet(peer=Peer(script=script))
    assert answered(model, BEGUN)[0] == "Hello there, you two."
    [told] = [message for message in peer.last["messages"] if message["role"] == "user"]
    assert "Say hello." in str(told["content"])
    assert "def f(x):" in str(told["content"])
    tries = len(peer.asked)
    answered(model, BEGUN)
    assert len(peer.asked) == tries + 1, "it is not offered again what it refused"


def test_who_can_go_on_from_a_begun_answer_does(meet: Meet) -> None:
    model, peer = meet(more="continues = true\n")
    answered(model, BEGUN)
    last = peer.last["messages"][-1]
    assert last["role"] == "assistant"
    assert "def f(x):" in str(last["content"])


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_for_the_user_to_change_and_is_not_said(meet: Meet, status: int) -> None:
    model, _ = meet(Turn(status=status, says=f"Incorrect API key provided: {KEY}. Header was Bearer {KEY}"))
    with pytest.raises(SetupProblem) as caught:
        answered(model)
    assert KEY not in str(caught.value)
    assert KEY not in repr(model)


def test_a_key_in_an_error_is_blotted_out(meet: Meet) -> None:
    model, _ = meet(Turn(status=418, says=f"got {KEY}"))
    with pytest.raises(ModelError) as caught:
        answered(model)
    assert KEY not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("short", ["hunter2", "h2!", "token", "x"])
@pytest.mark.parametrize("status", [401, 418])
def test_a_short_key_is_a_secret_too(meet: Meet, monkeypatch: pytest.MonkeyPatch, short: str, status: int) -> None:
    monkeypatch.setenv("LAB_KEY", short)
    model, _ = meet(Turn(status=status, says=f"bad key '{short}' ({short}), my_{short}: x2 tokens"))
    with pytest.raises((ModelError, SetupProblem)) as caught:
        answered(model)
    assert "'…' (…), my_…: x2 tokens" in str(caught.value)


def test_a_short_key_leaves_words_that_only_contain_it() -> None:
    assert without("temp", "temperature is refused, temp") == "temperature is refused, …"


@pytest.mark.parametrize("before", [250, 270, 280, 290])
def test_a_key_at_the_end_of_what_is_shown_is_blotted_out_too(meet: Meet, before: int) -> None:
    model, _ = meet(Turn(status=418, says=f"{'x' * before} {KEY[:9]}\u200b{KEY[9:]} is wrong" + ", and more" * 9))
    with pytest.raises(ModelError) as caught:
        answered(model)
    assert KEY[:4] not in str(caught.value)


def test_a_model_that_is_gone_is_for_the_user_to_change(meet: Meet) -> None:
    model, _ = meet(Turn(status=404, says="no such model"))
    with pytest.raises(SetupProblem, match="burnish models$"):
        answered(model)
