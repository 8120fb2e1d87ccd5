"""Bugs to plant: every small change of a function that could make it wrong, and tasks to repair those that do.

The same task gives the same candidates in the same order on every machine: the order comes from a hash of its name. The
kinds are named as HumanEvalPack names its bugs. Whether a change is a bug is not decided here: only running it tells.

MBPP and MBPP+ with such bugs let repair be tuned and reported without HumanEvalFix. Three variants: `docs` (a docstring
and the first assertion), `tests` (no word of what it should do, and the first assertion that fails), `file` (as `docs`,
inside a file of five functions). All assertions score. With MBPP+ its inputs score, `docs` shows the first assertion
that fails where one does, and there is no `file`.
"""

import ast
import builtins
import copy
import hashlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from burnish.events import Frozen
from burnish.parsing import parse, parse_expression, try_parse
from burnish.tasks.source import IMPORTS, find_bound_names, find_local_names
from burnish.tasks.task import NO_WORDS, Task

PLANT_VERSION = 1
"""Raise it when the same task would get another bug."""
SHARES = {
    "value misuse": 44,
    "missing logic": 33,
    "excess logic": 31,
    "operator misuse": 25,
    "variable misuse": 23,
    "function misuse": 8,
}
"""How often each kind of bug should come first: as often as in HumanEvalPack."""
A_TURN = 6
"""Candidates of one kind that are tried before the next kind has its turn."""
COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
COMPUTED: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Add, ast.Pow),
    ast.Div: (ast.FloorDiv, ast.Mult),
    ast.FloorDiv: (ast.Div, ast.Mod),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.LShift: (ast.RShift,),
    ast.RShift: (ast.LShift,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd, ast.BitXor),
    ast.BitXor: (ast.BitAnd, ast.BitOr),
}
CONFUSED = (
    "min max|any all|upper lower|startswith endswith|lstrip rstrip|floor ceil|sin cos|find rfind|isdigit isalpha|"
    "isupper islower|match search|union intersection|keys values|sum len|nlargest nsmallest|append extend|set list|"
    "combinations permutations|int round|abs int|sorted list|heappush heappop|bisect_left bisect_right|"
    "remove discard|index count|join split|capitalize title|degrees radians|search fullmatch|divmod pow|zip product"
)
"""Functions that people take for one another."""
TWINS: dict[str, list[str]] = {}
for _pair in CONFUSED.split("|"):
    _one, _other = _pair.split()
    TWINS.setdefault(_one, []).append(_other)
    TWINS.setdefault(_other, []).append(_one)
WRAPPERS = {"abs", "set", "sorted", "list", "int", "str", "float", "round", "tuple", "sum", "reversed"}
VARIANTS = ("docs", "tests", "file")
NEIGHBOURS = 4
LONGEST_LINES = 25

Change = Callable[[ast.AST], None]
"""Changes the node that it is given."""
NodeEdit = tuple[str, Change]
"""One way to change one node: the kind of bug it makes, and the change itself."""
Spot = tuple[int, int, str]
"""The node's number, the edit's number at that node, and the kind of bug it makes."""


@dataclass(frozen=True)
class BugCandidate:
    """A module with one change in its function."""

    code: str
    bug: str


class PlantedBug(Frozen):
    """A bug that was proven: the reference passes the tests and this module does not."""

    id: str
    code: str
    bug: str
    failing: int | None
    """Number of the first assertion that fails, from 0; None where only inputs that are never shown tell."""
    neighbours: tuple[str, ...] = ()
    """Tasks whose functions share a file with this one; each still passes its own tests there."""


def propose_bugs(code: str, entry_point: str, name: str) -> Iterator[BugCandidate]:
    """Every distinct change of a module, the kinds of bug in turns, in the order that belongs to `name`."""
    tree = parse(code)
    function = find_function(tree, entry_point)
    variables = sorted(find_local_names(function))
    nodes = enumerate(ast.walk(function))
    spots = [(at, number, bug) for at, node in nodes for number, (bug, _) in enumerate(edit_node(node, variables))]
    seen = {normalise_code(code), ""}
    for place, number, bug in _take_turns(spots, name):
        changed = copy.deepcopy(tree)
        target = list(ast.walk(find_function(changed, entry_point)))[place]
        _, change = list(edit_node(target, variables))[number]
        change(target)
        text = ""
        with suppress(ValueError, TypeError, AttributeError):  # not every changed tree is Python
            text = ast.unparse(ast.fix_missing_locations(changed)) + "\n"
        if text not in seen and try_parse(text):
            seen.add(text)
            yield BugCandidate(text, bug)


def normalise_code(code: str) -> str:
    """The module as Python itself would write it, so that a planted bug is the only difference."""
    return ast.unparse(parse(code)) + "\n"


def pick_number(name: str, below: int) -> int:
    """A number below a limit that belongs to a name."""
    return int(_chance(name, "place") * below)


def find_function(tree: ast.Module, name: str) -> ast.FunctionDef:
    """The last definition of a function: the one that counts."""
    return [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name][-1]


def _take_turns(spots: list[Spot], name: str) -> list[Spot]:
    """A few of the first kind, a few of the next, and so on; which kind is first is drawn by the shares."""
    kinds = sorted(SHARES, key=lambda bug: _chance(name, bug) ** (1 / SHARES[bug]), reverse=True)
    turns = []
    for rank, bug in enumerate(kinds):
        own = sorted((spot for spot in spots if spot[2] == bug), key=lambda spot: _chance(name, repr(spot)))
        turns += [((place // A_TURN, rank, place), spot) for place, spot in enumerate(own)]
    return [spot for _, spot in sorted(turns)]


def _chance(*parts: str) -> float:
    """A number from 0 to 1 that belongs to these texts."""
    return int.from_bytes(hashlib.sha256("\0".join(parts).encode()).digest()[:8], "big") / 2**64


def change_operators(node: ast.AST, variables: list[str]) -> Iterator[Change]:
    """Another comparison, another sign, `or` for `and`."""
    match node:
        case ast.Compare(ops=operators):
            for place, operator in enumerate(operators):
                yield from (_set_item("ops", place, other()) for other in COMPARED[type(operator)])
        case ast.BinOp(op=operator) | ast.AugAssign(op=operator):
            yield from (_set("op", other()) for other in COMPUTED.get(type(operator), ()))
        case ast.BoolOp(op=operator):
            yield _set("op", ast.Or() if isinstance(operator, ast.And) else ast.And())


def change_values(node: ast.AST, variables: list[str]) -> Iterator[Change]:
    """A constant that is one off, or a text that lost a letter."""
    match node:
        case ast.Constant(value=bool(value)):
            yield _set("value", not value)
        case ast.Constant(value=int(value) | float(value)):
            yield _set("value", value + 1)
            if value >= 1:
                yield _set("value", value - 1)
        case ast.Constant(value=str(value)):
            yield from (_set("value", other) for other in ((value[:-1], value[1:]) if value else (" ",)))


def change_names(node: ast.AST, variables: list[str]) -> Iterator[Change]:
    """A variable in the place of another."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in variables:
        yield from (_set("id", other) for other in variables if other != node.id)


def change_functions(node: ast.AST, variables: list[str]) -> Iterator[Change]:
    """A function that people take for the one that was called; the other order of sorting."""
    if not isinstance(node, ast.Call):
        return
    field, name = ("attr", node.func.attr) if isinstance(node.func, ast.Attribute) else ("id", _callee(node))
    for twin in TWINS.get(name, []):
        yield _set(field, twin, on="func")
    if name in ("sorted", "sort"):
        others = [word for word in node.keywords if word.arg != "reverse"]
        flipped = [] if len(others) < len(node.keywords) else [ast.keyword("reverse", ast.Constant(True))]
        yield _set("keywords", [*others, *flipped])


def leave_out(node: ast.AST, variables: list[str]) -> Iterator[Change]:
    """Without a sign, a call around a value, one side of an operation, an end of a slice, or a statement."""
    match node:
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield _become(operand)
        case ast.Call(args=[inner]) if _callee(node) in WRAPPERS:
            yield _become(inner)
        case ast.BoolOp(values=values):
            for place in range(len(values)):
                rest = values[:place] + values[place + 1 :]
                yield _become(rest[0]) if len(rest) == 1 else _set("values", rest)
        case ast.BinOp(left=left):
            yield _become(left)
        case ast.Slice():
            yield from (_set(part, None) for part in ("lower", "upper", "step"))
        case ast.If(orelse=[_, *_]):
            yield _set("orelse", [])
    for field in ("body", "orelse"):
        found = getattr(node, field, None)
        block = found if isinstance(found, list) else []
        for place, statement in enumerate(block):
            # Without the last return of a function nothing would be asked of it.
            is_last_return = isinstance(statement, ast.Return) and isinstance(node, ast.FunctionDef)
            kept = isinstance(statement, ast.FunctionDef | ast.Import | ast.ImportFrom | ast.Pass)
            if not is_last_return and not kept:
                yield _set(field, block[:place] + block[place + 1 :] or [ast.Pass()])


def put_in(node: ast.AST, variables: list[str]) -> Iterator[Change]:
    """One off where something ends, a `not`, a `break`, one item less."""
    match node:
        case ast.Call(func=ast.Name(id="len")):
            yield from (_become(_one_off(node, step)) for step in (ast.Sub(), ast.Add()))
        case ast.Call(func=ast.Name(id="range"), args=given):
            place = min(len(given), 2) - 1  # where it ends
            yield from (_set_item("args", place, _one_off(given[place], step)) for step in (ast.Sub(), ast.Add()))
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            yield _set("test", ast.UnaryOp(ast.Not(), test))
        case ast.For(body=body, iter=source):
            yield _set("body", [*body, ast.Break()])
            sliced = ast.Subscript(source, ast.Slice(ast.Constant(1), None, None), ast.Load())
            yield _set("iter", sliced)
        case ast.Return(value=ast.Compare() | ast.BoolOp() as value):
            yield _set("value", ast.UnaryOp(ast.Not(), value))
        case ast.Return(value=ast.BinOp() | ast.Call() as value):
            yield _set("value", _one_off(value, ast.Add()))


def _callee(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _one_off(node: ast.expr, step: ast.operator) -> ast.expr:
    return ast.BinOp(node, step, ast.Constant(1))


def _set(field: str, value: object, on: str = "") -> Change:
    return lambda node: setattr(getattr(node, on) if on else node, field, value)


def _set_item(field: str, place: int, value: object) -> Change:
    return lambda node: getattr(node, field).__setitem__(place, value)


def _become(other: ast.expr) -> Change:
    """Put another expression in the place of a node, which keeps its identity."""

    def change(node: ast.AST) -> None:
        replacement = parse_expression(ast.unparse(other))
        node.__class__ = replacement.__class__
        node.__dict__.clear()
        node.__dict__.update(replacement.__dict__)

    return change


RULES: tuple[tuple[str, Callable[[ast.AST, list[str]], Iterator[Change]]], ...] = (
    ("operator misuse", change_operators),
    ("value misuse", change_values),
    ("variable misuse", change_names),
    ("function misuse", change_functions),
    ("missing logic", leave_out),
    ("excess logic", put_in),
)


def edit_node(node: ast.AST, variables: list[str]) -> Iterator[NodeEdit]:
    """Every edit that fits a node; `variables` are the names that could be taken for one another."""
    for bug, propose in RULES:
        yield from ((bug, change) for change in propose(node, variables))


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
