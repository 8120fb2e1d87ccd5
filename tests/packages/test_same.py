"""A wheel that is on record is known again by its hash."""

from pathlib import Path

import pytest

from burnish.agent.packages import packages_event, prepare_run_layer
from burnish.errors import SetupProblem
from burnish.packages import InstalledPackage, Layer, prepare_layer
from burnish.packages.layer import check_same_wheels, list_recorded_packages
from tests.packages.shelf import Shelf

THERE = InstalledPackage(name="pear", version="2.1", wheel="pear-2.1-py3-none-any.whl", sha256="a" * 64)
LAYER = Layer(folder=Path("site"), packages=(THERE,), asked=("pear",))


def test_what_a_run_records_is_what_was_installed() -> None:
    assert list_recorded_packages(packages_event(LAYER)) == (THERE,)
    older = packages_event(LAYER).model_copy(update={"wheels": ()})
    assert list_recorded_packages(older) == (InstalledPackage(name="pear", version="2.1"),)


@pytest.mark.parametrize(
    "known",
    [THERE, THERE.model_copy(update={"sha256": ""}), THERE.model_copy(update={"wheel": "pear-2.1-cp311-any.whl"})],
)
def test_the_same_file_one_without_a_hash_and_one_for_another_machine_are_taken(known: InstalledPackage) -> None:
    check_same_wheels(LAYER, [known])


@pytest.mark.slow
def test_a_run_does_not_go_on_with_another_file_of_the_same_name(
    shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.wheel("pear")
    event = packages_event(prepare_layer(["pear"]))
    shelf.wheel("pear", files={"pear.py": "planted = True\n"})
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "another"))
    with pytest.raises(SetupProblem, match=r"pear-1.0-py3-none-any.whl"):
        prepare_run_layer((), event)
