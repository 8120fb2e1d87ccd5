"""What servers really have: each is asked, all at once and briefly; one that does not answer is said not to."""

import json
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from burnish import config
from burnish.events import Frozen
from burnish.models.counting import whole
from burnish.models.faults import without
from burnish.models.looking import look_at
from burnish.models.ollama_server import MOST_NAME, NOT_THERE, About, NoRedirects, glance, installed
from burnish.models.prices import Price, context_of, price_of
from burnish.models.providers import Server, servers
from burnish.models.room import smaller
from burnish.text import plain

HERE_SECONDS, FAR_SECONDS = 0.5, 2.0
"""How long a server may say nothing; a whole look has twice the time, however much it says."""
MOST_BYTES = 16 << 20
MOST_ASKED = 40
"""Models of one Ollama that it is asked about; somebody waits for the list."""
CONTEXT_KEYS = ("max_model_len", "context_length", "context_window", "max_context_length", "max_input_tokens")
"""What vLLM, and clouds that speak OpenAI's or Anthropic's protocol, call the tokens that a model can have in mind."""


class Listed(Frozen):
    """One model that a server has."""

    name: str
    context: int = 0
    """Tokens it can have in mind; 0 where nobody says."""
    price: Price | None = None
    bytes: int = 0
    talks: bool = True
    """False where its server says that it holds no conversation."""


class Shelf(Frozen):
    """One server and its models."""

    provider: str
    address: str
    models: tuple[Listed, ...] = ()
    answers: bool = True
    key_env: str = ""


def shelves() -> list[Shelf]:
    """Every server that is set up here: Ollama, clouds whose key is set, the user's own."""
    asked = [server for server in servers().values() if _is_set_up(server)]
    with ThreadPoolExecutor(max(1, len(asked))) as pool:
        found = list(pool.map(shelf_of, asked))
    return [shelf for shelf in found if shelf.answers or shelf.provider != "ollama"]


def _is_set_up(server: Server) -> bool:
    return bool(server.key) or not server.is_official


def shelf_of(server: Server) -> Shelf:
    """What one server has; asked briefly, and never raises."""
    seconds = HERE_SECONDS if server.is_here or server.kind == "ollama" else FAR_SECONDS
    if server.kind == "ollama":
        found = _of_ollama(server, seconds)
    else:
        [found] = look_at([partial(_of_protocol, server, seconds)], 2 * seconds)
    known = config.load().context
    models = [
        Listed(
            name=(name := f"{server.provider}:{model.name}"),
            context=smaller(known.get(name, 0), (server.is_official and context_of(name)) or model.context),
            price=price_of(name),
            bytes=model.bytes,
            talks=model.talks,
        )
        for model in sorted(found or [], key=lambda model: model.name)
    ]
    return Shelf(
        provider=server.provider,
        address=server.address,
        models=tuple(models),
        answers=found is not None,
        key_env=server.key_env if server.key else "",
    )


def _of_ollama(server: Server, seconds: float) -> list[Listed] | None:
    """The models that an Ollama has, each with the context that it was made for."""
    [there] = look_at([partial(installed, server.address, seconds)], 2 * seconds)
    if there is None:
        return None
    glances = [partial(glance, server.address, model.name, seconds) for model in there[:MOST_ASKED]]
    told = [said or About() for said in look_at(glances, 2 * seconds)]
    told += [About()] * (len(there) - len(told))
    return [
        Listed(name=one.name, bytes=one.bytes, context=said.context, talks=said.talks)
        for one, said in zip(there, told, strict=True)
    ]


def _of_protocol(server: Server, seconds: float) -> list[Listed] | None:
    """The models of a server that speaks OpenAI's or Anthropic's protocol; None where none answers."""
    path = "/v1/models?limit=1000" if server.kind == "anthropic" else "/models"
    headers = {"Accept": "application/json", "anthropic-version": "2023-06-01"}
    if server.key:
        headers |= (
            {"x-api-key": server.key} if server.kind == "anthropic" else {"Authorization": f"Bearer {server.key}"}
        )
    request = urllib.request.Request(server.address + path, headers=headers)
    opener = urllib.request.build_opener(NoRedirects, urllib.request.ProxyHandler({} if server.is_here else None))
    try:
        with opener.open(request, timeout=seconds) as answer:
            told = json.loads(answer.read(MOST_BYTES))
        return [Listed(name=_name(model["id"], server.key), context=_context(model)) for model in told["data"]]
    except (*NOT_THERE, KeyError, TypeError, AttributeError):
        return None


def _name(said: object, key: str) -> str:
    """What a server calls a model, safe to print; it may try to print our key."""
    return without(key, plain(str(said)))[:MOST_NAME]


def _context(model: dict[str, Any]) -> int:
    """The context that a server says a model has, in the words of several servers; 0 where it says nothing."""
    meta = model.get("meta")
    said = [model.get(key) for key in CONTEXT_KEYS] + [meta.get("n_ctx") if isinstance(meta, dict) else None]
    return next(filter(None, map(whole, said)), 0)
