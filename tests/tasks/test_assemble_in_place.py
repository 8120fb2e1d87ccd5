"""Whatever a file looks like and however an answer gives the function: every byte outside the function stays."""

import ast
import random

import pytest

from burnish.tasks import Task
from burnish.tasks.assemble import assemble

CART = '''#!/usr/bin/env python
# -*- coding: utf-8 -*-
"""A shop."""
from __future__ import annotations

import math


class Cart:
    """What somebody wants to buy."""

    tax = 0.1

    class Line:
        def price(self):
            return 1  # inner

    def __init__(self, prices):
        self.prices = prices

    # about it
    @property
    def total(self):
        """The sum.

        >>> Cart([1, 2]).total
        3
        """
        return sum(self.prices) - 1  # wrong

    @total.setter
    def total(self, value):
        self.prices = [value]

    @staticmethod
    async def fetch(n):
        return n

    def last(self):
        text = """
two
    lines"""
        return text
\x0c
def helper(x):
    return x
'''
WRONG = "        return sum(self.prices) - 1  # wrong\n"
RIGHT = "        return sum(self.prices)\n"
METHOD = "def total(self):\n    return sum(self.prices)\n"


def fix(base: str = CART, name: str = "Cart.total") -> Task:
    return Task(id="t", prompt="p", entry_point=name, base_code=base)


@pytest.mark.parametrize(
    "answer",
    [
        METHOD,
        "    @property\n    def total(self):\n        return sum(self.prices)\n",
        "        def total(self):\n            return sum(self.prices)\n",
        "class Cart:\n    def total(self):\n        return sum(self.prices)\n\n    def last(self):\n        return 0\n",
        CART.replace(WRONG, RIGHT).replace("return x", "return 99").replace("tax = 0.1", "tax = 5"),
        "\tdef total(self):\n\t\treturn sum(self.prices)",
        "import math\n\n    def total(self):\n        return sum(self.prices)\n",
    ],
    ids=["alone", "indented", "deeper", "in its class", "whole module", "tabs", "below an import"],
)
def test_a_method_may_come_alone_or_in_its_class_or_in_the_whole_module(answer):
    assert assemble(fix(), answer) == CART.replace(WRONG, RIGHT)


def test_files_with_windows_line_ends_stay_so_in_every_line():
    base = CART.replace("\n", "\r\n")
    assert assemble(fix(base), METHOD) == base.replace(WRONG.replace("\n", "\r\n"), RIGHT.replace("\n", "\r\n"))


def test_files_with_tabs_get_tabs():
    base = "class A:\n\tdef f(self):\n\t\tif 1:\n\t\t\treturn 1\n\n\tdef g(self):\n\t\treturn 2\n"
    made = assemble(fix(base, "A.f"), "def f(self):\n    if 2:\n        return 3\n")
    assert made == base.replace("if 1:\n\t\t\treturn 1", "if 2:\n\t\t\treturn 3")


def test_strings_of_an_answer_are_not_indented_with_it():
    made = assemble(
        fix(name="Cart.last"), 'def last(self):\n    text = """\ntwo\n    lines"""\n    return text + "!"\n'
    )
    assert made == CART.replace("return text\n", 'return text + "!"\n')


def test_a_nested_class_and_an_async_method_are_found():
    assert assemble(fix(name="Cart.Line.price"), "def price(self):\n    return 2\n") == CART.replace(
        "return 1  # inner", "return 2"
    )
    made = assemble(fix(name="Cart.fetch"), "async def fetch(n):\n    return n + 1\n")
    assert made == CART.replace("        return n\n", "        return n + 1\n"), "its decorator stays"


def test_an_added_import_stands_below_the_heading_and_helper_methods_beside():
    answer = "from itertools import chain\n\nclass Cart:\n    def _all(self):\n        return chain(self.prices)\n\n"
    answer += "    @property\n    def total(self):\n        return sum(self._all())\n"
    made = assemble(fix(), answer)
    assert made.startswith(CART[: CART.index("\nimport math")] + "from itertools import chain\n")
    cart = next(node for node in ast.parse(made).body if isinstance(node, ast.ClassDef))
    assert "_all" in [node.name for node in cart.body if isinstance(node, ast.FunctionDef)]


def test_an_import_never_goes_above_the_first_line_of_a_script():
    base = "#!/usr/bin/python\n# coding: utf-8\ndef f():\n    return 1\n"
    assert assemble(fix(base, "f"), "import os\ndef f():\n    return os\n") == (
        "#!/usr/bin/python\n# coding: utf-8\nimport os\ndef f():\n    return os\n"
    )


def test_a_docstring_with_its_examples_is_not_the_answers_to_change():
    base = 'def f(n):\n    """Twice.\n\n    >>> f(2)\n    4\n    """\n    return n\n'
    right = base.replace("return n", "return 2 * n")
    assert assemble(fix(base, "f"), "def f(n):\n    return 2 * n\n") == right
    assert assemble(fix(base, "f"), 'def f(n):\n  """>>> f(2)\n  5\n  """\n  return 2 * n\n') == right


def test_a_form_feed_before_a_function_stays():
    base = "x = 1\n\x0cdef f():\n    return 1\n\x0c\ny = 2"
    assert assemble(fix(base, "f"), "def f():\n    return 2\n") == base.replace("return 1", "return 2")


def test_in_a_file_that_does_not_parse_the_functions_own_lines_are_replaced():
    base = "import os\n\n\ndef f(n:\n    return n\n\n\n# about g\ndef g():\n    return (1)\n"
    made = assemble(fix(base, "f"), "def f(n):\n    return n\n")
    assert made == base.replace("f(n:", "f(n):")
    method = "class A:\n    def f(self)\n        return 1\n\n    def g(self):\n        return 2\n"
    assert assemble(fix(method, "A.f"), "def f(self):\n    return 1\n") == method.replace("f(self)\n", "f(self):\n")


def test_a_whole_module_mends_a_file_whose_mistake_is_elsewhere():
    base = "x = (\n\n\ndef f():\n    return 1\n"
    assert assemble(fix(base, "f"), "x = ()\n\n\ndef f():\n    return 1\n") == "x = ()\n\n\ndef f():\n    return 1\n"


DOC = '"""Twice.\n\n      Example:\n   \n  odd\n out\n          f(2)\n  """\n'


@pytest.mark.parametrize("indent", ["", "  "])
@pytest.mark.parametrize("unit", ["  ", "    ", "\t"])
def test_a_docstring_stays_byte_for_byte_however_file_and_answer_are_indented(indent, unit):
    head = "class A:\n" if indent else ""
    base = f"{head}{indent}def f(n):\n{indent}  {DOC}{indent}  if n:\n{indent}    return 1\n"
    answer = 'def f(n):\n____"""Other."""\n____if n:\n________return 2\n'.replace("____", unit)
    assert assemble(fix(base, "A.f" if indent else "f"), answer) == base.replace("return 1", "return 2")


SHOP = '"""Shop."""\nTAX = 0.2  # keep\n\n\ndef f(n:\n    return n\n\n\n# about g\ndef g():\n    return 1\n\n\n'
SHOP += "def h():\n    return 3  # mine\n"
ALL = "def f(n):\n    return n\n\n\ndef g():\n    return 2\n\n\ndef h():\n    return 3\n"


def test_a_mistake_in_another_function_is_mended_in_its_own_lines_and_the_rest_of_the_file_stays():
    right = SHOP.replace("f(n:", "f(n):").replace("return 1", "return 2")
    assert assemble(fix(SHOP, "g"), ALL) == right, "what parsed and was not asked for is left alone"
    both = SHOP.replace("def h()", "def h(")
    assert assemble(fix(both, "g"), ALL) == right.replace("  # mine", "")


def test_a_whole_module_never_takes_the_place_of_a_file_that_says_more():
    base = "x = (\nTAX = 0.2\n\n\ndef f():\n    return 1\n"
    made = assemble(fix(base, "f"), "def f():\n    return 2\n")
    assert made == base.replace("return 1", "return 2"), "it does not parse, and its grade says so"


ENDS, UNITS = ("\n", "\r\n"), ("    ", "\t", "  ")


@pytest.mark.parametrize("seed", range(60))
def test_every_byte_outside_the_function_stays_in_files_of_any_form(seed):
    chance = random.Random(seed)
    end, unit = chance.choice(ENDS), chance.choice(UNITS)
    deep = chance.randrange(3)
    head = chance.choice(["", "# é comment\n", '"""Doc\n"""\n', "import os\n\x0c\n", "\n\n\n", "x = 'a\x0bb'; y = 1\n"])
    tail = chance.choice(
        ["", "\n", "\n\n# end", "\ndef z(): pass\n", "\nif 1:\n    pass\n\x0c", "\n\n\nx = '''\n  '''\n"]
    )
    before = chance.choice(["", "def g(): return 1\n\n", "@property\ndef g():\n    '''d'''\n\n", "# about f\n"])
    lines = "def f(a, b=1):\n    if a:\n        return 'old'\n    return (a,\nb)\n"
    text = lines if chance.random() < 0.7 else "@cache\n" + lines
    indent = "    " * deep
    above = "".join("    " * level + f"class C{level}:\n" for level in range(deep))
    inner = "".join(indent + line + "\n" if line else "\n" for line in before.splitlines())
    body = "".join(indent + line + "\n" for line in text.splitlines())

    def styled(piece: str) -> str:
        return piece.replace("    ", unit).replace("\n", end)

    first, last = styled(head + above + inner), styled(tail)
    base = first + styled(body) + last
    name = ".".join([*(f"C{level}" for level in range(deep)), "f"])
    made = assemble(fix(base, name), "def f(a, b=1):\n    if b:\n        return 'new'\n    return b\n")
    assert made.startswith(first)
    assert made.endswith(last)
    assert "'new'" in made
    assert "'old'" not in made
    assert made[len(first) : len(made) - len(last)].replace(end, "").count("\n") == 0
    ast.parse(made)
