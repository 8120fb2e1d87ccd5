"""Does a version reach for the tests that judge it in its own process: their frames, their runner, their files?

Only what it adds to the code that was there counts; what is put together at run time counts as the worst it may be.
"""

import ast
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from burnish.checks.check import Finding
from burnish.checks.security.names import Names
from burnish.parsing import parse


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


RULE = "reaches-for-tests"
MODULES = _words(
    "pytest _pytest pluggy unittest doctest inspect traceback gc ctypes _ctypes atexit linecache dis pdb bdb "
    "tracemalloc faulthandler importlib runpy signal mmap subprocess multiprocessing pickle marshal posix pkgutil "
    "zipimport codeop timeit cProfile pty fileinput hypothesis"
) | {name for name in sys.stdlib_module_names if name.startswith("_") and name != "__future__"}
"""Modules that lead to tests, to frames, or to code that cannot be read here."""
MEMBERS = _words(
    "sys._getframe sys._current_frames sys.modules sys.settrace sys.setprofile sys.monitoring sys.meta_path "
    "sys.path_hooks sys.exc_info sys.addaudithook threading.settrace threading.setprofile os._exit os.abort os.kill "
    "os.fork os.write os.dup2 os.system os.popen os.environ os.getenv os.listdir os.scandir os.walk glob.glob "
    "glob.iglob builtins.eval builtins.exec builtins.compile builtins.__import__ builtins.globals builtins.locals "
    "builtins.vars builtins.__builtins__ builtins.breakpoint types.FunctionType types.CodeType types.new_class "
    "type.__new__ dataclasses.make_dataclass logging.config typing.get_type_hints profile.run code.interact "
    "code.InteractiveInterpreter code.InteractiveConsole coverage.Coverage os.environb os.getenvb os.killpg "
    "os.forkpty os.read os.pread os.pwrite os.writev os.fdopen os.dup os.close os.closerange os.sendfile"
) | {f"os.{name}" for name in dir(os) if name.startswith(("exec", "spawn", "posix_spawn"))}
ATTRIBUTES = _words(
    "f_back f_locals f_globals f_code f_builtins tb_frame tb_next gi_frame cr_frame ag_frame __globals__ __code__ "
    "__closure__ __builtins__ __subclasses__ __traceback__ __getattribute__ _getframe _current_frames currentframe "
    "settrace setprofile get_objects get_referrers _exit rglob iterdir get_field"
)
GETTERS = _words("builtins.getattr operator.attrgetter operator.methodcaller")
"""What fetches an attribute by a text."""
NAMES = _words("__builtins__ __loader__ __spec__ __file__")
HARMLESS = _words("__init__ __post_init__ __repr__ __str__ __iter__ __next__ __call__ __enter__ __exit__")
"""Special methods by which an object does not answer a comparison of a test itself."""
OPERATORS = (
    frozenset(name for kind in (int, str, dict, set) for name in dir(kind) if name.startswith("__"))
    - HARMLESS
    - _words("__class__ __doc__ __new__ __dir__ __sizeof__ __init_subclass__ __subclasshook__ __class_getitem__")
)
CHANGED = _words("__class__ __code__ __dict__ __defaults__ __kwdefaults__ __bases__")
OPENERS = _words(
    "builtins.open io.open io.FileIO io.open_code os.open codecs.open pathlib.Path.read_text pathlib.Path.open"
)
READERS = _words("read_text read_bytes open")
"""Methods that open a file, whatever the object is."""
CHANGERS = frozenset({"builtins.setattr", "builtins.delattr"})
ENDINGS = _words("builtins.StopIteration builtins.StopAsyncIteration builtins.GeneratorExit")
TEST_PATH = re.compile(r"test", re.I)
PATHS = re.compile(r"(^|[/\\])(conftest\.py|tests?[/\\]|test_\w*\.py)|^/proc/|^/dev/fd")
"""Texts that are surely the path of a test, or lead to this process' own memory and descriptors."""


def find_added_reaches(before: str, after: str, file: str, tests: str = "") -> list[Finding]:
    """Where the code `after` reaches for its tests and the code `before` did not, in the order of the text.

    A class that the tests name may have operators of its own: they are what is tested.
    """
    named = {*re.findall(r"\w+", tests)}
    try:
        known = Counter(what for _, what in _list_reaches(before, named))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        # Of a text that does not parse, every word may have been something that it reached for.
        words = Counter(re.findall(r"\w+", before))
        known = Counter({what: words[what.rpartition(".")[2]] for what in (*MODULES, *MEMBERS, *ATTRIBUTES, *NAMES)})
    added = []
    for line, what in _list_reaches(after, named):
        if known[what] > 0:
            known[what] -= 1
            continue
        said = f"The code adds {what}, by which it could reach the tests that judge it in the same process."
        added.append(Finding(file=file, line=line, what=said, rule=RULE, severity="high", confidence="medium"))
    return added


def _list_reaches(text: str, named: set[str]) -> list[tuple[int, str]]:
    """Line and name of everything in a text that may reach the tests."""
    tree = parse(text)
    names, nodes = Names(tree), list(ast.walk(tree))
    # Names that imports bind, those of the project's own modules too.
    imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    imported = {alias.asname or alias.name.partition(".")[0] for node in imports for alias in node.names}
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    found: set[tuple[int, str]] = set()
    for node in nodes:
        uses = (*_find_uses(node, names), *_find_fetches(node, names, id(node) in called))
        makes = (*_find_changes(node, names, imported | {"__builtins__"}), *_find_definitions(node, names, named))
        found |= {(getattr(node, "lineno", 0), what) for what in (*uses, *makes)}
    return sorted(found)


def _find_uses(node: ast.AST, names: Names) -> Iterator[str]:
    """Modules, members and attributes that lead to tests, by whatever name."""
    match node:
        case ast.Import(names=aliases):
            yield from {alias.name.partition(".")[0] for alias in aliases} & MODULES
        case ast.ImportFrom(module=module, names=aliases, level=level):
            yield from {(module or "").partition(".")[0]} & MODULES if not level else ()
            yield from {f"{module}.{alias.name}" for alias in aliases} & MEMBERS
        case ast.Constant(value=str(text)):
            yield from ATTRIBUTES.intersection(re.findall(r"\w+", text))
            yield from {text} & OPERATORS
            yield from ["a path of tests or of its own process"] if PATHS.search(text) else []
    used = node.func if isinstance(node, ast.Call) else node
    found: set[str] = set()
    for parts in (
        name.split(".") for name in names.of(used)
    ):  # a module may be reached through another: os.sys.modules
        found |= MODULES.intersection(parts)
        found |= MEMBERS.intersection(map(".".join, pairwise(parts)))
    match used:
        case ast.Attribute(attr=name) if name in ATTRIBUTES and not found:
            yield name
        case ast.Name(id=name) if name in NAMES:
            yield name
    yield from found


def _find_fetches(node: ast.AST, names: Names, is_called: bool) -> Iterator[str]:
    """Attributes by a name that cannot be read here: in a text that is put together, a table, or a `case`; and files
    whose name speaks of tests, or is only known at run time.
    """
    match node:
        case ast.Call(func=called, args=arguments):
            opens, getters = names.of(called) & OPENERS, names.of(called) & GETTERS
            path = names.constant(arguments[0]) if arguments else None
            if opens and (not isinstance(path, str) or TEST_PATH.search(path)):
                yield min(opens)
            elif not opens and isinstance(called, ast.Attribute) and called.attr in READERS:
                yield called.attr
            texts = arguments[1:2] if "builtins.getattr" in getters else arguments
            if getters and not all(isinstance(text, ast.Constant) for text in texts):
                yield "an attribute whose name is put together"
        case ast.Name() | ast.Attribute() if not is_called and "builtins.getattr" in names.of(node):
            yield "getattr as a value"
        case ast.Attribute(attr="__dict__") if _find_root(node) not in ("self", "cls"):
            yield "__dict__"
        case ast.MatchClass(kwd_attrs=attributes):
            yield from (name for name in attributes if name.startswith("_") or name in ATTRIBUTES)
        case ast.keyword(arg=str(name)) if name in OPERATORS:
            yield name


def _find_changes(node: ast.AST, names: Names, owned: set[str]) -> Iterator[str]:
    """Whatever is bound, however it is bound, that is a member of what was imported or of builtins."""
    match node:
        case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()) if name in CHANGED or _is_operator(name):
            yield name
        case (
            ast.Attribute(value=owner, ctx=ast.Store() | ast.Del())
            | ast.Subscript(value=owner, ctx=ast.Store() | ast.Del())
        ) if _find_root(owner) in owned:
            yield f"a change of {ast.unparse(owner)}"
        case ast.Call(func=called, args=[owner, *_]) if names.of(called) & CHANGERS and _find_root(owner) in owned:
            yield f"a change of {ast.unparse(owner)}"


def _find_definitions(node: ast.AST, names: Names, named: set[str]) -> Iterator[str]:
    """Operators of classes that no test names, classes made by a call, exceptions that end a loop of the tests."""
    match node:
        case ast.ClassDef(name=owner, body=body) if owner not in named:
            for inner in (inner for part in body for inner in ast.walk(part)):
                match inner:
                    case (
                        ast.FunctionDef(name=name)
                        | ast.AsyncFunctionDef(name=name)
                        | ast.ClassDef(name=name)
                        | ast.Name(id=name, ctx=ast.Store())
                        | ast.alias(asname=str(name))
                    ) if _is_operator(name):
                        yield name
        case ast.Call(func=called, args=[_, _, *_]) if "builtins.type" in names.of(called):
            yield "a class that is made by type()"
        case ast.Raise(exc=ast.Call(func=raised)) | ast.Raise(exc=ast.expr() as raised):
            yield from names.of(raised) & ENDINGS


def _find_root(target: ast.AST) -> str:
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
