"""`burnish train`: datasets from what is on record, trainings, and the adapters that come of them.

Answers are sampled as evaluations, so they are resumable and graded by the one grader; a training goes on from its last
checkpoint; an adapter appears when it is whole. Nothing that is evaluated on is ever learnt from.
"""

import hashlib
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from burnish import paths
from burnish.agent.answer.code import extract_code, find_problem
from burnish.agent.ask import TieBreaker
from burnish.checks import grade_script
from burnish.errors import SetupProblem
from burnish.evals.eval_store import Folder, find_evaluation
from burnish.evals.evaluate import evaluate
from burnish.evals.strategies import prompts
from burnish.evals.strategies.strategy import show_task
from burnish.evals.suites import load_suite
from burnish.events import Message
from burnish.jsonlines import parse_json_lines
from burnish.learn.curriculum import Curriculum
from burnish.learn.dataset import (
    EXAMPLES,
    GO_ON,
    PAIRS,
    SUMMARY,
    Dataset,
    Example,
    Pair,
    SampledAnswer,
    choose_examples,
    choose_pairs,
    go_on,
    load_dataset,
    read_answers,
    read_feedback,
    save_dataset,
)
from burnish.learn.recipe import (
    RECIPE,
    Kind,
    Recipe,
    TrainingWatch,
    estimate,
    is_first_process,
    read_recipe,
    write_recipe,
)
from burnish.learn.report import REWARDS, Distance, list_scores, read_pairs, write_report
from burnish.learn.reward import Reward, RewardWeights, read_weights, reward
from burnish.learn.tasks import (
    EvaluationGuard,
    load_guard,
    load_writing,
    make_repairs,
    make_several,
    make_test_tasks,
    number_of,
    plant_bugs,
    write_suite,
)
from burnish.models.adapters import (
    CARD,
    GGUF,
    NAME,
    PEFT,
    Adapter,
    AdapterCard,
    Score,
    adapters_home,
    find_adapter,
    hash_file,
    split_adapter,
)
from burnish.models.catalog import CATALOG
from burnish.paths import describe_origin, make_private_folder, write_atomically
from burnish.runs.store import Store
from burnish.sandbox.open import open_sandbox
from burnish.sandbox.sandbox import Sandbox
from burnish.tasks.assemble import assemble
from burnish.tasks.bug_planting import PlantedBug, find_failing, normalise_code
from burnish.tasks.sentence import find_kinds
from burnish.tasks.task import Task

PACKAGES = ("torch", "transformers", "peft", "trl", "datasets")
TEMPERATURE = 0.8
"""Of sampled answers: they must differ."""
MOST_OWN_BUGS = 2
"""Wrong answers of the model itself that become a repair, for each task."""
GRADE_SECONDS = 2.0


@dataclass(frozen=True)
class Sampling:
    """How many answers are asked for, and of whom."""

    model: str
    writing: int = 10
    """Answers to each task to write."""
    repairs: int = 2
    """Answers to each bug."""
    bugs: int = 4
    """Planted in each task."""
    limit: int | None = None
    """Only so many tasks, in an order of their own: neighbours in MBPP are alike."""
    at_once: int = 0
    more: bool = False
    """Whether also tasks of several functions, tests to write and transcripts to go on from are made."""


def make_dataset(
    out: Path | str,
    *,
    sampling: Sampling | None = None,
    evaluations: Sequence[str] = (),
    feedback: bool = True,
    simulated: bool = False,
    store: Store | None = None,
    data: Path | str | None = None,
    watch: TrainingWatch | None = None,
) -> dict[str, object]:
    """Make a dataset in a folder and return its summary: of sampled answers, of evaluations, and of what people said.

    What is there already of the samples is not asked for again; stopped by its watch, it raises CancelledError.
    Evaluations of anything that is evaluated on are refused, and rows that quote it are left out by name; opinions of
    programs are used only where `simulated` says so. Raises SetupProblem where nothing was found.
    """
    folder, watch = Path(out).expanduser().absolute(), watch or TrainingWatch()
    source = Path(data) if data else None
    answers, begun = list[SampledAnswer](), list[SampledAnswer]()
    removed: list[str] = []
    if sampling:
        folder.mkdir(parents=True, exist_ok=True)
        answers, begun, removed = sample_answers(sampling, folder, source, watch)
    guard = load_guard(source, watch.on_prepare)
    for name in evaluations:
        answers += read_allowed(Folder.open(find_evaluation(name)), guard)
    said = read_feedback(store or Store(), reviewer=simulated) if feedback else Dataset()
    examples = [row for row in said.examples if simulated or row.by != "simulated"]
    pairs = [row for row in said.pairs if simulated or row.by != "simulated"]
    found = Dataset(
        examples=(*examples, *choose_examples([*answers, *begun])),
        pairs=(*pairs, *choose_pairs(answers)),
    )
    dataset, left = leave_out(found, guard)
    removed += left
    if not dataset.examples and not dataset.pairs:
        raise SetupProblem(
            f"There is nothing to learn from: no run has feedback, tests verify none of {len(answers)} answers, and "
            f"{len(left)} rows belong to what is evaluated on. Sample more answers, of a model that can: "
            f"burnish train data --out {folder} --sample local:qwen2.5-coder-0.5b"
        )
    left_out = len(said.examples) + len(said.pairs) - len(examples) - len(pairs)
    verified = sum(answer.passed for answer in answers)
    return save_dataset(
        dataset,
        folder,
        **{
            "answers": len(answers),
            "answers that passed": verified,
            "simulated opinions left out": left_out,
            "tasks that may not be learnt from": removed,
            "sampled": asdict(sampling) if sampling else {},
            "made": describe_origin(),
        },
    )


def leave_out(dataset: Dataset, guard: EvaluationGuard) -> tuple[Dataset, list[str]]:
    """The rows of a dataset that may be learnt from, and the tasks of the others with the reason."""
    removed: dict[str, str] = {}

    def may_stay(row: Example | Pair) -> bool:
        if why := guard.why_not_row(row.task, row.messages, row.answers):
            removed[row.task] = why
        return not why

    kept = Dataset(
        examples=tuple(filter(may_stay, dataset.examples)),
        pairs=tuple(filter(may_stay, dataset.pairs)),
    )
    return kept, [f"{task}: {why}" for task, why in removed.items()]


def sample_answers(
    sampling: Sampling, folder: Path, data: Path | None, watch: TrainingWatch
) -> tuple[list[SampledAnswer], list[SampledAnswer], list[str]]:
    """Answers to the training tasks and to bugs; transcripts to go on from; and which tasks were removed."""
    tasks, removed = load_writing(data, watch.on_prepare)
    tasks = sorted(tasks, key=lambda task: hashlib.sha256(task.id.encode()).digest())[: sampling.limit]
    watch.on_stage("answers to tasks to write")
    answers = _sample(tasks, "writing", sampling, sampling.writing, folder, watch)
    begun: list[SampledAnswer] = []
    suites: dict[str, list[Task]] = {}
    with open_sandbox() as box:
        watch.on_stage("bugs to repair: planted ones, and the model's own mistakes")
        mistakes = find_own_bugs(answers, tasks, box)
        bugs = [*plant_bugs(tasks, box, sampling.bugs, watch.on_prepare), *(bug for _, bug in mistakes)]
        suites["repairs"] = make_repairs(tasks, bugs)
        if sampling.more:
            known = {task.id: task for task in tasks}
            begun = [go_on(one, find_failing(known[bug.id], bug, known[bug.id].hidden_tests)) for one, bug in mistakes]
            right = dict[str, list[str]]()
            for answer in answers:
                if answer.passed:
                    right.setdefault(answer.suite_task, []).append(answer.module)
            suites["several"] = make_several(tasks, bugs, box, watch.on_prepare)
            suites["tests"] = make_test_tasks(tasks, bugs, right, box, watch.on_prepare)
    for name, suite in suites.items():
        watch.on_stage(f"answers to {name}")
        answers += _sample(suite, name, sampling, sampling.repairs, folder, watch) if suite else []
    return answers, begun, [f"{one.id}: {one.why}" for one in removed]


def _sample(
    tasks: Sequence[Task], name: str, sampling: Sampling, each: int, folder: Path, watch: TrainingWatch
) -> list[SampledAnswer]:
    suite, out = folder / f"{name}.jsonl", folder / "samples" / name
    write_suite(tasks, suite)
    evaluate(
        str(suite),
        sampling.model,
        strategy="single",
        temperature=TEMPERATURE,
        seeds=range(each),
        at_once=sampling.at_once,
        out=out,
        watch=watch,
    )
    watch.raise_if_stopped()
    return list(read_answers(Folder.open(out)))


def find_own_bugs(
    answers: Iterable[SampledAnswer], tasks: Sequence[Task], sandbox: Sandbox
) -> list[tuple[SampledAnswer, PlantedBug]]:
    """Wrong answers of the model as bugs to repair, each proven to fail; only of tasks that it also got right."""
    known = {number_of(task.id): task for task in tasks}
    answers = list(answers)
    solved = {answer.task for answer in answers if answer.passed}
    found: dict[str, dict[str, tuple[SampledAnswer, PlantedBug]]] = {}
    for answer in answers:
        own = found.setdefault(answer.task, {})
        if answer.passed or answer.problem or answer.task not in solved or len(own) >= MOST_OWN_BUGS:
            continue
        task = known[answer.task]
        graded = grade_script(answer.module, task.hidden_tests, sandbox, GRADE_SECONDS)
        failing = next((place for place, case in enumerate(graded.cases) if case.outcome != "passed"), None)
        if failing is not None and not graded.problem:
            bug = PlantedBug(id=task.id, code=answer.module, bug="own mistake", failing=failing)
            own.setdefault(normalise_code(answer.module), (answer, bug))
    return [mistake for own in found.values() for mistake in own.values()]


def read_allowed(folder: Folder, guard: EvaluationGuard) -> list[SampledAnswer]:
    """The answers of an evaluation. Raises SetupProblem where it measured on what is evaluated on."""
    tasks = [
        Task(id=row.id, prompt=row.prompt, entry_point=row.entry_point if row.entry_point.isidentifier() else "")
        for row in folder.contents.tasks
    ]
    _, removed = guard.sift(tasks)
    if removed:
        raise SetupProblem(
            f"The evaluation {folder.name!r} cannot be learnt from: {len(removed)} of its {len(tasks)} tasks, "
            f"{removed[0].id} first, belong to what is evaluated on ({removed[0].why}). Leave it out."
        )
    return list(read_answers(folder))


# Training


def train(
    kind: Kind,
    *,
    data: Path | str,
    base: str = "local:qwen2.5-coder-0.5b",
    name: str = "",
    out: Path | str | None = None,
    reward_weights: str = "default",
    purposes: Sequence[str] = (),
    benchmark_data: Path | str | None = None,
    watch: TrainingWatch | None = None,
    **settings: Any,
) -> Adapter | None:
    """Train, and return the adapter under its name; None where it was stopped, or where a reward model was made, and
    in all but the first process.

    `data` is a folder of `make_dataset`; for GRPO a suite of tasks. The same call goes on from the last checkpoint.
    `settings` are those of `Recipe`. Raises SetupProblem for packages that are missing, data that may not be learnt
    from, and what does not fit into memory.
    """
    watch = watch or TrainingWatch()
    check_packages()
    check_name(name)
    trained = as_trained(base)
    source = Path(data).expanduser().absolute()
    benchmarks = Path(benchmark_data) if benchmark_data else None
    guard = load_guard(benchmarks, watch.on_prepare)
    dataset, tasks, asked = Dataset(), list[Task](), dict[str, tuple[Message, ...]]()
    if kind == "grpo":
        tasks = load_tasks(source, guard, benchmarks)
        dataset = load_data(source, guard, "sft") if (source / EXAMPLES).exists() else dataset
        asked = {task.id: prompts.messages(show_task(task, "visible"), "auto") for task in tasks}
        known = {task.id: task for task in tasks}
        begun = [row for row in dataset.examples if row.purpose == GO_ON and row.task in known]
        for number, row in enumerate(begun):
            same = {"id": f"{row.task}~{number}", "bug": "own mistake"}
            tasks.append(known[row.task].model_copy(update=same))
            asked[tasks[-1].id] = row.messages
    else:
        dataset = load_data(source, guard, kind)
    recipe = Recipe(kind=kind, base=trained, data=str(source), data_sha256=hash_data(source, kind), **settings)
    folder = open_training(recipe, Path(out).expanduser().absolute() if out else trainings_home() / (name or kind))
    from burnish.learn import trainers

    need = estimate(recipe, *count_tokens(recipe, dataset, len(tasks)), *trainers.find_device())
    if not need.fits:
        raise SetupProblem(
            f"This needs about {need.memory_bytes / 1e9:.1f} GB of memory, and {need.free_bytes / 1e9:.1f} are free on "
            f"the {need.device}. Take fewer examples at once, shorter ones, or a smaller model: "
            "--at-once 1 --longest 512"
        )
    watch.on_stage(
        f"about {need.memory_bytes / 1e9:.1f} GB of memory and {need.seconds / 60:.0f} min on the {need.device}"
    )
    if kind == "grpo":
        with open_sandbox() as box:
            weights = read_weights(reward_weights).model_copy(update={"partial": recipe.partial})
            judge = make_scorer(tasks, box, weights, folder / REWARDS)
            curriculum = make_curriculum(tasks, recipe, folder / REWARDS)
            complete = trainers.train(recipe, folder, dataset, watch, asked, judge, curriculum)
    else:
        complete = trainers.train(recipe, folder, dataset, watch)
    if not complete or kind == "reward" or not is_first_process():
        return None
    return keep_adapter(folder / trainers.RESULT, recipe, name or kind, purposes)


def train_rounds(
    rounds: int,
    *,
    data: Path | str,
    name: str = "mine",
    base: str = "local:qwen2.5-coder-0.5b",
    benchmark_data: Path | str | None = None,
    watch: TrainingWatch | None = None,
    **told: Any,
) -> Adapter | None:
    """Train on verified answers, have the result answer the same tasks anew, and train the base on those; and so on.

    The adapter of round N is called NAME-N, the last one NAME. None where it was stopped; the same call goes on.
    """
    if os.environ.get("WORLD_SIZE", "1") != "1":
        raise SetupProblem(
            "Between two rounds answers are sampled, which one process does. Leave out --rounds, or torchrun"
        )
    source = Path(data).expanduser().absolute()
    summary = source / SUMMARY
    sampled = json.loads(summary.read_text("utf-8")).get("sampled") if summary.is_file() else None
    if not sampled:
        raise SetupProblem(
            f"The dataset in {str(source)!r} has no sampled answers that could be asked for anew. Make one: "
            f"burnish train data --out {source} --sample {base}"
        )
    made: Adapter | None = None
    for number in range(1, rounds + 1):
        folder = source if number == 1 else source / f"round-{number}"
        if made:
            model = f"{as_trained(split_adapter(base)[0])}+{made.folder.name}"
            make_dataset(
                folder,
                sampling=replace(Sampling(**sampled), model=model),
                feedback=False,
                data=benchmark_data,
                watch=watch,
            )
        called = name if number == rounds else f"{name}-{number}"
        made = train("sft", data=folder, name=called, base=base, benchmark_data=benchmark_data, watch=watch, **told)
        if made is None:
            return None
    return made


def check_packages() -> None:
    """Raise SetupProblem where the extra is not installed."""
    if missing := [package for package in PACKAGES if find_spec(package) is None]:
        raise SetupProblem(
            f"Training needs packages that are not installed here ({', '.join(missing)}; the extra burnish[train]; "
            "torch is large). Type",
            f"{sys.executable} -m pip install torch 'transformers>=5.10,<6' 'trl>=1' 'peft>=0.18' 'datasets>=4' "
            "'accelerate>=1.10' 'gguf>=0.17' 'llguidance>=1.3'",
        )


def check_name(name: str) -> None:
    """Raise SetupProblem where an adapter cannot be called that."""
    if name and not NAME.fullmatch(name):
        raise SetupProblem(
            f"{name!r} is no name for an adapter: letters, digits, dots and dashes, 40 at most. Type: --name mine"
        )


def as_trained(base: str) -> str:
    """The name of a model as Transformers opens it: local weights are read by both."""
    provider, _, rest = base.partition(":")
    if provider not in ("local", "huggingface") or not rest:
        raise SetupProblem(
            f"Only models whose weights are here can be trained, and {base!r} is none. Type: "
            f"--base {next(iter(CATALOG))}"
        )
    return f"huggingface:{rest}"


def load_data(folder: Path, guard: EvaluationGuard, kind: Kind) -> Dataset:
    """The dataset of a folder. Raises SetupProblem where it holds what is evaluated on, or nothing of the kind."""
    dataset = load_dataset(folder)
    wanted = dataset.examples if kind == "sft" else dataset.pairs
    if not wanted:
        what = "no example" if kind == "sft" else "no pair of a better and a worse answer"
        raise SetupProblem(f"There is {what} in {str(folder)!r}. Make a dataset: burnish train data --out {folder}")
    rows: tuple[Example | Pair, ...] = (*dataset.examples, *dataset.pairs)
    for row in rows:
        if why := guard.why_not_row(row.task, row.messages, row.answers):
            raise SetupProblem(
                f"The dataset in {str(folder)!r} holds {row.task!r}, which may not be learnt from: {why}. "
                f"Make it anew: burnish train data --out {folder}"
            )
    return dataset


def load_tasks(suite: Path, guard: EvaluationGuard, data: Path | None = None) -> list[Task]:
    """The tasks of a suite, or of all in a dataset's folder. Raises SetupProblem where one may not be learnt from."""
    name = str(suite) if suite.exists() else suite.name
    suites = [str(file) for file in list_suites(suite)] or [name]
    tasks = [task for one in suites for task in load_suite(one, data=data)]
    _, removed = guard.sift(tasks)
    if removed:
        raise SetupProblem(
            f"The suite {name!r} holds {removed[0].id!r}, which may not be learnt from: {removed[0].why}. Take tasks "
            "that may: burnish train data writes some, repairs.jsonl and writing.jsonl"
        )
    return tasks


def list_suites(folder: Path) -> list[Path]:
    """The suites of tasks that `sample_answers` wrote into a dataset's folder; none where it is a suite itself."""
    return [file for file in sorted(folder.glob("*.jsonl")) if file.name not in (EXAMPLES, PAIRS)]


def make_curriculum(tasks: Sequence[Task], recipe: Recipe, log: Path) -> Curriculum | None:
    """The order of tasks for GRPO, which knows how often each was solved when it was sampled, and since."""
    if not recipe.curriculum:
        return None
    curriculum = Curriculum(tasks, recipe.seed)
    for suite in list_suites(Path(recipe.data)):
        sampled = suite.parent / "samples" / suite.stem
        for answer in read_answers(Folder.open(sampled)) if sampled.is_dir() else ():
            curriculum.record(answer.suite_task, [answer.passed])
    for row in parse_json_lines(log.read_text("utf-8").splitlines() if log.exists() else ()):
        curriculum.record(row["task"], [row["parts"]["complete"] == 1])
    return curriculum


def hash_data(source: Path, kind: Kind = "sft") -> str:
    """The SHA-256 of a dataset, or of a suite."""
    digest = hashlib.sha256()
    folder = list_suites(source) if kind == "grpo" else [source / EXAMPLES, source / PAIRS]
    for file in [source] if source.is_file() else folder:
        digest.update(file.read_bytes() if file.exists() else b"")
    return digest.hexdigest()


def trainings_home() -> Path:
    """The folder of trainings; it may not exist yet."""
    return paths.home() / "trainings"


def open_judge(name: str) -> TieBreaker:
    """The reward model of a training, by its name or its folder. Raises SetupProblem where there is none."""
    check_packages()
    from burnish.learn.judge import RewardJudge

    return RewardJudge(find_training(name))


def find_training(name: str) -> Path:
    """The folder of a training, by its name or as it is."""
    folder = Path(name).expanduser()
    return folder.absolute() if (folder / RECIPE).is_file() else trainings_home() / name


def list_trainings() -> list[Path]:
    """The folders of all trainings, newest first."""
    home = trainings_home()
    found = [folder for folder in home.iterdir() if (folder / RECIPE).is_file()] if home.is_dir() else []
    return sorted(found, key=lambda folder: folder.stat().st_mtime, reverse=True)


def open_training(recipe: Recipe, folder: Path) -> Path:
    """The folder of a training, new or begun with these very settings. Raises SetupProblem for another one's."""
    if (folder / RECIPE).exists():
        if read_recipe(folder) != recipe:
            raise SetupProblem(
                f"In {str(folder)!r} is a training with other settings or data. Give this one a name of its own: "
                "--name NAME"
            )
        return folder
    make_private_folder(folder)
    write_recipe(recipe, folder)
    return folder


def count_tokens(recipe: Recipe, dataset: Dataset, tasks: int = 0) -> tuple[int, int]:
    """About how many tokens one pass over the data reads and learns, and how many the longest example has."""
    if recipe.kind == "grpo":
        return tasks * recipe.answers * recipe.longest // 2, recipe.longest
    wanted = [row.completion for row in dataset.examples] or [row.chosen + row.rejected for row in dataset.pairs]
    rows: tuple[Example | Pair, ...] = dataset.examples or dataset.pairs
    asked = [sum(len(message.content) for message in row.messages) for row in rows]
    sizes = [(len(text) + most) // 3 for text, most in zip(wanted, asked, strict=True)]
    return sum(sizes), min(recipe.longest, max(sizes))


def make_scorer(
    tasks: Sequence[Task], sandbox: Sandbox, weights: RewardWeights, log: Path
) -> Callable[[Sequence[str], Sequence[str]], list[Reward]]:
    """What answers are worth, graded in the sandbox; each reward is logged with its parts."""
    known = {task.id: task for task in tasks}

    def score(ids: Sequence[str], answers: Sequence[str]) -> list[Reward]:
        pairs = zip(ids, answers, strict=True)
        judged = [(name, grade_answer(known[name], text, sandbox, weights)) for name, text in pairs]
        with log.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps({"task": name, **one.model_dump()}) + "\n" for name, one in judged)
        return [one for _, one in judged]

    return score


def grade_answer(task: Task, text: str, sandbox: Sandbox, weights: RewardWeights) -> Reward:
    """What one answer to a task is worth."""
    code = extract_code(text, task.entry_point)
    if find_problem(code, task.entry_point):
        return reward(None, text, code, weights)
    graded = grade_script(assemble(task, code), task.hidden_tests, sandbox, GRADE_SECONDS, find_kinds(task))
    return reward(graded, text, code, weights)


# Adapters


def keep_adapter(peft: Path, recipe: Recipe, name: str, purposes: Sequence[str] = ()) -> Adapter:
    """Put a trained adapter under its name, for llama.cpp and for Transformers. One of that name is replaced."""
    from burnish.learn.gguf_lora import write_gguf

    base, parent = split_adapter(recipe.base)
    folder = adapters_home() / name
    fresh = folder.with_name(f".{name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    make_private_folder(fresh)
    write_gguf(peft, fresh / GGUF)
    (fresh / PEFT).mkdir()
    for file in ("adapter_config.json", "adapter_model.safetensors"):
        shutil.copy(peft / file, fresh / PEFT / file)
    known = CATALOG.get(f"local:{base.partition(':')[2]}")
    card = AdapterCard(
        name=name,
        base=base.partition(":")[2],
        sha256=hash_file(fresh / GGUF),
        purposes=tuple(purposes),
        recipe=f"{recipe.kind}, rank {recipe.rank}, learning rate {recipe.learning_rate:g}, seed {recipe.seed}",
        data=f"{recipe.data} (sha256 {recipe.data_sha256[:12]})",
        parent=parent,
        licence=known.licence if known else "as its base",
        made_at=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        origin={key: str(value) for key, value in describe_origin().items()},
    )
    write_atomically(fresh / CARD, card.model_dump_json(indent=1).encode())
    shutil.rmtree(folder, ignore_errors=True)
    fresh.rename(folder)
    return find_adapter(name)


def export_adapter(name: str, out: Path | str, to: str = "hub") -> Path:
    """Copy an adapter to a folder: for Ollama with a Modelfile, for the hub with a page that says what it is."""
    adapter, folder = find_adapter(name), Path(out).expanduser().absolute()
    if folder.exists() and any(folder.iterdir()):
        raise SetupProblem(f"The folder {str(folder)!r} is not empty. Name another one: --out DIR")
    folder.mkdir(parents=True, exist_ok=True)
    card = adapter.card
    if to == "ollama":
        shutil.copy(adapter.gguf, folder / GGUF)
        tag = card.base.replace("qwen2.5-coder-", "qwen2.5-coder:") + "-instruct-q4_K_M"
        model = tag if adapter.is_for_catalog else card.base
        (folder / "Modelfile").write_text(f"FROM {model}\nADAPTER ./{GGUF}\n", "utf-8")
        return folder
    if to != "hub":
        raise SetupProblem(f"An adapter can be exported for hub or ollama, and not for {to!r}. Type: --to hub")
    shutil.copytree(adapter.peft, folder, dirs_exist_ok=True)
    shutil.copy(adapter.gguf, folder / GGUF)
    scores = "".join(f"| {one.what} | {one.base:g} | {one.adapter:g} |\n" for one in card.scores)
    table = f"\n| percent | base | adapter |\n|---|---|---|\n{scores}" if scores else ""
    (folder / "README.md").write_text(
        f"---\nlicense: {card.licence.lower()}\nlibrary_name: peft\n---\n# {card.name}\n\n"
        f"A LoRA for {card.base}, made by Burnish.\n\n"
        f"- recipe: {card.recipe}\n- data: {card.data}\n- parent: {card.parent or 'none'}\n"
        f"- limits: {card.limits or 'not studied'}\n{table}",
        "utf-8",
    )
    return folder


def report(name: str, before: Sequence[str] = (), after: Sequence[str] = (), kl: bool = False) -> Path:
    """Write the report of a training, by its name or its folder; the file comes back.

    `before` and `after` are evaluations of the base and of adapters, in pairs; what they say is kept in the cards. With
    `kl` the weights are loaded to measure how far each adapter is from its base on their answers.
    """
    distance: Distance | None = None
    if kl:
        check_packages()
        from burnish.learn import trainers

        distance = trainers.measure_distance
    pairs = read_pairs(before, after)
    for adapter, scores in list_scores(pairs).items():
        if (adapters_home() / adapter / CARD).is_file():
            keep_scores(adapter, scores)
    return write_report(find_training(name), pairs, distance)


def keep_scores(name: str, scores: Sequence[Score]) -> None:
    """Put scores into an adapter's card; one of the same thing is replaced."""
    adapter = find_adapter(name)
    kept = {score.what: score for score in (*adapter.card.scores, *scores)}
    card = adapter.card.model_copy(update={"scores": tuple(kept.values())})
    write_atomically(adapter.folder / CARD, card.model_dump_json(indent=1).encode())
