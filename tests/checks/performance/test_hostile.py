"""Code that would rather not be measured."""

import time

import pytest

from burnish.checks.performance.growth import ENDINGS
from tests.checks.performance.conftest import Judge

TEST = "def test_it():\n    f([3, 1, 2])\n"
FAST = "def f(xs):\n    return xs[0]\n"


@pytest.mark.slow
def test_code_that_hangs_on_large_inputs_is_worse_than_anything(judge: Judge) -> None:
    start = time.monotonic()
    evidence = judge("def f(xs):\n    while len(xs) > 100:\n        pass\n    return xs[0]\n", TEST)
    assert evidence.verdict == "failed"
    assert ENDINGS["late"].format(n=128) in str(evidence.details["functions"])
    assert time.monotonic() - start < 15


@pytest.mark.slow
def test_code_that_hangs_and_catches_everything_is_ended(judge: Judge) -> None:
    code = "def f(xs):\n    while len(xs) > 100:\n        try:\n            while True:\n                pass\n"
    code += "        except BaseException:\n            pass\n"
    start = time.monotonic()
    evidence = judge(code, TEST)
    assert evidence.verdict == "failed"
    assert time.monotonic() - start < 15


@pytest.mark.slow
def test_code_that_always_hangs_is_not_a_pass(judge: Judge) -> None:
    evidence = judge("def f(xs):\n    while True:\n        pass\n", TEST)
    assert evidence.verdict == "not_run"
    assert ENDINGS["late"].format(n=2) in evidence.why


@pytest.mark.slow
def test_code_that_leaves_is_not_a_pass(judge: Judge) -> None:
    evidence = judge("import os\ndef f(xs):\n    os._exit(0)\n", TEST)
    assert evidence.verdict == "not_run"
    assert ENDINGS["gone"].format(n=2) in evidence.why


@pytest.mark.slow
def test_a_module_that_leaves_is_not_a_pass(judge: Judge) -> None:
    assert judge("import os\n" + FAST + "os._exit(0)\n", TEST).verdict == "not_run"


@pytest.mark.slow
def test_printed_results_are_not_believed(judge: Judge) -> None:
    code = (
        "import os, json\n"
        "def f(xs):\n"
        "    for fd in range(1, 20):\n"
        "        for n in range(2, 20):\n"
        "            try:\n"
        "                said = {'function': 0, 'way': '0 like', 'grow': ['0'], 'line': 1, 'n': n, 'lines': 1}\n"
        "                os.write(fd, (json.dumps(said) + chr(10)).encode())\n"
        "            except OSError:\n"
        "                pass\n"
        "    os._exit(0)\n"
    )
    assert judge(code, TEST).verdict == "not_run"


@pytest.mark.slow
def test_the_order_cannot_be_read_by_the_code(judge: Judge) -> None:
    code = "import os\ndef f(xs):\n    if os.path.exists('order.json'):\n        return 1\n    raise ValueError\n"
    evidence = judge(code, TEST)
    assert evidence.verdict == "not_run"
    assert "ValueError" in evidence.why


@pytest.mark.slow
def test_copies_of_the_process_do_not_measure(judge: Judge) -> None:
    evidence = judge("import os\ndef f(xs):\n    if len(xs) == 16:\n        os.fork()\n    return xs[0]\n", TEST)
    assert evidence.verdict == "passed"
    [function] = evidence.details["functions"]  # type: ignore[misc]
    sizes = [point[0] for point in function["points"]]
    assert len(sizes) == len(set(sizes))


@pytest.mark.slow
def test_code_that_takes_all_memory_is_stopped(judge: Judge) -> None:
    evidence = judge("def f(xs):\n    return len(bytearray(2 ** (len(xs) + 10)))\n", TEST)
    assert evidence.verdict == "failed"


@pytest.mark.slow
def test_a_broken_clock_is_not_used(judge: Judge) -> None:
    code = "import time\ntime.perf_counter = time.process_time = lambda: 0.0\n"
    code += "def f(xs):\n    return [a for a in xs for b in xs]\n"
    assert judge(code, TEST, growth="linear").verdict == "failed"
