"""HumanEvalPack, Python: HumanEvalFix (a planted bug to repair) and HumanEval (a function to write).

The examples are shown; the tests only score. What lies outside the entry point stays as the benchmark has it.
"""

import ast
import re
from collections.abc import Callable
from pathlib import Path

from burnish.parsing import parse
from burnish.tasks import data
from burnish.tasks.data import Progress, Row
from burnish.tasks.task import NO_WORDS, Task


def load_humanevalfix(
    variant: str = "docs", folder: Path | None = None, progress: Progress | None = None
) -> list[Task]:
    """164 functions with a bug. `docs` comes with the docstring, `tests` with the examples alone."""

    def with_bug(row: Row) -> Task:
        prompt = row["docstring"].strip() if variant == "docs" else NO_WORDS.format(name=row["entry_point"])
        whole = {"base_code": row["declaration"] + row["buggy_solution"], "bug": row["bug_type"], "prompt": prompt}
        return _task(row).model_copy(update=whole)

    return _load(folder, progress, with_bug)


def load_humaneval(folder: Path | None = None, progress: Progress | None = None) -> list[Task]:
    """The same functions, to be written from their docstring."""
    return _load(folder, progress, _task)


def _load(folder: Path | None, progress: Progress | None, make: Callable[[Row], Task]) -> list[Task]:
    path = data.find_file(data.HUMANEVALPACK, folder, progress)
    with data.blame_file(path):
        return [make(row) for row in data.read_rows(path)]


def _task(row: Row) -> Task:
    """The task of a row; imports and helpers that stand above the function to write are its prelude."""
    name, declaration = row["entry_point"], row["declaration"]
    above = re.split(rf"^def {name}\(", declaration, flags=re.MULTILINE)[0].strip()
    return Task(
        id=row["task_id"].replace("Python/", "HumanEval/"),
        prompt=row["docstring"].strip(),
        entry_point=name,
        signature=row["signature"].split("\n")[0].rstrip(": "),  # one row has the body's first line in it too
        prelude=f"{above}\n" if above else "",
        visible_tests=split_examples(row["example_test"], name),
        hidden_tests=row["test"].strip() + "\n",
        gold=declaration + row["canonical_solution"],
        split="eval",
    )


def split_examples(example_test: str, name: str) -> tuple[str, ...]:
    """The examples as test bodies that stand on their own: one for each assert, or all as one when they hang together.

    One row has stray lines above its check function, and they hold the answer: they are left out.
    """
    start = example_test.rfind(f"def check({name})")
    if start < 0:
        return ()
    text = example_test[start:]
    check = parse(text).body[0]
    assert isinstance(check, ast.FunctionDef)
    names = {node: {part.id for part in ast.walk(node) if isinstance(part, ast.Name)} for node in check.body}
    silent = (ast.Assert, ast.Expr, ast.Import)  # `assert True` and `print` say nothing about the function
    useful = [node for node in check.body if not (isinstance(node, silent) and name not in names[node])]
    if all(isinstance(node, ast.Assert) for node in useful):
        return tuple(ast.get_source_segment(text, node) or "" for node in useful)
    return ("\n".join(ast.unparse(node) for node in useful),)
