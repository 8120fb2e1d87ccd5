"""`burnish write`: a sentence goes in; tests, code and a report come out.

`burnish resume`: go on after a crash, Ctrl-C or a limit, without asking again what was answered.
"""

from pathlib import Path
from typing import Annotated

import typer

from burnish.cli.options import (
    AllowPackage,
    Calls,
    Dollars,
    Events,
    Fast,
    MaxTokens,
    Rounds,
    Sandbox,
    Seconds,
    Strict,
    Thinking,
    Tokens,
    Verbose,
)
from burnish.models.catalog import DEFAULT_MODEL

Sentence = Annotated[str, typer.Argument(help="What to write, with examples if you can; - reads it from stdin.")]
WithTests = Annotated[Path | None, typer.Option(metavar="FILE", help="Your own pytest file; its tests decide.")]
Review = Annotated[
    bool, typer.Option("--review", help="Look at the tests, and at the code before its verdict, and say how to go on.")
]
WriteModel = Annotated[
    str,
    typer.Option(
        help="Who answers; see `burnish models`. Of several, small,large, the first is asked first; auto chooses."
    ),
]
WritePackages = Annotated[
    list[str] | None, typer.Option("--with", metavar="NAME,...", help="Packages that the code may import.")
]


def write(
    sentence: Sentence = "",
    task_file: Annotated[Path | None, typer.Option(help="Read a long task from this file.")] = None,
    with_tests: WithTests = None,
    ask: Annotated[bool, typer.Option("--ask", help="Be asked about what the sentence leaves open.")] = False,
    review: Review = False,
    model: WriteModel = DEFAULT_MODEL,
    packages: WritePackages = None,
    allow_package: AllowPackage = None,
    out: Annotated[
        Path | None, typer.Option(help="The new folder for the files. [default: named after the task]")
    ] = None,
    from_run: Annotated[str | None, typer.Option("--from", metavar="RUN", help="Go on from an earlier run.")] = None,
    rounds: Rounds = 5,
    calls: Calls = 16,
    tokens: Tokens = 40_000,
    seconds: Seconds = 600.0,
    dollars: Dollars = None,
    max_tokens: MaxTokens = None,
    thinking: Thinking = None,
    sandbox: Sandbox = "auto",
    fast: Fast = False,
    strict: Strict = False,
    verbose: Verbose = False,
    events: Events = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the folder.")] = False,
) -> None:
    """Write tested code from a sentence."""
    from burnish.cli.io import current_folder, read_task
    from burnish.cli.review import ReviewDesk, ask_in_terminal, check_somebody_is_there
    from burnish.cli.session import CommandSession, exit_code, read_limits
    from burnish.commands.write import write as write_it

    text = read_task(sentence, task_file)
    answer = {"max_tokens": max_tokens, "thinking": thinking}
    limits = read_limits(rounds=rounds, calls=calls, tokens=tokens, seconds=seconds, dollars=dollars, **answer)
    check_somebody_is_there(ask, review, silent=quiet or events)
    with CommandSession(verbose, events, quiet) as session:
        desk = ReviewDesk(session) if review else None
        run = write_it(
            text,
            model,
            out=out,
            beside=None if out else current_folder(),
            from_run=from_run,
            limits=limits,
            sandbox=sandbox,
            watch=desk.watch if desk else session.watch,
            fast=fast,
            with_tests=with_tests,
            answer=ask_in_terminal(session.screen) if ask else None,
            review=desk.review if desk else None,
            packages=packages or (),
            allow_packages=allow_package or (),
            opener=session.open_models,
        )
    session.finish(run)
    raise typer.Exit(exit_code(run, strict))


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
    from burnish.errors import SetupProblem
    from burnish.evals import eval_store
    from burnish.runs import Store

    caps = {"rounds": rounds, "calls": calls, "tokens": tokens, "seconds": seconds, "dollars": dollars}
    caps |= {"max_tokens": max_tokens, "thinking": thinking}
    raised = {name: cap for name, cap in caps.items() if cap is not None}
    store = Store()
    try:
        opened = store.open(run)
    except SetupProblem:
        folders = [
            folder.name for folder in eval_store.list_evaluations() if run != "last" and folder.name.startswith(run)
        ]
        if not folders:
            raise
        raise SetupProblem(
            f"{run!r} is an evaluation, and those are gone on with by a command of their own: "
            f"burnish eval resume {folders[0]}"
        ) from None
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
