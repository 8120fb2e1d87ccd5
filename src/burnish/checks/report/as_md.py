"""`report.md`: the table and the findings as text, for a terminal, a pull request or a mail."""

from collections.abc import Iterator

from burnish.checks.report import words
from burnish.checks.verdict import Checked
from burnish.text import fenced, one_line, plain

MOST = 50


def report_md(checked: Checked) -> str:
    """The whole file."""
    parts = [f"# {_safe(words.headline(checked))}", _safe(words.measured(checked)) + "."]
    parts += [_safe(remark) for remark in words.remarks(checked)]
    parts += [_table(checked), *_findings(checked)]
    parts += [
        "## What the checks mean",
        "\n".join(f"- **{i.check}**: {words.MEANING[i.check]}" for i in checked.evidence),
    ]
    return "\n\n".join(parts) + "\n"


def _table(checked: Checked) -> str:
    rows = ["| check | verdict | figure | wanted | why |", "|---|---|---|---|---|"]
    for item in checked.evidence:
        verdict = words.VERDICTS[item.verdict] + ("" if item.check in checked.required else " (not required)")
        cells = (item.check, verdict, item.figure, item.threshold, words.why(item))
        rows.append(f"| {' | '.join(map(_safe, cells))} |")
    return "\n".join(rows)


def _findings(checked: Checked) -> Iterator[str]:
    for item in checked.evidence:
        found = words.findings(item)
        if not found:
            continue
        yield f"## Found by {item.check}"
        for finding in found[:MOST]:
            by = _safe(words.source(item.check, finding))
            yield f"- `{words.place(finding).replace('`', chr(39))}` {_safe(finding.what)} ({by})"
            if finding.diff:
                yield fenced(plain(finding.diff), "diff")
        if len(found) > MOST:
            yield f"… and {len(found) - MOST} more; see report.json."


def _safe(text: str) -> str:
    """One line in which nothing is markup: what it says may be anybody's words."""
    flat = one_line(text, 400).replace("&", "&amp;").replace("<", "&lt;").replace("`", "'")
    for char in "\\[]*_|#":
        flat = flat.replace(char, f"\\{char}")
    return flat
