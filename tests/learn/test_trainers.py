"""Every trainer makes three updates of a tiny random network, is stopped, goes on, and leaves an adapter that works."""

import errno
import functools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import burnish
from burnish.agent.ask import TieBreaker
from burnish.commands.train import Sampling, export_adapter, make_dataset, open_judge, report, train, train_rounds
from burnish.errors import ModelError, SetupProblem
from burnish.evals.evaluate import evaluate
from burnish.events import Compared, Message, ModelReplied
from burnish.evidence.build import build_dossier
from burnish.learn.dataset import GO_ON, Dataset, Example, Pair, save_dataset
from burnish.learn.recipe import Recipe, TrainingWatch, estimate, read_metrics
from burnish.learn.report import describe_energy, read_pairs, write_report
from burnish.models.adapters import find_adapter
from burnish.models.scripted import ScriptedModel
from burnish.tasks.task import Task
from tests.learn.conftest import Learner
from tests.support import DOUBLE, block, script

try:
    import torch
    import transformers

    from burnish.learn.gguf_lora import write_gguf
    from burnish.learn.trainers import measure_distance, read_watts
    from tests.models.tiny_network import make_tiny
except ImportError:
    THERE = False
else:
    THERE = True

needs_torch = pytest.mark.skipif(not THERE, reason="torch and trl are not installed: the extra [train]")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning"),
]
ASKED = (Message(role="system", content="s"), Message(role="user", content="double"))
SMALL = {"steps": 3, "batch": 4, "at_once": 2, "longest": 300, "checkpoint_every": 1}


class Stopping(TrainingWatch):
    """Looks on, and stops after so many updates."""

    def __init__(self, after: int = 1000) -> None:
        self.after, self.seen = after, list[int]()
        self.begun = list[tuple[int, int]]()

    def on_training(self, total: int, done: int) -> None:
        self.begun.append((total, done))

    def on_step(self, done: int, total: int, metrics: Mapping[str, float], seconds_left: float) -> None:
        self.seen.append(done)
        assert seconds_left >= 0
        if done >= self.after:
            self.stop()


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    examples = [Example(task=f"t{n}", purpose="fix", messages=ASKED, completion=f"x{n}") for n in range(8)]
    pairs = [Pair(task=f"t{n}", purpose="fix", messages=ASKED, chosen=f"good{n}", rejected=f"bad{n}") for n in range(8)]
    save_dataset(Dataset(examples=tuple(examples), pairs=tuple(pairs)), tmp_path / "ds")
    return tmp_path / "ds"


@needs_torch
@pytest.mark.parametrize("kind", ["sft", "dpo"])
def test_a_training_is_stopped_and_goes_on_and_leaves_an_adapter(
    kind: Any, tiny: Path, dataset: Path, data: Path, tmp_path: Path
) -> None:
    told: dict[str, Any] = {
        "data": dataset,
        "base": f"huggingface:{tiny}",
        "name": "mine",
        "benchmark_data": data,
        **SMALL,
    }
    watch = Stopping(after=1)
    assert train(kind, watch=watch, **told) is None
    again = Stopping()
    made = train(kind, watch=again, **told)
    assert made is not None
    assert again.begun == [(3, 2)], "the update under way is finished, and none is made again"
    assert (made.card.name, made.card.base) == ("mine", str(tiny))
    assert made.gguf.read_bytes().startswith(b"GGUF")
    folder = tmp_path / "home" / "trainings" / "mine"
    rows = read_metrics(folder)
    assert {row["step"] for row in rows} == {1, 2, 3}
    moved = [row["kl"] for row in rows if "kl" in row]
    assert moved[0] == pytest.approx(0, abs=1e-5), "the rate is 0 at the first update"
    assert moved[-1] > 0
    text = report("mine").read_text()
    assert "![loss](loss.svg)" in text
    with pytest.raises(SetupProblem, match="--name NAME"):
        train(kind, **{**told, "steps": 5})


@needs_torch
def test_a_disk_that_fills_up_costs_no_checkpoint(
    tiny: Path, dataset: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: dict[str, Any] = {"data": dataset, "base": f"huggingface:{tiny}", "benchmark_data": data, **SMALL}
    saved, save = list[int](), transformers.Trainer._save_checkpoint

    def fill_up(trainer: Any, *given: Any, **named: Any) -> None:
        saved.append(trainer.state.global_step)
        if len(saved) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        save(trainer, *given, **named)

    monkeypatch.setattr(transformers.Trainer, "_save_checkpoint", fill_up)
    with pytest.raises(SetupProblem, match="No space left"):
        train("sft", name="mine", **told)
    watch = Stopping()
    assert train("sft", name="mine", watch=watch, **told)
    assert watch.begun == [(3, 1)]


KILLED_AMID_A_CHECKPOINT = """
import json, os, signal, sys, warnings
warnings.simplefilter("ignore")
from transformers import Trainer
from burnish.commands.train import train
save, saved = Trainer._save_optimizer_and_scheduler, []
def deadly(trainer, folder):
    saved.append(folder)
    if len(saved) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    save(trainer, folder)
Trainer._save_optimizer_and_scheduler = deadly
train("sft", name="mine", **json.loads(sys.argv[1]))
"""


@needs_torch
def test_a_training_that_is_killed_amid_a_checkpoint_goes_on_from_the_one_before(
    tiny: Path, dataset: Path, data: Path, home: Path
) -> None:
    told: dict[str, Any] = {"data": dataset, "base": f"huggingface:{tiny}", "benchmark_data": data, **SMALL}
    words = [sys.executable, "-c", KILLED_AMID_A_CHECKPOINT, json.dumps(told, default=str)]
    assert subprocess.run(words, capture_output=True).returncode == -signal.SIGKILL
    half, whole = (home / "trainings" / "mine" / "checkpoints" / f"checkpoint-{number}" for number in (2, 1))
    assert (half / "adapter_model.safetensors").is_file(), "else nothing was being written"
    assert (whole / "trainer_state.json").is_file()
    watch = Stopping()
    made = train("sft", name="mine", watch=watch, **told)
    assert made
    assert watch.begun == [(3, 1)]
    again = train("sft", name="mine", watch=watch, **told)
    assert again
    assert watch.begun == [(3, 1)], "where it was killed after the last update, none is made"
    assert again.card.sha256 == made.card.sha256


@needs_torch
def test_several_processes_train_one_adapter_together(tiny: Path, dataset: Path, data: Path, home: Path) -> None:
    told = ["--data", dataset, "--base", f"huggingface:{tiny}", "--steps", "3", "--batch", "4", "--at-once", "2"]
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "burnish"]
    words = [sys.executable, *launch, "train", "sft", "--name", "mine", "--longest", "300", *map(str, told)]
    environment = {**os.environ, "BURNISH_DATA": str(data), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(words, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.count("Trained.") == 1
    rows = [row["step"] for row in read_metrics(home / "trainings" / "mine") if "loss" in row]
    assert rows == [1, 2, 3]
    assert find_adapter("mine").gguf.is_file()


@needs_torch
def test_each_round_learns_from_answers_of_the_one_before(
    tiny: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def open_learner(name: str, progress: object = None) -> Learner:
        asked.append(name)
        return Learner()

    monkeypatch.setattr("burnish.evals.evaluate.open_task_model", open_learner)
    sampling = Sampling("scripted:learner", writing=4, repairs=1, bugs=1)
    make_dataset(tmp_path / "ds", sampling=sampling, feedback=False, data=data)
    told: dict[str, Any] = {"data": tmp_path / "ds", "base": f"huggingface:{tiny}", "benchmark_data": data, **SMALL}
    made = train_rounds(2, name="mine", **{**told, "longest": 2000})
    assert made
    assert made.folder.name == "mine"
    assert asked == ["scripted:learner"] * 2 + [f"huggingface:{tiny}+mine-1"] * 2
    assert (tmp_path / "ds" / "round-2" / "examples.jsonl").is_file()
    with pytest.raises(SetupProblem, match="--sample"):
        train_rounds(2, **{**told, "data": tmp_path})
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(SetupProblem, match="torchrun"):
        train_rounds(2, **told)


@needs_torch
def test_what_was_sampled_trains_an_adapter_that_is_measured_shown_handed_on_and_answers(
    tiny: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("burnish.evals.evaluate.open_task_model", lambda name, progress=None: Learner())
        sampling = Sampling("scripted:learner", writing=4, repairs=1, bugs=1)
        make_dataset(tmp_path / "ds", sampling=sampling, feedback=False, data=data)
    base = f"huggingface:{tiny}"
    told: dict[str, Any] = {**SMALL, "longest": 2000, "rate": 0.05}
    made = train("sft", data=tmp_path / "ds", base=base, name="mine", benchmark_data=data, **told)
    assert made
    names = []
    for name in (base, f"{base}+mine"):
        names.append(str(tmp_path / f"eval-{len(names)}"))
        suite = str(tmp_path / "ds" / "writing.jsonl")
        found = evaluate(suite, name, strategy="single", max_tokens=8, seeds=(0, 1), out=names[-1])
        assert (found.finished, found.errors, found.solved) == (4, 0, 0)
    assert made.label in found.engine
    text = report("mine", names[:1], names[1:]).read_text()
    assert "was not measured" in text
    assert "| writing single | 0.0 % | 0.0 % | +0.0 (+0.0 to +0.0) | k = 2: 0.0 → 0.0 | 0 | 0 |" in text
    (score,) = find_adapter("mine").card.scores
    assert (score.what, score.base, score.adapter) == ("writing single, 4 attempts", 0.0, 0.0)
    assert "+mine" in score.command
    report("mine", names[:1], names[1:], kl=True)
    samples = [str(tmp_path / "ds" / "samples" / "writing")]
    measured = read_pairs(samples, samples)
    text = write_report(tmp_path / "home" / "trainings" / "mine", measured, lambda _, texts: len(texts)).read_text()
    assert "| writing single | 2.0000 | 2.0000 |" in text, "one answer to each of two tasks"
    assert measure_distance(f"{base}+mine", [(ASKED, "def f(): ...")]) > 0
    assert find_adapter("mine").card.scores == (score,), "measured twice, it is one score"
    page = (export_adapter("mine", tmp_path / "hub") / "README.md").read_text()
    assert "| writing single, 4 attempts | 0 | 0 |" in page
    named = (export_adapter("mine", tmp_path / "ollama", to="ollama") / "Modelfile").read_text()
    assert named.splitlines() == [f"FROM {tiny}", "ADAPTER ./adapter.gguf"]
    assert made.model_name == f"{base}+mine"
    run = burnish.write(DOUBLE, model=made.model_name, limits=burnish.Limits(calls=1, max_tokens=8), fast=True)
    assert any(isinstance(event, ModelReplied) for event in run.events)
    assert made.card.sha256 in {model.weights_sha256 for model in build_dossier(run, {}).models}


@needs_torch
def test_an_adapter_is_trained_on_and_changes_what_the_network_says(tiny: Path, dataset: Path, data: Path) -> None:
    told: dict[str, Any] = {"data": dataset, "benchmark_data": data, **SMALL, "rate": 0.05}
    first = train("sft", base=f"huggingface:{tiny}", name="one", **told)
    assert first
    second = train("sft", base=f"huggingface:{tiny}+one", name="two", **told)
    assert second
    assert second.card.parent == "one"
    from burnish.models.huggingface.engine import load_weights
    from burnish.models.weights import TransformersSource

    ids = torch.tensor([[5, 9, 40]])
    said = []
    for adapter in ("", str(first.peft), str(second.peft)):
        network = load_weights(TransformersSource(str(tiny), adapter=adapter), 256).network
        network.set_attn_implementation("sdpa")
        said.append(network(ids).logits.detach())
    assert not torch.allclose(said[0], said[1], atol=1e-4)
    assert not torch.allclose(said[1], said[2], atol=1e-4)


@needs_torch
def test_an_adapter_that_is_a_pickle_is_not_opened(tiny: Path, tmp_path: Path) -> None:
    from burnish.models.huggingface.engine import load_weights
    from burnish.models.weights import TransformersSource

    (tmp_path / "adapter_config.json").write_text('{"peft_type": "LORA", "r": 4}')
    torch.save({}, tmp_path / "adapter_model.bin")
    with pytest.raises(ModelError, match="safetensors"):
        load_weights(TransformersSource(str(tiny), adapter=str(tmp_path)), 256)


@needs_torch
def test_a_reward_model_learns_which_answer_is_better(tiny: Path, dataset: Path, data: Path, tmp_path: Path) -> None:
    watch = Stopping()
    told: dict[str, Any] = {"data": dataset, "base": f"huggingface:{tiny}", "benchmark_data": data, **SMALL}
    told |= {"held_out": 0.4, "flipped": 0.3}
    assert train("reward", name="judge", out=tmp_path / "judge", watch=watch, **told) is None
    rows = read_metrics(tmp_path / "judge")
    assert "accuracy" in rows[0]
    assert "eval_accuracy" in rows[-1]
    assert "pairs that were held out" in report(str(tmp_path / "judge")).read_text()
    assert (tmp_path / "judge" / "adapter" / "adapter_model.safetensors").is_file()


@needs_torch
def test_a_reward_model_breaks_ties_is_on_record_and_changes_no_verdict(
    tiny: Path, dataset: Path, data: Path, home: Path
) -> None:
    told: dict[str, Any] = {"data": dataset, "base": f"huggingface:{tiny}", "benchmark_data": data, **SMALL}
    train("reward", name="judge", **told)
    answers = [block(f"def double(n):\n    return {said}") for said in ("n * 2", "n + n", "2 * n")]

    def write(judge: TieBreaker | None = None) -> burnish.Run:
        model = ScriptedModel(script(draft=answers, rewrite=answers[1:], repair=answers[2:]))
        told = {"limits": burnish.Limits(calls=4), "confidence": 1.0, "fast": True}
        return burnish.write(DOUBLE, model=model, prefer=judge, **told)  # type: ignore[arg-type]

    plain, judged = write(), write(open_judge("judge"))
    assert not any(event.preferred for event in plain.all(Compared)), "off unless one is named"
    compared = judged.last(Compared)
    assert compared
    rated = dict(compared.preferred)
    assert len({*rated.values()}) > 1
    assert compared.preferred_by.startswith("judge (")
    assert judged.final
    assert judged.final.number == max(rated, key=lambda number: rated[number])
    assert judged.verdict == plain.verdict
    again = open_judge(str(home / "trainings" / "judge"))
    codes = [version.code for version in judged.versions if version.number in rated]
    task = Task.model_validate(judged.settings.task)
    assert judged.spec
    assert again.rate(task, judged.spec, codes) == pytest.approx([*rated.values()]), "the same network says the same"
    with pytest.raises(SetupProblem, match="burnish train"):
        open_judge("nobody")


@needs_torch
def test_grpo_grades_its_answers_in_the_sandbox_and_logs_what_each_is_worth(
    tiny: Path, data: Path, tmp_path: Path
) -> None:
    (tmp_path / "ds").mkdir()
    suite = tmp_path / "ds" / "tasks.jsonl"
    row = {
        "id": "mine",
        "prompt": "Double a number.",
        "entry_point": "double",
        "hidden_tests": "assert double(2) == 4\n",
    }
    wrong = (*ASKED, Message(role="assistant", content="no"), Message(role="user", content="go on"))
    begun = Example(task="mine", purpose=GO_ON, messages=wrong, completion="x")
    save_dataset(Dataset(examples=(begun,)), tmp_path / "ds")
    suite.write_text(json.dumps(row) + "\n")
    settings = {**SMALL, "longest": 40, "answers": 2, "steps": 1}
    made = train(
        "grpo",
        data=tmp_path / "ds",
        base=f"huggingface:{tiny}",
        name="mine",
        out=tmp_path / "g",
        benchmark_data=data,
        **settings,
    )
    assert made
    logged = [json.loads(line) for line in (tmp_path / "g" / "rewards.jsonl").read_text().splitlines()]
    assert {one["task"] for one in logged} == {"mine", "mine~0"}, "the task itself, and a wrong answer to go on from"
    assert {one["total"] for one in logged} == {0.0}, "noise is worth nothing"
    text = report(str(tmp_path / "g")).read_text()
    assert "| complete | 0.00 | 0.00 |" in text
    assert "attempt to fool the judge: none" in text


def unmasked(configure: Any, **told: Any) -> Any:
    """Noise never ends, and answers that are cut off are left out."""
    return configure(**{**told, "mask_truncated_completions": False})


@needs_torch
def test_grpo_asks_what_is_sometimes_solved_and_learns_nothing_from_answers_of_one_worth(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from burnish.learn import trainers
    from burnish.learn.curriculum import Curriculum
    from burnish.learn.reward import Reward

    seen: list[dict[str, Any]] = []
    compute = trainers.GRPOTrainer._compute_loss

    def look_on(trainer: Any, model: Any, inputs: dict[str, Any]) -> Any:
        seen.append(inputs)
        return compute(trainer, model, inputs)

    monkeypatch.setattr(trainers, "GRPOConfig", functools.partial(unmasked, trainers.GRPOConfig))
    monkeypatch.setattr(trainers.GRPOTrainer, "_compute_loss", look_on)
    asked: list[str] = []

    def score(ids: Any, answers: Any) -> list[Reward]:
        asked.extend(ids)
        worth = [0.5 if name == "same" else float(n % 2) for n, name in enumerate(ids)]
        return [Reward(total=one, parts={"complete": one}) for one in worth]

    tasks = [Task(id=name, prompt=name) for name in ("same", "some", "solved")]
    curriculum = Curriculum(tasks)
    curriculum.record("solved", [True] * 8)
    told: dict[str, Any] = {"base": f"huggingface:{tiny}", "data": "d", **SMALL, "longest": 24, "answers": 2}
    prompts = {task.id: ASKED for task in tasks}
    recipe = Recipe(kind="grpo", **told)
    assert trainers.train(recipe, tmp_path, Dataset(), TrainingWatch(), prompts, score, curriculum)
    assert {*asked} == {"same", "some"}
    for one in seen:
        assert ((one["completion_mask"].sum(1) > 0) == (one["advantages"] != 0)).all()
        assert one["num_items_in_batch"] == 2 * 12, "one of the two groups counts"
    assert {True, False} == {known for one in seen for known in one["advantages"].ne(0).tolist()}
    rows = read_metrics(tmp_path)
    assert rows[0]["frac_reward_zero_std"] == 0.5
    assert rows[0]["kl/answers"] == pytest.approx(0, abs=1e-4)


@needs_torch
def test_answers_of_our_own_engine_come_from_the_weights_as_they_are_and_are_graded_once(
    tiny: Path, tmp_path: Path
) -> None:
    from burnish.learn import trainers
    from burnish.learn.reward import Reward

    graded: list[tuple[str, str]] = []
    seen: list[Any] = []

    def score(ids: Any, answers: Any) -> list[Reward]:
        graded.extend(zip(ids, answers, strict=True))
        return [Reward(total=float(len(text) % 3), parts={"complete": 0.0}) for text in answers]

    class Comparing(trainers.Rollouts):
        def __call__(self, prompts: Any, trainer: Any) -> dict[str, Any]:
            made = super().__call__(prompts, trainer)
            ids = torch.tensor([made["prompt_ids"][0]])
            own = self._engine.loaded.network
            own.set_attn_implementation("sdpa")
            with torch.inference_mode():
                seen.append((own(ids).logits, trainer.model(ids).logits))
            own.set_attn_implementation("burnish_slots")
            return made

    told: dict[str, Any] = {"base": f"huggingface:{tiny}", "data": "d", **SMALL, "longest": 24, "answers": 4}
    recipe = Recipe(kind="grpo", own_engine=True, rate=0.05, **told)
    prompts = {"one": ASKED, "two": (Message(role="user", content="other"),)}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(trainers, "Rollouts", Comparing)
        patched.setattr(trainers, "GRPOConfig", functools.partial(unmasked, trainers.GRPOConfig))
        assert trainers.train(recipe, tmp_path, Dataset(), TrainingWatch(), prompts, score)
    assert len(graded) == 3 * 4, "each answer once, while others were being written"
    assert len({text for _, text in graded}) > 4
    for own, trained in seen:
        assert torch.allclose(own, trained, atol=1e-3)
    assert not torch.allclose(seen[0][0][:, 0], seen[-1][0][:, 0], atol=1e-3), "it has learnt in between"


@needs_torch
def test_the_gguf_file_holds_the_same_numbers(tiny: Path, dataset: Path, data: Path, tmp_path: Path) -> None:
    from gguf import GGUFReader
    from safetensors.torch import load_file

    made = train("sft", data=dataset, base=f"huggingface:{tiny}", name="mine", benchmark_data=data, **SMALL)
    assert made
    reader = GGUFReader(made.gguf)
    tensors = {one.name: torch.tensor(one.data.copy()) for one in reader.tensors}
    own = load_file(made.peft / "adapter_model.safetensors")
    assert len(tensors) == len(own) == 2 * 2 * 7
    name = "base_model.model.model.layers.1.self_attn.v_proj.lora_A.weight"
    assert torch.equal(tensors["blk.1.attn_v.weight.lora_a"], own[name].half())
    config = json.loads((made.peft / "adapter_config.json").read_text())
    (made.peft / "adapter_config.json").write_text(json.dumps({**config, "use_dora": True}))
    with pytest.raises(SetupProblem, match="use_dora"):
        write_gguf(made.peft, tmp_path / "x.gguf")


@needs_torch
def test_data_that_may_not_be_learnt_from_is_refused(tiny: Path, data: Path, tmp_path: Path) -> None:
    asked = (Message(role="user", content="Say how many pairs of equal neighbours a list of numbers has in all."),)
    stolen = Example(task="innocent", purpose="write", messages=asked, completion="x")
    save_dataset(Dataset(examples=(stolen,)), tmp_path / "ds")
    told: dict[str, Any] = {"base": f"huggingface:{tiny}", "benchmark_data": data, **SMALL}
    with pytest.raises(SetupProblem, match="may not be learnt from"):
        train("sft", data=tmp_path / "ds", **told)
    with pytest.raises(SetupProblem, match="no pair"):
        train("dpo", data=tmp_path / "ds", **told)
    for suite in ("humanevalfix", "mbpp"):
        with pytest.raises(SetupProblem, match="may not be learnt from"):
            train("grpo", data=suite, **told)
    with pytest.raises(SetupProblem, match="can be trained"):
        train("sft", data=tmp_path / "ds", base="openai:gpt-x", benchmark_data=data)
    with pytest.raises(SetupProblem, match="no name"):
        train("sft", data=tmp_path / "ds", name="../mine")


@needs_torch
def test_examples_that_are_too_long_are_left_out_and_none_left_is_said(tiny: Path, dataset: Path, data: Path) -> None:
    with pytest.raises(SetupProblem, match="--longest"):
        train("sft", data=dataset, base=f"huggingface:{tiny}", benchmark_data=data, **{**SMALL, "longest": 16})


@needs_torch
def test_energy_is_what_the_gpus_say_they_take(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = tmp_path / "nvidia-smi"
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    for said, watts in (("echo 100.5; echo 20", 120.5), ("echo '[N/A]'", None), ("exit 9", None)):
        command.write_text(f"#!/bin/sh\n{said}\n")
        command.chmod(0o755)
        assert read_watts() == watts
    command.unlink()
    assert read_watts() is None
    assert "took 3 Wh in 2 updates" in describe_energy([{"joules": 3600.0}, {"joules": 7200.0}, {"loss": 1.0}])
    assert "not measured" in describe_energy([{"loss": 1.0}])


def test_what_cannot_fit_is_known_beforehand() -> None:
    recipe = Recipe(kind="sft", base="huggingface:qwen2.5-coder-0.5b", data="ds")
    need = estimate(recipe, 1_000_000, 1024, "cpu", 2_000_000_000)
    assert not need.fits
    assert need.seconds > 3600
    smaller = recipe.model_copy(update={"at_once": 1})
    assert estimate(smaller, 1_000_000, 256, "cpu", 24_000_000_000).fits
    assert estimate(recipe, 1_000_000, 1024, "cuda", 10**11).seconds < 120


def test_an_adapter_that_was_never_trained_is_not_there() -> None:
    with pytest.raises(SetupProblem):
        find_adapter("mine")
