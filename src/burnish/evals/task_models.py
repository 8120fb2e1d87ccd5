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
USUAL_ENGINES = {"local": "llama.cpp", "huggingface": "Transformers", "scripted": "script"}


def open_task_model(name: str, progress: Progress | None = None) -> Model:
    """The model behind a name, also behind the two that only an evaluation knows."""
    return ScriptedModel([], name) if name in (GOLD, BUGGY) else open_model(name, progress)


def name_engine(model: Model) -> str:
    """What computes the answers: the model's own word for it, or the usual one for its provider.

    Tables name it, because the same weights answer differently on another engine.
    """
    provider = model.name.partition(":")[0]
    return str(getattr(model, "engine", "") or USUAL_ENGINES.get(provider, provider))


def model_for_task(task: Task, model: Model) -> Model:
    """Who answers in one attempt at this task. A script begins anew, so that no attempt depends on another."""
    if not isinstance(model, ScriptedModel):
        return model
    if model.name not in (GOLD, BUGGY):
        return model.afresh()
    signature = task.signature if "(" in task.signature else f"{task.entry_point}(*args, **kwargs)"
    wrong = task.base_code or f"{task.prelude.rstrip()}\n\n\ndef {signature}:\n    pass\n".lstrip()
    code = task.gold if model.name == GOLD else wrong
    replies = {"": [fence_code(code, "python")] if code else []}  # a row without gold has no answer, and says so
    if task.visible_tests:
        replies["tests"] = [fence_code("\n".join(task.visible_tests), "python")]
    return ScriptedModel(replies, model.name, whole=True)
