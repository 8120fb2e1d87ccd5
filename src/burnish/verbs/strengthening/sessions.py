"""Sessions in docstrings: every answer there, with all that was typed before it, is something that can be tried.

`doctest` reads them; nothing is run here. `>>> x = Counter()`, `>>> x.add(2)`, `>>> x.total`, `2` says what the third
line gives after the first two. A session ends where something is typed that is no assignment and no expression.
"""

import ast
import doctest
from collections.abc import Iterator

from burnish.tasks.examples import is_literal
from burnish.tasks.repair import mentioned
from burnish.tasks.syntax import parsed
from burnish.verbs.strengthening.sayings import Saying

LONGEST_ANSWER, MOST_STEPS = 200, 12
UNSURE = ("...", " at 0x", "<")
"""What stands in an answer that nobody means to the letter."""

Step = tuple[str, str]
"""A name, or none, and the expression that it is given."""


def sessions_of(text: str, function: str) -> list[Saying]:
    """The answers in all docstrings of a module that speak of a function."""
    last = function.rpartition(".")[2]
    told = [saying for words in _docstrings(text) for saying in _told(words)]
    return [saying for saying in told if last in mentioned(saying.body)]


def _docstrings(text: str) -> Iterator[str]:
    module = parsed(text)
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(module) if module else ():
        if isinstance(node, kinds) and (words := ast.get_docstring(node)):
            yield words


def _told(words: str) -> Iterator[Saying]:
    try:
        examples = doctest.DocTestParser().get_examples(words)
    except ValueError:
        return
    steps: list[Step] = []
    for example in examples:
        module = parsed(example.source)
        node = module.body[0] if module and len(module.body) == 1 else None
        if isinstance(node, ast.Import | ast.ImportFrom) or example.exc_msg:
            continue
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and len(node.targets) == 1:
            steps.append((node.targets[0].id, ast.unparse(node.value)))
        elif isinstance(node, ast.Expr):
            if _is_meant(example) and len(steps) <= MOST_STEPS:
                yield _saying(steps, node.value, example.want.strip())
            steps.append(("", ast.unparse(node.value)))
        else:
            return


def _is_meant(example: doctest.Example) -> bool:
    """Whether the answer is one line, to be taken to the letter."""
    want = example.want.strip()
    sure = not example.options and not any(mark in want for mark in UNSURE)
    return sure and bool(want) and "\n" not in want and len(want) <= LONGEST_ANSWER


def _saying(steps: list[Step], asked: ast.expr, want: str) -> Saying:
    claim = _claim(asked, want)
    needed = [step for step in steps if step[0]] and steps
    lines = [f"{name} = {value}" if name else value for name, value in needed]
    before = "".join(f"({name} := {value}), " if name else f"({value}), " for name, value in needed)
    return Saying("\n".join([*lines, f"assert {claim}"]), f"[{before}({claim})][-1]", "True", ast.unparse(asked))


def _claim(asked: ast.expr, want: str) -> str:
    """That the expression gives what a reader of the docstring sees; what is printed is the text itself."""
    match asked:
        case ast.Call(func=ast.Name(id="print"), args=[shown], keywords=[]):
            return f"str({ast.unparse(shown)}) == {want!r}"
    said = ast.unparse(asked)
    if isinstance(asked, ast.Compare) and want == "True":
        return said
    call = said if isinstance(asked, ast.Call | ast.Name | ast.Attribute | ast.Subscript) else f"({said})"
    return f"{call} == {want}" if is_literal(want) else f"repr({call}) == {want!r}"
