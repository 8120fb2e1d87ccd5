"""`burnish.strengthen`: changes of the code that tests do not notice become tests. No test that is there is touched."""

import ast
import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from burnish.agent.ask import Tools
from burnish.agent.limits import PER_ANSWER, Limits, check_answer_fits
from burnish.agent.nodes.draft import rewrite
from burnish.agent.state import AgentState, normalise_code
from burnish.checks.bench.bench import ProjectBench
from burnish.checks.bench.check_context import CheckContext
from burnish.checks.bench.own_command import follow_own_command
from burnish.checks.bench.project_finder import find_project
from burnish.checks.bench.project_run import PASSING, SuiteRun
from burnish.checks.suite import Suite
from burnish.checks.verdict import Watcher
from burnish.commands.project_packages import add_project_layer
from burnish.config import load
from burnish.errors import AttemptError, SetupProblem
from burnish.events import (
    CodeProposed,
    Event,
    FilesWritten,
    Move,
    Mutated,
    RunFinished,
    SpecAgreed,
    Stopped,
    Strengthened,
    StrengthenFacts,
    TestsRan,
)
from burnish.model_choice import select_models
from burnish.models.model import Model
from burnish.models.scripted import ScriptedModel
from burnish.packages import parse_requirements
from burnish.parsing import try_parse
from burnish.paths import PRIVATE_MODE, write_atomically
from burnish.report.costs import NOBODY
from burnish.runs import Run, Store
from burnish.runs.attempt import Keep, Resources, start
from burnish.runs.record import Emitter
from burnish.runs.request import Request
from burnish.strengthening.new_file import write_new
from burnish.strengthening.oracle import Samples
from burnish.strengthening.pipeline import LOOKING, TRYING, Pipeline, StrengthenSettings, watch_step
from burnish.strengthening.project import (
    Scope,
    WeakFunction,
    open_scope,
    require_mutants,
    require_tests,
    require_writable,
    run_passing_tests,
)
from burnish.tasks.repair import from_file
from burnish.tasks.source import find_definition, split_lines
from burnish.tasks.task import Task

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
    keep_thoughts: bool = False,
) -> Run:
    """Look for changes of the code that the tests do not notice, write tests for them, and return the recorded run.

    What is right in a new test, the docstring's examples say, or versions that the model writes from the docstring;
    else the code itself, and the test is then marked as pinned. `apply` puts the new files beside the others.
    `model` is a name, `auto`, or "none"; unless named, the one in the user's settings, if there is one. The
    verdict is "failed" where docstring or versions speak against the code; `Strengthened.exposing` says how.
    `max_tokens` and `thinking` are for one answer of the model, as in `Limits`; `keep_thoughts` is as in `write`.
    """
    store, watch = store or Store(), watch or Watcher()
    require_tests(Path(tests))
    project = follow_own_command(find_project([source], [tests], python), [source], named_tests=True)
    project, _ = add_project_layer(project, parse_requirements(packages, allow_packages), watch.notice)
    scope = open_scope(project, function or "", TRYING * seconds)
    if apply:
        require_writable(scope)
    plan = require_mutants(scope)
    limits = Limits(seconds=LOOKING * seconds, max_tokens=max_tokens, thinking=thinking)
    selection = select_models(load().model or NOBODY if model is None else model, limits, store, alone=True)
    many = limits.model_copy(update={"calls": 10_000, "tokens": 10_000_000})  # the time alone ends it
    request = Request(
        task=_name_run(scope),
        verb=VERB,
        model=selection.names,
        chosen=selection.why,
        limits=many,
        keep_thoughts=keep_thoughts,
        strengthen=_make_facts(scope, limits, seconds, apply=apply, pinned=pinned),
    )
    context: CheckContext
    ran: SuiteRun

    def prepare(keep: Keep) -> tuple[Request, Resources]:
        nonlocal context, ran
        context = CheckContext(scope.project, sandbox)
        keep(context)
        with watch_step(watch, "tests") as figures:
            ran = run_passing_tests(scope, context)
            figures.append(f"{ran.counted(*PASSING)} passed")
        models = [] if selection.names == NOBODY else [selection.open_first()]
        for one in models:
            one.warm_up()
        check_answer_fits(limits, models)
        nobody = [ScriptedModel([], name=NOBODY)]
        return request, Resources(models or nobody, store, sandbox=context.sandbox)

    def work(tools: Tools, emitter: Emitter) -> Iterator[Event]:
        settings = StrengthenSettings(seconds, pinned, sandbox, ran.seconds)
        pipeline = Pipeline(scope, context, settings, emitter.record, watch)
        if selection.names != NOBODY:
            passing = tuple(name for name, test in ran.tests.items() if test.outcome in PASSING)
            pipeline.ask_samples = SampleWriter(tools, passing, emitter).write_samples
        pipeline.run(plan)
        _finish(emitter, pipeline, apply)
        yield from ()

    return start(request, Resources((), store), work, prepare).wait()


def read_new_tests(run: Run, store: Store | None = None) -> dict[Path, str]:
    """The new files of tests of a run, by their paths below the project's root."""
    folder = (store or Store()).runs / run.id / "tests"
    if run.settings.strengthen is None:
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


def render_json(run: Run) -> str:
    """The outcome for programs."""
    before, after, written = run.last(Mutated), run.last(Strengthened), run.last(FilesWritten)
    assert before is not None
    assert after is not None
    outcome = {
        "run": run.id,
        "mutants": before.mutants,
        "noticed_before": before.noticed,
        "score_before": before.figure,
        "equivalent": before.equivalent,
        "noticed": after.noticed,
        "noticed_by_pinned": after.pinned,
        "alike": after.alike,
        "exposing": after.exposing,
        "tests": [test.model_dump(mode="json") for test in after.tests],
        "files": {str(path): text for path, text in read_new_tests(run).items()},
        "written": written.files if written else [],
        "seconds": after.seconds,
    }
    return json.dumps(outcome, indent=2)


def write_new_tests(run: Run, store: Store) -> Run:
    """Write the new files of a finished run beside the tests that are there. Raises SetupProblem where it cannot."""
    files = read_new_tests(run, store)
    if run.last(FilesWritten) or not files:
        why = "are in place already" if files else "are none"
        raise SetupProblem(f"The new tests of run {run.id!r} {why}. See what it did with: burnish show {run.id}")
    facts = run.settings.strengthen
    assert facts, "read_new_tests refuses other runs"
    return store.add(run, _write_files(Path(facts.root), files, [Path(test) for test in facts.tests]))


def _write_files(root: Path, files: Mapping[Path, str], tests: Sequence[Path]) -> FilesWritten:
    names = tuple(str(file.relative_to(root)) for file in write_new(root, files, tests))
    return FilesWritten(folder=str(root), files=names)


def _make_facts(scope: Scope, limits: Limits, seconds: float, *, apply: bool, pinned: bool) -> StrengthenFacts:
    """What the run's record says of the project and of what was asked for."""
    project = scope.project
    return StrengthenFacts(
        root=str(project.root),
        tests=tuple(map(str, project.tests)),
        sources=tuple(map(str, project.sources)),
        function=scope.function,
        python=str(project.python),
        apply=apply,
        pinned=pinned,
        seconds=seconds,
        **limits.model_dump(include={*PER_ANSWER}, exclude_none=True),
    )


def _name_run(scope: Scope) -> Task:
    """A name for the run, and in one line what is to be done."""
    project = scope.project
    tests, sources = (" ".join(map(str, some)) for some in (project.tests, project.sources[:3]))
    more = " …" if len(project.sources) > 3 else ""
    stem = scope.function or project.sources[0].stem
    return Task(id=f"{VERB}-{stem}", prompt=f"Strengthen {tests} for {scope.function or sources + more}")


def _finish(emitter: Emitter, pipeline: Pipeline, apply: bool) -> None:
    """The new files in the run's folder, the verdict, and the files in their place where that was asked for."""
    files, project = pipeline.render_files(), pipeline.scope.project
    for path, text in files.items():
        place = emitter.folder / "tests" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
    if files:
        write_atomically(emitter.folder / DIFF, render_diff(files).encode(), PRIVATE_MODE)
    emitter.record(Stopped(reason="done"))
    emitter.record(RunFinished(verdict="failed" if pipeline.against else "proven", why=pipeline.summarise()))
    if apply and files:
        emitter.record(_write_files(project.root, files, project.tests))


class SampleWriter:
    """Has the model write functions anew from their docstrings, without seeing their bodies, as long as time allows."""

    def __init__(self, tools: Tools, tests: tuple[str, ...], emitter: Emitter) -> None:
        self.tools, self.tests, self.emitter = tools, tests, emitter
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
                    self.emitter.record(event)
            proposed += [event for event in events if isinstance(event, CodeProposed) and not event.problem]
            if any(isinstance(event, Stopped) for event in events):
                break
        suite, passing = Suite(entry_point=function.name, project=self.tests), list[str]()
        try:
            for one in proposed:
                graded = ground.grade(one.code, suite)
                self.emitter.record(TestsRan(version=one.version, graded=graded))
                passing += [one.code] if graded.all_passed else []
        except AttemptError:
            return Samples()
        return Samples(tuple(passing), normalise=normalise_code)
