"""Do the parts that one seed called "within chance" earn their place? All of them off against all on, paired by task.

    BURNISH_DATA=… python -m experiments.ablation run huggingface:qwen2.5-coder-0.5b OUT.jsonl [VARIANT [TASKS]]
    python -m experiments.ablation table OUT.jsonl ...

`run` needs a GPU: one process holds the model, and workers with a sandbox each ask it through a socket, because
grading and small edits need more processors than one interpreter can use. Every attempt is a line of OUT, so a second
start goes on where the first stopped. Workers divide the tasks among them and share the small edits of a task.
"""

import json
import multiprocessing
import os
import queue
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from statistics import fmean

from burnish.evals.compare import bootstrap
from burnish.evals.runner import open_task_model, stream_attempt
from burnish.evals.schema import Plan
from burnish.evals.suites import load_suite
from burnish.evals.validate import validate
from burnish.events import Answered, CodeProposed, ModelReplied, Scored
from burnish.models.model import Ask, Done, Model, Piece, Waiting
from burnish.paths import describe_origin
from burnish.runs.attempt import Resources
from burnish.sandbox import open_sandbox
from burnish.search.edits import EditCache
from burnish.tasks.task import Task

CONDITIONS = {"all on": (), "one question a round": ("portfolio",), "only drafts": ("portfolio", "repair", "rewrite")}
"""Rows of 16 November 2026 have "four off" and "six off" besides: reflect, mending (syntax and repeat) and warmth (a
temperature that rises) earned nothing there, and the agent no longer has them."""
SEEDS = (0, 1, 2)
WORKERS, THREADS = 14, 12
KEY = b"one machine"


class RemoteModel:
    """The model of the first process, as a worker asks it."""

    def __init__(self, name: str, engine: str, address: str) -> None:
        self.name, self.engine, self.address, self.slots = name, engine, address, THREADS

    def stream(self, ask: Ask, cancel: threading.Event) -> Iterator[Piece]:
        """The answer, as it comes through the socket."""
        with Client(self.address, authkey=KEY) as link:
            link.send(("ask", ask, ""))
            while not cancel.is_set():
                if not link.poll(0.4):
                    yield Waiting()
                    continue
                piece = link.recv()
                if isinstance(piece, Exception):
                    raise piece
                yield piece
                if isinstance(piece, Done):
                    return

    def counted(self, ask: Ask, text: str) -> Done:
        """What an answer cost of which this much was read."""
        with Client(self.address, authkey=KEY) as link:
            link.send(("count", ask, text))
            return link.recv()

    def warm_up(self) -> None:
        """The first process has done so."""

    def close(self) -> None:
        """Nothing is held here."""


def serve(model: Model, listener: Listener) -> None:
    """Answer every connection in a thread of its own."""
    while True:
        threading.Thread(target=answer, args=(model, listener.accept()), daemon=True).start()


def answer(model: Model, link: Connection) -> None:
    """One ask; a worker that hangs up cancels it."""
    cancel = threading.Event()
    try:
        kind, ask, text = link.recv()
        if kind == "count":
            link.send(model.counted(ask, text))
            return
        for piece in model.stream(ask, cancel):
            if not isinstance(piece, Waiting):
                link.send(piece)
    except (OSError, EOFError):
        cancel.set()
    except Exception as error:
        link.send(error)
    finally:
        link.close()


def work(tasks: list[Task], done: set[tuple[str, str, int]], model: RemoteModel, plan: Plan, results: object) -> None:
    """One worker: each of its tasks under every condition and seed, several at a time."""
    waiting: queue.SimpleQueue[tuple[Task, str, int]] = queue.SimpleQueue()
    for task in tasks:
        for seed in SEEDS:
            for condition in CONDITIONS:
                if (task.id, condition, seed) not in done:
                    waiting.put((task, condition, seed))
    edits = EditCache()
    with open_sandbox("auto", cells=2) as box:

        def loop() -> None:
            while True:
                try:
                    task, condition, seed = waiting.get_nowait()
                except queue.Empty:
                    return
                own = plan.model_copy(update={"without": CONDITIONS[condition]})
                started = time.monotonic()
                try:
                    events = list(stream_attempt(task, own, seed, Resources([model], sandbox=box, edits=edits)))
                except Exception as error:
                    results.put({"task": task.id, "condition": condition, "seed": seed, "error": repr(error)})
                    continue
                row = {"task": task.id, "condition": condition, "seed": seed, **summary(events)}
                results.put({**row, "seconds": round(time.monotonic() - started, 2)})

        threads = [threading.Thread(target=loop) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    results.put(None)


def summary(events: list) -> dict[str, object]:
    """What counts of one attempt: was its last answer right, what did it cost, and the code itself."""
    last = [event.version for event in events if isinstance(event, Answered) and event.version is not None][-1:]
    scores = {event.version: event.passed for event in events if isinstance(event, Scored)}
    code = {event.version: event.code for event in events if isinstance(event, CodeProposed)}
    replies = [event for event in events if isinstance(event, ModelReplied)]
    return {
        "solved": bool(last and scores.get(last[0])),
        "calls": len(replies),
        "tokens_out": sum(reply.tokens_out for reply in replies),
        "code": code.get(last[0], "") if last else "",
    }


def run(name: str, out: Path, variant: str, count: int) -> None:
    """Every attempt that OUT lacks."""
    tasks = load_suite("mbppfix", variant=variant)[:count]
    with open_sandbox("auto") as box:
        tasks = list(validate(tasks, box).valid)
    known = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    done = {(row["task"], row["condition"], row["seed"]) for row in known if "error" not in row}
    model = open_task_model(name)
    model.warm_up()
    for _ in model.stream(Ask(purpose="draft", messages=({"role": "user", "content": "hi"},)), threading.Event()):
        pass
    address = str(Path(tempfile.mkdtemp()) / "model")
    threading.Thread(target=serve, args=(model, Listener(address, backlog=512, authkey=KEY)), daemon=True).start()
    plan = Plan(suite="mbppfix", variant=variant, model=name, engine=str(getattr(model, "engine", "")))
    context = multiprocessing.get_context("spawn")
    results, workers = context.Queue(), min(WORKERS, os.cpu_count() or 1)
    remote = RemoteModel(name, plan.engine, address)
    for number in range(workers):
        context.Process(target=work, args=(tasks[number::workers], done, remote, plan, results), daemon=True).start()
    started, made, total = time.monotonic(), 0, len(tasks) * len(CONDITIONS) * len(SEEDS) - len(done)
    print(f"{len(tasks)} tasks, {total} attempts to make, {workers} workers", flush=True)
    origin = describe_origin()
    with out.open("a") as file:
        while workers:
            row = results.get()
            if row is None:
                workers -= 1
                continue
            made += 1
            file.write(json.dumps({"model": name, "variant": variant, **row, **origin}) + "\n")
            file.flush()
            if made % 50 == 0:
                print(f"{time.monotonic() - started:5.0f} s  {made} of {total}", flush=True)


def table(paths: list[Path]) -> None:
    """Solved and spent under each condition, and the paired difference to all on, with a bootstrap over tasks."""
    rows = [json.loads(line) for path in paths for line in path.read_text().splitlines()]
    groups: dict[tuple[str, str], list[dict]] = defaultdict(list)
    for row in rows:
        if "error" not in row:
            groups[row["model"], row["variant"]].append(row)
    for (model, variant), found in sorted(groups.items()):
        by_task: dict[str, dict[str, list[dict]]] = defaultdict(lambda: defaultdict(list))
        for row in found:
            by_task[row["condition"]][row["task"]].append(row)
        for condition, tasks in by_task.items():
            attempts = [row for rows in tasks.values() for row in rows]
            solved = fmean(row["solved"] for row in attempts)
            calls, tokens = fmean(row["calls"] for row in attempts), fmean(row["tokens_out"] for row in attempts)
            both = [task for task in tasks if task in by_task["all on"]]
            gaps = [
                fmean(row["solved"] for row in tasks[task]) - fmean(row["solved"] for row in by_task["all on"][task])
                for task in both
            ]
            low, high = bootstrap(gaps)
            print(
                f"{model} {variant}, {condition}: {100 * solved:.1f} % of {len(attempts)} attempts at {len(tasks)} "
                f"tasks, {calls:.2f} calls and {tokens:.0f} tokens each; against all on {100 * fmean(gaps):+.1f} "
                f"({100 * low:+.1f} to {100 * high:+.1f})"
            )


if __name__ == "__main__":
    if sys.argv[1] == "table":
        table([Path(word) for word in sys.argv[2:]])
    else:
        variant, count = (sys.argv[4:5] or ["docs"])[0], int((sys.argv[5:6] or ["150"])[0])
        run(sys.argv[2], Path(sys.argv[3]), variant, count)
