"""`burnish.write`: a sentence goes in, tested code comes out. The Python twin of the command of the same name."""

import errno
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from itertools import chain, count
from pathlib import Path
from typing import Any

from burnish.agent.ask import Reviewer, TieBreaker
from burnish.agent.limits import Limits
from burnish.agent.questions import MOST_QUESTIONS, Answerer
from burnish.agent.worded_examples import choose_examples, find_readings
from burnish.checks.project import CHECKS
from burnish.errors import SetupProblem
from burnish.events import PROVEN, FilesWritten, PackagesAdded
from burnish.events.history import Version
from burnish.evidence import build_dossier, render_dossier
from burnish.evidence.claims import read_versions
from burnish.evidence.schema import FILE, REPORT, name_files
from burnish.model_choice import Opener, select_models
from burnish.models.names import Models, list_given, open_models
from burnish.packages import parse_requirements
from burnish.packages.names import module_provider
from burnish.packages.requirements import normalise_requirements
from burnish.parsing import explain_refusal
from burnish.report.deliverables import (
    check_free,
    is_empty_folder,
    read_module_name,
    read_suite,
    read_task,
    render_tests,
)
from burnish.report.run_report import render_report
from burnish.runs import Run, Store, Watch
from burnish.runs.attempt import Resources, start
from burnish.runs.request import Request
from burnish.tasks import Task, from_sentence, go_on
from burnish.tasks.contradiction import refuse_contradiction
from burnish.tasks.sentence import refuse_other_language, with_test_file
from burnish.tasks.test_file import read_test_file, why_no_module
from burnish.text import one_line, slug

CHECKS_AT_END = CHECKS[1:]
"""Beside the tests, which decide."""
ANEW = 'those of the earlier run stay in force. Begin anew, with the one that holds: burnish write "…"'
SLOW_CHECKS = ("mutation", "performance")
AFTERWARDS: tuple[str, ...] = ("strengthen", "refine")
"""What follows once the tests pass; `fast` leaves it out."""


def write(
    sentence: str,
    model: Models | None = None,
    *,
    out: Path | str | None = None,
    from_run: str | None = None,
    limits: Limits | None = None,
    confidence: float = PROVEN,
    sandbox: str = "auto",
    store: Store | None = None,
    watch: Watch | None = None,
    fast: bool = False,
    with_tests: Path | str | None = None,
    answer: Callable[[str], str] | None = None,
    review: Reviewer | None = None,
    settle: Answerer | None = None,
    packages: Sequence[str] = (),
    allow_packages: Sequence[str] = (),
    beside: Path | str | None = None,
    opener: Opener | None = None,
    keep_thoughts: bool = False,
    prefer: TieBreaker | None = None,
) -> Run:
    """Write tests and code for a sentence, refine until the tests pass, and return the recorded run.

    `model` is who answers: a name, `small,large`, `auto` to have one chosen; unless named, what the settings say.
    Further versions are asked for until one is right with the chance `confidence`, six at most once one passes.
    `out` names a new or empty folder to put the files in. Where it names none, `beside` is a folder that gets
    a new one, named after the task. `from_run` goes on from an earlier run, or with RUN:VERSION from any version of it.
    `fast` leaves out tests for what goes unnoticed, rounds for what checks find, and the two slow checks at the end,
    mutation and performance. `with_tests` is a pytest file of the
    user's own: it decides, and says what the module is called. Where the sentence leaves something open, the model says
    what it assumes; `answer` is given each assumption and may return other words, or "" to agree.
    `review` is shown the tests before they are frozen and the code before its verdict, and says how to go on.
    `settle` is asked what is right where versions that pass the same tests disagree, three times at most. Where there
    is nobody to ask, the first question stays open, and `burnish.answer` takes it up later.
    `packages` are third-party packages that the code may import, such as "numpy" or "pandas>=2": well-known ones, or
    those in `allow_packages`. They are prepared before any code runs; of an earlier
    run that this one goes on from, its packages stay. `keep_thoughts` keeps what the models think before they answer,
    in a file beside the run's record. `prefer` chooses between versions that nothing else tells
    apart: a reward model of `burnish train reward`, from `burnish.commands.train.open_judge`.
    """
    store = store or Store()
    request = build_request(
        sentence,
        model,
        store=store,
        from_run=from_run,
        with_tests=with_tests,
        fast=fast,
        limits=limits or Limits(),
        confidence=confidence,
        sandbox=sandbox,
        packages=packages,
        allow_packages=tuple(allow_packages),
        out=str(Path(out).absolute()) if out is not None else "",
        ask=answer is not None,
        review=review is not None,
        keep_thoughts=keep_thoughts,
    )
    folder = Path(out) if out is not None else Path(beside) / request.task.id if beside is not None else None
    if folder:
        check_free(folder, numbered=out is None)
    models = list_given(model) or (opener or open_models)(request.model)
    resources = Resources(models, store, watch, answer=answer, review=review, settle=settle, prefer=prefer)
    run = start(request, resources).wait()
    return deliver(run, folder, store, watch, numbered=out is None) if folder else run


def build_request(
    sentence: str,
    model: Models | None = None,
    *,
    store: Store | None = None,
    from_run: str | None = None,
    with_tests: Path | str | None = None,
    fast: bool = False,
    **fields: Any,
) -> Request:
    """What `write` asks of a run, to be given to `burnish.start`; all is as there.

    `fields` are others of `Request`, such as limits, sandbox, packages, allow_packages and keep_thoughts. A model that
    is no name, but open already, goes into `Resources` as well.
    """
    store, limits = store or Store(), fields.get("limits") or Limits()
    named = parse_requirements(fields.pop("packages", ()), fields.get("allow_packages", ()))
    earlier, version = store.open_version(from_run) if from_run is not None else (None, None)
    task = task_for(sentence, earlier, Path(with_tests) if with_tests is not None else None, named, version)
    selection = select_models(model, limits, store)
    return Request(
        task=task,
        model=selection.names,
        chosen=selection.why,
        checks=tuple(name for name in CHECKS_AT_END if not (fast and name in SLOW_CHECKS)),
        afterwards=frozenset(() if fast else AFTERWARDS),
        packages=task.packages,
        continues=name_earlier(earlier, version),
        **{"questions": MOST_QUESTIONS, **fields},
    )


def name_earlier(run: Run | None, version: Version | None) -> str | None:
    """What the record says a run goes on from."""
    return f"{run.id}:{version.number}" if run and version else run.id if run else None


def task_for(
    sentence: str,
    earlier: Run | None,
    with_tests: Path | None,
    named: tuple[str, ...],
    version: Version | None = None,
) -> Task:
    """The task a sentence asks for, alone or on top of an earlier run, decided by a test file where there is one.

    Of an earlier run its result is gone on from, or `version`.

    The code and the file may import the packages in `named`, and those of the earlier run.
    """
    refuse_other_language(sentence)
    task = _go_on_from(earlier, version or earlier.final, sentence) if earlier else from_sentence(sentence)
    packages = named
    if earlier:
        before = earlier.last(PackagesAdded)
        packages = normalise_requirements([*(before.asked if before else ()), *named])
        named = normalise_requirements([*read_task(earlier).named, *named])
    task = task.model_copy(update={"assume": True})
    task = with_test_file(task, read_test_file(with_tests, module_provider(packages))) if with_tests else task
    refuse_contradiction(task.visible_tests, *([ANEW] if earlier else []))
    if task.signature:  # else it is found once there is one
        choose_examples(task, find_readings(task, task.signature))
    return task.model_copy(update={"packages": packages, "named": named}) if packages else task


def _go_on_from(run: Run, version: Version | None, sentence: str) -> Task:
    if not version or not version.code or not run.spec:
        raise SetupProblem(f"Run {run.id!r} has no code to go on from. Choose another one from: burnish runs")
    if version.problem:
        why = one_line(version.problem, 200)
        raise SetupProblem(
            f"Version {version.number} of run {run.id!r} cannot be run ({why}). "
            f"Choose another one from: burnish show {run.id} --all"
        )
    spec, before, suite = run.spec, read_task(run), read_suite(run)
    kept = [test for test in (*suite.model, *suite.added) if test not in run.disputed]
    earlier = Task(
        id=slug(spec.entry_point),
        prompt=run.started.prompt,
        entry_point=spec.entry_point,
        also=before.also,
        signature=spec.signature,
        visible_tests=spec.given_tests,
        test_file=before.test_file,
        module=before.module,
    )
    return go_on(earlier, version.code, tuple(kept), sentence)


def deliver(run: Run, wanted: Path, store: Store, watch: Watch | None = None, *, numbered: bool = False) -> Run:
    """Put solution, tests, report and evidence into a new or empty folder; say so in the run's record.

    No file is written over. With `numbered` the next free name is taken where the folder holds something: another run
    may have made it meanwhile.
    """
    return store.add(run, put_files(run, list_files(run), wanted, numbered), watch)


def list_files(run: Run) -> dict[str, bytes]:
    """Solution, tests and report as they are delivered. Raises SetupProblem for code that cannot be read back."""
    contents = {REPORT: render_report(run)}
    if run.code:
        code, tests = name_files(read_module_name(run))
        contents = {code: run.code, tests: render_tests(run), **contents}
        reasons = {name: explain_refusal(contents[name]) for name in (code, tests)}
        for name, why in {**reasons, code: reasons[code] or why_no_module(read_module_name(run))}.items():
            if why:
                raise SetupProblem(
                    f"{name} of run {run.id!r} is not delivered: {why}. Look at it: burnish show {run.id}"
                )
    return {name: text.encode("utf-8", "surrogatepass") for name, text in contents.items()}


def add_evidence(run: Run, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """These files, and the evidence that speaks of them."""
    return {**files, FILE: render_dossier(build_dossier(run, files, read_versions())).encode()}


def put_files(run: Run, files: Mapping[str, bytes], wanted: Path, numbered: bool = False) -> FilesWritten:
    """Put these files, with the evidence that speaks of them, into a new or empty folder."""
    files = add_evidence(run, files)
    try:
        for folder in chain([wanted], (wanted.with_name(f"{wanted.name}-{number}") for number in count(2))):
            with suppress(FileExistsError) if numbered else nullcontext():
                folder.mkdir(parents=True, exist_ok=is_empty_folder(folder))
                for name, data in files.items():
                    (folder / name).parent.mkdir(parents=True, exist_ok=True)
                    with (folder / name).open("xb") as file:  # it may be somebody's by now
                        file.write(data)
                break
    except OSError as error:
        reason = "the disk is full" if error.errno == errno.ENOSPC else error.strerror
        raise SetupProblem(
            f"The result could not be written to {str(wanted)!r} ({reason}). Nothing is lost: it is in the run's "
            f"record. Get the code with: burnish show {run.id} --code"
        ) from error
    return FilesWritten(folder=str(folder.absolute()), files=tuple(files))
