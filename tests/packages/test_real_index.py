"""A tiny pure package from the index that this machine's pip is set up with."""

import pytest

from burnish.errors import SetupProblem
from burnish.packages import parse_requirements, prepare_layer


@pytest.mark.slow
def test_a_real_package_comes_from_the_real_index() -> None:
    try:
        layer = prepare_layer(parse_requirements(["iniconfig>=2"]))
    except SetupProblem as problem:
        if "cannot be reached" in str(problem) or "has no package" in str(problem):
            pytest.skip(f"there is no package index here: {problem}")
        raise
    assert [one.name for one in layer.packages] == ["iniconfig"]
    assert (layer.folder / "iniconfig" / "__init__.py").is_file()
