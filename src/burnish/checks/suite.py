"""The tests of one task: those the user gave, which decide, and those the model wrote, which rank."""

from typing import Self

from burnish.events import Case, Frozen, Graded, Outcome


class Suite(Frozen):
    """Test bodies, rendered into one pytest file in which each keeps its own name."""

    entry_point: str
    given: tuple[str, ...] = ()
    model: tuple[str, ...] = ()
    project: tuple[str, ...] = ()
    """Tests of the project that the code belongs to, by pytest's ids; they decide as given ones do."""

    @classmethod
    def of(
        cls, entry_point: str, given: tuple[str, ...], model: tuple[str, ...], project: tuple[str, ...] = ()
    ) -> Self:
        """A suite in which each test stands once; one that was given and written again counts as given."""
        own = tuple(test for test in dict.fromkeys(model) if test not in given)
        return cls(entry_point=entry_point, given=given, model=own, project=project)

    @property
    def names(self) -> dict[str, str]:
        """From the name of a test function to its body, given ones first; a project's test is called by its id."""
        given = {f"test_given_{place}": body for place, body in enumerate(self.given, 1)}
        project = {test: test for test in self.project}
        return given | project | {f"test_model_{place}": body for place, body in enumerate(self.model, 1)}

    def render(self, disputed: tuple[str, ...] = ()) -> str:
        """The file, for pytest and for people. Disputed tests are shown in it, but not run."""
        kept = [body for body in self.model if body not in disputed]
        parts = ["import pytest\n" if "pytest." in "".join((*self.given, *kept)) else ""]
        parts.append(f"from solution import {self.entry_point.partition('.')[0]}\n")
        if self.given:
            parts.append("\n\n# From your own examples: these decide.\n")
        parts += [_function(name, body) for name, body in self.names.items() if name.startswith("test_given")]
        if kept:
            parts.append("\n\n# Written by the model: these rank versions, they do not decide.\n")
        parts += [_function(n, b) for n, b in self.names.items() if n.startswith("test_model") and b in kept]
        if disputed:
            parts.append(
                "\n\n# Disputed, and therefore not run: the model wrote these, and most good versions fail them.\n"
            )
        parts += ["# " + body.replace("\n", "\n# ") + "\n" for body in disputed]
        return "".join(parts)

    def outcomes(self, graded: Graded) -> dict[str, Outcome]:
        """What each test body got; one that is missing from the result was not run."""
        said = self.cases(graded)
        return {body: said[body].outcome if body in said else "not_run" for body in self.names.values()}

    def cases(self, graded: Graded) -> dict[str, Case]:
        """What each test body said; one that is missing from the result said nothing."""
        project = set(self.project)
        by_name = {case.name if case.name in project else case.name.rsplit("::", 1)[-1]: case for case in graded.cases}
        return {body: by_name[name] for name, body in self.names.items() if name in by_name}


def _function(name: str, body: str) -> str:
    indented = body.replace("\n", "\n    ")
    return f"\n\ndef {name}():\n    {indented}\n"
