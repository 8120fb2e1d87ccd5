"""Examples in plain words become tests: `roman(4) == 'IV'`, `roman(4) -> 'IV'`, `roman(0) raises ValueError`.

The rule: an example is taken only when it is beyond doubt Python. What is not recognised stays part of the prompt.
"""

import ast
import builtins
import re
from collections.abc import Iterator

from burnish.parsing import parse, parse_expression
from burnish.tasks.examples_claims import ANNOUNCED, JOINT, claim_at
from burnish.tasks.examples_pieces import arguments_are_values, expression, longest, own_names_only
from burnish.tasks.syntax import parsed

_START = re.compile(r"(?<![\w.\"'\]])(?:not\s+)?[A-Za-z_]\w*(?:\.\w+)*\(")
_ARROW = re.compile(
    r"\s*(?:==|=>|->|→|⇒|=|(?:should|must|will)?\s*(?:return|give|equal|yield|be|produce)s?\b|is\b|evaluates to\b)\s*"
)
_RAISES = re.compile(
    r"\s*(?:->|=>|→)?\s*(?:(?:should|must|will)\s+)?(?:raise|throw)?s?\s*(?:an?\s+)?([A-Z]\w*(?:Error|Exception))\b"
)
_DOCTEST = re.compile(r">>>\s*(.+)\n\s*(\S.*)")
_STORY = re.compile(r"(?<![\w.])[a-z_]\w*\s*=\s*[A-Za-z_]\w*\([^\n]*?\)\s*;")
_COMPARES = re.compile(r"[=!]=|<|(?<![-=])>|\b(?:in|is)\b")
_VALUE = re.compile(r"[-+\d.'\"(\[{~]|[bBrRuU]{1,2}['\"]|(?:True|False|None)\b|set\(")
_LONGEST = 400


def find_examples(text: str) -> list[str]:
    """Test bodies for every example in the text, in order, without repeats."""
    tests: list[str] = []
    begun = {match.start() for match in _START.finditer(text)}
    announced = {match.end() for match in ANNOUNCED.finditer(text)}
    waiting = sorted(begun | announced, reverse=True)
    end = 0
    while waiting:
        start = waiting.pop()
        if start < end:
            continue
        found = _example_at(text, start) if start in begun else None
        found = found or (claim_at(text, start) if start in announced else None)
        if found:
            test, end = found
            tests.extend(_parts(test))
            if joint := JOINT.match(text, end):
                announced.add(joint.end())
                waiting.append(joint.end())
    tests.extend(_doctests(text))
    return list(dict.fromkeys(_without_halves(tests, find_stories(text))))


def find_stories(text: str) -> list[str]:
    """Tests of several steps: `s = Stack(); s.push(1); s.pop() == 1`, and sessions that build something first."""
    return [*_in_one_line(text), *_sessions(text)]


def _in_one_line(text: str) -> Iterator[str]:
    end = 0
    for match in _STORY.finditer(text):
        if match.start() < end:
            continue
        line = text[match.start() :].split("\n", 1)[0][:_LONGEST]
        told = longest(line.strip("`"), lambda piece: bool(_story(piece.split(";"))))
        if told:
            end = match.start() + len(told)
            yield _story(told.split(";"))


def _sessions(text: str) -> Iterator[str]:
    """What was typed at a prompt up to each answer; an answer to a lone call is a doctest and stands there."""
    steps: list[str] = []
    lines = [line.strip() for line in text.splitlines()]
    for line, following in zip(lines, [*lines[1:], ""], strict=False):
        if not line.startswith(">>> "):
            continue
        typed = line.removeprefix(">>> ")
        answered = following and not following.startswith(">>>") and is_literal(following)
        steps.append(f"{typed} == {following}" if answered else typed)
        if answered and len(steps) > 1 and (story := _story(steps)):
            yield story
        if answered:
            steps[-1] = typed


def _story(steps: list[str]) -> str:
    """Steps that end in a comparison, as a test; empty unless they are Python that stands on its own."""
    lines = [step.strip().removeprefix("assert ") for step in steps]
    tree = parsed("\n".join(lines))
    if len(lines) < 2 or not tree or len(tree.body) != len(lines):
        return ""
    last = tree.body[-1]
    plain = all(isinstance(node, ast.Assign | ast.AugAssign | ast.Expr) for node in tree.body)
    makes = isinstance(tree.body[0], ast.Assign) and isinstance(tree.body[0].value, ast.Call)
    compares = isinstance(last, ast.Expr) and isinstance(last.value, ast.Compare)
    if not (plain and makes and compares and own_names_only(tree)):
        return ""
    return "\n".join([*lines[:-1], f"assert {lines[-1]}"])


def _without_halves(tests: list[str], stories: list[str]) -> list[str]:
    """An example that is the last step of a story is part of it, and no test of its own."""
    told = {line for story in stories for line in story.split("\n")}
    return [test for test in tests if test not in told] + stories


def called_names(test: str) -> list[str]:
    """The functions a test calls that Python itself does not provide, in order of appearance."""
    calls = [node.func for node in ast.walk(parse(test)) if isinstance(node, ast.Call)]
    names = [name for name in calls if isinstance(name, ast.Name) and not hasattr(builtins, name.id)]
    return list(dict.fromkeys(name.id for name in sorted(names, key=lambda name: (name.lineno, name.col_offset))))


def is_error(name: str) -> bool:
    """Whether it names an exception that needs no import."""
    kind = getattr(builtins, name, None)
    return isinstance(kind, type) and issubclass(kind, Exception)


def in_words(test: str) -> str:
    """A test as one line that a small model understands; an assertion stays as it is."""
    match = re.fullmatch(r"with pytest\.raises\((\w+)\):\s*(.+)", test, re.DOTALL)
    return f"{match[2].strip()} must raise {match[1]}" if match else test


def as_doctest(test: str) -> list[str]:
    """A test as the lines of a docstring's example."""
    tree = parsed(test)
    if tree is None or not tree.body:
        return [test]
    *steps, node = tree.body
    compare = node.test if isinstance(node, ast.Assert) else None
    if isinstance(compare, ast.Compare) and len(compare.ops) == 1 and isinstance(compare.ops[0], ast.Eq):
        typed = [f">>> {ast.unparse(step)}" for step in steps]
        return [*typed, f">>> {ast.unparse(compare.left)}", ast.unparse(compare.comparators[0])]
    words = in_words(test)
    return [f">>> {words.replace(' must raise ', '  # raises ')}"] if words != test else [test]


def _parts(test: str) -> list[str]:
    """`a and b` says two things, so it is two tests."""
    node = parse(test).body[0]
    if isinstance(node, ast.Assert) and isinstance(node.test, ast.BoolOp):
        return [f"assert {ast.get_source_segment(test, value)}" for value in node.test.values]
    return [test]


def _example_at(text: str, start: int) -> tuple[str, int] | None:
    piece = text[start : start + _LONGEST]
    comparison = longest(piece, _is_comparison)
    if comparison:
        return f"assert {comparison}", start + len(comparison)
    call = _shortest_call(piece)
    if not call:
        return None
    rest = piece[len(call) :]
    raises = _RAISES.match(rest)
    if raises and is_error(raises[1]):
        return f"with pytest.raises({raises[1]}):\n    {call}", start + len(call) + raises.end()
    arrow = _ARROW.match(rest)
    value = longest(rest[arrow.end() :], is_literal) if arrow else ""
    if not arrow or not value:
        return None
    return f"assert {call} == {value}", start + len(call) + arrow.end() + len(value)


def _doctests(text: str) -> Iterator[str]:
    for match in _DOCTEST.finditer(text):
        call, value = match[1].strip(), match[2].strip()
        if expression(call) and _shortest_call(call) == call and is_literal(value):
            yield f"assert {call} == {value}"


def _shortest_call(text: str) -> str:
    for match in re.finditer(r"\)", text):
        piece = text[: match.end()]
        node = expression(piece)
        if isinstance(node, ast.Call):
            return piece if own_names_only(node) and arguments_are_values(node) else ""
    return ""


def _is_comparison(piece: str) -> bool:
    node = expression(piece) if _COMPARES.search(piece) else None
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        return all(_compares(value) for value in node.values) and own_names_only(node)
    return node is not None and _compares(node) and own_names_only(node) and arguments_are_values(node)


def _compares(node: ast.AST) -> bool:
    """Whether it is `call(…) == value` or a relative of that."""
    if not isinstance(node, ast.Compare) or not any(isinstance(child, ast.Call) for child in ast.walk(node)):
        return False
    sides = [node.left, *node.comparators]
    for operator, right in zip(node.ops, sides[1:], strict=True):
        if isinstance(operator, ast.Is | ast.IsNot) and not _is_singleton(right):
            return False
    return True


def _is_singleton(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, bool))


def is_literal(piece: str) -> bool:
    """Whether a text is one value, written out."""
    if piece[-1:] == "," or not _VALUE.match(piece):
        return False
    try:
        value = ast.literal_eval(parse_expression(piece))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return False
    return value is not Ellipsis and not (isinstance(value, tuple) and not piece.startswith("("))
