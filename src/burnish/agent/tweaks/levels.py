"""How tightly expressions hold together: where parentheses are needed and where they would only be noise."""

import ast

ATOM = 20
AND, OR, NOT, COMPARED, SUM, PRODUCT, SIGN, POWER = 2, 1, 3, 4, 9, 10, 11, 12
BINARY: dict[type[ast.operator], int] = {
    ast.BitOr: 5,
    ast.BitXor: 6,
    ast.BitAnd: 7,
    ast.LShift: 8,
    ast.RShift: 8,
    ast.Add: SUM,
    ast.Sub: SUM,
    ast.Pow: POWER,
}
LOOSE = (ast.IfExp, ast.Lambda, ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Starred, ast.Tuple, ast.Slice)


def level_of(node: ast.expr) -> int:
    """How tightly an expression holds together; ATOM for one that nothing tears apart."""
    match node:
        case ast.BinOp():
            return BINARY.get(type(node.op), PRODUCT)
        case ast.BoolOp():
            return AND if isinstance(node.op, ast.And) else OR
        case ast.UnaryOp():
            return NOT if isinstance(node.op, ast.Not) else SIGN
        case ast.Compare():
            return COMPARED
        case ast.Constant(value=int() | float()) | ast.Await():
            return ATOM - 1  # nothing tears it apart, but `1.real` is no Python
    return 0 if isinstance(node, LOOSE) else ATOM


def level_of_slot(parent: ast.AST | None, field: str) -> int:
    """How tightly an expression must hold together to stand in a place without parentheses."""
    match parent:
        case ast.BinOp():
            return level_of(parent) + (field == "right")
        case ast.BoolOp():
            return level_of(parent) + 1
        case ast.UnaryOp():
            return level_of(parent)
        case ast.Compare() | ast.Starred():
            return COMPARED + 1
        case ast.IfExp() | ast.comprehension():
            return OR
    return ATOM if field in ("value", "func") and isinstance(parent, ast.Attribute | ast.Subscript | ast.Call) else 0
