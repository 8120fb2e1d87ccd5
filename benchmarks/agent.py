"""How long a solved task takes our agent, over the best plain strategy with the same model on the same machine.

    python benchmarks/agent.py DATA_FOLDER [local:qwen2.5-coder-0.5b] [tasks]

Every so-manieth task of HumanEvalFix, protocol `visible`, at most six calls, by `retry --ask write` and by `burnish`,
in blocks that take turns and change who is first, so that a busy machine slows both. Prints wall seconds for each
solved task on both sides and their ratio; below 1 means that ours is faster.
"""

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from burnish.evals.eval_store import Folder
from burnish.evals.runner import open_eval_sandbox, open_task_model, run_missing
from burnish.evals.schema import Plan
from burnish.evals.suites import load_suite
from burnish.events import Answered, Scored
from burnish.models.model import Model
from burnish.runs.attempt import Resources
from burnish.sandbox.sandbox import Sandbox
from burnish.tasks import Task

MODEL = "local:qwen2.5-coder-0.5b"
TASKS = 24
BLOCK = 6
WAYS = {"retry --ask write": ("retry", "write"), "burnish": ("burnish", "auto")}


def main(data: Path, name: str, most: int) -> None:
    model, tasks = open_task_model(name), load_suite("humanevalfix", data=data)
    tasks = tasks[:: max(1, len(tasks) // most)][:most]
    seconds, solved = dict.fromkeys(WAYS, 0.0), dict.fromkeys(WAYS, 0)
    with open_eval_sandbox(model, "auto") as box:
        evaluated(tasks[:1], model, box, "retry --ask write")
        for turn, first in enumerate(range(0, len(tasks), BLOCK)):
            for way in sorted(WAYS, reverse=bool(turn % 2)):
                spent, right = evaluated(tasks[first : first + BLOCK], model, box, way)
                seconds[way] += spent
                solved[way] += right
            so_far = ", ".join(f"{way} {solved[way]} in {seconds[way]:.0f} s" for way in WAYS)
            print(f"{min(first + BLOCK, len(tasks))} of {len(tasks)} tasks: {so_far}", file=sys.stderr, flush=True)
    each = {way: seconds[way] / max(1, solved[way]) for way in WAYS}
    for way in WAYS:
        print(f"{way}: {solved[way]} of {len(tasks)} solved in {seconds[way]:.0f} s, {each[way]:.1f} s for each")
    print(f"ratio {each['burnish'] / each['retry --ask write']:.2f}")


def evaluated(tasks: list[Task], model: Model, box: Sandbox, way: str) -> tuple[float, int]:
    """The seconds of one evaluation, and how many tasks it solved."""
    strategy, ask = WAYS[way]
    plan = Plan.model_validate({"suite": "humanevalfix", "model": model.name, "strategy": strategy, "ask": ask})
    with tempfile.TemporaryDirectory() as place:
        folder = Folder.create(Path(place) / "run", plan, tasks, ())
        started = time.perf_counter()
        run_missing(folder, tasks, Resources([model], sandbox=box))
        seconds = time.perf_counter() - started
        return seconds, sum(is_solved(events) for _, _, events in folder.attempts())


def is_solved(events: Sequence[object]) -> bool:
    last = [event.version for event in events if isinstance(event, Answered)][-1:]
    return any(isinstance(event, Scored) and event.passed and [event.version] == last for event in events)


if __name__ == "__main__":
    main(
        Path(sys.argv[1]),
        sys.argv[2] if len(sys.argv) > 2 else MODEL,
        int(sys.argv[3]) if len(sys.argv) > 3 else TASKS,
    )
