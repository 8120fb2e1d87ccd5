"""Adapters: what training changed of a model's weights, named behind a plus: `local:qwen2.5-coder-0.5b+mine`.

Each is a folder of its own: `adapter.gguf` for llama.cpp, the same numbers for Transformers in `peft`, and `card.json`,
which is written last and says what they are.
"""

import hashlib
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from pydantic import Field, ValidationError

from burnish import paths
from burnish.errors import SetupProblem
from burnish.events import Frozen
from burnish.models.catalog import CATALOG

CARD, GGUF, PEFT = "card.json", "adapter.gguf", "peft"
MAGIC = b"GGUF"
SHIPPED = Path(__file__).parent / "shipped"
"""Adapters that come with Burnish."""
NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,39}", re.ASCII)


class Score(Frozen):
    """One figure of an adapter beside that of its base, both in percent."""

    what: str
    """Suite, strategy and number of attempts."""
    base: float
    adapter: float
    command: str = ""


class AdapterCard(Frozen):
    """`card.json`: where an adapter comes from, what it is worth and what it must not be used for."""

    version: int = 1
    name: str
    base: str
    """The model that it changes, by its name without a provider."""
    sha256: str
    """Of `adapter.gguf`."""
    purposes: tuple[str, ...] = ()
    """Of the asks that it answers; for others it is switched off. Empty: for all."""
    recipe: str = ""
    data: str = ""
    parent: str = ""
    """The adapter that training went on from."""
    licence: str = "Apache-2.0"
    limits: str = ""
    """What it is known to get wrong."""
    scores: tuple[Score, ...] = ()
    made_at: str = ""
    origin: dict[str, str] = Field(default_factory=dict)
    """The commit, the machine and the settings of the training."""


@dataclass(frozen=True)
class Adapter:
    """One adapter on this disk."""

    folder: Path
    card: AdapterCard

    @property
    def gguf(self) -> Path:
        """What llama.cpp reads."""
        return self.folder / GGUF

    @property
    def peft(self) -> Path:
        """What Transformers reads."""
        return self.folder / PEFT

    @property
    def is_for_catalog(self) -> bool:
        """Whether its base is one of the embedded models."""
        return f"local:{self.card.base}" in CATALOG

    @property
    def model_name(self) -> str:
        """What is typed to have it answer."""
        is_embedded = self.is_for_catalog or self.card.base.endswith(".gguf")
        return f"{'local' if is_embedded else 'huggingface'}:{self.card.base}+{self.folder.name}"

    @property
    def label(self) -> str:
        """Its name and enough of its hash to tell it from another of that name."""
        return f"adapter {self.card.name} {self.card.sha256[:12]}"

    def answers(self, purpose: str) -> bool:
        """Whether it is on for an ask."""
        return not self.card.purposes or purpose in self.card.purposes


def adapters_home() -> Path:
    """The folder of the user's own adapters; it may not exist yet."""
    return paths.home() / "adapters"


def split_adapter(name: str) -> tuple[str, str]:
    """The model and the adapter of `local:NAME+ADAPTER`; the second is empty where none is named."""
    base, plus, adapter = name.rpartition("+")
    if not plus or not NAME.fullmatch(adapter) or Path(name.partition(":")[2]).expanduser().exists():
        return name, ""
    return base, adapter


def list_adapters() -> Iterator[Adapter]:
    """The user's own, then those that came with Burnish; one whose card cannot be read is passed over."""
    for folder in _list_folders():
        with suppress(SetupProblem):
            yield read_adapter(folder)


def _list_folders() -> list[Path]:
    found: dict[str, Path] = {}
    for home in (adapters_home(), SHIPPED):
        for folder in sorted(home.iterdir()) if home.is_dir() else ():
            if (folder / CARD).is_file():
                found.setdefault(folder.name, folder)
    return [*found.values()]


def read_adapter(folder: Path) -> Adapter:
    """The adapter in a folder. Raises SetupProblem where its card cannot be read."""
    try:
        card = AdapterCard.model_validate_json((folder / CARD).read_bytes())
    except (OSError, ValidationError) as error:
        raise SetupProblem(
            f"The card of the adapter in {str(folder)!r} cannot be read ({type(error).__name__}). Remove it: "
            f"burnish adapters remove {folder.name}"
        ) from error
    return Adapter(folder, card)


def find_adapter(name: str, base: str = "") -> Adapter:
    """The adapter of a name, whole and for this base. Raises SetupProblem where it is not."""
    known = {folder.name: folder for folder in _list_folders()}
    if name not in known:
        near = get_close_matches(name, known, n=1, cutoff=0.4)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise SetupProblem(f"There is no adapter {name!r}.{hint} See those that there are: burnish adapters")
    adapter = read_adapter(known[name])
    if base and adapter.card.base != base:
        raise SetupProblem(
            f"The adapter {name!r} was trained on {adapter.card.base} and fits no other model. Type: "
            f"--model {adapter.model_name}"
        )
    if hash_file(adapter.gguf) != adapter.card.sha256:
        raise SetupProblem(
            f"The adapter {name!r} is broken: {adapter.gguf} is missing, or not the file that its card describes. "
            f"Remove it, and train or fetch it again: burnish adapters remove {name}"
        )
    return adapter


def hash_file(path: Path) -> str:
    """The SHA-256 of a file; empty where there is none that begins as GGUF does."""
    try:
        with path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                return ""
            file.seek(0)
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def remove_adapter(name: str) -> None:
    """Take an adapter of the user's own away. Raises SetupProblem where there is none of this name."""
    folder = adapters_home() / name
    if not NAME.fullmatch(name) or not folder.is_dir():
        shipped = (SHIPPED / name / CARD).is_file()
        why = "came with Burnish and stays" if shipped else "is none of yours"
        raise SetupProblem(f"The adapter {name!r} {why}. See those that there are: burnish adapters")
    (folder / CARD).unlink(missing_ok=True)  # without its card it is no adapter any more, whatever stays of it
    shutil.rmtree(folder)
