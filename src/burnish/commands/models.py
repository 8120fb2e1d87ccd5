"""`burnish models`: what can answer, on this disk and with servers, and what is fetched before it can."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from burnish.errors import SetupProblem
from burnish.model_choice import Speed
from burnish.models.adapters import list_adapters
from burnish.models.catalog import CATALOG, LARGER, Weights
from burnish.models.discovery import ServerModels, pull_ollama_model
from burnish.models.local import SLOTS, local_context
from burnish.models.model import Progress
from burnish.models.names import default_names, split_names
from burnish.models.providers import find_server
from burnish.models.weights import ensure_weights, find_weights, is_checked, weights_path
from burnish.system import read_total_memory
from burnish.text import one_line

MOST_SHOWN = 12
"""Models of one server on the screen; a cloud has more than anybody wants to read."""
NAME_WIDTH = 26
"""Longer names have a line of their own, so that the columns stay within 80 characters."""
LONGEST_NAME = 300
NOTES = (
    "",
    "$/M tokens: dollars for a million tokens read / written.",
    "tokens/s: of one answer, as last measured here.",
    "A GGUF file of your own: --model local:/path/to.gguf",
    "Exact answers for tests: --model scripted:demo",
    "Is one good enough? burnish models doctor NAME",
)
ModelRow = dict[str, Any]


def pull_model(name: str, progress: Progress) -> str:
    """Fetch one model's weights, or have its server do that. Where they are, or how the server calls it.

    How large they are is said first, on standard error.
    """
    server = find_server(name) if name.partition(":")[2] else None
    if server and server.kind != "ollama":
        raise SetupProblem(
            f"A model of the server at {server.address} needs no pull: {name!r} answers where it is, if it is there."
            f" See what is there: burnish models"
        )
    if server:
        pull_ollama_model(server.address, name, progress)
        return name
    weights = find_weights(name)
    if not is_checked(weights):
        print(f"burnish: the weights of {name}: {format_size(weights.bytes)}, {weights.licence}", file=sys.stderr)
    return str(ensure_weights(name, progress))


def list_rows(servers: Sequence[ServerModels], speeds: Mapping[str, Speed]) -> list[ModelRow]:
    """What `burnish models --json` prints: known weights, models of servers, and other weights that have answered."""
    default = split_names(default_names())
    rows: list[ModelRow] = [
        {
            **_describe_weights(name, weights),
            "on_disk": is_checked(weights),
            "default": name in default,
            "path": str(weights_path(weights)),
        }
        for name, weights in CATALOG.items()
    ]
    rows += [
        {
            **_describe_weights(name, weights),
            "on_disk": False,
            "default": False,
            "file": weights.file,
            "hub_repo": weights.hub_repo,
        }
        for name, weights in LARGER.items()
    ]
    rows += [
        {
            "name": model.name,
            "address": server.address,
            "context": model.context or None,
            "bytes": model.bytes or None,
            "dollars_per_million_read": model.price.read if model.price else None,
            "dollars_per_million_written": model.price.written if model.price else None,
        }
        for server in servers
        for model in server.models
    ]
    rows += [
        {
            "name": one.model_name,
            "adapter": one.card.recipe,
            "bytes": one.gguf.stat().st_size if one.gguf.is_file() else None,
        }
        for one in list_adapters()
        if (base := CATALOG.get(f"local:{one.card.base}")) and is_checked(base)
    ]
    listed = {row["name"] for row in rows}
    own = {name for name in speeds if name.startswith(("local:", "huggingface:"))} - listed
    rows += [{"name": name} for name in sorted(own)]
    for row in rows:
        speed = speeds.get(row["name"])
        day = datetime.fromtimestamp(speed.at).astimezone() if speed else None
        row["tokens_per_second"] = round(speed.tokens_per_second, 1) if speed else None
        row["measured_at"] = day.isoformat(timespec="seconds") if day else None
    return rows


def _describe_weights(name: str, weights: Weights) -> ModelRow:
    """What is known of weights before they are read, and whether this machine has the memory for them."""
    context = local_context(name)
    memory = weights.memory_bytes(context, SLOTS)
    return {
        "name": name,
        "bytes": weights.bytes,
        "context": context,
        "licence": weights.licence,
        "memory_bytes": memory,
        "fits": memory <= read_total_memory(),
    }


def format_table(rows: Sequence[ModelRow], servers: Sequence[ServerModels]) -> Iterator[str]:
    """Line by line: weights on this disk, each server's models, then others that have answered here."""
    yield _align("", ("context", "size", "$/M tokens", "tokens/s"))
    for row in rows:
        if "path" in row:
            yield from _format_row(row)
            where = row["path"] if row["on_disk"] else f"not on disk; type: burnish models pull {row['name']}"
            about = f"{row['licence']}; {_format_memory(row)}"
            yield from (f"    {'default, ' if row['default'] else ''}{about}", f"    {where}")
    larger = [row for row in rows if "file" in row]
    yield from ("", "larger ones, by a file of yours; which one is told by: burnish models pull NAME") if larger else ()
    for row in larger:
        yield from _format_row(row)
        yield f"    {row['licence']}; {_format_memory(row)}"
    trained = [row for row in rows if "adapter" in row]
    yield from ("", "adapters, used with the weights they were trained on") if trained else ()
    for row in trained:
        yield from (*_format_row(row), f"    {row['adapter']}")
    for server in servers:
        facts = (
            f"key in {server.key_env}" if server.key_env else "",
            "" if server.answers else "it does not answer now",
        )
        yield from ("", f"{server.provider}:  {server.address}", *(f"    {fact}" for fact in facts if fact))
        names = {model.name for model in server.models}
        # Those that were used here first, then those of which something is known.
        found = sorted(
            (row for row in rows if row["name"] in names and "address" in row),
            key=lambda row: (not row["tokens_per_second"], row["dollars_per_million_read"] is None, not row["context"]),
        )
        for row in found[:MOST_SHOWN]:
            yield from _format_row(row)
        if found[MOST_SHOWN:]:
            yield f"… and {len(found) - MOST_SHOWN} more; see all with: burnish models --json"
    own = [row for row in rows if not {"path", "address", "file", "adapter"} & row.keys()]
    yield from ("", "other weights that have answered here") if own else ()
    for row in own[:MOST_SHOWN]:
        yield from _format_row(row)
    yield from NOTES


def _format_memory(row: ModelRow) -> str:
    needs = f"needs about {row['memory_bytes'] / 1e9:.1f} GB of memory"
    return needs if row["fits"] else f"{needs}, more than there is here"


def _format_row(row: ModelRow) -> Iterator[str]:
    read, written = row.get("dollars_per_million_read", 0), row.get("dollars_per_million_written", 0)
    price = "" if read is None else f"{read:g} / {written:g}" if read or written else "free"
    rate = row["tokens_per_second"]
    speed = f"{rate:.{0 if rate >= 10 else 1}f} ({row['measured_at'][:10]})" if rate else ""
    context = f"{row['context']:,}" if row.get("context") else ""
    facts = (context, format_size(row["bytes"]) if row.get("bytes") else "", price, speed)
    name = one_line(row["name"], LONGEST_NAME)
    if len(name) > NAME_WIDTH and any(facts):
        yield name
        name = ""
    yield _align(name, facts)


def _align(name: str, facts: tuple[str, str, str, str]) -> str:
    context, size, price, speed = facts
    return f"{name:{NAME_WIDTH}}  {context:>9}  {size:>8}  {price:>12}  {speed}".rstrip()


def format_size(count: int) -> str:
    """A size for people."""
    return f"{count / 1e6:,.0f} MB" if count < 10e9 else f"{count / 1e9:,.0f} GB"
