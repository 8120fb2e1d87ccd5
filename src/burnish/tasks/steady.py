"""Whether a function gives tomorrow, and on another machine, what it gives now: only then may a test say what it gives.

Read from the text alone: the names that it and the functions of its module that it leans on mention. What they reach in
other modules is not seen.
"""

import ast
from collections.abc import Collection

from burnish.tasks.definitions import FUNCTIONS, all_functions
from burnish.tasks.syntax import parsed

CHANGING = {
    "the clock": "now today utcnow time_ns monotonic perf_counter localtime gmtime ctime fromtimestamp mktime",
    "chance": "random randint randrange choice choices shuffle sample uniform uuid1 uuid4 urandom token_hex",
    "the machine": "environ getenv getcwd cwd gethostname getpid getuser cpu_count expanduser astimezone",
    "files": "open read_text read_bytes write_text write_bytes glob rglob listdir iterdir unlink mkdir rmdir",
    "other programs": "system popen Popen urlopen socket input",
}
WORDS = {word: kind for kind, words in CHANGING.items() for word in words.split()}
MODULES = {"time": "the clock", "random": "chance", "secrets": "chance", "subprocess": "other programs"}


HANDS = ("the machine", "files", "other programs")
REACHING = {
    *("__import__", "eval", "exec", "compile", "open", "input", "breakpoint", "getattr", "globals", "locals", "vars"),
    *("__self__", "__globals__", "__builtins__", "__base__", "__bases__", "__mro__", "__subclasses__", "__loader__"),
    *("__code__", "__closure__", "__getattribute__", "__reduce__", "__reduce_ex__", "gi_frame", "f_globals", "f_back"),
}
"""Names by which an expression gets from plain values to everything else."""


def leans_on(text: str, function: str) -> str:
    """What outside of its arguments decides on what a function gives: "the clock"; empty where nothing is seen."""
    module = parsed(text)
    functions = all_functions(module) if module else {}
    seen: set[str] = set()
    waiting = [function]
    while waiting:
        name = waiting.pop()
        if name in seen or name not in functions:
            continue
        seen.add(name)
        used = list(_mentioned(functions[name]))
        if kind := next((kind for word, whole in used if (kind := _kind(word, whole))), ""):
            return kind
        owner = name.rpartition(".")[0]
        waiting += [word for word, _ in used] + [f"{owner}.{word}" for word, _ in used if owner]
    return ""


def reaches_out(test: ast.AST, own: Collection[str] = ()) -> bool:
    """Whether a test could do more than compute: start programs, read files, run text, or get at what can.

    A written test is run by people without a sandbox. `own` are names of the code that is tested.
    """
    used = [(word, whole) for word, whole in _mentioned(test) if word not in own]
    return any(word in REACHING or _kind(word, whole) in HANDS for word, whole in used)


def raised_in(text: str) -> set[str]:
    """The errors that a module raises by name: those it means to raise."""
    module = parsed(text)
    raised = [node.exc for node in ast.walk(module) if isinstance(node, ast.Raise) and node.exc] if module else []
    heads = [node.func if isinstance(node, ast.Call) else node for node in raised]
    return {ast.unparse(head).rpartition(".")[2] for head in heads}


def lines_of_raises(text: str) -> set[int]:
    """The lines on which a module raises errors, or makes their words: what changes there may be words alone."""
    module = parsed(text)
    nodes = list(ast.walk(module)) if module else []
    raised = [node for node in nodes if isinstance(node, ast.Raise)]
    words = {part.id for node in raised for part in ast.walk(node) if isinstance(part, ast.Name)}
    named = [node for node in nodes if isinstance(node, ast.Assign) and _binds(node) & words]
    return {line for node in (*raised, *named) for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}


def _binds(node: ast.Assign) -> set[str]:
    return {target.id for target in node.targets if isinstance(target, ast.Name)}


def _mentioned(node: ast.AST) -> list[tuple[str, str]]:
    """Every name that is read, and every attribute, with the whole of what is named; those of inner functions too."""
    inner = [part for part in ast.walk(node) if isinstance(part, ast.Name | ast.Attribute)]
    own = {part.name for part in ast.walk(node) if isinstance(part, FUNCTIONS)}
    bound = own | {part.arg for part in ast.walk(node) if isinstance(part, ast.arg)}
    bound |= {part.id for part in inner if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    names = [part.id if isinstance(part, ast.Name) else part.attr for part in inner]
    known = [isinstance(part, ast.Name) and part.id in bound for part in inner]
    return [(name, ast.unparse(part)) for name, part, own_ in zip(names, inner, known, strict=True) if not own_]


def _kind(word: str, whole: str) -> str:
    head = whole.partition(".")[0]
    return WORDS.get(word, "") or (MODULES.get(head, "") if "." in whole else "")
