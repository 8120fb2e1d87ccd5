"""How good is a model at live pages? Cases × seeds, each attempt a run on record. The twin of `burnish eval pages`."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Literal

from burnish.agent.limits import Limits
from burnish.errors import SetupProblem
from burnish.evals.case_runs import (
    CaseAttempt,
    CaseFolder,
    CasePlan,
    CaseWatch,
    Sitting,
    StartRun,
    choose_path,
    describe_measuring,
    open_answering,
)
from burnish.evals.eval_store import PAGES_FILE, find_evaluation
from burnish.events import CriterionScore, Frozen, PageFacts, PageJudged, PageScored, PageWritten
from burnish.events.history import Run
from burnish.models.model import Model
from burnish.models.names import open_model
from burnish.pages.rubric import SHIPPED, Case, load_case
from burnish.runs.request import Request
from burnish.tasks.task import Task

SUITE = "pages"


class PageCase(Frozen):
    """What a case was when the evaluation began."""

    name: str
    source: str
    """What `--case` takes: the name of a shipped case, or the folder of one's own."""
    of: int
    """Points that probes can give. Those of people are not part of an evaluation's score."""
    rubric: str
    """SHA-256 over sentence, context and criteria: only runs of the same are ever compared."""


class PagesPlan(CasePlan):
    """What is measured, as plan and results both name it."""

    kind: Literal["pages"] = "pages"
    cases: tuple[PageCase, ...]

    @property
    def case_names(self) -> tuple[str, ...]:
        """See `CasePlan`."""
        return tuple(case.name for case in self.cases)


class PageAttempt(CaseAttempt):
    """A case tried once. One that broke gave no points."""

    points: int = 0
    """That probes gave to the version that was handed over."""
    of: int = 1
    criteria: tuple[CriterionScore, ...] = ()
    versions: int = 0
    seconds_to_working: float | None = None
    """Until the first version with nothing to be put right was there; None: there was none."""
    follow_ups: int = 0

    @property
    def share(self) -> float:
        """Of the points that probes can give."""
        return self.points / self.of


class PagesFolder(CaseFolder[PagesPlan, PageAttempt]):
    """An evaluation of pages on disk."""

    plan_file, plan_type, attempt_type = PAGES_FILE, PagesPlan, PageAttempt


def evaluate_pages(
    cases: Sequence[str],
    model: Model | str,
    limits: Limits,
    *,
    seeds: Sequence[int] = (0,),
    at_once: int = 0,
    out: Path | str | None = None,
    watch: CaseWatch | None = None,
    start: StartRun | None = None,
) -> PagesFolder:
    """Try each case with each seed, headless, and return the folder with every attempt.

    `cases` are names of shipped ones or folders of one's own; none: all that ship. `limits` are for each attempt.
    An attempt that breaks is on record with its error; too many of them end it (TooManyErrors). Ctrl-C ends it within
    two seconds, and `resume_pages` goes on.
    """
    watch = watch or CaseWatch()
    loaded = {source: load_case(source) for source in cases or SHIPPED}
    if len({case.name for case in loaded.values()}) < len(loaded):
        raise SetupProblem("Two of the cases have one name. Rename the folder of one of them, and name it by --case")
    answering = open_answering(SUITE, model, limits, watch)
    plan = PagesPlan(
        **describe_measuring(answering, at_once),
        cases=tuple(_describe_case(case, source) for source, case in loaded.items()),
        seeds=tuple(seeds),
        limits=limits,
    )
    folder = PagesFolder(choose_path(SUITE, plan.model, out, PAGES_FILE), plan)
    folder.write_plan()
    _PagesSitting(folder, answering, watch, list(loaded.values()), start).make_missing()
    return folder


def resume_pages(
    name: str,
    *,
    seeds: Sequence[int] = (),
    model: Model | None = None,
    watch: CaseWatch | None = None,
    start: StartRun | None = None,
) -> PagesFolder:
    """Make the attempts that an evaluation still lacks, those that broke too; what is over stays as it is.

    An attempt that was under way goes on in its own run. `seeds` are added to those that it has.
    """
    watch, folder = watch or CaseWatch(), PagesFolder.open(find_evaluation(name, PAGES_FILE))
    plan, cases = folder.plan, [load_case(case.source) for case in folder.plan.cases]
    for case, before in zip(cases, plan.cases, strict=True):
        if _describe_case(case, before.source) != before:
            raise SetupProblem(
                f"The case {before.name!r} is no longer what it was when this evaluation began, so its runs could not "
                f"be held against each other. What is finished is kept. Begin a new one: burnish eval {SUITE}"
            )
    answering = model or open_model(plan.model, watch.on_fetch)
    if answering.name != plan.model:
        raise SetupProblem(f"This evaluation measures {plan.model}, not {answering.name}: burnish eval {SUITE}")
    _PagesSitting(folder, answering, watch, cases, start).make_missing(seeds)
    return folder


def _describe_case(case: Case, source: str) -> PageCase:
    """The case as the plan knows it."""
    content = {name: value for name, value in asdict(case).items() if name not in ("name", "folder")}
    return PageCase(
        name=case.name,
        source=source if source in SHIPPED else str(case.folder),
        of=sum(one.points for one in case.criteria if one.by == "probe") or 1,
        rubric=hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest(),
    )


class _PagesSitting(Sitting[PagesPlan, PageAttempt]):
    """Attempts at pages, in browsers of ours."""

    def __init__(
        self, folder: PagesFolder, model: Model, watch: CaseWatch, cases: Sequence[Case], start: StartRun | None
    ) -> None:
        from burnish.pages.attempt import start_page

        super().__init__(folder, model, watch, start or start_page)
        self._cases = {case.name: case for case in cases}

    def build_request(self, case: str, seed: int) -> Request:
        """See `Sitting`."""
        asked, source = self._cases[case], next(one.source for one in self.plan.cases if one.name == case)
        return Request(
            task=Task(id=f"{case}-{seed}", prompt=asked.sentence, language="javascript"),
            verb="page",
            page=PageFacts(case=source, targets=asked.targets, headless=True),
        )

    def count(self, case: str, seed: int, run: Run) -> PageAttempt:
        """See `Sitting`."""
        return count_page_attempt(case, seed, run, self.plan)


def count_page_attempt(case: str, seed: int, run: Run, plan: PagesPlan) -> PageAttempt:
    """What an attempt came to, from the record of its run."""
    scored = run.ending(PageScored) if run.verdict else None
    criteria = scored.criteria if scored else ()
    working = next((event for event in run.all(PageJudged) if not event.findings), None)
    # From the beginning of the work; pauses before a resumption are left out.
    before = [part for part in run.parts if working and part[-1].at < working.at]
    begun = run.parts[len(before)][0].at if working else 0.0
    until = sum(part[-1].at - part[0].at for part in before) + working.at - begun if working else None
    return PageAttempt(
        state="over",
        case=case,
        seed=seed,
        run_id=run.id,
        points=sum(one.points for one in criteria if one.by == "probe"),
        of=next(one.of for one in plan.cases if one.name == case),
        criteria=criteria,
        versions=len({event.cycle for event in run.all(PageWritten)}),
        seconds_to_working=until,
        follow_ups=scored.follow_ups if scored else 0,
        tokens=run.tokens_in + run.tokens_out,
        seconds=run.seconds,
        started=run.started.at,
        dollars=run.dollars,
        verdict=run.verdict,
        error="" if run.verdict else f"{run.state}: {run.why}",
    )
