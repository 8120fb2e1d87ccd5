"""Examples that no code can fulfil together are the user's to put right, before anything is asked or run."""

import ast
from collections.abc import Sequence

from burnish.errors import SetupProblem
from burnish.parsing import PARSE_ERRORS, try_parse
from burnish.text import one_line

RAISES = "raises "


def refuse_contradiction(tests: Sequence[str], way_out: str = "take one of them out and try again.") -> None:
    """Refuse two examples that say different things of the same call, and say which; `way_out` is what to do."""
    pair = find_contradiction(tests)
    if pair:
        raise SetupProblem(
            f"Two of your examples contradict each other: `{one_line(pair[0])}` and `{one_line(pair[1])}`. "
            f"No code can pass both; {way_out}"
        )


def find_contradiction(tests: Sequence[str]) -> tuple[str, str] | None:
    """Two examples that say different things of the same call; only values that are written out can differ."""
    seen: dict[str, list[tuple[object, str]]] = {}
    for test in tests:
        claim = _read_claim(test)
        if claim is None:
            continue
        call, value = claim
        known = seen.setdefault(call, [])
        other = next((earlier for what, earlier in known if what != value), None)
        if other is not None:
            return other, test
        known.append((value, test))
    return None


def _read_claim(test: str) -> tuple[str, object] | None:
    """What a test of one step says: the call, and its error or its value in a box, so that none looks like an error."""
    tree = try_parse(test)
    match tree.body if tree else []:
        case [ast.Assert(test=ast.Compare(left=call, ops=[ast.Eq()], comparators=[right]))]:
            try:
                return ast.dump(call), (ast.literal_eval(right),)
            except (*PARSE_ERRORS, TypeError):
                return None
        case [ast.With(body=[ast.Expr(value=call)])]:
            return ast.dump(call), RAISES
    return None
