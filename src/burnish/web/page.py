"""How a page is made: its language, its menu, and the templates that write it.

Every value that reaches a template is escaped there, so what a model or a file says is text on every screen. Only what
another template has written is put in as it is.
"""

import tomllib
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from burnish.commands.models import format_size
from burnish.errors import SetupProblem
from burnish.models.names import split_names
from burnish.redact import model_name
from burnish.report.narrate import add_confidence
from burnish.text import one_line, strip_controls
from burnish.version import __version__

Translate = Callable[..., str]
"""An English sentence in the reader's language: `t("{n} tests", n=3)`."""


class Tab(NamedTuple):
    """A view's place in the menu."""

    name: str
    path: str


LANGUAGES = {"en": "English", "de": "Deutsch"}
LANGUAGE_COOKIE = "burnish-language"


@cache
def read_german() -> Mapping[str, str]:
    """English sentences and what they are in German."""
    return dict(tomllib.loads((files("burnish.web") / "german.toml").read_text("utf-8")))


def translator(language: str) -> Translate:
    """What says sentences in this language. One that has no translation stays English."""
    table = read_german() if language == "de" else {}

    def translate(sentence: str, **values: object) -> str:
        text = table.get(sentence, sentence)
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
    engine.filters |= {"moment": format_moment, "models": format_models, "size": format_size}
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
