"""The kinds of sandbox that isolate, for tests that run over all of them."""

from functools import cache

import pytest

from burnish.errors import SandboxError
from burnish.sandbox.docker import engine

DOCKER = pytest.param("docker", marks=pytest.mark.docker)
ISOLATED = ["bubblewrap", DOCKER]
EVERY = [*ISOLATED, "process"]


@cache
def no_engine() -> str:
    """Why no container can be opened here; "" where one can."""
    try:
        engine.find_engine()
    except SandboxError as error:
        return str(error)
    return ""


def must_be_there(kind: str) -> str:
    """The kind again; the test is skipped where this machine has no engine for it."""
    if kind == "docker" and no_engine():
        pytest.skip(f"no container engine: {no_engine()}")
    return kind


@cache
def is_streamed(kind: str) -> bool:
    """Whether cells of a kind are those of an engine with another kernel (`other_kernel.py` is one)."""
    return kind == "docker" and bool(engine.find_engine().elsewhere)


def skip_streamed(kind: str, why: str) -> None:
    """Skip the test over such an engine, where another outcome is right: see `test_streamed.py`."""
    if is_streamed(kind):
        pytest.skip(why)
