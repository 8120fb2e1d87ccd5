"""One id may mean one test or many, and all who ask agree on which."""

import pytest

from burnish.checks.bench.fault_localisation import OriginalRun, choose_deciding
from burnish.checks.bench.inside.case_ids import all_ids, is_own
from burnish.checks.bench.inside.reporter import is_chosen

TEST = "tests/unit/test_a.py::TestA::test_b[x/y::z[1]]"


@pytest.mark.parametrize(
    "entry",
    [
        TEST,
        "tests/unit/test_a.py::TestA::test_b",
        "tests/unit/test_a.py::TestA",
        "tests/unit/test_a.py",
        "tests/unit",
        "tests",
        ".",
    ],
)
def test_an_id_of_a_test_its_function_class_file_or_folder_means_it(entry: str) -> None:
    assert entry in all_ids(TEST)
    assert is_chosen(TEST, {"chosen": [entry]})
    assert choose_deciding(OriginalRun(passing=(TEST,)), "f", [entry]).deciding_tests == (TEST,)


@pytest.mark.parametrize(
    "entry", ["test", "tests/unit/test_a.py::Test", "tests/uni", "unit", "tests/unit/test_a.py::", ""]
)
def test_what_only_looks_like_it_does_not(entry: str) -> None:
    assert entry not in all_ids(TEST)
    assert not is_chosen(TEST, {"chosen": [entry]})
    assert choose_deciding(OriginalRun(passing=(TEST,)), "f", [entry]).deciding_tests == ()


def test_our_own_file_is_known_by_its_end_or_by_having_no_name() -> None:
    assert is_own("../burnish_own/test_own.py::test_1", "burnish_own/test_own.py")
    assert is_own("::test_1", "burnish_own/test_own.py")
    assert not is_own("tests/test_own.py::test_1", "burnish_own/test_own.py")
