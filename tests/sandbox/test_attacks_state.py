"""What a job leaves in the processes that judge: nothing that a later job could find, or be judged wrongly by."""

import pytest

from burnish.sandbox import open_sandbox
from tests.sandbox.kinds import ISOLATED, must_be_there

SAME = "def f(x): return x"


@pytest.fixture(params=ISOLATED)
def one_cell(request):
    """A sandbox in which every job comes into the same cell."""
    with open_sandbox(must_be_there(request.param), cells=1) as box:
        yield box


ALWAYS = "lambda *args, **kwargs: True"
POISONS = {
    "a case with a class reads an attribute": (
        f"import math\nModule = type(math)\nmatch math:\n    case Module(__dict__=names): names['isclose'] = {ALWAYS}\n"
    ),
    "a part of a package, by another name": (
        "import logging.config as c\nc.dictConfig({'version': 1, 'formatters': {'x': {\n"
        f"    '()': 'importlib.import_module', 'name': 'math', '.': {{'isclose': {ALWAYS}}}}}}}}})\n"
    ),
    "pytest in a script": (
        f"import math, pytest\npytest.importorskip('operator').attrgetter('__dict__')(math)['isclose'] = {ALWAYS}\n"
    ),
    "a table of the judge": f"import burnish.sandbox.inside.asserts as s\ns.COMPARING['isclose'] = {ALWAYS}\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("poison", POISONS.values(), ids=POISONS.keys())
def test_a_script_changes_nothing_for_the_next_one(one_cell, poison):
    assert one_cell.grade(SAME, f"{poison}assert f(1) == 1").all_passed
    assert one_cell.grade(SAME, "import math\nassert math.isclose(f(1), 2)").passed == 0
    assert one_cell.grade(f"from math import isclose\n{SAME}", "assert isclose(f(1), 2)").passed == 0


@pytest.mark.slow
def test_what_numbers_of_an_earlier_script_were_rounded_is_not_told(one_cell):
    assert one_cell.grade(SAME, "from fractions import Decimal\nassert Decimal(1) / 3 != f(1)").all_passed
    flags = "import decimal\nassert not any(decimal.getcontext().flags.values())\nassert f(1) == 1"
    assert one_cell.grade(SAME, flags).all_passed


SCAN = """
parts = ["EXPECTED", "OF", "ANOTHER"]
def count():
    wanted, found = "-".join(parts).encode(), 0
    for line in open("/proc/self/maps"):
        low, high = (int(edge, 16) for edge in line.split()[0].split("-"))
        if line.split()[1][:2] == "rw" and "[v" not in line:
            found += __import__("ctypes").string_at(low, high - low).count(wanted)
    return found - 1
assert count() <= 0
assert f(1) == 1
"""


@pytest.mark.slow
def test_tests_are_not_in_the_memory_of_later_tests(one_cell):
    """A model may write tests too; those that judge its code for good are none of its business."""
    for n in range(20):
        one_cell.grade("def f(x): return 0", f"y = {n}\nassert f(y) == 'EXPECTED-OF-ANOTHER'")
    assert one_cell.grade(SAME, SCAN).all_passed


@pytest.mark.slow
def test_names_of_exceptions_that_code_made_are_not_there_for_later_tests(one_cell):
    code = "def f(x): raise type('LEFT' + 'OVER', (ValueError,), {})"
    one_cell.grade(code, "assert f(1) == 1")
    names = "assert 'LEFTOVER' not in [one.__name__ for one in ValueError.__subclasses__()]\nassert f(1) == 1"
    assert one_cell.grade(SAME, names).all_passed


@pytest.mark.slow
def test_a_script_reads_no_attribute_by_a_text(one_cell):
    """A script that does not leave the helper must not find in it what earlier ones left, such as their patterns."""
    one_cell.grade(SAME, "import re\nassert re.match('LEFT-OVER', 'LEFT-OVER') and f(1) == 1")
    path = "{0.__globals__[@fail].__func__.__globals__[sys].modules[re]._cache}"
    seen = f"def h(): pass\nassert 'LEFT-' + 'OVER' not in {path!r}.format(h)\nassert f(1) == 1"
    assert one_cell.grade(SAME, seen).all_passed


HOARD = "kept = [bytearray(900_000_000)]\nkept.append(kept)\nassert f(1) == 1"


@pytest.mark.slow
def test_what_a_job_makes_the_judge_keep_takes_no_memory_from_the_next_job(one_cell):
    """A list in itself is freed only by a collection of garbage, which comes every fifty jobs."""
    assert one_cell.grade(SAME, HOARD).all_passed
    (cell,) = one_cell._idle
    assert one_cell.grade(SAME, "assert len(bytearray(300_000_000)) == f(300_000_000)").all_passed
    assert one_cell._idle == [cell], "only the process that judged is replaced"
