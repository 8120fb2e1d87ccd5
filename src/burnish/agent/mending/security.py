"""Rewrites for what the security check finds: each does the same for honest input, without the door left open."""

import ast
import re
from collections.abc import Callable, Iterable, Iterator

from burnish.agent.mending.queries import queries
from burnish.agent.mending.source import CannotMendError, Change, Source

STARTERS = ("run", "call", "Popen", "check_call", "check_output")
WEAK_HASHES = ("hashlib.md5", "hashlib.sha1")
GUESSABLE = ("random", "randint", "randrange", "choice", "choices", "sample", "uniform", "getrandbits", "randbytes")
SECRET = re.compile(r"password|passwd|token|secret|salt|nonce|otp|session|api_?key|pin\b|_pin|code\b", re.IGNORECASE)


def literal(source: Source) -> Iterator[Change]:
    """`eval(text)` that reads plain data."""
    for call in source.calls("builtins.eval"):
        if len(call.args) == 1 and not call.keywords:
            yield source.instead(call.func, "ast.literal_eval", "ast")


def safe_yaml(source: Source) -> Iterator[Change]:
    """`yaml.load` with whatever loader."""
    for call in source.calls("yaml.load", "yaml.unsafe_load", "yaml.full_load"):
        if call.args:
            yield source.instead(call, f"yaml.safe_load({source.of(call.args[0])})", "yaml")


def as_json(source: Source) -> Iterator[Change]:
    """Pickled data, both ways, as JSON. For plain data only: the tests know."""
    for call in source.calls("pickle.loads", "marshal.loads"):
        if len(call.args) == 1 and not call.keywords:
            yield source.instead(call.func, "json.loads", "json")
    for call in source.calls("pickle.dumps", "marshal.dumps"):
        if len(call.args) == 1 and not call.keywords:
            yield source.instead(call.func, "json.dumps", "json")
            yield source.behind(call, ".encode()")


def no_shell_in_parts(source: Source) -> Iterator[Change]:
    """A command line that is put together: its parts become arguments, and none of them is split again."""
    return _no_shell(source, _argument_list)


def no_shell_split(source: Source) -> Iterator[Change]:
    """Any other command line: split as a shell would, and started without one."""
    return _no_shell(source, lambda source, command: f"shlex.split({source.of(command)})")


def _no_shell(source: Source, arguments: Callable[[Source, ast.expr], str]) -> Iterator[Change]:
    for call in source.calls(*(f"subprocess.{name}" for name in STARTERS)):
        shell = next((keyword for keyword in call.keywords if keyword.arg == "shell"), None)
        if shell and isinstance(shell.value, ast.Constant) and shell.value.value is True and call.args:
            rest = [source.of(keyword) for keyword in call.keywords if keyword is not shell]
            command = call.args[0] if not isinstance(call.args[0], ast.List) else None
            if command is not None and len(call.args) == 1:
                new = ", ".join([arguments(source, command), *rest])
                yield source.instead(call, f"{source.of(call.func)}({new})", *_needed(new))
    for call in source.calls("os.system"):
        if call.args:
            new = arguments(source, call.args[0])
            yield source.instead(call, f"subprocess.call({new})", "subprocess", *_needed(new))
    for call in source.calls("os.popen", "subprocess.getoutput"):
        yield from _output(source, call, arguments)


def _output(source: Source, call: ast.Call, arguments: Callable[[Source, ast.expr], str]) -> Iterator[Change]:
    reader = source.parent(call)
    opened = "popen" in source.of(call.func)
    reads = isinstance(reader, ast.Attribute) and reader.attr == "read"
    whole = source.parent(reader) if opened and reads and reader else None if opened else call
    if not isinstance(whole, ast.Call) or not call.args:
        raise CannotMendError
    new = arguments(source, call.args[0])
    started = f"subprocess.run({new}, capture_output=True, text=True, check=False).stdout"
    yield source.instead(whole, started if opened else f'{started}.rstrip("\\n")', "subprocess", *_needed(new))


def _needed(new: str) -> tuple[str, ...]:
    return ("shlex",) if "shlex." in new else ()


def _argument_list(source: Source, command: ast.expr) -> str:
    """A list of arguments from a text that is put together of words and values that stand between blanks."""
    words: list[str] = []
    joined = False
    for part in _parts(command):
        if isinstance(part, str):
            if any(mark in part for mark in "|&;<>$`*?\"'\\\n"):
                raise CannotMendError
            if joined and part and not part[0].isspace():
                raise CannotMendError
            words += [repr(word) for word in part.split()]
            joined = bool(part) and not part[-1].isspace()
        elif joined:
            raise CannotMendError
        else:
            words.append(_as_text(part))
            joined = True
    return f"[{', '.join(words)}]"


def _parts(node: ast.expr) -> Iterator[str | ast.expr]:
    """Fixed texts and values, in their order."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        yield from _parts(node.left)
        yield from _parts(node.right)
    elif isinstance(node, ast.JoinedStr):
        for value in node.values:
            if isinstance(value, ast.FormattedValue) and value.conversion == -1 and value.format_spec is None:
                yield value.value
            elif isinstance(value, ast.Constant):
                yield str(value.value)
            else:
                raise CannotMendError
    elif isinstance(node, ast.Name | ast.Call | ast.Attribute | ast.Subscript):
        yield node
    else:
        raise CannotMendError


def _as_text(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if text.startswith("str(") else f"str({text})"


def own_temporary(source: Source) -> Iterator[Change]:
    """A name that somebody else can take first."""
    for call in source.calls("tempfile.mktemp"):
        names = ("suffix", "prefix", "dir")
        given = [f"{name}={source.of(value)}" for name, value in zip(names, call.args, strict=False)]
        rest = ", ".join(["delete=False", *given, *(source.of(keyword) for keyword in call.keywords)])
        yield source.instead(call, f"tempfile.NamedTemporaryFile({rest}).name", "tempfile")


def strong_hash(source: Source) -> Iterator[Change]:
    """Hashes that can be forged. The digest is another: where tests state it, this is refused."""
    for call in source.calls(*WEAK_HASHES):
        if not any(keyword.arg == "usedforsecurity" for keyword in call.keywords):
            yield source.instead(call.func, "hashlib.sha256", "hashlib")
    for call in source.calls("hashlib.new"):
        if call.args and isinstance(call.args[0], ast.Constant) and call.args[0].value in ("md5", "sha1"):
            yield source.instead(call.args[0], '"sha256"')


def unguessable(source: Source) -> Iterator[Change]:
    """Random numbers for something secret, by the name of the function; a seed means that they are to be repeated."""
    if any(source.calls("random.seed", "random.Random")):
        return
    for call in source.calls(*(f"random.{name}" for name in GUESSABLE)):
        function = source.function_of(call)
        name = next(iter(source.names.of(call.func))).rpartition(".")[2]
        if function and SECRET.search(function.name):
            yield source.instead(call.func, f"secrets.SystemRandom().{name}", "secrets")


def raised(source: Source) -> Iterator[Change]:
    """Checks of input that `python -O` would leave out; the error is the same."""
    for node in source.each(ast.Assert):
        assert isinstance(node, ast.Assert)
        said = f"({source.of(node.msg)})" if node.msg else ""
        lines = [f"if not ({source.of(node.test)}):", f"    raise AssertionError{said}"]
        if any("\n" in line for line in lines):
            raise CannotMendError
        yield source.instead_lines(node, lines)


SECURITY: dict[str, Callable[[Source], Iterable[Change]]] = {
    "`eval` becomes `ast.literal_eval`": literal,
    "`yaml.load` becomes `yaml.safe_load`": safe_yaml,
    "pickled data becomes JSON": as_json,
    "a program is started with a list of arguments and without a shell": no_shell_in_parts,
    "a command line is split and started without a shell": no_shell_split,
    "values go into a query as parameters": queries,
    "a temporary file is made and not only named": own_temporary,
    "a weak hash becomes SHA-256": strong_hash,
    "random values for a secret come from `secrets`": unguessable,
    "`assert` becomes a raised AssertionError": raised,
}
