"""The tests of one task: those the user gave, which decide, and those the model wrote, which rank."""

import ast
import hashlib
import re
from collections.abc import Collection, Iterable
from typing import Self

from burnish.events import Case, Frozen, Graded, Outcome, SpecAgreed
from burnish.parsing import try_parse
from burnish.tasks.assemble import offered_names
from burnish.tasks.contradiction import find_contradiction
from burnish.tasks.sentence import FILE_WITH, AskedKinds, find_kinds
from burnish.tasks.task import Task
from burnish.tasks.test_file import name_in_file

_LINE = re.compile(r"line (\d+): ")
_LINE_END = re.compile(r"\r\n?")
_FIXTURE = f'''

@pytest.fixture
def {FILE_WITH}(tmp_path):
    """Makes a file that holds a text, and gives its path."""

    def make(text):
        path = tmp_path / f"{{len(list(tmp_path.iterdir()))}}.txt"
        path.write_text(text, "utf-8")
        return str(path)

    return make
'''
_PAGE_BREAK = re.compile(r"^[ \t\f]*\f", re.MULTILINE)
"""To Python a line begins anew behind it."""


class Suite(Frozen):
    """Test bodies, rendered into one pytest file in which each keeps its own name.

    A given test that comes from the user's own file stays there, and keeps the name it has in it.
    """

    entry_point: str
    given: tuple[str, ...] = ()
    model: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    """Further names of the module that the tests use."""
    file: str = ""
    """The user's own pytest file, which imports `solution`."""
    project: tuple[str, ...] = ()
    """Tests of the project that the code belongs to, by pytest's ids; they decide as given ones do."""

    worded: tuple[str, ...] = ()
    """Read from words of the user's that are no code; each decides once versions written independently pass it."""
    added: tuple[str, ...] = ()
    """Made for changes that went unnoticed; what is right in them several independent versions say, or the task."""
    pinned: tuple[str, ...] = ()
    """Made for changes that went unnoticed; they say what the code does now, so they prove nothing about it."""

    kinds: AskedKinds = ()
    """Whether the task asks for a function or a class, by name: a class in the place of a function is not accepted."""

    files: tuple[tuple[str, str], ...] = ()
    """The files of those tests, each with the hash of what it held when the task was made."""

    @classmethod
    def of(
        cls,
        entry_point: str,
        given: tuple[str, ...],
        model: tuple[str, ...],
        also: Iterable[str] = (),
        file: str = "",
        project: tuple[str, ...] = (),
    ) -> Self:
        """A suite in which each test stands once; one that was given and written again counts as given.

        Of the names in `also`, which the module defines too, those that a test uses are imported.
        """
        own = _without(model, given)
        imports = _find_used(entry_point, (*given, *own), also)
        return cls(entry_point=entry_point, given=given, model=own, imports=imports, file=file, project=project)

    @classmethod
    def for_task(
        cls,
        task: Task,
        spec: SpecAgreed | None,
        written: tuple[str, ...] = (),
        added: tuple[str, ...] = (),
        pinned: tuple[str, ...] = (),
    ) -> Self:
        """All tests of a task: given ones, the project's, what the model wrote, what was added; joined only here."""
        name, given = (spec.entry_point, spec.given_tests) if spec else (task.entry_point or "solve", ())
        # An answer to a question is a given test; it may say something else than what was read from the words.
        meant = [one.test for one in spec.worded if not find_contradiction((*given, one.test))] if spec else ()
        worded = _without(meant, given)
        model = _without((*task.earlier_tests, *written), (*given, *worded))
        more = _without(added, (*given, *worded, *model))
        rest = _without(pinned, (*given, *worded, *model, *more))
        return cls(
            entry_point=name,
            given=given,
            model=model,
            imports=_find_used(name, (*given, *worded, *model, *more, *rest), offered_names(task)),
            file=task.test_file,
            project=task.project_tests,
            worded=worded,
            added=more,
            pinned=rest,
            kinds=find_kinds(task),
            files=task.project_files,
        )

    @property
    def names(self) -> dict[str, str]:
        """From the name of a test function to its body, given ones first; a project's test is called by its id."""
        given = {name_in_file(body) or f"test_given_{place}": body for place, body in enumerate(self.given, 1)}
        project = {test: test for test in self.project}
        made = {"worded": self.worded, "model": self.model, "added": self.added, "pinned": self.pinned}
        rest = {f"test_{kind}_{place}": body for kind, tests in made.items() for place, body in enumerate(tests, 1)}
        return given | project | rest

    def render(self, disputed: tuple[str, ...] = (), module: str = "solution", pinned: bool = True) -> str:
        """The file, for pytest and for people. Disputed tests are shown in it, but not run.

        Without those that are pinned it is what may speak for the code.
        """
        parts = self._parts(disputed, pinned)
        bodies = [body for part in parts.values() for body in part.values()]
        needs_file = any(f"{FILE_WITH}(" in body for body in bodies)
        imports = "import pytest\n" if needs_file or any("pytest." in body for body in bodies) else ""
        imports += f"from {module} import {', '.join((self.entry_point.partition('.')[0], *self.imports))}\n"
        inside = imports if self.file else ""  # a name may mean something else in the user's file
        text = [self.file or imports, *([("import pytest\n" if self.file else "") + _FIXTURE] if needs_file else [])]
        for title, part in parts.items():
            text += [f"\n\n# {title}\n"] if part else []
            for name, body in part.items():
                # No line of the body may lead out of its function.
                lines = _PAGE_BREAK.sub("", _LINE_END.sub("\n", inside + body)).replace("\n", "\n    ")
                needed = FILE_WITH if f"{FILE_WITH}(" in body else ""
                text.append(f"\n\ndef {name}({needed}):\n    {lines}\n")
        for title, bodies in self.set_aside(disputed).items():
            comments = ["# " + line + "\n" for body in bodies for line in body.splitlines()]
            text += [f"\n\n# Disputed, and therefore not run: {title}.\n", *comments]
        return "".join(text)

    def set_aside(self, disputed: tuple[str, ...]) -> dict[str, list[str]]:
        """Tests that are set aside, by why that was done."""
        rest = [test for test in disputed if test not in (*self.worded, *self.added, *self.pinned)]
        kinds = {
            "these were read from your words, and versions speak against them": self.worded,
            "the model wrote these, and good versions fail them": rest,
            "these were added later, and the code that was chosen does not pass them all": self.added,
            "these are pinned to what the code did, and it fails them now": self.pinned,
        }
        found = {title: [test for test in disputed if test in tests] for title, tests in kinds.items()}
        return {title: tests for title, tests in found.items() if tests}

    def _parts(self, disputed: tuple[str, ...], pinned: bool) -> dict[str, dict[str, str]]:
        """The tests that are run from our own file, by the words that stand above them."""
        wanted = {
            "From your own examples: these decide.": [test for test in self.given if not name_in_file(test)],
            "Read from your words: each decides once versions that were written independently pass it.": self.worded,
            "Written by the model: these rank versions, they do not decide.": self.model,
            "Added for small changes of the code that no test noticed; independent versions agree on them.": self.added,
            "Pinned: these say what the code does now, and prove nothing about what it should do.": (
                self.pinned if pinned else ()
            ),
        }
        return {
            title: {name: body for name, body in self.names.items() if body in tests and body not in disputed}
            for title, tests in wanted.items()
        }

    @property
    def sha256(self) -> str:
        """A hash over all tests as they are run; of a project's own, their ids and the content of their files."""
        whole = "\n".join((self.render(), *self.project, *map(" ".join, self.files)))
        return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()

    def script(self, *, given_only: bool = True) -> str:
        """The given tests, or all, as a script of asserts, judged many times faster than pytest's file; empty where one
        of them is more than a plain assert.
        """
        tests = self.given if given_only else tuple(self.names.values())
        is_plain = all(read_assert(body) and "pytest" not in body and f"{FILE_WITH}(" not in body for body in tests)
        if not tests or self.file or self.project or not is_plain:
            return ""
        imports = f"from solution import {', '.join((self.entry_point.partition('.')[0], *self.imports))}\n"
        return imports + "".join(body + "\n" for body in tests)

    def name_cases(self, graded: Graded) -> Graded:
        """The verdict on the script, with each case called what it is called in the file."""
        lines = self._lines
        named = [(at_line, case) for case in graded.cases if (at_line := _LINE.match(case.name))]
        cases = [case.model_copy(update={"name": lines[int(line[1])]}) for line, case in named if int(line[1]) in lines]
        return graded.model_copy(update={"cases": tuple(cases)}) if len(cases) == len(graded.cases) else graded

    def outcomes(self, graded: Graded) -> dict[str, Outcome]:
        """What each test body got, from the file or from the script; one that is missing was not run.

        Of a test with parameters every case must pass.
        """
        found, outcomes = self._by_name(graded), dict[str, Outcome]()
        for name, body in self.names.items():
            said = {case.outcome for case in found.get(name, ())}
            outcomes[body] = "failed" if "failed" in said else "passed" if said == {"passed"} else "not_run"
        return outcomes

    def failures(self, graded: Graded) -> dict[str, str]:
        """For each test body that did not pass: what its first failing case said."""
        found = self._by_name(graded)
        failed = {name: [case for case in cases if case.outcome != "passed"] for name, cases in found.items()}
        return {body: failed[name][0].message for name, body in self.names.items() if failed.get(name)}

    @property
    def _lines(self) -> dict[int, str]:
        """From the line of the script on which a test begins to its name."""
        lines, line = {}, 2
        for name, body in self.names.items():
            lines[line] = name
            line += body.count("\n") + 1
        return lines

    def _by_name(self, graded: Graded) -> dict[str, list[Case]]:
        lines = self._lines
        found: dict[str, list[Case]] = {}
        for case in graded.cases:
            at_line = _LINE.match(case.name)
            name = lines.get(int(at_line[1]), "") if at_line else case.name.split("[")[0].removeprefix("tests.py::")
            name = case.name if case.name in self.project else name
            found.setdefault(name if name in self.names else name.rsplit("::", 1)[-1], []).append(case)
        return found


def _without(tests: Iterable[str], known: Collection[str]) -> tuple[str, ...]:
    """Each test once, and none that is known."""
    return tuple(test for test in dict.fromkeys(tests) if test not in known)


def _find_used(entry_point: str, tests: Iterable[str], also: Iterable[str]) -> tuple[str, ...]:
    """Which of the other names tests speak of."""
    words = set(re.findall(r"[^\W\d]\w*", "\n".join(tests)))
    return tuple(name for name in dict.fromkeys(also) if name in words and name != entry_point)


def read_assert(test: str) -> ast.Assert | None:
    """The assertion that a test is, where that is all it does."""
    tree = try_parse(test)
    node = tree.body[0] if tree and len(tree.body) == 1 else None
    return node if isinstance(node, ast.Assert) else None
