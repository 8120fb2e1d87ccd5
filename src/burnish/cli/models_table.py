"""The models that are there, as a table: what each can have in mind, its size, its price, and how fast it last was."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from burnish.text import one_line

if TYPE_CHECKING:
    from burnish.models.listing import Listed, Shelf
    from burnish.models.prices import Price
    from burnish.runs.speeds import Speed

MOST_SHOWN = 12
"""Models of one server on the screen; a cloud has more than anybody wants to read."""
MOST_NAME = 26
"""Longer names have a line of their own, so that the columns stay within 80 characters."""
HEAD = ("context", "size", "$/M tokens", "tokens/s")
WIDTHS = (9, 8, 12, 0)
COLUMNS = 80
LONGEST_NAME = 300


def table(rows: "list[dict[str, object]]", shelves: "list[Shelf]", speeds: "dict[str, Speed]") -> Iterator[str]:
    """Line by line: weights on this disk, each server's models, then others that have answered here."""
    yield _line("", HEAD).rstrip()
    for row in rows:
        yield from _of_disk(row, speeds)
    for shelf in shelves:
        yield from _of_shelf(shelf, speeds)
    yield from _of_files(rows, speeds)
    yield ""
    yield "$/M tokens: dollars for a million tokens read / written."
    yield "tokens/s: as last measured here."
    yield "A GGUF file of your own: --model local:/path/to.gguf"
    yield "Exact answers for tests: --model scripted:demo"
    yield "Is one good enough? burnish models doctor NAME"


def speed_of(name: str, speeds: "dict[str, Speed]") -> dict[str, object]:
    """What a program is told of a model's speed, whoever has it."""
    speed = speeds.get(name)
    return {
        "tokens_per_second": round(speed.tokens_per_second, 1) if speed else None,
        "measured_at": datetime.fromtimestamp(speed.at).astimezone().isoformat(timespec="seconds") if speed else None,
    }


def own_names(rows: Iterable[dict[str, object]], speeds: "dict[str, Speed]") -> list[str]:
    """Weights of the user's own: no list has them, but they have answered."""
    listed = {row["name"] for row in rows}
    return sorted(name for name in speeds if name.startswith(("local:", "huggingface:")) and name not in listed)


def megabytes(count: int) -> str:
    """A size for people."""
    return f"{count / 1e6:,.0f} MB" if count < 10e9 else f"{count / 1e9:,.0f} GB"


def measured(speed: "Speed | None", today: datetime | None = None) -> str:
    """A speed and its day: "31 on 15 Nov"; where that was in another year, "31 in Nov 2024"."""
    if speed is None:
        return ""
    day = datetime.fromtimestamp(speed.at)
    rate = f"{speed.tokens_per_second:.0f}" if speed.tokens_per_second >= 10 else f"{speed.tokens_per_second:.1f}"
    if day.year != (today or datetime.now()).year:
        return f"{rate} in {day:%b %Y}"
    return f"{rate} on {day.day} {day:%b}"


def _of_disk(row: dict[str, object], speeds: "dict[str, Speed]") -> Iterator[str]:
    name, size = str(row["name"]), row["bytes"]
    facts = (_tokens(row["context"]), megabytes(size) if isinstance(size, int) else "", "free")
    yield from _entry(name, (*facts, measured(speeds.get(name))))
    where = str(row["path"]) if row["on_disk"] else f"not on disk; type: ./burnish models pull {name}"
    yield from _folded("    ", f"{'default, ' if row['default'] else ''}{row['licence']}", where)


def _of_shelf(shelf: "Shelf", speeds: "dict[str, Speed]") -> Iterator[str]:
    key = f"key in {shelf.key_env}" if shelf.key_env else ""
    silent = "" if shelf.answers else "it does not answer now"
    yield ""
    yield from _folded("", f"{shelf.provider}:  {shelf.address}", ", ".join(filter(None, (key, silent))))
    shown = sorted(shelf.models, key=lambda model: _rank(model, speeds))[:MOST_SHOWN]
    for model in shown:
        facts = (_tokens(model.context), megabytes(model.bytes) if model.bytes else "", _price(model.price))
        yield from _entry(one_line(model.name, LONGEST_NAME), (*facts, measured(speeds.get(model.name))))
    if left := len(shelf.models) - len(shown):
        yield f"… and {left} more; see all with: burnish models --json"


def _of_files(rows: Iterable[dict[str, object]], speeds: "dict[str, Speed]") -> Iterator[str]:
    own = own_names(rows, speeds)
    if own:
        yield ""
        yield "weights of your own, and others, that have answered here"
    for name in own[:MOST_SHOWN]:
        yield from _entry(one_line(name, LONGEST_NAME), ("", "", "free", measured(speeds[name])))


def _rank(model: "Listed", speeds: "dict[str, Speed]") -> tuple[bool, bool, bool]:
    """Those that were used here first, then those of which something is known."""
    return model.name not in speeds, not model.price, not model.context


def _folded(before: str, first: str, second: str) -> Iterator[str]:
    """Both on one line; where that would be too long, each has its own. Neither is cut: people copy them."""
    line = before + ", ".join(filter(None, (first, second)))
    yield from [line] if len(line) <= COLUMNS else [before + first, f"    {second}"]


def _entry(name: str, facts: tuple[str, ...]) -> Iterator[str]:
    if len(name) > MOST_NAME and any(facts):
        yield name
        name = ""
    yield _line(name, facts).rstrip()


def _line(name: str, facts: tuple[str, ...]) -> str:
    return f"{name:{MOST_NAME}}" + "".join(f"  {fact:>{width}}" for fact, width in zip(facts, WIDTHS, strict=True))


def _tokens(context: object) -> str:
    return f"{context:,}" if isinstance(context, int) and context else ""


def _price(price: "Price | None") -> str:
    if price is None:
        return ""
    return f"{price.read:g} / {price.written:g}" if price.read or price.written else "free"
