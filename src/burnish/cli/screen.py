"""What a person sees while a run goes on: one reader of the event stream. Model text is shown, never obeyed."""

import difflib
import sys
import time
from typing import Any

from rich.console import Console
from rich.status import Status
from rich.text import Text

from burnish.cli.leaving import PatientConsole
from burnish.cli.thoughts import Thoughts
from burnish.cli.voices import Voices
from burnish.costs import cost, costs_of_models
from burnish.events import (
    Applied,
    BaseEvent,
    Broke,
    CheckFinished,
    CodeProposed,
    Compared,
    Decided,
    FilesWritten,
    ModelChunk,
    ModelReplied,
    ModelThought,
    Mutated,
    Notice,
    PackagesAdded,
    Refined,
    Refused,
    Resumed,
    Reviewed,
    RunFinished,
    RunStarted,
    SpecAgreed,
    Stopped,
    Strengthened,
    TestsFrozen,
    TestsProposed,
    TestsRan,
    Tweaked,
)
from burnish.model_choice import read_choice
from burnish.runs.run import Run
from burnish.runs.sentences import in_short, sentence_of
from burnish.tasks.test_file import name_in_file
from burnish.text import counted, every, one_line, plain

COLOURS = {"proven": "bold green", "plausible": "bold yellow", "failed": "bold red"}
CHECK_COLOURS = {"passed": "", "failed": "red", "not_run": "yellow"}
CODE_LINES = 40
SPINNER = 2
"""Columns before the moving line."""


class Screen:
    """Lines that stay for what has happened, and on a terminal one moving line for what is happening."""

    def __init__(self, verbose: bool = False, console: Console | None = None) -> None:
        self.console = console or PatientConsole(highlight=False, file=sys.stdout)
        self._voices = Voices(self.console) if verbose else None
        self._started = self._seen = time.time()
        self._tokens = 0
        self._thoughts = Thoughts()
        self._now = "starting"
        self._end = ""
        self._code: dict[int, str] = {}
        self._tried: Mutated | None = None
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
        if self._status:
            self._status.stop()

    def go_on(self) -> None:
        """Let it move again."""
        if self._status:
            self._status.start()

    def watch(self, event: BaseEvent) -> None:
        """Show one event, if a person would want to see it. Times are the events' own, so a record can be replayed."""
        self._seen = event.at
        show = getattr(self, f"_{getattr(event, 'kind', '')}", None)
        if show:
            show(event)
        if self._status:
            self._status.update(self._moving())

    def goodbye(self, run: Run) -> None:
        """What it cost, and where to look next."""
        self._line("cost", cost(run))
        for line in costs_of_models(run):
            self._line("", line)
        self._line("run", f"burnish show {run.id}")

    def _run_started(self, event: RunStarted) -> None:
        self._started = event.at
        self._line("task", one_line(event.prompt, 200))
        self._line("model", event.model)
        if why := read_choice(event):
            self._line("chosen", why, "dim")
        self._line("sandbox", event.sandbox)
        self._now = "thinking"

    def _resumed(self, event: Resumed) -> None:
        self._started = event.at
        self._line("resumed", f"{counted(event.answers, 'answer')} on record, not asked for again")

    def _spec_agreed(self, event: SpecAgreed) -> None:
        self._line("function", event.signature)
        for test in event.given_tests:
            self._line("given", name_in_file(test) or one_line(test), "cyan")
        for assumption in event.assumptions:
            self._line("assumed", one_line(assumption, 160), "yellow")
        self._now = "writing tests and a first version"

    def _packages_added(self, event: PackagesAdded) -> None:
        asked = ", ".join(in_short(event))
        self._line("packages", f"{asked} added: {event.why}" if event.why else asked)

    def _notice(self, event: Notice) -> None:
        if event.stays:
            self._line("note", event.text, "yellow")
            return
        self._now = event.text
        if not self._status:
            self._line("wait", event.text, "dim")

    def _model_chunk(self, event: ModelChunk) -> None:
        self._tokens += 1
        self._fold(event)
        if self._voices:
            self._voices.hear(event.ask_id, event.text)

    def _model_thought(self, event: ModelThought) -> None:
        self._tokens += 1
        self._thoughts.hear(event)
        if self._voices:
            self._voices.hear(event.ask_id, event.text, thinking=True)

    def _fold(self, event: ModelChunk | ModelReplied) -> None:
        """Once the answer begins, or ends without having begun, one line stands for the thoughts before it."""
        folded = self._thoughts.fold(event.ask_id, event.at)
        if folded and not self._voices:
            self._line("thought", folded, "dim")

    def _model_replied(self, event: ModelReplied) -> None:
        self._fold(event)
        if self._voices:
            self._voices.end(event.ask_id)
        speed = f", {event.tokens_out / event.seconds:.0f} tokens/s" if event.seconds else ""
        cut = {"length": ", cut at its token limit", "cut": ", broken off"}.get(event.ended, "")
        self._line("answer", f"{event.purpose}: {counted(event.tokens_out, 'token')}{speed}{cut}", "dim")

    def _tests_proposed(self, event: TestsProposed) -> None:
        dropped = f" ({event.dropped} more could not be used)" if event.dropped else ""
        self._line("tests", f"{counted(len(event.tests), 'test')} written by the model{dropped}")
        for test in event.tests:
            self._line("", one_line(test), "cyan")

    def _code_proposed(self, event: CodeProposed) -> None:
        lines = len(event.code.splitlines())
        mended = f" ({event.mended})" if event.mended else ""
        said = event.problem if event.problem else f"{counted(lines, 'line')}{mended}"
        self._line(f"version {event.version}", f"{event.by}: {one_line(said, 160)}", "red" if event.problem else "bold")
        self._show_code(event)
        self._now = "running the tests"

    def _tests_ran(self, event: TestsRan) -> None:
        graded = event.graded
        failed = [case for case in graded.cases if case.outcome != "passed"]
        said = f"version {event.version}: {graded.passed} passed, {len(failed)} failed"
        self._line("ran", said, "green" if graded.all_passed else "red")
        if graded.problem:
            self._line("", one_line(graded.problem, 160), "red")
        if failed:
            for line in plain(failed[0].message).splitlines()[:4]:
                self._line("", one_line(line, 160), "red")

    def _tests_frozen(self, event: TestsFrozen) -> None:
        if count := event.given + event.model + event.more:
            self._line("frozen", f"{counted(count, 'test')}, sha256 {event.sha256[:12]}", "dim")

    def _tweaked(self, event: Tweaked) -> None:
        of = f"version {event.base}" if event.base else "the code that was there"
        passes = "passes" if event.passed == 1 else "pass"
        said = f"{counted(event.tried, 'small edit')} of {of} tried, {event.passed} {passes} your tests"
        self._line("edits", f"{said} ({event.seconds:.1f} s)", "green" if event.passed else "dim")

    def _compared(self, event: Compared) -> None:
        groups = " | ".join(", ".join(map(str, group)) for group in event.groups)
        self._line("compared", f"versions alike on {counted(len(event.inputs), 'input')}: {groups}", "dim")
        if event.apart:
            self._line("", one_line(event.apart, 160), "dim")

    def _mutated(self, event: Mutated) -> None:
        self._tried = event
        missed = event.mutants - event.noticed
        if not event.mutants:
            self._line("changes", sentence_of(event), "dim")
        elif missed:
            goes, them = ("goes", "it") if missed == 1 else ("go", "them")
            said = f"{missed} of {counted(event.mutants, 'small change')} {goes} unnoticed: writing tests for {them}"
            self._line("changes", f"{said} ({event.seconds:.1f} s)", "yellow")
            self._now = f"writing tests for {counted(missed, 'small change')}"
        else:
            is_noticed = "is noticed" if event.mutants == 1 else "are noticed"
            said = f"{every(event.mutants, 'small change')} of version {event.version} {is_noticed}"
            self._line("changes", f"{said} ({event.seconds:.1f} s)", "green")

    def _strengthened(self, event: Strengthened) -> None:
        for new in event.tests:
            why = f" ({one_line(new.why, 80)})" if new.why else ""
            self._line(new.origin, f"{one_line(new.test)}{why}", "dim" if new.origin == "pinned" else "cyan")
        for test in event.exposing:
            self._line("wrong", f"version {event.version} fails {one_line(test)}", "red")
        if self._tried is None or self._tried.mutants == self._tried.noticed:
            return
        left = max(0, self._tried.mutants - event.noticed - event.pinned - len(event.alike))
        said = [f"{left} left"]
        said += [f"{event.pinned} noticed by pinned tests alone"] if event.pinned else []
        said += [f"no test was added: {one_line(event.why, 160)}"] if event.why else []
        said += [f"{len(event.alike)} no input told apart (probably equivalent)"] if event.alike else []
        self._line("changes", f"{', '.join(said)} ({event.seconds:.1f} s)", "green" if not left else "yellow")

    def _refined(self, event: Refined) -> None:
        figures = [one_line(figure, 60) for figure in (event.before, event.after) if figure]
        fate = "kept" if event.kept else f"not kept: {one_line(event.why, 160) or 'nothing came of it'}"
        said = f"{' '.join([f'{event.check}:', ' → '.join(figures)]).strip()} ({fate})"
        self._line("round", said, "green" if event.kept else "yellow")

    def _reviewed(self, event: Reviewed) -> None:
        self._line("you", sentence_of(event))

    def _refused(self, event: Refused) -> None:
        self._line("refused", f"{one_line(event.what)}: {one_line(event.why, 160)}", "yellow")

    def _applied(self, event: Applied) -> None:
        self._line("applied", f"{event.file} (as it was: {event.backup})")

    def _decided(self, event: Decided) -> None:
        self._thoughts.forget()
        self._line("next", event.reason)
        self._now = "working on it"

    def _check_finished(self, event: CheckFinished) -> None:
        item = event.evidence
        figure = f" {one_line(item.figure, 40)}:" if item.figure else ""
        said = f"{item.check}: {item.verdict.replace('_', ' ')},{figure} {one_line(item.why, 160)}"
        self._line("check", said, CHECK_COLOURS[item.verdict])

    def _stopped(self, event: Stopped) -> None:
        self._thoughts.forget()
        if event.reason != "done" and event.why != self._end:  # what works side by side stops at the same limit
            self._line("stopped", event.why, "yellow")
        self._end = event.why

    def _broke(self, event: Broke) -> None:
        self._thoughts.forget()
        self._line("broke", f"{event.error}: {one_line(event.message, 400)}", "bold red")

    def _run_finished(self, event: RunFinished) -> None:
        for test in event.disputed:
            self._line("disputed", f"{one_line(test)} (set aside)", "yellow")
        self.close()
        self.console.print()
        self._line(event.verdict.upper(), one_line(event.why, 400), COLOURS[event.verdict])

    def _files_written(self, event: FilesWritten) -> None:
        self._line("files", "  ".join(f"{event.folder}/{name}" for name in event.files))

    def _show_code(self, event: CodeProposed) -> None:
        before = self._code[max(self._code)] if self._code else ""
        self._code[event.version] = event.code
        lines: list[str] = plain(event.code).splitlines()
        if before:
            lines = list(difflib.unified_diff(plain(before).splitlines(), lines, lineterm="", n=2))[2:]
        for line in lines[:CODE_LINES]:
            self._line("", line, _diff_colour(line) if before else "blue")
        if len(lines) > CODE_LINES:
            self._line("", f"… {counted(len(lines) - CODE_LINES, 'more line')}", "dim")

    def _line(self, label: str, text: str, style: str = "") -> None:
        clock = f"{self._seen - self._started:6.1f}s" if label else " " * 7
        line = Text.assemble((clock, "dim"), " ", (f"{label:<10}", "bold"), " ", (plain(text), style))
        self.console.print(line, soft_wrap=True)

    def _moving(self) -> Any:
        seconds = time.time() - self._started
        speed = f" · {self._tokens / seconds:.0f} tokens/s" if seconds > 1 and self._tokens else ""
        clock = f" · {seconds:.0f} s"
        thinking = self._thoughts.now(self.console.width - SPINNER - len(clock))
        now = f"{thinking}{clock}" if thinking else f"{one_line(self._now, 60)}{clock} · {self._tokens} tokens{speed}"
        return Text(now, style="dim", no_wrap=True, overflow="ellipsis")


def _diff_colour(line: str) -> str:
    return "green" if line.startswith("+") else "red" if line.startswith("-") else "dim"
