"""The tests check on whole projects: only a suite that ran to its end, each time, without a failure, has passed."""

import re
from pathlib import Path
from typing import Any

import pytest

from burnish.checks.bench.check_context import CheckContext
from burnish.checks.bench.missing_packages import find_missing_package, install_command
from burnish.checks.bench.project_finder import find_project
from burnish.checks.bench.project_run import targets
from burnish.checks.mutation import MutationCheck
from burnish.checks.project import Project
from burnish.checks.tests import TestsOfProject, find_flaky
from burnish.checks.verdict import judge_all
from burnish.errors import CheckError
from tests.checks.project_support import CODE, GOOD, TEST, covered, judged, made, python_outside_only
from tests.snapshots import assert_snapshot


@pytest.mark.slow
def test_a_good_project_passes_with_pytest_unittest_and_doctests() -> None:
    evidence = judged(find_project([GOOD / "src"]))
    assert (evidence.verdict, evidence.figure) == ("passed", "11 passed, 1 skipped"), evidence
    ids = [test["id"] for test in seen(evidence.details["tests"])]
    assert "src/shop/prices.py::shop.prices.total" in ids
    assert "tests/test_stock.py::StockCase::test_take" in ids
    assert "tests/test_prices.py::test_total[prices1-1]" in ids
    assert len(seen(evidence.details["runs"])) == 3
    assert evidence.details["separated"] is False


@pytest.mark.slow
def test_a_failing_test_is_named_with_its_line(tmp_path: Path) -> None:
    evidence = judged(made(tmp_path, {"tests/test_it.py": TEST + "\n\ndef test_bad():\n    assert double(1) == 3\n"}))
    assert (evidence.verdict, evidence.figure) == ("failed", "1 passed, 1 failed")
    assert "tests/test_it.py::test_bad" in evidence.why
    [finding] = seen(evidence.details["findings"])
    assert (finding["file"], finding["line"]) == ("tests/test_it.py", 9)


@pytest.mark.slow
def test_a_doctest_that_is_wrong_fails_and_says_what_came_instead(tmp_path: Path) -> None:
    evidence = judged(made(tmp_path, {"code_.py": f'"""Doubles.\n\n>>> double(2)\n5\n"""\n\n\n{CODE}'}))
    assert (evidence.verdict, evidence.figure) == ("failed", "1 failed")
    assert_snapshot(evidence.why, "bench/a wrong doctest")


@pytest.mark.slow
def test_a_package_with_tests_inside_runs_them_and_its_doctests(tmp_path: Path) -> None:
    files = {
        "shop/__init__.py": "",
        "shop/prices.py": f'"""Doubles.\n\n>>> double(2)\n4\n"""\n\n\n{CODE}',
        "shop/tests/__init__.py": "",
        "shop/tests/test_prices.py": TEST.replace("code_", "shop.prices"),
    }
    assert judged(made(tmp_path, files)).figure == "2 passed"
    settings = "[tool.pytest.ini_options]\ntestpaths = ['shop']\n"
    assert judged(made(tmp_path, {**files, "pyproject.toml": settings})).figure == "2 passed"


ORDER = "STATE = []\n\n\ndef test_a():\n    STATE.append(1)\n\n\ndef test_b():\n    assert STATE\n"


@pytest.mark.slow
def test_a_test_that_depends_on_order_is_flaky(tmp_path: Path) -> None:
    evidence = judged(made(tmp_path, {"test_order.py": ORDER}))
    assert (evidence.verdict, evidence.figure) == ("failed", "2 passed")
    assert evidence.details["flaky"] == ["test_order.py::test_b"]
    assert_snapshot(evidence.why, "bench/a flaky test")


@pytest.mark.slow
def test_a_test_that_depends_on_the_order_of_a_set_is_flaky(tmp_path: Path) -> None:
    words = "def test_set():\n    assert next(iter(set('abcdefgh'))) == {first!r}\n"
    first = _first_of_a_set(tmp_path / "ask")
    evidence = judged(made(tmp_path / "it", {"test_set.py": words.format(first=first)}))
    assert evidence.details["flaky"] == ["test_set.py::test_set"]


def _first_of_a_set(folder: Path) -> str:
    with CheckContext(made(folder, {})) as context:
        return context.run([context.python, "-c", "print(next(iter(set('abcdefgh'))), end='')"]).output


def test_a_missing_test_counts_as_flaky() -> None:
    assert find_flaky([{"a": "passed", "b": "passed"}, {"a": "passed"}]) == ["b"]


@pytest.mark.slow
@pytest.mark.parametrize("wait", ["while True:\n        pass", "import time\n    time.sleep(99)"], ids=["busy", "idle"])
def test_a_hanging_test_fails_by_name_within_its_time(tmp_path: Path, wait: str) -> None:
    text = f"def test_ok():\n    pass\n\n\ndef test_hang():\n    {wait}\n\n\ndef test_last():\n    pass\n"
    project = made(tmp_path, {"test_hang.py": text}, "test_seconds = 3")
    evidence = judged(project)
    assert evidence.verdict == "failed"
    assert "test_hang.py::test_hang" in evidence.why
    assert evidence.figure == "1 passed, 1 failed, 1 not run"
    assert seen(evidence.details["runs"])[0]["seconds"] < 7


@pytest.mark.slow
def test_tests_that_do_not_import_fail_and_name_file_and_error(tmp_path: Path) -> None:
    evidence = judged(made(tmp_path, {"tests/test_no.py": "import nosuch\n", "tests/test_yes.py": TEST}))
    assert (evidence.verdict, evidence.figure) == ("failed", "1 passed, 1 failed")
    assert_snapshot(evidence.why, "bench/a test file that cannot be imported")


FAKE = (
    "import json, os\n\n\ndef test_fake():\n    for fd in (1, 2, *range(3, 20)):\n        try:\n"
    "            os.write(fd, b'\\n' + json.dumps({'test': {'id': 'x', 'outcome': 'passed'}}).encode() + b'\\n')\n"
    "            os.write(fd, b'\\n' + json.dumps({'ended': {'exit': 0}}).encode() + b'\\n')\n"
    "        except OSError:\n            pass\n    print('1 passed')\n    assert False\n"
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("import sys\nsys.exit(0)\n", "test_bad.py"),
        ("import os\nos._exit(0)\n", "exit code 0"),
        ("import os\n\n\ndef test_x():\n    os._exit(0)\n", "test_bad.py::test_x"),
        ("import os, signal\n\n\ndef test_x():\n    os.kill(os.getpid(), signal.SIGSEGV)\n", "SIGSEGV"),
        (
            "import atexit, os\natexit.register(os._exit, 0)\n\n\ndef test_x():\n    assert False\n",
            "exit code 0",
        ),
        ("import pytest\n\n\ndef test_x():\n    pytest.exit('enough', 0)\n", "test_bad.py::test_x"),
        (FAKE, "test_bad.py::test_fake"),
        ("import os\n\n\ndef test_x():\n    os.kill(os.getppid(), 9)\n", ""),
        ("def test_x():\n    assert False\n\n\ndef test_y(:\n", "SyntaxError"),
    ],
    ids=[
        "sys.exit",
        "os._exit",
        "os._exit-in-test",
        "signal",
        "at-exit",
        "pytest.exit",
        "fake-lines",
        "kills-guard",
        "syntax",
    ],
)
def test_a_suite_that_hides_its_verdict_fails(tmp_path: Path, text: str, why: str) -> None:
    evidence = judged(made(tmp_path, {"test_bad.py": text}))
    assert evidence.verdict == "failed", evidence
    assert "passed" not in evidence.figure
    assert why in evidence.why


@pytest.mark.slow
def test_a_conftest_that_pytest_refuses_is_told_with_its_reason(tmp_path: Path) -> None:
    conftest = "def pytest_ignore_collect(nosuch):\n    pass\n"
    evidence = judged(made(tmp_path, {"test_a.py": "def test_a():\n    pass\n", "conftest.py": conftest}))
    assert evidence.verdict == "failed"
    assert "nosuch" in evidence.why


@pytest.mark.slow
@pytest.mark.parametrize(
    "conftest",
    [
        "def pytest_sessionfinish(session):\n    session.exitstatus = 0\n",
        "import pytest\n\n\n@pytest.hookimpl(tryfirst=True)\ndef pytest_runtest_protocol(item):\n    return True\n",
    ],
    ids=["exit-status", "nothing-runs"],
)
def test_a_conftest_that_bends_the_verdict_fails(tmp_path: Path, conftest: str) -> None:
    evidence = judged(made(tmp_path, {"test_bad.py": "def test_x():\n    assert False\n", "conftest.py": conftest}))
    assert evidence.verdict == "failed", evidence


@pytest.mark.slow
@pytest.mark.parametrize(
    ("files", "figure"),
    [
        ({}, ""),
        ({"tests/test_none.py": "X = 1\n"}, "none"),
        ({"test_s.py": "import pytest\n\n\n@pytest.mark.skip\ndef test_x():\n    pass\n"}, "1 skipped"),
        ({"test_s.py": "import pytest\npytest.skip('no', allow_module_level=True)\n"}, "1 skipped"),
    ],
    ids=["none", "empty", "skipped", "module-skipped"],
)
def test_a_suite_that_tests_nothing_is_not_run(tmp_path: Path, files: dict[str, str], figure: str) -> None:
    evidence = judged(made(tmp_path, files))
    assert (evidence.verdict, evidence.figure) == ("not_run", figure), evidence
    assert_snapshot(evidence.why, f"bench/a suite that tests nothing, figure {figure!r}")


@pytest.mark.slow
def test_tests_that_never_started_are_not_run_and_have_not_failed(tmp_path: Path) -> None:
    python = python_outside_only(tmp_path / "environment")
    project = made(tmp_path / "shop", {"test_it.py": TEST}).model_copy(update={"python": python})
    with CheckContext(project) as context:
        found = judge_all(project, context, ["tests"])["tests"]
    assert (found.verdict, found.figure) == ("not_run", ""), found


@pytest.mark.slow
def test_a_strict_unexpected_pass_is_a_failure(tmp_path: Path) -> None:
    text = "import pytest\n\n\n@pytest.mark.xfail(strict=True)\ndef test_x():\n    pass\n"
    assert judged(made(tmp_path, {"test_x.py": text})).verdict == "failed"


@pytest.mark.slow
def test_a_suite_named_as_unittest_names_it_is_found(tmp_path: Path) -> None:
    text = "import unittest\n\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        self.assertTrue(1)\n"
    assert judged(made(tmp_path, {"tests/testcase.py": text})).figure == "1 passed"


@pytest.mark.slow
def test_code_under_test_can_neither_write_to_the_project_nor_reach_the_network(tmp_path: Path) -> None:
    text = (
        "import pathlib, socket\nimport pytest\n\nHERE = pathlib.Path(__file__).parent\n\n\n"
        "def test_write():\n    with pytest.raises(OSError):\n        (HERE / 'new').write_text('x')\n"
        "    with pytest.raises(OSError):\n        (HERE / 'code_.py').write_text('x')\n\n\n"
        "def test_connect():\n    with pytest.raises(OSError):\n"
        "        socket.create_connection(('1.1.1.1', 80), 1)\n\n\n"
        "def test_own_folder_can_be_written(tmp_path):\n    (tmp_path / 'x').write_text('x')\n"
    )
    evidence = judged(made(tmp_path, {"test_attack.py": text}))
    assert evidence.figure == "3 passed", evidence
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == [
        "code_.py",
        "pyproject.toml",
        "test_attack.py",
    ]


@pytest.mark.slow
def test_settings_that_pytest_refuses_are_not_run_with_its_words(tmp_path: Path) -> None:
    project = made(tmp_path, {"test_it.py": TEST, "pytest.ini": "[pytest]\naddopts = --no-such-option\n"})
    with pytest.raises(CheckError, match="--no-such-option"):
        judged(project)


@pytest.mark.slow
def test_a_long_suite_is_run_once_and_says_so(tmp_path: Path) -> None:
    text = "import time\n\n\ndef test_slow():\n    time.sleep(2.2)\n"
    evidence = judged(made(tmp_path, {"test_slow.py": text}, "test_seconds = 6"))
    assert (evidence.verdict, len(seen(evidence.details["runs"]))) == ("passed", 1)
    assert_snapshot(re.sub(r"takes \d+ s", "takes long", evidence.why), "bench/a suite that is run once")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "verdict"), [("python test_it.py && ls code_.py", "passed"), ("echo no; exit 3", "failed")]
)
def test_a_command_is_judged_by_its_exit_code(tmp_path: Path, command: str, verdict: str) -> None:
    evidence = judged(made(tmp_path, {"test_it.py": TEST}, test_command=command))
    assert evidence.verdict == verdict, evidence


@pytest.mark.slow
def test_a_command_that_does_not_exist_is_not_run(tmp_path: Path) -> None:
    with pytest.raises(CheckError, match="no-such-runner"):
        judged(made(tmp_path, {"test_it.py": TEST}, test_command="no-such-runner"))


@pytest.mark.slow
def test_a_command_that_hangs_fails(tmp_path: Path) -> None:
    evidence = judged(made(tmp_path, {}, "test_seconds = 1", test_command=["sleep", "60"]))
    assert (evidence.verdict, evidence.figure) == ("failed", "ended")


def generated(folder: Path, code: str, tests: str) -> Project:
    (folder / "solution.py").write_text(code)
    (folder / "test_solution.py").write_text(tests)
    (folder / "pyproject.toml").touch()
    return find_project([folder / "solution.py"], generated=True)


ASSERTS = "from solution import double\n\n\ndef test_double():\n    assert double(2) == 4\n"


@pytest.mark.slow
def test_generated_code_is_judged_apart_from_its_tests(tmp_path: Path) -> None:
    evidence = judged(generated(tmp_path, CODE, ASSERTS))
    assert (evidence.verdict, evidence.figure, evidence.details["separated"]) == ("passed", "1 passed", True)


@pytest.mark.slow
@pytest.mark.parametrize(
    "code",
    [
        "def double(n):\n    return n\n",
        "class Yes:\n    def __eq__(self, other):\n        return True\n\n\ndef double(n):\n    return Yes()\n",
        "import os\n\n\ndef double(n):\n    os._exit(0)\n",
        "import random\n\n\ndef double(n):\n    return random.random()\n",
    ],
    ids=["wrong", "equal-to-everything", "leaves", "chance"],
)
def test_generated_code_that_is_wrong_or_cheats_fails(tmp_path: Path, code: str) -> None:
    assert judged(generated(tmp_path, code, ASSERTS)).verdict == "failed"


SHOWN = f'"""Doubles.\n\n>>> double("a")  # raises ValueError\n"""\n\n\n{CODE}'


@pytest.mark.slow
def test_examples_in_generated_code_do_not_count_beside_its_tests(tmp_path: Path) -> None:
    project = generated(tmp_path, SHOWN, ASSERTS)
    assert judged(project).verdict == "passed"
    assert covered(project).figure.startswith("100 %")
    assert targets(project) == ["test_solution.py"]
    with CheckContext(project) as context:
        assert MutationCheck().judge(project, context).verdict == "passed"


def test_examples_in_other_code_count_as_tests(tmp_path: Path) -> None:
    project = generated(tmp_path, SHOWN, ASSERTS).model_copy(update={"generated": False})
    assert targets(project) == ["test_solution.py", "solution.py"]
    alone = generated(tmp_path, SHOWN, ASSERTS).model_copy(update={"tests": ()})
    assert targets(alone) == ["solution.py"], "where nothing else is there, they are all that can be run"


def test_a_folder_of_tests_is_named_by_its_files_where_examples_lie_in_it_too(tmp_path: Path) -> None:
    files = {"shop/tests/test_it.py": TEST, "shop/tests/deep/test_more.py": TEST, "shop/tests/data.py": "X = 1\n"}
    project = made(tmp_path, {**files, "shop/__init__.py": "", "shop/prices.py": SHOWN})
    inside = project.model_copy(update={"tests": (Path("shop"),)})
    assert targets(inside) == ["shop/tests/deep/test_more.py", "shop/tests/test_it.py", "shop/prices.py"]
    beside = project.model_copy(update={"tests": (Path("shop/tests"),)})
    assert targets(beside) == ["shop/tests", "shop/prices.py"], "pytest finds the files of a folder by itself"


@pytest.mark.slow
def test_progress_is_told(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    project = made(tmp_path, {"test_it.py": TEST})
    with CheckContext(project, tell=lambda done, total: told.append((done, total))) as context:
        TestsOfProject().judge(project, context)
    assert told == [(1, 3), (3, 3)]


def seen(value: object) -> Any:
    """Details are plain data; tests look into them."""
    return value


LACKS = "import scipy\n\n\ndef test_it():\n    assert scipy\n"


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


@pytest.mark.slow
def test_the_check_says_how_the_package_can_be_had(tmp_path: Path) -> None:
    project = made(tmp_path, {"test_it.py": LACKS})
    assert judged(project).why.endswith(install_command("scipy", project))
    evidence = judged(project.model_copy(update={"has_environment": False}))
    assert evidence.verdict == "failed"
    assert evidence.why.endswith("--with scipy")


@pytest.mark.slow
def test_code_sees_a_program_and_no_prompt_as_it_does_in_its_own_command(tmp_path: Path) -> None:
    test = "def test_it():\n    import __main__\n    assert __main__.__file__.endswith('__main__.py')\n"
    assert judged(made(tmp_path, {"test_it.py": test})).verdict == "passed"
