"""One run at the command line: who reads its events, who answers, and how it ends there."""

import json
import math
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from rich.text import Text

from burnish.agent.ask import Checkpoint
from burnish.agent.limits import Limits
from burnish.agent.questions import Answerer, OpenQuestion
from burnish.cli.io import PatientConsole, print_code, print_json, print_line, show_diff
from burnish.cli.review import ask_for_answer, can_ask, show, show_question
from burnish.cli.screen import Screen
from burnish.cli.setup import show_fetching
from burnish.commands.apply import DIFF, GOOD, diff_of, fix_facts
from burnish.errors import SetupProblem
from burnish.events import Applied, BaseEvent, QuestionAnswered, QuestionAsked, Reviewed, RunStarted
from burnish.models.model import Model
from burnish.models.names import open_models
from burnish.report.narrate import Line, describe_place
from burnish.runs import Run, Store, Watch
from burnish.runs.record import follow
from burnish.runs.store import summarise_run
from burnish.text import strip_controls

EXAMPLES = {"seconds": "3600", "dollars": "1"}
MOST_NAMED = 5


class CommandSession(AbstractContextManager["CommandSession"]):
    """What write, fix and resume share. Left by Ctrl-C, it says how to go on with the run, once there is one.

    `events` are read by a program, else by a person, or with `quiet` by nobody; `run_id` is a run that goes on. With
    `as_json` a program reads how it ended, and a person what happens on the other stream.
    """

    def __init__(self, verbose: bool, events: bool, quiet: bool, run_id: str = "", as_json: bool = False) -> None:
        if events and as_json:
            raise SetupProblem("--events and --json both print JSON on standard output. Leave one of them out: --json")
        self.quiet, self.as_json = quiet, as_json
        console = PatientConsole(highlight=False, stderr=True) if as_json else None
        self.screen = None if quiet or events else Screen(verbose, console)
        self._reader: Watch | None = self.screen.watch if self.screen else print_line if events else None
        self._run_id = run_id
        self._asks = False
        self._lock = threading.Lock()
        self._held: list[BaseEvent] | None = None
        """What has happened while a person looks at something; None while nobody does."""

    def watch(self, event: BaseEvent) -> None:
        """Hand the event to its reader, once nobody looks at something else; the first one says which run this is."""
        if isinstance(event, RunStarted):
            self._run_id = event.run_id
        if isinstance(event, QuestionAsked) and self._asks:  # it is shown where it is asked
            return
        with self._lock:
            if self._held is not None:
                self._held.append(event)
            elif self._reader:
                self._reader(event)

    def ask(self, assumption: str) -> str:
        """Ask the user about one assumption; the moving line waits meanwhile. The end of input agrees to the rest."""
        if self.screen:
            self.screen.pause()
        print(f"Assume: {strip_controls(assumption)}")
        try:
            return input("  Enter to agree, or say what should hold: ").strip()
        except EOFError:
            return ""
        finally:
            if self.screen:
                self.screen.go_on()

    def review(self, shown: Checkpoint) -> Reviewed:
        """Show it and bring back the answer. Raises SetupProblem where no answer is to be had any more."""
        with self._hold() as screen:
            try:
                show(shown, screen.console)
                return ask_for_answer(shown, screen.console)
            except EOFError:
                raise SetupProblem(
                    f"No answer came at the review of the {shown.where}, and nobody is there to look. What was done is "
                    f"kept; go on with it in a terminal: burnish resume {self._run_id}"
                ) from None

    def find_answerer(self, wanted: bool) -> Answerer | None:
        """Who is asked what is right where versions differ: the person at the terminal, if there is one."""
        self._asks = wanted and can_ask(self.screen is None or self.as_json)
        return self.settle if self._asks else None

    def settle(self, question: OpenQuestion) -> QuestionAnswered | None:
        """Ask what is right where versions differ. The end of input leaves it open."""
        with self._hold() as screen:
            show_question(question.asked, screen.console)
            while True:
                try:
                    return question.read(strip_controls(input("> ")))
                except SetupProblem as problem:
                    screen.console.print(Text(strip_controls(str(problem)), style="yellow"), soft_wrap=True)
                except EOFError:
                    return None

    @contextmanager
    def _hold(self) -> Iterator[Screen]:
        """The screen, for a person who looks at something; what happens meanwhile is shown afterwards."""
        assert self.screen is not None, "who sees nothing cannot answer"
        with self._lock:
            self._held = []
            self.screen.pause()
        try:
            yield self.screen
        finally:
            with self._lock:
                self.screen.go_on()
                for event in self._held:
                    self.screen.watch(event)
                self._held = None

    def open_models(self, names: str) -> Sequence[Model]:
        """The models, their weights fetched under a progress bar if they are not here yet."""
        if self.screen is None:
            return open_models(names)
        with show_fetching() as progress:
            return open_models(names, progress)

    def finish(self, run: Run, out: Path | None = None) -> None:
        """Say what came of it: of a repair the diff, of other runs where the files are.

        The diff is put into the file `out` last of all: whatever happens to that, it has been seen.
        """
        diff, kept = diff_of(run) if run.started.verb == "fix" else "", Store().runs / run.id / DIFF
        if self.as_json:
            print_json(json.dumps(summarise_run(run).model_dump(mode="json"), indent=2))
        elif self.quiet and diff:
            print_code(diff, kept.read_bytes())
        elif self.quiet and run.started.verb != "fix":
            print(run.folder)
        if self.screen and run.started.verb == "fix":
            self._tell_fix(self.screen, run, diff)
        if self.screen:
            self.screen.goodbye(run)
        if out is not None and diff:
            save_diff_file(kept, out)
            if self.screen:
                self.screen.print_line(Line("diff", str(out)), timed=False)

    def _tell_fix(self, screen: Screen, run: Run, diff: str) -> None:
        screen.console.print()
        show_diff(diff, screen.console)
        aside, always = fix_facts(run).aside, find_suspect_tests(run)
        lines = []
        if always:
            named = ", ".join(always[:MOST_NAMED]) + (" …" if len(always) > MOST_NAMED else "")
            lines.append(f"no version passed {named}; look whether the test is right")
        lines += [f"left aside, because it fails for another reason: {test}" for test in aside[:MOST_NAMED]]
        lines += [f"and {len(aside) - MOST_NAMED} more"] if len(aside) > MOST_NAMED else []
        good = run.verdict in GOOD
        if diff and not good:
            lines.append("not applied: this is the best version there was, and it does not pass")
        for line in lines:
            screen.print_line(Line("", line, "warning"))
        places = fix_facts(run).places
        if not good and len(places) > 1:
            for number, place in enumerate(places[:MOST_NAMED], 1):
                screen.print_line(
                    Line("suspects" if number == 1 else "", f"{number}. {describe_place(place)}"), timed=False
                )
            screen.print_line(Line("", f"to steer: burnish fix {places[1].file} --function {places[1].function}"))
        if diff and good and not run.last(Applied):
            screen.print_line(Line("apply", f"burnish apply {run.id}"), timed=False)
        if run.code and not run.folder:
            screen.print_line(Line("evidence", f"burnish verify {run.id}"), timed=False)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if self.screen:
            self.screen.pause()
        if isinstance(error, KeyboardInterrupt):
            further = f"What was done is kept; go on with: burnish resume {self._run_id}"
            print(f"burnish: Stopped. {further if self._run_id else 'No run had begun.'}", file=sys.stderr)


def follow_run(name: str, as_json: bool) -> None:
    """Show a run as it goes on in another process, until it ends there; Ctrl-C ends only the looking."""
    store = Store()
    folder = store.find(name)
    reader = None if as_json else Screen()
    try:
        for event in follow(folder):
            (reader.watch if reader else print_line)(event)
    finally:
        if reader:
            reader.pause()
    if reader:
        reader.goodbye(store.open(folder.name))


def save_diff_file(kept: Path, out: Path) -> None:
    """Copy the diff of a run. Raises SetupProblem where a file is in the way, or cannot be written."""
    try:
        with out.open("xb") as file:  # a link that leads to nothing passes for a free name
            file.write(kept.read_bytes())
    except OSError as error:
        raise SetupProblem(
            f"{str(out)!r} could not be written ({error.strerror}). The diff is kept with the run; copy it: cp {kept} ."
        ) from error


def find_suspect_tests(run: Run) -> list[str]:
    """For a failed run: the tests that none of several versions passed, which may be the ones that are wrong."""
    ran = [version.graded for version in run.versions if version.graded and version.graded.cases]
    if run.verdict != "failed" or len(ran) < 2:
        return []
    failed = [{case.name for case in graded.cases if case.outcome != "passed"} for graded in ran]
    return sorted(set.intersection(*failed))


def read_limits(**caps: float | None) -> Limits:
    """The caps as typed. What is a number to Python and no limit (nan, inf) is refused."""
    for name, cap in caps.items():
        if cap is not None and not math.isfinite(cap):
            raise SetupProblem(f"{cap} {name} is no limit. Type a number, e.g.: --{name} {EXAMPLES.get(name, '5')}")
    return Limits.model_validate(caps)


def exit_code(run: Run, strict: bool) -> int:
    """0 for proven, and for plausible unless told to be strict; 1 for the rest."""
    return 0 if run.verdict == "proven" or (run.verdict == "plausible" and not strict) else 1
