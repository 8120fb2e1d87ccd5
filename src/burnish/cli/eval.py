"""`burnish eval`: how good a model and a strategy are, at what cost."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from burnish.cli.options import MaxTokens, Sandbox, Thinking
from burnish.errors import SetupProblem
from burnish.models.catalog import DEFAULT_MODEL
from burnish.text import strip_controls

if TYPE_CHECKING:
    from rich.console import Console

    from burnish.cli.eval_screen import EvalScreen
    from burnish.evals.schema import Results


RESUMING = {"suite", "run", "data", "sandbox", "verbose", "as_json"}
"""What may be said with `resume`; all else is in the plan."""
LISTING = {"suite", "as_json"}
"""What may be said with `list`."""


def evaluate(
    context: typer.Context,
    suite: Annotated[
        str, typer.Argument(help="A suite from `burnish eval list` or a .jsonl file; or `list`; or `resume`.")
    ],
    run: Annotated[str, typer.Argument(metavar="RUN", help="After `resume`: which evaluation.")] = "last",
    model: Annotated[str, typer.Option(help="Who answers; see `burnish models`.")] = DEFAULT_MODEL,
    strategy: Annotated[str, typer.Option(help="How the model is used; see `burnish eval list`.")] = "burnish",
    rounds: Annotated[int, typer.Option(min=0, help="Rounds after the first answer.")] = 5,
    protocol: Annotated[
        str, typer.Option(help="visible: hidden tests only score; oracle: they drive the loop.")
    ] = "visible",
    ask: Annotated[str, typer.Option(help="What to ask for: auto, write or fix.")] = "auto",
    variant: Annotated[str, typer.Option(help="Of the suite; see `burnish eval list`.")] = "",
    split: Annotated[str, typer.Option(help="eval to report, tune to try things out.")] = "eval",
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first so many tasks.")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Attempts at each task, with seeds 0, 1, 2 …")] = 1,
    seed: Annotated[int | None, typer.Option(min=0, help="One attempt at each task, with this seed.")] = None,
    temperature: Annotated[float | None, typer.Option(min=0, help="In place of the strategy's own.")] = None,
    without: Annotated[
        str, typer.Option(help="Parts of our agent to leave out, e.g. tweak,agreement: what are they worth?")
    ] = "",
    max_tokens: MaxTokens = None,
    thinking: Thinking = None,
    at_once: Annotated[int, typer.Option(min=0, help="Attempts under way; 0: as many as keep the model busy.")] = 0,
    data: Annotated[Path | None, typer.Option(help="The folder of benchmark files.")] = None,
    out: Annotated[Path | None, typer.Option(help="Keep the evaluation in this folder.")] = None,
    sandbox: Sandbox = "auto",
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="A line for each finished attempt.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print results.json; the rest goes to stderr.")] = False,
) -> None:
    """Measure a model and a strategy on a suite of tasks."""
    from rich.console import Console

    _refuse_idle_options(context, suite)
    if suite == "list":
        from burnish.cli.eval_list import show_list

        show_list(Console(highlight=False), as_json)
        return
    settings = {
        "model": model,
        "strategy": strategy,
        "rounds": rounds,
        "protocol": _check_choice("protocol", protocol, ("visible", "oracle")),
        "ask": _check_choice("ask", ask, ("auto", "write", "fix")),
        "variant": variant,
        "split": _check_choice("split", split, ("eval", "tune")),
        "limit": limit,
        "seeds": tuple(range(seeds)) if seed is None else (seed,),
        "temperature": temperature,
        "without": tuple(part.strip() for part in without.split(",") if part.strip()),
        "max_tokens": max_tokens,
        "thinking": thinking,
        "at_once": at_once,
        "data": data,
        "out": out,
        "sandbox": sandbox,
    }
    console = Console(highlight=False, stderr=as_json)
    results = _run_with_screen(console, verbose, suite, run, settings)
    if as_json:
        print(results.text(), end="")
    raise typer.Exit(1 if results.errors == results.finished else 0)


def _run_with_screen(console: "Console", verbose: bool, suite: str, run: str, settings: dict[str, Any]) -> "Results":
    """Begin or go on, with a screen; whatever ends it early ends with a table and the line that goes on."""
    from burnish.cli.eval_screen import EvalScreen, show_table
    from burnish.evals import evaluate as evaluation
    from burnish.evals.runner import TooManyErrors

    with EvalScreen(console, verbose) as screen:
        try:
            if suite == "resume":
                sandbox = None if settings["sandbox"] == "auto" else settings["sandbox"]
                results = evaluation.resume(run, data=settings["data"], watch=screen, sandbox=sandbox)
            else:
                results = evaluation.evaluate(suite, **settings, watch=screen)
        except KeyboardInterrupt:
            _show_unfinished(screen, "Stopped. Finished attempts are kept; those under way are forgotten.")
            raise
        except TooManyErrors as error:
            _show_unfinished(screen, str(error))
            raise typer.Exit(1) from error
    assert screen.folder
    show_table(console, results, screen.folder)
    return results


def _show_unfinished(screen: "EvalScreen", why: str) -> None:
    """The table of what is finished, and why there is no more. The reports come last: they take a while."""
    from burnish.cli.eval_screen import show_table
    from burnish.evals.metrics import compute_results
    from burnish.evals.report import write_reports

    screen.close()
    if screen.folder is None:
        return
    show_table(screen.console, compute_results(screen.folder), screen.folder)
    print(f"burnish: {strip_controls(why)}", file=sys.stderr, flush=True)
    write_reports(screen.folder)


def _refuse_idle_options(context: typer.Context, suite: str) -> None:
    """Raise for options that `list` and `resume` would pass over in silence."""
    typed = [
        name for name in context.params if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"
    ]
    if suite != "resume" and "run" in typed:
        raise SetupProblem(f"{context.params['run']!r} is one word too many. Type: burnish eval {suite}")
    idle = [f"--{name.replace('_', '-')}" for name in typed if name not in (LISTING if suite == "list" else RESUMING)]
    if suite == "list" and idle:
        raise SetupProblem(f"`list` shows everything, whatever {' and '.join(idle)} may say. Type: burnish eval list")
    if suite == "resume" and idle:
        raise SetupProblem(
            f"`resume` goes on with the plan as it was written, so {' and '.join(idle)} cannot be changed. "
            f"Leave that out: burnish eval resume {context.params['run']}"
        )


def _check_choice(option: str, value: str, known: tuple[str, ...]) -> str:
    if value not in known:
        raise SetupProblem(f"There is no {option} {value!r}. Choose one of {', '.join(known)}: --{option} {known[0]}")
    return value
