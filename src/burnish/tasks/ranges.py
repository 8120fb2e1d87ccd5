"""A range and an error for everything outside it are two tests: "1..3999 …; ValueError for anything else"."""

import ast
import re

from burnish.parsing import parse
from burnish.tasks.examples import is_error

_RANGE = re.compile(
    r"(?:\b(?:from|between)\s+)?(?<![\w.])(-?\d{1,18})\s*(?:\.\.\.?|…|–|to|and|through)\s*(-?\d{1,18})(?![\w.]*\w)",
    re.ASCII,
)
_ELSE = re.compile(
    r"\b([A-Z]\w*(?:Error|Exception))\b\s+(?:for|on|if|when)\s+"
    r"(?:anything\s+else|everything\s+else|any(?:thing)?\s+other|all\s+other|other|outside|out\s+of\s+range)"
    r"|(?:otherwise|anything\s+else|everything\s+else)[,:]?\s+(?:it\s+)?(?:raises?|is|throws?)\s+(?:an?\s+)?"
    r"([A-Z]\w*(?:Error|Exception))\b",
    re.IGNORECASE,
)


def find_edges(prompt: str, signature: str) -> list[str]:
    """Tests that the numbers next to the range raise; none unless range, error and single parameter are plain."""
    ranges = {(int(low), int(high)) for low, high in _RANGE.findall(prompt) if int(low) < int(high)}
    errors = [named for first, second in _ELSE.findall(prompt) if is_error(named := first or second)]
    if len(ranges) != 1 or len(errors) != 1 or not _takes_one(signature):
        return []
    name = signature.split("(")[0]
    ((low, high),) = ranges
    return [f"with pytest.raises({errors[0]}):\n    {name}({value})" for value in (low - 1, high + 1)]


def _takes_one(signature: str) -> bool:
    if "(" not in signature:
        return False
    function = parse(f"def {signature}: pass").body[0]
    assert isinstance(function, ast.FunctionDef)
    taken = function.args
    return len(taken.posonlyargs) + len(taken.args) == 1 and not (taken.vararg or taken.kwonlyargs or taken.kwarg)
