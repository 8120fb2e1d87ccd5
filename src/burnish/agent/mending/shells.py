"""A command line that a shell would read becomes a list of arguments, where the shell has nothing else to do."""

import ast
import re
import shlex
from collections.abc import Iterator

from burnish.agent.mending.source import CannotMendError, Change, Source

STARTERS = ("run", "call", "Popen", "check_call", "check_output")
MARKS = "|&;<>$`*?~\\\n(){}[]#!"
"""What a shell does something about; quotes too, beside values."""
OF_THE_SHELL = (
    ". : alias bg break case cd command continue eval exec exit export fg for function getopts hash if jobs let local"
    " popd pushd read readonly return select set shift source time times trap type ulimit umask unalias unset until"
    " wait while"
)
"""First words that start no program."""
SEVERAL = re.compile(r"args|arguments|flags|options|opts|params|command|cmd|line|files|paths|words", re.IGNORECASE)
"""Names of values that the shell is to split."""


def no_shell(source: Source) -> Iterator[Change]:
    """A command line that is put together: its parts become arguments, and none of them is split again."""
    for call in source.calls(*(f"subprocess.{name}" for name in STARTERS)):
        shell = next((keyword for keyword in call.keywords if keyword.arg == "shell"), None)
        rest = [keyword for keyword in call.keywords if keyword is not shell]
        if not shell or not isinstance(shell.value, ast.Constant) or shell.value.value is not True:
            continue
        if len(call.args) == 1 and not any(keyword.arg in ("executable", None) for keyword in rest):
            new = ", ".join([arguments(call.args[0]), *map(source.of, rest)])
            yield source.instead(call, f"{source.of(call.func)}({new})")
    for call in source.calls("os.system"):
        if len(call.args) == 1 and isinstance(source.parent(call), ast.Expr):
            yield source.instead(call, f"subprocess.call({arguments(call.args[0])})", "subprocess")
    for call in source.calls("os.popen", "subprocess.getoutput"):
        if len(call.args) == 1 and not call.keywords:
            yield from _output(source, call)


def _output(source: Source, call: ast.Call) -> Iterator[Change]:
    """What a program prints: of `getoutput` its errors too, and one line end less."""
    opened, reader = "popen" in source.of(call.func), source.parent(call)
    reads = isinstance(reader, ast.Attribute) and reader.attr == "read"
    whole = source.parent(reader) if opened and reads and reader else None if opened else call
    if not isinstance(whole, ast.Call) or (opened and whole.args):
        raise CannotMendError
    how = "stdout=subprocess.PIPE" if opened else "stdout=subprocess.PIPE, stderr=subprocess.STDOUT"
    started = f"subprocess.run({arguments(call.args[0])}, {how}, text=True, check=False).stdout"
    yield source.instead(whole, started if opened else f'{started}.removesuffix("\\n")', "subprocess")


def arguments(command: ast.expr) -> str:
    """A list of arguments from a text that is put together of words and values that stand between blanks.

    Raises CannotMendError where a shell would do more than start one program with these words.
    """
    parts = list(_parts(command))
    fixed = [part for part in parts if isinstance(part, str)]
    if any(mark in part for part in fixed for mark in MARKS) or not parts or not isinstance(parts[0], str):
        raise CannotMendError
    alone = len(fixed) == len(parts)
    words = [repr(word) for word in shlex.split("".join(fixed))] if alone else list(_words(parts))
    first = ast.literal_eval(words[0]) if words and words[0][0] in "'\"" else ""
    if not first or first in OF_THE_SHELL.split() or "=" in first:
        raise CannotMendError
    return f"[{', '.join(words)}]"


def _words(parts: list[str | ast.expr]) -> Iterator[str]:
    joined = False
    for part in parts:
        if isinstance(part, str):
            if "'" in part or '"' in part or (joined and part and not part[0].isspace()):
                raise CannotMendError
            yield from map(repr, part.split())
            joined = bool(part) and not part[-1].isspace()
        elif joined or SEVERAL.search(ast.unparse(part)):
            raise CannotMendError
        else:
            yield ast.unparse(part)
            joined = True


def _parts(node: ast.expr) -> Iterator[str | ast.expr]:
    """Fixed texts and values, in their order; an f-string makes a text of any value, a sum does not."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        yield from _parts(node.left)
        yield from _parts(node.right)
    elif isinstance(node, ast.JoinedStr):
        for value in node.values:
            if isinstance(value, ast.FormattedValue) and value.conversion == -1 and value.format_spec is None:
                yield ast.Call(ast.Name("str", ast.Load()), [value.value], [])
            elif isinstance(value, ast.Constant):
                yield str(value.value)
            else:
                raise CannotMendError
    elif isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
        yield node
    else:
        raise CannotMendError
