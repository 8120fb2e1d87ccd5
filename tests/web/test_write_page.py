"""From a sentence to its result, in a real browser."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

import burnish
from burnish import Store
from burnish.models.discovery import ListedModel, ServerModels
from burnish.web.views import evaluate, write
from burnish.web.views.write import EXAMPLES
from tests.web.slow_weights import TINY, SlowSource

SENTENCE = "a function double(n), e.g. double(2) == 4"
COUNT_CLICKS = "addEventListener('click', () => sessionStorage.clicks = 1 + Number(sessionStorage.clicks ?? 0), true)"


@pytest.mark.browser
def test_a_sentence_becomes_tested_code_with_one_question_answered(open_page: Callable[..., Any]) -> None:
    page = open_page("/")
    page.fill("#sentence", SENTENCE)
    page.select_option("#model", "scripted:demo")
    page.click("button.primary")
    page.wait_for_selector("#run[data-state=waiting]", timeout=60_000)
    page.click(".option >> nth=0")
    page.wait_for_selector("#run[data-state=done] .verdict", timeout=60_000)
    assert "return" in page.inner_text("#code")
    assert page.locator(".step").count() > 10


@pytest.mark.browser
def test_three_clicks_and_one_typed_sentence_lead_from_the_opened_page_to_a_proven_answer(
    open_page: Callable[..., Any],
) -> None:
    page = open_page("/")
    page.add_init_script(COUNT_CLICKS)
    page.reload()
    page.keyboard.type(EXAMPLES["A price with tax"])  # the field has the focus from the start
    page.click("#model")
    page.keyboard.type("scripted:demo")
    page.keyboard.press("Enter")
    page.click("button.primary")
    page.wait_for_selector("#run[data-state=done] .verdict.proven", timeout=60_000)
    assert "def with_tax" in page.inner_text("#code")
    assert int(page.evaluate("sessionStorage.clicks")) <= 3


@pytest.mark.slow
@pytest.mark.parametrize("sentence", EXAMPLES.values())
def test_the_demo_knows_every_example_to_click(sentence: str, store: Store) -> None:
    run = burnish.write(sentence, "scripted:demo", store=store, fast=True)
    assert run.verdict in ("proven", "plausible"), run.why


@pytest.mark.browser
def test_an_example_has_a_name_and_the_chosen_model_says_below_the_menu_what_it_is_good_for(
    open_page: Callable[..., Any],
) -> None:
    page = open_page("/", locale="de-DE")
    page.click("text=Schaltjahre")
    assert page.input_value("#sentence") == EXAMPLES["Leap years"]
    assert "Wörter in der Sekunde" in page.inner_text("#model-good-for")
    page.select_option("#model", "scripted:demo")
    assert page.inner_text("#model-good-for").startswith("kein Modell")


@pytest.mark.browser
def test_a_model_that_is_not_here_is_got_from_the_form_with_its_progress_shown(
    open_page: Callable[..., Any], source: SlowSource
) -> None:
    from playwright.sync_api import expect

    page = open_page("/")
    page.fill("#sentence", SENTENCE)
    page.select_option("#model", "scripted:demo")
    expect(page.locator("#estimate")).to_contain_text("it costs nothing")
    expect(page.locator("#estimate button")).to_have_count(0)
    page.select_option("#model", TINY)
    page.click("#estimate button")
    source.may_go.release(5)
    expect(page.locator("#estimate progress")).to_have_attribute("value", "7000")
    source.may_go.release(10)
    expect(page.locator("#estimate progress")).to_have_count(0)
    expect(page.locator("#estimate button")).to_have_count(0)
    expect(page.locator("#model option:checked")).not_to_contain_text("has to be fetched")
    assert (page.input_value("#model"), page.input_value("#sentence")) == (TINY, SENTENCE)


@pytest.mark.browser
@pytest.mark.parametrize(("path", "view"), [("/", write), ("/fix", write), ("/evaluate", evaluate)])
def test_who_chose_a_model_before_all_were_listed_keeps_it(
    open_page: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, path: str, view: Any
) -> None:
    """Servers are asked for their models while somebody fills in the form already."""
    listed, late = threading.Event(), ServerModels(provider="x", address="", models=(ListedModel(name="x:late"),))

    def list_slowly() -> list[ServerModels]:
        listed.wait(20)
        return [late]

    monkeypatch.setattr(view, "list_all_models", list_slowly)
    page = open_page(path)
    chosen = "local:qwen2.5-coder-0.5b"
    assert page.input_value("#model") != chosen
    page.select_option("#model", chosen)
    listed.set()
    page.wait_for_selector("#model option[value='x:late']", state="attached")
    assert page.input_value("#model") == chosen
