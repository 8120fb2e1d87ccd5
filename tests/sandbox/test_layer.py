"""A layer of packages in a cell: every job sees it, nobody can change it, and it changes nothing in the judge."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from burnish.errors import SetupProblem
from burnish.packages import prepare_layer
from burnish.sandbox import open_sandbox
from burnish.sandbox.box import Box
from burnish.sandbox.cell import Cell
from burnish.sandbox.sandbox import JobLimits
from burnish.sandbox.start import open_process_cell
from tests.sandbox.kinds import EVERY, ISOLATED, must_be_there, skip_streamed

LIES = "import os, sys\nprint('passed')\nos._exit(0)\n"
"""What a planted module does as soon as anybody imports it: it ends the process as if all were well."""


def layer(folder: Path, **modules: str) -> Path:
    """A folder with modules, as a layer has them."""
    for name, text in modules.items():
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text(text)
    folder.chmod(0o755)
    return folder


@pytest.fixture(scope="module", params=EVERY)
def box(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    """A sandbox of each kind whose layer has a package of its own, and other versions of what pytest needs."""
    folder = tmp_path_factory.mktemp("layer")
    other = "VERSION = 'of the layer'\n"
    made = layer(folder / "site", fruit="def ripe(n):\n    return n > 3\n", packaging=other, iniconfig=other)
    with open_sandbox(must_be_there(request.param), cells=1, layer=made) as opened:
        yield opened


@pytest.mark.slow
def test_code_tests_and_commands_see_the_layer(box: Box) -> None:
    code = "import fruit\n\n\ndef f(n):\n    return fruit.ripe(n)\n"
    assert box.grade(code, "assert f(4)").all_passed
    assert box.grade(
        code, "import fruit\nfrom solution import f\n\n\ndef test_it():\n    assert fruit.ripe(5) == f(5)"
    ).all_passed
    assert box.run(["python", "-c", "import fruit; print(fruit.ripe(2))"]).output == "False\n"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pydantic", "rich", "yaml", "coverage", "pip", "burnish.cli"])
def test_packages_of_burnish_s_own_and_of_the_machine_are_not_there_for_code(box: Box, name: str) -> None:
    if name == "coverage":
        skip_streamed(box.kind, "an image of its own brings coverage")
    for graded in (box.grade(f"import {name}", "assert True"), box.grade("", f"import {name}\n\ndef test_a(): pass")):
        assert not graded.all_passed
        assert "ModuleNotFoundError" in graded.problem
    assert "ModuleNotFoundError" in box.run(["python", "-c", f"import {name}"]).output


def test_code_has_the_version_of_the_layer_and_pytest_its_own(box: Box) -> None:
    code = "import iniconfig\nimport packaging\n\nFOUND = (packaging.VERSION, iniconfig.VERSION)\n"
    code += "\n\ndef found():\n    return FOUND\n"
    test = "from solution import found\n\n\ndef test_it():\n    assert found() == ('of the layer', 'of the layer')\n"
    apart, together = box.grade(code, test), box.grade(code, f"import gc\n\n{test}")
    assert apart.all_passed, apart
    assert apart.separated
    assert together.all_passed, together
    assert not together.separated
    own = "import pytest\n\n\ndef test_it():\n    import packaging\n    assert packaging.VERSION == 'of the layer'\n"
    own += "    with pytest.raises(ZeroDivisionError):\n        1 / 0\n"
    assert box.grade("x = 1", own).all_passed, "tests that name it have the layer's, and pytest works as ever"


@pytest.mark.slow
def test_the_layer_changes_for_the_next_job(box: Box, tmp_path: Path) -> None:
    before, asks = box.layer, "import plum\n\n\ndef f():\n    return plum.STONES\n"
    assert "ModuleNotFoundError" in box.grade(asks, "assert f() == 1").problem
    box.use_layer(layer(tmp_path / "more", plum="STONES = 1\n"))
    assert box.grade(asks, "assert f() == 1").all_passed
    box.use_layer(before)
    assert not box.grade(asks, "assert f() == 1").all_passed


@pytest.mark.slow
@pytest.mark.parametrize("kind", ISOLATED)
def test_code_cannot_write_into_the_layer(kind: str, tmp_path: Path) -> None:
    made = layer(tmp_path / "site", fruit="COLOUR = 'red'\n")
    for path in (made, made / "fruit"):
        path.chmod(0o777)  # the cell alone must keep it
    write = "import fruit, os\nopen(os.path.join(os.path.dirname(fruit.__file__), 'new.py'), 'w')"
    with open_sandbox(must_be_there(kind), cells=1, layer=made) as box:
        assert os.strerror(errno.EROFS) in box.run(["python", "-c", write]).output
        assert os.strerror(errno.EROFS) in box.grade(write, "assert True").problem
        assert box.run(["sh", "-c", "echo x > /layer/fruit/__init__.py"]).exit_code != 0
    assert sorted(path.name for path in (made / "fruit").iterdir()) == ["__init__.py"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", EVERY)
def test_modules_that_bear_the_judge_s_names_change_no_verdict(kind: str, tmp_path: Path) -> None:
    names = ("pytest", "_pytest", "pluggy", "json", "ast", "conftest", "sitecustomize", "usercustomize", "encodings")
    made = layer(tmp_path / "site", **dict.fromkeys(names, LIES))
    (made / "evil.pth").write_text("import os; os._exit(0)\n")
    wrong, right = "def f():\n    return 1\n", "def f():\n    return 2\n"
    suites = (
        "assert f() == 2",
        "import json, pytest\nfrom solution import f\n\n\ndef test_it():\n    assert f() == int(json.dumps(2))\n",
    )
    with open_sandbox(must_be_there(kind), cells=1, layer=made) as box:
        for tests in suites:
            assert not box.grade(wrong, tests).all_passed
            assert not box.grade(f"import pytest\n{wrong}", tests).all_passed
            assert box.grade(right, tests).all_passed
        assert box.run(["python", "-c", "import json; print(json.dumps(3))"]).output == "3\n"


def test_tests_that_use_a_package_of_the_layer_share_a_process_with_the_code_and_others_do_not(box: Box) -> None:
    code = "import fruit\n\n\ndef f(n):\n    return fruit.ripe(n)\n"
    assert box.grade(code, "assert f(4)").separated
    for words in ("import json, fruit as sweet", "from fruit import ripe"):
        graded = box.grade(code, f"{words}\nassert f(4)")
        assert graded.all_passed
        assert not graded.separated, "the report says so"


FALSE_NUMPY = """
import sys, types

class Equal:
    __module__ = "numpy"
    dtype = types.SimpleNamespace(kind="i", str="<i8")
    size, shape = 1, [1]

    def __eq__(self, other): return True
    def __hash__(self): return 5
    def item(self): return {item}
    def ravel(self): return self
    def tolist(self): return [self]

class Other(Equal):
    __module__ = "numpy"

numpy = types.ModuleType("numpy")
numpy.generic, numpy.ndarray = {kinds}
sys.modules["numpy"] = numpy

def f():
    return Equal()
"""


@pytest.mark.slow
@pytest.mark.parametrize("kinds", ["Equal, Other", "Other, Equal", "object, object"])
@pytest.mark.parametrize("item", ["self", "Other()", "7"])
def test_an_object_that_equals_everything_gains_nothing_by_a_numpy_of_its_own(box: Box, kinds: str, item: str) -> None:
    code = FALSE_NUMPY.format(kinds=kinds, item=item)
    for tests in ("assert f() == 5", "from solution import f\n\n\ndef test_it():\n    assert f() == 5\n"):
        graded = box.grade(code, tests, timeout_seconds=2)
        assert not graded.all_passed
        assert graded.separated


FORGED = """
import sys

arrays = sys.modules["burnish.sandbox.inside.packages"]


class Evil:
    __array_interface__ = {{"shape": (8,), "typestr": "|u1", "data": (id(True), False), "version": 3}}


class Thing:
    pass


arrays.is_layered = lambda kind: kind is Thing
arrays.item_of = lambda value: {item}
arrays.content_of = lambda value: {content}


def f(x):
    return Thing()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("item", "content"),
    [
        ("None", "([1], [Evil()])"),
        ("None", "([8], [Evil()])"),
        ("None", "([-1], [4])"),
        ("None", "([True], [4])"),
        ("None", "([Evil()], [4])"),
        ("None", "([2**70], [4])"),
        ("None", "([1], [[4]])"),
        ("None", "(Evil(), Evil())"),
        ("None", "Evil()"),
        ("Evil()", "None"),
        ("[4]", "None"),
        ("4.0", "None"),
    ],
)
def test_a_forged_array_is_not_believed_and_leaves_the_judge_whole(box: Box, item: str, content: str) -> None:
    code = FORGED.format(item=item, content=content)
    for tests in ("assert f(2) == 4", "from solution import f\n\n\ndef test_it():\n    assert f(2) == 4\n"):
        assert not box.grade(code, tests).all_passed
        assert box.grade("def f(x):\n    return 4\n", tests).all_passed


def test_nothing_of_a_layer_can_be_imported_where_code_is_judged_from_another_process(box: Box) -> None:
    graded = box.grade("x = 1", "def test_it():\n    eval('__imp' + 'ort__')('fruit')\n")
    assert graded.separated
    assert "ModuleNotFoundError" in graded.cases[0].message
    assert "'fruit'" in graded.cases[0].message


EQUAL = "class Equal:\n    def __eq__(self, other): return True\n    def __hash__(self): return 0\n"
FALSE_WHEEL = f"class generic: pass\n{EQUAL}\nclass ndarray(Equal):\n    def reshape(self, *_): return self\n"
FALSE_WHEEL += "\ndef array(*_, **__):\n    return ndarray()\n"


@pytest.mark.slow
@pytest.mark.parametrize("value", ["numpy.array([])", "numpy.ndarray()", "Forged()"])
def test_a_false_numpy_in_a_layer_never_answers_for_the_judge(tmp_path: Path, value: str) -> None:
    forge = "import sys\nsys.modules['burnish.sandbox.inside.packages'].content_of = lambda value: ([1], [1])\n"
    code = f"import numpy\n{forge}class Forged(numpy.ndarray): pass\n\ndef f(x):\n    return {value}\n"
    with open_sandbox("bubblewrap", cells=1, layer=layer(tmp_path / "site", numpy=FALSE_WHEEL)) as box:
        for tests in ("assert f(2) == 4", "from solution import f\n\n\ndef test_it():\n    assert f(2) == 4\n"):
            assert not box.grade(code, tests).all_passed
        lies = box.grade("import numpy\n\n\ndef f(x):\n    return numpy.Equal()\n", "assert f(2) == 4")
        assert not lies.separated, "what only the layer's class can answer is labelled"


BESIDE = """
import pytest
from solution import f


def test_given():
    assert f(2) == 4


def test_with_a_package():
    import fruit
    assert fruit.ripe(f(3))


@pytest.mark.parametrize("n", [4, 5])
def test_given_too(n):
    assert f(n) == n * n
"""


@pytest.mark.slow
def test_an_object_equal_to_everything_gains_nothing_beside_a_test_that_imports_a_package(box: Box) -> None:
    graded = box.grade(f"{EQUAL}    def __gt__(self, other): return True\n\ndef f(x):\n    return Equal()\n", BESIDE)
    outcomes = {case.name: case.outcome for case in graded.cases}
    assert outcomes.pop("test_with_a_package") == "passed"
    assert {*outcomes.values()} == {"failed"}
    assert len(outcomes) == 3
    assert (graded.separated, graded.shared) == (False, 1)


@pytest.mark.slow
def test_only_the_tests_that_import_a_package_share(box: Box) -> None:
    graded = box.grade("def f(x):\n    return x * x\n", BESIDE)
    assert graded.all_passed, graded
    assert [case.name for case in graded.cases][:2] == ["test_given", "test_with_a_package"]
    assert (len(graded.cases), graded.shared) == (4, 1)


def test_code_that_ends_the_shared_process_does_not_take_the_other_tests_along(box: Box) -> None:
    code = "import os, sys\n\ndef f(x):\n    return x if 'fruit' not in sys.modules else os._exit(0)\n"
    graded = box.grade(code, BESIDE)
    assert not graded.all_passed
    assert {case.outcome for case in graded.cases if "given" in case.name} == {"failed"}


BASKET = """
class Basket:
    def __init__(self, n): self.n = n
    def __gt__(self, other): return Basket(self.n > other)
    def __eq__(self, other): return self.n == other
    def __add__(self, other): return Basket(self.n + other)
    def tolist(self): return [self.n]
"""


@pytest.mark.slow
@pytest.mark.parametrize("test", ["(f(1) > 0).tolist() == [True]", "f(1) == 1", "(f(1) + 1).tolist() == [2]"])
def test_what_only_a_class_of_the_layer_can_answer_is_judged_in_its_process_and_nothing_else(
    tmp_path: Path, test: str
) -> None:
    tests = "from solution import f, g\n\n\ndef test_plain():\n    assert g() == 3\n\n\ndef test_apart():\n"
    tests += f"    assert f(2).tolist() == [2]\n\n\ndef test_it():\n    assert {test}\n"
    code = "import basket\n\n\ndef f(n):\n    return basket.Basket(n)\n\n\ndef g():\n    return 3\n"
    with open_sandbox("bubblewrap", cells=1, layer=layer(tmp_path / "site", basket=BASKET)) as box:
        graded = box.grade(code, tests)
        assert graded.all_passed, graded
        assert (graded.separated, graded.shared) == (False, 1)
        wrong = box.grade(code.replace("return 3", "return type('Any', (), {'__eq__': lambda *_: True})()"), tests)
        assert [case.outcome for case in wrong.cases] == ["failed", "passed", "passed"]
        assert box.grade(code, f"assert {test}").all_passed


@pytest.mark.slow
@pytest.mark.parametrize("test", ["f(1).equals([1])", "f(1).isin([1])"])
def test_an_object_of_the_layer_that_compares_itself_is_judged_in_its_process(tmp_path: Path, test: str) -> None:
    code = "import basket\n\n\ndef f(n):\n    return basket.Basket(n)\n"
    compares = (
        "    def equals(self, other): return [self.n] == other\n    def isin(self, other): return self.n in other\n"
    )
    with open_sandbox("bubblewrap", cells=1, layer=layer(tmp_path / "site", basket=BASKET + compares)) as box:
        graded = box.grade(code, f"assert {test}")
        assert (graded.all_passed, graded.separated) == (True, False)
        assert not box.grade(code, f"assert {test.replace('[1]', '[2]')}").all_passed
        own = f"{code}class Own(basket.Basket):\n    equals = isin = lambda *_: True\n\n\n"
        own += "def f(n):\n    return Own(n)\n"
        refused = box.grade(own, f"assert {test}")
        assert (refused.all_passed, refused.separated) == (False, True)


@pytest.mark.slow
@pytest.mark.parametrize("kind", EVERY)
def test_values_of_numpy_are_judged_as_they_would_be_at_the_user_s(kind: str) -> None:
    try:
        made = prepare_layer(["numpy"])
    except SetupProblem as problem:
        pytest.skip(f"there is no package index here: {problem}")
    code = "import numpy as np\n\n\ndef f(n):\n    return np.arange(n)\n\n\ndef g():\n    return np.float64(0.5)\n"
    right = "assert (f(3) == [0, 1, 2]).all()\nassert f(3).sum() == 3\nassert list(f(2)) == [0, 1]\n"
    right += "assert f(0).shape == (0,)\nassert g() == 0.5\nassert {'a': g()} == {'a': 0.5}\n"
    wrong = (
        "assert (f(3) == [0, 1, 3]).all()",
        "assert f(3) == [0, 1, 2]",
        "assert f(3).sum() == 4",
        "assert g() == 1",
    )
    own = "import numpy as np\nfrom solution import f\n\n\n"
    own += "def test_it():\n    assert np.array_equal(f(3), np.arange(3))\n"
    skip_streamed(must_be_there(kind), "the image of the tests has not the libraries that NumPy needs")
    with open_sandbox(kind, cells=1, layer=made.folder) as box:
        graded = box.grade(code, right)
        assert graded.all_passed, graded
        assert graded.separated
        assert not any(box.grade(code, tests).all_passed for tests in wrong)
        assert box.grade(code, own).all_passed
        assert not box.grade(code, own.replace("np.arange(3)", "np.arange(4)")).all_passed


NUMBERS = """
import numpy as np

KEPT = np.arange(3)


def whole(n): return np.int64(n)
def more(n): return np.bool_(n > 1)
def half(): return np.float64(0.5)
def tenth(): return np.float32(0.1)
def third(): return np.longdouble(1) / 3
def day(): return np.datetime64("2020-01-01")
def text(): return np.str_("x" * 10_001)
def zeros(n): return np.zeros(n)
def table(): return np.arange(6).reshape(2, 3)
def kept(): return KEPT
def keys(): return {np.int64(1): "x"}
"""
APART = (
    "whole(2) == 2",
    "whole(2) < 3 < whole(4)",
    "more(2)",
    "half().round() == 0.0",
    "repr(half()) != '0.5'",
    "isinstance(half(), float)",
    "text() == 'x' * 10_001",
    "(zeros(1000) == 0).all()",
    "(table() == [[0, 1, 2], [3, 4, 5]]).all()",
    "kept() is kept()",
    "keys() == {1: 'x'}",
)
SHARED = (
    "whole(2) + 1 == 3",
    "whole(2).dtype == 'int64'",
    "tenth() == 0.1",
    "third() * 3 == 1",
    "day() == day()",
    "(zeros(2_000_000) == 0).all()",
    "sum(kept()) == 3",
)
FALSE_AT_THE_USER_S = (
    "more(2) is True",
    "(whole(2) == 2) is True",
    "isinstance(whole(2), int)",
    "json.dumps(whole(2)) == '2'",
    "(table() == [[0, 1, 2], [3, 4, 6]]).all()",
    "kept() == [0, 1, 2]",
)


@pytest.mark.slow
def test_numbers_of_numpy_are_numpy_s_and_what_cannot_be_compared_apart_shares() -> None:
    try:
        made = prepare_layer(["numpy"])
    except SetupProblem as problem:
        pytest.skip(f"there is no package index here: {problem}")
    with open_sandbox("bubblewrap", cells=1, layer=made.folder) as box:
        for test in (*APART, *SHARED, *FALSE_AT_THE_USER_S):
            graded = box.grade(NUMBERS, f"import json\nassert {test}")
            assert graded.all_passed == (test not in FALSE_AT_THE_USER_S), (test, graded)
            assert graded.separated == (test not in SHARED), (test, graded)


@pytest.mark.slow
def test_packages_are_not_worn_by_another_python_which_is_said(tmp_path: Path) -> None:
    """As in an image of the user's own that was built on another Python."""
    made = layer(tmp_path / "site", fruit="COLOUR = 'red'\n")

    def opened(worn: Path | None, limits: JobLimits) -> Cell:
        cell = open_process_cell(limits, worn)
        cell.python = "3.9.18"
        return cell

    with Box("docker", "", opened, JobLimits(), cells=1) as plain:
        assert plain.grade("x = 1", "assert x == 1").all_passed
        with pytest.raises(SetupProblem, match=r"BURNISH_DOCKER_IMAGE .* 3\.9\.18") as refused:
            plain.use_layer(made)
        assert str(refused.value).endswith(" unset BURNISH_DOCKER_IMAGE")
        assert plain.grade("x = 1", "assert x == 1").all_passed, "it goes on without them"
    with Box("docker", "", opened, JobLimits(), cells=1, layer=made) as worn, pytest.raises(SetupProblem):
        worn.warm_up()


@pytest.mark.parametrize("kind", ["auto", "bubblewrap", "docker", "process"])
def test_a_layer_that_is_gone_is_no_fault_of_the_sandbox(kind: str, tmp_path: Path) -> None:
    with pytest.raises(SetupProblem, match=f"{tmp_path}/gone "):
        open_sandbox(kind, cells=1, layer=tmp_path / "gone")


def test_a_layer_that_goes_during_a_run_is_named_too(tmp_path: Path) -> None:
    with Box("process", "", lambda worn, limits: open_process_cell(limits, worn), JobLimits(), cells=1) as plain:
        plain.use_layer(tmp_path / "gone")
        with pytest.raises(SetupProblem, match=f"{tmp_path}/gone "):
            plain.grade("x = 1", "assert x == 1")
        plain.use_layer(layer(tmp_path / "site", fruit="COLOUR = 'red'\n"))
        assert plain.grade("import fruit", "import fruit\nassert fruit.COLOUR == 'red'").all_passed
