"""What people think of a result: said, changed and taken back; and which of two versions they like better, blind."""

import secrets
from urllib.parse import quote, unquote

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from burnish.commands.rate import MOST_CODE, Rating, rate
from burnish.errors import SetupProblem
from burnish.events.history import Run, Version
from burnish.web.forms import read_form, read_text
from burnish.web.page import render
from burnish.web.result_view import MADE_BY, colour_lines, list_rivals
from burnish.web.views.result import open_result

TAB = None
NAME_COOKIE = "burnish-name"
LETTERS = "AB"
YEAR = 365 * 24 * 3600


async def show_name(request: Request) -> Response:
    """The field for a name, with the one that was given last."""
    return render(request, "result/name.html", by=_read_name(request))


def _read_name(request: Request) -> str:
    return unquote(request.cookies.get(NAME_COOKIE, ""))[:80]


async def give(request: Request) -> Response:
    """Keep what was said, or take it back."""
    form = await read_form(request)

    def build() -> Response:
        view, _ = open_result(request)
        by = read_text(form, "by")
        try:
            rate(view.id, by=by, store=request.app.state.store, **read_rating(form))
        except SetupProblem as problem:
            return _explain_beside(request, problem)
        response = render(
            request, "result/feedback_given.html", view=open_result(request)[0], by=by or _read_name(request)
        )
        if by:
            response.set_cookie(NAME_COOKIE, quote(by), max_age=YEAR, httponly=True, samesite="strict")
        return response

    return await run_in_threadpool(build)


def read_rating(form: FormData) -> Rating:
    """What a form says, as `rate` takes it. Raises SetupProblem where it says nothing."""
    if form.get("take_back"):
        return {"take_back": read_text(form, "take_back")}
    kind, words, stars = read_text(form, "kind"), read_text(form, "words", MOST_CODE), read_text(form, "stars")
    if kind == "wrong" and not words:
        raise SetupProblem("Say what is wrong.")
    if kind == "code":
        return {"code": f"{words}\n"}
    if kind == "example":
        return {"example": words}
    rating: Rating = {"comment": words}
    if change := read_text(form, "change"):
        rating["change"] = change
    if stars:
        rating["stars"] = int(stars) if stars.isdecimal() and len(stars) < 3 else 0
    elif kind in ("up", "down", "wrong", "thumbs"):
        rating["thumbs"] = {"up": "up", "down": "down", "wrong": "down"}.get(kind) or read_text(form, "thumbs")
    elif code := read_text(form, "code", MOST_CODE):
        rating["code"] = f"{code}\n"
    elif example := read_text(form, "example"):
        rating["example"] = example
    elif line := read_text(form, "line"):
        rating["line"] = int(line) if line.isdecimal() and len(line) < 7 else 0
    return rating


async def show_pair(request: Request) -> Response:
    """Two versions in a random order: the result and another one, or any two."""

    def build() -> Response:
        view, _ = open_result(request)
        assert view.run
        pair = draw_pair(view.run)
        numbers, shown = ",".join(str(one.number) for one in pair), list(zip(LETTERS, pair, strict=True))
        return render(request, "result/blind.html", view=view, pair=numbers, shown=shown, colour_lines=colour_lines)

    return await run_in_threadpool(build)


def draw_pair(run: Run) -> list[Version]:
    """Two versions that differ, in a random order. Raises SetupProblem where there are no two."""
    rivals, lot = list_rivals(run), secrets.SystemRandom()
    if len(rivals) < 2:
        raise SetupProblem("There is only one version, and nothing to compare it with.")
    result = next((one for one in rivals if run.final and one.number == run.final.number), None)
    if result is None:
        return lot.sample(rivals, 2)
    return lot.sample([result, lot.choice([one for one in rivals if one is not result])], 2)


async def choose(request: Request) -> Response:
    """Keep which of the two was liked better, with the order in which they were shown; then say which was which."""
    form = await read_form(request)

    def build() -> Response:
        view, _ = open_result(request)
        assert view.run
        known = {str(one.number): one for one in view.run.versions}
        pair = [known[number] for number in read_text(form, "pair").split(",") if number in known]
        choice = read_text(form, "choice")
        if len(pair) != 2 or choice not in LETTERS or not choice:
            return _explain_beside(request, SetupProblem("Choose one of the two."))
        better, worse = pair if choice == "A" else reversed(pair)
        order = f"shown blind: A was version {pair[0].number}, B was version {pair[1].number}"
        words = read_text(form, "words")
        try:
            rate(
                f"{view.id}:{better.number}",
                better_than=f"{view.id}:{worse.number}",
                comment=f"{words} ({order})" if words else f"({order})",
                by=read_text(form, "by"),
                store=request.app.state.store,
            )
        except SetupProblem as problem:
            return _explain_beside(request, problem)
        return render(
            request,
            "result/blind_given.html",
            view=open_result(request)[0],
            shown=list(zip(LETTERS, pair, strict=True)),
            choice=choice,
            chosen=better.number,
            made_by=MADE_BY,
        )

    return await run_in_threadpool(build)


def _explain_beside(request: Request, problem: SetupProblem) -> Response:
    """Say it above the forms, which stay as they were filled in."""
    if "hx-request" not in request.headers:
        raise problem
    response = render(request, "parts/problem.html", 400, problem=str(problem))
    response.headers.update({"HX-Retarget": "#feedback-problem", "HX-Reswap": "innerHTML"})
    return response


ROUTES = [
    Route("/feedback/name", show_name),
    Route("/runs/{run}/feedback", give, methods=["POST"]),
    Route("/runs/{run}/blind", show_pair),
    Route("/runs/{run}/blind", choose, methods=["POST"]),
]
