"""A trained reward model, which says of answers to one question how good they are. It breaks ties, and no verdict."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import torch
from peft import PeftModel

from burnish.errors import SetupProblem
from burnish.events import SpecAgreed
from burnish.learn.dataset import show_spec
from burnish.learn.recipe import read_recipe
from burnish.learn.trainers import RESULT, as_classifier, find_dtype, render_prompt
from burnish.models.adapters import split_adapter
from burnish.models.huggingface.engine import best_device, read_network
from burnish.models.weights import find_transformers_source
from burnish.tasks.task import Task
from burnish.text import fence_code


class RewardJudge:
    """The reward model that a training left in its folder. Raises SetupProblem where there is none."""

    def __init__(self, folder: Path) -> None:
        recipe, result = read_recipe(folder), folder / RESULT
        weights = result / "adapter_model.safetensors"
        if recipe.kind != "reward" or not weights.is_file():
            raise SetupProblem(
                f"In {str(folder)!r} is no reward model that was trained to its end. Train one: "
                f"burnish train reward --data DIR --name {folder.name}"
            )
        self.name = f"{folder.name} ({hashlib.sha256(weights.read_bytes()).hexdigest()[:12]})"
        source = find_transformers_source(split_adapter(recipe.base)[0])
        network, self._tokenizer = read_network(source, find_dtype(), "sdpa")
        if self._tokenizer.pad_token is None:
            self._tokenizer.pad_token = self._tokenizer.eos_token
        judge = as_classifier(network, self._tokenizer)
        self._network = PeftModel.from_pretrained(judge, str(result)).to(best_device()).eval()

    def rate(self, task: Task, spec: SpecAgreed, codes: Sequence[str]) -> list[float]:
        """How good each code is as the answer to a task."""
        asked = render_prompt(show_spec(task, spec), self._tokenizer)
        found: list[float] = []
        for code in codes:
            text = asked + fence_code(code, "python") + str(self._tokenizer.eos_token)
            ids = torch.tensor([self._tokenizer(text)["input_ids"]], device=self._network.device)
            with torch.inference_mode():
                found.append(float(self._network(input_ids=ids).logits[0, 0]))
        return found
