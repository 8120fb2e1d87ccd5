"""What generated code must obey whatever the model thinks; in other code the first four are shown as findings too.

Each rule looks at one node and answers with a sentence, or with "" when it is content. It sees the tree, not the text,
so a word in a comment or a string breaks no rule.
"""

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from burnish.checks.check import Finding, Severity
from burnish.checks.security.names import IMPORTERS, Names
from burnish.checks.security.secrets import find_secret
from burnish.packages.names import module_provider

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
    if used & STARTERS and _is_shell_script(command, names):
        return f"{min(used & STARTERS)} starts a shell with a script that is put together at run time."
    return ""


def find_object_loading(node: ast.AST, names: Names) -> str:
    """Data that can run code while it is read."""
    if not isinstance(node, ast.Call):
        return ""
    called = names.of(node.func)
    first = _argument(node, 0, "data", "file", "stream")
    # `pickle.loads(pickle.dumps(x))` copies; nothing from outside is read.
    is_copy = isinstance(first, ast.Call) and bool(names.of(first.func) & DUMPERS)
    if called & LOADERS and not is_copy:
        return f"{min(called & LOADERS)} can run code that is hidden in the data it reads."
    loader = _argument(node, 1, "Loader")
    is_safe = loader is not None and any(name.rpartition(".")[2] in SAFE_LOADERS for name in names.of(loader))
    if called & {"yaml.load", "yaml.load_all"} and not is_safe:
        return "yaml.load without SafeLoader can run code that is hidden in the data it reads."
    if "numpy.load" in called and _keyword(node, "allow_pickle", names):
        return "numpy.load with allow_pickle can run code that is hidden in the data it reads."
    if "torch.load" in called and _keyword(node, "weights_only", names) is False:
        return "torch.load without weights_only can run code that is hidden in the data it reads."
    return ""


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


def find_network(node: ast.AST, names: Names, is_named: Callable[[str], bool] = lambda module: False) -> str:
    """Something that opens connections is imported or used; not what a package brings that the user named."""
    reached: list[str] = []
    if isinstance(node, ast.Import):
        reached = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        reached = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    elif isinstance(node, ast.Attribute):
        reached = sorted(names.of(node))
    elif isinstance(node, ast.Call):
        reached = sorted(names.of(node) if names.of(node.func) & IMPORTERS else names.of(node.func))
    for name in reached:
        parts = name.split(".")
        prefixes = (".".join(parts[:length]) for length in range(1, len(parts) + 1))
        found = next((prefix for prefix in prefixes if prefix in ONLINE), "")
        if found and not is_named(found):
            return f"{found} opens network connections, and nobody asked for any."
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
NO_NETWORK = Rule(
    "no-network",
    "high",
    find_network,
    frozenset({"B310", "B309", "B312", "B321", "B401", "B402", "B410", "B411", "B415", "B113"}),
)


def select_rules(generated: bool, network: bool, named: Sequence[str] = ()) -> tuple[Rule, ...]:
    """The rules that hold for such code; packages that the user named may go online."""
    if not generated:
        return ALWAYS
    offline = replace(NO_NETWORK, sees=partial(find_network, is_named=module_provider(named)))
    return (*ALWAYS, *FOR_GENERATED) if network else (*ALWAYS, *FOR_GENERATED, offline)


def find_breaches(tree: ast.Module, file: str, rules: tuple[Rule, ...]) -> Iterator[Finding]:
    """Every place where a rule is broken, each rule at most once a line."""
    names = Names(tree)
    seen = set()
    for node in _walk(tree):
        for rule in rules:
            what = rule.sees(node, names)
            line = getattr(node, "lineno", 0)
            if what and (rule.name, line) not in seen:
                seen.add((rule.name, line))
                yield Finding(
                    file=file, line=line, what=what, rule=rule.name, severity=rule.severity, confidence="high"
                )


def _walk(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node once; a name that is only called or looked into is left to the call or the attribute around it."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for child in ast.iter_child_nodes(node):
            part = isinstance(node, ast.Call) and child is node.func or isinstance(node, ast.Attribute)
            if part and isinstance(child, ast.Name | ast.Attribute):
                waiting.extend(ast.iter_child_nodes(child) if isinstance(child, ast.Attribute) else ())
            else:
                waiting.append(child)


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
        if keyword.arg == name:
            value = keyword.value
            return value.value if isinstance(value, ast.Constant) else "?"
        if keyword.arg is None and isinstance(keyword.value, ast.Dict):
            for key, value in zip(keyword.value.keys, keyword.value.values, strict=True):
                if names.constant(key) == name:
                    return value.value if isinstance(value, ast.Constant) else "?"
    return None


def _is_fixed(command: ast.expr | None, names: Names) -> bool:
    if isinstance(command, ast.List | ast.Tuple):
        return all(names.constant(part) is not None for part in command.elts)
    return names.constant(command) is not None


def _is_shell_script(command: ast.expr | None, names: Names) -> bool:
    if not isinstance(command, ast.List | ast.Tuple) or len(command.elts) < 3 or _is_fixed(command, names):
        return False
    program, option = names.constant(command.elts[0]), names.constant(command.elts[1])
    known = isinstance(program, str) and program.rpartition("/")[2] in SHELL_PROGRAMS
    return known and option in ("-c", "-lc", "-ec", "/c", "/C", "-Command") and names.constant(command.elts[2]) is None
