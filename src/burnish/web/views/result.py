"""The result of a run: downloads, calls with one's own arguments, and all its versions."""

import zipfile
from io import BytesIO
from pathlib import PurePath
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from burnish.commands import fix, write
from burnish.errors import AttemptError, SetupProblem
from burnish.events.history import Run, Version
from burnish.evidence.schema import name_files
from burnish.runs import Store
from burnish.web.forms import read_form, read_text
from burnish.web.page import render
from burnish.web.result_view import MADE_BY, ResultView, colour_lines, diff_lines
from burnish.web.run_view import RunView, open_view
from burnish.web.work.try_call import CallSandboxes

TAB = None


def open_result(request: Request) -> tuple[RunView, ResultView]:
    """The run that an address names, and what came of it. Raises SetupProblem while it is at work."""
    view = open_view(request.app.state.runs, request.path_params["run"])
    if view.result is None:
        raise SetupProblem("This run is still at work. Wait until it is done, and try again.")
    return view, view.result


async def download_code(request: Request) -> Response:
    """The one file that matters."""

    def build() -> Response:
        result = open_result(request)[1]
        if not result.code:
            raise SetupProblem("No code has come of this run, so there is nothing to download.")
        return _send_file(name_files(result.module)[0], result.code)

    return await run_in_threadpool(build)


async def download_version(request: Request) -> Response:
    """The code of any version."""

    def build() -> Response:
        view, result = open_result(request)
        version = _find_version(view, str(request.path_params["number"]))
        name = PurePath(name_files(result.module)[0])
        return _send_file(f"{name.stem}-{version.number}.py", version.code)

    return await run_in_threadpool(build)


def _send_file(name: str, code: str) -> Response:
    return _send(PurePath(name).name, code.encode("utf-8", "surrogatepass"), "text/x-python")


def _send(name: str, data: bytes, kind: str) -> Response:
    return Response(
        data, media_type=kind, headers={"Content-Disposition": f"attachment; filename*=utf-8''{quote(name)}"}
    )


async def download_all(request: Request) -> Response:
    """Everything that is delivered, with the evidence that speaks of it, as a zip."""

    def build() -> Response:
        view, _ = open_result(request)
        assert view.run
        held = BytesIO()
        with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as packed:
            for name, data in list_contents(view.run, request.app.state.store).items():
                packed.writestr(name, data)
        return _send(f"{view.run.id}.zip", held.getvalue(), "application/zip")

    return await run_in_threadpool(build)


def list_contents(run: Run, store: Store) -> dict[str, bytes]:
    """Every file that is delivered; of a repair whose tests have changed since, as it was put aside at its end."""
    if not run.settings.fix:
        return write.add_evidence(run, write.list_files(run))
    if files := fix.list_files(run):
        return write.add_evidence(run, files)
    kept = fix.evidence_folder(run, store)
    if not kept.is_dir():
        raise SetupProblem("The tests have changed since this was repaired. Download the code by itself.")
    return {str(file.relative_to(kept)): file.read_bytes() for file in sorted(kept.rglob("*")) if file.is_file()}


async def try_call(request: Request) -> Response:
    """Call a function of the result with the arguments that were typed."""
    form = await read_form(request)
    typed, named = read_text(form, "arguments"), read_text(form, "function")

    def build() -> Response:
        view, result = open_result(request)
        assert view.run
        known = [one.name for one in result.functions]
        name = named or next(iter(known), "")
        if name not in known:
            raise SetupProblem("There is no such function in this code. Look at the page anew.")
        sandboxes: CallSandboxes = request.app.state.sandboxes
        try:
            tried = sandboxes.call(view.run, result.code, name, typed)
        except AttemptError as error:
            raise SetupProblem(f"It could not be called now ({error}). Try again.") from error
        return render(request, "result/tried.html", tried=tried)

    return await run_in_threadpool(build)


async def show_versions(request: Request) -> Response:
    """All versions, the result last and open to be compared with the one that it was made from."""

    def build() -> Response:
        view, result = open_result(request)
        assert view.run
        versions, best = view.run.versions, result.best
        after = best.number if best else versions[-1].number if versions else 0
        others = [one.number for one in versions if one.number != after]
        base = best.base if best and best.base in others else next(iter(others), after)
        return render(
            request,
            "result/versions.html",
            view=view,
            versions=versions,
            best=best,
            before=base,
            after=after,
            made_by=MADE_BY,
            colour_lines=colour_lines,
        )

    return await run_in_threadpool(build)


async def show_diff(request: Request) -> Response:
    """What differs between two versions."""

    def build() -> Response:
        view, _ = open_result(request)
        before, after = (_find_version(view, request.query_params.get(name, "")) for name in ("before", "after"))
        return render(request, "result/compared.html", diff=diff_lines(before.code, after.code))

    return await run_in_threadpool(build)


def _find_version(view: RunView, number: str) -> Version:
    found = next((one for one in (view.run.versions if view.run else ()) if str(one.number) == number), None)
    if found is None:
        raise SetupProblem("There is no such version. Look at the page anew.")
    return found


ROUTES = [
    Route("/runs/{run}/code", download_code),
    Route("/runs/{run}/all.zip", download_all),
    Route("/runs/{run}/try", try_call, methods=["POST"]),
    Route("/runs/{run}/versions", show_versions),
    Route("/runs/{run}/versions/{number:int}/code", download_version),
    Route("/runs/{run}/diff", show_diff),
]
