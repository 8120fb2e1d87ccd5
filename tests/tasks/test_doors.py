"""Through which functions a test may get at one."""

from burnish.tasks.doors import doors_of, is_private

CODE = """
def _inner(n):
    return n

def _middle(n):
    return _inner(n)

def outer(n):
    return _middle(n)

def near(n):
    return _inner(n)

class Cart:
    def _sum(self):
        return 1

    def total(self):
        return self._sum()

def lonely(n):
    return n
"""


def test_a_private_function_is_got_at_through_public_ones_those_that_tests_speak_of_first() -> None:
    assert doors_of(CODE, "_inner", []) == ["near", "outer"]
    assert doors_of(CODE, "_inner", ["outer(1)"]) == ["outer", "near"]
    assert doors_of(CODE, "Cart._sum", []) == ["Cart.total"]


def test_a_public_function_and_one_that_tests_name_are_called_as_they_are() -> None:
    assert doors_of(CODE, "lonely", []) == ["lonely"]
    assert doors_of(CODE, "_inner", ["assert _inner(1)"]) == ["_inner"]
    assert not is_private("Cart.__init__")


def test_where_nothing_public_leads_there_is_no_door() -> None:
    assert doors_of("def _a():\n    return _a()\n", "_a", []) == []
    assert doors_of("no python (", "_a", []) == []
