"""Servers that lie, flood, stall or echo: an answer ends with Done or with an error of ours, small, clean and soon."""

import base64
import gzip
import json
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from burnish.errors import BurnishError, ModelError, SetupProblem
from burnish.models import discovery
from burnish.models.chat import ChatModel
from burnish.models.chunks import MOST_CHARACTERS_PER_TOKEN
from burnish.models.model import Chunk, Done, Piece, Thought
from burnish.models.names import open_model
from burnish.models.providers import ModelServer, list_servers
from tests.models.hostile import Hostile, Reply, Send, data, hostile, http, lines_of, stream_head, told
from tests.models.meeting import HELLO, KEY, KINDS
from tests.models.peers import MODEL, Turn

Attack = Callable[[Reply], tuple[ChatModel, Hostile]]


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def attack(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Attack]:
    """Opens a model whose server does what it is told, byte by byte."""
    monkeypatch.setattr("burnish.models.chat.FIRST_PAUSE_SECONDS", 0.01)
    monkeypatch.setenv("BURNISH_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("LAB_KEY", KEY)
    with ExitStack() as stack:

        def open_one(reply: Reply) -> tuple[ChatModel, Hostile]:
            server = stack.enter_context(hostile(Hostile(reply=reply)))
            set_up(tmp_path, kind, server)
            model = open_model(f"lab:{MODEL}")
            assert isinstance(model, ChatModel)
            return model, server

        yield open_one


def set_up(folder: Path, kind: str, server: Hostile) -> None:
    (folder / "config.toml").write_text(
        f'[models.lab]\nkind = "{kind}"\nbase_url = "{server.base_url(kind)}"\nkey_env = "LAB_KEY"\n'
    )


def outcome(model: ChatModel) -> tuple[list[Piece], BurnishError | None]:
    """All that came of one question; anything but an error of ours is raised. Nothing holds the key, nothing is odd."""
    pieces: list[Piece] = []
    error: BurnishError | None = None
    try:
        pieces.extend(model.stream(HELLO, threading.Event()))
    except BurnishError as raised:
        error = raised
    assert error or isinstance(pieces[-1], Done)
    words = "".join(piece.model_dump_json() for piece in pieces) + str(error)
    assert KEY not in words
    words.encode("utf-8")
    assert "\x1b" not in str(error)
    room = HELLO.most_tokens * MOST_CHARACTERS_PER_TOKEN
    assert sum(len(piece.text) for piece in pieces if isinstance(piece, Chunk | Thought)) <= room
    for done in pieces:
        if isinstance(done, Done):
            assert 0 <= done.tokens_in < 1000
            assert 0 <= done.tokens_out <= HELLO.max_tokens
    return pieces, error


def said(pieces: list[Piece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, Chunk))


def thought(pieces: list[Piece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, Thought))


def piece(kind: str, text: Any, thinks: bool = False) -> bytes:
    """One piece of an answer, or of thoughts."""
    if kind == "anthropic":
        delta = {"type": "thinking_delta", "thinking": text} if thinks else {"type": "text_delta", "text": text}
        return data(kind, {"type": "content_block_delta", "index": 1, "delta": delta})
    if kind == "ollama":
        message = {"role": "assistant", "content": "", "thinking": text} if thinks else {"content": text}
        return data(kind, {"model": MODEL, "message": {"role": "assistant", **message}, "done": False})
    delta = {"reasoning_content" if thinks else "content": text}
    choice = {"index": 0, "delta": delta, "finish_reason": None}
    return data(kind, {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": MODEL, "choices": [choice]})


def around(kind: str, *pieces: bytes) -> list[bytes]:
    """The pieces between an honest beginning and an honest end."""
    honest = lines_of(kind, Turn(text="x"))
    first = {"anthropic": 2, "ollama": 0, "openai": 1}[kind]
    return [*honest[:first], *pieces, *honest[first + 1 :]]


@cache
def bomb(coding: str) -> bytes:
    """64 MiB of nothing in some kilobytes."""
    packer = zlib.compressobj(9, wbits=31 if coding == "gzip" else 15)
    return b"".join(packer.compress(bytes(1 << 20)) for _ in range(64)) + packer.flush()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("coding", "status"),
    [("gzip", "200 OK"), ("deflate", "200 OK"), ("GZIP, gzip", "200 OK"), ("br", "200 OK"), ("zstd", "200 OK")]
    + [("gzip", "500 Oops"), ("gzip", "401 No")],
)
def test_a_compressed_answer_is_not_unpacked(attack: Attack, kind: str, coding: str, status: str) -> None:
    body = bomb("deflate" if coding == "deflate" else "gzip")
    model, server = attack(lambda send: send(http(body, f"Content-Encoding: {coding}\r\n", status)))
    _, error = outcome(model)
    assert coding.lower() in str(error)
    assert isinstance(error, SetupProblem if status.startswith("401") else ModelError)
    assert b"accept-encoding: identity" in server.requests[-1].lower()


def test_an_honest_answer_that_was_compressed_unasked_says_why_it_is_refused(attack: Attack, kind: str) -> None:
    body = gzip.compress(b"".join(lines_of(kind)))
    model, _ = attack(lambda send: send(stream_head(kind, "Content-Encoding: gzip\r\n") + body))
    assert "(gzip)" in str(outcome(model)[1])


def repeat(first: bytes, again: bytes) -> Reply:
    def reply(send: Send) -> None:
        send(first)
        while True:
            send(again)

    return reply


@pytest.mark.slow
@pytest.mark.parametrize("flood", ["line", "comments", "events", "empty lines", "headers", "one header"])
def test_what_has_no_end_is_left(attack: Attack, kind: str, flood: str) -> None:
    floods = {
        "line": (stream_head(kind), b"x" * 65536),
        "comments": (stream_head(kind), b": still here\n\n" * 1000),
        "events": (stream_head(kind), piece(kind, "word ") * 100),
        "empty lines": (stream_head(kind), b"\n" * 10_000),
        "headers": (b"HTTP/1.1 200 OK\r\n", b"X-More: " + b"y" * 1000 + b"\r\n"),
        "one header": (b"HTTP/1.1 200 OK\r\nX-More: ", b"y" * 65536),
    }
    outcome(attack(repeat(*floods[flood]))[0])


@pytest.mark.slow
@pytest.mark.parametrize("trickle", ["body", "headers", "interim answers"])
def test_an_answer_that_trickles_ends_when_its_reader_leaves(attack: Attack, kind: str, trickle: str) -> None:
    first, again = {
        "body": (stream_head(kind), b" "),
        "headers": (b"HTTP/1.1 200 OK\r\nX: ", b"y"),
        "interim answers": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    }[trickle]

    def reply(send: Send) -> None:
        send(first)
        while True:
            send(again)
            time.sleep(0.05)

    model, _ = attack(reply)
    cancel = threading.Event()
    threading.Timer(1.0, cancel.set).start()
    began = time.monotonic()
    list(model.stream(HELLO, cancel))
    assert time.monotonic() - began < 3


@pytest.mark.slow
@pytest.mark.parametrize(
    "raw",
    [
        b"hello",
        b"HTTP/0.9 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nx",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 9\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nx",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nx",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 0 x\r\n\r\n",
        b"HTTP/1.1 999 x\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n",
        b"HTTP/1.1 101 Switching\r\n\r\n",
        b"HTTP/1.1 204 No Content\r\n\r\n",
        b"HTTP/1.1 304 Not Modified\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"",
    ],
    ids=lambda raw: repr(raw[:40]),
)
def test_broken_http_is_an_error_of_the_server(attack: Attack, raw: bytes) -> None:
    assert outcome(attack(lambda send: send(raw))[0])[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "after",
    ["nan", "inf", "1e9", "-5", "-inf", "Fri, 31 Dec 9999 23:59:59 GMT", "Fri, 31 Dec 99999 23:59:59 GMT", "9" * 5000]
    + ["Thu, 01 Jan 0001 00:00:00 GMT", "Thu, 01 Jan 1 00:00:00 -9999", "x" * 5000, "\x80"],
    ids=lambda after: after[:24],
)
def test_an_absurd_pause_is_not_waited_for(attack: Attack, after: str) -> None:
    body = b'{"error": {"message": "slow"}}'
    model, _ = attack(lambda send: send(http(body, f"Retry-After: {after}\r\n", "429 Slow")))
    began = time.monotonic()
    assert isinstance(outcome(model)[1], ModelError)
    assert time.monotonic() - began < 10


@pytest.mark.slow
@pytest.mark.parametrize("location", ["http://127.0.0.2:9/x", "file:///etc/passwd", "//evil.example/x", "\x1b[2J", KEY])
@pytest.mark.parametrize("status", ["302 Found", "308 Permanent"])
def test_nobody_is_followed_with_the_key(attack: Attack, status: str, location: str) -> None:
    model, server = attack(lambda send: send(http(b"{}", f"Location: {location}\r\n", status)))
    asked = len(server.requests)
    assert isinstance(outcome(model)[1], SetupProblem)
    assert len(server.requests) == asked + 1


def test_a_cookie_is_not_sent_back(attack: Attack, kind: str) -> None:
    head = stream_head(kind, "Set-Cookie: id=you; Path=/\r\n")
    model, server = attack(lambda send: send(head + b"".join(lines_of(kind))))
    outcome(model)
    outcome(model)
    assert not any(b"\r\ncookie:" in request.lower() for request in server.requests)


def test_what_a_netrc_file_says_is_not_sent(
    attack: Attack, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login somebody password planted-password\n")
    (tmp_path / ".netrc").chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    model, server = attack(told(kind, lines_of(kind)))
    outcome(model)
    secret = base64.b64encode(b"somebody:planted-password")
    assert not any(secret in request for request in server.requests)


def test_a_lone_surrogate_becomes_a_mark(attack: Attack, kind: str) -> None:
    model, _ = attack(told(kind, around(kind, piece(kind, "a\ud800b"), piece(kind, "\udfff"))))
    pieces, error = outcome(model)
    assert (said(pieces), error) == ("a\ufffdb\ufffd", None)


def test_a_lone_surrogate_among_thoughts_becomes_a_mark(attack: Attack, kind: str) -> None:
    lines = around(kind, piece(kind, "t\ud800", thinks=True), piece(kind, "answer"))
    pieces, _ = outcome(attack(told(kind, lines))[0])
    assert "\ud800" not in thought(pieces)
    assert said(pieces) == "answer"


FORMS = {
    "as it is": KEY,
    "base64": base64.b64encode(KEY.encode()).decode(),
    "base64 of a header": base64.b64encode(f"Bearer {KEY}".encode()).decode(),
    "base64 of a login": base64.b64encode(f"me:{KEY}!".encode()).decode(),
    "base64 for addresses": base64.urlsafe_b64encode(f"x{KEY}".encode()).decode(),
    "hexadecimal": KEY.encode().hex(),
    "in an address": f"https://x.example/?key={quote(KEY, safe='')}",
    "twice": KEY * 2,
    "after a beginning of itself": KEY[:9] + KEY,
}


@pytest.mark.slow
@pytest.mark.parametrize("thinks", [False, True], ids=["answer", "thoughts"])
@pytest.mark.parametrize("size", [5, 1000])
@pytest.mark.parametrize("form", FORMS)
def test_a_key_that_is_sent_back_is_left_out_however_it_is_cut(
    attack: Attack, kind: str, form: str, size: int, thinks: bool
) -> None:
    whole = f"begin {FORMS[form]} end"
    parts = [piece(kind, whole[place : place + size], thinks) for place in range(0, len(whole), size)]
    pieces, error = outcome(attack(told(kind, around(kind, *parts)))[0])
    words = said(pieces) + thought(pieces)
    assert error is None
    if not (thinks and kind == "ollama"):  # its client leaves out thoughts that nobody asked for
        assert words.startswith("begin ")
        assert words.endswith(" end")
    for raw in (KEY, base64.b64encode(KEY.encode()).decode()[:24], KEY.encode().hex()):
        assert raw not in words


def test_what_only_begins_like_the_key_is_kept(attack: Attack, kind: str) -> None:
    words = f"{KEY[:9]} and {KEY[:-1]}"
    parts = [piece(kind, words[place : place + 3]) for place in range(0, len(words), 3)]
    assert said(outcome(attack(told(kind, around(kind, *parts)))[0])[0]) == words


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_a_key_in_an_error_is_left_out(attack: Attack, kind: str, form: str) -> None:
    error = {"type": "error", "error": {"type": "x", "message": f"no: {FORMS[form]} \x1b]8;;http://evil\x07"}}
    body = json.dumps({"error": f"no: {FORMS[form]}"} if kind == "ollama" else error).encode()
    for status in ("400 Bad", "401 No"):
        _, problem = outcome(attack(lambda send, status=status: send(http(body, status=status)))[0])  # type: ignore[misc]
        assert FORMS[form] not in str(problem)
    inside = [*around(kind, piece(kind, "x"))[:3], data(kind, json.loads(body))]
    assert FORMS[form] not in str(outcome(attack(told(kind, inside))[0])[1])


@pytest.mark.slow
@pytest.mark.parametrize("text", [5, 1e308, True, None, [1, "x", {"type": "text", "text": "y"}], {"a": 1}, [[[]]]])
def test_a_piece_that_is_no_text_is_an_error_or_nothing(attack: Attack, kind: str, text: object) -> None:
    outcome(attack(told(kind, around(kind, piece(kind, text))))[0])
    outcome(attack(told(kind, around(kind, piece(kind, text, thinks=True))))[0])


@pytest.mark.slow
@pytest.mark.parametrize("count", [-5, 1e308, float("nan"), 10**30, "5", "many", [1], {"a": 1}, None, True, -(10**30)])
def test_no_count_is_believed_that_cannot_be_right(attack: Attack, kind: str, count: object) -> None:
    turn = Turn(read=count, written=count, cached=count, thought=count)
    pieces, error = outcome(attack(told(kind, lines_of(kind, turn)))[0])
    assert (said(pieces), error) == ("Hello there, you two.", None)


SHAPES: list[Any] = [
    "{}",
    "5",
    "null",
    "[]",
    '"x"',
    "NaN",
    "[" * 100_000,
    '{"a":' * 50_000,
    '{"usage": {"output_tokens": ' + "9" * 5000 + "}}",
    {"type": "message_start"},
    {"type": "message_start", "message": 5},
    {"type": "message_start", "message": {"usage": {"input_tokens": "x"}, "content": 5}},
    {"type": "message_delta"},
    {"type": "message_delta", "delta": 5, "usage": 5},
    {"type": "message_delta", "delta": {"stop_reason": {"a": 1}}, "usage": None},
    {"type": "content_block_start", "index": "x", "content_block": 7},
    {"type": "content_block_start", "index": 10**30, "content_block": {"type": "text", "text": 5}},
    {"type": "content_block_delta", "index": -1, "delta": {"type": "odd"}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "citations_delta", "citation": 5}},
    {"type": "error", "error": [5]},
    {"type": "error", "error": None},
    {"type": 5},
    {"message": 7, "done": "yes"},
    {"message": {"role": 5, "content": "x"}, "done": False},
    {"message": {"role": "system\x1b[2J", "content": "x"}, "done": 10**30},
    {"message": {"role": "assistant", "content": "x", "images": [5], "tool_calls": 7}, "done": False},
    {"done": True, "done_reason": 7},
    {"done": True, "done_reason": "\x1b]0;x\x07" + KEY, "message": {"role": "assistant", "content": ""}},
    {"error": [5]},
    {"error": {"a": {"b": 1}}},
    {"choices": []},
    {"choices": [5]},
    {"choices": [{"delta": 5}]},
    {"choices": {"a": 1}},
    {"choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": [KEY]}]},
]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: str(shape)[:44])
def test_an_event_of_any_shape_is_an_error_or_nothing(attack: Attack, kind: str, shape: Any) -> None:
    outcome(attack(told(kind, around(kind, piece(kind, "word "), data(kind, shape))))[0])


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_tool_call_in_place_of_text_is_no_answer_and_runs_nothing(attack: Attack, kind: str) -> None:
    function = {"name": "bash", "arguments": '{"command": "rm -rf /"}'}
    calls = {
        "anthropic": {
            "type": "content_block_start",
            "index": 2,
            "content_block": {"type": "tool_use", "id": "t", "name": "bash", "input": {"command": "rm -rf /"}},
        },
        "ollama": {
            "model": MODEL,
            "message": {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"function": {"name": "bash", "arguments": {"command": "rm -rf /"}}}],
            },
            "done": False,
        },
        "openai": {
            "id": "c",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": MODEL,
            "choices": [
                {
                    "index": 0,
                    "delta": {"tool_calls": [{"index": 0, "id": "t", "function": function}]},
                }
            ],
        },
    }
    pieces, _ = outcome(attack(told(kind, around(kind, data(kind, calls[kind]))))[0])
    assert said(pieces) == ""


@pytest.mark.parametrize("thinks", [False, True], ids=["answer", "thoughts"])
def test_one_huge_piece_is_cut(attack: Attack, kind: str, thinks: bool) -> None:
    outcome(attack(told(kind, around(kind, piece(kind, "t" * 900_000, thinks))))[0])


@pytest.mark.slow
@pytest.mark.parametrize("raw", [b"\xff\xfe\xfd", b"\x00" * 1000, b"\xed\xa0\x80", b"\xef\xbb\xbf"], ids=repr)
def test_bytes_that_are_no_text_are_an_error_or_a_mark(attack: Attack, kind: str, raw: bytes) -> None:
    outcome(attack(told(kind, around(kind, piece(kind, "MARK").replace(b"MARK", raw))))[0])
    outcome(attack(told(kind, around(kind, raw)))[0])


@pytest.mark.slow
@pytest.mark.parametrize("lines", [0, 1, 2, 3, 4, 5])
def test_an_answer_without_its_end_is_never_done(attack: Attack, kind: str, lines: int) -> None:
    honest = lines_of(kind)[:lines]
    if not any(b"stop" in line and b"stop_reason" not in line for line in honest):
        assert outcome(attack(told(kind, honest))[0])[1]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["../../x", "/etc/passwd", "x?y=1", "%2e%2e", "\x1b[2J"])
def test_a_name_of_a_model_leads_nowhere_else(
    attack: Attack, kind: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, server = attack(told(kind, lines_of(kind)))
    model = open_model(f"lab:{name}")
    assert isinstance(model, ChatModel)
    outcome(model)
    paths = {request.split(b" ")[1] for request in server.requests}
    assert paths <= {b"/v1/chat/completions", b"/v1/messages", b"/api/chat", b"/api/show", b"/api/tags"}


LISTS: list[Any] = [
    b"",
    b"5",
    b"[" * 100_000,
    b'{"data": 5, "models": 5}',
    b'{"data": [5], "models": [5]}',
    b'{"data": [{"id": 5}], "models": [{"name": 5, "size": -1}]}',
    b'{"data": [{"id": "\\ud800", "context_length": NaN}], "models": [{"name": "\\ud800", "size": 1e999}]}',
    json.dumps({"data": [{"id": f"\x1b]8;;x\x07\u202e{KEY}"}], "models": [{"name": "\x1b[2J\u202e"}]}).encode(),
    json.dumps({"data": [{"id": "x" * 100_000}], "models": [{"name": "x" * 100_000}]}).encode(),
    json.dumps({"data": [{"id": "a", "meta": 5, "max_model_len": 10**30}], "models": [{"name": "a"}]}).encode(),
]


@pytest.mark.slow
@pytest.mark.parametrize("body", LISTS, ids=range(len(LISTS)))
def test_a_list_of_models_is_safe_to_print(attack: Attack, kind: str, body: bytes) -> None:
    _, server = attack(lambda send: send(http(body)))
    server.by_path["/api/tags"] = lambda send: send(http(body))
    shelf = discovery.list_models(list_servers()["lab"])
    for model in shelf.models:
        assert model.name.isprintable()
        assert KEY not in model.name
        assert len(model.name) < 300
        model.name.encode("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_a_list_that_is_compressed_unasked_is_no_list(attack: Attack, coding: str) -> None:
    reply: Reply = lambda send: send(http(bomb(coding), f"Content-Encoding: {coding}\r\n"))  # noqa: E731
    _, server = attack(reply)
    server.by_path["/api/tags"] = reply
    assert discovery.list_models(list_servers()["lab"]).models == ()


def test_an_ollama_that_sends_elsewhere_is_not_followed() -> None:
    with hostile(Hostile()) as elsewhere, hostile(Hostile()) as server:
        for path in ("/api/tags", "/api/show"):
            leads_to = f"Location: {elsewhere.address}{path}\r\n"
            server.by_path[path] = lambda send, leads_to=leads_to: send(http(b"{}", leads_to, "302 Found"))  # type: ignore[misc]
        ollama = ModelServer(provider="ollama", kind="ollama", address=server.address, key_env="")
        assert not discovery.list_models(ollama).answers
        with pytest.raises(SetupProblem, match="302"):
            discovery.describe_ollama_model(server.address, MODEL, f"ollama:{MODEL}")
        assert elsewhere.requests == []


@pytest.mark.parametrize(
    "told_of_it",
    [
        b"5",
        b"[]",
        b"{}",
        b'{"model_info": 5, "capabilities": 5}',
        b'{"model_info": {"x.context_length": -5}, "capabilities": [5, null]}',
        b'{"model_info": {"x.context_length": 1e999}, "capabilities": {"thinking": 1}}',
        b'{"model_info": {"x.context_length": 99999999999999999999999}}',
        b"[" * 100_000,
        b"\xff",
        b'{"model_info": {"x.context_length": ' + b"9" * 5000 + b"}}",
    ],
    ids=range(10),
)
def test_what_ollama_says_of_a_model_may_be_anything(told_of_it: bytes) -> None:
    with hostile(Hostile()) as server:
        server.by_path["/api/show"] = lambda send: send(http(told_of_it))
        with suppress(SetupProblem):
            assert discovery.describe_ollama_model(server.address, MODEL, f"ollama:{MODEL}").context < 1 << 60


@pytest.mark.slow
def test_an_ollama_that_trickles_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "ASK_SECONDS", 0.5)

    def reply(send: Send) -> None:
        send(b"HTTP/1.1 200 OK\r\nX: ")
        while True:
            send(b"y")
            time.sleep(0.05)

    with hostile(Hostile()) as server:
        server.by_path["/api/show"] = reply
        began = time.monotonic()
        with pytest.raises(SetupProblem, match="ollama serve"):
            discovery.describe_ollama_model(server.address, MODEL, f"ollama:{MODEL}")
        assert time.monotonic() - began < 3


@pytest.mark.parametrize(
    "line",
    [b"", b"5\n", b'{"error": "\\u001b[2J\\ud800"}\n', b'{"status": 5}\n', b"x" * (3 << 20)]
    + [b'{"status": "succeeded\\u001b", "completed": -1, "total": NaN}\n', b"[" * 100_000 + b"\n"],
    ids=range(7),
)
def test_a_pull_is_done_only_when_it_says_so(line: bytes) -> None:
    seen: list[tuple[int, int, str]] = []
    with hostile(Hostile()) as server:
        server.by_path["/api/pull"] = lambda send: send(stream_head("ollama") + line)
        with pytest.raises(SetupProblem) as raised:
            discovery.pull_ollama_model(server.address, f"ollama:{MODEL}", lambda *told: seen.append(told))
    assert "\x1b" not in str(raised.value)
    assert all(done >= 0 and total >= 0 and status.isprintable() for done, total, status in seen)
