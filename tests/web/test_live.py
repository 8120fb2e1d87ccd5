"""A run that is watched: what a person sees while it goes on, in a real browser and over a plain connection."""

import ast
import json
import re
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any

import httpx
import pytest

from burnish.events import Stopped
from burnish.models.scripted import open_scripted
from burnish.runs.record import read_record
from burnish.web.page import translator
from burnish.web.steps import describe_notice, tell_steps
from burnish.web.views import run as run_pages
from burnish.web.views.write import EXAMPLES
from tests.support import DOUBLE, GOOD, SQUARE, block, script
from tests.web.conftest import HeldModel, Served
from tests.web.screens import EVIL, EVIL_TESTS, end_run, fill, list_screens
from tests.web.slow_weights import TINY, SlowSource

THOUGHT = "Twice <b>is</b> times two."
DRAFT = f"<think>{THOUGHT}</think>\nHere it comes: {GOOD}"
SLACK_SECONDS = 4.0
"""For what has to be there within two seconds: machines that test are busy."""
DRAFT_BOX = '[data-ask="draft-1"]'
"""Tests are asked for at the same time, so there are boxes of other answers too."""
OpenPage = Callable[..., Any]
Messages = Iterator[tuple[str, Any, str]]
"""Kind, data and number of each."""


@pytest.fixture
def model(served: Served) -> HeldModel:
    """Answers with its thoughts first, and waits before every word of its draft."""
    held = HeldModel(script(draft=DRAFT, rewrite=DRAFT, repair=DRAFT))
    served.models = [held]
    return held


def wait_for(page: Any, expression: str, expected: object = True) -> None:
    """Until it is so. Playwright's own way would have to evaluate text in the page, which our pages forbid."""
    until = time.monotonic() + 30
    while (found := page.evaluate(expression)) != expected:
        assert time.monotonic() < until, f"{expression} is {found!r}"
        page.wait_for_timeout(20)


def wait_for_answer(page: Any, text: str) -> None:
    """Until exactly this stands there of the answer, without thoughts."""
    wait_for(page, f"document.querySelector('{DRAFT_BOX} > pre')?.textContent", text)


@contextmanager
def connect(client: httpx.Client, run_id: str, after: int = 0, **headers: str) -> Iterator[Messages]:
    """The messages of a run's stream: kind, data, and id."""
    with client.stream("GET", f"/runs/{run_id}/events", params={"after": after}, headers=headers) as opened:
        yield read_messages(opened.iter_lines())


def read_messages(lines: Iterator[str]) -> Messages:
    message: dict[str, str] = {}
    for line in lines:
        if line:
            name, _, value = line.partition(": ")
            message[name] = value
        elif "data" in message:
            yield message["event"], json.loads(message["data"]), message.get("id", "")
            message = {}
        else:
            message = {}


def read_answers(messages: Messages) -> dict[str, str]:
    """Answers as a page would put them together from this connection, until it is over."""
    answers: dict[str, str] = {}
    for kind, data, _ in messages:
        for piece in data if kind == "pieces" else ():
            if not piece["thought"]:
                before = "" if piece["begins"] or piece["instead"] else answers[piece["ask"]]
                answers[piece["ask"]] = before + piece["text"]
    return answers


def read_steps(messages: Messages) -> str:
    return "".join(data["html"] for kind, data, _ in messages if kind == "steps")


# --- words while they come ---


@pytest.mark.browser
def test_words_are_there_before_the_answer_is_whole_and_thoughts_are_folded_apart(
    open_page: OpenPage, served: Served, client: httpx.Client, model: HeldModel
) -> None:
    page = open_page(f"/runs/{served.begin(client)}")
    model.let(len(THOUGHT.split()) + 2)
    wait_for_answer(page, "Here it ")
    assert page.get_attribute("#run", "data-state") == "asking"
    thoughts = page.locator(f"{DRAFT_BOX} details")
    assert thoughts.get_attribute("open") is None
    assert thoughts.locator("pre").text_content() == THOUGHT + " "
    assert thoughts.locator("b").count() == 0
    page.evaluate("document.querySelector('#notice').textContent = 'The model is being loaded.'")
    model.let(1)
    wait_for_answer(page, "Here it comes: ")
    wait_for(page, "document.querySelector('#notice').textContent", "")  # it answers, so nobody waits for it any more
    model.let_all()
    page.wait_for_selector("#run[data-state=done] .verdict")
    wait_for(page, "document.querySelectorAll('.answer').length", 0)


@pytest.mark.browser
def test_a_refresh_in_mid_answer_goes_on_without_gap_or_repetition_and_a_second_tab_shows_the_same(
    open_page: OpenPage, served: Served, client: httpx.Client, model: HeldModel
) -> None:
    page = open_page(f"/runs/{served.begin(client)}")
    model.let(len(THOUGHT.split()) + 2)
    wait_for_answer(page, "Here it ")
    page.reload()
    wait_for_answer(page, "Here it ")
    other = open_page(page.url.removeprefix(served.address))
    wait_for_answer(other, "Here it ")
    model.let(1)
    for tab in (page, other):
        wait_for_answer(tab, "Here it comes: ")
        assert tab.locator(f"{DRAFT_BOX} details pre").text_content() == THOUGHT + " "
    model.let_all()
    for tab in (page, other):
        tab.wait_for_selector("#run[data-state=done] .verdict")
    seen = [tab.locator(".timeline .step").all_inner_texts() for tab in (page, other)]
    other.reload()
    assert seen[0] == seen[1] == other.locator(".timeline .step").all_inner_texts()


@pytest.mark.browser
def test_a_lost_connection_is_said_and_goes_on_without_gap_or_repetition(
    open_page: OpenPage, served: Served, client: httpx.Client, model: HeldModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut, lost, whole = threading.Event(), threading.Event(), run_pages.stream_run

    async def break_off(*given: Any) -> Any:
        async for message in whole(*given):
            if cut.is_set() and not lost.is_set():
                lost.set()
                raise ConnectionError("the cable was pulled")
            yield message

    monkeypatch.setattr(run_pages, "stream_run", break_off)
    page = open_page(f"/runs/{served.begin(client)}")
    model.let(len(THOUGHT.split()) + 2)
    wait_for_answer(page, "Here it ")
    cut.set()
    model.let(1)
    wait_for(page, "document.querySelector('#notice').textContent.startsWith('Burnish does not answer')")
    wait_for_answer(page, "Here it comes: ")
    wait_for(page, "document.querySelector('#notice').textContent === ''")
    model.let_all()
    page.wait_for_selector("#run[data-state=done] .verdict")
    seen = page.locator(".timeline .step").all_inner_texts()
    page.reload()
    assert seen == page.locator(".timeline .step").all_inner_texts()


@pytest.mark.slow
def test_who_comes_back_with_the_last_number_gets_what_follows(
    served: Served, client: httpx.Client, model: HeldModel
) -> None:
    run_id = served.begin(client)
    model.let(len(THOUGHT.split()) + 2)
    last, told = "", ""
    with connect(client, run_id) as messages:
        for kind, data, number in messages:
            told += data["html"] if kind == "steps" else ""
            last = number or last
            if kind == "pieces" and any(piece["text"].endswith("it ") for piece in data):
                break
    model.let_all()
    with connect(client, run_id, **{"Last-Event-ID": last}) as messages:
        following = list(messages)
    with connect(client, run_id) as messages:
        all_of_it = list(messages)
    whole = read_steps(iter(all_of_it))
    assert told + read_steps(iter(following)) == whole
    assert read_answers(iter(following))["draft-1"].startswith("Here it comes: ```python")
    assert following[-1][0] == all_of_it[-1][0] == "over"
    numbers = [int(number) for _, _, number in following if number]
    assert numbers == sorted(numbers)
    assert numbers[-1] == len(list(read_record(served.store.runs / run_id)))


@pytest.mark.slow
@pytest.mark.parametrize("number", ["x", "-1", "99999999999999", "999999", "²", "1e3", ""])
def test_a_number_that_cannot_be_gets_an_answer_all_the_same(
    served: Served, client: httpx.Client, model: HeldModel, number: str
) -> None:
    run_id = served.begin(client)
    client.post(f"/runs/{run_id}/stop")
    served.wait_until(run_id, "stopped")
    with client.stream("GET", f"/runs/{run_id}/events", params={"after": number}) as opened:
        assert [kind for kind, _, _ in read_messages(opened.iter_lines())][-1] == "over"


NOTE_MOVES = """
    window.moves = [];
    const note = (list) => list.getEntries().forEach((move) => window.moves.push(...move.sources.map((source) =>
        `${source.node?.id || source.node?.className || source.node?.nodeName} ${source.previousRect.y}`)));
    new PerformanceObserver(note).observe({type: 'layout-shift', buffered: true});
"""


@pytest.mark.browser
def test_nothing_on_the_page_moves_while_words_come(open_page: OpenPage, served: Served, client: httpx.Client) -> None:
    long = "\n".join(f"line {number} of what it says" for number in range(40))
    model = HeldModel(script(draft=f"{long}\n{GOOD}"))
    served.models = [model]
    page = open_page("/")
    page.add_init_script(NOTE_MOVES)
    page.goto(f"{served.address}/runs/{served.begin(client)}")
    model.let(2)
    wait_for(page, f"document.querySelector('{DRAFT_BOX} > pre')?.textContent.length > 3")
    page.wait_for_selector("#timeline .step:has-text('has written tests')")
    page.wait_for_timeout(500)
    height = page.evaluate(f"document.querySelector('{DRAFT_BOX}').offsetHeight")
    page.evaluate("window.moves = []")
    for _ in range(20):
        model.let(10)
        page.wait_for_timeout(30)
    wait_for(page, f"document.querySelector('{DRAFT_BOX} > pre').textContent.includes('line 30')")
    page.wait_for_timeout(200)
    assert page.evaluate("window.moves") == []
    assert page.evaluate(f"document.querySelector('{DRAFT_BOX}').offsetHeight") == height, "nor would one below it"
    page.evaluate("document.querySelector('#timeline').prepend(document.createElement('li'), 'planted')")
    page.wait_for_timeout(300)
    assert page.evaluate("window.moves.length") > 0, "planted, and noticed"


NOTE_PLACES = """
    window.places = new Set();
    window.notePlaces = () => {
        window.places.add(document.querySelector('#timeline').getBoundingClientRect().top);
        requestAnimationFrame(window.notePlaces);
    };
"""


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 390])
def test_the_result_comes_without_moving_what_is_read_and_stands_on_top_of_the_page_afterwards(
    open_page: OpenPage, served: Served, client: httpx.Client, width: int
) -> None:
    model = HeldModel(script())
    served.models = [model]
    page = open_page("/", viewport={"width": width, "height": 900})
    page.goto(f"{served.address}/runs/{served.begin(client)}")
    page.wait_for_selector("#timeline .step:has-text('has written tests')")
    page.evaluate(f"{NOTE_PLACES} notePlaces()")
    model.let_all()
    page.wait_for_selector("#run[data-state=done] .verdict")
    page.wait_for_selector("#result-code")
    page.wait_for_timeout(200)
    assert page.evaluate("[...window.places]") == [page.locator("#timeline").bounding_box()["y"]]
    page.click(".to-result")
    assert page.locator(".verdict").bounding_box()["y"] < 60
    page.evaluate("document.querySelector('#run').prepend('planted'); scrollTo(0, 0)")
    page.wait_for_timeout(100)
    assert page.evaluate("window.places.size") > 1, "planted, and noticed"
    page.reload()
    assert page.locator(".verdict").bounding_box()["y"] < page.locator("#timeline").bounding_box()["y"]
    assert not page.is_visible(".to-result")


@pytest.mark.browser
@pytest.mark.parametrize(("width", "language"), [(1280, "en"), (390, "en"), (390, "de")])
def test_a_question_comes_without_moving_what_is_read_and_stands_on_top_of_a_page_that_is_opened_for_it(
    open_page: OpenPage, served: Served, client: httpx.Client, width: int, language: str
) -> None:
    model = HeldModel(open_scripted("demo")._script)
    served.models = [model]
    page = open_page("/", viewport={"width": width, "height": 900}, locale=language)
    page.goto(f"{served.address}/runs/{served.begin(client, 'a function double(n), e.g. double(2) == 4')}")
    page.wait_for_selector("#timeline .step:nth-child(6)")
    page.evaluate(f"{NOTE_PLACES} notePlaces()")
    model.let_all()
    page.wait_for_selector("#run[data-state=waiting] #part-wish form")
    page.wait_for_timeout(200)
    assert page.evaluate("[...window.places]") == [page.locator("#timeline").bounding_box()["y"]]
    page.click(".to-wish")
    assert 0 <= page.locator("#part-wish h2").bounding_box()["y"] < 800
    page.reload()
    assert page.locator("#part-wish").bounding_box()["y"] < page.locator("#timeline").bounding_box()["y"]
    assert not page.is_visible(".to-wish")
    page.click("#part-wish button[value=A]")
    page.wait_for_selector(".columns ~ #part-wish", state="attached")  # the next one would come below again


@pytest.mark.slow
def test_each_round_is_a_line_that_says_what_came_of_it_and_the_figures_stand_beside(
    served: Served, client: httpx.Client
) -> None:
    served.models = [HeldModel(script(draft=SQUARE), held="")]
    run_id = served.begin(client, "a function double(n), e.g. double(2) == 4")
    end_run(served, client, run_id)
    view = served.view(run_id)
    assert view.run
    steps = list(tell_steps(view.run.events, translator("en")))
    told = [(step.kind, step.tone) for step in steps]
    at = [
        told.index(one) for one in (("you", ""), ("model", "quiet"), ("code", ""), ("tests", "bad"), ("tests", "good"))
    ]
    assert at == sorted(at), "asked, written, tests fail, tests pass"
    assert "2 of 4" in steps[at[3]].text
    assert {"compare", "check", "end"} <= {kind for kind, _ in told}
    assert any(line.text for line in steps[at[3]].lines), "which test failed is one click away"
    assert {"Small", "Of"} & {step.text.split()[0] for step in steps}, "small edits are told, too"
    page = client.get(f"/runs/{run_id}").text
    figures = re.findall(r"<dd>(.*?)</dd>", page.partition('class="figures"')[2].partition("</dl>")[0])
    assert f"{view.run.tokens_in + view.run.tokens_out}" in figures[2]
    assert re.search(r"\(\d+/s\)", figures[2])
    assert figures[3] == "free"


@pytest.mark.browser
def test_state_is_in_the_title_the_look_can_be_switched_and_who_wants_is_told_when_it_is_done(
    open_page: OpenPage, served: Served, client: httpx.Client
) -> None:
    model = HeldModel(script())
    served.models = [model]
    page = open_page("/", color_scheme="light", permissions=["notifications"])
    page.click("[data-theme-switch]")
    page.add_init_script(
        "window.told = []; window.Notification = class { constructor(text) { window.told.push(text); } "
        "static async requestPermission() { return 'granted'; } };"
        "Object.defineProperty(document, 'hidden', { get: () => true });"
    )
    page.goto(f"{served.address}/runs/{served.begin(client)}")
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark", "it stays as it was switched"
    page.click("[data-theme-switch]")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != paper
    model.let(1)
    wait_for(page, "document.title.split(' ')[0]", "✎")
    page.click("[data-notify]")
    rows = "document.querySelectorAll('#part-tests .outcome-passed').length"
    assert page.evaluate(rows) == 0
    model.let_all()
    page.wait_for_selector("#run[data-state=done] .verdict")
    wait_for(page, "document.title.split(' ')[0]", "✓")
    wait_for(page, "window.told.length", 1)
    assert page.evaluate(rows) > 2, "the table of tests has turned green"


# --- many watch ---


@pytest.mark.slow
def test_twenty_watchers_cost_one_run_and_closing_a_tab_stops_nothing(
    served: Served, client: httpx.Client, model: HeldModel
) -> None:
    run_id = served.begin(client)
    found: list[dict[str, str]] = []
    there = threading.Semaphore(0)

    def watch() -> None:
        with closing(served.client()) as own, connect(own, run_id) as messages:
            first = next(messages)
            there.release()
            found.append(read_answers(chain([first], messages)))

    watchers = [threading.Thread(target=watch) for _ in range(20)]
    for watcher in watchers:
        watcher.start()
    for _ in watchers:
        assert there.acquire(timeout=30)
    model.let(len(THOUGHT.split()) + 2)
    with connect(client, run_id) as messages:  # one who leaves in mid-answer
        next(kind for kind, _, _ in messages if kind == "pieces")
    model.let_all()
    served.wait_until(run_id, "done")
    for watcher in watchers:
        watcher.join(30)
    assert len(found) == 20
    assert len({json.dumps(answers, sort_keys=True) for answers in found}) == 1
    assert found[0]["draft-1"].endswith("```")
    asked = [ask.purpose for ask in model.asked]
    assert asked.count("draft") == 1
    assert len(served.store.list()) == 1


@pytest.mark.slow
def test_a_reader_that_stalls_slows_nobody(served: Served, client: httpx.Client) -> None:
    """It asks for the stream, takes nothing of it, and the answer is longer than all buffers between."""
    words, word = 800, f"{'word' * 2500} "
    served.models = [HeldModel(script(draft=f"{word * words}\n{GOOD}"), held="")]
    with socket.create_connection(("127.0.0.1", served.access.port)) as stalled:
        run_id = served.begin(client)
        key = f"{served.access.cookie}={served.access.token}.me"
        wish = f"GET /runs/{run_id}/events HTTP/1.1\r\nHost: 127.0.0.1:{served.access.port}\r\nCookie: {key}\r\n\r\n"
        stalled.sendall(wish.encode())
        began = time.monotonic()
        with connect(client, run_id) as messages:
            assert read_answers(messages)["draft-1"].count(word) == words
        assert time.monotonic() - began < 60
        assert client.get("/").status_code == 200
        taken = b""
        while b"event: over" not in taken[-200:]:  # it wakes up, and has missed nothing
            taken += stalled.recv(1 << 20)


def list_notices() -> list[str]:
    """The beginning of every notice that our own code tells, up to what it fills in."""
    found = []
    for file in Path(str(files("burnish"))).rglob("*.py"):
        for call in ast.walk(ast.parse(file.read_text())):
            told = call.keywords[0].value if isinstance(call, ast.Call) and call.keywords else None
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Notice" and told:
                first = told.values[0] if isinstance(told, ast.JoinedStr) else told
                found += [str(first.value)] if isinstance(first, ast.Constant) and len(call.keywords) == 1 else []
    return found


def test_what_is_told_to_somebody_who_waits_is_in_plain_words_and_in_german() -> None:
    notices = list_notices()
    assert len(notices) >= 5
    t = translator("de")
    for text in ("reading the weights", "weights: 50 %", *notices):
        assert describe_notice(text, t) != text, text
    assert describe_notice("weights: 50 %", t) == "Das Modell wird geholt: 50 %"
    assert describe_notice("something new", t) == "something new"


# --- stop ---


def assert_stopped(served: Served, run_id: str, began: float) -> None:
    """It ended in time, and its record says how."""
    assert time.monotonic() - began < SLACK_SECONDS
    events = list(read_record(served.store.runs / run_id))
    assert any(isinstance(event, Stopped) and event.reason == "interrupted" for event in events)
    assert served.app.state.runs.at_work == []


def stop_by_click(page: Any, served: Served, run_id: str) -> None:
    began = time.monotonic()
    page.click("button.danger")
    page.wait_for_selector("#run[data-state=stopped]")
    assert_stopped(served, run_id, began)


@pytest.mark.browser
def test_stop_while_an_answer_comes(
    open_page: OpenPage, served: Served, client: httpx.Client, model: HeldModel
) -> None:
    page = open_page(f"/runs/{(run_id := served.begin(client))}")
    model.let(1)
    page.wait_for_selector("#run[data-state=asking] .answer")
    stop_by_click(page, served, run_id)


@pytest.mark.browser
def test_stop_while_a_person_is_asked(open_page: OpenPage, served: Served, client: httpx.Client) -> None:
    page = open_page(f"/runs/{(run_id := served.begin(client, 'a function double(n), e.g. double(2) == 4'))}")
    page.wait_for_selector("#run[data-state=waiting]")
    stop_by_click(page, served, run_id)


@pytest.mark.browser
def test_stop_while_weights_are_fetched(
    open_page: OpenPage,
    served: Served,
    client: httpx.Client,
    source: SlowSource,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(served.app.state.runs, "_own_opener", False)  # models are opened as without a test
    page = open_page(f"/runs/{(run_id := served.begin(client, model=TINY))}")
    source.may_go.release(5)
    page.wait_for_selector("#notice:has-text('being fetched: 50 %')")
    stop_by_click(page, served, run_id)


@pytest.mark.browser
def test_stop_while_it_waits_for_its_turn(
    open_page: OpenPage, served: Served, client: httpx.Client, model: HeldModel
) -> None:
    first, second = served.begin(client), served.begin(client)
    page = open_page(f"/runs/{second}")
    assert page.get_attribute("#run", "data-state") == "queued"
    began = time.monotonic()
    page.click("button.danger")
    page.wait_for_selector("#run[data-state=stopped]")
    assert time.monotonic() - began < SLACK_SECONDS
    client.post(f"/runs/{first}/stop")
    served.wait_until(first, "stopped")
    assert_stopped(served, second, began=time.monotonic())


# --- a person answers ---


@pytest.mark.browser
def test_a_question_is_answered_with_a_value_of_ones_own_and_nonsense_is_refused_with_a_sentence(
    open_page: OpenPage, served: Served, client: httpx.Client
) -> None:
    page = open_page(f"/runs/{(run_id := served.begin(client, 'a function double(n), e.g. double(2) == 4'))}")
    page.wait_for_selector("#run[data-state=waiting]")
    page.fill("#own-answer", "__import__('os')")
    page.press("#own-answer", "Enter")
    page.wait_for_selector("#part-wish .problem")
    assert page.get_attribute("#run", "data-state") == "waiting"
    call = page.locator("#part-wish pre").first.inner_text()
    page.fill("#own-answer", str(2 * int(call.partition("(")[2].rstrip(")"))))
    page.click("#own-answer + button")
    page.wait_for_selector("#run[data-state=done] .verdict")
    run = served.store.open(run_id)
    assert [event.by for event in run.events if event.kind == "question_answered"] == ["person"]


@pytest.mark.slow
def test_a_question_that_was_answered_in_another_tab_is_not_answered_twice(
    served: Served, client: httpx.Client
) -> None:
    run_id = served.begin(client, "a function double(n), e.g. double(2) == 4")
    number = str(served.wait_until(run_id, "waiting").wish_number)
    form = {"kind": "question", "number": number, "answer": "A"}
    assert client.post(f"/runs/{run_id}/reply", data={**form, "number": "9" * 5000}).status_code == 400
    assert client.post(f"/runs/{run_id}/reply", data={**form, "kind": "assumption"}).status_code == 400
    assert client.post(f"/runs/{run_id}/reply", data=form).status_code == 204
    assert client.post(f"/runs/{run_id}/reply", data=form, headers={"HX-Request": "true"}).status_code == 400


@pytest.mark.browser
def test_an_assumption_is_put_right(open_page: OpenPage, served: Served, client: httpx.Client) -> None:
    served.models = [HeldModel(script(assume="- n is a whole number"), held="")]
    page = open_page(f"/runs/{(run_id := served.begin(client, ask='on'))}")
    page.wait_for_selector("#assumption")
    assert "n is a whole number" in page.inner_text("#part-wish blockquote")
    page.fill("#assumption", "n may be a fraction, too")
    page.press("#assumption", "Enter")
    page.wait_for_selector("#run[data-state=done]")
    answered = [event for event in served.store.open(run_id).events if event.kind == "user_answered"]
    assert [event.words for event in answered] == ["n may be a fraction, too"]


@pytest.mark.browser
def test_tests_are_changed_the_code_is_sent_back_and_then_it_goes_on(
    open_page: OpenPage, served: Served, client: httpx.Client
) -> None:
    better = block('def double(n):\n    """Twice the number, as you wanted it."""\n    return n + n')
    served.models = [HeldModel(script(review=better), held="")]
    page = open_page(f"/runs/{(run_id := served.begin(client, review='on'))}")
    page.wait_for_selector("#review-text")
    tests = page.input_value("#review-text")
    page.fill("#review-text", "def test_(:")
    page.click("button[value=edited]")
    page.wait_for_selector("#part-wish .problem")
    assert page.input_value("#review-text") == "def test_(:", "what was typed is still there"
    page.fill("#review-text", tests + "\n\ndef test_mine():\n    assert double(21) == 42\n")
    page.click("button[value=edited]")
    page.wait_for_selector("#part-wish .remark")
    assert "double(21) == 42" in page.input_value("#review-text")
    page.click("button[value=go_on]")
    page.wait_for_selector("h2:text('Look at the code')")
    page.fill("#review-words", "Say in a docstring what it does")
    page.fill("#review-line", "1")
    page.click("button[value=change]")
    wait_for(page, "document.querySelector('#review-text')?.value.includes('as you wanted it')")
    page.click("button[value=go_on]")
    page.wait_for_selector("#run[data-state=done]")
    run = served.store.open(run_id)
    assert [event.said for event in run.events if event.kind == "reviewed"] == ["edited", "go_on", "change", "go_on"]
    assert "as you wanted it" in (run.code or "")
    assert "21" in page.inner_text("#part-tests")


# --- several people ---


@pytest.mark.slow
def test_whoever_had_fewest_turns_is_next(served: Served, client: httpx.Client, model: HeldModel) -> None:
    with closing(served.client()) as other:
        mine = [served.begin(client) for _ in range(3)]
        theirs = served.begin(other)
        runs = served.app.state.runs
        assert [runs.find(one).ticket.ahead for one in (*mine, theirs)] == [0, 2, 3, 1]
        for one in (*mine, theirs):
            client.post(f"/runs/{one}/stop")


@pytest.mark.slow
def test_a_run_that_waits_for_a_person_keeps_nobody_waiting_and_has_its_turn_again(
    served: Served, client: httpx.Client
) -> None:
    """Somebody who has gone for lunch would stop all others."""
    asks = served.begin(client, "a function double(n), e.g. double(2) == 4")
    number = str(served.wait_until(asks, "waiting").wish_number)
    model = HeldModel(script())
    served.models = [model]
    other = served.begin(client)
    served.wait_until(other, "asking")
    client.post(f"/runs/{asks}/reply", data={"kind": "question", "number": number, "answer": "A"})
    assert served.wait_until(asks, "queued").ahead == 1
    third = served.begin(client)
    assert served.wait_until(third, "queued").ahead == 2, "who had a turn already goes on first"
    model.let_all()
    for one in (other, asks, third):
        served.wait_until(one, "done")
    asks = served.begin(client, review="on")
    served.wait_until(asks, "waiting")
    client.post(f"/runs/{asks}/stop")
    served.wait_until(asks, "stopped")
    served.wait_until(served.begin(client), "done")


@pytest.mark.slow
def test_one_click_that_comes_twice_takes_a_run_up_once(served: Served, client: httpx.Client, model: HeldModel) -> None:
    run_id = served.begin(client)
    model.let(1)
    served.wait_until(run_id, "asking")
    client.post(f"/runs/{run_id}/stop")
    clicks = [threading.Thread(target=client.post, args=[f"/runs/{run_id}/resume"]) for _ in range(4)]
    for click in clicks:
        click.start()
    for click in clicks:
        click.join()
    assert len(served.app.state.runs.at_work) == 1
    model.let_all()
    served.wait_until(run_id, "done")
    assert [event.kind for event in served.store.open(run_id).events].count("resumed") == 1


@pytest.mark.slow
def test_a_run_that_waits_to_be_taken_up_tells_its_steps_once(
    served: Served, client: httpx.Client, model: HeldModel
) -> None:
    left = served.begin(client)
    model.let(1)
    served.wait_until(left, "asking")
    client.post(f"/runs/{left}/stop")
    busy = served.begin(client)
    client.post(f"/runs/{left}/resume")
    page = client.get(f"/runs/{left}").text
    assert served.wait_until(left, "queued").ahead == 1
    shown = page.count('<li class="step')
    after = int(page.partition('data-after="')[2].partition('"')[0])
    model.let_all()
    client.post(f"/runs/{busy}/stop")
    with connect(client, left, after) as messages:
        steps = read_steps(messages)
    served.wait_until(left, "done")
    whole = client.get(f"/runs/{left}").text
    assert shown + steps.count('<li class="step') == whole.count('<li class="step')


# --- nothing leaves this machine ---


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Whom this process has looked up, or called."""
    found: list[str] = []
    watching = [True]

    def note(event: str, given: tuple[Any, ...]) -> None:
        if watching and event in ("socket.connect", "socket.getaddrinfo"):
            address = given[0] if event == "socket.getaddrinfo" else given[1]
            found.append(str(address[0] if isinstance(address, tuple) else address))

    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL", "OLLAMA_HOST"):
        monkeypatch.delenv(name, raising=False)
    sys.addaudithook(note)  # nobody can take it away again
    yield found
    watching.clear()


@pytest.mark.slow
def test_neither_a_page_nor_a_whole_run_has_the_server_call_anybody_elsewhere(
    served: Served, client: httpx.Client, called: list[str]
) -> None:
    paths = [route.path for view in served.views for route in view.ROUTES if "GET" in (route.methods or ())]
    for path in (path for path in paths if "{" not in path):
        client.get(path)
    served.wait_until(served.begin(client, EXAMPLES["A price with tax"], fast=""), "done")
    assert "127.0.0.1" in called, "Ollama was asked for, here"
    with suppress(OSError):
        socket.getaddrinfo("elsewhere.invalid", 80)
    assert called.pop() == "elsewhere.invalid", "planted, and noticed"
    assert {*called} <= {"127.0.0.1", "localhost", "::1"}


# --- what models write is text ---


MADE_OF_WORDS = (
    'img:not([src^="/runs/"]), iframe:not([sandbox=""], [sandbox="allow-scripts"]), object, embed, base, '
    "script:not([src]), [onerror], [onload], [onclick]"
)
"""What is on no page of ours; frames that show reports are of no origin."""


def assert_harmless(page: Any) -> None:
    """Nothing of what was written became part of the page."""
    find = "(kinds) => [...document.querySelectorAll(kinds)].map((one) => one.outerHTML)"
    assert page.evaluate(find, MADE_OF_WORDS) == []
    text = page.evaluate("document.documentElement.outerHTML + document.title")
    for sign in ("\x1b", "\u202e", "\u202c", "evil49"):
        assert sign not in text


@pytest.mark.browser
def test_hostile_words_are_text_while_they_come_and_afterwards(
    open_page: OpenPage, served: Served, client: httpx.Client
) -> None:
    evil = f"<think>{EVIL}</think>\n{EVIL} end"
    model = HeldModel(script(draft=evil, tests=EVIL_TESTS, assume=f"- {EVIL}"))
    served.models = [model]
    dialogs: list[str] = []
    page = open_page("/")
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.goto(f"{served.address}/runs/{served.begin(client, f'a function double(n) {EVIL}', ask='on')}")
    page.wait_for_selector("#assumption")
    assert_harmless(page)
    assert "<img src=x" in page.inner_text("#part-wish blockquote")
    page.fill("#assumption", EVIL)
    page.press("#assumption", "Enter")
    model.let(100)
    wait_for(page, f"document.querySelector('{DRAFT_BOX} > pre')?.textContent.includes('onerror') ?? false")
    assert_harmless(page)
    model.let_all()
    assert dialogs == []


@pytest.mark.browser
@pytest.mark.timeout(300)
def test_hostile_words_are_text_on_every_screen(open_page: OpenPage, served: Served, client: httpx.Client) -> None:
    filled, dialogs = fill(served, client), list[str]()
    page = open_page("/")
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    told = set()
    for path in list_screens(served, client, filled):
        page.goto(served.address + path)
        page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
        page.wait_for_timeout(100)  # parts of the page come by themselves
        assert_harmless(page)
        text = page.inner_text("main")
        told |= {sign for sign in ("onerror=alert(1)", "onerror=alert(3)", "onerror=alert(4)") if sign in text}
        if "onerror=alert(1)" in text:
            told.add(path.partition("/")[2].partition("/")[0].partition("?")[0])
    assert dialogs == []
    assert told >= {"onerror=alert(1)", "onerror=alert(3)", "onerror=alert(4)"}, "planted, and shown as text"
    assert told >= {"runs", "compare", "delete", "evaluate"}


@pytest.mark.slow
def test_reports_are_of_no_origin_even_when_they_are_opened_by_themselves(served: Served, client: httpx.Client) -> None:
    filled = fill(served, client)
    for path in (f"/check/{filled.check}/report", f"/evaluate/{filled.evaluation}/report"):
        said = client.get(path)
        assert said.status_code == 200
        policy = said.headers["content-security-policy"]
        assert "sandbox" in policy
        assert "allow-same-origin" not in policy
        assert "default-src 'none'" in policy


@pytest.mark.browser
def test_a_hostile_form_is_shown_again_as_text(open_page: OpenPage) -> None:
    page = open_page("/")
    page.fill("#sentence", f"{'x' * 20} </textarea>{EVIL}")
    page.evaluate("document.querySelector('#dollars').closest('details').open = true")
    page.fill("#dollars", '"><img src=x onerror=alert(5)>')
    page.click("button.primary")
    page.wait_for_selector(".problem")
    assert page.locator("img").count() == 0
    assert "</textarea>" in page.input_value("#sentence")


# --- a real model ---


@pytest.mark.browser
@pytest.mark.model
@pytest.mark.timeout(600)
def test_a_real_model_writes_from_a_sentence(open_page: OpenPage, served: Served, model_weights: object) -> None:
    page = open_page("/")
    page.fill("#sentence", DOUBLE)
    page.select_option("#model", "local:qwen2.5-coder-0.5b")
    page.click("button.primary")
    page.wait_for_selector(".answer > pre:not(:empty)", timeout=240_000)
    page.wait_for_selector("#run[data-state=done], #run[data-state=waiting]", timeout=240_000)
    if page.get_attribute("#run", "data-state") == "waiting":
        page.click(".option.quiet")
        page.wait_for_selector("#run[data-state=done]", timeout=240_000)
    assert "def double" in page.inner_text("#code")
