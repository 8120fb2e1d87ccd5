"""The command line: it parses, calls and prints. Errors the user can fix are one paragraph and exit code 2."""

import os
import sys
from contextlib import suppress
from io import TextIOWrapper
from typing import Annotated

import typer

from burnish.cli.check import check, verify
from burnish.cli.compare import compare
from burnish.cli.eval import evaluate
from burnish.cli.fix import apply, fix
from burnish.cli.models import app as models
from burnish.cli.runs import explain, rate, rm, runs, show
from burnish.cli.setup import app as config
from burnish.cli.setup import doctor
from burnish.cli.strengthen import strengthen
from burnish.cli.write import resume, write
from burnish.version import __version__

INTERRUPTED = 130

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
for command in (write, fix, apply, check, strengthen, verify, runs, show, explain, resume, rate, rm):
    app.command()(command)
app.add_typer(models, name="models")
app.add_typer(config, name="config")
app.command("eval")(evaluate)
app.command()(compare)
app.command()(doctor)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"burnish {__version__}")
        raise typer.Exit


@app.callback()
def burnish(
    version: Annotated[bool, typer.Option("--version", is_eager=True, callback=_print_version)] = False,
) -> None:
    """Burnish writes code and hands you the evidence."""


def main() -> None:
    """Run the command line; the exit code says who has to act: 0 nobody, 1 the result failed, 2 the user can fix it."""
    from burnish.errors import AttemptError, SetupProblem

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # what a terminal cannot show is a question mark there
            stream.reconfigure(errors="replace")
    try:
        app(default_map=_read_defaults(sys.argv[1:2]))
    except SetupProblem as problem:
        _print_error(str(problem))
        sys.exit(2)
    except AttemptError as error:
        _print_error(f"The attempt broke ({type(error).__name__}): {error}")
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def enter() -> None:
    """Be the process: `main`, and then leave at once after Ctrl-C or where llama.cpp or torch has been at work.

    After Ctrl-C its threads may still be writing; an interpreter that winds down takes their memory away and crashes.
    """
    code: int | str | None = 0
    try:
        main()
    except SystemExit as leaving:
        code = leaving.code
    with suppress(OSError, ValueError):
        try:  # what is still held back, if anybody reads it (`burnish runs --json | head -1`)
            sys.stdout.flush()
        except BrokenPipeError:
            from burnish.cli.io import reader_left

            reader_left()
    busy = code == INTERRUPTED or {"xllamacpp", "torch"} & sys.modules.keys()
    if busy and (code is None or isinstance(code, int)):
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(code or 0)
    sys.exit(code)


def _read_defaults(verb: list[str]) -> dict[str, dict[str, str]]:
    """What the user's settings put in place of our own defaults, for the commands that ask a model."""
    if not verb or verb[0] not in ("write", "fix", "strengthen", "eval"):
        return {}
    from burnish import config as settings

    model = settings.load().model if settings.path().is_file() else ""
    return {verb[0]: {"model": model}} if model else {}


def _print_error(paragraph: str) -> None:
    from burnish.text import strip_controls

    print(f"burnish: {strip_controls(paragraph)}", file=sys.stderr)
