"""Conditions negated, branches dropped, other names returned."""

import ast

from burnish.search.branch_edits import DROPPED, propose_branch_edits

CODE = """\
def f(a, b):
    if not a:
        return b
    elif a > 1 and b:
        b += 1
    else:
        b = 2
    for one in range(a):
        b += one
    return b if b else 0
"""


def edits(code: str, name: str = "f") -> list[tuple[str, str, str]]:
    return [(edit.kind, edit.old, edit.new) for _, edit in propose_branch_edits(code, name)]


def test_every_branch_is_dropped_once_and_every_condition_negated() -> None:
    found = edits(CODE)
    assert [old for kind, old, _ in found if kind == DROPPED] == [
        "return b",
        "b += 1",
        "b = 2",
        "b += one",
        "return b if b else 0",
    ]
    assert ("sign", "not a", "a") in found
    assert ("not", "a > 1 and b", "not (a > 1 and b)") in found
    assert {new for kind, _, new in found if kind == "less"} == {"a > 1", "b"}
    assert ("returned", "b", "a") in found


def test_what_comes_out_is_python_and_another_program() -> None:
    for module, _ in propose_branch_edits(CODE, "f"):
        assert ast.dump(ast.parse(module)) != ast.dump(ast.parse(CODE))


def test_where_nothing_is_decided_there_is_nothing_to_take_out() -> None:
    assert edits("def f(a):\n    return a + 1\n") == []
    assert edits("def f(a):\n    if a:\n        pass\n")[0][0] == "not"
    assert edits("def g():\n    pass\n") == edits("def f(:\n") == []
    assert edits("class f:\n    x = 1\n") == []
