"""`burnish eval pages`: what a person sees of an evaluation of live pages, and of two of them side by side."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from burnish.agent.limits import Limits
from burnish.cli.eval_cases import show_work
from burnish.cli.io import print_json, print_table
from burnish.commands.page import LIMITS
from burnish.errors import SetupProblem
from burnish.evals.case_runs import CaseWatch
from burnish.evals.eval_store import PAGES_FILE, PLAN_FILE, find_evaluation
from burnish.evals.pages import SUITE, PageAttempt, PagesFolder, evaluate_pages, resume_pages
from burnish.evals.reports.pages_report import (
    PagesResults,
    compare_pages,
    compute_page_results,
    draw_scores,
    list_page_notes,
    list_page_tables,
    page_headline,
    read_page_results,
    write_page_reports,
)
from burnish.text import one_line, strip_controls

SHOWN = ("Points", "How the work went, a run", "Points by criterion")
"""The tables of the report that a terminal shows."""


def evaluate_on_screen(options: dict[str, Any], typed: set[str], as_json: bool) -> None:
    """Begin an evaluation of pages with what was typed, and show it to its end."""
    rounds = options["rounds"] if "rounds" in typed else LIMITS.rounds
    caps = {name: options[name] for name in ("tokens", "seconds", "dollars", "max_tokens", "thinking") if name in typed}
    limits = Limits(**LIMITS.model_dump() | {"rounds": rounds, "calls": max(LIMITS.calls, 2 * rounds + 4)} | caps)
    seeds = (options["seed"],) if options["seed"] is not None else tuple(range(options["seeds"]))
    cases = [name.strip() for name in options["case"].split(",") if name.strip()]
    more = {"seeds": seeds, "at_once": options["at_once"], "out": options["out"]}
    _show(lambda watch: evaluate_pages(cases, options["model"], limits, watch=watch, **more), as_json)


def resume_on_screen(name: str, seeds: Sequence[int], as_json: bool) -> None:
    """Go on with an evaluation of pages."""
    _show(lambda watch: resume_pages(name, seeds=seeds, watch=watch), as_json)


def _show(work: Callable[[CaseWatch], PagesFolder], as_json: bool) -> None:
    show_work(work, write_page_reports, _show_results, _describe_attempt, as_json)


def _describe_attempt(attempt: PageAttempt) -> str:
    return f"{attempt.points:3} of {attempt.of:3} points  {attempt.versions} versions"


def _show_results(console: Console, results: PagesResults, path: Path) -> None:
    console.print(Text(strip_controls(f"\n{page_headline(results)}"), "bold"), soft_wrap=True)
    for note in list_page_notes(results):
        console.print(Text(strip_controls(note), "yellow"), soft_wrap=True)
    for name, (heads, rows) in list_page_tables(results):
        if name in SHOWN and rows:
            table = Table(title=name, title_justify="left", box=None, padding=(0, 2, 0, 0), pad_edge=False)
            for head in heads:
                table.add_column(Text(head, style="bold"), overflow="fold")
            for row in rows:
                table.add_row(*(Text(one_line(cell, 120)) for cell in row))
            console.print()
            print_table(console, table)
    console.print(Text(f"\nReport, and every run as a dot: {path / 'report.html'}"), soft_wrap=True)


def read_pages(name: str) -> PagesResults | None:
    """The results of an evaluation of pages, by its name, folder or `results.json`; None: it is one of code."""
    path = Path(name).expanduser()
    if path.is_file() or (path.is_dir() and not any((path / file).is_file() for file in (PAGES_FILE, PLAN_FILE))):
        return read_page_results(path)
    path = find_evaluation(name, PLAN_FILE, PAGES_FILE)
    return compute_page_results(PagesFolder.open(path)) if (path / PAGES_FILE).is_file() else None


def describe_pages(path: Path) -> tuple[str, str, str, str, str]:
    """How much is finished, suite, protocol, strategy and model, for a list."""
    folder = PagesFolder.open(path)
    plan, done = folder.plan, sum(one.state == "over" for one in folder.attempts().values())
    cases = ", ".join(case.name for case in plan.cases)
    return f"{done}/{len(plan.cases) * len(plan.seeds)}", SUITE, "", one_line(cases, 60), one_line(plan.model, 50)


def compare_on_screen(
    names: tuple[str, str], found_sides: Sequence[Sequence[PagesResults | None]], as_json: bool
) -> str:
    """Say which side is ahead, by how much, and whether chance explains it; the plot of both comes back."""
    sides = [[one for one in side if one] for side in found_sides]
    if any(None in side for side in found_sides):
        raise SetupProblem(
            "An evaluation of pages and one of code have nothing in common to compare. See which there are: "
            "burnish eval list"
        )
    found = compare_pages(*sides)
    if as_json:
        print_json(json.dumps(found.model_dump(mode="json"), indent=2))
        return draw_scores(sides)
    console = Console(highlight=False)
    for warning in found.warnings:
        console.print(Text(strip_controls(f"NOTE: {warning}"), "bold yellow"), soft_wrap=True)
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for head in ("case", *(f"{letter}: {one_line(name, 60)}" for letter, name in zip("AB", names, strict=True))):
        table.add_column(Text(head, style="bold"), overflow="fold")
    for case in found.cases:
        shares = (case.share_a, case.runs_a), (case.share_b, case.runs_b)
        table.add_row(Text(case.case), *(Text(f"{100 * share:.1f} % ({runs} runs)") for share, runs in shares))
    print_table(console, table)
    console.print(Text(f"\n{found.sentence}\nTest: {found.test}."), soft_wrap=True)
    return draw_scores(sides)
