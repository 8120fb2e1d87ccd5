"""`burnish show`: one run in full, for someone who was not there."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from burnish.runs import Run


def show(
    run: Annotated[str, typer.Argument(help="A run's id, its beginning, or last.")] = "last",
    code: Annotated[bool, typer.Option("--code", help="Print only the code.")] = False,
    tests: Annotated[bool, typer.Option("--tests", help="Print only the tests.")] = False,
    evidence: Annotated[bool, typer.Option("--evidence", help="Print who made what, as JSON.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print every event as a JSON line.")] = False,
) -> None:
    """Show one run in full."""
    from burnish.cli.code import print_code
    from burnish.report.deliverables import render_tests
    from burnish.runs import Store

    opened = Store().open(run)
    if code:
        print_code(opened.code)
    elif tests:
        print_code(_new_tests(opened) if opened.started.verb == "strengthen" else render_tests(opened))
    elif evidence:
        from burnish.evidence import build_dossier, render_dossier

        print(render_dossier(build_dossier(opened, {})), end="")
    elif as_json:
        from burnish.cli.lines import json_line

        print("\n".join(map(json_line, opened.events)))
    else:
        from burnish.cli.show_run import show_run

        show_run(opened)


def _new_tests(run: "Run") -> str:
    """The new files of a run of `strengthen`, one after the other."""
    from burnish.verbs.strengthen import read_new_tests

    return "\n\n".join(read_new_tests(run).values())
