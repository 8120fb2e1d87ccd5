"""The password, asked of whoever comes from another machine without the link."""

import time

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from burnish.web.forms import read_form
from burnish.web.guard import LOGIN, Access, open_door
from burnish.web.page import choose_language, render, translator

TAB = None
SECONDS_A_TRY = 1.0
"""Between two passwords, whoever types them: a thousand years for eleven letters."""


async def show(request: Request) -> Response:
    """The form; where there is no password, the way in is the link."""
    access: Access = request.app.state.access
    return _render(request) if access.password else RedirectResponse("/", 303)


async def enter(request: Request) -> Response:
    """Open the door to who knows the word. Between the look at the clock and the note of it nothing is awaited."""
    form, state, t = await read_form(request), request.app.state, translator(choose_language(request))
    now = time.monotonic()
    if now - getattr(state, "last_try", -SECONDS_A_TRY) < SECONDS_A_TRY:
        return _render(request, 429, t("One try a second, for all together. Wait a moment, and try again."))
    state.last_try = now
    if not state.access.lets_in(str(form.get("password", ""))):
        return _render(request, 403, t("That is not the password."))
    return open_door(state.access, "/")


def _render(request: Request, status: int = 200, problem: str = "") -> Response:
    return render(request, "login.html", status, problem=problem, tabs=[])


ROUTES = [Route(LOGIN, show), Route(LOGIN, enter, methods=["POST"])]
