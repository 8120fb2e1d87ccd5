"""An evaluation in words and rows of words, the same for every report, and `report.md` made of them.

Escaping is left to whoever shows them: `report.py` for the page, `escape_markdown` here.
"""

import re
import shlex
from collections.abc import Iterator

from burnish.evals.schema import Cost, Estimate, Interval, Plan, Results, Verdicts
from burnish.intervals import wilson
from burnish.text import fence_code, one_line, plural, strip_controls

PROTOCOLS = {
    "visible": "The strategy sees the task and its visible examples. The scoring tests are hidden from it: they only "
    "score, so the figure says how it does on code it cannot check against the answer.",
    "oracle": "The scoring tests are shown to the strategy and drive its loop, as in much published work. The figure "
    "says how far it gets with a perfect judge at its side, and is higher than what one may expect on new code.",
}
PLOTS = {
    "pass_by_call": "pass@1 by model call, with 95 % intervals",
    "solved_by_tokens": "solved against tokens per task",
    "grid": "tasks and rounds",
}
VERDICT_PLOTS = {
    "reliability": "how often an answer is right, by how sure it was said to be",
    "risk_coverage": "how many are wrong if only the surest answers are taken",
}
"""Drawn where attempts say how sure they are."""
Table = tuple[list[str], list[list[str]]]
"""Headings, and rows of cells."""


def percent(share: float) -> str:
    """A share as people write it."""
    return f"{100 * share:.1f} %"


def percent_range(interval: Interval) -> str:
    """An interval as people write it."""
    return f"{100 * interval[0]:.1f} to {100 * interval[1]:.1f} %"


def report_title(results: Results) -> str:
    """What was measured, in one line; protocol and size belong to every figure."""
    suite = f"{results.suite} ({results.variant})" if results.variant else results.suite
    names = (one_line(name, 60) for name in (suite, results.strategy, results.model))
    replayed = ("replayed",) if results.replayed else ()
    return " · ".join((*names, *replayed, f"protocol {results.protocol}", f"n = {results.tasks_finished}"))


def headline(results: Results) -> str:
    """The result in a sentence."""
    who = f"{one_line(results.strategy, 40)} with {'recorded answers of ' if results.replayed else ''}"
    who += one_line(results.model, 80)
    if not results.finished:
        return f"{who} has not finished a task yet"
    if len(results.seeds) == 1:
        return f"{who} solves {results.solved} of {plural(results.finished, 'task')}"
    share, tasks = percent(results.pass_at_1[-1]), plural(results.tasks_finished, "task")
    return f"{who} solves {share} of {tasks}, a mean over {len(results.seeds)} seeds"


def list_warnings(results: Results) -> Iterator[str]:
    """What a reader has to know before believing the figure."""
    if results.replayed:
        yield f"Replayed: {describe_replay(results)}. Tokens are those of the recorded answers, seconds the replay's."
    if results.answers:
        yield f"With answers: {describe_answers(results)}. All other figures are with these answers."
    if results.not_recorded:
        yield f"{describe_not_recorded(results)}."
    if results.stopped_by:
        yield f"Stopped: {describe_limit(results)}."
    if results.dollars_unknown:
        yield f"What it cost in dollars is not known: {results.dollars_unknown}."
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
    if results.split != "eval":
        purpose = {"tune": "tuning", "calibrate": "fitting a confidence"}[results.split]
        yield f"This is the split for {purpose}; it is not for reporting."


def describe_replay(results: Results | Plan) -> str:
    """Where the answers of a replay come from."""
    return f"no model was asked, the answers are those recorded in {one_line(results.replayed, 80)}"


def describe_answers(results: Results) -> str:
    """Who answered questions of the agent, and how many there were."""
    most = plural(results.answers, "question")
    return f"the reference answered up to {most} an attempt in a user's place, {results.asked_per_task:.2f} on average"


def describe_not_recorded(results: Results) -> str:
    """How many attempts a replay has no answer for, between which counts the true one lies, and how to find out."""
    many, most = plural(results.not_recorded, "attempt"), results.solved + results.not_recorded
    return (
        f"{many} asked something that is not on record and count as not solved: of {results.finished}, between "
        f"{results.solved} and {most} would be. Only a model can tell: the same command without --replay"
    )


def describe_limit(results: Results) -> str:
    """Which limit ended an evaluation, and what is spent, with attempts that came to nothing."""
    name = results.stopped_by
    cap, spent = getattr(results.limits, name), getattr(results.spent, name)
    reached = "is reached" if name == "seconds" else "could be passed by one more call"
    return f"the limit of {cap:,g} {name} {reached} ({spent:,.6g} spent in all)"


def describe_verdicts(verdicts: Verdicts) -> str:
    """How far the verdicts can be trusted, on one line."""
    held = ""
    if verdicts.precision:
        share, (low, high) = verdicts.precision.value, verdicts.precision.interval
        held = f", {verdicts.right} right ({100 * share:.0f} %, {100 * low:.0f} to {100 * high:.0f})"
    sorting = f"; AUROC {verdicts.auroc.value:.2f}" if verdicts.auroc else ""
    attempts = plural(verdicts.attempts, "attempt")
    return f"proven: {verdicts.proven} of {attempts}{held}; ECE {verdicts.ece.value:.2f}{sorting}"


def list_estimates(verdicts: Verdicts) -> list[tuple[str, str]]:
    """What each figure of the verdicts is called, and the figure with its interval."""

    def show(estimate: Estimate | None, missing: str, share: bool = False) -> str:
        if estimate is None:
            return missing
        low, high = estimate.interval
        if share:
            return f"{percent(estimate.value)} ({100 * low:.1f} to {100 * high:.1f})"
        return f"{estimate.value:.3f} ({low:.3f} to {high:.3f})"

    return [
        ("right of what is called proven", show(verdicts.precision, "nothing is", share=True)),
        ("called proven of what is solved", show(verdicts.coverage, "nothing is", share=True)),
        ("calibration error (ECE)", show(verdicts.ece, "")),
        ("ECE by chance alone", f"{verdicts.ece_by_chance:.3f}"),
        ("Brier score", show(verdicts.brier, "")),
        ("AUROC", show(verdicts.auroc, "all alike")),
    ]


def verdict_tables(verdicts: Verdicts) -> Iterator[tuple[str, Table]]:
    """The figures of the verdicts, and how often an answer is right by how sure it was."""
    counts = [
        ["attempts called proven", f"{verdicts.proven} of {verdicts.attempts} ({percent(verdicts.proven_share)})"],
        ["attempts that say how sure they are", str(verdicts.with_confidence)],
    ]
    rows = [*counts, *(list(row) for row in list_estimates(verdicts))]
    yield "How far its verdicts hold", (["", "with 95 % interval"], rows)
    bins = [
        [
            f"{100 * one.low:.0f} to {100 * one.high:.0f} %",
            str(one.n),
            f"{100 * one.confidence:.1f}",
            f"{100 * one.solved.value:.1f}",
            percent_range(one.solved.interval),
        ]
        for one in verdicts.bins
    ]
    yield "Confidence and outcome", (["confidence", "attempts", "mean, %", "solved, %", "95 % interval"], bins)


def list_settings(results: Results) -> list[list[str]]:
    """The settings that decide the figure."""
    temperature = "the strategy's own" if results.temperature is None else f"{results.temperature:g}"
    return [
        ["suite", f"{results.suite} {results.variant}".strip() + f", split {results.split}"],
        ["protocol", results.protocol],
        ["strategy", results.strategy],
        ["asked to", {"auto": "fix where there is buggy code, else write"}.get(results.ask, results.ask)],
        ["model", results.model],
        ["engine", results.engine or "not recorded"],
        ["rounds", f"up to {results.rounds} after the first answer"],
        ["temperature", temperature],
        ["seeds", ", ".join(map(str, results.seeds))],
        *([["answered questions", f"up to {results.answers}, by the reference"]] if results.answers else []),
        *([["time for the tests", f"{results.timeout_seconds:g} s a task"]] if results.timeout_seconds else []),
        *([["answers", f"replayed from {results.replayed}"]] if results.replayed else []),
        ["Burnish", f"{results.burnish}, commit {results.commit[:12]}" if results.commit else results.burnish],
        ["begun", results.measured_at or "not yet"],
        ["machine", results.machine or "not recorded"],
    ]


def repeat_command(results: Results) -> str:
    """The line that repeats the evaluation.

    Seeds 0, 1, 2 … have a number; of others the first is named, and the list of settings names them all.
    """
    counted = results.seeds == tuple(range(len(results.seeds)))
    options: list[tuple[str, object, object]] = [
        ("--variant", results.variant, ""),
        ("--split", results.split, "eval"),
        ("--replay", results.replayed, "") if results.replayed else ("--model", results.model, None),
        ("--strategy", results.strategy, None),
        ("--ask", results.ask, "auto"),
        ("--protocol", results.protocol, None),
        ("--rounds", results.rounds, None),
        ("--temperature", results.temperature, None),
        ("--without", ",".join(results.without), ""),
        ("--answers", results.answers, 0),
        ("--timeout", results.timeout_seconds, None),
        ("--seeds", len(results.seeds), 1) if counted else ("--seed", results.seeds[0], None),
        ("--limit", results.limit, None),
    ]
    typed = [str(part) for name, value, usual in options if value not in (usual, None) for part in (name, value)]
    return one_line(shlex.join(["burnish", "eval", results.suite, *typed]), 1000)


def list_tables(results: Results) -> Iterator[tuple[str, Table]]:
    """Every table of a report under its name: the curves, the cost, how the work went, and how it was measured."""
    yield from curve_tables(results)
    if results.answers and results.finished:
        sure = ["not said" if one is None else percent(one) for one in results.confidence_by_answers]
        solved, intervals = results.pass_at_1_by_answers, results.pass_at_1_by_answers_interval
        told = [f"{one.proven}, {one.right}" if one else "not said" for one in results.verdicts_by_answers]
        told = told or ["not known"] * len(solved)
        curve = zip(map(percent, solved), map(percent_range, intervals), sure, told, strict=True)
        heads = ["answers", "pass@1", "95 % interval", "mean confidence", "proven, and right"]
        yield "By answered questions", (heads, [[str(count), *cells] for count, cells in enumerate(curve)])
    if len(results.seeds) > 1:
        shares = ["not yet known" if share is None else percent(share) for share in results.pass_at_k]
        yield "Chance of a pass among k attempts", (["k", "pass@k"], [[str(k), s] for k, s in enumerate(shares, 1)])
    if results.verdicts:
        yield from verdict_tables(results.verdicts)
    columns = [results.cost, results.cost_per_task, results.cost_per_solved]
    kinds = {"tokens read": "tokens_in", "tokens written": "tokens_out", "seconds": "seconds", "dollars": "dollars"}
    rows = [[label, *(_format_amount(column, field) for column in columns)] for label, field in kinds.items()]
    each = "task" if len(results.seeds) == 1 else "attempt"
    yield "Cost", (["", "in all", f"per {each}", f"per solved {each}"], rows)
    yield "How the work went", (["", ""], list_rates(results))
    if results.by_bug:
        rows = [
            [
                one.bug,
                str(one.n),
                str(one.solved),
                percent(one.solved / one.n),
                percent_range(wilson(one.solved, one.n)),
            ]
            for one in results.by_bug
        ]
        yield "By kind of bug", (["bug", "attempts", "solved", "share", "95 % interval"], rows)
    yield "How it was measured", (["setting", ""], list_settings(results))
    if results.broken:
        yield "Rows left out", (["row", "why"], [[row.id, row.why] for row in results.broken])


def curve_tables(results: Results) -> list[tuple[str, Table]]:
    """pass@1 by round and by call; one table where each round is one call."""
    heads = ["pass@1", "95 % interval"]
    rounds, calls = (
        [[percent(share), percent_range(interval)] for share, interval in zip(shares, intervals, strict=True)]
        for shares, intervals in (
            (results.pass_at_1, results.pass_at_1_interval),
            (results.pass_at_1_by_call, results.pass_at_1_by_call_interval),
        )
    )
    if results.pass_at_1 == results.pass_at_1_by_call:
        rows = [[str(place), str(place + 1), *row] for place, row in enumerate(rounds)]
        return [("By round and call", (["round", "calls", *heads], rows))]
    return [
        ("By round", (["round", *heads], [[str(place), *row] for place, row in enumerate(rounds)])),
        ("By model call", (["calls", *heads], [[str(place), *row] for place, row in enumerate(calls, 1)])),
    ]


def _format_amount(cost: Cost | None, field: str) -> str:
    amount = getattr(cost, field) if cost else None
    if cost is None:
        return "none solved"
    if amount is None:
        return "not known"
    if field == "dollars":
        return f"{amount:.4f}".rstrip("0").rstrip(".")
    return f"{amount:,.1f}" if field == "seconds" or amount < 10 else f"{amount:,.0f}"


def list_rates(results: Results) -> list[list[str]]:
    """How the work went, beside whether it succeeded."""
    return [
        ["calls per task", f"{results.calls_per_task:.1f}"],
        ["versions that could not be run", percent(results.parse_failure_rate)],
        ["versions equal to an earlier one", percent(results.repeat_rate)],
        ["final answers that timed out", str(results.timeouts)],
        ["attempts that broke", str(results.errors)],
        *([["attempts that are not on record", str(results.not_recorded)]] if results.replayed else []),
        ["tokens written per second, grading and all", f"{results.tokens_per_second:.1f}"],
        ["wall time in minutes", f"{results.cost.seconds / 60:.1f}"],
    ]


def render_markdown(results: Results) -> str:
    """The report in Markdown. Words from models and data files are escaped: they are shown and mean nothing."""
    return "\n\n".join(_markdown_parts(results)) + "\n"


def _markdown_parts(results: Results) -> Iterator[str]:
    yield f"# {escape_markdown(report_title(results))}"
    if results.finished:
        share, interval = percent(results.pass_at_1[-1]), percent_range(results.pass_at_1_interval[-1])
        yield f"{escape_markdown(headline(results))}: **{share}**, 95 % interval {interval}."
    else:
        yield f"{escape_markdown(headline(results))}."
    yield f"**Protocol {results.protocol}.** {PROTOCOLS[results.protocol]}"
    yield from (f"> **{escape_markdown(note)}**" for note in list_warnings(results))
    if results.finished:
        plots = PLOTS | (VERDICT_PLOTS if results.verdicts else {})
        yield "\n\n".join(f"![{label}](plots/{name}.svg)" for name, label in plots.items())
    if results.verdicts:
        yield f"**Verdicts**: {describe_verdicts(results.verdicts)}."
    yield from (f"## {name}\n\n{markdown_table(rows)}" for name, rows in list_tables(results))
    yield f"## Do it again\n\n{fence_code(strip_controls(repeat_command(results)), 'sh')}"
    yield (
        f"Every figure is counted from the {plural(results.finished, 'attempt')} in `attempts/`; `results.json` holds "
        f"them for machines, `report.html` opens any transcript."
    )


def escape_markdown(text: str, most: int = 300) -> str:
    """Somebody else's words on one line, without any meaning in Markdown or HTML."""
    return re.sub(r"([\\`*_{}\[\]<>|#~$!&])", r"\\\1", one_line(text, most))


def markdown_table(rows: Table) -> str:
    """A table whose cells cannot break out of it."""
    heads, body = rows
    lines = [f"| {' | '.join(map(escape_markdown, row))} |" for row in (heads, *body)]
    return "\n".join([lines[0], "|" + "---|" * len(heads), *lines[1:]])
