"""`burnish page` without `--headless`: a process of its own opens a tab of the user's browser, and works in it."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.web.test_page_view import await_state, see

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]
SENTENCE = ("--case", "counter", "--model", "scripted:demo")


class Terminal:
    """The command in a terminal of somebody who has a screen, and a browser that only notes what it is to open."""

    def __init__(self, folder: Path, *arguments: str, screen: bool = True) -> None:
        self._link = folder / "link"
        opener = folder / "opener"
        opener.write_text(f'#!/bin/sh\necho "$1" > {self._link}\n')
        opener.chmod(0o755)
        display = {"DISPLAY": ":9"} if screen else {}
        usual = {name: text for name, text in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "burnish", "page", *arguments],
            cwd=folder,
            env=usual | display | {"BROWSER": f"{opener} %s"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def await_link(self) -> str:
        """What the browser was told to open."""
        until = time.monotonic() + 60
        while not (self._link.is_file() and self._link.read_text().endswith("\n")):
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < until, "no tab was opened"
            time.sleep(0.05)
        return self._link.read_text().strip()

    def interrupt(self) -> tuple[int, str, str]:
        """Ctrl-C; the exit code, and what was said."""
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=20)
        return self.process.returncode, out, err


@pytest.fixture
def tab(browser: Any) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    yield context.new_page()
    context.close()


def test_a_tab_opens_the_page_lives_in_it_and_ctrl_c_ends_with_the_result(tab: Any, work_folder: Path) -> None:
    terminal = Terminal(work_folder, *SENTENCE, "--out", "result")
    try:
        tab.goto(terminal.await_link())
        assert "token" not in tab.url
        frame = tab.wait_for_selector("iframe.live-page", timeout=60_000)
        assert frame.get_attribute("sandbox") == "allow-scripts"
        tab.wait_for_selector("#run[data-state=done]", timeout=90_000)
        await_state(tab, "done")
        assert "of 20" in see(tab, "#score h2")
        button = tab.wait_for_selector("iframe.live-page").content_frame().locator("button").first
        button.click()
        until = time.monotonic() + 30
        while not (work_folder / "result" / "evidence.json").is_file():
            assert time.monotonic() < until
            time.sleep(0.1)
        assert terminal.process.poll() is None, "the page stays to be looked at"
    finally:
        code, out, err = terminal.interrupt()
    assert code == 0, err
    assert "http://127.0.0.1:" in out
    assert "Traceback" not in err
    assert (work_folder / "result" / "page.html").is_file()


def test_without_a_screen_the_link_is_printed_and_ctrl_c_ends_what_nobody_looks_at(work_folder: Path) -> None:
    terminal = Terminal(work_folder, *SENTENCE, "--quiet", screen=False)
    try:
        assert terminal.process.stdout
        assert terminal.process.stdout.readline().startswith("http://127.0.0.1:")
    finally:
        began = time.monotonic()
        code, out, err = terminal.interrupt()
    assert time.monotonic() - began < 10
    assert (code, out) == (130, "")
    assert "Traceback" not in err
    assert not (work_folder / "link").exists(), "no browser was opened"
