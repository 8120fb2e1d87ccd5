"""`write`: tests and code from a sentence; `fix` and `apply`: a repair; `resume` and `answer`: go on."""

from pathlib import Path
from typing import Annotated

import typer

import burnish
from burnish.cli.options import (
    AllowPackage,
    AsJson,
    Calls,
    Dollars,
    Events,
    Fast,
    KeepThoughts,
    MaxTokens,
    ModelName,
    NoAsk,
    Packages,
    Rounds,
    Sandbox,
    Seconds,
    Strict,
    SureEnough,
    Thinking,
    Tokens,
    Verbose,
)
from burnish.models.catalog import DEFAULT_MODEL
from burnish.text import strip_controls

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


def write(
    sentence: Sentence = "",
    task_file: Annotated[Path | None, typer.Option(help="Read a long task from this file.")] = None,
    with_tests: WithTests = None,
    ask: Annotated[bool, typer.Option("--ask", help="Be asked about what the sentence leaves open.")] = False,
    no_ask: NoAsk = False,
    review: Review = False,
    model: WriteModel = DEFAULT_MODEL,
    packages: Annotated[
        list[str] | None, typer.Option("--with", metavar="NAME,...", help="Packages that the code may import.")
    ] = None,
    allow_package: AllowPackage = None,
    out: Annotated[
        Path | None, typer.Option(help="A new or empty folder for the files. [default: named after the task]")
    ] = None,
    from_run: Annotated[
        str | None, typer.Option("--from", metavar="RUN", help="Go on from an earlier run, or from RUN:VERSION.")
    ] = None,
    confidence: SureEnough = 0.95,
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
    keep_thoughts: KeepThoughts = False,
    verbose: Verbose = False,
    events: Events = False,
    prefer: Annotated[str, typer.Option(metavar="TRAINING", help="A reward model that breaks ties.")] = "",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the folder.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write tested code from a sentence."""
    from burnish.cli.io import current_folder, read_task
    from burnish.cli.review import check_somebody_is_there
    from burnish.cli.session import CommandSession, exit_code, read_limits

    text = read_task(sentence, task_file)
    answer = {"max_tokens": max_tokens, "thinking": thinking}
    limits = read_limits(rounds=rounds, calls=calls, tokens=tokens, seconds=seconds, dollars=dollars, **answer)
    check_somebody_is_there(ask, review, silent=quiet or events or as_json)
    judge = None
    if prefer:
        from burnish.commands.train import open_judge

        judge = open_judge(prefer)
    with CommandSession(verbose, events, quiet, as_json=as_json) as session:
        run = burnish.write(
            text,
            model,
            out=out,
            beside=None if out else current_folder(),
            from_run=from_run,
            limits=limits,
            confidence=confidence,
            sandbox=sandbox,
            watch=session.watch,
            fast=fast,
            with_tests=with_tests,
            answer=session.ask if ask else None,
            review=session.review if review else None,
            settle=session.find_answerer(not no_ask),
            packages=packages or (),
            allow_packages=allow_package or (),
            opener=session.open_models,
            keep_thoughts=keep_thoughts,
            prefer=judge,
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
    no_ask: NoAsk = False,
    strict: Strict = False,
    keep_thoughts: KeepThoughts = False,
    verbose: Verbose = False,
    events: Events = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the folder, or the diff.")] = False,
) -> None:
    """Go on with a run that was killed, interrupted or stopped at a limit."""
    from burnish.cli.io import current_folder
    from burnish.cli.review import can_ask, can_review
    from burnish.cli.session import CommandSession, exit_code
    from burnish.commands.resume import is_over, open_resumable

    caps = {"rounds": rounds, "calls": calls, "tokens": tokens, "seconds": seconds, "dollars": dollars}
    caps |= {"max_tokens": max_tokens, "thinking": thinking}
    raised = {name: cap for name, cap in caps.items() if cap is not None}
    opened = open_resumable(run)
    nowhere = opened.started.verb == "write" and not opened.settings.out
    if is_over(opened, raised, deliver=nowhere):
        print(f"Run {opened.id} is finished ({opened.state}): nothing is left to do. See: burnish show {opened.id}")
        return
    with CommandSession(verbose, events, quiet, opened.id) as session:
        silent = session.screen is None
        done = burnish.resume(
            opened.id,
            raised=raised,
            watch=session.watch,
            answer=session.ask if can_ask(silent) else None,
            review=session.review if opened.settings.review and can_review(silent) else None,
            settle=session.find_answerer(not no_ask),
            sandbox=sandbox,
            beside=current_folder() if nowhere else None,
            opener=session.open_models,
            keep_thoughts=keep_thoughts,
        )
    session.finish(done)
    raise typer.Exit(exit_code(done, strict))


def answer(
    run: Annotated[str, typer.Argument(help="A run's id, its beginning, or last.")] = "last",
    said: Annotated[
        str | None,
        typer.Argument(metavar="ANSWER", help="A letter, a value as Python writes it, or - for do not care."),
    ] = None,
    sandbox: Annotated[str | None, typer.Option(help="Where code runs. [default: where it ran before]")] = None,
    strict: Strict = False,
    verbose: Verbose = False,
    events: Events = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the folder, or the diff.")] = False,
) -> None:
    """Answer the question that a run left open, and have it go on with that."""
    from burnish.cli.review import can_ask, can_review
    from burnish.cli.session import CommandSession, exit_code
    from burnish.commands.resume import open_resumable
    from burnish.errors import SetupProblem
    from burnish.report.narrate import describe_question

    opened, silent = open_resumable(run), quiet or events
    asks, asked = can_ask(silent), opened.open_question
    if said is None and not asks and asked:
        raise SetupProblem(
            f"Nobody is there to ask, so say the answer: {describe_question(asked)} Type: burnish answer {opened.id} A"
        )
    with CommandSession(verbose, events, quiet, opened.id) as session:
        done = burnish.answer(
            opened.id,
            said,
            watch=session.watch,
            review=session.review if opened.settings.review and can_review(silent) else None,
            settle=session.find_answerer(asks),
            sandbox=sandbox,
            opener=session.open_models,
        )
    session.finish(done)
    raise typer.Exit(exit_code(done, strict))


def fix(
    file: Annotated[
        Path | None, typer.Argument(help="The Python file with the bug, or a failing test: tests/test_x.py::test_y.")
    ] = None,
    tests: Annotated[
        list[str] | None,
        typer.Option(help="Tests that decide: files, folders, or ids. [default: found in the project]"),
    ] = None,
    test_command: Annotated[
        str, typer.Option(metavar="COMMAND", help="How you run the failing tests; read, and run in the sandbox.")
    ] = "",
    spec: Annotated[str, typer.Option(help="What the function should do, with examples if you can.")] = "",
    function: Annotated[
        str | None, typer.Option(help="Which one to repair, e.g. total or Cart.total. [default: where tests point]")
    ] = None,
    review: Review = False,
    apply: Annotated[bool, typer.Option("--apply", help="Write the file; what it held is kept beside it.")] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="DIFF", help="A new file for the diff, or an empty folder for all.")
    ] = None,
    from_run: Annotated[
        str | None, typer.Option("--from", metavar="RUN", help="Go on from an earlier run of fix or write.")
    ] = None,
    python: Annotated[str | None, typer.Option(help="The project's interpreter or its environment.")] = None,
    packages: Packages = None,
    allow_package: AllowPackage = None,
    model: ModelName = DEFAULT_MODEL,
    no_ask: NoAsk = False,
    confidence: SureEnough = 0.95,
    rounds: Rounds = 5,
    calls: Calls = 16,
    tokens: Tokens = 40_000,
    seconds: Seconds = 600.0,
    dollars: Dollars = None,
    max_tokens: MaxTokens = None,
    thinking: Thinking = None,
    sandbox: Sandbox = "auto",
    strict: Strict = False,
    keep_thoughts: KeepThoughts = False,
    verbose: Verbose = False,
    events: Events = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the diff.")] = False,
    as_json: AsJson = False,
) -> None:
    """Repair a function of a file until its tests pass; tests are never touched."""
    from burnish.cli.io import current_folder
    from burnish.cli.review import check_somebody_is_there
    from burnish.cli.session import CommandSession, exit_code, read_limits
    from burnish.commands.apply import DIFF
    from burnish.errors import SetupProblem
    from burnish.report.deliverables import check_free

    current_folder()
    if file is None and from_run is None and not test_command:
        raise SetupProblem("Nothing was named to repair. Name a file, or a failing test: burnish fix FILE.py")
    diff = check_free(out, file=DIFF) if out is not None else None
    folder = out if diff != out else None  # an empty one gets all there is
    check_somebody_is_there(False, review, silent=quiet or events or as_json, command="burnish fix FILE.py")
    answer = {"max_tokens": max_tokens, "thinking": thinking}
    limits = read_limits(rounds=rounds, calls=calls, tokens=tokens, seconds=seconds, dollars=dollars, **answer)
    with CommandSession(verbose, events, quiet, as_json=as_json) as session:
        run = burnish.fix(
            file,
            model,
            tests=tests or (),
            spec=spec,
            function=function,
            apply=apply,
            python=python,
            limits=limits,
            confidence=confidence,
            sandbox=sandbox,
            watch=session.watch,
            packages=packages or (),
            allow_packages=allow_package or (),
            opener=session.open_models,
            keep_thoughts=keep_thoughts,
            out=folder,
            review=session.review if review else None,
            from_run=from_run,
            settle=session.find_answerer(not no_ask),
            test_command=test_command,
        )
    session.finish(run, diff if folder is None else None)
    raise typer.Exit(exit_code(run, strict))


def apply(
    run: Annotated[str, typer.Argument(help="A run of fix: its id, its beginning, or last.")] = "last",
) -> None:
    """Put the repair of a finished fix run in place; what the file held is kept beside it. Of strengthen: new tests."""
    from rich.console import Console

    from burnish.cli.io import show_diff
    from burnish.commands.apply import diff_of
    from burnish.events import Applied, FilesWritten

    done = burnish.apply(run)
    if done.started.verb == "strengthen":
        for new in done.all(FilesWritten):
            print(strip_controls(f"written in {new.folder}: {', '.join(new.files)}"))
        return
    show_diff(diff_of(done), Console(highlight=False))
    for written in done.all(Applied):
        print(strip_controls(f"written {written.file}; what it held is in {written.backup}"))
