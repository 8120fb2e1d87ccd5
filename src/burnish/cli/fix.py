"""`burnish fix`: a file with a bug goes in; a diff that its tests agree with comes out."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from burnish.models.catalog import DEFAULT_MODEL

if TYPE_CHECKING:
    from burnish.cli.screen import Screen
    from burnish.runs import Run

MOST_NAMED = 5


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
    model: Annotated[str, typer.Option(help="Who answers; see `burnish models`.")] = DEFAULT_MODEL,
    rounds: Annotated[int, typer.Option(min=0, help="Times to go back to the code after the first draft.")] = 5,
    calls: Annotated[int, typer.Option(min=0, help="Questions to the model at most.")] = 16,
    tokens: Annotated[int, typer.Option(min=0, help="Tokens read and written at most.")] = 40_000,
    seconds: Annotated[float, typer.Option(min=0, help="Wall time at most.")] = 600.0,
    dollars: Annotated[float | None, typer.Option(min=0, help="Money for the model at most.")] = None,
    sandbox: Annotated[str, typer.Option(help="Where code runs: auto, bubblewrap, process.")] = "auto",
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 unless the result is proven.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show the model's words as they come.")] = False,
    events: Annotated[bool, typer.Option("--events", help="Print events as JSON lines.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the diff.")] = False,
) -> None:
    """Repair a function of a file until its tests pass; tests are never touched."""
    from burnish.agent.limits import Limits
    from burnish.cli.write import _close, _exit_code, _opened, _reader
    from burnish.verbs.fix import fix as fix_it

    _must_be_free(out)
    limits = Limits(rounds=rounds, calls=calls, tokens=tokens, seconds=seconds, dollars=dollars)
    watch, screen = _reader(verbose, events, quiet)
    try:
        run = fix_it(
            file,
            _opened(model, quiet or events),
            tests=tests or (),
            spec=spec,
            function=function,
            apply=apply,
            python=python,
            limits=limits,
            sandbox=sandbox,
            watch=watch,
        )
    except KeyboardInterrupt:
        _close(screen)
        print("burnish: Stopped. What was done is kept; go on with: burnish resume last", file=sys.stderr)
        raise
    finally:
        _close(screen)
    _goodbye(run, screen, quiet, out)
    raise typer.Exit(_exit_code(run, strict))


def apply(
    run: Annotated[str, typer.Argument(help="A run of fix: its id, its beginning, or last.")] = "last",
) -> None:
    """Put the repair of a finished fix run in place; what the file held is kept beside it."""
    from rich.console import Console

    from burnish.cli.diff import show_diff
    from burnish.events import Applied
    from burnish.verbs.apply import apply as apply_it
    from burnish.verbs.apply import diff_of

    console = Console(highlight=False)
    done = apply_it(run)
    show_diff(diff_of(done), console)
    written = done.last(Applied)
    if written:
        print(f"written {written.file}; what it held is in {written.backup}")


def _must_be_free(out: Path | None) -> None:
    from burnish.errors import SetupProblem

    if out is not None and (out.exists() or not out.absolute().parent.is_dir()):
        raise SetupProblem(f"{str(out)!r} exists, or its folder does not. Name a new file: --out fix.diff")


def _goodbye(run: "Run", screen: "Screen | None", quiet: bool, out: Path | None) -> None:
    """The diff, what is left out, and what to type next."""
    from burnish.verbs.apply import diff_of

    diff = diff_of(run)
    if out is not None and diff:
        out.write_text(diff, "utf-8", newline="")
    if quiet:
        print(diff, end="")
    if screen:
        _tell(run, screen, diff, out)


def _tell(run: "Run", screen: "Screen", diff: str, out: Path | None) -> None:
    from burnish.cli.diff import show_diff
    from burnish.events import Applied
    from burnish.verbs.apply import facts_of

    screen.console.print()
    show_diff(diff, screen.console)
    for line in (*_stuck(run), *_aside(facts_of(run).get("aside", []))):
        _line(screen, "", line, "yellow")
    good = run.verdict in ("proven", "plausible")
    if diff and good and not run.last(Applied):
        _line(screen, "apply", f"burnish apply {run.id}")
    if diff and not good:
        _line(screen, "", "not applied: this is the best version there was, and it does not pass", "yellow")
    if out is not None and diff:
        _line(screen, "diff", str(out))
    screen.goodbye(run)


def _stuck(run: "Run") -> list[str]:
    """For a failed run: the tests that no version passed, which may be the ones that are wrong."""
    ran = [version for version in run.versions if version.graded and version.graded.cases]
    if run.verdict != "failed" or len(ran) < 2:
        return []
    failed = [
        {case.name for case in version.graded.cases if case.outcome != "passed"} for version in ran if version.graded
    ]
    always = sorted(set.intersection(*failed))
    shown = ", ".join(always[:MOST_NAMED]) + (" …" if len(always) > MOST_NAMED else "")
    return [f"no version passed {shown}; look whether the test is right"] if always else []


def _aside(tests: list[str]) -> list[str]:
    lines = [f"left aside, because it fails for another reason: {test}" for test in tests[:MOST_NAMED]]
    return lines + ([f"and {len(tests) - MOST_NAMED} more"] if len(tests) > MOST_NAMED else [])


def _line(screen: "Screen", label: str, text: str, style: str = "") -> None:
    from rich.text import Text

    from burnish.text import plain

    line = Text.assemble(" " * 8, (f"{label:<10}", "bold"), " ", (plain(text), style))
    screen.console.print(line, soft_wrap=True)
