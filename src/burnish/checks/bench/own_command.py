"""Reads the command by which a project runs its own tests: in tox, nox, hatch, pdm or a Makefile.

Files are read and never run. Only a command that is plainly pytest, with words that mean the same here, is taken; of
any other the text is kept, so that a report can say what was not followed.
"""

import ast
import configparser
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from burnish.checks.bench.project_finder import full_path, read_pytest_option
from burnish.checks.project import OwnCommand, Project, tool_table
from burnish.parsing import try_parse

LARGEST_BYTES = 1_000_000
TESTS = ("test", "tests", "check", "unittest", "pytest")
"""What a target, a session or a script that runs the tests is called."""
MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
PYTEST = ("pytest", "py.test")
POSARGS = re.compile(r"\{+(?:posargs|args)(?::([^{}]*))?\}+|\$\(?\{?(?:PYTEST_ARGS|PYTESTFLAGS|ARGS|TESTS?)\}?\)?")
HERE = re.compile(r"(?:\{(?:toxinidir|tox_root|root)\}|\$\(CURDIR\))(?:\{/\}|/)?")
UNREADABLE = re.compile(r"[{}$`|&;<>]")
SHOWN = re.compile(
    r"-[qvslxd]+|-r\w*|-n\w*|--(?:cov|junit|html|tb|color|durations|verbose|quiet|capture|basetemp|maxfail|exitfirst|"
    r"showlocals|show-capture|numprocesses|dist|no-header|no-summary|no-cov|cache-clear|full-trace|log-cli|json-report|"
    r"instafail|failed-first|ff|lf|last-failed|new-first|nf|random|benchmark|codspeed|report-log)\b.*"
)
"""Options of pytest that change what is shown or how fast it goes, and not which tests there are."""
WITH_VALUE = ("-n", "--tb", "--color", "--basetemp", "--maxfail", "--durations", "--junitxml", "--cov", "--cov-report")
"""Those of them whose value may be the next word."""
KEPT_WITH_VALUE = (
    *("-m", "-k", "-p", "-W", "-o", "-c"),
    *("--ignore", "--ignore-glob", "--deselect", "--import-mode", "--doctest-glob"),
)


class StatedCommand(NamedTuple):
    """A command that tests the project, and where it stands; words that could not be read are None."""

    place: str
    text: str
    words: tuple[str, ...] | None


def follow_own_command(project: Project, paths: Sequence[str | Path], named_tests: bool) -> Project:
    """The project as its own command tests it, where all of it is asked about; else with the same settings.

    Examples in docstrings count where the project runs them itself, and where there is nothing else.
    """
    whole = (project.root, project.root / "src")
    is_whole = not named_tests and any(full_path(Path(path)) in whole for path in paths)
    own = find_own_command(project.root) if is_whole else OwnCommand()
    runs_examples = "--doctest-modules" in read_pytest_option(project.root, "addopts")
    return project.model_copy(update={"own": own, "examples": is_whole or runs_examples or not project.tests})


def find_own_command(root: Path) -> OwnCommand:
    """What the first file that names a test command says; plain `pytest` where none does."""
    for read in (_read_tox, _read_nox, _read_scripts, _read_makefile):
        with suppress(OSError, ValueError, AttributeError, TypeError, configparser.Error, RecursionError):
            if found := list(dict.fromkeys(read(root))):
                place, text, words = found[0]
                if len(found) == 1 and words is not None:
                    # A word that is no option, nor the value of one, must be a path in the project.
                    pairs = zip(("", *words), words, strict=False)
                    free = [word for before, word in pairs if before not in KEPT_WITH_VALUE and word[:1] != "-"]
                    if all((root / word.partition("::")[0]).exists() for word in free):
                        return OwnCommand(collects=True, words=words, source=place)
                return OwnCommand(collects=True, source=place, unread=text)
    return OwnCommand(collects=True)


def parse_command(text: str, place: str) -> StatedCommand | None:
    """A line of a shell or of tox that runs pytest; None for any other."""
    plain = HERE.sub("./", POSARGS.sub(lambda found: found[1] or "", text)).strip().removeprefix("-").lstrip("@ ")
    try:
        words = shlex.split(plain)
    except ValueError:
        words = plain.split()
    at = next((n for n, word in enumerate(words) if word.rpartition("/")[2] in PYTEST), None)
    if at is None or "install" in words[:at]:
        return None
    words, kept = words[at + 1 :], list[str]()
    for before, word in zip(("", *words), words, strict=False):
        shown = SHOWN.fullmatch(word) and not word.startswith(("-m", "-k", "-p"))
        if not shown and (before not in WITH_VALUE or word.startswith("-")):
            kept.append(word.removeprefix("./") or ".")
    return StatedCommand(place, text.strip(), None if UNREADABLE.search(" ".join(kept)) else tuple(kept))


def _read_text(file: Path) -> str:
    """A file of the project; empty for what is none, or too large to be one."""
    return file.read_text("utf-8") if file.is_file() and file.stat().st_size < LARGEST_BYTES else ""


def _read_tox(root: Path) -> Iterator[StatedCommand]:
    """The commands of `testenv` in tox.ini, setup.cfg or pyproject.toml."""
    table = tool_table(root).get("tox", {})
    texts = {"tox.ini": _read_text(root / "tox.ini"), "pyproject.toml": str(table.get("legacy_tox_ini", ""))}
    for name, text in texts.items():
        config = configparser.ConfigParser(interpolation=None)
        config.read_string(text)
        lines = config.get("testenv", "commands", fallback="").replace("\\\n", " ")
        yield from _parse_lines(lines.splitlines(), f"{name} [testenv]")
    commands = table.get("env_run_base", {}).get("commands", [])
    for words in (words for words in commands if all(isinstance(word, str) for word in words)):
        yield from _parse_lines([shlex.join(words)], "pyproject.toml tool.tox")


def _read_scripts(root: Path) -> Iterator[StatedCommand]:
    """Scripts of hatch and pdm that are named after tests."""
    tools = tool_table(root)
    tables: dict[str, Mapping[str, Any]] = {
        f"tool.hatch.envs.{name}": environment.get("scripts", {})
        for name, environment in tools.get("hatch", {}).get("envs", {}).items()
    }
    tables["tool.pdm.scripts"] = tools.get("pdm", {}).get("scripts", {})
    for place, scripts in tables.items():
        for name in (name for name in TESTS if name in scripts):
            said = scripts[name].get("cmd", "") if isinstance(scripts[name], dict) else scripts[name]
            yield from _parse_lines(said if isinstance(said, list) else [str(said)], f"pyproject.toml {place}")
            return


def _read_makefile(root: Path) -> Iterator[StatedCommand]:
    """The lines below a target that is named after tests."""
    target = ""
    name = next((name for name in MAKEFILES if (root / name).exists()), MAKEFILES[0])
    for line in _read_text(root / name).replace("\\\n", " ").splitlines():
        if found := re.match(r"([\w.-]+)\s*:(?!=)", line):
            target = found[1]
        elif line.startswith("\t") and target in TESTS:
            yield from _parse_lines([line], f"{name} {target}")


def _parse_lines(lines: Sequence[str], place: str) -> Iterator[StatedCommand]:
    yield from (found for line in lines if (found := parse_command(line, place)))


def _read_nox(root: Path) -> Iterator[StatedCommand]:
    """What sessions that are named after tests run."""
    tree = try_parse(_read_text(root / "noxfile.py"))
    sessions = [
        node for node in (tree.body if tree else ()) if isinstance(node, ast.FunctionDef) and node.name in TESTS
    ]
    for session in sessions:
        for node in ast.walk(session):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "run":
                words = [word for argument in node.args for word in _read_argument(argument)]
                yield from _parse_lines([shlex.join(words)], f"noxfile.py {session.name}")


def _read_argument(node: ast.expr) -> list[str]:
    """The words of one argument; one that is made at run time is kept as `$`, which no command may hold."""
    match node:
        case ast.Constant(value=str(word)):
            return [word]
        case ast.Starred(value=ast.Attribute(attr="posargs")):
            return []
        case ast.Starred(value=ast.BoolOp(values=[_, ast.List(elts=words) | ast.Tuple(elts=words)])):
            return [word for one in words for word in _read_argument(one)]
    return ["$"]
