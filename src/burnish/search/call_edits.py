"""Edits around a value: where a sequence begins and ends, which function is called, one step more or one step less."""

import ast
from collections.abc import Iterator

from burnish.search.editable import ATOM, SUM, EditableFunction, Rules, level_of
from burnish.tasks.source import Edit

NUMERIC = (ast.Name, ast.Call, ast.BinOp, ast.Subscript, ast.Attribute)
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
BESIDE: dict[str, dict[str, None]] = {}
for _circle in map(str.split, TWINS):
    for _name in _circle:
        BESIDE.setdefault(_name, {}).update(dict.fromkeys(one for one in _circle if one != _name))
WRAPPERS = ("len", "sum", "abs", "int", "str", "sorted", "set", "list", "round", "max", "min", "tuple", "float")
CHAINED = ("lower()", "strip()", "upper()", "copy()", "items()", "split()")
FITTING = {
    "number": ("abs", "int", "str", "round", "float"),
    "text": ("len", "int", "sorted", "set", "list", "float"),
    "list": ("len", "sum", "sorted", "set", "list", "max", "min", "tuple"),
    "flag": ("int", "str"),
}
"""What makes sense around a value of a known kind."""
UNWRAPPED = {"reversed", "enumerate", "dict", "iter", "next", "any", "all", "ord", "chr", "frozenset", *WRAPPERS}
UNCHAINED = {"upper", "title", "capitalize", "swapcase", "lstrip", "rstrip", "keys", "values", "casefold", "lower"}
UNCHAINED |= {"strip", "copy", "items", "replace", "sort", "reverse", "split"}


def shift_by_one(code: EditableFunction, node: ast.expr) -> Iterator[Edit]:
    """One more, one less."""
    if not isinstance(node, NUMERIC) or not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        return
    parent, field = code.parent(node)
    kind = ""
    match parent:
        case ast.Slice() | ast.Subscript() if field in ("slice", "lower", "upper"):
            kind = "bound"
        case ast.Call(func=ast.Name(id="range")) if field == "args":
            kind = "bound"
        case ast.Compare() | ast.Return() | ast.BinOp():
            kind = "shift"
        case ast.Assign() | ast.AugAssign() | ast.Call() if field in ("value", "args"):
            kind = "far shift"
    if kind and code.value_kind(node) in ("", "number"):
        yield from (code.replace(kind, node, f"{code.operand(node, SUM)} {sign} 1", SUM) for sign in "+-")


def edit_range(code: EditableFunction, node: ast.Call) -> Iterator[Edit]:
    """A range that begins or ends elsewhere, goes backwards or in steps of two."""
    if not isinstance(node.func, ast.Name) or node.func.id != "range" or node.keywords or not node.args:
        return
    words = [code.text(one) for one in node.args]
    more = [code.operand(one, SUM) for one in node.args]
    others: list[str] = []
    match words:
        case [end]:
            others = [f"1, {end}", f"1, {more[0]} + 1", f"2, {end}", f"2, {more[0]} + 1", f"{end}, 0, -1"]
            others += [f"{more[0]} - 1, -1, -1", f"0, {end}, 2"]
        case [start, end]:
            others = [end, f"0, {end}", f"1, {end}", f"2, {end}", f"{start}, {end}, 2", f"{start}, {end}, -1"]
            others += [f"{more[0]} + 1, {more[1]} + 1", f"{more[0]} - 1, {more[1]} - 1", f"{more[1]} + 1"]
        case [start, end, step]:
            others = [f"{start}, {end}", f"{end}, {start}, {step}", f"{start}, {end}, -{code.operand(node.args[2])}"]
    span = code.start(node.args[0]), code.end(node.args[-1])
    yield from (code.edit("range", node, span, new) for new in others)


def edit_slice(code: EditableFunction, node: ast.Subscript) -> Iterator[Edit]:
    """One end open, the ends exchanged, backwards, in steps of two, or all of it."""
    part = node.slice
    if not isinstance(part, ast.Slice):
        return
    lower, upper, step = (code.text(one) if one else "" for one in (part.lower, part.upper, part.step))
    value = code.text(node.value)
    others = [(lower, "", step), ("", upper, step), (lower, upper, ""), (upper, lower, step)]
    others += [("1", upper, step)] if not lower else []
    others += [(lower, "-1", step)] if not upper else []
    others += [(lower, upper, "-1"), (lower, upper, "2")] if not step else [(lower, upper, "-1")]
    for one in others:
        new = f"{one[0]}:{one[1]}" + (f":{one[2]}" if one[2] else "")
        yield code.edit("slice", node, (code.start(part), code.end(part)), new)
    if isinstance(node.ctx, ast.Load):
        yield code.replace("less", node, value, ATOM)
    if upper and not lower and not step:
        yield code.replace("slice", node, f"{value}[{upper}]")


def edit_index(code: EditableFunction, node: ast.Subscript) -> Iterator[Edit]:
    """Another index or a slice; the whole in the place of a part."""
    if isinstance(node.slice, ast.Slice) or not isinstance(node.ctx, ast.Load):
        return
    value, index = code.text(node.value), code.text(node.slice)
    yield code.replace("less", node, value, ATOM)
    if isinstance(node.value, ast.Subscript) and not isinstance(node.value.slice, ast.Slice):
        inner, first = code.text(node.value.value), code.text(node.value.slice)
        yield code.replace("sides", node, f"{inner}[{index}][{first}]")
    others = [] if isinstance(node.slice, ast.Tuple) else [f":{index}", f"{index}:", f"-{index}"]
    others += [] if isinstance(node.slice, ast.Constant) else ["0", "-1"]
    yield from (code.replace("slice", node, f"{value}[{new}]") for new in others)


def reverse(code: EditableFunction, node: ast.expr) -> Iterator[Edit]:
    """The other way round, where a sequence is likely: what is returned, gone through or compared."""
    parent, field = code.parent(node)
    goes_through = isinstance(parent, ast.For | ast.comprehension) and field == "iter"
    if not goes_through and not isinstance(parent, ast.Return | ast.Compare):
        return
    sequence = code.value_kind(node) in ("", "text", "list")
    if sequence and isinstance(node, ast.Name | ast.Call | ast.Attribute | ast.ListComp | ast.BinOp):
        yield code.replace("reversed", node, f"{code.operand(node)}[::-1]")
        yield from (code.replace("part", node, f"{code.operand(node)}[{new}]") for new in ("0", "-1", "1:", ":-1"))


def edit_call(code: EditableFunction, node: ast.Call) -> Iterator[Edit]:
    """The twin of the function that was called, its arguments in another order, one less or more."""
    name = getattr(node.func, "id", getattr(node.func, "attr", ""))
    span = code.end(node.func) - len(name.encode()), code.end(node.func)
    yield from (code.edit("twin", node, span, other) for other in BESIDE.get(name, ()))
    for left, right in zip(node.args, node.args[1:], strict=False):
        between = code.between(code.end(left), code.start(right))
        swapped = f"{code.text(right)}{between}{code.text(left)}"
        yield code.edit("sides", node, (code.start(left), code.end(right)), swapped)
    places = [*node.args, *node.keywords]
    for before, one in zip(places, places[1:], strict=False):
        yield code.edit("argument", node, (code.end(before), code.end(one)), "")
    if len(places) > 1:
        yield code.edit("argument", node, (code.start(places[0]), code.start(places[1])), "")
    if name in ("sorted", "sort") and "reverse" not in {one.arg for one in node.keywords}:
        inside = code.end(node) - 1
        new = ", reverse=True" if places else "reverse=True"
        yield code.edit("reversed", node, (inside, inside), new, "`reverse=True` is added")


def unwrap(code: EditableFunction, node: ast.Call) -> Iterator[Edit]:
    """One step less around a value."""
    match node:
        case ast.Call(func=ast.Name(id=name), args=[ast.expr() as inner]) if name in UNWRAPPED:
            if not isinstance(inner, ast.Starred):
                yield code.replace("unwrap", node, code.text(inner), level_of(inner))
        case ast.Call(func=ast.Attribute(attr=name, value=value)) if name in UNCHAINED:
            yield code.replace("unwrap", node, code.text(value), level_of(value))


def edit_conditional(code: EditableFunction, node: ast.IfExp) -> Iterator[Edit]:
    """The branches of a conditional value exchanged, or one of them alone."""
    yes, no = node.body, node.orelse
    swapped = f"{code.operand(no, 0)} if {code.operand(node.test, 1)} else {code.operand(yes, 1)}"
    yield code.replace("sides", node, swapped, 0)
    yield from (code.replace("less", node, code.text(one), level_of(one)) for one in (yes, no))


def drop_filter(code: EditableFunction, node: ast.comprehension) -> Iterator[Edit]:
    """A comprehension with one `if` less."""
    for test in node.ifs:
        start = code.data.rfind(b"if", code.end(node.iter), code.start(test))
        yield code.edit("less", node.iter, (start, code.end(test)), "")


def wrap(code: EditableFunction, node: ast.expr) -> Iterator[Edit]:
    """One step more around a value: a function or a method that fits its kind."""
    parent, field = code.parent(node)
    kind = ""
    match parent:
        case ast.Return() | ast.Compare() | ast.For() | ast.comprehension() if field != "target":
            kind = "wrap"
        case ast.Call() if field == "args":
            kind = "wrap"
        case ast.Assign() | ast.AugAssign() | ast.BinOp() if field != "targets":
            kind = "far wrap"
    unfit = isinstance(node, ast.Constant | ast.Compare | ast.BoolOp | ast.Starred | ast.JoinedStr | ast.Lambda)
    if not kind or unfit or not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        return
    value_kind = code.value_kind(node)
    for name in FITTING.get(value_kind, WRAPPERS):
        yield code.replace(kind, node, f"{name}({code.text(node)})")
    for method in CHAINED if value_kind in ("", "text") else ():
        yield code.replace("method", node, f"{code.operand(node)}.{method}")


BOUNDS: Rules = (
    (ast.Call, edit_range),
    (ast.Subscript, edit_slice),
    (ast.Subscript, edit_index),
    (ast.expr, shift_by_one),
    (ast.expr, reverse),
)
CALLS: Rules = ((ast.Call, edit_call),)
WRAPS: Rules = ((ast.Call, unwrap), (ast.IfExp, edit_conditional), (ast.comprehension, drop_filter), (ast.expr, wrap))
