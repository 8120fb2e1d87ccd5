"""What the server imports before the first job, so that no job pays for it."""

import ast  # noqa: F401
import bisect  # noqa: F401
import collections  # noqa: F401
import copy  # noqa: F401
import dataclasses  # noqa: F401
import datetime  # noqa: F401
import decimal  # noqa: F401
import enum  # noqa: F401
import fractions  # noqa: F401
import functools  # noqa: F401
import heapq  # noqa: F401
import itertools  # noqa: F401
import math  # noqa: F401
import operator  # noqa: F401
import random  # noqa: F401
import re  # noqa: F401
import string  # noqa: F401
import typing  # noqa: F401
from typing import Any


def up(settings: dict[str, Any]) -> None:
    """Import pytest too, in a cell that is for pytest files, and let it run once: it imports half of itself then."""
    from burnish.sandbox.inside import judge  # noqa: F401

    if settings["pytest"]:
        import unittest.mock  # noqa: F401

        from burnish.sandbox.inside.pytests import PytestSuite

        PytestSuite(REHEARSAL).judge(lambda **fact: None)


REHEARSAL = """
import pytest, unittest
@pytest.mark.parametrize("x", [1])
def test_function(x, capsys, tmp_path, monkeypatch):
    with pytest.raises(ValueError):
        raise ValueError
    assert x == pytest.approx(2)
class Case(unittest.TestCase):
    def test_method(self):
        self.assertEqual(1, 1)
"""
