"""Answers for GRPO from the engine that answers everywhere else, each graded while the others are still being written.

The engine has weights of its own, which get what was learnt before every update. Nothing is answered ahead of that: all
answers are of the model that learns from them.
"""

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import torch

from burnish.errors import ModelError
from burnish.learn.reward import Reward
from burnish.models.huggingface.engine import BatchEngine, EngineSize, best_device, explain_broken_engine
from burnish.models.huggingface.slots import EngineRow
from burnish.models.model import Ask, Done
from burnish.models.weights import TransformersSource

MOST_SLOTS, BURST = 256, 8
LORA = "default"
"""What PEFT calls the adapter that is trained."""


class Rollouts:
    """What TRL calls in place of its own generation, as `rollout_func`, and what knows the rewards then."""

    def __init__(
        self,
        source: TransformersSource,
        ask: Ask,
        tasks: Mapping[str, str],
        score: Callable[[Sequence[str], Sequence[str]], list[Reward]],
        slots: int,
        context: int,
    ) -> None:
        on_gpu = best_device().type == "cuda"
        size = EngineSize(min(slots, MOST_SLOTS), context, burst=BURST if on_gpu else 1, reading_tokens=4 * context)
        self._ask, self._tasks, self._score = ask, tasks, score
        self._engine = BatchEngine(source, size)
        self._graders = ThreadPoolExecutor(os.cpu_count() or 1)
        self._graded: list[tuple[str, str, Future[Reward]]] = []
        self._calls = 0

    def __call__(self, prompts: Sequence[str], trainer: Any) -> dict[str, Any]:
        """An answer to each prompt, as tokens."""
        self._engine.ready.wait()
        if self._engine.problem:
            raise explain_broken_engine(self._engine.problem)
        self._learn(trainer.accelerator.unwrap_model(trainer.model))
        self._calls += 1
        tokenizer, rows = self._engine.loaded.tokenizer, list[EngineRow]()
        for place, prompt in enumerate(prompts):
            seed = hash((self._ask.seed, trainer.state.global_step, self._calls, trainer.args.process_index, place))
            ask = self._ask.model_copy(update={"seed": seed % (1 << 31)})
            rows.append(EngineRow(ask, tokenizer(prompt)["input_ids"], threading.Event()))
            self._engine.submit(rows[-1])
        with ThreadPoolExecutor(len(rows)) as waiting:
            told = list(waiting.map(self._answer, rows, prompts))
        self._graded = [graded for _, graded in told]
        return {
            "prompt_ids": [row.prompt for row in rows],
            "completion_ids": [ids for ids, _ in told],
            "logprobs": None,
        }

    def take_rewards(self, tasks: Sequence[str], answers: Sequence[str]) -> list[Reward]:
        """What the answers of the last call are worth. One that was graded as another task's is graded again."""
        known = zip(tasks, answers, self._graded, strict=True)
        return [
            graded.result() if (task, answer) == (name, text) else self._score([task], [answer])[0]
            for task, answer, (name, text, graded) in known
        ]

    def _answer(self, row: EngineRow, prompt: str) -> tuple[list[int], tuple[str, str, Future[Reward]]]:
        """Wait for an answer and have it graded; the tokens end with the one that says so, if it did."""
        while not isinstance(news := row.news.get(), Done):
            if isinstance(news, ModelError):
                raise news
        tokenizer = self._engine.loaded.tokenizer
        text, task = tokenizer.decode(row.written, skip_special_tokens=True), self._tasks[prompt]
        graded = self._graders.submit(lambda: self._score([task], [text])[0])
        return row.written + [tokenizer.eos_token_id] * (news.ended == "stop"), (task, text, graded)

    def _learn(self, network: Any) -> None:
        """Give the engine, which has nothing to do now, the weights as they are with the adapter."""
        own = self._engine.loaded.network
        with torch.inference_mode():
            for name, module in network.named_modules():
                if LORA in getattr(module, "lora_A", {}):
                    weight = module.get_base_layer().weight + module.get_delta_weight(LORA)
                    own.get_submodule(name.removeprefix("base_model.model.")).weight.copy_(weight)
