"""`burnish show`: a run from its events, in the order in which things happened, with every text in full."""

import difflib
from collections.abc import Iterable
from datetime import datetime

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

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
from burnish.report.narrate import describe, narrate
from burnish.text import strip_controls


def show_run(run: Run, console: Console | None = None) -> None:
    """Print the whole run."""
    _Printer(run, console or Console(highlight=False)).print_run()


class _Printer:
    def __init__(self, run: Run, console: Console) -> None:
        self.run = run
        self.console = console
        self._before = ""
        """The code of the version before."""

    def print_run(self) -> None:
        """What the narrator says of every event, with its texts in full; then the end and what it cost."""
        for event in self.run.events:
            lines = narrate(event)
            if isinstance(event, RunStarted):
                when = datetime.fromtimestamp(event.at).strftime("%Y-%m-%d %H:%M:%S")
                self._head(f"{event.run_id}  {when}  {event.model}  burnish {event.burnish}")
                self._print_lines([event.prompt])
                self._print_lines((f"{line.label}: {line.text}" for line in lines[2:]), "dim")
            elif isinstance(event, RunFinished):  # the verdict stands at the end
                self._print_lines((f"{line.label}: {line.text}" for line in lines[:-1]), STYLES["warning"])
            elif lines:
                style = {StepMeasured: "dim", Broke: "bold red"}.get(type(event), "bold")
                text = f"{lines[0].label}: {lines[0].text}" if lines[0].label else lines[0].text
                self._head(f"{event.at - self.run.started.at:6.1f}s  {text}", style)
            self._print_details(event)
        self._head(f"{self.run.state}: {self.run.why}", COLOURS.get(self.run.state, "bold"))
        self._print_lines([describe_cost(self.run), *describe_cost_by_model(self.run)])

    def _print_details(self, event: BaseEvent) -> None:
        """The texts, tests, changes and results in full."""
        match event:
            case SpecAgreed():
                self._code("\n".join(event.given_tests))
                self._print_lines(f"assumed: {assumption}" for assumption in event.assumptions)
            case Asked():
                self._print_lines((f"[{message.role}] {message.content}" for message in event.messages), "dim")
            case ModelReplied():
                self._print_lines([event.text])
            case TestsProposed():
                self._code("\n".join(event.tests))
            case CodeProposed(code=code):  # the first version in full, of later ones what differs from the one before
                if self._before:
                    before, after = strip_controls(self._before).splitlines(), strip_controls(code).splitlines()
                    changed = "\n".join(difflib.unified_diff(before, after, "before", "after", lineterm=""))
                    self._code(changed or "(the same as before)", "diff")
                else:
                    self._code(code)
                self._before = code or self._before
            case TestsFrozen():
                counts = f"{event.given} given, {event.model} by the model"
                self._print_lines([f"{counts}, sha256 {event.sha256}"], "dim")
            case TestsRan(graded=graded):
                self._print_lines([f"in {graded.seconds:.2f} s"], "dim")
                self._print_lines([graded.problem] if graded.problem else [], "red")
                for case in graded.cases:
                    style = "" if case.outcome == "passed" else "red"
                    self._print_lines([f"{case.outcome:<8} {case.name}  {case.message}"], style)
            case Decided():
                self._print_lines([f"decided: {event.choice}"], "dim")
                for move in event.moves:
                    start = f" from version {move.base}" if move.base else " from the code that was there"
                    start, other = "" if move.base is None else start, f", model {move.model + 1}" if move.model else ""
                    said = f"version {move.version}: {move.kind}{start}, temperature {move.temperature:g}{other}"
                    self._print_lines([said], "dim")
            case CheckFinished(evidence=evidence) if len(evidence.why) > 160:  # the head has only its beginning
                self._print_lines([evidence.why])
            case Stopped():
                self._print_lines([f"stopped: {event.reason}"], "dim")
            case PackagesAdded():
                self._print_lines([describe(event)])
            case Mutated():
                self._print_lines(f"unnoticed: line {one.line}: {one.said}  [{one.key}]" for one in event.survivors)
            case Strengthened():
                for new in event.tests:
                    why = f" ({new.why})" if new.why else ""
                    self._print_lines([f"{new.origin}{why}, notices {', '.join(new.notices)}"])
                    self._code(new.test)
                self._print_lines((f"version {event.version} fails {test}" for test in event.exposing), "red")
                self._print_lines((f"no input told apart (probably equivalent): {key}" for key in event.alike), "dim")
            case Reviewed():
                self._code(event.text)

    def _head(self, text: str, style: str = "bold") -> None:
        self.console.print()
        self.console.print(Text(strip_controls(text), style=style), soft_wrap=True)

    def _print_lines(self, texts: Iterable[str], style: str = "") -> None:
        for text in texts:
            self.console.print(Text("  " + strip_controls(text).replace("\n", "\n  "), style=style), soft_wrap=True)

    def _code(self, text: str, language: str = "python") -> None:
        if text:
            shown = strip_controls(text)
            self.console.print(
                Syntax(shown, language, theme="ansi_dark", background_color="default", padding=(0, 2), word_wrap=True)
            )
