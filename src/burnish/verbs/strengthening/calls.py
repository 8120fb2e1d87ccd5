"""Calls of one function of a project: those that its tests and its docstring make, and others near them."""

import ast
from collections.abc import Sequence

from burnish.agent.bodies import bodies_of
from burnish.agent.inputs import Clues, calls_for
from burnish.agent.seeds import Seed, seeds_of
from burnish.agent.stories import is_closed
from burnish.parsing import parse_expression
from burnish.tasks.assemble import names_of
from burnish.tasks.definitions import find
from burnish.tasks.repair import docstring, examples, signature
from burnish.tasks.syntax import parsed
from burnish.verbs.strengthening.unnoticed import Spot

MOST, MOST_OF_WORDS, MOST_OPTIONS = 60, 30, 40
"""Calls for one try: near those of the tests, near those of the docstring, and those with options set."""


def calls_of(spot: Spot, files: Sequence[str], draw: int, modules: Sequence[str]) -> tuple[str, ...]:
    """Calls to tell the code and its changes apart by; another `draw` gives others.

    `modules` are the code and changed versions of it. A method is called only as tests call it: nobody else knows how
    its object is made.
    """
    if "." in spot.function and not _known(spot, files):
        return ()
    head, words = signature(spot.text, spot.function), docstring(spot.text, spot.function)
    near = calls_for(spot.function, head, Clues(modules=modules, files=files), MOST, draw)
    told = Clues(prompt=words, modules=modules)
    said = calls_for(spot.function, head, told, MOST_OF_WORDS, draw) if "." not in spot.function else ()
    known = list(dict.fromkeys([*near, *said]))
    return tuple(dict.fromkeys([*known, *with_options(known[: MOST // 3], spot)]))


def known_tests(spot: Spot, files: Sequence[str]) -> tuple[str, ...]:
    """The calls that tests and docstring make of the function, each as a test of its own."""
    shown = examples(docstring(spot.text, spot.function), spot.function)
    return (*(seed.call() for seed in _known(spot, files)), *shown)


def _known(spot: Spot, files: Sequence[str]) -> list[Seed]:
    """The calls in tests that need nothing but the module."""
    tree = parsed(spot.text)
    names = {name for node in (tree.body if tree else []) for name in names_of(node)}
    seeds = seeds_of(spot.function, (body for text in files for body in bodies_of(text, names)))
    return [seed for seed in seeds if is_closed(parse_expression(seed.call()), names)]


def is_plain_function(spot: Spot) -> bool:
    """Whether it stands at the top of its module and can be called as it is."""
    return "." not in spot.function and isinstance(find(parsed(spot.text), spot.function), ast.FunctionDef)


def with_options(calls: Sequence[str], spot: Spot, most: int = MOST_OPTIONS) -> list[str]:
    """Known calls with each parameter that has a plain default set to something else: tests seldom do that."""
    node = find(parsed(spot.text), spot.function)
    if not isinstance(node, ast.FunctionDef):
        return []
    names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
    pairs = [*zip(names[len(names) - len(node.args.defaults) :], node.args.defaults, strict=True)]
    pairs += [
        (part.arg, value) for part, value in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if value
    ]
    own = [name for name in names if name not in ("self", "cls")]
    made = [
        text
        for name, default in pairs
        for other in _others(default)
        for call in calls
        if (text := _given(call, spot.function.rpartition(".")[2], name, other, own))
    ]
    return list(dict.fromkeys(made))[:most]


def _others(default: ast.expr) -> list[str]:
    """Values of the same kind as a default."""
    value = default.value if isinstance(default, ast.Constant) else None
    if isinstance(value, bool):
        return [repr(not value)]
    if isinstance(value, int | float):
        return [repr(value + step) for step in (1, 3, -1)]
    return ["'x'", "''", "', '"] if isinstance(value, str) else []


def _given(call: str, function: str, name: str, value: str, own: Sequence[str]) -> str:
    """The call with one more keyword; empty where it has that argument already, or is no such call."""
    tree = parse_expression(call)
    heads = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _is_of(node, function)]
    if len(heads) != 1 or any(isinstance(part, ast.Starred) for part in heads[0].args):
        return ""
    node = heads[0]
    known = {*own[: len(node.args)], *(word.arg for word in node.keywords)}
    if name in known or None in known:
        return ""
    node.keywords.append(ast.keyword(name, parse_expression(value)))
    return ast.unparse(tree)


def _is_of(node: ast.Call, function: str) -> bool:
    head = node.func
    return (head.id if isinstance(head, ast.Name) else getattr(head, "attr", "")) == function
