"""An evaluation in the browser: begun, watched, read, compared, stopped and gone on with."""

import re
import time
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest

import burnish
from burnish.evals.eval_store import Folder, list_evaluations, new_path
from burnish.evals.strategies.kinds import STRATEGIES
from burnish.evals.suites import SUITES
from burnish.web.page import read_german
from burnish.web.views.evaluate import NUMBERS, STRATEGY_WORDS, SUITE_WORDS
from tests.evals.fake_evaluations import attempt, plan
from tests.evals.toys import jsonl, toy, toys
from tests.web.conftest import Served

HOSTILE = "<img src=x onerror=alert(1)>\x1b[31m\u202egnp"
FORM = {"suite": "humanevalfix", "strategy": "single", "model": "scripted:gold", "limit": "4", "seeds": "1"}
FORM |= {"variant": "", "protocol": "visible", "ask": "auto", "split": "eval"}


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is learnt about toy tasks does not end up in the user's cache."""
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "cache"))


def begin(client: httpx.Client, **typed: str) -> str:
    """The address of an evaluation that begins."""
    answer = client.post("/evaluate", data={**FORM, **typed})
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


def await_end(client: httpx.Client, address: str, seconds: float = 60) -> str:
    """The page of an evaluation once nothing more comes."""
    until = time.monotonic() + seconds
    while "hx-refresh" not in client.get(f"{address}/now").headers:
        assert time.monotonic() < until, "it does not end"
        time.sleep(0.1)
    return client.get(address).text


def words(page: str) -> str:
    """What a reader sees."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page)).split())


def fake(passes: dict[str, list[bool]], text: str = "", **changes: object) -> str:
    """The id of an evaluation on disk that nobody has made."""
    tasks = [toy(place, name) for place, name in enumerate(passes, 1)]
    folder = Folder.create(new_path("fake"), plan(**{"seeds": (0,), **changes}), tasks)
    for name, states in passes.items():
        folder.write(name, 0, attempt(states, text=text, name="f"))
    return folder.path.name


@pytest.mark.slow
def test_an_evaluation_is_begun_watched_read_and_every_attempt_can_be_opened(client: httpx.Client, data: Path) -> None:
    address = begin(client)
    page = await_end(client, address)
    assert 'data-state="done"' in page
    assert "100.0 % of 4 tasks are solved" in page
    assert page.count("<svg") == 1, "the curve; this strategy does not say how sure it is"
    links = re.findall(r'href="(/evaluate/[^"]+/attempt\?[^"]+)"', page)
    assert len(links) == 4
    transcript = words(client.get(unescape(links[0])).text)
    assert "The tests that decide: version 1 is right." in transcript
    assert "def " in transcript
    assert "later →" in transcript
    assert "done" in words(client.get("/evaluate").text) or "4 / 4" in words(client.get("/evaluate").text)


@pytest.mark.slow
def test_two_evaluations_are_compared_with_what_was_gained_and_lost(client: httpx.Client, data: Path) -> None:
    gold, buggy = (await_end(client, begin(client, model=f"scripted:{who}")) for who in ("gold", "buggy"))
    assert "0.0 % of 4 tasks are solved" in buggy
    assert "100.0 % of 4 tasks" in gold
    ids = {Folder.open(path).plan.model: path.name for path in list_evaluations()}
    page = client.get("/evaluate/compare", params={"run": [ids["scripted:buggy"], ids["scripted:gold"]]}).text
    assert "B solves 100.0 points more." in page
    assert "HumanEval/0" in words(page.partition("Gained")[2].partition("Lost")[0])
    assert "HumanEval/0" not in words(page.partition("Lost")[2])
    assert "<svg" in page


@pytest.mark.slow
def test_one_that_is_stopped_keeps_what_is_finished_and_goes_on_later(
    client: httpx.Client, cache: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = str(jsonl(tmp_path / "slow.jsonl", [toy(n, sleep=0.4) for n in range(1, 9)]))
    done = burnish.evaluate(suite, "scripted:gold", strategy="single", limit=1, out=new_path("slow"))
    assert done.complete
    path = list_evaluations()[0]
    client.post(f"/evaluate/{path.name}/resume", data={"seeds": "30"})
    until = time.monotonic() + 20
    while len(Folder.open(path).finished_attempts()) < 3 and time.monotonic() < until:
        time.sleep(0.05)
    assert client.get(f"/evaluate/{path.name}").text.count('data-state="working"') == 1
    began = time.monotonic()
    assert client.post(f"/evaluate/{path.name}/stop").status_code == 303
    assert time.monotonic() - began < 2
    page = client.get(f"/evaluate/{path.name}").text
    kept = len(Folder.open(path).finished_attempts())
    assert 'data-state="unfinished"' in page
    assert 3 <= kept < 30
    assert f"{kept} / 30" in words(page)
    assert client.post(f"/evaluate/{path.name}/resume", data={}).status_code == 303
    assert 'data-state="done"' in await_end(client, f"/evaluate/{path.name}")
    assert len(Folder.open(path).finished_attempts()) == 30


def test_one_waits_for_its_turn_and_can_be_stopped_meanwhile(served: Served, client: httpx.Client) -> None:
    other = served.app.state.runs.turns.join("somebody else")
    address = begin(client)
    page = client.get(address).text
    assert 'data-state="queued"' in page
    assert "runs before this one: 1" in words(page)
    began = time.monotonic()
    client.post(f"{address}/stop")
    assert time.monotonic() - began < 2
    page = client.get(address).text
    assert 'data-state="problem"' in page
    assert "stopped before the first task was ready" in page
    assert other.ahead == 0
    other.close()
    assert client.get("/evaluate/list").text.count("<td>") == 0, "nothing of it is on disk"


def test_the_page_speaks_german(client: httpx.Client) -> None:
    name = fake({"a": [True]})
    german = {"Accept-Language": "de"}
    assert "Wie gut ist es?" in client.get("/evaluate", headers=german).text
    assert "von 1 Aufgaben sind gelöst" in client.get(f"/evaluate/{name}", headers=german).text
    assert "Fassung 1 ist richtig" in client.get(f"/evaluate/{name}/attempt?task=a", headers=german).text


def test_another_server_shows_an_unfinished_evaluation_and_offers_to_go_on(client: httpx.Client) -> None:
    folder = Folder.create(new_path("left"), plan(seeds=(0,)), toys(2))
    folder.write("toy-1", 0, attempt([True]))
    page = client.get(f"/evaluate/{folder.path.name}").text
    assert 'data-state="unfinished"' in page
    assert "Go on from here" in page
    assert "1 / 2" in words(page)
    assert folder.path.name in client.get("/evaluate").text
    whole = fake({"a": [True]})
    assert "Go on from here" not in client.get(f"/evaluate/{whole}").text


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({"suite": "humanevalfixx"}, "There is no suite 'humanevalfixx'"),
        ({"suite": "/etc/passwd"}, "There is no suite '/etc/passwd'"),
        ({"strategy": "guess"}, "There is no strategy 'guess'"),
        ({"limit": "many"}, "type a whole number from 1"),
        ({"limit": "-3"}, "type a whole number from 1"),
        ({"seeds": "1e9"}, "Attempts at each task"),
        ({"minutes": "nan"}, "type a number from 0.1"),
        ({"answers": "2"}, "Only `burnish` asks questions"),
        ({"suite": "mbppplus", "protocol": "oracle"}, "cannot be shown"),
        ({"suite": "humaneval", "variant": "docs"}, "has no variants"),
        ({"split": "tune"}, "has no split"),
        ({"model": "auto"}, "measures one model"),
        ({"model": "openai:nobody-knows", "dollars": "1"}, "is not known"),
    ],
)
def test_bad_input_gets_a_sentence_and_the_form_stays_as_it_was(
    client: httpx.Client, typed: dict[str, str], said: str
) -> None:
    answer = client.post("/evaluate", data={**FORM, "rounds": "3", **typed})
    assert answer.status_code == 400
    assert said in unescape(answer.text)
    assert re.search(r'name="rounds" value="3"', answer.text)
    assert 'value="single" checked' in answer.text or "strategy" in typed
    assert list_evaluations() == []


def test_what_only_shows_later_is_said_on_its_page_and_the_form_comes_back_filled(client: httpx.Client) -> None:
    address = begin(client, model="local:no-such-weights", rounds="3", suite="humaneval")
    page = await_end(client, address)
    assert 'data-state="problem"' in page
    assert "no-such-weights" in page
    back = re.search(r'href="(/evaluate\?from=[^"]+)"', page)
    assert back
    assert re.search(r'name="rounds" value="3"', client.get(back[1]).text)


def test_what_is_asked_of_no_evaluation_is_refused_with_a_sentence(client: httpx.Client) -> None:
    known = fake({"a": [True]})
    for path in (
        "/evaluate/nothing-here",
        "/evaluate/..",
        f"/evaluate/{known}/attempt?task=b",
        f"/evaluate/{known}/attempt?task=a&seed=9999999999999999999",
        f"/evaluate/compare?run={known}",
        f"/evaluate/compare?run={known}&run={known}",
    ):
        answer = client.get(path, follow_redirects=True)
        assert answer.status_code in (400, 404) or path.endswith(".."), path
        assert "Traceback" not in answer.text
    assert client.post(f"/evaluate/{known}/resume", data={"tokens": "lots"}).status_code == 400


def test_the_table_of_attempts_shows_what_is_asked_for(client: httpx.Client) -> None:
    name = fake({"right": [True], "wrong": [False]})
    for show, there, missing in (("solved", "right", "wrong"), ("unsolved", "wrong", "right")):
        table = client.get(f"/evaluate/{name}/attempts", params={"show": show}).text.partition("<tbody>")[2]
        assert f">{there}<" in table
        assert f">{missing}<" not in table
    assert ">right<" in client.get(f"/evaluate/{name}?find=RIG").text.partition("<tbody>")[2]


def test_proven_and_wrong_is_counted_and_found(client: httpx.Client) -> None:
    folder = Folder.create(new_path("sure"), plan(seeds=(0,)), toys(2))
    for task, passed in (("toy-1", True), ("toy-2", False)):
        events = [
            one.model_copy(update={"confidence": 0.97, "verdict": "proven"}) if one.kind == "answered" else one
            for one in attempt([passed])
        ]
        folder.write(task, 0, events)
    page = client.get(f"/evaluate/{folder.path.name}").text
    assert "called 2 of 2 attempts proven, and 1 of these are right" in words(page)
    assert page.count("<svg") == 2, "the curve, and the reliability diagram"
    table = client.get(f"/evaluate/{folder.path.name}/attempts?show=proven_wrong").text.partition("<tbody>")[2]
    assert ">toy-2<" in table
    assert ">toy-1<" not in table


def test_hostile_words_are_text_on_every_screen(client: httpx.Client) -> None:
    one, other = (
        fake({f"{HOSTILE}": [won], "b": [True]}, HOSTILE, suite=HOSTILE, model=f"scripted:{HOSTILE}")
        for won in (True, False)
    )
    pages = [client.get(f"/evaluate/{one}").text, client.get("/evaluate").text, client.get("/evaluate?search=img").text]
    pages.append(client.get("/evaluate", params={"search": HOSTILE}).text)
    pages.append(client.get(f"/evaluate/{one}/attempt", params={"task": HOSTILE}).text)
    pages.append(client.get("/evaluate/compare", params={"run": [one, other]}).text)
    pages.append(client.get(f"/evaluate/{one}/attempts", params={"find": HOSTILE}).text)
    pages.append(client.post("/evaluate", data={**FORM, "suite": HOSTILE, "model": HOSTILE}).text)
    for page in pages:
        assert "&lt;img" in page, page
        assert not [bad for bad in ("<img", "\x1b", "\u202e") if bad in page], page


def test_a_report_lies_in_a_frame_that_can_reach_nothing(client: httpx.Client) -> None:
    name = fake({"a": [True]}, HOSTILE)
    assert f'src="/evaluate/{name}/report"' in client.get(f"/evaluate/{name}").text
    report = client.get(f"/evaluate/{name}/report")
    policy = report.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "sandbox allow-scripts" in policy
    assert "frame-ancestors 'self'" in policy
    assert "unsafe-inline" not in policy.partition("script-src")[2].partition(";")[0]
    assert report.headers["x-frame-options"] == "SAMEORIGIN"
    assert "<img src=x" not in report.text


def test_the_list_is_searched_by_every_word(client: httpx.Client) -> None:
    fake({"a": [True]}, suite="humaneval", model="scripted:first")
    fake({"a": [True]}, suite="mbpp", model="scripted:second")
    found = client.get("/evaluate/list", params={"search": "MBPP second"}).text
    assert "scripted:second" in found
    assert "scripted:first" not in found
    assert "Nothing is found" in client.get("/evaluate/list", params={"search": "mbpp first"}).text


def test_every_suite_and_strategy_has_a_sentence_in_both_languages() -> None:
    assert SUITE_WORDS.keys() == SUITES.keys()
    assert STRATEGY_WORDS.keys() == STRATEGIES.keys()
    labels = [known.label for known in NUMBERS.values()]
    assert not {*SUITE_WORDS.values(), *STRATEGY_WORDS.values(), *labels} - read_german().keys()


@pytest.mark.slow
@pytest.mark.browser
def test_the_curve_grows_to_its_end_in_a_browser(
    open_page: Callable[..., Any], served: Served, cache: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from burnish.evals.suites import SuiteInfo

    suite = SuiteInfo("toys", "toys", 6, lambda request: [toy(n, sleep=0.5) for n in range(1, 9)])
    monkeypatch.setitem(SUITES, "toys", suite)
    page = open_page("/evaluate")
    page.check("input[name=suite][value=toys]")
    page.check("input[name=strategy][value=single]")
    page.wait_for_selector("#model option[value='scripted:gold']", state="attached")
    page.select_option("#model", "scripted:gold")
    page.fill("#seeds", "3")
    page.click("button.primary")
    page.wait_for_selector("#evaluation .plot svg", timeout=30_000)
    seen = set()
    while page.locator("#evaluation[data-state=done]").count() == 0:
        progress = page.locator("#evaluation progress")
        seen.add(progress.first.get_attribute("value") if progress.count() else None)
        page.wait_for_timeout(300)
    assert len(seen - {None}) >= 2, "the curve was seen on its way"
    assert "24 / 24" in page.inner_text("#evaluation")
    page.click("summary:has-text('The whole report')")
    report = page.frame_locator("iframe")
    report.locator(".grid button").first.click()
    report.locator("dialog[open]").wait_for()
