"""What may be set, and what each setting may be."""

import re
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, ValidationInfo, field_validator

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
MEANINGS = {
    "model": "it is the name of a model, or several with commas, or auto",
    "may_spend": "it is true or false",
    "kind": "it is anthropic, ollama or openai",
    "base_url": AN_ADDRESS,
    "advisories_url": AN_ADDRESS,
    "index_url": f"{AN_ADDRESS}; or it is file:/// and a folder",
    "key_env": "it is the name of a variable of your shell: letters, digits and _",
    "continues": "it is true or false",
    "free": "it is true or false",
    "thinking": "it is a number of tokens, up to 1000000",
    "context.MODEL": "it is a number of tokens, 512 at least",
}
"""What each setting is, for who wrote something else there."""


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

    free: bool | None = None
    """Whether its answers cost nothing. Unless it is said, one on this machine is taken to be free, and any other not:
    but what listens here may hand questions on to a cloud that is paid for."""

    @field_validator("base_url")
    @classmethod
    def _is_address(cls, base_url: str) -> str:
        if not is_address(base_url):
            raise ValueError(AN_ADDRESS)
        return base_url


class Services(Frozen):
    """Servers that checks ask about packages, in place of those that the tools are set up with."""

    advisories_url: str = ""
    """Where advisories are asked for, in OSV's protocol."""
    index_url: str = ""
    """The package index that is asked whether dependencies exist; a folder may be one."""

    @field_validator("advisories_url", "index_url")
    @classmethod
    def _is_service(cls, value: str, info: ValidationInfo) -> str:
        is_folder = info.field_name == "index_url" and bool(re.fullmatch(r"file:///\S+", value))
        if not is_folder and not is_address(value):
            raise ValueError(MEANINGS[str(info.field_name)])
        return value


class Config(Frozen):
    """The user's file."""

    model: str = ""
    may_spend: bool = False
    """Whether `auto` may choose a model that costs money where no cap in dollars is set."""
    models: dict[str, Provider] = Field(default_factory=dict)
    context: dict[str, int] = Field(default_factory=dict)
    checks: Services = Services()

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


def looks_secret(key: str, value: str) -> bool:
    """Whether a value may be a key or a password, which must not lie in a file of ours."""
    if key.endswith("_url"):
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
