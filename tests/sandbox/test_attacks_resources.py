"""Code in a cell wants more than its share, or never to end."""

import threading
import time

import pytest

from tests.sandbox.attack import is_healthy, run_bare

pytestmark = pytest.mark.slow
SPIN = "while True: pass"


def test_hundreds_of_processes_are_refused(fails_inside):
    fails_inside("import os, time\nfor n in range(150):\n    if os.fork() == 0: time.sleep(9); os._exit(0)")


def test_hundreds_of_threads_are_refused(fails_inside):
    start = "threading.Thread(target=time.sleep, args=(2,), daemon=True).start()"
    fails_inside(f"import threading, time\nfor n in range(150): {start}")


def test_a_fork_bomb_ends_with_its_job(cell):
    ran = cell.run(
        ["python", "-c", "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"], timeout_seconds=1
    )
    assert ran.timed_out
    assert is_healthy(cell)


def test_more_memory_than_allowed_is_refused(fails_inside):
    fails_inside("x = bytearray(1300 << 20)")


def test_many_processes_together_get_no_more_memory_than_one(cell):
    code = """
import os, time
def eat():
    block = bytearray(400 << 20)
    for n in range(0, len(block), 4096): block[n] = 1
    time.sleep(2)
    os._exit(0)
for n in range(4):
    if os.fork() == 0: eat()
print([os.wait()[1] for n in range(4)])
"""
    if "cgroup" not in cell.level:
        pytest.skip("needs a control group")
    assert "9" in cell.run(["python", "-c", code]).output
    assert is_healthy(cell)


def test_hundreds_of_open_files_are_refused(fails_inside):
    fails_inside("files = [open('/dev/null') for n in range(600)]")


def test_a_busy_loop_ends_at_its_cpu_limit(cell):
    started = time.monotonic()
    assert cell.run(["python", "-c", SPIN], timeout_seconds=0.5).timed_out
    assert time.monotonic() - started < 4
    assert is_healthy(cell)


def test_sleeping_for_ever_ends_at_the_wall_limit(cell):
    started = time.monotonic()
    assert cell.run(["sleep", "1000"], timeout_seconds=0.3).timed_out
    assert 1.0 < time.monotonic() - started < 3


def test_cpu_time_of_children_counts(cell):
    """Their parent only waits: were they not counted, it would end at the wall limit, and that is told apart."""
    code = "import os\ndef f():\n    for n in range(3):\n        if os.fork() == 0:\n            {act}\n    os.wait()"
    computing = cell.grade(code.format(act=SPIN), "assert f() is None", timeout_seconds=1)
    assert (computing.problem, computing.timed_out) == ("the time limit was reached", True)
    waiting = cell.grade(code.format(act="import time; time.sleep(60)"), "assert f() is None", timeout_seconds=0.3)
    assert (waiting.problem, waiting.timed_out) == ("the time limit was reached (waiting, not computing)", True)


def test_waiting_is_not_computing(cell):
    assert cell.run(["sleep", "0.6"], timeout_seconds=0.3).exit_code == 0


def test_ignoring_every_signal_does_not_help(cell):
    code = """
import signal
for n in range(1, 65):
    try: signal.signal(n, signal.SIG_IGN)
    except (OSError, ValueError): pass
while True: pass
"""
    assert cell.run(["python", "-c", code], timeout_seconds=0.5).timed_out
    assert is_healthy(cell)


def test_a_great_deal_of_output_is_cut(cell, tmp_path):
    code = "import sys\nfor n in range(50): sys.stdout.write('x' * (1 << 20))\nsys.stdout.write('END')"
    assert len(run_bare(code, tmp_path).stdout) > 50 << 20
    output = cell.run(["python", "-c", code]).output
    assert len(output) < 1.1 * (1 << 20)
    assert "left out" in output
    assert output.endswith("END")


def test_closed_output_is_no_output(cell):
    ran = cell.run(["python", "-c", "import os; os.close(1); os.close(2); os._exit(3)"])
    assert (ran.exit_code, ran.output) == (3, "")


def test_binary_output_is_text_in_the_end(cell):
    assert cell.run(["python", "-c", "import os; os.write(1, bytes(range(256)))"]).output.count("\ufffd") > 100


def test_a_printed_flood_in_graded_code_does_not_stop_the_verdict(cell):
    code = "def f(x):\n    for n in range(3000): print('x' * 1000)\n    return x"
    assert cell.grade(code, "assert f(1) == 1").all_passed


def test_a_result_too_big_to_cross_is_a_failure(cell):
    graded = cell.grade("def f(x): return ['x' * 1000] * 200_000", "assert f(1) == []", timeout_seconds=4)
    assert not graded.all_passed
    assert is_healthy(cell)


def test_a_deeply_nested_result_is_a_failure(cell):
    code = "def f(x):\n    y = []\n    for n in range(100_000): y = [y]\n    return y"
    graded = cell.grade(code, "assert f(1) == 1", timeout_seconds=4)
    assert not graded.all_passed
    assert is_healthy(cell)


FILL = """
import os
def fill():
    held = []
    block = bytes(8 << 20)
    while True:
        held.append(os.memfd_create("held"))
        for n in range(7): os.write(held[-1], block)
"""


def test_memory_filled_by_files_without_a_name_fails_the_job_and_never_the_caller(cell):
    if "cgroup" not in cell.level:
        pytest.skip("needs a control group")
    ran = cell.run(["python", "-c", f"{FILL}\nfill()"], timeout_seconds=10)
    assert ran.exit_code != 0
    assert is_healthy(cell)
    graded = cell.grade(FILL, "assert fill()", timeout_seconds=10)
    assert not graded.all_passed
    assert graded.problem
    assert is_healthy(cell)


def test_memory_filled_by_many_processes_with_such_files_fails_the_job_and_never_the_caller(cell):
    if "cgroup" not in cell.level:
        pytest.skip("needs a control group")
    spread = "def spread():\n    for n in range(20):\n        if os.fork() == 0: break\n    fill()"
    for _ in range(3):
        assert not cell.grade(f"{FILL}\n{spread}", "assert spread()", timeout_seconds=5).all_passed
        assert is_healthy(cell)


HOLD = """
import os, socket, time
pairs, fd = [], os.open("/dev/null", os.O_RDONLY)
try:
    while True:
        pairs.append(socket.socketpair())
        for _ in range(5): socket.send_fds(pairs[-1][0], [b"x"], [fd] * 100)
except OSError as error:
    print(error.errno, flush=True)
time.sleep(30)
"""
"""Leaves as many descriptors on their way as the kernel allows a user, whoever else is that user."""


def test_descriptors_that_a_job_leaves_on_their_way_do_not_fail_the_job_in_another_cell(cell):
    holding, said = threading.Event(), []

    def hear(data: bytes) -> None:
        said.append(data)
        holding.set()

    holder = threading.Thread(target=lambda: cell.run(["python", "-c", HOLD], timeout_seconds=2, heard=hear))
    holder.start()
    assert holding.wait(20)
    assert b"".join(said).strip() == b"109", "too many references"
    assert cell.grade("def double(x):\n    return 2 * x", "assert double(2) == 4", timeout_seconds=1).all_passed
    assert holder.is_alive()
    holder.join()
    assert is_healthy(cell)
