"""Calls to begin with where no test makes one: from examples in the prompt, else from types and names of parameters."""

import ast
import re
from collections.abc import Sequence
from typing import Any

from burnish.agent.seeds import Seed, seeds_of
from burnish.parsing import parse
from burnish.tasks.definitions import FUNCTIONS, find
from burnish.tasks.syntax import parsed

Function = ast.FunctionDef | ast.AsyncFunctionDef
_TYPES: dict[str, tuple[Any, ...]] = {
    "int": (3, 10, 0),
    "float": (2.5, 10.0, 0.5),
    "complex": (2.5, 1.0, 0.0),
    "str": ("abc", "Hello World", "aba"),
    "bool": (True, False, True),
    "bytes": (b"abc", b"", b"aba"),
    "None": (None, None, None),
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
_OBJECT = "its object"
MOST_METHODS = 8
_LISTS = {"list", "sequence", "iterable", "collection"}


def guessed(entry_point: str, signature: str, prompt: str) -> list[Seed]:
    """Three calls that fit the signature; one kind after another where a parameter could be anything."""
    parameters = _parameters(entry_point, signature or _signature_in(entry_point, prompt))
    return _filled(entry_point, parameters) if parameters is not None else []


def guessed_inside(entry_point: str, modules: Sequence[str]) -> list[Seed]:
    """Calls of a method on a new object, or of each public method of a class, as the first module defines them."""
    for module in map(parsed, modules):
        place = find(module, entry_point)
        name = entry_point if isinstance(place, ast.ClassDef) else entry_point.rpartition(".")[0]
        owner = find(module, name)
        if isinstance(owner, ast.ClassDef) and place is not None:
            found = [place] if place is not owner else [node for node in owner.body if _is_public(node)][:MOST_METHODS]
            return [seed for node in found if isinstance(node, FUNCTIONS) for seed in _of_method(name, owner, node)]
    return []


def signature_of(name: str, modules: Sequence[str]) -> str:
    """The signature of a function as the first module that has it defines it; empty where none does."""
    places = (find(parsed(module), name) for module in modules)
    found = next((place for place in places if isinstance(place, FUNCTIONS)), None)
    return f"{found.name}({ast.unparse(found.args)})" if found else ""


def _is_public(node: ast.stmt) -> bool:
    return isinstance(node, FUNCTIONS) and not node.name.startswith("_")


def _of_method(name: str, owner: ast.ClassDef, method: Function) -> list[Seed]:
    kinds = {ast.unparse(item).rpartition(".")[2] for item in method.decorator_list}
    if kinds & {"staticmethod", "classmethod"}:
        return _filled(f"{name}.{method.name}", _needed(method.args)[0 if "staticmethod" in kinds else 1 :])
    made = _filled(name, _made_from(owner))
    if any("property" in kind for kind in kinds):
        return [Seed(f"{seed.form}.{method.name}", seed.values) for seed in made]
    own = _filled(f".{method.name}", _needed(method.args)[1:], len(made[0].values))
    places = range(max(len(made), len(own)))
    pairs = [(made[place % len(made)], own[place % len(own)]) for place in places]
    form = "{}{}" if _gives(method) else "[(made := {}), made{}]"  # what it did is seen in the object
    return [Seed(form.format(one.form, other.form), one.values + other.values) for one, other in pairs]


def _gives(method: Function) -> bool:
    """Whether a method hands something back."""
    nodes = list(ast.walk(method))
    returned = any(isinstance(node, ast.Return) and node.value is not None for node in nodes)
    return returned or any(isinstance(node, ast.Yield | ast.YieldFrom) for node in nodes)


def _made_from(owner: ast.ClassDef) -> list[tuple[str, str]]:
    """What a new object is made from: the parameters of `__init__`, or the fields of a dataclass that have no value."""
    start = next((node for node in owner.body if isinstance(node, FUNCTIONS) and node.name == "__init__"), None)
    if start:
        return _needed(start.args)[1:]
    fields = [node for node in owner.body if isinstance(node, ast.AnnAssign) and node.value is None]
    return [("", ast.unparse(node.annotation).strip("'\"")) for node in fields] if owner.decorator_list else []


def _filled(callee: str, parameters: list[tuple[str, str]], first: int = 0) -> list[Seed]:
    tries = ("int", "list[int]", "str") if any(not kind for _, kind in parameters) else ("",)
    rows = [[_values(kind or other) for _, kind in parameters] for other in tries]
    form = f"{callee}({', '.join(f'{name}_hole_{place}_' for place, (name, _) in enumerate(parameters, first))})"
    count = 3 if parameters else 1
    return [Seed(form, tuple(values[number] for values in row)) for row in rows for number in range(count)]


def shown(entry_point: str, prompt: str) -> list[Seed]:
    """The calls that a prompt shows."""
    starts = [match.start() for match in re.finditer(rf"(?<![\w.]){re.escape(entry_point)}\(", prompt)]
    return seeds_of(entry_point, (_call_at(prompt, start) for start in starts)) if entry_point.isidentifier() else []


def _call_at(text: str, start: int) -> str:
    """The call that begins here, or nothing when it is none over plain values."""
    for match in re.finditer(r"\)", text[start : start + 300]):
        piece = text[start : start + match.end()]
        try:
            tree = parse(piece)
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            continue
        names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
        return piece if len(names) == 1 else ""
    return ""


def _signature_in(entry_point: str, prompt: str) -> str:
    found = re.search(rf"def\s+{re.escape(entry_point)}\s*\(.*?\)\s*(?:->[^:\n]+)?(?=:)", prompt, re.DOTALL)
    return found[0] if found else ""


def _parameters(entry_point: str, signature: str) -> list[tuple[str, str]] | None:
    """For each parameter that must be given, "name=" if it is given by name, and its type; "" where nothing tells it.

    None when there is no signature.
    """
    head = signature.strip().removeprefix("def ").rstrip(":")
    try:
        node = parse(f"def {head if '(' in head else '_()'}: pass").body[0]
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    if not isinstance(node, ast.FunctionDef) or node.name != entry_point:
        return None
    return [pair for pair in _needed(node.args) if pair[1] != _OBJECT]


def _needed(arguments: ast.arguments) -> list[tuple[str, str]]:
    """The parameters without a default."""
    plain = [*arguments.posonlyargs, *arguments.args]
    needed = plain[: len(plain) - len(arguments.defaults)]
    pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    named = [(f"{argument.arg}=", _type_of(argument)) for argument, default in pairs if default is None]
    return [*(("", _type_of(argument)) for argument in needed), *named]


def _type_of(argument: ast.arg) -> str:
    if argument.arg in {"self", "cls"}:
        return _OBJECT
    if argument.annotation is not None:
        return ast.unparse(argument.annotation).strip("'\"")
    name = argument.arg.lower().rstrip("0123456789") or argument.arg
    fits = [kind for names, kind in _NAMES if re.fullmatch(names, name)]
    parts = [kind for part in reversed(name.split("_")) for names, kind in _NAMES if re.fullmatch(names, part)]
    return [*fits, *parts, ""][0]


def _values(kind: str) -> tuple[Any, ...]:
    """Three values of a type, as an annotation writes it."""
    plain = re.sub(r"\b(?:typing|collections\.abc)\.", "", kind).replace(" ", "")
    optional = re.fullmatch(r"Optional\[(.+)\]|(.+)\|None", plain)
    if optional:
        return _values(optional[1] or optional[2])
    name, _, inside = plain.partition("[")
    parts = _split(inside.removesuffix("]"))
    if name.lower() in {"union"} and parts:
        return _values(parts[0])
    if name.lower() in _LISTS | {"set"}:
        a, b, c = _values(parts[0]) if parts else _TYPES["int"]
        lists = ([a, b, c], [c, a, a, b], [b])
        return tuple(set(one) for one in lists) if name.lower() == "set" and _hashable(a) else lists
    if name.lower() == "tuple":
        each = [_values(part) for part in parts if part != "..."] or [_TYPES["int"]] * 2
        return tuple(tuple(values[place] for values in each) for place in range(3))
    if name.lower() in {"dict", "mapping"}:
        keys, values = (_values(part) for part in (parts if len(parts) == 2 else ("str", "int")))
        return ({keys[0]: values[0], keys[1]: values[1]}, {keys[2]: values[2]}, {keys[1]: values[0]})
    return _TYPES.get(name, _TYPES["int"])


def _split(text: str) -> list[str]:
    """The parts between commas that are in no bracket."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "[") - (letter == "]")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part for part in parts if part]


def _hashable(value: Any) -> bool:
    return not isinstance(value, list | dict | set)
