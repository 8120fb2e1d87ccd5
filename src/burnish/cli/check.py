"""`burnish check`: the evidence alone, for code that exists; `burnish verify`: does somebody's evidence hold?"""

import json
import shlex
from pathlib import Path
from typing import Annotated

import typer

from burnish.cli.options import AllowPackage, Fast, Packages, Sandbox

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
    # The command as it was typed, for a line that says what to type next.
    words = ["burnish", "check", *map(str, paths)]
    for option, values in (("--tests", tests or []), ("--python", [python]), ("--test-command", [test_command])):
        words += [word for value in values if value is not None for word in (option, str(value))]
    show_checks(console, checked, shlex.join(words), out)
    if as_json:
        print(render_json(checked), end="")
    if checked.bugs:
        raise checked.bugs[0]
    raise typer.Exit(0 if checked.passed else 1)


def verify(
    folder: Annotated[Path, typer.Argument(help="A folder that `burnish write` delivered.")],
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
    from rich.console import Console

    from burnish.cli.check_screen import CheckScreen, show_verified
    from burnish.commands.verify import verify as verify_it

    console = Console(highlight=False, stderr=as_json)
    with CheckScreen(console) as screen:
        verified = verify_it(folder, fast=fast, sandbox=sandbox, watch=screen, allow_packages=allow_package or ())
    show_verified(console, verified)
    if as_json:
        print(json.dumps({**verified.model_dump(mode="json"), "ending": verified.ending}, indent=1))
    raise typer.Exit(0 if verified.good else 1)
