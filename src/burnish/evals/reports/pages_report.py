"""What an evaluation of live pages came to: figures, tables, files, and two of them side by side.

Everything is counted from the attempts on disk, and, where people have ticked criteria since, from their runs.
"""

import json
import shlex
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from html import escape
from importlib.resources import files
from pathlib import Path
from statistics import fmean, median

from burnish.errors import SetupProblem
from burnish.evals.compare import NOISE, Stratum, bootstrap_by_case, differ_by_case, permute_by_case
from burnish.evals.eval_store import PLOTS, explain_disk_errors
from burnish.evals.metrics import RESULTS_FILE
from burnish.evals.pages import SUITE, PageAttempt, PageCase, PagesFolder, PagesPlan
from burnish.evals.reports.plots import Strip, draw_strips
from burnish.evals.reports.report import render_table
from burnish.evals.reports.report_text import Table, escape_markdown, markdown_table, percent, percent_range
from burnish.evals.schema import Estimate, Interval
from burnish.events import CriterionTicked, Frozen, PageScored
from burnish.intervals import wilson
from burnish.pages.rubric import add_ticks, agreement
from burnish.paths import PRIVATE_MODE, write_atomically
from burnish.runs.store import Store, open_run
from burnish.text import fence_code, html_line, one_line, plural

PROTOCOL = (
    "Each run begins with the case's sentence. Every version runs in a browser of its own, without a network, and what "
    "goes wrong is told to the model, criteria that its probe says do not hold among it: the rubric drives the loop, "
    "and a criterion that is met later earns less. Points are those of the version that was handed over, as probes "
    "gave them; a run that broke has none. Intervals of 95 % are Wilson's with n = runs, which for points is rather "
    "too wide."
)
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'"


class CriterionResult(Frozen):
    """How often a criterion held in the end, and what it gave."""

    name: str
    what: str
    by: str
    of: int
    points: float
    """Mean over the runs."""
    held: int
    judged: int
    interval: Interval
    """Of the share in which it held."""


class CaseResult(Frozen):
    """All runs at one case. Shares are of the points that probes can give; figures without a range are means."""

    case: str
    of: int
    runs: int
    share: Estimate
    lowest: float
    median: float
    highest: float
    working: int
    """Runs with a version in which nothing was left to be put right."""
    working_interval: Interval
    seconds_to_working: float | None
    """Until the first such version, median over those runs."""
    versions: float
    follow_ups: float
    tokens: float
    seconds: float
    dollars: float | None
    criteria: tuple[CriterionResult, ...]


class PagesResults(PagesPlan):
    """One evaluation, finished or not."""

    measured_at: str = ""
    planned: int
    finished: int
    errors: int
    share: Estimate | None
    """Mean over cases of the mean over runs; None before the first run is over."""
    tokens: int
    dollars: float | None
    by_case: tuple[CaseResult, ...]
    ticks: int = 0
    """Criteria that a probe and a person have both judged."""
    agreement: float | None = None
    """Cohen's κ between the two; None where too few were ticked to say."""
    attempts: tuple[PageAttempt, ...]

    def text(self) -> str:
        """The words of `results.json`."""
        return self.model_dump_json(indent=1) + "\n"


def compute_page_results(folder: PagesFolder) -> PagesResults:
    """The figures of an evaluation, with what people have said of its runs until now."""
    attempts, pairs = [], list[tuple[bool, bool]]()
    for attempt in folder.attempts().values():
        if attempt.state == "over":
            ticked = _read_ticks(attempt)
            probed = {one.name: one.holds for one in attempt.criteria if one.by == "probe"}
            said = ((probed.get(tick.name), tick.holds) for tick in ticked)
            pairs += [(held, holds) for held, holds in said if held is not None and holds is not None]
            scored = PageScored(case=attempt.case, criteria=attempt.criteria, points=0, of=0)
            attempts.append(attempt.model_copy(update={"criteria": add_ticks(scored, ticked).criteria}))
    plan = folder.plan
    by_case = [_count_case(case, runs) for case in plan.cases if (runs := [a for a in attempts if a.case == case.name])]
    mean, begun = (
        fmean(case.share.value for case in by_case) if by_case else 0.0,
        min((a.started for a in attempts), default=0.0),
    )
    return PagesResults(
        **plan.model_dump(),
        measured_at=datetime.fromtimestamp(begun, UTC).isoformat(timespec="seconds") if attempts else "",
        planned=len(plan.cases) * len(plan.seeds),
        finished=len(attempts),
        errors=sum(bool(attempt.error) for attempt in attempts),
        share=_estimate(mean, len(attempts)) if attempts else None,
        tokens=sum(attempt.tokens for attempt in attempts),
        dollars=_add_dollars(attempts),
        by_case=tuple(by_case),
        ticks=len(pairs),
        agreement=agreement(pairs),
        attempts=tuple(attempts),
    )


def _read_ticks(attempt: PageAttempt) -> list[CriterionTicked]:
    """The last word of people on each criterion of a run; none where its record is not here."""
    try:
        ticks = open_run(Store().runs / attempt.run_id).all(CriterionTicked)
    except (OSError, SetupProblem):
        return []
    return list({tick.name: tick for tick in ticks if tick.case == attempt.case}.values())


def _count_case(case: PageCase, runs: Sequence[PageAttempt]) -> CaseResult:
    shares, n = [run.share for run in runs], len(runs)
    times = [run.seconds_to_working for run in runs if run.seconds_to_working is not None]
    dollars = _add_dollars(runs)
    criteria = []
    for sample in next((run.criteria for run in runs if run.criteria), ()):
        found = [one for run in runs for one in run.criteria if one.name == sample.name]
        held, judged = (
            sum(one.holds is True for one in found),
            n if sample.by == "probe" else sum(one.holds is not None for one in found),
        )
        points = sum(one.points for one in found) / max(1, judged)
        facts = sample.model_dump(include={"name", "what", "by", "of"})
        criteria.append(
            CriterionResult(**facts, points=points, held=held, judged=judged, interval=wilson(held, judged))
        )
    return CaseResult(
        case=case.name,
        of=case.of,
        runs=n,
        share=_estimate(fmean(shares), n),
        lowest=min(shares),
        median=median(shares),
        highest=max(shares),
        working=len(times),
        working_interval=wilson(len(times), n),
        seconds_to_working=median(times) if times else None,
        versions=fmean(run.versions for run in runs),
        follow_ups=fmean(run.follow_ups for run in runs),
        tokens=fmean(run.tokens for run in runs),
        seconds=fmean(run.seconds for run in runs),
        dollars=None if dollars is None else dollars / n,
        criteria=tuple(criteria),
    )


def _estimate(share: float, n: int) -> Estimate:
    return Estimate(value=share, interval=wilson(share * n, n))


def _add_dollars(runs: Sequence[PageAttempt]) -> float | None:
    """None as soon as the price of one is not known."""
    known = [run.dollars for run in runs if run.dollars is not None]
    return sum(known) if len(known) == len(runs) else None


def page_headline(results: PagesResults) -> str:
    """The result in a sentence."""
    who = one_line(results.model, 80)
    if results.share is None:
        return f"{who} has not finished a run yet"
    cases = results.by_case[0].case if len(results.by_case) == 1 else plural(len(results.by_case), "case")
    interval = percent_range(results.share.interval)
    runs = plural(results.finished, "run")
    return f"{who} gets {percent(results.share.value)} of the points of {cases} ({interval}, {runs})"


def list_page_notes(results: PagesResults) -> Iterator[str]:
    """What a reader has to know before believing the figures."""
    if results.finished < results.planned:
        yield f"Not finished: {results.finished} of {results.planned} runs are there, and every figure is over these."
    if results.errors:
        broke = plural(results.errors, "run")
        yield f"Broke, and counted without points: {broke}; `burnish eval resume` makes them again."
    if results.dollars is None:
        yield f"What it cost in dollars is not known: {one_line(results.model, 80)} has no price on record."
    if results.agreement is not None:
        judged = plural(results.ticks, "criterion")
        yield f"People judged {judged} that probes had judged; agreement κ = {results.agreement:.2f}."


def list_page_tables(results: PagesResults) -> Iterator[tuple[str, Table]]:
    """Every table of a report under its name."""
    n, cases = "95 % interval", results.by_case
    rows = [
        [c.case, str(c.runs), percent(c.share.value), percent_range(c.share.interval)]
        + [f"{100 * share:.0f}" for share in (c.lowest, c.median, c.highest)]
        for c in cases
    ]
    yield "Points", (["case", "runs", "mean", n, "lowest", "median", "highest"], rows)
    rows = [
        [c.case, f"{c.working} of {c.runs}", percent_range(c.working_interval)]
        + ["never" if c.seconds_to_working is None else f"{c.seconds_to_working:.0f} s", f"{c.versions:.1f}"]
        + [
            f"{c.follow_ups:.1f}",
            f"{c.tokens:,.0f}",
            f"{c.seconds:.0f}",
            "?" if c.dollars is None else f"{c.dollars:.4g}",
        ]
        for c in cases
    ]
    heads = [
        "case",
        "nothing left to mend",
        n,
        "after (median)",
        "versions",
        "follow-ups",
        "tokens",
        "seconds",
        "dollars",
    ]
    yield "How the work went, a run", (heads, rows)
    rows = [
        [c.case, one.name if one.by == "probe" else f"{one.name} (a person)", f"{one.points:.1f} of {one.of}"]
        + ([f"{one.held} of {one.judged}", percent_range(one.interval)] if one.judged else ["not judged", ""])
        for c in cases
        for one in c.criteria
    ]
    yield "Points by criterion", (["case", "criterion", "mean points", "held", n], rows)
    rows = [
        [a.case, str(a.seed), f"{a.points} of {a.of}", str(a.versions), a.verdict or "broke"]
        + [f"{a.tokens:,}", f"{a.seconds:.0f}", a.run_id, one_line(a.error, 120)]
        for a in results.attempts
    ]
    yield "Every run", (["case", "seed", "points", "versions", "verdict", "tokens", "seconds", "run", ""], rows)
    limits = results.limits.model_dump(exclude_none=True)
    rows = [
        ["model", f"{results.model} on {results.engine}"],
        ["cases", ", ".join(f"{case.name} (rubric {case.rubric[:12]})" for case in results.cases)],
        ["seeds", ", ".join(map(str, results.seeds))],
        ["limits of a run", ", ".join(f"{cap:g} {name}" for name, cap in limits.items())],
        ["runs at once", str(results.at_once)],
        ["Burnish", f"{results.burnish}, commit {results.commit[:12]}" if results.commit else results.burnish],
        ["begun", results.measured_at or "not yet"],
        ["machine", results.machine],
    ]
    yield "How it was measured", (["setting", ""], rows)


def repeat_pages_command(results: PagesResults) -> str:
    """The line that repeats the evaluation."""
    limits, usual = results.limits, type(results.limits)()
    cases = ",".join(case.source for case in results.cases)
    typed = ["burnish", "eval", SUITE, "--model", results.model, "--case", cases, "--rounds", str(limits.rounds)]
    for name in ("tokens", "seconds", "dollars", "max_tokens", "thinking"):
        if (cap := getattr(limits, name)) != getattr(usual, name):
            typed += [f"--{name.replace('_', '-')}", f"{cap:g}"]
    counted = results.seeds == tuple(range(len(results.seeds)))
    typed += ["--seeds", str(len(results.seeds))] if counted else ["--seed", str(results.seeds[0])]
    return one_line(shlex.join(typed), 1000)


def draw_scores(sides: Sequence[Sequence[PagesResults]], caption: str = "") -> str:
    """The strip plot: every run of each case, of one evaluation or of the two sides of a comparison."""
    strips, several = [], len(sides) > 1
    for case in sides[0][0].cases:
        for place, (letter, side) in enumerate(zip("AB", sides, strict=False)):
            runs = [run for results in side for run in results.attempts if run.case == case.name]
            if runs:
                mean = _estimate(fmean(run.share for run in runs), len(runs))
                strips.append(
                    Strip(
                        label=f"{case.name} · {letter}" if several else case.name,
                        shares=[run.share for run in runs],
                        tips=[f"{run.points} of {run.of} points, seed {run.seed}, {run.run_id}" for run in runs],
                        mean=mean.value,
                        interval=mean.interval,
                        side=place,
                    )
                )
    names = [" + ".join(dict.fromkeys(one_line(results.model, 60) for results in side)) for side in sides]
    title = (
        " and ".join(f"{letter}: {name}" for letter, name in zip("AB", names, strict=False)) if several else names[0]
    )
    return draw_strips(strips, "points that probes gave, in %; a dot is a run", title, caption)


def write_page_reports(folder: PagesFolder) -> PagesResults:
    """Write `results.json`, `report.md`, `report.html` and `plots/scores.svg`; the results come back."""
    results = compute_page_results(folder)
    written = {RESULTS_FILE: results.text(), "report.md": "\n\n".join(_markdown_parts(results)) + "\n"}
    written["report.html"] = "\n".join(_html_parts(results))
    if results.finished:
        caption = f"{page_headline(results)} · at most {results.limits.rounds} rounds · {results.engine}"
        written[f"{PLOTS}/scores.svg"] = draw_scores([[results]], f"{caption} · line: mean and 95 % interval")
    with explain_disk_errors(folder.path):
        (folder.path / PLOTS).mkdir(exist_ok=True)
        for name, text in written.items():
            write_atomically(folder.path / name, text.encode("utf-8", "replace"), PRIVATE_MODE)
    return results


def _markdown_parts(results: PagesResults) -> Iterator[str]:
    yield f"# {escape_markdown(page_headline(results))}"
    yield from (f"> **{escape_markdown(note)}**" for note in list_page_notes(results))
    yield PROTOCOL
    if results.finished:
        yield "![every run, by case](plots/scores.svg)"
    yield from (f"## {name}\n\n{markdown_table(rows)}" for name, rows in list_page_tables(results))
    yield f"## Do it again\n\n{fence_code(repeat_pages_command(results), 'sh')}"


def _html_parts(results: PagesResults) -> Iterator[str]:
    """One file that opens anywhere; nothing in it is a script, and every word of others is escaped."""
    headline = html_line(page_headline(results))
    style = (files("burnish.evals") / "page" / "style.css").read_text("utf-8")
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{headline}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>"
    yield f'<p class="eyebrow">burnish eval {SUITE}</p><h1>{headline}</h1>'
    if notes := "".join(f"<p>{html_line(note)}</p>" for note in list_page_notes(results)):
        yield f'<div class="notes">{notes}</div>'
    yield f"<p><strong>Protocol.</strong> {escape(PROTOCOL)}</p>"
    if results.finished:
        plot = draw_scores([[results]])
        caption = "Every run; below each case its mean with the 95 % interval."
        yield f'<figure class="card">{plot}<figcaption>{caption}</figcaption></figure>'
    for name, table in list_page_tables(results):
        yield f'<h2>{escape(name)}</h2><div class="card">{render_table(table)}</div>'
    yield f"<h2>Do it again</h2><pre>{escape(repeat_pages_command(results))}</pre>"
    yield "<footer>Made by Burnish. Everything on this page is in this one file.</footer></main>\n</body>\n</html>\n"


def read_page_results(path: Path) -> PagesResults | None:
    """The results in a file, or in a folder; None where they are those of another kind of evaluation."""
    file = path / RESULTS_FILE if path.is_dir() else path
    try:
        data = json.loads(file.read_bytes())
        return PagesResults.model_validate(data) if data.get("kind") == SUITE else None
    except (OSError, ValueError, AttributeError):
        return None


class CaseDifference(Frozen):
    """Both sides at one case."""

    case: str
    runs_a: int
    runs_b: int
    share_a: float
    share_b: float


class PagesComparison(Frozen):
    """Two evaluations of live pages side by side. Negative differences: A is ahead."""

    a: str
    b: str
    cases: tuple[CaseDifference, ...]
    difference: float
    """Mean over cases, as a share of the points."""
    interval: Interval
    """95 %, by bootstrap over runs, within each case and side."""
    p: float
    test: str
    warnings: tuple[str, ...]
    sentence: str


def compare_pages(a: Sequence[PagesResults], b: Sequence[PagesResults]) -> PagesComparison:
    """B against A by a permutation test within cases. Several results of one side are pooled.

    Raises SetupProblem where cases or rubrics differ: their points are not the same thing.
    """
    both = (*a, *b)
    cases = {case.name: case for case in both[0].cases}
    for results in both[1:]:
        there = {case.name: case for case in results.cases}
        if differ := sorted({*cases} ^ {*there}):
            why = f"only one has the case {', '.join(differ)}"
        elif differ := [name for name in cases if cases[name].rubric != there[name].rubric]:
            why = f"the rubric, sentence or context of {', '.join(differ)} differs"
        else:
            continue
        raise SetupProblem(
            f"These evaluations cannot be held against each other: {one_line(why, 300)}. "
            f"Compare two of the same cases: burnish compare RUN1 RUN2"
        )
    pools = [[run for results in side for run in results.attempts] for side in (a, b)]
    if any(len({run.run_id for run in pool}) < len(pool) for pool in pools):
        raise SetupProblem("The same evaluation is named twice on one side. Name each once: burnish compare A,B C")
    strata: list[Stratum] = []
    rows = []
    for name, case in cases.items():
        mine, theirs = ([run.points for run in pool if run.case == name] for pool in pools)
        if not mine or not theirs:
            raise SetupProblem(f"No run of {name!r} is over on one side. Finish it first: burnish eval resume RUN")
        strata.append((mine, theirs, case.of))
        shares = [fmean(points) / case.of for points in (mine, theirs)]
        rows.append(
            CaseDifference(case=name, runs_a=len(mine), runs_b=len(theirs), share_a=shares[0], share_b=shares[1])
        )
    p, is_exact = permute_by_case(strata)
    difference, (low, high) = differ_by_case(strata), bootstrap_by_case(strata)
    lead, way = ("B", 1) if difference > 0 else ("A", -1)
    edges = sorted((way * low, way * high))
    said = f"{lead} gets {100 * abs(difference):.1f} points of 100 more"
    said += f" (95 % interval {100 * edges[0]:.1f} to {100 * edges[1]:.1f}, p = {p:.3g})"
    settings = {"limits": "the limits of a run", "burnish": "the version of Burnish", "at_once": "how many ran at once"}
    warnings = [
        f"Not alike: {what}." for name, what in settings.items() if len({str(getattr(one, name)) for one in both}) > 1
    ]
    warnings += [
        f"{one_line(one.model, 60)}: {note}" for one in both for note in list_page_notes(one) if "κ" not in note
    ]
    return PagesComparison(
        a=" + ".join(dict.fromkeys(one.model for one in a)),
        b=" + ".join(dict.fromkeys(one.model for one in b)),
        cases=tuple(rows),
        difference=difference,
        interval=(low, high),
        p=p,
        test=f"permutation within cases, {'exact' if is_exact else '10,000 draws'}",
        warnings=tuple(warnings),
        sentence=f"{said}: {'within noise' if p >= NOISE else 'more than noise'}."
        if difference
        else "A and B are level.",
    )
