"""A cell of each kind, the same without isolation, and ways to say: this works outside and fails inside."""

from collections.abc import Callable, Iterator

import pytest

from burnish.sandbox import JobLimits, Sandbox, open_sandbox
from tests.sandbox.attack import fools_a_naive_grader, is_healthy, works
from tests.sandbox.kinds import ISOLATED, must_be_there

LOOSE = JobLimits(memory_bytes=64 << 30, file_bytes=1 << 42, open_files=4096, folder_bytes=1 << 42)


@pytest.fixture(scope="session", params=ISOLATED)
def cell(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """A cell as users have it, of each kind that isolates."""
    with open_sandbox(must_be_there(request.param), cells=2) as box:
        yield box


@pytest.fixture(scope="session")
def outside() -> Iterator[Sandbox]:
    """No isolation and loose limits: where an attack must work, or it proves nothing."""
    with open_sandbox("process", cells=2, limits=LOOSE) as box:
        yield box


@pytest.fixture
def fails_inside(cell: Sandbox, outside: Sandbox) -> Callable[..., None]:
    """The attack works outside, fails in the cell, and does not hurt the next job."""

    def check(code: str, timeout_seconds: float = 5.0) -> None:
        assert works(outside, code, timeout_seconds), "outside the cell this attack must work"
        assert not works(cell, code, timeout_seconds)
        assert is_healthy(cell)

    return check


@pytest.fixture
def does_not_fool(cell: Sandbox, outside: Sandbox) -> Callable[..., None]:
    """Wrong code fools a grader that shares its process, and not ours."""

    def check(code: str, tests: str) -> None:
        assert fools_a_naive_grader(outside, code, tests), "a grader in the same process must be fooled"
        graded = cell.grade(code, tests, timeout_seconds=2)
        assert not graded.all_passed
        assert graded.separated
        assert is_healthy(cell)

    return check
