"""The new file of tests: where it belongs, what it is called, how it reads, and how it is written beside the others.

What is there stays as it is: a new file has a name that nobody has, and is written whole or not at all.
"""

import re
import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from burnish.checks.bench.project_finder import is_named_as_test
from burnish.checks.mutation.mutant import Mutant
from burnish.errors import SetupProblem
from burnish.paths import write_atomically
from burnish.strengthening.generate import ProposedTest
from burnish.strengthening.project import Scope
from burnish.tasks.test_file import find_used_names, write_imports
from burnish.text import one_line

MOST_SAID, MOST_CHARACTERS = 2, 88
"""Mutants that are described above a test, and how much is said of them; the rest is counted."""
PINNED = "Pinned: this is what the code gives now; nobody else has said that it is right."


@dataclass(frozen=True)
class NewFile:
    """Tests for one source."""

    path: Path
    """Below the project's root."""
    tests: Mapping[str, ProposedTest]
    """Each by the name of its function."""
    head: str

    def keep(self, names: Collection[str]) -> "NewFile":
        """The same file with these tests only."""
        return replace(self, tests={name: test for name, test in self.tests.items() if name in names})

    def render(self, mutants: Mapping[str, Mutant], pinned: bool = True) -> str:
        """As pytest and people read it, with or without the pinned tests."""
        text = self.head
        for name, new in ((name, one.new) for name, one in self.tests.items() if pinned or one.new.origin != "pinned"):
            changes = [f"line {mutants[key].changed}, {mutants[key].said()}" for key in sorted(new.notices)]
            more = f", and {len(changes) - MOST_SAID} more" if len(changes) > MOST_SAID else ""
            notices = f"Notices: {one_line('; '.join(changes[:MOST_SAID]), MOST_CHARACTERS)}{more}"
            origin = PINNED if new.origin == "pinned" else f"{new.why[:1].upper()}{new.why[1:]}."
            body = new.test.replace("\n", "\n    ")
            text += f"\n\ndef {name}():\n    # {origin}\n    # {notices}\n    {body}\n"
        return text


def make_file(source: Path, module: str, proposed: Sequence[ProposedTest], scope: Scope) -> NewFile:
    """A file for the tests of one source, which is imported as `module`.

    Pinned tests come last; each test is named after its function, with a number.
    """
    used = find_used_names(one.new.test for one in proposed)
    lines = write_imports(used, module, scope.texts[source], scope.test_texts)
    plain = [line for line in lines if line.startswith("import ")]
    rest = [line for line in lines if not line.startswith("import ")]
    imports = "\n\n".join("\n".join(part) for part in (plain, rest) if part)
    title = f'"""Tests of {source.name} for small changes of it that no other test noticed."""'
    tests: dict[str, ProposedTest] = {}
    counts: dict[str, int] = {}
    for one in sorted(proposed, key=lambda one: one.new.origin == "pinned"):
        word = re.sub(r"\W+", "_", one.function.name).strip("_").lower()
        counts[word] = counts.get(word, 0) + 1
        tests[f"test_{word}_more_{counts[word]}"] = one
    return NewFile(_free_path(source, scope), tests, f"{title}\n\n{imports}\n")


def _free_path(source: Path, scope: Scope) -> Path:
    """Beside the test file that is named after the source, else beside the first; and called as they are called."""
    root = scope.project.root
    places = [root / place for place in scope.project.tests]
    folders = [place if place.is_dir() else place.parent for place in places]
    near = [file.parent for file in scope.test_files if file.stem in (f"test_{source.stem}", f"{source.stem}_test")]
    folder = near[0] if near else folders[0]
    taken = {file.name for place in folders for file in place.rglob("*.py")}
    taken |= {file.name for file in folder.iterdir()}
    stem = source.parent.name if source.stem == "__init__" else source.stem.strip("_")
    last = sum(file.stem.endswith("_test") for file in scope.test_files) * 2 > len(scope.test_files)
    form = "{}_test.py" if last else "test_{}.py"
    names = (form.format(f"{stem}_more{number}") for number in ["", *(f"_{n}" for n in range(2, 10_000))])
    return folder.relative_to(root) / next(name for name in names if name not in taken)


def write_new(root: Path, files: Mapping[Path, str], tests: Sequence[Path]) -> list[Path]:
    """Write new files; those that are there stay, and where one cannot be written none is. Raises SetupProblem.

    `tests` are the files and folders of tests below the root. Nothing but a test is written, and nowhere but there: the
    record that names root and tests may be a stranger's, and the project's folders may be links.
    """
    there = [root / test for test in tests if (root / test).exists()]
    places = [place.resolve() if place.is_dir() else place.parent.resolve() for place in there]
    for path in files:
        folder = (root / path).parent.resolve()
        beside = any(folder.is_relative_to(place) for place in places)
        if not (beside and is_named_as_test(path) and folder.is_relative_to(root.resolve())):
            raise SetupProblem(
                f"{one_line(str(root / path), 300)!r} is no test beside the tests of the run, so nothing was written. "
                f"The new tests are kept with the run; look at it with: burnish show last"
            )
    done: list[Path] = []
    try:
        for path, text in files.items():
            place = root / path
            temporary = place.with_name(f".{secrets.token_hex(8)}.tmp")
            try:
                write_atomically(temporary, text.encode("utf-8"))
                place.hardlink_to(temporary)  # unlike a rename, a link fails where a file has come meanwhile
            finally:
                temporary.unlink(missing_ok=True)
            done.append(place)
    except BaseException as error:
        for file in done:
            file.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise SetupProblem(
                f"The new tests could not be written ({error.strerror}: {error.filename2 or error.filename}). "
                f"They are kept with the run; look at it with: burnish show last"
            ) from error
        raise
    return done
