"""What is asked for. A task is data: it holds no opinion on how it is solved."""

from typing import Annotated, Literal

from pydantic import Field

from burnish.events import Frozen

Split = Literal["user", "train", "tune", "calibrate", "eval"]
EvalSplit = Literal["eval", "tune", "calibrate"]
"""What can be measured on. `calibrate` is what a confidence may be fitted on; it holds `tune`."""
NO_WORDS = "The function {name} does not do what it should. Repair it."
"""The prompt of a task that nobody described."""


class Task(Frozen):
    """One thing to write.

    `hidden_tests` and `gold` never reach a prompt: they only score. `split` says what may be learnt from it.
    """

    id: str
    prompt: str
    language: Literal["python", "javascript"] = "python"
    """What the code is to be written in. Only Python can be run as yet."""
    entry_point: str = ""
    """Name of the function or class to write; empty when the words do not say."""
    also: tuple[str, ...] = ()
    """Further names that the module must define."""
    signature: str = ""
    """As the user wrote it, e.g. "roman(n)"; empty when the words do not say."""
    visible_tests: tuple[str, ...] = ()
    """Test bodies that decide: from the user's examples, or given as such."""
    test_file: str = ""
    """The user's own pytest file, its import of the module turned into one of `solution`; runs as a whole."""
    module: Annotated[str, Field(pattern=r"^(?:[^\W\d]\w*(?:\.[^\W\d]\w*)*)?$")] = ""
    """What that file calls the module; empty where any name will do. The delivered file is named after it."""
    assume: bool = False
    """Whether the model is asked what to take for granted where the words leave something open."""
    own_tests: bool = True
    """Whether the model writes tests too; they rank versions, and are part of what is handed over."""
    earlier_tests: tuple[str, ...] = ()
    """Model-made tests of the run this one goes on from."""
    base_code: str = ""
    """The code this task goes on from: a whole module, with the bug where something is to be repaired."""
    broken: bool = False
    """Whether `base_code` is known to do something wrong; else it is only what this task goes on from."""
    project_tests: tuple[str, ...] = ()
    """Tests of the project that the code belongs to, by pytest's ids: all that decide."""
    project_files: tuple[tuple[str, str], ...] = ()
    """The files of those tests as they were when the task was made: path below the project's root, sha256."""
    failing_tests: tuple[tuple[str, str], ...] = ()
    """Those of them that fail as long as nothing is repaired, by id, with their source cut short; prompts show it."""
    suspects: tuple[str, ...] = ()
    """Further functions of `base_code` that may hold the bug, likeliest first; dotted names for methods."""
    guidance: str = ""
    """What the project asks of its code, cut short; the prompt for a repair shows it."""
    packages: tuple[str, ...] = ()
    """Packages that the user wants to be used; the prompts name them."""
    named: tuple[str, ...] = ()
    """Those of them that the user asked for by name, and no code of an earlier run."""
    prelude: str = ""
    """Imports and helpers that stand above the function to write; part of the module it is judged in."""
    hidden_tests: str = ""
    """The tests that score: a pytest file or a script of asserts."""
    gold: str = ""
    """A whole module that solves the task."""
    bug: str = ""
    """For a planted bug: what kind it is."""
    split: Split = "user"

    @property
    def described(self) -> bool:
        """Whether the words say what the code should do; where they do not, only tests know."""
        return self.prompt.strip() != NO_WORDS.format(name=self.entry_point)
