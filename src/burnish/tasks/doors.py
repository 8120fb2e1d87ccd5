"""Where a test can get at a function: by its own name, or through those of its module that use it."""

import ast
from collections.abc import Sequence

from burnish.tasks.definitions import Definition, all_functions
from burnish.tasks.syntax import parsed


def doors_of(text: str, function: str, tests: Sequence[str]) -> list[str]:
    """The names to call it by: its own; of one that is private and no test speaks of, public ones that lead to it.

    Those that tests speak of come first; of these, those that lead there by fewer steps.
    """
    last = function.rpartition(".")[2]
    if not is_private(function) or any(last in test for test in tests):
        return [function]
    module = parsed(text)
    functions = all_functions(module) if module else {}
    found, step = [], [function]
    seen = {function}
    while step:
        above = [name for name, node in functions.items() if name not in seen and _uses(node, step)]
        found += [name for name in above if not is_private(name)]
        seen |= {*above}
        step = [name for name in above if is_private(name)]
    spoken = {name for name in found if any(name.rpartition(".")[2] in test for test in tests)}
    return sorted(found, key=lambda name: name not in spoken)


def is_private(function: str) -> bool:
    """Whether it, or its class, is named with an underscore; `__init__` and its like are part of what is offered."""
    return any(part.startswith("_") and not part.endswith("__") for part in function.split("."))


def _uses(node: Definition, functions: Sequence[str]) -> bool:
    wanted = {name.rpartition(".")[2] for name in functions}
    wanted |= {name.partition(".")[0] for name in functions}
    parts = list(ast.walk(node))
    named = {part.id for part in parts if isinstance(part, ast.Name)}
    return bool(wanted & (named | {part.attr for part in parts if isinstance(part, ast.Attribute)}))
