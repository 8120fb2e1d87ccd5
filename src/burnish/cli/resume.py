"""`burnish resume`: go on after a crash, Ctrl-C or a limit, without asking again what was answered."""

from typing import TYPE_CHECKING, Annotated

import typer

from burnish.cli.options import Events, Strict, Verbose

if TYPE_CHECKING:
    from burnish.runs import Run, Store


def resume(
    run: Annotated[str, typer.Argument(help="A run's id, its beginning, or last.")] = "last",
    rounds: Annotated[int | None, typer.Option(min=0, help="A new limit; see `burnish write`.")] = None,
    calls: Annotated[int | None, typer.Option(min=0, help="A new limit.")] = None,
    tokens: Annotated[int | None, typer.Option(min=0, help="A new limit.")] = None,
    seconds: Annotated[float | None, typer.Option(min=0, help="A new limit, for all parts together.")] = None,
    dollars: Annotated[float | None, typer.Option(min=0, help="A new limit.")] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Another length for one answer.")] = None,
    thinking: Annotated[int | None, typer.Option(min=0, help="Another length for the thoughts before it.")] = None,
    sandbox: Annotated[str | None, typer.Option(help="Where code runs. [default: where it ran before]")] = None,
    strict: Strict = False,
    verbose: Verbose = False,
    events: Events = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the folder, or the diff.")] = False,
) -> None:
    """Go on with a run that was killed, interrupted or stopped at a limit."""
    from burnish.cli.io import current_folder
    from burnish.cli.review import ReviewDesk, ask_in_terminal, can_ask, can_review
    from burnish.cli.session import CommandSession, exit_code
    from burnish.commands.resume import is_over
    from burnish.commands.resume import resume as resume_it
    from burnish.runs import Store

    caps = {"rounds": rounds, "calls": calls, "tokens": tokens, "seconds": seconds, "dollars": dollars}
    caps |= {"max_tokens": max_tokens, "thinking": thinking}
    raised = {name: cap for name, cap in caps.items() if cap is not None}
    store = Store()
    opened = _open_run(run, store)
    nowhere = opened.started.verb == "write" and not opened.settings.out
    if is_over(opened, raised, deliver=nowhere):
        print(f"Run {opened.id} is finished ({opened.state}): nothing is left to do. See: burnish show {opened.id}")
        return
    with CommandSession(verbose, events, quiet, opened.id) as session:
        silent = session.screen is None
        desk = ReviewDesk(session) if opened.settings.review and can_review(silent) else None
        done = resume_it(
            opened.id,
            raised=raised,
            store=store,
            watch=desk.watch if desk else session.watch,
            answer=ask_in_terminal(session.screen) if can_ask(silent) else None,
            review=desk.review if desk else None,
            sandbox=sandbox,
            beside=current_folder() if nowhere else None,
            opener=session.open_models,
        )
    session.finish(done)
    raise typer.Exit(exit_code(done, strict))


def _open_run(name: str, store: "Store") -> "Run":
    """The run; where there is none and an evaluation is called so, say what to type for that."""
    from burnish.errors import SetupProblem
    from burnish.evals import eval_store

    try:
        return store.open(name)
    except SetupProblem:
        folders = [
            folder.name for folder in eval_store.list_evaluations() if name != "last" and folder.name.startswith(name)
        ]
        if not folders:
            raise
        raise SetupProblem(
            f"{name!r} is an evaluation, and those are gone on with by a command of their own: "
            f"burnish eval resume {folders[0]}"
        ) from None
