"""`report.json`: everything that was found, for machines. The same `Checked` gives the same bytes."""

import json

from burnish.checks.report.words import headline
from burnish.checks.verdict import Checked


def report_json(checked: Checked) -> str:
    """The whole file; `passed` and `headline` are derived, and stand in front."""
    data = checked.model_dump(mode="json")
    told = {"version": data.pop("version"), "passed": checked.passed, "headline": headline(checked)}
    return json.dumps(told | data, indent=2, ensure_ascii=True) + "\n"
