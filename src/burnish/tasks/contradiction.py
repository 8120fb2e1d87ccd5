"""Examples that no code can fulfil together are the user's to put right, before anything is asked or run."""

import ast
from collections.abc import Iterator, Sequence

from burnish.errors import SetupProblem
from burnish.tasks.syntax import parsed
from burnish.text import one_line

RAISES = "raises "


def must_agree(tests: Sequence[str], way_out: str = "take one of them out and try again.") -> None:
    """Refuse two examples that say different things of the same call, and say which; `way_out` is what to do."""
    pair = contradiction(tests)
    if pair:
        raise SetupProblem(
            f"Two of your examples contradict each other: `{one_line(pair[0])}` and `{one_line(pair[1])}`. "
            f"No code can pass both; {way_out}"
        )


def contradiction(tests: Sequence[str]) -> tuple[str, str] | None:
    """Two examples that say different things of the same call; only values that are written out can differ."""
    seen: dict[str, list[tuple[object, str]]] = {}
    for test in tests:
        for call, value in _said(test):
            known = seen.setdefault(call, [])
            other = next((earlier for what, earlier in known if what != value), None)
            if other is not None:
                return other, test
            known.append((value, test))
    return None


def _said(test: str) -> Iterator[tuple[str, object]]:
    """What a test of one step says: the call, and its value or error."""
    tree = parsed(test)
    node = tree.body[0] if tree and len(tree.body) == 1 else None
    if isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare) and len(node.test.ops) == 1:
        value = _value(node.test.comparators[0])
        if isinstance(node.test.ops[0], ast.Eq) and value is not None:
            yield ast.dump(node.test.left), value
    if isinstance(node, ast.With) and len(node.body) == 1 and isinstance(node.body[0], ast.Expr):
        yield ast.dump(node.body[0].value), RAISES


def _value(node: ast.expr) -> object:
    """The value in a box of its own, so that no value is mistaken for an error; None where it is not written out."""
    try:
        return (ast.literal_eval(node),)
    except (ValueError, TypeError, MemoryError, RecursionError):
        return None
