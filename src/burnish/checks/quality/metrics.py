"""The files of a project as the parts of the score see them, and the parts: a file is its tree, never its layout.

How hard it is to follow: radon's cyclomatic complexity of each function, and its maintainability index of the code as
Python itself would write it, without docstrings, because radon's counts lines. What it says: types and docstrings of
public names. What could go: unused imports and variables, statements after a return, private names that nobody uses;
and runs of statements with the same shape, whatever their variables are called.
"""

import ast
import math
import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import count, pairwise
from statistics import fmean
from typing import NamedTuple, TypeGuard

from radon.metrics import mi_visit
from radon.visitors import ComplexityVisitor

from burnish.checks.check import Finding, Severity
from burnish.checks.project import Project
from burnish.errors import CheckError, blame
from burnish.parsing import PARSE_ERRORS, parse
from burnish.tasks.source import find_definition, source_of
from burnish.text import one_line, plural

Function = ast.FunctionDef | ast.AsyncFunctionDef
Documented = Function | ast.ClassDef | ast.Module
SMALLEST = 20
"""Statements that a project is taken to have at least, so that one slip in a short function is a slip."""
DEAD = ("F401", "F811", "F841")
"""Ruff's rules for unused imports, definitions and variables: the part for dead code counts these, lint does not."""
SCALE = 20.0
"""This many points against the code in 100 statements leave 37 of 100; a quarter as many leave 78."""
STEPS = ((5.0, 100.0), (10.0, 75.0), (20.0, 30.0), (30.0, 0.0))
"""Complexity and its score, straight lines between: radon's rank A is fine, C is hard, E is lost."""
MOST = 10
"""The end of radon's rank B; a function above it is a finding."""
GOOD_INDEX = 40.0
"""A maintainability index that deserves all the points; radon's rank A begins at 20."""
ENDS = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_WORD = re.compile(r"[^\W\d]\w*")
LONGEST_NAME_TEXT = 200
"""A text up to this long may name things: `getattr`'s, `__all__`'s, an annotation's in quotes."""
WINDOW = 6
"""Statements in a row that must be alike to count as a duplicate."""
Dead = tuple[int, Finding]
"""How many statements are dead, and where."""
DOCUMENTED_ELSEWHERE = ("overload", "override", "setter", "deleter")
"""Decorators of functions whose docstring stands at another one."""


class Module:
    """A parsed file. Nothing here depends on line breaks, comments, quotes or the text of docstrings."""

    def __init__(self, file: str, text: str, functions: Sequence[str] = ()) -> None:
        self.file = file
        self.text = text
        self.tree = parse(text)
        self.is_part = bool(functions)
        """Whether only these functions of the file are judged: who uses them cannot be seen then."""
        if functions:
            nodes = [node for name in functions if (node := find_definition(self.tree, name))]
            self.text = "\n".join(textwrap.dedent(source_of(text, node)) for node in nodes)
            self.tree.body = [*nodes]

    @cached_property
    def statements(self) -> int:
        """How much there is: statements, docstrings not among them."""
        return count_statements(self.tree)

    @cached_property
    def functions(self) -> tuple[tuple[str, Function], ...]:
        """Functions and methods with their dotted names; those inside a function belong to it."""
        return tuple(_list_functions(self.tree, ""))

    def finding(self, line: int, what: str, rule: str, severity: Severity = "low") -> Finding:
        """Something to look at in this file."""
        return Finding(file=self.file, line=line, what=what, rule=rule, severity=severity)


class Part(NamedTuple):
    """What one part of the score says."""

    name: str
    score: float | None
    """None where there was nothing that it could judge; the others then weigh more."""
    why: str
    findings: tuple[Finding, ...] = ()


def read_modules(project: Project) -> list[Module]:
    """Every source of the project. Raises CheckError that names the first file that is no Python."""
    modules = []
    for source in project.sources:
        try:
            modules.append(Module(str(source), project.text(source), project.functions))
        except (OSError, *PARSE_ERRORS) as error:
            place = f" line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
            raise CheckError(f"{one_line(str(source))}{place} could not be read: {one_line(str(error))}") from error
    return modules


def score_points(points: float, modules: Sequence[Module]) -> float:
    """A score that falls with the points against the code in 100 statements, fast at first and never below 0."""
    size = max(SMALLEST, sum(module.statements for module in modules))
    return 100.0 * math.exp(-100.0 * points / size / SCALE)


def has_docstring(node: ast.AST) -> TypeGuard[Documented]:
    """Whether the first statement of a node is its docstring."""
    return isinstance(node, Documented) and ast.get_docstring(node, clean=False) is not None


def count_statements(node: ast.AST) -> int:
    """Statements in and below a node, itself too if it is one; docstrings do not count."""
    return sum(isinstance(inner, ast.stmt) - has_docstring(inner) for inner in ast.walk(node))


def list_blocks(node: ast.AST) -> Iterator[Sequence[ast.stmt]]:
    """The lists of statements directly in a node: a body, an else, a finally, the cases of a match."""
    for field in ("body", "orelse", "finalbody"):
        block = getattr(node, field, None)
        if isinstance(block, list) and block:
            yield block
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield part.body


def _list_functions(node: ast.AST, prefix: str) -> Iterator[tuple[str, Function]]:
    for block in list_blocks(node):
        for statement in block:
            if isinstance(statement, Function):
                yield prefix + statement.name, statement
            elif isinstance(statement, ast.ClassDef):
                yield from _list_functions(statement, f"{prefix}{statement.name}.")
            else:
                yield from _list_functions(statement, prefix)


def score_complexity(modules: Sequence[Module]) -> Part:
    """Each function by its paths, long ones weighing more."""
    scores, sizes, findings = [], [], []
    for module in modules:
        for name, function in module.functions:
            with blame(CheckError, f"{one_line(module.file)} cannot be measured"):
                paths = int(ComplexityVisitor.from_ast(function).functions[0].complexity)
            scores.append(interpolate(STEPS, paths))
            sizes.append(count_statements(function))
            if paths > MOST:
                hard = f"above {MOST} a function is hard to follow and to test"
                what = f"{name} has a cyclomatic complexity of {paths}; {hard}."
                severity: Severity = "medium" if paths > 2 * MOST else "low"
                findings.append(module.finding(function.lineno, what, "complexity", severity))
    if not scores:
        return Part("complexity", None, "there is no function")
    said = f"{plural(len(findings), 'function')} above {MOST}" if findings else f"no function above {MOST}"
    return Part("complexity", fmean(scores, sizes), f"cyclomatic complexity: {said}", tuple(findings))


def interpolate(steps: Sequence[tuple[float, float]], place: float) -> float:
    """The height of a line through the steps; level before the first and after the last."""
    for (left, high), (right, low) in pairwise(steps):
        if place <= right:
            return high + (low - high) * max(0.0, place - left) / (right - left)
    return steps[-1][1]


def score_maintainability(modules: Sequence[Module]) -> Part:
    """Each file by radon's index, long ones weighing more."""
    full = [module for module in modules if module.statements]
    indexes = [measure_maintainability(module) for module in full]
    lowest, worst = min(zip(indexes, full, strict=True), key=lambda pair: pair[0])
    scores = [min(100.0, 100.0 * one / GOOD_INDEX) for one in indexes]
    why = f"maintainability index: lowest {lowest:.0f}, {one_line(worst.file)}"
    return Part("maintainability", fmean(scores, [module.statements for module in full]), why)


def measure_maintainability(module: Module) -> float:
    """Radon's maintainability index of a file, 0 to 100: the same for every layout of the code."""
    with blame(CheckError, f"{one_line(module.file)} cannot be measured"):
        tree = parse(module.text)
        for node in filter(has_docstring, ast.walk(tree)):
            node.body = node.body[1:] or [ast.Pass()]
        return float(mi_visit(ast.unparse(ast.fix_missing_locations(tree)), multi=False))


def score_types(modules: Sequence[Module]) -> Part:
    """The share of parameters and results of public functions that have a type."""
    typed, asked, findings = 0, 0, []
    for module in modules:
        for name, function in module.functions:
            if not is_public(name.removesuffix(".__init__")):
                continue
            arguments = function.args
            is_method = "." in name and "staticmethod" not in _name_decorators(function)
            places = [*[*arguments.posonlyargs, *arguments.args][is_method:], *arguments.kwonlyargs]
            places += filter(None, (arguments.vararg, arguments.kwarg))
            types = {one.arg: one.annotation for one in places}
            if not name.endswith("__init__"):
                types["the result"] = function.returns
            missing = [place for place, annotation in types.items() if annotation is None]
            typed, asked = typed + len(types) - len(missing), asked + len(types)
            if missing:
                what = f"{name} does not say the type of {', '.join(missing)}."
                findings.append(module.finding(function.lineno, what, "types"))
    if not asked:
        return Part("types", None, "there is no public function")
    why = f"{typed} of {asked} parameters and results of public functions have a type"
    return Part("types", 100.0 * typed / asked, why, tuple(findings))


def score_docstrings(modules: Sequence[Module]) -> Part:
    """The share of public functions, methods and classes that say what they do."""
    asked, findings = 0, []
    for module in modules:
        named: list[tuple[str, Function | ast.ClassDef]] = [
            (name, function) for name, function in module.functions if not _is_documented_elsewhere(function)
        ]
        named += [(node.name, node) for node in module.tree.body if isinstance(node, ast.ClassDef)]
        public = [(name, node) for name, node in named if is_public(name)]
        asked += len(public)
        for name, node in public:
            if not (ast.get_docstring(node) or "").strip():
                findings.append(module.finding(node.lineno, f"{name} has no docstring.", "docstring"))
    if not asked:
        return Part("docstrings", None, "there is no public name")
    documented = asked - len(findings)
    why = f"{documented} of {asked} public functions and classes have a docstring"
    return Part("docstrings", 100.0 * documented / asked, why, tuple(findings))


def _is_documented_elsewhere(function: Function) -> bool:
    """Whether its docstring stands at another one, or its body is `...`, as in a Protocol: the signature says it."""
    match function.body:
        case [ast.Expr(value=ast.Constant(value=only))] if only is ...:
            return True
    return not _name_decorators(function).isdisjoint(DOCUMENTED_ELSEWHERE)


def is_public(name: str) -> bool:
    """Whether no part of a dotted name begins with an underscore."""
    return not any(part.startswith("_") for part in name.split("."))


def _name_decorators(function: Function) -> set[str]:
    """The last words of the decorators' names: "setter" of `@size.setter`."""
    called = [one.func if isinstance(one, ast.Call) else one for one in function.decorator_list]
    return {ast.unparse(one).rpartition(".")[2] for one in called}


class Statement(NamedTuple):
    """One statement without those inside it: where it stands, how deep it lies, and its shape."""

    file: str
    line: int
    depth: int
    shape: tuple[str, ...]
    """The tree in words; a name of the function's own stands as "=name"."""


def score_dead_code(modules: Sequence[Module], ruff: Sequence[Finding]) -> Part:
    """Dead statements in 100. What only looks unused from here, public names and decorated ones, is left alone."""
    uses = sum((count_references(module.tree) for module in modules), Counter[str]())
    found = [pair for module in modules for pair in _find_unreachable(module)]
    found += [pair for module in modules if not module.is_part for pair in _find_unused(module, uses)]
    dead = sum(finding.rule in DEAD for finding in ruff) + sum(size for size, _ in found)
    why = f"{plural(dead, 'statement')} of no use" if dead else "nothing unused was found"
    return Part("dead code", score_points(dead, modules), why, tuple(finding for _, finding in found))


def count_references(node: ast.AST) -> Counter[str]:
    """How often each name is used in and below a node, in short texts too."""
    found: Counter[str] = Counter()
    for inner in ast.walk(node):
        match inner:
            case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name, ctx=ast.Load()):
                found[name] += 1
            case ast.ImportFrom(names=aliases):
                found.update(alias.name for alias in aliases)
            case ast.Constant(value=str(text)) if len(text) <= LONGEST_NAME_TEXT and "_" in text:
                found.update(_WORD.findall(text))
    return found


def _find_unreachable(module: Module) -> Iterator[Dead]:
    for node in ast.walk(module.tree):
        for block in list_blocks(node):
            end = next((place for place, one in enumerate(block) if isinstance(one, ENDS)), len(block))
            after = block[end + 1 :]
            # `return` and then `yield` is how an empty generator is written.
            yields = any(isinstance(node, ast.Yield | ast.YieldFrom) for one in after for node in ast.walk(one))
            if after and not yields:
                what = "Nothing reaches this line: the statement before it always leaves."
                yield sum(map(count_statements, after)), module.finding(after[0].lineno, what, "dead-code")


def _find_unused(module: Module, uses: Counter[str]) -> Iterator[Dead]:
    """Private functions, classes and variables of a file, and private methods of classes that stand alone."""
    body = list(module.tree.body)
    if not any(_asks_for_any_name(node) for node in ast.walk(module.tree)):
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and not node.bases and not node.decorator_list:
                body += [inner for inner in node.body if isinstance(inner, Function | ast.ClassDef)]
    for statement in sorted(body, key=lambda one: one.lineno):
        match statement:
            case (
                ast.FunctionDef(name=name, decorator_list=[])
                | ast.AsyncFunctionDef(name=name, decorator_list=[])
                | ast.ClassDef(name=name, decorator_list=[])
            ):
                own = count_references(statement)[name]
            case ast.Assign(targets=[ast.Name(id=name)]):
                own = 0
            case _:
                continue
        if name.startswith("_") and not name.endswith("_") and uses[name] <= own:
            what = f"{name} is private and nothing uses it."
            yield count_statements(statement), module.finding(statement.lineno, what, "dead-code")


def _asks_for_any_name(node: ast.AST) -> bool:
    """Whether it is `getattr` with a name that is put together: any method may be meant."""
    match node:
        case ast.Call(func=ast.Name(id="getattr"), args=[_, wanted, *_]):
            return not isinstance(wanted, ast.Constant)
    return False


def score_duplication(modules: Sequence[Module]) -> Part:
    """Repeated statements in 100; the first of several copies is not counted."""
    # The statements of each function in order, and those of the file outside functions, values kept.
    runs = []
    for module in modules:
        outside = [(depth, one) for depth, one in _flatten(module.tree, 0) if not _defines(one)]
        runs.append([Statement(module.file, s.lineno, depth, _shape(s, set(), True)) for depth, s in outside])
        for _, function in module.functions:
            # Parameters and variables of a function are what a copy may call otherwise.
            nodes = list(ast.walk(function))
            own = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
            own |= {node.arg for node in nodes if isinstance(node, ast.arg)}
            inside = _flatten(function, 0)
            runs.append([Statement(module.file, s.lineno, depth, _shape(s, own, False)) for depth, s in inside])
    copies = find_copies(runs)
    why = f"{plural(len(copies), 'statement')} repeated from elsewhere" if copies else "no code stands there twice"
    findings = []
    for which, place in sorted(copies):
        if (which, place - 1) not in copies:  # those that follow each other are one finding
            length = next(length for length in count(1) if (which, place + length) not in copies)
            here, there = runs[which][place], copies[which, place]
            what = f"{plural(length, 'statement')} from here repeat those at {one_line(there.file)} line {there.line}."
            findings.append(Finding(file=here.file, line=here.line, what=what, rule="duplication", severity="low"))
    return Part("duplication", score_points(len(copies), modules), why, tuple(findings))


def find_copies(runs: Sequence[list[Statement]]) -> dict[tuple[int, int], Statement]:
    """The first copy of every statement that lies in a window seen before, by its run and its place in that."""
    first: dict[tuple[object, ...], tuple[int, int]] = {}
    copies: dict[tuple[int, int], Statement] = {}
    for which, run in enumerate(runs):
        for start in range(len(run) - WINDOW + 1):
            window = run[start : start + WINDOW]
            # Equal for two windows that differ in what their variables are called, and in nothing else.
            own = dict.fromkeys(word for one in window for word in one.shape if word[0] == "=")
            numbers = {word: f"#{number}" for number, word in enumerate(own)}
            top = min(one.depth for one in window)
            key = tuple((one.depth - top, *(numbers.get(word, word) for word in one.shape)) for one in window)
            seen_run, seen_start = first.setdefault(key, (which, start))
            if seen_run != which or start - seen_start >= WINDOW:
                for step in range(WINDOW):
                    copies.setdefault((which, start + step), runs[seen_run][seen_start + step])
    return copies


def _flatten(node: ast.AST, depth: int) -> Iterator[tuple[int, ast.stmt]]:
    """The statements below a node in order, each before those inside it; a file's definitions are not looked into."""
    docstring = node.body[0] if has_docstring(node) else None
    for block in list_blocks(node):
        for statement in block:
            if statement is not docstring:
                yield depth, statement
                if depth or not isinstance(node, ast.Module) or not _defines(statement):
                    yield from _flatten(statement, depth + 1)


def _defines(node: ast.AST) -> bool:
    return isinstance(node, Function | ast.ClassDef | ast.Import | ast.ImportFrom)


def _shape(statement: ast.stmt, own: set[str], keep_values: bool) -> tuple[str, ...]:
    """The tree of a statement in words, without the statements inside it."""
    words: list[str] = []
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        words.append(type(node).__name__)
        match node:
            case ast.Name(id=name):
                words.append(f"={name}" if name in own else f".{name}")
            case ast.arg(arg=name):
                words.append(f"={name}")
            case ast.Attribute(attr=name) | ast.keyword(arg=name):
                words.append(f".{name}")
            case ast.Constant(value=value):
                words.append(f".{value!r}" if keep_values else f".{type(value).__name__}")
        inner = [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt | ast.ExceptHandler)]
        waiting.extend(reversed(inner))
    return tuple(words)
