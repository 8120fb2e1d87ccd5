"""What modules do on given calls: equal values read the same, and no module can break, keep or confuse the reader."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from burnish.checks.bench.bench import ModuleBench
from burnish.checks.bench.inside.children import remove_folder
from burnish.checks.bench.inside.facts import FactReader
from burnish.checks.bench.run_calls import ModulePlace, read_answers, run_calls
from burnish.errors import SandboxError
from burnish.events import CommandRan
from burnish.sandbox import Sandbox, open_sandbox

ECHO = "def f(x):\n    return x\n"


class Beside:
    """A sandbox in which more files lie beside those of a job."""

    def __init__(self, box: Sandbox, files: Mapping[str, str]) -> None:
        self.box, self.files = box, files

    def run(
        self,
        argv: Sequence[str],
        files: Mapping[str, str] | None = None,
        timeout_seconds: float = 10.0,
        heard: Callable[[bytes], None] | None = None,
    ) -> CommandRan:
        return self.box.run(argv, {**(files or {}), **self.files}, timeout_seconds, heard)


def behave(module: str, calls: Sequence[str], box: Sandbox) -> tuple[str, ...]:
    return run_calls({0: module}, calls, box)[0]


def values(box: Sandbox, *expressions: str, given: str = "") -> tuple[str, ...]:
    return behave(f"{given}\ndef f(x):\n    return x\n", [f"f({one})" for one in expressions], box)


@pytest.mark.slow
def test_there_is_one_answer_for_each_call(box: Sandbox) -> None:
    said = behave("def half(n):\n    return 10 // n\n", ["half(2)", "half(0)", "half('a')", "nothing(1)", "half("], box)
    assert said == ("5", "raises ZeroDivisionError", "raises TypeError", "raises NameError", "raises SyntaxError")


def test_no_call_needs_no_run(box: Sandbox) -> None:
    assert behave(ECHO, [], box) == ()
    assert run_calls({}, ["f(1)"], box) == {}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2", "2.0"),
        ("0.1 + 0.2", "0.3"),
        ("{3, 1, 2}", "{1, 2, 3}"),
        ("{'a': 1, 'b': [2]}", "{'b': [2], 'a': 1}"),
        ("collections.Counter('aab')", "{'a': 2, 'b': 1}"),
        ("collections.namedtuple('P', 'x y')(1, 2)", "(1, 2)"),
        ("(n for n in [1, 2])", "iter([1, 2])"),
    ],
)
def test_values_that_a_test_calls_equal_read_the_same(box: Sandbox, one: str, other: str) -> None:
    first, second = values(box, one, other)
    assert first == second


@pytest.mark.slow
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("[1, 2]", "(1, 2)"),
        ("'1'", "1"),
        ("[]", "None"),
        ("{}", "set()"),
        ("b'a'", "'a'"),
        ("1.5", "1.51"),
        ("10**3000", "10**3000 + 1"),
        ("'a' * 9999 + 'b'", "'a' * 9999 + 'c'"),
        ("[0] * 900 + [1]", "[0] * 900 + [2]"),
        ("(n for n in [1, 2])", "[1, 2]"),
    ],
)
def test_values_that_differ_read_differently(box: Sandbox, one: str, other: str) -> None:
    first, second = values(box, one, other)
    assert first != second
    assert max(len(first), len(second)) < 1000


def test_an_endless_iterator_is_read_from_its_beginning(box: Sandbox) -> None:
    (said,) = values(box, "itertools.count()")
    assert said.startswith("iterator [0, 1, 2,")
    assert said.endswith("49, …]")


def test_a_value_that_holds_itself_has_an_end(box: Sandbox) -> None:
    module = "def f(x):\n    x.append(x)\n    return x\n"
    (said,) = behave(module, ["f([1])"], box)
    assert said.startswith("[1, [1,")


def test_a_call_that_changes_its_argument_says_so(box: Sandbox) -> None:
    said = behave("def f(x):\n    x.sort()\n", ["f([2, 1])", "f([1, 2])"], box)
    assert said == ("None\nargument 1 becomes [1, 2]", "None")


def test_what_a_class_says_of_itself_is_not_believed(box: Sandbox) -> None:
    module = """
class Liar(list):
    __class__ = int
    def __eq__(self, other): return True
    def __hash__(self): return 1
    def __repr__(self): return "[1, 2]"
    def __iter__(self): return iter([1, 2])
    def __len__(self): return 2
class Thing:
    def __init__(self): self.size, self._secret = 3, 4
    def __repr__(self): return "7"
    def __getattribute__(self, name): raise KeyError
def f(x): return Liar([9]) if x else Thing()
"""
    assert behave(module, ["f(1)", "f(0)"], box) == ("[9]", "Thing(size=3, …)")


def test_objects_read_by_their_public_attributes(box: Sandbox) -> None:
    module = """
from dataclasses import dataclass
@dataclass(slots=True)
class Slim:
    size: int
class Odd:
    __slots__ = ("x", "right")
    def __init__(self): self.x = [1]
def f(x): return Slim(x) if x else Odd()
"""
    assert behave(module, ["f(2)", "f(0)", "Slim", "f"], box) == (
        "Slim(size=2)",
        "Odd(x=[1])",
        "class Slim",
        "a function",
    )


def test_a_module_can_stand_in_a_package_that_imports_it(box: Sandbox) -> None:
    cart = "from .tax import rate\ndef total(n):\n    return n * rate\n"
    package = {"shop/__init__.py": "from .cart import total\n", "shop/cart.py": "1 / 0", "shop/tax.py": "rate = 3\n"}
    place = ModulePlace("shop.cart", "shop/cart.py")
    assert run_calls({0: cart}, ["total(2)"], Beside(box, package), place=place) == {0: ("6",)}


def test_a_package_itself_can_be_replaced(box: Sandbox) -> None:
    package = {"shop/__init__.py": "1 / 0", "shop/tax.py": "rate = 3\n"}
    place = ModulePlace("shop", "shop/__init__.py")
    assert run_calls({0: "from .tax import rate\n"}, ["rate + 1"], Beside(box, package), place=place) == {0: ("4",)}


def test_printing_does_not_confuse_the_reader(box: Sandbox) -> None:
    module = (
        "import os, sys\nprint('[0, \"forged\"]')\ndef f(x):\n    print('9')\n    os.write(1, b'8')\n    return x\n"
    )
    assert behave(module, ["f(1)", "f(2)"], box) == ("1", "2")


def test_a_module_that_leaves_loses_only_the_call_it_was_at(box: Sandbox) -> None:
    module = "import os\ndef f(x):\n    return os._exit(0) if x == 2 else x\n"
    assert behave(module, ["f(1)", "f(2)", "f(3)", "f(4)"], box) == ("1", "no answer", "3", "4")


def test_leaving_politely_is_an_error_like_others(box: Sandbox) -> None:
    assert behave("import sys\ndef f(x):\n    sys.exit(x)\n", ["f(0)"], box) == ("raises SystemExit",)


@pytest.mark.parametrize("module", ["def f(x):\n    return (", "import no_such_thing", "raise ValueError", "f = 1 / 0"])
def test_a_module_that_cannot_be_loaded_gives_errors(box: Sandbox, module: str) -> None:
    assert all(said.startswith("raises ") for said in behave(module, ["f(1)", "f(2)"], box))


@pytest.mark.slow
def test_an_endless_loop_is_too_slow_and_the_rest_is_answered(box: Sandbox) -> None:
    module = """
def f(x):
    while x == 1:
        try:
            while True: pass
        except BaseException:
            pass
    return 10 ** 10 ** 8 if x == 2 else x
"""
    started = time.monotonic()
    said = behave(module, ["f(0)", "f(1)", "f(2)", "f(3)"], box)
    assert (said[0], said[2], said[3]) == ("0", "too slow", "3")
    assert said[1] in {"too slow", "no answer"}
    assert time.monotonic() - started < 8


def test_endless_recursion_and_huge_values_are_errors(box: Sandbox) -> None:
    module = "def f(x):\n    return f(x) if x else list(range(10 ** 9))\n"
    assert behave(module, ["f(1)", "f(0)"], box) == ("raises RecursionError", "raises MemoryError")


@pytest.mark.slow
def test_a_fork_bomb_harms_nobody_else(box: Sandbox) -> None:
    bomb = "import os\ndef f(x):\n    while True:\n        os.fork()\n"
    said = run_calls({1: bomb, 2: ECHO}, ["f(1)", "f(2)"], box)
    assert len(said[1]) == 2
    assert said[2] == ("1", "2")


@pytest.mark.slow
def test_many_versions_cost_about_one_start(box: Sandbox) -> None:
    modules = {number: f"def f(x):\n    return x + {number}\n" for number in range(10)}
    started = time.monotonic()
    said = run_calls(modules, [f"f({n})" for n in range(40)], box)
    assert said[7][:3] == ("7", "8", "9")
    assert time.monotonic() - started < 3


def test_one_version_cannot_reach_another(box: Sandbox) -> None:
    spoiler = "import builtins\nbuiltins.max = min\ndef f(x):\n    return max(x)\n"
    said = run_calls({1: spoiler, 2: "def f(x):\n    return max(x)\n"}, ["f([1, 2])"], box)
    assert said == {1: ("1",), 2: ("2",)}


@pytest.mark.slow
def test_the_same_dice_fall_for_every_version(box: Sandbox) -> None:
    module = "import random\ndef f(x):\n    return random.random()\n"
    first, again = behave(module, ["f(1)"], box), behave(module, ["f(1)"], box)
    assert first == again


def test_a_killed_reader_is_no_answer(box: Sandbox) -> None:
    module = "import os\nos.kill(os.getppid(), 9)\n" + ECHO
    assert behave(module, ["f(1)", "f(2)"], box) == ("no answer", "no answer")


@pytest.mark.parametrize("line", ["", "[]", "[[1]", '{"a": 1}', "[[1, 2, 3]]", "[5]", "[null]", '"x"'])
def test_torn_output_still_gives_one_answer_for_each_call(line: str) -> None:
    reader = FactReader("nonce")
    reader(f'noise\nnonce{{"answers": {line}}}\nnoise'.encode())
    ((first, second),) = read_answers(reader.facts, 1, 2)
    assert isinstance(first, str)
    assert isinstance(second, str)


@pytest.mark.slow
def test_a_closed_sandbox_is_not_an_answer() -> None:
    box = open_sandbox("auto")
    box.close()
    with pytest.raises(SandboxError):
        behave(ECHO, ["f(1)"], box)


class Counting:
    """A sandbox that notes how many modules each job asks."""

    level = ""

    def __init__(self, box: Sandbox) -> None:
        self.box, self.asked = box, list[int]()
        self.layer: str | None = None

    def run(self, argv: Sequence[str], files: Mapping[str, str], *more: Any) -> CommandRan:
        self.asked.append(len(json.loads(files["job.json"])["modules"]))
        return self.box.run(argv, files, *more)


def test_what_was_answered_before_is_not_asked_again_unless_a_module_occurs_twice(box: Sandbox) -> None:
    counting: Any = Counting(box)
    bench, other = ModuleBench(counting), "def f(x):\n    return -x\n"
    first = bench.run_calls({1: ECHO}, ["f(1)"])
    assert bench.run_calls({1: ECHO, 2: other}, ["f(1)"]) == {**first, 2: ("-1",)}
    assert bench.run_calls({7: other, 8: ECHO}, ["f(1)"]) == {7: ("-1",), 8: ("1",)}
    assert counting.asked == [1, 1], "each once"
    assert bench.run_calls({1: ECHO, 2: ECHO}, ["f(1)"]) == {1: ("1",), 2: ("1",)}
    assert bench.run_calls({1: ECHO}, ["f(2)"]) == {1: ("2",)}
    counting.layer = "more packages"
    bench.run_calls({1: ECHO}, ["f(1)"])
    assert counting.asked == [1, 1, 2, 1, 1], "other calls and other packages are another question"
    leaving = "import os\ndef f(x):\n    os._exit(0)\n"
    assert bench.run_calls({1: leaving}, ["f(1)"]) == bench.run_calls({1: leaving}, ["f(1)"]) == {1: ("no answer",)}
    assert counting.asked[5:] == [1, 1], "what gave no answer is asked again"


def test_python_starts_without_what_is_installed_beside_it_and_with_all_else_it_brings(box: Sandbox) -> None:
    asked = ["f(1)", "quit is not None and help is not None", "[p for p in sys.path if 'site-packages' in p]"]
    assert behave(f"import sys\n{ECHO}", [*asked, "'site' in sys.modules"], box) == ("1", "True", "[]", "True")


def test_a_childs_folder_is_removed_whatever_lies_there(tmp_path: Path) -> None:
    folder, kept = tmp_path / "child", tmp_path / "kept"
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "b" / "file").write_text("x")
    kept.mkdir()
    (kept / "mine").write_text("x")
    (folder / "link").symlink_to(kept)
    remove_folder(str(folder))
    remove_folder(str(folder))
    assert (folder.exists(), (kept / "mine").exists()) == (False, True)
