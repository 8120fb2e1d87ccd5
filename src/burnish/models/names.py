"""From a name such as `local:qwen2.5-coder-0.5b` to a model that answers."""

import re
from collections.abc import Callable
from difflib import get_close_matches

from burnish.errors import SetupProblem
from burnish.models.model import Model

Progress = Callable[[int, int, str], None]
"""Bytes so far, bytes in all, where they come from."""


def open_model(name: str, progress: Progress | None = None) -> Model:
    """The model behind a `provider:model` name; weights that are missing are fetched first."""
    provider, _, rest = name.partition(":")
    if provider == "scripted" and rest:
        from burnish.models.scripted import open_scripted

        return open_scripted(rest)
    if provider == "local" and rest:
        from burnish.models.local import LocalModel
        from burnish.models.weights import ensure

        return LocalModel(name, ensure(name, progress))
    if provider == "huggingface" and rest:
        from burnish.models.huggingface.source import open_huggingface

        return open_huggingface(name, progress)
    from burnish.models.providers import open_server

    if model := open_server(name):
        return model
    raise _unknown(name)


def open_models(names: str, progress: Progress | None = None) -> tuple[Model, ...]:
    """The models of `small,large`, in this order; one name is one model."""
    return tuple(open_model(name, progress) for name in split_names(names))


def split_names(names: str) -> list[str]:
    """Each name of `small,large`; a comma in a file's name stays there, as only `provider:` begins the next one."""
    return re.split(r"\s*,\s*(?=\w+:)", names.strip())


def _unknown(name: str) -> SetupProblem:
    from burnish.models.catalog import nearest

    near = ["scripted:demo"] if name.startswith("script") else _of_a_server(name) or nearest(name)
    return SetupProblem(
        f"There is no model {name!r}. Did you mean {' or '.join(near)}? See all of them with: burnish models"
    )


def _of_a_server(name: str) -> list[str]:
    """The same model behind the provider whose name looks most like the one that was typed."""
    from burnish.models.providers import servers

    provider, _, model = name.partition(":")
    return [f"{near}:{model or 'NAME'}" for near in get_close_matches(provider, servers(), n=1, cutoff=0.7)]
