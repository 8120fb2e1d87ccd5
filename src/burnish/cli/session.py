"""One run at the command line: who reads its events, who answers, and what is said when it is left early."""

import math
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from burnish.agent.limits import Limits
from burnish.cli.lines import print_line
from burnish.cli.models import show_fetching
from burnish.cli.screen import Screen
from burnish.errors import SetupProblem
from burnish.events import BaseEvent, RunStarted
from burnish.model_choice import Choice
from burnish.models.model import Model
from burnish.models.names import ChosenModels, open_models
from burnish.runs import Run, Watch

EXAMPLES = {"seconds": "3600", "dollars": "1"}


class Session:
    """What write, fix and resume share. Left by Ctrl-C, it says how to go on with the run, once there is one.

    `events` are read by a program, else by a person, or with `quiet` by nobody; `run_id` is a run that goes on.
    """

    def __init__(self, verbose: bool, events: bool, quiet: bool, run_id: str = "") -> None:
        self.quiet = quiet
        self.screen = None if quiet or events else Screen(verbose)
        self._reader: Watch | None = self.screen.watch if self.screen else print_line if events else None
        self._silent = quiet or events
        self._run_id = run_id

    def watch(self, event: BaseEvent) -> None:
        """Hand the event to its reader; the first one says which run this is."""
        if isinstance(event, RunStarted):
            self._run_id = event.run_id
        if self._reader:
            self._reader(event)

    def models(self, who: Choice | str) -> tuple[Model, ...]:
        """The models, their weights fetched under a progress bar if they are not here yet."""
        who = Choice(names=who) if isinstance(who, str) else who
        if self._silent:
            opened = open_models(who.names)
        else:
            with show_fetching() as progress:
                opened = open_models(who.names, progress)
        return ChosenModels(opened, who.why) if who.why else opened

    def goodbye(self, run: Run) -> None:
        """Where the files are, what it cost, and where to look next."""
        if self.quiet:
            print(run.folder)
        elif self.screen:
            self.screen.goodbye(run)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.screen:
            self.screen.close()
        if isinstance(error, KeyboardInterrupt):
            further = f"What was done is kept; go on with: burnish resume {self._run_id}"
            print(f"burnish: Stopped. {further if self._run_id else 'No run had begun.'}", file=sys.stderr)


def limits(**caps: float | None) -> Limits:
    """The caps as typed. What is a number to Python and no limit (nan, inf) is refused."""
    for name, cap in caps.items():
        if cap is not None and not math.isfinite(cap):
            raise SetupProblem(f"{cap} {name} is no limit. Type a number, e.g.: --{name} {EXAMPLES.get(name, '5')}")
    return Limits.model_validate(caps)


def exit_code(run: Run, strict: bool) -> int:
    """0 for proven, and for plausible unless told to be strict; 1 for the rest."""
    return 0 if run.verdict == "proven" or (run.verdict == "plausible" and not strict) else 1


def here() -> Path:
    """The current folder, as long as there is one."""
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise SetupProblem("The current folder has been deleted. Go to one that exists: cd ~") from error
