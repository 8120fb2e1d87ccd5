"""All other checks on what a run hands over: the code and its tests, in a folder of their own."""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from burnish.checks.lab import Lab
from burnish.checks.project import Project
from burnish.checks.settings import Settings
from burnish.checks.verdict import BESIDE, judge_all
from burnish.errors import BurnishError
from burnish.events import Evidence

CODE, TESTS = "solution.py", "test_solution.py"
SETTINGS = Settings(mutation_seconds=10.0, test_seconds=20.0)
"""Somebody waits for the answer: short, and what was not tried is counted."""


class FinalChecks:
    """What `names` say about a version. `close` may come from another thread and ends them at once.

    An answer is remembered for the same check, code and tests: it was made from these very bytes, in a clean cell of
    its own that no earlier job could touch, so asking again would only cost time. "Not run" is no answer and is not
    remembered.
    """

    def __init__(
        self, names: Sequence[str], sandbox: str = "auto", layer: Path | None = None, named: Sequence[str] = ()
    ) -> None:
        self.names = tuple(names)
        self.named = tuple(named)
        """Packages that the user asked for."""
        self.layer = layer
        """Packages that the code may import."""
        self._sandbox = sandbox
        self._lab: Lab | None = None
        self._closed = False
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
        unsound = "the tests do not pass, so it was not measured"
        return tuple(found.get(name) or Evidence(check=name, verdict="not_run", why=unsound) for name in names)

    def _judge_files(self, names: Sequence[str], code: str, tests: str) -> tuple[Evidence, ...]:
        with tempfile.TemporaryDirectory(prefix="burnish-check-") as folder:
            root = Path(folder).resolve()
            (root / CODE).write_text(code, "utf-8", "replace")
            (root / TESTS).write_text(tests, "utf-8", "replace")
            try:
                return self._judge(project_of(root, self.layer, self.named), names)
            except BurnishError as error:
                return tuple(Evidence(check=name, verdict="not_run", why=str(error)) for name in names)

    def _judge(self, project: Project, names: Sequence[str]) -> tuple[Evidence, ...]:
        with Lab(project, self._sandbox) as self._lab:
            if self._closed:
                return ()
            return judge_all(project, self._lab, names).evidence

    def use_layer(self, layer: Path) -> None:
        """From now on the code may import what is in this layer."""
        self.layer = layer

    def close(self) -> None:
        """End every process that is at work."""
        self._closed = True
        if self._lab:
            self._lab.close()


def project_of(root: Path, layer: Path | None = None, named: Sequence[str] = ()) -> Project:
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
