"""`report.md` of an app: what was asked, what was assumed, how each module came about, what the checkpoints said."""

from burnish.events import (
    AppJudged,
    AppPlanned,
    Decided,
    FunctionWritten,
    ModuleBuilt,
    PackagesAdded,
    Refused,
    Resumed,
    Reviewed,
    RunFinished,
)
from burnish.events.history import Run
from burnish.redact import redact
from burnish.report.costs import describe_cost, explain_who_answered, render_cost_table
from burnish.report.narrate import add_confidence, describe
from burnish.report.run_report import escape_cell, escape_words, render_bullets
from burnish.text import fence_code, strip_controls

HEADLINES = {
    "plausible": ": nothing failed that decides. Whether it is what you meant, only you can say.",
    "failed": ": it does not do what was asked.",
}
HISTORY = (Decided, Refused, Resumed, PackagesAdded)
"""Events that tell how the result came about."""


def render_app_report(run: Run) -> str:
    """The text of `report.md`."""
    headline, _ = add_confidence(run.state.capitalize(), run.ending(RunFinished))
    planned = run.last(AppPlanned)
    opinions = [*run.all(Reviewed), *(one for one in run.feedback if one.given_in == "rate")]
    sections = {
        "Task": fence_code(strip_controls(run.started.prompt), "text"),
        "Assumed": render_bullets(planned.assumptions, 300) if planned else "",
        "Left out": render_bullets(planned.left_out, 300) if planned else "",
        "Checkpoints": _render_checkpoints(run),
        "Modules": _render_modules(run),
        "Written by the model": _render_functions(run),
        "What a person said": render_bullets(map(describe, opinions), 500),
        "How it came about": render_bullets((describe(one) for one in run.events if isinstance(one, HISTORY)), 300),
        "Who answered": render_bullets(explain_who_answered(run), 900),
        "Cost": "\n\n".join(filter(None, [describe_cost(run), render_cost_table(run)])),
        "What this does not say": "Checks show that an app does what was tried, and no more: look at it, and use it. "
        "An assumption that is not yours is turned with `burnish build --from DIR --flip SWITCH`. "
        f"It ran in: {redact(run.sandbox) or 'no sandbox'}. Burnish {run.started.burnish}, run {run.id}.",
    }
    parts = [
        f"# {escape_words(planned.title if planned else run.started.prompt, 80)}",
        f"**{headline}{HEADLINES.get(run.state, '')}**",
        escape_words(run.why[:1].upper() + run.why[1:], 400).rstrip(".") + ".",
        *(f"## {title}\n\n{text}" for title, text in sections.items() if text),
    ]
    return "\n\n".join(parts) + "\n"


def _render_checkpoints(run: Run) -> str:
    rows = ["| checkpoint | answer | figure | why |", "|---|---|---|---|"]
    for one in run.evidence:
        cells = [one.check, one.verdict.replace("_", " "), *map(escape_cell, (one.figure, redact(one.why)))]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) if len(rows) > 2 else ""


def _render_modules(run: Run) -> str:
    judged = {event.module: event.evidence for event in run.all(AppJudged)}
    rows = ["| module | level | leans on | files | made by | its contract tests |", "|---|---|---|---|---|---|"]
    for event in {event.module: event for event in run.all(ModuleBuilt)}.values():
        said = judged.get(event.module)
        tests = f"{said.verdict.replace('_', ' ')}: {escape_cell(redact(said.why))}" if said else "none of its own"
        kept = f" ({len(event.kept)} as you left them)" if event.kept else ""
        cells = [event.module, str(event.level), ", ".join(event.needs), f"{len(event.files)}{kept}", event.made_by]
        rows.append(f"| {' | '.join(cells)} | {tests} |")
    return "\n".join(rows) if len(rows) > 2 else ""


def _render_functions(run: Run) -> str:
    last = {event.function: event for event in run.all(FunctionWritten)}
    parts = [escape_words(describe(event), 400) + "\n\n" + _fence(event.code) for event in last.values()]
    return "\n\n".join(part.strip() for part in parts)


def _fence(code: str) -> str:
    return fence_code(strip_controls(code), "python") if code else ""
