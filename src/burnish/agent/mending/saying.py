"""What a check found, in a sentence that a model can act on. No times in it: a resumed run must ask the same."""

from burnish.agent.mending.weighing import LEVELS, QUADRATIC, findings, functions
from burnish.events import Evidence
from burnish.text import one_line

MOST = 3
LONGEST = 160
GROWTHS = {"quadratic": "with the square of", "worse": "faster than with the square of"}
HINT = "Each step should take about the same time however long the input is"


def said(evidence: Evidence, code: str) -> str:
    """The worst that was found, with the lines it is about."""
    if evidence.check == "performance":
        slow = [one for one in functions(evidence) if LEVELS[str(one["growth"])] >= QUADRATIC]
        return (
            "; ".join(
                f"the time of `{one['name']}` grows {GROWTHS[str(one['growth'])]} its input `{one['argument']}`"
                for one in slow[:MOST]
            )
            + f". {HINT}."
        )
    told = [_one(finding.get("line"), str(finding.get("what")), code) for finding in findings(evidence)[:MOST]]
    return " ".join(told) or one_line(evidence.why, LONGEST)


def _one(line: object, what: str, code: str) -> str:
    lines = code.split("\n")
    shown = lines[line - 1].strip() if isinstance(line, int) and 0 < line <= len(lines) else ""
    sentence = one_line(what, LONGEST).rstrip(".") + "."
    return f"`{one_line(shown, 80)}`: {sentence}" if shown else sentence
