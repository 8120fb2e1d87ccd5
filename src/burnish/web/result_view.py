"""What the page of a run that is over shows of its result: code, checks, what was said of it, and what can be done.

The colours of code are Pygments', whose output is HTML that it has escaped itself.
"""

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import PythonLexer

from burnish.checks.check import read_findings
from burnish.commands.apply import diff_of
from burnish.errors import SetupProblem
from burnish.events import Evidence, FeedbackGiven, RunFinished
from burnish.events.feedback import Comment
from burnish.events.history import Run, Version
from burnish.report.deliverables import read_module_name, read_suite
from burnish.text import strip_controls
from burnish.web.page import Translate
from burnish.web.steps import APP_CHECKS, CHECKS
from burnish.web.work.try_call import CallableFunction, list_functions

MOST_FINDINGS = 20
MADE_BY = {
    "draft": "written from the sentence",
    "rewrite": "written afresh",
    "repair": "repaired by the model",
    "reflect": "repaired by the model",
    "tweak": "a small change, tried without the model",
    "refine": "made better after the tests passed",
    "review": "changed as a person wished",
    "user": "written by a person",
    "given": "as it was before",
}
"""How a version came about, in plain words."""
BASIS = {
    r"(?P<n>\d+) (example|test)s? that notices? (?P<share>\d+ %) of small changes": (
        "Examples and tests that decide: {n}. Of small mistakes in the code they notice {share}."
    ),
    r"(?P<n>\d+) (example|test)s?": "Examples and tests that decide: {n}.",
    r"no example": "There was no example that decides.",
    r"(?P<n>\d+) of (?P<of>\d+) independent versions? agrees? on (?P<inputs>\d+) inputs?": (
        "{n} of {of} versions, written without sight of each other, do the same on {inputs} inputs."
    ),
    r"(?P<n>\d+) of (?P<of>\d+) independent versions? agrees?": (
        "{n} of {of} versions, written without sight of each other, do the same."
    ),
    r"1 of 1 independent version was written": "Only one version was written: there was nothing to compare it with.",
    r"a small edit agrees": "A change of one place, found without the model, does the same.",
    r"a small edit that no answer of the model agrees with": (
        "It is a change of one place, found without the model; no answer of the model does the same."
    ),
    r"nothing that no test asks for changes on (?P<n>\d+) inputs?": (
        "On {n} inputs nothing has changed that no test asks for."
    ),
    r"(?P<n>\d+) of (?P<of>\d+) tests of the model's own pass": "Of the model's own tests {n} of {of} pass.",
}
"""What a confidence may rest on, as a run's record says it, and as a sentence for people."""
DIFF_KINDS = {"-": "out", "+": "in", "@": "at"}


class CodeLine(NamedTuple):
    """A line of code, and what people said of it."""

    number: int
    html: Markup
    notes: tuple[FeedbackGiven, ...]


class AnsweredCheck(NamedTuple):
    """One check, with its answer or without."""

    question: str
    evidence: Evidence | None
    findings: tuple[tuple[int, str], ...]
    """Line and words of each."""


@dataclass(frozen=True)
class ResultView:
    """What came of a run; where it was stopped or broke, as far as there is something."""

    run: Run
    best: Version | None
    """The version that is shown."""

    @property
    def code(self) -> str:
        """What is shown; empty if there is none."""
        return self.best.code if self.best else ""

    def tell_basis(self, t: Translate) -> list[str]:
        """What the confidence rests on, a sentence a point. One without a sentence stays as the record says it."""
        finished, points = self.run.ending(RunFinished), list[str]()
        for point in finished.basis.split(", ") if finished else ():
            found = ((re.fullmatch(said, point), sentence) for said, sentence in BASIS.items())
            points.append(next((t(sentence, **match.groupdict()) for match, sentence in found if match), point))
        return points

    @cached_property
    def lines(self) -> list[CodeLine]:
        """The code in colours, with comments on its lines."""
        number = self.best.number if self.best else None
        said = [one for one in self.run.feedback if isinstance(one.opinion, Comment) and one.version == number]

        def find_notes(line: int) -> tuple[FeedbackGiven, ...]:
            return tuple(one for one in said if isinstance(one.opinion, Comment) and one.opinion.line == line)

        return [CodeLine(at, html, find_notes(at)) for at, html in enumerate(colour_lines(self.code), 1)]

    @cached_property
    def diff(self) -> list[tuple[str, str]]:
        """Of a repair, what it changes in the file."""
        try:
            return mark_lines(diff_of(self.run).splitlines()) if self.run.settings.fix else []
        except SetupProblem:
            return []

    @cached_property
    def functions(self) -> list[CallableFunction]:
        """What can be called with one's own arguments."""
        try:
            suite = read_suite(self.run)
        except SetupProblem:
            return list_functions(self.code, "")
        return list_functions(self.code, suite.entry_point, (*suite.given, *suite.model))

    @cached_property
    def checks(self) -> list[AnsweredCheck]:
        """Every check, those that were not run too."""
        known = {item.check: item for item in self.run.evidence}
        asked = APP_CHECKS if self.run.started.verb == "build" else CHECKS
        found = ((name, known.get(name)) for name in {**asked, **known})
        return [AnsweredCheck(asked.get(name, name), item, _list_findings(item)) for name, item in found]

    @property
    def can_follow(self) -> bool:
        """Whether a further sentence can go on from it."""
        return bool(self.run.started.verb == "write" and self.run.spec and self.starts)

    @cached_property
    def starts(self) -> list[Version]:
        """Versions that a further sentence can go on from, the one that is shown first."""
        found = [version for version in self.run.versions if version.number and version.code and not version.problem]
        return sorted(found, key=lambda version: self.best is None or version.number != self.best.number)

    @cached_property
    def has_rivals(self) -> bool:
        """Whether there are two versions to be compared."""
        return len(list_rivals(self.run)) > 1

    @cached_property
    def module(self) -> str:
        """What its module is called."""
        try:
            return read_module_name(self.run)
        except SetupProblem:
            return "solution"


def _list_findings(item: Evidence | None) -> tuple[tuple[int, str], ...]:
    return tuple((one.line, one.what) for one in read_findings(item)[:MOST_FINDINGS]) if item else ()


def list_rivals(run: Run) -> list[Version]:
    """Versions that can be run, of equal ones the first, and the result in the place of its equals."""
    found: dict[str, Version] = {}
    for version in run.versions:
        is_result = run.final is not None and version.number == run.final.number
        if version.code and not version.problem and (is_result or version.code.strip() not in found):
            found[version.code.strip()] = version
    return list(found.values())


def colour_lines(code: str, lexer: type[Lexer] = PythonLexer) -> list[Markup]:
    """Code line by line, as HTML in the classes of Pygments."""
    text = strip_controls(code).removesuffix("\n")
    html = highlight(text, lexer(stripnl=False, ensurenl=False), HtmlFormatter(nowrap=True))
    return [Markup(line) for line in html.removesuffix("\n").split("\n")] if text else []


def diff_lines(before: str, after: str) -> list[tuple[str, str]]:
    """What differs between two texts, each line with its kind: in, out, at or none."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=3)
    return mark_lines(list(lines))


def mark_lines(diff: Sequence[str]) -> list[tuple[str, str]]:
    """The lines of a unified diff with their kinds, without its head."""
    return [(DIFF_KINDS.get(line[:1], ""), line) for line in diff[2:]]
