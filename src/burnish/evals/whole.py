"""Files that are there whole or not at all, whatever happens while they are written."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from burnish.errors import SetupProblem
from burnish.places import write_private


def write_whole(path: Path, content: bytes) -> None:
    """Write beside the file, make it last, then give it its name; a reader sees the old content or the new."""
    beside = path.with_name(path.name + ".tmp")
    write_private(beside, content)
    beside.replace(path)


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
