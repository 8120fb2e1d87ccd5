"""Errors that users read: which kind is raised, and in which words, which are kept as a snapshot."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from burnish.errors import SetupProblem
from tests.snapshots import assert_snapshot


@contextmanager
def refuses(name: str, kind: type[Exception] = SetupProblem, **varying: object) -> Iterator[None]:
    """Assert that the block raises such an error with the words kept as "AREA/NAME"; see `assert_snapshot`."""
    with pytest.raises(kind) as caught:
        yield
    assert_snapshot(str(caught.value), name, **varying)
