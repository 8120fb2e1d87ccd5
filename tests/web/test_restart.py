"""The server is killed in the middle of a run: nothing is lost, nothing is asked twice, one click goes on."""

import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from burnish.runs import Store
from tests.support import DOUBLE, script

TURN_SECONDS = 60


class Started:
    """`burnish ui` in a process of its own."""

    def __init__(self, *options: str) -> None:
        command = [sys.executable, "-m", "burnish", "ui", "--no-browser", *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ})
        assert self.process.stdout
        lines = iter(self.process.stdout.readline, "")
        self.link = next(line.strip() for line in lines if line.startswith("http://"))
        self.address = self.link.partition("/?")[0]

    def end(self, how: signal.Signals) -> None:
        self.process.send_signal(how)
        self.process.wait(20)
        if self.process.stdout:
            self.process.stdout.close()


@pytest.fixture
def start() -> Iterator[Callable[..., Started]]:
    """Starts servers, and ends those that are left."""
    begun: list[Started] = []

    def start_one(*options: str) -> Started:
        begun.append(Started(*options))
        return begun[-1]

    yield start_one
    for server in begun:
        if server.process.poll() is None:
            server.end(signal.SIGKILL)


def count_asked(store: Store, run_id: str) -> Counter[str]:
    """How often each question to the model was asked, by what is on record."""
    lines = (store.runs / run_id / "events.jsonl").read_text().splitlines()
    return Counter(event["ask_id"] for event in map(json.loads, lines) if event["kind"] == "asked")


@pytest.mark.browser
@pytest.mark.timeout(300)
def test_after_a_kill_the_run_is_listed_one_click_goes_on_and_nothing_is_asked_twice(
    browser: Any, start: Callable[..., Started], store: Store, tmp_path: Path
) -> None:
    (tmp_path / "model.json").write_text(json.dumps(script()))
    server, context = start("--port", "0"), browser.new_context()
    page = context.new_page()
    page.goto(server.link)
    own = {"Origin": server.address, "Content-Type": "application/x-www-form-urlencoded"}
    form = {"sentence": DOUBLE, "model": f"scripted:{tmp_path / 'model.json'}", "review": "on", "fast": "on"}
    sent = context.request.post(f"{server.address}/write", form=form, headers=own)
    run_id = sent.url.rpartition("/")[2]
    page.goto(sent.url)
    page.wait_for_selector("#run[data-state=waiting] #review-text", timeout=TURN_SECONDS * 1000)
    asked = count_asked(store, run_id)
    assert asked
    server.end(signal.SIGKILL)
    page.wait_for_selector("#notice:text('Burnish does not answer')")

    again = start("--port", server.address.rpartition(":")[2])
    assert again.link != server.link
    other = context.new_page()
    other.goto(again.link)
    page.wait_for_selector("#run[data-state=unfinished]", timeout=TURN_SECONDS * 1000)
    other.click(".remark a[href='/runs']")
    assert DOUBLE in other.inner_text(".cut-off")
    other.click(".cut-off form button")
    other.wait_for_selector("#run[data-state=waiting] #review-text", timeout=TURN_SECONDS * 1000)
    while other.get_attribute("#run", "data-state") != "done":
        number = other.get_attribute("input[name=number]", "value")
        other.click("button[value=go_on]")
        following = f"#run[data-state=done], input[name=number]:not([value='{number}'])"
        other.wait_for_selector(following, state="attached")
    whole = count_asked(store, run_id)
    assert set(whole.values()) == {1}, "nothing was asked twice"
    assert set(asked) <= set(whole)
    steps = other.locator(".timeline .step").all_text_contents()  # what is out of sight has no inner text
    assert all(steps)
    other.reload()
    assert steps == other.locator(".timeline .step").all_text_contents()
    context.close()


@pytest.mark.slow
def test_the_link_is_alone_on_its_line_and_ctrl_c_leaves_a_run_that_can_be_taken_up(
    start: Callable[..., Started], store: Store, tmp_path: Path
) -> None:
    (tmp_path / "model.json").write_text(json.dumps(script()))
    server = start("--port", "0")
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{32}", server.link)
    with httpx.Client(base_url=server.address, headers={"Origin": server.address}) as client:
        assert client.get("/").status_code == 403
        client.get(server.link)
        form = {"sentence": DOUBLE, "model": f"scripted:{tmp_path / 'model.json'}", "review": "on"}
        run_id = client.post("/write", data=form).headers["location"].rpartition("/")[2]
        with client.stream("GET", f"/runs/{run_id}/events") as stream:
            next(line for line in stream.iter_lines() if "review-text" in line)
            server.end(signal.SIGINT)
    assert server.process.returncode in (0, 130, -signal.SIGINT)
    assert store.open(run_id).state == "unfinished"
