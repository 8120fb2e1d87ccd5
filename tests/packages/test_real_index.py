"""A tiny pure package from the index that this machine's pip is set up with."""

import pytest

from burnish.errors import SetupProblem
from burnish.packages import prepare, wanted


@pytest.mark.slow
def test_a_real_package_comes_from_the_real_index() -> None:
    try:
        layer = prepare(wanted(["iniconfig>=2"]))
    except SetupProblem as problem:
        if "cannot be reached" in str(problem) or "has no package" in str(problem):
            pytest.skip(f"there is no package index here: {problem}")
        raise
    assert [one.name for one in layer.packages] == ["iniconfig"]
    assert (layer.folder / "iniconfig" / "__init__.py").is_file()
