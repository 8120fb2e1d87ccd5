"""Calls to begin with: those that tests and prompts make, else what the types and names of parameters suggest.

A call is taken apart into its form and the plain values that could be others.
"""

import ast
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from burnish.parsing import PARSE_ERRORS, parse, parse_expression, try_parse, try_parse_expression
from burnish.tasks.sentence import FILE_PARAMETER, FILE_WITH, reads_file
from burnish.tasks.source import FUNCTIONS, Function, find_definition

LONGEST = 300
"""A call that a test makes is taken as it is up to this length."""
MOST_METHODS = 8
_HOLE = re.compile(r"_hole_(\d+)_")
_COMPARING = {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__contains__", "__bool__"}
OPERATORS = {
    **{"__eq__": "==", "__ne__": "!=", "__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="},
    **{"__add__": "+", "__sub__": "-", "__mul__": "*", "__truediv__": "/", "__floordiv__": "//", "__mod__": "%"},
    **{"__and__": "&", "__or__": "|", "__xor__": "^", "__matmul__": "@", "__pow__": "**"},
}
"""Methods that Python calls for an operator between two objects."""
_BROKEN = (*PARSE_ERRORS, TypeError)
_TYPES: dict[str, tuple[Any, ...]] = {
    "int": (3, 10, 0),
    "float": (2.5, 10.0, 0.5),
    "complex": (2.5, 1.0, 0.0),
    "str": ("abc", "Hello World", "aba"),
    "bool": (True, False, True),
    "bytes": (b"abc", b"", b"aba"),
    "None": (None, None, None),
    FILE_WITH: ("one\ntwo\n", "name,price\ntea,2.50\nmilk,1\n", "a first line\n\nthe last one"),
}
_NAMES = (
    ("matrix|grid|board|table", "list[list[int]]"),
    ("words|strings|names|texts|lines|sentences|strs", "list[str]"),
    ("dict|mapping|counts?|freq", "dict[str, int]"),
    ("lst|list|nums|numbers|arr|array|values|items|xs|data|seq|elements?|digits|operations|prices|points", "list[int]"),
    ("s|st|str|string|text|word|sentence|line|name|char|ch|letter|prefix|suffix|pattern|message|date|s[12]", "str"),
    ("price|rate|ratio|threshold|radius|weight|amount", "float"),
    ("n|m|k|num|number|count|size|length|index|i|j|x|y|z|a|b|c|start|end|limit|target|year|base|low|high", "int"),
)
"""Which type a parameter of such a name usually has, where the signature does not say."""

Parameters = list[tuple[str, str]]
"""For each parameter that must be given, "name=" if it is given by name, and its type; "" where nothing tells it."""


@dataclass(frozen=True)
class SeedCall:
    """One call: its form, with a hole for each plain value, and the values that stood there."""

    form: str
    values: tuple[Any, ...]

    def call(self, values: tuple[Any, ...] | None = None) -> str:
        """The call with these values in its holes; with its own when none are given."""
        chosen = self.values if values is None else values
        return _HOLE.sub(lambda hole: write_value(chosen[int(hole[1])]), self.form)


def write_value(value: Any) -> str:
    """A plain value as Python writes it, sets in one order."""
    if isinstance(value, list | tuple):
        inside = ", ".join(map(write_value, value))
        return f"[{inside}]" if isinstance(value, list) else f"({inside}{',' * (len(value) == 1)})"
    if isinstance(value, set) and value:
        return f"{{{', '.join(sorted(map(write_value, value)))}}}"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{write_value(key)}: {write_value(one)}' for key, one in value.items())}}}"
    if isinstance(value, float) and not math.isfinite(value):
        return f"float('{value}')"
    return repr(value)


def split_call(expression: ast.expr) -> SeedCall:
    """An expression with its plain values taken out."""
    values: list[Any] = []
    form = ast.unparse(ast.fix_missing_locations(_TakeValues(values).visit(expression)))
    return SeedCall(form, tuple(values))


class _TakeValues(ast.NodeTransformer):
    """Takes out the largest plain values, in order; texts with expressions in them and functions stay as they are."""

    def __init__(self, values: list[Any]) -> None:
        self.values = values

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.JoinedStr | ast.Lambda | ast.comprehension):
            return node
        if not _is_plain(node):
            return self.generic_visit(node)
        assert isinstance(node, ast.expr)
        self.values.append(ast.literal_eval(node))
        return ast.Name(f"_hole_{len(self.values) - 1}_", ast.Load())


def _is_plain(node: ast.AST) -> bool:
    """True for a literal: a number, a text, or a collection of such."""
    try:
        return isinstance(node, ast.expr) and ast.literal_eval(node) is not Ellipsis
    except _BROKEN:
        return False


def seeds_from_tests(entry_point: str, tests: Iterable[str]) -> list[SeedCall]:
    """Every call of the entry point in the tests, in order, each once; text that is no Python has none.

    Of a method, "Cart.total": what tests do with such objects, and only that method where any of them calls it.
    """
    owner, _, method = entry_point.rpartition(".")
    name = owner.rpartition(".")[2] or entry_point
    found = [seed for test in tests for seed in _seeds_in_test(name, test, method if owner else "")]
    direct = [seed for seed in found if owner and re.search(rf"\.{method}\b", seed.form)]
    return list({seed.call(): seed for seed in direct or found}.values())


def _seeds_in_test(name: str, test: str, method: str) -> list[SeedCall]:
    special = method.startswith("__") and method.endswith("__")  # Python calls such a method by itself
    try:
        tree = parse(test)
        assigned = [node for node in ast.walk(tree) if isinstance(node, ast.Assign) and len(node.targets) == 1]
        pairs = [(node.targets[0], node.value) for node in assigned]
        known = {target.id: value for target, value in pairs if isinstance(target, ast.Name) and _is_plain(value)}
        if steps := _join_steps(name, tree, special):
            expressions = [steps]
        elif special:  # what is asserted of new objects, as in `len(Cart([1]))`
            tests = [node.test for node in ast.walk(tree) if isinstance(node, ast.Assert)]
            if method not in _COMPARING:
                tests = [test.left if isinstance(test, ast.Compare) else test for test in tests]
            expressions = [test for test in tests if any(_is_call_of(node, name) for node in ast.walk(test))]
        else:
            expressions = list(_find_calls(tree, name, bool(method) or name[:1].isupper()))
        seeds = [split_call(_InlineNames(known).visit(expression)) for expression in expressions]
    except _BROKEN:
        return []
    return [seed for seed in seeds if len(seed.call()) <= LONGEST]


def _join_steps(name: str, tree: ast.Module, special: bool) -> ast.expr | None:
    """A test that makes an object and then uses it, as one expression: a list of what each step gives."""
    made = [node for node in tree.body if isinstance(node, ast.Assign) and _is_call_of(node.value, name)]
    names = {target.id for node in made for target in node.targets if isinstance(target, ast.Name)}
    owners = [node.value for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    used = any(isinstance(owner, ast.Name) and owner.id in names for owner in owners)
    if not used and not (special and names):
        return None
    steps: list[str] = []
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=target), *_], value=value):
                steps.append(f"[{target} := {ast.unparse(value)}].clear()")
            case ast.Expr(value=value) | ast.Assert(test=ast.Compare(left=value)) | ast.Assert(test=value):
                steps.append(ast.unparse(value))
    while steps and len(", ".join(steps)) > LONGEST - 2:
        steps.pop()
    return parse(f"[{', '.join(steps)}]").body[0].value if steps else None  # type: ignore[attr-defined]


def _is_call_of(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def _find_calls(node: ast.AST, name: str, of_class: bool) -> Iterator[ast.expr]:
    """The outermost calls of one name; of a class, with the methods called on the new object."""
    if isinstance(node, ast.expr) and (_is_call_of(node, name) or (of_class and _is_chain(node, name))):
        yield node
        return
    for child in ast.iter_child_nodes(node):
        yield from _find_calls(child, name, of_class)


def _is_chain(node: ast.AST, name: str) -> bool:
    """Whether it begins with `Cart(…)`, or with `Cart.of(…)`: a call of what belongs to the class itself."""
    root: ast.AST | None = node if isinstance(node, ast.Call | ast.Attribute | ast.Subscript) else None
    while root is not None:
        match root:
            case ast.Call(func=ast.Name(id=called) | ast.Attribute(value=ast.Name(id=called))) if called == name:
                return True
        root = getattr(root, "func", getattr(root, "value", None))
    return False


class _InlineNames(ast.NodeTransformer):
    """Puts plain values where their names stand."""

    def __init__(self, known: dict[str, ast.expr]) -> None:
        self.known = known

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.known.get(node.id, node) if isinstance(node.ctx, ast.Load) else node


def seeds_from_prompt(entry_point: str, prompt: str) -> list[SeedCall]:
    """The calls over plain values that a prompt shows."""
    if not entry_point.isidentifier():
        return []
    calls: list[str] = []
    for start in re.finditer(rf"(?<![\w.]){re.escape(entry_point)}\(", prompt):
        text = prompt[start.start() : start.start() + LONGEST]
        pieces = (text[: match.end()] for match in re.finditer(r"\)", text))
        piece = next((piece for piece in pieces if try_parse(piece)), "")
        names = [node for node in ast.walk(parse(piece)) if isinstance(node, ast.Name)]
        calls += [piece] if len(names) == 1 else []
    return seeds_from_tests(entry_point, calls)


def seeds_from_types(entry_point: str, signature: str, prompt: str) -> list[SeedCall]:
    """Three calls that fit the signature; one kind after another where a parameter could be anything."""
    if not signature:
        found = re.search(rf"def\s+{re.escape(entry_point)}\s*\(.*?\)\s*(?:->[^:\n]+)?(?=:)", prompt, re.DOTALL)
        signature = found[0] if found else ""
    head = signature.strip().removeprefix("def ").rstrip(":")
    tree = try_parse(f"def {head if '(' in head else '_()'}: pass")
    match tree.body if tree else []:
        case [ast.FunctionDef(name=name, args=arguments), *_] if name == entry_point:
            return _fill(entry_point, _required_parameters(arguments, own=False, with_files=reads_file(prompt)))
    return []


def seeds_from_class(entry_point: str, modules: Sequence[str]) -> list[SeedCall]:
    """Calls of a method on a new object, or of each public method of a class, as the first module defines them."""
    for module in map(try_parse, modules):
        place = find_definition(module, entry_point)
        name = entry_point if isinstance(place, ast.ClassDef) else entry_point.rpartition(".")[0]
        owner = find_definition(module, name)
        if isinstance(owner, ast.ClassDef) and place is not None:
            methods = [node for node in owner.body if isinstance(node, FUNCTIONS) and not node.name.startswith("_")]
            chosen = [place] if isinstance(place, FUNCTIONS) else methods[:MOST_METHODS]
            return [seed for node in chosen for seed in _seeds_of_method(name, owner, node)]
    return []


def find_signature(name: str, modules: Sequence[str]) -> str:
    """The signature of a function as the first module that has it defines it; empty where none does."""
    places = (find_definition(try_parse(module), name) for module in modules)
    found = next((place for place in places if isinstance(place, FUNCTIONS)), None)
    return f"{found.name}({ast.unparse(found.args)})" if found else ""


def _seeds_of_method(name: str, owner: ast.ClassDef, method: Function) -> list[SeedCall]:
    kinds = {ast.unparse(item).rpartition(".")[2] for item in method.decorator_list}
    if kinds & {"staticmethod", "classmethod"}:
        taken = _required_parameters(method.args)[0 if "staticmethod" in kinds else 1 :]
        return _fill(f"{name}.{method.name}", taken)
    makers = _fill(name, _constructor_parameters(owner))
    if any("property" in kind for kind in kinds):
        return [SeedCall(f"{seed.form}.{method.name}", seed.values) for seed in makers]
    if symbol := OPERATORS.get(method.name):
        calls = [seed.call() for seed in makers]
        pairs = [(one, other) for one in calls for other in (one, calls[0], calls[-1])]  # two equal objects first
        return [split_call(parse_expression(f"{one} {symbol} {other}")) for one, other in dict.fromkeys(pairs)]
    own = _fill(f".{method.name}", _required_parameters(method.args)[1:], len(makers[0].values))
    nodes = list(ast.walk(method))
    returns = any(isinstance(node, ast.Return) and node.value is not None for node in nodes)
    gives = returns or any(isinstance(node, ast.Yield | ast.YieldFrom) for node in nodes)
    form = "{}{}" if gives else "[(made := {}), made{}]"  # what it did is seen in the object
    places = range(max(len(makers), len(own)))
    both = [(makers[place % len(makers)], own[place % len(own)]) for place in places]
    return [SeedCall(form.format(one.form, other.form), one.values + other.values) for one, other in both]


def _constructor_parameters(owner: ast.ClassDef) -> Parameters:
    """What a new object is made from: the parameters of `__init__`, or the fields of a dataclass that have no value."""
    for node in owner.body:
        if isinstance(node, FUNCTIONS) and node.name == "__init__":
            return _required_parameters(node.args)[1:]
    fields = [node for node in owner.body if isinstance(node, ast.AnnAssign) and node.value is None]
    return [("", ast.unparse(node.annotation).strip("'\"")) for node in fields] if owner.decorator_list else []


def _fill(callee: str, parameters: Parameters, first: int = 0) -> list[SeedCall]:
    tries = ("int", "list[int]", "str") if any(not kind for _, kind in parameters) else ("",)
    rows = [[_values_of_type(try_parse_expression(kind or other)) for _, kind in parameters] for other in tries]
    holes = [f"_hole_{place}_" for place in range(first, first + len(parameters))]
    given = zip(parameters, holes, strict=True)
    form = ", ".join(f"{name}{FILE_WITH}({hole})" if kind == FILE_WITH else name + hole for (name, kind), hole in given)
    form = f"{callee}({form})"
    count = 3 if parameters else 1
    return [SeedCall(form, tuple(values[number] for values in row)) for row in rows for number in range(count)]


def _required_parameters(arguments: ast.arguments, own: bool = True, with_files: bool = False) -> Parameters:
    """The parameters without a default; `own` says whether `self` counts, `with_files` whether a path leads to a file
    that is there.
    """
    plain = [*arguments.posonlyargs, *arguments.args]
    needed = [("", argument) for argument in plain[: len(plain) - len(arguments.defaults)]]
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    needed += [(f"{argument.arg}=", argument) for argument, default in named if default is None]
    kept = [(name, argument) for name, argument in needed if own or argument.arg not in {"self", "cls"}]
    is_file = [with_files and FILE_PARAMETER.fullmatch(argument.arg) for _, argument in kept]
    pairs = zip(kept, is_file, strict=True)
    return [(name, FILE_WITH if file else _guess_type(argument)) for (name, argument), file in pairs]


def _guess_type(argument: ast.arg) -> str:
    if argument.arg in {"self", "cls"}:
        return "object"
    if argument.annotation is not None:
        return ast.unparse(argument.annotation).strip("'\"")
    name = argument.arg.lower().rstrip("0123456789") or argument.arg
    parts = (name, *reversed(name.split("_")))
    return next((kind for part in parts for names, kind in _NAMES if re.fullmatch(names, part)), "")


def _values_of_type(kind: ast.expr | None) -> tuple[Any, ...]:
    """Three values of a type, as an annotation writes it; whole numbers where it says nothing that is known."""
    name, parts = kind, list[ast.expr]()
    match kind:
        case ast.BinOp(op=ast.BitOr(), left=first, right=ast.Constant(value=None)):
            return _values_of_type(first)
        case ast.Subscript(value=name, slice=inside):
            parts = inside.elts if isinstance(inside, ast.Tuple) else [inside]
    word = ast.unparse(name).rpartition(".")[2] if name else ""
    match word.lower():
        case "optional" | "union" if parts:
            return _values_of_type(parts[0])
        case "list" | "sequence" | "iterable" | "collection" | "set" as outer:
            a, b, c = _values_of_type(parts[0]) if parts else _TYPES["int"]
            lists = ([a, b, c], [c, a, a, b], [b])
            is_set = outer == "set" and not isinstance(a, list | dict | set)
            return tuple(set(one) for one in lists) if is_set else lists
        case "tuple":
            each = [_values_of_type(part) for part in parts if ast.unparse(part) != "..."] or [_TYPES["int"]] * 2
            return tuple(tuple(values[place] for values in each) for place in range(3))
        case "dict" | "mapping":
            keys, values = map(_values_of_type, parts) if len(parts) == 2 else (_TYPES["str"], _TYPES["int"])
            return ({keys[0]: values[0], keys[1]: values[1]}, {keys[2]: values[2]}, {keys[1]: values[0]})
    return _TYPES.get(word, _TYPES["int"])
