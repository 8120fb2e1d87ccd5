"""The published agent's prompts in our words: the same parts, with the same content, in the same order.

Frozen. The parts are what was measured, so a missing one (docstring, tests) leaves its heading and an empty block.
"""

import ast
import textwrap

from burnish.evals.puzzle import Puzzle
from burnish.parsing import try_parse
from burnish.tasks.task import Task

VERSION = "reflect-1"

SYSTEM = """\
You are an experienced Python developer. Your job is to repair a buggy function so that the tests shown to you pass.

Rules:
- Most bugs are *tiny*: repair them with the smallest change that works.
- Leave structure, variable names and style just as they are in the original.
- Add no comments and no explanations.
- Write the whole repaired function definition in one Python code block, like this:
```python
def ...
```"""

REPEAT = (
    "This is the same implementation that you gave before. It still fails the same test. "
    "Try once more, in a different way."
)

SYNTAX = """\
Your last code has a syntax error and could not be run.
Write a corrected version of the function that is valid Python and keeps the same logic.
Give the whole function in one Python code block."""

_DRAFT = """\
Repair the buggy function so that it passes the tests below and does what its docstring says.
Take the bug to be *minor*: a small correction is all that is needed.

Buggy implementation:
```python
{buggy}
```

Docstring:
'''{docstring}'''

Tests:
```python
{tests}
```

Answer with the whole corrected function in one Python code block.
Keep your changes minimal and aimed at this one problem.
```"""

_REFLECT = """\
Your last implementation fails the tests.

Keep in mind: the *original* bug was probably very small, but your last repair may have brought needless complexity \
or new problems.
Make the function simpler and aim for a minimal, correct repair.

{assertion}
{error}

Guidelines:
- Work out what went wrong in your last attempt.
- Repair it so that both the tests and the docstring are satisfied.
- Keep the function clean and minimal: no overcomplicating, no refactoring.
- Keep the function's name, its parameters and its general structure.

Docstring:
'''{docstring}'''

Answer with the whole corrected function in one Python code block."""


def draft(puzzle: Puzzle) -> str:
    """The first question. The lone fence at its end stands in the published prompt too."""
    return _DRAFT.format(buggy=buggy(puzzle), docstring=puzzle.task.prompt, tests=puzzle.tests.strip())


def reflect(puzzle: Puzzle, assertion: str | None, error: str) -> str:
    """The question after a failed run: the assertion that failed, or what the error said where none did."""
    told = f"Failed assertion:\n```\n{assertion}\n```\n" if assertion else ""
    summary = "" if assertion else f"Error summary:\n```\n{error}\n```\n"
    return _REFLECT.format(assertion=told, error=summary, docstring=puzzle.task.prompt)


def buggy(puzzle: Puzzle) -> str:
    """The code to repair, or the stub to complete where there is none.

    The function's body is shown four spaces deeper than it is: the published agent indents a body that is indented
    already. It is what its numbers were measured with.
    """
    task = puzzle.task
    if not task.base_code:
        return _stub(task)
    lines = task.base_code.splitlines(keepends=True)
    first, last = _body(task, lines)
    return "".join(lines[:first]) + textwrap.indent("".join(lines[first:last]), "    ") + "".join(lines[last:])


def _stub(task: Task) -> str:
    """The function with its docstring in the place of a body."""
    above = f"{task.prelude.strip()}\n\n\n" if task.prelude.strip() else ""
    words = "\n    ".join(task.prompt.strip().replace('"""', "'''").splitlines())
    return f'{above}def {task.signature or f"{task.entry_point}(...)"}:\n    """{words}\n    """'


def _body(task: Task, lines: list[str]) -> tuple[int, int]:
    """The lines of the function's body: from the one below its header to its last."""
    tree = try_parse(task.base_code)
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef)] if tree else []
    node = next((node for node in found if node.name == task.entry_point), None)
    if node is None or node.end_lineno is None:
        return len(lines), len(lines)
    ends = range(node.lineno, node.body[0].lineno + 1)
    headers = (end for end in ends if try_parse("".join(lines[node.lineno - 1 : end]).rstrip() + "\n    pass"))
    return next(headers, node.body[0].lineno - 1), node.end_lineno
