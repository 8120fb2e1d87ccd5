"""`burnish fix`: a file with a bug goes in; a diff that its tests agree with comes out."""

import os
from pathlib import Path
from typing import Annotated

import typer

from burnish.cli.options import (
    AllowPackage,
    Calls,
    Dollars,
    Events,
    MaxTokens,
    Packages,
    Rounds,
    Sandbox,
    Seconds,
    Strict,
    Thinking,
    Tokens,
    Verbose,
)
from burnish.errors import SetupProblem
from burnish.models.catalog import DEFAULT_MODEL
from burnish.text import one_line, strip_controls


def fix(
    file: Annotated[Path, typer.Argument(help="The Python file with the bug.")],
    tests: Annotated[
        list[str] | None,
        typer.Option(help="Tests that decide: files, folders, or ids. [default: found in the project]"),
    ] = None,
    spec: Annotated[str, typer.Option(help="What the function should do, with examples if you can.")] = "",
    function: Annotated[
        str | None, typer.Option(help="Which one to repair, e.g. total or Cart.total. [default: where tests point]")
    ] = None,
    apply: Annotated[bool, typer.Option("--apply", help="Write the file; what it held is kept beside it.")] = False,
    out: Annotated[Path | None, typer.Option(metavar="DIFF", help="Write the diff to this file.")] = None,
    python: Annotated[str | None, typer.Option(help="The project's interpreter or its environment.")] = None,
    packages: Packages = None,
    allow_package: AllowPackage = None,
    model: Annotated[
        str, typer.Option(help="Who answers; see `burnish models`. Also small,large; auto chooses.")
    ] = DEFAULT_MODEL,
    rounds: Rounds = 5,
    calls: Calls = 16,
    tokens: Tokens = 40_000,
    seconds: Seconds = 600.0,
    dollars: Dollars = None,
    max_tokens: MaxTokens = None,
    thinking: Thinking = None,
    sandbox: Sandbox = "auto",
    strict: Strict = False,
    verbose: Verbose = False,
    events: Events = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the diff.")] = False,
) -> None:
    """Repair a function of a file until its tests pass; tests are never touched."""
    from burnish.cli.io import current_folder
    from burnish.cli.session import CommandSession, exit_code, read_limits
    from burnish.commands.fix import fix as fix_it

    folder = current_folder()
    if out is not None:
        _check_free(out, folder)
    answer = {"max_tokens": max_tokens, "thinking": thinking}
    limits = read_limits(rounds=rounds, calls=calls, tokens=tokens, seconds=seconds, dollars=dollars, **answer)
    with CommandSession(verbose, events, quiet) as session:
        run = fix_it(
            file,
            model,
            tests=tests or (),
            spec=spec,
            function=function,
            apply=apply,
            python=python,
            limits=limits,
            sandbox=sandbox,
            watch=session.watch,
            packages=packages or (),
            allow_packages=allow_package or (),
            opener=session.open_models,
        )
    session.finish(run, out)
    raise typer.Exit(exit_code(run, strict))


def apply(
    run: Annotated[str, typer.Argument(help="A run of fix: its id, its beginning, or last.")] = "last",
) -> None:
    """Put the repair of a finished fix run in place; what the file held is kept beside it. Of strengthen: new tests."""
    from rich.console import Console

    from burnish.cli.io import show_diff
    from burnish.commands.apply import apply as apply_it
    from burnish.commands.apply import diff_of
    from burnish.events import Applied, FilesWritten

    console = Console(highlight=False)
    done = apply_it(run)
    new = done.last(FilesWritten) if done.started.verb == "strengthen" else None
    if new:
        print(strip_controls(f"written in {new.folder}: {', '.join(new.files)}"))
        return
    show_diff(diff_of(done), console)
    written = done.last(Applied)
    if written:
        print(strip_controls(f"written {written.file}; what it held is in {written.backup}"))


def _check_free(out: Path, inside: Path) -> None:
    """Refuse, before any work is done, a diff file that exists or could not be written."""
    name, folder = one_line(str(out)), (inside / out).parent
    try:
        taken = out.exists() or not folder.is_dir()
    except OSError as error:
        raise SetupProblem(f"{name!r}: {error.strerror}. Name a new file: --out fix.diff") from error
    if taken:
        raise SetupProblem(f"{name!r} exists, or its folder does not. Name a new file: --out fix.diff")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise SetupProblem(f"The folder {str(folder)!r} cannot be written. Name a file elsewhere: --out ~/fix.diff")
