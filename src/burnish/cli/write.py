"""`burnish write`: a sentence goes in; tests, code and a report come out."""

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


def write(
    sentence: Annotated[
        str, typer.Argument(help="What to write, with examples if you can; - reads it from stdin.")
    ] = "",
    task_file: Annotated[Path | None, typer.Option(help="Read a long task from this file.")] = None,
    with_tests: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Your own pytest file; its tests decide.")
    ] = None,
    ask: Annotated[bool, typer.Option("--ask", help="Be asked about what the sentence leaves open.")] = False,
    review: Annotated[
        bool,
        typer.Option("--review", help="Look at the tests, and at the code before its verdict, and say how to go on."),
    ] = False,
    model: Annotated[
        str,
        typer.Option(
            help="Who answers; see `burnish models`. Of several, small,large, the first is asked first; auto chooses."
        ),
    ] = DEFAULT_MODEL,
    packages: Annotated[
        list[str] | None, typer.Option("--with", metavar="NAME,...", help="Packages that the code may import.")
    ] = None,
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
    from burnish.cli.review import ReviewDesk, ask_in_terminal, check_can_ask, check_can_review
    from burnish.cli.session import CommandSession, exit_code, read_limits
    from burnish.commands.write import write as write_it

    text = read_task(sentence, task_file)
    answer = {"max_tokens": max_tokens, "thinking": thinking}
    limits = read_limits(rounds=rounds, calls=calls, tokens=tokens, seconds=seconds, dollars=dollars, **answer)
    if ask:
        check_can_ask(quiet or events)
    if review:
        check_can_review(quiet or events)
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
