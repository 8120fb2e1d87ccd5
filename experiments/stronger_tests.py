"""Do tests made for small changes that went unnoticed say something? MBPP 511-570, with the model's own tests.

    BURNISH_DATA=/path/to/data python experiments/stronger_tests.py MODEL OUT.jsonl [TASKS]

For each task `write` has its words and its first assertion; the model writes tests of its own, and once a version
passes them all, tests are added for what they do not notice. The other assertions and the reference only score: whether
the code is right, and which of the added tests reject the reference. Each finished task is appended to OUT.jsonl at
once, and a second start goes on where the first ended; with `-` for MODEL only the table of what is there is printed.
On a GPU, `huggingface:qwen2.5-coder-0.5b` works on AT_ONCE tasks at a time (16 unless set); any other model on one.
"""

import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from burnish.agent.limits import Limits
from burnish.checks.bench.bench import ModuleBench
from burnish.checks.suite import Suite
from burnish.events import Mutated, RunFinished, Strengthened
from burnish.intervals import wilson
from burnish.models.model import Model
from burnish.models.names import open_model
from burnish.paths import describe_origin
from burnish.report.deliverables import read_suite
from burnish.runs import Run, Store
from burnish.runs.attempt import Resources, start
from burnish.runs.request import Request
from burnish.sandbox import open_sandbox
from burnish.sandbox.sandbox import Sandbox
from burnish.tasks import Task
from burnish.tasks.mbpp import load_mbpp

TASKS = 60
LIMITS = Limits(seconds=3600.0)
"""Those of `write`, but that time decides nothing: many tasks share a machine here."""
CHECKS, AFTERWARDS = ("mutation",), ("strengthen",)
ORIGINS = ("model", "spec", "agreed", "pinned")
WANTED = 15.0
"""Points that the mean mutation score should gain without pinned tests."""

Row = dict[str, Any]


def main(model_name: str, out: Path, most: int) -> None:
    rows = read(out)
    done = {row["task"] for row in rows if not is_broken(row)}
    tasks = [task for task in load_mbpp("tune")[:most] if task.id not in done]
    if model_name != "-" and tasks:
        work_through(tasks, open_model(model_name), out, at_once(model_name))
    print("\n".join(summary(read(out))))


def at_once(model_name: str) -> int:
    usual = 16 if model_name.startswith("huggingface:") else 1
    return int(os.environ.get("AT_ONCE", usual))


def work_through(tasks: Sequence[Task], model: Model, out: Path, many: int) -> None:
    """Every task, each appended as soon as it is done; one that breaks costs itself alone, and is tried anew later."""
    started = time.monotonic()
    model.warm_up()
    with tempfile.TemporaryDirectory() as home, open_sandbox() as box, out.open("a", encoding="utf-8") as file:
        store, origin = Store(Path(home)), describe_origin()
        with ThreadPoolExecutor(many) as pool:
            jobs = {pool.submit(measured, task, model, store, box): task for task in tasks}
            for number, job in enumerate(as_completed(jobs), 1):
                error = job.exception()
                row = {"task": jobs[job].id, "error": repr(error)} if error else job.result()
                file.write(json.dumps({**row, **origin}) + "\n")
                file.flush()
                print(f"{number}/{len(tasks)} {time.monotonic() - started:.0f} s {brief(row)}", flush=True)


def measured(task: Task, model: Model, store: Store, box: Sandbox) -> Row:
    """One task, start to finish, and what the reference and the other assertions say of it."""
    request = Request(task=task, limits=LIMITS, checks=CHECKS, afterwards=frozenset(AFTERWARDS))
    run = start(request, Resources([model], store)).wait()
    first = run.all(Mutated)[0].version if run.all(Mutated) else None
    codes = {version.number: version.code for version in run.versions}
    return {
        "task": task.id,
        "model": run.started.model,
        "state": run.state,
        **scores(run),
        "exposing": [test for event in run.all(Strengthened) for test in event.exposing],
        "right_before": first is not None and is_right(codes[first], task, box),
        "right": bool(run.code) and is_right(run.code, task, box),
        "tests": tests_of(run, task, box),
        "seconds": round(run.seconds, 1),
        "seconds_added": round(seconds_added(run), 1),
        "tokens": run.tokens_in + run.tokens_out,
        "tokens_before": tokens_before(run),
    }


def scores(run: Run) -> Row:
    """Percent noticed by the first version's tests, and by the last tests there are, without and with pinned ones."""
    looked, added = run.all(Mutated), run.all(Strengthened)
    if not looked or not looked[0].mutants:
        return {"mutants": 0, "why": looked[0].why if looked else "no version passes what counts"}
    first, last = looked[0], next((one for one in reversed(looked) if one.mutants), looked[0])
    after = next((one for one in reversed(added) if one.version == last.version), None)
    noticed, pinned = (after.noticed, after.pinned) if after else (last.noticed, 0)
    return {
        "mutants": last.mutants,
        "before": round(100 * first.noticed / first.mutants, 2),
        "after": round(100 * noticed / last.mutants, 2),
        "with_pinned": round(100 * (noticed + pinned) / last.mutants, 2),
        "unnoticed": last.mutants - last.noticed,
        "noticed_now": noticed - last.noticed,
        "pinned": pinned,
        "alike": len(after.alike) if after else 0,
        "at_the_end": next((item.details.get("score") for item in run.evidence if item.check == "mutation"), None),
    }


def tests_of(run: Run, task: Task, box: Sandbox) -> list[Row]:
    """Every test but the given ones: who vouches for it, and whether the reference passes it."""
    suite = read_suite(run)
    origins = {new.test: new.origin for event in run.all(Strengthened) for new in event.tests}
    made = [(test, "model") for test in suite.model]
    made += [(test, origins.get(test, "agreed")) for test in (*suite.added, *suite.pinned)]
    outcomes = suite.outcomes(ModuleBench(box).grade(task.gold, suite)) if made else {}
    aside = {*run.disputed}
    return [
        {
            "test": test,
            "origin": origin,
            "aside": test in aside,
            "gold": _passes(test, outcomes[test], suite, task, box),
        }
        for test, origin in made
    ]


def _passes(test: str, outcome: str, suite: Suite, task: Task, box: Sandbox) -> bool:
    """Whether the reference passes a test; where others kept it from being run, it is run alone."""
    if outcome != "not_run":
        return outcome == "passed"
    alone = suite.model_copy(update={"given": (test,), "model": (), "added": (), "pinned": ()})
    return ModuleBench(box).grade(task.gold, alone).all_passed


def is_right(code: str, task: Task, box: Sandbox) -> bool:
    return box.grade(code, task.hidden_tests).all_passed


def seconds_added(run: Run) -> float:
    return sum(event.seconds for event in run.all(Mutated)) + sum(event.seconds for event in run.all(Strengthened))


def tokens_before(run: Run) -> int:
    """Tokens until the first version was broken in small ways; all of them where none was."""
    place = next((number for number, event in enumerate(run.events) if isinstance(event, Mutated)), len(run.events))
    begun = Run([event for event in run.events[:place] if not isinstance(event, RunFinished)])
    return begun.tokens_in + begun.tokens_out


def summary(rows: Sequence[Row]) -> Iterator[str]:
    """The table: scores, tests by origin, what the reference says of them, what was exposed."""
    broken = [row for row in rows if is_broken(row)]
    rows = [row for row in rows if not is_broken(row)]
    scored = [row for row in rows if row["mutants"]]
    models = ", ".join(sorted({row["model"] for row in rows}))
    yield f"{models}: {len(rows)} tasks, {len(broken)} broken; {len(scored)} have a version that passes and has mutants"
    yield from _score_lines(scored)
    for origin in ORIGINS:
        yield from _test_lines(rows, origin)
    yield from _exposed(scored)
    yield from _cost(scored)


def _score_lines(scored: Sequence[Row]) -> Iterator[str]:
    yield from _gain("all", scored)
    yield from _gain("where something went unnoticed", [row for row in scored if row["before"] < 100])
    missed = sum(row["unnoticed"] for row in scored)
    for name, words in (
        ("noticed_now", "noticed now"),
        ("pinned", "by pinned tests alone"),
        ("alike", "told apart by none"),
    ):
        yield f"of the changes that went unnoticed, {words}: {_share(sum(row[name] for row in scored), missed)}"


def _gain(words: str, scored: Sequence[Row]) -> Iterator[str]:
    if not scored:
        return
    before, after, pinned = (
        statistics.fmean(row[name] for row in scored) for name in ("before", "after", "with_pinned")
    )
    gains = [row["after"] - row["before"] for row in scored]
    half = 1.96 * statistics.stdev(gains) / len(gains) ** 0.5 if len(gains) > 1 else 0.0
    mean = statistics.fmean(gains)
    yield f"mutation score, {words} ({len(scored)}): {before:.1f} % → {after:.1f} %, {pinned:.1f} % with pinned"
    yield f"gain without pinned: {mean:+.1f} points ({mean - half:+.1f} to {mean + half:+.1f}), wanted {WANTED:+g}"


def _test_lines(rows: Sequence[Row], origin: str) -> Iterator[str]:
    """How many tests there are of an origin, and the share of them that the reference fails."""
    for words, fits in _groups():
        made = [test for row in rows if fits(row) for test in row["tests"] if test["origin"] == origin]
        found = [test for test in made if not test["aside"]]
        wrong, aside = sum(not test["gold"] for test in found), len(made) - len(found)
        more = f" ({aside} set aside)" if aside else ""
        yield f"{origin} tests, {words}: {len(found)}{more}; the reference fails {_share(wrong, len(found))}"


def _groups() -> Iterable[tuple[str, Callable[[Row], bool]]]:
    yield "all runs", lambda row: True
    yield "code right", lambda row: bool(row["right"])
    yield "code wrong", lambda row: not row["right"]


def _exposed(scored: Sequence[Row]) -> Iterator[str]:
    wrong = [row for row in scored if not row["right_before"]]
    right = [row for row in scored if row["right_before"]]
    exposed = [row for row in wrong if row["exposing"]]
    yield f"versions that passed all and were wrong, exposed by a new test: {_share(len(exposed), len(wrong))}"
    yield f"of those repaired: {_share(sum(row['right'] for row in exposed), len(exposed))}"
    alarms = [row for row in right if row["exposing"]]
    yield f"right versions that a new test spoke against: {_share(len(alarms), len(right))}"
    yield f"right versions that were lost: {_share(sum(not row['right'] for row in right), len(right))}"


def _cost(scored: Sequence[Row]) -> Iterator[str]:
    if scored:
        tokens = sum(row["tokens"] for row in scored) / max(1, sum(row["tokens_before"] for row in scored))
        seconds = statistics.median(row["seconds_added"] for row in scored)
        yield f"tokens of a run over those until its first version passed: {tokens:.2f}"
        yield f"seconds for mutants and new tests, median: {seconds:.1f}"


def _share(part: int, whole: int) -> str:
    if not whole:
        return "0 of 0"
    low, high = wilson(part, whole)
    return f"{part} of {whole} ({100 * part / whole:.0f} %, {100 * low:.0f} to {100 * high:.0f})"


def is_broken(row: Row) -> bool:
    """Whether the model or the machine failed, which says nothing about the tests: such a task is tried again."""
    return "error" in row or row["state"] in ("broken", "interrupted", "unfinished")


def brief(row: Row) -> str:
    kept = ("task", "state", "before", "after", "with_pinned", "right_before", "right", "error", "seconds")
    return " ".join(f"{key}={row[key]}" for key in kept if key in row)


def read(out: Path) -> list[Row]:
    """The rows on disk, the last one of each task; a line torn by a crash is passed over."""
    rows: dict[str, Row] = {}
    for line in out.read_text("utf-8").splitlines() if out.exists() else []:
        try:
            row = json.loads(line)
        except ValueError:
            continue
        rows[row["task"]] = row
    return list(rows.values())


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]) if sys.argv[3:] else TASKS)
