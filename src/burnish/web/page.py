"""How a page is made: its language, its menu, and the templates that write it.

Every value that reaches a template is escaped there, so what a model or a file says is text on every screen. Only what
another template has written is put in as it is.
"""

import re
from collections.abc import Callable
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from burnish.commands.models import format_size
from burnish.errors import SetupProblem
from burnish.models.names import split_names
from burnish.redact import model_name
from burnish.report.narrate import add_confidence
from burnish.text import one_line, strip_controls
from burnish.version import __version__
from burnish.web.german import read_german, tell

Translate = Callable[..., str]
"""An English sentence in the reader's language: `t("{n} tests", n=3)`."""


class Tab(NamedTuple):
    """A view's place in the menu."""

    name: str
    path: str


JARGON = {
    "advisories": "Weaknesses of a package that are publicly known.",
    "branches": "The ways that a program can take where it decides something.",
    "standard library": "What comes with Python itself.",
    "types": "Which kind of value goes in or comes out: a number, a text, a list …",
    "parameters": "What goes into a function.",
    "constant": "More data do not make it slower.",
    "linear": "Twice the data take twice the time.",
    "quadratic": "Twice the data take four times the time.",
    "ns": "Billionths of a second.",
    "small changes": "Mistakes that are put into the code on purpose, to see whether the tests notice them.",
    "small edit": "A change of one place in the code, made without the model.",
    "independent versions": "Answers that the model gave without seeing the others.",
    "inputs": "Values that the versions were called with, to see whether they do the same.",
    "undisputed": "No version that seems right fails them.",
    "disputed": "Versions that seem right fail them, so they may be wrong themselves.",
    "tokens": "Models read and write in tokens: about four tokens are three words.",
    "temperature": "How much chance there is in an answer: 0 gives the same one every time.",
}
"""Words that people who do not program may not know, and what they mean."""
GERMAN_JARGON = {
    **{"zweig": "branches", "zweige": "branches", "typangabe": "types", "typangaben": "types"},
    **{"parameter": "parameters", "parametern": "parameters", "quadratisch": "quadratic", "eingaben": "inputs"},
    **{"kleine änderungen": "small changes", "kleinen änderungen": "small changes", "kleine änderung": "small edit"},
    **{"unumstrittene": "undisputed", "unumstrittener": "undisputed", "umstritten": "disputed"},
    "temperatur": "temperature",
}
"""The same words as they stand in German sentences."""
JARGON |= {german: JARGON[english] for german, english in GERMAN_JARGON.items()}
_JARGON = re.compile(rf"\b({'|'.join(sorted(JARGON, key=len, reverse=True))})\b", re.IGNORECASE)

_LINE_TO_TYPE = re.compile(
    r"(?:(?<=[.!?]) (?:Type|See|Look|Count|Open|Settle|To|If)\b[^.:]*|, and if\b[^.:]*|, for example|"
    r",? (?:and |or )?(?:then )?type|, or| from| with| by)?: (?:\./)?burnish [^\n]*\Z"
)
"""Where a sentence goes over into a command for a terminal, which whoever reads it on a page may never have seen."""

LANGUAGES = {"en": "English", "de": "Deutsch"}
LANGUAGE_COOKIE = "burnish-language"


def translator(language: str) -> Translate:
    """What says sentences in this language. One that has no translation stays English."""
    table = read_german() if language == "de" else {}

    def translate(sentence: str, **values: object) -> str:
        text = table.get(sentence, sentence)
        if "why" in values:  # a reason is a sentence, too
            values["why"] = tell(str(values["why"]), language)
        return text.format(**values) if values else text

    return translate


def choose_language(request: Request) -> str:
    """What the reader chose, else what their browser asks for."""
    chosen = request.cookies.get(LANGUAGE_COOKIE, "")
    if chosen in LANGUAGES:
        return chosen
    return "de" if request.headers.get("accept-language", "").lower().startswith("de") else "en"


@cache
def templates() -> Environment:
    """The engine, with what every template may use."""
    engine = Environment(
        loader=PackageLoader("burnish.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    engine.filters |= {"plain": strip_controls, "line": one_line, "seconds": format_seconds, "percent": format_percent}
    engine.filters |= {"moment": format_moment, "models": format_models, "size": format_size, "explain": explain}
    engine.filters["tell"] = tell_reader
    engine.globals |= {"version": __version__, "languages": LANGUAGES, "add_confidence": add_confidence}
    return engine


def render_part(template: str, language: str, **values: Any) -> str:
    """A part of a page as HTML, which other templates take as it is."""
    return Markup(templates().get_template(template).render(t=translator(language), language=language, **values))


def render(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A whole page, or a part of one, for whoever asks."""
    language, state = choose_language(request), request.app.state
    common = {"path": request.url.path, "tabs": state.tabs, "at_work": len(state.runs.at_work)}
    return HTMLResponse(render_part(template, language, **(common | values)), status)


def render_problem(request: Request, problem: Exception, status: int = 400) -> HTMLResponse:
    """What the user can put right: a page, or only the sentence where a part of a page was asked for."""
    part = "hx-request" in request.headers
    name = "parts/problem.html" if part else "problem.html"
    return render(request, name, status, problem=str(problem) if isinstance(problem, SetupProblem) else repr(problem))


def go_to(request: Request, path: str) -> Response:
    """On to another page of ours, for a form that was sent by itself as well."""
    if "hx-request" in request.headers:
        return Response(headers={"HX-Redirect": path})
    return RedirectResponse(path, 303)


def tell_reader(text: str, language: str) -> str:
    """What a run or a check has said, in the reader's language, and without the line to type that it may end with."""
    told = tell(text, language)
    said = _LINE_TO_TYPE.sub("", told) if told == text else told
    return said if said == told or said.endswith((".", "!", "?")) else f"{said}."


def explain(text: str, t: Translate) -> Markup:
    """A text whose words of the trade say on hover what they mean."""
    return Markup(
        _JARGON.sub(lambda word: f'<abbr title="{escape(t(JARGON[word[0].lower()]))}">{word[0]}</abbr>', escape(text))
    )


def format_seconds(seconds: float) -> str:
    """A time for people: "8 s", "3 min"."""
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def format_percent(share: float | None) -> str:
    """A share of 1 as people say it, rounded down, and never all."""
    return "" if share is None else f"{min(99, int(100 * share + 1e-9))} %"


def format_moment(at: float) -> str:
    """A day and a time of it, as every language reads them."""
    return datetime.fromtimestamp(at).strftime("%Y-%m-%d %H:%M")


def format_models(names: str) -> str:
    """Who answered; of a file on this disk only its name."""
    return strip_controls(", ".join(map(model_name, split_names(names))))
