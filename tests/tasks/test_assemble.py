"""An answer is judged in the module it belongs to, and what stood there stays."""

import pytest

from burnish.tasks import Task
from burnish.tasks.assemble import assemble, offered_names

BASE = '''"""A module."""
from __future__ import annotations
import math


def helper(x):
    return x


# about it
@staticmethod
def area(r):
    return math.pi * r  # wrong


def last():
    return '\x0c\u2028'
'''


def fix(base: str = BASE, name: str = "area") -> Task:
    return Task(id="t", prompt="p", entry_point=name, base_code=base)


def test_only_the_function_changes_and_every_other_byte_stays():
    made = assemble(fix(), "def area(r):\n    return math.pi * r * r\n")
    assert made == BASE.replace(
        "@staticmethod\ndef area(r):\n    return math.pi * r  # wrong\n", "def area(r):\n    return math.pi * r * r\n"
    )


def test_windows_line_ends_outside_the_function_stay():
    base = BASE.replace("\n", "\r\n")
    made = assemble(fix(base), "def area(r):\n    return 1\n")
    first, last = base.split("@staticmethod")[0], base.split("# wrong\r\n")[1]
    assert made.startswith(first)
    assert made.endswith(last)


def test_a_function_at_the_end_without_a_line_end_stays_so():
    assert assemble(fix("x = 1\ndef f(): return x", "f"), "def f():\n    return 2\n") == "x = 1\ndef f():\n    return 2"


def test_new_imports_go_to_the_top_below_docstring_and_future_imports():
    made = assemble(fix(), "import math\nfrom functools import cache\n\n@cache\ndef area(r):\n    return 1\n")
    assert made.startswith(
        '"""A module."""\nfrom __future__ import annotations\nfrom functools import cache\nimport math\n'
    )
    assert made.count("import math") == 1
    assert "@cache\ndef area" in made
    compile(made, "made", "exec")


def test_an_answers_future_import_comes_first():
    made = assemble(fix("def f(): return 1\n", "f"), "from __future__ import annotations\ndef f(): return 2\n")
    compile(made, "made", "exec")
    assert made.startswith("from __future__")


def test_new_helpers_and_constants_come_along_and_stand_above():
    made = assemble(
        fix(), "HALF = 0.5\n\ndef square(x):\n    return x * x\n\ndef area(r):\n    return square(r) * HALF\n"
    )
    assert made.index("HALF = 0.5") < made.index("def square") < made.index("def area")


def test_a_helper_that_is_there_is_not_replaced():
    made = assemble(fix(), "def helper(x):\n    return 99\n\ndef area(r):\n    return helper(r)\n")
    assert "99" not in made
    assert made.count("def helper") == 1


def test_examples_and_prints_of_an_answer_are_left_out():
    answer = "def area(r):\n    return 3\n\nprint(area(1))\nassert area(1)\n"
    answer += "if __name__ == '__main__':\n    x = area(2)\nfor i in []: pass\n"
    made = assemble(fix(), answer)
    assert "print" not in made
    assert "assert" not in made
    assert "__main__" not in made


def test_a_class_is_replaced_by_its_name():
    base = "class Box:\n    def get(self):\n        return 1\n\n\ndef get():\n    return Box().get()\n"
    made = assemble(fix(base, "Box"), "class Box:\n    def get(self):\n        return 2\n")
    assert made == base.replace("return 1", "return 2")


def test_without_code_to_go_on_from_the_answer_stands_below_the_prelude():
    task = Task(id="t", prompt="p", entry_point="f", prelude="import math\n\n\ndef given(x):\n    return x\n")
    made = assemble(task, "def given(x):\n    return 0\n\ndef f(x):\n    return given(x)\n")
    assert made.startswith(task.prelude)
    assert made.count("def given") == 1, "the given helper stays, the answer's copy goes"
    assert "return 0" not in made


def test_code_that_does_not_parse_is_handed_on_as_it_is():
    broken = "def f(:\n"
    assert assemble(Task(id="t", prompt="p", entry_point="f"), broken) == broken
    assert (
        assemble(Task(id="t", prompt="p", entry_point="f", prelude="import os"), broken) == "import os\n\n\n" + broken
    )
    assert "def f(:" in assemble(fix(name="f"), broken)


def test_an_answer_without_the_function_does_not_bring_the_buggy_one_back():
    assert "def area" not in assemble(fix(), "def other():\n    return 1\n")


def test_a_base_that_does_not_parse_gives_way_to_the_answer():
    assert assemble(fix("def area(:", "area"), "def area(r): return 1\n") == "def area(r): return 1\n"


def test_a_helper_that_asks_for_its_own_name_comes_along():
    made = assemble(fix(), "def where():\n    return __name__\n\ndef area(r):\n    return where()\n")
    assert "def where" in made


def test_what_an_answer_tries_to_import_comes_along():
    answer = "try:\n    import numpy\nexcept ImportError:\n    numpy = None\n\ndef area(r):\n    return numpy\n"
    assert "numpy = None" in assemble(fix(), answer)


def test_the_last_of_two_definitions_is_the_answer():
    made = assemble(fix(), "def area(r):\n    return 1\n\ndef area(r):\n    return 2\n")
    assert "return 2" in made
    assert "return 1" not in made


PAIR = "def encode(s):\n    return s\n\n\nKEY = 1  # stays\n\n\ndef decode(s):\n    return s\n"
BOTH = "def encode(s):\n    return s[::-1]\n\n\ndef decode(s):\n    return s[::-1]\n"


def test_going_on_changes_every_function_that_was_asked_for():
    task = Task(id="t", prompt="p", entry_point="encode", also=("decode", "twice"), base_code=PAIR)
    assert assemble(task, BOTH) == PAIR.replace("return s", "return s[::-1]")
    further = "\n\ndef twice(s):\n    return s + s\n"
    assert further.strip() in assemble(task, BOTH + further)
    assert assemble(task, PAIR.split("KEY")[0]) == PAIR


def test_a_repair_changes_only_the_one_function():
    task = Task(id="t", prompt="p", entry_point="encode", also=("decode",), base_code=PAIR, broken=True)
    assert assemble(task, BOTH) == PAIR.replace("return s", "return s[::-1]", 1)


@pytest.mark.parametrize(
    "line",
    [
        "TABLE = [x for x in range(3) if x]",
        "TABLE = {x: {y for y in x} for x in ()}",
        "TABLE = list(x for x in range(3))",
        "TABLE = lambda x: (y := x)",
        "if True:\n    def TABLE():\n        import x\n        y = 1",
        "for TABLE in [x for x in ()]:\n    pass",
        f"TABLE = {'+'.join('1' * 2000)}",
    ],
)
def test_tests_lean_on_names_of_the_module_and_not_on_those_inside_its_expressions(line: str) -> None:
    assert offered_names(fix(f"{line}\n\n\ndef f():\n    return 1\n", "f")) == ("TABLE",)


def test_a_name_that_a_comprehension_gives_to_the_module_is_offered() -> None:
    assert offered_names(fix("found = [last := x for x in range(3)]\n", "f")) == ("found", "last")
