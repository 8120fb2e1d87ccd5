"""What a user has decided once and for all: one TOML file, read when it is needed, never a secret in it.

model = "ollama:qwen2.5-coder:7b"        who answers unless --model says otherwise; "auto": choose for me
may_spend = true                         "auto" may choose what costs money, without --dollars too

[models.openai]                          another address, or another variable that holds the key
base_url = "https://…"
key_env = "MY_KEY"

[models.lab]                             a server of one's own: lab:NAME
kind = "openai"
base_url = "http://127.0.0.1:8000/v1"

[context]                                tokens that a model may have in mind, prompt and answer together
"ollama:qwen2.5-coder:7b" = 16384
"""

import json
import os
import re
import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, ValidationError, field_validator

from burnish.errors import SetupProblem
from burnish.events import Frozen

BUILT_IN = ("anthropic", "ollama", "openai")
TAKEN = ("local", "huggingface", "scripted")
"""Names of providers that need no address."""
SECRET = re.compile(
    r"(?:sk|pk|rk|key|ghp|hf|xai|gsk|AIza|glpat)[-_][\w-]{8,}|AIza[\w-]{20,}|(?=\w*\d)(?=\w*[A-Za-z])\w{32,}"
)
"""How keys look: they begin with a few known letters, or are long and mean nothing."""
ADDRESS = r"^$|^https?://[^\s/@?#]+(?:[/?#]\S*)?$"
"""Nobody is named before the host: what would be there is a password, or opens a door without one."""
AN_ADDRESS = (
    "an address is http:// or https://, a host, and a port if it has one of its own (up to 65535); no password is in it"
)


class Provider(Frozen):
    """Where a provider is, and how it is spoken to."""

    kind: Literal["anthropic", "ollama", "openai"] | None = None
    """The protocol of a server of the user's own; OpenAI's unless said."""
    base_url: str = ""
    key_env: str = Field(default="", pattern=r"^$|^[A-Za-z_][A-Za-z0-9_]*$")
    """The environment variable that holds the key; the key itself is nowhere else."""
    continues: bool | None = None
    """Whether the server goes on from an answer that was begun for it; said only where we guess it wrong."""
    thinking: int = Field(default=0, ge=0, le=1_000_000)
    """Tokens for a model's thoughts, beside those of its answer; with 0 it is told not to think, where it can be."""

    @field_validator("base_url")
    @classmethod
    def _is_address(cls, base_url: str) -> str:
        if not is_address(base_url):
            raise ValueError(AN_ADDRESS)
        return base_url


class Config(Frozen):
    """The user's file."""

    model: str = ""
    may_spend: bool = False
    """Whether `auto` may choose a model that costs money where no cap in dollars is set."""
    models: dict[str, Provider] = Field(default_factory=dict)
    context: dict[str, int] = Field(default_factory=dict)

    @field_validator("models")
    @classmethod
    def _has_kinds(cls, models: dict[str, Provider]) -> dict[str, Provider]:
        for name, provider in models.items():
            if name in TAKEN or not re.fullmatch(r"\w+", name):
                raise ValueError(f"{name!r} cannot be the name of a provider")
            if name in BUILT_IN and provider.kind not in (None, name):
                raise ValueError(f"{name!r} speaks its own protocol; give your server another name")
            if name not in BUILT_IN and not provider.base_url:
                raise ValueError(f"a server of your own needs its address: base_url in [models.{name}]")
        return models

    @field_validator("context")
    @classmethod
    def _is_room(cls, context: dict[str, int]) -> dict[str, int]:
        if few := [name for name, tokens in context.items() if tokens < 512]:
            raise ValueError(f"the context of {few[0]!r} is too small to work in; 512 tokens are the least")
        return context


FLAT = ("model", "may_spend")
KEYS = (*FLAT, *(f"models.NAME.{name}" for name in Provider.model_fields))
"""What may stand in the file, beside context.MODEL."""


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


def put(key: str, value: str) -> Path:
    """Set one key in the file, and leave all else in it as it is. Raises SetupProblem for what it cannot hold."""
    table, name = _split(key)
    if looks_secret(name, value):
        raise SetupProblem(
            f"The value for {key} looks like a key, and keys are kept in the environment only. Name the variable that"
            f" holds it instead: burnish config set {table or 'models.openai'}.key_env MY_KEY"
        )
    new = _with(text(), table, name, _written(key, value))
    read(new)
    path().parent.mkdir(parents=True, exist_ok=True)
    fresh = path().with_suffix(".new")
    fresh.write_text(new, "utf-8")
    fresh.replace(path())
    return path()


def _split(key: str) -> tuple[str, str]:
    """The table and the name in it: a model's name may have dots of its own."""
    parts = key.split(".")
    if key in FLAT:
        return "", key
    if parts[0] == "context" and len(parts) > 1:
        return "context", key.partition(".")[2].strip("\"'")
    if parts[0] == "models" and len(parts) == 3 and parts[2] in Provider.model_fields:
        return f"models.{parts[1]}", parts[2]
    near = get_close_matches(key, [known.replace("NAME", parts[1] if parts[1:] else "NAME") for known in KEYS], n=1)
    raise SetupProblem(
        f"There is no setting {key!r}. Settings are {', '.join(KEYS)} and context.MODEL. Type:"
        f" burnish config set {near[0] if near else 'model'} VALUE"
    )


def _written(key: str, value: str) -> str:
    """A value as TOML writes it."""
    if (key.startswith("context.") or key.endswith(".thinking")) and value.isdigit():
        return value
    if (key == "may_spend" or key.endswith(".continues")) and value in ("true", "false"):
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


def _no_secrets(data: dict[str, Any], words: str) -> None:
    for key, value in data.items():
        if isinstance(value, dict):
            _no_secrets(value, words)
        elif isinstance(value, str) and looks_secret(key, value):
            raise _wrong(f"{_place(key, words)}{key} looks like a key, and keys are kept in the environment only")


def looks_secret(key: str, value: str) -> bool:
    """Whether a value may be a key or a password, which must not lie in a file of ours."""
    if key == "base_url":
        return bool(re.search(r"//[^/\s]*:[^/\s]*@", value) or re.search(r"[?&](?:api_?)?key=", value))
    return bool(SECRET.fullmatch(value)) or bool(re.search(r"secret|token|password|api_?key", key))


def is_address(value: str) -> bool:
    """Whether a value may be a server's address, or none at all: it can be read, and nothing in it opens a door."""
    try:
        parts = urlsplit(value)
        has_host = bool(parts.hostname) and parts.port != 0
    except ValueError:  # a bracket that is never closed, a port that is no number
        return False
    return not value or (has_host and bool(re.search(ADDRESS, value)) and not looks_secret("base_url", value))


def _explained(error: Any, words: str) -> str:
    where = [str(part) for part in error["loc"]]
    key = where[-1] if where else ""
    if error["type"] == "extra_forbidden":
        known = list(Provider.model_fields) if where[0] == "models" else list(Config.model_fields)
        near = get_close_matches(key, known, n=1, cutoff=0.5)
        hint = f"perhaps {near[0]!r} was meant" if near else f"known are {', '.join(known)}"
        return f"{_place(key, words)}there is no key {key!r}; {hint}"
    return f"{_place(key, words)}{'.'.join(where)}: {str(error['msg']).removeprefix('Value error, ')}"


def _place(key: str, words: str) -> str:
    quoted = re.escape(key)
    for number, line in enumerate(words.splitlines(), 1):
        if re.match(rf"""\s*(?:["']?{quoted}["']?\s*=|\[(?:\w+\.)*{quoted}\])""", line):
            return f"line {number}: "
    return ""


def _wrong(why: str) -> SetupProblem:
    return SetupProblem(f"The settings in {path()} cannot be used: {why}. Mend them: ${{EDITOR:-nano}} {path()}")
