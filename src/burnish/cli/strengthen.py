"""`burnish strengthen`: what tests do not notice becomes tests."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from burnish.cli.options import AllowPackage, MaxTokens, Packages, Sandbox, Thinking
from burnish.text import strip_controls

if TYPE_CHECKING:
    from rich.console import Console

    from burnish.runs import Run

MOST_NAMED = 8


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
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the outcome as JSON; the rest goes to stderr.")
    ] = False,
) -> None:
    """Write tests for small changes of the code that no test notices; tests that are there are never touched.

    Exit code 1 where a docstring, or several versions written from it, say something else than the code.
    """
    from rich.console import Console

    from burnish.cli.check_screen import CheckScreen
    from burnish.cli.session import read_limits
    from burnish.commands.strengthen import strengthen as strengthen_it

    read_limits(seconds=seconds)
    console = Console(highlight=False, stderr=as_json)
    with CheckScreen(console) as screen:
        run = strengthen_it(
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
        )
    print_outcome(run, console)
    if as_json:
        print(render_json(run))
    raise typer.Exit(0 if run.verdict == "proven" else 1)


def print_outcome(run: "Run", console: "Console") -> None:
    """The diff, what was found, and where it is."""
    from rich.text import Text

    from burnish.cli.io import show_diff
    from burnish.commands.strengthen import read_new_tests, render_diff
    from burnish.events import Decided, FilesWritten, Strengthened
    from burnish.strengthening.pipeline import PASS_OVER, REPAIR

    files = read_new_tests(run)
    show_diff(render_diff(files), console)
    done, decided = run.last(Strengthened), run.all(Decided)
    passed_over = [event.reason for event in decided if event.choice == PASS_OVER]
    repairs = [event.reason for event in decided if event.choice == REPAIR]
    lines = [("", "")]
    lines += [(f"passed over {reason}", "dim") for reason in passed_over[:MOST_NAMED]]
    lines += [(f"found: {sentence}", "bold red") for sentence in (done.exposing if done else ())]
    lines += [(reason, "red") for reason in repairs[:MOST_NAMED]]
    lines += [(f"{run.why}.", "bold green" if run.verdict == "proven" else "bold red")]
    written = run.last(FilesWritten)
    if written:
        lines += [(f"written {', '.join(written.files)}", "")]
    elif files:
        lines += [(f"nothing is written yet; to put it in place: burnish apply {run.id}", "")]
    for text, style in (*lines, (f"see also: burnish explain {run.id}", "dim")):
        console.print(Text(strip_controls(text), style=style), soft_wrap=True)


def render_json(run: "Run") -> str:
    """The outcome for programs."""
    import json

    from burnish.commands.strengthen import read_new_tests
    from burnish.events import FilesWritten, Mutated, Strengthened

    before, after, written = run.last(Mutated), run.last(Strengthened), run.last(FilesWritten)
    assert before is not None
    assert after is not None
    told = {
        "run": run.id,
        "mutants": before.mutants,
        "noticed_before": before.noticed,
        "noticed": after.noticed,
        "noticed_by_pinned": after.pinned,
        "alike": list(after.alike),
        "exposing": list(after.exposing),
        "tests": [test.model_dump(mode="json") for test in after.tests],
        "files": {str(path): text for path, text in read_new_tests(run).items()},
        "written": list(written.files) if written else [],
        "seconds": after.seconds,
    }
    return json.dumps(told, indent=2)
