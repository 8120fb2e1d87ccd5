"""Who is behind a server: the three kinds, and those that the user's file names. Says where, and which key opens it."""

import importlib.util
import ipaddress
import os
import socket
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from burnish import config
from burnish.errors import SetupProblem

if TYPE_CHECKING:
    from burnish.models.chat import ChatModel

OFFICIAL = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}
ADDRESSES = {"openai": "OPENAI_BASE_URL", "anthropic": "ANTHROPIC_BASE_URL"}
"""Variables that the providers' own clients read, too."""
KEYS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
PACKAGES = {
    "openai": "langchain-openai>=1.0",
    "anthropic": "langchain-anthropic>=1.0",
    "ollama": "langchain-ollama>=1.0",
}
"""What each kind needs; that of OpenAI is in the core, the others are the extras of their names."""
REACH_SECONDS = 2.0


@dataclass(frozen=True)
class Server:
    """One provider as it is set up here."""

    provider: str
    kind: str
    address: str
    key_env: str
    """The variable that holds its key; empty where none is needed."""
    continues: bool | None = None
    thinking: int = 0
    free: bool | None = None
    """Whether its answers cost nothing; None where the user has not said."""

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
        return on_this_machine(self.address)


def servers() -> dict[str, Server]:
    """All providers that answer over HTTP, by the name before the colon."""
    return {name: server for name in provider_names() if (server := server_of(name))}


def server_of(name: str) -> Server | None:
    """Who answers for a `provider:model` name. Only that provider is looked at: a slip in the address of another one
    is no business of who does not ask it.
    """
    provider = name.partition(":")[0]
    said = config.load().models
    known = provider in config.BUILT_IN or provider in said
    return _server(provider, said.get(provider, config.Provider())) if known else None


def provider_names() -> list[str]:
    """What may stand before the colon, of those that answer over HTTP."""
    return list(dict.fromkeys((*config.BUILT_IN, *config.load().models)))


def _server(name: str, said: config.Provider) -> Server:
    kind = name if name in config.BUILT_IN else said.kind or "openai"
    if kind == "ollama":
        from burnish.models.ollama_server import usual_address

        address = said.base_url or (usual_address() if name == "ollama" else "")
    else:
        address = said.base_url or _in_shell(name) or OFFICIAL[kind]
    return Server(
        provider=name,
        kind=kind,
        address=address.rstrip("/"),
        key_env=said.key_env or KEYS.get(name, ""),
        continues=said.continues,
        thinking=said.thinking,
        free=said.free,
    )


def _in_shell(name: str) -> str:
    """The address that the provider's own variable holds, under the same rule as one in the settings."""
    variable = ADDRESSES.get(name, "")
    address = os.environ.get(variable, "").strip() if variable else ""
    if not config.is_address(address):
        raise SetupProblem(
            f"The address in {variable} cannot be used: {config.AN_ADDRESS}, and no key, which belongs into"
            f" {KEYS[name]}. Type: export {variable}={OFFICIAL[name]}"
        )
    return address


def open_server(name: str) -> "ChatModel | None":
    """The model behind a `provider:model` name that a server answers to; None where no provider is called so."""
    provider, _, model = name.partition(":")
    server = server_of(name) if model else None
    if server is None:
        return None
    _check_package(name, server.kind)
    if server.kind == "ollama":
        from burnish.models.ollama import OllamaModel

        return OllamaModel(name, model, server)
    if server.key_env and not server.key and (server.is_official or server.key_env != KEYS.get(provider)):
        raise SetupProblem(
            f"The model {name!r} needs a key, and the variable {server.key_env} holds none. Type:"
            f" export {server.key_env}=…"
        )
    _check_answers(server)
    if server.kind == "anthropic":
        from burnish.models.anthropic import AnthropicModel

        return AnthropicModel(name, model, server)
    from burnish.models.openai import OpenAIModel

    return OpenAIModel(name, model, server)


def on_this_machine(address: str) -> bool:
    """Whether an address is that of this very machine; 0.0.0.0 is what a server here says that it listens at."""
    host = urlsplit(address).hostname or ""
    try:
        known = ipaddress.ip_address(host)
        return known.is_loopback or known.is_unspecified
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _check_package(name: str, kind: str) -> None:
    package = PACKAGES[kind]
    if importlib.util.find_spec(package.partition(">")[0].replace("-", "_")) is None:
        raise SetupProblem(
            f"The model {name!r} needs a package that is not installed here (the extra burnish[{kind}]). Type:"
            f" {sys.executable} -m pip install '{package}'"
        )


def _check_answers(server: Server) -> None:
    """Say at once that a server of the user's own is not running, rather than after many tries."""
    parts = urlsplit(server.address)
    if server.is_official or not server.is_here:
        return
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
        socket.create_connection((parts.hostname or "", port), timeout=REACH_SECONDS).close()
    except (OSError, ValueError) as error:
        raise SetupProblem(
            f"Nothing answers at {server.address} ({getattr(error, 'strerror', None) or error}). Start the server, or"
            f" change its address: burnish config set models.{server.provider}.base_url http://127.0.0.1:8000/v1"
        ) from None
