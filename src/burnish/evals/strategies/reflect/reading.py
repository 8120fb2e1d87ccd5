"""What the published agent reads out of an answer, and out of a run that failed."""

import ast
import re

from burnish.events import Case, Graded
from burnish.parsing import try_parse

MOST_LINES = 6
"""Of an error summary."""
TIMED_OUT = "None\nTIMEOUT"
"""All that the published executor says of a run that it had to end: nothing was captured, and it says so."""
_BLOCK = re.compile(r"(?is)```python(?P<code>.*?)```")


def source_in(answer: str) -> str:
    """The first ```python block, or the whole answer where there is none."""
    block = _BLOCK.search(answer)
    return block["code"].strip() if block else answer


def function_in(answer: str, name: str) -> str | None:
    """The one function asked for, without its imports and helpers; None when the answer has no such function."""
    source = source_in(answer)
    tree = try_parse(source)
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name] if tree else []
    return "\n".join(source.splitlines()[found[0].lineno - 1 : found[0].end_lineno]) if found else None


def failure(graded: Graded) -> str:
    """What the failing run would have printed: of the first failing test, or of the code that cannot be loaded."""
    first = next((case for case in graded.cases if case.outcome != "passed"), Case(name="", outcome="failed"))
    if graded.timed_out and first.message in {"", graded.problem}:
        return TIMED_OUT
    return first.message or graded.problem


def failed_assertion(told: str, tests: str) -> str | None:
    """The first line that begins at "assert"; one that the sandbox shortened is found again in the tests."""
    match = re.search(r"assert.+", told)
    if not match:
        return None
    head, shortened, tail = match[0].strip().partition(" … ")
    whole = (line.strip() for line in tests.splitlines() if shortened)
    return next((line for line in whole if line.startswith(head) and line.endswith(tail)), match[0].strip())


def summary(told: str) -> str:
    """The last lines of what was said."""
    return "\n".join([line for line in told.splitlines() if line.strip()][-MOST_LINES:])
