"""`burnish write`: a sentence goes in; tests, code and a report come out."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from burnish.models.catalog import DEFAULT_MODEL

if TYPE_CHECKING:
    from burnish.attempt import Watch
    from burnish.cli.screen import Screen
    from burnish.models.model import Model
    from burnish.runs import Run


def write(
    sentence: Annotated[
        str, typer.Argument(help="What to write, with examples if you can; - reads it from stdin.")
    ] = "",
    task_file: Annotated[Path | None, typer.Option(help="Read a long task from this file.")] = None,
    with_tests: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Your own pytest file; its tests decide.")
    ] = None,
    ask: Annotated[bool, typer.Option("--ask", help="Be asked about what the sentence leaves open.")] = False,
    model: Annotated[
        str, typer.Option(help="Who answers; see `burnish models`. Of several, small,large, the first is asked first.")
    ] = DEFAULT_MODEL,
    out: Annotated[
        Path | None, typer.Option(help="The new folder for the files. [default: named after the task]")
    ] = None,
    from_run: Annotated[str | None, typer.Option("--from", metavar="RUN", help="Go on from an earlier run.")] = None,
    rounds: Annotated[int, typer.Option(min=0, help="Times to go back to the code after the first draft.")] = 5,
    calls: Annotated[int, typer.Option(min=0, help="Questions to the model at most.")] = 16,
    tokens: Annotated[int, typer.Option(min=0, help="Tokens read and written at most.")] = 40_000,
    seconds: Annotated[float, typer.Option(min=0, help="Wall time at most.")] = 600.0,
    dollars: Annotated[float | None, typer.Option(min=0, help="Money for the model at most.")] = None,
    sandbox: Annotated[str, typer.Option(help="Where code runs: auto, bubblewrap, process.")] = "auto",
    fast: Annotated[bool, typer.Option("--fast", help="Leave out the slow checks: mutation, performance.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 unless the result is proven.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show the model's words as they come.")] = False,
    events: Annotated[bool, typer.Option("--events", help="Print events as JSON lines.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the folder.")] = False,
) -> None:
    """Write tested code from a sentence."""
    from burnish.agent.limits import Limits, check_priced
    from burnish.cli.asking import check_terminal, terminal
    from burnish.cli.reading import task_text
    from burnish.models.names import split_names
    from burnish.runs import Store
    from burnish.verbs.write import check_free, deliver, free_folder, task_for
    from burnish.verbs.write import write as write_it

    text, store = task_text(sentence, task_file), Store()
    task = task_for(text, from_run, store, with_tests)
    check_free(out or free_folder(_here() / task.id))
    limits = Limits(rounds=rounds, calls=calls, tokens=tokens, seconds=seconds, dollars=dollars)
    check_priced(limits, *split_names(model))
    if ask:
        check_terminal(quiet or events)
    watch, screen = _reader(verbose, events, quiet)
    try:
        answering = _opened(model, quiet or events)
        run = write_it(
            text,
            answering,
            out=out,
            from_run=from_run,
            limits=limits,
            sandbox=sandbox,
            store=store,
            watch=watch,
            fast=fast,
            with_tests=with_tests,
            answer=terminal(screen) if ask else None,
        )
        if out is None:  # named only now: another run may have taken the name meanwhile
            run = deliver(run, free_folder(_here() / task.id), store, watch)
    except KeyboardInterrupt:
        _close(screen)
        print("burnish: Stopped. What was done is kept; go on with: burnish resume last", file=sys.stderr)
        raise
    finally:
        _close(screen)
    _goodbye(run, screen, quiet)
    raise typer.Exit(_exit_code(run, strict))


def _here() -> Path:
    """The current folder, as long as there is one."""
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        from burnish.errors import SetupProblem

        raise SetupProblem("The current folder has been deleted. Go to one that exists: cd ~") from error


def _reader(verbose: bool, events: bool, quiet: bool) -> "tuple[Watch | None, Screen | None]":
    """Who reads the run's events: a person, a program, or nobody."""
    if events:
        from burnish.cli.lines import print_line

        return print_line, None
    if quiet:
        return None, None
    from burnish.cli.screen import Screen

    screen = Screen(verbose)
    return screen.watch, screen


def _opened(model: str, silent: bool) -> "tuple[Model, ...]":
    """The models, their weights fetched under a progress bar if they are not here yet."""
    from burnish.models.names import open_models

    if silent:
        return open_models(model)
    from burnish.cli.fetching import fetching

    with fetching() as progress:
        return open_models(model, progress)


def _close(screen: "Screen | None") -> None:
    if screen:
        screen.close()


def _goodbye(run: "Run", screen: "Screen | None", quiet: bool) -> None:
    if quiet:
        print(run.folder)
    if screen:
        screen.goodbye(run)


def _exit_code(run: "Run", strict: bool) -> int:
    """0 for proven, and for plausible unless told to be strict; 1 for the rest."""
    return 0 if run.verdict == "proven" or (run.verdict == "plausible" and not strict) else 1
