"""`report.md` of a page: what was asked, what each cycle brought, what its rubric gave, and what it cost."""

from collections.abc import Iterable

from burnish.events import CriterionTicked, PageJudged, PageObserved, PageScored, PageTold, PageWritten, RunFinished
from burnish.events.history import Run
from burnish.redact import redact
from burnish.report.costs import describe_cost, explain_who_answered, render_cost_table
from burnish.report.narrate import add_confidence, describe, describe_observed, describe_score
from burnish.report.run_report import escape_cell, escape_words, render_bullets
from burnish.text import fence_code, strip_controls

HEADLINES = {
    "plausible": ": it ran, and nothing was found that is to be put right.",
    "failed": ": it does not do what was asked.",
}
MOST_LINES = 30
"""Of errors and console together; the rest is in the record."""


def render_page_report(run: Run, scored: PageScored | None, pictures: Iterable[str]) -> str:
    """The text of `report.md`; `scored` holds what people ticked, `pictures` are files beside it."""
    headline, _ = add_confidence(run.state.capitalize(), run.ending(RunFinished))
    facts, links = run.settings.page, {name: f"![version {name[5:].partition('.')[0]}]({name})" for name in pictures}
    where = "a headless Chromium without network" if facts and facts.headless else "a tab of the user's browser"
    reached = f" It could reach {', '.join(facts.targets)}." if facts and facts.targets else ""
    said = [event for event in run.events if isinstance(event, PageTold)]
    opinions = [*run.all(CriterionTicked), *(one for one in run.feedback if one.given_in == "rate")]
    sections = {
        "Task": fence_code(strip_controls(run.started.prompt), "text"),
        "Score": _render_score(scored) if scored else "",
        "Cycles": _render_cycles(run),
        "Pictures": "\n\n".join(links.values()),
        "Errors and console": _render_console(run),
        "Said by the page": render_bullets(map(describe, said), 300),
        "What a person said": render_bullets(map(describe, opinions), 500),
        "Code": fence_code(strip_controls(run.code), "js") if run.code else "",
        "Who answered": render_bullets(explain_who_answered(run), 900),
        "Cost": "\n\n".join(filter(None, [describe_cost(run), render_cost_table(run)])),
        "What this does not say": "A page that runs, draws and moves may still do something else than was meant: look "
        f"at it. Probes see pixels and what the page answers, for a few seconds. It ran in {where}.{reached} "
        f"Burnish {run.started.burnish}, run {run.id}.",
    }
    parts = [
        f"# {escape_words(run.started.prompt, 80)}",
        f"**{headline}{HEADLINES.get(run.state, '')}**",
        escape_words(run.why[:1].upper() + run.why[1:], 400).rstrip(".") + ".",
        *(f"## {title}\n\n{text}" for title, text in sections.items() if text),
    ]
    return "\n\n".join(parts) + "\n"


def _render_score(scored: PageScored) -> str:
    rows = [f"{escape_words(describe_score(scored), 400)}.", "", "| points | criterion | judged by | holds | why |"]
    rows.append("|---|---|---|---|---|")
    for one in scored.criteria:
        holds = {True: "yes", False: "no", None: "not judged"}[one.holds]
        since = f"since version {one.cycle}" if one.holds and one.cycle else ""
        points = f"{one.points} of {one.of}"
        cells = [escape_cell(f"{one.name}: {one.what}"), one.by, holds, escape_cell(one.why or since)]
        rows.append(f"| {points} | {' | '.join(cells)} |")
    return "\n".join(rows)


def _render_cycles(run: Run) -> str:
    seen = {event.cycle: event for event in run.all(PageObserved)}
    judged = {event.cycle: event for event in run.all(PageJudged)}
    rows = ["| version | lines | repaired | what it did | to be put right |", "|---|---|---|---|---|"]
    for event in {event.cycle: event for event in run.all(PageWritten)}.values():
        did = describe_observed(seen[event.cycle]) if event.cycle in seen else "not run"
        found = "; ".join(judged[event.cycle].findings) if event.cycle in judged else ""
        cells = [str(len(event.code.splitlines())), *map(escape_cell, (event.repaired, did, found))]
        rows.append(f"| {event.cycle} | {' | '.join(cells)} |")
    return "\n".join(rows) if len(rows) > 2 else "No version was written."


def _render_console(run: Run) -> str:
    """What the versions threw and wrote to the console, as it was: text, in a block that nothing in it can close."""
    lines = []
    for seen in run.all(PageObserved):
        for error in seen.errors:
            lines.append(f"version {error.cycle}, line {error.line or '?'}: {error.kind}: {error.message}")
        lines += [f"version {seen.cycle}: console.{one.level}: {one.text}" for one in seen.console]
    more = [f"… {len(lines) - MOST_LINES} more"] if len(lines) > MOST_LINES else []
    shown = [" ".join(redact(strip_controls(line)).split()) for line in lines[:MOST_LINES]]
    return fence_code("\n".join([*shown, *more]), "text") if lines else ""
