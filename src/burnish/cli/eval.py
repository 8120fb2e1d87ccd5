"""`burnish eval`: how good a model and a strategy are, at what cost; `burnish compare`: is one better than another?"""

from pathlib import Path
from typing import Annotated

import typer

import burnish
from burnish.cli.options import MaxTokens, Sandbox, SureEnough, Thinking
from burnish.errors import SetupProblem
from burnish.models.catalog import DEFAULT_MODEL

LIMITS = ("tokens", "seconds", "dollars")
PAGES = {"suite", "model", "case", "rounds", "seeds", "seed", "max_tokens", "thinking", "at_once", "out", "verbose"}
PAGES |= {"as_json", *LIMITS}
"""What may be said with `pages`."""
CASES = {"pages": PAGES, "apps": PAGES | {"without"}}
"""What may be said with suites that have cases."""
RESUMING = {"suite", "run", "data", "sandbox", "verbose", "as_json", "seeds", "seed", *LIMITS}
"""What may be said with `resume`; all else is in the plan."""
LISTING = {"suite", "as_json"}
"""What may be said with `list`."""
CHOICES = {"protocol": ("visible", "oracle"), "ask": ("auto", "write", "fix"), "split": ("eval", "tune", "calibrate")}
SETTINGS = (
    *("model", "strategy", "rounds", "protocol", "ask", "variant", "split", "limit", "temperature", "max_tokens"),
    *("thinking", "at_once", "data", "out", "sandbox", "answers", "confidence"),
)
"""What an evaluation takes as it was typed."""
NO_REPLAY = {"model", *LIMITS}
"""What says nothing where no model is asked."""
SUITE = "A suite from `burnish eval list` or a .jsonl file; or `pages`, `apps`, `list` or `resume`."
CASE = "Of `pages`: names or folders of cases, of `apps`: names, joined by commas. [default: all that ship]"
WITHOUT = "Parts of our agent to leave out, e.g. tweak,agreement; of `apps`: model or rules. What are they worth?"
ANSWERS = "Questions of the agent, three at most, that the reference answers in a user's place."
COMPARED = "An evaluation's id, its folder or results.json, or last; several joined by commas are pooled."
WHOLE = ", in the whole evaluation; `resume` may raise it. Of `pages` and `apps`: in each run."
TIMEOUT = "Seconds for the tests of a task. [default: 5; 6 for reflect]"
REPLAY = "Ask no model: judge the answers of an evaluation again, with its plan but for the options given."
SPLIT = "eval to report, tune to try things out, calibrate (which holds tune) to fit confidence on."
PLOT = "Draw both sides, pass@1 by model call, into this file."


def evaluate(
    context: typer.Context,
    suite: Annotated[str, typer.Argument(help=SUITE)],
    run: Annotated[str, typer.Argument(metavar="RUN", help="After `resume`: which evaluation.")] = "last",
    model: Annotated[str, typer.Option(help="Who answers; see `burnish models`.")] = DEFAULT_MODEL,
    strategy: Annotated[str, typer.Option(help="How the model is used; see `burnish eval list`.")] = "burnish",
    rounds: Annotated[int, typer.Option(min=0, help="Rounds after the first answer; 4 for pages, 3 for apps.")] = 5,
    protocol: Annotated[
        str, typer.Option(help="visible: hidden tests only score; oracle: they drive the loop.")
    ] = "visible",
    case: Annotated[str, typer.Option(help=CASE)] = "",
    ask: Annotated[str, typer.Option(help="What to ask for: auto, write or fix.")] = "auto",
    variant: Annotated[str, typer.Option(help="Of the suite; see `burnish eval list`.")] = "",
    split: Annotated[str, typer.Option(help=SPLIT)] = "eval",
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first so many tasks.")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Attempts at each task, with seeds 0, 1, 2 …; `resume` adds.")] = 1,
    seed: Annotated[int | None, typer.Option(min=0, help="One attempt at each task, with this seed.")] = None,
    temperature: Annotated[float | None, typer.Option(min=0, help="In place of the strategy's own.")] = None,
    without: Annotated[str, typer.Option(help=WITHOUT)] = "",
    confidence: SureEnough = 0.95,
    answers: Annotated[int, typer.Option(min=0, help=ANSWERS)] = 0,
    max_tokens: MaxTokens = None,
    thinking: Thinking = None,
    tokens: Annotated[int | None, typer.Option(min=1, help=f"Tokens read and written at most{WHOLE}")] = None,
    seconds: Annotated[float | None, typer.Option(min=1, help=f"Wall time at most{WHOLE}")] = None,
    dollars: Annotated[float | None, typer.Option(min=0, help=f"Money for the model at most{WHOLE}")] = None,
    timeout: Annotated[float | None, typer.Option(min=0.1, help=TIMEOUT)] = None,
    replay: Annotated[str | None, typer.Option(metavar="RUN", help=REPLAY)] = None,
    at_once: Annotated[int, typer.Option(min=0, help="Attempts under way; 0: as many as keep the model busy.")] = 0,
    data: Annotated[Path | None, typer.Option(help="The folder of benchmark files.")] = None,
    out: Annotated[Path | None, typer.Option(help="Keep the evaluation in this folder.")] = None,
    sandbox: Sandbox = "auto",
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="A line for each finished attempt.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print results.json; the rest goes to stderr.")] = False,
) -> None:
    """Measure a model and a strategy on a suite of tasks."""
    typed = _find_typed(context)
    _refuse_idle_options(context, suite, typed)
    if suite == "list":
        from burnish.cli.eval_screen import show_list

        show_list(as_json)
        return
    if suite == "pages":
        from burnish.cli.eval_pages import evaluate_on_screen

        evaluate_on_screen(context.params, typed, as_json)
    if suite == "apps":
        from burnish.cli.eval_apps import evaluate_on_screen as evaluate_apps_on_screen

        evaluate_apps_on_screen(context.params, typed, as_json)
    for option, known in CHOICES.items():
        if (value := context.params[option]) not in known:
            raise SetupProblem(
                f"There is no {option} {value!r}. Choose one of {', '.join(known)}: --{option} {known[0]}"
            )
    from burnish.cli.eval_screen import run_on_screen
    from burnish.cli.io import print_json
    from burnish.evals.evaluate import replay as replay_evaluation
    from burnish.evals.evaluate import resume
    from burnish.evals.handle import start_evaluation
    from burnish.evals.schema import EvalLimits

    settings = {name: context.params[name] for name in SETTINGS} | {"timeout_seconds": timeout}
    settings["seeds"] = tuple(range(seeds)) if seed is None else (seed,)
    settings["without"] = tuple(part.strip() for part in without.split(",") if part.strip())
    limits = EvalLimits(tokens=tokens, seconds=seconds, dollars=dollars)
    if suite == "resume":
        kind = None if sandbox == "auto" else sandbox
        added = settings["seeds"] if typed & {"seeds", "seed"} else ()
        _resume_cases(run, added, as_json)
        begun = start_evaluation(resume, run, seeds=added, limits=limits, data=data, sandbox=kind)
    elif replay is not None:
        # The recorded plan says all that was not typed.
        names = {*typed, *(["seeds"] if "seed" in typed else []), *(["timeout_seconds"] if "timeout" in typed else [])}
        changes = {name: value for name, value in settings.items() if name in names}
        begun = start_evaluation(replay_evaluation, replay, suite=suite, **changes)
    else:
        begun = start_evaluation(burnish.evaluate, suite, limits=limits, **settings)
    results = run_on_screen(begun, verbose, as_json)
    if as_json:
        print_json(results.text())
    raise typer.Exit(1 if results.errors + results.not_recorded == results.finished else 0)


def _resume_cases(run: str, seeds: tuple[int, ...], as_json: bool) -> None:
    """Go on with an evaluation of pages or apps, which ends the command; nothing where it is one of tasks."""
    from burnish.cli import eval_apps, eval_pages
    from burnish.evals.eval_store import APPS_FILE, PAGES_FILE, PLAN_FILE, find_evaluation

    path = find_evaluation(run, PLAN_FILE, PAGES_FILE, APPS_FILE)
    if (path / PAGES_FILE).is_file():
        eval_pages.resume_on_screen(run, seeds, as_json)
    if (path / APPS_FILE).is_file():
        eval_apps.resume_on_screen(run, seeds, as_json)


def _find_typed(context: typer.Context) -> set[str]:
    """The names of the parameters that were typed."""
    return {name for name in context.params if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"}


def _refuse_idle_options(context: typer.Context, suite: str, typed: set[str]) -> None:
    """Raise for options that `list`, `resume` and `--replay` would pass over in silence."""
    if suite != "resume" and "run" in typed:
        raise SetupProblem(f"{context.params['run']!r} is one word too many. Type: burnish eval {suite}")
    if suite not in CASES and "case" in typed:
        raise SetupProblem(
            f"Only pages and apps have cases. Type: burnish eval pages --case {context.params['case'] or 'life'}"
        )
    known = {"list": LISTING, "resume": RESUMING, **CASES}.get(suite, {*context.params} - NO_REPLAY)
    idle = [f"--{name.replace('_', '-')}" for name in context.params if name in typed - known]
    if suite in CASES and idle:
        raise SetupProblem(f"Of {suite} {' and '.join(idle)} says nothing. Leave that out: burnish eval {suite}")
    if context.params["replay"] is not None and suite not in ("list", "resume") and idle:
        raise SetupProblem(
            f"A replay asks no model, so {' and '.join(idle)} would say nothing. "
            f"Leave that out: burnish eval {suite} --replay {context.params['replay']}"
        )
    if suite == "list" and idle:
        raise SetupProblem(f"`list` shows everything, whatever {' and '.join(idle)} may say. Type: burnish eval list")
    if suite == "resume" and idle:
        raise SetupProblem(
            f"`resume` goes on with the plan as it was written, so {' and '.join(idle)} cannot be changed. "
            f"Leave that out: burnish eval resume {context.params['run']}"
        )


def compare(
    run1: Annotated[str, typer.Argument(metavar="RUN1", help=COMPARED)],
    run2: Annotated[str, typer.Argument(metavar="RUN2", help="The one to hold against it, named the same way.")],
    plot: Annotated[Path | None, typer.Option("--plot", metavar="FILE.svg", help=PLOT)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the comparison as JSON.")] = False,
) -> None:
    """Compare two evaluations task by task."""
    from burnish.cli.eval_screen import compare_on_screen

    compare_on_screen((run1, run2), plot, as_json)
