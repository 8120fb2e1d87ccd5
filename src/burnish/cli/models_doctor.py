"""`burnish models doctor`: a line for each tiny task, and one at the end that says what a model is good for."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from burnish.events import BaseEvent

TASKS = {
    "hello": "wake it up",
    "context": "read a long prompt",
    "write": "write a function",
    "fix": "fix a function",
    "JSON": "answer in JSON",
    "form": "write tests",
    "stop": "stop when done",
}
"""What each task is called on the screen."""
MARKS = {"passed": ("ok", "green"), "failed": ("NO", "bold red"), "not_run": ("--", "dim")}


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

    from burnish.cli.fetching import fetching
    from burnish.errors import SetupProblem
    from burnish.events import Asked, CheckFinished, Notice
    from burnish.models.catalog import DEFAULT_MODEL
    from burnish.models.names import AUTO, default_names, open_model, split_names
    from burnish.text import one_line, plain
    from burnish.verbs.try_model import check_cost, estimate_cost, try_model

    first, *others = split_names(name) if name else split_names(default_names())[:1]
    if others:
        raise SetupProblem(
            f"One model is tried at a time, and {name!r} names {len(others) + 1}. Type: burnish models doctor {first}"
        )
    with fetching() as progress:
        model = open_model(DEFAULT_MODEL if not name and first == AUTO else first, progress)
    check_cost(model, dollars, unpriced)
    console = Console(stderr=as_json, highlight=False)

    def show(text: str, style: str = "") -> None:
        console.print(Text(plain(text), style), soft_wrap=True)

    tokens, most = estimate_cost(model)
    show(f"{model.name}: five tiny tasks; at most {tokens:,} tokens" + (f", {most:.2f} dollars" if most else ""))
    with console.status(Text("opening the sandbox")) as status:

        def watch(event: "BaseEvent") -> None:
            if isinstance(event, Asked):
                status.update(Text(f"{TASKS.get(event.purpose, event.purpose)} …"))
            elif isinstance(event, Notice):
                status.update(Text(one_line(event.text)))
            elif isinstance(event, CheckFinished):
                done = event.evidence
                line = f"{TASKS[done.check]:20} {done.figure:>18}  {one_line(done.why, 200)}".rstrip()
                console.print(Text(*MARKS[done.verdict]), Text(line), soft_wrap=True)

        try:
            trial = try_model(model, dollars=dollars, unpriced=unpriced, sandbox=sandbox, watch=watch)
        except KeyboardInterrupt:
            show(f"{model.name}: stopped before the end. Again: burnish models doctor {model.name}")
            raise
    if as_json:
        print(trial.model_dump_json(indent=2))
    else:
        show(trial.line, "bold")
        for change in trial.changes:
            show(change)
        if trial.dollars:
            show(f"It cost {trial.dollars:.4f} dollars.")
    sys.stdout.flush()
    raise typer.Exit(0 if trial.is_enough else 1 if trial.was_heard else 2)
