"""The lock files: every dependency of pyproject.toml is pinned, fits its range, and comes from no named place."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def pins(lock: str) -> dict[str, str]:
    lines = (ROOT / "requirements" / f"{lock}.txt").read_text().splitlines()
    found = [Requirement(line.removesuffix("\\")) for line in lines if line[:1].isalnum()]
    here = [pin for pin in found if pin.marker is None or pin.marker.evaluate()]  # a lock is for other systems, too
    return {canonicalize_name(pin.name): str(pin.specifier).removeprefix("==") for pin in here}


@pytest.mark.parametrize(
    ("lock", "wanted"),
    [
        ("core", PROJECT["dependencies"]),
        ("dev", PROJECT["dependencies"] + PROJECT["optional-dependencies"]["dev"]),
    ],
)
def test_every_dependency_is_pinned_within_its_range(lock: str, wanted: list[str]) -> None:
    pinned = pins(lock)
    for requirement in map(Requirement, wanted):
        if requirement.marker and not requirement.marker.evaluate():
            continue
        version = pinned.get(canonicalize_name(requirement.name))
        assert version, f"{requirement.name} is not in {lock}.txt; run requirements/refresh"
        assert requirement.specifier.contains(version), (
            f"{requirement} is pinned to {version}; run requirements/refresh"
        )


def test_the_core_and_the_tools_agree_on_every_version() -> None:
    assert pins("core").items() <= pins("dev").items()
    assert pins("uv").items() <= pins("core").items()


@pytest.mark.parametrize("lock", ["core", "dev", "openmp", "uv"])
def test_every_pin_has_a_hash_and_no_address(lock: str) -> None:
    text = (ROOT / "requirements" / f"{lock}.txt").read_text()
    assert "://" not in text
    assert "index-url" not in text
    for pin in re.split(r"\n(?=[a-z])", text.strip()):
        assert "--hash=sha256:" in pin, pin.splitlines()[0]


def test_the_pythons_that_are_claimed_are_those_that_are_tested() -> None:
    claimed = re.findall(r"Programming Language :: Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    tested = re.search(r"python: \[(.*)\]", (ROOT / ".github" / "workflows" / "tests.yml").read_text())
    assert tested
    assert re.findall(r"3\.\d+", tested[1]) == claimed
    assert PROJECT["requires-python"] == f">={claimed[0]}"
