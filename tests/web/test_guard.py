"""Attacks on the door: who has no key, who comes from another page, another name, another server, with too much."""

import http.client
import json
import socket
import time
from collections.abc import Iterator

import httpx
import pytest
from starlette.routing import Route
from typer.testing import CliRunner

from burnish.cli.main import app as cli
from burnish.errors import SetupProblem
from burnish.runs import Store
from burnish.web import guard
from burnish.web.guard import HEADERS, Access
from burnish.web.server import serve
from burnish.web.views import VIEWS, login
from tests.web.conftest import Served

WORD = "open sesame"
ROUTES = [route for view in VIEWS for route in view.ROUTES if isinstance(route, Route)]
METHODS = [(route.path, method) for route in ROUTES for method in sorted(route.methods or ())]
OPEN = ("/login", "/language")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One server for all attacks: none of them may change it."""
    server = Served(Store(tmp_path_factory.mktemp("home")))
    yield server
    server.end()


@pytest.fixture
def stranger(served: Served) -> Iterator[httpx.Client]:
    """Somebody without the key, on a page of ours."""
    with httpx.Client(base_url=served.address, headers={"Origin": served.address}, timeout=30) as opened:
        yield opened


@pytest.fixture
def guarded(store: Store) -> Iterator[Served]:
    """A server that asks for a password."""
    server = Served(store, WORD)
    yield server
    server.end()


@pytest.fixture
def outsider(guarded: Served) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=guarded.address, headers={"Origin": guarded.address}, timeout=30) as opened:
        yield opened


def send_raw(served: Served, text: bytes, seconds: float = 5) -> bytes:
    """What the server answers to these bytes, as they are."""
    with socket.create_connection(("127.0.0.1", served.access.port), seconds) as wire:
        wire.sendall(text)
        said = b""
        try:
            while piece := wire.recv(65536):
                said += piece
        except TimeoutError:
            pass
        return said


def head(served: Served, line: str, **headers: str) -> bytes:
    given = {"Host": f"127.0.0.1:{served.access.port}", "Connection": "close"} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    return "\r\n".join([line, *(f"{name}: {value}" for name, value in given.items()), "", ""]).encode("latin-1")


def cookie(served: Served) -> str:
    return f"{served.access.cookie}={served.access.token}.me"


# --- the key ---


@pytest.mark.parametrize(("path", "method"), METHODS)
def test_without_the_key_nothing_is_shown_or_done(stranger: httpx.Client, path: str, method: str) -> None:
    said = stranger.request(method, path.replace("{run}", "last"))
    if path in OPEN:
        assert said.status_code in (303, 400, 403)
    else:
        assert said.status_code == 403
        assert method == "HEAD" or "the link" in said.text


@pytest.mark.parametrize("key", ["", "x", "x" * 5000, "\u00e4", "%00"])
def test_a_wrong_key_opens_nothing(served: Served, stranger: httpx.Client, key: str) -> None:
    assert stranger.get("/", params={"token": key}).status_code == 403
    assert send_raw(served, head(served, "GET / HTTP/1.1", Cookie=f"{served.access.cookie}={key}.x")).startswith(
        b"HTTP/1.1 403"
    )
    beginning = served.access.token[:-1]
    assert stranger.get("/", params={"token": beginning}).status_code == 403


def test_the_key_leaves_the_address_at_once_and_no_script_can_read_it(served: Served, stranger: httpx.Client) -> None:
    said = stranger.get("/runs/last", params={"token": served.access.token, "back": "1"})
    assert (said.status_code, said.headers["location"]) == (303, "/runs/last?back=1")
    set_cookie = said.headers["set-cookie"].lower()
    assert "httponly" in set_cookie
    assert "samesite=strict" in set_cookie
    assert served.access.token not in stranger.get("/").text


@pytest.mark.parametrize(
    "others",
    ['state={"a": "b c", d}; ', "=; ;;; ", 'x="unclosed; ', "a b c; ", "burnish-1=abc.d; ", "\x80\xff=1; "],
)
def test_cookies_of_another_server_on_this_machine_lock_nobody_out_and_let_nobody_in(
    served: Served, others: str
) -> None:
    line = "GET / HTTP/1.1"
    assert send_raw(served, head(served, line, Cookie=others + cookie(served))).startswith(b"HTTP/1.1 200")
    foreign = f"burnish-{served.access.port + 1}={served.access.token}.me"
    assert send_raw(served, head(served, line, Cookie=others + foreign)).startswith(b"HTTP/1.1 403")


# --- pages of others ---


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
@pytest.mark.parametrize(
    "origin",
    [
        None,
        "null",
        "https://evil.example",
        "http://127.0.0.1",
        "http://127.0.0.1:1",
        "http://localhost:{port}",
        "https://127.0.0.1:{port}",
        "http://127.0.0.1:{port}.evil.example",
        "http://127.0.0.1:{port} ",
        "http://evil@127.0.0.1:{port}",
    ],
)
def test_what_changes_something_has_to_come_from_a_page_of_ours(
    served: Served, client: httpx.Client, method: str, origin: str | None
) -> None:
    client.headers.pop("origin")
    own = f"http://127.0.0.1:{served.access.port}"
    sent = {} if origin is None else {"Origin": origin.format(port=served.access.port)}
    if sent.get("Origin", "").strip() == own:
        return  # a header has no outer spaces: this is ours
    said = client.request(method, "/write", data={"sentence": "a function f(n)"}, headers=sent)
    assert said.status_code == 403
    assert served.app.state.runs.at_work == []


@pytest.mark.parametrize(("path", "method"), METHODS)
def test_no_address_answers_a_page_or_a_name_of_others_whatever_is_sent(
    served: Served, client: httpx.Client, path: str, method: str
) -> None:
    """With the key that a browser would send along: forms, uploads and streams of events."""
    path, elsewhere = path.replace("{run}", "last"), f"evil.example:{served.access.port}"
    names: list[dict[str, str]] = [{"Host": elsewhere, "Origin": f"http://{elsewhere}"}, {"Host": elsewhere}]
    for headers, status in ((names[0], 421), (names[1], 421), ({"Origin": f"http://{elsewhere}"}, 403)):
        for sent in ({}, {"data": {"name": "x"}}, {"files": {"file": ("a.py", b"x = 1")}, "data": {"words": "x"}}):
            said = client.request(method, path, headers=headers, **sent)  # type: ignore[arg-type]
            assert (said.status_code, said.headers.get("set-cookie")) == (status, None), sent
    assert served.app.state.runs.at_work == []
    assert not (served.store.folder / "uploads").exists()


@pytest.mark.parametrize("site", ["cross-site", "same-site", "whatever"])
@pytest.mark.parametrize("path", ["/", "/static/burnish.js", "/runs/last/events", "/write/models"])
def test_what_a_page_of_others_loads_is_refused_even_with_the_cookie(
    client: httpx.Client, site: str, path: str
) -> None:
    """Another port of this machine is the same site: the cookie comes along."""
    for mode in ("no-cors", "cors", "websocket", "same-origin"):
        said = client.get(path, headers={"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode})
        assert said.status_code == 403
    assert client.get("/", headers={"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate"}).status_code == 200


def test_an_old_browser_that_says_only_the_origin_is_refused_too(client: httpx.Client) -> None:
    assert client.get("/", headers={"Origin": "http://127.0.0.1:1"}).status_code == 403


def test_a_link_from_elsewhere_starts_nothing(client: httpx.Client, served: Served) -> None:
    followed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    for path, method in METHODS:
        if method == "POST" and "GET" not in {one for where, one in METHODS if where == path}:
            assert client.get(path.replace("{run}", "last"), headers=followed).status_code in (400, 404, 405)
    assert served.app.state.runs.at_work == []


# --- names of others ---


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        "localhost.evil.example:{port}",
        "127.0.0.1.nip.io:{port}",
        "evil.example@127.0.0.1:{port}",
        "[::1]:{port}",
        "10.0.0.1:{port}",
        "0.0.0.0:{port}",
        "",
    ],
)
def test_a_name_that_somebody_gives_to_this_address_is_refused(served: Served, client: httpx.Client, host: str) -> None:
    """DNS rebinding: the browser believes that the page and this server are one."""
    name = host.format(port=served.access.port)
    sent = {"Host": name, "Origin": f"http://{name}", "Sec-Fetch-Site": "same-origin"}
    assert client.get("/", headers=sent).status_code == 421
    assert client.post("/write", headers=sent, data={"sentence": "x"}).status_code == 421
    assert client.get("/", params={"token": served.access.token}, headers=sent).status_code == 421


def test_with_a_password_addresses_of_this_machine_are_its_names_and_others_are_not() -> None:
    access = Access(8000, "0.0.0.0", "word")
    assert access.is_own_name("192.168.1.7:8000")
    assert access.is_own_name("[fe80::1]:8000")
    assert not access.is_own_name("192.168.1.7:80")
    assert not access.is_own_name("evil.example:8000")
    assert Access(80).is_own_name("localhost")
    assert not Access(81).is_own_name("localhost")


def test_no_websocket_is_spoken(served: Served) -> None:
    for origin in (served.address, "https://evil.example"):
        wish = head(
            served,
            "GET / HTTP/1.1",
            Upgrade="websocket",
            Sec_WebSocket_Key="dGhlIHNhbXBsZSBub25jZQ==",
            Sec_WebSocket_Version="13",
            Origin=origin,
            Cookie=cookie(served),
        ).replace(b"Connection: close", b"Connection: Upgrade")
        assert send_raw(served, wish, 1).startswith(b"HTTP/1.1 403")


# --- too much ---


def test_a_body_that_says_it_is_too_large_is_refused_before_it_comes(served: Served) -> None:
    more = {"Origin": served.address, "Content_Type": "application/x-www-form-urlencoded", "Cookie": cookie(served)}
    said = send_raw(served, head(served, "POST /write HTTP/1.1", Content_Length=str(guard.MOST_BYTES + 1), **more))
    assert said.startswith(b"HTTP/1.1 413")
    for length in ("-1", "x", "1, 2", "\u00b2"):
        said = send_raw(served, head(served, "POST /write HTTP/1.1", Content_Length=length, **more))
        assert said.startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
@pytest.mark.parametrize("path", ["/write", "/login"])
def test_a_body_without_a_length_is_counted_while_it_comes(
    served: Served, client: httpx.Client, path: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "MOST_BYTES", 1 << 20)
    upload = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'

    def pieces() -> Iterator[bytes]:
        yield upload if "multipart" in kind else b"a="
        for _ in range(40):
            yield b"x" * 65536

    said = client.post(path, content=pieces(), headers={"Content-Type": kind})
    assert said.status_code == 413
    assert client.get("/").status_code == 200


def test_somebody_without_a_key_may_send_next_to_nothing(outsider: httpx.Client) -> None:
    said = outsider.post("/login", data={"password": "x" * (guard.MOST_STRANGER_BYTES + 1)})
    assert said.status_code == 413


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("/write", b"sentence=" + b"x" * 20_001),
        ("/write", b"&".join([b"a=b"] * 5000)),
        ("/write", b"sentence=%ff%00%ed%a0%80&dollars=nan"),
        ("/write", b"sentence=f&dollars=1e999"),
        ("/write", b"sentence=f&model=%ff&minutes=%00&dollars=-1"),
        ("/runs/last/answer", b"answer=1"),
        ("/runs/%00/resume", b""),
        ("/runs/" + "x" * 3000 + "/resume", b""),
        ("/runs/x/reply", b"number=" + b"9" * 15_000),
        ("/language", b"language=xx"),
    ],
)
def test_a_form_that_no_page_of_ours_sends_is_refused_with_a_sentence(
    client: httpx.Client, path: str, form: bytes
) -> None:
    said = client.post(path, content=form, headers={"Content-Type": "application/x-www-form-urlencoded"})
    assert said.status_code in (200, 400)
    assert said.status_code == 200 or 'role="alert"' in said.text
    assert "Traceback" not in said.text


def test_a_broken_upload_is_refused_with_a_sentence(client: httpx.Client) -> None:
    for kind in ("multipart/form-data", "multipart/form-data; boundary=x"):
        said = client.post("/write", content=b"no such thing", headers={"Content-Type": kind})
        assert said.status_code == 400
        assert 'role="alert"' in said.text


# --- addresses ---


@pytest.mark.parametrize(
    "path",
    [
        "/static/../guard.py",
        "/static/%2e%2e/guard.py",
        "/static/..%2f..%2f..%2f..%2f..%2fetc/passwd",
        "/static//etc/passwd",
        "/static/..%5cguard.py",
        "/static/%00",
        "/static/",
        "/login/../runs/last",
        "/loginx",
        "//static/burnish.css",
        "//evil.example",
        "//evil.example/",
        "//evil.example/%2e%2e",
        "/\\evil.example",
        "http://evil.example/",
    ],
)
def test_no_address_leaves_its_folder_or_leads_elsewhere(served: Served, path: str) -> None:
    for who in ("", cookie(served)):
        said = send_raw(served, head(served, f"GET {path} HTTP/1.1", Cookie=who)).decode("latin-1")
        assert said.split(" ")[1] in ("403", "404", "400", "307"), said
        assert "location: http://evil" not in said.lower()
        assert "location: //" not in said.lower()
        assert "root:" not in said
        assert "who may ask" not in said.lower()


@pytest.mark.parametrize(
    "back", ["//evil.example", "https://evil.example", "/\\evil.example", "/\t/evil.example", "\\\\evil", "/%2f/evil"]
)
def test_where_one_goes_back_to_is_a_page_of_ours(client: httpx.Client, back: str) -> None:
    said = client.post("/language", data={"language": "de", "back": back})
    assert said.status_code == 303
    assert httpx.URL(client.base_url).join(said.headers["location"]).host == "127.0.0.1"


def test_a_name_of_a_run_that_leaves_the_store_is_none(served: Served) -> None:
    (served.store.folder / "events.jsonl").write_text('{"kind": "run_started"}\n')
    for name in ("..", ".", "%2e%2e", "..%2f..", "%2fetc", "*", "%00", "%ff"):
        said = send_raw(served, head(served, f"GET /runs/{name} HTTP/1.1", Cookie=cookie(served)))
        assert said.split(b" ")[1] in (b"400", b"404")


# --- what goes out ---


def test_every_answer_has_the_headers(
    client: httpx.Client, served: Served, stranger: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_down(*given: object) -> None:
        raise ZeroDivisionError

    answers = [stranger.get("/"), client.get("/"), client.get("/static/burnish.js"), client.get("/nowhere")]
    answers += [client.get("/runs/none"), client.post("/write"), client.put("/write"), stranger.post("/write")]
    monkeypatch.setattr(served.store, "find", break_down)
    answers.append(client.get("/runs/none"))
    assert answers[-1].status_code == 500
    assert "ZeroDivisionError" in answers[-1].text
    assert "Traceback" not in answers[-1].text
    for said in answers:
        for name, value in HEADERS.items():
            assert said.headers[name] == value, said.request.url
        assert "server" not in said.headers
        assert "unsafe-inline" not in said.headers["content-security-policy"]
        assert "access-control-allow-origin" not in said.headers


def test_what_is_not_http_is_refused(served: Served) -> None:
    for text in (b"\x16\x03\x01\x02\x00", b"GET / HTTP/9.9\r\n\r\n", b"GET /" + b"x" * 70_000 + b" HTTP/1.1\r\n\r\n"):
        assert not send_raw(served, text, 1).startswith(b"HTTP/1.1 2")
    smuggled = head(
        served, "POST /write HTTP/1.1", Origin=served.address, Content_Length="4", Transfer_Encoding="chunked"
    )
    assert not send_raw(served, smuggled + b"0\r\n\r\nGET / HTTP/1.1\r\n\r\n", 1).startswith(b"HTTP/1.1 2")


# --- the password ---


def test_other_machines_come_in_only_with_a_password() -> None:
    for host in ("0.0.0.0", "192.168.1.7", "", "::", "localhost"):
        with pytest.raises(SetupProblem, match="--password"):
            serve(host=host, browser=False)
    refused = CliRunner().invoke(cli, ["ui", "--no-browser", "--host", "0.0.0.0"])
    assert refused.exit_code != 0
    assert "Open:" not in refused.output, "nothing is open"


def test_the_password_can_come_from_a_variable_that_other_users_cannot_read(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[object] = []
    monkeypatch.setattr("burnish.web.server.serve", lambda *values: given.extend(values))
    monkeypatch.setenv("BURNISH_PASSWORD", WORD)
    assert CliRunner().invoke(cli, ["ui", "--no-browser", "--host", "0.0.0.0"]).exit_code == 0
    assert given[1:3] == ["0.0.0.0", WORD]


def test_the_password_opens_the_door(outsider: httpx.Client) -> None:
    said = outsider.get("/")
    assert (said.status_code, said.headers["location"]) == (303, "/login")
    assert 'type="password"' in outsider.get("/login").text
    said = outsider.post("/login", data={"password": WORD})
    assert (said.status_code, said.headers["location"]) == (303, "/")
    assert outsider.get("/").status_code == 200


@pytest.mark.parametrize("word", ["", "open", WORD + "x", WORD.upper(), f" {WORD}", "\u00e4"])
def test_another_word_does_not(outsider: httpx.Client, word: str) -> None:
    assert outsider.post("/login", data={"password": word}).status_code == 403
    assert outsider.get("/").status_code == 303


def test_all_together_have_one_try_a_second(
    outsider: httpx.Client, guarded: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(login, "SECONDS_A_TRY", 300.0)
    assert outsider.post("/login", data={"password": "a"}).status_code == 403
    with httpx.Client(base_url=guarded.address, headers={"Origin": guarded.address}) as other:
        said = [other.post("/login", data={"password": word}) for word in ("b", WORD)]
    assert [one.status_code for one in said] == [429, 429], "the right word tells nothing either"
    monkeypatch.setattr(login, "SECONDS_A_TRY", 0.0)
    assert outsider.post("/login", data={"password": WORD}).status_code == 303


def test_where_there_is_no_password_no_word_is_one(
    stranger: httpx.Client, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(login, "SECONDS_A_TRY", 0.0)
    assert stranger.get("/login").headers["location"] == "/"
    for word in ("", served.access.token):
        assert stranger.post("/login", data={"password": word}).status_code == 403
    assert stranger.get("/").status_code == 403


def test_a_page_of_others_cannot_try_passwords(outsider: httpx.Client) -> None:
    said = outsider.post("/login", data={"password": WORD}, headers={"Origin": "https://evil.example"})
    assert said.status_code == 403
    assert "set-cookie" not in said.headers


def test_the_login_page_tells_nothing_of_what_is_inside(outsider: httpx.Client) -> None:
    text = outsider.get("/login").text
    assert "<nav" not in text or '<a href="/write' not in text
    assert json.dumps(WORD)[1:-1] not in text


def test_a_slow_stranger_keeps_nobody_waiting(served: Served, client: httpx.Client) -> None:
    """Twenty connections that never finish what they say."""
    wires = [socket.create_connection(("127.0.0.1", served.access.port)) for _ in range(20)]
    try:
        for wire in wires:
            wire.sendall(b"POST /write HTTP/1.1\r\nHost: ")
        began = time.monotonic()
        assert client.get("/").status_code == 200
        assert time.monotonic() - began < 5
    finally:
        for wire in wires:
            wire.close()


def test_a_request_that_ends_in_its_middle_breaks_nothing(served: Served, client: httpx.Client) -> None:
    wire = http.client.HTTPConnection("127.0.0.1", served.access.port)
    wire.putrequest("POST", "/write")
    for name, value in (("Origin", served.address), ("Cookie", cookie(served)), ("Content-Length", "1000")):
        wire.putheader(name, value)
    wire.endheaders(b"sentence=")
    wire.close()
    assert client.get("/").status_code == 200
    assert served.app.state.runs.at_work == []
