"""`burnish show`: a run on one screen; or from its events, as things happened, with every text in full (`--all`)."""

import difflib
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from burnish.cli.io import print_hanging
from burnish.cli.screen import COLOURS, STYLES
from burnish.events import (
    Asked,
    BaseEvent,
    Broke,
    CheckFinished,
    CodeProposed,
    Decided,
    ModelReplied,
    Mutated,
    PackagesAdded,
    Reviewed,
    RunFinished,
    RunStarted,
    SpecAgreed,
    StepMeasured,
    Stopped,
    Strengthened,
    TestsFrozen,
    TestsProposed,
    TestsRan,
)
from burnish.events.history import Run
from burnish.report.costs import describe_cost, describe_cost_by_model
from burnish.report.narrate import Line, add_confidence, describe, name_version, narrate
from burnish.report.summary import summarise
from burnish.runs.record import is_running
from burnish.runs.store import Store
from burnish.text import strip_controls

CODE = ("python", "diff")
"""Styles that name a language: the text is code, and has its colours."""
MARGIN = 12
"""Columns of the longest label, "interrupted", and a space."""


def show_summary(run: Run) -> None:
    """Print the screen that says most in few lines."""
    console = Console(highlight=False)
    for line in summarise(run, run.state == "unfinished" and is_running(Store().runs / run.id)):
        text = Text(strip_controls(line.text), style=STYLES[line.tone])
        print_hanging(console, Text(line.label, style="bold"), text, MARGIN)


def show_run(run: Run, console: Console | None = None) -> None:
    """Print what the narrator says of every event, with its texts in full; then the end and what it cost."""
    console = console or Console(highlight=False)
    versions: dict[int, str] = {}
    for event in run.events:
        lines = narrate(event)
        if isinstance(event, RunStarted):
            when = datetime.fromtimestamp(event.at).strftime("%Y-%m-%d %H:%M:%S")
            _print_head(console, f"{event.run_id}  {when}  {event.model}  burnish {event.burnish}")
        elif lines and not isinstance(event, RunFinished):  # the verdict stands at the end
            style = {StepMeasured: "dim", Broke: "bold red"}.get(type(event), "bold")
            text = f"{lines[0].label}: {lines[0].text}" if lines[0].label else lines[0].text
            _print_head(console, f"{event.at - run.started.at:6.1f}s  {text}", style)
        _print_details(console, _describe_details(event, lines, versions))
        if isinstance(event, CodeProposed) and event.code:
            versions[event.version] = event.code
    headline, basis = add_confidence(run.state, run.ending(RunFinished))
    _print_head(console, f"{headline}: {run.why}", COLOURS.get(run.state, "bold"))
    rest = (*([basis] if basis else []), describe_cost(run), *describe_cost_by_model(run))
    _print_details(console, ((line, "") for line in rest))


def _print_head(console: Console, text: str, style: str = "bold") -> None:
    console.print()
    console.print(Text(strip_controls(text), style=style), soft_wrap=True)


def _print_details(console: Console, details: Iterable[tuple[str, str]]) -> None:
    """Print texts, each with its style, indented by two columns."""
    for text, style in details:
        shown = strip_controls(text)
        if style not in CODE:
            console.print(Text("  " + shown.replace("\n", "\n  "), style=style), soft_wrap=True)
        elif text:
            console.print(
                Syntax(shown, style, theme="ansi_dark", background_color="default", padding=(0, 2), word_wrap=True)
            )


def _describe_details(event: BaseEvent, lines: Sequence[Line], versions: dict[int, str]) -> Iterator[tuple[str, str]]:
    """The texts, tests, changes and results of an event in full, with a style each; `versions` are those before it."""
    match event:
        case RunStarted():
            yield event.prompt, ""
            yield from ((f"{line.label}: {line.text}", "dim") for line in lines[2:])
        case RunFinished():
            yield from ((f"{line.label}: {line.text}", STYLES["warning"]) for line in lines if line.tone == "warning")
        case SpecAgreed():
            yield "\n".join(event.given_tests), "python"
            for one in event.worded:
                yield one.test, "python"
                yield f"read from your words: “{one.quote}”", ""
            yield from ((f"assumed: {assumption}", "") for assumption in event.assumptions)
        case Asked():
            yield from ((f"[{message.role}] {message.content}", "dim") for message in event.messages)
        case ModelReplied():
            yield event.text, ""
        case TestsProposed():
            yield "\n".join(event.tests), "python"
        case CodeProposed(code=code):
            before = versions.get(0) or next(reversed(versions.values()), "")  # 0 is the file that is repaired
            same = next((number for number, known in versions.items() if known == code), None)
            if same is not None:
                yield f"the same as {name_version(same)}", "dim"
            elif (
                not before or not code or (event.problem and 0 in versions)
            ):  # the last never came to stand in the file
                yield code, "python"
            else:
                old, new = strip_controls(before).splitlines(), strip_controls(code).splitlines()
                yield "\n".join(difflib.unified_diff(old, new, "before", "after", lineterm="")), "diff"
        case TestsFrozen():
            yield f"{event.given} given, {event.model} by the model, sha256 {event.sha256}", "dim"
        case TestsRan(graded=graded):
            yield f"in {graded.seconds:.2f} s", "dim"
            if graded.problem:
                yield graded.problem, "red"
            for case in graded.cases:
                yield f"{case.outcome:<8} {case.name}  {case.message}", "" if case.outcome == "passed" else "red"
        case Decided():
            yield f"decided: {event.choice}", "dim"
            for move in event.moves:
                start = f" from version {move.base}" if move.base else " from the code that was there"
                start, other = "" if move.base is None else start, f", model {move.model + 1}" if move.model else ""
                yield f"version {move.version}: {move.kind}{start}, temperature {move.temperature:g}{other}", "dim"
        case CheckFinished(evidence=evidence) if len(evidence.why) > 160:  # the head has only its beginning
            yield evidence.why, ""
        case Stopped():
            yield f"stopped: {event.reason}", "dim"
        case PackagesAdded():
            yield describe(event), ""
        case Mutated():
            yield from ((f"unnoticed: line {one.line}: {one.said}  [{one.key}]", "") for one in event.survivors)
        case Strengthened():
            for new_test in event.tests:
                why = f" ({new_test.why})" if new_test.why else ""
                yield f"{new_test.origin}{why}, notices {', '.join(new_test.notices)}", ""
                yield new_test.test, "python"
            yield from ((f"version {event.version} fails {test}", "red") for test in event.exposing)
            yield from ((f"no input told apart (probably equivalent): {key}", "dim") for key in event.alike)
        case Reviewed():
            yield event.text, "python"
