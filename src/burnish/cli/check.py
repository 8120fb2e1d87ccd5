"""`burnish check`: the evidence alone, for code that exists."""

from pathlib import Path
from typing import Annotated

import typer

from burnish.cli.options import AllowPackage, Packages, Sandbox

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
    packages: Packages = None,
    allow_package: AllowPackage = None,
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

    Exit code 0 only if every required check passed. Thresholds: [tool.burnish] in pyproject.toml.
    """
    from rich.console import Console

    from burnish.cli.check_screen import CheckScreen, show_checks
    from burnish.commands.check import check as check_it
    from burnish.report.check_report import render_json

    names = [name.strip() for given in only or () for name in given.split(",") if name.strip()]
    console = Console(highlight=False, stderr=as_json)
    with CheckScreen(console) as screen:
        checked = check_it(
            list(paths),
            list(tests or ()),
            names,
            python=python,
            test_command=test_command,
            sandbox=sandbox,
            out=out,
            watch=screen,
            packages=packages or (),
            allow_packages=allow_package or (),
            raise_bugs=False,
        )
    show_checks(console, checked, _repeat_command(paths, tests or [], python, test_command), out)
    if as_json:
        print(render_json(checked), end="")
    if checked.bugs:
        raise checked.bugs[0]
    raise typer.Exit(0 if checked.passed else 1)


def _repeat_command(paths: list[Path], tests: list[Path], python: Path | None, test_command: str | None) -> str:
    """The command as it was typed, for a line that says what to type next."""
    import shlex

    words = ["burnish", "check", *map(str, paths)]
    for option, values in (("--tests", tests), ("--python", [python]), ("--test-command", [test_command])):
        words += [word for value in values if value is not None for word in (option, str(value))]
    return shlex.join(words)
