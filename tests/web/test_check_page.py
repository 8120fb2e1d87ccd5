"""Check: a folder comes as a zip or is named, and its report is read in the browser, where it can do nothing."""

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from burnish.web.work.active_checks import SavedCheck
from tests.commands.test_check import CODE, TESTS
from tests.web.conftest import Served
from tests.web.test_uploads import make_odd_zip, make_zip

FOLDER = {"leap/leap.py": CODE, "leap/tests/test_leap.py": TESTS}


def send(client: httpx.Client, name: str, data: bytes, **form: str) -> httpx.Response:
    return client.post("/check", data={"kind": "quick"} | form, files={"file": (name, data)})


def wait_for(served: Served, sent: httpx.Response) -> SavedCheck:
    """What came of a check, once it is over."""
    assert sent.status_code == 303, sent.text
    check_id = sent.headers["location"].removeprefix("/check/")
    checks, ends = served.app.state.checks, time.monotonic() + 120
    while checks.find(check_id) and time.monotonic() < ends:
        time.sleep(0.05)
    saved: SavedCheck = checks.open(check_id)
    return saved


def keep_check(served: Served, check_id: str = "0123456789abcdef", **facts: Any) -> SavedCheck:
    """A check that lies on disk."""
    folder = served.store.folder / "uploads" / check_id
    folder.mkdir(parents=True)
    saved = SavedCheck.model_validate({"id": check_id, "name": "leap.zip", "at": 1.0, "state": "done"} | facts)
    (folder / "check.json").write_text(saved.model_dump_json())
    return saved


@pytest.mark.slow
def test_a_zip_is_checked_and_its_report_can_be_read_but_do_nothing(served: Served, client: httpx.Client) -> None:
    saved = wait_for(served, send(client, "leap.zip", make_zip(FOLDER)))
    assert (saved.state, saved.passed) == ("done", True), saved.said
    page = client.get(f"/check/{saved.id}")
    assert "sandbox" in page.text
    assert "every 1s" not in page.text
    report = client.get(f"/check/{saved.id}/report")
    assert "Every required check" in report.text
    policy = report.headers["content-security-policy"].split("; ")
    assert "sandbox" in policy
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'self'" in policy
    assert report.headers["x-frame-options"] == "SAMEORIGIN"
    assert client.get(f"/check/{saved.id}").headers["x-frame-options"] == "DENY"
    assert "leap.zip" in client.get("/check").text
    data = json.loads((served.store.folder / "uploads" / saved.id / "report" / "report.json").read_text())
    assert "mutation" not in {item["check"] for item in data["evidence"]}


@pytest.mark.slow
def test_a_folder_whose_tests_fail_does_not_pass(served: Served, client: httpx.Client) -> None:
    bad = {**FOLDER, "leap/leap.py": CODE.replace("!= 0 or", "!= 0 and")}
    saved = wait_for(served, send(client, "leap.zip", make_zip(bad)))
    assert (saved.state, saved.passed) == ("done", False)
    assert "tests" in saved.said


@pytest.mark.slow
def test_a_folder_of_this_machine_is_only_read(served: Served, client: httpx.Client, tmp_path: Path) -> None:
    root = tmp_path / "project" / "leap"
    for name, text in FOLDER.items():
        path = tmp_path / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    before = sorted(root.rglob("*"))
    saved = wait_for(served, client.post("/check", data={"folder": str(root), "kind": "thorough"}))
    assert (saved.state, saved.passed) == ("done", True), saved.said
    assert sorted(root.rglob("*")) == before
    assert "mutation" in client.get(f"/check/{saved.id}/report").text.lower()


@pytest.mark.slow
def test_tests_that_write_elsewhere_and_call_out_change_nothing(
    served: Served, client: httpx.Client, mine: Path
) -> None:
    before = mine.read_text()
    attack = (
        f"import pathlib, socket\n\n\ndef test_attack():\n"
        f"    pathlib.Path({str(mine)!r}).write_text('gone')\n\n\ndef test_call():\n"
        f"    socket.create_connection(('127.0.0.1', {served.access.port}), 2)\n"
    )
    files = {**FOLDER, "leap/tests/test_attack.py": attack, "leap/conftest.py": attack.replace("def test_a", "def a")}
    saved = wait_for(served, send(client, "leap.zip", make_zip(files)))
    assert (saved.state, saved.passed) == ("done", False)
    assert mine.read_text() == before
    report = client.get(f"/check/{saved.id}/report").text
    assert "test_attack" in report
    assert "test_call" in report


REFUSED = {
    "nothing": ("", b"", {}, "one of the two"),
    "both": ("a.zip", make_zip(FOLDER), {"folder": "/tmp"}, "one of the two"),
    "a slip": ("a.zip", make_zip({"../a.py": "x"}), {}, "leads out of the folder"),
    "a link": ("a.zip", make_odd_zip("l", 0o120777, "/etc"), {}, "a link or a device"),
    "a bomb": ("a.zip", make_zip({"a.py": b"0" * 30_000_000}), {}, "far more"),
    "no zip": ("a.png", b"\x89PNG", {}, "is no zip"),
    "no python": ("a.py", b"\xff", {}, "not Python as text"),
    "half a path": ("", b"", {"folder": "leap"}, "not the whole path"),
    "no folder": ("", b"", {"folder": "/no/such/place"}, "There is no folder"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_checked_is_refused_in_a_sentence(name: str, served: Served, client: httpx.Client) -> None:
    file, data, form, why = REFUSED[name]
    sent = send(client, file, data, **form)
    assert sent.status_code == 400
    assert why in sent.text.replace("&#39;", "'")
    assert served.app.state.checks.list() == []


def test_folders_of_a_machine_are_not_for_people_elsewhere(served: Served, client: httpx.Client) -> None:
    assert 'name="folder"' in client.get("/check").text
    object.__setattr__(served.access, "host", "0.0.0.0")  # noqa: S104
    try:
        assert 'name="folder"' not in client.get("/check").text
        sent = client.post("/check", data={"folder": "/tmp"})
    finally:
        object.__setattr__(served.access, "host", "127.0.0.1")
    assert sent.status_code == 400
    assert "people who sit at it" in sent.text


@pytest.mark.parametrize("name", ["nobody", "%2e%2e%2fruns", "0123456789abcdef"])
def test_a_check_that_is_not_there_is_said(name: str, client: httpx.Client) -> None:
    for path in (f"/check/{name}", f"/check/{name}/report"):
        assert client.get(path).status_code in (400, 404)


def test_what_could_not_be_judged_says_why(served: Served, client: httpx.Client) -> None:
    saved = wait_for(served, send(client, "a.zip", make_zip({"a/readme.txt": "hello"})))
    assert saved.state == "problem"
    assert "no Python file" in client.get(f"/check/{saved.id}").text


@pytest.mark.slow
def test_a_check_stops_at_once_and_can_be_deleted(served: Served, client: httpx.Client) -> None:
    slow = {**FOLDER, "leap/tests/test_slow.py": "import time\n\n\ndef test_slow():\n    time.sleep(60)\n"}
    sent = send(client, "leap.zip", make_zip(slow))
    page = sent.headers["location"]
    ends = time.monotonic() + 20
    while "check-works" not in client.get(f"{page}/now").text and time.monotonic() < ends:
        time.sleep(0.1)
    time.sleep(1)
    began = time.monotonic()
    client.post(f"{page}/stop")
    assert wait_for(served, sent).state == "stopped"
    assert time.monotonic() - began < 5
    assert client.get(f"{page}/report").status_code == 400
    client.post(f"{page}/delete")
    assert served.app.state.checks.list() == []
    assert not any((served.store.folder / "uploads").iterdir())


def test_a_check_waits_for_its_turn_and_can_be_stopped_there(served: Served, client: httpx.Client) -> None:
    ticket = served.app.state.runs.turns.join("somebody")
    ticket.wait()
    sent = send(client, "leap.zip", make_zip(FOLDER))
    assert "waiting for its turn" in client.get(sent.headers["location"]).text
    client.post(f"{sent.headers['location']}/stop")
    assert wait_for(served, sent).state == "stopped"
    ticket.close()


def test_a_check_that_was_cut_off_by_a_restart_is_still_listed(served: Served, client: httpx.Client) -> None:
    saved = keep_check(served, name="<img src=x onerror=alert(1)>\u202e.zip", state="unfinished")
    for path in ("/check", f"/check/{saved.id}"):
        text = client.get(path).text
        assert "was cut off" in text
        assert "<img" not in text
        assert "\u202e" not in text


def test_deleting_a_check_asks_first_and_then_deletes_that_one_and_no_other(
    served: Served, client: httpx.Client
) -> None:
    kept, gone = keep_check(served), keep_check(served, "fedcba9876543210")
    question = f"/check/{gone.id}/delete"
    page = client.get(f"/check/{gone.id}").text
    assert f'href="{question}"' in page
    assert f'action="{question}"' not in page, "no button of the page itself deletes"
    assert "leap.zip" in client.get(question).text
    assert len(served.app.state.checks.list()) == 2, "to be asked deletes nothing"
    assert client.post(question).headers["location"] == "/check"
    assert served.app.state.checks.list() == [kept]
    assert client.get(question).status_code == 400


@pytest.mark.browser
def test_a_zip_is_dropped_watched_and_its_report_read_on_the_page(
    open_page: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "leap.zip").write_bytes(make_zip(FOLDER))
    page = open_page("/check")
    page.set_input_files("#file", tmp_path / "leap.zip")
    page.click("button.primary")
    page.wait_for_selector(".checks .check-passed", timeout=60_000)
    page.wait_for_selector("iframe.report", timeout=60_000)
    frame = page.frame_locator("iframe.report")
    assert "Every required check passed" in frame.locator("h1").inner_text()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.wait_for_timeout(2500)
    assert not [url for url in asked if url.endswith("/now")], "what is over is not asked for again"
    page.click("text=The report by itself")
    page.wait_for_selector("h1:has-text('Every required check passed')")
    assert re.search(r"/check/\w+/report$", page.url)
