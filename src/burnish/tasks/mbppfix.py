"""MBPP and MBPP+ with planted bugs, so that repair can be tuned and reported without HumanEvalFix.

Three variants: `docs` (a docstring and the first assertion), `tests` (no word of what it should do, and the first
assertion that fails), `file` (as `docs`, inside a file of five functions). All assertions score. With MBPP+ its inputs
score, `docs` shows the first assertion that fails where one does, and there is no `file`.
"""

import ast
import builtins
import hashlib
from collections.abc import Collection, Sequence

from burnish.events import Frozen
from burnish.parsing import parse
from burnish.tasks.bug_planting import find_function, pick_number
from burnish.tasks.source import IMPORTS, find_bound_names
from burnish.tasks.task import NO_WORDS, Task

VARIANTS = ("docs", "tests", "file")
NEIGHBOURS = 4
LONGEST_LINES = 25


class PlantedBug(Frozen):
    """A bug that was proven: the reference passes the tests and this module does not."""

    id: str
    code: str
    bug: str
    failing: int | None
    """Number of the first assertion that fails, from 0; None where only inputs that are never shown tell."""
    neighbours: tuple[str, ...] = ()
    """Tasks whose functions share a file with this one; each still passes its own tests there."""


def as_docs(task: Task, planted: PlantedBug) -> Task:
    """The task with its description in a docstring."""
    return _repair_task(task, planted, with_docstring(planted.code, task), with_docstring(task.gold, task))


def as_tests(task: Task, planted: PlantedBug, asserts: str = "") -> Task:
    """The task without a word of what the function should do, and with the first of the asserts that fails."""
    buggy, gold = (with_docstring(code, task, wanted=False) for code in (planted.code, task.gold))
    bare = _repair_task(task, planted, buggy, gold)
    test = find_failing(task, planted, asserts or task.hidden_tests)
    return bare.model_copy(update={"prompt": NO_WORDS.format(name=task.entry_point), "visible_tests": (test,)})


def find_failing(task: Task, planted: PlantedBug, asserts: str) -> str:
    """The first of these assertions that the bug fails, as a test of its own; the one that is shown if none fails."""
    first = task.visible_tests[0]
    if planted.failing is None:
        return first
    preparation = "\n".join(first.split("\n")[: parse(first).body[-1].lineno - 1])
    nodes = [node for node in parse(asserts).body if isinstance(node, ast.Assert)]
    body = ast.get_source_segment(asserts, nodes[planted.failing]) or ""
    return f"{preparation}\n{body}" if preparation else body


def as_file(task: Task, planted: PlantedBug, around: Sequence[Task]) -> Task:
    """The task inside a file with other functions."""
    buggy = build_file(with_docstring(planted.code, task), around, task.id)
    return _repair_task(task, planted, buggy, build_file(with_docstring(task.gold, task), around, task.id))


def _repair_task(task: Task, planted: PlantedBug, base: str, gold: str) -> Task:
    name = task.id.replace("-", "fix-")
    takes = ast.unparse(find_function(parse(base), task.entry_point).args)
    found = {"id": name, "signature": f"{task.entry_point}({takes})", "base_code": base, "gold": gold}
    return task.model_copy(update={**found, "bug": planted.bug})


def with_docstring(code: str, task: Task, *, wanted: bool = True) -> str:
    """The module with the task's text as the docstring of its function, or with none; comments go with the tidying."""
    tree = parse(code)
    function = find_function(tree, task.entry_point)
    described = ast.get_docstring(function) is not None
    if wanted and not described:
        function.body.insert(0, ast.Expr(ast.Constant(task.prompt)))
    elif described and not wanted:
        function.body = function.body[1:] or [ast.Pass()]
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def pick_neighbours(task: Task, others: Sequence[Task], avoid: Collection[str] = ()) -> list[Task]:
    """Four other references that can share a file with this one: single functions whose names nobody else uses."""
    order = sorted(others, key=lambda other: hashlib.sha256(f"{task.id} {other.id}".encode()).digest())
    taken = _names_bound_by(task.gold)
    found: list[Task] = []
    for other in order:
        if len(found) < NEIGHBOURS and other.id not in (task.id, *avoid) and _fits(other, taken):
            found.append(other)
            taken |= _names_bound_by(other.gold)
    return found


def build_file(code: str, around: Sequence[Task], name: str) -> str:
    """One module: all imports on top, the functions below, this one at a place that belongs to `name`."""
    modules = [with_docstring(other.gold, other) for other in around]
    modules.insert(pick_number(name, len(around) + 1), code)
    nodes = [node for module in modules for node in parse(module).body]
    head = "\n".join(dict.fromkeys(ast.unparse(node) for node in nodes if isinstance(node, IMPORTS)))
    rest = [ast.unparse(node) for node in nodes if not isinstance(node, IMPORTS)]
    return "\n\n\n".join([head, *rest] if head else rest) + "\n"


def _names_bound_by(code: str) -> set[str]:
    """What a module binds: an import by its text, since two modules may share it, anything else by its name."""
    nodes = parse(code).body
    imported = {ast.unparse(node) for node in nodes if isinstance(node, IMPORTS)}
    return imported.union(*(find_bound_names(node) for node in nodes))


def _fits(other: Task, taken: set[str]) -> bool:
    nodes = parse(other.gold).body
    imports = [node for node in nodes if isinstance(node, IMPORTS)]
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
    if len(functions) != 1 or len(nodes) != len(imports) + 1 or other.gold.count("\n") > LONGEST_LINES:
        return False
    fresh = [node for node in imports if ast.unparse(node) not in taken]
    names = {other.entry_point}.union(*(find_bound_names(node) for node in fresh))
    return "*" not in names and not names & taken and not hasattr(builtins, other.entry_point)
