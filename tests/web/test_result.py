"""The result of a run in the browser: code in colours, downloads, calls with one's own arguments, and all versions."""

import io
import re
import threading
import time
import zipfile
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest

import burnish
from burnish import Run, Store
from burnish.events import Broke, CheckFinished, CodeProposed, Evidence, RunFinished, RunStarted, SpecAgreed
from burnish.models.scripted import ScriptedModel
from burnish.web.page import JARGON, explain, translator
from burnish.web.result_view import ResultView, colour_lines, diff_lines
from burnish.web.work.try_call import list_functions, read_arguments
from tests.commands.test_fix_from_test import RIGHT, TEST
from tests.commands.test_fix_from_test import project as project
from tests.support import ESC
from tests.web.conftest import Served

GIVEN = "assert double(2) == 4"
FIRST, SECOND = "def double(n): return n * n\n", "def double(n):\n    return n * 2\n"
HOSTILE = f'def double(n):\n    """</code><img src=x onerror=alert(1)>{ESC}[31m\u202e"""\n    return n * 2\n'
ODD = """
def call(how, what=None):
    if how == "loop":
        while True:
            pass
    if how == "raise":
        raise ValueError("not <b>this</b>")
    if how == "sort":
        what.sort()
        return None
    if how == "leave":
        import os
        os._exit(0)
    return what


def other(n):
    print("hello")
    return [n, how_many(n)]


def how_many(n):
    return len(str(n))


def _hidden():
    return 0
"""


def keep(store: Store, code: str = SECOND, ends: bool = True, name: str = "double") -> Run:
    """A run of two versions, on record."""
    run_id, record = store.begin(name)
    with record:
        record.append(RunStarted(run_id=run_id, verb="write", prompt=name, model="scripted:demo", burnish="0"))
        record.append(SpecAgreed(entry_point=name, signature=f"{name}(n)", given_tests=(GIVEN,)))
        record.append(CodeProposed(version=1, code=FIRST, by="draft"))
        record.append(CodeProposed(version=2, code=code, by="rewrite", base=1))
        if ends:
            found = {"findings": [{"file": "solution.py", "line": 2, "what": "a <b>magic</b> number"}]}
            evidence = Evidence(check="quality", verdict="failed", why="too long", figure="3 of 100", details=found)
            record.append(CheckFinished(evidence=evidence))
            record.append(RunFinished(verdict="proven", why="all pass", version=2))
        else:
            record.append(Broke(error="OSError", message="the disk is full"))
    return store.open(run_id)


def ask(client: httpx.Client, run: Run, arguments: str, **form: str) -> str:
    """What the page says to a call."""
    answered = client.post(f"/runs/{run.id}/try", data={"arguments": arguments, **form}, headers={"HX-Request": "true"})
    assert answered.status_code in (200, 400)
    return answered.text


def test_code_is_shown_in_colours_and_never_as_markup(client: httpx.Client, store: Store) -> None:
    run = keep(store, HOSTILE)
    for path in ("", "/versions", "/diff?before=1&after=2", "/blind"):
        page = client.get(f"/runs/{run.id}{path}")
        assert page.status_code == 200
        assert "&lt;img src=x onerror=alert(1)&gt;" in page.text
        assert not [bad for bad in ("<img", ESC, "\u202e") if bad in page.text]
    assert '<span class="nf">double</span>' in client.get(f"/runs/{run.id}").text


def test_every_line_of_code_is_a_line_of_its_own() -> None:
    code = '\ndef f():\n    """a\n\n    b"""\n    return 1\n'
    assert len(colour_lines(code)) == len(code.splitlines())
    assert colour_lines("") == []
    assert diff_lines("a\nb\n", "a\nc\n") == [("at", "@@ -1,2 +1,2 @@"), ("", " a"), ("out", "-b"), ("in", "+c")]


def test_a_check_answers_in_plain_words_and_one_that_was_not_run_says_so(client: httpx.Client, store: Store) -> None:
    run = keep(store)
    page = client.get(f"/runs/{run.id}").text
    rows = ResultView(run, run.final).checks
    assert [row.question for row in rows if row.evidence] == ["Is it easy to read and change?"]
    assert all(row.question in page for row in rows)
    assert "a &lt;b&gt;magic&lt;/b&gt; number" in page
    assert page.count("not looked at") >= 6


def test_an_app_answers_for_its_four_checkpoints_and_for_no_check_of_a_function(store: Store) -> None:
    run_id, record = store.begin("app")
    with record:
        record.append(RunStarted(run_id=run_id, verb="build", prompt="a list", model="", burnish="0"))
        record.append(CheckFinished(evidence=Evidence(check="functional", verdict="passed", why="all pass")))
        record.append(RunFinished(verdict="plausible", why="it does what its plan says"))
    run = store.open(run_id)
    checks = ResultView(run, run.final).checks
    assert [one.evidence.check if one.evidence else None for one in checks] == ["functional", None, None, None]


def test_words_of_the_trade_say_on_hover_what_they_mean_in_both_languages(client: httpx.Client, store: Store) -> None:
    run_id, record = store.begin("double")
    with record:
        record.append(RunStarted(run_id=run_id, verb="write", prompt="double", model="scripted:demo", burnish="0"))
        record.append(SpecAgreed(entry_point="double", signature="double(n)", given_tests=(GIVEN,)))
        record.append(CodeProposed(version=1, code=SECOND, by="draft"))
        words = f"{', '.join(JARGON)} of <b>nstypes</b>"
        record.append(CheckFinished(evidence=Evidence(check="quality", verdict="failed", why=words, figure=words)))
        record.append(RunFinished(verdict="plausible", why=words, version=1, basis=words, confidence=0.5))
    for language, meaning in (("en", "Billionths of a second."), ("de", "Milliardstel einer Sekunde.")):
        page = client.get(f"/runs/{run_id}", headers={"Accept-Language": language}).text
        assert page.count(f'<abbr title="{meaning}">ns</abbr>') == 4, "basis, reason, figure and why"
        told = re.sub(
            r"<abbr title=[^>]*>[^<]*</abbr>", "", page.partition('id="part-result"')[2].partition("</table>")[0]
        )
        assert not re.findall(r"quadratic|advisories|undisputed", told)
        assert "&lt;b&gt;nstypes&lt;/b&gt;" in told
    german = explain("jeder Zweig, 0 von 2 Parametern, kein Zweigwerk", translator("de"))
    assert re.findall(r"<abbr[^>]*>([^<]*)", german) == ["Zweig", "Parametern"]


@pytest.mark.slow
def test_what_a_confidence_rests_on_is_said_in_sentences_in_both_languages(
    client: httpx.Client, store: Store, project: Path
) -> None:
    runs = [
        burnish.write("a function double(n), e.g. double(2) == 4", "scripted:demo", store=store, fast=True),
        burnish.fix(f"{project}/{TEST}", ScriptedModel([RIGHT], whole=True), store=store),
    ]
    for run in runs:
        basis = run.ending(RunFinished).basis.split(", ")  # type: ignore[union-attr]
        english, german = (ResultView(run, run.final).tell_basis(translator(one)) for one in ("en", "de"))
        assert len(english) == len(german) == len(basis)
        assert not {*english} & {*basis}, "none stays as the record says it"
        assert not {*english} & {*german}
        page = client.get(f"/runs/{run.id}", headers={"Accept-Language": "de"}).text
        assert all(point in unescape(re.sub(r"</?abbr[^>]*>", "", page)) for point in german)
    said = {*sum((ResultView(run, run.final).tell_basis(translator("en")) for run in runs), [])}
    assert any("of small mistakes" in one.lower() for one in said)


def test_the_code_and_any_version_can_be_downloaded(client: httpx.Client, store: Store) -> None:
    run = keep(store)
    code = client.get(f"/runs/{run.id}/code")
    assert (code.text, code.headers["content-disposition"]) == (SECOND, "attachment; filename*=utf-8''solution.py")
    assert client.get(f"/runs/{run.id}/versions/1/code").text == FIRST
    assert client.get(f"/runs/{run.id}/versions/7/code").status_code == 400
    assert 'class="out">-def double(n): return n * n' in client.get(f"/runs/{run.id}/diff?before=1&after=2").text


@pytest.mark.slow
def test_everything_is_one_zip_whose_evidence_holds(client: httpx.Client, store: Store, tmp_path: Path) -> None:
    run = burnish.write("a function double(n), e.g. double(2) == 4", "scripted:demo", store=store, fast=True)
    packed = zipfile.ZipFile(io.BytesIO(client.get(f"/runs/{run.id}/all.zip").content))
    assert {*packed.namelist()} == {"solution.py", "test_solution.py", "report.md", "evidence.json"}
    out = tmp_path / "out"
    packed.extractall(out)
    assert burnish.verify(out, store=store).ending == "holds"
    (out / "solution.py").write_text(FIRST)
    assert burnish.verify(out, store=store).ending != "holds"


@pytest.mark.slow
def test_a_repair_shows_what_it_changes_and_is_delivered_whole(
    client: httpx.Client, store: Store, project: Path
) -> None:
    run = burnish.fix(f"{project}/{TEST}", ScriptedModel([RIGHT], whole=True), store=store)
    page = client.get(f"/runs/{run.id}").text
    assert 'class="out">-' in page
    assert 'class="in">+' in page
    packed = zipfile.ZipFile(io.BytesIO(client.get(f"/runs/{run.id}/all.zip").content))
    assert {"fix.diff", "report.md", "evidence.json"} < {*packed.namelist()}


def test_what_there_is_of_a_broken_run_is_shown(client: httpx.Client, store: Store) -> None:
    run = keep(store, ends=False)
    page = client.get(f"/runs/{run.id}").text
    assert "There is no verdict" in page
    assert "the disk is full" in page
    packed = zipfile.ZipFile(io.BytesIO(client.get(f"/runs/{run.id}/all.zip").content))
    assert {*packed.namelist()} == {"report.md", "evidence.json"}
    assert client.get(f"/runs/{run.id}/code").status_code == 400
    assert "What should be different?" in page, "what there is can be gone on from"


@pytest.mark.slow
def test_a_function_is_called_with_ones_own_arguments(client: httpx.Client, store: Store) -> None:
    run = keep(store, ODD, name="call")
    assert "[3, 1]" in ask(client, run, '"back", [3, 1]')
    assert "[1, 3]" in ask(client, run, '"sort", what=[3, 1]'), "an argument that was changed is shown"
    raised = ask(client, run, '"raise"')
    assert "ValueError" in raised
    assert "not &lt;b&gt;this&lt;/b&gt;" in raised
    assert "broke off" in ask(client, run, '"leave"')
    other = ask(client, run, "12", function="other")
    assert "[12, 2]" in other
    assert "hello" in other


@pytest.mark.slow
def test_a_call_that_never_ends_is_ended_and_holds_up_no_other(client: httpx.Client, store: Store) -> None:
    run, said = keep(store, ODD, name="call"), list[str]()
    ask(client, run, '"back", 1')
    began = time.monotonic()
    other = threading.Thread(target=lambda: said.append(ask(client, run, '"loop"')))
    other.start()
    assert "7" in ask(client, run, '"back", 7')
    quick = time.monotonic() - began
    other.join(20)
    assert "not done in time" in said[0]
    assert quick < time.monotonic() - began < 8


@pytest.mark.parametrize(
    "typed",
    [
        '__import__("os").system("x")',
        "1), __import__('os').system('x'), double(1",
        "1) + double(2",
        "1)(2",
        "*[1]",
        "**{'n': 1}",
        "n=1, n=2",
        "hello",
        'f"{1}"',
        "[" * 3000,
        "1" * 5000,
    ],
)
def test_what_is_no_plain_value_is_refused_before_anything_runs(client: httpx.Client, store: Store, typed: str) -> None:
    assert "Type plain values" in ask(client, keep(store), typed)


def test_only_functions_of_the_code_can_be_called(client: httpx.Client, store: Store) -> None:
    run = keep(store, ODD, name="call")
    assert "no such function" in ask(client, run, "1", function="_hidden")
    assert "no such function" in ask(client, run, "1", function="print")
    assert [one.name for one in list_functions(ODD, "other")] == ["other", "call", "how_many"]
    assert list_functions(SECOND, "double", [GIVEN])[0].example == "2"
    assert "cannot be tried here" in client.get(f"/runs/{keep(store, 'class Cart: ...').id}").text
    assert read_arguments("f", " 1, 'a', k=[2, (3,)] ") == (["1", "'a'"], {"k": "[2, (3,)]"})


def test_a_follow_up_goes_on_from_the_result_with_its_model(served: Served, client: httpx.Client, store: Store) -> None:
    run = keep(store)
    page = client.get(f"/runs/{run.id}").text
    assert '<select id="follow-start" name="from_run">' in page
    assert re.findall(r'<option value="([^"]+)">', page)[:2] == [f"{run.id}:2", f"{run.id}:1"], "the result first"
    assert 'name="model" value="scripted:demo"' in page
    begun = served.begin(client, "double(3) == 6 as well", from_run=run.id)
    ends = time.monotonic() + 30
    while not (view := served.view(begun)).run and time.monotonic() < ends:
        time.sleep(0.05)
    assert view.run
    assert view.run.started.continues == run.id
    client.post(f"/runs/{begun}/stop")


@pytest.mark.browser
def test_any_version_is_taken_and_the_work_goes_on_from_it_with_the_tests_in_force(
    open_page: Callable[..., Any], served: Served, store: Store
) -> None:
    run = keep(store)
    page = open_page(f"/runs/{run.id}")
    page.click("details.card[hx-get] > summary")
    page.click("details.version >> nth=0")
    page.click("[data-text$=':1']")
    assert page.evaluate("document.activeElement.id") == "follow-start"
    page.fill("#follow-sentence", "double(3) == 9 as well")
    page.click("button:text-is('Go on from this')")
    page.wait_for_selector("#timeline .step")
    begun = store.open(page.url.rpartition("/")[2])
    served.app.state.runs.find(begun.id).stop()
    task = begun.settings.task
    assert (begun.started.continues, task["base_code"]) == (f"{run.id}:1", FIRST)
    assert task["visible_tests"] == [GIVEN, "assert double(3) == 9"]
    assert f"version 1 of {run.id}" in page.inner_text("#timeline")


def test_a_version_that_is_not_there_or_cannot_be_run_is_not_gone_on_from(client: httpx.Client, store: Store) -> None:
    stopped = keep(store, ends=False)
    page = client.get(f"/runs/{stopped.id}").text
    assert f'<option value="{stopped.id}:1">' in page, "a run without a verdict has versions too"
    assert f"/runs/{stopped.id}" in client.get("/", params={"from": f"{stopped.id}:1"}).text
    run_id, record = store.begin("double")
    with record:
        record.append(RunStarted(run_id=run_id, verb="write", prompt="double", model="scripted:demo", burnish="0"))
        record.append(SpecAgreed(entry_point="double", signature="double(n)", given_tests=(GIVEN,)))
        record.append(CodeProposed(version=1, code="def", by="draft", problem="it does not parse"))
    assert 'id="follow-sentence"' not in client.get(f"/runs/{run_id}").text
    for name in (f"{stopped.id}:3", f"{stopped.id}:", f"{run_id}:1"):
        said = client.post("/write", data={"sentence": "more", "model": "scripted:demo", "from_run": name})
        assert said.status_code == 400, name


@pytest.mark.browser
def test_several_tries_stay_listed_and_copied_code_has_no_line_numbers(
    open_page: Callable[..., Any], store: Store
) -> None:
    run = keep(store)
    page = open_page(f"/runs/{run.id}", permissions=["clipboard-read", "clipboard-write"])
    for number, said in ((21, "42"), (4, "8")):
        page.fill("#try-arguments", str(number))
        page.click("#try button.primary")
        page.wait_for_selector(f".tried:has-text('double({number})') >> pre:has-text('{said}')")
    assert page.locator(".tried").count() == 2
    page.fill("#try-arguments", "[0] * 2")
    page.press("#try-arguments", "Enter")
    page.wait_for_selector("#tries .problem")
    page.click("[data-copy]")
    assert page.evaluate("navigator.clipboard.readText()") == SECOND
    page.click("details.card[hx-get] > summary")
    page.wait_for_selector(".compared-versions .out")
    page.click("details.version >> nth=0")
    page.click("[data-copy='#code-of-1']")
    assert page.evaluate("navigator.clipboard.readText()").strip() == FIRST.strip()
