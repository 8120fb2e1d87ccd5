"""Reads the examples in docstrings, each as something that can be tried; nothing is run here.

An example is one call and what it gives (`size(3) == 'small'`), or an answer in a session together with all that was
typed before it: `>>> c = Counter()`, `>>> c.add(2)`, `>>> c.total`, `2` says what the third line gives then.
"""

import ast
import doctest
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from burnish.checks.bench.bench import Bench
from burnish.parsing import try_parse
from burnish.strengthening.render_assert import RAISES, describe_answer, is_silent, value_in
from burnish.tasks.examples import describe_test, is_literal
from burnish.tasks.repair import docstring_of, examples_of, mentioned_names
from burnish.tasks.static_analysis import find_nondeterminism
from burnish.text import one_line

PROMPT = ">>> "
LONGEST_ANSWER, MOST_STEPS = 200, 12
INEXACT = ("...", " at 0x", "<")
"""What stands in an answer that nobody means to the letter."""
_WITH_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class DocstringExample:
    """One example."""

    body: str
    """As a test."""
    check: str
    """An expression that shows whether it holds."""
    wanted: str
    """How that expression answers then: "True", or the error."""
    call: str

    def holds(self, answer: str) -> bool:
        """Whether the answer is the wanted one."""
        return value_in(answer) == self.wanted


def read_call_examples(text: str, function: str) -> list[DocstringExample]:
    """The examples in a function's docstring that are one call and what it gives; none where a session sets up more."""
    words = docstring_of(text, function)
    if _sets_something_up(words):
        return []
    return [example for body in examples_of(words, function) if (example := _example_of(body))]


def read_session_examples(text: str, function: str) -> list[DocstringExample]:
    """The answers of the sessions in all docstrings of a module that speak of a function."""
    last = function.rpartition(".")[2]
    module = try_parse(text)
    nodes = [node for node in ast.walk(module) if isinstance(node, _WITH_DOCSTRING)] if module else []
    found = [example for node in nodes for example in _read_session(ast.get_docstring(node) or "")]
    return [example for example in found if last in mentioned_names(example.body)]


def find_contradictions(text: str, functions: Sequence[str], ground: Bench) -> Iterator[tuple[str, str]]:
    """Each function whose docstring says something else than its code gives, and both in a sentence."""
    steady = [name for name in functions if not find_nondeterminism(text, name)]
    found = [(name, example) for name in steady for example in read_call_examples(text, name)]
    asked = [*(example.check for _, example in found), *(example.call for _, example in found)]
    answers = ground.run_calls({0: text}, asked)[0]
    for (name, example), answer, gives in zip(found, answers, answers[len(found) :], strict=False):
        if not is_silent(answer) and not example.holds(answer):
            words = one_line(describe_test(example.body).removeprefix("assert "), 160)
            yield name, f"the docstring of {name} says {words}, the code {one_line(describe_answer(gives), 120)}"


def _sets_something_up(words: str) -> bool:
    """Whether something but imports and answered expressions is typed: a later answer then depends on it."""
    lines = [line.strip() for line in words.splitlines()]
    for line, following in zip(lines, [*lines[1:], ""], strict=False):
        node = _only_statement(line.removeprefix(PROMPT))
        answered = bool(following) and not following.startswith(PROMPT)
        harmless = isinstance(node, ast.Import | ast.ImportFrom) or (isinstance(node, ast.Expr) and answered)
        if line.startswith(PROMPT) and not harmless:
            return True
    return False


def _only_statement(text: str) -> ast.stmt | None:
    module = try_parse(text)
    return module.body[0] if module and len(module.body) == 1 else None


def _example_of(body: str) -> DocstringExample | None:
    """A test with one assert or one `pytest.raises` as an example."""
    match _only_statement(body):
        case ast.Assert(test=test):
            # of `'7' in f(3)` the call is the second side
            sides = [test.left, *test.comparators] if isinstance(test, ast.Compare) else [test]
            calling = (side for side in sides if any(isinstance(part, ast.Call) for part in ast.walk(side)))
            return DocstringExample(body, ast.unparse(test), "True", ast.unparse(next(calling, sides[0])))
        case ast.With(items=[ast.withitem(context_expr=raises), *_], body=[ast.Expr(value=value)]):
            error = ast.unparse(raises.args[0]) if isinstance(raises, ast.Call) and raises.args else ""
            return DocstringExample(body, ast.unparse(value), f"{RAISES}{error}", ast.unparse(value))
    return None


def _read_session(words: str) -> Iterator[DocstringExample]:
    """The answers of a session, up to where something is typed that is no assignment and no expression."""
    try:
        session = doctest.DocTestParser().get_examples(words)
    except ValueError:
        return
    steps: list[tuple[str, str]] = []  # a name, or none, and the expression that it is given
    for example in session:
        want = example.want.strip()
        exact = want and "\n" not in want and len(want) <= LONGEST_ANSWER and not any(mark in want for mark in INEXACT)
        match _only_statement(example.source):
            case ast.Import() | ast.ImportFrom():
                continue
            case _ if example.exc_msg:
                continue
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                steps.append((name, ast.unparse(value)))
            case ast.Expr(value=value):
                if exact and not example.options and len(steps) <= MOST_STEPS:
                    yield _example_after(steps, value, want)
                steps.append(("", ast.unparse(value)))
            case _:
                return


def _example_after(steps: Sequence[tuple[str, str]], asked: ast.expr, want: str) -> DocstringExample:
    """The answer as a test of all steps before it; steps that give nothing a name are not needed."""
    text = ast.unparse(asked)
    call = text if isinstance(asked, ast.Call | ast.Name | ast.Attribute | ast.Subscript) else f"({text})"
    claim = f"{call} == {want}" if is_literal(want) else f"repr({call}) == {want!r}"
    match asked:
        case ast.Call(func=ast.Name(id="print"), args=[shown], keywords=[]):  # what is printed is the text itself
            claim = f"str({ast.unparse(shown)}) == {want!r}"
        case ast.Compare() if want == "True":
            claim = text
    needed = steps if any(name for name, _ in steps) else []
    lines = [f"{name} = {value}" if name else value for name, value in needed]
    before = "".join(f"({name} := {value}), " if name else f"({value}), " for name, value in needed)
    return DocstringExample("\n".join([*lines, f"assert {claim}"]), f"[{before}({claim})][-1]", "True", text)
