"""The channel between a page and us: each direction in a real browser, and nobody comes in who is not the frame."""

import json
import logging
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from burnish.pages.channel import MOST_CONNECTIONS, MOST_LOADS, FrameLink
from burnish.pages.page import PageGone, PageLimits, ProbeError
from burnish.pages.server import FrameServer
from burnish.web.guard import LOCAL
from burnish.web.server import listen
from tests.pages.live import Headless, Heard, Tab, open_own_chromium, open_plain_browser, open_tab

CODE = "draw(1)"
LIMITS = PageLimits(settle_seconds=0.2, busy_seconds=1.0, text_bytes=5000)


@pytest.fixture(scope="module")
def heard() -> Heard:
    return Heard()


@pytest.fixture(scope="module", params=["headless", "own browser"])
def place(request: pytest.FixtureRequest, heard: Heard) -> Iterator[Headless | Tab]:
    if request.param == "headless":
        with open_own_chromium(heard) as headless:
            yield headless
        return
    with open_plain_browser() as browser, open_tab(browser.new_context(), heard) as tab:
        yield tab


@pytest.mark.browser
def test_we_ask_the_page(place: Headless | Tab) -> None:
    seen = place.run(
        """const box = document.createElement("p");
        box.id = "box";
        box.textContent = "here";
        document.getElementById("dyn-ui").append(box);
        let n = 0;
        const context = document.getElementById("canvas").getContext("2d");
        setInterval(() => context.fillRect(n++, 0, 1, 50), 30);
        console.warn("careful");
        setTimeout(() => nothing(), 50);
        return {cells: 3};""",
        1,
    )
    assert (seen.value, seen.canvas, seen.killed) == ('{"cells":3}', "moving", "")
    assert [(line.level, line.text) for line in seen.console] == [("warn", "careful")]
    assert [(error.kind, error.line, error.cycle) for error in seen.errors] == [("exception", 9, 1)]
    assert seen.frames_per_second
    assert seen.frames_per_second > 5
    assert seen.heap_bytes
    assert seen.nodes
    live = place.live
    assert live.evaluate("document.getElementById('box').textContent") == "here"
    assert live.evaluate("new Promise((done) => setTimeout(done, 20, [1, 'a', null]))") == [1, "a", None]
    assert (live.screenshot() or b"")[:4] == b"\x89PNG"
    assert live.heap_bytes()
    with pytest.raises(ProbeError, match="nowhere"):
        live.evaluate("nowhere.to.go")
    with pytest.raises(ProbeError):
        live.evaluate("new Promise(() => {})", 0.3)


@pytest.mark.browser
def test_the_page_asks_us_while_it_runs(place: Headless | Tab, heard: Heard) -> None:
    heard.told.clear()
    seen = place.run(
        """await burnish.log("begun");
        const answer = await burnish.ask("abc");
        await burnish.done("drawn");
        await burnish.giveUp("no more");
        return answer;""",
        2,
    )
    assert (seen.value, seen.errors) == ('"cba"', ())
    assert heard.told == [("log", "begun"), ("ask", "abc"), ("done", "drawn"), ("give_up", "no more")]


@pytest.mark.browser
def test_a_mistake_in_the_syntax_has_its_line_and_the_next_version_knows_nothing_of_it(place: Headless | Tab) -> None:
    seen = place.run("let a = 1;\nlet b = ;\n", 3)
    assert [(error.kind, error.line) for error in seen.errors] == [("syntax", 2)]
    assert place.run("window.left = 1; burnish.done()", 4).errors == ()
    assert place.run("burnish.done(); return typeof left", 5).value == '"undefined"'


@pytest.fixture
def server() -> Iterator[FrameServer]:
    with closing(FrameServer(listen(LOCAL, 0))) as opened:
        yield opened


@pytest.fixture
def link(server: FrameServer, heard: Heard) -> FrameLink:
    heard.told.clear()
    opened = server.open(heard.tools, LIMITS)
    opened.begin(1, CODE)
    return opened


def join(
    server: FrameServer, link: FrameLink, token: str = "", cycle: int = 1, origin: str = "null", host: str = ""
) -> ClientConnection:
    """A connection as a frame opens it."""
    made = socket.create_connection((LOCAL, server.port))
    where = f"ws://{host or link.host}:{server.port}/channel/{token or link.token}?cycle={cycle}"
    return connect(where, sock=made, origin=origin, compression=None)  # type: ignore[arg-type]


def say(frame: ClientConnection, **message: Any) -> None:
    frame.send(json.dumps({"jsonrpc": "2.0"} | message))


def hear(frame: ClientConnection, wanted: Any) -> dict[str, Any]:
    """The message that we wait for: an answer by its number, or a request by its tool."""
    while True:
        message: dict[str, Any] = json.loads(frame.recv(timeout=5))
        if wanted in (message.get("id") if "method" not in message else None, message.get("method")):
            return message
        if message.get("method") == "tools/call" and message["params"]["name"] == wanted:
            return message


def greet(frame: ClientConnection) -> None:
    """Answer the handshake, as the shim does."""
    asked = hear(frame, "initialize")
    told = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "a", "version": "1"}}
    say(frame, id=asked["id"], result=told)


def call(frame: ClientConnection, name: str, arguments: Any, number: int = 77) -> dict[str, Any]:
    """What comes of calling a tool of ours."""
    say(frame, id=number, method="tools/call", params={"name": name, "arguments": arguments})
    return hear(frame, number)


WRONG = [
    {"token": "x"},
    {"token": "x" * 5000},
    {"token": ".."},
    {"cycle": 2},
    {"cycle": 0},
    {"origin": "http://127.0.0.1"},
    {"origin": "https://evil.example"},
    {"origin": "http://v1-5e1fa0c2.localhost"},
    {"origin": ""},
    {"origin": "NULL"},
    {"host": "evil.example"},
    {"host": "127.0.0.1"},
    {"host": "localhost"},
    {"host": "v1-5e1fa0c2.localhost"},
]


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_who_has_not_the_token_or_is_no_frame_is_refused(wrong, server, link) -> None:
    with pytest.raises(InvalidStatus):
        join(server, link, **wrong).__enter__()
    with join(server, link):
        pass


def test_a_frame_of_an_earlier_version_is_cut_off_and_comes_in_no_more(server, link) -> None:
    with join(server, link) as frame:
        greet(frame)
        link.begin(2, "newer()")
        with pytest.raises(ConnectionClosed):
            hear(frame, "nothing")
    with pytest.raises(InvalidStatus):
        join(server, link, cycle=1).__enter__()


def test_each_version_of_each_page_is_a_site_of_its_own(server, heard, link) -> None:
    other, names = server.open(heard.tools, LIMITS), [link.host]
    other.begin(1, CODE)
    link.begin(2, CODE)
    names += [link.host, other.host]
    assert len({name.split(".")[0] for name in names}) == 3
    assert all(name.split(".")[1:] == ["localhost"] for name in names), "what stands before it is the site"


def test_a_closed_page_lets_nobody_in(server, link) -> None:
    link.close()
    with pytest.raises(InvalidStatus):
        join(server, link).__enter__()
    frame = httpx.get(f"http://{LOCAL}:{server.port}{link.frame_path}", headers={"Host": f"{link.host}:{server.port}"})
    assert frame.status_code == 403


@pytest.mark.parametrize(
    "wrong", [{"Host": "127.0.0.1:PORT"}, {"Host": "evil.example:PORT"}, {"Sec-Fetch-Dest": "document"}], ids=str
)
def test_the_frame_is_served_to_a_page_of_ours_alone(wrong, server, link) -> None:
    right = {"Host": f"{link.host}:{server.port}", "Sec-Fetch-Dest": "iframe"}
    given = right | {name: value.replace("PORT", str(server.port)) for name, value in wrong.items()}
    address = f"http://{LOCAL}:{server.port}{link.frame_path}"
    assert httpx.get(address, headers=right).status_code == 200
    refused = httpx.get(address, headers=given)
    assert (refused.status_code, "script" in refused.text) == (403, False)


def test_both_sides_speak_mcp(server, link, heard) -> None:
    with join(server, link) as frame:
        greet(frame)
        assert hear(frame, "notifications/initialized")
        run = hear(frame, "run")
        assert run["params"]["arguments"]["code"] == CODE
        say(frame, id=1, method="initialize", params={"protocolVersion": "2025-11-25", "capabilities": {}})
        assert hear(frame, 1)["result"]["serverInfo"]["name"] == "burnish"
        say(frame, id=2, method="tools/list")
        assert {tool["name"] for tool in hear(frame, 2)["result"]["tools"]} == {"log", "done", "give_up", "ask"}
        say(frame, id=3, method="ping")
        assert hear(frame, 3)["result"] == {}
        assert call(frame, "ask", {"question": "abc"})["result"]["content"][0]["text"] == "cba"
        assert heard.told == [("ask", "abc")]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("delete", {}), ("log", {}), ("log", {"text": 7}), ("log", {"text": None}), ("log", None), ("log", []), ("", {})],
)
def test_a_call_that_is_none_is_refused_and_reaches_nobody(name, arguments, server, link, heard) -> None:
    with join(server, link) as frame:
        greet(frame)
        assert "error" in call(frame, name, arguments)
        assert heard.told == []


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", "{", '{"jsonrpc":"1.0","id":1}', "[" * 9999, '"x"', "7"])
def test_what_is_no_message_is_refused_and_the_next_one_is_taken(text, server, link) -> None:
    with join(server, link) as frame:
        greet(frame)
        frame.send(text)
        say(frame, id=9, method="ping")
        assert hear(frame, 9)["result"] == {}


def test_what_a_page_says_is_cut_and_counted(server, link, heard) -> None:
    with join(server, link) as frame:
        greet(frame)
        hear(frame, "run")
        for number in range(60):
            call(frame, "log", {"text": "x" * 9999}, number)
    assert 0 < len(heard.told) < 5
    assert max(len(text) for _, text in heard.told) == 2000


def test_more_than_a_few_connections_are_refused_and_only_the_first_one_speaks(server, link, heard) -> None:
    with ExitStack() as stack:
        frames = [stack.enter_context(join(server, link)) for _ in range(MOST_CONNECTIONS)]
        for frame in frames:
            greet(frame)
        with pytest.raises(InvalidStatus):
            join(server, link).__enter__()
        assert call(frames[1], "done", {"text": "x"})["result"]["isError"]
        assert heard.told == []


@pytest.mark.parametrize(
    "answer",
    [{"result": {"content": "no"}}, {"result": {}}, {"result": {"structuredContent": {"value": {"a": "b"}}}}, None],
    ids=["no content", "empty", "no sample", "none"],
)
def test_a_frame_that_answers_nonsense_or_nothing_is_taken_for_busy(answer, server, link) -> None:
    with join(server, link) as frame:
        greet(frame)
        came: list[Any] = []
        watching = threading.Thread(target=lambda: came.append(link.watch(1)), daemon=True)
        watching.start()
        asked = hear(frame, "sample")
        if answer is not None:
            say(frame, id=asked["id"], **answer)
        watching.join(5)
        assert came[0].killed == "busy"


def test_waiting_for_a_page_that_is_closed_meanwhile_ends_at_once(server, link) -> None:
    with join(server, link) as frame:
        greet(frame)
        threading.Timer(0.2, link.close).start()
        began = time.monotonic()
        with pytest.raises(PageGone):
            link.call("evaluate", {"script": "1"}, 30)
        assert time.monotonic() - began < 2


def test_a_version_that_loads_itself_again_and_again_is_ended_without_a_traceback(server, link, caplog) -> None:
    logging.getLogger("uvicorn.error").addHandler(caplog.handler)
    for _ in range(MOST_LOADS):
        with join(server, link) as frame:
            greet(frame)
            hear(frame, "run")
        assert link.wait(lambda: not link.is_connected, 5)
    assert link.killed == ""
    with join(server, link) as frame, suppress(ConnectionClosed):
        for number in range(10_000):
            say(frame, id=number, method="ping")
    assert link.killed == "left"
    with pytest.raises(InvalidStatus):
        join(server, link).__enter__()
    server.close()
    assert [record.message for record in caplog.records if record.levelname == "ERROR"] == []
