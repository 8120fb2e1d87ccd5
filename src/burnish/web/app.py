"""The application: every view's addresses behind one guard."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from burnish.errors import AttemptError, SetupProblem
from burnish.model_choice import Opener
from burnish.no_telemetry import disable_tracing
from burnish.runs import Store
from burnish.web.guard import HEADERS, Access, Guard
from burnish.web.page import render_problem
from burnish.web.views import VIEWS
from burnish.web.work.active_checks import ActiveChecks
from burnish.web.work.active_evals import ActiveEvaluations
from burnish.web.work.active_runs import ActiveRuns
from burnish.web.work.live_pages import LivePages
from burnish.web.work.model_jobs import ModelJobs
from burnish.web.work.try_call import CallSandboxes
from burnish.web.work.turns import Turns


def build_app(access: Access, store: Store | None = None, opener: Opener | None = None, places: int = 1) -> Starlette:
    """All pages. `opener` opens models in place of the usual; so many runs work at once."""
    disable_tracing()
    store = store or Store()
    runs = ActiveRuns(store, Turns(places), LivePages(), opener)

    @asynccontextmanager
    async def live(app: Starlette) -> AsyncIterator[None]:
        yield  # runs end with the process: nobody has stopped them, so their records say that they are unfinished
        await run_in_threadpool(app.state.checks.stop_all)
        await run_in_threadpool(app.state.evaluations.stop_all)
        await run_in_threadpool(app.state.sandboxes.close)
        await run_in_threadpool(runs.pages.close)

    static = Mount("/static", StaticFiles(packages=[("burnish.web", "static")]))
    report = Route("/static/report.css", _serve_report_style)
    app = Starlette(
        routes=[*(route for view in VIEWS for route in view.ROUTES), report, static],
        middleware=[Middleware(Guard, access=access)],
        exception_handlers={
            SetupProblem: _explain,
            AttemptError: _explain,
            HTTPException: _explain_missing,
            Exception: _explain_bug,
        },
        lifespan=live,
    )
    app.state.access, app.state.store, app.state.runs = access, store, runs
    app.state.checks = ActiveChecks(store, runs.turns)
    app.state.evaluations = ActiveEvaluations(runs.turns)
    app.state.model_jobs = ModelJobs()
    app.state.sandboxes = CallSandboxes()
    app.state.tabs = [view.TAB for view in VIEWS if view.TAB]
    return app


async def _serve_report_style(request: Request) -> Response:
    """Pages and reports look alike."""
    return Response((files("burnish.report") / "style.css").read_text("utf-8"), media_type="text/css")


async def _explain(request: Request, problem: Exception) -> Response:
    return render_problem(request, problem)


async def _explain_missing(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, HTTPException)
    status = problem.status_code
    said = "There is nothing at this address." if status == 404 else problem.detail
    return render_problem(request, SetupProblem(said), status)


async def _explain_bug(request: Request, bug: Exception) -> Response:
    """Ours: said on the page, and raised in the terminal. The guard, which sets headers, is not asked."""
    said = f"Something broke in Burnish itself ({type(bug).__name__}). The window in which it was started says more."
    response = render_problem(request, SetupProblem(said), 500)
    response.headers.update(HEADERS)
    return response
