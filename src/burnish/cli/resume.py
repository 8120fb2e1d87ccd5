"""`burnish resume`: go on after a crash, Ctrl-C or a limit, without asking again what was answered."""

from typing import TYPE_CHECKING, Annotated

import typer

from burnish.cli.options import Events, Strict, Verbose

if TYPE_CHECKING:
    from burnish.cli.session import Session
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
    from burnish.cli.session import Session, exit_code
    from burnish.runs import Store
    from burnish.verbs.resume import is_over, way_of

    caps = {"rounds": rounds, "calls": calls, "tokens": tokens, "seconds": seconds, "dollars": dollars}
    caps |= {"max_tokens": max_tokens, "thinking": thinking}
    raised = {name: cap for name, cap in caps.items() if cap is not None}
    store = Store()
    opened = _found(run, store)
    way_of(opened)
    if is_over(opened, raised) and (opened.folder is not None or opened.started.verb != "write"):
        print(f"Run {opened.id} is finished ({opened.state}): nothing is left to do. See: burnish show {opened.id}")
        return
    with Session(verbose, events, quiet, opened.id) as session:
        done = _go_on(opened, raised, store, session, sandbox)
    _goodbye(done, session)
    raise typer.Exit(exit_code(done, strict))


def _go_on(run: "Run", raised: dict[str, float], store: "Store", session: "Session", sandbox: str | None) -> "Run":
    """Do the work, and put the files of a run that names no folder where a new one would put them."""
    from burnish.cli.asking import can_ask, terminal
    from burnish.cli.review import ReviewDesk, can_review
    from burnish.cli.session import here
    from burnish.events import FilesWritten
    from burnish.text import slug
    from burnish.verbs.resume import is_reviewed, settings_of, task_of, waits_for_answers
    from burnish.verbs.resume import resume as resume_it
    from burnish.verbs.write import deliver, free_folder

    nowhere = run.started.verb == "write" and not settings_of(run).get("out")
    place = here() / slug(task_of(run).id) if nowhere else None
    answer = terminal(session.screen) if waits_for_answers(run) and can_ask(session.screen is None) else None
    desk = ReviewDesk(session) if is_reviewed(run) and can_review(session.screen is None) else None
    watch, review = (desk.watch, desk.review) if desk else (session.watch, None)
    models = session.models(run.started.model)
    done = resume_it(
        run.id, models, raised=raised, store=store, watch=watch, answer=answer, review=review, sandbox=sandbox
    )
    if place and not done.ending(FilesWritten):
        done = deliver(done, free_folder(place), store, session.watch)
    return done


def _goodbye(run: "Run", session: "Session") -> None:
    """As the verb itself ends: with a folder, or with a diff."""
    if run.started.verb == "fix":
        from burnish.cli.repaired import goodbye

        goodbye(run, session)
    else:
        session.goodbye(run)


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
