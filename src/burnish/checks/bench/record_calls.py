"""The calls of a function that tests make, as expressions that can be made again with other versions and other values.

The tests run once more with a note at the start of the function, and of each `__init__` of its module, in the text that
stands in the place of the file; `inside/recorder.py` hears the notes.
"""

import ast
from collections.abc import Mapping, Sequence

from burnish.checks.bench.inside.recorder import LONGEST, NOTE
from burnish.parsing import try_parse, try_parse_expression
from burnish.search.seed_calls import OPERATORS
from burnish.tasks.source import FUNCTIONS, all_functions, find_definition, find_docstring

BUILTINS = {
    f"__{name}__": name for name in ("len", "bool", "str", "repr", "hash", "abs", "int", "float", "iter", "next")
}


def insert_notes(module: str, name: str) -> str:
    """The module with notes in it; empty where it does not define the function."""
    tree = try_parse(module)
    if tree is None or not isinstance(find_definition(tree, name), FUNCTIONS):
        return ""
    for own, node in all_functions(tree).items():
        if isinstance(node, FUNCTIONS) and (own == name or own.endswith(".__init__")):
            node.body.insert(find_docstring(node) is not None, _make_note(own, node.args))
    return ast.unparse(ast.fix_missing_locations(tree))


def _make_note(name: str, arguments: ast.arguments) -> ast.stmt:
    """A statement that tells the parameters' values; where nobody listens, as in a process of the tests', nothing."""
    plain = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
    plain += [f"*{arguments.vararg.arg}"] if arguments.vararg else []
    named = [f"{one.arg!r}: {one.arg}" for one in arguments.kwonlyargs]
    named += [f"**{arguments.kwarg.arg}"] if arguments.kwarg else []
    call = f"({name!r}, globals(), [{', '.join(plain)}], {{{', '.join(named)}}})"
    return ast.parse(f"__import__('builtins').__dict__.get({NOTE!r}, bool)({call})").body[0]


def write_call(module: str, name: str, plain: Sequence[str], named: Mapping[str, str]) -> str:
    """One call as an expression, as a user of the module would write it; empty where there is none."""
    node = find_definition(try_parse(module), name)
    if not isinstance(node, FUNCTIONS):
        return ""
    owner, _, method = name.rpartition(".")
    kinds = {ast.unparse(item).rpartition(".")[2] for item in node.decorator_list}
    results = (one for one in ast.walk(node) if isinstance(one, ast.Return | ast.Yield | ast.YieldFrom))
    gives_value = any(not isinstance(one, ast.Return) or one.value is not None for one in results)
    rest = plain if not owner or "staticmethod" in kinds else plain[1:]
    words = f"({', '.join([*rest, *(f'{key}={value}' for key, value in named.items())])})"
    if rest is plain:
        text = f"{name}{words}"
    elif method == "__init__":
        text = f"{owner}{words}"
    elif method in OPERATORS and len(plain) == 2:
        text = f"({plain[0]}) {OPERATORS[method]} ({plain[1]})"
    elif method in BUILTINS and len(plain) == 1:
        text = f"{BUILTINS[method]}({plain[0]})"
    elif any("property" in kind for kind in kinds):
        text = f"({plain[0]}).{method}"
    elif gives_value:
        text = f"({plain[0]}).{method}{words}"
    else:  # what it did is seen in the object
        text = f"[(made := {plain[0]}), made.{method}{words}]"
    tree = try_parse_expression(text) if len(text) <= 2 * LONGEST else None
    return ast.unparse(tree) if tree else ""
