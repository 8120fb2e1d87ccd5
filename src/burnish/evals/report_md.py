"""`report.md`: an evaluation as a page that reads well on a code host and in a terminal."""

import re
from collections.abc import Iterator

from burnish.evals import wording
from burnish.evals.figures import Results
from burnish.text import fence_code, one_line, plural, strip_controls

PLOTS = {
    "pass_by_call": "pass@1 by model call, with 95 % intervals",
    "solved_by_tokens": "solved against tokens per task",
    "grid": "tasks and rounds",
}


def report_md(results: Results) -> str:
    """The report in Markdown. Words from models and data files are escaped: they are shown and mean nothing."""
    return "\n\n".join(_parts(results)) + "\n"


def _parts(results: Results) -> Iterator[str]:
    yield f"# {words(wording.title(results))}"
    yield _lead(results)
    yield f"**Protocol {results.protocol}.** {wording.PROTOCOLS[results.protocol]}"
    yield from (f"> **{words(note)}**" for note in wording.notes(results))
    yield table((["setting", ""], [list(row) for row in wording.facts(results)]))
    for name, rows in wording.curves(results):
        yield f"## {name}\n\n{table(rows)}"
    if len(results.seeds) > 1:
        yield f"## pass@k\n\n{table(wording.pass_at_k(results))}"
    if results.finished:
        yield "## Plots\n\n" + "\n\n".join(f"![{said}](plots/{name}.svg)" for name, said in PLOTS.items())
    yield f"## Cost\n\n{table(wording.cost(results))}"
    yield f"## Rates\n\n{table((['', ''], [list(row) for row in wording.rates(results)]))}"
    if results.by_bug:
        yield f"## By kind of bug\n\n{table(wording.by_bug(results))}"
    if results.broken:
        left_out = [[row.id, row.why] for row in results.broken]
        yield f"## Rows left out\n\n{table((['row', 'why'], left_out))}"
    yield f"## Do it again\n\n{fence_code(strip_controls(wording.command(results)), 'sh')}"
    yield (
        f"Every figure is counted from the {plural(results.finished, 'attempt')} in `attempts/`; `results.json` holds "
        f"them for machines, `report.html` opens any transcript."
    )


def _lead(results: Results) -> str:
    if not results.finished:
        return f"{words(wording.headline(results))}."
    share, interval = results.pass_at_1[-1], results.pass_at_1_interval[-1]
    figure = f"**{wording.percent(share)}**, 95 % interval {wording.span(interval)}"
    return f"{words(wording.headline(results))}: {figure}."


def words(text: str, most: int = 300) -> str:
    """Somebody else's words on one line, without any meaning in Markdown or HTML."""
    return re.sub(r"([\\`*_{}\[\]<>|#~$!&])", r"\\\1", one_line(text, most))


def table(rows: wording.Table) -> str:
    """A table whose cells cannot break out of it."""
    heads, body = rows
    lines = [f"| {' | '.join(map(words, row))} |" for row in (heads, *body)]
    return "\n".join([lines[0], "|" + "---|" * len(heads), *lines[1:]])
