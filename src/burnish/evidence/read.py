"""Reads `evidence.json` as what it is: a file from anybody. What is wrong with it is said before anything else is done.

The rule: nothing in the file is believed, followed or run before its size, form, version and seal are right.
"""

import json
import math
import os
import stat
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from burnish.errors import SetupProblem
from burnish.evidence.form import FILE, FORMAT, VERSION, Dossier
from burnish.text import one_line

MOST_BYTES = 8 * 1024 * 1024
MOST_DIGITS = 20
DEEPEST = 12
AGAIN = "Ask for the folder as `burnish write` made it, or look at the code alone: burnish check"


def read_bytes(path: Path, most: int = MOST_BYTES) -> bytes:
    """A regular file, read once and never through a link; ValueError says why not."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise ValueError("is a link" if path.is_symlink() else error.strerror or "cannot be read") from error
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise ValueError("is not a regular file")
    with os.fdopen(handle, "rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise ValueError(f"is larger than {most // 1024 // 1024} MB")
    return data


def read_raw(folder: Path) -> dict[str, Any]:
    """What the file holds, as plain data of the right version. SetupProblem for anything else."""
    if not (folder / FILE).is_symlink() and not (folder / FILE).exists():
        raise SetupProblem(
            f"There is no {FILE} in {str(folder)!r}, so there is nothing to verify. `burnish write` puts one into "
            f"the folder that it delivers. To look at the code alone, type: burnish check {folder}"
        )
    try:
        data = _parsed(read_bytes(folder / FILE))
    except ValueError as error:
        raise _useless(one_line(str(error), 200)) from error
    _must_be_ours(data)
    return data


def read_form(data: dict[str, Any]) -> Dossier:
    """The data in its form, strictly: no field too many, none of the wrong kind."""
    try:
        dossier = Dossier.model_validate_json(json.dumps(data), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise _useless(f"has a wrong {one_line(where, 80)!r}: {one_line(first['msg'], 160)}") from error
    if {*dossier.files} != {*dossier.delivered}:
        odd = sorted({*dossier.files} ^ {*dossier.delivered})[0]
        raise _useless(f"lists other files than Burnish delivers ({one_line(odd, 80)})")
    return dossier


def _parsed(data: bytes) -> dict[str, Any]:
    try:
        found = json.loads(
            data.decode("utf-8"),
            parse_int=_whole,
            parse_float=_number,
            parse_constant=_no_number,
            object_pairs_hook=_each_once,
        )
    except UnicodeDecodeError as error:
        raise ValueError("is not text") from error
    except RecursionError as error:
        raise ValueError("is nested too deeply") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"is not JSON: {error.msg} in line {error.lineno}") from error
    if not isinstance(found, dict):
        raise ValueError("is not an object")
    _must_be_shallow(found)
    return found


def _must_be_shallow(data: object) -> None:
    level = [data]
    for _ in range(DEEPEST):
        level = [
            part
            for one in level
            if isinstance(one, dict | list)
            for part in (one.values() if isinstance(one, dict) else one)
        ]
    if level:
        raise ValueError("is nested too deeply")


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("says something twice")
    return found


def _whole(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise ValueError("holds a number that is too large")
    return int(text)


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("holds a number that is too large")
    return value


def _no_number(text: str) -> float:
    raise ValueError(f"holds {text}, which is no number")


def _must_be_ours(data: dict[str, Any]) -> None:
    version = data.get("version")
    if data.get("format") != FORMAT or not isinstance(version, int) or isinstance(version, bool):
        raise _useless(f"does not begin as evidence does (format {FORMAT!r} and a version)")
    if version > VERSION:
        raise SetupProblem(
            f"{FILE} was made by a newer Burnish (its form is version {version}, this one reads up to {VERSION}). "
            "Update Burnish to verify it: git pull"
        )
    if version < 1:
        raise _useless(f"has a version that never was: {version}")


def _useless(why: str) -> SetupProblem:
    return SetupProblem(f"{FILE} {why}, so nothing of it can be believed, and nothing was run. {AGAIN} FOLDER")
