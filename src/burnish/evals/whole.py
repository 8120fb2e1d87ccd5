"""What is said where the folder of an evaluation cannot be written."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from burnish.errors import SetupProblem


@contextmanager
def writable(folder: Path) -> Iterator[None]:
    """What goes wrong with the disk meanwhile is something the user can put right."""
    try:
        yield
    except OSError as error:
        raise SetupProblem(
            f"The evaluation in {str(folder)!r} cannot be written ({error.strerror}). What was finished is kept. "
            f"Make room, or choose another place: --out DIR"
        ) from error
