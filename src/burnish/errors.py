"""The vocabulary of failure: who is to blame, said once.

    BurnishError
    ├── SetupProblem        the user can fix it: one paragraph that ends with what to do; exit code 2
    └── AttemptError        this attempt broke: recorded on the run, its siblings go on
        ├── ModelError      the model or its server
        │   ├── PromptTooLong   it has no room for an answer to this prompt
        │   └── NotBySchema     its answer is not the data that was asked for (`json_schema.py`)
        ├── SandboxError    the place where code runs
        ├── CheckError      a tool that judges
        └── TaskError       what was asked for

Anything else that is raised is our bug: it is recorded, then raised again.
Reaching a limit is not an error; it is a `Stopped` event.
"""

from collections.abc import Iterator
from contextlib import contextmanager


class BurnishError(Exception):
    """Base of everything Burnish raises on purpose."""


class SetupProblem(BurnishError):
    """Something the user can put right. The message is one paragraph and ends with the line to type.

    `type_this` is that line by itself, for those who show it apart; where it is given, it follows on what is said.
    """

    def __init__(self, said: str, type_this: str = "") -> None:
        super().__init__(f"{said}: {type_this}" if type_this else said)
        self.said, self.type_this = said, type_this


class AttemptError(BurnishError):
    """One attempt could not be finished; other attempts are not affected."""


class ModelError(AttemptError):
    """The model, or the server that runs it, did not answer as a model should."""

    may_cost = False
    """Whether what it did write may have to be paid for."""


class PromptTooLong(ModelError):
    """The prompt leaves no room for an answer in the model's context."""


class SandboxError(AttemptError):
    """The cell could not run the job; says nothing about the code that was to run."""


class CheckError(AttemptError):
    """A checking tool crashed; its evidence is then "not run"."""


class TaskError(AttemptError):
    """The task itself cannot be worked on."""


@contextmanager
def blame(kind: type[AttemptError], doing: str) -> Iterator[None]:
    """Give a stray exception a name and keep its cause; one that already has a name passes through."""
    try:
        yield
    except BurnishError:
        raise
    except Exception as error:
        raise kind(f"{doing}: {type(error).__name__}: {error}") from error
