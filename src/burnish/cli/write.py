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
    from burnish.agent.limits import check_priced
    from burnish.cli.asking import check_terminal, terminal
    from burnish.cli.reading import task_text
    from burnish.cli.review import ReviewDesk, check_reader
    from burnish.cli.session import Session, exit_code, here, limits
    from burnish.model_choice import choose_models
    from burnish.models.names import split_names
    from burnish.packages import parse_requirements
    from burnish.runs import Store
    from burnish.verbs.write import check_free, deliver, free_folder, task_for
    from burnish.verbs.write import write as write_it

    text, store = task_text(sentence, task_file), Store()
    asked = parse_requirements(packages or (), allow_package or ())
    task = task_for(text, from_run, store, with_tests, asked)
    check_free(out or free_folder(here() / task.id))
    answer = {"max_tokens": max_tokens, "thinking": thinking}
    caps = limits(rounds=rounds, calls=calls, tokens=tokens, seconds=seconds, dollars=dollars, **answer)
    if ask:
        check_terminal(quiet or events)
    if review:
        check_reader(quiet or events)
    who = choose_models(model, caps, store)
    check_priced(caps, *split_names(who.names))
    with Session(verbose, events, quiet) as session:
        desk = ReviewDesk(session) if review else None
        watch = desk.watch if desk else session.watch
        run = write_it(
            text,
            session.models(who),
            out=out,
            from_run=from_run,
            limits=caps,
            sandbox=sandbox,
            store=store,
            watch=watch,
            fast=fast,
            with_tests=with_tests,
            answer=terminal(session.screen) if ask else None,
            review=desk.review if desk else None,
            packages=packages or (),
            allow_packages=allow_package or (),
        )
        if out is None:  # named only now: another run may have taken the name meanwhile
            run = deliver(run, free_folder(here() / task.id), store, session.watch)
    session.goodbye(run)
    raise typer.Exit(exit_code(run, strict))
