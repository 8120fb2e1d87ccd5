"""An answer in the wrong form: recognised, put right where that needs no guess, and otherwise named in one sentence.

The rule: what is taken parses and defines what was asked for. Nothing that was cut off is passed off as whole.
"""

import ast
import builtins
import re
from collections.abc import Callable, Iterator

from burnish.agent import mends
from burnish.agent.extract import cleaned, code_from, problem_with
from burnish.agent.languages import language_of
from burnish.agent.unwrap import blocks_of, is_open, readings
from burnish.events import Frozen
from burnish.tasks.assemble import names_of
from burnish.tasks.syntax import parsed

CUT = "the answer was cut off at its token limit"
_PYTHON = {"", "python", "py", "python3", "pycon", "diff", "patch", "text", "plaintext", "txt", "code"}
_REFUSAL = re.compile(
    r"\b(?:I(?:'|’)?\s?(?:a)?m sorry|I (?:cannot|can(?:'|’)t|am unable|am not able|won(?:'|’)t)|As an AI)\b",
    re.IGNORECASE,
)


class Shaped(Frozen):
    """The code in an answer. Usable when `problem` is empty."""

    code: str
    problem: str = ""
    mended: str = ""
    """What had to be done to it: "taken out of a JSON wrapper". Empty when the form was right."""


def shaped(
    answer: str,
    entry_point: str,
    *,
    signature: str = "",
    base: str = "",
    also: tuple[str, ...] = (),
    ended: str = "stop",
) -> Shaped:
    """The code in an answer, mended where it can be without a call.

    `signature` lets a bare body be placed, `base` (the code that was shown) a diff or a few changed lines.
    `ended` is how the answer ended; one that stopped at its token limit is not taken for whole.
    A method, "Cart.total", is taken by itself: whoever asked for it knows its class.
    """
    owner, dot, entry_point = entry_point.rpartition(".")
    signature = signature.removeprefix(owner + dot)
    form = _Form(entry_point, signature or entry_point, base, also, ended == "length")
    for code, how in form.tries(answer):
        if not problem_with(code, form.signature, also):
            return Shaped(code=code, mended=how)
    code = code_from(answer, entry_point)  # a whole answer that it can read is never turned down here
    return Shaped(code=code, problem=form.problem(answer, code))


class _Form:
    """What an answer should have been."""

    def __init__(self, name: str, signature: str, base: str, also: tuple[str, ...], cut: bool) -> None:
        self.name, self.signature, self.base, self.also, self.cut = name, signature, base, also, cut

    def tries(self, answer: str) -> Iterator[tuple[str, str]]:
        """Every way to read the answer, the plainest first, with what was done in words."""
        for text, how in readings(answer):
            blocks = blocks_of(text)
            if self.cut and is_open(text):
                yield from self._whole_part(blocks[-1][1] if blocks else text, how)
                continue
            python = [block for tag, block in blocks if tag in _PYTHON]
            if not blocks:
                yield from self._mended([text], how)
            elif python:
                yield from self._mended(python, how)

    def _mended(self, blocks: list[str], how: str) -> Iterator[tuple[str, str]]:
        """Whole blocks first; then each mend on every block, the last block first: later ones correct earlier ones."""
        yield from self._chosen(blocks, how)
        for mend, words in self._mends():
            fixed = [_tried(mend, block) for block in blocks]
            said = f"{how}, {words}" if how else words
            yield from self._chosen([block for block in fixed if block], said)

    def _chosen(self, blocks: list[str], how: str) -> Iterator[tuple[str, str]]:
        """The last block that defines the name and is more than a stub, with what it leans on in other blocks."""
        trees = [parsed(block) for block in blocks]
        holding = [at for at, tree in enumerate(trees) if tree and self._defines(tree)]
        if not holding:
            return
        at = max(holding, key=lambda place: (not self._is_stub(trees[place]), place))
        whole, joined = self._joined(blocks, trees, at)
        words = [how] if how else []
        words += ["the last of several versions taken"] if len(holding) > 1 else []
        words += ["several blocks joined"] if joined else []
        yield cleaned(whole, self.name), ", ".join(words)

    def _joined(self, blocks: list[str], trees: list[ast.Module | None], at: int) -> tuple[str, bool]:
        """The chosen block below those that define names it uses, or names that were asked for beside it."""
        chosen = trees[at]
        assert chosen is not None
        missing = (_used(chosen) | set(self.also)) - _bound(chosen)
        others = []
        for place in [*range(at - 1, -1, -1), *range(at + 1, len(blocks))]:
            tree = trees[place]
            brought = _bound(tree) & missing if tree else set()
            if tree and brought and not self._defines(tree):
                others.append(blocks[place].strip("\n") + "\n")
                missing = (missing | _used(tree)) - _bound(tree)
        return "\n\n".join([*reversed(others), blocks[at]]), bool(others)

    def _mends(self) -> list[tuple[Callable[[str], str], str]]:
        found: list[tuple[Callable[[str], str], str]] = [
            (mends.dedented, "moved to the left edge"),
            (mends.prompts, "the prompts of a Python session left out"),
            (mends.numbers, "line numbers left out"),
            (lambda text: mends.patched(text, self.base), "a diff applied"),
            (mends.quotes, "typographic quotes and spaces made plain"),
            (mends.spaces, "tabs made spaces"),
            (mends.without_prose, "the prose around it left out"),
            (lambda text: mends.lifted(text, self.name), "the method taken out of its class"),
        ]
        if self.base:
            found.append((lambda text: mends.changed_lines(text, self.base), "the changed lines put in their place"))
        if "(" in self.signature:
            found.append((lambda text: mends.under(self.signature, text), "the body put under its first line"))
        return found

    def _whole_part(self, text: str, how: str) -> Iterator[tuple[str, str]]:
        """Of an answer that was cut: what is whole beyond doubt, because examples of its use had begun below it."""
        lines = text.split("\n")
        for end in range(len(lines) - 1, 0, -1):
            if not lines[end].strip() or lines[end][0].isspace():
                continue
            tree = parsed("\n".join(lines[:end]))
            if tree and self._defines(tree) and self._is_example(lines[end]):
                words = "the examples below it, which were cut off, left out"
                yield cleaned("\n".join(lines[:end]), self.name), f"{how}, {words}" if how else words

    def _is_example(self, line: str) -> bool:
        return bool(re.match(rf"print\b|assert\b|if __name__|#|{re.escape(self.name)}\(", line))

    def _defines(self, tree: ast.Module) -> bool:
        """Whether the name is defined there; that it is imported shows the code at work and no more."""
        return any(getattr(node, "name", None) == self.name for node in tree.body)

    def _is_stub(self, tree: ast.Module | None) -> bool:
        """Whether the definition only says that something would come here."""
        found = [node for node in tree.body if getattr(node, "name", None) == self.name] if tree else []
        return bool(found) and isinstance(found[-1], ast.FunctionDef) and all(map(_says_nothing, found[-1].body))

    def problem(self, answer: str, code: str) -> str:
        """In one sentence, what is wrong with an answer that could not be mended."""
        if self.cut and is_open(answer):
            return CUT
        blocks = blocks_of(answer)
        language = language_of(code or answer, [tag for tag, _ in blocks])
        defines = problem_with(code, self.signature, self.also)
        if language and (not code or defines.startswith(("the code does not parse", "the code does not define"))):
            return f"the answer is {language}, not Python"
        if not code and _REFUSAL.search(answer):
            return "the model declined to answer"
        return defines


def _tried(mend: Callable[[str], str], block: str) -> str:
    try:
        return mend(block)
    except RecursionError:  # code that is nested deeper than Python can write it down again
        return ""


def _bound(tree: ast.Module) -> set[str]:
    return {name for node in tree.body for name in names_of(node)}


def _used(tree: ast.Module) -> set[str]:
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    return {name for name in names if not hasattr(builtins, name)}


def _says_nothing(node: ast.stmt) -> bool:
    is_word = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_word or isinstance(node, ast.Pass)
