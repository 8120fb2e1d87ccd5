"""What people think of a result: given in the browser, read back, changed, taken back; two versions compared blind."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from burnish import Run, Store
from burnish.events.feedback import Comment, Correction, Preference, Stars, Thumbs
from burnish.report.summary import list_feedback
from burnish.web.views.feedback import draw_pair
from tests.support import ESC
from tests.web.test_result import FIRST, HOSTILE, SECOND, keep

HTMX = {"HX-Request": "true"}


def say(client: httpx.Client, run: Run, **form: str) -> httpx.Response:
    """Send one of the forms."""
    return client.post(f"/runs/{run.id}/feedback", data=form, headers=HTMX)


def vote(client: httpx.Client, run: Run, **form: str) -> httpx.Response:
    """Choose one of two versions."""
    return client.post(f"/runs/{run.id}/blind", data=form, headers=HTMX)


@pytest.mark.slow
def test_each_kind_of_feedback_is_kept_with_who_said_it_and_listed(client: httpx.Client, store: Store) -> None:
    run = keep(store)
    said = [
        {"stars": "4", "by": "Ann"},
        {"kind": "up"},
        {"kind": "wrong", "words": "it squares", "by": "Bo"},
        {"kind": "comment", "line": "2", "words": "why not <b>n + n</b>?"},
        {"kind": "example", "words": "double(3) == 6"},
        {"kind": "code", "words": "def double(n):\r\n    return n + n"},
    ]
    for form in said:
        assert say(client, run, **form).status_code == 200, form
    kept = store.open(run.id).feedback
    assert [(one.opinion, one.by, one.words) for one in kept] == [
        (Stars(stars=4), "Ann", ""),
        (Thumbs(up=True), "user", ""),
        (Thumbs(up=False), "Bo", "it squares"),
        (Comment(line=2), "user", "why not <b>n + n</b>?"),
        (Correction(tests="assert double(3) == 6"), "user", ""),
        (Correction(code="def double(n):\n    return n + n\n"), "user", ""),
    ]
    page = client.get(f"/runs/{run.id}").text
    assert all(f'id="said-{one.id}"' in page for one in kept)
    assert page.count("why not &lt;b&gt;n + n&lt;/b&gt;?") >= 2, "in the list, and beside its line"
    assert len(list_feedback(store.open(run.id))) == 6


def test_feedback_is_changed_and_taken_back(client: httpx.Client, store: Store) -> None:
    run = keep(store)
    say(client, run, stars="2", by="Ann")
    say(client, run, kind="comment", line="1", words="short")
    first, second = store.open(run.id).feedback
    say(client, run, kind="stars", stars="5", change=first.id, words="better now")
    say(client, run, kind="comment", change=second.id, words="too short")
    changed = store.open(run.id).feedback
    assert [(one.id, one.opinion, one.words, one.by) for one in changed] == [
        (first.id, Stars(stars=5), "better now", "Ann"),
        (second.id, Comment(line=1), "too short", "user"),
    ]
    assert first.id not in say(client, run, take_back=first.id).text
    assert [one.id for one in store.open(run.id).feedback] == [second.id]


@pytest.mark.slow
def test_a_correction_is_changed(client: httpx.Client, store: Store) -> None:
    run = keep(store)
    say(client, run, kind="example", words="double(3) == 6")
    kept = store.open(run.id).feedback[0]
    assert isinstance(kept.opinion, Correction)
    both = f"{kept.opinion.tests}\nassert double(4) == 8"
    say(client, run, kind="correction", change=kept.id, example=both, words="")
    after = store.open(run.id).feedback[0].opinion
    assert after == Correction(tests=both)


@pytest.mark.parametrize(
    "form",
    [
        {"kind": "comment", "words": ""},
        {"kind": "wrong", "words": ""},
        {"stars": "9"},
        {"kind": "comment", "line": "99", "words": "x"},
        {"kind": "example", "words": "/etc/passwd"},
        {"kind": "example", "words": "double(2) == 5"},
        {"kind": "code", "words": "def"},
        {"kind": "code", "words": "/etc/passwd"},
        {"take_back": "f000000"},
        {"kind": "up", "by": "a\tb\nc"},
    ],
)
def test_what_cannot_be_kept_is_explained_beside_the_form(
    client: httpx.Client, store: Store, form: dict[str, str]
) -> None:
    run = keep(store)
    answered = say(client, run, **form)
    assert (answered.status_code, answered.headers["HX-Retarget"]) == (400, "#feedback-problem")
    assert store.open(run.id).feedback == ()


def test_a_file_of_this_machine_is_never_read_as_a_correction(
    client: httpx.Client, store: Store, work_folder: Path
) -> None:
    (work_folder / "right.py").write_text(SECOND)
    run = keep(store)
    assert say(client, run, kind="example", words="right.py").status_code == 400
    assert store.open(run.id).feedback == ()


def test_a_name_is_remembered_and_is_only_text(client: httpx.Client, store: Store) -> None:
    run, name = keep(store), 'Zoë "<b>" A'
    assert 'value=""' in client.get("/feedback/name").text
    say(client, run, kind="up", by=name)
    assert 'value="Zoë &#34;&lt;b&gt;&#34; A"' in client.get("/feedback/name").text
    assert "<b>&#34; A" not in client.get(f"/runs/{run.id}").text


def test_versions_are_compared_without_saying_which_is_which(client: httpx.Client, store: Store) -> None:
    run = keep(store)
    page = client.get(f"/runs/{run.id}/blind").text
    shown = page.replace('name="pair" value="1,2"', "").replace('name="pair" value="2,1"', "")
    assert "Version" not in shown
    assert "pass" not in shown
    assert {tuple(one.number for one in draw_pair(run)) for _ in range(60)} == {(1, 2), (2, 1)}


def test_a_preference_keeps_the_order_that_was_shown_and_is_revealed_after_the_vote(
    client: httpx.Client, store: Store
) -> None:
    run = keep(store)
    revealed = vote(client, run, pair="2,1", choice="B", words="shorter", by="Ann").text
    assert "You preferred B, which is version 1." in revealed
    kept = store.open(run.id).feedback[0]
    assert (kept.opinion, kept.version, kept.by) == (Preference(than_run=run.id, than_version=2), 1, "Ann")
    assert kept.words == "shorter (shown blind: A was version 2, B was version 1)"
    for wrong in ({"pair": "2,7", "choice": "A"}, {"pair": "2,1", "choice": "C"}, {"pair": "2,1"}, {"pair": "1,1"}):
        assert vote(client, run, **wrong).status_code == 400
    assert len(store.open(run.id).feedback) == 1


def test_where_all_versions_are_alike_there_is_nothing_to_compare(client: httpx.Client, store: Store) -> None:
    run = keep(store, FIRST)
    assert "/blind" not in client.get(f"/runs/{run.id}").text
    assert client.get(f"/runs/{run.id}/blind").status_code == 400


def test_what_people_say_is_text_on_the_page(client: httpx.Client, store: Store) -> None:
    run = keep(store, HOSTILE)
    say(client, run, kind="comment", words="</span><img src=x onerror=alert(1)>", by="<img>")
    assert say(client, run, kind="comment", words=f"{ESC}[31m").status_code == 400
    assert "<img" not in client.get(f"/runs/{run.id}").text


@pytest.mark.browser
def test_two_versions_are_compared_blind_in_a_browser(open_page: Callable[..., Any], store: Store) -> None:
    run = keep(store)
    page = open_page(f"/runs/{run.id}")
    page.fill("#said-by", "Ann")
    page.click("#feedback > details > summary")
    page.wait_for_selector("[name=choice][value=A]")
    assert page.locator(".pairs pre").count() == 2
    code = page.inner_text(".pairs pre >> nth=1")
    page.click("[name=choice][value=B]")
    page.wait_for_selector("text=You preferred B")
    kept = store.open(run.id).feedback[0]
    better = {one.number: one.code for one in run.versions}[kept.version or 0]
    assert (code.strip(), kept.by) == (better.strip(), "Ann")
    assert page.locator("#said li").count() == 1


@pytest.mark.browser
def test_a_click_on_the_number_of_a_line_begins_a_comment_on_it(open_page: Callable[..., Any], store: Store) -> None:
    run = keep(store)
    page = open_page(f"/runs/{run.id}")
    page.click(".at-line >> nth=1")
    page.keyboard.type("why two?")
    page.click("#feedback form.stack button:not(.quiet) >> nth=0")
    page.wait_for_selector("#code .note:has-text('why two?')")
    assert store.open(run.id).feedback[0].opinion == Comment(line=2)
    page.fill("#said-words", "kept as it was typed")
    page.fill("#said-line", "99")
    page.click("#feedback form.stack button:not(.quiet) >> nth=0")
    page.wait_for_selector("#feedback-problem .problem")
    assert page.input_value("#said-words") == "kept as it was typed"
    page.click("text=Take it back")
    page.wait_for_selector("#code .note", state="detached")
