"""What a person sees while a run goes on: one reader of the event stream. Model text is shown, never obeyed.

What models say is shown as it comes: their words in full (`--verbose`), or their thoughts folded into one line.
"""

import difflib
import sys
import time
from dataclasses import dataclass
from typing import get_args

from rich.cells import cell_len
from rich.console import Console
from rich.status import Status
from rich.text import Text

from burnish.cli.io import PatientConsole, is_narrow, print_hanging
from burnish.events import (
    AnswerLost,
    Asked,
    BaseEvent,
    Broke,
    CodeProposed,
    Decided,
    FeedbackGiven,
    FeedbackTakenBack,
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
from burnish.models.tokens import guess_tokens
from burnish.report.costs import describe_cost, describe_cost_by_model, describe_going_on
from burnish.report.deliverables import list_open_questions
from burnish.report.narrate import CHECK_TONES, Line, Tone, name_version, narrate
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
UNWATCHED = (Asked, UserAnswered, AnswerLost, StepMeasured, Rated, FeedbackGiven, FeedbackTakenBack)
"""Events that are of interest only later."""
CODE_LINES = 40
SPINNER = 2
"""Columns before the moving line."""
MARK = "┊ "
"""At the beginning of each line of a thought: it is no part of the answer."""
THOUGHT_CHARACTERS = 400
"""Of the end of a thought, which may be shown: more than a terminal is wide."""
LEAST_ROOM = 8
"""Columns below which no words are shown."""


class StreamedAnswers:
    """Prints each answer in one piece: several are written at once, and the words of those who wait are kept.

    Thoughts come before the answer, in full, slanted and with a mark at each line.
    """

    def __init__(self, console: Console) -> None:
        self.console = console
        self._thinking = False
        self._kept: dict[str, list[tuple[str, bool]]] = {}
        """Words that are not printed yet, by ask: those of the first are printed at once."""
        self._ended: set[str] = set()

    def hear(self, ask_id: str, words: str, thinking: bool = False) -> None:
        """Take a few more words of one answer, or of the thoughts before it."""
        if ask_id not in self._kept:
            self._kept[ask_id] = [(f"── {ask_id} ──\n", False)]
        self._kept[ask_id].append((words, thinking))
        self._print_first()

    def end(self, ask_id: str) -> None:
        """An answer is complete; whoever waits goes on."""
        self._ended.add(ask_id)
        self._print_first()

    def _print_first(self) -> None:
        while self._kept:
            first = next(iter(self._kept))
            for words, thinking in self._kept[first]:
                self._print(words, thinking)
            self._kept[first].clear()
            if first not in self._ended:
                return
            del self._kept[first]
            self._thinking = False
            self._print("\n", thinking=False)

    def _print(self, words: str, thinking: bool) -> None:
        """Print it; where thoughts begin or end, on a new line that says so."""
        words = strip_controls(words)
        if thinking:
            words = words.replace("\n", f"\n{MARK}")
        if thinking != self._thinking:
            words = (MARK if thinking else "\n") + words
        self._thinking = thinking
        self.console.print(Text(words, style="dim italic" if thinking else "dim"), end="", soft_wrap=True)


@dataclass
class OpenThought:
    """What one model has thought so far before one answer."""

    since: float
    pieces: int = 0
    text: str = ""

    @property
    def tokens(self) -> int:
        """About; the true number comes with the answer, where the provider tells it."""
        return guess_tokens(self.pieces, len(self.text))


class StreamedThoughts:
    """Follows several thinkers at once; what they think is shown, never kept."""

    def __init__(self) -> None:
        self._thoughts: dict[str, OpenThought] = {}
        """By ask; who spoke last stands last."""

    def hear(self, event: ModelThought) -> None:
        """Take a few more words of one thinker."""
        one = self._thoughts.pop(event.ask_id, None) or OpenThought(since=event.at)
        one.pieces += 1
        one.text += event.text
        self._thoughts[event.ask_id] = one

    def fold(self, ask_id: str, at: float) -> str:
        """In a few words what there was of it, now that it is over; empty where there was nothing, or it was told."""
        one = self._thoughts.pop(ask_id, None)
        if one is None:
            return ""
        return f"for {max(0.0, at - one.since):.0f} s, {plural(one.tokens, 'token')} ({one_line(ask_id, 40)})"

    def forget(self) -> None:
        """Nobody thinks any more: whoever did was broken off, and will not answer."""
        self._thoughts.clear()

    def now(self, room: int) -> str:
        """One line of at most so many columns while somebody thinks, with their last words; empty while nobody does."""
        if not self._thoughts:
            return ""
        one = next(reversed(self._thoughts.values()))
        several = f" ({len(self._thoughts)} at once)" if len(self._thoughts) > 1 else ""
        line = f"thinking{several} … {plural(one.tokens, 'token')}"
        room, last = room - len(line) - len(', ""'), ""
        words = one_line(one.text[-THOUGHT_CHARACTERS:], 2 * THOUGHT_CHARACTERS).split(" ")
        for word in reversed(words if room >= LEAST_ROOM else []):
            longer = f"{word} {last}".rstrip()
            if cell_len(longer) > room:
                break
            last = longer
        return f'{line}, "{last}"' if last else line


class Screen:
    """Lines that stay for what has happened, and on a terminal one moving line for what is happening."""

    def __init__(self, verbose: bool = False, console: Console | None = None) -> None:
        self.console = console or PatientConsole(highlight=False, file=sys.stdout)
        self._answers = StreamedAnswers(self.console) if verbose else None
        self._thoughts = StreamedThoughts()
        self._started = self._now = time.time()
        self._tokens = 0
        self._doing = "starting"
        self._stopped = ""
        self._code: dict[int, str] = {}
        self._base = ""
        """The user's file, where one is repaired."""
        self._status: Status | None = None
        if self.console.is_terminal and not verbose:
            self._status = self.console.status(self._moving())
            self._status.start()

    def pause(self) -> None:
        """Take the moving line away, at the end or while somebody types."""
        if self._status:
            self._status.stop()

    def go_on(self) -> None:
        """Let it move again."""
        if self._status:
            self._status.start()

    def watch(self, event: BaseEvent) -> None:
        """Show one event, if a person would want to see it. Times are the events' own, so a record can be replayed."""
        self._now = event.at
        lines = narrate(event) if not isinstance(event, UNWATCHED) else []
        match event:
            case RunStarted() | Resumed():
                self._started = event.at
                self._doing = "thinking" if isinstance(event, RunStarted) else self._doing
            case ModelChunk() | ModelThought() | ModelReplied():
                self._hear(event)
            case SpecAgreed():
                self._doing = "writing tests and a first version"
            case CodeProposed():
                self._doing = "running the tests"
            case Decided():
                self._thoughts.forget()
                self._doing = "working on it"
            case Mutated() if event.mutants > event.noticed:
                self._doing = f"writing tests for {plural(event.mutants - event.noticed, 'small change')}"
            case Notice() if not event.stays:
                self._doing = event.text
                lines = [] if self._status else lines  # the moving line says it
            case Stopped():  # what works side by side stops at the same limit, which is said once
                self._thoughts.forget()
                lines = lines if event.reason != "done" and event.why != self._stopped else []
                self._stopped = event.why
            case Broke():
                self._thoughts.forget()
            case RunFinished():
                self.pause()
        for line in lines:
            if line.tone in COLOURS:
                self.console.print()
            self.print_line(line)
        if isinstance(event, CodeProposed):
            self._show_code(event)
        if self._status:
            self._status.update(self._moving())

    def goodbye(self, run: Run) -> None:
        """What is still open, what it cost, and where to look next."""
        for question in list_open_questions(run):
            self.print_line(Line("open", one_line(question, 400), "warning"), timed=False)
        self.print_line(Line("cost", describe_cost(run)))
        for line in describe_cost_by_model(run):
            self.print_line(Line("", line))
        self.print_line(Line("run", f"burnish show {run.id}"))
        if further := describe_going_on(run):
            self.print_line(Line("go on", further), timed=False)

    def print_line(self, line: Line, style: str = "", timed: bool = True) -> None:
        """Print a line that stays, with the time if it has a label and happened in the run."""
        clock = f"{self._now - self._started:6.1f}s" if line.label and timed else " " * 7
        words = Text(strip_controls(line.text), style=style or STYLES[line.tone])
        if is_narrow(self.console):
            print_hanging(self.console, Text(f"{clock} {line.label}".strip(), style="bold"), words)
            return
        text = Text.assemble((clock, "dim"), " ", (f"{line.label:<10}", "bold"), " ", words)
        self.console.print(text, soft_wrap=True)

    def _hear(self, event: ModelChunk | ModelThought | ModelReplied) -> None:
        """Words of a model as they come. Once its answer begins, or ends, one line stands for the thoughts before."""
        if isinstance(event, ModelThought):
            self._thoughts.hear(event)
        elif (thought := self._thoughts.fold(event.ask_id, event.at)) and not self._answers:
            self.print_line(Line("thought", thought, "quiet"))
        if isinstance(event, ModelReplied):
            if self._answers:
                self._answers.end(event.ask_id)
            return
        self._tokens += 1
        if self._answers:
            self._answers.hear(event.ask_id, event.text, thinking=isinstance(event, ModelThought))

    def _show_code(self, event: CodeProposed) -> None:
        """What a version changes: in the user's file, where there is one, else in the newest version before it. The
        first is shown in full; a file that was there is not.
        """
        if event.version == 0:
            self._base = event.code
            return
        before = self._base or (self._code[max(self._code)] if self._code else "")
        before = "" if event.problem and self._base else before  # it never came to stand in the file
        same = next((number for number, code in self._code.items() if code == event.code), None)
        self._code[event.version] = event.code
        if event.code and (same is not None or event.code == self._base):
            self.print_line(Line("", f"the same as {name_version(same or 0)}", "quiet"))
            return
        lines = strip_controls(event.code).splitlines()
        if before and event.code:
            lines = list(difflib.unified_diff(strip_controls(before).splitlines(), lines, lineterm="", n=2))[2:]
        for line in lines[:CODE_LINES]:
            colour = {"+": "green", "-": "red"}.get(line[:1], "dim") if before else "blue"
            self.print_line(Line("", line), colour)
        if len(lines) > CODE_LINES:
            self.print_line(Line("", f"… {plural(len(lines) - CODE_LINES, 'more line')}", "quiet"))

    def _moving(self) -> Text:
        seconds = time.time() - self._started
        speed = f" · {self._tokens / seconds:.0f} tokens/s" if seconds > 1 and self._tokens else ""
        clock = f" · {seconds:.0f} s"
        thinking = self._thoughts.now(self.console.width - SPINNER - len(clock))
        doing = f"{one_line(self._doing, 60)}{clock} · {self._tokens} tokens{speed}"
        return Text(f"{thinking}{clock}" if thinking else doing, style="dim", no_wrap=True, overflow="ellipsis")
