"""`burnish resume`: go on after a crash, Ctrl-C or a limit, without asking again what was answered."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from burnish.attempt import Watch
    from burnish.cli.screen import Screen
    from burnish.models.model import Model
    from burnish.runs import Run, Store


def resume(
    run: Annotated[str, typer.Argument(help="A run's id, its beginning, or last.")] = "last",
    rounds: Annotated[int | None, typer.Option(min=0, help="A new limit; see `burnish write`.")] = None,
    calls: Annotated[int | None, typer.Option(min=0, help="A new limit.")] = None,
    tokens: Annotated[int | None, typer.Option(min=0, help="A new limit.")] = None,
    seconds: Annotated[float | None, typer.Option(min=0, help="A new limit, for all parts together.")] = None,
    dollars: Annotated[float | None, typer.Option(min=0, help="A new limit.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 unless the result is proven.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show the model's words as they come.")] = False,
    events: Annotated[bool, typer.Option("--events", help="Print events as JSON lines.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the folder.")] = False,
) -> None:
    """Go on with a run that was killed, interrupted or stopped at a limit."""
    from burnish.runs import Store
    from burnish.verbs.resume import is_over, way_of

    caps = {"rounds": rounds, "calls": calls, "tokens": tokens, "seconds": seconds, "dollars": dollars}
    raised = {name: cap for name, cap in caps.items() if cap is not None}
    store = Store()
    opened = _found(run, store)
    way_of(opened)
    if is_over(opened, raised) and (opened.folder is not None or opened.started.verb != "write"):
        print(f"Run {opened.id} is finished ({opened.state}): nothing is left to do. See: burnish show {opened.id}")
        return
    watch, screen = _reader(verbose, events, quiet)
    done = _go_on(opened, raised, store, watch, screen, silent=quiet or events)
    _goodbye(done, screen, quiet)
    raise typer.Exit(0 if done.verdict == "proven" or (done.verdict == "plausible" and not strict) else 1)


def _go_on(
    run: "Run",
    raised: dict[str, float],
    store: "Store",
    watch: "Watch | None",
    screen: "Screen | None",
    silent: bool,
) -> "Run":
    """Do the work, and put the files of a run that names no folder where a new one would put them."""
    from burnish.events import FilesWritten
    from burnish.verbs.resume import resume as resume_it
    from burnish.verbs.resume import task_of
    from burnish.verbs.write import deliver, free_folder

    try:
        done = resume_it(run.id, _models(run, silent), raised=raised, store=store, watch=watch)
        if done.started.verb == "write" and not done.ending(FilesWritten):
            done = deliver(done, free_folder(Path.cwd() / task_of(done).id), store, watch)
    except KeyboardInterrupt:
        if screen:
            screen.close()
        print(f"burnish: Stopped. What was done is kept; go on with: burnish resume {run.id}", file=sys.stderr)
        raise
    finally:
        if screen:
            screen.close()
    return done


def _goodbye(run: "Run", screen: "Screen | None", quiet: bool) -> None:
    """As the verb itself ends: with a folder, or with a diff."""
    if run.started.verb == "fix":
        from burnish.cli.fix import _goodbye as show_repair

        show_repair(run, screen, quiet, None)
    elif quiet:
        print(run.folder)
    elif screen:
        screen.goodbye(run)


def _found(name: str, store: "Store") -> "Run":
    """The run; where there is none and an evaluation is called so, say what to type for that."""
    from burnish.errors import SetupProblem
    from burnish.evals import shelf

    try:
        return store.open(name)
    except SetupProblem:
        folders = [folder.name for folder in shelf.kept() if name != "last" and folder.name.startswith(name)]
        if not folders:
            raise
        raise SetupProblem(
            f"{name!r} is an evaluation, and those are gone on with by a command of their own: "
            f"burnish eval resume {folders[0]}"
        ) from None


def _models(run: "Run", silent: bool) -> "tuple[Model, ...]":
    from burnish.cli.fetching import fetching
    from burnish.models.names import open_models

    if silent:
        return open_models(run.started.model)
    with fetching() as progress:
        return open_models(run.started.model, progress)


def _reader(verbose: bool, events: bool, quiet: bool) -> "tuple[Watch | None, Screen | None]":
    if events:
        from burnish.cli.lines import print_line

        return print_line, None
    if quiet:
        return None, None
    from burnish.cli.screen import Screen

    screen = Screen(verbose)
    return screen.watch, screen
