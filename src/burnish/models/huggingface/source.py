"""From the name after `huggingface:` to weights that Transformers can read. Knows nothing of torch."""

import re
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from burnish.errors import SetupProblem
from burnish.models.catalog import CATALOG, find_nearest_names
from burnish.models.model import Progress
from burnish.models.weights import ensure_weights

EXTRA = ("accelerate>=1.10", "gguf>=0.17", "torch>=2.8", "transformers>=5.10,<6")
"""What `[hf]` in pyproject.toml asks for, repeated here because a clone is installed without its metadata."""
PREFIX = "huggingface:"


@dataclass(frozen=True)
class TransformersSource:
    """Weights as Transformers asks for them: a folder or a hub id, and the file in it when it is a GGUF."""

    place: str
    gguf: str = ""

    @property
    def quantisation(self) -> str:
        """The weights' format in words; empty when they are read as they are."""
        if not self.gguf:
            return ""
        kind = re.search(r"[-._]((?:i?q\d|bf16|f16|f32)\w*)\.gguf$", self.gguf.lower())
        return f"weights dequantised from {kind[1] if kind else 'GGUF'}"


def check_extra(name: str) -> None:
    """Raise SetupProblem when packages of the extra are missing."""
    missing = [line for line in EXTRA if find_spec(re.split("[><=]", line)[0]) is None]
    if missing:
        words = " ".join(f"'{line}'" for line in missing)
        raise SetupProblem(
            f"The model {name!r} needs packages that are not installed here (the extra burnish[hf]; torch is large)."
            f" Type: {sys.executable} -m pip install {words}"
        )


def find_source(name: str, progress: Progress | None = None) -> TransformersSource:
    """A catalogue name means our own GGUF file, fetched if need be; else a path to one, a folder, or a hub id."""
    rest = name.removeprefix(PREFIX).removeprefix("local:")
    path = Path(rest).expanduser().absolute()
    if rest.endswith(".gguf") and not path.is_file():
        raise SetupProblem(f"There is no file {str(path)!r}. Name one that exists: --model {PREFIX}/path/to.gguf")
    if rest.endswith(".gguf") or f"local:{rest}" in CATALOG:
        file = path if rest.endswith(".gguf") else ensure_weights(f"local:{rest}", progress)
        return TransformersSource(str(file.parent), file.name)
    if path.is_dir():
        return TransformersSource(str(path))
    if re.fullmatch(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", rest, re.ASCII):
        return TransformersSource(rest)
    near = find_nearest_names(rest)[0].removeprefix("local:")
    raise SetupProblem(
        f"There is no model {name!r}: no name that Burnish knows, no folder, no file that ends in .gguf, and no"
        f" OWNER/NAME of the hub. Did you mean --model {PREFIX}{near}"
    )
