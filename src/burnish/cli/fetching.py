"""What a person sees while weights are fetched."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from burnish.models.names import Progress


@contextmanager
def fetching() -> Iterator["Progress"]:
    """A bar that appears with the first byte; where there is no terminal, one line a source. Always on stderr."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    console = Console(stderr=True, highlight=False)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        said: str | None = None

        def progress(done: int, total: int, source: str) -> None:
            nonlocal said
            if source != said:
                said = source
                for old in bar.task_ids:
                    bar.remove_task(old)
                bar.add_task(source, total=total)
                if source and not console.is_terminal:
                    print(f"burnish: weights: {source}", file=sys.stderr)
            bar.update(bar.task_ids[0], completed=done)

        yield progress
