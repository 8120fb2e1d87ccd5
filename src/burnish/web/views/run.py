"""One run: watched live, answered, stopped, taken up again, and read once it is over."""

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from burnish.errors import SetupProblem
from burnish.events import Reviewed
from burnish.parsing import explain_syntax_error
from burnish.web.forms import read_form, read_number, read_text
from burnish.web.guard import allow_frames
from burnish.web.page import choose_language, render, translator
from burnish.web.run_view import RunView, open_view, render_parts, render_steps
from burnish.web.stream import stream_record, stream_run
from burnish.web.work.active_runs import ActiveRuns

TAB = None
SAID = ("go_on", "change", "comment", "edited", "stop")


def _runs(request: Request) -> ActiveRuns:
    runs: ActiveRuns = request.app.state.runs
    return runs


def _view(request: Request) -> RunView:
    return open_view(_runs(request), request.path_params["run"])


async def show(request: Request) -> Response:
    """The page, as the run is now; more comes by its stream."""

    def build() -> Response:
        view, language = _view(request), choose_language(request)
        steps = render_steps(view.run.events if view.run else (), language, translator(language))
        response = render(request, view.screen.template, view=view, parts=render_parts(view, language), steps=steps)
        if view.verb == "page":
            response.headers["Content-Security-Policy"] = allow_frames(_runs(request).pages.addresses)
        return response

    return await run_in_threadpool(build)


async def stream(request: Request) -> Response:
    """What happens from event `after` on, as server-sent events."""
    runs, run_id, language = _runs(request), request.path_params["run"], choose_language(request)
    said = request.headers.get("last-event-id") or request.query_params.get("after", "0")
    after = int(said) if said.isdecimal() and len(said) < 12 else 0
    active = runs.find(run_id)
    if active:
        messages = stream_run(active, after, language, {})
    else:
        folder = await run_in_threadpool(runs.store.find, run_id)
        messages = stream_record(folder, after, language, {})
    return StreamingResponse(messages, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


async def stop(request: Request) -> Response:
    """End it within two seconds."""
    active = _runs(request).find(request.path_params["run"])
    if active:
        await run_in_threadpool(active.stop)
    return _back(request)


async def reply(request: Request) -> Response:
    """What a person says to what the run waits for."""
    active, form = _runs(request).find(request.path_params["run"]), await read_form(request)
    if active is None:
        raise SetupProblem("This run waits for nobody any more. Look at the page anew.")
    wish, kind = read_number(form, "number") or 0, read_text(form, "kind")
    if kind == "question":
        active.person.answer_question(wish, read_text(form, "answer"))
    elif kind == "assumption":
        active.person.answer_assumption(wish, read_text(form, "answer"))
    else:
        said = read_text(form, "said")
        if said not in SAID:
            raise SetupProblem("Say how to go on: with one of the buttons.")
        where = "tests" if read_text(form, "where") == "tests" else "checks"
        text = str(form.get("text", "")).replace("\r\n", "\n") if said == "edited" else ""
        if text and (flaw := explain_syntax_error(text)):  # said while the form, and all that was typed, is still there
            raise SetupProblem(f"Your text is not Python that can be read: {flaw}")
        words, line = read_text(form, "words"), read_number(form, "line")
        given = Reviewed.model_validate({"where": where, "said": said, "words": words, "line": line, "text": text})
        active.person.answer_review(wish, given)
    return Response(status_code=204)


async def answer(request: Request) -> Response:
    """Answer the question that was left open; the run goes on from there."""
    form = await read_form(request)

    def go_on() -> None:
        run = _runs(request).store.open(request.path_params["run"])
        _runs(request).answer(run, read_text(form, "answer"), request.state.owner)

    await run_in_threadpool(go_on)
    return _back(request)


async def resume(request: Request) -> Response:
    """Take it up again where it was left."""

    def go_on() -> None:
        run = _runs(request).store.open(request.path_params["run"])
        _runs(request).resume(run, request.state.owner)

    await run_in_threadpool(go_on)
    return _back(request)


def _back(request: Request) -> Response:
    return RedirectResponse(f"/runs/{request.path_params['run']}", 303)


ROUTES = [
    Route("/runs/{run}", show),
    Route("/runs/{run}/events", stream),
    Route("/runs/{run}/stop", stop, methods=["POST"]),
    Route("/runs/{run}/reply", reply, methods=["POST"]),
    Route("/runs/{run}/answer", answer, methods=["POST"]),
    Route("/runs/{run}/resume", resume, methods=["POST"]),
]
