"""From the name after `huggingface:` to weights that Transformers can read. Knows nothing of torch."""

import re
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from burnish.errors import SetupProblem
from burnish.models.catalog import CATALOG, nearest
from burnish.models.names import Progress

if TYPE_CHECKING:
    from burnish.models.huggingface.model import HuggingFaceModel

EXTRA = ("accelerate>=1.10", "gguf>=0.17", "torch>=2.8", "transformers>=5.10,<6")
"""What `[hf]` in pyproject.toml asks for, said again because a clone is installed without its metadata at hand."""
PREFIX = "huggingface:"


@dataclass(frozen=True)
class Source:
    """Weights as Transformers asks for them: a folder or a hub id, and the file in it when it is a GGUF."""

    place: str
    gguf: str = ""

    @property
    def said(self) -> str:
        """The weights' format in words; empty when they are read as they are."""
        if not self.gguf:
            return ""
        kind = re.search(r"[-._]((?:i?q\d|bf16|f16|f32)\w*)\.gguf$", self.gguf.lower())
        return f"weights dequantised from {kind[1] if kind else 'GGUF'}"


def open_huggingface(name: str, progress: Progress | None = None) -> "HuggingFaceModel":
    """The model behind a `huggingface:…` name. Raises SetupProblem when the extra or the weights are missing."""
    missing = [line for line in EXTRA if find_spec(re.split("[><=]", line)[0]) is None]
    if missing:
        raise _no_extra(name, missing)
    source = source_of(name, progress)
    from burnish.models.huggingface.model import HuggingFaceModel

    return HuggingFaceModel(name, source)


def source_of(name: str, progress: Progress | None = None) -> Source:
    """A catalogue name means our own GGUF file, fetched if need be; else a path to one, a folder, or a hub id."""
    rest = name.removeprefix(PREFIX).removeprefix("local:")
    if rest.endswith(".gguf") or f"local:{rest}" in CATALOG:
        file = _own_file(rest) if rest.endswith(".gguf") else _fetched(rest, progress)
        return Source(str(file.parent), file.name)
    if Path(rest).expanduser().is_dir():
        return Source(str(Path(rest).expanduser().absolute()))
    if re.fullmatch(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", rest, re.ASCII):
        return Source(rest)
    near = nearest(rest)[0].removeprefix("local:")
    raise SetupProblem(
        f"There is no model {name!r}: no name that Burnish knows, no folder, no file that ends in .gguf, and no"
        f" OWNER/NAME of the hub. Did you mean --model {PREFIX}{near}"
    )


def _own_file(rest: str) -> Path:
    path = Path(rest).expanduser().absolute()
    if not path.is_file():
        raise SetupProblem(f"There is no file {str(path)!r}. Name one that exists: --model {PREFIX}/path/to.gguf")
    return path


def _fetched(rest: str, progress: Progress | None) -> Path:
    from burnish.models.weights import ensure

    return ensure(f"local:{rest}", progress)


def _no_extra(name: str, missing: list[str]) -> SetupProblem:
    words = " ".join(f"'{line}'" for line in missing)
    return SetupProblem(
        f"The model {name!r} needs packages that are not installed here (the extra burnish[hf]; torch is large)."
        f" Type: {sys.executable} -m pip install {words}"
    )
