"""`burnish.strengthen`: changes of the code that tests do not notice become tests. No test that is there is touched."""

import ast
import difflib
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from burnish.agent.ask import Tools
from burnish.agent.context_budget import check_answer_fits
from burnish.agent.limits import PER_ANSWER, Limits, Meter
from burnish.agent.nodes.draft import rewrite
from burnish.agent.normalise import normalise_code
from burnish.agent.state import AgentState
from burnish.checks.bench.bench import ProjectBench
from burnish.checks.bench.check_context import CheckContext
from burnish.checks.bench.project_finder import find_project
from burnish.checks.bench.project_run import PASSING
from burnish.checks.suite import Suite
from burnish.checks.verdict import Watcher
from burnish.config import load
from burnish.errors import AttemptError, SetupProblem
from burnish.events import (
    Broke,
    CodeProposed,
    FilesWritten,
    Move,
    RunFinished,
    RunStarted,
    SpecAgreed,
    Stopped,
    TestsRan,
)
from burnish.model_choice import choose_models
from burnish.models.model import Model
from burnish.models.names import open_model, split_names
from burnish.packages import parse_requirements
from burnish.parsing import try_parse
from burnish.paths import PRIVATE_MODE, write_atomically
from burnish.report.costs import NOBODY
from burnish.runs import Record, Run, Store, read_record
from burnish.strengthening.new_file import write_new
from burnish.strengthening.oracle import Samples
from burnish.strengthening.pipeline import LOOKING, Pipeline, StrengthenSettings, watch_step
from burnish.strengthening.project import (
    Scope,
    WeakFunction,
    make_mutants,
    open_scope,
    require_tests,
    require_writable,
    run_passing_tests,
)
from burnish.tasks.repair import from_file
from burnish.tasks.source import find_definition, split_lines
from burnish.verbs.layers import add_project_layer
from burnish.version import __version__

VERB = "strengthen"
DIFF = "strengthen.diff"
SECONDS = 300.0
TEMPERATURES = (0.0, 0.6, 0.9, 1.0)
"""One sample of a function for each."""


def strengthen(
    tests: Path | str,
    source: Path | str,
    model: Model | str | None = None,
    *,
    function: str | None = None,
    apply: bool = False,
    pinned: bool = True,
    python: Path | str | None = None,
    seconds: float = SECONDS,
    max_tokens: int | None = None,
    thinking: int | None = None,
    sandbox: str = "auto",
    store: Store | None = None,
    watch: Watcher | None = None,
    packages: Sequence[str] = (),
    allow_packages: Sequence[str] = (),
) -> Run:
    """Look for changes of the code that the tests do not notice, write tests for them, and return the recorded run.

    What is right in a new test, the docstring's examples say, or versions that the model writes from the docstring;
    else the code itself, and the test is then marked as pinned. `apply` puts the new files beside the others.
    `model` is a name, `auto`, or "none"; unless named, the one in the user's settings, if there is one. The
    verdict is "failed" where docstring or versions speak against the code; `Strengthened.exposing` says how.
    `max_tokens` and `thinking` are for one answer of the model, as in `Limits`.
    """
    store, watch = store or Store(), watch or Watcher()
    require_tests(Path(tests))
    project, _ = add_project_layer(
        find_project([source], [tests], python), parse_requirements(packages, allow_packages), watch.told
    )
    scope = open_scope(project, function or "")
    if apply:
        require_writable(scope)
    mutants = make_mutants(scope)
    with CheckContext(scope.project, sandbox) as lab:
        with watch_step(watch, "tests") as figures:
            ran = run_passing_tests(scope, lab)
            figures.append(f"{ran.counted(*PASSING)} passed")
        answering, why = _open_model(model, store)
        limits = Limits(seconds=LOOKING * seconds, max_tokens=max_tokens, thinking=thinking)
        check_answer_fits(limits, [answering] if answering else [])
        asked = {"apply": apply, "pinned": pinned, "seconds": seconds}
        asked |= limits.model_dump(include={*PER_ANSWER}, exclude_none=True)
        with _record_run(store, scope, answering, why, lab, asked) as record:
            settings = StrengthenSettings(seconds, pinned, sandbox, ran.seconds)
            pipeline = Pipeline(scope, lab, settings, record.append, watch)
            if answering:
                passing = tuple(name for name, test in ran.tests.items() if test.outcome in PASSING)
                pipeline.ask_samples = SampleWriter(answering, lab, limits, passing, record).write_samples
            pipeline.run(mutants)
            _finish(record, pipeline, apply)
    return Run(read_record(record.path.parent))


def read_new_tests(run: Run, store: Store | None = None) -> dict[Path, str]:
    """The new files of tests of a run, by their paths below the project's root."""
    folder = (store or Store()).runs / run.id / "tests"
    if not isinstance(run.started.settings.get(VERB), dict):
        raise SetupProblem(
            f"Run {run.id!r} is one of `burnish {run.started.verb}`. Choose one of `burnish strengthen`: burnish runs"
        )
    found = sorted(folder.rglob("*.py")) if folder.is_dir() else []
    for file in found:
        if not file.is_file() or file.resolve() != folder.parent.resolve() / file.relative_to(folder.parent):
            raise SetupProblem(
                f"The run's folder has been altered: {str(file)!r} is no file. Look at it: ls -lR {folder}"
            )
    return {file.relative_to(folder): file.read_text("utf-8") for file in found}


def render_diff(files: Mapping[Path, str]) -> str:
    """New files as a unified diff that `patch` and `git apply` read; empty if there are none."""
    parts = (difflib.unified_diff([], split_lines(text), "/dev/null", f"b/{path}") for path, text in files.items())
    return "".join(line for part in parts for line in part)


def write_new_tests(run: Run, store: Store | None = None) -> Run:
    """Write the new files of a finished run beside the tests that are there. Raises SetupProblem where it cannot."""
    store = store or Store()
    files = read_new_tests(run, store)
    if run.last(FilesWritten) or not files:
        why = "are in place already" if files else "are none"
        raise SetupProblem(f"The new tests of run {run.id!r} {why}. See what it did with: burnish show {run.id}")
    facts = run.started.settings[VERB]
    assert isinstance(facts, dict)
    event = _write_files(Path(str(facts["root"])), files, [Path(str(test)) for test in facts["tests"]])
    with Record(store.runs / run.id) as record:
        record.append(event)
    return Run((*run.events, event))


def _write_files(root: Path, files: Mapping[Path, str], tests: Sequence[Path]) -> FilesWritten:
    names = tuple(str(file.relative_to(root)) for file in write_new(root, files, tests))
    return FilesWritten(folder=str(root), files=names)


def _open_model(model: Model | str | None, store: Store) -> tuple[Model | None, str]:
    """The one that answers, and why, where it was chosen; of several the first, as here nobody is ever stuck."""
    model, why = load().model or NOBODY if model is None else model, ""
    if isinstance(model, str):
        choice = choose_models(model, store=store, alone=True)
        if choice.names == NOBODY:
            return None, ""
        model, why = open_model(split_names(choice.names)[0]), choice.why
    model.warm_up()
    return model, why


@contextmanager
def _record_run(
    store: Store, scope: Scope, model: Model | None, why: str, lab: CheckContext, asked: Mapping[str, object]
) -> Iterator[Record]:
    """The run's record; what breaks the work off is written there, and raised again."""
    project = scope.project
    tests, sources = (" ".join(map(str, some)) for some in (project.tests, project.sources[:3]))
    run_id, record = store.begin(f"{VERB}-{scope.function or project.sources[0].stem}")
    facts = {"root": str(project.root), **asked}
    facts |= {name: [str(path) for path in getattr(project, name)] for name in ("tests", "sources")}
    facts |= {"function": scope.function, "python": str(project.python)}
    more = " …" if len(project.sources) > 3 else ""
    started = RunStarted(
        run_id=run_id,
        verb=VERB,
        prompt=f"Strengthen {tests} for {scope.function or sources + more}",
        model=model.name if model else NOBODY,
        burnish=__version__,
        sandbox=lab.sandbox.level,
        settings={VERB: facts, **({"chosen": why} if why else {})},
    )
    with record:
        record.append(started)
        try:
            yield record
        except KeyboardInterrupt:
            record.append(Stopped(reason="interrupted", why="stopped by the user"))
            raise
        except Exception as error:
            record.append(Broke(error=type(error).__name__, message=str(error)))
            raise


def _finish(record: Record, pipeline: Pipeline, apply: bool) -> None:
    """The new files in the run's folder, the verdict, and the files in their place where that was asked for."""
    files, project = pipeline.render_files(), pipeline.scope.project
    for path, text in files.items():
        place = record.path.parent / "tests" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
    if files:
        write_atomically(record.path.parent / DIFF, render_diff(files).encode(), PRIVATE_MODE)
    record.append(Stopped(reason="done"))
    record.append(RunFinished(verdict="failed" if pipeline.against else "proven", why=pipeline.summarise()))
    if apply and files:
        record.append(_write_files(project.root, files, project.tests))


class SampleWriter:
    """Has the model write functions anew from their docstrings, without seeing their bodies, as long as time allows."""

    def __init__(self, model: Model, lab: CheckContext, limits: Limits, tests: tuple[str, ...], record: Record) -> None:
        many = limits.model_copy(update={"calls": 10_000, "tokens": 10_000_000})  # the time alone ends it
        self.tools = Tools(model, lab.sandbox, Meter(many), threading.Event())
        self.tests, self.record = tests, record
        self.number = 0

    def write_samples(self, function: WeakFunction, ground: ProjectBench) -> Samples:
        """Whole sources with the function written anew that pass the project's tests; only of plain functions."""
        task = from_file(function.text, function.name)
        is_plain = isinstance(find_definition(try_parse(function.text), function.name), ast.FunctionDef)
        if "." in function.name or not is_plain or not task.described:
            return Samples()
        agreed = SpecAgreed(entry_point=function.name, signature=task.signature, given_tests=task.visible_tests)
        work, proposed = AgentState(task, [agreed]), list[CodeProposed]()
        for temperature in TEMPERATURES:
            self.number += 1
            move = Move(kind="rewrite", version=self.number, round=0, temperature=temperature)
            events = list(rewrite(work, self.tools, move))
            for event in events:
                if not isinstance(event, Stopped):
                    self.record.append(event)
            proposed += [event for event in events if isinstance(event, CodeProposed) and not event.problem]
            if any(isinstance(event, Stopped) for event in events):
                break
        suite, passing = Suite(entry_point=function.name, project=self.tests), list[str]()
        try:
            for one in proposed:
                graded = ground.grade(one.code, suite)
                self.record.append(TestsRan(version=one.version, graded=graded))
                passing += [one.code] if graded.all_passed else []
        except AttemptError:
            return Samples()
        return Samples(tuple(passing), normalise=normalise_code)
