"""A check at the top that somebody forgot: what to answer for nothing, for zero, for too little."""

import ast
from collections.abc import Iterator

from burnish.agent.tweaks.blocks import lines_of, margin_of, step_of
from burnish.agent.tweaks.code import Code
from burnish.agent.tweaks.edit import Edit

ANSWERS = ("None", "0", "[]", "False", '""', "True", "1", "-1")
TESTS = ("not {0}", "{0} <= 0", "{0} < 2", "len({0}) < 2")
MOST_PARAMETERS = 3


def guards(code: Code) -> Iterator[Edit]:
    """An early return for each of the first parameters."""
    root = code.root
    first = next((one for one in root.body if one in code.parents), None)
    if isinstance(root, ast.ClassDef) or first is None or lines_of(code, first) is None:
        return
    given = [one.arg for one in (*root.args.posonlyargs, *root.args.args) if one.arg not in ("self", "cls")]
    answers = list(dict.fromkeys([*_own_answers(code), *ANSWERS]))
    for test in TESTS:
        for name in given[:MOST_PARAMETERS]:
            for answer in [*answers, name]:
                yield _guard(code, first, f"if {test.format(name)}:", f"return {answer}")


def _own_answers(code: Code) -> list[str]:
    """What the function itself returns, where it is a plain value."""
    values = [node.value for node in code.nodes if isinstance(node, ast.Return)]
    return [code.text(one) for one in values if isinstance(one, ast.Constant)]


def _guard(code: Code, first: ast.stmt, test: str, answer: str) -> Edit:
    at = code.line_start(code.start(first))
    margin = margin_of(code, first)
    new = f"{margin}{test}\n{margin}{step_of(code)}{answer}\n"
    return code.span("guard", code.root, at, at, new, f"`{test} {answer}` is added")
