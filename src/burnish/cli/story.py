"""A finished run told from its events, in the order in which things happened."""

import difflib
from datetime import datetime

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from burnish.cli.screen import COLOURS
from burnish.costs import cost, costs_of_models
from burnish.events import (
    AnswerLost,
    Applied,
    Asked,
    BaseEvent,
    Broke,
    CheckFinished,
    CodeProposed,
    Compared,
    Decided,
    FilesWritten,
    Measured,
    ModelReplied,
    Move,
    Mutated,
    PackagesAdded,
    Rated,
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
    UserAnswered,
)
from burnish.model_choice import read_choice
from burnish.runs.run import Run
from burnish.runs.sentences import sentence_of
from burnish.text import counted, plain


def tell(run: Run, console: Console | None = None) -> None:
    """Print the whole run."""
    _Story(run, console or Console(highlight=False)).tell()


class _Story:
    def __init__(self, run: Run, console: Console) -> None:
        self.run = run
        self.console = console
        self._before = ""

    def tell(self) -> None:
        for event in self.run.events:
            self._tell(event)
        self._head(f"{self.run.state}: {self.run.why}", COLOURS.get(self.run.state, "bold"))
        for line in (cost(self.run), *costs_of_models(self.run)):
            self._plain(line)

    def _tell(self, event: BaseEvent) -> None:
        clock = f"{event.at - self.run.started.at:6.1f}s  "
        match event:
            case RunStarted():
                when = datetime.fromtimestamp(event.at).strftime("%Y-%m-%d %H:%M:%S")
                self._head(f"{event.run_id}  {when}  {event.model}  burnish {event.burnish}")
                self._plain(event.prompt)
                if why := read_choice(event):
                    self._plain(f"chosen: {why}", "dim")
                self._plain(f"sandbox: {event.sandbox}", "dim")
            case SpecAgreed():
                self._head(f"{clock}agreed on {event.signature}")
                self._code("\n".join(event.given_tests))
                for assumption in event.assumptions:
                    self._plain(f"assumed: {assumption}")
            case UserAnswered():
                self._head(f"{clock}you were asked: {event.assumption}")
                self._plain(event.words or "you agreed")
            case Asked():
                warmth = f"temperature {event.temperature:g}, seed {event.seed}, prompt version {event.prompt_version}"
                self._head(f"{clock}asked {event.ask_id} ({warmth})")
                for message in event.messages:
                    self._plain(f"[{message.role}] {message.content}", "dim")
            case ModelReplied():
                self._head(f"{clock}answer {event.ask_id} ({_answer(event)})")
                self._plain(event.text)
            case AnswerLost():
                most = f"; it cost {event.dollars:.6f} dollars at most" if event.dollars else ""
                self._head(f"{clock}the answer to {event.ask_id} was lost on its way, and is asked for again{most}")
            case TestsFrozen() | Tweaked() | Compared() | Refused() | Resumed() | Applied():
                self._head(f"{clock}{_in_short(event)}")
            case PackagesAdded():
                self._head(f"{clock}{sentence_of(event)}")
            case Mutated() | Strengthened() | Refined() | Measured() | Reviewed():
                self._head(f"{clock}{sentence_of(event)}", "dim" if isinstance(event, Measured) else "bold")
                self._detail(event)
            case _:
                self._tell_result(event, clock)

    def _tell_result(self, event: BaseEvent, clock: str) -> None:
        match event:
            case TestsProposed():
                self._head(f"{clock}tests by the model ({event.dropped} could not be used)")
                self._code("\n".join(event.tests))
            case CodeProposed():
                self._version(event, clock)
            case TestsRan():
                self._results(event, clock)
            case Decided():
                self._head(f"{clock}decided: {event.choice}")
                self._plain(event.reason)
                for move in event.moves:
                    self._plain(_move(move), "dim")
            case CheckFinished(evidence=evidence):
                self._head(f"{clock}check {evidence.check}: {evidence.verdict.replace('_', ' ')}")
                self._plain(evidence.why)
            case Stopped():
                self._head(f"{clock}stopped: {event.reason}")
                self._plain(event.why)
            case Broke():
                self._head(f"{clock}broke: {event.error}", "bold red")
                self._plain(event.message)
            case RunFinished() if event.disputed:
                self._head(f"{clock}disputed tests, set aside")
                self._code("\n".join(event.disputed))
            case FilesWritten():
                self._head(f"{clock}files in {event.folder}: {', '.join(event.files)}")
            case Rated():
                self._head(f"rated {'★' * event.stars} {event.comment}")

    def _detail(self, event: Mutated | Strengthened | Refined | Measured | Reviewed) -> None:
        """The changes, the tests and the texts that a sentence only counts."""
        match event:
            case Mutated():
                for one in event.survivors:
                    self._plain(f"unnoticed: line {one.line}: {one.said}  [{one.key}]")
            case Strengthened():
                for new in event.tests:
                    self._plain(f"{new.origin}{f' ({new.why})' if new.why else ''}, notices {', '.join(new.notices)}")
                    self._code(new.test)
                for test in event.exposing:
                    self._plain(f"version {event.version} fails {test}", "red")
                for key in event.alike:
                    self._plain(f"no input told apart (probably equivalent): {key}", "dim")
            case Reviewed():
                self._code(event.text)

    def _version(self, event: CodeProposed, clock: str) -> None:
        self._head(f"{clock}version {event.version}, by {event.by}{': ' + event.problem if event.problem else ''}")
        if self._before:
            before, after = plain(self._before).splitlines(), plain(event.code).splitlines()
            changed = "\n".join(difflib.unified_diff(before, after, "before", "after", lineterm=""))
            self._code(changed or "(the same as before)", "diff")
        else:
            self._code(event.code)
        self._before = event.code or self._before

    def _results(self, event: TestsRan, clock: str) -> None:
        graded = event.graded
        failed = len(graded.cases) - graded.passed
        self._head(f"{clock}version {event.version}: {graded.passed} passed, {failed} failed in {graded.seconds:.2f} s")
        if graded.problem:
            self._plain(graded.problem, "red")
        for case in graded.cases:
            self._plain(f"{case.outcome:<8} {case.name}  {case.message}", "" if case.outcome == "passed" else "red")

    def _head(self, text: str, style: str = "bold") -> None:
        self.console.print()
        self.console.print(Text(plain(text), style=style), soft_wrap=True)

    def _plain(self, text: str, style: str = "") -> None:
        self.console.print(Text("  " + plain(text).replace("\n", "\n  "), style=style), soft_wrap=True)

    def _code(self, text: str, language: str = "python") -> None:
        if text:
            shown = plain(text)
            self.console.print(
                Syntax(shown, language, theme="ansi_dark", background_color="default", padding=(0, 2), word_wrap=True)
            )


def _answer(event: ModelReplied) -> str:
    """What one answer took, and of whom."""
    told = [event.model] if event.model else []
    told += [f"{event.tokens_in} tokens read"] + [f"{event.tokens_cached} from a cache"] * bool(event.tokens_cached)
    told += [f"{event.tokens_out} written"] + [f"{event.tokens_thought} of them thoughts"] * bool(event.tokens_thought)
    told += [f"{event.seconds:.1f} s"] + ([f"{event.dollars:.6f} dollars"] if event.dollars else [])
    return ", ".join([*told, f"ended: {event.ended}"])


def _move(move: Move) -> str:
    start = "" if move.base is None else f" from version {move.base}" if move.base else " from the code that was there"
    other = f", model {move.model + 1}" if move.model else ""
    return f"version {move.version}: {move.kind}{start}, temperature {move.temperature:g}{other}"


def _in_short(event: TestsFrozen | Tweaked | Compared | Refused | Resumed | Applied) -> str:
    match event:
        case TestsFrozen():
            return f"tests frozen: {event.given} given, {event.model} by the model, sha256 {event.sha256}"
        case Tweaked():
            tried = counted(event.tried, "small edit")
            return f"{tried} of version {event.base} tried, of which {event.passed} passed every given test"
        case Compared():
            groups = " | ".join(", ".join(map(str, group)) for group in event.groups)
            apart = f"; they differ on {event.apart}" if event.apart else ""
            return f"versions alike on {counted(len(event.inputs), 'input')}: {groups}{apart}"
        case Refused():
            return f"refused {event.what}: {event.why}"
        case Resumed():
            return f"taken up again: {counted(event.answers, 'answer')} on record"
        case Applied():
            return f"put in place: {event.file}; as it was: {event.backup}"
