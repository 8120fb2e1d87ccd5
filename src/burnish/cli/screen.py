"""What a person sees while a run goes on: one reader of the event stream. Model text is shown, never obeyed."""

import difflib
import sys
import time
from typing import get_args

from rich.console import Console
from rich.status import Status
from rich.text import Text

from burnish.cli.io import PatientConsole
from burnish.cli.stream_text import StreamedAnswers, StreamedThoughts
from burnish.events import (
    AnswerLost,
    Asked,
    BaseEvent,
    Broke,
    CodeProposed,
    Decided,
    ModelChunk,
    ModelReplied,
    ModelThought,
    Mutated,
    Notice,
    Rated,
    Resumed,
    RunFinished,
    RunStarted,
    SpecAgreed,
    StepMeasured,
    Stopped,
    UserAnswered,
    Verdict,
)
from burnish.events.history import Run
from burnish.report.costs import describe_cost, describe_cost_by_model
from burnish.report.narrate import CHECK_TONES, Line, Tone, narrate
from burnish.text import one_line, plural, strip_controls

STYLES: dict[Tone, str] = {
    "": "",
    "good": "green",
    "bad": "red",
    "warning": "yellow",
    "quiet": "dim",
    "test": "cyan",
    "strong": "bold",
    "broken": "bold red",
    "proven": "bold green",
    "plausible": "bold yellow",
    "failed": "bold red",
}
COLOURS = {verdict: STYLES[verdict] for verdict in get_args(Verdict)}
CHECK_COLOURS = {verdict: STYLES[tone] for verdict, tone in CHECK_TONES.items()}
UNWATCHED = (Asked, UserAnswered, AnswerLost, StepMeasured, Rated)
"""Events that are of interest only later."""
CODE_LINES = 40
SPINNER = 2
"""Columns before the moving line."""


class Screen:
    """Lines that stay for what has happened, and on a terminal one moving line for what is happening."""

    def __init__(self, verbose: bool = False, console: Console | None = None) -> None:
        self.console = console or PatientConsole(highlight=False, file=sys.stdout)
        self._voices = StreamedAnswers(self.console) if verbose else None
        self._started = self._seen = time.time()
        self._tokens = 0
        self._thoughts = StreamedThoughts()
        self._now = "starting"
        self._stopped = ""
        self._code: dict[int, str] = {}
        self._status: Status | None = None
        if self.console.is_terminal and not verbose:
            self._status = self.console.status(self._moving())
            self._status.start()

    def close(self) -> None:
        """Take the moving line away."""
        if self._status:
            self._status.stop()

    def pause(self) -> None:
        """Stop the moving line while somebody types."""
        self.close()

    def go_on(self) -> None:
        """Let it move again."""
        if self._status:
            self._status.start()

    def watch(self, event: BaseEvent) -> None:
        """Show one event, if a person would want to see it. Times are the events' own, so a record can be replayed."""
        self._seen = event.at
        lines = narrate(event) if not isinstance(event, UNWATCHED) else []
        match event:
            case RunStarted() | Resumed():
                self._started = event.at
            case ModelChunk() | ModelThought() | ModelReplied():
                self._hear(event)
            case Decided() | Stopped() | Broke():
                self._thoughts.forget()
            case Notice() if not event.stays and self._status:
                lines = []  # the moving line says it
            case RunFinished():
                self.close()
        if isinstance(event, Stopped):  # what works side by side stops at the same limit, which is said once
            lines = lines if event.reason != "done" and event.why != self._stopped else []
            self._stopped = event.why
        for line in lines:
            if line.tone in COLOURS:
                self.console.print()
            self._print(line)
        match event:  # what is going on from here, for the moving line
            case RunStarted():
                self._now = "thinking"
            case SpecAgreed():
                self._now = "writing tests and a first version"
            case CodeProposed():
                self._show_code(event)
                self._now = "running the tests"
            case Decided():
                self._now = "working on it"
            case Mutated() if event.mutants > event.noticed:
                self._now = f"writing tests for {plural(event.mutants - event.noticed, 'small change')}"
            case Notice() if not event.stays:
                self._now = event.text
        if self._status:
            self._status.update(self._moving())

    def goodbye(self, run: Run) -> None:
        """What it cost, and where to look next."""
        self._print(Line("cost", describe_cost(run)))
        for line in describe_cost_by_model(run):
            self._print(Line("", line))
        self._print(Line("run", f"burnish show {run.id}"))

    def _hear(self, event: ModelChunk | ModelThought | ModelReplied) -> None:
        """Words of a model as they come. Once its answer begins, or ends, one line stands for the thoughts before."""
        if isinstance(event, ModelThought):
            self._thoughts.hear(event)
        elif (thought := self._thoughts.fold(event.ask_id, event.at)) and not self._voices:
            self._print(Line("thought", thought, "quiet"))
        if isinstance(event, ModelReplied):
            if self._voices:
                self._voices.end(event.ask_id)
            return
        self._tokens += 1
        if self._voices:
            self._voices.hear(event.ask_id, event.text, thinking=isinstance(event, ModelThought))

    def _show_code(self, event: CodeProposed) -> None:
        """A version in full if it is the first, else what differs from the newest one before it."""
        before = self._code[max(self._code)] if self._code else ""
        self._code[event.version] = event.code
        lines = strip_controls(event.code).splitlines()
        if before:
            lines = list(difflib.unified_diff(strip_controls(before).splitlines(), lines, lineterm="", n=2))[2:]
        for line in lines[:CODE_LINES]:
            colour = {"+": "green", "-": "red"}.get(line[:1], "dim") if before else "blue"
            self._print(Line("", line), colour)
        if len(lines) > CODE_LINES:
            self._print(Line("", f"… {plural(len(lines) - CODE_LINES, 'more line')}", "quiet"))

    def _print(self, line: Line, style: str = "") -> None:
        clock = f"{self._seen - self._started:6.1f}s" if line.label else " " * 7
        words = (strip_controls(line.text), style or STYLES[line.tone])
        text = Text.assemble((clock, "dim"), " ", (f"{line.label:<10}", "bold"), " ", words)
        self.console.print(text, soft_wrap=True)

    def _moving(self) -> Text:
        seconds = time.time() - self._started
        speed = f" · {self._tokens / seconds:.0f} tokens/s" if seconds > 1 and self._tokens else ""
        clock = f" · {seconds:.0f} s"
        thinking = self._thoughts.now(self.console.width - SPINNER - len(clock))
        now = f"{thinking}{clock}" if thinking else f"{one_line(self._now, 60)}{clock} · {self._tokens} tokens{speed}"
        return Text(now, style="dim", no_wrap=True, overflow="ellipsis")
