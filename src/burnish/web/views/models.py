"""Models: who can answer, who could, and what is missing for that."""

import sys
from collections.abc import Sequence
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from burnish import config
from burnish.commands.models import MOST_SHOWN, ModelRow, list_rows
from burnish.errors import SetupProblem
from burnish.model_choice import last_speeds
from burnish.models.discovery import ServerModels, list_all_models
from burnish.models.names import AUTO, default_names, split_names
from burnish.models.providers import PACKAGES, list_servers
from burnish.models.weights import ensure_weights
from burnish.web.forms import read_form, read_text
from burnish.web.model_menu import DEMO, GOOD_FOR, describe_model
from burnish.web.page import Tab, choose_language, render, translator
from burnish.web.work.model_jobs import Fetch, TryOut

TAB = Tab("Models", "/models")
JOBS = {"fetch": Fetch, "try": TryOut}


def _render(request: Request, template: str, servers: Sequence[ServerModels] = ()) -> Response:
    """A page or a part of it, with the rows of all models, of these servers too."""
    t = translator(choose_language(request))
    rows = list_rows(servers, last_speeds())
    return render(
        request,
        template,
        rows=rows,
        notes={row["name"]: describe_model(row, t) for row in rows},
        demo={"name": DEMO, "note": t(GOOD_FOR[DEMO])},
        auto=AUTO,
        default=split_names(default_names()),
        **_tell_jobs(request),
    )


async def show(request: Request) -> Response:
    """What is on this machine; servers have to be asked, and come a moment later."""
    return await run_in_threadpool(_render, request, "models.html")


async def show_here(request: Request) -> Response:
    """The list of those on this machine alone, for when one has come."""
    return await run_in_threadpool(_render, request, "models/here.html")


async def show_servers(request: Request) -> Response:
    """The models of servers, and what would have to be done for those that cannot answer yet."""

    def build() -> Response:
        servers = list_all_models()
        rows = list_rows(servers, last_speeds())
        t = translator(choose_language(request))
        return render(
            request,
            "models/servers.html",
            servers=[(server, _sort_rows(server, rows)) for server in servers],
            notes={row["name"]: describe_model(row, t) for row in rows},
            default=split_names(default_names()),
            most=MOST_SHOWN,
            missing=_list_missing(servers),
            pulling=[name for name, server in list_servers().items() if server.kind == "ollama"],
        )

    return await run_in_threadpool(build)


def _sort_rows(server: ServerModels, rows: Sequence[ModelRow]) -> list[ModelRow]:
    """A server's models: those that were used here first, then those whose price is known."""
    names = {model.name for model in server.models}
    own = [row for row in rows if row["name"] in names and "address" in row]
    return sorted(own, key=lambda row: (not row["tokens_per_second"], row["dollars_per_million_read"] is None))


def _list_missing(found: Sequence[ServerModels]) -> list[dict[str, str]]:
    """Servers that could answer: what each lacks, and what its line in a terminal is."""
    answering, missing = {server.provider for server in found if server.answers}, []
    for name, server in list_servers().items():
        if not server.has_package:
            line = f"{sys.executable} -m pip install '{PACKAGES[server.kind]}'"
            missing.append({"name": name, "lacks": "package", "line": line})
        elif server.is_official and not server.key:
            missing.append({"name": name, "lacks": "key", "line": f"export {server.key_env}=…"})
        elif server.kind == "ollama" and name not in answering:
            missing.append({"name": name, "lacks": "answer", "line": "ollama serve", "address": server.address})
    return missing


def _tell_jobs(request: Request) -> dict[str, Any]:
    """What is done with models right now, and a key that changes when one begins or ends."""
    jobs = request.app.state.model_jobs.list()
    key = " ".join(f"{job.kind}.{job.name}.{job.state}" for job in jobs)
    return {"jobs": jobs, "key": key, "busy": any(job.state == "at_work" for job in jobs)}


async def show_jobs(request: Request) -> Response:
    """How far they are. Lists are told when one has ended."""
    told = _tell_jobs(request)
    response = render(request, "models/jobs.html", **told)
    if told["key"] != request.query_params.get("had", ""):
        response.headers["HX-Trigger"] = "models-changed"
    return response


async def begin(request: Request) -> Response:
    """Fetch a model, or try one; it goes on whether or not anybody looks. An Ollama's may be named as it names it."""
    form, kind = await read_form(request), request.path_params["kind"]
    name, provider = read_text(form, "name", 300), read_text(form, "provider", 40)
    if kind not in JOBS or not name or not name.isprintable():
        raise SetupProblem("Which model? Type its name, such as qwen2.5-coder:7b")
    full = f"{provider}:{name.removeprefix(f'{provider}:')}" if provider else name
    request.app.state.model_jobs.begin(JOBS[kind](full))
    if "hx-request" in request.headers:  # a form that names models goes on being filled in
        return Response(status_code=204, headers={"HX-Trigger": "models-changed"})
    return RedirectResponse("/models", 303)


async def stop(request: Request) -> Response:
    """Fetch or try no further."""
    form = await read_form(request)
    request.app.state.model_jobs.stop(request.path_params["kind"], read_text(form, "name", 300))
    return RedirectResponse("/models", 303)


async def choose(request: Request) -> Response:
    """Who answers from now on, unless a form says otherwise."""
    form = await read_form(request)
    file = read_text(form, "file", 1000)
    name = f"local:{file}" if file else read_text(form, "name", 300)

    def put() -> None:
        if file:
            ensure_weights(name)  # says so where there is no such file, and what it must be called
        config.put("model", name)

    await run_in_threadpool(put)
    return RedirectResponse("/models", 303)


ROUTES = [
    Route("/models", show),
    Route("/models/here", show_here),
    Route("/models/servers", show_servers),
    Route("/models/jobs", show_jobs),
    Route("/models/choose", choose, methods=["POST"]),
    Route("/models/{kind}", begin, methods=["POST"]),
    Route("/models/{kind}/stop", stop, methods=["POST"]),
]
