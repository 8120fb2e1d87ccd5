"""`check`: evidence for code that exists; `verify`: does somebody's evidence hold?; `strengthen`: new tests."""

import json
import shlex
from pathlib import Path
from typing import Annotated

import typer

import burnish
from burnish.cli.options import AllowPackage, Fast, KeepThoughts, MaxTokens, Packages, Sandbox, Thinking

WITH = "Packages, besides those that the project requires; auto: all that it states for its tests."
ONLY = "Only these checks, joined by commas: tests, coverage, mutation, security, dependencies, quality, performance."


def check(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Files and folders with the code.")],
    tests: Annotated[
        list[Path] | None, typer.Option(help="Where the tests are. [default: found beside the code]")
    ] = None,
    only: Annotated[list[str] | None, typer.Option(metavar="CHECK,...", help=ONLY)] = None,
    python: Annotated[
        Path | None, typer.Option(help="The project's interpreter. [default: $VIRTUAL_ENV, .venv, else our own]")
    ] = None,
    packages: Annotated[list[str] | None, typer.Option("--with", metavar="NAME,...", help=WITH)] = None,
    allow_package: AllowPackage = None,
    mutants: Annotated[
        int | None,
        typer.Option(min=1, help="Small changes to try at most, changed code first. [default: what a minute allows]"),
    ] = None,
    test_command: Annotated[
        str | None, typer.Option(metavar="COMMAND", help="Run the tests with this; its exit code decides.")
    ] = None,
    sandbox: Sandbox = "auto",
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write report.html, report.json and report.md here.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print report.json; the rest goes to stderr.")] = False,
) -> None:
    """Check code that exists: tests, coverage, mutation, security and more.

    Exit code 0 only if every required check passed (tests, coverage, mutation, security, quality) and dependencies did
    not fail; dependencies that could not be looked up only inform, and so does performance. To change that, and
    thresholds: [tool.burnish] in pyproject.toml.
    """
    from burnish.cli.check_screen import open_check_screen, show_checks
    from burnish.cli.io import print_json
    from burnish.report.check_report import render_json

    with open_check_screen(as_json) as screen:
        checked = burnish.check(
            list(paths),
            list(tests or ()),
            [name.strip() for given in only or () for name in given.split(",") if name.strip()],
            python=python,
            test_command=test_command,
            mutants=mutants,
            sandbox=sandbox,
            out=out,
            watch=screen,
            packages=packages or (),
            allow_packages=allow_package or (),
            raise_bugs=False,
        )
    # The command as it was typed, for a line that says what to type next.
    words = ["burnish", "check", *map(str, paths)]
    for option, values in (("--tests", tests or []), ("--python", [python]), ("--test-command", [test_command])):
        words += [word for value in values if value is not None for word in (option, str(value))]
    show_checks(screen.console, checked, shlex.join(words), out)
    if as_json:
        print_json(render_json(checked))
    if checked.bugs:
        raise checked.bugs[0]
    raise typer.Exit(0 if checked.passed else 1)


def verify(
    folder: Annotated[Path, typer.Argument(help="A folder that write or fix delivered, or a run.")],
    project: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Of a repair: the project to try it in. [default: where it was]")
    ] = None,
    fast: Fast = False,
    sandbox: Sandbox = "auto",
    allow_package: AllowPackage = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON; the rest goes to stderr.")] = False,
) -> None:
    """Verify somebody's evidence: compare hashes, run tests and checks again.

    Exit code 0 if what was tried holds, the tests among it; 1 if something does not, if the run had failed, or if the
    folder was tampered with: then nothing of it is run. Whoever rewrites code, tests and evidence alike has made
    evidence of their own: what counts then is that it was run again here.
    """
    from burnish.cli.check_screen import open_check_screen, show_verified
    from burnish.cli.io import print_json

    with open_check_screen(as_json) as screen:
        allowed = allow_package or ()
        verified = burnish.verify(
            folder, fast=fast, sandbox=sandbox, watch=screen, allow_packages=allowed, project=project
        )
    show_verified(screen.console, verified)
    if as_json:
        print_json(json.dumps({**verified.model_dump(mode="json"), "ending": verified.ending}, indent=1))
    raise typer.Exit(0 if verified.good else 1)


def strengthen(
    tests: Annotated[Path, typer.Argument(help="The tests: a file or a folder.")],
    source: Annotated[Path, typer.Option("--for", metavar="SOURCE", help="The code that they test: file or folder.")],
    function: Annotated[str | None, typer.Option(help="Only this one, e.g. total or Cart.total.")] = None,
    apply: Annotated[bool, typer.Option("--apply", help="Put the new files of tests beside the others.")] = False,
    model: Annotated[
        str,
        typer.Option(help="Who writes functions anew from their docstrings, to say what is right; auto chooses."),
    ] = "none",
    seconds: Annotated[float, typer.Option(min=1, help="Wall time, about.")] = 300.0,
    max_tokens: MaxTokens = None,
    thinking: Thinking = None,
    pinned: Annotated[bool, typer.Option(help="Also tests that say what the code gives now.")] = True,
    python: Annotated[str | None, typer.Option(help="The project's interpreter or its environment.")] = None,
    packages: Packages = None,
    allow_package: AllowPackage = None,
    sandbox: Sandbox = "auto",
    keep_thoughts: KeepThoughts = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the outcome as JSON; the rest goes to stderr.")
    ] = False,
) -> None:
    """Write tests for small changes of the code that no test notices; tests that are there are never touched.

    Exit code 1 where a docstring, or several versions written from it, say something else than the code.
    """
    from burnish.cli.check_screen import open_check_screen, show_strengthened
    from burnish.cli.io import print_json
    from burnish.cli.session import read_limits
    from burnish.commands.strengthen import render_json

    read_limits(seconds=seconds)
    with open_check_screen(as_json) as screen:
        run = burnish.strengthen(
            tests,
            source,
            model,
            function=function,
            apply=apply,
            pinned=pinned,
            python=python,
            packages=packages or (),
            allow_packages=allow_package or (),
            seconds=seconds,
            max_tokens=max_tokens,
            thinking=thinking,
            sandbox=sandbox,
            watch=screen,
            keep_thoughts=keep_thoughts,
        )
    show_strengthened(screen.console, run)
    if as_json:
        print_json(render_json(run))
    raise typer.Exit(0 if run.verdict == "proven" else 1)
