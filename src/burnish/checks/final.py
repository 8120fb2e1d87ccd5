"""All other checks on what a run hands over: the code and its tests, in a folder of their own."""

import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from burnish.checks.bench.bench import ProjectBench, name_module
from burnish.checks.bench.check_context import CheckContext, copy_folder, list_needed
from burnish.checks.bench.interpreter import read_interpreter
from burnish.checks.project import Project, Settings
from burnish.checks.verdict import BESIDE, judge_all
from burnish.errors import BurnishError, CheckError
from burnish.events import Evidence
from burnish.parsing import try_parse
from burnish.tasks.source import all_functions, source_of

CODE, TESTS = "solution.py", "test_solution.py"
SETTINGS = Settings(mutation_seconds=10.0, test_seconds=20.0)
"""Somebody waits for the answer: short, and what was not tried is counted."""
REPAIR_MUTATION_SECONDS = 4.0
MOST_BYTES, MOST_FILES = 50_000_000, 5_000
"""Of a project that is copied for the checks on a repair, in about a second."""
TOO_LARGE = "the project is too large to be copied for it; to have it looked at where it lies, type: burnish check FILE"
OWN_TESTS = "test_burnish_examples.py"
UNSOUND = "the tests do not pass, so it was not measured"


def solution_project(root: Path, layer: Path | None = None, named: Sequence[str] = ()) -> Project:
    """A folder with one solution and its tests, as something to check; `layer` has the packages it may import, and
    `named` are those of them that the user asked for.
    """
    return Project(
        root=root,
        sources=(Path(CODE),),
        tests=(Path(TESTS),),
        python=Path(sys.executable),
        generated=True,
        settings=SETTINGS,
        layer=layer,
        alone=True,
        named=tuple(named),
    )


class SolutionBench:
    """Opens a context for one module and its tests. `close` may come from another thread and ends the work at once."""

    def __init__(self, sandbox: str = "auto", layer: Path | None = None, named: Sequence[str] = ()) -> None:
        self.layer = layer
        """Packages that the code may import."""
        self.named = tuple(named)
        """Those that the user asked for."""
        self._sandbox = sandbox
        self._context: CheckContext | None = None
        self._closed = False

    @contextmanager
    def open(self, code: str, tests: str) -> Iterator[CheckContext]:
        """A context in which the two files are the project. Raises CheckError once this is closed."""
        with tempfile.TemporaryDirectory(prefix="burnish-check-") as folder:
            root = Path(folder).resolve()
            (root / CODE).write_text(code, "utf-8", "replace")
            (root / TESTS).write_text(tests, "utf-8", "replace")
            project = solution_project(root, self.layer, self.named)
            with CheckContext(project, self._sandbox) as self._context:
                if self._closed:  # closed while the context was being opened: nobody would end it later
                    raise CheckError("it was broken off")
                yield self._context

    def use_layer(self, layer: Path) -> None:
        """From now on the code may import what is in this layer."""
        self.layer = layer

    def close(self) -> None:
        """End every process that is at work."""
        self._closed = True
        if self._context:
            self._context.close()


@dataclass(frozen=True)
class RepairPlace:
    """A file of a project, and the tests that decide on a repair of it."""

    project: Project
    source: Path
    tests: tuple[str, ...] = ()
    """Pytest's ids of those of the project."""

    @contextmanager
    def open(self, code: str, own_tests: str, functions: Sequence[str], sandbox: str) -> Iterator[CheckContext]:
        """A context for a copy of the project with this code in the place of the file, and these tests beside it.

        Only the functions are judged, and only by the tests that decide. Commands see the copy where the project lies.
        Raises CheckError for a project that is too large to be copied.
        """
        root, (module, folder) = self.project.root, name_module(self.project.root, self.source)
        if is_large(root):
            raise CheckError(TOO_LARGE)
        top = copy_folder(root)
        copy = top / "copy"
        try:
            files = {self.source: code}
            if own := re.findall(r"^def (test_\w+)", own_tests, re.MULTILINE):
                files[folder / OWN_TESTS] = re.sub(
                    r"^( *from )solution( import )", rf"\1{module}\2", own_tests, flags=re.M
                )
            for path, text in files.items():
                (copy / path).parent.chmod(0o755)
                (copy / path).unlink(missing_ok=True)
                (copy / path).write_text(text, "utf-8", "replace")
                (copy / path).chmod(0o644)
            environment = read_interpreter(self.project.python).environment
            if environment is not None and environment.is_relative_to(root):  # its folder is mounted there
                (copy / environment.relative_to(root)).mkdir(parents=True, exist_ok=True)
            settings = self.project.settings.model_copy(update={"mutation_seconds": REPAIR_MUTATION_SECONDS})
            project = self.project.model_copy(
                update={
                    "root": copy,
                    "sources": (self.source,),
                    "tests": (*self.project.tests, *([folder / OWN_TESTS] if own else [])),
                    "settings": settings,
                    "functions": tuple(functions),
                    "chosen": (*self.tests, *([(folder / OWN_TESTS).as_posix()] if own else [])),
                }
            )
            with CheckContext(project, sandbox, at=root) as context:
                yield context
        finally:
            shutil.rmtree(top, ignore_errors=True)


def find_changed_functions(before: str, after: str) -> tuple[str, ...]:
    """The functions that are new or differ in a text; empty where only something outside of functions does."""
    old, new = try_parse(before), try_parse(after)
    texts = {name: source_of(after, node) for name, node in all_functions(new).items()} if new else {}
    if old is None:  # what did not parse can still be searched
        return tuple(name for name, text in texts.items() if text not in before)
    known = {name: source_of(before, node) for name, node in all_functions(old).items()}
    return tuple(name for name, text in texts.items() if known.get(name) != text)


def is_large(root: Path) -> bool:
    """Whether to copy a project would take long."""
    size = 0
    for count, path in enumerate(path for path in list_needed(root) if path.is_file()):
        size += path.stat().st_size
        if size > MOST_BYTES or count > MOST_FILES:
            return True
    return False


class FinalChecks(SolutionBench):
    """What `names` say about a version.

    An answer is remembered for the same check, code and tests: it was made from these very bytes, in a clean cell of
    its own that no earlier job could touch, so asking again would only cost time. "Not run" is no answer and is not
    remembered.
    """

    def __init__(
        self, names: Sequence[str], sandbox: str = "auto", layer: Path | None = None, named: Sequence[str] = ()
    ) -> None:
        super().__init__(sandbox, layer, named)
        self.names = tuple(names)
        self._known: dict[tuple[str, str, str], Evidence] = {}

    def judge(
        self, code: str, tests: str, sound: bool = True, names: Sequence[str] | None = None
    ) -> tuple[Evidence, ...]:
        """One answer a check, of all or of those in `names`. Code that is not `sound`, because its tests do not pass,
        is read but not run again.

        A place to work that cannot be opened leaves all of them "not_run".
        """
        names = self.names if names is None else names
        found = {name: self._known[name, code, tests] for name in names if (name, code, tests) in self._known}
        left = [name for name in names if name not in found and (sound or name in BESIDE)]
        for answer in self._judge_files(left, code, tests) if left else ():
            found[answer.check] = answer
            if answer.verdict != "not_run":
                self._known[answer.check, code, tests] = answer
        return tuple(found.get(name) or Evidence(check=name, verdict="not_run", why=UNSOUND) for name in names)

    def _judge_files(self, names: Sequence[str], code: str, tests: str) -> tuple[Evidence, ...]:
        try:
            with self.open(code, tests) as context:
                return judge_all(context.project, context, names).evidence
        except BurnishError as error:
            return tuple(Evidence(check=name, verdict="not_run", why=str(error)) for name in names)


class RepairChecks(FinalChecks):
    """What `names` say about the functions that a repair changed. The code around them is not the repair's."""

    def __init__(
        self, names: Sequence[str], sandbox: str, ground: ProjectBench, base: str, tests: Sequence[str]
    ) -> None:
        super().__init__(names, sandbox)
        self._ground, self._base, self._tests = ground, base, tuple(tests)

    @contextmanager
    def open(self, code: str, tests: str) -> Iterator[CheckContext]:
        """A context for a copy of the project with the repair in it. Raises CheckError once this is closed."""
        place = RepairPlace(self._ground.project, self._ground.source, self._tests)
        with place.open(code, tests, find_changed_functions(self._base, code), self._sandbox) as self._context:
            if self._closed:
                raise CheckError("it was broken off")
            yield self._context
