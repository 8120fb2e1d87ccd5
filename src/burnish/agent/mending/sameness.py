"""Does a candidate do the same as the version that it was made from? Asked of calls near those that the tests make.

The rule: what could not be compared is not the same. Errors count by their names, and so does what a call did to its
arguments. A round for security may differ where the finding is, and only there: on input that was executed.
"""

import ast
import re
from collections.abc import Sequence

from burnish.agent.agreement import has_values
from burnish.agent.mending.shells import STARTERS
from burnish.agent.mending.source import CannotMendError, Source
from burnish.checks.ground import Ground
from burnish.errors import SandboxError
from burnish.parsing import parse_expression
from burnish.text import one_line

UNKNOWN = ("too slow", "no answer")
"""Answers of the version as it was that say nothing about what is right."""
NOT_COMPARED = "it could not be compared with what was there"
RUNS_CODE = (
    *("builtins.eval", "builtins.exec", "builtins.compile", "pickle.loads", "pickle.load", "marshal.loads"),
    *("yaml.load", "yaml.unsafe_load", "yaml.full_load"),
)
STARTS_SHELLS = ("os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput")
STARTS_PROGRAMS = tuple(f"subprocess.{name}" for name in STARTERS)
SHELL_MARKS = re.compile(r"[^\w./:,+@%-]|^-|^$")
QUERY_MARKS = re.compile(r"['\";]|--")


def otherwise(before: str, after: str, calls: Sequence[str], ground: Ground, security: bool = False) -> str:
    """A call on which a candidate does something else, or that nothing could be compared; empty where all is alike."""
    try:
        told = ground.behave_all({0: before, 1: after, 2: after}, calls)
    except SandboxError:
        return NOT_COMPARED
    known = [at for at, answer in enumerate(told[0]) if answer not in UNKNOWN]
    if not has_values([told[0][at] for at in known]):
        return NOT_COMPARED
    executed = Executed(before) if security else None
    for at in sorted(known, key=lambda at: len(calls[at])):
        was, now = told[0][at], told[1][at]
        by_chance = executed is not None and now != told[2][at] and _form(was) == _form(now)
        if was == now or by_chance or (executed and executed.explains(calls[at], was, now)):
            continue
        return f"it does not do the same: {one_line(calls[at], 120)} {_said(now)}, and {_said(was)} before"
    return ""


def _said(answer: str) -> str:
    return one_line(answer if answer.startswith("raises ") else f"gives {answer}", 60)


def _form(answer: str) -> str:
    """What is left of a text that chance has made: how long it is, and all that is no letter."""
    return re.sub(r"\w", "x", answer)


class Executed:
    """What a module does with its input that makes the input more than data."""

    def __init__(self, code: str) -> None:
        try:
            source = Source(code)
        except (CannotMendError, SyntaxError, ValueError, RecursionError, MemoryError):
            self._code = self._shell = self._query = False
            return
        self._code = any(_is_put_together(source, call) for call in source.calls(*RUNS_CODE))
        shells = [*source.calls(*STARTS_SHELLS), *filter(_asks_a_shell, source.calls(*STARTS_PROGRAMS))]
        self._shell = any(_is_put_together(source, call) for call in shells)
        self._query = any(_executes(source, node) for node in source.nodes)

    def explains(self, call: str, was: str, now: str) -> bool:
        """Whether a difference is what closing the door must bring: this input was a program, and no data.

        Code that was run may be refused now, or read where it was no code; another value is never explained by that.
        """
        texts = _texts(call)
        raised = was.startswith("raises ") or now.startswith("raises ")
        if self._code and raised and any(not _is_data(text) for text in texts):
            return True
        if self._query and was.startswith("raises "):
            return True
        marks = [SHELL_MARKS] * self._shell + [QUERY_MARKS] * self._query
        return any(mark.search(text) for text in texts if isinstance(text, str) for mark in marks)


def _is_put_together(source: Source, call: ast.Call) -> bool:
    return bool(call.args) and source.names.constant(call.args[0]) is None and not isinstance(call.args[0], ast.List)


def _asks_a_shell(call: ast.Call) -> bool:
    values = [one.value for one in call.keywords if one.arg == "shell"]
    return any(not isinstance(value, ast.Constant) or bool(value.value) for value in values)


def _executes(source: Source, node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr="execute" | "executemany" | "executescript")):
            return _is_put_together(source, node)
    return False


def _texts(call: str) -> list[str | bytes]:
    """Every text that a call hands over, however deep."""
    nodes = ast.walk(parse_expression(call))
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)]


def _is_data(text: str | bytes) -> bool:
    """Whether evaluating a text gives what reading it as plain data gives."""
    try:
        ast.literal_eval(text.strip() if isinstance(text, str) else "")
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return False
    return True
