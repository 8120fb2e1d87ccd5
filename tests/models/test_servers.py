"""Whatever protocol a server speaks, its model keeps the same promises, with every fault that a server can have."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from burnish.errors import ModelError, SetupProblem
from burnish.events import Message
from burnish.json_schema import AnswerFlaw, NotBySchema, freeze_schema
from burnish.models.http import remove_secret
from burnish.models.model import Chunk, Done, Piece, Waiting
from tests.models.meeting import HELLO, KEY, Meet, answered, text_of
from tests.models.peers import Peer, Turn

BEGUN = HELLO.model_copy(
    update={"messages": (*HELLO.messages, Message(role="assistant", content="```python\ndef f(x):\n"))}
)

SOON = 0.25
"""A tenth of a second, on a machine that has other things to do as well."""
pytestmark = pytest.mark.timeout(20)


@pytest.mark.slow
def test_an_answer_comes_in_pieces_and_ends_with_what_it_cost(meet: Meet) -> None:
    model, _ = meet()
    pieces = list(model.stream(HELLO, threading.Event()))
    assert text_of(pieces) == "Hello there, you two."
    assert len([piece for piece in pieces if isinstance(piece, Chunk)]) > 2
    assert pieces[-1] == Done(tokens_in=11, tokens_out=7)


@pytest.mark.slow
def test_an_answer_that_hit_its_length_says_so(meet: Meet) -> None:
    assert answered(meet(Turn(length=True))[0])[1].ended == "length"


@pytest.mark.slow
def test_several_threads_may_ask_at_once(meet: Meet) -> None:
    model, _ = meet()
    with ThreadPoolExecutor(6) as pool:
        assert {text for text, _ in pool.map(lambda _: answered(model), range(12))} == {"Hello there, you two."}


@pytest.mark.slow
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


@pytest.mark.slow
def test_while_nothing_comes_the_reader_may_look_at_the_clock(meet: Meet) -> None:
    model, _ = meet(Turn(fault="slow"))
    model.chat  # noqa: B018  # imports are not the server's slowness
    times = [time.monotonic() for _ in model.stream(HELLO, threading.Event())]
    assert max(after - before for before, after in zip(times, times[1:], strict=False)) < 0.5


@pytest.mark.slow
def test_a_proxy_in_the_shell_is_not_asked_about_a_server_on_this_machine(
    meet: Meet, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "OPENAI_PROXY", "ANTHROPIC_PROXY"):
        monkeypatch.setenv(name, "http://192.0.2.1:9")
    assert answered(meet()[0])[0] == "Hello there, you two."


@pytest.mark.slow
def test_a_server_that_went_away_is_a_model_error_that_says_so(meet: Meet) -> None:
    model, peer = meet()
    peer.stop()
    with pytest.raises(ModelError, match=r"refused.*\b5\b"):
        answered(model)


@pytest.mark.slow
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
    with pytest.raises(SetupProblem, match=r": burnish config set models\.lab\.base_url"):
        answered(model)
    assert len(peer.asked) == 1


@pytest.mark.parametrize("leads_to", ["", "https://elsewhere.example/v1/chat/completions", "http://127.0.0.1/$(x)"])
def test_who_sends_elsewhere_is_not_followed_and_not_asked_again(meet: Meet, leads_to: str) -> None:
    model, peer = meet(Turn(status=302, says="moved", headers={"Location": leads_to}))
    with pytest.raises(SetupProblem, match=r"base_url http://HOST:PORT(/v1)?$"):
        answered(model)
    assert len(peer.asked) == 1


def test_who_sends_to_another_door_of_the_same_house_has_that_proposed(meet: Meet) -> None:
    def script(path: str, _: dict[str, object]) -> Turn:
        return Turn(status=308, headers={"Location": f"https://127.0.0.1:8443/new{path}"})

    model, _ = meet(peer=Peer(script=script))
    with pytest.raises(SetupProblem, match=r"base_url https://127\.0\.0\.1:8443/new(/v1)?$"):
        answered(model)


@pytest.mark.slow
def test_a_server_that_stays_broken_is_a_model_error_after_five_tries(meet: Meet) -> None:
    model, peer = meet(Turn(status=500, says="on fire"))
    with pytest.raises(ModelError, match=r"on fire.*\b5\b"):
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


def test_what_a_model_refuses_is_left_out_and_not_sent_again(meet: Meet) -> None:
    refusal = Turn(status=400, says="Unsupported value: 'temperature' and 'seed' are not taken; 'think' neither.")
    model, peer = meet(refusal, Turn())
    assert answered(model)[0] == "Hello there, you two."
    answered(model)
    assert len(peer.asked) == 3
    sent = peer.last | peer.last.get("options", {})
    assert not {"seed", "think"} & {key for key, value in sent.items() if value is not None}


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize("short", ["hunter2", "h2!", "token", "x"])
@pytest.mark.parametrize("status", [401, 418])
def test_a_short_key_is_a_secret_too(meet: Meet, monkeypatch: pytest.MonkeyPatch, short: str, status: int) -> None:
    monkeypatch.setenv("LAB_KEY", short)
    model, _ = meet(Turn(status=status, says=f"bad key '{short}' ({short}), my_{short}: x2 tokens"))
    with pytest.raises((ModelError, SetupProblem)) as caught:
        answered(model)
    assert "'…' (…), my_…: x2 tokens" in str(caught.value)


def test_a_short_key_leaves_words_that_only_contain_it() -> None:
    assert remove_secret("temp", "temperature is refused, temp") == "temperature is refused, …"


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


PERSON = freeze_schema(
    {
        "type": "object",
        "properties": {"name": {"type": "string"}, "role": {"enum": ["cook", "pilot"]}},
        "required": ["name", "role"],
        "additionalProperties": False,
    }
)
BOUND = HELLO.model_copy(update={"json_schema": PERSON})
ADA = '{"name": "Ada", "role": "pilot"}'


def test_a_schema_goes_to_the_server_in_the_words_of_its_protocol(meet: Meet) -> None:
    model, peer = meet(Turn(text=ADA))
    text, done = answered(model, BOUND)
    assert BOUND.read_data(text, done.ended) == {"name": "Ada", "role": "pilot"}
    asked = peer.last
    places = {
        "OpenAI protocol": lambda: asked["response_format"]["json_schema"]["schema"],
        "Anthropic protocol": lambda: asked["output_config"]["format"]["schema"],
        "Ollama": lambda: asked["format"],
    }
    schema = places[model.protocol]()
    assert schema["properties"]["role"]["enum"] == ["cook", "pilot"]
    assert schema["additionalProperties"] is False
    assert PERSON not in str(asked["messages"]), "who is bound need not be told"


def test_a_server_that_refuses_schemas_is_asked_again_in_words_and_its_answer_is_judged_all_the_same(
    meet: Meet,
) -> None:
    refusal = Turn(status=400, says="This response_format type is unavailable now; output format is not supported")
    model, peer = meet(refusal, Turn(text=f"```json\n{ADA}\n```"), Turn(text="Ada is the pilot."))
    text, done = answered(model, BOUND)
    assert BOUND.read_data(text, done.ended)["role"] == "pilot"
    assert not {"response_format", "output_config", "format"} & peer.last.keys()
    assert '"additionalProperties"' in str(peer.last["messages"])
    text, done = answered(model, BOUND)
    assert len(peer.asked) == 3, "what a server refuses is not offered again"
    with pytest.raises(NotBySchema) as broken:
        BOUND.read_data(text, done.ended)
    assert broken.value.flaw == AnswerFlaw.NOT_JSON


def test_data_that_was_cut_at_its_length_is_called_that(meet: Meet) -> None:
    model, _ = meet(Turn(text=ADA[:15], length=True))
    text, done = answered(model, BOUND)
    with pytest.raises(NotBySchema) as broken:
        BOUND.read_data(text, done.ended)
    assert broken.value.flaw == AnswerFlaw.CUT


def test_stop_strings_go_to_the_server_and_one_that_ignores_them_is_read_to_its_end(meet: Meet) -> None:
    model, peer = meet(Turn(text="", pieces=("x = 1", "\n`", "``\n", "more ", "and more")))
    text, done = answered(model, HELLO.model_copy(update={"stop": ("\n```",)}))
    assert (text, done) == ("x = 1", Done(tokens_in=11, tokens_out=7, ended="stop_string"))
    asked = {**peer.last, **peer.last.get("options", {})}
    assert (asked.get("stop") or asked["stop_sequences"]) == ["\n```"]


def test_a_model_that_takes_no_stop_strings_is_asked_without_and_cut_here(meet: Meet) -> None:
    refusal = Turn(status=400, says="Unsupported parameter: 'stop' (stop_sequences) is not supported with this model")
    model, peer = meet(refusal, Turn(text="one two three"))
    text, done = answered(model, HELLO.model_copy(update={"stop": (" three",)}))
    assert (text, done.ended) == ("one two", "stop_string")
    assert not {"stop", "stop_sequences"} & ({**peer.last, **peer.last.get("options", {})}).keys()
