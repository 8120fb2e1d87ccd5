"""What is checked: code and its tests as they lie on disk. Nothing of it is ever changed."""

from pathlib import Path

from burnish.checks.settings import Settings
from burnish.events import Frozen
from burnish.parsing import decode_source


class Project(Frozen):
    """A folder, the files in it that are judged, and the tests that judge them. Paths are relative to the root."""

    root: Path
    sources: tuple[Path, ...]
    """Python files, tests not among them."""
    tests: tuple[Path, ...] = ()
    """Files and folders with tests; empty when there are none but doctests in the sources."""
    python: Path
    """The interpreter that has the project's packages."""
    has_environment: bool = False
    """Whether that is one that somebody named, or one of an environment that was found; it may be ours too."""
    test_command: tuple[str, ...] = ()
    """In place of pytest, unittest and doctest; its exit code decides."""
    generated: bool = False
    """Written by a model: the rules for such code hold, whatever the settings say."""
    examples: bool = True
    """Whether examples in the docstrings of the sources are tests too."""
    settings: Settings = Settings()
    layer: Path | None = None
    """A folder with packages that its code may import; only for one that is `alone`."""
    alone: bool = False
    """Whether it has no environment of its own: nothing is importable but itself, pytest, and the layer."""
    named: tuple[str, ...] = ()
    """Packages that the user asked for by name, so that generated code may go online with them."""
    skipped: tuple[Path, ...] = ()
    """Files that are called Python but are not text; nothing judges them."""
    foreign: tuple[Path, ...] = ()
    """Files that Python imports and that are not taken, such as those in another encoding; nothing judges them."""

    def text(self, source: Path) -> str:
        """A file of the project, as Python reads it. Raises OSError, and SyntaxError for one that is not taken."""
        return decode_source((self.root / source).read_bytes()).replace("\r\n", "\n")
