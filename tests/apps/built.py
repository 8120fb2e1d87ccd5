"""Builds with a scripted model: the plan is a given one, and checkpoints say what a test wants."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from burnish.apps.attempt import start_build
from burnish.apps.blueprint import Blueprint
from burnish.apps.planning import Planned
from burnish.commands.build import LIMITS, BuildOptions, build_request, deliver
from burnish.events import Evidence
from burnish.models.model import Model
from burnish.models.scripted import ScriptedModel
from burnish.runs import Run, Store
from burnish.runs.attempt import Resources, RunHandle
from tests.support import block

SENTENCE = "a list of books to lend"
CHECKS = ("functional", "quality", "performance", "integration")
HOURS = "def hours(pages: int) -> int:\n    return -(-pages // 30)"
ALSO = "def hours(pages: int) -> int:\n    return (pages + 29) // 30"
WRONG = "def hours(pages: int) -> int:\n    return pages"
EXAMPLES = ["hours(30) == 1", "hours(31) == 2"]


def plan_books(**changed: Any) -> Blueprint:
    """Books, and how long it takes to read one, which no rule can build; and who has borrowed them."""
    hours = {
        "name": "hours",
        "label": "Hours",
        "gives": "integer",
        "sentence": "the hours that it takes to read so many pages, 30 in each, rounded up",
        "takes": ["pages"],
        "examples": EXAMPLES,
    }
    everyone = {"read": "everyone", "write": "everyone"}
    book = {
        "name": "book",
        "label": "Book",
        "plural": "Books",
        "fields": [
            {"name": "title", "label": "Title", "type": "text"},
            {"name": "pages", "label": "Pages", "type": "integer"},
        ],
        "computed": [hours],
        **everyone,
    }
    loan = {
        "name": "loan",
        "label": "Loan",
        "plural": "Loans",
        "parent": "book",
        "fields": [
            {"name": "book", "label": "Book", "type": "reference", "target": "book"},
            {"name": "back", "label": "Back", "type": "date", "required": False},
        ],
        **everyone,
    }
    data = {"title": "Books", "sentence": SENTENCE, "entities": [book, loan]}
    return Blueprint.model_validate(data | changed)


def script(*codes: str) -> dict[str, list[str]]:
    """A model that fills a plan with nothing, and answers each question for a function with the next of these."""
    answers = [block(code) for code in codes or (HOURS, ALSO)]
    asking = dict.fromkeys(("draft", "rewrite", "repair", "reflect", "second opinion"), answers)
    tests = block("assert hours(0) == 0\nassert hours(60) == 2")
    return {
        "plan": ["{}"],
        "specify": ["def hours(pages: int) -> int:"],
        "assume": ["none"],
        "tests": [tests],
        **asking,
    }


class FakeJudge:
    """In place of the checkpoints: fails what a test names, wherever a text is in the files."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, blueprint: Blueprint | None = None, plans: bool = True) -> None:
        self.bad: dict[str, str] = {}
        """A text, by the checkpoint or module that fails with it."""
        self.file = ""
        """What findings name."""
        self.silent: tuple[str, ...] = ()
        self.judged: list[Sequence[str]] = []
        planned = Planned(blueprint=blueprint or plan_books())
        if plans:
            monkeypatch.setattr("burnish.apps.planning.read_plan", lambda sentence, answer: planned)
        monkeypatch.setattr("burnish.apps.graph.judge_app", self.judge_app)
        monkeypatch.setattr("burnish.apps.graph.run_contract_tests", self.run_contract_tests)

    def judge_app(self, blueprint: Blueprint, files: Mapping[str, str], *more: object) -> tuple[Evidence, ...]:
        self.judged.append(CHECKS)
        return tuple(self._answer(name, name, files) for name in CHECKS)

    def run_contract_tests(
        self, files: Mapping[str, str], layer: object, tests: Sequence[str], *more: object
    ) -> Evidence:
        name = Path(tests[0]).stem.removeprefix("test_")
        self.judged.append([name])
        return self._answer("functional", name, files)

    def _answer(self, check: str, about: str, files: Mapping[str, str]) -> Evidence:
        if about in self.silent:
            return Evidence(check=check, verdict="not_run", why="there is no browser")
        bad = about in self.bad and any(self.bad[about] in text for text in files.values())
        return Evidence(
            check=check, verdict="failed" if bad else "passed", why="as the test wants it", details={"file": self.file}
        )


def begin(model: Model | dict[str, list[str]], sentence: str = SENTENCE, **asked: Any) -> tuple[RunHandle, Model]:
    """Begin to build, and who answers."""
    store, watch, limits = asked.pop("store", Store()), asked.pop("watch", None), asked.pop("limits", LIMITS)
    review = asked.pop("review", None)
    answering = ScriptedModel(model) if isinstance(model, dict) else model
    options = BuildOptions(sentence, **asked)
    request = build_request(options, (answering,), limits=limits, store=store, review=review is not None)
    return start_build(request, Resources((answering,), store, watch, review=review)), answering


def make(model: Model | dict[str, list[str]], sentence: str = SENTENCE, **asked: Any) -> Run:
    """The same, once it is over and delivered."""
    store = asked.setdefault("store", Store())
    return deliver(begin(model, sentence, **asked)[0].wait(), store)


def read_files(folder: Path) -> dict[str, bytes]:
    """All files of an app, without git's."""
    found = (path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}
