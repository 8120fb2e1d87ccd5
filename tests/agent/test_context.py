"""What a prompt shows of a file: the function, and of its surroundings only what it leans on."""

import pytest

from burnish.agent.context import MOST_CHARACTERS, context, function_in, opening
from burnish.tasks import Task

FILE = '''"""A shop."""
import math
from decimal import Decimal

RATE = 7
UNUSED = 8


def rounded(amount):
    return math.floor(amount)


def unused(amount):
    return amount


class Cart:
    """Holds prices."""

    limit = 10

    def __init__(self, prices):
        self.prices = prices

    def count(self):
        """How many."""
        return len(self.prices)

    def total(self, tax):
        return rounded(sum(self.prices) * tax) * RATE


def price(n):
    """The price."""
    return rounded(n) * RATE
'''


def of(entry_point: str, base_code: str = FILE, prelude: str = "") -> Task:
    return Task(id="t", prompt="p", entry_point=entry_point, base_code=base_code, prelude=prelude)


def test_the_imports_and_the_helpers_that_the_function_uses_are_shown() -> None:
    shown = context(of("price"))
    assert shown == (
        "import math\nfrom decimal import Decimal\nRATE = 7\ndef rounded(amount):\n    return math.floor(amount)"
    )


def test_of_a_method_its_class_is_shown_with_how_it_is_made_and_the_heads_of_the_others() -> None:
    shown = context(of("Cart.total"))
    assert "class Cart:\n    limit = 10\n    def __init__(self, prices):\n        self.prices = prices" in shown
    assert "    def count(self): ..." in shown
    assert "return len" not in shown
    assert "def total" not in shown
    assert "def rounded" in shown
    assert "unused" not in shown.lower()


def test_a_prelude_is_shown_as_it_is() -> None:
    assert context(of("f", "", "import math\n\n")) == "import math"


@pytest.mark.parametrize("task", [of("f", ""), of("nothing"), of("price", "def price(n:\n"), of("")])
def test_where_there_is_nothing_to_show_nothing_is_shown(task: Task) -> None:
    assert context(task) == ""


def test_a_long_helper_is_shown_by_its_head_and_a_long_file_is_cut_at_a_line() -> None:
    long = "def helper(n):\n" + "    n += 1\n" * 40 + "    return n\n\n\n"
    assert context(of("f", long + "def f(n):\n    return helper(n)\n")) == "def helper(n): ..."
    many = "".join(f"NAME_{n} = {n}\n" for n in range(500))
    body = "def f(n):\n    return (" + ", ".join(f"NAME_{n}" for n in range(500)) + ")\n"
    shown = context(of("f", many + body))
    assert len(shown) <= MOST_CHARACTERS
    assert shown.splitlines()[-1] in many.splitlines(), "no half lines"


def test_a_function_is_taken_out_of_its_file_and_moved_to_the_left() -> None:
    assert function_in(FILE, "rounded") == "def rounded(amount):\n    return math.floor(amount)"
    assert function_in(FILE, "Cart.count") == 'def count(self):\n    """How many."""\n    return len(self.prices)'
    assert function_in("x = 1\n", "f") == "x = 1", "the whole text where there is none"


def test_a_function_is_found_in_a_file_that_does_not_parse() -> None:
    code = "def g(n):\n    return n\n\n\ndef f(n):\n    return (n\n\n\ndef h(n):\n    return n\n"
    assert function_in(code, "f") == "def f(n):\n    return (n"


@pytest.mark.parametrize(
    ("code", "begun"),
    [
        ('def f(x):\n    """Words."""\n    return x\n', 'def f(x):\n    """Words."""\n'),
        ('def f(x):\n    """Words\n\n    and more.\n    """\n    return x\n', None),
        ("def f(x):\n    return x\n", "def f(x):\n"),
        ("async def f(x):\n    return x\n", "async def f(x):\n"),
        (
            "def f(\n    x: int,\n    y: int = 1,\n) -> int:\n    return x\n",
            "def f(\n    x: int,\n    y: int = 1,\n) -> int:\n",
        ),
        ('def f(x):\n    """Words and nothing else."""\n', "def f(x):\n"),
        ("import re\n\n\ndef f(x):\n    return x\n", "def f(x):\n"),
        ("def f(x):\r\n    return x\r\n", "def f(x):\n"),
        ("@cache\ndef f(x):\n    return x\n", ""),
        ("def f(x): return x\n", ""),
        ('def f(x): "words"; return x\n', ""),
        ("def f(x,\n      y): return x\n", ""),
        ("class f:\n    pass\n", ""),
        ("def g(x):\n    return x\n", ""),
        ("def f(x:\n", ""),
        ("", ""),
    ],
    ids=[
        "words",
        "long-words",
        "no-words",
        "async",
        "long-head",
        "only-words",
        "import-above",
        "crlf",
        "decorated",
        "one-line",
        "one-line-words",
        "body-beside-its-head",
        "class",
        "other-name",
        "broken",
        "empty",
    ],
)
def test_an_answer_is_begun_with_the_head_and_the_docstring_where_that_is_clear(code: str, begun: str | None) -> None:
    assert opening(code, "f") == (code.replace("    return x\n", "") if begun is None else begun)
