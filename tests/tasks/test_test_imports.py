"""How a new file of tests gets at what it uses."""

from burnish.tasks.test_imports import imports_for, used_names

MODULE = """
import datetime as dt
from decimal import Decimal
from .other import helper

def price(n):
    return n

class Cart:
    pass
"""


def test_names_that_tests_use_and_neither_bind_nor_have_from_python() -> None:
    bodies = ["assert price([n for n in range(3)]) == 2", "with pytest.raises(ValueError):\n    Cart(dt.date(1, 1, 1))"]
    assert used_names(bodies) == {"price", "pytest", "Cart", "dt"}


def test_each_name_is_imported_from_where_it_comes_from() -> None:
    names = {"price", "Cart", "dt", "Decimal", "helper", "pytest", "math"}
    assert imports_for(names, "shop.prices", MODULE, []) == [
        "import datetime as dt",
        "import math",
        "import pytest",
        "from decimal import Decimal",
        "from shop.prices import Cart, helper, price",
    ]


def test_a_name_is_imported_as_the_tests_beside_import_it_if_they_mean_the_same() -> None:
    tests = ["from shop import Cart\nfrom other import price\nfrom shop.prices import helper as h\n", "no python ("]
    assert imports_for({"Cart", "price", "helper"}, "shop.prices", MODULE, tests) == [
        "from shop import Cart",
        "from shop.prices import helper, price",
    ]
