"""The names that a task's module has beside the one to write: tests may lean on them."""

from burnish.tasks.assemble import names_of
from burnish.tasks.syntax import parsed
from burnish.tasks.task import Task


def offered_names(task: Task) -> tuple[str, ...]:
    """Further names to write, and what the task's own code binds at its top level, in order and each once."""
    found = list(task.also)
    for text in (task.prelude, task.base_code):
        module = parsed(text)
        for node in module.body if module else []:
            found += sorted(name for name in names_of(node) if name != "*")
    return tuple(dict.fromkeys(name for name in found if name not in {task.entry_point, "annotations"}))
