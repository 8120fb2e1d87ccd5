"""Examples in plain words become tests: `roman(4) == 'IV'`, `roman(4) -> 'IV'`, `roman(0) raises ValueError`.

The rule: an example is taken only when it is beyond doubt Python. What is not recognised stays part of the prompt.
After "e.g." an example need not begin with the call (`'7' in render(x)`, `not f(3)`, `isinstance(f(2), int)`): in the
middle of a sentence such words may be prose, so they count only where an example is announced or follows one.
"""

import ast
import builtins
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import NamedTuple

from burnish.parsing import PARSE_ERRORS, parse, parse_expression, try_parse, try_parse_expression
from burnish.text import one_line

_START = re.compile(r"(?<![\w.\"'\]])(?:not\s+)?[A-Za-z_]\w*(?:\.\w+)*\(")
_ARROW = re.compile(
    r"`?\s*(?:==|=>|->|→|⇒|=|(?:should|must|will)?\s*(?:return|give|equal|yield|be|produce)s?\b|is\b|evaluates to\b|"
    r"(?:soll(?:te)?|muss|ist|ergibt|liefert|gibt|wird\s+zu)\b)\s*`?"
)
_RAISES = re.compile(
    r"`?\s*(?:->|=>|→)?\s*(?:(?:should|must|will|soll|muss)\s+)?(?:raise|throw|wirft|löst)?s?\s*(?:an?\s+|einen?\s+)?`?"
    r"([A-Z]\w*(?:Error|Exception))\b"
)
_DOCTEST = re.compile(r">>>\s*(.+)\n\s*(\S.*)")
_STEP_ENDS = re.compile(r"`?\s*(?:;|,|\b(?:and|then|und|dann)\b)(?:\s*(?:and|then|und|dann)\b)*\s*`?")
_STEPS = re.compile(rf"(?<![\w.])[a-z_]\w*\s*=\s*[A-Za-z_]\w*\([^\n]*?\){_STEP_ENDS.pattern}")
_MEMBER = re.compile(r"(?:\.[A-Za-z_]\w*)+")
_ATTRIBUTE = re.compile(rf"[A-Za-z_]\w*{_MEMBER.pattern}(?!\w*\()")
_OBJECT = re.compile(r"\b(?:from|on|of|to|in|with|into|von|aus|auf|bei)\s+`?$", re.IGNORECASE)
"""What stands before a new object that something else is done with: "taking 20 from BankAccount(10) raises …"."""
_COMPARES = re.compile(r"[=!]=|<|(?<![-=])>|\b(?:in|is)\b")
_VALUE = re.compile(r"[-+\d.'\"(\[{~]|[bBrRuU]{1,2}['\"]|(?:True|False|None)\b|set\(")
_ANNOUNCED = re.compile(r"(?<!\w)(?:e\.\s?g\.|(?:for|an) (?:example|instance)\b|examples?:)[:,]?\s*`?", re.IGNORECASE)
_JOINT = re.compile(r"`?\s*(?:[,;]\s*(?:and\s+)?|and\s+)`?")
_CLAIM_ENDS = re.compile(r"\s*(?:$|\n|\.(?!\w)|[,;:)`—–]|(?:and|as|because|since|while|whereas)\b)")
_QUESTIONS = ("isinstance", "all", "any", "callable", "issubclass")
"""Functions of Python that answer yes or no."""
_LONGEST = 400
_LONGEST_ARROW = 40
_MOST_BRACKETS = 200
_NUMBER = re.compile(r"(?<![\w.,-])-?\d+(?:\.\d+)?(?![\w-]|[.,]\d)", re.ASCII)
_BOUND = re.compile(
    r"\b(?:multiples? of|divisible by|(?:at|the) (?:least|most)|(?:more|less|fewer|greater|smaller|larger) than|below|"
    r"above|under|over|up to|between(?: \S+ and)?|first|last|every|modulo|Vielfachen? von|teilbar durch|mindestens|"
    r"höchstens|(?:mehr|weniger|größer|kleiner) als|unter|über|ab|bis|zwischen(?: \S+ und)?|ersten?|letzten?)\s+$",
    re.IGNORECASE,
)
_UNIT = re.compile(
    r"\s*(?:%|percent|per cent|prozent|(?:decimal )?places|decimals|(?:nachkomma)?stellen)", re.IGNORECASE
)
"""What stands around a number that belongs to a rule and is no value of an example: "at least 8", "19 percent"."""
_QUOTED = re.compile(
    r"(?<![\w'\"])(?P<quote>['\"])(?P<plain>(?:(?!(?P=quote))[^\n\\]){0,200})(?P=quote)(?![\w'\"])"
    r"|„(?P<low>[^„“”\n]{0,200})[“”]|“(?P<high>[^“”\n]{0,200})”|»(?P<angle>[^»«\n]{0,200})«"
)
_WORD_VALUES = {"true": "True", "wahr": "True", "false": "False", "falsch": "False", "none": "None"}
_WORD_VALUE = re.compile(rf"(?<![\w'\"])(?:{'|'.join(_WORD_VALUES)})(?![\w'\"])", re.IGNORECASE)
ASSUMED = "  # assumed"
"""Ends a test that says what the model assumed: nobody has said that it is right."""


class TextValue(NamedTuple):
    """A value that stands in a text, as Python writes it, and where."""

    literal: str
    start: int
    end: int


def find_examples(text: str) -> list[str]:
    """Test bodies for every example in the text, in order, without repeats."""
    tests: list[str] = []
    begun = {match.start() for match in _START.finditer(text)}
    announced = {match.end() for match in _ANNOUNCED.finditer(text)}
    waiting = sorted(begun | announced, reverse=True)
    end = 0
    while waiting:
        start = waiting.pop()
        if start < end:
            continue
        found = _example_at(text, start) if start in begun else None
        found = found or (_claim_at(text, start) if start in announced else None)
        if found:
            test, end = found
            match parse(test).body[0]:
                case ast.Assert(test=ast.BoolOp(values=values)):  # `a and b` says two things, so it is two tests
                    tests += [f"assert {ast.get_source_segment(test, value)}" for value in values]
                case _:
                    tests.append(test)
            if joint := _JOINT.match(text, end):
                announced.add(joint.end())
                waiting.append(joint.end())
    for match in _DOCTEST.finditer(text):
        call, value = match[1].strip(), match[2].strip()
        if try_parse_expression(call) and _shortest_call(call) == call and is_literal(value):
            tests.append(f"assert {call} == {value}")
    longer = [*_one_line_steps(text), *_session_steps(text)]
    steps = {line for test in longer for line in test.split("\n")}  # a last step is no example of its own
    return list(dict.fromkeys([*(test for test in tests if test not in steps), *longer]))


def find_assumed_tests(assumptions: Sequence[str]) -> dict[str, str]:
    """The marked tests that assumptions give, each with its assumption; words that decide nothing give none."""
    return {f"{test}{ASSUMED}": point for point in assumptions for test in find_examples(point)}


def is_refusal(test: str) -> bool:
    """Whether a test says that a call gives an error, or None."""
    return not test.startswith("assert ") or test.endswith((" == None", " is None"))


def is_edge_case(test: str, with_refusals: bool = True) -> bool:
    """Whether a test says what a value gives that is empty, zero, below zero or the only one of its kind, or, where
    refusals count, that any value is refused. All values must be written out.

    One letter beside other values is no such case: mostly it is a unit, a separator or a mode.
    """
    calls = [node for node in ast.walk(parse(test)) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    try:
        values = [ast.literal_eval(value) for call in calls for value in call.args]
    except ValueError:
        return False
    negative = [value for value in values if isinstance(value, int | float) and value < 0]
    kinds = (str, list, tuple, dict, set)[len(values) > 1 :]
    single = [value for value in values if isinstance(value, kinds) and len(value) == 1]
    return (with_refusals and is_refusal(test)) or bool(negative or single) or not all(values)


def find_unread_example(text: str, names: set[str]) -> str:
    """What a sentence announces as an example of one of the functions, in short; empty where it announces none."""
    for mark in _ANNOUNCED.finditer(text):
        line = text[mark.end() : mark.end() + _LONGEST].split("\n", 1)[0]
        if any(re.search(rf"(?<![\w.]){re.escape(name)}\(", line) for name in names if name):
            return one_line(line.rstrip("` ."), 80)
    return ""


def find_called_names(test: str) -> list[str]:
    """The functions a test calls that Python itself does not provide, in order of appearance."""
    calls = [node.func for node in ast.walk(parse(test)) if isinstance(node, ast.Call)]
    names = [name for name in calls if isinstance(name, ast.Name) and not hasattr(builtins, name.id)]
    return list(dict.fromkeys(name.id for name in sorted(names, key=lambda name: (name.lineno, name.col_offset))))


def is_error(name: str) -> bool:
    """Whether it names an exception that needs no import."""
    kind = getattr(builtins, name, None)
    return isinstance(kind, type) and issubclass(kind, Exception)


def is_literal(piece: str) -> bool:
    """Whether a text is one value, written out."""
    if piece[-1:] == "," or not _VALUE.match(piece):
        return False
    with suppress(*PARSE_ERRORS):
        value = ast.literal_eval(parse_expression(piece))
        return value is not Ellipsis and not (isinstance(value, tuple) and not piece.startswith("("))
    return False


def describe_test(test: str) -> str:
    """A test as one line that a small model understands; an assertion stays as it is."""
    match = re.fullmatch(r"with pytest\.raises\((\w+)\):\s*(.+)", test.removesuffix(ASSUMED), re.DOTALL)
    return f"{match[2].strip()} must raise {match[1]}" if match else test


def as_doctest(test: str) -> list[str]:
    """A test as the lines of a docstring's example."""
    tree = try_parse(test)
    if tree is None or not tree.body:
        return [test]
    match tree.body[-1]:
        case ast.Assert(test=ast.Compare(left=left, ops=[ast.Eq()], comparators=[right])):
            typed = [*tree.body[:-1], left]
            return [*(f">>> {ast.unparse(step)}" for step in typed), ast.unparse(right)]
    words = describe_test(test)
    return [f">>> {words.replace(' must raise ', '  # raises ')}"] if words != test else [test]


def find_values(text: str) -> list[TextValue]:
    """The values that stand in a text, in order: numbers, quoted texts, lists and the like, true and false.

    What is inside another one is no value of its own, and a number that bounds something ("at most 80") is none.
    """
    found = [
        TextValue(repr(next(part for part in match.group("plain", "low", "high", "angle") if part is not None)), *at)
        for match in _QUOTED.finditer(text)
        if (at := match.span())
    ]
    for match in islice(re.finditer(r"[\[({]", text), _MOST_BRACKETS):
        ends = _possible_ends(text[match.start() : match.start() + _LONGEST])
        piece = text[match.start() : match.start() + ends[0]] if ends else ""
        with suppress(*PARSE_ERRORS, TypeError):
            node = parse_expression(piece)
            if isinstance(ast.literal_eval(node), list | tuple | dict | set):
                found.append(TextValue(ast.unparse(node), match.start(), match.start() + len(piece)))
    for match in _NUMBER.finditer(text):
        is_bound = _BOUND.search(text, max(0, match.start() - 40), match.start()) or _UNIT.match(text, match.end())
        if not is_bound and is_literal(match[0]):
            found.append(TextValue(match[0], *match.span()))
    found += [TextValue(_WORD_VALUES[match[0].lower()], *match.span()) for match in _WORD_VALUE.finditer(text)]
    values: list[TextValue] = []
    for value in sorted(found, key=lambda one: (one.start, -one.end)):
        if not values or value.start >= values[-1].end:
            values.append(value)
    return values


def blank_examples(text: str, tests: Sequence[str]) -> str:
    """The text, with spaces in the place of examples in code that gave these tests."""
    for test in tests:
        call, _, value = test.removeprefix("assert ").partition(" == ")
        start = text.find(call)
        end = text.find(value, start + len(call)) + len(value)
        if start >= 0 and 0 <= end - start - len(call) - len(value) < _LONGEST_ARROW:
            text = text[:start] + re.sub(r"\S", " ", text[start:end]) + text[end:]
    return text


def _example_at(text: str, start: int, known: Collection[str] = ()) -> tuple[str, int] | None:
    """The test that the example at this place states, and where it ends; `known` are names that earlier steps gave."""
    piece = text[start : start + _LONGEST]
    if comparison := _longest(piece, _is_comparison):
        return f"assert {comparison}", start + len(comparison)
    call = _shortest_call(piece, known)
    if not call:
        return None
    rest = piece[len(call) :]
    raises = _RAISES.match(rest)
    if raises and is_error(raises[1]) and not (call[:1].isupper() and _OBJECT.search(text, 0, start)):
        return f"with pytest.raises({raises[1]}):\n    {call}", start + len(call) + raises.end()
    arrow = _ARROW.match(rest)
    value = _longest(rest[arrow.end() :], is_literal) if arrow else ""
    if not arrow or not value:
        return None
    return f"assert {call} == {value}", start + len(call) + arrow.end() + len(value)


def _claim_at(text: str, start: int) -> tuple[str, int] | None:
    """The test that an announced expression states, and where it ends; `4 == f(2)` is stated as `f(2) == 4`."""
    piece = text[start : start + _LONGEST]
    claim = _longest(piece, lambda begun: _CLAIM_ENDS.match(piece, len(begun)) is not None and _is_claim(begun))
    if not claim:
        return None
    match try_parse_expression(claim):
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[ast.Call() as right]) if not _has_call(left):
            turned = f"{ast.get_source_segment(claim, right)} == {ast.get_source_segment(claim, left)}"
            return f"assert {turned}", start + len(claim)
    return f"assert {claim}", start + len(claim)


def _one_line_steps(text: str) -> Iterator[str]:
    """Tests of several steps in one line: `s = Stack(); s.push(1); s.pop() == 1`."""
    end = 0
    for match in _STEPS.finditer(text):
        if match.start() < end:
            continue
        line = text[match.start() :].split("\n", 1)[0][:_LONGEST]
        if steps := _longest(line.strip("`"), lambda piece: bool(_join_steps(_split_steps(piece)))):
            end = match.start() + len(steps)
            yield _join_steps(_split_steps(steps))


def _session_steps(text: str) -> Iterator[str]:
    """What was typed at a prompt up to each answer; an answer to a lone call is a doctest and stands there."""
    steps: list[str] = []
    lines = [line.strip() for line in text.splitlines()]
    for line, following in zip(lines, [*lines[1:], ""], strict=False):
        if not line.startswith(">>> "):
            continue
        typed = line.removeprefix(">>> ")
        answered = following and not following.startswith(">>>") and is_literal(following)
        steps.append(f"{typed} == {following}" if answered else typed)
        if answered and (test := _join_steps(steps)):
            yield test
        steps[-1] = typed


def _split_steps(text: str) -> list[str]:
    """The parts of a line that semicolons, commas and words such as "then" divide, outside of brackets and quotes."""
    ends, parts, start = {*_possible_ends(text)}, list[str](), 0
    for match in _STEP_ENDS.finditer(text):
        if match.start() in ends:
            parts.append(text[start : match.start()])
            start = match.end()
    return [*parts, text[start:]]


def _join_steps(steps: list[str]) -> str:
    """Steps that make something, use it and end with what is then so, as a test; empty unless they stand on their own.

    Making it once more begins another test.
    """
    lines = [_read_step(step.strip()) for step in steps]
    tree = try_parse("\n".join(lines)) if len(lines) > 1 and all(lines) else None
    match tree.body if tree else []:
        case [ast.Assign(targets=[ast.Name(id=made)], value=ast.Call()), *between, ast.Assert() | ast.With()]:
            kinds = ast.Assign | ast.AugAssign | ast.Expr | ast.Assert | ast.With
            again = [node for node in between if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == made]
            if tree and not again and all(isinstance(node, kinds) for node in between) and _has_own_names_only(tree):
                return "\n".join(lines)
    return ""


def _read_step(step: str) -> str:
    """One step as Python: what is said of a call, by a sign or in words, as a test."""
    text = step.removeprefix("assert ")
    node = try_parse_expression(text)
    if isinstance(node, ast.Compare) and _compares(node):
        return f"assert {text}"
    if try_parse(text) and not isinstance(node, ast.Compare):
        return text
    if (name := _ATTRIBUTE.match(text)) and (arrow := _ARROW.match(text, name.end())):
        return f"assert {name[0]} == {text[arrow.end() :]}" if is_literal(text[arrow.end() :]) else ""
    found = _example_at(text, 0, re.findall(r"^[A-Za-z_]\w*", text))
    return found[0] if found and found[1] == len(text) else ""


def _shortest_call(text: str, known: Collection[str] = ()) -> str:
    """The call that a text begins with, and what is done with the object that it makes: `Cart(1).add(2)`."""
    piece, node = "", None
    for match in re.finditer(r"\)", text):
        if match.end() < len(piece):
            continue
        node = try_parse_expression(text[: match.end()])
        if isinstance(node, ast.Call):
            member = _MEMBER.match(text, match.end())
            piece = text[: member.end() if member else match.end()]
            if not text.startswith("(", len(piece)):
                break
    whole = try_parse_expression(piece) if piece else None
    return piece if whole and _has_own_names_only(whole, known) and not _leaves_out(whole) else ""


def _is_comparison(piece: str) -> bool:
    """Whether it is `call(…) == value` or a relative of that, or several of them joined by `and`."""
    node = try_parse_expression(piece) if _COMPARES.search(piece) else None
    parts = _joined_parts(node)
    return bool(parts) and all(_compares(part) and _has_call(part) for part in parts)


def _is_claim(piece: str) -> bool:
    """Whether every part is yes or no, and something is called that Python itself does not have."""
    node = try_parse_expression(piece)
    parts = _joined_parts(node)
    heads = [part.func for part in ast.walk(node) if isinstance(part, ast.Call)] if node else []
    own = any(isinstance(head, ast.Name) and not hasattr(builtins, head.id) for head in heads)
    return own and bool(parts) and all(_is_yes_or_no(part) for part in parts)


def _joined_parts(node: ast.expr | None) -> list[ast.expr]:
    """What `and` joins, or the expression alone; none where it speaks of unknown names or leaves something out."""
    if node is None or not _has_own_names_only(node) or _leaves_out(node):
        return []
    return node.values if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And) else [node]


def _compares(node: ast.expr) -> bool:
    """Whether it is a comparison; of anything but None, True and False `is` is prose."""
    if not isinstance(node, ast.Compare):
        return False
    pairs = zip(node.ops, node.comparators, strict=True)
    others = [right for kind, right in pairs if isinstance(kind, ast.Is | ast.IsNot)]
    return all(isinstance(one, ast.Constant) and isinstance(one.value, bool | None) for one in others)


def _has_call(node: ast.AST) -> bool:
    return any(isinstance(part, ast.Call) for part in ast.walk(node))


def _is_yes_or_no(node: ast.expr) -> bool:
    """Whether it can only be meant as true or false; a bare call of the function says nothing."""
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return isinstance(operand, ast.Call) or _is_yes_or_no(operand)
        case ast.Call(func=ast.Name(id=name)):
            return name in _QUESTIONS
    return _compares(node)


def _longest(text: str, fits: Callable[[str], bool]) -> str:
    """The longest beginning of the text that fits; a full stop at its end is the sentence's, not the number's."""
    line = text if text.lstrip().startswith(("[", "{", "(")) else text.split("\n", 1)[0]
    for end in reversed(_possible_ends(line)):
        piece = line[:end].rstrip()
        if piece and fits(piece):
            shorter = piece.rstrip(".")
            return shorter if shorter != piece and fits(shorter) else piece
    return ""


def _possible_ends(text: str) -> list[int]:
    """Where a beginning of the text may end: outside of brackets and quotes. Parsing at every place takes for ever."""
    ends, depth, quote, skip = [], 0, "", False
    for place, letter in enumerate(text, 1):
        if skip or letter == "\\":
            skip = not skip
        elif quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        else:
            depth += (letter in "([{") - (letter in ")]}")
        if depth < 0:
            break
        if not (depth or quote or skip):
            ends.append(place)
    return ends


def _has_own_names_only(node: ast.AST, given: Collection[str] = ()) -> bool:
    """Every name is called or built in: `f(n) == n` in a sentence speaks of all n and is no example.

    A dot with a space behind it is a full stop: `f(4) == 'IV'. It` asks for no attribute.
    """
    known = {"pytest", *given}
    used: set[str] = set()
    for part in ast.walk(node):
        match part:
            case ast.Call(func=ast.Name(id=name)) | ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                known.add(name)
            case ast.Name(id=name):
                used.add(name)
            case ast.Attribute(value=value) if part.end_lineno == value.end_lineno:
                if (part.end_col_offset or 0) - len(part.attr.encode()) - (value.end_col_offset or 0) > 1:
                    return False
    return all(name in known or hasattr(builtins, name) for name in used)


def _leaves_out(node: ast.AST) -> bool:
    """Whether something is left out with three dots."""
    return any(isinstance(part, ast.Constant) and part.value is Ellipsis for part in ast.walk(node))
