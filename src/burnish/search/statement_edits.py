"""Edits of whole statements: deleted, moved, exchanged, with another keyword, or put in where one may be missing."""

import ast
import re
from collections.abc import Iterator

from burnish.search.editable import (
    AND,
    LEVELS,
    LOOPS,
    NOT,
    OR,
    EditableFunction,
    Rules,
    has_long_string,
    leaves_a_loop,
    shift_lines,
)
from burnish.search.value_edits import SIGNS, visible_names
from burnish.tasks.source import FUNCTIONS, Edit, Function, quote_code

KEPT = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal)
ENDS = (ast.Return, ast.Break, ast.Continue, ast.Raise)
NESTING = (ast.If, ast.For, ast.While, ast.With, ast.Try)
GROWTH = ("* {0}", "% 2", "** 2", "* 2", "// 2", "/ 2", "% 10", "** 3")
VALUES = (ast.Name, ast.Call, ast.BinOp, ast.Subscript, ast.Attribute)
MOST_CONDITIONS = 4
GATHERING = {
    **dict.fromkeys(("[]", "list()"), ("{0}.append({1})",)),
    **dict.fromkeys(("''", '""'), ("{0} += {1}",)),
    "0": ("{0} += 1", "{0} += {1}"),
    "set()": ("{0}.add({1})",),
}
"""By what a variable begins as: the lines that make it grow."""
ANSWERS = ("None", "0", "[]", "False", '""', "True", "1", "-1")
TESTS = ("not {0}", "{0} <= 0", "{0} < 2", "len({0}) < 2")
MOST_PARAMETERS = 3

Branching = ast.If | ast.While | ast.For


def edit_blocks(code: EditableFunction, owner: ast.AST) -> Iterator[Edit]:
    """Statements that should not be there, that should be another, or that are missing."""
    for block in code.blocks(owner):
        for place, node in enumerate(block):
            is_last_word = isinstance(node, ast.Return) and node is code.root.body[-1]
            if not isinstance(node, (*KEPT, ast.Pass)) and not code.is_elif(node) and not is_last_word:
                lines = code.whole_lines(node) if len(block) > 1 else None
                span, new = (lines, "") if lines else ((code.start(node), code.end(node)), "pass")
                yield code.edit("delete", node, span, new, f"{quote_code(code.text(node))} is deleted")
            if isinstance(node, Branching):
                yield from _unnest(code, node)
            for old, new in _keywords(code, node, block[place - 1] if place else None):
                start = code.start(node)
                if code.data.startswith(old.encode(), start):
                    kind = "odd keyword" if new in ("while", "yield") else "keyword"
                    yield code.edit(kind, node, (start, start + len(old)), new)
        yield from _end_block(code, owner, block[-1])


def _unnest(code: EditableFunction, node: Branching) -> Iterator[Edit]:
    """Without the `else`, and without the condition or the loop."""
    gap_start = code.line_end(code.end(node.body[-1]))
    if node.orelse:
        gap = r"(?:[ \t]*(?:#[^\n]*)?\r?\n)*[ \t]*(?=el(?:se|if)\b)"
        if re.match(gap, code.between(gap_start, code.end(node))):
            yield code.edit("delete", node, (gap_start, code.line_end(code.end(node))), "", "the `else` is deleted")
    if isinstance(node, ast.If) and code.is_elif(node):
        if not node.orelse:
            yield code.edit("open", node, (code.start(node), code.data.index(b":", code.end(node.test))), "else")
        return
    whole = code.whole_lines(node)
    for block in (node.body, node.orelse):
        lines = code.whole_lines(block[0], block[-1]) if block else None
        if lines is None or whole is None or code.is_elif(block[0]) or has_long_string(block):
            continue
        if isinstance(node, LOOPS) and any(leaves_a_loop(one) for one in block):
            continue
        new = shift_lines(code.between(*lines), code.margin(block[0]), code.margin(node))
        head = quote_code(code.between(code.start(node), code.line_end(code.start(node))))
        yield code.edit("open", node, whole, new, f"{head} is taken away from around its block")


def _keywords(code: EditableFunction, node: ast.stmt, before: ast.stmt | None) -> list[tuple[str, str]]:
    """One keyword for another."""
    match node:
        case ast.Break():
            return [("break", "continue"), ("break", "return"), ("break", "pass")]
        case ast.Continue():
            return [("continue", "break"), ("continue", "return"), ("continue", "pass")]
        case ast.Pass() if code.is_in_loop(node):
            return [("pass", "continue"), ("pass", "break")]
        case ast.If():
            return [("if", "elif")] * isinstance(before, ast.If) + [("elif", "if"), ("if", "while")]
        case ast.While() if not leaves_a_loop(node):
            return [("while", "if")]
        case ast.Return(value=ast.expr()):
            return [("return", "yield")]
        case ast.Expr(value=ast.Yield()):
            return [("yield", "return")]
    return []


def _end_block(code: EditableFunction, owner: ast.AST, last: ast.stmt) -> Iterator[Edit]:
    """What may be missing where a block ends: a `return`, or a way out of the loop."""
    start, end = code.start(last), code.end(last)
    if isinstance(last, ast.Expr) and not isinstance(last.value, ast.Yield | ast.YieldFrom | ast.Await):
        words = f"{quote_code(code.text(last))} is returned"
        yield code.edit("missing return", last, (start, start), "return ", words)
    if isinstance(last, ast.Assign):
        yield code.edit("missing return", last, (start, end), f"return {code.text(last.value)}")
    missing: list[str] = []
    if isinstance(owner, Branching) and code.is_in_loop(last):
        missing = ["break", "continue"] if isinstance(owner, ast.If) else ["break"]
    if isinstance(owner, ast.FunctionDef):
        stored = [one.id for one in code.nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]
        given = [one.arg for one in code.nodes if isinstance(one, ast.arg)]
        missing = [f"return {name}" for name in dict.fromkeys([*stored, *given]) if name != "self"]
    yield from _add_below(code, "added", last, missing)


def _add_below(code: EditableFunction, kind: str, last: ast.stmt, lines: list[str]) -> Iterator[Edit]:
    """One more line at the end of a block, unless the block has left already."""
    span = code.whole_lines(last)
    if span is None or isinstance(last, ENDS):
        return
    for line in lines:
        text = f"{shift_lines(code.between(*span))}{code.margin(last)}{line}\n"
        yield code.edit(kind, last, span, text, f"{quote_code(line)} is added below")


def move_statements(code: EditableFunction, owner: ast.AST) -> Iterator[Edit]:
    """Statements in the wrong place: one level too deep or too shallow, or before what should come first."""
    for block in code.blocks(owner):
        for before, after in zip(block, block[1:], strict=False):
            first, second = code.whole_lines(before), code.whole_lines(after)
            if first and second and not isinstance(after, ast.Return | ast.Raise):
                new = shift_lines(code.between(*second)) + code.between(first[1], second[0]) + code.between(*first)
                words = f"{quote_code(code.text(after))} comes before {quote_code(code.text(before))}"
                yield code.edit("exchange", before, (first[0], second[1]), new, words)
            if isinstance(before, NESTING):
                yield from _move_in_at_the_end(code, before, after)
            if isinstance(after, NESTING) and first and not has_long_string([before]):
                inside = code.whole_lines(after.body[0])
                if inside:  # what was done once before a loop is done in each round
                    text = shift_lines(code.between(*first), code.margin(before), code.margin(after.body[0]))
                    new = code.between(first[1], inside[0]) + text
                    words = f"{quote_code(code.text(before))} moves in"
                    yield code.edit("level", before, (first[0], inside[0]), new, words)
        if isinstance(owner, NESTING) and len(block) > 1 and not code.is_elif(owner):
            yield from _move_out(code, owner, block)


def _move_in_at_the_end(code: EditableFunction, nest: ast.stmt, node: ast.stmt) -> Iterator[Edit]:
    """Into the block above it, at each depth at which that block ends."""
    lines = code.whole_lines(node)
    if lines is None or has_long_string([node]):
        return
    inner: ast.stmt = nest
    while isinstance(inner, NESTING):
        block: list[ast.stmt] = getattr(inner, "orelse", []) or inner.body
        inner = block[-1]
        if code.whole_lines(inner) is None:
            return
        if not code.is_elif(inner):
            new = shift_lines(code.between(*lines), code.margin(node), code.margin(inner))
            yield code.edit("level", node, lines, new, f"{quote_code(code.text(node))} moves in")


def _move_out(
    code: EditableFunction, owner: ast.If | ast.For | ast.While | ast.With | ast.Try, block: list[ast.stmt]
) -> Iterator[Edit]:
    """The last statement of a block goes below it, the first one above it."""
    whole = code.whole_lines(owner)
    for node, is_last in ((block[-1], True), (block[0], False)):
        at_edge = code.end(node) == code.end(owner) if is_last else node is owner.body[0]
        bound = isinstance(owner, LOOPS) and leaves_a_loop(node)
        lines = code.whole_lines(node)
        if not at_edge or bound or has_long_string([node]) or not lines or not whole:
            continue
        new = shift_lines(code.between(*lines), code.margin(node), code.margin(owner))
        span = lines if is_last else (whole[0], lines[1])
        new += "" if is_last else code.between(whole[0], lines[0])
        yield code.edit("level", node, span, new, f"{quote_code(code.text(node))} moves out")


def join_conditions(code: EditableFunction, node: ast.If | ast.While) -> Iterator[Edit]:
    """A condition together with another one of the function."""
    test = node.test
    conditions = {code.text(one.test): one.test for one in code.nodes if isinstance(one, ast.If | ast.While)}
    for text, other in list(conditions.items())[:MOST_CONDITIONS]:
        if text != code.text(test):
            both = f"{code.operand(test, AND)} and {code.operand(other, NOT)}"
            yield code.replace("joined", test, both, AND)
            yield code.replace("joined", test, f"{code.operand(test, OR)} or {code.operand(other, AND)}", OR)


def grow(code: EditableFunction, node: ast.expr) -> Iterator[Edit]:
    """An operand or a step through a helper that may be missing.

    A variable, parameter or helper that nothing reads is the best hint there is: somebody meant to use it.
    """
    parent, field = code.parent(node)
    if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        return
    if field in ("func", "value") and isinstance(parent, ast.Call | ast.Attribute | ast.Subscript | ast.Expr):
        return
    value_kind = code.value_kind(node)
    for name in code.unread:
        yield from _use_unread(code, node, name, list(SIGNS) if value_kind != "text" else ["+"])
    for helper in code.unread_helpers:
        yield code.replace("helper", node, f"{helper}({code.text(node)})")
    loops = isinstance(parent, ast.For | ast.comprehension | ast.Starred)
    if isinstance(node, ast.Name) and value_kind in ("", "number") and not loops:
        yield from (_add_operand(code, "growth", node, part.format(node.id)) for part in GROWTH)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("max", "min"):
        other = {"max": "min", "min": "max"}[node.func.id] + code.text(node)[3:]
        yield from (_add_operand(code, "growth", node, f"{sign} {other}") for sign in "-+")


def _use_unread(code: EditableFunction, node: ast.expr, name: str, signs: list[str]) -> Iterator[Edit]:
    """A value joined with what nothing reads: by a sign, as one more argument, as an end of a slice."""
    parent, field = code.parent(node)
    yield from (_add_operand(code, "unread", node, f"{sign} {name}") for sign in signs)
    if isinstance(parent, ast.Call) and field == "args" and node is parent.args[-1]:
        yield code.edit("unread", node, (code.end(node), code.end(node)), f", {name}", f"`{name}` is added")
    match node:
        case ast.Call(func=ast.Name(id=function), args=[_]):
            yield from (_add_operand(code, "unread", node, f"{sign} {function}({name})") for sign in "+-&|^*")
        case ast.Subscript(slice=ast.Slice() as part):
            low, high = (code.text(one) if one else "" for one in (part.lower, part.upper))
            for new in (f"{name}:{high}", f"{low}:{name}", f"{low}:{high}:{name}"):
                yield code.edit("unread", node, (code.start(part), code.end(part)), new)


def _add_operand(code: EditableFunction, kind: str, node: ast.expr, part: str) -> Edit:
    level = LEVELS[SIGNS[part.split()[0]]]
    return code.replace(kind, node, f"{code.operand(node, level)} {part}", level)


def gather(code: EditableFunction, node: Branching) -> Iterator[Edit]:
    """A line in a loop that adds to a variable which begins empty or at zero."""
    last = node.body[-1]
    if not code.is_in_loop(last):
        return
    forms: dict[str, tuple[str, ...]] = {}
    for one in code.nodes:
        match one:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if code.text(value) in GATHERING:
                forms.setdefault(name, GATHERING[code.text(value)])
    names = visible_names(code, last)
    lines: list[str] = []
    for name, form in ((name, form) for name, each in forms.items() for form in each):
        others = names if "{1}" in form else names[:1]
        lines += [form.format(name, other) for other in others if other != name]
    yield from _add_below(code, "gathering", last, lines)


def add_guards(code: EditableFunction, root: Function) -> Iterator[Edit]:
    """A check at the top that somebody forgot: what to answer for nothing, for zero, for too little."""
    first = next((one for one in root.body if one in code.parents), None)
    if root is not code.root or first is None or code.whole_lines(first) is None:
        return
    given = [one.arg for one in (*root.args.posonlyargs, *root.args.args) if one.arg not in ("self", "cls")]
    values = [node.value for node in code.nodes if isinstance(node, ast.Return)]
    own = [code.text(one) for one in values if isinstance(one, ast.Constant)]
    answers = list(dict.fromkeys([*own, *ANSWERS]))
    at = code.line_start(code.start(first))
    margin, outer, inner = code.margin(first), code.margin(root), code.margin(root.body[0])
    step = inner[len(outer) :] if not inner.strip() and len(inner) > len(outer) else "    "
    for test in TESTS:
        for name in given[:MOST_PARAMETERS]:
            for answer in [*answers, name]:
                head, body = f"if {test.format(name)}:", f"return {answer}"
                new = f"{margin}{head}\n{margin}{step}{body}\n"
                yield code.edit("guard", root, (at, at), new, f"`{head} {body}` is added")


STATEMENTS: Rules = ((ast.AST, edit_blocks),)
MOVES: Rules = ((ast.AST, move_statements),)
ADDITIONS: Rules = ((VALUES, grow), ((ast.If, ast.While), join_conditions), ((ast.If, ast.For, ast.While), gather))
GUARDS: Rules = ((FUNCTIONS, add_guards),)
