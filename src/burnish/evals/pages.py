"""How good is a model at live pages? Cases × seeds, each attempt a run on record. The twin of `burnish eval pages`.

A folder holds `pages.json`, the plan, and `attempts.jsonl`: a line when an attempt begins, which names its run, and one
when it is over. These two are the truth; results and reports are made from them. What was under way when the process
died is taken up again in its run: no answer is paid for twice.
"""

import hashlib
import json
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, ValidationError

from burnish.agent.limits import Limits, check_answer_fits, check_priced
from burnish.errors import AttemptError, SetupProblem
from burnish.evals.eval_store import (
    PAGES_FILE,
    explain_disk_errors,
    find_evaluation,
    lock_evaluation,
    name_evaluation,
    new_path,
)
from burnish.evals.runner import TooManyErrors, name_engine
from burnish.evals.workers import computes_here
from burnish.events import CriterionScore, Event, Frozen, PageFacts, PageJudged, PageScored, PageWritten, Verdict
from burnish.events.history import Run
from burnish.jsonlines import parse_json_lines
from burnish.models.model import Model
from burnish.models.names import AUTO, open_model
from burnish.models.scripted import ScriptedModel
from burnish.pages.rubric import SHIPPED, Case, load_case
from burnish.paths import PRIVATE_MODE, describe_origin, make_private_folder, open_private_file, write_atomically
from burnish.report.deliverables import check_free
from burnish.runs.attempt import Resources, RunHandle
from burnish.runs.request import EvalSettings, Request
from burnish.runs.store import Store, open_run
from burnish.tasks.task import Task
from burnish.text import one_line
from burnish.version import __version__

SUITE = "pages"
ROWS_FILE = "attempts.jsonl"
FEWEST_TO_JUDGE, MOST_BROKEN = 3, 0.5
"""Once so many attempts of a sitting are over, a larger share of broken ones ends it."""

StartPage = Callable[[Request, Resources], RunHandle]
"""Begins the run of a page: `pages.attempt.start_page`, in a browser of ours."""


class PageCase(Frozen):
    """What a case was when the evaluation began."""

    name: str
    source: str
    """What `--case` takes: the name of a shipped case, or the folder of one's own."""
    of: int
    """Points that probes can give. Those of people are not part of an evaluation's score."""
    rubric: str
    """SHA-256 over sentence, context and criteria: only runs of the same are ever compared."""


class PagesPlan(Frozen):
    """What is measured, as plan and results both name it."""

    kind: Literal["pages"] = "pages"
    version: Literal[1] = 1
    burnish: str = __version__
    commit: str = ""
    machine: str = ""
    model: str
    engine: str = ""
    cases: tuple[PageCase, ...]
    seeds: tuple[int, ...]
    limits: Limits
    """Of each attempt."""
    at_once: int = Field(default=1, ge=1)
    """Attempts under way at the same time: browsers that share cores are slower, and some probes measure time."""


class PageAttempt(Frozen):
    """A case tried once. One that has only begun says which run it is; one that broke gave no points."""

    state: Literal["begun", "over"] = "begun"
    case: str
    seed: int
    run_id: str
    points: int = 0
    """That probes gave to the version that was handed over."""
    of: int = 1
    criteria: tuple[CriterionScore, ...] = ()
    versions: int = 0
    seconds_to_working: float | None = None
    """Until the first version with nothing to be put right was there; None: there was none."""
    follow_ups: int = 0
    tokens: int = 0
    seconds: float = 0.0
    started: float = 0.0
    dollars: float | None = 0.0
    """None where the price of an answer is not known."""
    verdict: Verdict | None = None
    error: str = ""

    @property
    def share(self) -> float:
        """Of the points that probes can give."""
        return self.points / self.of


class PagesWatch:
    """Who looks on while attempts are made. Every method may be left as it is; `on_event` comes from many threads."""

    def on_fetch(self, done: int, total: int, source: str) -> None:
        """Weights are on their way."""

    def on_begin(self, folder: "PagesFolder") -> None:
        """The plan is on disk; attempts begin, or go on."""

    def on_event(self, case: str, seed: int, event: Any) -> None:
        """Something happened in one of the attempts under way."""

    def on_finish(self, attempt: PageAttempt) -> None:
        """An attempt is over, and on disk."""


class PagesFolder:
    """One evaluation on disk. Threads of one process may append to it; `lock_evaluation` keeps other processes out."""

    def __init__(self, path: Path, plan: PagesPlan) -> None:
        self.path, self.plan = path, plan
        self._lock = threading.Lock()

    @classmethod
    def open(cls, path: Path) -> Self:
        """The evaluation in this folder. Raises SetupProblem where it cannot be read."""
        try:
            return cls(path, PagesPlan.model_validate_json((path / PAGES_FILE).read_bytes()))
        except (OSError, ValidationError) as error:
            raise SetupProblem(
                f"The file {str(path / PAGES_FILE)!r} cannot be read: it is of another version, or was altered. "
                f"Look at it with: less {path / PAGES_FILE}"
            ) from error

    def write_plan(self, more_seeds: Sequence[int] = ()) -> None:
        """Put the plan on disk, with seeds that it has not; attempts that are there stay."""
        more = tuple(seed for seed in more_seeds if seed not in self.plan.seeds)
        self.plan = self.plan.model_copy(update={"seeds": (*self.plan.seeds, *more)})
        with explain_disk_errors(self.path):
            make_private_folder(self.path)
            write_atomically(self.path / PAGES_FILE, self.plan.model_dump_json(indent=1).encode() + b"\n", PRIVATE_MODE)

    def append(self, attempt: PageAttempt) -> None:
        """Put a line on disk at once. It begins with a line end, in case a crash has torn the one before."""
        with explain_disk_errors(self.path), self._lock:
            descriptor = open_private_file(self.path / ROWS_FILE, os.O_WRONLY | os.O_APPEND)
            with os.fdopen(descriptor, "ab") as file:
                file.write(f"\n{attempt.model_dump_json()}\n".encode())
                file.flush()
                os.fsync(descriptor)

    def attempts(self) -> dict[tuple[str, int], PageAttempt]:
        """What is known last of each attempt of the plan, in the order of cases, then seeds."""
        try:
            lines = (self.path / ROWS_FILE).read_text("utf-8", "replace").split("\n")
            known = {(one.case, one.seed): one for one in map(PageAttempt.model_validate, parse_json_lines(lines))}
        except FileNotFoundError:
            return {}
        except (OSError, ValidationError) as error:
            raise SetupProblem(
                f"The file {str(self.path / ROWS_FILE)!r} holds a line that is no attempt: it was altered after it was "
                f"written. Look at it with: less {self.path / ROWS_FILE}"
            ) from error
        order = ((case.name, seed) for case in self.plan.cases for seed in self.plan.seeds)
        return {pair: known[pair] for pair in order if pair in known}


def evaluate_pages(
    cases: Sequence[str],
    model: Model | str,
    limits: Limits,
    *,
    seeds: Sequence[int] = (0,),
    at_once: int = 0,
    out: Path | str | None = None,
    watch: PagesWatch | None = None,
    start: StartPage | None = None,
) -> PagesFolder:
    """Try each case with each seed, headless, and return the folder with every attempt.

    `cases` are names of shipped ones or folders of one's own; none: all that ship. `limits` are for each attempt.
    An attempt that breaks is on record with its error; too many of them end it (TooManyErrors). Ctrl-C ends it within
    two seconds, and `resume_pages` goes on.
    """
    watch = watch or PagesWatch()
    if isinstance(model, str) and AUTO in [part.strip() for part in model.split(",")]:
        raise SetupProblem(
            f"An evaluation measures one model, and {model!r} names none for sure. Name one of those that `burnish"
            f" models` lists: burnish eval {SUITE} --model NAME"
        )
    loaded = {source: load_case(source) for source in cases or SHIPPED}
    if len({case.name for case in loaded.values()}) < len(loaded):
        raise SetupProblem("Two of the cases have one name. Rename the folder of one of them, and name it by --case")
    path = Path(out).expanduser().absolute() if out else None
    if path and (path / PAGES_FILE).exists():
        raise SetupProblem(f"There is an evaluation in {str(path)!r}. Go on with it: burnish eval resume {path}")
    if path:
        check_free(path)
    check_priced(limits, model if isinstance(model, str) else model.name)
    answering = open_model(model, watch.on_fetch) if isinstance(model, str) else model
    check_answer_fits(limits, [answering])
    origin = describe_origin()
    # Beside a model that computes here one browser; else one for each four cores, so that probes of time stay true.
    most = 1 if computes_here(answering) else max(1, min(answering.slots, len(os.sched_getaffinity(0)) // 4))
    plan = PagesPlan(
        commit=origin["commit"],
        machine=origin["machine"],
        model=answering.name,
        engine=name_engine(answering),
        cases=tuple(_describe_case(case, source) for source, case in loaded.items()),
        seeds=tuple(seeds),
        limits=limits,
        at_once=at_once or most,
    )
    folder = PagesFolder(path or new_path(f"{SUITE} {plan.model.partition(':')[2]}"), plan)
    folder.write_plan()
    with lock_evaluation(folder.path, PAGES_FILE):
        _Sitting(folder, answering, watch, start).make_missing(list(loaded.values()))
    return folder


def resume_pages(
    name: str,
    *,
    seeds: Sequence[int] = (),
    model: Model | None = None,
    watch: PagesWatch | None = None,
    start: StartPage | None = None,
) -> PagesFolder:
    """Make the attempts that an evaluation still lacks, those that broke too; what is over stays as it is.

    An attempt that was under way goes on in its own run. `seeds` are added to those that it has.
    """
    watch, folder = watch or PagesWatch(), PagesFolder.open(find_evaluation(name, PAGES_FILE))
    plan, cases = folder.plan, [load_case(case.source) for case in folder.plan.cases]
    for case, before in zip(cases, plan.cases, strict=True):
        if _describe_case(case, before.source) != before:
            raise SetupProblem(
                f"The case {before.name!r} is no longer what it was when this evaluation began, so its runs could not "
                f"be held against each other. What is finished is kept. Begin a new one: burnish eval {SUITE}"
            )
    with lock_evaluation(folder.path, PAGES_FILE):
        folder.write_plan(seeds)
        answering = model or open_model(plan.model, watch.on_fetch)
        if answering.name != plan.model:
            raise SetupProblem(f"This evaluation measures {plan.model}, not {answering.name}: burnish eval {SUITE}")
        _Sitting(folder, answering, watch, start).make_missing(cases)
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


class _Sitting:
    """Makes attempts in threads that each take the next, until none is left or it is stopped."""

    def __init__(self, folder: PagesFolder, model: Model, watch: PagesWatch, start: StartPage | None) -> None:
        from burnish.pages.attempt import start_page

        self._folder, self._model, self._watch, self._start = folder, model, watch, start or start_page
        self._store, self._known = Store(), folder.attempts()
        self._lock = threading.Lock()
        self._handles: list[RunHandle] = []
        self._is_stopped = False

    def make_missing(self, cases: Sequence[Case]) -> None:
        """All that is missing. Cases take turns, so that a sitting that is cut short has some of each."""
        over = {pair for pair, one in self._known.items() if one.state == "over" and not one.error}
        plan, broken = self._folder.plan, list[str]()
        self._watch.on_begin(self._folder)
        with ThreadPoolExecutor(plan.at_once, "burnish-page") as pool:
            missing = [(case, seed) for seed in plan.seeds for case in cases if (case.name, seed) not in over]
            futures = [pool.submit(self._attempt, case, seed) for case, seed in missing]
            try:
                for finished, future in enumerate(as_completed(futures), 1):
                    attempt = future.result()
                    self._watch.on_finish(attempt)
                    broken += [attempt.error] if attempt.error else []
                    if finished >= FEWEST_TO_JUDGE and len(broken) > MOST_BROKEN * finished:
                        raise TooManyErrors(
                            f"{len(broken)} of {finished} attempts broke, so the evaluation was stopped. The last "
                            f"reason: {one_line(broken[-1], 300)}. When the cause is gone, go on with: "
                            f"burnish eval resume {name_evaluation(self._folder.path)}"
                        )
            except BaseException:
                with self._lock:
                    self._is_stopped = True
                pool.shutdown(wait=False, cancel_futures=True)
                for handle in self._handles:
                    handle.stop()
                raise

    def _attempt(self, case: Case, seed: int) -> PageAttempt:
        """One attempt, made or brought to its end, and put on disk."""
        known, run = self._known.get((case.name, seed)), None
        if known and known.state == "begun":
            try:
                run = open_run(self._store.runs / known.run_id)
            except (OSError, SetupProblem):  # it was stopped before anything was on record, or is gone
                run = None
        if run is None or run.state in ("unfinished", "interrupted"):
            run = self._make(case, seed, run.events if run else ())
        attempt = count_page_attempt(case.name, seed, run, self._folder.plan)
        self._folder.append(attempt)
        return attempt

    def _make(self, case: Case, seed: int, replay: Sequence[Event]) -> Run:
        """The run of an attempt, from its beginning or from where it was left, to its end."""
        plan = self._folder.plan
        source = next(one.source for one in plan.cases if one.name == case.name)
        request = Request(
            task=Task(id=f"{case.name}-{seed}", prompt=case.sentence, language="javascript"),
            verb="page",
            model=plan.model,
            limits=plan.limits,
            seed=seed,
            model_errors_end=True,
            page=PageFacts(case=source, targets=case.targets, headless=True),
            evaluation=EvalSettings(plan=plan.model_dump(mode="json"), seed=seed, engine=plan.engine, left_out=()),
        )
        # A script begins anew, so that no attempt depends on another.
        model = self._model.afresh() if isinstance(self._model, ScriptedModel) else self._model

        def watch(event: Any) -> None:
            self._watch.on_event(case.name, seed, event)

        with self._lock:
            if self._is_stopped:
                raise CancelledError
            handle = self._start(request, Resources([model], self._store, watch, replay=replay))
            self._handles.append(handle)
        if not replay:
            self._folder.append(PageAttempt(case=case.name, seed=seed, run_id=handle.id))
        try:
            run = handle.wait()
        except AttemptError:  # it is on record
            run = open_run(self._store.runs / handle.id)
        if self._is_stopped and run.verdict is None:
            raise CancelledError
        return run


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
