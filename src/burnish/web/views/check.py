"""Check: code that exists goes in, as a zip or as a folder of this machine, and a report comes out."""

from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from burnish.checks.project import CHECKS
from burnish.errors import SetupProblem
from burnish.web.forms import read_form, read_text, read_uploads
from burnish.web.german import tell_page
from burnish.web.guard import LOCAL
from burnish.web.page import Tab, choose_language, go_to, render
from burnish.web.steps import CHECKS as QUESTIONS
from burnish.web.uploads import MOST_BYTES, make_folder, put_code, read_python, unpack
from burnish.web.work.active_checks import MOST_LISTED, ActiveChecks

TAB = Tab("Check", "/check")
SLOW = ("mutation", "performance")
"""Left out where somebody is in a hurry."""
REPORT_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self'; sandbox",
    "X-Frame-Options": "SAMEORIGIN",
    "Cross-Origin-Opener-Policy": "unsafe-none",  # a browser shows no page that is sandboxed and wants more
}
"""A report may load nothing, run nothing, and be shown by pages of this server alone."""


def _checks(request: Request) -> ActiveChecks:
    checks: ActiveChecks = request.app.state.checks
    return checks


def _is_local(request: Request) -> bool:
    """Whether only people at this machine come here: their folders are theirs to look at."""
    return bool(request.app.state.access.host == LOCAL)


async def show_form(request: Request) -> Response:
    """The form, and what was checked before."""

    def build() -> Response:
        recent = _checks(request).list()[:MOST_LISTED]
        local, most = _is_local(request), MOST_BYTES >> 20
        return render(request, "check.html", is_local=local, most=most, recent=recent, active=_checks(request))

    return await run_in_threadpool(build)


async def begin(request: Request) -> Response:
    """Keep what was sent, begin to check it, and go to its page."""
    form = await read_form(request)
    (file,), named = await read_uploads(form, MOST_BYTES, "file"), read_text(form, "folder")
    only = [name for name in CHECKS if name not in SLOW] if read_text(form, "kind") != "thorough" else []

    def start() -> Response:
        if bool(file) == bool(named):
            raise SetupProblem("Choose a zip of your folder, or name a folder of this machine: one of the two.")
        with make_folder(request.app.state.store) as folder:
            if not file:
                path = _find_folder(request, named)
            elif file[0].lower().endswith(".py"):
                path, _ = put_code(folder, read_python(*file), file[0])
            else:
                path = unpack(*file, folder)
            name = file[0] if file else str(path)
            active = _checks(request).begin(name, path, folder, only, request.state.owner)
        return go_to(request, f"/check/{active.saved.id}")

    return await run_in_threadpool(start)


def _find_folder(request: Request, named: str) -> Path:
    """A folder of this machine, in full. Raises SetupProblem where it may not be looked at, or is none."""
    if not _is_local(request):
        raise SetupProblem("Folders of this machine can only be named by people who sit at it. Send a zip.")
    path = Path(named).expanduser()
    if not path.is_absolute():
        raise SetupProblem(f"{named!r} is not the whole path of a folder. Begin with the top: /home/me/project")
    if not path.exists():
        raise SetupProblem(f"There is no folder {named!r} on this machine. Look at the path and try again.")
    return path


async def show(request: Request) -> Response:
    """One check, as it is now."""
    return await run_in_threadpool(_render_check, request, "check/page.html")


async def show_now(request: Request) -> Response:
    """The part of its page that changes."""
    return await run_in_threadpool(_render_check, request, "check/now.html")


def _render_check(request: Request, template: str) -> Response:
    check_id = request.path_params["check"]
    active = _checks(request).find(check_id)
    saved = active.saved if active else _checks(request).open(check_id)
    state: str = saved.state
    if active:
        state = "stopped" if active.is_stopped else "working" if active.began else "queued"
    return render(request, template, saved=saved, active=active, state=state, questions=QUESTIONS)


async def stop(request: Request) -> Response:
    """End it."""
    active = _checks(request).find(request.path_params["check"])
    if active:
        await run_in_threadpool(active.stop)
    return RedirectResponse(f"/check/{request.path_params['check']}", 303)


async def ask_delete(request: Request) -> Response:
    """Is that really meant?"""
    saved = await run_in_threadpool(_checks(request).open, request.path_params["check"])
    return render(request, "check/delete.html", saved=saved)


async def delete(request: Request) -> Response:
    """Delete it, its report, and what was uploaded for it."""
    await run_in_threadpool(_checks(request).delete, request.path_params["check"])
    return RedirectResponse("/check", 303)


async def show_report(request: Request) -> Response:
    """The report by itself, which can do nothing but be read."""

    def read() -> str:
        page = _checks(request).read_report(request.path_params["check"])
        return tell_page(page.decode("utf-8", "replace"), choose_language(request))

    return HTMLResponse(await run_in_threadpool(read), headers=REPORT_HEADERS)


ROUTES = [
    Route("/check", show_form),
    Route("/check", begin, methods=["POST"]),
    Route("/check/{check}", show),
    Route("/check/{check}/now", show_now),
    Route("/check/{check}/stop", stop, methods=["POST"]),
    Route("/check/{check}/delete", ask_delete),
    Route("/check/{check}/delete", delete, methods=["POST"]),
    Route("/check/{check}/report", show_report),
]
