"""The result of a page as files: it opens alone, holds what happened, and what was said in it is only words."""

import io
import json
import socket
import struct
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from burnish.commands.page import LIMITS, page
from burnish.events import PageObserved
from burnish.models.model import Ask, Piece
from burnish.models.scripted import ScriptedModel
from burnish.pages.folder import list_page_files, render_page
from burnish.runs import Store
from tests.support import block
from tests.web.conftest import browser
from tests.web.page_record import WORKING, draw_png, keep_page

__all__ = ["browser"]
MOVES = """\
const context = document.getElementById("canvas").getContext("2d");
let x = 0;
setInterval(() => { context.fillStyle = "white"; context.fillRect(0, 0, 800, 600);
  context.fillStyle = "teal"; context.fillRect(x++ % 700, 50, 80, 80); }, 20);
burnish.done();"""


@pytest.fixture
def tab(browser: Any) -> Iterator[Any]:
    """A tab that notes each address that is asked for, but for the file that is opened."""
    context = browser.new_context()
    opened = context.new_page()
    opened.asked = []
    opened.said = []
    opened.on("request", lambda sent: opened.asked.append(sent.url))
    opened.on("console", lambda line: opened.said.append(line.text))
    yield opened
    context.close()


def open_alone(tab: Any, text: str, folder: Path) -> None:
    (folder / "page.html").write_text(text)
    tab.goto(f"file://{folder}/page.html")


@pytest.mark.browser
def test_the_page_opens_alone_from_a_file_and_reaches_nothing(tab: Any, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        here = f"127.0.0.1:{listener.getsockname()[1]}"
        code = f"""
          const load = (one, name, value) => new Promise((_, no) => {{
            one.onerror = no; one[name] = value; if (one.src) document.head.append(one);
          }});
          const tries = {{
            fetch: () => fetch("http://{here}/"), file: () => fetch("secret.txt"),
            socket: () => load(new WebSocket("ws://{here}/"), "x", ""), picture: () => load(new Image(), "src", "http://{here}/"),
            script: () => load(document.createElement("script"), "src", "http://{here}/"),
          }};
          const held = [];
          for (const [name, begin] of Object.entries(tries))
            await Promise.resolve().then(begin).catch(() => held.push(name));
          burnish.log("held " + held.join(" "));
          document.getElementById("dyn-ui").append("here it is ", await burnish.ask("which colour?"));"""
        open_alone(tab, render_page(code, "a page"), tmp_path)
        tab.wait_for_selector("text=here it is")
        with pytest.raises(BlockingIOError):  # nobody came
            listener.accept()
    assert "held fetch file socket picture script" in tab.said
    assert tab.title() == "a page"


@pytest.mark.browser
def test_words_in_title_and_code_end_neither_title_nor_script(tab: Any, tmp_path: Path) -> None:
    evil = "</title></script><script>document.body.id = 'evil'</script><!--"
    code = f"document.getElementById('dyn-ui').append({json.dumps(evil)});"
    open_alone(tab, render_page(code, evil), tmp_path)
    tab.wait_for_selector("text=</script>")
    assert tab.evaluate("document.body.id") == ""
    assert tab.title().startswith("</title>")


def test_only_targets_that_are_addresses_of_this_machine_get_into_the_policy() -> None:
    assert "connect-src http://127.0.0.2:*" in render_page("", "x", ("127.0.0.2:*",))
    assert "connect-src 'none'" in render_page("", "x", ("evil.example; script-src *", "example.org:80"))


def test_code_report_and_pictures_are_files_and_a_picture_that_is_none_is_left_out(store: Store) -> None:
    run = store.open(keep_page(store))
    folder = store.runs / run.id
    (folder / "pages" / "1.png").write_bytes(b"<script>alert(1)</script>")
    (folder / "pages" / "2.webp").write_bytes(b"RIFF....WEBP")
    files = list_page_files(run, folder)
    assert set(files) == {"page.html", "page.js", "report.md", "page-2.png", "page-2.webp"}
    assert files["page.js"].decode().startswith(WORKING)
    assert files["page-2.png"] == draw_png()
    report = files["report.md"].decode()
    assert all(part in report for part in ("page-2.png", "TypeError", "11 of 31", "grid 200", "which colour?"))
    assert "page-1.png" not in report
    (folder / "pages" / "2.png").unlink()
    (folder / "pages" / "2.png").symlink_to("/etc/hostname")
    assert "page-2.png" not in list_page_files(run, folder), "nothing is read through a link"


class SlowModel(ScriptedModel):
    """Takes a while for each answer, which is when a version is recorded."""

    def stream(self, ask: Ask, cancel: threading.Event) -> Iterator[Piece]:
        """The next reply."""
        time.sleep(1.5)
        yield from super().stream(ask, cancel)


def read_recording(data: bytes) -> tuple[int, float]:
    """Pictures of an animated WebP, and the seconds that they last."""
    stream, frames = io.BytesIO(data[12:]), list[float]()
    while head := stream.read(8):
        name, size = struct.unpack("<4sI", head)
        content = stream.read(size + size % 2)
        if name == b"ANMF":
            frames.append(int.from_bytes(content[12:15], "little") / 1000)
    return len(frames), sum(frames)


@pytest.mark.browser
@pytest.mark.timeout(180)
def test_a_run_is_delivered_with_a_picture_and_five_seconds_of_each_version(
    tab: Any, store: Store, tmp_path: Path
) -> None:
    model = SlowModel({"page": [block(f"{MOVES}\nmissing();", "js"), block(MOVES, "js")]})
    out = tmp_path / "result"
    run = page("a square that moves on the canvas", model, out=out, limits=LIMITS, store=store)
    assert run.verdict == "plausible"
    assert [bool(seen.errors) for seen in run.all(PageObserved)] == [True, False]
    pictures = {f"page-{number}.{kind}" for number in (1, 2) for kind in ("png", "webp")}
    assert {path.name for path in out.iterdir()} == {"page.html", "page.js", "report.md", "evidence.json", *pictures}
    assert (out / "page.js").read_text().strip() == MOVES
    assert (out / "page-2.png").read_bytes().startswith(b"\x89PNG")
    frames, seconds = read_recording((out / "page-2.webp").read_bytes())
    assert frames > 3
    assert 4 <= seconds <= 6
    evidence = json.loads((out / "evidence.json").read_text())
    assert evidence["verdict"] == "plausible"
    assert "page-2.webp" in (out / "report.md").read_text()
    tab.goto(f"file://{out}/page.html")
    place = "[...canvas.getContext('2d').getImageData(0, 60, 800, 1).data].findIndex((v, i) => i % 4 === 0 && v < 100)"
    before = tab.evaluate(place)
    tab.wait_for_timeout(300)
    assert tab.evaluate(place) != before, "it moves, alone"
    assert [url for url in tab.asked if not url.startswith("file:")] == []
