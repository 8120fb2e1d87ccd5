"""MBPP with planted bugs, so that repair can be tuned and reported without HumanEvalFix.

Three variants: `docs` (a docstring and the first assertion), `tests` (no word of what it should do, and the first
assertion that fails), `file` (as `docs`, inside a file of five functions). All assertions score.
"""

import ast
import builtins
import hashlib
from collections.abc import Collection, Sequence

from burnish.events import Frozen
from burnish.parsing import parse
from burnish.tasks.assemble import IMPORTS, names_of
from burnish.tasks.plant import chosen, function_of
from burnish.tasks.task import NO_WORDS, Task

VARIANTS = ("docs", "tests", "file")
NEIGHBOURS = 4
LONGEST_LINES = 25


class Planted(Frozen):
    """A bug that was proven: the reference passes the tests and this module does not."""

    id: str
    code: str
    bug: str
    failing: int
    """Number of the first assertion that fails, from 0."""
    neighbours: tuple[str, ...] = ()
    """Tasks whose functions share a file with this one; each still passes its own tests there."""


def as_docs(task: Task, planted: Planted) -> Task:
    """The task with its description in a docstring."""
    return _fix(task, planted, with_words(planted.code, task), with_words(task.gold, task))


def as_tests(task: Task, planted: Planted) -> Task:
    """The task without a word of what the function should do, and with a test that fails."""
    bare = _fix(task, planted, without_words(planted.code, task), without_words(task.gold, task))
    shown = _shown_tests(task)[planted.failing]
    return bare.model_copy(update={"prompt": NO_WORDS.format(name=task.entry_point), "visible_tests": (shown,)})


def as_file(task: Task, planted: Planted, around: Sequence[Task]) -> Task:
    """The task inside a file with other functions."""
    buggy = file_of(with_words(planted.code, task), around, task.id)
    return _fix(task, planted, buggy, file_of(with_words(task.gold, task), around, task.id))


def with_words(code: str, task: Task) -> str:
    """The module with the task's text as the docstring of its function."""
    tree = parse(code)
    function = function_of(tree, task.entry_point)
    if ast.get_docstring(function) is None:
        function.body.insert(0, ast.Expr(ast.Constant(task.prompt)))
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def without_words(code: str, task: Task) -> str:
    """The module without the docstring of its function; comments go with the tidying."""
    tree = parse(code)
    function = function_of(tree, task.entry_point)
    if ast.get_docstring(function) is not None:
        function.body = function.body[1:] or [ast.Pass()]
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def neighbours(task: Task, others: Sequence[Task], avoid: Collection[str] = ()) -> list[Task]:
    """Four other references that can share a file with this one: single functions whose names nobody else uses."""
    order = sorted(others, key=lambda other: hashlib.sha256(f"{task.id} {other.id}".encode()).digest())
    taken = _bound(task.gold)
    found: list[Task] = []
    for other in order:
        if len(found) < NEIGHBOURS and other.id not in (task.id, *avoid) and _fits(other, taken):
            found.append(other)
            taken |= _bound(other.gold)
    return found


def file_of(code: str, around: Sequence[Task], name: str) -> str:
    """One module: all imports on top, the functions below, this one at a place that belongs to `name`."""
    modules = [with_words(other.gold, other) for other in around]
    modules.insert(chosen(name, len(around) + 1), code)
    trees = [parse(module) for module in modules]
    imports = [ast.unparse(node) for tree in trees for node in tree.body if isinstance(node, IMPORTS)]
    rest = [ast.unparse(node) for tree in trees for node in tree.body if not isinstance(node, IMPORTS)]
    head = "\n".join(dict.fromkeys(imports))
    return "\n\n\n".join([head, *rest] if head else rest) + "\n"


def _fix(task: Task, planted: Planted, base: str, gold: str) -> Task:
    name = task.id.replace("mbpp-", "mbppfix-")
    takes = ast.unparse(function_of(parse(base), task.entry_point).args)
    found = {"id": name, "signature": f"{task.entry_point}({takes})", "base_code": base, "gold": gold}
    return task.model_copy(update={**found, "bug": planted.bug})


def _shown_tests(task: Task) -> list[str]:
    """Every assertion as a test body that stands on its own."""
    first = task.visible_tests[0]
    preparation = "\n".join(first.split("\n")[: parse(first).body[-1].lineno - 1])
    asserts = [node for node in parse(task.hidden_tests).body if isinstance(node, ast.Assert)]
    bodies = [ast.get_source_segment(task.hidden_tests, node) or "" for node in asserts]
    return [f"{preparation}\n{body}" if preparation else body for body in bodies]


def _bound(code: str) -> set[str]:
    """What a module binds: an import by its text, since two modules may share it, anything else by its name."""
    nodes = parse(code).body
    imported = {ast.unparse(node) for node in nodes if isinstance(node, IMPORTS)}
    return imported.union(*(names_of(node) for node in nodes))


def _fits(other: Task, taken: set[str]) -> bool:
    nodes = parse(other.gold).body
    imports = [node for node in nodes if isinstance(node, IMPORTS)]
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
    if len(functions) != 1 or len(nodes) != len(imports) + 1 or other.gold.count("\n") > LONGEST_LINES:
        return False
    fresh = [node for node in imports if ast.unparse(node) not in taken]
    names = {other.entry_point}.union(*(names_of(node) for node in fresh))
    return "*" not in names and not names & taken and not hasattr(builtins, other.entry_point)
