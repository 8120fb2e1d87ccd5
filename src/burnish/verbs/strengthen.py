"""`burnish.strengthen`: changes of the code that tests do not notice become tests. No test that is there is touched."""

import difflib
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from burnish.agent.fitting import check_fits
from burnish.agent.limits import PER_ANSWER, Limits
from burnish.checks.lab import Lab
from burnish.checks.project_run import PASSING, Ran
from burnish.checks.watcher import Watcher
from burnish.config import load
from burnish.costs import NOBODY
from burnish.errors import SetupProblem
from burnish.events import BaseEvent, Broke, Evidence, FilesWritten, RunFinished, RunStarted, Stopped
from burnish.model_choice import choose_models
from burnish.models.model import Model
from burnish.models.names import open_model, split_names
from burnish.packages import wanted
from burnish.paths import PRIVATE_MODE, write_atomically
from burnish.runs import Record, Run, Store, read_record
from burnish.tasks.definitions import split
from burnish.verbs.strengthening.put import put_beside
from burnish.verbs.strengthening.scope import Scope, must_be_writable, passing_tests, scope_of
from burnish.verbs.strengthening.unnoticed import mutants_of
from burnish.verbs.strengthening.voices import Voices
from burnish.verbs.strengthening.work import LOOKING, Outcome, Strengthening
from burnish.version import __version__

VERB = "strengthen"
DIFF = "strengthen.diff"
SECONDS = 300.0


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
    scope = scope_of(tests, source, function, python, wanted(packages, allow_packages), watch.told)
    if apply:
        must_be_writable(scope)
    mutants = mutants_of(scope)
    with Lab(scope.project, sandbox) as lab:
        ran = _looked_at(scope, lab, watch)
        answering, why = _opened(model, store)
        answer = Limits(seconds=LOOKING * seconds, max_tokens=max_tokens, thinking=thinking)
        check_fits(answer, [answering] if answering else [])
        asked = {"apply": apply, "pinned": pinned, "seconds": seconds}
        asked |= answer.model_dump(include={*PER_ANSWER}, exclude_none=True)
        with _recorded(store, scope, answering, why, lab, asked) as record:
            began = time.monotonic()
            work = Strengthening(scope, lab, ran, record.append, watch, seconds)
            heard = tuple(name for name, test in ran.tests.items() if test.outcome in PASSING)
            voices = Voices(answering, lab, answer, heard, record.append) if answering else None
            outcome = work.go(mutants, voices, pinned, sandbox)
            _finish(record, scope, outcome, work, time.monotonic() - began, apply)
    return Run(read_record(record.path.parent))


def files_of(run: Run, store: Store | None = None) -> dict[Path, str]:
    """The new files of tests of a run, by their paths below the project's root."""
    folder = (store or Store()).runs / run.id / "tests"
    facts = run.started.settings.get(VERB)
    if not isinstance(facts, dict):
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


def diff_of(files: Mapping[Path, str]) -> str:
    """New files as a unified diff that `patch` and `git apply` read; empty if there are none."""
    parts = (difflib.unified_diff([], split(text), "/dev/null", f"b/{path}") for path, text in files.items())
    return "".join(line for part in parts for line in part)


def put(run: Run, store: Store | None = None) -> Run:
    """Write the new files of a finished run beside the tests that are there. Raises SetupProblem where it cannot."""
    store = store or Store()
    files = files_of(run, store)
    if run.last(FilesWritten) or not files:
        why = "are in place already" if files else "are none"
        raise SetupProblem(f"The new tests of run {run.id!r} {why}. See what it did with: burnish show {run.id}")
    facts = run.started.settings[VERB]
    assert isinstance(facts, dict)
    event = _written(Path(str(facts["root"])), files, [Path(str(test)) for test in facts["tests"]])
    with Record(store.runs / run.id) as record:
        record.append(event)
    return Run((*run.events, event))


def _written(root: Path, files: Mapping[Path, str], tests: Sequence[Path]) -> FilesWritten:
    names = tuple(str(file.relative_to(root)) for file in put_beside(root, files, tests))
    return FilesWritten(folder=str(root), files=names)


def _looked_at(scope: Scope, lab: Lab, watch: Watcher) -> Ran:
    started = time.monotonic()
    watch.begun("tests")
    ran = passing_tests(scope, lab)
    figure = f"{ran.counted(*PASSING)} passed"
    watch.finished(Evidence(check="tests", verdict="passed", why="", figure=figure), time.monotonic() - started)
    return ran


def _opened(model: Model | str | None, store: Store) -> tuple[Model | None, str]:
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
def _recorded(
    store: Store, scope: Scope, model: Model | None, why: str, lab: Lab, asked: Mapping[str, object]
) -> Iterator[Record]:
    """The run's record; what breaks the work off is written there, and raised again."""
    tests, sources = (" ".join(map(str, some)) for some in (scope.project.tests, scope.project.sources[:3]))
    run_id, record = store.begin(f"{VERB}-{scope.function or scope.project.sources[0].stem}")
    facts = {"root": str(scope.project.root), **asked}
    facts |= {name: [str(path) for path in getattr(scope.project, name)] for name in ("tests", "sources")}
    facts |= {"function": scope.function, "python": str(scope.project.python)}
    more = " …" if len(scope.project.sources) > 3 else ""
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


def _finish(record: Record, scope: Scope, outcome: Outcome, work: Strengthening, seconds: float, apply: bool) -> None:
    """The new files in the run's folder, the verdict, and the files in their place where that was asked for."""
    mutants = {mutant.key: mutant for mutant in outcome.before.survivors}
    files = {file.path: file.text(mutants) for file in outcome.proof.files}
    for path, text in files.items():
        place = record.path.parent / "tests" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
    if files:
        write_atomically(record.path.parent / DIFF, diff_of(files).encode(), PRIVATE_MODE)
    events: list[BaseEvent] = [
        Stopped(reason="done"),
        RunFinished(verdict="failed" if outcome.against else "proven", why=outcome.sentence(seconds)),
    ]
    for event in events:
        record.append(event)
    if apply and files:
        record.append(_written(scope.project.root, files, scope.project.tests))
