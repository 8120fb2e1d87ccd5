"""All other checks on what a run hands over: the code and its tests, in a folder of their own."""

import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from burnish.checks.bench.check_context import CheckContext
from burnish.checks.project import Project, Settings
from burnish.checks.verdict import BESIDE, judge_all
from burnish.errors import BurnishError, CheckError
from burnish.events import Evidence

CODE, TESTS = "solution.py", "test_solution.py"
SETTINGS = Settings(mutation_seconds=10.0, test_seconds=20.0)
"""Somebody waits for the answer: short, and what was not tried is counted."""
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
