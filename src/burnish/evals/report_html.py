"""`report.html`: one file that opens anywhere, without a network, and shows every transcript.

What models and data files said reaches the page in two ways only: escaped in its HTML, or as JSON that the script turns
into text nodes. The page's own policy forbids every script but ours and every address.
"""

import base64
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from importlib.resources import files

from burnish.evals import states, wording
from burnish.evals.figures import Results
from burnish.evals.results import Evaluated
from burnish.evals.tally import Attempt
from burnish.evals.transcripts import transcripts
from burnish.text import html_line

CAPTIONS = {
    "pass_by_call": "Share of tasks solved if all had stopped after so many model calls, with 95\u00a0% intervals.",
    "solved_by_tokens": "The same against what it cost: mean tokens per task until then, one point a call.",
}
GROUPS = {"all": "All", "solved": "Solved", "unsolved": "Not solved", "lost": "Solved, then lost", "broke": "Broke"}

LETTERS = 22
"""Of a task's name, how many have room in the grid; all of it is in the tooltip."""


def report_html(results: Results, folder: Evaluated, pictures: Mapping[str, str]) -> str:
    """The whole page."""
    script, style = _file("script.js"), _file("style.css")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'"
    data = transcripts(folder).replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{html_line(wording.title(results))}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>",
            *_parts(results, pictures),
            "</main>",
            DIALOG,
            f'<script type="application/json" id="transcripts">{data}</script>',
            f"<script>{script}</script>\n</body>\n</html>\n",
        ]
    )


DIALOG = """<dialog aria-labelledby="which"><header><h2 id="which"></h2>
<button id="earlier" type="button">← earlier</button><button id="later" type="button">later →</button>
<button id="close" type="button">Close</button></header><div id="story"></div></dialog>"""


def _parts(results: Results, pictures: Mapping[str, str]) -> Iterator[str]:
    yield f'<p class="eyebrow">{html_line(wording.title(results))}</p><h1>{html_line(wording.headline(results))}</h1>'
    yield from _score(results)
    warnings = "".join(f"<p>{html_line(note)}</p>" for note in wording.notes(results))
    yield f'<div class="notes">{warnings}</div>' if warnings else ""
    shown = "".join(_figure(name, pictures[name]) for name in CAPTIONS if name in pictures)
    yield f'<h2>How it grows with each call</h2><div class="pair">{shown}</div>' if shown else ""
    yield from _grid(results)
    yield '<h2>The figures</h2><div class="figures">'
    yield from (_card(name, table(rows)) for name, rows in wording.curves(results))
    if len(results.seeds) > 1:
        yield _card("Chance of a pass among k attempts", table(wording.pass_at_k(results)))
    yield _card("Cost", table(wording.cost(results)))
    yield _card("How the work went", _pairs(wording.rates(results)))
    yield "</div>"
    if results.by_bug:
        yield _card("By kind of bug", table(wording.by_bug(results), [row.solved / row.n for row in results.by_bug]))
    yield "<h2>How it was measured</h2>"
    protocol = f"<p><strong>Protocol {results.protocol}.</strong> {html_line(wording.PROTOCOLS[results.protocol])}</p>"
    yield f'<div class="card">{protocol}{_pairs(wording.facts(results))}</div>'
    if results.broken:
        rows = [[row.id, row.why] for row in results.broken]
        yield f"<h2>Rows left out</h2><div class='card words'>{table((['row', 'why'], rows))}</div>"
    yield f"<h2>Do it again</h2><pre>{escape(wording.command(results))}</pre>"
    yield "<footer>Made by Burnish. Everything on this page is in this one file.</footer>"


def _score(results: Results) -> Iterator[str]:
    if not results.finished:
        return
    share, (low, high) = results.pass_at_1[-1], results.pass_at_1_interval[-1]
    band = f"left:{100 * low:.2f}%;width:{100 * (high - low):.2f}%"
    yield f'<div class="card score"><strong>{wording.percent(share)}</strong><div><div class="scale">'
    yield f'<i class="all"></i><i class="band" style="{band}"></i><i class="dot" style="left:{100 * share:.2f}%"></i>'
    yield '</div><div class="ends"><span>0 %</span><span>100 %</span></div></div>'
    yield f"<p>of {results.tasks_finished} tasks, solved with {_at_most(results)}. They are a sample: shares from "
    yield f"<strong>{100 * low:.1f} to {100 * high:.1f} %</strong> fit this result (95 % interval).</p>"
    yield f"<p>{html_line(wording.PROTOCOLS[results.protocol])}</p></div>"


def _at_most(results: Results) -> str:
    calls = len(results.pass_at_1_by_call)
    return "one model call each" if calls == 1 else f"at most {calls} model calls each"


def _figure(name: str, svg: str) -> str:
    """A plot inside the page: the style sheet gives it the page's colours, so that it can be read in the dark too."""
    return f'<figure class="card">{svg}<figcaption>{CAPTIONS[name]}</figcaption></figure>'


def _grid(results: Results) -> Iterator[str]:
    rounds = len(results.pass_at_1)
    counts = {name: sum(states.group(attempt) == name for attempt in results.attempts) for name in GROUPS}
    counts["all"] = len(results.attempts)
    yield "<h2>Every task</h2>"
    yield '<p class="small">A square a round, the first answer on the left. Click a task to read what happened.</p>'
    yield '<div class="tools">'
    for name, label in GROUPS.items():
        if counts[name] or name == "all":
            pressed = "true" if name == "all" else "false"
            yield f'<button type="button" data-group="{name}" aria-pressed="{pressed}">{label} {counts[name]}</button>'
    yield '<input id="find" type="search" placeholder="Find a task or bug" aria-label="Find a task"></div>'
    legend = (f'<span><i class="cell {state}"></i>{said}</span>' for state, said in states.WORDS.items())
    yield f'<div class="legend">{"".join(legend)}</div>'
    names = [_name(attempt, len(results.seeds) > 1) for attempt in results.attempts]
    letters = min(LETTERS, max(map(len, names), default=0))
    yield f'<div class="grid" style="--tile:{13 * rounds + 7 * letters + 18}px">'
    yield from (_tile(attempt, name, rounds) for attempt, name in zip(results.attempts, names, strict=True))
    yield "</div>"


def _name(attempt: Attempt, seeds: bool) -> str:
    return f"{attempt.task_id} · seed {attempt.seed}" if seeds else attempt.task_id


def _tile(attempt: Attempt, name: str, rounds: int) -> str:
    group = states.group(attempt)
    said = " · ".join(filter(None, (name, GROUPS[group].lower(), attempt.bug)))
    cells = "".join(f'<i class="cell {state}"></i>' for state in states.states(attempt, rounds))
    label = f"<span>{html_line(name, 60)}</span>"
    return f'<button type="button" data-group="{group}" title="{html_line(said, 160)}">{cells}{label}</button>'


def _card(name: str, inside: str) -> str:
    return f'<div class="card"><h3>{escape(name)}</h3>{inside}</div>'


def _pairs(rows: Iterable[tuple[str, str]]) -> str:
    return "<dl>" + "".join(f"<dt>{html_line(name)}</dt><dd>{html_line(value)}</dd>" for name, value in rows) + "</dl>"


def table(rows: wording.Table, bars: Sequence[float] = ()) -> str:
    """A table of escaped cells that can be scrolled sideways where it is too wide; `bars` are drawn before each row."""
    heads, body = rows
    head = "".join(f"<th>{html_line(cell)}</th>" for cell in heads)
    drawn = [f'<span class="bar"><i style="width:{100 * bar:.1f}%"></i></span>' for bar in bars] or [""] * len(body)
    lines = "".join(_row(row, bar) for row, bar in zip(body, drawn, strict=True))
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table></div>'


def _row(cells: Sequence[str], bar: str) -> str:
    first, *rest = map(html_line, cells)
    return f"<tr><td>{bar}{first}</td>" + "".join(f"<td>{cell}</td>" for cell in rest) + "</tr>"


def _file(name: str) -> str:
    return (files("burnish.evals") / "page" / name).read_text("utf-8")
