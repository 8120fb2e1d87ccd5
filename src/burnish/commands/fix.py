"""`burnish.fix`: a file with a bug goes in, a tested repair of one function comes out. No test is ever touched.

What is to be done is found out before the model is asked anything: the file, its tests, the broken function.
"""

import hashlib
import os
import shlex
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from burnish.agent.ask import Reviewer
from burnish.agent.limits import Limits
from burnish.agent.questions import MOST_QUESTIONS, Answerer
from burnish.checks.bench.bench import ProjectBench, UsualRun, fingerprint
from burnish.checks.bench.check_context import CheckContext
from burnish.checks.bench.fault_localisation import (
    DecidingTests,
    OriginalRun,
    choose_deciding,
    rank_places,
    read_original,
    run_watched,
    show_test,
)
from burnish.checks.bench.missing_packages import find_missing_package, install_command
from burnish.checks.bench.project_finder import find_project, find_root
from burnish.checks.bench.project_run import has_tests
from burnish.checks.project import Project
from burnish.checks.suite import Suite
from burnish.checks.tests import describe_sharing
from burnish.commands.apply import (
    DIFF,
    GOOD,
    Target,
    check_writable,
    diff_of,
    encode_diff,
    fix_facts,
    is_in_place,
    read_target,
    save_diff,
)
from burnish.commands.apply import apply as apply_run
from burnish.commands.failing_test import (
    ChosenTests,
    find_place,
    find_test_root,
    is_test_named,
    read_test_command,
)
from burnish.commands.guidance import read_guidance
from burnish.commands.project_packages import add_project_layer, add_recorded_layer
from burnish.commands.write import put_files
from burnish.errors import CheckError, SetupProblem
from burnish.events import PROVEN, Applied, FilesWritten, FixFacts, Notice, PackagesAdded, Place
from burnish.evidence.build import build_repair
from burnish.evidence.schema import REPORT, name_files
from burnish.evidence.suite import ALSO
from burnish.model_choice import Opener, select_models
from burnish.models.model import Model
from burnish.models.names import Models
from burnish.packages import Budget, parse_requirements
from burnish.parsing import parse, try_parse
from burnish.report.deliverables import check_free, read_module_name, read_task, render_tests
from burnish.report.run_report import render_report
from burnish.runs import Run, Store, Watch
from burnish.runs.attempt import Begin, Keep, Resources, RunHandle, start
from burnish.runs.record import notices_to
from burnish.runs.request import Request
from burnish.tasks import Task
from burnish.tasks.contradiction import refuse_contradiction
from burnish.tasks.repair import docstring_of, examples_of, from_file, function_names, lines_of_body, repairable_names
from burnish.text import one_line, slug

MOST_NAMED, MOST_SUSPECTS, MOST_PLACES, MOST_FILES, MOST_SHOWN_TESTS = 5, 8, 20, 3, 10
NO_EVIDENCE = "no evidence was written: tests were changed meanwhile, or a file has a name that evidence cannot hold"
CHECKS_AT_END = ("coverage", "mutation", "security", "quality")
"""On what a repair changed, beside the tests. Packages are the project's affair, and to measure time takes too long."""


@dataclass(frozen=True)
class FixPlan:
    """What is to be done, decided before the model is asked anything."""

    target: Target
    project: Project
    source: Path
    task: Task
    before: OriginalRun = field(default_factory=OriginalRun)
    aside: tuple[str, ...] = ()
    """Tests that fail for reasons that the repair cannot reach."""
    failing: tuple[str, ...] = ()
    """Tests that decide and fail as long as nothing is repaired."""
    packages: tuple[str, ...] = ()
    """What was prepared for a project without an environment of its own."""
    nothing: str = ""
    """Why there is nothing to repair; empty when there is."""
    places: tuple[Place, ...] = ()
    """Where the fault may be, the likeliest first."""
    guidance: tuple[str, ...] = ()
    """Files of the project that say how its code should be."""

    def settings(self, apply: bool) -> FixFacts:
        """What the run's record says of its file, enough to go on from."""
        return FixFacts(
            file=str(self.target.path),
            name=str(self.source),
            sha256=self.target.sha256,
            encoding=self.target.encoding,
            apply=apply,
            tests=tuple(str(test) for test in self.project.tests),
            python=str(self.project.python),
            test_seconds=self.before.seconds,
            aside=self.aside,
            places=self.places[:MOST_PLACES],
            guidance=self.guidance,
        )

    def bench(self, sandbox: str = "auto") -> ProjectBench:
        """Where versions of the file are tried."""
        before = self.before
        usual = UsualRun(before.seconds, before.slowest, tuple(self.failing))
        return ProjectBench(self.project, self.source, sandbox, usual)


@dataclass(frozen=True)
class FixOptions:
    """What is to be repaired, in the user's words."""

    path: Path | str
    tests: Sequence[Path | str] = ()
    spec: str = ""
    given: Sequence[str] = ()
    """Tests that an earlier run had from the user, as answers to its questions for example."""
    function: str | None = None
    apply: bool = False
    python: Path | str | None = None
    sandbox: str = "auto"
    packages: Sequence[str] = ()
    bounds: Budget | None = None
    """What preparing packages may take."""
    starts: Sequence[str] = ()
    """The failing tests that are to pass, by pytest's ids; all others of the project that pass must pass again."""
    elsewhere: Sequence[Place] = ()
    """Where else the fault may be, in other files."""


def fix(
    path: Path | str | None = None,
    model: Models | None = None,
    *,
    tests: Sequence[Path | str] = (),
    spec: str = "",
    function: str | None = None,
    apply: bool = False,
    python: Path | str | None = None,
    limits: Limits | None = None,
    confidence: float = PROVEN,
    sandbox: str = "auto",
    store: Store | None = None,
    watch: Watch | None = None,
    packages: Sequence[str] = (),
    allow_packages: Sequence[str] = (),
    opener: Opener | None = None,
    keep_thoughts: bool = False,
    out: Path | str | None = None,
    review: Reviewer | None = None,
    from_run: str | None = None,
    settle: Answerer | None = None,
    test_command: str = "",
) -> Run:
    """Repair one function of a file until its tests pass, and return the recorded run; `diff_of` tells the change.

    Where `path` names a failing test, or `test_command` runs one, the file is found among the project's sources.

    The project's tests decide, or those that `tests` name, with the examples in `spec` and in the docstring. Without
    `function` the one that failing tests point at is repaired. `model` is who answers, and `confidence` how sure is
    enough, as in `write`. `apply` writes the file, its old content kept beside it. `packages` are third-party packages
    for a project that has no environment of its own, besides those that it requires; see `write`, also for
    `keep_thoughts`, `review` and `settle`. `out` is a new or empty folder for the repaired file, its tests, diff,
    report and evidence, which are in the run's folder as well. `from_run` goes on from an earlier run of `fix` or
    `write`: with its file, its tests and its words, besides those that are given here.
    """
    store, limits = store or Store(), limits or Limits()
    if out is not None:
        check_free(Path(out))
    selection = select_models(model, limits, store)
    earlier = store.open(from_run) if from_run is not None else None
    options = FixOptions(
        path=path or "",
        tests=tuple(tests),
        spec=spec,
        function=function,
        apply=apply,
        python=python,
        sandbox=sandbox,
        packages=parse_requirements(packages, allow_packages),
        bounds=Budget.within(limits.seconds),
    )
    options = go_on_from(earlier, options) if earlier else options
    attempts = [options]
    if test_command or (path and is_test_named(path)):
        attempts = start_from_test(options, test_command, watch)
    share = _share_limits(limits, len(attempts))
    resources = Resources((), store, watch, review=review, settle=settle)
    runs: list[Run] = []
    for options in attempts:
        target = read_target(options.path)
        if runs and watch:
            watch(Notice(text=f"on with {target.path.name}: no repair of the file before passed", stays=True))
        request = Request(
            task=Task(id=slug(f"fix-{function or target.path.stem}"), prompt=f"Repair {target.path.name}"),
            verb="fix",
            model=selection.names,
            chosen=selection.why,
            limits=share,
            sandbox=sandbox,
            checks=CHECKS_AT_END,
            allow_packages=tuple(allow_packages),
            keep_thoughts=keep_thoughts,
            continues=earlier.id if earlier else None,
            out=str(Path(out).absolute()) if out is not None else "",
            review=review is not None,
            confidence=confidence,
            questions=MOST_QUESTIONS,
        )
        run = start_fix(options, request, resources, lambda: selection.open(opener)).wait()
        runs.append(deliver(run, store, watch) if run.settings.fix else run)
        if runs[-1].verdict != "failed":
            return runs[-1]
    return runs[0]


def _share_limits(limits: Limits, parts: int) -> Limits:
    """What one of so many attempts may take, so that all together take no more."""
    if parts == 1:
        return limits
    caps = {"calls": limits.calls // parts, "tokens": limits.tokens // parts, "seconds": limits.seconds / parts}
    return limits.model_copy(update=caps | {"dollars": None if limits.dollars is None else limits.dollars / parts})


def start_from_test(
    options: FixOptions, test_command: str = "", watch: Watch | None = None, keep: Keep = lambda working: None
) -> list[FixOptions]:
    """The same for each of the few files in which the fault of failing tests may be, the likeliest first.

    The path names a test, or the project's folder for any test that fails; without one that is the current folder.
    `keep` is told of all that runs code meanwhile. Raises SetupProblem where there is no such file.
    """
    folder = Path(options.path) if options.path and Path(options.path).is_dir() else None
    if options.path and is_test_named(options.path):
        root, chosen = find_test_root(options.path)
    else:
        root, chosen = find_root([folder or Path.cwd()]), ChosenTests()
    if test_command:
        chosen = read_test_command(test_command, root)
    tell = notices_to(watch)
    if tell:
        tell("running the project's tests to find the file with the fault")
    project, _ = add_project_layer(find_project([root], (), options.python), options.packages, tell, options.bounds)
    failing, places = find_place(project, chosen, options.sandbox, keep)
    files = [*dict.fromkeys(place.file for place in places)][:MOST_FILES]
    if options.path and not folder and not is_test_named(options.path):
        files = [str(Path(options.path).absolute().relative_to(root))]
    others = {file: tuple(place for place in places if place.file != file) for file in files}
    return [replace(options, path=root / file, starts=failing, elsewhere=others[file]) for file in files]


def start_fix(
    options: FixOptions,
    request: Request,
    resources: Resources,
    open_models: Callable[[], Sequence[Model]],
    before: Callable[[Keep], None] = lambda keep: None,
) -> RunHandle:
    """Begin to repair, as `runs.attempt.start` does: what is to be done is found out in the run, and can be stopped.

    `request` and `resources` say the rest; `before` may wait for something. Where a test or a folder is named, the
    likeliest file is taken. A run that is stopped before anything is known of the file has no `fix` in its settings.
    """

    def prepare(keep: Keep) -> tuple[Request, Resources]:
        before(keep)
        is_open = is_test_named(options.path) or Path(options.path).is_dir()
        found = start_from_test(options, watch=resources.watch, keep=keep)[0] if is_open else options
        plan = plan_fix(found, resources.watch, keep)
        facts = plan.settings(options.apply and not plan.nothing)
        more = {"task": plan.task, "packages": plan.packages, "nothing": plan.nothing, "fix": facts}
        if plan.nothing:  # nobody is asked: a name is model enough
            return request.model_copy(update=more), resources
        ground = plan.bench(request.sandbox)
        keep(ground)
        return request.model_copy(update={**more, "model": ""}), replace(resources, models=open_models(), ground=ground)

    return start(request, resources, prepare=prepare)


def go_on_from(earlier: Run, options: FixOptions) -> FixOptions:
    """What is asked for on top of an earlier run: its file as it lies on disk, its tests, function and words.

    Raises SetupProblem where nothing of it is there to go on from, and for a good repair that is not in place.
    """
    facts, task, words = earlier.settings.fix, read_task(earlier), earlier.started.prompt
    given: list[str] = []
    if facts is not None:
        fix_facts(earlier)
        path, tests = Path(facts.file), [facts.root / test for test in facts.tests]
        text = docstring_of(task.base_code, task.entry_point)
        words = "" if not task.described else words.removesuffix(text).strip()
        settled = earlier.spec.given_tests if earlier.spec else ()
        given = [test for test in settled if test not in examples_of(text, task.entry_point)]
        if earlier.verdict in GOOD and diff_of(earlier) and not is_in_place(earlier):
            raise SetupProblem(
                f"The repair of run {earlier.id!r} is not in its file, and what follows goes on from there. "
                f"Put it in place first: burnish apply {earlier.id}"
            )
    elif earlier.started.verb == "write" and earlier.code and earlier.folder:
        code, test = name_files(read_module_name(earlier))
        path, tests = Path(earlier.folder) / code, [Path(earlier.folder) / test]
    else:
        raise SetupProblem(
            f"Run {earlier.id!r} has no file to go on from. Choose one of fix or write that delivered one: burnish runs"
        )
    if gone := [file for file in (path, *tests) if not file.exists()]:
        raise SetupProblem(
            f"{str(gone[0])!r} of run {earlier.id!r} is not there any more, so nothing can go on from it. "
            "Name the file that is to be repaired: burnish fix FILE.py"
        )
    name = task.entry_point or (earlier.spec.entry_point if earlier.spec else "")
    known = options.function or (name if name in function_names(path.read_text("utf-8", "replace")) else None)
    return replace(
        options,
        path=options.path or path,
        tests=options.tests or tests,
        spec=ALSO.join(part for part in (words, options.spec.strip()) if part),
        given=given if known == name and not options.path else (),
        function=known if not options.path else options.function,
    )


def repair(plan: FixPlan, request: Request, resources: Resources, begin: Begin = lambda handle: None) -> Run:
    """The agent at work in the project, and what it made delivered; `begin` is given the handle."""
    with plan.bench(request.sandbox) as ground:
        begin(handle := start(request, replace(resources, ground=ground)))
        run = handle.wait()
    return deliver(run, resources.store, resources.watch)


def deliver(run: Run, store: Store, watch: Watch | None) -> Run:
    """Diff and evidence in the run's folder, and where they are wanted; where that was asked for and the repair is
    good, the file in its place.
    """
    if run.verdict is None:
        return run
    changed = bool(save_diff(run, store))
    files = list_files(run)
    if files is None and watch:
        watch(Notice(text=NO_EVIDENCE, stays=True))
    elif files is not None:
        kept = evidence_folder(run, store)
        shutil.rmtree(kept, ignore_errors=True)
        put_files(run, files, kept)
        if run.settings.out and not run.ending(FilesWritten):
            again = bool(run.all(FilesWritten))  # what an earlier part of the run made of it is there
            run = store.add(run, put_files(run, files, Path(run.settings.out), numbered=again), watch)
    wanted = run.settings.fix is not None and run.settings.fix.apply
    good = run.verdict in GOOD and not run.last(Applied)
    return apply_run(run, store=store, watch=watch) if wanted and good and changed else run


def evidence_folder(run: Run, store: Store) -> Path:
    """Where the evidence of a repair is kept, with the files that it speaks of."""
    return store.runs / run.id / "evidence"


def list_files(run: Run) -> dict[str, bytes] | None:
    """What is delivered of a repair: the file, its tests as they were, diff and report; None where that cannot be."""
    repair, report = build_repair(run), {REPORT: render_report(run).encode()}
    if repair is None:
        return None
    if not run.code:
        return report
    root = fix_facts(run).root
    try:
        tests = {name: (root / name).read_bytes() for name in repair.test_files}
    except OSError:
        return None
    if any(hashlib.sha256(tests[name]).hexdigest() != known for name, known in repair.test_files.items()):
        return None
    own = {repair.own_tests: render_tests(run).encode()} if repair.own_tests else {}
    return {repair.file: run.code.encode(), **tests, **own, DIFF: encode_diff(diff_of(run)), **report}


def plan_fix(options: FixOptions, watch: Watch | None = None, keep: Keep = lambda working: None) -> FixPlan:
    """Look at the file and at what its tests say of it. Raises SetupProblem for all that somebody can put right.

    `keep` is told of all that runs code meanwhile, so that it can be ended.
    """
    target = read_target(options.path)
    if options.apply:
        check_writable(target)
    if options.function:
        from_file(target.text, options.function)
    project = find_project([target.path], [str(test).partition("::")[0] for test in options.tests], options.python)
    project, layer = add_project_layer(project, options.packages, notices_to(watch), options.bounds)
    source, before = target.path.relative_to(project.root), OriginalRun()
    if has_tests(project):
        if watch:
            watch(Notice(text="running the project's tests as they are"))
        with CheckContext(project, options.sandbox) as lab:
            keep(lab)
            try:
                before = read_original(run_watched(project, lab, (source,)), source, target.text)
            except CheckError as error:
                raise _explain_not_run(str(error)) from error
    packages = layer.asked if layer else ()
    named: tuple[str, ...] = ()
    if any("::" in str(test) for test in options.tests):  # else only whole files and folders were named
        for test in options.tests:
            file, mark, rest = str(test).partition("::")
            inside = Path(os.path.abspath(file)).relative_to(project.root)  # noqa: PTH100
            named += (f"{inside}{mark}{rest}",)
    if options.starts:
        started = {test: report for test, report in before.failing.items() if test in options.starts}
        broken = {test: report for test, report in before.broken.items() if test in options.starts}
        before = replace(before, failing=started, broken=broken)
    places = tuple(rank_places(before, source, target.text, project.root, named))
    listed = tuple(sorted((*places, *options.elsewhere), key=lambda place: -place.score))
    plan = FixPlan(target, project, source, Task(id="fix", prompt=""), before, packages=packages, places=listed)
    _refuse_test_file(plan)
    name = _find_function(plan, options, keep)
    parses = try_parse(target.text) is not None
    count = choose_deciding(before, name, named, parses=parses)
    if options.function and named and not count.failing:  # whoever names both knows what belongs together
        count = choose_deciding(replace(before, has_cover=False), name, named, parses=parses)
    files = fingerprint(project.root, count.deciding_tests, source)
    # Another place has to do with all that fails; where somebody named the function, there is no other.
    reached = [place.function for place in places if {*count.failing} <= before.touched[place.function]]
    suspects = tuple(place for place in reached if place != name) if not options.function else ()
    task = from_file(target.text, name, options.spec, count.deciding_tests, suspects[:MOST_SUSPECTS])
    given = tuple(dict.fromkeys((*task.visible_tests, *options.given)))
    read, guidance = read_guidance(project.root)
    needed = {"packages": tuple(options.packages)} if options.packages else {}
    failing = [test for test in count.failing if test in before.failing][:MOST_SHOWN_TESTS]
    shown = [(test, show_test(project.root, test, before.failing[test])) for test in failing]
    update = {"project_files": files, "visible_tests": given, "guidance": guidance, "failing_tests": tuple(shown)}
    task = task.model_copy(update=update | needed)
    refuse_contradiction(task.visible_tests)
    why = _explain_nothing(plan, count, task, options, keep)
    return replace(plan, task=task, guidance=read, aside=count.aside, failing=count.failing, nothing=why)


def plan_again(run: Run, bounds: Budget | None = None) -> FixPlan:
    """What was to be done, from the record; nothing is looked at anew but the file itself.

    Raises SetupProblem when the file, or its tests, are not what they were when the run began.
    """
    facts = fix_facts(run)
    target = read_target(facts.file)
    if target.sha256 != facts.sha256:
        raise SetupProblem(
            f"{target.path.name} has changed on disk since run {run.id!r} began: its answers are about another file. "
            f"Begin anew: burnish fix {target.path}"
        )
    source = Path(facts.name)
    project = find_project([target.path], [facts.root / test for test in facts.tests], facts.python)
    packages = run.last(PackagesAdded)
    project = add_recorded_layer(project, packages, bounds) if packages else project
    task = Task.model_validate(run.settings.task)
    if fingerprint(project.root, task.project_tests, source) != task.project_files and task.project_files:
        raise SetupProblem(
            f"The tests have changed on disk since run {run.id!r} began: its results are about others. "
            f"Begin anew: burnish fix {target.path}"
        )
    before = OriginalRun(seconds=facts.test_seconds)
    return FixPlan(target, project, target.path.relative_to(project.root), task, before, facts.aside)


def _explain_not_run(why: str) -> SetupProblem:
    return SetupProblem(
        f"The tests of the project could not be run: {why}. Look at them by themselves: python -m pytest"
    )


def _refuse_test_file(plan: FixPlan) -> None:
    """Whatever a file is called: where pytest found a test in it, it is one."""
    source, found = plan.source, (*plan.before.failing, *plan.before.passing)
    names = [name for file, _, name in (test.partition("::") for test in found) if file == str(source)]
    inside = [name for name in names if "." not in name.partition("[")[0] and name != source.stem]
    if inside:  # the examples of docstrings have the module's name in theirs
        raise SetupProblem(
            f"{source} holds a test ({one_line(inside[0])}), and Burnish never changes a test. "
            f"Name the code that it tests: burnish fix FILE.py --tests {source}"
        )


def _find_function(plan: FixPlan, options: FixOptions, keep: Keep) -> str:
    """The function to repair."""
    text, known = plan.target.text, repairable_names(plan.target.text)
    if options.function:
        return options.function
    if len(known) == 1:
        return known[0]
    if not known:
        raise SetupProblem(
            f"There is no function in {plan.source}, and functions are what is repaired. Name a file that has one."
        )
    if try_parse(text) is None:
        return _find_by_syntax_error(text, known)
    if here := [place.function for place in plan.places if place.file == str(plan.source)]:
        return here[0]
    if plan.before.failing or plan.before.broken:
        raise SetupProblem(_explain_unreachable(plan))
    return _find_by_words(plan, known, options, keep)


def _find_by_syntax_error(text: str, known: list[str]) -> str:
    """The function that the parser's complaint is about, else the one above it."""
    line = 1
    try:
        parse(text)
    except SyntaxError as error:
        line = error.lineno or 1
    except (ValueError, MemoryError, RecursionError):
        pass
    spans = {name: lines_of_body(text, name) or (0, 0) for name in known}
    inside = [name for name, (first, last) in spans.items() if first <= line <= last]
    above = [name for name, (first, _) in spans.items() if first <= line]
    return (inside or above or known)[-1]


def _explain_unreachable(plan: FixPlan) -> str:
    failed = {**plan.before.broken, **plan.before.failing}
    first = next(iter(failed.values()))
    if package := find_missing_package((test.message for test in failed.values()), plan.project):
        said = f"The tests of {plan.source} cannot be run: {package} is not installed"
        if plan.project.has_environment:
            return f"{said} in the project's environment. Type: {install_command(package, plan.project)}"
        names = shlex.quote(",".join([*plan.packages, package]))
        return f"{said}, and no environment of the project was found. Type: burnish fix {plan.source} --with {names}"
    said = one_line(first.message, 200).rstrip(".")
    many = "1 test fails" if len(failed) == 1 else f"{len(failed)} tests fail"
    seen = f"no function of {plan.source} was seen to run there, though one may in another process"
    if not plan.before.has_cover:
        seen = f"it could not be seen which functions run there ({plan.before.problem or 'no line was measured'})"
    return (
        f"{many}: {', '.join(list(failed)[:MOST_NAMED])}; {seen}. The first says: {said}. "
        f"Have the file found, or name the function: burnish fix {shlex.quote(next(iter(failed)))}, or "
        f"burnish fix {plan.source} --tests {shlex.quote(next(iter(failed)))} --function NAME"
    )


def _find_by_words(plan: FixPlan, known: list[str], options: FixOptions, keep: Keep) -> str:
    """Where no test fails: the function that the spec speaks of, or whose own examples fail."""
    text, spec = plan.target.text, options.spec
    spoken = [name for name in known if name.rpartition(".")[2] in spec.replace("(", " ").replace("`", " ").split()]
    if spoken:
        return spoken[0]
    if spec:
        raise SetupProblem(
            f"It is not clear which function the spec is about. Name it: --function {' or '.join(known[:MOST_NAMED])}"
        )
    with_examples = {name: tuple(examples_of(docstring_of(text, name), name)) for name in known}
    with plan.bench(options.sandbox) as ground:
        keep(ground)
        for name, given in with_examples.items():
            if given and not ground.grade(text, Suite(entry_point=name, given=given)).all_passed:
                return name
    return known[0]


def _explain_nothing(plan: FixPlan, count: DecidingTests, task: Task, options: FixOptions, keep: Keep) -> str:
    """In one sentence, why there is nothing to repair; empty when something fails, or words ask for more."""
    if count.failing or try_parse(plan.target.text) is None:
        return ""
    if task.visible_tests:
        with plan.bench(options.sandbox) as ground:
            keep(ground)
            suite = Suite(entry_point=task.entry_point, given=task.visible_tests)
            if not ground.grade(plan.target.text, suite).all_passed:
                return ""
    elif options.spec:
        return ""
    if count.aside:
        raise SetupProblem(_explain_unreachable(plan))
    passing = len(count.deciding_tests) + len(task.visible_tests)
    if not passing and plan.before.problem:
        raise _explain_not_run(plan.before.problem)
    if not passing:
        raise SetupProblem(
            f"There is no test of {plan.source}, no example and no spec, so nothing says what is wrong. "
            f'Say it: burnish fix {plan.source} --tests test_{plan.source.name}, or --spec "what it should do"'
        )
    said = "its test passes" if passing == 1 else f"all {passing} tests pass"
    return f"nothing to fix: {said} already{describe_sharing(passing, passing)}"
