"""What `single` and `retry` ask. Short on purpose: small models lose the thread in long prompts.

Change a word, raise VERSION: the version is recorded with each ask.
"""

import ast
from functools import lru_cache

from burnish.errors import TaskError
from burnish.evals.schema import Asking
from burnish.evals.strategies.strategy import Puzzle
from burnish.events import Message
from burnish.parsing import try_parse
from burnish.tasks.examples import as_doctest
from burnish.tasks.source import DEFINITIONS
from burnish.tasks.task import Task

VERSION = "plain-1"

MOST_CHARACTERS = 1500
"""Of tests in a prompt; small models lose the thread in more."""

SYSTEM = "You are a careful Python programmer. You follow the required form exactly."


def resolve_asking(task: Task, ask: Asking) -> Asking:
    """Write or fix. Raises TaskError where something is to be fixed and there is nothing."""
    if ask == "fix" and not task.base_code:
        raise TaskError(f"task {task.id!r} has no code to fix. Ask for the function instead: --ask write")
    return ask if ask != "auto" else "fix" if task.base_code else "write"


def messages(puzzle: Puzzle, ask: Asking) -> tuple[Message, ...]:
    """The prompt for one way of asking."""
    text = fix(puzzle) if resolve_asking(puzzle.task, ask) == "fix" else write(puzzle)
    return Message(role="system", content=SYSTEM), Message(role="user", content=text)


def write(puzzle: Puzzle) -> str:
    """Ask for the function from its description and examples, without any code that tries to be it."""
    task = puzzle.task
    form = "Answer with one ```python block that holds the complete code, with its imports, and nothing else."
    if "(" in task.signature:
        tests = "" if find_asserts(puzzle.tests, task.entry_point) else _must_pass(puzzle)
        return f"Complete this Python function.\n{_block(stub(puzzle))}{tests}\n\n{form}"
    above = f"\n\nIt goes below this code:\n{_block(task.prelude.strip())}" if task.prelude.strip() else ""
    return f"Write the Python function `{task.entry_point}`.{_description(task)}{above}{_must_pass(puzzle)}\n\n{form}"


def fix(puzzle: Puzzle) -> str:
    """Show the code with the bug and ask for the one function, corrected."""
    task = puzzle.task
    tree = try_parse(task.base_code)
    is_file = tree is not None and sum(isinstance(node, DEFINITIONS) for node in tree.body) > 1
    what = f"The function `{task.entry_point}` in this Python file" if is_file else "This Python function"
    return (
        f"{what} has a bug:\n{_block(task.base_code.strip())}{_description(task)}{_must_pass(puzzle)}\n\n"
        f"Find the bug. Answer with one ```python block that holds the complete corrected function "
        f"`{task.entry_point}`, and nothing else."
    )


def stub(puzzle: Puzzle) -> str:
    """A function to complete: code models have read more of these than of anything else."""
    task = puzzle.task
    examples = ["\n".join(as_doctest(test)) for test in find_asserts(puzzle.tests, task.entry_point)]
    # Those that its own words give already are left out.
    new = [example for example in examples if example.split("\n")[0] not in task.prompt]
    few = [example for place, example in enumerate(new) if sum(map(len, new[: place + 1])) <= MOST_CHARACTERS]
    words = "\n".join([task.prompt.strip(), *few]).strip().replace('"""', "'''")
    above = f"{task.prelude.strip()}\n\n\n" if task.prelude.strip() else ""
    body = "\n    ".join(words.splitlines())
    return f'{above}def {task.signature}:\n    """{body}\n    """'


def _must_pass(puzzle: Puzzle) -> str:
    asserts = find_asserts(puzzle.tests, puzzle.task.entry_point)
    tests = cut_tests("\n".join(asserts) if asserts else puzzle.tests)
    return f"\n\nIt must pass these tests:\n{_block(tests)}" if tests else ""


def _description(task: Task) -> str:
    return f"\n\nWhat it should do:\n{task.prompt.strip()}" if task.prompt.strip() else ""


def _block(code: str) -> str:
    return f"```python\n{code}\n```"


@lru_cache(maxsize=256)
def find_asserts(tests: str, entry_point: str) -> tuple[str, ...]:
    """The asserts that a script is made of; none when it is made of anything else.

    Besides asserts alone, the form of HumanEval is known: a function `check` of asserts, called with the entry point.
    """
    tree = try_parse(tests)
    found = tree.body if tree else []
    match found:
        case [ast.FunctionDef() as check, ast.Expr(ast.Call(ast.Name(called), [ast.Name(given)], []))]:
            same = [argument.arg for argument in check.args.args] == [entry_point]
            found = check.body if same and (called, given) == (check.name, entry_point) else found
    if not all(isinstance(node, ast.Assert) for node in found):
        return ()
    return tuple(ast.get_source_segment(tests, node) or "" for node in found)


def cut_tests(tests: str, most: int = MOST_CHARACTERS) -> str:
    """The tests without blank lines around them, cut at the end of a line."""
    text = tests.strip()
    if len(text) <= most:
        return text
    kept, newline, _ = text[:most].rpartition("\n")
    return kept if newline else text[:most]
