"""Looking back: `burnish runs`, `show`, `explain`, `rate`, `rm`, `export` and `import`."""

import json
import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

import burnish


def runs(
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many to list.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False,
) -> None:
    """List runs, newest first."""
    from datetime import datetime

    from rich.console import Console
    from rich.text import Text

    from burnish.cli.io import is_narrow, print_hanging, print_json
    from burnish.cli.screen import COLOURS
    from burnish.report.narrate import add_confidence
    from burnish.text import one_line

    rows = burnish.Store().list()[:limit]
    if as_json:
        print_json(json.dumps([row.model_dump() for row in rows], indent=2))
        return
    if not rows:
        print('No runs yet. Make the first: burnish write "a function double(n), e.g. double(2) == 4"')
        return
    console = Console(highlight=False)
    wide = max(len(row.id) for row in rows)
    for row in rows:
        when = datetime.fromtimestamp(row.started_at).strftime("%d %b %H:%M")
        facts = f"{row.seconds:7.1f} s {row.tokens:6} tokens  {'★' * (row.stars or 0):<5}  " if not row.why else " "
        headline, basis = add_confidence(row.state, row)
        line = Text.assemble(f"{row.id:<{wide}}  {when}  ", (f"{headline:<11}", COLOURS.get(row.state, "dim")), facts)
        words = f"{row.prompt} ({basis})" if basis else row.why or row.prompt
        line.append(one_line(words, max(20, console.width - len(line)) if not basis else 400))
        if is_narrow(console):
            print_hanging(console, Text(row.id, style="bold"), Text(" ".join(line.plain.split()[1:])))
        else:
            console.print(line, soft_wrap=True)


def show(
    run: Annotated[str, typer.Argument(help="A run's id, its beginning, or last.")] = "last",
    code: Annotated[bool, typer.Option("--code", help="Print only the code.")] = False,
    tests: Annotated[bool, typer.Option("--tests", help="Print only the tests.")] = False,
    evidence: Annotated[bool, typer.Option("--evidence", help="Print who made what, as JSON.")] = False,
    thoughts: Annotated[bool, typer.Option("--thoughts", help="Print only what the model thought, if kept.")] = False,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Watch a run of another process to its end.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print every event as a JSON line.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Print every event, with its texts in full.")] = False,
) -> None:
    """Show one run on a screen; in full with --all."""
    from burnish.cli.io import json_line, print_code
    from burnish.report.deliverables import render_tests

    if follow:
        from burnish.cli.session import follow_run

        follow_run(run, as_json)
        return
    opened = burnish.Store().open(run)
    if thoughts:
        print_thoughts(opened)
    elif code:
        print_code(opened.code)
    elif tests and opened.started.verb == "strengthen":
        from burnish.commands.strengthen import read_new_tests

        print_code("\n\n".join(read_new_tests(opened).values()))
    elif tests:
        print_code(render_tests(opened))
    elif evidence:
        from burnish.evidence import build_dossier, render_dossier

        print(render_dossier(build_dossier(opened, {})), end="")
    elif as_json:
        print("\n".join(map(json_line, opened.events)))
    else:
        from burnish.cli.show_run import show_run, show_summary

        (show_run if everything else show_summary)(opened)


def print_thoughts(run: "burnish.Run") -> None:
    """What models thought before each answer. Raises SetupProblem where nothing was kept."""
    from burnish.runs.record import read_thoughts
    from burnish.text import strip_controls

    kept = read_thoughts(burnish.Store().runs / run.id)
    if not kept:
        raise burnish.SetupProblem(
            f"Of run {run.id!r} no thoughts are kept: its models had none, or nobody asked for them. Keep them next "
            'time: burnish write "…" --keep-thoughts --thinking 1024'
        )
    for thought in kept:
        print(f"── {strip_controls(thought.ask_id)} ──\n{strip_controls(thought.text).rstrip()}\n")


def explain(
    run: Annotated[str, typer.Argument(help="A run's id, its beginning, or last.", show_default="last")] = "",
    graph: Annotated[
        bool, typer.Option("--graph", help="Print the agent's graph in Mermaid's words; with RUN, the road it took.")
    ] = False,
    everything: Annotated[bool, typer.Option("--all", help="Every round of a long run.")] = False,
) -> None:
    """Tell the story of a run to someone who was not there."""
    opened = burnish.Store().open(run or "last") if run or not graph else None
    if graph:
        from burnish.agent.graph import draw_mermaid

        print(draw_mermaid(opened))
    elif opened:
        from burnish.report.explain import WIDTH

        width = min(WIDTH, shutil.get_terminal_size().columns) if sys.stdout.isatty() else WIDTH
        print(burnish.explain(opened, width, everything), end="")


def rate(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run's id, its beginning, last, or RUN:VERSION.")],
    stars_first: Annotated[int | None, typer.Argument(metavar="STARS", hidden=True)] = None,
    comment_first: Annotated[str, typer.Argument(metavar="COMMENT", hidden=True)] = "",
    stars: Annotated[int | None, typer.Option(help="From 1 (useless) to 5 (just right).")] = None,
    thumbs: Annotated[str | None, typer.Option(metavar="up|down", help="Good or not.")] = None,
    comment: Annotated[str, typer.Option(metavar="WORDS", help="What, or why, in your words.")] = "",
    line: Annotated[int | None, typer.Option(help="The line of the code that the comment is about.")] = None,
    correct: Annotated[
        str | None,
        typer.Option(metavar="FILE|EXAMPLE", help='The code as it should have been, or "f(2) == 4".'),
    ] = None,
    better_than: Annotated[str | None, typer.Option(metavar="OTHER", help="RUN is better than OTHER.")] = None,
    by: Annotated[str, typer.Option(metavar="NAME", help="Who says so; goes into the evidence. [default: user]")] = "",
    simulated: Annotated[bool, typer.Option("--simulated", help="A program says so, in a person's place.")] = False,
    change: Annotated[str | None, typer.Option(metavar="ID", help="Replace what was said under this id.")] = None,
    take_back: Annotated[str | None, typer.Option(metavar="ID", help="Take back what was said.")] = None,
    listed: Annotated[bool, typer.Option("--list", help="List what was said, with ids.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what stands now as JSON.")] = False,
) -> None:
    """Say what you think of a run; change it, or take it back."""
    from burnish.cli.io import print_json
    from burnish.report.summary import list_feedback

    if listed:
        rated = burnish.Store().open(run)
    else:
        rated = burnish.rate(
            run,
            by=by,
            simulated=simulated,
            stars=stars_first if stars is None else stars,
            thumbs=thumbs,
            comment=comment or comment_first,
            line=line,
            correct=correct,
            better_than=better_than,
            change=change,
            take_back=take_back,
        )
    said = list_feedback(rated) or ["Nobody has said anything of it yet."]
    if as_json:
        print_json(json.dumps([given.model_dump(mode="json") for given in rated.feedback], indent=2))
    elif take_back is not None:
        print(f"{rated.id} {take_back} was taken back.")
    else:
        print("\n".join(f"{rated.id} {line}" for line in (said if listed else said[-1:])))


def rm(
    runs: Annotated[list[str], typer.Argument(help="Ids of runs, or their beginnings.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Delete runs and their records."""
    store = burnish.Store()
    names = [store.find(name).name for name in runs]
    if not yes:
        typer.confirm(f"Delete {', '.join(names)} for good?", abort=True)
    for name in dict.fromkeys(names):
        print(f"deleted {store.remove(name)}")


def export(
    runs: Annotated[list[str], typer.Argument(metavar="RUN", help="Ids of runs, or evaluations of pages.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="A new file.")] = Path("runs.zip"),
) -> None:
    """Put runs, with all that belongs to them, into one file for another machine."""
    from burnish.commands.exchange import export_runs

    for name in export_runs(runs, out):
        print(f"{name} -> {out}")


def import_file(file: Annotated[Path, typer.Argument(help="What `burnish export` has written.")]) -> None:
    """Take in runs from another machine."""
    from burnish.commands.exchange import import_runs

    for name in import_runs(file):
        print(f"imported {name}")
