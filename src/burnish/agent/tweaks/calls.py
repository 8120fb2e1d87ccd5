"""Other functions: the twin of the one that was called, its arguments in another order, one argument less or more."""

import ast
from collections.abc import Iterator

from burnish.agent.tweaks.code import Code
from burnish.agent.tweaks.edit import Edit

TWINS = (
    "min max",
    "min sum len",
    "max sum len",
    "any all",
    "append extend add",
    "append insert",
    "add discard remove",
    "remove discard pop",
    "upper lower title capitalize swapcase",
    "isupper islower",
    "isdigit isalpha isalnum isnumeric isdecimal isspace",
    "startswith endswith",
    "strip lstrip rstrip",
    "split rsplit splitlines",
    "find rfind index",
    "index rindex count",
    "replace strip",
    "ljust rjust center zfill",
    "partition rpartition",
    "floor ceil trunc",
    "int round float",
    "str repr",
    "keys values items",
    "union intersection difference symmetric_difference",
    "issubset issuperset",
    "list tuple set sorted",
    "sorted reversed",
    "sort reverse",
    "heappush heappop",
    "popleft pop",
    "append appendleft",
    "zip zip_longest product",
    "combinations permutations combinations_with_replacement product",
    "match search fullmatch findall",
    "sin cos tan",
    "log log2 log10 log1p",
    "sqrt exp",
    "gcd lcm",
    "ord chr",
    "bin oct hex",
    "map filter",
    "isinstance issubclass",
    "enumerate zip",
    "setdefault get",
    "divmod pow",
)
"""Functions and methods that stand beside each other in people's minds; a name may have several circles."""


def _table() -> dict[str, list[str]]:
    found: dict[str, dict[str, None]] = {}
    for circle in TWINS:
        for name in circle.split():
            found.setdefault(name, {}).update(dict.fromkeys(one for one in circle.split() if one != name))
    return {name: list(others) for name, others in found.items()}


BESIDE = _table()


def calls(code: Code) -> Iterator[Edit]:
    """Every edit of a call."""
    for node in code.nodes:
        if isinstance(node, ast.Call):
            yield from _twins(code, node)
            yield from _arguments(code, node)
            yield from _backwards(code, node)


def _twins(code: Code, node: ast.Call) -> Iterator[Edit]:
    name = getattr(node.func, "id", getattr(node.func, "attr", ""))
    start = code.end(node.func) - len(name.encode())
    for other in BESIDE.get(name, ()):
        yield code.span("twin", node, start, code.end(node.func), other)


def _arguments(code: Code, node: ast.Call) -> Iterator[Edit]:
    for left, right in zip(node.args, node.args[1:], strict=False):
        between = code.between(code.end(left), code.start(right))
        swapped = f"{code.text(right)}{between}{code.text(left)}"
        yield code.span("sides", node, code.start(left), code.end(right), swapped)
    places = [*node.args, *node.keywords]
    for before, one in zip(places, places[1:], strict=False):
        yield code.span("argument", node, code.end(before), code.end(one), "")
    if len(places) > 1:
        yield code.span("argument", node, code.start(places[0]), code.start(places[1]), "")


def _backwards(code: Code, node: ast.Call) -> Iterator[Edit]:
    """Largest first, where the order was not said."""
    name = getattr(node.func, "id", getattr(node.func, "attr", ""))
    said = {one.arg for one in node.keywords}
    if name in ("sorted", "sort") and "reverse" not in said:
        inside = code.end(node) - 1
        comma = ", " if node.args or node.keywords else ""
        yield code.span("reversed", node, inside, inside, f"{comma}reverse=True", "`reverse=True` is added")
