"""How good are apps from a sentence? Cases × seeds, each attempt a build on record. The twin of `burnish eval apps`.

Each app that was built is served and used in a real Chromium, by checks of the case's own that nobody who builds sees.
"""

import hashlib
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from datetime import UTC, datetime
from importlib.resources import files as package_files
from pathlib import Path
from statistics import fmean
from typing import Literal

from burnish.agent.limits import Limits
from burnish.apps.attempt import VERB, start_build
from burnish.apps.folder import read_brief
from burnish.apps.generator.generate import REQUIREMENTS
from burnish.apps.judging.browsing import Browsing
from burnish.apps.judging.served_app import ServedApp
from burnish.apps.state import BuildState
from burnish.errors import SandboxError, SetupProblem
from burnish.evals.app_cases import blog, inventory, rooms, tasks, todo
from burnish.evals.app_cases.case import AppCase, CheckResult, try_case
from burnish.evals.case_runs import (
    CaseAttempt,
    CaseFolder,
    CasePlan,
    CaseWatch,
    Sitting,
    choose_path,
    describe_measuring,
    open_answering,
)
from burnish.evals.eval_store import APPS_FILE, explain_disk_errors, find_evaluation
from burnish.evals.metrics import RESULTS_FILE
from burnish.events import AppFacts, Frozen
from burnish.events.history import Run
from burnish.models.model import Model
from burnish.models.names import open_model
from burnish.packages import prepare_layer
from burnish.paths import PRIVATE_MODE, write_atomically
from burnish.runs.request import Request
from burnish.tasks.task import Task

SUITE = "apps"
CASES = {case.name: case for case in (tasks.CASE, todo.CASE, blog.CASE, rooms.CASE, inventory.CASE)}
Without = Literal["", "rules", "model"]


class AppsPlan(CasePlan):
    """What is measured, as plan and results both name it."""

    kind: Literal["apps"] = "apps"
    cases: tuple[str, ...]
    without: Without = ""
    checks: str
    """SHA-256 over the checks of all cases: only attempts that met the same are ever compared."""

    @property
    def case_names(self) -> tuple[str, ...]:
        """See `CasePlan`."""
        return self.cases


class AppAttempt(CaseAttempt):
    """A case tried once. One that came to no app has passed no check."""

    modules: int = 0
    """That were built and tested."""
    modules_passed: int = 0
    checks: tuple[CheckResult, ...] = ()
    check_seconds: float = 0.0
    """That the checks took, after the run."""

    @property
    def is_whole(self) -> bool:
        """Whether the app passes all checks."""
        return bool(self.checks) and all(check.verdict == "passed" for check in self.checks)


class AppsFolder(CaseFolder[AppsPlan, AppAttempt]):
    """An evaluation of apps on disk."""

    plan_file, plan_type, attempt_type = APPS_FILE, AppsPlan, AppAttempt


class AppCaseResult(Frozen):
    """All runs at one case."""

    case: str
    runs: int
    whole: int
    """Runs whose app passes all checks."""
    checks: int
    checks_passed: float
    """Mean over the runs."""
    modules: float
    modules_passed: float
    seconds: float
    tokens: float


class AppsResults(AppsPlan):
    """One evaluation, finished or not."""

    measured_at: str = ""
    planned: int
    finished: int
    errors: int
    module_accuracy: float | None
    """Of all modules that were tested, those whose checkpoints passed; None: there are none."""
    system_accuracy: float | None
    """Of all apps, those that pass every check of their case."""
    by_case: tuple[AppCaseResult, ...]
    attempts: tuple[AppAttempt, ...]

    def text(self) -> str:
        """The words of `results.json`."""
        return self.model_dump_json(indent=1) + "\n"


def evaluate_apps(
    cases: Sequence[str],
    model: Model | str,
    limits: Limits,
    *,
    without: Without = "",
    seeds: Sequence[int] = (0,),
    at_once: int = 0,
    out: Path | str | None = None,
    watch: CaseWatch | None = None,
) -> AppsFolder:
    """Build an app for each case with each seed, use it in a browser, and return the folder with every attempt.

    `cases` are names; none: all. `limits` are for each build. An attempt that breaks is on record with its error; too
    many of them end it (TooManyErrors). Ctrl-C ends it, and `resume_apps` goes on.
    """
    watch = watch or CaseWatch()
    if unknown := [name for name in cases if name not in CASES]:
        raise SetupProblem(
            f"There is no case {unknown[0]!r}. Name some of {', '.join(CASES)}: burnish eval {SUITE} --case todo"
        )
    answering = open_answering(SUITE, model, limits, watch)
    plan = AppsPlan(
        **describe_measuring(answering, at_once),
        cases=tuple(dict.fromkeys(cases)) or tuple(CASES),
        without=without,
        checks=hash_checks(),
        seeds=tuple(seeds),
        limits=limits,
    )
    folder = AppsFolder(choose_path(SUITE, plan.model, out, APPS_FILE), plan)
    folder.write_plan()
    _AppsSitting(folder, answering, watch, start_build).make_missing()
    return folder


def resume_apps(
    name: str, *, seeds: Sequence[int] = (), model: Model | None = None, watch: CaseWatch | None = None
) -> AppsFolder:
    """Make the attempts that an evaluation still lacks, those that broke too; what is over stays as it is.

    An attempt that was under way goes on in its own run. `seeds` are added to those that it has.
    """
    watch, folder = watch or CaseWatch(), AppsFolder.open(find_evaluation(name, APPS_FILE))
    if folder.plan.checks != hash_checks():
        raise SetupProblem(
            "The checks are no longer what they were when this evaluation began, so its attempts could not be held "
            f"against each other. What is finished is kept. Begin a new one: burnish eval {SUITE}"
        )
    answering = model or open_model(folder.plan.model, watch.on_fetch)
    if answering.name != folder.plan.model:
        raise SetupProblem(f"This evaluation measures {folder.plan.model}, not {answering.name}: burnish eval {SUITE}")
    _AppsSitting(folder, answering, watch, start_build).make_missing(seeds)
    return folder


def hash_checks() -> str:
    """SHA-256 over the source of all checks."""
    sources = sorted((package_files("burnish.evals") / "app_cases").iterdir(), key=lambda file: file.name)
    return hashlib.sha256(b"".join(file.read_bytes() for file in sources if file.name.endswith(".py"))).hexdigest()


class _AppsSitting(Sitting[AppsPlan, AppAttempt]):
    """Builds, and checks of what was built."""

    def build_request(self, case: str, seed: int) -> Request:
        """See `Sitting`."""
        return Request(
            task=Task(id=f"{case}-{seed}", prompt=CASES[case].sentence, own_tests=False),
            verb=VERB,
            app=AppFacts(without=self.plan.without),
        )

    def count(self, case: str, seed: int, run: Run) -> AppAttempt:
        """See `Sitting`. The app is served and checked here: nothing of that is part of the run."""
        state, began = BuildState(run.events, read_brief(run)), time.monotonic()
        judged = {module: said for (module, _), said in state.judged.items() if module}
        checks, error = tuple[CheckResult, ...](), "" if run.verdict else f"{run.state}: {run.why}"
        if run.verdict and state.planned and state.whole:
            try:
                checks = check_app(CASES[case], state.all_files, self._tell)
            except SandboxError as problem:
                why = f"the app could not be served: {problem}"
                checks = tuple(_fail(CASES[case], why))
        elif run.verdict:
            checks = tuple(_fail(CASES[case], f"there is no app: {run.why}"))
        return AppAttempt(
            state="over",
            case=case,
            seed=seed,
            run_id=run.id,
            modules=len(judged),
            modules_passed=len(judged.keys() - {*state.failing}),
            checks=checks,
            check_seconds=time.monotonic() - began,
            tokens=run.tokens_in + run.tokens_out,
            seconds=run.seconds,
            started=run.started.at,
            dollars=run.dollars,
            verdict=run.verdict,
            error=error,
        )

    def _tell(self, check: str) -> None:
        if self.is_stopped:
            raise CancelledError


def check_app(case: AppCase, files: dict[str, str], tell: Callable[[str], None]) -> tuple[CheckResult, ...]:
    """Serve an app and try all checks of its case in a real browser. Raises SetupProblem where there is none."""
    with ServedApp(files, prepare_layer(REQUIREMENTS)) as app, Browsing(app) as browser:
        return try_case(case, app, browser, tell)


def _fail(case: AppCase, why: str) -> Sequence[CheckResult]:
    return [CheckResult(check=one.__name__, promise="", verdict="failed", why=why) for one in case.checks]


def write_app_results(folder: AppsFolder) -> AppsResults:
    """Count what is over, and write `results.json`."""
    attempts = tuple(one for one in folder.attempts().values() if one.state == "over")
    tested = sum(one.modules for one in attempts)
    results = AppsResults(
        **folder.plan.model_dump(),
        measured_at=datetime.now(UTC).isoformat(timespec="seconds"),
        planned=len(folder.plan.cases) * len(folder.plan.seeds),
        finished=len(attempts),
        errors=sum(bool(one.error) for one in attempts),
        module_accuracy=sum(one.modules_passed for one in attempts) / tested if tested else None,
        system_accuracy=fmean(one.is_whole for one in attempts) if attempts else None,
        by_case=tuple(
            _count_case(name, runs)
            for name in folder.plan.cases
            if (runs := [one for one in attempts if one.case == name])
        ),
        attempts=attempts,
    )
    with explain_disk_errors(folder.path):
        write_atomically(folder.path / RESULTS_FILE, results.text().encode("utf-8", "replace"), PRIVATE_MODE)
    return results


def _count_case(name: str, runs: Sequence[AppAttempt]) -> AppCaseResult:
    return AppCaseResult(
        case=name,
        runs=len(runs),
        whole=sum(run.is_whole for run in runs),
        checks=len(CASES[name].checks),
        checks_passed=fmean(sum(one.verdict == "passed" for one in run.checks) for run in runs),
        modules=fmean(run.modules for run in runs),
        modules_passed=fmean(run.modules_passed for run in runs),
        seconds=fmean(run.seconds for run in runs),
        tokens=fmean(run.tokens for run in runs),
    )
