"""The trainers: TRL's, over our datasets, our grader and one LoRA. torch is imported only here and in the engine.

A training can be stopped at any step and goes on from its last checkpoint; the adapter is written when it is complete.
"""

import json
import os
import random
import subprocess
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import torch
from accelerate.utils import gather_object
from datasets import Dataset as Rows
from datasets import disable_progress_bars
from peft import LoraConfig, set_peft_model_state_dict
from peft.utils import SAFETENSORS_WEIGHTS_NAME
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch.utils.data import Sampler
from transformers import PrinterCallback, TrainerCallback, TrainerState
from transformers.trainer import TRAINER_STATE_NAME
from trl import (
    DPOConfig,
    DPOTrainer,
    GRPOConfig,
    GRPOTrainer,
    RewardConfig,
    RewardTrainer,
    SFTConfig,
    SFTTrainer,
)

from burnish.errors import SetupProblem
from burnish.events import Message
from burnish.learn.curriculum import Curriculum
from burnish.learn.dataset import REPAIRS, Dataset
from burnish.learn.gguf_lora import PROJECTIONS
from burnish.learn.recipe import METRICS, Recipe, TrainingWatch
from burnish.learn.reward import Reward
from burnish.learn.rollouts import BURST, Rollouts
from burnish.models.adapters import find_adapter, split_adapter
from burnish.models.huggingface.engine import add_adapter, best_device, read_network
from burnish.models.model import Ask
from burnish.models.weights import find_transformers_source
from burnish.system import read_free_memory

PROBED = 16
"""Examples on which the distance to the base is measured: of writing, as that is what repairs make a model forget."""
CHECKPOINTS, RESULT = "checkpoints", "adapter"
_NAMES = {one.name for one in fields(SFTConfig)}
_RECOMPUTING = "activation_checkpointing" if "activation_checkpointing" in _NAMES else "gradient_checkpointing"
Scorer = Callable[[Sequence[str], Sequence[str]], list[Reward]]
"""What answers are worth: ids of tasks, and an answer to each."""


@dataclass(frozen=True)
class TrainerInput:
    """What a trainer is made of."""

    recipe: Recipe
    folder: Path
    dataset: Dataset
    network: Any
    tokenizer: Any
    lora: LoraConfig | None
    """None where the network has an adapter already, which is trained on."""
    prompts: Mapping[str, Sequence[Message]]
    score: Scorer | None
    curriculum: Curriculum | None

    @property
    def common(self) -> dict[str, Any]:
        """What every trainer of TRL is given."""
        return {"processing_class": self.tokenizer, "peft_config": self.lora}


@dataclass
class _Reporter(TrainerCallback):  # type: ignore[misc]
    """Tells the watch what happens, keeps the figures, and stops where that is wanted."""

    watch: TrainingWatch
    file: Path
    probe: Sequence[Any] = ()
    """Texts as tokens, on which is measured how far the model has moved away from its base."""
    began: float = field(default_factory=time.monotonic)
    first: int = 0
    told: float = 0.0
    """When the last figures came."""

    def on_train_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        self.began = self.told = time.monotonic()
        self.first = state.global_step
        self.watch.on_training(state.max_steps, state.global_step)

    def on_log(self, args: Any, state: Any, control: Any, logs: Mapping[str, Any] | None = None, **more: Any) -> None:
        if not state.is_world_process_zero:
            return
        metrics = {name: float(value) for name, value in (logs or {}).items() if isinstance(value, int | float)}
        if "kl" in metrics:
            metrics["kl/answers"] = metrics.pop("kl")  # TRL's, over what GRPO sampled
        is_due = state.global_step in (1, state.max_steps) or state.global_step % args.save_steps == 0
        if self.probe and is_due and "loss" in metrics:
            metrics["kl"] = measure_kl(more["model"], self.probe)
        if best_device().type == "cuda" and (watts := read_watts()) is not None:
            metrics["joules"] = watts * (time.monotonic() - self.told)
        self.told = time.monotonic()
        row = {"step": state.global_step, "at": round(time.time(), 3), **metrics}
        with self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        made = max(1, state.global_step - self.first)
        left = (time.monotonic() - self.began) / made * (state.max_steps - state.global_step)
        self.watch.on_step(state.global_step, state.max_steps, metrics, left)

    def on_step_end(self, args: Any, state: Any, control: Any, **more: Any) -> Any:
        if self.watch.cancel.is_set():
            control.should_save = control.should_training_stop = True
        return control


def measure_kl(network: Any, texts: Sequence[Any]) -> float:
    """How far a network with an adapter is from the same without: KL divergence in nats, the mean over all tokens.

    It foretells what is forgotten (arXiv 2509.04259).
    """
    was_training = network.training
    network.eval()
    found: list[torch.Tensor] = []
    with torch.inference_mode():
        for tokens in texts:
            ids = torch.tensor([tokens], device=network.device)
            now = network(input_ids=ids).logits[0].float().log_softmax(-1)
            with network.disable_adapter():
                before = network(input_ids=ids).logits[0].float().log_softmax(-1)
            found.append((now.exp() * (now - before)).sum(-1))
    network.train(was_training)
    return float(torch.cat(found).mean())


def measure_distance(adapter: str, texts: Sequence[tuple[Sequence[Message], str]]) -> float:
    """How far an adapter is from its base on answers to questions: KL divergence as `measure_kl` has it."""
    base, name = split_adapter(adapter)
    network, tokenizer = read_network(find_transformers_source(base), find_dtype(), "sdpa")
    network = add_adapter(network, find_adapter(name, base.partition(":")[2]).peft, is_trainable=True)
    whole = [render_prompt(asked, tokenizer) + said for asked, said in texts]
    return measure_kl(network, [tokenizer(text)["input_ids"] for text in whole])


def read_watts() -> float | None:
    """What all GPUs take at this moment; None where that cannot be read."""
    command = ["nvidia-smi", "--query-gpu=power.draw", "--format=csv,noheader,nounits"]
    try:
        told = subprocess.run(command, capture_output=True, text=True, timeout=5, check=True).stdout
        return sum(map(float, told.split()))
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def train(
    recipe: Recipe,
    folder: Path,
    dataset: Dataset,
    watch: TrainingWatch,
    prompts: Mapping[str, Sequence[Message]] | None = None,
    score: Scorer | None = None,
    curriculum: Curriculum | None = None,
) -> bool:
    """Train, from the last checkpoint if there is one; True when it came to its end. The adapter is then in `RESULT`.

    `prompts` by the task's id, `score` and `curriculum` are for GRPO; without the last its tasks come by chance.
    """
    disable_progress_bars()
    warnings.filterwarnings("ignore", category=FutureWarning, module="transformers")  # of TRL's, not of ours
    torch.manual_seed(recipe.seed)
    base, parent = split_adapter(recipe.base)
    network, tokenizer = read_network(find_transformers_source(base), find_dtype(), "sdpa")
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    lora: LoraConfig | None = LoraConfig(
        r=recipe.rank,
        lora_alpha=recipe.alpha,
        lora_dropout=recipe.dropout,
        target_modules=[name.partition(".")[2] for name in PROJECTIONS],
        task_type="SEQ_CLS" if recipe.kind == "reward" else "CAUSAL_LM",
    )
    if parent:
        place = find_adapter(parent, base.partition(":")[2]).peft
        network, lora = add_adapter(network, place, is_trainable=True), None
    given = TrainerInput(recipe, folder, dataset, network, tokenizer, lora, prompts or {}, score, curriculum)
    trainer = _TRAINERS[recipe.kind](given)
    trainer.remove_callback(PrinterCallback)
    written = [row for row in dataset.examples if row.purpose not in REPAIRS] or dataset.examples
    texts = [render_prompt(row.messages, tokenizer) + row.completion for row in written[:PROBED]]
    probe = [tokenizer(text)["input_ids"] for text in texts if recipe.kind != "reward"]  # which says no words any more
    trainer.add_callback(_Reporter(watch, folder / METRICS, probe))
    last, state = find_checkpoint(folder)
    try:
        if last and state.global_step >= state.max_steps:
            # It was killed after its last update, and TRL would make one more.
            set_peft_model_state_dict(trainer.model, load_file(last / SAFETENSORS_WEIGHTS_NAME))
            trainer.state = state
        else:
            trainer.train(resume_from_checkpoint=str(last) if last else None)
        if watch.cancel.is_set() and trainer.state.global_step < trainer.state.max_steps:
            return False
        if trainer.eval_dataset is not None:
            trainer.evaluate()
        trainer.save_model(str(folder / RESULT))
    except torch.OutOfMemoryError as error:
        raise SetupProblem(
            f"The training needs more memory than there is ({error}). Take fewer examples at once: --at-once 1"
        ) from error
    except (OSError, SafetensorError) as error:
        raise SetupProblem(
            f"The training in {str(folder)!r} cannot be written ({error}). What was finished is kept. Make room, and "
            "type the same command again: it goes on from the last checkpoint"
        ) from error
    return True


def find_checkpoint(folder: Path) -> tuple[Path | None, TrainerState]:
    """The last whole checkpoint of a training and its state; None and an empty one where there is none.

    A trainer writes the state last of all, so a checkpoint without it was being written when the process was killed.
    """
    for place in sorted((folder / CHECKPOINTS).glob("checkpoint-*"), key=lambda one: -int(one.name.partition("-")[2])):
        with suppress(OSError, ValueError):
            return place, TrainerState.load_from_json(str(place / TRAINER_STATE_NAME))
    return None, TrainerState()


def find_device() -> tuple[str, int]:
    """What a training will run on, and how many bytes of memory are free there."""
    if best_device().type == "cuda":
        return "cuda", int(torch.cuda.mem_get_info()[0])
    return "cpu", read_free_memory()


def find_dtype() -> torch.dtype:
    """The numbers that are computed with here."""
    return torch.bfloat16 if best_device().type == "cuda" else torch.float32


def _arguments(given: TrainerInput) -> dict[str, Any]:
    """What all trainers are told."""
    recipe = given.recipe
    on_gpu = best_device().type == "cuda"
    return {
        "output_dir": str(given.folder / CHECKPOINTS),
        "learning_rate": recipe.learning_rate,
        "num_train_epochs": recipe.epochs,
        "max_steps": recipe.steps or -1,
        "per_device_train_batch_size": min(recipe.at_once, recipe.batch),
        "gradient_accumulation_steps": max(1, recipe.batch // recipe.at_once),
        "lr_scheduler_type": "cosine",
        "warmup_steps": 0.05,
        "logging_steps": 1,
        "save_steps": recipe.checkpoint_every,
        "save_total_limit": 2,
        "seed": recipe.seed,
        "data_seed": recipe.seed,
        "bf16": on_gpu,
        "fp16": False,
        "use_cpu": not on_gpu,
        # Memory is not what is short here, and this would compute everything twice. It has two names by version.
        _RECOMPUTING: False,
        "report_to": "none",
        "disable_tqdm": True,
        "dataloader_pin_memory": on_gpu,
    }


def render_prompt(messages: Sequence[Message], tokenizer: Any) -> str:
    """The prompt as the model reads it; words that were begun for it stand at the end."""
    begun = messages[-1].content if messages[-1].role == "assistant" else ""
    asked = [message.model_dump() for message in messages[: -1 if begun else None]]
    return str(tokenizer.apply_chat_template(asked, tokenize=False, add_generation_prompt=True)) + begun


def _fitting(rows: Sequence[dict[str, Any]], given: TrainerInput) -> list[dict[str, Any]]:
    """The rows that are short enough; cut ones would teach to stop in the middle."""
    columns = [name for name in ("completion", "chosen", "rejected") if rows and name in rows[0]]
    longest = given.recipe.longest
    kept = []
    for row in rows:
        size = max(len(given.tokenizer(row["prompt"] + row[name])["input_ids"]) for name in columns)
        kept += [row] if size < longest else []
    if not kept:
        raise SetupProblem(
            f"None of the {len(rows)} examples is shorter than {longest} tokens. Allow more: --longest {2 * longest}"
        )
    return kept


def _sft(given: TrainerInput) -> Any:
    rows = [
        {"prompt": render_prompt(example.messages, given.tokenizer), "completion": example.completion}
        for example in given.dataset.examples
    ]
    longest = given.recipe.longest
    return SFTTrainer(
        args=SFTConfig(**_arguments(given), max_length=longest, completion_only_loss=True),
        train_dataset=Rows.from_list(_fitting(rows, given)),
        model=given.network,
        **given.common,
    )


def _dpo(given: TrainerInput) -> Any:
    recipe = given.recipe
    arguments = DPOConfig(**_arguments(given), max_length=recipe.longest, beta=recipe.beta)
    return DPOTrainer(args=arguments, model=given.network, **_pairs(given), **given.common)


def _reward(given: TrainerInput) -> Any:
    arguments = RewardConfig(**_arguments(given), max_length=given.recipe.longest)
    judge = as_classifier(given.network, given.tokenizer)
    return RewardTrainer(args=arguments, model=judge, **_pairs(given), **given.common)


def _pairs(given: TrainerInput) -> dict[str, Rows | None]:
    """Pairs to learn and pairs that are held out, by task; some of the first are turned round where that is wanted."""
    recipe = given.recipe

    def draw(what: str) -> float:
        return random.Random(f"{recipe.seed} {what}").random()

    rows: dict[bool, list[dict[str, Any]]] = {True: [], False: []}
    for place, pair in enumerate(given.dataset.pairs):
        held = draw(pair.task) < recipe.held_out
        turned = not held and draw(str(place)) < recipe.flipped
        chosen, rejected = (pair.rejected, pair.chosen) if turned else (pair.chosen, pair.rejected)
        prompt = render_prompt(pair.messages, given.tokenizer)
        rows[held].append({"prompt": prompt, "chosen": chosen, "rejected": rejected})
    return {
        "train_dataset": Rows.from_list(_fitting(rows[False], given)),
        "eval_dataset": Rows.from_list(_fitting(rows[True], given)) if rows[True] else None,
    }


def as_classifier(network: Any, tokenizer: Any) -> Any:
    """The network with one number for an end, in place of a word."""
    from transformers import AutoModelForSequenceClassification

    config = network.config
    config.num_labels, config.pad_token_id = 1, tokenizer.pad_token_id
    made = AutoModelForSequenceClassification.from_config(config).to(network.dtype)
    made.base_model.load_state_dict(network.base_model.state_dict())
    return made


@dataclass
class _CurriculumSampler(Sampler):  # type: ignore[misc, type-arg, unused-ignore]
    """Asks the curriculum for each update, about one before it is made: accelerate reads one batch ahead."""

    usual: Any
    """TRL's sampler, which has the sizes."""
    curriculum: Curriculum

    def __len__(self) -> int:
        return len(self.usual)

    def __iter__(self) -> Iterator[int]:
        places = {name: place for place, name in enumerate(self.usual.data_source["task"])}
        for _ in range(self.usual.num_samples // self.usual.batch_size):
            chosen = self.curriculum.choose(self.usual.batch_size)
            for name in chosen * self.usual.repeat_count:
                yield from [places[name]] * self.usual.mini_repeat_count


class _GroupTrainer(GRPOTrainer):  # type: ignore[misc]
    """GRPO by a curriculum, in which answers of one worth to one prompt teach nothing.

    TRL gives these no advantage, but still holds them to the base, and divides by their tokens too.
    """

    curriculum: Curriculum | None = None
    judged: Sequence[tuple[str, bool]] = ()
    """The last answers of this process, each by its task and whether it was right."""

    def _get_train_sampler(self, dataset: Any = None) -> Any:
        usual = super()._get_train_sampler(dataset)
        return _CurriculumSampler(usual, self.curriculum) if self.curriculum is not None else usual

    def _generate_and_score_completions(self, inputs: Any) -> Any:
        found = super()._generate_and_score_completions(inputs)
        # All processes know all answers, so that all choose the same tasks.
        for task, is_right in gather_object(list(self.judged)):
            if self.curriculum is not None:
                self.curriculum.record(task, [is_right])
        differs = found["advantages"].view(-1, self.num_generations).ne(0).any(1)
        found["completion_mask"] *= differs.repeat_interleave(self.num_generations).unsqueeze(1)
        found["num_items_in_batch"] = self.accelerator.gather(found["completion_mask"].sum()).sum()
        return found


def _grpo(given: TrainerInput) -> Any:
    recipe, prompts, score = given.recipe, given.prompts, given.score
    if not prompts or score is None:
        raise SetupProblem("GRPO needs tasks whose answers can be graded. Name a suite: --tasks FILE.jsonl")

    def reward(completions: list[str], task: list[str], **more: Any) -> list[float]:
        rewards = rollouts.take_rewards(task, completions) if rollouts else score(task, completions)
        trainer.judged = [(name, one.parts["complete"] == 1) for name, one in zip(task, rewards, strict=True)]
        return [one.total for one in rewards]

    arguments = _arguments(given)
    each = recipe.answers * max(1, arguments["per_device_train_batch_size"] // recipe.answers)
    processes = int(os.environ.get("WORLD_SIZE", "1"))
    most = min(recipe.batch, len(prompts) * recipe.answers // processes)  # an update takes no task twice
    arguments |= {"per_device_train_batch_size": each, "gradient_accumulation_steps": max(1, most // each)}
    # The curriculum knows what was asked before a stop, and would be asked for all of it again.
    arguments["ignore_data_skip"] = given.curriculum is not None
    rows = [{"prompt": render_prompt(asked, given.tokenizer), "task": name} for name, asked in prompts.items()]
    longest = max(len(given.tokenizer(row["prompt"])["input_ids"]) for row in rows) + recipe.longest // 2 + 2 * BURST
    rollouts = None
    if recipe.own_engine:
        os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")  # of `rollout_func`, of which it warns
        ask = Ask(purpose="train", messages=(), temperature=recipe.temperature, top_k=0, min_p=0.0, seed=recipe.seed)
        ask = ask.model_copy(update={"max_tokens": recipe.longest // 2})
        source = find_transformers_source(split_adapter(recipe.base)[0])
        rollouts = Rollouts(source, ask, {row["prompt"]: row["task"] for row in rows}, score, most, longest)
    config = GRPOConfig(
        **arguments,
        num_generations=recipe.answers,
        max_completion_length=recipe.longest // 2,
        temperature=recipe.temperature,
        beta=recipe.beta,
        scale_rewards="group",
        mask_truncated_completions=True,
    )
    trainer = _GroupTrainer(
        args=config,
        reward_funcs=[reward],
        train_dataset=Rows.from_list(rows),
        model=given.network,
        rollout_func=rollouts,
        **given.common,
    )
    trainer.curriculum = given.curriculum
    return trainer


_TRAINERS: dict[str, Callable[[TrainerInput], Any]] = {"sft": _sft, "dpo": _dpo, "reward": _reward, "grpo": _grpo}
