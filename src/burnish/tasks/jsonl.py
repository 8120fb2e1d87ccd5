"""A suite of the user's own: one JSON object a line. docs/suites.md is its description; a bad row is named."""

import ast
import difflib
import json
import keyword
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from burnish.errors import SetupProblem
from burnish.parsing import parse, try_parse
from burnish.tasks.task import Task

NEEDED = ("prompt", "entry_point", "hidden_tests")
OPTIONAL = ("id", "signature", "buggy", "visible_tests", "gold", "prelude", "bug")
TESTS = ("visible_tests", "hidden_tests")
EXAMPLE = (
    '{"prompt": "Double a number.", "entry_point": "double", "visible_tests": ["assert double(2) == 4"], '
    '"hidden_tests": ["assert double(0) == 0", "assert double(-3) == -6"]}'
)


def load_jsonl(path: Path) -> list[Task]:
    """The tasks of a file, in order. Raises SetupProblem that names the row and the field that is wrong."""
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SetupProblem(
            f"The suite {str(path)!r} cannot be read: {error}. Each line should be like: {EXAMPLE}"
        ) from error
    tasks = [_task(path, number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not tasks:
        raise SetupProblem(f"The suite {str(path)!r} holds no row. Write at least one line like: {EXAMPLE}")
    seen: set[str] = set()
    for task in tasks:
        if task.id in seen:
            raise SetupProblem(f"The suite {str(path)!r} has two tasks with the id {task.id!r}. Give each its own id.")
        seen.add(task.id)
    return tasks


def _task(path: Path, number: int, line: str) -> Task:
    try:
        row = json.loads(line)
        json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise _wrong_row(path, number, "holds half a character (a lone surrogate)") from error
    except (ValueError, RecursionError) as error:
        raise _wrong_row(path, number, f"is not JSON ({error})") from error
    if not isinstance(row, dict):
        raise _wrong_row(path, number, f"is a {type(row).__name__}, expected an object")
    for flaw in _flaws(row):
        raise _wrong_row(path, number, flaw)
    return Task(
        id=row.get("id", f"{path.stem}-{number}"),
        prompt=row["prompt"],
        entry_point=row["entry_point"],
        signature=row.get("signature", ""),
        base_code=row.get("buggy", ""),
        prelude=row.get("prelude", ""),
        visible_tests=tuple(split_tests(row.get("visible_tests", []))),
        hidden_tests=_join_tests(row["hidden_tests"]),
        gold=row.get("gold", ""),
        bug=row.get("bug", ""),
        split="eval",
    )


def _flaws(row: dict[str, Any]) -> Iterator[str]:
    """What is wrong with a row, the first thing first; each may be read only if nothing came before it."""
    for field in row:
        if field not in NEEDED + OPTIONAL:
            near = difflib.get_close_matches(field, NEEDED + OPTIONAL, 1, 0.5)
            yield f"has an unknown field {field!r}" + (f", did you mean {near[0]!r}?" if near else "")
    for field in NEEDED:
        if field not in row:
            yield f"lacks the field {field!r}"
    for field, value in row.items():
        is_list = isinstance(value, list) and all(isinstance(item, str) for item in value)
        if not isinstance(value, str) and not (field in TESTS and is_list):
            expected = "a text or a list of texts" if field in TESTS else "a text"
            yield f"has {field!r} of type {type(value).__name__}, expected {expected}"
        if field in ("prompt", "id") and not value.strip():
            yield f"has an empty {field!r}"
    if not row["entry_point"].isidentifier() or keyword.iskeyword(row["entry_point"]):
        yield f"has an 'entry_point' {row['entry_point']!r} that is no Python name"
    for field in TESTS:
        if field in row and try_parse(_join_tests(row[field])) is None:
            yield f"has {field!r} that do not parse as Python"
    if not _join_tests(row["hidden_tests"]).strip():
        yield "has empty 'hidden_tests': nothing would score it"


def split_tests(tests: str | list[str]) -> list[str]:
    """Test bodies: a list as it is, a text of asserts one by one, any other text as one."""
    if isinstance(tests, list):
        return tests
    nodes = parse(tests).body
    if all(isinstance(node, ast.Assert) for node in nodes):
        return [ast.get_source_segment(tests, node) or "" for node in nodes]
    return [tests]


def _join_tests(tests: str | list[str]) -> str:
    return tests if isinstance(tests, str) else "\n".join(tests) + "\n"


def _wrong_row(path: Path, number: int, flaw: str) -> SetupProblem:
    return SetupProblem(f"Row {number} of {str(path)!r} {flaw}. A row looks like this: {EXAMPLE}")
