"""Which one function of a module was changed, told from the lines alone."""

import pytest

from burnish.checks.bench.batch_trials import change_of

BASE = (
    "import os\n\n\n@cache\ndef f(n, m=1):\n    return n\n\n\nclass A:\n    x = 1\n\n"
    "    def g(self):\n        return 1\n\n    def h(self):\n        return 1\n"
)


@pytest.mark.parametrize(
    ("old", "new", "owner", "line"),
    [
        ("return n\n", "return m\n", "", 5),
        ("m=1", "m=2", "", 5),
        ("    return n\n", "    if n:\n        return m\n    return n\n", "", 5),
        ("def g(self):\n        return 1", "def g(self):\n        return 2", "A", 12),
        ("def h(self):\n        return 1\n", "def h(self):\n        return 1\n        return 1\n", "A", 15),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_change_within_one_function_is_found(old, new, owner, line, end):
    assert old in BASE
    change = change_of(BASE.replace("\n", end), BASE.replace(old, new).replace("\n", end), "m.py")
    assert change is not None
    assert (change["owner"], change["line"]) == (owner, line)
    assert change["was"] != change["text"]
    assert not change["text"].startswith(" ")


@pytest.mark.parametrize(
    "module",
    [
        BASE,
        "not python (",
        BASE.replace("import os", "import sys"),
        BASE.replace("x = 1", "x = 2"),
        BASE.replace("@cache\n", ""),
        BASE.replace("f(n, m=1)", "f(n, k=1)"),
        BASE.replace("def f(", "async def f("),
        BASE.replace("return n", "return (n"),
        BASE.replace("return n", "return 2").replace("return 1", "return 2"),
        BASE + "\n\ndef z():\n    pass\n",
    ],
)
def test_what_is_more_than_the_body_of_one_function_is_not_swapped(module):
    assert change_of(BASE, module, "m.py") is None
