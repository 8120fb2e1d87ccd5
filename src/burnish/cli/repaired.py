"""How a repair ends at the command line: with its diff, what was left aside, and what to type next."""

from pathlib import Path

from rich.text import Text

from burnish.cli.code import print_code
from burnish.cli.diff import show_diff
from burnish.cli.screen import Screen
from burnish.cli.session import Session
from burnish.errors import SetupProblem
from burnish.events import Applied
from burnish.runs import Run, Store
from burnish.text import strip_controls
from burnish.verbs.apply import DIFF, diff_of, facts_of

MOST_NAMED = 5


def goodbye(run: Run, session: Session, out: Path | None = None) -> None:
    """Show the diff, and last of all put it into a file: whatever happens to that, it has been seen."""
    diff, kept = diff_of(run), Store().runs / run.id / DIFF
    if session.quiet and diff:
        print_code(diff, kept.read_bytes())
    if session.screen:
        _tell(run, session.screen, diff)
    if out is not None and diff:
        _save(kept, out)
        if session.screen:
            _line(session.screen, "diff", str(out))


def _save(kept: Path, out: Path) -> None:
    try:
        with out.open("xb") as file:  # a link that leads to nothing passes for a free name
            file.write(kept.read_bytes())
    except OSError as error:
        raise SetupProblem(
            f"{str(out)!r} could not be written ({error.strerror}). The diff is kept with the run; copy it: cp {kept} ."
        ) from error


def _tell(run: Run, screen: Screen, diff: str) -> None:
    screen.console.print()
    show_diff(diff, screen.console)
    for line in (*_stuck(run), *_aside(facts_of(run).get("aside", []))):
        _line(screen, "", line, "yellow")
    good = run.verdict in ("proven", "plausible")
    if diff and good and not run.last(Applied):
        _line(screen, "apply", f"burnish apply {run.id}")
    if diff and not good:
        _line(screen, "", "not applied: this is the best version there was, and it does not pass", "yellow")
    screen.goodbye(run)


def _stuck(run: Run) -> list[str]:
    """For a failed run: the tests that no version passed, which may be the ones that are wrong."""
    ran = [version for version in run.versions if version.graded and version.graded.cases]
    if run.verdict != "failed" or len(ran) < 2:
        return []
    failed = [
        {case.name for case in version.graded.cases if case.outcome != "passed"} for version in ran if version.graded
    ]
    always = sorted(set.intersection(*failed))
    shown = ", ".join(always[:MOST_NAMED]) + (" …" if len(always) > MOST_NAMED else "")
    return [f"no version passed {shown}; look whether the test is right"] if always else []


def _aside(tests: list[str]) -> list[str]:
    lines = [f"left aside, because it fails for another reason: {test}" for test in tests[:MOST_NAMED]]
    return lines + ([f"and {len(tests) - MOST_NAMED} more"] if len(tests) > MOST_NAMED else [])


def _line(screen: Screen, label: str, text: str, style: str = "") -> None:
    line = Text.assemble(" " * 8, (f"{label:<10}", "bold"), " ", (strip_controls(text), style))
    screen.console.print(line, soft_wrap=True)
