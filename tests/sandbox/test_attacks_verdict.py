"""Wrong code wants to be called right."""

import subprocess
import sys

import pytest

from tests.sandbox.attack import is_healthy

WRONG = "def f(x):\n    return 'wrong'\n"
TESTS = "assert f(1) == 2\nassert f(3) == 4"
PYTEST = "from solution import f\ndef test_one(): assert f(1) == 2\ndef test_two(): assert f(3) == 4"


def test_exit_with_success_on_import(does_not_fool):
    does_not_fool("import sys\nsys.exit(0)", TESTS)


def test_exit_with_success_when_called(does_not_fool):
    does_not_fool("import os\ndef f(x): os._exit(0)", TESTS)


def test_system_exit_when_called(does_not_fool):
    does_not_fool("def f(x): raise SystemExit(0)", TESTS)


def test_success_at_exit(does_not_fool):
    does_not_fool(f"import atexit, os\natexit.register(lambda: os._exit(0))\n{WRONG}", TESTS)


def test_an_exception_hook_that_exits_with_success(does_not_fool):
    does_not_fool(f"import os, sys\nsys.excepthook = lambda *a: os._exit(0)\n{WRONG}", TESTS)


def test_an_object_equal_to_everything(does_not_fool):
    does_not_fool("class E:\n    def __eq__(self, o): return True\ndef f(x): return E()", TESTS)


def test_an_object_equal_to_everything_in_a_list(does_not_fool):
    does_not_fool("class E:\n    def __eq__(self, o): return True\ndef f(x): return [E()]", "assert f(1) == [2]")


def test_a_number_equal_to_everything(does_not_fool):
    does_not_fool("class E(int):\n    def __eq__(self, o): return True\ndef f(x): return E(9)", TESTS)


def test_a_string_equal_to_everything(does_not_fool):
    code = "class E(str):\n    def __eq__(self, o): return True\n    __hash__ = str.__hash__\ndef f(x): return E('no')"
    does_not_fool(code, "assert f(1) == 'yes'")


def test_a_list_equal_to_everything(does_not_fool):
    does_not_fool("class E(list):\n    def __eq__(self, o): return True\ndef f(x): return E()", "assert f(1) == [1]")


def test_a_difference_that_is_always_small(does_not_fool):
    code = """
class E:
    def __sub__(self, o): return self
    __rsub__ = __abs__ = lambda self, *a: self
    def __lt__(self, o): return True
    __le__ = __lt__
def f(x): return E()
"""
    does_not_fool(code, "assert abs(f(1) - 2.5) < 1e-6")


def test_a_container_that_holds_everything(does_not_fool):
    does_not_fool("class E:\n    def __contains__(self, o): return True\ndef f(x): return E()", "assert 7 in f(1)")


def test_printing_that_all_passed(cell):
    code = 'print(\'{"plan": []}\\n{"end": "x"}\\n2 passed\')\n' + WRONG
    assert cell.grade(code, TESTS).passed == 0


def test_expected_values_in_the_frames_of_callers(does_not_fool):
    code = """
import sys
def f(x):
    frame = sys._getframe(1)
    while frame:
        for value in frame.f_code.co_consts:
            if isinstance(value, int) and value == x + 1: return value
        frame = frame.f_back
"""
    does_not_fool(code, "assert f(1001) == 1002")


def test_expected_values_in_the_garbage_collector(does_not_fool):
    code = """
import gc, types
def f(x):
    for thing in gc.get_objects():
        if isinstance(thing, types.FunctionType) and thing.__name__ == "check":
            return max(value for value in thing.__code__.co_consts if isinstance(value, int))
"""
    does_not_fool(code, "def check(c):\n    assert c(1) == 987654321\ncheck(f)")


def test_expected_values_in_the_memory_of_the_process(cell):
    code = """
def f(x):
    wanted = bytes(c - 1 for c in b"TFDSFUBOTXFS")
    for line in open("/proc/self/maps"):
        if " rw" not in line or "vvar" in line: continue
        low, high = (int(n, 16) for n in line.split()[0].split("-"))
        with open("/proc/self/mem", "rb") as memory:
            memory.seek(low)
            if wanted in memory.read(high - low): return wanted.decode()
"""
    grades = [cell.grade(code, "assert f(1) == 'SECRETANSWER'") for _ in range(2)]
    assert not any(graded.all_passed for graded in grades)


def test_rebound_builtins(does_not_fool):
    code = "import builtins\nbuiltins.sorted = lambda x: [1]\ndef f(x): return [9]"
    does_not_fool(code, "assert sorted(f(1)) == [1]")


def test_redefined_builtins(does_not_fool):
    does_not_fool("def abs(x): return 0\ndef f(x): return 9", "assert abs(f(1) - 2.5) < 1e-6")


def test_a_redefined_module(does_not_fool):
    code = "class math:\n    isclose = staticmethod(lambda a, b: True)\ndef f(x): return 9"
    does_not_fool(code, "assert math.isclose(f(1), 2.5)")


def test_redefined_builtins_in_a_pytest_file(cell):
    tests = "from solution import *\ndef test_a(): assert abs(f(1) - 2.5) < 1e-6"
    assert cell.grade("def abs(x): return 0\ndef f(x): return 9", tests).passed == 0


def test_a_function_under_test_may_have_the_name_of_a_builtin(cell):
    assert cell.grade("def sum(a, b): return a * b", "assert sum(2, 3) == 6").all_passed


@pytest.mark.slow
def test_a_patched_pytest_report(does_not_fool):
    code = """
import _pytest.reports
make = _pytest.reports.TestReport.from_item_and_call
def always(item, call):
    call.excinfo = None
    return make(item, call)
_pytest.reports.TestReport.from_item_and_call = staticmethod(always)
"""
    does_not_fool(code + WRONG, PYTEST)


@pytest.mark.slow
def test_an_exit_status_patched_into_pytest(does_not_fool):
    does_not_fool("import os, pytest\ndef f(x): os._exit(0)", PYTEST)


@pytest.mark.slow
def test_skipping_itself(does_not_fool):
    does_not_fool("import pytest\ndef f(x): pytest.skip('not today')", PYTEST)


@pytest.mark.slow
def test_skipping_itself_the_other_way(does_not_fool):
    does_not_fool("import unittest\ndef f(x): raise unittest.SkipTest", PYTEST)


@pytest.mark.slow
def test_an_expected_failure_declared_from_inside(does_not_fool):
    does_not_fool("import pytest\ndef f(x): pytest.xfail('known')", PYTEST)


@pytest.mark.slow
def test_overwriting_the_tests(does_not_fool):
    code = """
import sys
def f(x):
    tests = vars(sys.modules.get("test_it") or sys.modules.get("tests") or sys)
    for name, test in tests.items():
        if name.startswith("test_"): test.__code__ = (lambda: None).__code__
"""
    does_not_fool(code, "from solution import f\ndef test_a(): f(1)\ndef test_b(): assert f(1) == 77")


def test_a_planted_conftest(cell):
    hook = "import pytest\\n@pytest.hookimpl(tryfirst=True)\\ndef pytest_pyfunc_call(pyfuncitem): return True"
    plant = f"open('conftest.py', 'w').write('{hook}')\n"
    assert cell.grade(plant + WRONG, PYTEST).passed == 0


@pytest.mark.parametrize("name", ["sitecustomize.py", "usercustomize.py", "x.pth", "pytest.ini", "solution.py"])
def test_a_planted_file_changes_nothing(cell, name):
    plant = f"""
for folder in (".", "/tmp", "/work", "/packages"):
    try: open(folder + "/{name}", "w").write("import os; os._exit(0)")
    except OSError: pass
"""
    assert cell.grade(plant + WRONG, PYTEST).passed == 0
    assert is_healthy(cell)


def test_system_exit_from_a_thread(cell):
    start = "t = threading.Thread(target=lambda: exit(0)); t.start(); t.join()"
    assert cell.grade(f"import threading\ndef f(x):\n    {start}\n    return 'wrong'", TESTS).passed == 0


def test_a_crash_of_the_interpreter(cell):
    graded = cell.grade("import ctypes\ndef f(x): ctypes.string_at(0)", TESTS)
    assert graded.passed == 0
    assert graded.problem
    assert is_healthy(cell)


def test_the_module_of_the_tests_is_out_of_reach(cell):
    code = "import sys\ndef f(x):\n    return 2 if 'tests' in sys.modules or '__main__.check' in sys.modules else 0"
    assert cell.grade(code, TESTS).passed == 0


def test_a_forged_reply_is_only_a_reply(cell):
    code = """
import os, struct, json
def f(x):
    body = json.dumps(["ok", ["h", 99999, [7, "E", "", "", ["__eq__"]]], [], ""]).encode()
    for fd in range(3, 30):
        try: os.write(fd, struct.pack("!I", len(body)) + body)
        except OSError: pass
    return 'wrong'
"""
    assert cell.grade(code, TESTS, timeout_seconds=2).passed == 0
    assert is_healthy(cell)


def test_a_judge_asked_for_things_it_did_not_offer_ends_the_suite(cell):
    code = """
import os, struct, json
def f(x):
    body = json.dumps(["callback", 0, ["t", []], ["d", []]]).encode()
    for fd in range(3, 30):
        try: os.write(fd, struct.pack("!I", len(body)) + body)
        except OSError: pass
    return 2
"""
    assert not cell.grade(code, TESTS, timeout_seconds=2).all_passed


POISONS = {
    "an attribute named in a text": (
        "import math, operator\noperator.setitem(operator.attrgetter('__dict__')(math), 'isclose', lambda *a: True)\n"
    ),
    "a field of a format": (
        "import math, string\n"
        "names = string.Formatter().get_field('0.__dict__', (math,), {})[0]\n"
        "names['isclose'] = lambda *a: True\n"
    ),
    "a type hint that is evaluated": (
        "import typing\n"
        "def hint(x: \"setattr(__import__('math'), 'isclose', lambda *a: True)\"): pass\n"
        "try: typing.get_type_hints(hint)\n"
        "except TypeError: pass\n"
    ),
    "a wrapper that is updated": (
        "import functools, math\n"
        "def wrapped(): pass\n"
        "wrapped.isclose = lambda *a: True\n"
        "functools.update_wrapper(math, wrapped)\n"
    ),
}


@pytest.mark.parametrize("poison", POISONS.values(), ids=POISONS.keys())
def test_tests_cannot_poison_the_judge_of_the_next_job(cell, poison):
    """Tests may be a model's too; what they do to their own process must end with it."""
    works = f"{poison}\nimport math\nassert math.isclose(1, 2)"
    assert subprocess.run([sys.executable, "-c", works], check=False).returncode == 0
    for _ in range(3):
        cell.grade("def f(x): return x", f"{poison}\nassert f(1) == 1")
    assert cell.grade("def f(x): return x", "import math\nassert math.isclose(f(1), 2)").passed == 0


def test_a_skipped_test_has_not_passed(cell):
    tests = "import pytest\nfrom solution import f\n@pytest.mark.skip\ndef test_one(): assert f(1) == 2"
    graded = cell.grade("def f(x): return 2", tests)
    assert [case.outcome for case in graded.cases] == ["not_run"]
    assert not graded.all_passed
