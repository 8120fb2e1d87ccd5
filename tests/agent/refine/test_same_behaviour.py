"""A candidate may differ from what was there only where the finding is: on input that was a program."""

import pytest

from burnish.agent.refine.same_behaviour import ExecutedInput, find_difference
from burnish.checks.ground import Alone
from burnish.sandbox import Sandbox

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
    assert ExecutedInput(code).explains(call, was, now)


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
    assert not ExecutedInput(code).explains(call, was, now)


TOKEN = "import random\n\n\ndef make_token(n):\n    return ''.join(random.choice('abc') for _ in range(n))\n"
SAFE_TOKEN = TOKEN.replace("random.choice", "secrets.choice").replace("import random", "import secrets")


def test_a_token_is_another_each_time_and_yet_of_the_same_form(box: Sandbox) -> None:
    shorter = SAFE_TOKEN.replace("range(n)", "range(n - 1)")
    calls, ground = ("make_token(9)", "make_token(12)"), Alone(box)
    assert find_difference(TOKEN, SAFE_TOKEN, calls, ground, security=True) == ""
    assert "make_token(9)" in find_difference(TOKEN, shorter, calls, ground, security=True)
    assert find_difference(TOKEN, SAFE_TOKEN, calls, ground)


def test_a_list_of_arguments_does_what_the_shell_did(box: Sandbox) -> None:
    calls = ("f('abc')", "f('')", "f('a b')", "f(3)", "f('$HOME')")
    listed = STARTS.replace('"echo " + w, shell=True', '["echo", "" + w]')
    assert find_difference(STARTS, listed, calls, Alone(box), security=True) == ""
    assert find_difference(STARTS, listed.replace("echo", "printf"), calls, Alone(box), security=True)
