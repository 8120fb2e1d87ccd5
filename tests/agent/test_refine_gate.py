"""What may not stand in the place of a version, whatever the tests say; the node's tests have the rest of the gate."""

import pytest

from burnish.agent.refine_gate import ExecutedInput, find_difference, find_objection
from burnish.checks.bench.bench import ModuleBench
from burnish.sandbox import Sandbox


@pytest.mark.parametrize(
    ("after", "why"),
    [
        ("def f(a, c=1): return a", "signature"),
        ("def f(a, b=2): return a", "signature"),
        ("def f(a, *, b=1): return a", "signature"),
        ("async def f(a, b=1): return a", "signature"),
        ("import numpy\ndef f(a, b=1): return a", "numpy"),
        ("from . import x\ndef f(a, b=1): return a", "standard library"),
        ("def f(a, b=1: return a", "parse"),
        ("def f(a: int, b: int = 1) -> int: return a", ""),
        ("import os.path\ndef f(a, b=1): return b\ndef g(): pass", ""),
    ],
)
def test_a_signature_stays_and_nothing_comes_from_outside_the_standard_library(after: str, why: str) -> None:
    assert why in find_objection("def f(a, b=1): return a", after)
    assert bool(why) == bool(find_objection("def f(a, b=1): return a", after))


def test_a_list_as_default_may_become_none() -> None:
    assert find_objection("def f(a=[]): return a", "def f(a=None): return a") == ""


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


@pytest.mark.slow
def test_a_token_is_another_each_time_and_yet_of_the_same_form(box: Sandbox) -> None:
    shorter = SAFE_TOKEN.replace("range(n)", "range(n - 1)")
    calls, ground = ("make_token(9)", "make_token(12)"), ModuleBench(box)
    assert find_difference(TOKEN, SAFE_TOKEN, calls, ground, security=True) == ""
    assert "make_token(9)" in find_difference(TOKEN, shorter, calls, ground, security=True)
    assert find_difference(TOKEN, SAFE_TOKEN, calls, ground)


@pytest.mark.slow
def test_a_list_of_arguments_does_what_the_shell_did(box: Sandbox) -> None:
    calls = ("f('abc')", "f('')", "f('a b')", "f(3)", "f('$HOME')")
    listed = STARTS.replace('"echo " + w, shell=True', '["echo", "" + w]')
    assert find_difference(STARTS, listed, calls, ModuleBench(box), security=True) == ""
    assert find_difference(STARTS, listed.replace("echo", "printf"), calls, ModuleBench(box), security=True)
