"""Which embedded model is the default? Solved tasks and seconds on MBPP 511-600, the tuning split.

The prompt and the first assertion are visible; the other assertions only score. AT_ONCE tasks are worked on at a
time, two unless set. Each finished task is appended to the output at once, and a second start goes on where the first
ended.

    BURNISH_DATA=/path/to/data python experiments/default_model.py local:qwen2.5-coder-0.5b out.jsonl

On a GPU, `huggingface:qwen2.5-coder-0.5b` (the extra [hf]) with AT_ONCE=90 works on all tasks at a time.
"""

import json
import os
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from burnish.agent.limits import Limits
from burnish.checks import Suite, TestsCheck
from burnish.models.names import open_model
from burnish.paths import describe_origin
from burnish.runs import Store
from burnish.runs.attempt import Resources, start
from burnish.runs.request import Request
from burnish.sandbox import open_sandbox
from burnish.tasks import Task
from burnish.tasks.mbpp import load_mbpp

AT_ONCE = int(os.environ.get("AT_ONCE", "2"))
ROUNDS = 2


def main(model_name: str, out: Path) -> None:
    model = open_model(model_name)
    done = {json.loads(line)["task"] for line in out.read_text().splitlines()} if out.exists() else set()
    tasks = [task for task in load_mbpp("tune") if task.id not in done]
    with tempfile.TemporaryDirectory() as home, open_sandbox() as box, out.open("a") as file:
        store, origin = Store(Path(home)), describe_origin()

        def work(task: Task) -> dict[str, object]:
            run = start(Request(task=task, limits=Limits(rounds=ROUNDS)), Resources([model], store)).wait()
            hidden = Suite(entry_point=task.entry_point, given=tuple(task.hidden_tests.splitlines()))
            solved = bool(run.code) and TestsCheck().judge(run.code, hidden, box).verdict == "passed"
            return {
                "task": task.id,
                "solved": solved and run.verdict == "proven",
                "verdict": run.state,
                "seconds": round(run.seconds, 2),
                "calls": run.calls,
                "tokens_in": run.tokens_in,
                "tokens_out": run.tokens_out,
            }

        started = time.monotonic()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for number, done_task in enumerate(as_completed([pool.submit(work, task) for task in tasks]), 1):
                row = done_task.result()
                file.write(json.dumps({**row, "model": model_name, **origin}) + "\n")
                file.flush()
                print(f"{number}/{len(tasks)} {time.monotonic() - started:.0f} s {row}", flush=True)
    report(out)


def report(out: Path) -> None:
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    solved = sum(row["solved"] for row in rows)
    seconds = sum(row["seconds"] for row in rows) / AT_ONCE
    print(f"{solved} of {len(rows)} solved; {seconds / len(rows):.1f} s a task, {AT_ONCE} at a time")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
