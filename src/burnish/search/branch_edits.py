"""Edits that take a decision out of a function: a condition negated, a branch dropped, another name returned.

They are for mutation testing, where other operators find little to change: what survives one of these is a branch or a
result that no test looks at.
"""

import ast
from collections.abc import Iterator

from burnish.search.editable import EditableFunction, read_function
from burnish.search.value_edits import drop_sign, edit_logic, negate, visible_names
from burnish.tasks.source import Edit

MOST_RETURNED = 2
"""Names that are tried in the place of one that is returned."""
CONDITION = {"not", "sign", "less"}
"""What becomes of a condition: it is negated, loses its own `not`, or loses one of its parts."""
DROPPED = "dropped"


def propose_branch_edits(module: str, name: str) -> Iterator[tuple[str, Edit]]:
    """Each edit of one function ("name" or "Class.method") that still parses, after the whole module that has it.

    The words of an edit that drops a branch are the branch.
    """
    code = read_function(module, name)
    if code is None or isinstance(code.root, ast.ClassDef):
        return
    for edit in [edit for node in code.nodes for edit in (*_edit_condition(code, node), *_drop_branch(code, node))]:
        if code.still_parses(edit):
            yield code.apply(edit), edit


def _edit_condition(code: EditableFunction, node: ast.AST) -> Iterator[Edit]:
    match node:
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            edits = [*negate(code, test)]
            edits += drop_sign(code, test) if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else ()
            edits += edit_logic(code, test) if isinstance(test, ast.BoolOp) else ()
            yield from (edit for edit in edits if edit.kind in CONDITION)
        case ast.Return(value=ast.Name(id=name) as value):
            others = [other for other in visible_names(code, node) if other != name]
            yield from (code.replace("returned", value, other) for other in others[:MOST_RETURNED])


def _drop_branch(code: EditableFunction, node: ast.AST) -> Iterator[Edit]:
    """Without what a condition or a loop leads to, or what is left to do where none does."""
    blocks: list[tuple[str, list[ast.stmt], str]] = []
    match node:
        case ast.If(test=test, body=body, orelse=orelse):
            blocks = [(f"if {code.text(test)}", body, "pass"), ("else", orelse, "pass")]
        case ast.For() | ast.While():
            head = code.between(code.start(node), code.line_end(code.start(node))).strip().removesuffix(":")
            blocks = [(head, node.body, "break")]
        case ast.Return(value=ast.expr()) if node is getattr(code.root, "body", [None])[-1]:
            leaves = sum(isinstance(one, ast.Return) for one in code.nodes) > 1
            blocks = [("", [node], "pass")] if leaves else []
    for head, block, new in blocks:
        if block and not code.is_elif(block[0]) and not isinstance(block[0], ast.Pass):
            span = (code.start(block[0]), code.end(block[-1]))
            words = f"{head}: {code.between(*span)}" if head else code.between(*span)
            yield code.edit(DROPPED, block[0], span, new, words)
