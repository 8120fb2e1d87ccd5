"""Is a script of asserts so simple that running it cannot change the process it runs in?

Most are: they call the code and compare. Such a script is judged without a fork, which is half the price of a job.
The rule is a list of what is allowed; whatever is not on it is judged in a fork, where it can do no harm.
"""

import ast
import builtins

from burnish.sandbox.inside.known import MODULES, words

STATEMENTS: frozenset[type[ast.AST]] = frozenset(
    (ast.Assert, ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For, ast.While, ast.If, ast.Return, ast.Pass)
) | {ast.Break, ast.Continue}
EXPRESSIONS: frozenset[type[ast.AST]] = frozenset(
    (ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Call, ast.Constant, ast.Subscript, ast.Slice, ast.Starred)
    + (ast.List, ast.Tuple, ast.Dict, ast.Set, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)
    + (ast.IfExp, ast.JoinedStr, ast.FormattedValue)
)
PARTS = (
    *(ast.Module, ast.arguments, ast.arg, ast.alias, ast.keyword, ast.comprehension),
    *(ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop),
)
HARMLESS = frozenset(
    words(
        "abs all any ascii bin bool bytearray bytes callable chr complex dict divmod enumerate filter float format "
        "frozenset hash hex id int isinstance issubclass iter len list map max min next oct ord pow print range repr "
        "reversed round set slice sorted str sum tuple type zip True False None NotImplemented Ellipsis"
    )
)
"""Built-in functions that change nothing but what they are given."""
HARMFUL = frozenset(vars(builtins)) - HARMLESS
INNER = ("_", "gi_", "f_", "tb_", "cr_", "ag_", "co_")
"""Attributes that lead into the interpreter begin with one of these."""


def is_simple(tests: str) -> bool:
    """True when the script only calls, computes and compares."""
    try:
        tree = ast.parse(tests)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    return all(is_harmless(node) for node in ast.walk(tree))


def is_harmless(node: ast.AST) -> bool:
    """True when this part alone cannot change anything outside the script."""
    kind = type(node)
    if kind is ast.Name:
        return node.id not in HARMFUL  # type: ignore[attr-defined]
    if kind is ast.Attribute:
        return isinstance(node.ctx, ast.Load) and not node.attr.startswith(INNER)  # type: ignore[attr-defined]
    if kind is ast.Import:
        return all(alias.name in MODULES for alias in node.names)  # type: ignore[attr-defined]
    if kind is ast.ImportFrom:
        return node.module in MODULES and not any(is_inner(alias.name) for alias in node.names)  # type: ignore[attr-defined]
    if kind is ast.FunctionDef:
        return not node.decorator_list  # type: ignore[attr-defined]
    return kind in STATEMENTS or kind in EXPRESSIONS or isinstance(node, PARTS)


def is_inner(name: str) -> bool:
    """True for `*` and for names that begin with an underscore."""
    return name == "*" or name.startswith("_")
