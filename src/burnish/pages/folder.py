"""The result of a run of a page, as files: `page.html` that opens alone, its code, pictures, the report."""

import json
import re
from pathlib import Path

from burnish.events import CriterionTicked, PageObserved, PageScored
from burnish.events.history import Run
from burnish.evidence.folder import read_bytes
from burnish.evidence.schema import PAGE_HTML, PAGE_JS, REPORT
from burnish.pages.rubric import add_ticks, agreement
from burnish.report.page_report import render_page_report
from burnish.text import html_line

_PICTURE = re.compile(r"pages/([1-9][0-9]{0,5})\.(png|webp)")
_BEGINNINGS = {"png": b"\x89PNG\r\n\x1a\n", "webp": b"RIFF"}

# `burnish verify` compares the page with this, byte for byte: keep the old text for older evidence when it changes.
_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; \
style-src 'unsafe-inline'; img-src data: blob:; media-src data: blob:; font-src data:; connect-src {targets}">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>
  html {{ color-scheme: light; background: #fff; color: #111; font: 16px/1.4 system-ui, sans-serif; }}
  body {{ margin: 8px; }}
  canvas {{ max-width: 100%; }}
</style>
</head>
<body>
<div id="dyn-ui"><canvas id="canvas" width="800" height="600"></canvas></div>
<script>
// Nobody listens here: what the page says goes to the console, and nobody answers it.
window.burnish = {{
  log: (text) => console.log(String(text)),
  done: (text = "") => console.log("done", String(text)),
  giveUp: (reason = "") => console.warn("gave up", String(reason)),
  ask: async (question = "") => (console.log("asked", String(question)), ""),
}};
const script = document.createElement("script");
script.textContent = "(async () => {{" + {code} + "\\n}})();\\n//# sourceURL=page.js";
document.body.append(script);
</script>
</body>
</html>
"""


def render_page(code: str, title: str, targets: tuple[str, ...] = ()) -> str:
    """A page that holds its code and opens alone, without a server or network; `targets` are all it may reach."""
    reached = " ".join(f"http://{target}" for target in targets if re.fullmatch(r"[\d.]+:(?:\d+|\*)", target))
    text = json.dumps(code).replace("<", "\\u003c")  # nothing in it ends the script around it
    return _PAGE.format(targets=reached or "'none'", title=html_line(title, 80), code=text)


def list_page_files(run: Run, folder: Path) -> dict[str, bytes]:
    """The files as they are delivered; `folder` is the run's own, where its pictures are.

    A picture that is missing, or is none, is left out: the page may have been killed before there was one.
    """
    files: dict[str, bytes] = {}
    for name in (name for seen in run.all(PageObserved) for name in (seen.screenshot, seen.recording)):
        if found := _PICTURE.fullmatch(name):
            try:
                data = read_bytes(folder / "pages" / f"{found[1]}.{found[2]}")
            except ValueError:
                continue
            if data.startswith(_BEGINNINGS[found[2]]):
                files[f"page-{found[1]}.{found[2]}"] = data
    facts, report = run.settings.page, render_page_report(run, read_score(run), tuple(files))
    texts = {REPORT: report}
    if run.code:
        page = render_page(run.code, run.started.prompt, facts.targets if facts else ())
        texts = {PAGE_HTML: page, PAGE_JS: run.code, **texts}
    return {name: text.encode("utf-8", "surrogatepass") for name, text in texts.items()} | files


def read_score(run: Run) -> PageScored | None:
    """The points of a page as they stand now, with what people ticked; None without a case, or before its end."""
    scored = run.ending(PageScored)
    return add_ticks(scored, run.all(CriterionTicked)) if scored else None


def measure_agreement(run: Run) -> float | None:
    """Cohen's κ between probes and people, where both judged the same criteria; None where those are too few."""
    scored = run.ending(PageScored)
    said = {tick.name: tick.holds for tick in run.all(CriterionTicked) if scored and tick.case == scored.case}
    pairs = ((one.holds, said.get(one.name)) for one in scored.criteria) if scored else ()
    return agreement((probe, person) for probe, person in pairs if probe is not None and person is not None)
