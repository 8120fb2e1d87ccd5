"""Two tests that no code can pass together: `add(2, 2) == 5` and `add(2, 2) == 4`.

The rule: only what is beyond doubt counts. Values are written out, calls are spelled alike, and so are the steps before
them; a test that gives one call two answers speaks of something that changes.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Literal, NamedTuple

from burnish.errors import SetupProblem
from burnish.parsing import PARSE_ERRORS, try_parse
from burnish.tasks.examples import describe_test
from burnish.tasks.test_file import name_in_file
from burnish.text import one_line

Kind = Literal["equal", "unequal", "true", "false", "raises"]
NO_QUOTES: Mapping[str, str] = MappingProxyType({})


class CallClaim(NamedTuple):
    """What a test says of one call."""

    test: str
    node: ast.stmt
    """The statement that says it."""
    call: str
    """The call, with the steps before it."""
    kind: Kind
    value: object

    def allows(self, value: object) -> bool:
        """Whether it holds where the call gives this."""
        if self.kind in ("equal", "unequal"):
            return (value == self.value) is (self.kind == "equal")
        return self.kind != "raises" and bool(value) is (self.kind == "true")

    def excludes(self, other: "CallClaim") -> bool:
        """Whether no code can do both."""
        if self.kind == "equal" or other.kind == "equal":
            one, rest = (self, other) if self.kind == "equal" else (other, self)
            return not rest.allows(one.value)
        kinds = {self.kind, other.kind}
        return kinds == {"true", "false"} or (len(kinds) > 1 and "raises" in kinds)

    def describe(self) -> str:
        """The claim in code; of a test in the user's file, the line and the test's name."""
        name = name_in_file(self.test)
        lines = [ast.unparse(self.node)] if name else self.test.split("\n")
        said = "; ".join(lines) if lines[-1].startswith("assert ") else describe_test("\n".join(lines))
        return f"`{one_line(said.replace('assert ', '', 1))}`" + (f" ({name} in your tests)" if name else "")


def refuse_contradiction(
    tests: Sequence[str],
    way_out: str = "take one of them out and try again.",
    *,
    quotes: Mapping[str, str] = NO_QUOTES,
) -> None:
    """Refuse two examples that say different things of the same call, and say which; `way_out` is what to do.

    `quotes` are the words that examples were read from, if those are no code.
    """
    if pair := _find_conflict(tests):
        read = [f" (read from “{one_line(quotes[one.test])}”)" if one.test in quotes else "" for one in pair]
        said = " and ".join(one.describe() + words for one, words in zip(pair, read, strict=True))
        raise SetupProblem(f"Two of your examples contradict each other: {said} cannot both hold; {way_out}")


def find_contradiction(tests: Sequence[str]) -> tuple[str, str] | None:
    """Two tests that say different things of the same call."""
    pair = _find_conflict(tests)
    return (pair[0].test, pair[1].test) if pair else None


def allow_one_answer(tests: Sequence[str]) -> bool:
    """Whether code that answers every call alike, or raises for every one, passes all these tests; no where one of them
    is more than a claim about a call.
    """
    read = [list(_read_claims(test)) for test in tests]
    claims = [claim for found in read for claim in found]
    values = [True, False, *(claim.value for claim in claims)]
    is_constant = any(all(claim.allows(value) for claim in claims) for value in values)
    return all(read) and (is_constant or all(claim.kind == "raises" for claim in claims))


def _find_conflict(tests: Sequence[str]) -> tuple[CallClaim, CallClaim] | None:
    known: dict[str, list[CallClaim]] = {}
    for test in tests:
        claims = list(_read_claims(test))
        for one in claims:
            if any(one.call == other.call and one.excludes(other) for other in claims):
                continue
            if earlier := next((other for other in known.get(one.call, ()) if one.excludes(other)), None):
                return earlier, one
            known.setdefault(one.call, []).append(one)
    return None


def _read_claims(test: str) -> Iterator[CallClaim]:
    """What a test says of calls alone, and of one after some steps. One with fixtures or parameters is not read."""
    tree = try_parse(test)
    body = tree.body if tree else []
    match body:
        case [ast.FunctionDef(body=inside, decorator_list=[], args=ast.arguments(args=[], kwonlyargs=[]))]:
            body = inside
        case [ast.FunctionDef() | ast.AsyncFunctionDef()]:
            return
    steps: list[str] = []
    for node in body:
        claim = _read_claim(node)
        if claim:
            call, kind, value = claim
            yield CallClaim(test, node, "\n".join([*steps, ast.dump(call)]), kind, value)
        if steps or not claim:  # after steps, a call may change what the next one gives
            steps.append(ast.dump(node))


def _read_claim(node: ast.stmt) -> tuple[ast.expr, Kind, object] | None:
    match node:
        case ast.Assert(
            test=ast.Compare(left=call, ops=[ast.Eq() | ast.Is() | ast.NotEq() as kind], comparators=[right])
        ):
            with suppress(*PARSE_ERRORS, TypeError):
                return call, "unequal" if isinstance(kind, ast.NotEq) else "equal", ast.literal_eval(right)
        case ast.Assert(test=ast.UnaryOp(op=ast.Not(), operand=ast.Call() as call)):
            return call, "false", None
        case ast.Assert(test=ast.Call() as call):
            return call, "true", None
        case ast.With(
            items=[ast.withitem(context_expr=ast.Call(func=ast.Attribute(attr="raises")))],
            body=[ast.Expr(value=ast.Call() as call)],
        ):
            return call, "raises", None
    return None
