"""The file itself: where it is, and what it says. What is wrong in it is said with its line."""

import os
import re
import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from burnish.config.settings import MEANINGS, Config, Provider, Services, looks_secret
from burnish.errors import SetupProblem
from burnish.events import Frozen


def path() -> Path:
    """Where the file is, whether it exists or not; `BURNISH_CONFIG` names another one."""
    named = os.environ.get("BURNISH_CONFIG")
    if named:
        return Path(named).expanduser().absolute()
    import platformdirs

    return Path(platformdirs.user_config_dir("burnish", appauthor=False)) / "config.toml"


def load() -> Config:
    """What the file says; nothing where there is none. Raises SetupProblem with the line that is wrong."""
    return read(text())


def text() -> str:
    """The file as it stands; empty where there is none."""
    try:
        return path().read_text("utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise SetupProblem(f"The file {path()} cannot be read ({error}). Look at it: ls -l {path()}") from error


def read(words: str) -> Config:
    """The settings in a text."""
    try:
        data = tomllib.loads(words)
    except tomllib.TOMLDecodeError as error:
        raise _wrong(str(error)) from error
    _no_secrets(data, words)
    try:
        return Config.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise _wrong(_explained(first, words)) from None


def _no_secrets(data: dict[str, Any], words: str) -> None:
    for key, value in data.items():
        if isinstance(value, dict):
            _no_secrets(value, words)
        elif isinstance(value, str) and looks_secret(key, value):
            raise _wrong(f"{_place(key, words)}{key} looks like a key, and keys are kept in the environment only")


def _explained(error: Any, words: str) -> str:
    where = [str(part) for part in error["loc"]]
    key = where[-1] if where else ""
    if error["type"] == "extra_forbidden":
        tables: dict[str, type[Frozen]] = {"models": Provider, "checks": Services}
        known = list(tables.get(where[0], Config).model_fields)
        near = get_close_matches(key, known, n=1, cutoff=0.5)
        hint = f"perhaps {near[0]!r} was meant" if near else f"known are {', '.join(known)}"
        return f"{_place(key, words)}there is no key {key!r}; {hint}"
    own = str(error["msg"]).removeprefix("Value error, ")
    meaning = MEANINGS.get("context.MODEL" if where[0] == "context" and where[1:] else key, own)
    return f"{_place(key, words)}{'.'.join(where)}: {meaning if own == error['msg'] else own}"


def _place(key: str, words: str) -> str:
    quoted = re.escape(key)
    for number, line in enumerate(words.splitlines(), 1):
        if re.match(rf"""\s*(?:["']?{quoted}["']?\s*=|\[(?:\w+\.)*{quoted}\])""", line):
            return f"line {number}: "
    return ""


def _wrong(why: str) -> SetupProblem:
    return SetupProblem(f"The settings in {path()} cannot be used: {why}. Mend them: ${{EDITOR:-nano}} {path()}")
