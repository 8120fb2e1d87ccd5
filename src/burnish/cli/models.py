"""`burnish models`: what can answer, and what is on disk; `pull` fetches it, `doctor` tries whether it is any good."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from burnish.errors import SetupProblem
from burnish.models.catalog import CATALOG, DEFAULT_MODEL
from burnish.text import one_line, strip_controls

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

    from burnish.model_choice import Speed
    from burnish.models.discovery import ServerModels
    from burnish.models.model import Progress
    from burnish.runs import Watch

app = typer.Typer(invoke_without_command=True, rich_markup_mode=None)
TASKS = {
    "hello": "wake it up",
    "context": "read a long prompt",
    "write": "write a function",
    "fix": "fix a function",
    "JSON": "answer in JSON",
    "form": "write tests",
    "stop": "stop when done",
}
"""What each task of `models doctor` is called on the screen."""
MARKS = {"passed": ("ok", "green"), "failed": ("NO", "bold red"), "not_run": ("--", "dim")}

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


@contextmanager
def show_fetching() -> Iterator["Progress"]:
    """A bar that appears with the first byte; where there is no terminal, one line a source. Always on stderr."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    console = Console(stderr=True, highlight=False)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        shown: str | None = None

        def progress(done: int, total: int, source: str) -> None:
            nonlocal shown
            if source != shown:
                shown = source
                for old in bar.task_ids:
                    bar.remove_task(old)
                bar.add_task(source, total=total)
                if source and not console.is_terminal:
                    print(f"burnish: weights: {source}", file=sys.stderr)
            bar.update(bar.task_ids[0], completed=done)

        yield progress


@app.callback()
def models(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False,
) -> None:
    """List the models that are there: on this disk, and with the servers that are set up. Or fetch one, or try one."""
    if context.invoked_subcommand is None:
        from burnish.model_choice import last_speeds
        from burnish.models.discovery import list_all_models

        found = list_all_models()
        rows = list_rows(found, last_speeds())
        print(json.dumps(rows, indent=2) if as_json else "\n".join(format_table(rows, found)))


@app.command()
def doctor(
    name: Annotated[
        str, typer.Argument(help="Who is tried; see `burnish models`. The default where none is named.")
    ] = "",
    dollars: Annotated[
        float | None,
        typer.Option(
            "--dollars", min=0, help="What it may cost. Up to 5 cents need not be said; most models are free."
        ),
    ] = None,
    unpriced: Annotated[
        bool, typer.Option("--unpriced", help="Try it even if nobody knows what it costs; how much it takes is capped.")
    ] = False,
    sandbox: Annotated[str, typer.Option(help="Where code is run: auto, bubblewrap, docker or process.")] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON; progress goes to stderr.")] = False,
) -> None:
    """Try a model on five tiny tasks: is it good enough, how fast, and what to change.

    Exit code 1: not for write; 2: it could not be tried.
    """
    from rich.console import Console
    from rich.text import Text

    from burnish.commands.try_model import check_cost, estimate_cost, try_model
    from burnish.models.names import AUTO, default_names, open_model, split_names

    first, *others = split_names(name) if name else split_names(default_names())[:1]
    if others:
        raise SetupProblem(
            f"One model is tried at a time, and {name!r} names {len(others) + 1}. Type: burnish models doctor {first}"
        )
    with show_fetching() as progress:
        model = open_model(DEFAULT_MODEL if not name and first == AUTO else first, progress)
    check_cost(model, dollars, unpriced)
    console = Console(stderr=as_json, highlight=False)

    def show(text: str, style: str = "") -> None:
        console.print(Text(strip_controls(text), style), soft_wrap=True)

    tokens, most = estimate_cost(model)
    show(f"{model.name}: five tiny tasks; at most {tokens:,} tokens" + (f", {most:.2f} dollars" if most else ""))
    with console.status(Text("opening the sandbox")) as status:
        try:
            watch = _make_watch(console, status)
            trial = try_model(model, dollars=dollars, unpriced=unpriced, sandbox=sandbox, watch=watch)
        except KeyboardInterrupt:
            show(f"{model.name}: stopped before the end. Again: burnish models doctor {model.name}")
            raise
    if as_json:
        print(trial.model_dump_json(indent=2))
    else:
        show(trial.line, "bold")
        for line in (*trial.changes, *([f"It cost {trial.dollars:.4f} dollars."] if trial.dollars else [])):
            show(line)
    sys.stdout.flush()
    raise typer.Exit(0 if trial.is_enough else 1 if trial.was_heard else 2)


def _make_watch(console: "Console", status: "Status") -> "Watch":
    """Shows what a trial is about while it runs, and a line for each task that has ended."""
    from rich.text import Text

    from burnish.events import Asked, BaseEvent, CheckFinished, Notice

    def watch(event: BaseEvent) -> None:
        if isinstance(event, Asked):
            status.update(Text(f"{TASKS.get(event.purpose, event.purpose)} …"))
        elif isinstance(event, Notice):
            status.update(Text(one_line(event.text)))
        elif isinstance(event, CheckFinished):
            done = event.evidence
            line = f"{TASKS[done.check]:20} {done.figure:>18}  {one_line(done.why, 200)}".rstrip()
            console.print(Text(*MARKS[done.verdict]), Text(line), soft_wrap=True)

    return watch


@app.command()
def pull(
    name: Annotated[
        str,
        typer.Argument(help="A name from `burnish models`, or ollama:NAME.", show_default="who answers by default"),
    ] = "",
) -> None:
    """Fetch a model's weights and check them. Prints where they are."""
    from burnish.models.names import AUTO, default_names, split_names

    for one in split_names(name or default_names()):
        print(_pull(DEFAULT_MODEL if one == AUTO else one))


def _pull(name: str) -> str:
    """Fetch one model's weights, or have its server do that. Where they are, or how the server calls it."""
    from burnish.models.discovery import pull_ollama_model
    from burnish.models.providers import find_server
    from burnish.models.weights import ensure_weights, find_weights, is_checked, weights_path

    server = find_server(name) if name.partition(":")[2] else None
    if server and server.kind != "ollama":
        raise SetupProblem(
            f"A model of the server at {server.address} needs no pull: {name!r} answers where it is, if it is there."
            f" See what is there: burnish models"
        )
    if server:
        with show_fetching() as progress:
            pull_ollama_model(server.address, name, progress)
        return name
    weights = find_weights(name)
    if is_checked(weights):
        return str(weights_path(weights))
    print(f"burnish: the weights of {name}: {format_size(weights.bytes)}, {weights.licence}", file=sys.stderr)
    with show_fetching() as progress:
        return str(ensure_weights(name, progress))


def list_rows(servers: "Sequence[ServerModels]", speeds: "Mapping[str, Speed]") -> list[ModelRow]:
    """What `burnish models --json` prints: known weights, models of servers, and other weights that have answered."""
    from burnish.models.local import CONTEXT_TOKENS_PER_SLOT
    from burnish.models.names import default_names, split_names
    from burnish.models.weights import is_checked, weights_path

    default = split_names(default_names())
    rows: list[ModelRow] = [
        {
            "name": weights.name,
            "bytes": weights.bytes,
            "context": CONTEXT_TOKENS_PER_SLOT,
            "licence": weights.licence,
            "on_disk": is_checked(weights),
            "default": weights.name in default,
            "path": str(weights_path(weights)),
        }
        for weights in CATALOG.values()
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
    own = {name for name in speeds if name.startswith(("local:", "huggingface:"))} - CATALOG.keys()
    rows += [{"name": name} for name in sorted(own)]
    for row in rows:
        speed = speeds.get(row["name"])
        day = datetime.fromtimestamp(speed.at).astimezone() if speed else None
        row["tokens_per_second"] = round(speed.tokens_per_second, 1) if speed else None
        row["measured_at"] = day.isoformat(timespec="seconds") if day else None
    return rows


def format_table(rows: Sequence[ModelRow], servers: "Sequence[ServerModels]") -> Iterator[str]:
    """Line by line: weights on this disk, each server's models, then others that have answered here."""
    yield _align("", ("context", "size", "$/M tokens", "tokens/s"))
    for row in rows:
        if "path" in row:
            yield from _format_row(row)
            where = row["path"] if row["on_disk"] else f"not on disk; type: ./burnish models pull {row['name']}"
            yield from (f"    {'default, ' if row['default'] else ''}{row['licence']}", f"    {where}")
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
    own = [row for row in rows if "path" not in row and "address" not in row]
    yield from ("", "other weights that have answered here") if own else ()
    for row in own[:MOST_SHOWN]:
        yield from _format_row(row)
    yield from NOTES


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
