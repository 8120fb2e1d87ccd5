"""A small shop with a bug in `Cart.total`, on disk, for tests of `fix`."""

from collections.abc import Mapping
from pathlib import Path

CART = '''"""A cart."""
from shop.money import rounded


class Cart:
    def __init__(self, prices):
        self.prices = prices

    def total(self, tax=0.0):
        """The sum with tax.

        >>> Cart([1, 2]).total()
        3.0
        """
        result = 1.0
        for price in self.prices:
            result += price
        return rounded(result * (1 + tax))


def count(cart):
    return len(cart.prices)
'''
FIXED = CART.replace("result = 1.0", "result = 0.0")
TESTS = """import subprocess
import sys

import pytest
from shop.cart import Cart, count


def test_total():
    assert Cart([1, 2]).total() == 3


@pytest.mark.parametrize("tax", [0.1, 0.2])
def test_tax(tax):
    assert Cart([10]).total(tax) == 10 * (1 + tax)


def test_count():
    assert count(Cart([1])) == 1


def test_elsewhere():
    assert "the bug" == "elsewhere"
"""
TOTAL, TAX, COUNT, ELSEWHERE = (f"tests/test_cart.py::test_{name}" for name in ("total", "tax", "count", "elsewhere"))
EXAMPLE = "shop/cart.py::shop.cart.Cart.total"


def shop(folder: Path, files: Mapping[str, str] | None = None) -> Path:
    """The project's folder."""
    usual = {
        "pyproject.toml": "[project]\nname = 'shop'\n",
        "shop/__init__.py": "",
        "shop/money.py": "def rounded(x):\n    return round(x, 2)\n",
        "shop/cart.py": CART,
        "tests/test_cart.py": TESTS,
    }
    for name, text in {**usual, **(files or {})}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8", newline="")
    return folder
