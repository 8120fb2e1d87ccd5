"""One setting changed: one line of the file, and nothing else in it. A value that cannot be is refused by its name."""

import json
import re
import shlex
from difflib import get_close_matches
from pathlib import Path

from burnish.config.file import path, read, text
from burnish.config.settings import BUILT_IN, MEANINGS, TAKEN, Provider, Services, looks_secret
from burnish.errors import SetupProblem
from burnish.places import make_private
from burnish.whole import PRIVATE, write_whole

FLAT = ("model", "may_spend")
KEYS = (
    *FLAT,
    *(f"models.NAME.{name}" for name in Provider.model_fields),
    *(f"checks.{name}" for name in Services.model_fields),
)
"""What may stand in the file, beside context.MODEL."""
EXAMPLES = {
    "model": "auto",
    "may_spend": "false",
    "kind": "openai",
    "base_url": "http://127.0.0.1:8000/v1",
    "advisories_url": "http://127.0.0.1:8080/v1/query",
    "index_url": "http://127.0.0.1:8080/simple",
    "key_env": "MY_KEY",
    "continues": "true",
    "thinking": "4096",
    "free": "true",
    "context.MODEL": "8192",
}
"""A value that each may have."""
ADDRESS_FIRST = "a server of your own begins with its address"


def put(key: str, value: str) -> Path:
    """Set one key in the file, and leave all else in it as it is. Raises SetupProblem for what it cannot hold."""
    table, name = _split(key)
    if looks_secret(name, value):
        raise SetupProblem(
            f"The value for {key} looks like a key, and keys are kept in the environment only. Name the variable that"
            f" holds it instead: burnish config set {table or 'models.openai'}.key_env MY_KEY"
        )
    new = _with(text(), table, name, _written(key, value))
    _check(new, key, value)
    if not path().parent.exists():
        make_private(path().parent)
    write_whole(path(), new.encode(), PRIVATE)
    return path()


def _check(new: str, key: str, value: str) -> None:
    """Raise SetupProblem where the new text cannot be read; a file that was wrong before is told of as such."""
    try:
        read(new)
        right = f"{key}{value}".isprintable()
    except SetupProblem:
        right = False
    if not right:
        read(text())
        raise _refused(key, value)


def _refused(key: str, value: str) -> SetupProblem:
    table, name = _split(key)
    provider = table.removeprefix("models.") if table.startswith("models.") else ""
    if provider and (why := _no_server(provider, name)):
        own = provider if why == ADDRESS_FIRST else "lab"
        type_this = f"models.{own}.base_url {EXAMPLES['base_url']}"
        return SetupProblem(f"{key} cannot be set: {why}. Nothing was changed. Type: burnish config set {type_this}")
    kind = "context.MODEL" if table == "context" else name
    shown = "This" if name.endswith("_url") and "@" in value else repr(value)  # it may hold a password
    return SetupProblem(
        f"{shown} cannot be the value of {key}: {MEANINGS[kind]}. Nothing was changed. Type:"
        f" burnish config set {shlex.quote(key)} {EXAMPLES[kind]}"
    )


def _no_server(provider: str, name: str) -> str:
    """Why a server of this name cannot have this setting, whatever its value; empty where it can."""
    if provider in TAKEN or not re.fullmatch(r"\w+", provider, re.ASCII):
        return f"{provider!r} cannot be the name of a server of your own"
    if provider in BUILT_IN:
        return f"{provider!r} speaks its own protocol; give your server another name" if name == "kind" else ""
    return ADDRESS_FIRST if name != "base_url" and provider not in read(text()).models else ""


def _split(key: str) -> tuple[str, str]:
    """The table and the name in it: a model's name may have dots of its own."""
    parts = key.split(".")
    if key in FLAT:
        return "", key
    if parts[0] == "context" and len(parts) > 1:
        return "context", key.partition(".")[2].strip("\"'")
    if parts[0] == "models" and len(parts) == 3 and parts[2] in Provider.model_fields:
        return f"models.{parts[1]}", parts[2]
    if parts[0] == "checks" and len(parts) == 2 and parts[1] in Services.model_fields:
        return "checks", parts[1]
    near = get_close_matches(key, [known.replace("NAME", parts[1] if parts[1:] else "NAME") for known in KEYS], n=1)
    raise SetupProblem(
        f"There is no setting {key!r}. Settings are {', '.join(KEYS)} and context.MODEL. Type:"
        f" burnish config set {near[0] if near else 'model'} VALUE"
    )


def _written(key: str, value: str) -> str:
    """A value as TOML writes it."""
    if (key.startswith("context.") or key.endswith(".thinking")) and value.isdigit():
        return value
    if (key == "may_spend" or key.endswith((".continues", ".free"))) and value in ("true", "false"):
        return value
    return json.dumps(value, ensure_ascii=False)


def _with(words: str, table: str, name: str, value: str) -> str:
    """The text with one line changed or added, in its table."""
    quoted = name if re.fullmatch(r"[\w-]+", name) else json.dumps(name)
    lines = words.splitlines()
    heads = [place for place, line in enumerate(lines) if line.strip().startswith("[")]
    start = next((place + 1 for place in heads if lines[place].split("#")[0].strip() == f"[{table}]"), None)
    if not table:
        start = 0
    if start is None:
        return "\n".join([*lines, *([""] if lines else []), f"[{table}]", f"{quoted} = {value}", ""])
    end = next((place for place in heads if place >= start), len(lines))
    for place in range(start, end):
        if lines[place].partition("=")[0].strip().strip("\"'") == name:
            return "\n".join([*lines[:place], f"{quoted} = {value}", *lines[place + 1 :], ""])
    return "\n".join([*lines[:start], f"{quoted} = {value}", *lines[start:], ""])
