"""A live page as a person sees it: in a real Chromium, before the real server, with models that answer from scripts."""

import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from burnish.commands.exchange import export_runs, import_runs
from burnish.events import Asked, CriterionTicked, PageObserved, PageWritten
from burnish.pages.folder import measure_agreement, read_score
from burnish.runs import Store
from burnish.web.views.page import read_usual_context
from tests.support import block
from tests.web.conftest import HeldModel, Served
from tests.web.page_record import EASY, keep_page
from tests.web.screens import EVIL
from tests.web.test_accessible import OPEN_ALL, find_violations
from tests.web.test_live import wait_for

SENTENCE = "a square that moves on the canvas"
BROKEN = block('console.log("drawing the grid");\ncanvas.getContext("2d").fillRect(0, 0, 50, 50);\ndrawGlider();', "js")
MOVES = """\
const context = document.getElementById("canvas").getContext("2d");
let x = 0;
setInterval(() => { context.fillStyle = "white"; context.fillRect(0, 0, 800, 600);
  context.fillStyle = "teal"; context.fillRect(x++, 50, 80, 80); }, 20);
console.warn("drawing", 800);
burnish.log("it moves");
burnish.done("all is shown");
return {cells: 40000};"""
GOOD = block(MOVES, "js")
THOUGHT = "First a <b>square</b>."
BUSY = block('canvas.getContext("2d").fillRect(0, 0, 9, 9);\nsetTimeout(() => { while (true); }, 50);', "js")
STOP_SECONDS = 2.0
SLACK = 2.0
"""Machines that test are busy."""
FRAME = r"http://v\d+-[0-9a-f]{8}\.localhost:\d+/"
OpenTab = Callable[..., Any]
pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]


@pytest.fixture
def open_tab(browser: Any, served: Served) -> Iterator[OpenTab]:
    """Opens a tab of a new browser, key and all. Nothing may ask there, or be fetched from elsewhere."""
    contexts, amiss = [], list[str]()

    def opened(path: str, **options: Any) -> Any:
        contexts.append(browser.new_context(viewport={"width": 1200, "height": 900}, **options))
        tab = contexts[-1].new_page()
        tab.on("dialog", lambda dialog: (amiss.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        own = re.compile(rf"{re.escape(served.address)}|{FRAME}|data:|blob:")
        tab.on("request", lambda sent: amiss.append(sent.url) if not own.match(sent.url) else None)
        tab.goto(served.access.link)
        tab.goto(f"{served.address}{path}")
        return tab

    yield opened
    for context in contexts:
        context.close()
    assert amiss == []


def begin(
    served: Served, client: httpx.Client, *answers: str, held: str = "page", **form: str
) -> tuple[str, HeldModel]:
    """Have a page written in the tab that looks at it; the run's id, and the model, which holds its words back."""
    model = HeldModel({"page": list(answers) or [GOOD], "page-question": ["teal"]}, held)
    served.models = [model]
    asked = {"sentence": SENTENCE, "model": "scripted:demo", "where": "here", "rounds": "4", "minutes": "3", **form}
    said = client.post("/pages", data=asked)
    assert said.status_code == 303, said.text
    return said.headers["location"].removeprefix("/runs/"), model


def see(tab: Any, selector: str) -> str:
    """The text of what is there now, or comes."""
    return " ".join(tab.wait_for_selector(selector).inner_text().split())


MARKS = {"asking": "✎ asking the model", "running": "▶ running", "done": "✓ done", "stopped": "■ stopped"}


def await_state(tab: Any, state: str) -> None:
    """Until its state is this one: as a word, and in the title of the tab."""
    tab.wait_for_selector(f"#run[data-state={state}]")
    has_gone_on = f"document.querySelector('#run').dataset.state !== '{state}'"
    wait_for(tab, f"document.title.startsWith('{MARKS[state]}') || {has_gone_on}")


def read_figures(tab: Any) -> dict[str, str]:
    rows = (
        "[...document.querySelectorAll('.figures > div')].map((row) => [...row.children].map((one) => one.innerText))"
    )
    return dict(tab.evaluate(rows))


def count_pixels(tab: Any) -> int:
    """Where the square is, as the frame itself says."""
    frame = tab.wait_for_selector("iframe.live-page").content_frame()
    reds = "[...canvas.getContext('2d').getImageData(0, 60, 800, 1).data].filter((_, place) => place % 4 === 0)"
    return int(frame.evaluate(f"{reds}.findIndex((red) => red < 100)"))


def test_a_page_is_asked_for_in_the_form_and_comes_alive_cycle_by_cycle(open_tab: OpenTab, served: Served) -> None:
    model = HeldModel({"page": [f"<think>{THOUGHT}</think>\nHere it is:\n{BROKEN}", GOOD]}, held="page")
    served.models = [model]
    tab = open_tab("/pages")
    tab.fill("#sentence", SENTENCE)
    tab.evaluate("document.querySelector('#model').insertAdjacentHTML('beforeend', '<option selected>scripted:demo')")
    tab.click("button.primary")
    await_state(tab, "asking")
    assert see(tab, ".status strong") == "asking the model"
    asking = tab.evaluate("getComputedStyle(document.querySelector('.status')).borderLeftColor")
    model.let(len(THOUGHT.split()) + 4)
    wait_for(tab, "document.querySelector('.answer > pre')?.textContent.slice(0, 17)", "Here it is:\n```js")
    thoughts = tab.locator(".answer details")
    assert (thoughts.get_attribute("open"), thoughts.locator("pre").text_content().strip()) == (None, THOUGHT)
    assert tab.query_selector("iframe") is None
    model.let(len(BROKEN.split()))
    row = tab.wait_for_selector("#part-problems tbody tr")
    assert [cell.inner_text() for cell in row.query_selector_all("td")][:2] == ["1", "3"], "cycle and line"
    assert "drawGlider" in row.inner_text()
    frame = tab.query_selector("iframe.live-page")
    assert frame.get_attribute("sandbox") == "allow-scripts"
    assert re.match(FRAME, frame.get_attribute("src"))
    assert frame.content_frame().evaluate("window.origin") == "null"
    await_state(tab, "asking")
    assert "drawing the grid" in see(tab, "#part-problems .console")
    assert "Line 3" in see(tab, "#part-said pre:last-of-type")
    model.let_all()
    await_state(tab, "running")
    running = tab.evaluate("getComputedStyle(document.querySelector('.status')).borderLeftColor")
    await_state(tab, "done")
    assert asking != running
    assert see(tab, "#part-said pre:first-of-type") == '{"cells":40000}'
    said = see(tab, "#part-problems")
    assert all(words in said for words in ("drawing 800", "it moves", "all is shown"))
    figures = read_figures(tab)
    assert figures["cycle"] == "2"
    assert float(figures["frames a second"]) > 5
    assert "MB" in figures["memory of the page"]
    assert "MB" in figures["memory of Burnish"]
    assert int(figures["tokens"]) > int(figures["context"]) > 50
    assert figures["cost"] == "free"
    assert see(tab, ".verdict h2").endswith("Plausible")
    tab.click("#version-2 summary")
    assert "burnish.done" in see(tab, "#version-2 .loaded pre")
    before = count_pixels(tab)
    wait = time.monotonic() + 5
    while count_pixels(tab) == before:
        assert time.monotonic() < wait, "it goes on before the eyes of whoever asked for it"


def test_a_refresh_in_mid_run_and_a_second_tab_join_it_where_it_is(
    open_tab: OpenTab, served: Served, client: httpx.Client
) -> None:
    run_id, model = begin(served, client, BROKEN, GOOD)
    tab = open_tab(f"/runs/{run_id}")
    model.let(len(BROKEN.split()) + 4)
    wait_for(tab, "document.querySelector('.answer:last-child > pre')?.textContent.slice(0, 5)", "```js")
    tab.reload()
    other = open_tab(f"/runs/{run_id}")
    for one in (tab, other):
        await_state(one, "asking")
        assert "drawGlider" in see(one, "#part-problems tbody")
        wait_for(one, "document.querySelector('.answer:last-child > pre')?.textContent.slice(0, 5)", "```js")
        assert one.wait_for_selector("iframe.live-page").content_frame().evaluate("location.search") == "?cycle=1"
    model.let_all()
    for one in (tab, other):
        await_state(one, "done")
        assert count_pixels(one) >= 0
    steps = [one.locator(".timeline .step").all_inner_texts() for one in (tab, other)]
    assert steps[0] == steps[1]
    assert served.store.open(run_id).verdict == "plausible"
    assert [seen.cycle for seen in served.store.open(run_id).all(PageObserved)] == [1, 2]


def test_what_is_there_can_be_gone_on_with_in_a_sentence(
    open_tab: OpenTab, served: Served, client: httpx.Client
) -> None:
    run_id, _ = begin(served, client, held="")
    tab = open_tab(f"/runs/{run_id}")
    await_state(tab, "done")
    green = HeldModel({"page": [block(MOVES.replace("teal", "green"), "js")]}, held="")
    served.models = [green]
    tab.fill("#follow-sentence", "make it green")
    tab.click("text=Go on from this")
    tab.wait_for_url(lambda url: run_id not in url)
    await_state(tab, "done")
    run = served.store.open(tab.url.rpartition("/")[2])
    assert run.settings.page
    assert (run.started.prompt, run.settings.page.follow_ups) == ("make it green", 1)
    assert run.settings.page.before.strip() == MOVES
    assert "teal" in run.all(Asked)[0].messages[-1].content
    tab.click("#version-1 summary")
    tab.click("#version-1 .loaded summary")
    assert "green" in see(tab, "#version-1 .loaded details[open]")


@pytest.mark.parametrize("held", ["page", "page-question"])
def test_stop_ends_it_within_two_seconds(open_tab: OpenTab, served: Served, client: httpx.Client, held: str) -> None:
    run_id, _ = begin(served, client, block("await burnish.ask('which colour?');", "js"), held=held)
    tab = open_tab(f"/runs/{run_id}")
    if held == "page-question":
        assert "which colour?" in see(tab, "#part-problems .console:last-of-type")
    await_state(tab, "asking")
    began = time.monotonic()
    tab.click("text=Stop")
    await_state(tab, "stopped")
    assert time.monotonic() - began < STOP_SECONDS + SLACK
    assert tab.query_selector("iframe") is None
    assert served.store.open(run_id).state == "interrupted"


def test_a_page_that_was_stopped_goes_on_where_it_was(open_tab: OpenTab, served: Served, client: httpx.Client) -> None:
    run_id, model = begin(served, client, BROKEN, GOOD)
    tab = open_tab(f"/runs/{run_id}")
    model.let(len(BROKEN.split()) + 4)
    tab.wait_for_selector("text=Version 1: to be put right", state="attached")
    await_state(tab, "asking")
    client.post(f"/runs/{run_id}/stop")
    await_state(tab, "stopped")
    served.models = [again := HeldModel({"page": [GOOD]}, held="")]
    tab.click("text=Go on from here")
    await_state(tab, "done")
    asked = [event.ask_id for event in served.store.open(run_id).all(Asked)]
    assert asked.count("page-1") == 1, "nothing is asked twice"
    assert again.name
    assert served.store.open(run_id).verdict == "plausible"


def test_a_page_that_hangs_is_ended_and_said_and_the_next_version_lives(
    open_tab: OpenTab, served: Served, client: httpx.Client
) -> None:
    run_id, model = begin(served, client, BUSY, GOOD)
    tab = open_tab(f"/runs/{run_id}")
    model.let(len(BUSY.split()))
    began = time.monotonic()
    assert "answered nothing" in see(tab, "#part-frame .remark")
    assert time.monotonic() - began < 15
    assert tab.query_selector("iframe") is None
    asked = time.monotonic()
    assert client.get("/pages").status_code == 200
    assert time.monotonic() - asked < 1 + SLACK, "our own pages answer"
    model.let_all()
    await_state(tab, "done")
    assert count_pixels(tab) >= 0
    assert [seen.killed for seen in served.store.open(run_id).all(PageObserved)] == ["busy", ""]


def test_what_the_model_is_told_of_its_surroundings_can_be_edited_and_is_on_record(
    served: Served, client: httpx.Client, open_tab: OpenTab
) -> None:
    served.models = [HeldModel({"page": [GOOD]}, held="")]
    tab = open_tab("/pages")
    tab.click("summary:has-text('More choices')")
    assert tab.input_value("#context") == read_usual_context().rstrip("\n") + "\n"
    tab.fill("#context", "<!-- mine 1 -->\nEverything is drawn in teal.")
    tab.fill("#sentence", SENTENCE)
    tab.evaluate("document.querySelector('#model').insertAdjacentHTML('beforeend', '<option selected>scripted:demo')")
    tab.click("button.primary")
    await_state(tab, "done")
    run = served.store.open(tab.url.rpartition("/")[2])
    assert run.settings.page
    assert "mine 1" in run.settings.page.context
    asked = "\n".join(message.content for message in run.all(Asked)[0].messages)
    assert "Everything is drawn in teal." in asked
    assert "mine 1" not in asked, "its version is for the record"


def test_what_a_person_ticks_is_kept_changed_and_taken_back_and_compared_with_the_probes(
    open_tab: OpenTab, served: Served
) -> None:
    run_id = keep_page(served.store)
    tab = open_tab(f"/runs/{run_id}")

    def click(criterion: str, answer: str, then: str) -> None:
        tab.click(f"form:has([value={criterion}]) button:text-is('{answer}')")
        wait_for(
            tab,
            f"document.querySelector('form:has([value={criterion}]) button[aria-pressed=true]')?.innerText ?? ''",
            then,
        )

    def points() -> int:
        scored = read_score(served.store.open(run_id))
        assert scored
        return scored.points

    assert points() == 11
    click("looks", "yes", "yes")
    assert points() == 16
    assert see(tab, "#score h2").endswith("16 of 31")
    click("looks", "no", "no")
    assert points() == 11
    click("looks", "no", "")
    said = [(tick.name, tick.holds) for tick in served.store.open(run_id).all(CriterionTicked)]
    assert said == [("looks", True), ("looks", False), ("looks", None)]
    assert "κ" not in see(tab, "#score")
    for name in ("rules", *EASY):
        click(name, "yes", "yes")
    assert "κ" not in see(tab, "#score"), "four are too few to say"
    click("gun", "no", "no")
    assert "κ = 1.00" in see(tab, "#score")
    click("gun", "yes", "yes")
    assert "κ = 0.00" in see(tab, "#score")
    assert points() == 11, "points of probes are not a person's to give"
    assert measure_agreement(served.store.open(run_id)) == 0.0
    tab.reload()
    assert "κ = 0.00" in see(tab, "#score")


def test_a_hostile_page_is_only_shown_as_words_and_axe_finds_nothing_while_it_runs(
    open_tab: OpenTab, served: Served, client: httpx.Client
) -> None:
    words = json.dumps(EVIL)
    evil = (
        f"console.error({words}); burnish.log({words}); setTimeout(() => {{ throw Error({words}) }});\nreturn {words}"
    )
    evil += ";\ntop.location = 'https://evil.example/'; parent.document.title = 'evil';"
    run_id, model = begin(
        served, client, f"<think>{EVIL}</think>{EVIL}\n{block(evil, 'js')}", sentence=f"a canvas {EVIL}"
    )
    tab = open_tab(f"/runs/{run_id}")
    model.let(len(f"{EVIL} {EVIL} {evil}".split()) + 12)
    tab.wait_for_selector("#part-problems tbody tr")
    await_state(tab, "asking")
    model.let(6)
    wait_for(tab, "document.querySelectorAll('.answer').length > 1")
    tab.evaluate(OPEN_ALL)
    for theme in ("light", "dark"):
        tab.evaluate("(theme) => (document.documentElement.dataset.theme = theme)", theme)
        assert find_violations(tab) == [], theme
    assert tab.locator("main img[src=x], main script").count() == 0
    assert "evil" not in tab.title().partition("·")[0]
    assert tab.url.startswith(served.address)
    assert "<img src=x" in see(tab, "#part-problems")


def test_an_exported_page_opens_runs_and_can_be_gone_on_with_elsewhere(
    open_tab: OpenTab, served: Served, client: httpx.Client, tmp_path: Path
) -> None:
    elsewhere = Store(tmp_path / "elsewhere")
    run_id, other = (keep_page(elsewhere, case="", targets=("127.0.0.1:*",)) for _ in range(2))
    export_runs([run_id, other], tmp_path / "runs.zip", elsewhere)
    assert import_runs(tmp_path / "runs.zip", served.store) == sorted([run_id, other])
    tab = open_tab(f"/runs/{run_id}")
    assert tab.evaluate("[...document.images].every((one) => one.complete && one.naturalWidth)")
    with tab.expect_response(lambda given: re.match(FRAME, given.url)) as answered:
        tab.click("text=Run it here")
    reached = answered.value.headers["content-security-policy"].partition("connect-src")[2].partition(";")[0]
    assert "127.0.0.1:*" not in reached, "the record of a stranger's run grants nothing"
    frame = tab.wait_for_selector("iframe.live-page").content_frame()
    frame.wait_for_selector("text=here it is")
    assert client.get("/compare", params={"a": run_id, "b": other}).status_code == 200
    served.models = [HeldModel({"page": [GOOD]}, held="")]
    tab.fill("#follow-sentence", "make it green")
    tab.click("text=Go on from this")
    tab.wait_for_url(lambda url: run_id not in url)
    await_state(tab, "done")
    assert served.store.open(tab.url.rpartition("/")[2]).all(PageWritten)
