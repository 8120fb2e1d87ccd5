"""What a run delivers beside its code, read from its record: the task, its module's name, and its file of tests."""

import re

from pydantic import ValidationError

from burnish.checks.suite import Suite
from burnish.errors import SetupProblem
from burnish.events import RunSettings
from burnish.events.history import Run
from burnish.tasks.task import Task


def read_task(run: Run) -> Task:
    """The task of a run, without what only scores it; of an old record, what there is.

    Raises SetupProblem if the record holds something else in its place.
    """
    known = RunSettings.merge(run.started.settings).task
    fields = {name: value for name, value in known.items() if name in Task.model_fields}
    try:
        return Task.model_validate({"id": run.id, "prompt": run.started.prompt, **fields})
    except ValidationError as error:
        raise SetupProblem(
            f"The record of run {run.id!r} has been altered: its task cannot be read ({error.errors()[0]['msg']}). "
            f"See the rest of it with: burnish show {run.id} --json"
        ) from error


def read_suite(run: Run) -> Suite:
    """The tests of a run as one suite."""
    return Suite.for_task(read_task(run), run.spec, run.model_tests, run.added_tests, run.pinned_tests)


def read_module_name(run: Run) -> str:
    """What the module is called where it is delivered."""
    return read_task(run).module or "solution"


def render_tests(run: Run) -> str:
    """The text of the test file that is delivered."""
    return render_suite(read_suite(run), run.disputed, read_module_name(run))


def render_suite(suite: Suite, disputed: tuple[str, ...], module: str) -> str:
    """A suite as the file that is delivered beside its module. The user's own file imports the module by its name."""

    def rename_import(match: re.Match[str]) -> str:
        alias = match[2] or ""
        return match[1] + module + ("" if alias.split()[-1:] == [module] else alias)

    own = re.sub(r"(\b(?:from|import)\s+)solution\b(\s+as\s+\w+)?", rename_import, suite.file)
    return suite.model_copy(update={"file": own}).render(disputed, module)
