"""Folders whose evidence was made by somebody who knows how: what is run again is what a reader is told and gets."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import burnish
from burnish import SetupProblem, Store
from burnish.commands import write
from burnish.events.history import Run
from burnish.tasks.test_file import read_test_file, why_no_module
from tests.evidence.delivered import copy, deliver, edit, replace


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Run]:
    top = tmp_path_factory.mktemp("honest")
    return top / "double", deliver(top / "double")


@pytest.fixture
def folder(honest: tuple[Path, Run], tmp_path: Path) -> Path:
    return copy(honest[0], tmp_path)


def call_module(folder: Path, module: str) -> None:
    """The same code and tests, delivered as another module, with evidence that fits."""
    code, tests = f"{module.replace('.', '/')}.py", f"test_{module.rpartition('.')[2]}.py"
    replace(folder / "test_solution.py", "from solution", f"from {module}")
    (folder / code).parent.mkdir(exist_ok=True)
    (folder / "solution.py").rename(folder / code)
    (folder / "test_solution.py").rename(folder / tests)

    def change(data: dict[str, Any]) -> None:
        data["task"]["module"] = module
        data["code"]["file"] = code
        data["files"] = dict.fromkeys((code, tests, "report.md"), "")

    edit(folder, change)


NAMES = ["pytest", "conftest", "sitecustomize", "json", "_pytest.config", "setup", "pip", "__main__", "a.__init__"]


@pytest.mark.slow
@pytest.mark.parametrize("module", [*NAMES, "\ufb01x"])
def test_a_module_that_python_or_a_tool_would_take_for_its_own_is_refused(module: str, folder: Path) -> None:
    call_module(folder, module)
    verified = burnish.verify(folder, fast=True)
    assert verified.ending == "refused"
    assert len(verified.changed) == 1


def test_a_module_called_like_a_package_beside_it_is_refused() -> None:
    assert why_no_module("some_tables", ["some-tables"])
    assert not why_no_module("some_tables", ["tables"])


@pytest.mark.slow
@pytest.mark.parametrize("module", ["roman", "shop.prices", "gr\u00f6\u00dfe", "test_tools"])
def test_a_module_of_another_name_still_holds(module: str, folder: Path) -> None:
    call_module(folder, module)
    assert burnish.verify(folder, fast=True).ending == "holds"


@pytest.mark.parametrize("module", ["conftest", "sitecustomize"])
def test_a_file_of_tests_cannot_ask_for_such_a_module(module: str, tmp_path: Path) -> None:
    file = tmp_path / "test_it.py"
    file.write_text(f"from {module} import double\n\ndef test_it():\n    assert double(1) == 2\n")
    with pytest.raises(SetupProblem, match=module):
        read_test_file(file)


@pytest.mark.slow
def test_a_record_cannot_have_its_code_delivered_as_such_a_module(
    honest: tuple[Path, Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write, "read_module_name", lambda run: "sitecustomize")
    with pytest.raises(SetupProblem, match="is not delivered"):
        write.deliver(honest[1], tmp_path / "out", Store(tmp_path / "home"))
    assert not (tmp_path / "out").exists()


def in_another_order(folder: Path) -> None:
    """What stands in the file last counts: here the name of the function is bound after all else."""
    text, line = (folder / "test_solution.py").read_text(), "from solution import double\n"
    (folder / "test_solution.py").write_text(text.replace(line, "") + line)
    edit(folder, lambda data: None)


def with_another_file_as_the_code(folder: Path) -> None:
    edit(folder, lambda data: data["code"].update(file="report.md"))


def with_a_test_of_another_name(folder: Path) -> None:
    edit(folder, lambda data: data["tests"][0].update(name="test_every_case_there_is"))


@pytest.mark.slow
@pytest.mark.parametrize("change", [in_another_order, with_another_file_as_the_code, with_a_test_of_another_name])
def test_evidence_that_tells_of_other_things_than_are_run_is_refused(
    change: Callable[[Path], None], folder: Path
) -> None:
    change(folder)
    verified = burnish.verify(folder, fast=True)
    assert verified.ending == "refused"
    assert len(verified.changed) == 1
