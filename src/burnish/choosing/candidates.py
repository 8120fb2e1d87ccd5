"""Who is there: weights on this disk, and models of servers that answer within a second.

A cloud is asked only where money may be spent: what is not wanted need not know that anybody works.
"""

import importlib.util
import re
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from burnish.agent.policy import Strength, strength
from burnish.choosing.candidate import Candidate, Record
from burnish.choosing.fit import fits, is_fit
from burnish.models.catalog import CATALOG
from burnish.models.listing import Listed, Shelf, shelf_of
from burnish.models.providers import PACKAGES, Server, servers
from burnish.models.weights import is_checked, place

LOOK_SECONDS = 1.0
SMALL_BYTES, MIDDLE_BYTES = 0.7e9, 4.2e9
"""How large weights of less than one and of less than seven billion numbers are, as servers keep them."""
LIGHT = re.compile(r"(?<![a-z])(?:nano|mini|lite|flash|haiku|small)(?![a-z])")


def candidates(history: Mapping[str, Record], may_spend: bool = False) -> list[Candidate]:
    """Every model that could answer now, by what `history` knows of it too: a file of the user's own has no list."""
    wanted = {name: server for name, server in servers().items() if _may_be_asked(server, may_spend)}
    shelves = answering(wanted.values())
    return [*_on_disk(history), *(one for shelf in shelves for one in _of_shelf(shelf, wanted[shelf.provider]))]


def locked_away() -> list[Server]:
    """Who could be asked if money might be spent: clouds whose key is set, and servers that are not on this machine."""
    could = [server for server in servers().values() if _may_be_asked(server, may_spend=True)]
    return [server for server in could if not _may_be_asked(server, may_spend=False)]


def lacking(may_spend: bool = False) -> list[Server]:
    """Who has models and could be asked if the package that speaks its protocol were installed here."""
    silent = {name: server for name, server in servers().items() if not _is_spoken(server.kind)}
    shelves = answering(server for server in silent.values() if _is_wanted(server, may_spend))
    return [silent[shelf.provider] for shelf in shelves if shelf.answers and any(map(is_fit, shelf.models))]


def answering(wanted: Iterable[Server], seconds: float = LOOK_SECONDS) -> list[Shelf]:
    """What these servers have, of those that say so in time; nobody waits for the others."""
    found: dict[str, Shelf] = {}

    def look(server: Server) -> None:
        found[server.provider] = shelf_of(server)

    threads = [threading.Thread(target=look, args=(server,), daemon=True) for server in wanted]
    until = time.monotonic() + seconds
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    return [found[name] for name in sorted(found)]


def _may_be_asked(server: Server, may_spend: bool) -> bool:
    return _is_spoken(server.kind) and _is_wanted(server, may_spend)


def _is_wanted(server: Server, may_spend: bool) -> bool:
    costs_nothing = server.is_here or server.kind == "ollama"
    return costs_nothing or (may_spend and (bool(server.key) or not server.is_official))


def _is_spoken(kind: str) -> bool:
    """Whether the package for servers of this kind is installed."""
    return importlib.util.find_spec(PACKAGES[kind].partition(">")[0].replace("-", "_")) is not None


def _on_disk(history: Mapping[str, Record]) -> Iterator[Candidate]:
    for name, weights in CATALOG.items():
        if is_checked(place(weights), weights) and fits(weights.bytes):
            yield Candidate(name=name, strength=strength(name))
    for name in history:
        own = Path(name.removeprefix("local:")).expanduser()
        if name.startswith("local:") and own.suffix == ".gguf" and own.is_file() and fits(own.stat().st_size):
            yield Candidate(name=name, strength=strength(name))


def _of_shelf(shelf: Shelf, server: Server) -> Iterator[Candidate]:
    for model in shelf.models:
        dollars = model.price.written if model.price else None
        too_large = server.is_here and not fits(model.bytes)
        writes_nothing = server.is_official and dollars == 0
        if is_fit(model) and not too_large and not writes_nothing:
            yield Candidate(name=model.name, where="server", strength=size_of(model), dollars=dollars)


def size_of(model: Listed) -> Strength:
    """The size that its name says; else that of its weights, or what makers call their lighter models."""
    said = strength(model.name)
    if said != "strong" or re.search(r"\d+b\b", model.name.lower()):
        return said
    if 0 < model.bytes < MIDDLE_BYTES:
        return "small" if model.bytes < SMALL_BYTES else "middle"
    return "middle" if LIGHT.search(model.name.partition(":")[2].lower()) else said
