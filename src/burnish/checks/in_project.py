"""A version in the place of one file of a real project: the project's own tests judge it, nothing on disk changes.

Every grade is a job of its own in a fresh folder with a fresh interpreter, so nothing that an earlier version did can
reach it. Expected values share a process with the code, as they do wherever a project's own tests are run.
"""

import re
import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from burnish.checks import behaviour
from burnish.checks.fingerprint import Fingerprint, fingerprint
from burnish.checks.ground import MOST_PASSING
from burnish.checks.inside.ids import is_own, names
from burnish.checks.lab import Lab
from burnish.checks.project import Project
from burnish.checks.project_run import PASSING, Ran, Said, doctests, paths, run_suite
from burnish.checks.suite import Suite
from burnish.checks.swift import change_of, try_versions
from burnish.errors import CheckError, SandboxError
from burnish.events import Case, Graded
from burnish.parsing import decode_source, explain_syntax_error
from burnish.text import strip_controls

OWN = "burnish_own/test_burnish_own.py"
ALIAS = "burnish_solution"
LEAST_SECONDS, TIMES, UNKNOWN_SECONDS = 10.0, 5.0, 20.0
"""What a version's tests may take: at least so long, so often what they took before, and where nobody knows that."""
LEAST_TEST_SECONDS, EACH_SECONDS = 0.1, 0.3
"""The least that all tests are taken to need, and what one test of a small edit may take besides its usual time."""
MOST_LINES, MOST_CHARACTERS = 6, 600


class InProject:
    """The ground on which a file of a project is repaired. Use it as a context manager."""

    def __init__(
        self,
        project: Project,
        source: Path,
        sandbox: str = "auto",
        seconds: float = 0.0,
        failing: Sequence[str] = (),
        slowest: float = 0.0,
        lab: Lab | None = None,
    ) -> None:
        wanted = LEAST_SECONDS + TIMES * seconds if seconds else UNKNOWN_SECONDS
        limit = min(project.settings.test_seconds, wanted)
        settings = project.settings.model_copy(update={"test_seconds": limit})
        self.project = project.model_copy(update={"settings": settings, "sources": (source,)})
        self.source = source
        self.seconds, self.failing = seconds, list(failing)
        self.slowest = slowest or seconds
        """What the slowest test took before."""
        self._sandbox = sandbox
        self._lab = lab or Lab(self.project, sandbox)
        self._owns_lab = lab is None
        self.level = self._lab.sandbox.level

    def grade(self, module: str, suite: Suite, disputed: tuple[str, ...] = ()) -> Graded:
        """One case for each test of the project that decides, and for each undisputed one of the suite's own."""
        if problem := explain_syntax_error(module):
            return Graded(problem=problem)
        own = {name: body for name, body in suite.names.items() if body not in (*suite.project, *disputed)}
        if not own and not suite.project:
            return Graded()
        more = {**self._asked(suite.project), "replaced": {"file": str(self.source), "text": module}}
        files = self._own_files(suite, disputed) if own else {}
        try:
            ran = run_suite(self.project, self._lab, more={**more, "own": OWN if own else ""}, files=files)
        except CheckError as error:
            raise SandboxError(str(error)) from error
        cases = [*(_case(test, ran) for test in suite.project), *(_own_case(name, ran) for name in own)]
        return Graded(
            cases=tuple(cases),
            problem=ran.problem,
            timed_out="time limit" in ran.problem,
            separated=False,
            shared=len(cases),
            seconds=ran.seconds,
        )

    def passing(
        self, modules: Sequence[str], suite: Suite, seconds: float = 20.0, most: int = MOST_PASSING
    ) -> tuple[int, ...]:
        """The places of the first modules that seem to pass every test that decides, found in so many seconds at most.

        Modules that differ from the file in the body of one function are tried in one job, a few milliseconds each.
        A filter and no verdict: what passes is to be graded. Raises SandboxError.
        """
        base, file = self._text(), str(self.source)
        changes = {place: found for place, one in enumerate(modules) if (found := change_of(base, one, file))}
        ends = time.monotonic() + seconds
        good = self._swiftly(changes, suite, seconds) if changes else set()
        others = [place for place in range(len(modules)) if place not in changes]
        good |= {place for place in others if time.monotonic() < ends and self.passes(modules[place], suite)}
        return tuple(sorted(good)[:most])

    def fingerprint(self, suite: Suite) -> Fingerprint:
        """The files of the tests that decide, read from disk once more."""
        return fingerprint(self.project.root, suite.project, self.source)

    def _text(self) -> str:
        """The file as it is, its line ends too."""
        return decode_source((self.project.root / self.source).read_bytes())

    def _swiftly(self, changes: Mapping[int, dict[str, Any]], suite: Suite, seconds: float) -> set[int]:
        own = suite.model_copy(update={"model": ()})
        job = {
            **self._asked(suite.project),
            "own": OWN if suite.given else "",
            "first": self.failing,
            "tests_seconds": max(self.seconds, LEAST_TEST_SECONDS),
            "each_seconds": EACH_SECONDS + TIMES * self.slowest,
        }
        files = self._own_files(own, ()) if suite.given else {}
        try:
            told = try_versions(self.project, self._lab, changes, job, files, seconds)
        except CheckError as error:
            raise SandboxError(str(error)) from error
        count = len(suite.given) + len(suite.project)
        return {place for place, said in told.items() if _all_passed(said, count)}

    def test_texts(self, suite: Suite) -> tuple[str, ...]:
        """The files that hold the project's tests; what cannot be read is left out."""
        names = dict.fromkeys(test.partition("::")[0] for test in suite.project)
        files = [self.project.root / name for name in names if name.endswith(".py")]
        return tuple(text for file in files if (text := _read(file)))

    def behave_all(self, modules: Mapping[int, str], calls: Sequence[str]) -> dict[int, tuple[str, ...]]:
        """What each call gives in each version, with the project's other modules there to be imported."""
        if not modules or not calls:
            return {number: () for number in modules}
        nonce = secrets.token_hex(16)
        name, folders = self.import_name()
        file = f"{self._lab.root}/{self.source}"
        files = behaviour.order(list(modules.values()), calls, nonce, name=name, file=file, paths=folders)
        command = [self._lab.python, *behaviour.COMMAND[1:]]
        ran = self._lab.run(command, files, behaviour.MODULE_SECONDS * len(modules) + 2)
        return dict(zip(modules, behaviour.read(ran.output, nonce, len(modules), len(calls)), strict=True))

    def passes(self, module: str, suite: Suite) -> bool:
        """Whether every test that decides passes."""
        return self.grade(module, suite.model_copy(update={"model": ()})).all_passed

    def import_name(self) -> tuple[str, list[str]]:
        """The name the module is imported by, and what must be on the path for that."""
        folder, parts = self.source.parent, [self.source.stem]
        if self.source.stem == "__init__":
            parts = []
        while (self.project.root / folder / "__init__.py").exists() and folder != Path():
            parts.insert(0, folder.name)
            folder = folder.parent
        known = paths(self.project, self._lab)
        place = f"{self._lab.root}/{folder}" if folder != Path() else self._lab.root
        return ".".join(parts), [*known, *([] if place in known else [place])]

    def _asked(self, tests: Iterable[str]) -> dict[str, object]:
        """Which files are collected, and which of their tests are run."""
        chosen = list(tests)
        files = list(dict.fromkeys(test.partition("::")[0] for test in chosen))
        examples = [str(path) for path in doctests(self.project)]
        _, folders = self.import_name()
        return {"targets": files, "chosen": chosen, "paths": folders, "doctests": examples}

    def _own_files(self, suite: Suite, disputed: tuple[str, ...]) -> dict[str, str]:
        name, _ = self.import_name()
        rendered = re.sub(r"^from solution import ", f"from {ALIAS} import ", suite.render(disputed), flags=re.M)
        alias = f"import importlib\nimport sys\n\nsys.modules[__name__] = importlib.import_module({name!r})\n"
        return {OWN: rendered, f"{Path(OWN).parent}/{ALIAS}.py": alias}

    def use_layer(self, layer: Path) -> None:
        """From now on code may import what is in this layer; only for a project without an environment of its own."""
        self._lab.close()
        self.project = self.project.model_copy(update={"layer": layer})
        self._lab = Lab(self.project, self._sandbox)

    def close(self) -> None:
        """End every process that is at work; a lab that was lent stays open."""
        if self._owns_lab:
            self._lab.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _all_passed(said: Sequence[Said] | None, count: int) -> bool:
    """Whether no test failed and as many passed as decide; a file's id stands for one at least."""
    return bool(said) and len(said or ()) >= count and all(test.outcome != "failed" for test in said or ())


def _read(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except (OSError, ValueError):
        return ""


def short(message: str) -> str:
    """The first lines of why a test failed."""
    lines = [line.rstrip() for line in strip_controls(message).splitlines() if line.strip()]
    return "\n".join(lines[:MOST_LINES])[:MOST_CHARACTERS]


def _case(entry: str, ran: Ran) -> Case:
    """What the tests behind one id said together: one that failed speaks for all."""
    said = [test for name, test in ran.tests.items() if entry in names(name)]
    said += [broken for broken in ran.broken if broken.id == entry.partition("::")[0]]
    return _told(entry, said)


def _own_case(name: str, ran: Ran) -> Case:
    said = [test for test in ran.tests.values() if is_own(test.id, OWN)]
    broken = [test for test in ran.broken if is_own(test.id, OWN)]
    return _told(name, broken or [test for test in said if test.id.rpartition("::")[2] == name])


def _told(name: str, said: Sequence[Said]) -> Case:
    seconds = sum(test.seconds for test in said)
    failed = [test for test in said if test.outcome == "failed"]
    if failed:
        return Case(name=name, outcome="failed", message=short(failed[0].message), seconds=seconds)
    passed = any(test.outcome in PASSING for test in said)
    return Case(name=name, outcome="passed" if passed else "not_run", seconds=seconds)
