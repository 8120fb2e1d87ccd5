"""What a docstring says in examples, each as something that can be tried; and where the code says something else."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from burnish.agent.stronger.values import RAISES, value_of
from burnish.checks.behaviour import NO_ANSWER, TOO_SLOW
from burnish.checks.in_project import InProject
from burnish.tasks.examples import in_words
from burnish.tasks.repair import docstring, examples
from burnish.tasks.steady import leans_on
from burnish.tasks.syntax import parsed
from burnish.text import one_line

PROMPT = ">>> "


@dataclass(frozen=True)
class Saying:
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
        return value_of(answer) == self.wanted


def sayings_of(text: str, function: str) -> list[Saying]:
    """The examples in a function's docstring that are one call and what it gives; none where they are a story."""
    words = docstring(text, function)
    if _is_story(words):
        return []
    return [saying for body in examples(words, function) if (saying := _saying(body))]


def contradictions(text: str, functions: Sequence[str], ground: InProject) -> Iterator[tuple[str, str]]:
    """Each function whose docstring says something else than its code gives, and both in a sentence."""
    said = [(name, saying) for name in functions if not leans_on(text, name) for saying in sayings_of(text, name)]
    checks = [saying.check for _, saying in said]
    calls = [saying.call for _, saying in said]
    answers = ground.behave_all({0: text}, [*checks, *calls])[0]
    for place, (name, saying) in enumerate(said):
        answer, gives = answers[place], value_of(answers[len(checks) + place])
        if answer in (NO_ANSWER, TOO_SLOW) or saying.holds(answer):
            continue
        got = gives if gives.startswith(RAISES) else f"gives {gives}"
        words = one_line(in_words(saying.body).removeprefix("assert "), 160)
        yield name, f"the docstring of {name} says {words}, the code {one_line(got, 120)}"


def _saying(body: str) -> Saying | None:
    tree = parsed(body)
    node = tree.body[0] if tree and len(tree.body) == 1 else None
    if isinstance(node, ast.Assert):
        return Saying(body, ast.unparse(node.test), "True", ast.unparse(_called(node.test)))
    if isinstance(node, ast.With) and len(node.body) == 1 and isinstance(node.body[0], ast.Expr):
        raises, call = node.items[0].context_expr, ast.unparse(node.body[0].value)
        error = ast.unparse(raises.args[0]) if isinstance(raises, ast.Call) and raises.args else ""
        return Saying(body, call, f"{RAISES}{error}", call)
    return None


def _called(test: ast.expr) -> ast.expr:
    """The side of a comparison that calls something; of `'7' in f(3)` that is the second."""
    sides = [test.left, *test.comparators] if isinstance(test, ast.Compare) else [test]
    return next((side for side in sides if any(isinstance(part, ast.Call) for part in ast.walk(side))), sides[0])


def _is_story(words: str) -> bool:
    """Whether a session sets something up first: what a later line gives then depends on that."""
    lines = [line.strip() for line in words.splitlines()]
    typed = [
        (line[len(PROMPT) :], following)
        for line, following in zip(lines, [*lines[1:], ""], strict=False)
        if line.startswith(PROMPT)
    ]
    return any(not _is_harmless(line, following) for line, following in typed)


def _is_harmless(line: str, following: str) -> bool:
    """An import, or an expression that is answered; `x = f(1)` is the beginning of a story."""
    tree = parsed(line)
    node = tree.body[0] if tree and len(tree.body) == 1 else None
    answered = bool(following) and not following.startswith(PROMPT)
    return isinstance(node, ast.Import | ast.ImportFrom) or (isinstance(node, ast.Expr) and answered)
