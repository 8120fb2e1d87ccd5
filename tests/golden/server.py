"""A server on 127.0.0.1 that speaks the protocols of OpenAI, Anthropic and Ollama and answers from a list."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "toy:1b"
ADVISORY = {
    "id": "GHSA-x84v-xcm2-53pg",
    "aliases": ["CVE-2018-18074"],
    "summary": "Credentials sent over http",
    "schema_version": "1.6.0",
    "affected": [
        {
            "package": {"name": "requests", "ecosystem": "PyPI"},
            "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "2.20.0"}]}],
        }
    ],
}
"""What OSV says of requests 2.19.0, shortened."""


class Server(ThreadingHTTPServer):
    """Counts questions; at the `hold`-th it says so in `held` and leaves it unanswered."""

    daemon_threads, block_on_close = True, False

    def __init__(self, answers: Sequence[str]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers, self.asked, self.hold = answers, 0, 0
        self.held, self.lock = threading.Event(), threading.Lock()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def next(self) -> str | None:
        """The answer to the next question; None: leave it open."""
        with self.lock:
            self.asked += 1
            if self.asked == self.hold:
                self.held.set()
                return None
            return self.answers[min(self.asked, len(self.answers)) - 1]

    def handle_error(self, *_: Any) -> None:
        """A client that hangs up is no error here."""


class Handler(BaseHTTPRequestHandler):
    """One question."""

    server: Server

    def log_message(self, *_: Any) -> None:
        """Print nothing."""

    def do_GET(self) -> None:
        if self.path.startswith("/simple/"):
            name = self.path.strip("/").split("/")[-1]
            file = {"filename": f"{name}-1.tar.gz", "url": "x", "hashes": {}, "upload-time": "2015-01-01T00:00:00Z"}
            page = {"meta": {"api-version": "1.1"}, "name": name, "files": [file]}
            return self._send(200, json.dumps(page), "application/vnd.pypi.simple.v1+json")
        tags = {"models": [{"name": MODEL, "model": MODEL, "size": 986_061_892}]}
        models = {"object": "list", "data": [{"id": MODEL, "object": "model"}]}
        return self._send(200, json.dumps({"/api/tags": tags, "/v1/models": models}.get(self.path, {})))

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/v1/query":
            return self._send(200, json.dumps({"vulns": [ADVISORY] if asked["version"] == "2.19.0" else []}))
        if self.path == "/api/show":
            info = {"general.architecture": "toy", "toy.context_length": 32768}
            return self._send(200, json.dumps({"model_info": info, "capabilities": ["completion"], "details": {}}))
        if self.path == "/api/pull":
            return self._send(200, '{"status": "pulling manifest"}\n{"status": "success"}\n')
        answer = self.server.next()
        if answer is None:
            return threading.Event().wait(60) and None
        if answer.isdigit():
            return self._send(int(answer), json.dumps({"error": {"message": "no", "type": "error"}}))
        lines = {"/api/chat": ollama, "/v1/messages": anthropic}.get(self.path, openai)(answer)
        return self._send(200, "".join(lines), "text/event-stream" if self.path != "/api/chat" else "application/json")

    def _send(self, status: int, body: str, kind: str = "application/json") -> None:
        with suppress(OSError):
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())


def openai(text: str) -> Iterator[str]:
    """A streamed answer of OpenAI's protocol."""
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": MODEL}
    for delta, ended in (({"role": "assistant", "content": text}, None), ({}, "stop")):
        yield f"data: {json.dumps(head | {'choices': [{'index': 0, 'delta': delta, 'finish_reason': ended}]})}\n\n"
    usage = {"prompt_tokens": 90, "completion_tokens": 40, "total_tokens": 130}
    yield f"data: {json.dumps(head | {'choices': [], 'usage': usage})}\n\ndata: [DONE]\n\n"


def anthropic(text: str) -> Iterator[str]:
    """A streamed answer of Anthropic's protocol."""
    usage = {"input_tokens": 90, "output_tokens": 1}
    message = {"id": "m", "type": "message", "role": "assistant", "model": MODEL, "content": [], "usage": usage}
    ended = {"stop_reason": "end_turn", "stop_sequence": None}
    for kind, more in (
        ("message_start", {"message": message | {"stop_reason": None, "stop_sequence": None}}),
        ("content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}),
        ("content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": text}}),
        ("content_block_stop", {"index": 0}),
        ("message_delta", {"delta": ended, "usage": usage | {"output_tokens": 40}}),
        ("message_stop", {}),
    ):
        yield f"event: {kind}\ndata: {json.dumps({'type': kind, **more})}\n\n"


def ollama(text: str) -> Iterator[str]:
    """A streamed answer of Ollama's protocol."""
    head = {"model": MODEL, "created_at": "2026-01-01T00:00:00Z"}
    yield json.dumps(head | {"message": {"role": "assistant", "content": text}, "done": False}) + "\n"
    counts = {"prompt_eval_count": 90, "eval_count": 40, "total_duration": 5, "eval_duration": 4}
    message = {"role": "assistant", "content": ""}
    yield json.dumps(head | {"message": message, "done": True, "done_reason": "stop"} | counts) + "\n"


@contextmanager
def serving(answers: Sequence[str]) -> Iterator[Server]:
    """The server answers within."""
    server = Server(answers)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
