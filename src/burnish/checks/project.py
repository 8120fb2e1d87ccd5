"""What is checked, and what is enough: code and its tests as they lie on disk, with thresholds and required checks.

Nothing of a project is ever changed. Its settings are `[tool.burnish]` in its pyproject.toml.
"""

import difflib
import json
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import Field, ValidationError, field_validator

from burnish.config import CheckServices
from burnish.errors import SetupProblem
from burnish.events import Frozen
from burnish.parsing import decode_source, try_parse
from burnish.tasks.source import find_definition, line_span

CHECKS = ("tests", "coverage", "mutation", "security", "dependencies", "quality", "performance")
"""All checks, in the order they run and are shown."""
Severities = Literal["low", "medium", "high"]
Growth = Literal["constant", "log", "linear", "n log n", "quadratic", "worse"]


class Settings(Frozen):
    """The thresholds of one project; the defaults are what we would ask of our own code."""

    required: tuple[str, ...] = ("tests", "coverage", "mutation", "security", "quality")
    """Checks that must pass; one of these that could not be run has not passed."""
    must_not_fail: tuple[str, ...] = ("dependencies",)
    """Checks that decide where they fail, and only inform where they could not be run. All others are only shown."""
    coverage: float = Field(default=80.0, ge=0, le=100, allow_inf_nan=False)
    """Lines and branches that the tests run, in percent."""
    mutation: float = Field(default=60.0, ge=0, le=100, allow_inf_nan=False)
    """Mutants that the tests notice, in percent."""
    mutation_seconds: float = Field(default=60.0, gt=0, allow_inf_nan=False)
    """How long mutants are tried; what is left then is counted as not tried."""
    mutants: int | None = Field(default=None, ge=1)
    """How many mutants are tried at most, those of changed code first; None: as many as the time allows."""
    quality: float = Field(default=60.0, ge=0, le=100, allow_inf_nan=False)
    """The score from 0 to 100."""
    severity: Severities = "medium"
    """Security findings of this severity and above fail the check: low, medium or high."""
    growth: Growth = "quadratic"
    """The worst growth of time that passes: constant, log, linear, n log n, quadratic or worse."""
    test_seconds: float = Field(default=600.0, gt=0, allow_inf_nan=False)
    """How long one run of the whole test suite may take."""
    network: bool = False
    """Whether the code may open connections."""
    newest_days: int = Field(default=14, ge=0)
    """A dependency whose first release is younger than this is a finding."""

    @field_validator("required", "must_not_fail")
    @classmethod
    def _known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if name not in CHECKS:
                raise ValueError(f"there is no check {name!r}{nearest(name, CHECKS)}; choose from {', '.join(CHECKS)}")
        return tuple(dict.fromkeys(names))


class OwnCommand(Frozen):
    """How the project's own command tests it."""

    collects: bool = False
    """Whether all of it is asked about: then pytest collects what the project's settings say, and no list of ours."""
    words: tuple[str, ...] = ()
    """What the command says to pytest besides the settings."""
    source: str = ""
    """The file and place where the command stands; empty where none names one."""
    unread: str = ""
    """The command as it stands there, where it is not followed; what pytest collects by itself is run in its place."""


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
    own: OwnCommand | None = None
    """Set where tests and coverage are to be those that the project's own command and settings make them."""
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
    functions: tuple[str, ...] = ()
    """The only functions of the sources that are judged, by their dotted names; empty: all there is."""
    chosen: tuple[str, ...] = ()
    """The only tests that count, by pytest's ids; empty: all."""

    def text(self, source: Path) -> str:
        """A file of the project, as Python reads it. Raises OSError, and SyntaxError for one that is not taken."""
        return decode_source((self.root / source).read_bytes()).replace("\r\n", "\n")

    def is_judged(self, source: str, line: int) -> bool:
        """Whether a line of a file is judged: it is in one of the functions that are, where only some are."""
        return not self.functions or any(first < line <= last for first, last in _find_spans(self, Path(source)))


@lru_cache(maxsize=64)
def _find_spans(project: Project, source: Path) -> list[tuple[int, int]]:
    """Where the functions that are judged lie in a file, if they do."""
    module = try_parse(project.text(source))
    return [line_span(node) for name in project.functions if (node := find_definition(module, name))]


def read_settings(root: Path) -> Settings:
    """The project's settings; the defaults where it has none. SetupProblem names the key and what it may be."""
    table = tool_table(root).get("burnish", {})
    if not isinstance(table, dict):
        raise SetupProblem("`tool.burnish` in pyproject.toml must be a table. Begin it with a line: [tool.burnish]")
    for key in table:
        if key in CheckServices.model_fields:
            raise SetupProblem(
                f"[tool.burnish] in pyproject.toml has a key {key!r}, and a project does not decide which servers are "
                f"asked. Take it out, and if you want that server, type: burnish config set checks.{key} ADDRESS"
            )
        if key not in Settings.model_fields:
            known = tuple(Settings.model_fields)
            raise SetupProblem(
                f"[tool.burnish] in pyproject.toml has a key {key!r} that Burnish does not know{nearest(key, known)}. "
                f"Use one of: {', '.join(known)}."
            )
    try:
        return Settings.model_validate_json(json.dumps(table, default=str), strict=True)
    except ValidationError as error:
        lines = []
        for wrong in error.errors():
            key, why = ".".join(map(str, wrong["loc"])), wrong["msg"].removeprefix("Value error, ")
            lines.append(f"`{key} = {json.dumps(wrong['input'])}` cannot be: {why}.")
        raise SetupProblem(
            f"[tool.burnish] in pyproject.toml: {' '.join(lines)} Put that right and try again."
        ) from error
    except ValueError as error:  # a hexadecimal number may be as long as it likes, until it is to be written
        why = "it holds a number of more digits than Python writes."
        raise SetupProblem(f"[tool.burnish] in pyproject.toml: {why} Put that right and try again.") from error


def tool_table(root: Path) -> Mapping[str, Any]:
    """`[tool]` of the root's pyproject.toml; empty where there is none."""
    file = root / "pyproject.toml"
    if not file.exists():
        return {}
    try:
        if not file.is_file():  # reading a pipe would never end
            raise OSError("it is not a file")
        table = tomllib.loads(file.read_text(encoding="utf-8")).get("tool", {})
    except tomllib.TOMLDecodeError as error:
        raise SetupProblem(f"{file} is not TOML: {error}. Put that right and try again.") from None
    except (OSError, UnicodeDecodeError, RecursionError) as error:
        raise SetupProblem(f"{file} cannot be read: {error}. Put that right and try again.") from None
    except ValueError:  # only of numbers, and its own words are about a setting of Python's
        why = "it holds a number of more digits than Python reads"
        raise SetupProblem(f"{file} cannot be read: {why}. Put that right and try again.") from None
    return cast(Mapping[str, Any], table) if isinstance(table, dict) else {}


def nearest(name: str, known: tuple[str, ...]) -> str:
    """A hint at the known name that was probably meant, or nothing."""
    close = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
