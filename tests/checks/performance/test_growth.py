"""Names for costs whose growth is known exactly."""

import math
from collections.abc import Callable

import pytest

from burnish.checks.performance.growth import name_growth, name_memory_growth

SIZES = [4, 6, 8, 12, 16, 24, 32, 48, 64, 128, 256, 512, 1024]
COSTS: list[tuple[str, Callable[[int], float]]] = [
    ("constant", lambda n: 7),
    ("log", lambda n: 5 + 4 * math.floor(math.log2(n))),
    ("linear", lambda n: 3 * n + 20),
    ("linear", lambda n: 3 * n + 40 * math.log2(n)),
    ("n log n", lambda n: 4 * n * math.log2(n) + 6 * n),
    ("n log n", lambda n: n * math.log2(n)),
    ("quadratic", lambda n: n * n / 2 + 5 * n),
    ("quadratic", lambda n: n * n * math.log2(n)),
    ("worse", lambda n: n**3 + n),
    ("worse", lambda n: 2.0 ** min(n, 1000)),
]


@pytest.mark.parametrize(("known", "cost"), COSTS)
def test_lines_alone_name_the_growth(known: str, cost: Callable[[int], float]) -> None:
    assert name_growth([(n, float(round(cost(n)))) for n in SIZES], [], sorts=False)[0] == known


def test_time_decides_where_the_work_runs_no_lines() -> None:
    lines = [(n, 1.0) for n in SIZES]
    assert name_growth(lines, [(n, n * n * 1e-6) for n in SIZES], sorts=False)[0] == "quadratic"
    assert name_growth(lines, [(n, n * math.log2(n) * 1e-6) for n in SIZES], sorts=True)[0] == "n log n"
    assert name_growth(lines, [(n, n * 1e-6) for n in SIZES], sorts=True)[0] == "linear"


def test_time_that_creeps_up_does_not_outvote_the_lines() -> None:
    lines = [(n, 3.0 * n) for n in SIZES]
    assert name_growth(lines, [(n, n**1.15 * 1e-6) for n in SIZES], sorts=False)[0] == "linear"


def test_leaving_the_cache_of_a_busy_machine_is_no_quadratic_growth() -> None:
    micros = {2048: 29, 4096: 59, 8192: 180, 16384: 640, 32768: 1500, 65536: 3100}
    lines = [(n, 1.0) for n in micros]
    assert name_growth(lines, [(n, cost * 1e-6) for n, cost in micros.items()], sorts=False)[0] == "linear"


def test_what_goes_up_and_down_or_has_few_sizes_gets_no_name() -> None:
    assert name_growth([(n, 2.0 if n % 3 else 500.0) for n in range(2, 20)], [], sorts=False)[0] == ""
    assert name_growth([(2, 1.0), (4, 2.0)], [], sorts=False)[0] == ""


def test_memory_is_named_too() -> None:
    assert name_memory_growth([(n, 100.0) for n in SIZES]) == "constant"
    assert name_memory_growth([(n, 64.0 * n) for n in SIZES]) == "linear"
    assert name_memory_growth([(n, 8.0 * n * n) for n in SIZES]) == "quadratic"
