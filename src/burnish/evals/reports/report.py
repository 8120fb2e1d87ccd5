"""All reports of an evaluation, written from the attempts on disk. They may be deleted at any time and made anew.

`report.html` is one file that opens anywhere, without a network, and shows every transcript. What models and data files
said reaches the page in two ways only: escaped in its HTML, or as JSON that the script turns into text nodes. The
page's own policy forbids every script but ours and every address.
"""

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping
from html import escape
from importlib.resources import files
from typing import Any

from burnish.evals.eval_store import PLOTS, Folder, explain_disk_errors
from burnish.evals.metrics import (
    RESULTS_FILE,
    STATE_LABELS,
    attempt_group,
    compute_results,
    round_states,
)
from burnish.evals.reports import report_text as text
from burnish.evals.reports.plots import draw_plots
from burnish.evals.schema import Results
from burnish.events import (
    Answered,
    Asked,
    Broke,
    CodeProposed,
    Decided,
    Event,
    ModelReplied,
    QuestionAnswered,
    QuestionAsked,
    RunSettings,
    RunStarted,
    Scored,
    Stopped,
    TestsRan,
)
from burnish.paths import PRIVATE_MODE, write_atomically
from burnish.report.narrate import describe
from burnish.text import html_line, strip_controls

CAPTIONS = {
    "pass_by_call": "Share of tasks solved if all had stopped after so many model calls, with 95\u00a0% intervals.",
    "solved_by_tokens": "The same against what it cost: mean tokens per task until then, one point a call.",
}
VERDICT_CAPTIONS = {
    "reliability": "How often answers are right, by how sure they were said to be. On the dashed line confidence means "
    "what it says; below it, it promises too much. 95\u00a0% intervals.",
    "risk_coverage": "How many are wrong if only the surest answers are taken. The dashed line: taken at random.",
}
GROUPS = {"all": "All", "solved": "Solved", "unsolved": "Not solved", "lost": "Solved, then lost", "broke": "Broke"}
DIALOG = """<dialog aria-labelledby="which"><header><h2 id="which"></h2>
<button id="earlier" type="button">← earlier</button><button id="later" type="button">later →</button>
<button id="close" type="button">Close</button></header><div id="story"></div></dialog>"""
LETTERS = 22
"""Of a task's name, how many have room in the grid; all of it is in the tooltip."""
MOST_BYTES = 12_000_000
"""Of the transcripts in a page."""
LONGEST = (20_000, 6_000, 2_000, 800, 300)
"""Characters a text may have; the next smaller one is taken while the page is too big."""
FAILURES_SHOWN = 3
_PAGE = files("burnish.evals") / "page"

Step = list[Any]
"""What happened, for the page's script: the first item says what it is. Texts are places in one list of texts."""


def write_reports(folder: Folder) -> Results:
    """Write `results.json`, `report.md`, `report.html` and `plots/*.svg`; the results come back."""
    results = compute_results(folder)
    with explain_disk_errors(folder.path):
        write_atomically(folder.path / RESULTS_FILE, results.text().encode(), PRIVATE_MODE)
        (folder.path / PLOTS).mkdir(exist_ok=True)
        for name, svg in draw_plots(results).items():
            write_atomically(folder.path / PLOTS / f"{name}.svg", svg.encode(), PRIVATE_MODE)
        markdown = text.render_markdown(results)
        write_atomically(folder.path / "report.md", markdown.encode("utf-8", "replace"), PRIVATE_MODE)
        page = render_html(results, folder, draw_plots(results, captioned=False))
        write_atomically(folder.path / "report.html", page.encode("utf-8", "replace"), PRIVATE_MODE)
    return results


def render_html(results: Results, folder: Folder, pictures: Mapping[str, str]) -> str:
    """The whole page."""
    script, style = ((_PAGE / name).read_text("utf-8") for name in ("script.js", "style.css"))
    data = render_transcripts(folder).replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{page_policy()}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{html_line(text.report_title(results))}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>",
            *_page_parts(results, pictures),
            "</main>",
            DIALOG,
            f'<script type="application/json" id="transcripts">{data}</script>',
            f"<script>{script}</script>\n</body>\n</html>\n",
        ]
    )


def page_policy() -> str:
    """What such a page may load and run: nothing but our own script."""
    digest = base64.b64encode(hashlib.sha256((_PAGE / "script.js").read_bytes()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'"


def _page_parts(results: Results, pictures: Mapping[str, str]) -> Iterator[str]:
    title, headline = html_line(text.report_title(results)), html_line(text.headline(results))
    yield f'<p class="eyebrow">{title}</p><h1>{headline}</h1>'
    if results.finished:
        yield from _score_card(results)
    yield f"<p><strong>Protocol {results.protocol}.</strong> {html_line(text.PROTOCOLS[results.protocol])}</p>"
    warnings = "".join(f"<p>{html_line(warning)}</p>" for warning in text.list_warnings(results))
    yield f'<div class="notes">{warnings}</div>' if warnings else ""
    # Inside the page the style sheet gives a plot the page's colours, so that it can be read in the dark too.
    headings = {"How it grows with each call": CAPTIONS, "How far its verdicts hold": VERDICT_CAPTIONS}
    for heading, captions in headings.items():
        figures = "".join(
            f'<figure class="card">{pictures[name]}<figcaption>{caption}</figcaption></figure>'
            for name, caption in captions.items()
            if name in pictures
        )
        said = results.verdicts if captions is VERDICT_CAPTIONS else None
        line = f"<p>{html_line(text.describe_verdicts(said))}</p>" if said else ""
        yield f'<h2>{heading}</h2>{line}<div class="pair">{figures}</div>' if figures else ""
    yield from _task_grid(results)
    yield '<h2>The figures</h2><div class="figures">'
    for name, table in text.list_tables(results):
        yield f'<div class="card"><h3>{escape(name)}</h3>{render_table(table)}</div>'
    yield "</div>"
    yield f"<h2>Do it again</h2><pre>{escape(text.repeat_command(results))}</pre>"
    yield "<footer>Made by Burnish. Everything on this page is in this one file.</footer>"


def _score_card(results: Results) -> Iterator[str]:
    share, (low, high) = results.pass_at_1[-1], results.pass_at_1_interval[-1]
    band = f"left:{100 * low:.2f}%;width:{100 * (high - low):.2f}%"
    calls = len(results.pass_at_1_by_call)
    at_most = "one model call each" if calls == 1 else f"at most {calls} model calls each"
    yield f'<div class="card score"><strong>{text.percent(share)}</strong><div><div class="scale">'
    yield f'<i class="all"></i><i class="band" style="{band}"></i><i class="dot" style="left:{100 * share:.2f}%"></i>'
    yield '</div><div class="ends"><span>0 %</span><span>100 %</span></div></div>'
    yield f"<p>of {results.tasks_finished} tasks, solved with {at_most}. They are a sample: shares from "
    yield f"<strong>{100 * low:.1f} to {100 * high:.1f} %</strong> fit this result (95 % interval).</p></div>"


def _task_grid(results: Results) -> Iterator[str]:
    """A button for each attempt, which opens its transcript, and above them what filters the buttons."""
    rounds = len(results.pass_at_1)
    groups = [attempt_group(attempt) for attempt in results.attempts]
    yield "<h2>Every task</h2>"
    yield '<p class="small">A square a round, the first answer on the left. Click a task to read what happened.</p>'
    yield '<div class="tools">'
    for name, label in GROUPS.items():
        count = len(groups) if name == "all" else groups.count(name)
        if count or name == "all":
            pressed = "true" if name == "all" else "false"
            yield f'<button type="button" data-group="{name}" aria-pressed="{pressed}">{label} {count}</button>'
    yield '<input id="find" type="search" placeholder="Find a task or bug" aria-label="Find a task"></div>'
    legend = (f'<span><i class="cell {state}"></i>{label}</span>' for state, label in STATE_LABELS.items())
    yield f'<div class="legend">{"".join(legend)}</div>'
    several = len(results.seeds) > 1
    names = [f"{one.task_id} · seed {one.seed}" if several else one.task_id for one in results.attempts]
    letters = min(LETTERS, max(map(len, names), default=0))
    yield f'<div class="grid" style="--tile:{13 * rounds + 7 * letters + 18}px">'
    for attempt, name, group in zip(results.attempts, names, groups, strict=True):
        tooltip = html_line(" · ".join(filter(None, (name, GROUPS[group].lower(), attempt.bug))), 160)
        cells = "".join(f'<i class="cell {state}"></i>' for state in round_states(attempt, rounds))
        label = f"<span>{html_line(name, 60)}</span>"
        yield f'<button type="button" data-group="{group}" title="{tooltip}">{cells}{label}</button>'
    yield "</div>"


def render_table(table: text.Table) -> str:
    """A table of escaped cells that can be scrolled sideways where it is too wide."""
    heads, rows = table
    head = "".join(f"<th>{html_line(cell)}</th>" for cell in heads)
    body = "".join(f"<tr>{''.join(f'<td>{html_line(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


class TextNumbers(dict[str, int]):
    """The number of each text, so that a page holds it once: `texts` are in the order of their numbers.

    Texts lose escape codes, and what is longer than the page can bear is cut and says so.
    """

    def __init__(self, longest: int) -> None:
        super().__init__()
        self.longest = longest
        self.texts: dict[str, int] = {}

    def __missing__(self, raw: str) -> int:
        """Give a text its number when it is first asked for."""
        rest = len(raw) - self.longest
        note = f"\n… {rest} more characters are in the attempt's file" if rest > 0 else ""
        # Cut before it is cleaned: cleaning looks at every character.
        short = strip_controls(raw[: self.longest]) + note
        self[raw] = self.texts.setdefault(short, len(self.texts))
        return self[raw]


def render_transcripts(folder: Folder, most_bytes: int = MOST_BYTES) -> str:
    """JSON with all texts and a list of steps for each finished attempt, as long as the page can bear."""
    data = ""
    for longest in LONGEST:
        numbers = TextNumbers(longest)
        attempts = [
            [step for event in events if (step := _render_step(event, numbers))] for _, _, events in folder.attempts()
        ]
        row = {"texts": list(numbers.texts), "attempts": attempts}
        data = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
        if len(data.encode("utf-8", "replace")) <= most_bytes:
            break
    return data


def _render_step(event: Event, numbers: TextNumbers) -> Step | None:
    """One event as the page shows it; None for one that tells a reader nothing."""
    match event:
        case RunStarted():
            base_code = RunSettings.merge(event.settings).task.get("base_code", "")
            return ["task", numbers[event.prompt], numbers[str(base_code)]]
        case Asked():
            messages = [[message.role, numbers[message.content]] for message in event.messages]
            return ["ask", strip_controls(event.purpose), messages, event.temperature]
        case ModelReplied():
            return ["reply", numbers[event.text], event.tokens_out, round(event.seconds, 1), event.ended]
        case CodeProposed():
            return ["code", event.version, strip_controls(event.by), numbers[event.code], numbers[event.problem]]
        case TestsRan(version=version, graded=graded):
            failed = [numbers[case.message or case.name] for case in graded.cases if case.outcome != "passed"]
            problem = numbers[graded.problem]
            return ["tests", version, graded.passed, len(graded.cases), problem, failed[:FAILURES_SHOWN]]
        case Answered():
            return ["answer", event.call, event.round, event.version]
        case Scored():
            return ["score", event.version, event.passed, event.timed_out, numbers[event.why]]
        case Decided():
            return ["note", numbers[event.reason]]
        case QuestionAsked() | QuestionAnswered():
            return ["note", numbers[describe(event)]]
        case Stopped() if event.why:
            return ["note", numbers[f"Stopped: {event.why}"]]
        case Broke():
            return ["broke", numbers[f"{event.error}: {event.message}"]]
    return None
