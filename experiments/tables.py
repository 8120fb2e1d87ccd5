"""The tables of the README: every row is one evaluation, all of them answered by one engine.

    BURNISH_DATA=/path/to/data python experiments/tables.py huggingface:qwen2.5-coder-0.5b OUT [GROUP ...]

A variable LIMIT has each row measured on its first so many tasks only, for a rehearsal.

Each row is a folder under OUT that `burnish eval resume` and `burnish compare` understand; a second start leaves
finished rows alone and goes on with the others. Rows are worked on side by side, so that the engine never waits for the
last task of one of them. Groups are the keys of GROUPS; all of them unless named.
"""

import os
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from burnish.agent.policy import PARTS
from burnish.evals.evaluate import evaluate, resume
from burnish.evals.runner import open_task_model
from burnish.models.model import Model

SIDE_BY_SIDE = 4
SEEDS = (0, 1, 2)
SINGLE: dict[str, Any] = {"strategy": "single", "rounds": 0}
REFLECT: dict[str, Any] = {"strategy": "reflect", "rounds": 5, "seeds": SEEDS}
RETRY: dict[str, Any] = {"strategy": "retry", "rounds": 5, "seeds": SEEDS}
ONCE = {"seeds": (0,)}
AGENT: dict[str, Any] = {"strategy": "burnish", "rounds": 5, "seeds": SEEDS}
DEEP: dict[str, Any] = {"rounds": 23}
CALIBRATE: dict[str, Any] = {"strategy": "burnish", "rounds": 5, "seeds": (0,), "split": "calibrate", "confidence": 1.0}
"""All six calls, whatever the confidence, on the tasks that it is fitted on."""

Row = tuple[str, dict[str, Any]]


def baselines(suite: str, **more: Any) -> Iterator[Row]:
    """Six calls at most, under `visible`: what a strategy buys with the same model."""
    for ask in ("write", "fix"):
        yield suite, {**SINGLE, "ask": ask, **more}
        yield suite, {**RETRY, "ask": ask, **more}
    yield suite, {**REFLECT, **more}


GROUPS: dict[str, list[Row]] = {
    "published": [("humanevalfix", {**REFLECT, "protocol": "oracle"})],
    "fix": list(baselines("humanevalfix")),
    "write": [("humaneval", SINGLE), ("humaneval", RETRY), ("humaneval", REFLECT)],
    "planted": [
        *baselines("mbppfix", variant="docs", **ONCE),
        *(row for row in baselines("mbppfix", variant="tests", **ONCE) if row[1].get("ask") != "write"),
        *baselines("mbppfix", variant="file", **ONCE),
    ],
    "agent": [
        ("humanevalfix", {**AGENT}),
        ("humanevalfix", {**RETRY, "ask": "write"}),
        ("humanevalfix", {**AGENT, "protocol": "oracle"}),
    ],
    "deep": [("humanevalfix", {**AGENT, **DEEP}), ("humanevalfix", {**RETRY, "ask": "write", **DEEP})],
    "agent-tests": [("mbppfix", {**AGENT, "variant": "tests"})],
    "agent-file": [("mbppfix", {**AGENT, "variant": "file"})],
    "retry-planted": [
        ("mbppfix", {**RETRY, "ask": ask, "variant": variant})
        for variant in ("tests", "file")
        for ask in ("write", "fix")
    ],
    "agent-write": [
        ("humaneval", {**AGENT}),
        ("mbpp", {**SINGLE}),
        ("mbpp", {**RETRY}),
        ("mbpp", {**AGENT}),
    ],
    "calibrate": [
        ("mbppplus", {**CALIBRATE}),
        ("mbppplusfix", {**CALIBRATE}),
        ("mbppplus", {**CALIBRATE, "strategy": "burnish-tests"}),
    ],
    "calibrate-all": [("mbppplus", {**CALIBRATE, "variant": "all"})],
    "verdicts": [(suite, {**AGENT, "answers": 3}) for suite in ("mbppplus", "mbppplusfix", "humanevalfix")],
    "retry-plus": [("mbppplus", {**RETRY}), *(("mbppplusfix", {**RETRY, "ask": ask}) for ask in ("write", "fix"))],
    "trained": [
        *(("humanevalfix", {**SINGLE, "ask": ask}) for ask in ("fix", "write")),
        *(("mbppfix", {**SINGLE, "ask": "fix", "variant": variant}) for variant in ("docs", "tests")),
        *((suite, {**SINGLE}) for suite in ("humaneval", "mbpp", "mbppplus")),
    ],
    "trained-agent": [("humanevalfix", {**AGENT}), ("humanevalfix", {**AGENT, "without": ("tweak",)})],
    "ablation": [("humanevalfix", {**AGENT, **ONCE, "without": (part,)}) for part in PARTS],
}


def main(model_name: str, out: Path, groups: list[str]) -> None:
    model = open_task_model(model_name)
    model.warm_up()
    started = time.monotonic()
    rows = [row for group in groups for row in GROUPS[group]]
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        for line in pool.map(lambda row: measured(row, model, out), rows):
            print(f"{time.monotonic() - started:6.0f} s  {line}", flush=True)


def name_of(suite: str, settings: dict[str, Any]) -> str:
    """The row's folder: all that makes it different from its neighbours."""
    parts = [str(value) for key, value in settings.items() if key not in ("rounds", "seeds", "without")]
    parts += [f"{settings['rounds'] + 1}-calls"] if settings["rounds"] not in (0, 5) else []
    return "-".join([suite, *parts, *(f"without-{part}" for part in settings.get("without", ()))])


def measured(row: Row, model: Model, out: Path) -> str:
    """One row, begun, gone on with or left alone, as a line to read."""
    suite, settings = row
    name = name_of(suite, settings)
    folder = out / name
    try:
        if (folder / "eval.json").exists():
            found = resume(str(folder), model=model)
        else:
            limit = int(os.environ.get("LIMIT", "0")) or None
            found = evaluate(suite, model=model, out=folder, at_once=min(model.slots, 96), limit=limit, **settings)
    except Exception as error:  # one row that breaks must not cost the others
        return f"{name}: {type(error).__name__}: {error}"
    return f"{name}: {' '.join(f'{share:.3f}' for share in found.pass_at_1)}"


if __name__ == "__main__":
    threading.stack_size(512 * 1024)
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3:] or list(GROUPS))
