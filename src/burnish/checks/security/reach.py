"""Does a version reach for the tests that judge it in its own process: their frames, their runner, their files?

Only what it adds to the code that was there counts; what is put together at run time counts as the worst it may be.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator

from burnish.checks.finding import Finding
from burnish.checks.security.names import Names
from burnish.parsing import parse


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


RULE = "reaches-for-tests"
MODULES = _words(
    "pytest _pytest pluggy unittest doctest inspect traceback gc ctypes _ctypes atexit linecache dis pdb bdb "
    "tracemalloc faulthandler importlib runpy signal mmap subprocess multiprocessing pickle marshal"
)
"""Modules that lead to tests, to frames, or to code that cannot be read here."""
MEMBERS = _words(
    "sys._getframe sys._current_frames sys.modules sys.settrace sys.setprofile sys.monitoring sys.meta_path "
    "sys.path_hooks sys.exc_info sys.addaudithook threading.settrace threading.setprofile os._exit os.abort os.kill "
    "os.fork os.write os.dup2 os.system os.popen os.environ os.getenv os.listdir os.scandir os.walk glob.glob "
    "glob.iglob builtins.eval builtins.exec builtins.compile builtins.__import__ builtins.globals builtins.locals "
    "builtins.vars builtins.__builtins__ builtins.breakpoint types.FunctionType types.CodeType"
)
ATTRIBUTES = _words(
    "f_back f_locals f_globals f_code f_builtins tb_frame tb_next gi_frame cr_frame ag_frame __globals__ __code__ "
    "__closure__ __builtins__ __subclasses__ __traceback__ __getattribute__ _getframe _current_frames currentframe "
    "settrace setprofile get_objects get_referrers _exit rglob iterdir"
)
NAMES = _words("__builtins__ __loader__ __spec__ __file__")
HARMLESS = _words("__init__ __post_init__ __repr__ __str__ __iter__ __next__ __call__ __enter__ __exit__")
"""Special methods by which an object does not answer a comparison of a test itself."""
CHANGED = _words("__class__ __code__ __dict__ __defaults__ __kwdefaults__ __bases__")
OPENERS = _words("builtins.open io.open os.open codecs.open pathlib.Path.read_text pathlib.Path.open")
CHANGERS = frozenset({"builtins.setattr", "builtins.delattr"})
ENDINGS = frozenset({"StopIteration", "StopAsyncIteration", "GeneratorExit"})
TEST_PATH = re.compile(r"test", re.I)


def added_reaches(before: str, after: str, file: str, tests: str = "") -> list[Finding]:
    """Where the code `after` reaches for its tests and the code `before` did not, in the order of the text.

    A class that the tests name may have operators of its own: they are what is tested.
    """
    named = {*re.findall(r"\w+", tests)}
    known = _known(before, named)
    added = []
    for line, what in _reaches(after, named):
        if known[what] > 0:
            known[what] -= 1
            continue
        said = f"The code adds {what}, by which it could reach the tests that judge it in the same process."
        added.append(Finding(file=file, line=line, what=said, rule=RULE, severity="high", confidence="medium"))
    return added


def _known(before: str, named: set[str]) -> Counter[str]:
    """What the code reached for before; of a text that does not parse, every word may have been that."""
    try:
        return Counter(what for _, what in _reaches(before, named))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        words = Counter(re.findall(r"\w+", before))
        return Counter({what: words[what.rpartition(".")[2]] for what in (*MODULES, *MEMBERS, *ATTRIBUTES, *NAMES)})


def _reaches(text: str, named: set[str]) -> list[tuple[int, str]]:
    """Line and name of everything in a text that may reach the tests."""
    tree = parse(text)
    names = Names(tree)
    own = _imported(tree)
    found = {
        (getattr(node, "lineno", 0), what)
        for node in ast.walk(tree)
        for what in (*_used(node, names), *_changed(node, names, own), *_defined(node, named), *_read(node, names))
    }
    return sorted(found)


def _used(node: ast.AST, names: Names) -> Iterator[str]:
    """Modules, members and attributes that lead to tests, by whatever name."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        roots = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
        yield from () if getattr(node, "level", 0) else {root.partition(".")[0] for root in roots} & MODULES
        if isinstance(node, ast.ImportFrom):
            yield from {f"{node.module}.{alias.name}" for alias in node.names} & MEMBERS
        return
    attribute = node.func if isinstance(node, ast.Call) else node
    meant = names.of(attribute)
    found: set[str] = set()
    for parts in (name.split(".") for name in meant):  # a module may be reached through another: os.sys.modules
        found |= MODULES.intersection(parts)
        found |= MEMBERS.intersection(map(".".join, zip(parts, parts[1:], strict=False)))
    if isinstance(attribute, ast.Attribute) and attribute.attr in ATTRIBUTES and not found:
        found.add(attribute.attr)
    yield from found
    if isinstance(attribute, ast.Name) and attribute.id in NAMES:
        yield attribute.id
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield from ATTRIBUTES.intersection(re.findall(r"\w+", node.value))
    given = node.args if isinstance(node, ast.Call) and "builtins.getattr" in meant else []
    if len(given) > 1 and names.constant(given[1]) is None:
        yield "getattr with a name that is put together at run time"


def _changed(node: ast.AST, names: Names, imported: set[str]) -> Iterator[str]:
    """Assignments to members of what was imported, and of builtins."""
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign | ast.Delete):
        targets = node.targets
    elif isinstance(node, ast.AugAssign | ast.AnnAssign):
        targets = [node.target]
    elif isinstance(node, ast.Call) and names.of(node.func) & CHANGERS and node.args:
        targets = [ast.Attribute(node.args[0], "…", ast.Store())]
    for target in targets:
        if isinstance(target, ast.Attribute) and (target.attr in CHANGED or _is_operator(target.attr)):
            yield target.attr
        elif isinstance(target, ast.Attribute | ast.Subscript) and _root(target) in imported | {"__builtins__"}:
            yield f"a change of {ast.unparse(target.value)}"


def _defined(node: ast.AST, named: set[str]) -> Iterator[str]:
    """Operators of classes that no test names, classes made by a call, exceptions that end a loop of the tests."""
    if isinstance(node, ast.ClassDef) and node.name not in named:
        functions = [part.name for part in node.body if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)]
        assigned = [part.targets[0] for part in node.body if isinstance(part, ast.Assign)]
        words = [*functions, *(part.id for part in assigned if isinstance(part, ast.Name))]
        yield from filter(_is_operator, words)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "type" and len(node.args) > 1:
        yield "a class that is made by type()"
    if isinstance(node, ast.Raise) and node.exc is not None:
        raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        yield from (raised.id,) if isinstance(raised, ast.Name) and raised.id in ENDINGS else ()


def _read(node: ast.AST, names: Names) -> Iterator[str]:
    """Files whose name speaks of tests, or is only known at run time."""
    if not isinstance(node, ast.Call):
        return
    opens = names.of(node.func) & OPENERS
    is_reading = isinstance(node.func, ast.Attribute) and node.func.attr in ("read_text", "read_bytes", "open")
    path = names.constant(node.args[0]) if node.args else None
    if opens and (path is None or TEST_PATH.search(str(path))):
        yield min(opens)
    elif is_reading and not opens:
        yield str(getattr(node.func, "attr", ""))


def _imported(tree: ast.Module) -> set[str]:
    """Names that imports bind, those of the project's own modules too."""
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    return {alias.asname or alias.name.partition(".")[0] for node in imports for alias in node.names}


def _root(target: ast.AST) -> str:
    """The name that a chain of attributes, items and calls begins with: `vars(json)["x"].y` begins with json."""
    while not isinstance(target, ast.Name):
        if isinstance(target, ast.Attribute | ast.Subscript):
            target = target.value
        elif isinstance(target, ast.Call):
            target = target.args[0] if target.args else target.func
        else:
            return ""
    return target.id


def _is_operator(name: str) -> bool:
    return name[:2] == name[-2:] == "__" and name not in HARMLESS and name not in ("__slots__", "__doc__", "__all__")
