"""What the text of a module tells of a function without running it: who leads to it, and what it depends on.

Only names are read, those of the function and of the functions of its module that it leans on. What they reach in other
modules is not seen.
"""

import ast
from collections.abc import Collection, Sequence

from burnish.parsing import try_parse
from burnish.tasks.source import FUNCTIONS, Definition, all_functions, find_local_names

CHANGING = {
    "the clock": "now today utcnow time_ns monotonic perf_counter localtime gmtime ctime fromtimestamp mktime",
    "chance": "random randint randrange choice choices shuffle sample uniform uuid1 uuid4 urandom token_hex",
    "the machine": "environ getenv getcwd cwd gethostname getpid getuser cpu_count expanduser astimezone",
    "files": "open read_text read_bytes write_text write_bytes glob rglob listdir iterdir unlink mkdir rmdir",
    "other programs": "system popen Popen urlopen socket input",
}
WORDS = {word: kind for kind, words in CHANGING.items() for word in words.split()}
MODULES = {"time": "the clock", "random": "chance", "secrets": "chance", "subprocess": "other programs"}
SIDE_EFFECTS = ("the machine", "files", "other programs")
ESCAPES = {
    *("__import__", "eval", "exec", "compile", "open", "input", "breakpoint", "getattr", "globals", "locals", "vars"),
    *("__self__", "__globals__", "__builtins__", "__base__", "__bases__", "__mro__", "__subclasses__", "__loader__"),
    *("__code__", "__closure__", "__getattribute__", "__reduce__", "__reduce_ex__", "gi_frame", "f_globals", "f_back"),
}
"""Names by which an expression gets from plain values to everything else."""


def find_entry_points(text: str, function: str, tests: Sequence[str]) -> list[str]:
    """The names to call a function by: its own, or public ones that lead to one that is private and in no test.

    Those that tests name come first; of these, those that lead there by fewer steps.
    """
    if not is_private(function) or _is_in(tests, function):
        return [function]
    functions = _functions_in(text)
    found, step = [], [function]
    seen = {function}
    while step:
        wanted = {part for name in step for part in (name.rpartition(".")[2], name.partition(".")[0])}
        above = [name for name, node in functions.items() if name not in seen and wanted & _names_in(node)]
        found += [name for name in above if not is_private(name)]
        seen |= {*above}
        step = [name for name in above if is_private(name)]
    return sorted(found, key=lambda name: not _is_in(tests, name))


def is_private(function: str) -> bool:
    """Whether it, or its class, is named with an underscore; `__init__` and its like are part of what is offered."""
    return any(part.startswith("_") and not part.endswith("__") for part in function.split("."))


def find_nondeterminism(text: str, function: str) -> str:
    """What outside of its arguments decides on what a function gives: "the clock"; empty where nothing is seen.

    Where there is something, a test must not say what the function gives.
    """
    functions = _functions_in(text)
    seen: set[str] = set()
    waiting = [function]
    while waiting:
        name = waiting.pop()
        if name in seen or name not in functions:
            continue
        seen.add(name)
        used = _read_names(functions[name])
        if kind := next((kind for word, whole in used if (kind := _kind(word, whole))), ""):
            return kind
        owner = name.rpartition(".")[0]
        waiting += [word for word, _ in used] + [f"{owner}.{word}" for word, _ in used if owner]
    return ""


def has_side_effects(test: ast.AST, own: Collection[str] = ()) -> bool:
    """Whether a test could do more than compute: start programs, read files, run text, or get at what can.

    A written test is run by people without a sandbox. `own` are names of the code that is tested.
    """
    used = [(word, whole) for word, whole in _read_names(test) if word not in own]
    return any(word in ESCAPES or _kind(word, whole) in SIDE_EFFECTS for word, whole in used)


def find_raised_errors(text: str) -> set[str]:
    """The errors that a module raises by name: those it means to raise."""
    module = try_parse(text)
    raised = [node.exc for node in ast.walk(module) if isinstance(node, ast.Raise) and node.exc] if module else []
    heads = [node.func if isinstance(node, ast.Call) else node for node in raised]
    return {ast.unparse(head).rpartition(".")[2] for head in heads}


def find_raise_lines(text: str) -> set[int]:
    """The lines on which a module raises errors, or makes their words: what changes there may be words alone."""
    module = try_parse(text)
    nodes = list(ast.walk(module)) if module else []
    found: list[ast.stmt] = [node for node in nodes if isinstance(node, ast.Raise)]
    words = {part.id for node in found for part in ast.walk(node) if isinstance(part, ast.Name)}
    for node in nodes:
        if isinstance(node, ast.Assign):
            targets = {target.id for target in node.targets if isinstance(target, ast.Name)}
            found += [node] if targets & words else []
    return {line for node in found for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}


def _functions_in(text: str) -> dict[str, Definition]:
    module = try_parse(text)
    return all_functions(module) if module else {}


def _is_in(tests: Sequence[str], function: str) -> bool:
    return any(function.rpartition(".")[2] in test for test in tests)


def _names_in(node: ast.AST) -> set[str]:
    parts = [part for part in ast.walk(node) if isinstance(part, ast.Name | ast.Attribute)]
    return {part.id if isinstance(part, ast.Name) else part.attr for part in parts}


def _read_names(node: ast.AST) -> list[tuple[str, str]]:
    """Every name that is read, and every attribute, with the whole of what is named; those of inner functions too."""
    parts = list(ast.walk(node))
    bound = find_local_names(node) | {part.name for part in parts if isinstance(part, FUNCTIONS)}
    found: list[tuple[str, str]] = []
    for part in parts:
        if isinstance(part, ast.Attribute):
            found.append((part.attr, ast.unparse(part)))
        elif isinstance(part, ast.Name) and part.id not in bound:
            found.append((part.id, part.id))
    return found


def _kind(word: str, whole: str) -> str:
    head = whole.partition(".")[0]
    return WORDS.get(word, "") or (MODULES.get(head, "") if "." in whole else "")
