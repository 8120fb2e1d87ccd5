"""Which models servers have: all servers are asked at once, briefly; one that is late counts as not answering.

Asked over HTTP with the standard library: no extra is needed to look. What takes too long is left behind in its
thread, as the timeout of a socket alone begins anew with every byte.
"""

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from difflib import get_close_matches
from functools import partial
from http.client import HTTPException
from itertools import zip_longest
from typing import Any, TypeVar

from burnish import config
from burnish.errors import SetupProblem
from burnish.events import Frozen
from burnish.models.http import remove_secret
from burnish.models.model import Progress
from burnish.models.providers import OLLAMA_PORT, ModelServer, is_this_machine, list_servers
from burnish.models.tokens import Price, look_up_context, price_of, read_count, smallest_known
from burnish.text import one_line, strip_controls

Result = TypeVar("Result")
HERE_SECONDS, FAR_SECONDS = 0.5, 2.0
"""How long a server may say nothing; a whole look has twice the time, however much it says."""
ASK_SECONDS = 10.0
"""How long an Ollama may take to answer when it is needed."""
PULL_SECONDS = 600.0
MOST_BYTES = 64 << 20
MOST_DESCRIBED = 40
"""Models of one Ollama whose details are asked for; a user waits for the list."""
MOST_NAME = 200
"""Characters of a model's name; a server may call it anything, and names are printed."""
CONTEXT_KEYS = ("max_model_len", "context_length", "context_window", "max_context_length", "max_input_tokens")
"""What vLLM, and clouds that speak OpenAI's or Anthropic's protocol, call the tokens that a model can read."""
UNREACHABLE = (urllib.error.URLError, HTTPException, OSError, ValueError, RecursionError)
"""What reading an answer may raise; the last where it is nested without end."""


class ListedModel(Frozen):
    """One model that a server has."""

    name: str
    context: int = 0
    """Tokens of question and answer that it can read; 0 where it is unknown."""
    price: Price | None = None
    bytes: int = 0
    talks: bool = True
    """False where its server says that it holds no conversation, and only turns text into numbers or the like."""
    thinks: bool = False


class ServerModels(Frozen):
    """One server and its models."""

    provider: str
    address: str
    models: tuple[ListedModel, ...] = ()
    answers: bool = True
    key_env: str = ""


def _start(work: Callable[[], Result]) -> "Future[Result]":
    """Do the work in a daemon thread, which does not keep the process alive."""
    future: Future[Result] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future


def run_together(works: Sequence[Callable[[], Result]], seconds: float | None = None) -> list[Result | None]:
    """What each work brought in time; None for those that were late or failed."""
    futures = [_start(work) for work in works]
    done, _ = wait(futures, timeout=seconds)
    return [future.result() if future in done and not future.exception() else None for future in futures]


def list_all_models() -> list[ServerModels]:
    """Every server that is set up here: Ollama, clouds whose key is set, the user's own."""
    asked = [server for server in list_servers().values() if server.key or not server.is_official]
    found = run_together([partial(list_models, server) for server in asked])  # each has its own time limit
    return [models for models in found if models and (models.answers or models.provider != "ollama")]


def list_models(server: ModelServer) -> ServerModels:
    """What one server has; asked briefly, and never raises."""
    seconds = HERE_SECONDS if server.is_here or server.kind == "ollama" else FAR_SECONDS
    is_ollama = server.kind == "ollama"
    look = partial(list_ollama_models, server.address) if is_ollama else partial(_list_protocol_models, server)
    [found] = run_together([partial(look, seconds)], 2 * seconds)
    if found and is_ollama:
        looks = [partial(_describe, server.address, model, seconds) for model in found[:MOST_DESCRIBED]]
        described = run_together(looks, 2 * seconds)
        found = [new or model for new, model in zip_longest(described, found)]
    wanted = config.load().context
    models = []
    for model in sorted(found or [], key=lambda model: model.name):
        name = f"{server.provider}:{model.name}"
        context = smallest_known(wanted.get(name, 0), look_up_context(name) or model.context)
        models.append(model.model_copy(update={"name": name, "context": context, "price": price_of(name)}))
    return ServerModels(
        provider=server.provider,
        address=server.address,
        models=tuple(models),
        answers=found is not None,
        key_env=server.key_env if server.key else "",
    )


def _list_protocol_models(server: ModelServer, seconds: float) -> list[ListedModel]:
    """The models of a server that speaks OpenAI's or Anthropic's protocol. Raises where none answers, or nonsense."""
    is_anthropic = server.kind == "anthropic"
    headers = {"Accept": "application/json", "anthropic-version": "2023-06-01"}
    if server.key:
        headers |= {"x-api-key": server.key} if is_anthropic else {"Authorization": f"Bearer {server.key}"}
    url = server.address + ("/v1/models?limit=1000" if is_anthropic else "/models")
    models = []
    for model in _get(url, headers, None, seconds)["data"]:
        meta = model.get("meta")
        sizes = [*map(model.get, CONTEXT_KEYS), meta.get("n_ctx") if isinstance(meta, dict) else None]
        name = remove_secret(server.key, strip_controls(str(model["id"])))[:MOST_NAME]  # it may try to print our key
        models.append(ListedModel(name=name, context=next(filter(None, map(read_count, sizes)), 0)))
    return models


def list_ollama_models(address: str, seconds: float) -> list[ListedModel]:
    """The models that an Ollama has. Raises where none answers, or nonsense."""
    models = _get(f"{address}/api/tags", {}, None, seconds).get("models") or []
    return [
        ListedModel(name=strip_controls(str(model["name"]))[:MOST_NAME], bytes=read_count(model.get("size")))
        for model in models
    ]


def _describe(address: str, model: ListedModel, seconds: float) -> ListedModel:
    """The model of an Ollama with what the server says of it: the context it was made for, and what it can do."""
    shown = _get(f"{address}/api/show", {}, {"model": model.name}, seconds)
    capabilities, sizes = shown.get("capabilities"), shown.get("model_info")
    can = capabilities if isinstance(capabilities, list) else []
    sizes = sizes if isinstance(sizes, dict) else {}
    context = max((read_count(size) for key, size in sizes.items() if key.endswith(".context_length")), default=0)
    talks = not can or "completion" in can
    return model.model_copy(update={"context": context, "talks": talks, "thinks": "thinking" in can})


def describe_ollama_model(address: str, model: str, name: str) -> ListedModel:
    """What the server says of one model. Raises SetupProblem where there is no server, or it lacks the model."""
    try:
        return _start(partial(_describe, address, ListedModel(name=model), ASK_SECONDS)).result(ASK_SECONDS)
    except UNREACHABLE as error:
        if getattr(error, "code", 0) != 404:
            raise _explain_unreachable(address, name, error) from None
    provider = name.partition(":")[0]
    [found] = run_together([partial(list_ollama_models, address, ASK_SECONDS)], ASK_SECONDS)
    there = [listed.name for listed in found or []]
    near = get_close_matches(model, there, n=2, cutoff=0.3) or there[:2]
    has = f"It has {' or '.join(f'{provider}:{one}' for one in near)}" if near else "It has no model yet"
    raise SetupProblem(
        f"Ollama has no model {model!r}. {has}. To fetch this one, type", f"burnish models pull {provider}:{model}"
    )


def pull_ollama_model(address: str, name: str, progress: Progress) -> None:
    """Have the server fetch a model; what it has of it already is not fetched again.

    Only the server's own word makes it done: a stream that ends without it has broken off.
    """
    status, model = "", name.partition(":")[2]
    try:
        with _open(f"{address}/api/pull", {}, {"model": model}, PULL_SECONDS) as answer:
            while line := answer.readline(1 << 20):
                news = json.loads(line)
                if not isinstance(news, dict):
                    continue
                if "error" in news:
                    raise SetupProblem(
                        f"Ollama could not pull {model!r}: {one_line(str(news['error']))}. See whether it is called so,"
                        f" then try again: burnish models pull {name}"
                    )
                status = one_line(str(news.get("status", "")), 60)
                progress(read_count(news.get("completed")), read_count(news.get("total")), status)
    except UNREACHABLE as error:
        if not status:
            raise _explain_unreachable(address, name, error) from None
    if status != "success":
        raise SetupProblem(
            f"Ollama broke off before {model!r} was there (its last word: {status or 'none'}). What it has of it is not"
            f" fetched again. Go on: burnish models pull {name}"
        )


def _explain_unreachable(address: str, name: str, error: Exception) -> SetupProblem:
    provider = name.partition(":")[0]
    why = str(getattr(error, "reason", error)) or f"no whole answer came in {ASK_SECONDS:g} s"
    if isinstance(error, urllib.error.HTTPError):
        why = f"it answered with status {error.code}"
    variable = "OLLAMA_HOST or" if provider == "ollama" else "this"
    return SetupProblem(
        f"No Ollama answers at {address} ({why}). If it listens elsewhere, say so with {variable}: burnish config"
        f" set models.{provider}.base_url http://HOST:{OLLAMA_PORT}. To start it, type",
        "ollama serve",
    )


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Redirects are errors: a key, or a question, is for the server that the user named, and for no other."""

    def redirect_request(self, *_: Any) -> None:
        """Follow none."""


def _open(url: str, headers: Mapping[str, str], question: dict[str, str] | None, seconds: float) -> Any:
    body = json.dumps(question).encode() if question is not None else None
    request = urllib.request.Request(url, body, {"Content-Type": "application/json", **headers})
    # A proxy in the shell is for the world, not for this machine.
    proxies = urllib.request.ProxyHandler({} if is_this_machine(url) else None)
    try:
        return urllib.request.build_opener(proxies, _NoRedirects).open(request, timeout=seconds)
    except urllib.error.HTTPError as error:
        error.close()
        raise


def _get(url: str, headers: Mapping[str, str], question: dict[str, str] | None, seconds: float) -> dict[str, Any]:
    with _open(url, headers, question, seconds) as answer:
        found = json.loads(answer.read(MOST_BYTES))
    if not isinstance(found, dict):
        raise ValueError("the answer is no JSON object")
    return found
