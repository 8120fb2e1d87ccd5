"""What servers really have: each is asked, all at once and briefly; one that does not answer is said not to."""

import json
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from burnish import config
from burnish.events import Frozen
from burnish.models.ollama_server import NOT_THERE, installed
from burnish.models.prices import Price, context_of, price_of
from burnish.models.providers import Server, servers

HERE_SECONDS, FAR_SECONDS = 0.5, 2.0
MOST_BYTES = 16 << 20


class Listed(Frozen):
    """One model that a server has."""

    name: str
    context: int = 0
    """Tokens it can have in mind; 0 where nobody says."""
    price: Price | None = None
    bytes: int = 0


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
        found = list(pool.map(_shelf, asked))
    return [shelf for shelf in found if shelf.answers or shelf.provider != "ollama"]


def _is_set_up(server: Server) -> bool:
    return bool(server.key) or not server.is_official


def _shelf(server: Server) -> Shelf:
    seconds = HERE_SECONDS if server.is_here or server.kind == "ollama" else FAR_SECONDS
    if server.kind == "ollama":
        there = installed(server.address, seconds)
        sizes = {model.name: model.bytes for model in there} if there is not None else None
    else:
        sizes = _names(server, seconds)
    known = config.load().context
    models = [
        Listed(
            name=(name := f"{server.provider}:{model}"),
            context=known.get(name) or (context_of(name) if server.is_official else 0),
            price=price_of(name),
            bytes=size,
        )
        for model, size in sorted((sizes or {}).items())
    ]
    return Shelf(
        provider=server.provider,
        address=server.address,
        models=tuple(models),
        answers=sizes is not None,
        key_env=server.key_env if server.key else "",
    )


def _names(server: Server, seconds: float) -> dict[str, int] | None:
    """The models of a server that speaks OpenAI's or Anthropic's protocol; None where none answers."""
    path = "/v1/models?limit=1000" if server.kind == "anthropic" else "/models"
    headers = {"Accept": "application/json", "anthropic-version": "2023-06-01"}
    if server.key:
        headers |= (
            {"x-api-key": server.key} if server.kind == "anthropic" else {"Authorization": f"Bearer {server.key}"}
        )
    request = urllib.request.Request(server.address + path, headers=headers)
    opener = urllib.request.build_opener(_Stays, urllib.request.ProxyHandler({} if server.is_here else None))
    try:
        with opener.open(request, timeout=seconds) as answer:
            told = json.loads(answer.read(MOST_BYTES))
        return {str(model["id"]): 0 for model in told["data"]}
    except (*NOT_THERE, KeyError, TypeError):
        return None


class _Stays(urllib.request.HTTPRedirectHandler):
    """A request that carries a key is not led elsewhere."""

    def redirect_request(self, *_: Any) -> None:
        """Follow nobody."""
