"""Packages that evidence names are had again as they were, and no stranger among them is taken on trust."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from burnish.agent.packages import packages_event
from burnish.commands.verify import prepare_evidence_layer
from burnish.errors import SetupProblem
from burnish.events import PackagesAdded, RunStarted
from burnish.evidence import build_dossier
from burnish.evidence.schema import EvidencePackage
from burnish.packages import Layer, prepare_layer
from burnish.runs import Run
from tests.packages.conftest import only
from tests.packages.shelf import Shelf


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    """polars, which is well known, needs a package that is not; a part of it needs one more."""
    folder = tmp_path_factory.mktemp("index")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BURNISH_CACHE", str(folder / "cache"))
        made = only(folder / "shelf", patch)
        made.wheel("polars", needs=["polars-runtime-32", "medlartools; extra == 'pie'\nProvides-Extra: pie"])
        for name in ("polars-runtime-32", "medlartools", "quincetools"):
            made.wheel(name)
        yield made


@pytest.fixture(scope="module")
def packages(shelf: Shelf) -> tuple[EvidencePackage, ...]:
    """What evidence says of a run with `--with polars[pie]`."""
    return told(packages_event(prepare_layer(["polars[pie]"])))


@pytest.fixture
def elsewhere(
    packages: tuple[EvidencePackage, ...], shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Shelf:
    """Another machine, with an index of its own that has the same: nothing was fetched there yet."""
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "cache"))
    shutil.copytree(shelf.folder, tmp_path / "shelf")
    return only(tmp_path / "shelf", monkeypatch)


def told(*events: PackagesAdded) -> tuple[EvidencePackage, ...]:
    started = RunStarted(run_id="a", verb="write", prompt="p", model="scripted:x", burnish="0")
    return build_dossier(Run((started, *events)), {}).packages


def versions(layer: Layer) -> list[tuple[str, str]]:
    return [(one.name, one.version) for one in layer.packages]


@pytest.mark.slow
def test_what_a_well_known_package_needs_is_had_in_the_version_that_was_used(
    packages: tuple[EvidencePackage, ...], elsewhere: Shelf
) -> None:
    assert [(one.name, one.asked, one.extras) for one in packages] == [
        ("medlartools", False, ()),
        ("polars", True, ("pie",)),
        ("polars-runtime-32", False, ()),
    ]
    elsewhere.wheel("polars-runtime-32", "2.0")
    layer = prepare_evidence_layer(packages)
    assert versions(layer) == [("medlartools", "1.0"), ("polars", "1.0"), ("polars-runtime-32", "1.0")]
    assert [one.sha256 for one in layer.packages] == [one.sha256 for one in packages]


@pytest.mark.slow
def test_a_stranger_that_is_said_to_be_needed_and_is_not_is_never_had(packages: tuple[EvidencePackage, ...]) -> None:
    planted = EvidencePackage(name="quincetools", version="1.0", asked=False)
    assert "quincetools" not in dict(versions(prepare_evidence_layer([*packages, planted])))


def test_all_strangers_that_were_asked_for_are_named_at_once() -> None:
    with pytest.raises(SetupProblem) as problem:
        prepare_evidence_layer(
            [EvidencePackage(name=name, version="1.0") for name in ("medlartools", "polars", "quincetools")]
        )
    assert str(problem.value).endswith("--allow-package medlartools --allow-package quincetools")


@pytest.mark.slow
def test_a_wheel_that_is_not_the_file_it_was_is_refused(
    packages: tuple[EvidencePackage, ...], elsewhere: Shelf
) -> None:
    elsewhere.wheel("polars-runtime-32", files={"polars_runtime_32.py": "planted = True\n"})
    with pytest.raises(SetupProblem, match=r"polars_runtime_32-1\.0-py3-none-any\.whl: "):
        prepare_evidence_layer(packages)


def test_what_a_run_that_went_on_pins_was_not_asked_for() -> None:
    there = (("polars", "1.0"), ("polars-runtime-32", "1.0"))
    first = PackagesAdded(asked=("polars",), packages=there)
    pins = ("polars-runtime-32==1.0", "polars==1.0", "toml")
    grown = PackagesAdded(asked=pins, packages=(*there, ("toml", "1.0")), why="version 2 imports it")
    assert [one.name for one in told(first, grown) if one.asked] == ["polars", "toml"]


def test_a_record_from_before_wheels_were_noted_names_none() -> None:
    (package,) = told(PackagesAdded(asked=("toml",), packages=(("toml", "1.0"),)))
    assert (package.wheel, package.sha256, package.asked) == ("", "", True)
