"""An evaluation of cases as a person sees it: a line for each run that is over, then the figures."""

import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol, TypeVar

import typer
from rich.console import Console
from rich.text import Text

from burnish.cli.io import print_json
from burnish.cli.setup import show_fetching
from burnish.evals.case_runs import CaseFolder, CaseWatch
from burnish.evals.runner import TooManyErrors
from burnish.text import one_line, plural, strip_controls


class CaseResults(Protocol):
    """What an evaluation came to."""

    @property
    def errors(self) -> int:
        """Attempts that broke."""
        ...

    @property
    def finished(self) -> int:
        """Attempts that are over."""
        ...

    def text(self) -> str:
        """The words of `results.json`."""
        ...


FolderT = TypeVar("FolderT", bound=CaseFolder[Any, Any])
ResultsT = TypeVar("ResultsT", bound=CaseResults)


class CaseScreen(CaseWatch):
    """A line for each run that is over."""

    def __init__(self, console: Console, describe: Callable[[Any], str]) -> None:
        self._console, self._describe = console, describe
        self._stack = ExitStack()
        self._fetching: Any = None
        self.folder: Any = None

    def on_fetch(self, done: int, total: int, source: str) -> None:
        """A bar, while there is something to fetch."""
        if self._fetching is None:
            self._fetching = self._stack.enter_context(show_fetching())
        self._fetching(done, total, source)

    def on_begin(self, folder: CaseFolder[Any, Any]) -> None:
        """What is measured, and where it is kept."""
        self._stack.close()
        self.folder, plan = folder, folder.plan
        runs = f"{plural(len(plan.case_names), 'case')} × {plural(len(plan.seeds), 'seed')}"
        self._print(f"{plan.model}: {runs}, {plan.at_once} at once. Kept in {folder.path}", "dim")

    def on_finish(self, attempt: Any) -> None:
        """What it came to."""
        said = one_line(attempt.error, 120) or f"{self._describe(attempt)}  {attempt.verdict}"
        line = f"{attempt.case:<15} seed {attempt.seed}  {attempt.seconds:5.0f} s  {attempt.run_id}  {said}"
        self._print(line, "red" if attempt.error else "")

    def _print(self, text: str, style: str = "") -> None:
        self._console.print(Text(strip_controls(text), style), soft_wrap=True)


def show_work(
    work: Callable[[CaseWatch], FolderT],
    write: Callable[[FolderT], ResultsT],
    show: Callable[[Console, ResultsT, Path], None],
    describe: Callable[[Any], str],
    as_json: bool,
) -> None:
    """Do the work of an evaluation on the screen, write its reports, and show them, also where it is cut short."""
    console = Console(highlight=False, stderr=as_json)
    screen = CaseScreen(console, describe)
    try:
        folder = work(screen)
    except (KeyboardInterrupt, TooManyErrors) as error:
        if screen.folder:
            show(console, write(screen.folder), screen.folder.path)
            said = str(error) or f"Stopped. Go on with: burnish eval resume {screen.folder.path.name}"
            print(f"burnish: {strip_controls(said)}", file=sys.stderr, flush=True)
        if isinstance(error, TooManyErrors):
            raise typer.Exit(1) from error
        raise
    results = write(folder)
    show(console, results, folder.path)
    if as_json:
        print_json(results.text())
    raise typer.Exit(1 if results.errors == results.finished else 0)
