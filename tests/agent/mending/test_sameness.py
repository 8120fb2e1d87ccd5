"""A candidate may differ from what was there only where the finding is: on input that was a program."""

import pytest

from burnish.agent.mending.sameness import Executed, otherwise
from burnish.checks.ground import Alone
from burnish.sandbox import Sandbox
from tests.agent.mending.test_rewrites import mended

EVALUATES = "def f(t):\n    return eval(t)\n"
STARTS = 'import subprocess\ndef f(w):\n    return subprocess.check_output("echo " + w, shell=True, text=True)\n'
ASKS = "def f(c, n):\n    return c.execute(f\"SELECT a FROM t WHERE n = '{n}'\").fetchall()\n"


@pytest.mark.parametrize(
    ("code", "call", "was", "now"),
    [
        (EVALUATES, "f('1 + 1')", "2", "raises ValueError"),
        (EVALUATES, "f('a')", "raises NameError", "'a'"),
        (STARTS, "f('a; b')", "'a'", "'a; b'"),
        (STARTS, "f('a  b')", "'a b'", "'a  b'"),
        (ASKS, """f(c, "o'neil")""", "raises OperationalError", "[]"),
    ],
)
def test_input_that_was_executed_explains_a_difference(code: str, call: str, was: str, now: str) -> None:
    assert Executed(code).explains(call, was, now)


@pytest.mark.parametrize(
    ("code", "call", "was", "now"),
    [
        (EVALUATES, "f('[1, 2]')", "[1, 2]", "raises ValueError"),
        (EVALUATES, "f('1 + 1')", "2", "3"),
        (EVALUATES, "f(3)", "raises TypeError", "3"),
        ("def f(t):\n    return eval('t.split()[0]')\n", "f('a b')", "'a'", "raises ValueError"),
        (STARTS, "f('abc')", "'abc'", "'ab'"),
        (STARTS.replace("shell=True", "shell=False"), "f('a b')", "'a'", "'a b'"),
        (ASKS, "f(c, 'ann')", "[1]", "[]"),
        ("def f(:\n", "f('a b')", "'a'", "'a b'"),
    ],
)
def test_input_that_was_data_explains_nothing(code: str, call: str, was: str, now: str) -> None:
    assert not Executed(code).explains(call, was, now)


TOKEN = "import random\n\n\ndef make_token(n):\n    return ''.join(random.choice('abc') for _ in range(n))\n"


def test_a_token_is_another_each_time_and_yet_of_the_same_form(box: Sandbox) -> None:
    safer, shorter = mended("security", TOKEN), mended("security", TOKEN.replace("range(n)", "range(n - 1)"))
    calls, ground = ("make_token(9)", "make_token(12)"), Alone(box)
    assert "secrets" in safer
    assert otherwise(TOKEN, safer, calls, ground, security=True) == ""
    assert otherwise(TOKEN, shorter, calls, ground, security=True).startswith("it does not do the same: make_token(9)")
    assert otherwise(TOKEN, safer, calls, ground).startswith("it does not do the same")


def test_a_list_of_arguments_does_what_the_shell_did(box: Sandbox) -> None:
    calls = ("f('abc')", "f('')", "f('a b')", "f(3)", "f('$HOME')")
    assert otherwise(STARTS, mended("security", STARTS), calls, Alone(box), security=True) == ""
