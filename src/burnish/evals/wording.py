"""An evaluation in words and rows of words, the same for every report. Escaping is left to whoever shows them."""

import shlex
from collections.abc import Iterator, Sequence

from burnish.evals.figures import Cost, Interval, Results
from burnish.intervals import wilson
from burnish.text import one_line, plural

PROTOCOLS = {
    "visible": "The strategy sees the task and its visible examples. The scoring tests are hidden from it: they only "
    "score, so the figure says how it does on code it cannot check against the answer.",
    "oracle": "The scoring tests are shown to the strategy and drive its loop, as in much published work. The figure "
    "says how far it gets with a perfect judge at its side, and is higher than what one may expect on new code.",
}
Table = tuple[list[str], list[list[str]]]
"""Headings, and rows of cells."""


def percent(share: float) -> str:
    """A share as people write it."""
    return f"{100 * share:.1f} %"


def span(interval: Interval) -> str:
    """An interval as people write it."""
    return f"{100 * interval[0]:.1f} to {100 * interval[1]:.1f} %"


def title(results: Results) -> str:
    """What was measured, in one line; protocol and size belong to every figure."""
    suite = f"{results.suite} ({results.variant})" if results.variant else results.suite
    names = (one_line(name, 60) for name in (suite, results.strategy, results.model))
    return " · ".join((*names, f"protocol {results.protocol}", f"n = {results.tasks_finished}"))


def headline(results: Results) -> str:
    """The result in a sentence."""
    who = f"{one_line(results.strategy, 40)} with {one_line(results.model, 80)}"
    if not results.finished:
        return f"{who} has not finished a task yet"
    if len(results.seeds) == 1:
        return f"{who} solves {results.solved} of {plural(results.finished, 'task')}"
    share, tasks = percent(results.pass_at_1[-1]), plural(results.tasks_finished, "task")
    return f"{who} solves {share} of {tasks}, a mean over {len(results.seeds)} seeds"


def notes(results: Results) -> Iterator[str]:
    """What a reader has to know before believing the figure."""
    if not results.complete:
        yield (
            f"Not finished: {results.finished} of {results.planned} attempts are there, and every figure is over these."
        )
    if results.limit:
        yield f"Only the first {results.limit} rows of the suite were asked for."
    if results.errors:
        yield f"Broke, and counted as not solved: {plural(results.errors, 'attempt')}."
    if results.broken:
        yield f"Left out, because it is no fair task: {plural(len(results.broken), 'row')} of the suite."
    if results.split == "tune":
        yield "This is the split for tuning; it is not for reporting."


def facts(results: Results) -> list[tuple[str, str]]:
    """The settings that decide the figure."""
    temperature = "the strategy's own" if results.temperature is None else f"{results.temperature:g}"
    return [
        ("suite", f"{results.suite} {results.variant}".strip() + f", split {results.split}"),
        ("protocol", results.protocol),
        ("strategy", results.strategy),
        ("asked to", {"auto": "fix where there is buggy code, else write"}.get(results.ask, results.ask)),
        ("model", results.model),
        ("engine", results.engine or "not recorded"),
        ("rounds", f"up to {results.rounds} after the first answer"),
        ("temperature", temperature),
        ("seeds", ", ".join(map(str, results.seeds))),
        ("Burnish", results.burnish),
    ]


def command(results: Results) -> str:
    """The line that repeats the evaluation."""
    options: list[tuple[str, object, object]] = [
        ("--variant", results.variant, ""),
        ("--split", results.split, "eval"),
        ("--model", results.model, None),
        ("--strategy", results.strategy, None),
        ("--ask", results.ask, "auto"),
        ("--protocol", results.protocol, None),
        ("--rounds", results.rounds, None),
        ("--temperature", results.temperature, None),
        *_seeds(results.seeds),
        ("--limit", results.limit, None),
    ]
    said = [str(part) for name, value, usual in options if value not in (usual, None) for part in (name, value)]
    return one_line(shlex.join(["burnish", "eval", results.suite, *said]), 1000)


def _seeds(seeds: Sequence[int]) -> list[tuple[str, object, object]]:
    """Seeds 0, 1, 2 … have a number; of others the first is named, and the list of settings names them all."""
    if tuple(seeds) == tuple(range(len(seeds))):
        return [("--seeds", len(seeds), 1)]
    return [("--seed", seeds[0], None)]


def curves(results: Results) -> list[tuple[str, Table]]:
    """pass@1 by round and by call; one table where each round is one call."""
    by_round, by_call = results.pass_at_1, results.pass_at_1_by_call
    if by_round == by_call:
        names = [f"{place}" for place in range(len(by_round))]
        rows = _curve(names, by_round, results.pass_at_1_interval)
        with_calls = [[row[0], str(place), *row[1:]] for place, row in enumerate(rows, 1)]
        return [("By round and call", (["round", "calls", "pass@1", "95 % interval"], with_calls))]
    rounds = _curve([str(place) for place in range(len(by_round))], by_round, results.pass_at_1_interval)
    calls = _curve([str(place) for place in range(1, len(by_call) + 1)], by_call, results.pass_at_1_by_call_interval)
    heads = ["pass@1", "95 % interval"]
    return [("By round", (["round", *heads], rounds)), ("By model call", (["calls", *heads], calls))]


def _curve(names: Sequence[str], shares: Sequence[float], intervals: Sequence[Interval]) -> list[list[str]]:
    return [[name, percent(share), span(edge)] for name, share, edge in zip(names, shares, intervals, strict=True)]


def pass_at_k(results: Results) -> Table:
    """The chance of a pass among k attempts."""
    shares = ["not yet known" if share is None else percent(share) for share in results.pass_at_k]
    return ["k", "pass@k"], [[str(k), share] for k, share in enumerate(shares, 1)]


def cost(results: Results) -> Table:
    """Tokens, seconds and dollars: in all, for each attempt, for each solved one."""
    columns = [results.cost, results.cost_per_task, results.cost_per_solved]
    kinds = {"tokens read": "tokens_in", "tokens written": "tokens_out", "seconds": "seconds", "dollars": "dollars"}
    rows = [[label, *(_amount(column, field) for column in columns)] for label, field in kinds.items()]
    each = "task" if len(results.seeds) == 1 else "attempt"
    return ["", "in all", f"per {each}", f"per solved {each}"], rows


def _amount(cost: Cost | None, field: str) -> str:
    amount = getattr(cost, field) if cost else None
    if cost is None:
        return "none solved"
    if amount is None:
        return "not known"
    if field == "dollars":
        return f"{amount:.4f}".rstrip("0").rstrip(".")
    return f"{amount:,.1f}" if field == "seconds" or amount < 10 else f"{amount:,.0f}"


def rates(results: Results) -> list[tuple[str, str]]:
    """How the work went, beside whether it succeeded."""
    return [
        ("calls per task", f"{results.calls_per_task:.1f}"),
        ("versions that could not be run", percent(results.parse_failure_rate)),
        ("versions equal to an earlier one", percent(results.repeat_rate)),
        ("final answers that timed out", str(results.timeouts)),
        ("attempts that broke", str(results.errors)),
        ("tokens written per second, grading and all", f"{results.tokens_per_second:.1f}"),
        ("wall time in minutes", f"{results.cost.seconds / 60:.1f}"),
    ]


def by_bug(results: Results) -> Table:
    """How each kind of bug fared."""
    rows = [
        [row.bug, str(row.n), str(row.solved), percent(row.solved / row.n), span(wilson(row.solved, row.n))]
        for row in results.by_bug
    ]
    return ["bug", "attempts", "solved", "share", "95 % interval"], rows
