"""What a training did: curves of its figures, and what the model solves now and before, task by task."""

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from burnish.errors import SetupProblem
from burnish.evals.compare import Difference, compare
from burnish.evals.eval_store import Folder, find_evaluation
from burnish.evals.metrics import compute_results
from burnish.evals.reports.plots import Series, draw_curves
from burnish.evals.reports.report_text import repeat_command
from burnish.evals.schema import Results
from burnish.events import Message
from burnish.jsonlines import parse_json_lines
from burnish.learn.dataset import SUMMARY, read_answers
from burnish.learn.recipe import read_metrics, read_recipe
from burnish.models.adapters import Score, split_adapter
from burnish.paths import PRIVATE_MODE, write_atomically
from burnish.text import fence_code, one_line, plural

REPORT, REWARDS = "report.md", "rewards.jsonl"
DRAWN = {
    "loss": "How unlikely the wanted tokens are",
    "entropy": "How undecided the model is",
    "mean_token_accuracy": "Share of the wanted tokens that are its first choice",
    "kl": "How far it is from what it was; much of it foretells forgetting",
    "kl/answers": "How far it is from what it was, over its own answers",
    "reward": "What its answers are worth",
    "frac_reward_zero_std": "Share of the tasks whose answers were all worth the same, and taught nothing",
    "completions/mean_length": "Tokens of an answer",
    "rewards/accuracies": "Pairs in which the better answer became likelier",
    "accuracy": "Pairs of which the better answer is rated higher",
}
"""Figures that are drawn, where a training has them."""
MOST_POINTS = 60
"""Of a curve."""
STAGES = 4
"""Into which the answers of a training are cut, to see how their reward changed."""
MOST_MEASURED = 16
"""Answers of each evaluation on which the distance to the base is measured."""
MOST_SHOWN = 3
"""Tasks of each kind whose answers are shown."""


class Curve(NamedTuple):
    """One figure of a training over its updates."""

    name: str
    words: str
    svg: str
    first: float
    last: float


class Measured(NamedTuple):
    """One evaluation that is compared."""

    folder: Folder
    results: Results

    @property
    def name(self) -> str:
        """What was measured, in a few words."""
        made = self.results
        ask = "" if made.ask == "auto" else made.ask
        return " ".join(filter(None, (Path(made.suite).stem, made.variant, made.strategy, ask)))


def read_pairs(before: Sequence[str], after: Sequence[str]) -> list[tuple[Measured, Measured]]:
    """Evaluations of the base and of the adapter, in pairs."""
    if len(before) != len(after):
        raise SetupProblem("Each evaluation before has one after: --before EVAL --after EVAL, as often as you like")
    folders = [[Folder.open(find_evaluation(name)) for name in names] for names in (before, after)]
    sides = [[Measured(folder, compute_results(folder)) for folder in side] for side in folders]
    return list(zip(*sides, strict=True))


Distance = Callable[[str, Sequence[tuple[Sequence[Message], str]]], float]
"""How far an adapter, by its model's name, is from its base on answers to questions."""


def write_report(
    folder: Path, pairs: Sequence[tuple[Measured, Measured]] = (), distance: Distance | None = None
) -> Path:
    """Write `report.md` and its curves into a training's folder; without `distance` that is not measured."""
    parts = [*_describe_recipe(folder), describe_energy(read_metrics(folder)), *_draw(folder)]
    parts += [*_judge_held_out(folder), *_describe_rewards(folder), *_compare(pairs), *_measure(pairs, distance)]
    write_atomically(folder / REPORT, ("\n".join(parts) + "\n").encode(), PRIVATE_MODE)
    return folder / REPORT


def list_scores(pairs: Sequence[tuple[Measured, Measured]]) -> dict[str, list[Score]]:
    """By adapter, what its card says of these evaluations."""
    found: dict[str, list[Score]] = {}
    for base, trained in pairs:
        shares = compare([base.results], [trained.results]).final
        score = Score(
            what=f"{trained.name}, {plural(trained.results.finished, 'attempt')}",
            base=round(100 * shares.share_a, 1),
            adapter=round(100 * shares.share_b, 1),
            command=repeat_command(trained.results),
        )
        found.setdefault(split_adapter(trained.results.model)[1], []).append(score)
    return found


def _describe_recipe(folder: Path) -> Iterator[str]:
    recipe = read_recipe(folder)
    yield f"# {folder.name}: {recipe.kind} of {recipe.base.partition(':')[2]}\n\n| setting | value |\n|---|---|"
    for name, value in recipe.model_dump().items():
        if value not in (None, "", 0.0) and name not in ("kind", "base"):
            yield f"| {name} | {one_line(str(value), 120)} |"
    summary = Path(recipe.data) / SUMMARY
    if summary.is_file():
        yield "\n## What it learnt from\n"
        for name, value in json.loads(summary.read_text("utf-8")).items():
            said = ", ".join(f"{key} {count}" for key, count in value.items()) if isinstance(value, dict) else value
            yield f"- {name}: {one_line(str(len(said) if isinstance(said, list) else said), 200)}"


def describe_energy(rows: Sequence[Mapping[str, float]]) -> str:
    """What the GPUs took while a training went on."""
    joules = [row["joules"] for row in rows if "joules" in row]
    if not joules:
        return "\nEnergy was not measured: no GPU here tells its power."
    return f"\nThe GPUs took {sum(joules) / 3600:.3g} Wh in {len(joules)} updates, by their own account."


def draw_metrics(folder: Path) -> Iterator[Curve]:
    """A curve for each figure of a training that says something."""
    rows = read_metrics(folder)
    for name, words in DRAWN.items():
        points = [(row["step"], row[name]) for row in rows if name in row]
        if len(points) < 2:
            continue
        points = points[:: math.ceil(len(points) / MOST_POINTS)]
        highest = max(abs(value) for _, value in points) or 1.0
        scale = 1.0 if highest <= 1 else highest
        curve = Series("", [step for step, _ in points], [max(0.0, value) / scale for _, value in points])
        label = f"{name} in %" if scale == 1.0 else f"{name} in % of {highest:.3g}"
        svg = draw_curves([curve], "updates", from_zero=True, y_label=label)
        yield Curve(name, words, svg, points[0][1], points[-1][1])


def _draw(folder: Path) -> Iterator[str]:
    for curve in draw_metrics(folder):
        file = f"{curve.name.replace('/', '-')}.svg"
        write_atomically(folder / file, curve.svg.encode(), PRIVATE_MODE)
        yield f"\n## {curve.words}\n\n![{curve.name}]({file})\n\nFrom {curve.first:.4g} to {curve.last:.4g}."


def _judge_held_out(folder: Path) -> Iterator[str]:
    names = {"eval_accuracy": "rated higher", "eval_rewards/accuracies": "made likelier"}
    for row in read_metrics(folder):
        for name, words in names.items():
            if name in row:
                yield f"\nOf pairs that were held out, the better answer is {words} in {100 * row[name]:.1f} %."


def _describe_rewards(folder: Path) -> Iterator[str]:
    """Of GRPO: each part of the reward over time, and how many answers looked like an attempt to fool the judge."""
    file = folder / REWARDS
    rows = list(parse_json_lines(file.read_text("utf-8").splitlines() if file.exists() else ()))
    if not rows:
        return
    size = math.ceil(len(rows) / STAGES)
    stages = [rows[start : start + size] for start in range(0, len(rows), size)]
    names = list(dict.fromkeys(name for row in rows for name in row["parts"]))
    yield f"\n## What earned the reward\n\n| part | {' | '.join(f'{len(stage)} answers' for stage in stages)} |"
    yield f"|---|{'---|' * len(stages)}"
    for name in ("in all", *names):
        counted = [[row["total"] if name == "in all" else row["parts"].get(name, 0.0) for row in one] for one in stages]
        yield f"| {name} | {' | '.join(f'{sum(values) / len(values):.2f}' for values in counted)} |"
    cheats = Counter(row["cheat"] for row in rows if row.get("cheat"))
    said = ", ".join(f"{one_line(name, 60)} ({count})" for name, count in cheats.most_common()) or "none"
    yield f"\nAnswers that look like an attempt to fool the judge: {said}."


def _compare(pairs: Sequence[tuple[Measured, Measured]]) -> Iterator[str]:
    if not pairs:
        return
    yield "\n## What became better and worse\n"
    head = (
        "suite",
        "base",
        "adapter",
        "difference (95 %)",
        "pass@k",
        "gained",
        "lost",
        "unreadable",
        "tokens an answer",
    )
    yield f"| {' | '.join(head)} |\n|{'---|' * len(head)}"
    stories: list[str] = []
    for before, after in pairs:
        base, trained = before.results, after.results
        found = compare([base], [trained]).final
        low, high = found.interval
        cells = (
            before.name,
            f"{100 * found.share_a:.1f} %",
            f"{100 * found.share_b:.1f} %",
            f"{100 * found.difference:+.1f} ({100 * low:+.1f} to {100 * high:+.1f})",
            _pass_at_k(base, trained),
            f"{len(found.more_by_b)}",
            f"{len(found.more_by_a)}",
            f"{100 * base.parse_failure_rate:.1f} → {100 * trained.parse_failure_rate:.1f} %",
            f"{_tokens(base):.0f} → {_tokens(trained):.0f}",
        )
        yield f"| {' | '.join(cells)} |"
        stories += _show_tasks(before.name, found, before.folder, after.folder)
    yield from stories


def _measure(pairs: Sequence[tuple[Measured, Measured]], distance: Distance | None) -> Iterator[str]:
    """How far each adapter is from its base, on what the base answered before and on what it answers now."""
    if not pairs or distance is None:
        return
    yield "\n## How far it is from what it was\n"
    yield "KL divergence in nats, the mean over the tokens of questions and answers.\n"
    yield "| suite | on answers of before | on its own |\n|---|---|---|"
    for before, after in pairs:
        sides = [list({one.suite_task: one for one in read_answers(side.folder)}.values()) for side in (before, after)]
        texts = [[(one.messages, one.text) for one in side[:MOST_MEASURED]] for side in sides]
        shown = [f"{distance(after.results.model, some):.4f}" if some else "" for some in texts]
        yield f"| {before.name} | {' | '.join(shown)} |"


def _pass_at_k(base: Results, trained: Results) -> str:
    """The share of tasks that one of k attempts solves, for the largest k that both have."""
    k = min(len(base.pass_at_k), len(trained.pass_at_k))
    sides = [one.pass_at_k[k - 1] if k > 1 else None for one in (base, trained)]
    if None in sides:
        return ""
    return f"k = {k}: " + " → ".join(f"{100 * side:.1f}" for side in sides if side is not None)


def _tokens(results: Results) -> float:
    return results.cost.tokens_out / max(1.0, results.calls_per_task * results.finished)


def _show_tasks(name: str, found: Difference, before: Folder, after: Folder) -> Iterator[str]:
    """A few tasks that were gained and lost, with an answer of each side."""
    for words, tasks in (("gained", found.more_by_b), ("lost", found.more_by_a)):
        for task in tasks[:MOST_SHOWN]:
            yield f"\n### {name}: {task}, {words}\n"
            for label, folder in (("Before", before), ("After", after)):
                answer = next((one for one in read_answers(folder) if one.suite_task == task), None)
                yield f"{label}:\n\n{fence_code(answer.text if answer else '(no answer)')}\n"
