"""`burnish models doctor`: five tiny tasks, a line each, and one line at the end that says what a model is good for."""

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from burnish.events import BaseEvent
    from burnish.models.model import Model
    from burnish.verbs.trying.answer import Answer
    from burnish.verbs.trying.tried import Tried

TASKS = {
    "hello": "wake it up",
    "context": "read a long prompt",
    "write": "write a function",
    "fix": "fix a function",
    "JSON": "answer in JSON",
    "form": "tests, in one code block",
    "stop": "stop when done",
}
"""What each task is called on the screen."""


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

    from burnish.cli.fetching import fetching
    from burnish.models.names import open_model
    from burnish.verbs.try_model import check_cost

    with fetching() as progress:
        model = open_model(_one(name) or _default(), progress)
    check_cost(model, dollars, unpriced)
    console = Console(stderr=as_json, highlight=False)
    try:
        tried = _examined(model, dollars, unpriced, sandbox, console)
    except KeyboardInterrupt:
        _left(model, console)
        raise
    if as_json:
        print(json.dumps(tried.as_json(), indent=2))
    else:
        _show(tried, console)
    sys.stdout.flush()
    raise typer.Exit(0 if tried.is_enough else 1 if tried.was_heard else 2)


def _one(name: str) -> str:
    """The name, if it is that of one model. Raises SetupProblem for several."""
    from burnish.errors import SetupProblem
    from burnish.models.names import split_names

    first, *others = split_names(name)
    if others:
        raise SetupProblem(
            f"One model is tried at a time, and {name!r} names {len(others) + 1}. Type: burnish models doctor {first}"
        )
    return first


def _left(model: "Model", console: "Console") -> None:
    from rich.text import Text

    words = f"{model.name}: left before the end, so nothing is said of it. Again: burnish models doctor {model.name}"
    console.print(Text(words), soft_wrap=True)


def _default() -> str:
    from burnish.models.catalog import DEFAULT_MODEL
    from burnish.models.names import AUTO, default_names, split_names

    first = split_names(default_names())[0]
    return DEFAULT_MODEL if first == AUTO else first


def _examined(model: "Model", dollars: float | None, unpriced: bool, sandbox: str, console: "Console") -> "Tried":
    """The examination, a line for each task as it ends; in a terminal, another says what is awaited."""
    from rich.text import Text

    from burnish.events import Asked, Notice
    from burnish.text import one_line
    from burnish.verbs.try_model import try_model

    console.print(Text(f"{model.name}: {_cost(model)}"), soft_wrap=True)
    with console.status(Text("opening the sandbox")) as status:

        def watch(event: "BaseEvent") -> None:
            if isinstance(event, Asked):
                status.update(Text(f"{TASKS.get(event.purpose, event.purpose)} …"))
            elif isinstance(event, Notice):
                status.update(Text(one_line(event.text)))

        def finished(answer: "Answer") -> None:
            console.print(Text(*_mark(answer)), Text(_told(answer)), soft_wrap=True)

        return try_model(model, dollars=dollars, unpriced=unpriced, sandbox=sandbox, watch=watch, finished=finished)


def _cost(model: "Model") -> str:
    from burnish.verbs.try_model import most_dollars, most_tokens

    most = most_dollars(model)
    if most is None:
        return f"five tiny tasks; its price is not known, and they take {most_tokens(model):,} tokens at most"
    return f"five tiny tasks; they cost {most:.2f} dollars at most" if most else "five tiny tasks; they cost nothing"


def _mark(answer: "Answer") -> tuple[str, str]:
    if answer.passed:
        return "ok", "green"
    return ("NO", "bold red") if answer.ended and answer.name != "context" else ("--", "dim")


def _told(answer: "Answer") -> str:
    from burnish.text import one_line

    facts = f"{answer.seconds:6.1f} s {answer.tokens_out:5} tokens" if answer.ended else " " * 21
    return f"{TASKS[answer.name]:24} {facts}  {one_line(answer.why, 200)}".rstrip()


def _show(tried: "Tried", console: "Console") -> None:
    from rich.text import Text

    from burnish.text import plain

    console.print(Text(plain(tried.line), style="bold"), soft_wrap=True)
    for change in tried.changes:
        console.print(Text(plain(change)), soft_wrap=True)
    if tried.dollars:
        console.print(Text(f"It cost {tried.dollars:.4f} dollars."), soft_wrap=True)
