"""From a name such as `local:qwen2.5-coder-0.5b` to a model that answers."""

import re
import socket
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from typing import cast
from urllib.parse import urlsplit

from burnish import config
from burnish.errors import SetupProblem
from burnish.models.adapters import Adapter, find_adapter, split_adapter
from burnish.models.catalog import DEFAULT_MODEL, find_nearest_names
from burnish.models.model import Model, Progress
from burnish.models.providers import KEY_VARIABLES, PACKAGES, ModelServer, find_server, provider_names

AUTO = "auto"
"""In place of a name: choose for me."""
Models = Model | str | Sequence[Model]
"""Who answers: a model, several of them, or their names, `small,large`. The first answers, the others help."""
REACH_SECONDS = 2.0
_BILLIONS = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?)[bB](?![a-zA-Z])")


def read_billions(name: str) -> float | None:
    """How many billions of parameters a model's name says that it has; None where it says nothing."""
    found = _BILLIONS.search(name.rpartition("/")[2])
    return float(found[1]) if found else None


def default_names() -> str:
    """The models that answer where none is named: those of the user's settings, else the one of Burnish."""
    return config.load().model.strip() or DEFAULT_MODEL


def split_names(names: str) -> list[str]:
    """Each name of `small,large`; a comma in a file's name stays there, as only `provider:` begins the next one."""
    return re.split(r"\s*,\s*(?=\w+:)", names.strip())


def list_given(model: Models | None) -> tuple[Model, ...]:
    """The models that are open already; none where they are only named."""
    if model is None or isinstance(model, str):
        return ()
    return (*model,) if isinstance(model, tuple | list) else (cast(Model, model),)


def open_models(names: str, progress: Progress | None = None) -> tuple[Model, ...]:
    """The models of `small,large`, in this order; one name is one model."""
    return tuple(open_model(name, progress) for name in split_names(names))


def open_model(name: str, progress: Progress | None = None) -> Model:
    """The model behind a `provider:model` name; weights that are missing are fetched first."""
    provider, _, rest = name.partition(":")
    if provider == "scripted" and rest:
        from burnish.models.scripted import open_scripted

        return open_scripted(rest)
    if provider == "local" and rest:
        from burnish.models.local import LocalModel
        from burnish.models.weights import ensure_weights

        base, adapter = _find_parts(name)
        return LocalModel(name, ensure_weights(base, progress), adapter=adapter)
    if provider == "huggingface" and rest:
        from burnish.models.weights import check_transformers, find_transformers_source

        base, adapter = _find_parts(name)
        check_transformers(name)
        source = find_transformers_source(base, progress)
        from burnish.models.huggingface.model import HuggingFaceModel

        return HuggingFaceModel(name, source, adapter=adapter)
    if rest and (server := find_server(name)):
        return _open_server_model(name, server)
    if name == AUTO:
        raise SetupProblem(
            f"{AUTO!r} is no model: it lets Burnish choose one, and only write, fix and strengthen do that. Name one of"
            f" those that are there: burnish models"
        )
    near = ["scripted:demo"] if name.startswith("script") else []
    if not near:  # a typing error in the provider's name, else in the model's
        near = [f"{one}:{rest or 'NAME'}" for one in get_close_matches(provider, provider_names(), n=1, cutoff=0.7)]
        near = near or find_nearest_names(name)
    raise SetupProblem(
        f"There is no model {name!r}. Did you mean {' or '.join(near)}? See all of them with", "burnish models"
    )


def _find_parts(name: str) -> tuple[str, Adapter | None]:
    """The name of the weights, and the adapter behind a plus."""
    base, adapter = split_adapter(name)
    return base, find_adapter(adapter, base.partition(":")[2]) if adapter else None


def _open_server_model(name: str, server: ModelServer) -> Model:
    """A model behind a server. Raises SetupProblem where the package or the key is missing, or nothing answers."""
    if not server.has_package:
        raise SetupProblem(
            f"The model {name!r} needs a package that is not installed here (the extra burnish[{server.kind}]). Type",
            f"{sys.executable} -m pip install '{PACKAGES[server.kind]}'",
        )
    # A server of the user's own at another address may need no key, unless the settings name one for it.
    usual_key = server.key_env == KEY_VARIABLES.get(server.provider)
    needs_key = server.kind != "ollama" and (server.is_official or not usual_key)
    if server.key_env and not server.key and needs_key:
        raise SetupProblem(
            f"The model {name!r} needs a key, and the variable {server.key_env} holds none. Type",
            f"export {server.key_env}=…",
        )
    if server.is_here and server.kind != "ollama":  # opening a model of Ollama's asks the server anyway
        _check_connection(server)
    from burnish.models.chat import ChatModel
    from burnish.models.protocols import AnthropicModel, OllamaModel, OpenAIModel

    kinds: dict[str, type[ChatModel]] = {"anthropic": AnthropicModel, "ollama": OllamaModel, "openai": OpenAIModel}
    return kinds[server.kind](name, name.partition(":")[2], server)


def _check_connection(server: ModelServer) -> None:
    """Say at once that a server of the user's own is not running, rather than after many tries."""
    parts = urlsplit(server.address)
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
        socket.create_connection((parts.hostname or "", port), timeout=REACH_SECONDS).close()
    except (OSError, ValueError) as error:
        raise SetupProblem(
            f"Nothing answers at {server.address} ({getattr(error, 'strerror', None) or error}). Start the server, or"
            f" change its address",
            f"burnish config set models.{server.provider}.base_url http://127.0.0.1:8000/v1",
        ) from None
