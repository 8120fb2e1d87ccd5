"""From a name such as `local:qwen2.5-coder-0.5b` to a model that answers."""

from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path

from burnish.errors import SetupProblem
from burnish.models.model import Model

PROVIDERS = ("local", "scripted")

Progress = Callable[[int, int, str], None]
"""Bytes so far, bytes in all, where they come from."""


def open_model(name: str, progress: Progress | None = None) -> Model:
    """The model behind a `provider:model` name; weights that are missing are fetched first."""
    provider, _, rest = name.partition(":")
    if provider == "scripted" and rest:
        from burnish.models.scripted import open_scripted

        return open_scripted(rest)
    if provider == "local" and rest:
        return _open_local(name, rest, progress)
    raise _unknown(name)


def _open_local(name: str, rest: str, progress: Progress | None) -> Model:
    from burnish.models.local import LocalModel
    from burnish.models.weights import ensure

    path = Path(rest).expanduser()
    if path.suffix != ".gguf":
        return LocalModel(name, ensure(name, progress))
    if not path.is_file():
        raise SetupProblem(f"There is no file {str(path)!r}. Name a GGUF file that exists: --model local:/path/to.gguf")
    return LocalModel(name, path.resolve())


def _unknown(name: str) -> SetupProblem:
    from burnish.models.catalog import CATALOG

    known = [*CATALOG, "scripted:demo"]
    near = get_close_matches(name, known, n=2, cutoff=0.4) or known
    return SetupProblem(
        f"There is no model {name!r}. Did you mean {' or '.join(near)}? See all of them with: burnish models"
    )
