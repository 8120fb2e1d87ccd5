"""What generated code must obey whatever the model thinks; in other code the first four are shown as findings too.

Each rule looks at one node and answers with a sentence, or with "" when it is content. It sees the tree, not the text,
so a word in a comment or a string breaks no rule. Passwords and keys are known by the name they are given, and by their
shape.
"""

import ast
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate

from burnish.checks.check import Finding, Severity
from burnish.checks.security.names import IMPORTERS, Names, list_assigned
from burnish.packages.names import module_provider

# Every repetition that something must follow has an end, so a text made for it cannot make the search take long.
SHAPES = {
    "an access key of AWS": r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    "a token of GitHub": r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{40,})",
    "a token of GitLab": r"\bglpat-[A-Za-z0-9_-]{20,}",
    "a key of a model service": r"\bsk-[A-Za-z0-9_-]{20,}",
    "a key of a payment service": r"\b[sr]k_live_[A-Za-z0-9]{16,}",
    "a token of Slack": r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",
    "a key of Google": r"\bAIza[0-9A-Za-z_-]{35}\b",
    "a token of Hugging Face": r"\bhf_[A-Za-z]{34}\b",
    "a token of a package index": r"\b(?:pypi-AgE[A-Za-z0-9_-]{40,}|npm_[A-Za-z0-9]{36})",
    "a signed token": r"\beyJ[A-Za-z0-9_-]{10,999}\.eyJ[A-Za-z0-9_-]{10,999}\.[A-Za-z0-9_-]{10}",
    "a private key": r"-----BEGIN (?:[A-Z]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----",
    "a password in an address": r"\b[a-z][a-z0-9+.-]{1,30}://[^/\s:@{}<>$%]{1,99}:[^/\s:@{}<>$%*]{3,99}@\w",
}
_PASSWORD = re.compile(r"(?:^|_)(?:password|passwd|pwd|passphrase|secret|client_secret|credentials?)$")
_KEY = re.compile(r"(?:^|_)(?:token|(?:api|access|private|auth|secret|encryption|signing|master)_?key|apikey)$")
_HINT = re.compile(r"key|token|secret|passw|auth|credential|salt")
_CODED = re.compile(r"[A-Za-z0-9+/=_-]+")
_PLACEHOLDER = re.compile(
    r"change.?me|your|example|placeholder|dummy|fake|redacted|insert|replace|todo|fixme|secret_?here|not.?set"
    r"|^[<{\[(%$]|[>}\])]$|^\W+$|^(?:x+|_+|0+|none|null|undefined|unknown|empty|test)$",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(r"example|:(?:pass(?:word|wd)?|pw|pwd|secret|x+)@", re.IGNORECASE)
"""What a key or an address in documentation has in it."""
HIGH_ENTROPY_BITS, HIGH_ENTROPY_LENGTH = 3.5, 20
EVALUATORS = {"builtins.eval", "builtins.exec", "builtins.compile"}
SHELLS = {
    *("os.system", "os.popen", "posix.system", "subprocess.getoutput", "subprocess.getstatusoutput"),
    *("asyncio.create_subprocess_shell", "asyncio.subprocess.create_subprocess_shell"),
}
STARTERS = {f"subprocess.{name}" for name in ("run", "call", "Popen", "check_call", "check_output")}
SHELL_PROGRAMS = ("sh", "bash", "zsh", "dash", "ksh", "cmd", "cmd.exe", "powershell", "pwsh")
LOADERS = {
    *("pickle.load", "pickle.loads", "pickle.Unpickler", "_pickle.load", "_pickle.loads", "cPickle.loads"),
    *("marshal.load", "marshal.loads", "shelve.open", "shelve.DbfilenameShelf", "dill.load", "dill.loads"),
    *("cloudpickle.load", "cloudpickle.loads", "joblib.load", "jsonpickle.decode", "pandas.read_pickle"),
    *("yaml.unsafe_load", "yaml.unsafe_load_all", "yaml.full_load", "yaml.full_load_all"),
}
DUMPERS = {"pickle.dumps", "marshal.dumps", "dill.dumps"}
SAFE_LOADERS = {"SafeLoader", "CSafeLoader", "BaseLoader", "CBaseLoader"}
INNER = {"os", "subprocess", "builtins", "posix", "sys", "importlib"}
"""Modules whose members must be asked for by a name that can be read."""
OPENERS = {
    *("builtins.open", "io.open", "os.open", "codecs.open", "pathlib.Path", "pathlib.PosixPath", "os.listdir"),
    *("os.scandir", "os.walk", "os.remove", "os.unlink", "os.rename", "os.chdir", "os.makedirs", "os.mkdir"),
    *("shutil.rmtree", "shutil.copy", "shutil.copyfile", "shutil.copytree", "shutil.move", "glob.glob", "glob.iglob"),
    *("sqlite3.connect", "tarfile.open", "gzip.open", "zipfile.ZipFile", "pandas.read_csv", "numpy.loadtxt"),
}
HOMES = {"os.path.expanduser", "posixpath.expanduser", "pathlib.Path.home"}
HARMLESS = {"/dev/null", "/dev/urandom", "/dev/stdin", "/dev/stdout", "/dev/stderr"}
ONLINE = {
    *("socket", "_socket", "socketserver", "urllib.request", "http.client", "http.server", "xmlrpc", "webbrowser"),
    *("ftplib", "smtplib", "smtpd", "poplib", "imaplib", "nntplib", "telnetlib", "requests", "httpx", "aiohttp"),
    *("urllib3", "urllib2", "httplib2", "pycurl", "treq", "tornado", "twisted", "websocket", "websockets", "paramiko"),
    *("fabric", "grpc", "zmq", "pika", "redis", "pymongo", "psycopg", "psycopg2", "pymysql", "boto3", "botocore"),
    *("asyncssh", "trio.open_tcp_stream", "anyio.connect_tcp", "dns", "scapy", "mechanize", "selenium", "playwright"),
    *("asyncio.open_connection", "asyncio.start_server", "wsgiref.simple_server", "logging.handlers.SocketHandler"),
    *("logging.handlers.HTTPHandler", "logging.handlers.SMTPHandler", "logging.handlers.DatagramHandler"),
}
Sees = Callable[[ast.AST, Names], str]


def find_secret(node: ast.AST, names: Names) -> str:
    """A password, token or key stands in the code. Its text is never repeated in the sentence."""
    for name, value in _list_named(node, names):
        text = _read_text(value, names) if not isinstance(value, ast.Name) else ""
        if text and _looks_secret(name, text):
            return f"{name!r} is given a value that looks like a secret; it belongs in the environment."
    text = _read_text(node, names) if isinstance(node, ast.Constant | ast.BinOp) else ""
    for what, shape in SHAPES.items() if text else ():
        found = re.search(shape, text)
        if found and not _EXAMPLE.search(found[0]):
            return f"A text has the shape of {what}; secrets belong in the environment."
    return ""


def _list_named(node: ast.AST, names: Names) -> Iterator[tuple[str, ast.expr]]:
    """Names with what they are given, compared with, or stand for in a dictionary."""
    yield from ((_read_name(target, names), value) for target, value in list_assigned(node))
    match node:
        case ast.keyword(arg=str(name), value=value):
            yield name, value
        case ast.Dict(keys=keys, values=values):
            yield from ((_read_text(key, names), value) for key, value in zip(keys, values, strict=True))
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[right]):
            yield _read_name(left, names), right
            yield _read_name(right, names), left


def _read_name(node: ast.expr, names: Names) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(slice=key):
            return _read_text(key, names)
    return ""


def _read_text(node: ast.AST | None, names: Names) -> str:
    value = names.constant(node)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else ""


def _looks_secret(name: str, text: str) -> bool:
    plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().replace("-", "_").strip("_").rstrip("0123456789_")
    names_itself = text.lower().strip("_- ") in (plain, plain.replace("_", ""))
    if names_itself or _PLACEHOLDER.search(text) or len(text.split()) > 2:
        return False
    if _PASSWORD.search(plain):
        return len(text) >= 4
    # Not just a word: it has a digit, or both cases inside.
    is_mixed = any(char.isdigit() for char in text) or (text[1:] != text[1:].lower() and text != text.upper())
    if _KEY.search(plain):
        return len(text) >= 8 and is_mixed
    if not is_mixed or len(text) < HIGH_ENTROPY_LENGTH or not _HINT.search(plain) or not _CODED.fullmatch(text):
        return False
    shares = [count / len(text) for count in Counter(text).values()]
    return -sum(share * math.log2(share) for share in shares) >= HIGH_ENTROPY_BITS


@dataclass(frozen=True)
class Rule:
    """One thing that must not be in the code."""

    name: str
    severity: Severity
    sees: Sees
    also: frozenset[str] = frozenset()
    """Tests of bandit that mean the same; both at one line are one finding."""


def find_eval(node: ast.AST, names: Names) -> str:
    """Text that comes from elsewhere is run as Python."""
    for call in EVALUATORS & _list_used(node, names):
        word = call.rpartition(".")[2]
        if not isinstance(node, ast.Call) or names.constant(_argument(node, 0, "source")) is None:
            return f"{word}() runs text that is not written out in the code, so whoever supplies it can run anything."
    return ""


def find_shell(node: ast.AST, names: Names) -> str:
    """A shell is given a command line that is not fixed."""
    used = _list_used(node, names)
    if not isinstance(node, ast.Call):
        said = used & SHELLS
        return f"{min(said)} is handed on, so a shell may run text that is not written out in the code." if said else ""
    command = _argument(node, 0, "args", "cmd", "command")
    shell = bool(used & SHELLS) or (bool(used & STARTERS) and bool(_keyword(node, "shell", names)))
    if shell and not _is_fixed(command, names):
        return f"{min(used & (SHELLS | STARTERS))} gives a shell a command line that is put together at run time."
    parts = command.elts if isinstance(command, ast.List | ast.Tuple) and not _is_fixed(command, names) else []
    match [names.constant(part) for part in parts]:
        case [str(program), "-c" | "-lc" | "-ec" | "/c" | "/C" | "-Command", None, *_] if used & STARTERS:
            if program.rpartition("/")[2] in SHELL_PROGRAMS:
                return f"{min(used & STARTERS)} starts a shell with a script that is put together at run time."
    return ""


def find_object_loading(node: ast.AST, names: Names) -> str:
    """Data that can run code while it is read."""
    if not isinstance(node, ast.Call):
        return ""
    called = names.of(node.func)
    first, loader = _argument(node, 0, "data", "file", "stream"), _argument(node, 1, "Loader")
    # `pickle.loads(pickle.dumps(x))` copies; nothing from outside is read.
    is_copy = isinstance(first, ast.Call) and bool(names.of(first.func) & DUMPERS)
    is_safe = loader is not None and any(name.rpartition(".")[2] in SAFE_LOADERS for name in names.of(loader))
    risks = {
        **dict.fromkeys(called & LOADERS, not is_copy),
        "numpy.load with allow_pickle": "numpy.load" in called and _keyword(node, "allow_pickle", names),
        "torch.load without weights_only": "torch.load" in called and _keyword(node, "weights_only", names) is False,
        "yaml.load without SafeLoader": called & {"yaml.load", "yaml.load_all"} and not is_safe,
    }
    found = [risk for risk in sorted(risks) if risks[risk]]
    return f"{found[0]} can run code that is hidden in the data it reads." if found else ""


def find_hidden_name(node: ast.AST, names: Names) -> str:
    """A module or a member of one is chosen at run time, so no rule can see which."""
    if not isinstance(node, ast.Call) or not node.args:
        return ""
    called = names.of(node.func)
    if called & {"builtins.__import__", "importlib.import_module"} and names.constant(node.args[0]) is None:
        return "A module is imported by a name that is only known at run time."
    chosen = len(node.args) > 1 and names.constant(node.args[1]) is None
    if "builtins.getattr" in called and chosen and names.of(node.args[0]) & INNER:
        return "A member of a system module is chosen by a name that is only known at run time."
    return ""


def find_outside_file(node: ast.AST, names: Names) -> str:
    """A path outside the folder the code was started in is used: absolute, of the home folder, of the folder above."""
    if not isinstance(node, ast.Call):
        return ""
    called = names.of(node.func)
    if called & HOMES or (isinstance(node.func, ast.Attribute) and node.func.attr == "expanduser"):
        return "The home folder of whoever runs this is used; code like this has its own folder and no other."
    for given in (*node.args[:2], *(keyword.value for keyword in node.keywords)) if called & OPENERS else ():
        path = names.beginning(given)
        is_absolute = path.startswith(("/", "~", "\\\\", "file:")) or path[1:3] in (":\\", ":/")
        if path not in HARMLESS and (is_absolute or ".." in path.split("/")):
            return f"{min(called & OPENERS)} goes outside the folder of the code, to {path[:60]!r}."
    return ""


def find_network(node: ast.AST, names: Names, is_named: Callable[[str], bool]) -> str:
    """Something that opens connections is imported or used; not what a package brings that the user named."""
    match node:
        case ast.Import(names=aliases):
            reached = [alias.name for alias in aliases]
        case ast.ImportFrom(module=str(module), names=aliases, level=0):
            reached = [module, *(f"{module}.{alias.name}" for alias in aliases)]
        case ast.Attribute():
            reached = sorted(names.of(node))
        case ast.Call(func=called):
            reached = sorted(names.of(node if names.of(called) & IMPORTERS else called))
        case _:
            return ""
    for name in reached:
        for prefix in accumulate(name.split("."), "{}.{}".format):
            if prefix in ONLINE and not is_named(prefix):
                return f"{prefix} opens network connections, and nobody asked for any."
    return ""


ALWAYS = (
    Rule("no-eval", "high", find_eval, frozenset({"B307", "B102"})),
    Rule("no-shell", "high", find_shell, frozenset({"B602", "B604", "B605", "B609"})),
    Rule("no-secret", "medium", find_secret, frozenset({"B105", "B106", "B107"})),
    Rule("no-object-loading", "medium", find_object_loading, frozenset({"B301", "B302", "B506", "B614"})),
)
FOR_GENERATED = (
    Rule("no-outside-file", "high", find_outside_file, frozenset({"B108"})),
    Rule("no-hidden-name", "medium", find_hidden_name),
)
NETWORK_IN_BANDIT = frozenset({"B310", "B309", "B312", "B321", "B401", "B402", "B410", "B411", "B415", "B113"})


def select_rules(generated: bool, network: bool, named: Sequence[str] = ()) -> tuple[Rule, ...]:
    """The rules that hold for such code; packages that the user named may go online."""
    if not generated:
        return ALWAYS
    offline = Rule("no-network", "high", partial(find_network, is_named=module_provider(named)), NETWORK_IN_BANDIT)
    return (*ALWAYS, *FOR_GENERATED, *([] if network else [offline]))


def find_breaches(tree: ast.Module, file: str, rules: tuple[Rule, ...]) -> Iterator[Finding]:
    """Every place where a rule is broken, each rule at most once a line."""
    names = Names(tree)
    seen = set()
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        for child in ast.iter_child_nodes(node):
            # A name that is only called or looked into is left to the call or the attribute around it.
            part = isinstance(node, ast.Call) and child is node.func or isinstance(node, ast.Attribute)
            if part and isinstance(child, ast.Name | ast.Attribute):
                waiting.extend(ast.iter_child_nodes(child) if isinstance(child, ast.Attribute) else ())
            else:
                waiting.append(child)
        for rule in rules:
            what = rule.sees(node, names)
            line = getattr(node, "lineno", 0)
            if what and (rule.name, line) not in seen:
                seen.add((rule.name, line))
                yield Finding(
                    file=file, line=line, what=what, rule=rule.name, severity=rule.severity, confidence="high"
                )


def _list_used(node: ast.AST, names: Names) -> set[str]:
    """What a call calls, or what a name that is not called stands for."""
    if isinstance(node, ast.Call):
        return names.of(node.func)
    if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
        return names.of(node)
    return set()


def _argument(node: ast.Call, place: int, *keywords: str) -> ast.expr | None:
    if len(node.args) > place:
        return node.args[place]
    return next((one.value for one in node.keywords if one.arg in keywords), None)


def _keyword(node: ast.Call, name: str, names: Names) -> object:
    """The value of an argument: what it always is, "?" when that is not known, None when it is not given."""
    for keyword in node.keywords:
        pairs: list[tuple[object, ast.expr]] = [(keyword.arg, keyword.value)]
        if keyword.arg is None and isinstance(keyword.value, ast.Dict):
            pairs = list(zip(map(names.constant, keyword.value.keys), keyword.value.values, strict=True))
        for key, value in pairs:
            if key == name:
                return value.value if isinstance(value, ast.Constant) else "?"
    return None


def _is_fixed(command: ast.expr | None, names: Names) -> bool:
    if isinstance(command, ast.List | ast.Tuple):
        return all(names.constant(part) is not None for part in command.elts)
    return names.constant(command) is not None
