"""Cases × seeds, each attempt a run on record: the folder they are kept in, and the threads that make what is missing.

A folder holds a plan and `attempts.jsonl`: a line when an attempt begins, which names its run, and one when it is over.
These two are the truth; results and reports are made from them. What was under way when the process died is taken up
again in its run: no answer is paid for twice. The kinds are `pages` and `apps`.
"""

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, Self, TypeVar

from pydantic import Field, ValidationError

from burnish.agent.limits import Limits, check_answer_fits, check_priced
from burnish.errors import AttemptError, SetupProblem
from burnish.evals.eval_store import explain_disk_errors, lock_evaluation, name_evaluation, new_path
from burnish.evals.runner import TooManyErrors, name_engine
from burnish.evals.workers import computes_here
from burnish.events import Event, Frozen, Verdict
from burnish.events.history import Run
from burnish.jsonlines import parse_json_lines
from burnish.models.model import Model
from burnish.models.names import AUTO, open_model
from burnish.models.scripted import ScriptedModel
from burnish.paths import PRIVATE_MODE, describe_origin, make_private_folder, open_private_file, write_atomically
from burnish.report.deliverables import check_free
from burnish.runs.attempt import Resources, RunHandle
from burnish.runs.request import EvalSettings, Request
from burnish.runs.store import Store, open_run
from burnish.system import count_cores
from burnish.text import one_line
from burnish.version import __version__

ROWS_FILE = "attempts.jsonl"
FEWEST_TO_JUDGE, MOST_BROKEN = 3, 0.5
"""Once so many attempts of a sitting are over, a larger share of broken ones ends it."""

StartRun = Callable[[Request, Resources], RunHandle]
"""Begins the run of an attempt."""


class CasePlan(Frozen):
    """What is measured, as plan and results both name it."""

    kind: str
    version: Literal[1] = 1
    burnish: str = __version__
    commit: str = ""
    machine: str = ""
    model: str
    engine: str = ""
    seeds: tuple[int, ...]
    limits: Limits
    """Of each attempt."""
    at_once: int = Field(default=1, ge=1)
    """Attempts under way at the same time: browsers that share cores are slower, and some probes measure time."""

    @property
    def case_names(self) -> tuple[str, ...]:
        """In the order of the plan."""
        raise NotImplementedError


class CaseAttempt(Frozen):
    """A case tried once. One that has only begun says which run it is."""

    state: Literal["begun", "over"] = "begun"
    case: str
    seed: int
    run_id: str
    tokens: int = 0
    seconds: float = 0.0
    started: float = 0.0
    dollars: float | None = 0.0
    """None where the price of an answer is not known."""
    verdict: Verdict | None = None
    error: str = ""


PlanT = TypeVar("PlanT", bound=CasePlan)
AttemptT = TypeVar("AttemptT", bound=CaseAttempt)


class CaseFolder(Generic[PlanT, AttemptT]):
    """One evaluation on disk. Threads of one process may append to it; `lock_evaluation` keeps other processes out."""

    plan_file: ClassVar[str]
    plan_type: ClassVar[type[Any]]
    attempt_type: ClassVar[type[Any]]

    def __init__(self, path: Path, plan: PlanT) -> None:
        self.path, self.plan = path, plan
        self._lock = threading.Lock()

    @classmethod
    def open(cls, path: Path) -> Self:
        """The evaluation in this folder. Raises SetupProblem where it cannot be read."""
        try:
            return cls(path, cls.plan_type.model_validate_json((path / cls.plan_file).read_bytes()))
        except (OSError, ValidationError) as error:
            raise SetupProblem(
                f"The file {str(path / cls.plan_file)!r} cannot be read: it is of another version, or was altered. "
                f"Look at it with: less {path / cls.plan_file}"
            ) from error

    def write_plan(self, more_seeds: Sequence[int] = ()) -> None:
        """Put the plan on disk, with seeds that it has not; attempts that are there stay."""
        more = tuple(seed for seed in more_seeds if seed not in self.plan.seeds)
        self.plan = self.plan.model_copy(update={"seeds": (*self.plan.seeds, *more)})
        text = self.plan.model_dump_json(indent=1)
        with explain_disk_errors(self.path):
            make_private_folder(self.path)
            write_atomically(self.path / self.plan_file, text.encode() + b"\n", PRIVATE_MODE)

    def append(self, attempt: AttemptT) -> None:
        """Put a line on disk at once. It begins with a line end, in case a crash has torn the one before."""
        with explain_disk_errors(self.path), self._lock:
            descriptor = open_private_file(self.path / ROWS_FILE, os.O_WRONLY | os.O_APPEND)
            with os.fdopen(descriptor, "ab") as file:
                file.write(f"\n{attempt.model_dump_json()}\n".encode())
                file.flush()
                os.fsync(descriptor)

    def attempts(self) -> dict[tuple[str, int], AttemptT]:
        """What is known last of each attempt of the plan, in the order of cases, then seeds."""
        try:
            lines = (self.path / ROWS_FILE).read_text("utf-8", "replace").split("\n")
            known = {
                (one.case, one.seed): one for one in map(self.attempt_type.model_validate, parse_json_lines(lines))
            }
        except FileNotFoundError:
            return {}
        except (OSError, ValidationError) as error:
            raise SetupProblem(
                f"The file {str(self.path / ROWS_FILE)!r} holds a line that is no attempt: it was altered after it was "
                f"written. Look at it with: less {self.path / ROWS_FILE}"
            ) from error
        order = ((case, seed) for case in self.plan.case_names for seed in self.plan.seeds)
        return {pair: known[pair] for pair in order if pair in known}


class CaseWatch:
    """Who looks on while attempts are made. Every method may be left as it is; `on_event` comes from many threads."""

    def on_fetch(self, done: int, total: int, source: str) -> None:
        """Weights are on their way."""

    def on_begin(self, folder: "CaseFolder[Any, Any]") -> None:
        """The plan is on disk; attempts begin, or go on."""

    def on_event(self, case: str, seed: int, event: Any) -> None:
        """Something happened in one of the attempts under way."""

    def on_finish(self, attempt: Any) -> None:
        """An attempt is over, and on disk."""


def open_answering(suite: str, model: Model | str, limits: Limits, watch: CaseWatch) -> Model:
    """The one model that an evaluation measures. Raises SetupProblem where it names none for sure."""
    if isinstance(model, str) and AUTO in [part.strip() for part in model.split(",")]:
        raise SetupProblem(
            f"An evaluation measures one model, and {model!r} names none for sure. Name one of those that `burnish"
            f" models` lists: burnish eval {suite} --model NAME"
        )
    check_priced(limits, model if isinstance(model, str) else model.name)
    answering = open_model(model, watch.on_fetch) if isinstance(model, str) else model
    check_answer_fits(limits, [answering])
    return answering


def choose_path(suite: str, model: str, out: Path | str | None, plan_file: str) -> Path:
    """The folder of a new evaluation. Raises SetupProblem where there is one already."""
    if not out:
        return new_path(f"{suite} {model.partition(':')[2]}")
    path = Path(out).expanduser().absolute()
    if (path / plan_file).exists():
        raise SetupProblem(f"There is an evaluation in {str(path)!r}. Go on with it: burnish eval resume {path}")
    check_free(path)
    return path


def describe_measuring(answering: Model, at_once: int) -> dict[str, Any]:
    """What every plan says of this program, this machine and who answers."""
    origin = describe_origin()
    # Beside a model that computes here one browser; else one for each four cores, so that probes of time stay true.
    most = 1 if computes_here(answering) else max(1, min(answering.slots, count_cores() // 4))
    facts = {"model": answering.name, "engine": name_engine(answering), "at_once": at_once or most}
    return {"commit": origin["commit"], "machine": origin["machine"], **facts}


class Sitting(Generic[PlanT, AttemptT]):
    """Makes attempts in threads that each take the next, until none is left or it is stopped."""

    def __init__(self, folder: CaseFolder[PlanT, AttemptT], model: Model, watch: CaseWatch, start: StartRun) -> None:
        self.folder, self.plan, self.watch = folder, folder.plan, watch
        self._model, self._start = model, start
        self._store, self._known = Store(), dict[tuple[str, int], AttemptT]()
        self._lock = threading.Lock()
        self._handles: list[RunHandle] = []
        self.is_stopped = False

    def build_request(self, case: str, seed: int) -> Request:
        """What an attempt is asked for; the sitting itself adds what it knows of the evaluation."""
        raise NotImplementedError

    def count(self, case: str, seed: int, run: Run) -> AttemptT:
        """What an attempt came to, from the record of its run."""
        raise NotImplementedError

    def make_missing(self, more_seeds: Sequence[int] = ()) -> None:
        """All that is missing. Cases take turns, so that a sitting that is cut short has some of each."""
        with lock_evaluation(self.folder.path, self.folder.plan_file):
            self.folder.write_plan(more_seeds)
            self.plan, self._known = self.folder.plan, self.folder.attempts()
            self._make_missing()

    def _make_missing(self) -> None:
        over = {pair for pair, one in self._known.items() if one.state == "over" and not one.error}
        broken = list[str]()
        self.watch.on_begin(self.folder)
        with ThreadPoolExecutor(self.plan.at_once, "burnish-case") as pool:
            missing = [(case, seed) for seed in self.plan.seeds for case in self.plan.case_names]
            futures = [pool.submit(self._attempt, *pair) for pair in missing if pair not in over]
            try:
                for finished, future in enumerate(as_completed(futures), 1):
                    attempt = future.result()
                    self.watch.on_finish(attempt)
                    broken += [attempt.error] if attempt.error else []
                    if finished >= FEWEST_TO_JUDGE and len(broken) > MOST_BROKEN * finished:
                        raise TooManyErrors(
                            f"{len(broken)} of {finished} attempts broke, so the evaluation was stopped. The last "
                            f"reason: {one_line(broken[-1], 300)}. When the cause is gone, go on with: "
                            f"burnish eval resume {name_evaluation(self.folder.path)}"
                        )
            except BaseException:
                with self._lock:
                    self.is_stopped = True
                pool.shutdown(wait=False, cancel_futures=True)
                for handle in self._handles:
                    handle.stop()
                raise

    def _attempt(self, case: str, seed: int) -> AttemptT:
        """One attempt, made or brought to its end, and put on disk."""
        known, run = self._known.get((case, seed)), None
        if known and known.state == "begun":
            try:
                run = open_run(self._store.runs / known.run_id)
            except (OSError, SetupProblem):  # it was stopped before anything was on record, or is gone
                run = None
        if run is None or run.state in ("unfinished", "interrupted"):
            run = self._make(case, seed, run.events if run else ())
        attempt = self.count(case, seed, run)
        self.folder.append(attempt)
        return attempt

    def _make(self, case: str, seed: int, replay: Sequence[Event]) -> Run:
        """The run of an attempt, from its beginning or from where it was left, to its end."""
        evaluation = EvalSettings(
            plan=self.plan.model_dump(mode="json"), seed=seed, engine=self.plan.engine, left_out=()
        )
        common = {"model": self.plan.model, "limits": self.plan.limits, "seed": seed, "evaluation": evaluation}
        request = self.build_request(case, seed).model_copy(update={**common, "model_errors_end": True})
        # A script begins anew, so that no attempt depends on another.
        model = self._model.afresh() if isinstance(self._model, ScriptedModel) else self._model

        def watch(event: Any) -> None:
            self.watch.on_event(case, seed, event)

        with self._lock:
            if self.is_stopped:
                raise CancelledError
            handle = self._start(request, Resources([model], self._store, watch, replay=replay))
            self._handles.append(handle)
        if not replay:
            self.folder.append(self.folder.attempt_type(case=case, seed=seed, run_id=handle.id))
        try:
            run = handle.wait()
        except AttemptError:  # it is on record
            run = open_run(self._store.runs / handle.id)
        if self.is_stopped and run.verdict is None:
            raise CancelledError
        return run
