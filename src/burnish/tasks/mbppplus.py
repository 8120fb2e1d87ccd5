"""MBPP+ (EvalPlus): MBPP's tasks with many more inputs, judged by agreement with a reference.

Only the ids of MBPP's test split are used: the others are for training and tuning. The script that scores carries the
reference under a name of its own and computes what is expected, so it needs nothing from the code under test.
"""

import ast
import textwrap
from pathlib import Path

from burnish.parsing import parse, parse_expression
from burnish.tasks import data
from burnish.tasks.data import Progress, Row
from burnish.tasks.mbpp import SPLITS
from burnish.tasks.restore import calls_of, learn, restore
from burnish.tasks.task import Task

IN_ANY_ORDER = {"common_in_nested_lists", "extract_singly", "larg_nnum"}
"""Functions whose answer is a collection of which the task does not fix the order: only the set is compared."""

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
    if {any_order}:
        return set(got) == set(want)
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


def load_mbppplus(folder: Path | None = None, progress: Progress | None = None) -> list[Task]:
    """The tasks of MBPP's test split that MBPP+ has, in order."""
    path = data.find(data.MBPPPLUS, folder, progress)
    with data.reading(path):
        return [_task(row) for row in data.read_rows(path) if _number(row) in SPLITS["eval"]]


def _number(row: Row) -> int:
    return int(row["task_id"].split("/")[1])


def _task(row: Row) -> Task:
    words, example = _words_and_example(row["prompt"])
    imports = [ast.unparse(node) for node in parse(row["assertion"]).body if isinstance(node, ast.Import)]
    return Task(
        id=f"mbppplus-{_number(row)}",
        prompt=words,
        entry_point=row["entry_point"],
        visible_tests=("\n".join([*imports, example]),),
        hidden_tests=_script(row),
        gold=row["canonical_solution"].strip() + "\n",
        split="eval",
    )


def _words_and_example(prompt: str) -> tuple[str, str]:
    """The task's sentence and its example, which the benchmark gives as one docstring."""
    lines = str(ast.literal_eval(parse_expression(prompt.strip()))).strip().split("\n")
    start = next(number for number, line in enumerate(lines) if line.lstrip().startswith("assert "))
    return "\n".join(lines[:start]).strip(), "\n".join(lines[start:]).strip()


def _script(row: Row) -> str:
    name = row["entry_point"]
    stored = [*row["base_input"], *row["plus_input"]]
    kinds = learn(calls_of(name, row["assertion"]), row["base_input"])
    return SCRIPT.format(
        name=name,
        reference=textwrap.indent(row["canonical_solution"].strip(), "    "),
        tolerance=row["atol"],
        any_order=name in IN_ANY_ORDER,
        inputs="\n".join(f"    {_written(restore(call, kinds))}," for call in stored),
    )


def _written(call: list[object]) -> str:
    """Arguments as Python; its infinity and NaN are no literals, so they are spelled out."""
    text = repr(call)
    return ast.unparse(Spelled().visit(parse_expression(text))) if "inf" in text or "nan" in text else text


class Spelled(ast.NodeTransformer):
    """Writes `inf` and `nan` as calls."""

    def visit_Name(self, node: ast.Name) -> ast.expr:  # noqa: N802
        """`float('inf')`."""
        return ast.Call(ast.Name("float", ast.Load()), [ast.Constant(node.id)], [])
