"""What a user has decided once and for all: one TOML file, read when it is needed, never a secret in it.

model = "ollama:qwen2.5-coder:7b"        who answers unless --model says otherwise; "auto": choose for me
gpu_layers = "auto"                      how much of an embedded model a GPU computes: all that fits, or so many layers
may_spend = true                         "auto" may choose what costs money, without --dollars too

[models.openai]                          another address, or another variable that holds the key
base_url = "https://…"
key_env = "MY_KEY"

[models.lab]                             a server of one's own: lab:NAME
kind = "openai"
base_url = "http://127.0.0.1:8000/v1"

[checks]                                 who is asked about packages, in place of what pip and pip-audit are set up with
index_url = "https://…"
advisories_url = "https://…"             a service that speaks OSV's protocol

[context]                                tokens that a model may read at once, prompt and answer together
local = 8192                             of the embedded models, each of the four answers at once; 4096 by default
"ollama:qwen2.5-coder:7b" = 16384
"""

import json
import os
import re
import shlex
import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, ValidationError, ValidationInfo, field_validator

from burnish.errors import SetupProblem
from burnish.events import Frozen
from burnish.paths import PRIVATE_MODE, make_private_folder, write_atomically

BUILT_IN = ("anthropic", "ollama", "openai")
EMBEDDED = ("local", "huggingface", "scripted")
"""Names of providers that need no address."""
SECRET = re.compile(
    r"(?:sk|pk|rk|key|ghp|hf|xai|gsk|AIza|glpat)[-_][\w-]{8,}|AIza[\w-]{20,}|(?=\w*\d)(?=\w*[A-Za-z])\w{32,}"
)
"""How keys look: they begin with a few known letters, or are long and mean nothing."""
ADDRESS = r"^$|^https?://[^\s/@?#]+(?:[/?#]\S*)?$"
"""No user name before the host: it may come with a password, or be a token that opens the server by itself."""
ADDRESS_RULE = (
    "an address is http:// or https://, a host, and a port if it has one of its own (up to 65535); no password is in it"
)
RULES = {
    "model": "it is the name of a model, or several with commas, or auto",
    "may_spend": "it is true or false",
    "kind": "it is anthropic, ollama or openai",
    "base_url": ADDRESS_RULE,
    "advisories_url": ADDRESS_RULE,
    "index_url": f"{ADDRESS_RULE}; or it is file:/// and a folder",
    "key_env": "it is the name of a variable of your shell: letters, digits and _",
    "continues": "it is true or false",
    "free": "it is true or false",
    "thinking": "it is a number of tokens, up to 1000000",
    "gpu_layers": "it is auto, or a number of layers up to 1000; 0 leaves all to the processor",
    "context.MODEL": "it is a number of tokens, from 512 to 1048576",
}
"""What each setting must be; shown where the file has something else."""
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
    "gpu_layers": "auto",
    "context.MODEL": "8192",
}
"""A value that each may have."""
LEAST_CONTEXT, MOST_CONTEXT = 512, 1 << 20
AUTO = "auto"
SHORT_KEYS = {"context": "context.local", "gpu-layers": "gpu_layers"}
"""Other ways to say a key."""


class ProviderSettings(Frozen):
    """Where a provider is, and how it is spoken to."""

    kind: Literal["anthropic", "ollama", "openai"] | None = None
    """The protocol of a server of the user's own; OpenAI's by default."""
    base_url: str = ""
    key_env: str = Field(default="", pattern=r"^$|^[A-Za-z_][A-Za-z0-9_]*$")
    """The environment variable that holds the key; the key itself is nowhere else."""
    continues: bool | None = None
    """Whether the server goes on from an answer that was begun for it; set only where Burnish guesses it wrong."""
    thinking: int = Field(default=0, ge=0, le=1_000_000)
    """Tokens for a model's thoughts, beside those of its answer; with 0 thinking is switched off where it can be."""
    free: bool | None = None
    """Whether its answers cost nothing. By default a server on this machine counts as free, and any other does not;
    but what listens here may hand questions on to a cloud that is paid for."""

    @field_validator("base_url")
    @classmethod
    def _check_address(cls, base_url: str) -> str:
        if not is_address(base_url):
            raise ValueError(ADDRESS_RULE)
        return base_url


class CheckServices(Frozen):
    """Servers that checks ask about packages, in place of those that the tools are set up with."""

    advisories_url: str = ""
    """Where advisories are asked for, in OSV's protocol."""
    index_url: str = ""
    """The package index that is asked whether dependencies exist; a folder may be one."""

    @field_validator("advisories_url", "index_url")
    @classmethod
    def _check_address(cls, value: str, info: ValidationInfo) -> str:
        is_folder = info.field_name == "index_url" and bool(re.fullmatch(r"file:///\S+", value))
        if not is_folder and not is_address(value):
            raise ValueError(RULES[str(info.field_name)])
        return value


class Config(Frozen):
    """The user's file."""

    model: str = ""
    may_spend: bool = False
    """Whether `auto` may choose a model that costs money where no cap in dollars is set."""
    gpu_layers: Literal["auto"] | Annotated[int, Field(ge=0, le=1000, strict=True)] = "auto"
    """Layers of an embedded model that a GPU computes, where llama.cpp's build here has a backend for one."""
    models: dict[str, ProviderSettings] = Field(default_factory=dict)
    context: dict[str, int] = Field(default_factory=dict)
    checks: CheckServices = CheckServices()

    @field_validator("models")
    @classmethod
    def _check_providers(cls, models: dict[str, ProviderSettings]) -> dict[str, ProviderSettings]:
        for name, provider in models.items():
            if name in EMBEDDED or not re.fullmatch(r"\w+", name):
                raise ValueError(f"{name!r} cannot be the name of a provider")
            if name in BUILT_IN and provider.kind not in (None, name):
                raise ValueError(f"{name!r} speaks its own protocol; give your server another name")
            if name not in BUILT_IN and not provider.base_url:
                raise ValueError(f"a server of your own needs its address: base_url in [models.{name}]")
        return models

    @field_validator("context")
    @classmethod
    def _check_context(cls, context: dict[str, int]) -> dict[str, int]:
        if few := [name for name, tokens in context.items() if tokens < LEAST_CONTEXT]:
            raise ValueError(f"the context of {few[0]!r} is too small to work in; {LEAST_CONTEXT} tokens are the least")
        if many := [name for name, tokens in context.items() if tokens > MOST_CONTEXT]:
            raise ValueError(
                f"the context of {many[0]!r} is more than any model has; {MOST_CONTEXT} tokens are the most"
            )
        return context

    def context_of(self, name: str) -> int:
        """Tokens that a model is given; 0 where nothing is said of it. `local` stands for all embedded ones."""
        return self.context.get(name, 0) or (self.context.get("local", 0) if name.startswith("local:") else 0)


FLAT = ("model", "may_spend", "gpu_layers")
KEYS = (
    *FLAT,
    *(f"models.NAME.{name}" for name in ProviderSettings.model_fields),
    *(f"checks.{name}" for name in CheckServices.model_fields),
)
"""What may stand in the file, beside context.MODEL."""


def looks_secret(key: str, value: str) -> bool:
    """Whether a value may be a key or a password, which must not lie in a file of ours."""
    if key.endswith("_url"):
        return bool(re.search(r"//[^/\s]*:[^/\s]*@", value) or re.search(r"[?&](?:api_?)?key=", value))
    return bool(SECRET.fullmatch(value)) or bool(re.search(r"secret|token|password|api_?key", key))


def is_address(value: str) -> bool:
    """Whether a value may be a server's address, or empty: it can be parsed, and holds no secret."""
    try:
        parts = urlsplit(value)
        has_host = bool(parts.hostname) and parts.port != 0
    except ValueError:  # a bracket that is never closed, a port that is no number
        return False
    return not value or (has_host and bool(re.search(ADDRESS, value)) and not looks_secret("base_url", value))


def path() -> Path:
    """Where the file is, whether it exists or not; `BURNISH_CONFIG` names another one."""
    if named := os.environ.get("BURNISH_CONFIG"):
        return Path(named).expanduser().absolute()
    import platformdirs

    return Path(platformdirs.user_config_dir("burnish", appauthor=False)) / "config.toml"


def load() -> Config:
    """What the file says; nothing where there is none. Raises SetupProblem with the line that is wrong."""
    return parse(read_text())


def read_text() -> str:
    """The file as it stands; empty where there is none."""
    try:
        return path().read_text("utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise SetupProblem(f"The file {path()} cannot be read ({error}). Look at it", f"ls -l {path()}") from error


def parse(text: str) -> Config:
    """The settings in a text. Raises SetupProblem with the line that is wrong."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _explain(str(error)) from error
    _refuse_secrets(data, text)
    try:
        return Config.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
    where = [str(part) for part in first["loc"]]
    where = where[:1] if where[:1] == ["gpu_layers"] else where  # pydantic also names the kind that it tried
    key = where[-1] if where else ""
    if first["type"] == "extra_forbidden":
        tables: dict[str, type[Frozen]] = {"models": ProviderSettings, "checks": CheckServices}
        known = list(tables.get(where[0], Config).model_fields)
        near = get_close_matches(key, known, n=1, cutoff=0.5)
        hint = f"perhaps {near[0]!r} was meant" if near else f"known are {', '.join(known)}"
        raise _explain(f"{_find_line(key, text)}there is no key {key!r}; {hint}")
    # Our own validators say what is wrong; pydantic's words are replaced by what the setting is.
    why = first["msg"].removeprefix("Value error, ")
    if why == first["msg"]:
        why = RULES.get("context.MODEL" if where[0] == "context" and where[1:] else key, why)
    raise _explain(f"{_find_line(key, text)}{'.'.join(where)}: {why}")


def _refuse_secrets(data: dict[str, Any], text: str) -> None:
    for key, value in data.items():
        if isinstance(value, dict):
            _refuse_secrets(value, text)
        elif isinstance(value, str) and looks_secret(key, value):
            raise _explain(f"{_find_line(key, text)}{key} looks like a key, and keys are kept in the environment only")


def _find_line(key: str, text: str) -> str:
    """In which line the key stands, such as `line 3: `; empty where it stands in none."""
    quoted = re.escape(key)
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(rf"""\s*(?:["']?{quoted}["']?\s*=|\[(?:\w+\.)*{quoted}\])""", line):
            return f"line {number}: "
    return ""


def _explain(why: str) -> SetupProblem:
    return SetupProblem(f"The settings in {path()} cannot be used: {why}. Mend them", f"${{EDITOR:-nano}} {path()}")


def put(key: str, value: str) -> Path:
    """Set one key in the file, and leave all else in it as it is. Raises SetupProblem for what it cannot hold."""
    key = SHORT_KEYS.get(key, key)
    table, name = _split_key(key)
    if looks_secret(name, value):
        raise SetupProblem(
            f"The value for {key} looks like a key, and keys are kept in the environment only. Name the variable that"
            f" holds it instead: burnish config set {table or 'models.openai'}.key_env MY_KEY"
        )
    text = read_text()
    new = _replace_line(text, table, name, _format_value(key, value))
    try:
        parse(new)
        usable = f"{key}{value}".isprintable()
    except SetupProblem:
        usable = False
    if not usable:
        parse(text)  # where the file was wrong before, say that instead
        raise _refuse(key, value)
    if not path().parent.exists():
        make_private_folder(path().parent)
    write_atomically(path(), new.encode(), PRIVATE_MODE)
    return path()


def _split_key(key: str) -> tuple[str, str]:
    """The table and the name in it: a model's name may have dots of its own."""
    if key.startswith("context."):
        return "context", key.partition(".")[2].strip("\"'")
    if re.sub(r"^models\.[^.]*\.", "models.NAME.", key) in KEYS:
        table, _, name = key.rpartition(".")
        return table, name
    server = (key.split(".") + ["NAME"])[1]
    near = get_close_matches(key, [known.replace("NAME", server) for known in KEYS], n=1)
    raise SetupProblem(
        f"There is no setting {key!r}. Settings are {', '.join(KEYS)} and context.MODEL. Type:"
        f" burnish config set {near[0] if near else 'model'} VALUE"
    )


def _refuse(key: str, value: str) -> SetupProblem:
    """Why a key cannot have this value, or a server of this name this setting."""
    table, name = _split_key(key)
    provider, own, why = table.partition("models.")[2], "lab", ""
    if provider in EMBEDDED or (provider and not re.fullmatch(r"\w+", provider, re.ASCII)):
        why = f"{provider!r} cannot be the name of a server of your own"
    elif provider in BUILT_IN:
        why = f"{provider!r} speaks its own protocol; give your server another name" if name == "kind" else ""
    elif provider and name != "base_url" and provider not in load().models:
        why, own = "a server of your own begins with its address", provider
    if why:
        type_this = f"models.{own}.base_url {EXAMPLES['base_url']}"
        return SetupProblem(f"{key} cannot be set: {why}. Nothing was changed. Type: burnish config set {type_this}")
    kind = "context.MODEL" if table == "context" else name
    shown = "This" if name.endswith("_url") and "@" in value else repr(value)  # it may hold a password
    return SetupProblem(
        f"{shown} cannot be the value of {key}: {RULES[kind]}. Nothing was changed. Type:"
        f" burnish config set {shlex.quote(key)} {EXAMPLES[kind]}"
    )


def _format_value(key: str, value: str) -> str:
    """A value as TOML writes it."""
    is_number = key.startswith("context.") or key.endswith((".thinking", "gpu_layers"))
    is_switch = key == "may_spend" or key.endswith((".continues", ".free"))
    if (is_number and value.isdigit()) or (is_switch and value in ("true", "false")):
        return value
    return json.dumps(value, ensure_ascii=False)


def _replace_line(text: str, table: str, name: str, value: str) -> str:
    """The text with one line changed or added, in its table."""
    key = name if re.fullmatch(r"[\w-]+", name) else json.dumps(name)
    new = f"{key} = {value}"
    # One line is edited rather than the file written anew, so that comments and order stay.
    lines = text.splitlines()
    heads = [place for place, line in enumerate(lines) if line.strip().startswith("[")]
    start = next((place + 1 for place in heads if lines[place].split("#")[0].strip() == f"[{table}]"), None)
    if not table:
        start = 0
    if start is None:
        return "\n".join([*lines, *([""] if lines else []), f"[{table}]", new, ""])
    end = next((place for place in heads if place >= start), len(lines))
    for place in range(start, end):
        if lines[place].partition("=")[0].strip().strip("\"'") == name:
            return "\n".join([*lines[:place], new, *lines[place + 1 :], ""])
    return "\n".join([*lines[:start], new, *lines[start:], ""])
