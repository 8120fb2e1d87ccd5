"""What runs and checks have said, in German: every sentence of ours that a page shows of them."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

import burnish
from burnish import Run, Store
from burnish.checks.check import read_findings
from burnish.models.scripted import ScriptedModel
from burnish.report.deliverables import list_open_questions
from burnish.web.german import read_composed, split_literals, tell
from burnish.web.page import translator
from burnish.web.steps import tell_steps
from tests.commands.test_fix_from_test import RIGHT, TEST
from tests.commands.test_fix_from_test import project as project
from tests.support import ASKING, DOUBLE, GOOD, OWN_TESTS, SQUARE, WRONG, script
from tests.web.conftest import Served
from tests.web.test_accessible import list_all_texts
from tests.web.test_check_page import keep_check

OWN_WORDS = ("task", "model", "function", "read", "assumed", "open", "files")
"""Labels of lines that hold what a user, a model or a file said, and nothing else."""
NOT_WORDS = re.compile(r"(assert .*|[\d .,%]*|got: .*)")


def list_said(run: Run) -> Iterator[str]:
    """All that the page of a run shows and that Burnish has composed."""
    yield from (run.why, *list_open_questions(run))
    for item in run.evidence:
        yield from (item.why, item.figure, *(one.what for one in read_findings(item)))
    for step in tell_steps(run.events, translator("en")):
        for line in step.lines:
            yield line.label
            is_printed = not line.label and line.tone == "bad"  # what a test said when it failed
            yield from [line.text] if line.tone != "test" and line.label not in OWN_WORDS and not is_printed else []


def find_english(texts: Iterator[str]) -> set[str]:
    """Those that have no German."""
    return {text for text in texts if not NOT_WORDS.fullmatch(text) and tell(text, "de") == text}


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_all_that_a_run_says_is_said_in_german(store: Store, project: Path) -> None:
    runs = [
        burnish.write(DOUBLE, ScriptedModel(script(draft=SQUARE, repair=[GOOD, SQUARE])), store=store),
        burnish.write("a function double(n)", ScriptedModel(script()), store=store, fast=True),
        burnish.write(DOUBLE, ScriptedModel(script(**dict.fromkeys(ASKING, WRONG))), store=store, fast=True),
        burnish.write(DOUBLE, ScriptedModel(["no"]), store=store, fast=True),
        burnish.fix(f"{project}/{TEST}", ScriptedModel([RIGHT], whole=True), store=store),
    ]
    more = ScriptedModel(script(tests=OWN_TESTS))
    runs.append(burnish.write("also zero, e.g. double(0) == 0", more, from_run=runs[0].id, store=store, fast=True))
    assert {run.verdict for run in runs} == {"proven", "plausible", "failed"}
    assert not (english := find_english(text for run in runs for text in list_said(run))), "\n".join(sorted(english))


def test_a_sentence_that_has_no_german_is_found() -> None:
    planted = "the moon was full, so nothing was measured"
    assert find_english(iter(["nothing was found", planted, "assert f(1) == 2", "75 of 100"])) == {planted}


def test_what_a_model_or_a_user_said_stays_as_it_is_within_a_sentence() -> None:
    said = tell("your example was not understood as a test (nothing was found)", "de")
    assert said == "Ihr Beispiel wurde nicht als Test verstanden (nothing was found)"
    assert tell("{n} tests pass {0} {said!r}", "de") == "{n} tests pass {0} {said!r}"
    assert tell("{said} has no docstring.", "de") == "{said} hat keine Beschreibung."
    assert tell("nothing was found", "en") == "nothing was found"


def test_every_composed_sentence_is_one_that_is_said_and_holds_the_same_values() -> None:
    said = "\n".join(list_all_texts()).lower()
    unsaid = []
    for english, german in read_composed().items():
        names = set(re.findall(r"\{(\w+)\}", english))
        assert set(re.findall(r"\{(\w+)\}", german)) <= names, english
        words = re.findall(r"[^ .,;:()]+", max(split_literals(english), key=len).lower())
        runs = [" ".join(words[at : at + 2]) for at in range(max(1, len(words) - 1))]
        unsaid += [] if len(words) < 3 or any(run in said for run in runs) else [english]
    assert unsaid == [], "nobody says these"


def test_a_check_that_was_not_possible_says_so_in_german(served: Served, client: httpx.Client) -> None:
    client.headers["Accept-Language"] = "de"
    sent = client.post("/check", data={"kind": "quick"}, files={"file": ("a.zip", b"PK no zip")})
    assert "ist kein Zip, oder es ist beschädigt" in sent.text
    saved = keep_check(served, said="tests failed: 1 of 2 tests failed.", state="problem")
    assert saved.said in client.get(f"/check/{saved.id}").text, "what is not known stays as it is"
