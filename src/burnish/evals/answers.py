"""Models for whom each attempt is a world of its own: scripts, which start afresh, and those that know the answers.

`scripted:gold` gives every task its reference solution and `scripted:buggy` its bug: what they score says whether the
suite and the grader are sound.
"""

from burnish.models.model import Model, Progress
from burnish.models.names import open_model
from burnish.models.scripted import KNOWS_TASKS, ScriptedModel
from burnish.tasks.task import Task
from burnish.text import fence_code

GOLD, BUGGY = (f"scripted:{name}" for name in KNOWS_TASKS)


def opened(name: str, progress: Progress | None = None) -> Model:
    """The model behind a name, also behind the two that only an evaluation knows."""
    return ScriptedModel([], name) if name in (GOLD, BUGGY) else open_model(name, progress)


def model_for(task: Task, model: Model) -> Model:
    """Who answers in one attempt at this task. A script begins anew, so that no attempt depends on another."""
    if not isinstance(model, ScriptedModel):
        return model
    if model.name not in (GOLD, BUGGY):
        return model.afresh()
    code = task.gold if model.name == GOLD else task.base_code or _stub(task)
    replies = {"": [fence_code(code, "python")] if code else []}  # a row without gold has no answer, and says so
    if task.visible_tests:
        replies["tests"] = [fence_code("\n".join(task.visible_tests), "python")]
    return ScriptedModel(replies, model.name, whole=True)


def _stub(task: Task) -> str:
    """Code that is surely wrong, where the task has no buggy one."""
    signature = task.signature if "(" in task.signature else f"{task.entry_point}(*args, **kwargs)"
    return f"{task.prelude.rstrip()}\n\n\ndef {signature}:\n    pass\n".lstrip()
