"""What is here and what is set: `burnish doctor`, `burnish config` and `burnish models`.

`doctor` is one screen that says whether `write` would work here; `config` shows and changes what you have decided once
and for all; `models` lists what can answer, `models pull` fetches it, `models doctor` tries whether it is any good.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from burnish.errors import SetupProblem
from burnish.models.catalog import DEFAULT_MODEL
from burnish.text import one_line, strip_controls

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

    from burnish.models.model import Progress
    from burnish.runs import Watch

models_app = typer.Typer(invoke_without_command=True, rich_markup_mode=None)
config_app = typer.Typer(invoke_without_command=True, rich_markup_mode=None)
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


def own_tests(
    arguments: Annotated[list[str] | None, typer.Argument(metavar="[PYTEST...]", help="Passed on to pytest.")] = None,
) -> None:
    """Run the tests of Burnish itself, from its clone: ./burnish test

    Code of yours is checked with `burnish check`.
    """
    # In a clone, bootstrap.py has run them before this is asked: an installed Burnish has none.
    raise SetupProblem(
        "These are the tests of Burnish itself, and only a clone of it has them: ./burnish test. "
        "To have code of yours checked, type: burnish check FILE.py"
    )


def bundle(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The archive to write, as burnish.tar.")],
    model: Annotated[str, typer.Option(help="The embedded model whose weights are put in.")] = DEFAULT_MODEL,
    no_model: Annotated[bool, typer.Option("--no-model", help="Put in no weights.")] = False,
) -> None:
    """Make an archive that installs Burnish on a machine like this one without any network."""
    import time

    from burnish.commands.bundle import make_bundle

    start = time.monotonic()
    with show_fetching() as progress:
        made = make_bundle(
            out, "" if no_model else model, lambda what: print(f"burnish: {what}", file=sys.stderr), progress
        )
    needs = (
        f"Python {made.python} is in it"
        if made.python
        else f"it needs a Python {made.pythons[0]} to {made.pythons[-1]}"
    )
    print(f"{made.path}: {made.bytes / 1e6:,.0f} MB in {time.monotonic() - start:.0f} s; {needs}")
    print(f"There, type: tar -xf {made.path.name} && sh burnish/install.sh")


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False) -> None:
    """Check that everything `write` needs is here. Exit code 2 when something is missing."""
    from rich.console import Console
    from rich.text import Text

    from burnish.cli.io import print_json
    from burnish.doctor import examine, is_healthy

    findings = examine()
    if as_json:
        print_json(json.dumps([finding.model_dump() for finding in findings], indent=2))
        raise typer.Exit(0 if is_healthy(findings) else 2)
    console = Console(highlight=False, soft_wrap=True)
    width = max(len(finding.thing) for finding in findings)
    for finding in findings:
        mark = ("ok", "green") if finding.fine else ("NO", "bold red") if finding.needed else ("--", "dim")
        console.print(Text(*mark), Text(f"{finding.thing:{width}}  {strip_controls(finding.says)}"))
        if finding.type_this:
            console.print(Text(f"{'':{width}}     type: {finding.type_this}", style="bold"))
    print("Ready." if is_healthy(findings) else "Not ready: type the lines above.")
    raise typer.Exit(0 if is_healthy(findings) else 2)


@config_app.callback()
def config(context: typer.Context) -> None:
    """Show your settings: the model that is used unless --model says otherwise, and where servers are."""
    if context.invoked_subcommand is None:
        from burnish import config as settings

        words = settings.read_text()
        parsed = settings.parse(words)
        print(f"# {settings.path()}" + ("" if words.strip() else " (nothing is set yet)"))
        print(strip_controls(words), end="" if words.endswith("\n") or not words else "\n")
        if not parsed.model:
            print("# who answers is not set: a name from `burnish models`, or small,large, or auto; for example:")
            print("# burnish config set model auto")
        if "local" not in parsed.context:
            from burnish.models.local import CONTEXT_TOKENS_PER_SLOT

            print(
                f"# context of embedded models: {CONTEXT_TOKENS_PER_SLOT}; change it: burnish config set context 8192"
            )
        if "gpu_layers" not in parsed.model_fields_set:
            print(f"# gpu_layers: {parsed.gpu_layers}; no GPU: burnish config set gpu_layers 0")


@config_app.command("set")
def set_(
    key: Annotated[
        str,
        typer.Argument(
            help="model (a name, small,large, or auto), may_spend, models.NAME.base_url (kind, key_env, continues, "
            "thinking, free), checks.index_url, checks.advisories_url, context.MODEL (or context: of embedded models), "
            "gpu_layers (auto, or a number)."
        ),
    ],
    value: Annotated[str, typer.Argument(help="The new value. Never a key: name its variable with key_env.")],
) -> None:
    """Change one setting. A server of your own begins with its address: models.lab.base_url http://127.0.0.1:8000/v1"""
    from burnish.config import put

    print(put(key, value))


@config_app.command()
def path() -> None:
    """Print where the file of settings is, whether it exists or not."""
    from burnish import config as settings

    print(settings.path())


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


@models_app.callback()
def models(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False,
) -> None:
    """List the models that are there: on this disk, and with the servers that are set up. Or fetch one, or try one."""
    if context.invoked_subcommand is None:
        from burnish.cli.io import print_json
        from burnish.commands.models import format_table, list_rows
        from burnish.model_choice import last_speeds
        from burnish.models.discovery import list_all_models

        found = list_all_models()
        rows = list_rows(found, last_speeds())
        if as_json:
            print_json(json.dumps(rows, indent=2))
        else:
            print("\n".join(format_table(rows, found)))


@models_app.command("doctor")
def models_doctor(
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

    from burnish.cli.io import print_json
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
        print_json(trial.model_dump_json(indent=2))
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


@models_app.command()
def pull(
    name: Annotated[
        str,
        typer.Argument(help="A name from `burnish models`, or ollama:NAME.", show_default="who answers by default"),
    ] = "",
) -> None:
    """Fetch a model's weights and check them. Prints where they are."""
    from burnish.commands.models import pull_model
    from burnish.models.names import AUTO, default_names, split_names

    for one in split_names(name or default_names()):
        with show_fetching() as progress:
            place = pull_model(DEFAULT_MODEL if one == AUTO else one, progress)
        print(place)
