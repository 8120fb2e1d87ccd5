"""A package that tests miss is named with how it can be had; anything else that is missing is not taken for one."""

from pathlib import Path

import pytest

from burnish.checks.missing_packages import find_missing_package
from tests.checks.project_support import judged, made

LACKS = "import pandas\n\n\ndef test_it():\n    assert pandas\n"


@pytest.mark.parametrize(
    ("said", "package"),
    [
        ("ModuleNotFoundError: No module named 'numpy'", "numpy"),
        ("in test_it.py\nE   ModuleNotFoundError: No module named 'cv2'", "opencv-python"),
        ("ModuleNotFoundError: No module named 'google.protobuf'", "protobuf"),
        ("ModuleNotFoundError: No module named 'numpy.nothing'", ""),
        ("ModuleNotFoundError: No module named 'no_such_module_here'", ""),
        ("ModuleNotFoundError: No module named 'requests'", ""),
        ("AssertionError: numpy", ""),
    ],
)
def test_only_a_known_package_that_is_not_the_project_s_own_is_missing(tmp_path: Path, said: str, package: str) -> None:
    project = made(tmp_path, {"src/requests/__init__.py": ""})
    assert find_missing_package(["it failed", said], project) == package


def test_the_check_says_how_the_package_can_be_had(tmp_path: Path) -> None:
    project = made(tmp_path, {"test_it.py": LACKS})
    assert judged(project).why.endswith(f"pandas is not installed: type {project.python} -m pip install pandas")
    evidence = judged(project.model_copy(update={"has_environment": False}))
    assert evidence.verdict == "failed"
    assert evidence.why.endswith("No module named 'pandas'; pandas is not installed: add --with pandas")
