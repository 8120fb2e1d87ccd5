"""Rewrites for what the security check finds: each does the same for honest input, without the door left open."""

import ast
import re
from collections.abc import Callable, Iterable, Iterator

from burnish.agent.mending.hashes import compared_hash, plain_hash
from burnish.agent.mending.queries import queries
from burnish.agent.mending.shells import no_shell
from burnish.agent.mending.source import CannotMendError, Change, Source

GUESSABLE = ("random", "randint", "randrange", "choice", "choices", "sample", "uniform", "getrandbits", "randbytes")
SECRET = re.compile(r"password|passwd|token|secret|salt|nonce|otp|session|api_?key|pin\b|_pin|code\b", re.IGNORECASE)


def literal(source: Source) -> Iterator[Change]:
    """`eval(text)` that reads plain data: not what the code itself wrote, nor something that is called."""
    for call in source.calls("builtins.eval"):
        upper = source.parent(call)
        if isinstance(upper, ast.Attribute) or (isinstance(upper, ast.Call) and upper.func is call):
            continue
        if len(call.args) == 1 and not call.keywords and _is_handed_on(source, call.args[0]):
            yield source.instead(call.func, "ast.literal_eval", "ast")


def _is_handed_on(source: Source, text: ast.expr) -> bool:
    built = isinstance(text, ast.JoinedStr | ast.BinOp | ast.Constant)
    return not built and source.names.constant(text) is None


def safe_yaml(source: Source) -> Iterator[Change]:
    """`yaml.load` with whatever loader."""
    for call in source.calls("yaml.load", "yaml.unsafe_load", "yaml.full_load"):
        if call.args:
            yield source.instead(call, f"yaml.safe_load({source.of(call.args[0])})", "yaml")


def own_temporary(source: Source) -> Iterator[Change]:
    """A name that somebody else can take first."""
    for call in source.calls("tempfile.mktemp"):
        names = ("suffix", "prefix", "dir")
        given = [f"{name}={source.of(value)}" for name, value in zip(names, call.args, strict=False)]
        rest = ", ".join(["delete=False", *given, *(source.of(keyword) for keyword in call.keywords)])
        yield source.instead(call, f"tempfile.NamedTemporaryFile({rest}).name", "tempfile")


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
    "a program is started with a list of arguments and without a shell": no_shell,
    "values go into a query as parameters": queries,
    "a temporary file is made and not only named": own_temporary,
    "weak hashes that are only compared with each other become SHA-256": compared_hash,
    "a weak hash that keeps no secret says so": plain_hash,
    "random values for a secret come from `secrets`": unguessable,
    "`assert` becomes a raised AssertionError": raised,
}
