"""Servers that answer: the three kinds of protocol, and the servers that the user's file names, each with its address
and the variable that holds its key. Nothing is asked here.
"""

import importlib.util
import ipaddress
import os
from dataclasses import dataclass
from urllib.parse import urlsplit

from burnish import config
from burnish.errors import SetupProblem

OFFICIAL = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}
ADDRESS_VARIABLES = {"openai": "OPENAI_BASE_URL", "anthropic": "ANTHROPIC_BASE_URL"}
"""Variables that the providers' own clients read, too."""
KEY_VARIABLES = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
PACKAGES = {
    "openai": "langchain-openai>=1.0",
    "anthropic": "langchain-anthropic>=1.0",
    "ollama": "langchain-ollama>=1.0",
}
"""What each kind needs; that of OpenAI is in the core, the others are the extras of their names."""
OLLAMA_PORT = 11434


@dataclass(frozen=True)
class ModelServer:
    """One provider as it is set up here."""

    provider: str
    kind: str
    address: str
    key_env: str
    """The variable that holds its key; empty where none is needed."""
    continues: bool | None = None
    thinking: int = 0
    free: bool | None = None
    """Whether its answers cost nothing; None where the settings do not say."""

    @property
    def key(self) -> str:
        """The key; read where it is used and kept nowhere."""
        return os.environ.get(self.key_env, "").strip() if self.key_env else ""

    @property
    def is_official(self) -> bool:
        """Whether this is the provider's own cloud."""
        return self.address == OFFICIAL.get(self.kind)

    @property
    def is_here(self) -> bool:
        """Whether it listens on this machine, where an answer most often costs nothing."""
        return is_this_machine(self.address)

    @property
    def has_package(self) -> bool:
        """Whether the package that speaks its protocol is installed."""
        return importlib.util.find_spec(PACKAGES[self.kind].partition(">")[0].replace("-", "_")) is not None


def is_this_machine(address: str) -> bool:
    """Whether an address is that of this very machine; 0.0.0.0 is what a server here says that it listens at."""
    host = urlsplit(address).hostname or ""
    try:
        known = ipaddress.ip_address(host)
        return known.is_loopback or known.is_unspecified
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def provider_names() -> list[str]:
    """What may stand before the colon, of those that answer over HTTP."""
    return list(dict.fromkeys((*config.BUILT_IN, *config.load().models)))


def list_servers() -> dict[str, ModelServer]:
    """All providers that answer over HTTP, by the name before the colon."""
    return {name: server for name in provider_names() if (server := find_server(name))}


def find_server(name: str) -> ModelServer | None:
    """The server behind a `provider:model` name; None where no provider is called so.

    Only that provider is looked at: a mistake in the address of another one must not stop a run that does not ask it.
    """
    provider, named = name.partition(":")[0], config.load().models
    if provider not in (*config.BUILT_IN, *named):
        return None
    settings = named.get(provider, config.ProviderSettings())
    return ModelServer(
        provider=provider,
        kind=provider if provider in config.BUILT_IN else settings.kind or "openai",
        address=(settings.base_url or _default_address(provider)).rstrip("/"),
        # A provider's own key variable is not taken for other providers: a key is for its own server only.
        key_env=settings.key_env or KEY_VARIABLES.get(provider, ""),
        continues=settings.continues,
        thinking=settings.thinking,
        free=settings.free,
    )


def _default_address(provider: str) -> str:
    """The address in the provider's own variable, under the same rule as one in the settings; else its cloud's."""
    if provider == "ollama":
        return ollama_address()
    variable = ADDRESS_VARIABLES[provider]
    address = os.environ.get(variable, "").strip()
    if not config.is_address(address):
        raise SetupProblem(
            f"The address in {variable} cannot be used: {config.ADDRESS_RULE}, and no key, which belongs into"
            f" {KEY_VARIABLES[provider]}. Type",
            f"export {variable}={OFFICIAL[provider]}",
        )
    return address or OFFICIAL[provider]


def ollama_address() -> str:
    """Where Ollama listens: as `OLLAMA_HOST` says, which its server and all its clients read. Raises SetupProblem."""
    variable = os.environ.get("OLLAMA_HOST", "").strip()
    try:
        parts = urlsplit(variable if "://" in variable else f"http://{variable}")
        host, port = parts.hostname or "127.0.0.1", parts.port or OLLAMA_PORT
        host = "127.0.0.1" if host == "0.0.0.0" else host  # where a server listens is no address to call
        address = f"{parts.scheme}://{f'[{host}]' if ':' in host else host}:{port}"
        usable = config.is_address(address)
    except ValueError:  # a bracket that is never closed, a port that is no number
        usable = False
    if not usable:
        raise SetupProblem(
            "The address in OLLAMA_HOST cannot be used: it is a host and a port of up to 65535. Type",
            f"export OLLAMA_HOST=127.0.0.1:{OLLAMA_PORT}",
        )
    return address
