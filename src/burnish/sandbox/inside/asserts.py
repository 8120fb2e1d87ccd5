"""A script of asserts as a suite: one case for each top-level assert or `check(…)` call, each run on its own.

Most scripts only call the code and compare. Running such a simple one cannot change the process it runs in, so it is
judged without a fork, which is half the price of a job. That is read from the instructions and names of the compiled
script; whatever is in doubt is judged in a fork, where it can do no harm.

The code's names come into scope before any statement of the tests, so whatever the tests import or define wins.
"""

import ast
import builtins
import dis
import importlib
import math
import opcode
import re
import sys
import time
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from burnish.sandbox.inside.allowed_types import MODULES, TYPES, split_words
from burnish.sandbox.inside.codec import Gone
from burnish.sandbox.inside.explain import FAIL, FILE, Explainer, name_failure, rewrite
from burnish.sandbox.inside.standins import CannotCross, Solution

HARMLESS = split_words(
    "abs all any ascii bin bool bytearray bytes callable chr complex dict divmod enumerate filter float "
    "frozenset hash hex id int isinstance issubclass iter len list map max min next oct ord pow print range repr "
    "reversed round set slice sorted str sum tuple type zip"
)
"""Built-in functions that change nothing but what they are given."""
HARMLESS_MODULES = split_words(
    "math cmath itertools random statistics datetime fractions collections heapq bisect re time"
)
"""The modules that a script may import: there is nothing in them that it could change for the next one (`random` is
seeded for each).

Not among them, though tests use them: `operator`, `functools`, `string` and `copy` reach attributes by a name in a
text, set them, or hold tables; `typing` evaluates texts.
"""
HARMFUL = (
    (frozenset(vars(builtins)) - HARMLESS)
    | (sys.stdlib_module_names - HARMLESS_MODULES)
    | {"modules", "environ", "register", "format", "format_map"}
)
"""The last five: ways to change what every later script sees (abstract classes have `register`), and the methods of a
text that read any attribute by a name in it.
"""
INNER = ("_", "gi_", "f_", "tb_", "cr_", "ag_", "co_")
"""Attributes that lead into the interpreter begin with one of these."""
REFUSED = frozenset(
    opcode.opmap[name] for name in split_words("STORE_ATTR DELETE_ATTR LOAD_BUILD_CLASS PUSH_EXC_INFO MATCH_CLASS")
)
"""Instructions that change objects from outside, make classes, catch exceptions (every `with` does), or read attributes
whose names are constants (`case` with a class).
"""
IMPORT = opcode.opmap["IMPORT_NAME"]
IMPORTED = HARMLESS_MODULES | {"solution"}
COMPARING = {"isclose": math.isclose}
"""Functions by which tests compare: a script that does not import one means this one."""
KNOWN_CLASSES = {name: kind for name, kind in TYPES.items() if not hasattr(builtins, name)}
"""Classes such as Decimal. Where the task says what it asks for, and not for one of these, tests mean Python's own."""
FRAMEWORKS = split_words("pytest approx unittest")
"""Names that never come from the code."""
READERS = split_words("eval exec globals locals vars")
"""Builtins that find a name by a text."""
STAR = re.compile(r"\bimport[\s\\]*\*")
LOADS = ("LOAD_NAME", "LOAD_GLOBAL")
LONGEST_NAME = 100


def is_harmless(code: types.CodeType) -> bool:
    """True when one function, without those in it, cannot change anything outside the script."""
    steps = code.co_code[::2]
    if not REFUSED.isdisjoint(steps) or not HARMFUL.isdisjoint(code.co_names):
        return False
    if IMPORT in steps and not {one.argval for one in dis.get_instructions(code) if one.opcode == IMPORT} <= IMPORTED:
        return False
    return not any(name.startswith(INNER) for name in code.co_names)


def walk_code(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code of a script and of all functions in it."""
    yield code
    for constant in code.co_consts:
        if type(constant) is types.CodeType:
            yield from walk_code(constant)


def choose_names(solution: types.ModuleType, used: set[str]) -> dict[str, Any]:
    """Those of the code's names that the tests use. `abs`, `math` or `isclose` is the real one."""
    if isinstance(solution, Solution):
        names, own = solution._names, solution._own.keys()
    else:
        names = vars(solution).keys()
        own = {name for name, value in vars(solution).items() if getattr(value, "__module__", "") == "solution"}
    wanted = {name for name in used & names if name[:2] != "__"} - FRAMEWORKS
    kinds = solution._link.text.kinds if isinstance(solution, Solution) else {}
    foreign = {name for name in wanted & KNOWN_CLASSES.keys() if kinds and name not in kinds}
    meant = wanted - foreign
    common = {name for name in meant if hasattr(builtins, name) or name in MODULES or name in COMPARING}
    asked = common.intersection(own)
    # A name that means something to everybody is the code's only where it is the one function of it that tests use.
    given = meant - common or (asked if len(asked) == 1 else set())
    others = wanted - given - foreign
    return {
        **{name: getattr(solution, name) for name in given},
        **{name: KNOWN_CLASSES[name] for name in foreign},
        **{name: find_module(solution, name) for name in others & MODULES},
        **{name: COMPARING[name] for name in others & COMPARING.keys()},
    }


def find_module(solution: types.ModuleType, name: str) -> Any:
    """What the code imported under the name of a module: that module, or its member of the same name."""
    value, module = getattr(solution, name), importlib.import_module(name)
    return value if value is getattr(module, name, None) else module


def find_used_names(parts: Iterable[types.CodeType]) -> set[str]:
    """The names that code looks up outside of its functions; where it runs texts, all words in them too."""
    parts = list(parts)
    used = {one.argval for part in parts for one in dis.get_instructions(part) if one.opname in LOADS}
    if used.isdisjoint(READERS):
        return used
    texts = (text for part in parts for text in part.co_consts if isinstance(text, str))
    return used.union(*(re.findall(r"\w+", text) for text in texts))


class StarImportRemover(ast.NodeTransformer):
    """Takes `from solution import *` out of tests, which have the code's names already."""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.stmt:
        """An import of single names stays."""
        is_star = node.module == "solution" and not node.level and node.names[0].name == "*"
        return ast.copy_location(ast.Pass(), node) if is_star else node


class AssertSuite:
    """The statements of a script, and which of them are tests."""

    def __init__(self, tests: str) -> None:
        tree = ast.parse(tests)
        if STAR.search(tests):
            tree = StarImportRemover().visit(tree)
        self.explainer = Explainer(tests)
        self.checks = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        self.steps = [
            (self.name_case(node), compile(ast.Module([rewrite(node)], []), FILE, "exec", dont_inherit=True))
            for node in tree.body
        ]
        """Each top-level statement; one without a name only prepares."""
        self.code = [part for _, code in self.steps for part in walk_code(code)]
        self.is_simple = all(is_harmless(part) for part in self.code)

    def name_case(self, node: ast.stmt) -> str:
        """A case is called what a person would call it: the test as written; "" for what is none."""
        if not is_case(node, self.checks):
            return ""
        words = " ".join(self.explainer.quote(node.lineno, node.end_lineno or node.lineno).split())
        return f"line {node.lineno}: {words.removeprefix('assert ')}"[:LONGEST_NAME]

    def judge(self, solution: types.ModuleType, say: Callable[..., None]) -> None:
        """Run every statement in order with the code's names in scope, and say what each test said."""
        say(plan=[name for name, _ in self.steps if name])
        scope = self.make_scope(solution)
        for name, code in self.steps:
            started, why, how = time.perf_counter(), "", ""
            try:
                exec(code, scope)
            except (Gone, CannotCross):
                raise
            except BaseException as error:
                why = self.explainer.describe_failure(error) or type(error).__name__
                how = name_failure(error)
            if name:
                seconds = round(time.perf_counter() - started, 6)
                say(case={"name": name, "passed": not why, "message": why, "seconds": seconds, "how": how})
            elif why:
                say(problem=f"the tests broke: {why}")
                return

    def make_scope(self, solution: types.ModuleType) -> dict[str, Any]:
        """The names the script starts with: the code's own."""
        used = {name for part in self.code for name in part.co_names}
        if not used.isdisjoint(READERS):
            used = find_used_names(self.code)
        tests = sys.modules["tests"] = types.ModuleType("tests")
        vars(tests).update({**choose_names(solution, used), FAIL: self.explainer.fail})
        return vars(tests)


def is_case(node: ast.stmt, checks: set[str]) -> bool:
    """True for an assert, and for a call of a function that the script defines."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Name(id=name))):
            return name in checks
    return isinstance(node, ast.Assert)
