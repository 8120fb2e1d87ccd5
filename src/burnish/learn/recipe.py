"""How a training is made: its settings, saved as TOML with the result, and what it will need."""

import json
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from burnish.errors import SetupProblem
from burnish.evals.runner import EvalProgress
from burnish.events import Frozen
from burnish.jsonlines import parse_json_lines
from burnish.models.catalog import CATALOG, Weights
from burnish.models.names import read_billions
from burnish.paths import write_atomically

RECIPE, METRICS = "recipe.toml", "metrics.jsonl"
Kind = Literal["sft", "dpo", "reward", "grpo"]
RATES: dict[Kind, float] = {"sft": 2e-4, "dpo": 2e-5, "reward": 5e-5, "grpo": 1e-5}
TOKENS_PER_SECOND = {"cuda": 60_000.0, "cpu": 40.0}
"""Read and learnt by a model of half a billion parameters, about."""


def is_first_process() -> bool:
    """Whether this is the only process of a training, or the one of several that `torchrun` started to keep things."""
    return os.environ.get("RANK", "0") == "0"


class Recipe(Frozen):
    """The settings of one training. Everything that decides its result is here."""

    kind: Kind
    base: str
    """Who is trained: a model by name, with the adapter behind a plus that training goes on from."""
    data: str
    """The folder of the dataset; for GRPO a suite of tasks."""
    data_sha256: str = ""
    seed: int = 0
    rank: int = Field(default=16, ge=1, le=256)
    alpha: int = Field(default=32, ge=1)
    dropout: float = Field(default=0.0, ge=0, lt=1)
    rate: float | None = Field(default=None, gt=0, lt=1)
    """The learning rate; None: what suits the kind."""
    epochs: float = Field(default=2.0, gt=0)
    steps: int | None = Field(default=None, ge=1)
    """Updates in all, in place of epochs."""
    batch: int = Field(default=16, ge=1)
    """Examples of one update; of GRPO, answers."""
    at_once: int = Field(default=4, ge=1)
    """Examples in memory at the same time."""
    longest: int = Field(default=1024, ge=16)
    """Tokens of prompt and answer; longer examples are left out."""
    answers: int = Field(default=8, ge=2)
    """GRPO: answers to one prompt, which are compared with each other."""
    temperature: float = Field(default=0.8, gt=0)
    """GRPO: of these answers."""
    beta: float = Field(default=0.1, ge=0)
    """DPO and GRPO: how strongly the model is held to what it was."""
    held_out: float = Field(default=0.1, ge=0, lt=1)
    """DPO and reward: share of the tasks whose pairs are not learnt, and only tell at the end how often it is right."""
    flipped: float = Field(default=0.0, ge=0, le=0.5)
    """DPO and reward: share of the pairs that are turned round before they are learnt, to see what noise does."""
    partial: bool = True
    """GRPO: whether some passing tests are worth something; else only all of them are."""
    own_engine: bool = False
    """GRPO: whether the batch engine writes the answers, and not TRL."""
    curriculum: bool = True
    """GRPO: whether tasks are asked by how often they are solved; else by chance."""
    checkpoint_every: int = Field(default=50, ge=1)
    """Updates between two checkpoints."""

    @property
    def learning_rate(self) -> float:
        """As set, or what suits the kind."""
        return self.rate or RATES[self.kind]


class Need(Frozen):
    """What a training will take, about."""

    memory_bytes: int
    free_bytes: int
    """On the device that will be used."""
    seconds: float
    device: str

    @property
    def fits(self) -> bool:
        """Whether there is room."""
        return self.memory_bytes <= self.free_bytes


class TrainingWatch(EvalProgress):
    """Who looks on while answers are sampled and a model is trained, and may stop it: its `cancel` ends both."""

    def on_stage(self, what: str) -> None:
        """Another part of the work begins."""

    def on_training(self, total: int, done: int) -> None:
        """The updates that there will be, and those that an earlier sitting made."""

    def on_step(self, done: int, total: int, metrics: Mapping[str, float], seconds_left: float) -> None:
        """One update was made."""


def write_recipe(recipe: Recipe, folder: Path) -> None:
    """Save the settings beside the result."""
    lines = [f"{name} = {json.dumps(value)}" for name, value in recipe.model_dump().items() if value is not None]
    write_atomically(folder / RECIPE, ("\n".join(lines) + "\n").encode())


def read_recipe(folder: Path) -> Recipe:
    """The settings of a training. Raises SetupProblem where there are none that can be read."""
    file = folder / RECIPE
    try:
        return Recipe.model_validate(tomllib.loads(file.read_text("utf-8")))
    except FileNotFoundError as error:
        raise SetupProblem(
            f"There is no training in {str(folder)!r}. Begin one: burnish train sft --data DIR"
        ) from error
    except (OSError, ValueError, ValidationError) as error:
        raise SetupProblem(
            f"The settings in {str(file)!r} cannot be read: {error}. Mend or remove that file."
        ) from error


def read_metrics(folder: Path) -> list[dict[str, float]]:
    """The figures of a training, update by update; a torn line is passed over."""
    file = folder / METRICS
    return list(parse_json_lines(file.read_text("utf-8").splitlines() if file.exists() else ()))


def estimate(recipe: Recipe, tokens: int, longest: int, device: str, free_bytes: int) -> Need:
    """What a training takes: weights and their changes, and what one pass keeps for the way back.

    `tokens` are those of one pass over the data, `longest` those of its longest example.
    """
    entry = CATALOG.get(f"local:{_bare(recipe.base)}")
    parameters = _count_parameters(_bare(recipe.base), entry)
    width = 2 if device == "cuda" else 4
    copies = 2 if recipe.kind in ("dpo", "grpo") else 1
    # Without checkpointing a layer keeps some forty numbers per hidden one; logits over 150,000 tokens weigh as much.
    kept = recipe.at_once * longest * (150_000 * 8 + 24 * 1000 * 40 * width)
    memory = int(parameters * width * copies + kept * (2 if recipe.kind in ("dpo", "reward") else 1))
    speed = TOKENS_PER_SECOND[device] * 5e8 / max(parameters, 1e6)
    passes = recipe.epochs * (4 if recipe.kind == "grpo" else 2 if recipe.kind != "sft" else 1)
    return Need(memory_bytes=memory, free_bytes=free_bytes, seconds=tokens * passes / speed, device=device)


def _bare(name: str) -> str:
    return name.rpartition(":")[2].partition("+")[0]


def _count_parameters(name: str, entry: Weights | None) -> float:
    billions = read_billions(name)
    if billions is not None:
        return billions * 1e9
    return float(entry.bytes) * 1.6 if entry else 1e8
