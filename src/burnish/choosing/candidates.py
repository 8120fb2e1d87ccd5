"""Who is there: weights on this disk, and models of servers that answer within a second.

A cloud is asked only where money may be spent: what is not wanted need not know that anybody works.
"""

import importlib.util
import os
import re
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from burnish.agent.policy import Strength, strength
from burnish.choosing.candidate import Candidate, Record
from burnish.models.catalog import CATALOG
from burnish.models.listing import Listed, Shelf, shelf_of
from burnish.models.providers import PACKAGES, Server, servers
from burnish.models.weights import is_checked, place

LOOK_SECONDS = 1.0
SMALL_BYTES, MIDDLE_BYTES = 0.7e9, 4.2e9
"""How large weights of less than one and of less than seven billion numbers are, as servers keep them."""
OF_MEMORY = 0.8
"""The share of this machine's memory that weights may fill."""
PLAIN = re.compile(r"[\w.:/@+-]{1,200}")
"""How names look. A server that lists one with a comma in it could otherwise name a second model, somebody else's."""
LIGHT = re.compile(r"(?<![a-z])(?:nano|mini|lite|flash|haiku|small)(?![a-z])")
NOT_FOR_CODE = re.compile(
    r"embed|minilm|\bbge|rerank|whisper|tts|audio|realtime|image|dall-e|moderation|transcribe|search|sora|guard"
    r"|babbage|davinci|turbo-instruct|gpt-3\.5|codex|computer-use|(?:o|gpt-)\d(?:\.\d)?-pro|[-:]cloud$"
)
"""Models that do not write code, or hold no conversation over the protocol that we speak, or are long outdone; and
those of an Ollama that look as if they were here and send everything elsewhere."""


def candidates(history: Mapping[str, Record], may_spend: bool = False) -> list[Candidate]:
    """Every model that could answer now, by what `history` knows of it too: a file of the user's own has no list."""
    wanted = {name: server for name, server in servers().items() if _may_be_asked(server, may_spend)}
    shelves = answering(wanted.values())
    return [*_on_disk(history), *(one for shelf in shelves for one in _of_shelf(shelf, wanted[shelf.provider]))]


def locked_away() -> list[Server]:
    """Who could be asked if money might be spent: clouds whose key is set, and servers that are not on this machine."""
    could = [server for server in servers().values() if _may_be_asked(server, may_spend=True)]
    return [server for server in could if not _may_be_asked(server, may_spend=False)]


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
    installed = importlib.util.find_spec(PACKAGES[server.kind].partition(">")[0].replace("-", "_"))
    costs_nothing = server.is_here or server.kind == "ollama"
    return installed is not None and (costs_nothing or (may_spend and (bool(server.key) or not server.is_official)))


def _on_disk(history: Mapping[str, Record]) -> Iterator[Candidate]:
    for name, weights in CATALOG.items():
        if is_checked(place(weights), weights):
            yield Candidate(name=name, strength=strength(name))
    for name in history:
        if name.startswith("local:") and name.endswith(".gguf") and Path(name[6:]).expanduser().is_file():
            yield Candidate(name=name, strength=strength(name))


def _of_shelf(shelf: Shelf, server: Server) -> Iterator[Candidate]:
    for model in shelf.models:
        dollars = model.price.written if model.price else None
        too_large = server.is_here and model.bytes > OF_MEMORY * _memory()
        writes_nothing = server.is_official and dollars == 0
        is_fit = PLAIN.fullmatch(model.name) and not NOT_FOR_CODE.search(model.name.lower())
        if is_fit and not too_large and not writes_nothing:
            yield Candidate(name=model.name, where="server", strength=size_of(model), dollars=dollars)


def size_of(model: Listed) -> Strength:
    """The size that its name says; else that of its weights, or what makers call their lighter models."""
    said = strength(model.name)
    if said != "strong" or re.search(r"\d+b\b", model.name.lower()):
        return said
    if 0 < model.bytes < MIDDLE_BYTES:
        return "small" if model.bytes < SMALL_BYTES else "middle"
    return "middle" if LIGHT.search(model.name.partition(":")[2].lower()) else said


def _memory() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
