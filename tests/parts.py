"""The tests in parts that can run side by side: `pytest --part 1/2` and `pytest --part 2/2` together run all of them.

A file is never torn apart, as its tests share what is slow to make. Which files go together depends on nothing but the
tests that were collected, so each process finds its own part without asking the other.
"""

import re
from collections.abc import Mapping

import pytest

SLOW_COUNTS = 20
"""A test that is marked slow, docker or model takes about as long as so many others."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take `--part`."""
    parser.addoption("--part", metavar="K/N", default="1/1", help="only the K-th of N parts of the tests")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is in other parts."""
    chosen, parts = read(str(config.getoption("--part")))
    if parts == 1:
        return
    weights: dict[str, int] = {}
    for item in items:
        weights[file_of(item)] = weights.get(file_of(item), 0) + weight(item)
    kept = split(weights, parts)[chosen - 1]
    config.hook.pytest_deselected(items=[item for item in items if file_of(item) not in kept])
    items[:] = [item for item in items if file_of(item) in kept]


def read(part: str) -> tuple[int, int]:
    """Which part of how many."""
    said = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", part)
    if not said or int(said[1]) > int(said[2]):
        raise pytest.UsageError(f"--part {part} is no part; type for example: --part 1/2")
    return int(said[1]), int(said[2])


def split(weights: Mapping[str, int], parts: int) -> list[set[str]]:
    """The files in parts of about the same weight: the heaviest first, each to the part that has least."""
    found: list[set[str]] = [set() for _ in range(parts)]
    sums = [0] * parts
    for file in sorted(weights, key=lambda name: (-weights[name], name)):
        least = sums.index(min(sums))
        found[least].add(file)
        sums[least] += weights[file]
    return found


def file_of(item: pytest.Item) -> str:
    """The file that a test is in, as pytest names it."""
    return item.nodeid.partition("::")[0]


def weight(item: pytest.Item) -> int:
    """About how long a test takes."""
    return SLOW_COUNTS if any(item.get_closest_marker(mark) for mark in ("slow", "docker", "model")) else 1
