"""One live page seen from our side: what we ask of its frame, and what its code may ask of us.

Both speak MCP (JSON-RPC 2.0) over one WebSocket, each as client and as server: we call the frame's tools (`run`,
`evaluate`, `sample`, `picture`), and page code calls ours (`log`, `done`, `give_up`, `ask`). What comes from the frame
is data from an enemy: all of it is validated, counted and cut, and none can make us wait longer than we said.
"""

import asyncio
import base64
import binascii
import secrets
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, get_args

import mcp_types as mcp
from mcp_types.version import LATEST_HANDSHAKE_VERSION
from pydantic import BaseModel, ValidationError
from starlette.websockets import WebSocket, WebSocketDisconnect

from burnish.events.pages import ConsoleLine, Kill, PageError, PageObserved
from burnish.pages.page import PageGone, PageLimits, PageTools, ProbeError
from burnish.version import __version__

SAMPLE_SECONDS = 0.4
"""Between two looks at a page that is watched."""
SHORT_WATCH_SECONDS = 0.3
"""For which a page is watched on after it said that it is done: whether it moves shows only in time."""
TAB_SECONDS = 1.5
"""For which a frame that went away may come back: a tab that is reloaded, or closed beside another one."""
MESSAGES_PER_SECOND = 500
"""More wait in the browser's own memory."""
MOST_CONNECTIONS = 8
"""Of one page: tabs that show it, and what its code opens besides."""
MOST_LOADS = 5
"""Of one version: a tab may be reloaded, and a page that reloads itself does nothing else."""
MOST_QUESTIONS = 8
"""That one version may ask the model."""
LINE_CHARACTERS = 2000

TOOLS = {"log": "text", "done": "text", "give_up": "reason", "ask": "question"}
"""What page code may call, and the argument of each."""


class FrameSample(BaseModel):
    """What the shim measures whenever it is asked."""

    seconds: float
    frames: int
    """That the browser has drawn since the version began."""
    nodes: int
    heap: int | None = None
    """None where the browser does not say."""
    canvases: int
    blank: bool
    """Whether nothing, or one colour, is on all canvases."""
    mark: int
    """Of all pixels: another one if any of them changed."""
    hidden: bool
    dropped: int
    """Lines that found no room any more."""


class PageWord(BaseModel):
    """What the shim notices by itself: a line of the console, or something that went wrong."""

    kind: str
    text: str
    line: int | None = None


class _Version:
    """What is known of the version that runs, filled in by the server's thread."""

    def __init__(self, cycle: int, code: str, limits: PageLimits) -> None:
        self.cycle, self.code = cycle, code
        self.began = time.monotonic()
        self.room = limits.text_bytes
        self.errors: list[PageError] = []
        self.console: list[ConsoleLine] = []
        self.dropped = 0
        self.value = ""
        self.ended = False
        """Whether the code said that it is done, or gave up."""
        self.killed: Kill = ""
        self.questions = 0
        self.loads = 0

    def take(self, text: str) -> str | None:
        """The text, cut to a line's length; None once there is no room any more."""
        text = text[:LINE_CHARACTERS]
        size = len(text.encode("utf-8", "replace")) + 16
        if size > self.room:
            self.dropped += 1
            return None
        self.room -= size
        return text.encode("utf-8", "replace").decode()  # without halves of characters, which no file takes


class _Connection:
    """One socket of a frame, as other threads may use it."""

    def __init__(self, socket: WebSocket, version: _Version, changed: Callable[[], None]) -> None:
        self.socket, self.version, self._changed = socket, version, changed
        self.runs = False
        """Whether the code was given to it."""
        self._loop = asyncio.get_running_loop()
        self._waiting: dict[int, Future[dict[str, Any]]] = {}
        self._last = 0
        self._lock = threading.Lock()

    def send(self, message: BaseModel) -> None:
        """From any thread."""
        text = message.model_dump_json(by_alias=True, exclude_none=True)
        self._loop.call_soon_threadsafe(self._loop.create_task, self._send(text))

    async def _send(self, text: str) -> None:
        with suppress(WebSocketDisconnect, RuntimeError):  # it left meanwhile, which its reader learns too
            await self.socket.send_text(text)

    def request(self, method: str, params: BaseModel) -> Future[dict[str, Any]]:
        """Ask the frame; the answer is not validated yet."""
        future: Future[dict[str, Any]] = Future()
        future.add_done_callback(lambda _: self._changed())
        with self._lock:
            self._last += 1
            number = self._last
            self._waiting[number] = future
        data = params.model_dump(mode="json", by_alias=True, exclude_none=True)
        self.send(mcp.JSONRPCRequest(jsonrpc="2.0", id=number, method=method, params=data))
        return future

    def answer(self, message: mcp.JSONRPCResponse | mcp.JSONRPCError) -> None:
        """The frame answered; what nobody asked is ignored."""
        with self._lock:
            future = self._waiting.pop(message.id, None) if isinstance(message.id, int) else None
        if future and isinstance(message, mcp.JSONRPCError):
            future.set_exception(ProbeError(message.error.message[:LINE_CHARACTERS]))
        elif future and isinstance(message, mcp.JSONRPCResponse):
            future.set_result(message.result)

    def close(self) -> None:
        """Nobody will answer any more; from any thread."""
        with self._lock:
            left, self._waiting = list(self._waiting.values()), {}
        for future in left:
            future.set_exception(PageGone("the page is gone"))
        self._loop.call_soon_threadsafe(self._loop.create_task, self._close())

    async def _close(self) -> None:
        with suppress(WebSocketDisconnect, RuntimeError):  # it is closed already
            await self.socket.close()


class FrameLink:
    """The page of one run, through all its versions. Its methods are for the run's thread; `kill`, `close` for any."""

    def __init__(
        self, token: str, tools: PageTools, limits: PageLimits, targets: tuple[str, ...], forget: Callable[[], object]
    ) -> None:
        self.token, self.targets = token, targets
        self._name = secrets.token_hex(4)
        self._tools, self._limits, self._forget = tools, limits, forget
        self._version = _Version(0, "", limits)
        self._connections: list[_Connection] = []
        """Of this version. The first one speaks, the others watch."""
        self._left_badly = False
        self._closed = False
        self._changed = threading.Condition(threading.RLock())

    @property
    def cycle(self) -> int:
        """Of the version that is served now."""
        return self._version.cycle

    @property
    def killed(self) -> Kill:
        """Why the version that is served now was ended; empty: it was not."""
        return self._version.killed

    @property
    def has_room(self) -> bool:
        """Whether one more connection is taken; none of a version that was ended."""
        return len(self._connections) < MOST_CONNECTIONS and not self.killed

    @property
    def is_connected(self) -> bool:
        """Whether a frame is there."""
        return bool(self._connections)

    @property
    def host(self) -> str:
        """The name of the server for the version that is served now; browsers take it to the loopback address.

        Each version is a site of its own, as a browser gives each site a process: under the same name the next version
        would join the process of one that hangs, and hang with it.
        """
        return f"v{self.cycle}-{self._name}.localhost"

    @property
    def frame_path(self) -> str:
        """Where the frame of that version lies on its server."""
        return f"/frame/{self.token}?cycle={self.cycle}"

    def begin(self, cycle: int, code: str) -> None:
        """From now on the frame of this cycle is served, and given this code. Frames of others are cut off."""
        with self._changed:
            left, self._connections = self._connections, []
            self._version = _Version(cycle, code, self._limits)
            self._left_badly = False
        for connection in left:
            connection.close()

    @property
    def errors(self) -> tuple[PageError, ...]:
        """What went wrong in the version that runs, up to now."""
        return tuple(self._version.errors)

    def wait(self, ready: Callable[[], object], seconds: float, cancel: threading.Event | None = None) -> bool:
        """Until it is so, the link is closed, or time is over; whether it is so."""
        until = time.monotonic() + seconds
        with self._changed:
            while not ready():
                left = until - time.monotonic()
                if left <= 0 or self._closed or (cancel and cancel.is_set()):
                    return False
                self._changed.wait(min(left, 0.2))
        return True

    def watch(self, cycle: int) -> PageObserved:
        """What the version of this cycle does, once its frame is connected.

        Takes `settle_seconds`, or less where it says that it is done; never more than `busy_seconds` besides.
        """
        version = self._version
        assert version.cycle == cycle, "begin it first"
        samples: list[FrameSample] = []
        watched = 0.0
        if self.wait(lambda: version.killed or self._speaks(), self._limits.busy_seconds):
            watched = self._sample(version, samples)
        elif not version.killed:
            version.killed = "closed" if self._closed else "busy"
        seconds = time.monotonic() - version.began
        return describe(version, samples, seconds, seconds - watched)

    def _speaks(self) -> bool:
        return bool(self._connections) and self._connections[0].runs

    def _sample(self, version: _Version, samples: list[FrameSample]) -> float:
        """Look at it again and again until it is settled, ended or killed; how long that took."""
        began = time.monotonic()
        until = began + self._limits.settle_seconds
        last = False
        while not version.killed and not last:
            last = time.monotonic() >= until
            try:
                said = self.call("sample", {}, self._limits.busy_seconds)
                samples.append(FrameSample.model_validate(said))
            except PageGone:
                if not self.wait(lambda: version.killed or self._speaks(), TAB_SECONDS) and not version.killed:
                    version.killed = "crashed" if self._left_badly else "closed"
                samples.clear()  # another tab has a page of its own
                last = False
                continue
            except (ProbeError, ValidationError):
                version.killed = version.killed or "busy"
                break
            if (samples[-1].heap or 0) > self._limits.heap_bytes:
                version.killed = "memory"
            self.wait(lambda: version.killed or version.ended, min(SAMPLE_SECONDS, max(0, until - time.monotonic())))
            if version.ended:
                until = min(until, time.monotonic() + SHORT_WATCH_SECONDS)
                self.wait(lambda: version.killed, SHORT_WATCH_SECONDS / 2)  # the first look says nothing of motion
        return time.monotonic() - began

    def call(self, tool: str, arguments: dict[str, Any], timeout_seconds: float) -> Any:
        """What a tool of the frame gives. Raises PageGone, and ProbeError where it fails or takes too long."""
        with self._changed:
            if not self._connections or self._version.killed:
                raise PageGone("the page is gone")
            connection = self._connections[0]
        future = connection.request("tools/call", mcp.CallToolRequestParams(name=tool, arguments=arguments))
        if not self.wait(lambda: future.done() or self._version.killed, timeout_seconds):
            raise ProbeError(f"the page gave no answer within {timeout_seconds:g} s")
        if not future.done():
            raise PageGone("the page is gone")
        try:
            result = mcp.CallToolResult.model_validate(future.result())
        except ValidationError as error:
            raise ProbeError("the page did not answer as MCP has it") from error
        return read_result(result)

    def kill(self, reason: Kill) -> None:
        """The version is over: who watches it, or waits for an answer of it, learns so at once."""
        with self._changed:
            self._version.killed = self._version.killed or reason
            left, self._connections = self._connections, []
            self._changed.notify_all()
        for connection in left:
            connection.close()

    def close(self) -> None:
        """The page is over."""
        with self._changed:
            self._closed = True
        self.kill("closed")
        self._forget()

    # --- the server's thread ---

    async def attend(self, socket: WebSocket) -> None:
        """Speak with a frame that has just connected, until it leaves."""
        version = self._version
        connection = _Connection(socket, version, self._notify)
        with self._changed:
            if not self._connections:  # the first, or a tab that was reloaded
                version.errors.clear()
                version.console.clear()
                version.loads += 1
            self._connections.append(connection)
        if version.loads > MOST_LOADS:
            self.kill("left")
        greeting = asyncio.create_task(self._greet(connection))
        try:
            await self._listen(connection)
        except WebSocketDisconnect as left:
            self._left_badly = left.code in (1005, 1006)
        except RuntimeError:  # we closed it ourselves while it spoke
            pass
        finally:
            greeting.cancel()
            with self._changed:
                if connection in self._connections:
                    self._connections.remove(connection)
            connection.close()
            self._notify()

    async def _listen(self, connection: _Connection) -> None:
        heard, second = 0, time.monotonic()
        while True:
            text = await connection.socket.receive_text()
            heard += 1
            if heard > MESSAGES_PER_SECOND:
                await asyncio.sleep(max(0, second + 1 - time.monotonic()))
                heard, second = 0, time.monotonic()
            elif time.monotonic() > second + 1:
                heard, second = 0, time.monotonic()
            try:
                message = mcp.jsonrpc_message_adapter.validate_json(text)
            except ValidationError:
                connection.send(fail(None, mcp.PARSE_ERROR, "this is no JSON-RPC 2.0"))
                continue
            if isinstance(message, mcp.JSONRPCResponse | mcp.JSONRPCError):
                connection.answer(message)
            elif isinstance(message, mcp.JSONRPCNotification):
                self._note(connection, message)
            else:
                self._serve(connection, message)

    async def _greet(self, connection: _Connection) -> None:
        """The handshake of MCP, in which we are the client; then the code."""
        hello = mcp.InitializeRequestParams(
            protocol_version=LATEST_HANDSHAKE_VERSION, capabilities=mcp.ClientCapabilities(), client_info=_US
        )
        try:
            answer = await asyncio.wrap_future(connection.request("initialize", hello))
            mcp.InitializeResult.model_validate(answer)
        except (PageGone, ProbeError, ValidationError):
            connection.close()
            return
        connection.send(mcp.JSONRPCNotification(jsonrpc="2.0", method="notifications/initialized"))
        version = connection.version
        arguments = {"code": version.code, "cycle": version.cycle, "room": self._limits.text_bytes}
        future = connection.request("tools/call", mcp.CallToolRequestParams(name="run", arguments=arguments))
        with self._changed:
            connection.runs = True
            self._changed.notify_all()
        try:
            value = read_result(mcp.CallToolResult.model_validate(await asyncio.wrap_future(future)))
        except (PageGone, ProbeError, ValidationError):  # what went wrong was said in a notification, with its line
            return
        if isinstance(value, str) and self._is_speaker(connection):
            version.value = version.take(value) or ""

    def _notify(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _is_speaker(self, connection: _Connection) -> bool:
        with self._changed:
            return bool(self._connections) and self._connections[0] is connection

    def _note(self, connection: _Connection, message: mcp.JSONRPCNotification) -> None:
        """A line of the console, or an error."""
        if message.method != "notifications/message" or not self._is_speaker(connection):
            return
        try:
            params = mcp.LoggingMessageNotificationParams.model_validate(message.params)
            word = PageWord.model_validate(params.data)
        except ValidationError:
            return
        version = connection.version
        text = version.take(word.text)
        if text is None:
            return
        if params.logger == "console" and word.kind in get_args(ConsoleLine.model_fields["level"].annotation):
            version.console.append(ConsoleLine.model_validate({"level": word.kind, "text": text, "line": word.line}))
        elif params.logger == "error" and word.kind in get_args(PageError.model_fields["kind"].annotation):
            line = min(word.line, version.code.count("\n") + 1) if word.line and word.line > 0 else None
            found = {"kind": word.kind, "message": text, "line": line, "cycle": version.cycle}
            version.errors.append(PageError.model_validate(found))

    def _serve(self, connection: _Connection, message: mcp.JSONRPCRequest) -> None:
        """The frame asks; whoever only watches is told so."""
        if message.method == "initialize":
            answer: mcp.Result = mcp.InitializeResult(
                protocol_version=LATEST_HANDSHAKE_VERSION,
                capabilities=mcp.ServerCapabilities(tools=mcp.ToolsCapability()),
                server_info=_US,
            )
        elif message.method == "ping":
            answer = mcp.EmptyResult()
        elif message.method == "tools/list":
            answer = mcp.ListToolsResult(tools=[describe_tool(name, argument) for name, argument in TOOLS.items()])
        elif message.method == "tools/call":
            try:
                params = mcp.CallToolRequestParams.model_validate(message.params)
            except ValidationError:
                connection.send(fail(message.id, mcp.INVALID_PARAMS, "name and arguments are wanted"))
                return
            self._call_ours(connection, message.id, params)
            return
        else:
            connection.send(fail(message.id, mcp.METHOD_NOT_FOUND, "there is no such method here"))
            return
        connection.send(reply(message.id, answer))

    def _call_ours(self, connection: _Connection, number: int | str, params: mcp.CallToolRequestParams) -> None:
        version = connection.version
        said = (params.arguments or {}).get(TOOLS.get(params.name, ""))
        if not isinstance(said, str):
            connection.send(fail(number, mcp.INVALID_PARAMS, f"there is {', '.join(TOOLS)}, each with one text"))
            return
        if not self._is_speaker(connection):
            connection.send(reply(number, say("this tab only watches", is_error=True)))
            return
        text = version.take(said)
        if text is None:
            connection.send(reply(number, say("this version has said too much", is_error=True)))
            return
        if params.name == "ask":
            version.questions += 1
            if version.questions > MOST_QUESTIONS:
                connection.send(reply(number, say("this version has asked too much", is_error=True)))
            else:
                threading.Thread(target=self._ask, args=[connection, number, text], daemon=True).start()
            return
        tool = {"log": self._tools.log, "done": self._tools.done, "give_up": self._tools.give_up}[params.name]
        tool(text)
        connection.send(reply(number, say("")))
        if params.name != "log":
            with self._changed:
                version.ended = True
                self._changed.notify_all()

    def _ask(self, connection: _Connection, number: int | str, question: str) -> None:
        try:
            answer = say(self._tools.ask(question))
        except Exception as error:  # of the model: the run's own matter; the page learns that there is no answer
            answer = say(f"there is no answer: {error}", is_error=True)
        connection.send(reply(number, answer))


_US = mcp.Implementation(name="burnish", version=__version__)


def describe(version: _Version, samples: list[FrameSample], seconds: float, overhead: float) -> PageObserved:
    """What a version did, from what was seen of it."""
    console = list(version.console)
    last = samples[-1] if samples else None
    dropped = version.dropped + (last.dropped if last else 0)
    if dropped:
        console.append(ConsoleLine(level="warn", text=f"({dropped} more lines were left out)"))
    if last and last.hidden:
        console.append(
            ConsoleLine(level="warn", text="(the tab is in the background, and so the browser slows it down)")
        )
    frames = heap = growth = None
    canvas = "none"
    if last:
        first = samples[0]
        if last.seconds > first.seconds and not last.hidden:
            frames = round((last.frames - first.frames) / (last.seconds - first.seconds), 1)
        heap = last.heap
        growth = last.heap - first.heap if last.heap is not None and first.heap is not None else None
        drawn = [sample for sample in samples[1:] if not sample.blank] if len(samples) > 1 else samples
        if last.canvases:
            canvas = "blank" if last.blank else "moving" if len({sample.mark for sample in drawn}) > 1 else "drawn"
    return PageObserved.model_validate(
        dict(
            cycle=version.cycle,
            value=version.value,
            errors=tuple(version.errors),
            console=tuple(console),
            frames_per_second=frames,
            heap_bytes=heap,
            heap_growth_bytes=growth,
            nodes=last.nodes if last else None,
            canvas=canvas,
            killed=version.killed,
            seconds=round(seconds, 3),
            overhead_seconds=round(max(0, overhead), 3),
        )
    )


def read_result(result: mcp.CallToolResult) -> Any:
    """The value that a tool gave: data, or the bytes of a picture. Raises ProbeError where it failed."""
    texts = [block.text for block in result.content if isinstance(block, mcp.TextContent)]
    if result.is_error:
        raise ProbeError(" ".join(texts)[:LINE_CHARACTERS] or "the page failed without a word")
    for block in result.content:
        if isinstance(block, mcp.ImageContent):
            try:
                return base64.b64decode(block.data, validate=True)
            except binascii.Error as error:
                raise ProbeError("the page sent a broken picture") from error
    content = result.structured_content
    return content.get("value") if isinstance(content, dict) else None


def describe_tool(name: str, argument: str) -> mcp.Tool:
    """A tool of ours that takes one text."""
    schema = {"type": "object", "properties": {argument: {"type": "string"}}, "required": [argument]}
    return mcp.Tool(name=name, input_schema=schema)


def say(text: str, is_error: bool = False) -> mcp.CallToolResult:
    """The answer of a tool of ours, in words."""
    return mcp.CallToolResult(content=[mcp.TextContent(text=text)], is_error=is_error)


def reply(number: int | str, result: mcp.Result) -> mcp.JSONRPCResponse:
    """An answer."""
    data = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    return mcp.JSONRPCResponse(jsonrpc="2.0", id=number, result=data)


def fail(number: int | str | None, code: int, why: str) -> mcp.JSONRPCError:
    """A refusal."""
    return mcp.JSONRPCError(jsonrpc="2.0", id=number, error=mcp.ErrorData(code=code, message=why))
