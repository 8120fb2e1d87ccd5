"""From a sentence to its result, in a real browser."""

from collections.abc import Callable
from typing import Any

import pytest

SENTENCE = "a function double(n), e.g. double(2) == 4"


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
