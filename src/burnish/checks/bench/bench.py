"""Where a version meets its tests: alone in a cell, or in the place of the file it repairs in a project.

In a project its own tests judge the version, and nothing on disk changes. Every grade is a job of its own in a fresh
folder with a fresh interpreter, so nothing that an earlier version did can reach it. Expected values share a process
with the code there, as they do wherever a project's own tests are run.
"""

import ast
import contextlib
import hashlib
import re
import textwrap
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, islice
from pathlib import Path
from typing import Any, Protocol, Self

from burnish.checks.bench.check_context import CheckContext
from burnish.checks.bench.inside.case_ids import all_ids, is_own
from burnish.checks.bench.project_run import (
    OPTIONS,
    OWN_PYTHON,
    PASSING,
    CaseReport,
    describe_job,
    doctests,
    import_paths,
    processes_at_once,
    run_job,
    run_suite,
    send_job,
)
from burnish.checks.bench.record_calls import insert_notes, write_call
from burnish.checks.bench.run_calls import (
    ModulePlace,
    OwnBehaviour,
    compare_calls,
    observe_calls,
    run_calls,
)
from burnish.checks.project import Project
from burnish.checks.suite import Suite
from burnish.checks.tests import Grader, grade, grade_script
from burnish.errors import CheckError, SandboxError, blame
from burnish.events import Case, Graded
from burnish.parsing import decode_source, explain_syntax_error, try_parse
from burnish.sandbox.sandbox import Sandbox
from burnish.search.behaviour_groups import NO_ANSWER
from burnish.tasks.source import FUNCTIONS, line_span, split_lines
from burnish.text import one_line, strip_controls

EDIT_SECONDS, SILENT_SECONDS = 0.02, 1.0
"""CPU and wall time of a small edit: one that is slower has made an endless loop, or is not worth waiting for."""
IMPORT_SECONDS = 2.0
"""What packages may take to be imported, each time anew."""
MOST_PASSING = 100
MOST_REMEMBERED = 100
"""Versions whose answers to calls are kept: all are compared again whenever there is a new one."""
OWN = "burnish_own/test_burnish_own.py"
ALIAS = "burnish_solution"
LEAST_SECONDS, TIMES, UNKNOWN_SECONDS = 10.0, 5.0, 20.0
"""What a version's tests may take: at least so long, so often what they took before, and where nobody knows that."""
LEAST_TEST_SECONDS, EACH_SECONDS = 0.1, 0.3
"""The least that all tests are taken to need, and what one test of a small edit may take besides its usual time."""
LOADING_SECONDS, GRACE_SECONDS = 30.0, 2.0
"""For all imports when many edits are tried, and for what is under way when the time is up."""
MOST_LINES, MOST_CHARACTERS = 6, 600

Function = ast.FunctionDef | ast.AsyncFunctionDef

Fingerprint = tuple[tuple[str, str], ...]
"""Each file below the project's root, with the hash of its content; "" for one that is gone."""

RunCalls = Callable[[Mapping[int, str], Sequence[str]], dict[int, tuple[str, ...]]]
"""Makes calls in modules, and gives each module's answers by its number."""


class Bench(Grader, Protocol):
    """A place to try versions in: to grade one, to filter many, and to see what they do."""

    def passes(self, module: str, suite: Suite) -> bool:
        """Whether every test that decides passes."""
        return self.grade_quickly(module, suite.model_copy(update={"worded": (), "model": ()})).all_passed

    def grade_quickly(self, module: str, suite: Suite) -> Graded:
        """What every test says, by the fastest way that says the same as the file which is handed over."""
        return self.grade(module, suite)

    def passing(
        self, modules: Sequence[str], suite: Suite, seconds: float = 20.0, most: int = MOST_PASSING
    ) -> tuple[int, ...]:
        """The places of the first modules that seem to pass every given test, found in so many seconds at most.

        As fast as this place can tell, for trying many small edits. A filter and no verdict: what passes is to be
        graded. Raises SandboxError.
        """
        deadline = time.monotonic() + seconds
        good = (place for place, one in enumerate(modules) if time.monotonic() < deadline and self.passes(one, suite))
        return tuple(islice(good, most))

    def fingerprint(self, suite: Suite) -> Fingerprint:
        """The files of the project's tests as they are now; others than the suite's prove nothing."""
        return ()

    def test_texts(self, suite: Suite) -> tuple[str, ...]:
        """The files of tests that the suite names, as text: to learn from how they call the code."""
        ...

    def run_calls(self, modules: Mapping[int, str], calls: Sequence[str]) -> dict[int, tuple[str, ...]]:
        """What each call, an expression over a module's names, gives there: its value or its error, as text.

        Ranks versions, and never decides: the values share a process with the code. One answer for each call; each
        module has a process of its own.
        """
        ...

    def record_calls(self, module: str, name: str, suite: Suite) -> dict[str, tuple[str, ...]]:
        """The calls of a function that the project's tests make with this module, by test, as far as they can be made
        again. Raises SandboxError.
        """
        return {}


class AnswerMemory:
    """What versions answered to calls, so that only new versions and new calls cost anything."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, str], dict[str, str]] = {}
        """By the packages that were there and the code: the answer to each call."""

    def run_calls(
        self, modules: Mapping[int, str], calls: Sequence[str], layer: object, run: RunCalls
    ) -> dict[int, tuple[str, ...]]:
        """The answers of all modules. Where one occurs twice all are run: whoever wants that looks for chance."""
        if len({*modules.values()}) < len(modules):
            return run(modules, calls)
        fresh = {n: code for n, code in modules.items() if not {*calls} <= self._known.get((layer, code), {}).keys()}
        told = run(fresh, calls)
        for number, answers in told.items():
            key = (layer, modules[number])
            if NO_ANSWER not in answers and (key in self._known or len(self._known) < MOST_REMEMBERED):
                self._known.setdefault(key, {}).update(zip(calls, answers, strict=True))
        return {
            number: told[number] if number in told else tuple(self._known[layer, code][call] for call in calls)
            for number, code in modules.items()
        }


class ModuleBench(Bench):
    """The module by itself, with the tests of the suite."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.level = sandbox.level
        self._sandbox = sandbox
        self._memory = AnswerMemory()

    def grade(self, module: str, suite: Suite, disputed: tuple[str, ...] = ()) -> Graded:
        """Every undisputed test, each with its own name."""
        return grade(module, suite, self._sandbox, disputed)

    def grade_quickly(self, module: str, suite: Suite) -> Graded:
        """Plain asserts as a script, without pytest."""
        script = suite.script(given_only=False)
        if not script:
            return self.grade(module, suite)
        return suite.name_cases(grade_script(module, script, self._sandbox, kinds=suite.kinds))

    def passing(
        self, modules: Sequence[str], suite: Suite, seconds: float = 20.0, most: int = MOST_PASSING
    ) -> tuple[int, ...]:
        """Where every test that decides is a plain assert, all modules are tried in one job."""
        script = suite.script()
        if not script:
            return super().passing(modules, suite, seconds, most)
        imports = IMPORT_SECONDS if getattr(self._sandbox, "layer", None) else 0.0
        job = {
            "versions": list(modules),
            "script": script,
            "seconds": seconds,
            "most": most,
            "each_seconds": EDIT_SECONDS + imports,
            "silent_seconds": SILENT_SECONDS + imports,
            "at_once": processes_at_once(),
        }
        cpu_seconds = processes_at_once() * seconds + 10
        ended, facts = send_job(self._sandbox, (OWN_PYTHON, "try_versions"), job, {}, cpu_seconds)
        found = next((fact["passing"] for fact in facts if "passing" in fact), None)
        if found is None:
            raise SandboxError(f"small edits could not be tried: {one_line(ended.output, 300)}")
        return tuple(place for place in found if isinstance(place, int) and 0 <= place < len(modules))

    def test_texts(self, suite: Suite) -> tuple[str, ...]:
        """The user's own file, where there is one."""
        return (suite.file,) if suite.file else ()

    def run_calls(self, modules: Mapping[int, str], calls: Sequence[str]) -> dict[int, tuple[str, ...]]:
        """All modules for the cost of one start. What was answered before is not asked again."""
        layer = getattr(self._sandbox, "layer", None)
        return self._memory.run_calls(modules, calls, layer, lambda some, asked: run_calls(some, asked, self._sandbox))


@dataclass(frozen=True)
class UsualRun:
    """What the tests did before anything was changed."""

    seconds: float = 0.0
    """For all of them; 0 where nobody knows."""
    slowest_seconds: float = 0.0
    failing: tuple[str, ...] = ()
    """Tests that fail without a repair."""


UNKNOWN = UsualRun()


class ProjectBench(Bench):
    """Where a file of a project is repaired. Use it as a context manager."""

    def __init__(
        self,
        project: Project,
        source: Path,
        sandbox: str = "auto",
        usual: UsualRun = UNKNOWN,
        context: CheckContext | None = None,
    ) -> None:
        wanted = LEAST_SECONDS + TIMES * usual.seconds if usual.seconds else UNKNOWN_SECONDS
        limit = min(project.settings.test_seconds, wanted)
        settings = project.settings.model_copy(update={"test_seconds": limit})
        self.project = project.model_copy(update={"settings": settings, "sources": (source,)})
        self.source = source
        self.usual = usual
        self._sandbox = sandbox
        self._context = context or CheckContext(self.project, sandbox)
        self._owns_context = context is None
        self._memory = AnswerMemory()
        self.level = self._context.sandbox.level

    def grade(self, module: str, suite: Suite, disputed: tuple[str, ...] = ()) -> Graded:
        """One case for each test of the project that decides, and for each undisputed one of the suite's own."""
        if problem := explain_syntax_error(module):
            return Graded(problem=problem)
        own = {name: body for name, body in suite.names.items() if body not in (*suite.project, *disputed)}
        if not own and not suite.project:
            return Graded()
        more = {**self._choose_tests(suite.project), "replaced": {"file": str(self.source), "text": module}}
        files = self._own_files(suite, disputed) if own else {}
        try:
            run = run_suite(self.project, self._context, more={**more, "own": OWN if own else ""}, files=files)
        except CheckError as error:
            raise SandboxError(str(error)) from error
        cases = []
        for test in suite.project:  # one id may mean many tests, or a file that could not be imported
            said = [report for name, report in run.tests.items() if test in all_ids(name)]
            said += [report for report in run.broken if report.id == test.partition("::")[0]]
            cases.append(_join_case(test, said))
        broken = [report for report in run.broken if is_own(report.id, OWN)]
        ours = [report for report in run.tests.values() if is_own(report.id, OWN)]
        for name in own:
            cases.append(_join_case(name, broken or [one for one in ours if one.id.rpartition("::")[2] == name]))
        return Graded(
            cases=tuple(cases),
            problem=run.problem,
            timed_out=run.timed_out,
            separated=False,
            shared=len(cases),
            seconds=run.seconds,
        )

    def passing(
        self, modules: Sequence[str], suite: Suite, seconds: float = 20.0, most: int = MOST_PASSING
    ) -> tuple[int, ...]:
        """The places of the first modules that seem to pass every test that decides, found in so many seconds at most.

        Modules that differ from the file in the body of one function are tried in one job, a few milliseconds each.
        A filter and no verdict: what passes is to be graded. Raises SandboxError.
        """
        base, file = decode_source((self.project.root / self.source).read_bytes()), str(self.source)
        changes = {place: found for place, one in enumerate(modules) if (found := change_of(base, one, file))}
        ends = time.monotonic() + seconds
        good = self._try_changes(changes, suite, seconds) if changes else set()
        others = [place for place in range(len(modules)) if place not in changes]
        good |= {place for place in others if time.monotonic() < ends and self.passes(modules[place], suite)}
        return tuple(sorted(good)[:most])

    def _try_changes(self, changes: Mapping[int, dict[str, Any]], suite: Suite, seconds: float) -> set[int]:
        """The places of changes that pass, found in one job that forks for each.

        Not among them: one that only a fresh process can try, and those that the time was too short for.
        """
        job = {
            **describe_job(self.project, self._context, options=[*OPTIONS, "--capture=sys"]),
            **self._choose_tests(suite.project),
            "own": OWN if suite.given else "",
            "first": self.usual.failing,
            "tests_seconds": max(self.usual.seconds, LEAST_TEST_SECONDS),
            "each_seconds": EACH_SECONDS + TIMES * (self.usual.slowest_seconds or self.usual.seconds),
            "functions": [{**change, "number": number} for number, change in enumerate(changes.values())],
            "versions": [{"key": place, "function": number} for number, place in enumerate(changes)],
            "baseline": False,
            "at_once": processes_at_once(),
            "trying_seconds": seconds,
            "grace_seconds": GRACE_SECONDS,
            "seconds": seconds + LOADING_SECONDS,
        }
        files = self._own_files(suite.model_copy(update={"model": ()}), ()) if suite.given else {}
        cpu_seconds = 4 * (seconds + LOADING_SECONDS) + 10
        try:
            _, facts = run_job(self.project, self._context, job, files, cpu_seconds=cpu_seconds)
        except CheckError as error:
            raise SandboxError(str(error)) from error
        plans = [fact["plan"] for fact in facts if isinstance(fact.get("plan"), list)]
        # A file's id stands for one test at least, so fewer tests than ids means that some were not collected.
        if not plans or len(plans[-1]) < len(suite.given) + len(suite.project):
            return set()
        survived = [fact.get("mutant") for fact in facts if fact.get("was") == "survived"]
        return {place for place in changes if place in survived}

    def fingerprint(self, suite: Suite) -> Fingerprint:
        """The files of the tests that decide, read from disk once more."""
        return fingerprint(self.project.root, suite.project, self.source)

    def test_texts(self, suite: Suite) -> tuple[str, ...]:
        """The files that hold the project's tests; what cannot be read is left out."""
        texts = []
        for name in dict.fromkeys(test.partition("::")[0] for test in suite.project):
            with contextlib.suppress(OSError, ValueError):
                texts.append((self.project.root / name).read_text("utf-8") if name.endswith(".py") else "")
        return tuple(filter(None, texts))

    def run_calls(self, modules: Mapping[int, str], calls: Sequence[str]) -> dict[int, tuple[str, ...]]:
        """What each call gives in each version, with the project's other modules there to be imported."""

        def run(some: Mapping[int, str], asked: Sequence[str]) -> dict[int, tuple[str, ...]]:
            return run_calls(some, asked, self._context, place=self._place(), python=self._context.python)

        return self._memory.run_calls(modules, calls, None, run)

    def record_calls(self, module: str, name: str, suite: Suite) -> dict[str, tuple[str, ...]]:
        """The tests run once more, with notes in the module."""
        text = insert_notes(module, name)
        if not text or not suite.project:
            return {}
        more = {"replaced": {"file": str(self.source), "text": text}, "recorded": name, "own": ""}
        job = {**describe_job(self.project, self._context), **self._choose_tests(suite.project), **more}
        try:
            _, facts = run_job(self.project, self._context, job)
        except CheckError as error:
            raise SandboxError(str(error)) from error
        found: dict[str, tuple[str, ...]] = {}
        with blame(SandboxError, "reading the calls that the tests make"):
            for told in (fact["called"] for fact in facts if "called" in fact):
                calls = [write_call(module, name, call["plain"], call["named"]) for call in told["calls"]]
                for test in (test for test in suite.project if test in all_ids(told["test"])):
                    found[test] = tuple(dict.fromkeys([*found.get(test, ()), *filter(None, calls)]))
        return found

    def observe_calls(self, module: str, calls: Sequence[str]) -> OwnBehaviour:
        """What one version does on calls, twice, and which of its lines run."""
        return observe_calls(module, calls, self._context, self._place(), self._context.python)

    def compare_calls(self, modules: Sequence[str], expected: Mapping[str, str]) -> list[tuple[str, ...]]:
        """What versions answer to calls, until it is clear that one is another than expected."""
        return compare_calls(modules, expected, self._context, self._place(), self._context.python)

    def _place(self) -> ModulePlace:
        name, folders = self.import_name()
        return ModulePlace(name, f"{self._context.root}/{self.source}", tuple(folders))

    def import_name(self) -> tuple[str, list[str]]:
        """The name the module is imported by, and what must be on the path for that."""
        name, folder = name_module(self.project.root, self.source)
        known = import_paths(self.project, self._context)
        place = f"{self._context.root}/{folder}" if folder != Path() else self._context.root
        return name, [*known, *([] if place in known else [place])]

    def _choose_tests(self, tests: Sequence[str]) -> dict[str, object]:
        """Which files are collected, and which of their tests are run."""
        return {
            "targets": list(dict.fromkeys(test.partition("::")[0] for test in tests)),
            "chosen": list(tests),
            "paths": self.import_name()[1],
            "doctests": [str(path) for path in doctests(self.project)],
        }

    def _own_files(self, suite: Suite, disputed: tuple[str, ...]) -> dict[str, str]:
        """The suite's own tests; `solution` is an alias of the module that is repaired."""
        name, _ = self.import_name()
        rendered = re.sub(r"^from solution import ", f"from {ALIAS} import ", suite.render(disputed), flags=re.M)
        alias = f"import importlib\nimport sys\n\nsys.modules[__name__] = importlib.import_module({name!r})\n"
        return {OWN: rendered, f"{Path(OWN).parent}/{ALIAS}.py": alias}

    def use_layer(self, layer: Path) -> None:
        """From now on code may import what is in this layer; only for a project without an environment of its own."""
        self._context.close()  # a cell's mounts are fixed when it opens
        self.project = self.project.model_copy(update={"layer": layer})
        self._context = CheckContext(self.project, self._sandbox)

    def close(self) -> None:
        """End every process that is at work; a context that was lent stays open."""
        if self._owns_context:
            self._context.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def name_module(root: Path, source: Path) -> tuple[str, Path]:
    """The name that a file below a root is imported by, and the folder that must be on the path for that."""
    folder, parts = source.parent, [] if source.stem == "__init__" else [source.stem]
    while (root / folder / "__init__.py").exists() and folder != Path():
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts), folder


def fingerprint(root: Path, tests: Iterable[str], source: Path) -> Fingerprint:
    """Of the files that hold these tests, by pytest's ids, and of every conftest.py above them.

    Examples in the docstrings of the file that is being repaired are no file of tests: that file has to change.
    """
    files = {Path(test.partition("::")[0]) for test in tests} - {source}
    above = {folder / "conftest.py" for file in files for folder in file.parents}
    found: list[tuple[str, str]] = []
    for file in sorted(files | {file for file in above if (root / file).is_file()}):
        try:
            found.append((file.as_posix(), hashlib.sha256((root / file).read_bytes()).hexdigest()))
        except OSError:
            found.append((file.as_posix(), ""))
    return tuple(found)


def _join_case(name: str, said: Sequence[CaseReport]) -> Case:
    """What they said together: one that failed speaks for all, with its first lines."""
    seconds = sum(test.seconds for test in said)
    failed = [test for test in said if test.outcome == "failed"]
    if failed:
        lines = [line.rstrip() for line in strip_controls(failed[0].message).splitlines() if line.strip()]
        message = "\n".join(lines[:MOST_LINES])[:MOST_CHARACTERS]
        return Case(name=name, outcome="failed", message=message, seconds=seconds)
    passed = any(test.outcome in PASSING for test in said)
    return Case(name=name, outcome="passed" if passed else "not_run", seconds=seconds)


def change_of(base: str, module: str, file: str) -> dict[str, Any] | None:
    """The one function in which a module differs from the base, as a cell puts it in place; None if it is not one."""
    for owner, old, start, end in _functions(base):
        if base == module or not (module.startswith(base[:start]) and module.endswith(base[end:])):
            continue
        was, text = _dedent(base[start:end]), _dedent(module[start : len(module) - len(base) + end])
        tree = try_parse(text)
        new = tree.body[0] if tree and len(tree.body) == 1 else None
        if isinstance(new, FUNCTIONS) and _read_shape(old) == _read_shape(new):
            place = {"file": file, "line": old.lineno, "first": line_span(old)[0] + 1, "owner": owner}
            return {**place, "was": was, "text": text}
    return None


@lru_cache(maxsize=4)
def _functions(base: str) -> tuple[tuple[str, Function, int, int], ...]:
    """Functions at the top of a module, and methods of classes there: the class's name, and where its text lies."""
    module = try_parse(base)
    offsets = [0, *accumulate(map(len, split_lines(base)))]
    found: list[tuple[str, Function, int, int]] = []
    for node in module.body if module else []:
        owner, members = (node.name, node.body) if isinstance(node, ast.ClassDef) else ("", [node])
        for member in members:
            if isinstance(member, FUNCTIONS):
                first, last = line_span(member)
                found.append((owner, member, offsets[first], offsets[last]))
    return tuple(found)


def _dedent(text: str) -> str:
    return textwrap.dedent(text.replace("\r\n", "\n").replace("\f", ""))


def _read_shape(node: Function) -> tuple[object, ...]:
    """What must stay as it is, if another code object is to do: name, decorators and parameters."""
    names = [part.arg for part in ast.walk(node.args) if isinstance(part, ast.arg)]
    counts = (len(node.args.defaults), len(node.args.kw_defaults), len(node.args.posonlyargs))
    return type(node), node.name, [ast.dump(part) for part in node.decorator_list], names, counts
