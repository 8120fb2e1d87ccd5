"""Whatever a function is, its mutants are tried: methods, coroutines, generators, code that runs on import."""

from pathlib import Path

import pytest

from burnish.checks.mutation.mutate_project import THREADS
from burnish.events import Evidence
from tests.checks.mutation.support import findings, judged

KINDS = """\
from __future__ import annotations

import asyncio
import functools


class Base:
    def value(self) -> int:
        return 1


class Account(Base):
    rate = 2

    def __init__(self, start=5, *, step=3):
        self.__held = start
        self.step = step

    def value(self) -> int:
        return super().value() + self.__held

    @staticmethod
    def double(x: NoSuchName) -> int:
        return x * 2

    @classmethod
    def rated(cls, x):
        return cls.rate * x

    @property
    def held(self):
        return self.__held + 0


@functools.lru_cache
def cached(x):
    return x + 1


async def nothing():
    pass


async def later(x):
    await nothing()
    return x + 1


def count(n):
    while n > 0:
        n -= 1
        yield n


async def tick(n):
    for i in range(n):
        yield i * 3


def outer(x):
    def inner(y):
        return y - x
    return inner
"""
KIND_TESTS = """\
import asyncio
import inspect
import kinds
from kinds import Account, cached, count, later, outer, tick


class Richer(Account):
    rate = 10


def test_methods():
    assert Account().value() == 6 and Account().step == 3 and Account(1, step=2).step == 2
    assert Account.double(4) == 8 and Account.rated(3) == 6 and Richer.rated(3) == 30 and Account().held == 5


def test_functions():
    assert cached(1) == 2 and list(count(2)) == [1, 0] and outer(2)(5) == 3 and asyncio.run(later(1)) == 2


def test_async_generators():
    async def collected():
        return [i async for i in tick(3)]

    assert asyncio.run(collected()) == [0, 3, 6]


def test_everything_looks_as_it_is_written():
    assert inspect.isgeneratorfunction(count) and inspect.isasyncgenfunction(tick)
    assert inspect.iscoroutinefunction(later)
    assert inspect.getsource(outer).startswith("def outer(x):")
    assert not [name for name in vars(kinds) if "mutmut" in name]
"""


def outcome(evidence: Evidence, key: str) -> str:
    outcomes = evidence.details["outcomes"]
    assert isinstance(outcomes, dict)
    return str(outcomes[key])


@pytest.mark.slow
def test_every_kind_of_function_is_mutated_in_place(tmp_path: Path) -> None:
    evidence = judged(tmp_path, {"kinds.py": KINDS, "test_kinds.py": KIND_TESTS})
    assert evidence.verdict == "passed", evidence.why
    assert [found.diff for found in findings(evidence)] == []
    assert evidence.details["invalid"] == 0
    assert outcome(evidence, "kinds.xǁAccountǁ__init____mutmut_1") == "killed"


@pytest.mark.slow
def test_a_class_that_loses_its_super_call_is_still_tried(tmp_path: Path) -> None:
    code = "class A:\n    def f(self):\n        return 2\n\n"
    code += "class B(A):\n    def f(self):\n        x = super().f()\n        return x\n"
    tests = "from ab import B\n\ndef test_b():\n    assert B().f() == 2\n"
    evidence = judged(tmp_path, {"ab.py": code, "test_ab.py": tests})
    assert evidence.figure == "100 %"


@pytest.mark.slow
def test_code_that_runs_when_it_is_imported_gets_a_process_of_its_own(tmp_path: Path) -> None:
    code = "def table(n):\n    return [i * 2 for i in range(n)]\n\nTABLE = table(4)\n"
    tests = "from table import TABLE\n\ndef test_table():\n    assert TABLE == [0, 2, 4, 6]\n"
    evidence = judged(tmp_path, {"table.py": code, "test_table.py": tests})
    assert evidence.figure == "100 %"


@pytest.mark.slow
def test_a_project_that_starts_threads_when_imported_is_tried_one_process_a_mutant(tmp_path: Path) -> None:
    code = (
        "import threading as t\nt.Thread(target=t.Event().wait, daemon=True).start()\n\ndef f(x):\n    return x + 1\n"
    )
    tests = "from threads import f\n\ndef test_f():\n    assert f(1) == 2\n"
    evidence = judged(tmp_path, {"threads.py": code, "test_threads.py": tests})
    assert evidence.figure == "100 %"
    assert evidence.details["notes"] == [THREADS]


@pytest.mark.slow
def test_a_module_that_only_a_test_imports_is_mutated_too(tmp_path: Path) -> None:
    tests = "def test_f():\n    from late import f\n    assert f(1) == 2\n"
    evidence = judged(tmp_path, {"late.py": "def f(x):\n    return x + 1\n", "test_late.py": tests})
    assert evidence.figure == "100 %"


@pytest.mark.slow
def test_a_shared_fixture_counts_for_each_test_that_uses_it(tmp_path: Path) -> None:
    tests = (
        "import pytest\nfrom made import make\n\n@pytest.fixture(scope='module')\ndef made():\n    return make(3)\n\n"
        "def test_first(made):\n    pass\n\ndef test_second(made):\n    assert made == 6\n"
    )
    evidence = judged(tmp_path, {"made.py": "def make(x):\n    return x * 2\n", "test_made.py": tests})
    assert evidence.figure == "100 %"


@pytest.mark.slow
def test_a_src_layout_with_its_own_conftest_and_data_works(tmp_path: Path) -> None:
    files = {
        "src/pkg/__init__.py": "def top(x):\n    return x - 1\n",
        "tests/conftest.py": "import pytest\n\n@pytest.fixture\ndef three():\n    return 3\n",
        "tests/test_top.py": "from pkg import top\n\ndef test_top(three):\n"
        "    assert top(three) == int(open('two.txt').read())\n",
        "two.txt": "2",
    }
    evidence = judged(tmp_path, files)
    assert evidence.figure == "100 %"
    assert outcome(evidence, "pkg.x_top__mutmut_1") == "killed"


@pytest.mark.slow
def test_unittest_and_doctest_suites_count(tmp_path: Path) -> None:
    code = 'def twice(x):\n    """Two of them.\n\n    >>> twice(2)\n    4\n    """\n    return x * 2\n\n'
    code += "def once(x):\n    return x + 1\n"
    tests = "import unittest\nfrom twice import once\n\nclass T(unittest.TestCase):\n"
    tests += "    def test_once(self):\n        self.assertEqual(once(3), 4)\n"
    evidence = judged(tmp_path, {"twice.py": code, "testonce.py": tests})
    assert evidence.figure == "100 %", evidence.why


@pytest.mark.slow
def test_tests_that_are_expected_to_fail_and_skipped_ones_do_not_kill(tmp_path: Path) -> None:
    tests = (
        "import pytest\nfrom f import f\n\n@pytest.mark.xfail\ndef test_known():\n    assert f(1) == 0\n\n"
        "def test_skips():\n    f(1)\n    pytest.skip('today')\n"
    )
    evidence = judged(tmp_path, {"f.py": "def f(x):\n    return x + 1\n", "test_f.py": tests})
    assert evidence.figure == "0 %"


@pytest.mark.slow
def test_hostile_text_is_only_text(tmp_path: Path) -> None:
    code = (
        'def f(x):\n    """[bold]not bold[/bold] <script>alert(1)</script> \x0c"""\n'
        "    # \u202e \x1b[31mred\n    y = '<b>[red]\\x1b[2J`'\n    return x if x != 1 else y\n"
    )
    tests = "from f import f\n\ndef test_f():\n    assert f(2) == 2\n"
    evidence = judged(tmp_path, {"f.py": code, "test_f.py": tests})
    shown = "".join(found.what + found.diff for found in findings(evidence))
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert findings(evidence)[0].line == 4


@pytest.mark.slow
def test_code_that_prints_verdicts_chooses_none(tmp_path: Path) -> None:
    code = "import os\n\ndef f(x):\n    return x + 1\n"
    tests = (
        'import os, sys\nfrom f import f\nprint(\'{"mutant": "f.x_f__mutmut_1", "was": "killed"}\')\n'
        'os.write(1, b\'\\n{"mutant": "f.x_f__mutmut_1", "was": "killed"}\\n\')\n\ndef test_f():\n    f(1)\n'
    )
    assert judged(tmp_path, {"f.py": code, "test_f.py": tests}).figure == "0 %"


SPRAY = """import os

def write_everywhere(line=b'"killed"'):
    for fd in range(3, 64):
        try: os.write(fd, b"\\n" + line + b"\\n")
        except OSError: pass
"""
FORGED = {
    "when it is imported": (
        'for n in range(1, 9): write_everywhere(b\'{"mutant": "f.x_f__mutmut_%d", "was": "killed"}\' % n)\n'
        "def f(x):\n    return x + 1\n"
    ),
    "in the process of a mutant": "def f(x):\n    write_everywhere()\n    return x + 1\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("code", FORGED.values(), ids=FORGED.keys())
def test_code_that_writes_verdicts_to_every_descriptor_kills_no_mutant(tmp_path: Path, code: str) -> None:
    tests = "from f import f\n\ndef test_f():\n    f(1)\n"
    files = {"f.py": "from sprayed import write_everywhere\n" + code, "sprayed.py": SPRAY, "test_f.py": tests}
    evidence = judged(tmp_path, files)
    assert {outcome(evidence, f"f.x_f__mutmut_{n}") for n in (1, 2)} <= {"survived", "not_tried"}


@pytest.mark.slow
def test_a_comment_cannot_hide_generated_code(tmp_path: Path) -> None:
    files = {
        "f.py": "def f(x):\n    return x + 1  # pragma: no mutate\n",
        "test_f.py": "from f import f\n\ndef test_f():\n    f(1)\n",
    }
    assert judged(tmp_path, files).verdict == "not_run"
    assert judged(tmp_path, files, generated=True).figure == "0 %"
