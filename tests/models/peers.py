"""A server that speaks the protocols of OpenAI, Anthropic and Ollama from a script, with every fault on order."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from burnish.events import Message
from burnish.models.model import Ask, Chunk, Done, Model

MODEL = "toy:1b"
LONG_SECONDS = 30


@dataclass(frozen=True)
class Turn:
    """One answer of the server."""

    text: str = "Hello there, you two."
    thoughts: str = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    says: str = "something is wrong"
    """The message of a status that is an error."""
    fault: str = ""
    """"", slow, silent, cut, cut at once, garbage, wrong json, endless, huge line, page, error inside."""
    read: Any = 11
    written: Any = 7
    cached: Any = 0
    thought: Any = 0
    length: bool = False
    pieces: tuple[str, ...] = ()
    """The text as it is sent, where not word by word."""

    @property
    def sent(self) -> list[str]:
        return list(self.pieces) or _words(self.text)


Script = Callable[[str, dict[str, Any]], Turn]


def answered_by(model: Model) -> Script:
    """A script that has this model answer what is asked over any of the protocols."""

    def turn(_: str, question: dict[str, Any]) -> Turn:
        pieces = list(model.stream(_ask(question), threading.Event()))
        done = pieces[-1]
        assert isinstance(done, Done)
        text = "".join(piece.text for piece in pieces if isinstance(piece, Chunk))
        return Turn(text=text, read=done.tokens_in, written=done.tokens_out, length=done.ended == "length")

    return turn


def _ask(question: dict[str, Any]) -> Ask:
    options = {**question, **question.get("options", {})}
    sizes = (options.get(name) for name in ("num_predict", "max_completion_tokens", "max_tokens"))
    drawn = {name: options[name] for name in ("temperature", "top_p", "top_k", "min_p", "seed") if name in options}
    system = [{"role": "system", "content": question["system"]}] if "system" in question else []
    messages = tuple(
        Message(role=told["role"], content=_said(told["content"])) for told in [*system, *question["messages"]]
    )
    return Ask(purpose="peer", messages=messages, max_tokens=next(size for size in sizes if size), **drawn)


def _said(content: str | list[dict[str, str]]) -> str:
    return content if isinstance(content, str) else "".join(block["text"] for block in content)


class Peer:
    """The server, and what it was asked. Turns come in order, the last one again; or a function makes them."""

    def __init__(self, *turns: Turn, script: Script | None = None) -> None:
        self.turns = list(turns) or [Turn()]
        self.script = script
        self.asked: list[tuple[str, dict[str, Any], dict[str, str]]] = []
        self.hung_up = threading.Event()
        self.address = ""
        self.stop: Callable[[], None] = lambda: None
        self.context, self.thinks, self.talks = 32768, False, True
        self._lock = threading.Lock()

    def turn(self, path: str, question: dict[str, Any], headers: dict[str, str]) -> Turn:
        with self._lock:
            self.asked.append((path, question, headers))
            if self.script:
                return self.script(path, question)
            return self.turns[min(len(self.asked), len(self.turns)) - 1]

    def base_url(self, kind: str) -> str:
        return self.address + ("/v1" if kind == "openai" else "")

    @property
    def last(self) -> dict[str, Any]:
        """The last question, as it came over the wire."""
        return self.asked[-1][1]


@contextmanager
def serving(peer: Peer) -> Iterator[Peer]:
    """The peer answers within."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"peer": peer}))
    server.daemon_threads, server.block_on_close = True, False
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    peer.address = f"http://127.0.0.1:{server.server_address[1]}"

    def stop() -> None:
        server.shutdown()
        server.server_close()
        thread.join()

    peer.stop = stop
    try:
        yield peer
    finally:
        stop()


class _Handler(BaseHTTPRequestHandler):
    peer: Peer
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        if self.path == "/api/tags":
            self._json({"models": [{"name": MODEL, "model": MODEL, "size": 986_061_892}]})
        elif self.path == "/v1/models":
            self._json({"object": "list", "data": [{"id": MODEL, "object": "model"}]})
        else:
            self._json({"error": "not found"}, 404)

    def do_POST(self) -> None:
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/api/show":
            self._show(question)
        elif self.path == "/api/pull":
            self._pull(question)
        else:
            turn = self.peer.turn(self.path, question, {key.lower(): value for key, value in self.headers.items()})
            with suppress(OSError):
                self._answer(turn)

    def _show(self, question: dict[str, Any]) -> None:
        if question["model"] != MODEL:
            return self._json({"error": f"model '{question['model']}' not found"}, 404)
        info = {"general.architecture": "toy", "toy.context_length": self.peer.context, "toy.block_count": 24}
        can = ["completion", "tools", *(["thinking"] if self.peer.thinks else [])] if self.peer.talks else ["embedding"]
        return self._json({"model_info": info, "capabilities": can, "details": {"family": "toy"}})

    def _pull(self, question: dict[str, Any]) -> None:
        self._start("application/x-ndjson")
        told: list[dict[str, Any]] = [{"status": "pulling manifest"}]
        if question["model"] == MODEL:
            told += [{"status": "pulling abc", "total": 100, "completed": done} for done in (0, 50, 100)]
            told += [{"status": "verifying sha256 digest"}, {"status": "success"}]
        else:
            told += [{"error": "pull model manifest: file does not exist"}]
        for line in told:
            self._chunk(json.dumps(line) + "\n")
        self._chunk("")

    def _answer(self, turn: Turn) -> None:
        if turn.status != 200:
            return self._refuse(turn)
        if turn.fault == "slow":
            time.sleep(0.8)
        if turn.fault == "page":
            return self._json("<html>Sign in</html>", kind="text/html")
        ollama = self.path == "/api/chat"
        self._start("application/x-ndjson" if ollama else "text/event-stream")
        if turn.fault == "silent":
            return self._wait()
        if turn.fault == "cut at once":
            return self._cut()
        for number, line in enumerate(_LINES[self.path](turn)):
            if number >= 3 and turn.fault:
                self._break(turn, line)
            if turn.fault in ("cut", "garbage", "wrong json", "huge line", "error inside") and number >= 3:
                return None
            self._chunk(line)
        self._chunk("")
        return None

    def _break(self, turn: Turn, line: str) -> None:
        data = "" if self.path == "/api/chat" else "data: "
        event = "event: content_block_delta\n" if self.path == "/v1/messages" else ""
        if turn.fault == "cut":
            self._cut()
        elif turn.fault == "garbage":
            self._chunk(f"{event}{data}\x00\xff{{{{not json\n\n" if data else "\x00{{not json\n")
        elif turn.fault == "wrong json":
            self._chunk(f'{event}{data}{{"choices": 3, "delta": [], "message": 5, "type": "content_block_delta"}}\n\n')
        elif turn.fault == "error inside":
            error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
            told = {"error": "the runner crashed"} if not data else error
            self._chunk(f"{'event: error' + chr(10) if event else ''}{data}{json.dumps(told)}\n\n".lstrip())
        elif turn.fault == "huge line":
            with suppress(OSError):
                for _ in range(40):
                    self._chunk("x" * (1 << 20))
        elif turn.fault == "endless":
            self._go_on(line)

    def _go_on(self, line: str) -> None:
        try:
            while True:
                self._chunk(line)
        except OSError:
            self.peer.hung_up.set()
            raise

    def _cut(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def _wait(self) -> None:
        """Say nothing until the other side hangs up."""
        self.connection.settimeout(LONG_SECONDS)
        if self.connection.recv(1) == b"":
            self.peer.hung_up.set()

    def _refuse(self, turn: Turn) -> None:
        error: Any = {"type": "an_error", "message": turn.says}
        told = {"error": turn.says} if self.path == "/api/chat" else {"type": "error", "error": error}
        self._json(told, turn.status, turn.headers)

    def _json(
        self, told: Any, status: int = 200, headers: dict[str, str] | None = None, kind: str = "application/json"
    ) -> None:
        body = told.encode() if isinstance(told, str) else json.dumps(told).encode()
        self.send_response(status)
        for key, value in {"Content-Type": kind, "Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(body)

    def _start(self, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def _chunk(self, text: str) -> None:
        data = text.encode("utf-8", "surrogateescape")
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()


def _words(text: str) -> list[str]:
    words = text.split(" ")
    return [*(word + " " for word in words[:-1]), words[-1]] if text else []


def _openai(turn: Turn) -> Iterator[str]:
    def line(choices: list[Any], **more: Any) -> str:
        told = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": MODEL, "choices": choices, **more}
        return f"data: {json.dumps(told)}\n\n"

    yield line([{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}])
    for word in _words(turn.thoughts):
        yield line([{"index": 0, "delta": {"reasoning_content": word}, "finish_reason": None}])
    for word in turn.sent:
        yield line([{"index": 0, "delta": {"content": word}, "finish_reason": None}])
    yield line([{"index": 0, "delta": {}, "finish_reason": "length" if turn.length else "stop"}])
    usage: dict[str, Any] = {"prompt_tokens": turn.read, "completion_tokens": turn.written}
    usage |= {"total_tokens": 0, "prompt_tokens_details": {"cached_tokens": turn.cached}}
    yield line([], usage=usage | {"completion_tokens_details": {"reasoning_tokens": turn.thought}})
    yield "data: [DONE]\n\n"


def _anthropic(turn: Turn) -> Iterator[str]:
    def line(kind: str, **more: Any) -> str:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **more})}\n\n"

    fresh = turn.read - turn.cached if isinstance(turn.read, int) and isinstance(turn.cached, int) else turn.read
    usage = {"input_tokens": fresh, "output_tokens": 1, "cache_read_input_tokens": turn.cached}
    about = {"id": "m", "type": "message", "role": "assistant", "model": MODEL, "content": [], "usage": usage}
    yield line("message_start", message={**about, "stop_reason": None, "stop_sequence": None})
    if turn.thoughts:
        yield line("content_block_start", index=0, content_block={"type": "thinking", "thinking": "", "signature": ""})
        for word in _words(turn.thoughts):
            yield line("content_block_delta", index=0, delta={"type": "thinking_delta", "thinking": word})
        yield line("content_block_stop", index=0)
    yield line("content_block_start", index=1, content_block={"type": "text", "text": ""})
    for word in turn.sent:
        yield line("content_block_delta", index=1, delta={"type": "text_delta", "text": word})
    yield line("content_block_stop", index=1)
    ended = {"stop_reason": "max_tokens" if turn.length else "end_turn", "stop_sequence": None}
    told: dict[str, Any] = {**usage, "output_tokens": turn.written}
    yield line("message_delta", delta=ended, usage=told | {"output_tokens_details": {"thinking_tokens": turn.thought}})
    yield line("message_stop")


def _ollama(turn: Turn) -> Iterator[str]:
    def line(message: dict[str, str], **more: Any) -> str:
        told = {"model": MODEL, "created_at": "2026-01-01T00:00:00Z", "message": message, "done": False}
        return json.dumps(told | more) + "\n"

    for word in _words(turn.thoughts):
        yield line({"role": "assistant", "content": "", "thinking": word})
    for word in turn.sent:
        yield line({"role": "assistant", "content": word})
    why = "length" if turn.length else "stop"
    counts = {"prompt_eval_count": turn.read, "eval_count": turn.written, "total_duration": 5, "eval_duration": 4}
    yield line({"role": "assistant", "content": ""}, done=True, done_reason=why, **counts)


_LINES: dict[str, Callable[[Turn], Iterator[str]]] = {
    "/v1/chat/completions": _openai,
    "/v1/messages": _anthropic,
    "/api/chat": _ollama,
}
