"""Which calls of the tests count, found without running anything."""

import ast
import sys
from pathlib import Path

import pytest

from burnish.checks.performance.calls import find_called_functions
from burnish.checks.project import Project

CODE = "def f(xs, k=0):\n    return xs\n\n\ndef g(n):\n    return n\n\n\nasync def h(xs):\n    return xs\n"


def found(root: Path, test: str, source: str = "code.py", text: str = CODE) -> list[tuple[str, list[object]]]:
    file = root / source
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    (root / "test_it.py").write_text(test)
    project = Project(root=root, sources=(Path(source),), tests=(Path("test_it.py"),), python=Path(sys.executable))
    return [(f.name, [ast.literal_eval(call.given) for call in f.calls]) for f in find_called_functions(project)]


@pytest.mark.parametrize(
    "test",
    [
        "from code import f\nassert f([1, 2]) == 3",
        "from code import *\nassert f([1, 2]) == 3",
        "import code\ndef test():\n    code.f([1, 2])",
        "from code import f as other\nclass T:\n    def test(self):\n        self.assertEqual(other([1, 2]), 3)",
        "from code import f\ndef test():\n    xs = [1, 2]\n    assert f(xs)",
        "from code import f\nXS = [1, 2]\ndef test():\n    assert f(XS)",
        "import pytest\nfrom code import f\n@pytest.mark.parametrize('xs', [[1, 2]])\ndef test(xs):\n    f(xs)",
        "import pytest\nfrom code import f\n@pytest.mark.parametrize('xs,y', [([1, 2], 3), (open, 1)])\n"
        "def test(xs, y):\n    assert f(xs) == y",
        "import pytest\nfrom code import f\n@pytest.mark.parametrize('xs', [pytest.param([1, 2], id='x')])\n"
        "def test(xs):\n    f(xs)",
        "from code import f\nf(list(range(1, 3)))",
    ],
)
def test_a_call_with_data_is_found(tmp_path: Path, test: str) -> None:
    assert found(tmp_path, test) == [("f", [{"0": [1, 2]}])]


@pytest.mark.parametrize(
    "test",
    [
        "from code import f\nf(None)\nf([])\nf(-1)\nf(True)",
        "from code import f\nf(open('x').read())",
        "from other import f\nf([1, 2])",
        "def f(xs): return xs\nf([1, 2])",
        "from code import h\nh([1, 2])",
        "from code import Stack\nStack().f([1, 2])",
        "from code import f\nf([1] * 10 ** 9)",
        "from code import f\nf(*[1, 2], **{'a': [1]})",
        "not Python at all",
    ],
)
def test_any_other_call_is_not(tmp_path: Path, test: str) -> None:
    assert found(tmp_path, test) == []


def test_keywords_and_several_calls_are_kept_the_largest_first(tmp_path: Path) -> None:
    test = "from code import f, g\nf([1], k=2)\nf(xs=[1, 2, 3])\nf([1, 2])\ng(7)\ng(7)"
    assert found(tmp_path, test) == [("f", [{"xs": [1, 2, 3]}, {"0": [1, 2]}]), ("g", [{"0": 7}])]


def test_a_package_may_hand_its_functions_on(tmp_path: Path) -> None:
    (tmp_path / "src" / "pack").mkdir(parents=True)
    (tmp_path / "src" / "pack" / "__init__.py").write_text("from pack.inner import f")
    assert found(tmp_path, "import pack\npack.f([1, 2])", "src/pack/inner.py") == [("f", [{"0": [1, 2]}])]


def test_a_file_that_is_no_python_is_passed_over(tmp_path: Path) -> None:
    assert found(tmp_path, "from code import f\nf([1])", text="\0 def") == []
