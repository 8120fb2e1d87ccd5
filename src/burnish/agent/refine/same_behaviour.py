"""Does a candidate do the same as the version that it was made from? Asked of calls near those that the tests make.

The rule: what could not be compared is not the same. Errors count by their names, and so does what a call did to its
arguments. A round for security may differ where the finding is, and only there: on input that was executed.
"""

import ast
import re
from collections.abc import Sequence

from burnish.agent.agreement import has_values
from burnish.checks.ground import Ground
from burnish.checks.security.names import Names
from burnish.errors import SandboxError
from burnish.parsing import parse_expression
from burnish.tasks.syntax import parsed
from burnish.text import one_line

UNKNOWN = ("too slow", "no answer")
"""Answers of the version as it was that say nothing about what is right."""
NOT_COMPARED = "it could not be compared with what was there"
RUNS_CODE = {
    *("builtins.eval", "builtins.exec", "builtins.compile", "pickle.loads", "pickle.load", "marshal.loads"),
    *("yaml.load", "yaml.unsafe_load", "yaml.full_load"),
}
RUNS_SHELL = {"os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput"}
RUNS_PROGRAM = {f"subprocess.{name}" for name in ("run", "call", "Popen", "check_call", "check_output")}
RUNS_QUERY = ("execute", "executemany", "executescript")
SHELL_MARKS = re.compile(r"[^\w./:,+@%-]|^-|^$")
QUERY_MARKS = re.compile(r"['\";]|--")


def find_difference(before: str, after: str, calls: Sequence[str], ground: Ground, security: bool = False) -> str:
    """A call on which a candidate does something else, or that nothing could be compared; empty where all is alike."""
    try:
        # The candidate runs twice: what differs between its own two runs is chance.
        answers = ground.behave_all({0: before, 1: after, 2: after}, calls)
    except SandboxError:
        return NOT_COMPARED
    known = [at for at, answer in enumerate(answers[0]) if answer not in UNKNOWN]
    if not has_values([answers[0][at] for at in known]):
        return NOT_COMPARED
    executed = ExecutedInput(before) if security else None
    for at in sorted(known, key=lambda at: len(calls[at])):
        was, now, again = (answers[version][at] for version in (0, 1, 2))
        # A random token has the same form each time: its length, and all that is no letter.
        is_chance = security and now != again and re.sub(r"\w", "x", was) == re.sub(r"\w", "x", now)
        if was == now or is_chance or (executed and executed.explains(calls[at], was, now)):
            continue
        shown = [answer if answer.startswith("raises ") else f"gives {answer}" for answer in (now, was)]
        now, was = (one_line(answer, 60) for answer in shown)
        return f"it does not do the same: {one_line(calls[at], 120)} {now}, and {was} before"
    return ""


class ExecutedInput:
    """What a module does with its input that makes the input more than data: run it as code, shell line or query."""

    def __init__(self, code: str) -> None:
        tree = parsed(code) or ast.Module([], [])
        names, self._code, self._shell, self._query = Names(tree), False, False, False
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args):
            if names.constant(call.args[0]) is not None or isinstance(call.args[0], ast.List):
                continue
            called = names.of(call.func)
            shell = [one.value for one in call.keywords if one.arg == "shell"]
            asks_shell = any(not isinstance(value, ast.Constant) or bool(value.value) for value in shell)
            self._code |= bool(called & RUNS_CODE)
            self._shell |= bool(called & RUNS_SHELL) or (bool(called & RUNS_PROGRAM) and asks_shell)
            self._query |= isinstance(call.func, ast.Attribute) and call.func.attr in RUNS_QUERY

    def explains(self, call: str, was: str, now: str) -> bool:
        """Whether a difference is what a safer version must bring: this input was a program, and no data.

        Code that was run may be refused now, or read where it was no code; another value is never explained by that.
        """
        constants = [node.value for node in ast.walk(parse_expression(call)) if isinstance(node, ast.Constant)]
        texts = [value for value in constants if isinstance(value, str | bytes)]
        raised = was.startswith("raises ") or now.startswith("raises ")
        if self._code and raised and any(not _is_data(text) for text in texts):
            return True
        if self._query and was.startswith("raises "):
            return True
        marks = [SHELL_MARKS] * self._shell + [QUERY_MARKS] * self._query
        return any(mark.search(text) for text in texts if isinstance(text, str) for mark in marks)


def _is_data(text: str | bytes) -> bool:
    """Whether evaluating a text gives what reading it as plain data gives."""
    try:
        ast.literal_eval(text.strip() if isinstance(text, str) else "")
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return False
    return True
