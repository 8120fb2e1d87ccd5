"""`report.html`: one file that opens anywhere, without a network or a script, for someone who does not program.

What code and tools said reaches the page escaped and in no other way; the page's own policy forbids every script and
every address.
"""

from collections.abc import Iterator, Mapping
from html import escape
from importlib.resources import files

from burnish.checks.report import words
from burnish.checks.report.code import code_view
from burnish.checks.report.sections import sections
from burnish.checks.verdict import Checked
from burnish.events import Evidence
from burnish.text import html_line

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def report_html(checked: Checked, texts: Mapping[str, str]) -> str:
    """The whole page; `texts` are the files that are shown with their findings."""
    style = (files("burnish.checks.report") / "page" / "style.css").read_text("utf-8")
    title = f"{checked.project.name}: {words.headline(checked)}"
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{html_line(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>",
            *_parts(checked, texts),
            "</main>\n</body>\n</html>\n",
        ]
    )


def _parts(checked: Checked, texts: Mapping[str, str]) -> Iterator[str]:
    yield f'<p class="eyebrow">burnish check · {html_line(words.measured(checked))}</p>'
    kind = "good" if checked.passed else "bad"
    symbol = words.SYMBOLS["passed" if checked.passed else "failed"]
    yield f'<h1 class="{kind}"><span aria-hidden="true">{symbol}</span>{html_line(words.headline(checked))}.</h1>'
    remarks = "".join(f"<p>{html_line(remark)}</p>" for remark in words.remarks(checked))
    yield f'<div class="remarks">{remarks}</div>' if remarks else ""
    below = {item.check: "".join(sections(item)) for item in checked.evidence}
    yield '<div class="lights">'
    yield from (_light(item, item.check in checked.required, bool(below[item.check])) for item in checked.evidence)
    yield "</div>"
    for check, inside in below.items():
        yield f'<h2 id="{html_line(check)}">{html_line(check.capitalize())}</h2>{inside}' if inside else ""
    shown = "".join(code_view(checked, texts))
    yield f'<h2 id="code">The code</h2>{LEGEND}{shown}' if shown else ""
    yield "<footer>Made by Burnish. Everything on this page is in this one file. A check shows what it looked for, "
    yield "where it looked; code that passes all of them can still be wrong.</footer>"


LEGEND = (
    '<p class="small">Files in which something was found. Striped lines marked “not run” are those that no test runs; '
    "notes stand below the line they speak of.</p>"
)


def _light(item: Evidence, required: bool, more: bool) -> str:
    """One row: symbol, word, name, figure against what was wanted, and what it all means; `more` stands below."""
    name = html_line(item.check.capitalize())
    link = f'<a href="#{html_line(item.check)}">{name}</a>' if more else name
    word = words.VERDICTS[item.verdict]
    figure = f"<strong>{html_line(item.figure, 60)}</strong>" if item.figure else ""
    wanted = f"<span>wanted: {html_line(item.threshold, 80)}</span>" if item.threshold else ""
    optional = "" if required else "<span>not required</span>"
    return (
        f'<section class="card light {item.verdict}"><div class="lamp" aria-hidden="true">'
        f"{words.SYMBOLS[item.verdict]}</div><div><h3>{link} "
        f"<em>{word}</em></h3><p>{html_line(item.why)}</p>"
        f'<p class="small">{escape(words.MEANING[item.check])}</p></div>'
        f'<div class="figure">{figure}{wanted}{optional}</div></section>'
    )
