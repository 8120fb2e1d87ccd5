"""Mutants of one module as whole modules; and an end at once when somebody closes it."""

import threading
import time

import pytest

from burnish.checks.mutation.mutate_module import Mutations
from tests.snapshots import assert_snapshot

CODE = "class Till:\n    def fee(self, age):\n        # children\n        return 0 if age < 6 else 10\n"
TESTS = (
    "from solution import Till\n\n\ndef test_fee():\n    assert Till().fee(2) == 0\n    assert Till().fee(9) == 10\n"
)


@pytest.mark.slow
def test_what_no_test_notices_comes_as_a_whole_module_with_its_line() -> None:
    tried = Mutations().of(CODE, TESTS)
    assert (tried.mutants, tried.noticed, tried.equivalent, tried.why) == (7, 5, 0, "")
    assert [one.line for one in tried.unnoticed] == [4, 4]
    assert_snapshot("\n".join(one.said for one in tried.unnoticed), "mutation/changes in a few words")
    assert tried.unnoticed[0].module == CODE.replace("< 6", "<= 6")


@pytest.mark.slow
def test_mutants_are_made_again_by_their_names_without_running_anything() -> None:
    mutations = Mutations()
    tried = mutations.of(CODE, TESTS)
    assert mutations.again(CODE, [one.key for one in tried.unnoticed]) == tried.unnoticed
    assert mutations.again(CODE, ["nobody"]) == ()


@pytest.mark.slow
def test_why_nothing_could_be_tried_is_said() -> None:
    failing = Mutations().of(CODE, "def test_it():\n    assert False\n")
    assert (failing.mutants, "test_it" in failing.why) == (0, True)
    assert_snapshot(Mutations().of("X = 1\n", TESTS).why, "mutation/nothing to mutate in a module")


@pytest.mark.slow
def test_close_from_another_thread_ends_it_at_once() -> None:
    mutations = Mutations()
    slow = TESTS.replace("def test_fee():\n", "def test_fee():\n    import time\n    time.sleep(8)\n")
    work = threading.Thread(target=mutations.of, args=(CODE, slow), daemon=True)
    work.start()
    time.sleep(2.5)
    assert work.is_alive()
    began = time.monotonic()
    mutations.close()
    work.join(5)
    assert not work.is_alive()
    assert time.monotonic() - began < 3
    assert_snapshot(mutations.of(CODE, TESTS).why, "mutation/closed")
