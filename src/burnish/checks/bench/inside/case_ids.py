"""Which tests an id means: shipped into the cell and read outside as well, so it imports nothing of ours."""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=10_000)
def all_ids(test: str) -> frozenset[str]:
    """Every id that means this test: its own, its function's, its class's, its file's and its folders'."""
    file = test.partition("::")[0]
    inside = test[len(file) :].partition("[")[0].split("::")
    folders = file.split("/")
    above = {"/".join(folders[:end]) for end in range(1, len(folders) + 1)}
    below = {"::".join([file, *inside[1:end]]) for end in range(1, len(inside) + 1)}
    return frozenset({test, "."} | above | below)


def is_own(test: str, file: str) -> bool:
    """True for a test of a file outside the project; pytest may have no name for such a file."""
    return test.partition("::")[0] == "" or test.partition("::")[0].endswith(file)
