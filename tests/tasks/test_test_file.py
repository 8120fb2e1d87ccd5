"""The user's own pytest file: its tests keep their names, and only its import of the module changes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from burnish.checks import Suite
from burnish.checks.tests import grade
from burnish.packages.names import module_provider
from burnish.sandbox import Sandbox, open_sandbox
from burnish.tasks.test_file import find_used_names, name_in_file, read_test_file, write_imports
from tests.support import refused

CODE = "def roman(n):\n    if n < 1:\n        raise ValueError\n    return {1: 'I', 4: 'IV'}.get(n)\n"
FILE = """import pytest
from roman import (
    roman,
)

@pytest.fixture
def one():
    return 1

@pytest.mark.parametrize(("n", "text"), [(1, "I"), (4, "IV"), (5, "V")])
def test_roman(n, text):
    assert roman(n) == text

class TestMore:
    def test_one(self, one):
        assert roman(one) == "I"

def test_zero():
    with pytest.raises(ValueError):
        roman(0)
"""


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    with open_sandbox() as sandbox:
        yield sandbox


def written(folder: Path, text: str) -> Path:
    (folder / "test_mine.py").write_text(text)
    return folder / "test_mine.py"


@pytest.mark.slow
def test_fixtures_classes_and_parameters_work_and_names_are_kept(tmp_path: Path, box: Sandbox) -> None:
    found = read_test_file(written(tmp_path, FILE))
    assert (found.module, found.names) == ("roman", ("roman",))
    assert [name_in_file(test) for test in found.tests] == ["test_roman", "TestMore::test_one", "test_zero"]
    suite = Suite.of("roman", (*found.tests, "assert roman(1) == 'I'"), ("assert roman(4) == 'IV'",), file=found.text)
    outcomes = suite.outcomes(grade(CODE, suite, box))
    assert list(outcomes.values()) == ["failed", "passed", "passed", "passed", "passed"]
    assert "got: None" in suite.failures(grade(CODE, suite, box))[found.tests[0]]


def test_no_line_moves_and_only_the_import_changes(tmp_path: Path) -> None:
    text = read_test_file(written(tmp_path, FILE)).text
    assert text == FILE.replace("from roman import", "from solution import")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "module"),
    [
        ("import roman\ndef test_a():\n    assert roman.roman(1) == 'I'\n", "roman"),
        ("import roman as r\ndef test_a():\n    assert r.roman(1) == 'I'\n", "roman"),
        ("import os, roman\ndef test_a():\n    assert roman.roman(1) == 'I'\n", "roman"),
        ("from .roman import roman\ndef test_a():\n    assert roman(1) == 'I'\n", "roman"),
        ("from . import roman\ndef test_a():\n    assert roman.roman(1) == 'I'\n", "roman"),
        ("from shop.roman import roman\ndef test_a():\n    assert roman(1) == 'I'\n", "shop.roman"),
        ("from roman import *\ndef test_a():\n    assert roman(1) == 'I'\n", "roman"),
        ("def test_a():\n    from roman import roman\n    assert roman(1) == 'I'\n", "roman"),
        ("from solution import roman\ndef test_a():\n    assert roman(1) == 'I'\n", "solution"),
        ("from roman import roman\nassert roman(1) == 'I'\nassert roman(\n    4) == 'IV'\n", "roman"),
        ("import roman\nx = roman.roman(1)\nassert x == 'I'\nx += 'V'\nassert x == 'IV'\n", "roman"),
        (
            "import unittest\nimport roman\nclass Mine(unittest.TestCase):\n    def test_a(self):\n"
            "        self.assertEqual(roman.roman(1), 'I')\n",
            "roman",
        ),
    ],
)
def test_the_module_is_found_however_it_is_imported(tmp_path: Path, box: Sandbox, text: str, module: str) -> None:
    found = read_test_file(written(tmp_path, text))
    assert (found.module, found.names) == (module, ("roman",))
    suite = Suite.of("roman", found.tests, ("assert roman(4) == 'IV'",), file=found.text)
    assert set(suite.outcomes(grade(CODE, suite, box)).values()) == {"passed"}


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("that is not Python", "def test_a(:\n"),
        ("without a test", "from roman import roman\n"),
        ("without a test", ""),
        ("that imports nothing new", "import os\ndef test_a():\n    assert os.sep\n"),
        ("that imports two new modules", "import one, two\ndef test_a():\n    assert one.f(two.g)\n"),
        ("that uses nothing new", "import roman\ndef test_a():\n    pass\n"),
    ],
)
def test_a_file_that_cannot_decide_is_refused(tmp_path: Path, kind: str, text: str) -> None:
    with refused(name=f"tasks/a test file {kind}", tmp=tmp_path):
        read_test_file(written(tmp_path, text))


def test_a_file_may_import_packages_that_the_code_may_use(tmp_path: Path) -> None:
    text = "import surely_mine as sm\nfrom roman import roman\n\n\ndef test_a():\n    assert roman(sm.ONE) == 'I'\n"
    with refused(name="tasks/a test file that imports a package without saying so", tmp=tmp_path):
        read_test_file(written(tmp_path, text))
    found = read_test_file(
        written(tmp_path, "import cv2.data\n" + text), module_provider(["Surely.Mine>=2", "opencv-python"])
    )
    assert (found.module, found.names) == ("roman", ("roman",))
    assert "import surely_mine as sm" in found.text


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with refused(name="tasks/a test file that is missing", tmp=tmp_path):
        read_test_file(tmp_path / "missing.py")
    with refused(name="tasks/a test file that is a folder", tmp=tmp_path):
        read_test_file(tmp_path)
    (tmp_path / "binary.py").write_bytes(b"\xff\xfe\x00")
    with refused(name="tasks/a test file of other bytes", tmp=tmp_path):
        read_test_file(tmp_path / "binary.py")
    (tmp_path / "coded.py").write_text(
        "# coding: utf-7\nfrom roman import roman\n\ndef test_a(): assert roman(1) == 'I'\n"
    )
    with refused(name="tasks/a test file in another encoding", tmp=tmp_path):
        read_test_file(tmp_path / "coded.py")


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
    assert find_used_names(bodies) == {"price", "pytest", "Cart", "dt"}


def test_each_name_is_imported_from_where_it_comes_from() -> None:
    names = {"price", "Cart", "dt", "Decimal", "helper", "pytest", "math"}
    assert write_imports(names, "shop.prices", MODULE, []) == [
        "import datetime as dt",
        "import math",
        "import pytest",
        "from decimal import Decimal",
        "from shop.prices import Cart, helper, price",
    ]


def test_a_name_is_imported_as_the_tests_beside_import_it_if_they_mean_the_same() -> None:
    tests = ["from shop import Cart\nfrom other import price\nfrom shop.prices import helper as h\n", "no python ("]
    assert write_imports({"Cart", "price", "helper"}, "shop.prices", MODULE, tests) == [
        "from shop import Cart",
        "from shop.prices import helper, price",
    ]
