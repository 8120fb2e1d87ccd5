"""What `single` and `retry` ask. Short on purpose: small models lose the thread in long prompts.

Change a word, raise VERSION: the version is recorded with each ask.
"""

from burnish.errors import TaskError
from burnish.evals.plan import Asking
from burnish.evals.puzzle import Puzzle
from burnish.evals.strategies.shown import MOST_CHARACTERS, asserts_in, cut
from burnish.events import Message
from burnish.parsing import try_parse
from burnish.tasks.examples import as_doctest
from burnish.tasks.source import DEFINITIONS
from burnish.tasks.task import Task

VERSION = "plain-1"

SYSTEM = "You are a careful Python programmer. You follow the required form exactly."


def asked_for(task: Task, ask: Asking) -> Asking:
    """Write or fix. Raises TaskError where something is to be fixed and there is nothing."""
    if ask == "fix" and not task.base_code:
        raise TaskError(f"task {task.id!r} has no code to fix. Ask for the function instead: --ask write")
    return ask if ask != "auto" else "fix" if task.base_code else "write"


def messages(puzzle: Puzzle, ask: Asking) -> tuple[Message, ...]:
    """The prompt for one way of asking."""
    text = fix(puzzle) if asked_for(puzzle.task, ask) == "fix" else write(puzzle)
    return Message(role="system", content=SYSTEM), Message(role="user", content=text)


def write(puzzle: Puzzle) -> str:
    """Ask for the function from its description and examples, without any code that tries to be it."""
    task = puzzle.task
    form = "Answer with one ```python block that holds the complete code, with its imports, and nothing else."
    if "(" in task.signature:
        tests = "" if asserts_in(puzzle.tests, task.entry_point) else _must_pass(puzzle)
        return f"Complete this Python function.\n{_block(stub(puzzle))}{tests}\n\n{form}"
    above = f"\n\nIt goes below this code:\n{_block(task.prelude.strip())}" if task.prelude.strip() else ""
    return f"Write the Python function `{task.entry_point}`.{_described(task)}{above}{_must_pass(puzzle)}\n\n{form}"


def fix(puzzle: Puzzle) -> str:
    """Show the code with the bug and ask for the one function, corrected."""
    task = puzzle.task
    what = f"The function `{task.entry_point}` in this Python file" if _is_file(task) else "This Python function"
    return (
        f"{what} has a bug:\n{_block(task.base_code.strip())}{_described(task)}{_must_pass(puzzle)}\n\n"
        f"Find the bug. Answer with one ```python block that holds the complete corrected function "
        f"`{task.entry_point}`, and nothing else."
    )


def stub(puzzle: Puzzle) -> str:
    """A function to complete: code models have read more of these than of anything else."""
    task = puzzle.task
    words = "\n".join([task.prompt.strip(), *_examples(puzzle)]).strip().replace('"""', "'''")
    above = f"{task.prelude.strip()}\n\n\n" if task.prelude.strip() else ""
    body = "\n    ".join(words.splitlines())
    return f'{above}def {task.signature}:\n    """{body}\n    """'


def _examples(puzzle: Puzzle) -> list[str]:
    """The tests as examples of a docstring, those left out that its own words give already."""
    asserts = asserts_in(puzzle.tests, puzzle.task.entry_point)
    examples = ["\n".join(as_doctest(test)) for test in asserts]
    new = [example for example in examples if example.split("\n")[0] not in puzzle.task.prompt]
    return [example for place, example in enumerate(new) if sum(map(len, new[: place + 1])) <= MOST_CHARACTERS]


def _must_pass(puzzle: Puzzle) -> str:
    asserts = asserts_in(puzzle.tests, puzzle.task.entry_point)
    tests = cut("\n".join(asserts) if asserts else puzzle.tests)
    return f"\n\nIt must pass these tests:\n{_block(tests)}" if tests else ""


def _described(task: Task) -> str:
    return f"\n\nWhat it should do:\n{task.prompt.strip()}" if task.prompt.strip() else ""


def _is_file(task: Task) -> bool:
    tree = try_parse(task.base_code)
    return tree is not None and sum(isinstance(node, DEFINITIONS) for node in tree.body) > 1


def _block(code: str) -> str:
    return f"```python\n{code}\n```"
