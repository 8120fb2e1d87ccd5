"""Checks of generated code see the layer that was asked for, and neither Burnish's packages nor its layer's tricks."""

from pathlib import Path

import pytest

from burnish.checks.bench.check_context import CheckContext
from burnish.checks.dependencies.uses import read_layer
from burnish.checks.final import FinalChecks
from burnish.checks.mutation.mutate_module import Mutations
from burnish.checks.project import Project
from tests.sandbox.kinds import EVERY, must_be_there
from tests.sandbox.test_layer import LIES, layer

FRUIT = "def ripe(n):\n    return n > 3\n"
CODE = "import fruit\n\n\ndef f(n):\n    if fruit.ripe(n):\n        return n + 1\n    return 0\n"
TESTS = "from solution import f\n\n\ndef test_f():\n    assert f(4) == 5\n\n\ndef test_g():\n    assert f(1) == 0\n"
WRONG = TESTS.replace("== 5", "== 6")


def alone(folder: Path, site: Path | None) -> Project:
    folder.mkdir()
    (folder / "solution.py").write_text(CODE)
    return Project(root=folder, sources=(Path("solution.py"),), python=Path("python"), layer=site, alone=True)


@pytest.mark.slow
@pytest.mark.parametrize("kind", EVERY)
def test_a_command_in_the_lab_sees_the_layer_and_nothing_else_of_this_machine(kind: str, tmp_path: Path) -> None:
    site = layer(tmp_path / "site", fruit=FRUIT)
    (site / "evil.pth").write_text("import os; os._exit(3)\n")
    with CheckContext(alone(tmp_path / "project", site), must_be_there(kind)) as context:
        assert context.run([context.python, "-c", "import fruit, json; print(fruit.ripe(4))"]).output == "True\n"
        for name in ("pydantic", "yaml", "pip", "pytest", "coverage"):
            assert "ModuleNotFoundError" in context.run([context.python, "-c", f"import {name}"]).output
        own = context.python
    assert kind != "process" or not Path(own).exists(), "the bare environment is gone with the context"


@pytest.mark.slow
def test_coverage_and_mutants_are_measured_with_the_layer(tmp_path: Path) -> None:
    site = layer(tmp_path / "site", fruit=FRUIT)
    (found,) = FinalChecks(("coverage",), layer=site).judge(CODE, TESTS)
    assert (found.verdict, found.figure) == ("passed", "100 % of lines and branches")
    tried = Mutations(layer=site).of(CODE, TESTS)
    assert tried.mutants > 0, tried.why
    (bare,) = FinalChecks(("coverage",)).judge(CODE, TESTS)
    assert bare.verdict != "passed"


@pytest.mark.slow
def test_a_pytest_in_the_layer_does_not_judge_generated_code(tmp_path: Path) -> None:
    names = ("pytest", "_pytest", "pluggy", "coverage", "sitecustomize", "usercustomize", "conftest", "json")
    site = layer(tmp_path / "site", fruit=FRUIT, **dict.fromkeys(names, LIES))
    (good, cover), (bad, _) = (FinalChecks(("tests", "coverage"), layer=site).judge(CODE, it) for it in (TESTS, WRONG))
    assert (good.verdict, good.figure) == ("passed", "2 passed")
    assert cover.figure == "100 % of lines and branches"
    assert bad.verdict == "failed"


def test_versions_are_those_of_the_layer(tmp_path: Path) -> None:
    site = layer(tmp_path / "site", fruit=FRUIT)
    (site / "fruit-3.2.dist-info").mkdir()
    (site / "fruit-3.2.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: fruit\nVersion: 3.2\n")
    assert read_layer(site).versions == {"fruit": "3.2"}
    assert read_layer(None).versions == {}
