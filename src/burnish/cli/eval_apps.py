"""`burnish eval apps`: what a person sees of an evaluation of apps from a sentence."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from burnish.agent.limits import Limits
from burnish.cli.eval_cases import show_work
from burnish.cli.io import print_table
from burnish.commands.build import LIMITS
from burnish.errors import SetupProblem
from burnish.evals.apps import (
    SUITE,
    AppAttempt,
    AppsFolder,
    AppsResults,
    evaluate_apps,
    resume_apps,
    write_app_results,
)
from burnish.evals.case_runs import CaseWatch
from burnish.text import one_line, strip_controls

HEADS = ("case", "whole", "checks passed", "modules passed", "seconds", "tokens")


def evaluate_on_screen(options: dict[str, Any], typed: set[str], as_json: bool) -> None:
    """Begin an evaluation of apps with what was typed, and show it to its end."""
    caps = ("rounds", "tokens", "seconds", "dollars", "max_tokens", "thinking")
    limits = Limits(**LIMITS.model_dump() | {name: options[name] for name in caps if name in typed})
    if (without := options["without"]) not in ("", "rules", "model"):
        raise SetupProblem(
            f"Of a build {without!r} cannot be left out. Name one of: burnish eval {SUITE} --without model, "
            f"burnish eval {SUITE} --without rules"
        )
    more = {"without": without, "at_once": options["at_once"], "out": options["out"]}
    more["seeds"] = (options["seed"],) if options["seed"] is not None else tuple(range(options["seeds"]))
    cases = [name.strip() for name in options["case"].split(",") if name.strip()]
    _show(lambda watch: evaluate_apps(cases, options["model"], limits, watch=watch, **more), as_json)


def resume_on_screen(name: str, seeds: Sequence[int], as_json: bool) -> None:
    """Go on with an evaluation of apps."""
    _show(lambda watch: resume_apps(name, seeds=seeds, watch=watch), as_json)


def _show(work: Callable[[CaseWatch], AppsFolder], as_json: bool) -> None:
    show_work(work, write_app_results, _show_results, _describe_attempt, as_json)


def _describe_attempt(attempt: AppAttempt) -> str:
    passed = sum(check.verdict == "passed" for check in attempt.checks)
    return f"{passed:2} of {len(attempt.checks):2} checks  {attempt.modules_passed} of {attempt.modules} modules"


def _show_results(console: Console, results: AppsResults, path: Path) -> None:
    def show(text: str, style: str = "") -> None:
        console.print(Text(strip_controls(text), style), soft_wrap=True)

    for attempt in results.attempts:
        for check in attempt.checks:
            if check.verdict != "passed":
                why = one_line(check.why, 200)
                show(f"{attempt.case} seed {attempt.seed}: {check.check} {check.verdict}: {why}", "yellow")
    table = Table(*HEADS, box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for case in results.by_case:
        cells = [case.case, f"{case.whole} of {case.runs}", f"{case.checks_passed:.1f} of {case.checks}"]
        cells += [f"{case.modules_passed:.1f} of {case.modules:.1f}", f"{case.seconds:.0f}", f"{case.tokens:,.0f}"]
        table.add_row(*map(Text, cells))
    console.print()
    print_table(console, table)
    if results.system_accuracy is not None:
        modules = "none" if results.module_accuracy is None else f"{100 * results.module_accuracy:.1f} %"
        show(f"\nApps that pass every check: {100 * results.system_accuracy:.1f} %; modules: {modules}", "bold")
    if results.finished < results.planned:
        show(f"Not finished: {results.finished} of {results.planned} runs are there.", "yellow")
    show(f"Kept in {path / 'results.json'}")


def describe_apps(path: Path) -> tuple[str, str, str, str, str]:
    """How much is finished, suite, protocol, strategy and model, for a list."""
    folder = AppsFolder.open(path)
    plan, done = folder.plan, sum(one.state == "over" for one in folder.attempts().values())
    without = f"without {plan.without}" if plan.without else ""
    return f"{done}/{len(plan.cases) * len(plan.seeds)}", SUITE, "", without, one_line(plan.model, 50)
