"""MBPP: short Python tasks with three assertions each, of which the first is shown and all score; and MBPP+.

MBPP+ (EvalPlus) has many more inputs for MBPP's tasks, judged by agreement with a reference. The ids of MBPP's test
split are reported; those above it are for tuning and calibration, and training leaves all of MBPP+ alone. The script
that scores carries the reference under a name of its own and computes what is expected, so it needs nothing from the
code under test. Its inputs are stored as JSON and get back the Python types that JSON has not: tuples, sets, complex
numbers. The types are learnt from calls that are written in Python: what is a tuple at some depth of an argument there
is one in all stored inputs.
"""

import ast
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from burnish.parsing import parse, parse_expression
from burnish.tasks import data
from burnish.tasks.data import Progress, Row
from burnish.tasks.examples import find_called_names
from burnish.tasks.source import IMPORTS, find_bound_names
from burnish.tasks.task import Split, Task

SPLITS: dict[Split, range] = {
    "eval": range(11, 511),
    "tune": range(511, 601),
    "calibrate": range(511, 975),  # holds `tune`; of MBPP+ only
    "train": range(601, 975),  # but for the ids that MBPP+ has
}
Kinds = dict[tuple[int, int, bool], type]
"""For an argument's number, a depth in it, and whether the container is empty: the type it has in Python."""
Read = TypeVar("Read")
CONTAINERS = (tuple, set, frozenset, list, dict)

COMPARED_AS = dict.fromkeys(("common_in_nested_lists", "extract_singly", "larg_nnum"), "set")
COMPARED_AS |= dict.fromkeys(("check_str", "text_match_three", "text_starta_endb"), "bool")
"""Functions whose order the task does not fix, and functions that return a match where assertions ask for truth."""

SCRIPT = """\
def plus_expected():
{reference}
    return {name}

plus_expected = plus_expected()

def plus_fresh(value):
    if type(value) in (list, tuple, set):
        return type(value)([plus_fresh(item) for item in value])
    return {{key: plus_fresh(item) for key, item in value.items()}} if type(value) is dict else value

def plus_is_floats(value):
    items = value if isinstance(value, (list, tuple)) else [value]
    return len(items) > 0 and all(isinstance(item, float) for item in items)

def plus_is_close(got, want, tolerance):
    if isinstance(want, (list, tuple)):
        same = isinstance(got, (list, tuple)) and len(got) == len(want)
        return same and all(plus_is_close(one, other, tolerance) for one, other in zip(got, want))
    numbers = isinstance(got, (int, float, complex)) and isinstance(want, (int, float, complex))
    return got == want or (numbers and abs(got - want) <= tolerance + 1e-7 * abs(want))

def plus_is_right(got, want):
    if {is_loose}:
        return {compared_as}(got) == {compared_as}(want)
    tolerance = {tolerance} or (1e-6 if plus_is_floats(want) else 0)
    return got == want or (tolerance > 0 and type(got) is type(want) and plus_is_close(got, want, tolerance))

def plus_check({name}):
    for inputs in PLUS_INPUTS:
        want = plus_expected(*plus_fresh(inputs))
        got = {name}(*inputs)
        assert plus_is_right(got, want), (inputs, got, want)

PLUS_INPUTS = [
{inputs}
]

plus_check({name})
"""


def load_mbpp(split: Split, folder: Path | None = None, progress: Progress | None = None) -> list[Task]:
    """The tasks of one split, in order."""
    path = data.find_file(data.MBPP, folder, progress)
    with data.blame_file(path):
        return [_task(row, split) for row in data.read_rows(path) if row["task_id"] in SPLITS[split]]


def _task(row: Row, split: Split) -> Task:
    gold = _unix_lines(row["code"]).strip() + "\n"
    setup = _unix_lines(row["test_setup_code"]).strip()
    tests = [_unix_lines(test).strip() for test in row["test_list"]]
    # Tests lean on imports without making them: they count on those of the code under test.
    used = {node.id for node in ast.walk(parse("\n".join([setup, *tests]))) if isinstance(node, ast.Name)}
    available = [node for node in parse(gold).body if isinstance(node, IMPORTS)]
    imports = [ast.unparse(node) for node in available if find_bound_names(node) & used]
    classes = [name for name in find_called_names(setup) if name in _names_defined_in(gold)]
    own = [f"from solution import {', '.join(classes)}"] if classes else []  # what the preparation makes objects of
    return Task(
        id=f"mbpp-{row['task_id']}",
        prompt=row["text"].strip(),
        entry_point=find_entry_point(tests[0], gold),
        visible_tests=("\n".join(filter(None, [*imports, *own, setup, tests[0]])),),
        hidden_tests="\n".join(filter(None, [*imports, setup, *tests])) + "\n",
        gold=gold,
        split=split,
    )


def find_entry_point(test: str, gold: str) -> str:
    """The function that a test is about: the first it calls that the reference defines, even one named `sum`."""
    names = _names_defined_in(gold)
    calls = [node.func for node in ast.walk(parse(test)) if isinstance(node, ast.Call)]
    own = [call for call in calls if isinstance(call, ast.Name) and call.id in names]
    first = min(own, key=lambda call: (call.lineno, call.col_offset), default=None)
    return first.id if first else find_called_names(test)[0]


def _names_defined_in(gold: str) -> set[str]:
    return {node.name for node in parse(gold).body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def _unix_lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def load_mbppplus(
    split: Split, folder: Path | None = None, progress: Progress | None = None, *, all_shown: bool = False
) -> list[Task]:
    """The tasks of one split of MBPP that MBPP+ has, in order; they show one of MBPP's assertions, or all of them."""
    tasks = _read_plus(split, folder, progress, lambda number, row: _plus_task(number, row, split))
    asserts = load_plus_asserts(split, folder) if all_shown else {}
    return (
        [task.model_copy(update={"visible_tests": split_asserts(asserts[task.id])}) for task in tasks]
        if asserts
        else tasks
    )


def split_asserts(script: str) -> tuple[str, ...]:
    """The assertions of a script, each with the imports that all of them need."""
    nodes = parse(script).body
    imports = [ast.unparse(node) for node in nodes if isinstance(node, IMPORTS)]
    return tuple("\n".join([*imports, ast.unparse(node)]) for node in nodes if isinstance(node, ast.Assert))


def load_plus_asserts(split: Split, folder: Path | None = None) -> dict[str, str]:
    """MBPP's own assertions for the tasks of MBPP+, by the task's id: few and weak, so they may be shown."""
    return dict(_read_plus(split, folder, None, lambda number, row: (f"mbppplus-{number}", row["assertion"].strip())))


def _read_plus(
    split: Split, folder: Path | None, progress: Progress | None, read: Callable[[int, Row], Read]
) -> list[Read]:
    """What `read` makes of each row of MBPP+ that is in a split of MBPP."""
    path = data.find_file(data.MBPPPLUS, folder, progress)
    with data.blame_file(path):
        rows = [(int(row["task_id"].split("/")[1]), row) for row in data.read_rows(path)]
        return [read(number, row) for number, row in rows if number in SPLITS[split]]


def _plus_task(number: int, row: Row, split: Split) -> Task:
    """The task of a row; its sentence and its example stand together in one docstring."""
    lines = str(ast.literal_eval(parse_expression(row["prompt"].strip()))).strip().split("\n")
    start = next(place for place, line in enumerate(lines) if line.lstrip().startswith("assert "))
    imports = [ast.unparse(node) for node in parse(row["assertion"]).body if isinstance(node, ast.Import)]
    return Task(
        id=f"mbppplus-{number}",
        prompt="\n".join(lines[:start]).strip(),
        entry_point=row["entry_point"],
        visible_tests=("\n".join([*imports, "\n".join(lines[start:]).strip()]),),
        hidden_tests=write_script(row),
        gold=row["canonical_solution"].strip() + "\n",
        split=split,
    )


def write_script(row: Row) -> str:
    """The script that scores: every stored input, judged against the reference."""
    name = row["entry_point"]
    kinds = learn_kinds(find_calls(name, row["assertion"]), row["base_input"])
    inputs = []
    for call in (*row["base_input"], *row["plus_input"]):
        text = repr(restore_call(call, kinds))
        if "inf" in text or "nan" in text:  # no literals, so they are spelled out
            text = ast.unparse(_SpellNames().visit(parse_expression(text)))
        inputs.append(f"    {text},")
    return SCRIPT.format(
        name=name,
        reference=textwrap.indent(row["canonical_solution"].strip(), "    "),
        tolerance=row["atol"],
        is_loose=name in COMPARED_AS,
        compared_as=COMPARED_AS.get(name, "set"),
        inputs="\n".join(inputs),
    )


class _SpellNames(ast.NodeTransformer):
    """Writes `inf` and `nan` as calls."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Call(ast.Name("float", ast.Load()), [ast.Constant(node.id)], [])


def find_calls(name: str, tests: str) -> list[list[Any]]:
    """The arguments of each call of a function in a script, one call a statement; None for what is no literal."""

    def value_of(argument: ast.expr) -> Any:
        try:
            return ast.literal_eval(argument)
        except ValueError:  # one row has `14*14`
            return None

    found = []
    for statement in parse(tests).body:
        calls = (node for node in ast.walk(statement) if isinstance(node, ast.Call))
        call = next((node for node in calls if isinstance(node.func, ast.Name) and node.func.id == name), None)
        if call:
            found.append([value_of(argument) for argument in call.args])
    return found


def learn_kinds(written: Sequence[Sequence[Any]], stored: Sequence[Sequence[Any]]) -> Kinds:
    """The types of stored values, from the same calls as written."""
    kinds: Kinds = {}
    for real, plain in zip(written, stored, strict=True):
        for number, (value, json_value) in enumerate(zip(real, plain, strict=True)):
            _learn(value, json_value, number, 0, kinds)
    return kinds


def _learn(real: Any, plain: Any, number: int, depth: int, kinds: Kinds) -> None:
    if isinstance(plain, list) and type(real) in CONTAINERS:
        kinds.setdefault((number, depth, not plain), type(real))
        if isinstance(real, list | tuple):  # a set has lost the order in which JSON stored it
            for inner, plain_inner in zip(real, plain, strict=True):
                _learn(inner, plain_inner, number, depth + 1, kinds)
    elif isinstance(plain, dict) and isinstance(real, dict):
        for key in real.keys() & plain.keys():
            _learn(real[key], plain[key], number, depth + 1, kinds)
    elif depth == 0 and kinds.get((number, 0, False)) is not str:
        kinds[(number, 0, False)] = complex if isinstance(real, int | float | complex) else str


def restore_call(call: Sequence[Any], kinds: Kinds) -> list[Any]:
    """The arguments of one stored call, in their Python types."""
    return [_restore(value, number, 0, kinds) for number, value in enumerate(call)]


def _restore(value: Any, number: int, depth: int, kinds: Kinds) -> Any:
    kind = kinds.get((number, depth, not value)) or kinds.get((number, depth, bool(value)))
    if isinstance(value, dict):
        return {key: _restore(inner, number, depth + 1, kinds) for key, inner in value.items()}
    if isinstance(value, list):
        inner = [_restore(item, number, depth + 1, kinds) for item in value]
        return kind(inner) if kind in CONTAINERS else inner
    for number_type in (float, complex) if isinstance(value, str) and kind is complex else ():
        try:
            return number_type(value)
        except ValueError:
            continue
    return value
