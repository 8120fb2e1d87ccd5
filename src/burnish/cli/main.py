"""The command line: it parses, calls and prints. Errors the user can fix are one paragraph and exit code 2."""

import os
import sys
from contextlib import suppress
from io import TextIOWrapper
from typing import Annotated

import typer

from burnish.cli.build import build, plan
from burnish.cli.check import check, strengthen, verify
from burnish.cli.eval import compare, evaluate
from burnish.cli.page import page
from burnish.cli.runs import explain, export, import_file, rate, rm, runs, show
from burnish.cli.setup import bundle, config_app, doctor, models_app, own_tests
from burnish.cli.train import adapters_app, train_app
from burnish.cli.ui import ui
from burnish.cli.write import answer, apply, fix, resume, write
from burnish.errors import AttemptError, SetupProblem
from burnish.text import strip_controls
from burnish.version import __version__

INTERRUPTED = 130

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
COMMANDS = (
    *(write, fix, page, plan, build, apply, check, strengthen, verify),
    *(runs, show, explain, resume, answer, rate, rm, ui),
)
for command in COMMANDS:
    app.command(context_settings={"ignore_unknown_options": command is answer})(command)  # its answer may be -1
app.add_typer(models_app, name="models")
app.add_typer(config_app, name="config")
app.add_typer(train_app, name="train")
app.add_typer(adapters_app, name="adapters")
app.command()(export)
app.command("import")(import_file)
app.command("eval")(evaluate)
app.command()(compare)
app.command()(doctor)
app.command()(bundle)
app.command("test", context_settings={"ignore_unknown_options": True})(own_tests)


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
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # what cannot be read, or shown by a terminal, is a question mark
            stream.reconfigure(errors="replace")
    try:
        app(default_map=_read_defaults(sys.argv[1:2]))
    except SetupProblem as problem:
        print(f"burnish: {strip_controls(str(problem))}", file=sys.stderr)
        sys.exit(2)
    except AttemptError as error:
        print(f"burnish: The attempt broke ({type(error).__name__}): {strip_controls(str(error))}", file=sys.stderr)
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
    if code == INTERRUPTED or {"xllamacpp", "torch"} & sys.modules.keys():
        with suppress(OSError, ValueError):
            sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 0)
    sys.exit(code)


def _read_defaults(verb: list[str]) -> dict[str, dict[str, str]]:
    """What the user's settings put in place of our own defaults, for the commands that ask a model."""
    if not verb or verb[0] not in ("write", "fix", "page", "build", "strengthen", "eval"):
        return {}
    from burnish import config as settings

    model = settings.load().model if settings.path().is_file() else ""
    return {verb[0]: {"model": model}} if model else {}
