"""Says why an assertion failed: the assertion as written, then what was got instead."""

import ast
from typing import Any

LONGEST = 300
FAIL = "@fail"


class Explained(ast.NodeTransformer):
    """Rewrites asserts so that a failing one knows its values. The values are computed once, as in the original."""

    def __init__(self, source: str) -> None:
        self.source = source

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        """`assert left == right` keeps left and right; any other assert keeps its one value."""
        text = ast.unparse(node)
        test = node.test
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            left, right = keep("@left", test.left), keep("@right", test.comparators[0])
            holds: ast.expr = ast.Compare(left, test.ops, [right])
            kept = [load("@left"), load("@right")]
        else:
            holds = keep("@left", test)
            kept = [load("@left")]
        call = ast.Call(load(FAIL), [ast.Constant(text), *kept], [])
        return ast.copy_location(ast.If(ast.UnaryOp(ast.Not(), holds), [ast.Expr(call)], []), node)


def keep(name: str, value: ast.expr) -> ast.NamedExpr:
    """An expression that also remembers its value."""
    return ast.NamedExpr(ast.Name(name, ast.Store()), value)


def load(name: str) -> ast.Name:
    """A remembered value."""
    return ast.Name(name, ast.Load())


def install(scope: dict[str, Any]) -> None:
    """Make `@fail` known to rewritten asserts."""
    scope[FAIL] = fail


def fail(text: str, *values: Any) -> None:
    """Raise the assertion that failed, with what was got."""
    raise AssertionError(f"{short(text)}\ngot: {short(safe_repr(values[0]))}")


def safe_repr(value: Any) -> str:
    """repr, whatever the object does."""
    try:
        return repr(value)
    except Exception as error:
        return f"<{type(value).__name__}, whose repr raised {type(error).__name__}>"


def short(text: str) -> str:
    """The text, with its middle left out if it is long."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} … {text[-LONGEST // 2 :]}"


def message(error: BaseException, source: str) -> str:
    """What a person or a small model should read about a failure."""
    if type(error) is AssertionError:
        return str(error)
    return f"{type(error).__name__}: {short(str(error))}"
