"""The new file of tests: where it belongs, what it is called, and how it reads. What is there stays as it is."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from burnish.checks.in_project import InProject
from burnish.checks.mutation.mutant import Mutant
from burnish.tasks.test_imports import imports_for, used_names
from burnish.text import one_line
from burnish.verbs.strengthening.scope import Scope
from burnish.verbs.strengthening.search import Idea

MOST_SAID, MOST_CHARACTERS = 2, 88
"""Changes that are told above a test, and how much is said of them; the rest is counted."""
PINNED = "Pinned: this is what the code gives now; nobody else has said that it is right."


@dataclass(frozen=True)
class NewFile:
    """Tests for one source."""

    path: Path
    """Below the project's root."""
    names: Mapping[str, Idea]
    """Each test by the name of its function."""
    head: str

    def without(self, gone: set[str]) -> "NewFile":
        """The same file with fewer tests."""
        return NewFile(self.path, {name: idea for name, idea in self.names.items() if name not in gone}, self.head)

    def text(self, mutants: Mapping[str, Mutant], pinned: bool = True) -> str:
        """As pytest and people read it."""
        chosen = {name: idea for name, idea in self.names.items() if pinned or idea.new.origin != "pinned"}
        return self.head + "".join(_function(name, idea, mutants) for name, idea in chosen.items())


def new_file(source: Path, ideas: Sequence[Idea], scope: Scope, ground: InProject) -> NewFile:
    """A file for the tests of one source, under a name that nobody has."""
    module, _ = ground.import_name()
    path = _free(source, scope)
    lines = imports_for(used_names(idea.new.test for idea in ideas), module, scope.texts[source], scope.test_texts)
    plain = [line for line in lines if line.startswith("import ")]
    rest = [line for line in lines if not line.startswith("import ")]
    imports = "\n\n".join("\n".join(part) for part in (plain, rest) if part)
    title = f'"""Tests of {source.name} for small changes of it that no other test noticed."""'
    return NewFile(path, _named(ideas), f"{title}\n\n{imports}\n")


def _named(ideas: Sequence[Idea]) -> dict[str, Idea]:
    """A name for each test: the function's, and a number."""
    found: dict[str, Idea] = {}
    counts: dict[str, int] = {}
    for idea in sorted(ideas, key=lambda idea: idea.new.origin == "pinned"):
        word = re.sub(r"\W+", "_", idea.spot.function).strip("_").lower()
        counts[word] = counts.get(word, 0) + 1
        found[f"test_{word}_more_{counts[word]}"] = idea
    return found


def _function(name: str, idea: Idea, mutants: Mapping[str, Mutant]) -> str:
    said = [f"line {mutants[key].changed}, {mutants[key].said()}" for key in sorted(idea.new.notices)]
    more = f", and {len(said) - MOST_SAID} more" if len(said) > MOST_SAID else ""
    words = [f"Notices: {one_line('; '.join(said[:MOST_SAID]), MOST_CHARACTERS)}{more}"]
    words = [PINNED if idea.new.origin == "pinned" else f"{idea.new.why[:1].upper()}{idea.new.why[1:]}.", *words]
    comment = "".join(f"    # {line}\n" for line in words)
    body = idea.new.test.replace("\n", "\n    ")
    return f"\n\ndef {name}():\n{comment}    {body}\n"


def _free(source: Path, scope: Scope) -> Path:
    """Beside the tests of the source, and called as they are called."""
    root = scope.project.root
    folder = _folder(source, scope)
    taken = {file.name for place in scope.project.tests for file in _around(root / place).rglob("*.py")}
    taken |= {file.name for file in (root / folder).iterdir()}
    stem = source.parent.name if source.stem == "__init__" else source.stem.strip("_")
    last = sum(file.stem.endswith("_test") for file in scope.test_files) * 2 > len(scope.test_files)
    form = "{}_test.py" if last else "test_{}.py"
    names = (form.format(f"{stem}_more{number}") for number in ["", *(f"_{n}" for n in range(2, 10_000))])
    return folder / next(name for name in names if name not in taken)


def _around(place: Path) -> Path:
    return place if place.is_dir() else place.parent


def _folder(source: Path, scope: Scope) -> Path:
    """Where the test file lies whose name is the source's; else the first that was named."""
    root = scope.project.root
    wanted = {f"test_{source.stem}", f"{source.stem}_test"}
    near = [file.parent for file in scope.test_files if file.stem in wanted]
    first = root / scope.project.tests[0]
    return (near[0] if near else _around(first)).relative_to(root)
