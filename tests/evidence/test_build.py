"""`evidence.json` says who made each part, claims nothing that nobody knows, and names no place of this machine."""

import json
from pathlib import Path

import pytest

from burnish import Run
from burnish.events import (
    Asked,
    CheckFinished,
    CodeProposed,
    Decided,
    Event,
    Evidence,
    Message,
    ModelReplied,
    Move,
    NewTest,
    Rated,
    Reviewed,
    RunFinished,
    RunStarted,
    SpecAgreed,
    Strengthened,
    TestsProposed,
    UserAnswered,
)
from burnish.evidence import Dossier, build_dossier, render_dossier
from burnish.evidence.folder import parse_dossier
from burnish.evidence.schema import hash_content
from burnish.evidence.suite import build_suite, compare_test_file, list_disputed
from burnish.models.catalog import CATALOG
from burnish.report.deliverables import read_suite, render_tests

SMALL = "local:qwen2.5-coder-0.5b"
WORDS = "a function double(n), e.g. double(2) == 4"
HOME = "/home/ann/models/tuned.gguf"


def asked(ask_id: str, purpose: str) -> list[Event]:
    message = Message(role="user", content="?")
    question = {"temperature": 0, "top_p": 1, "max_tokens": 9, "seed": 0, "prompt_version": "2"}
    return [
        Asked(ask_id=ask_id, purpose=purpose, messages=(message,), **question),  # type: ignore[arg-type]
        ModelReplied(ask_id=ask_id, purpose=purpose, text="…", tokens_in=7, tokens_out=3, seconds=0.1, dollars=0.0),
    ]


CASES = [
    {"name": f"tests.py::{name}", "outcome": "passed"}
    for name in ("test_given_1", "test_given_2", "test_given_3", "test_model_1", "test_added_1", "test_pinned_1")
]
EVENTS: list[Event] = [
    RunStarted(
        run_id="double-1a2b", verb="write", prompt=WORDS, model=f"{SMALL},local:{HOME}", burnish="0.1.0", at=1.5
    ),
    UserAnswered(assumption="zero is kept", words="double(0) == 0"),
    SpecAgreed(entry_point="double", signature="double(n)", given_tests=("assert double(2) == 4",)),
    Decided(choice="begin", reason="Nothing is written yet.", moves=(Move(kind="draft", version=1, round=0),)),
    *asked("draft-1", "draft"),
    *asked("tests-0", "tests"),
    CodeProposed(version=1, code="def double(n): return n", by="draft", ask_id="draft-1"),
    TestsProposed(tests=("assert double(1) == 2", "assert double(9) == 9")),
    Reviewed(where="tests", said="edited", words="more", text="assert double(5) == 10"),
    SpecAgreed(
        entry_point="double",
        signature="double(n)",
        given_tests=("assert double(2) == 4", "assert double(0) == 0", "assert double(5) == 10"),
    ),
    Decided(
        choice="refine",
        reason="Version 1 fails at /home/ann/work/solution.py: the larger model is asked.",
        moves=(Move(kind="reflect", version=2, round=1, model=1, base=1),),
    ),
    *asked("reflect-2", "reflect"),
    CodeProposed(version=2, code="def double(n): return n * 2", by="reflect", ask_id="reflect-2", round=1, base=1),
    CodeProposed(version=3, code="def double(n):\n    return 2 * n\n", by="refine", round=1, base=2),
    Decided(choice="judge", reason="Version 3 passes all tests that count."),
    Strengthened(
        version=3,
        tests=(
            NewTest(test="assert double(-1) == -2", origin="agreed", notices=("m1",), why="3 of 3 versions say so"),
            NewTest(test="assert double('a') == 'aa'", origin="pinned", notices=("m2",)),
        ),
    ),
    CheckFinished(
        evidence=Evidence(check="tests", verdict="passed", why="all 6 tests passed", details={"cases": CASES})
    ),
    CheckFinished(evidence=Evidence(check="mutation", verdict="not_run", why="mutmut died in /tmp/burnish-x/run.py")),
    RunFinished(verdict="proven", why="all pass", version=3, disputed=("assert double(9) == 9",)),
    Rated(stars=4, comment="short"),
]
RUN = Run(EVENTS)
FILES = {"solution.py": RUN.code, "test_solution.py": "…", "report.md": "…"}


@pytest.fixture
def dossier() -> Dossier:
    return build_dossier(RUN, FILES, {"python": "3.11.7"})


def test_the_way_of_the_code_is_told_from_the_delivered_version_back(dossier: Dossier) -> None:
    assert dossier.code
    refined, reflected, drafted = dossier.code.steps
    assert [step.version for step in dossier.code.steps] == [3, 2, 1]
    assert (refined.made.by, refined.made.model, refined.made.ask_id) == ("refine", "", "")
    assert (reflected.made.by, reflected.made.model, reflected.made.round) == ("reflect", "local:tuned.gguf", 1)
    assert (drafted.made.model, drafted.made.prompt_version, drafted.made.ask_id) == (SMALL, "2", "draft-1")
    assert drafted.made.decision == "Nothing is written yet."
    assert dossier.code.chosen == "Version 3 passes all tests that count."


def test_each_test_says_where_it_comes_from(dossier: Dossier) -> None:
    told = {test.test: (test.origin, test.given_in, test.made.by, test.result) for test in dossier.tests}
    assert told == {
        "assert double(2) == 4": ("given", "words", "given", "passed"),
        "assert double(0) == 0": ("given", "answer", "user", "passed"),
        "assert double(5) == 10": ("given", "review", "user", "passed"),
        "assert double(1) == 2": ("model", "", "tests", "passed"),
        "assert double(9) == 9": ("model", "", "tests", "not_run"),
        "assert double(-1) == -2": ("agreed", "", "strengthen", "passed"),
        "assert double('a') == 'aa'": ("pinned", "", "strengthen", "passed"),
    }
    assert [test.test for test in dossier.tests if test.disputed] == ["assert double(9) == 9"]
    assert {test.why for test in dossier.tests if test.origin == "agreed"} == {"3 of 3 versions say so"}
    assert {test.made.ask_id for test in dossier.tests if test.origin == "model"} == {"tests-0"}


def test_what_is_not_known_of_a_model_is_said_to_be_unknown(dossier: Dossier) -> None:
    known, other = dossier.models
    assert (known.licence, known.weights_sha256) == ("Apache-2.0", CATALOG[SMALL].sha256)
    assert (other.name, other.licence, other.weights_sha256) == ("local:tuned.gguf", "unknown", "unknown")


def test_cost_verdict_checks_and_peoples_words_are_told(dossier: Dossier) -> None:
    assert (dossier.verdict, dossier.cost.calls, dossier.cost.tokens_in, dossier.cost.dollars) == ("proven", 3, 21, 0.0)
    assert [(said.check, said.verdict) for said in dossier.checks] == [("tests", "passed"), ("mutation", "not_run")]
    assert [(word.kind, word.words) for word in dossier.people] == [
        ("answered", "double(0) == 0"),
        ("reviewed", "more"),
        ("rated", "short"),
    ]


def test_no_place_and_no_secret_of_this_machine_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-very-secret")
    broken = Evidence(
        check="quality", verdict="not_run", why="ruff said sk-very-secret in /opt/ann/x to http://ann:pw@box:80/v1"
    )
    text = render_dossier(build_dossier(Run([*EVENTS[:-2], CheckFinished(evidence=broken), *EVENTS[-2:]]), FILES))
    assert "mutmut died in run.py" in text
    assert "fails at solution.py: the larger" in text
    assert "ruff said (secret) in x to (an address)" in text
    assert not [part for part in ("/home", "/tmp", "/opt", "ann", "sk-very", str(Path.home())) if part in text]


def test_paths_that_the_task_is_about_stay_as_they_are() -> None:
    words = "a function base(path), e.g. base('/home/ann/x.txt') == 'x.txt'"
    started = EVENTS[0].model_copy(update={"prompt": words})
    assert build_dossier(Run([started, *EVENTS[1:]]), {}).task.words == words


def test_the_same_run_gives_the_same_text_and_it_can_be_read_again(dossier: Dossier) -> None:
    text = render_dossier(dossier)
    assert text == render_dossier(build_dossier(Run(EVENTS), FILES, {"python": "3.11.7"}))
    assert text.isascii()
    assert parse_dossier(json.loads(text)) == dossier
    assert dossier.seal == hash_content(json.loads(text))


def test_the_seal_minds_the_content_and_not_the_layout(dossier: Dossier) -> None:
    data = json.loads(render_dossier(dossier))
    turned = dict(reversed(data.items()))
    assert hash_content(turned) == dossier.seal
    turned["why"] += " "
    assert hash_content(turned) != dossier.seal


def test_the_suite_of_the_run_can_be_made_from_it_again(dossier: Dossier) -> None:
    assert build_suite(dossier).render(list_disputed(dossier)) == read_suite(RUN).render(RUN.disputed)


def test_added_and_pinned_tests_can_be_set_aside_too() -> None:
    end = RunFinished(
        verdict="proven", why="", version=3, disputed=("assert double(-1) == -2", "assert double('a') == 'aa'")
    )
    run = Run([end if isinstance(event, RunFinished) else event for event in EVENTS])
    dossier = build_dossier(run, FILES)
    assert list_disputed(dossier) == run.disputed
    assert list(compare_test_file(dossier, render_tests(run))) == []
    assert next(compare_test_file(dossier, render_tests(RUN))).startswith("the listed test test_model_2 is not in")


def test_a_run_that_was_broken_off_has_evidence_too() -> None:
    dossier = build_dossier(Run(EVENTS[:4]), {"report.md": "…"})
    assert (dossier.verdict, dossier.code, dossier.checks) == (None, None, ())
    assert parse_dossier(json.loads(render_dossier(dossier))) == dossier


def test_a_test_that_a_person_took_back_is_told() -> None:
    spec = SpecAgreed(entry_point="double", signature="double(n)", given_tests=("assert double(5) == 10",))
    events = [spec if isinstance(event, SpecAgreed) else event for event in EVENTS]
    assert build_dossier(Run(events), {}).task.taken_back == ("assert double(2) == 4",)
