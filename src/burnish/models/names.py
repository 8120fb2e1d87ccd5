"""From a name such as `local:qwen2.5-coder-0.5b` to a model that answers."""

import re
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import Self

from burnish import config
from burnish.errors import SetupProblem
from burnish.models.catalog import DEFAULT_MODEL
from burnish.models.model import Model

AUTO = "auto"
"""In place of a name: choose for me."""
Models = Model | str | Sequence[Model]
"""Who answers: a model, several of them, or their names, `small,large`. The first answers, the others help."""
Progress = Callable[[int, int, str], None]
"""Bytes so far, bytes in all, where they come from."""


class Chosen(tuple[Model, ...]):
    """Models that were chosen for the user, and the reason, which goes on record with the run."""

    why: str

    def __new__(cls, models: Iterable[Model], why: str) -> Self:
        """The models in the order in which they are asked."""
        chosen = super().__new__(cls, models)
        chosen.why = why
        return chosen


def default_names() -> str:
    """Who answers where nobody is named: what the user's settings say, else the model that comes with Burnish."""
    return config.load().model.strip() or DEFAULT_MODEL


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

    if name == AUTO:
        return SetupProblem(
            f"{AUTO!r} is no model: it lets Burnish choose one, and only write, fix and strengthen do that. Name one of"
            f" those that are there: burnish models"
        )
    near = ["scripted:demo"] if name.startswith("script") else _of_a_server(name) or nearest(name)
    return SetupProblem(
        f"There is no model {name!r}. Did you mean {' or '.join(near)}? See all of them with: burnish models"
    )


def _of_a_server(name: str) -> list[str]:
    """The same model behind the provider whose name looks most like the one that was typed."""
    from burnish.models.providers import provider_names

    provider, _, model = name.partition(":")
    return [f"{near}:{model or 'NAME'}" for near in get_close_matches(provider, provider_names(), n=1, cutoff=0.7)]
