"""The code in an answer: taken out, put right where that needs no guess, and otherwise what is wrong with it.

The rule: what is taken parses and defines what was asked for. Nothing that was cut off is passed off as whole. Imports
that it forgot are added: small models use `re`, `List` and `pd` without saying where they come from.
"""

import ast
import builtins
import difflib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from operator import methodcaller

from burnish.agent.answer import forms
from burnish.agent.answer.forms import detect_language, find_blocks, is_open, readings
from burnish.events import Frozen
from burnish.packages.names import PACKAGE_OF, module_provider, usual_package
from burnish.parsing import PARSE_ERRORS, parse, try_parse
from burnish.tasks.repair import repairable_names, signature_of
from burnish.tasks.source import (
    DEFINITIONS,
    FUNCTIONS,
    IMPORTS,
    find_bound_names,
    find_definition,
    find_local_names,
)
from burnish.text import strip_controls

SAME_FUNCTION = 0.5
"""How much an answer must resemble a function of the file to be taken for a repair of it."""
_PYTHON_TAGS = {"", "python", "py", "python3", "pycon", "diff", "patch", "text", "plaintext", "txt", "code"}
_PYTHON = re.compile(r"(?:python3?|py)?(?!\w)")
_TALK = {"print", "input", "exit", "quit"}
_REFUSAL = re.compile(
    r"\b(?:I(?:'|’)?\s?(?:a)?m sorry|I (?:cannot|can(?:'|’)t|am unable|am not able|won(?:'|’)t)|As an AI)\b",
    re.IGNORECASE,
)
MODULES = (
    "bisect collections copy csv datetime decimal fractions functools heapq itertools json math operator os random re "
    "statistics string sys textwrap time typing"
)
HOMES = {
    "typing": "Any Callable Dict Generator Iterable Iterator List Optional Sequence Set Tuple Union",
    "collections": "Counter OrderedDict defaultdict deque namedtuple",
    "functools": "cache cmp_to_key lru_cache partial reduce",
    "itertools": "accumulate chain combinations groupby permutations product zip_longest",
    "heapq": "heapify heappop heappush nlargest nsmallest",
    "math": "ceil floor sqrt",
    "fractions": "Fraction",
    "decimal": "Decimal",
    "dataclasses": "dataclass field",
    "copy": "deepcopy",
}
KNOWN = {module: f"import {module}" for module in MODULES.split()} | {
    name: f"from {home} import {name}" for home, names in HOMES.items() for name in names.split()
}
ALIASES = {
    "np": "numpy",
    "nx": "networkx",
    "pd": "pandas",
    "pl": "polars",
    "plt": "matplotlib.pyplot",
    "px": "plotly.express",
    "sns": "seaborn",
    "tf": "tensorflow",
    "xr": "xarray",
}
"""Short names under which everybody imports these modules."""
CLASSES = {"pandas": "DataFrame Series Timestamp", "numpy": "ndarray", "bs4": "BeautifulSoup"}


class AnswerFault(StrEnum):
    """Why an answer cannot be run as what was asked for."""

    NONE = ""
    NO_CODE = "no_code"
    NOT_PARSED = "not_parsed"
    NOT_DEFINED = "not_defined"
    OTHER_SIGNATURE = "other_signature"
    OTHER_LANGUAGE = "other_language"
    DECLINED = "declined"
    CUT = "cut"
    LINES_MISSING = "lines_missing"
    NO_ANSWER = "no_answer"


class Answer(Frozen):
    """The code in an answer. Usable when there is no fault."""

    code: str
    fault: AnswerFault = AnswerFault.NONE
    problem: str = ""
    """The fault in one sentence, for people and for the model."""
    mended: str = ""
    """What had to be done to it: "taken out of a JSON wrapper". Empty when the form was right."""
    place: str = ""
    """The function of the file that it repairs, where that is another than the one asked for."""


def read_answer(
    answer: str,
    entry_point: str,
    *,
    signature: str = "",
    base: str = "",
    also: tuple[str, ...] = (),
    ended: str = "stop",
) -> Answer:
    """The code in an answer, put right where it can be without a call.

    `signature` lets a bare body be placed, `base` (the code that was shown) a diff or a few changed lines.
    `ended` is how the answer ended; one that stopped at its token limit is not taken for whole.
    A method, "Cart.total", is taken by itself: whoever asked for it knows its class.
    """
    owner, dot, name = entry_point.rpartition(".")
    reader = _AnswerReader(name, signature.removeprefix(owner + dot) or name, base, also, ended == "length")
    for code, how in reader.candidates(answer):
        if not find_problem(code, reader.signature, also):
            return Answer(code=code, mended=how)
    code = extract_code(answer, name)  # a whole answer that it can read is never turned down here
    fault, problem = find_fault(code, reader.signature, also)
    language = detect_language(code or answer, [tag for tag, _ in find_blocks(answer)])
    if reader.is_cut and is_open(answer):
        fault, problem = AnswerFault.CUT, "the answer was cut off at its token limit"
    # Code that is Python with another signature is no sign of another language.
    elif language and fault in (AnswerFault.NO_CODE, AnswerFault.NOT_PARSED, AnswerFault.NOT_DEFINED):
        fault, problem = AnswerFault.OTHER_LANGUAGE, f"the answer is {language}, not Python"
    elif not code and _REFUSAL.search(answer):
        fault, problem = AnswerFault.DECLINED, "the model declined to answer"
    return Answer(code=code, fault=fault, problem=problem)


def read_repair_elsewhere(answer: str, base: str) -> Answer | None:
    """The code in an answer that repairs another function of the file than it was asked to: the fault may be there.

    Of several methods of that name it is the one that the answer resembles most. None where there is none like it.
    """
    trees = [tree for block in python_blocks(answer) if (tree := try_parse(block))]
    written = {node.name: ast.unparse(node) for tree in trees for node in tree.body if isinstance(node, FUNCTIONS)}
    module, ranked = try_parse(base), []
    for name in repairable_names(base):
        node, text = find_definition(module, name), written.get(name.rpartition(".")[2], "")
        if node and text:
            ranked.append((difflib.SequenceMatcher(None, ast.unparse(node), text).ratio(), name))
    likeness, name = max(ranked, default=(0.0, ""))
    if likeness < SAME_FUNCTION:
        return None
    found = read_answer(answer, name, signature=signature_of(base, name))
    return None if found.fault else found.model_copy(update={"place": name})


@dataclass(frozen=True)
class _AnswerReader:
    """Reads answers in every form that can hold what was asked for."""

    name: str
    signature: str
    base: str
    also: tuple[str, ...]
    is_cut: bool

    def candidates(self, answer: str) -> Iterator[tuple[str, str]]:
        """Every way to read the answer, the plainest first, with what was done in words.

        Whole blocks come first; then each fix on every block.
        """
        # The order is from what changes least to what guesses most: the first reading that can be used is taken.
        fixes: list[tuple[Callable[[str], str], str]] = [
            (forms.fix_margin, "moved to the left edge"),
            (forms.fix_session, "the prompts of a Python session left out"),
            (forms.fix_line_numbers, "line numbers left out"),
            (partial(forms.fix_diff, base=self.base), "a diff applied"),
            (methodcaller("translate", forms.PLAIN_QUOTES), "typographic quotes and spaces made plain"),
            (forms.fix_tabs, "tabs made spaces"),
            (forms.fix_prose, "the prose around it left out"),
            (partial(forms.fix_method, name=self.name), "the method taken out of its class"),
        ]
        if self.base:
            fixes.append((partial(forms.fix_changed_lines, base=self.base), "the changed lines put in their place"))
        if "(" in self.signature:
            fixes.append((partial(forms.fix_body, signature=self.signature), "the body put under its first line"))
        for text, how in readings(answer):
            blocks = find_blocks(text)
            if self.is_cut and is_open(text):
                yield from self._whole_part(blocks[-1][1] if blocks else text, how)
                continue
            python = [block for tag, block in blocks if tag in _PYTHON_TAGS] if blocks else [text]
            yield from self._choose(python, how)
            for fix, words in fixes:
                fixed = [block for block in map(fix, python) if block]
                yield from self._choose(fixed, f"{how}, {words}" if how else words)

    def _choose(self, blocks: list[str], how: str) -> Iterator[tuple[str, str]]:
        """The last block that defines the name and is more than a stub, with what it leans on in other blocks.

        Later blocks correct earlier ones, so the last is the one that counts.
        """
        parsed = [(block, tree) for block, tree in zip(blocks, map(try_parse, blocks), strict=True) if tree]
        holding = [(not self._is_stub(tree), at) for at, (_, tree) in enumerate(parsed) if self._definitions(tree)]
        if not holding:
            return
        _, at = max(holding)
        chosen, tree = parsed[at]
        # Models put helpers and imports into blocks of their own, mostly above the function.
        missing = (_list_used_names(tree) | {*self.also}) - _list_bound_names(tree)
        others: list[str] = []
        for block, tree in [*reversed(parsed[:at]), *parsed[at + 1 :]]:
            if _list_bound_names(tree) & missing and not self._definitions(tree):
                others.insert(0, block.strip("\n") + "\n")
                missing = (missing | _list_used_names(tree)) - _list_bound_names(tree)
        words = [how] if how else []
        words += ["the last of several versions taken"] if len(holding) > 1 else []
        words += ["several blocks joined"] if others else []
        yield strip_examples("\n\n".join([*others, chosen]), self.name), ", ".join(words)

    def _whole_part(self, text: str, how: str) -> Iterator[tuple[str, str]]:
        """Of an answer that was cut: what is whole beyond doubt, because examples of its use had begun below it."""
        lines = text.split("\n")
        example = re.compile(rf"print\b|assert\b|if __name__|#|{re.escape(self.name)}\(")
        for end in range(len(lines) - 1, 0, -1):
            if not lines[end].strip() or lines[end][0].isspace():
                continue
            tree = try_parse("\n".join(lines[:end]))
            if tree and self._definitions(tree) and example.match(lines[end]):
                words = "the examples below it, which were cut off, left out"
                yield strip_examples("\n".join(lines[:end]), self.name), f"{how}, {words}" if how else words

    def _definitions(self, tree: ast.Module) -> list[ast.stmt]:
        """Where the name is defined; that it is imported shows the code at work and no more."""
        return [node for node in tree.body if getattr(node, "name", None) == self.name]

    def _is_stub(self, tree: ast.Module) -> bool:
        """Whether the definition only says that something would come here."""
        found = self._definitions(tree)[-1]
        return isinstance(found, ast.FunctionDef) and all(
            isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
            for node in found.body
        )


def _list_bound_names(tree: ast.Module) -> set[str]:
    return {name for node in tree.body for name in find_bound_names(node)}


def _list_used_names(tree: ast.Module) -> set[str]:
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    return {name for name in names if not hasattr(builtins, name)}


def extract_code(answer: str, entry_point: str) -> str:
    """The module text in an answer: the block that defines the entry point, without prints, tests and examples."""
    blocks = python_blocks(answer)
    defines = re.compile(rf"^(?:async\s+)?(?:def|class)\s+{re.escape(entry_point)}\b", re.MULTILINE)
    chosen = next((block for block in blocks if defines.search(block)), blocks[0] if blocks else "")
    return strip_examples(chosen, entry_point)


def python_blocks(answer: str) -> list[str]:
    """The fenced blocks that may be Python; without any, the text from its first line that looks like code."""
    text = strip_controls(answer)
    blocks = [block for language, block in find_blocks(text) if _PYTHON.match(language)]
    starts = re.search(r"^(?:def |class |import |from |@|assert )", text, re.MULTILINE)
    return blocks or ([text[starts.start() :]] if starts else [])


def strip_examples(text: str, entry_point: str) -> str:
    """The definitions of a block and what they lean on, each with the comments right above it.

    Prints, tests and calls of the entry point are left out; a block that does not parse stays as it is.
    """
    tree = try_parse(text)
    if tree is None:
        return text.strip() + "\n" if text.strip() else ""
    lines = text.split("\n")
    parts: list[str] = []
    for node in tree.body:
        is_definition = isinstance(node, DEFINITIONS)
        if not is_definition and not isinstance(node, ast.Import | ast.ImportFrom) and _is_example(node, entry_point):
            continue
        start = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", []))]) - 1
        while start and lines[start - 1].startswith("#"):
            start -= 1
        gap = "\n\n" if parts and is_definition else ""
        parts.append(gap + "\n".join(lines[start : node.end_lineno]) + "\n")
    return "".join(parts)


def _is_example(node: ast.stmt, entry_point: str) -> bool:
    """Whether a statement only shows the code at work: prints, tests, calls of the entry point, a loose string."""
    if isinstance(node, ast.Assert) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        return True
    called = {part.func.id for part in ast.walk(node) if isinstance(part, ast.Call) and isinstance(part.func, ast.Name)}
    used = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return bool(called & {entry_point, *_TALK}) or "__name__" in used


def extract_signature(answer: str) -> str:
    """The first `def` line in an answer as "name(parameters)"; empty if there is none."""
    for match in re.finditer(r"def\s+[A-Za-z_]\w*\s*\(.*", strip_controls(answer)):
        line = match[0].rstrip("` ").rstrip(":") + ": pass"
        tree = try_parse(line)
        if tree and isinstance(tree.body[0], ast.FunctionDef):
            return f"{tree.body[0].name}({ast.unparse(tree.body[0].args)})"
    return ""


def find_problem(code: str, signature: str, also: tuple[str, ...] = ()) -> str:
    """Why the code cannot be run as what was asked for; empty if it can. `also` must be defined in it as well."""
    return find_fault(code, signature, also)[1]


def find_fault(code: str, signature: str, also: tuple[str, ...] = ()) -> tuple[AnswerFault, str]:
    """As `find_problem`, with the kind of the fault."""
    if not code.strip():
        return AnswerFault.NO_CODE, "the answer holds no code"
    try:
        tree = parse(code)
    except SyntaxError as error:  # in the parser's own words, which models know best, the line last
        return AnswerFault.NOT_PARSED, f"the code does not parse: {error.msg} (line {error.lineno})"
    except PARSE_ERRORS as error:
        return AnswerFault.NOT_PARSED, f"the code does not parse: {str(error) or type(error).__name__}"
    name = signature.split("(")[0]
    found = next((node for node in tree.body if getattr(node, "name", None) == name), None)
    missing = [name] if found is None else []
    missing += [other for other in also if other not in _list_bound_names(tree)]
    if missing:
        return AnswerFault.NOT_DEFINED, f"the code does not define {' and '.join(missing)}"
    if isinstance(found, ast.FunctionDef) and "(" in signature:
        wanted = parse(f"def {signature}: pass").body[0]
        assert isinstance(wanted, ast.FunctionDef)
        least, most = _positional(found.args)
        asked_least, asked_most = _positional(wanted.args)
        if least > asked_least or asked_most > most:
            shown = f"{found.name}({ast.unparse(found.args)})"
            return AnswerFault.OTHER_SIGNATURE, f"the signature is {shown}, asked for was {signature}"
    return AnswerFault.NONE, ""


def _positional(arguments: ast.arguments) -> tuple[float, float]:
    """The fewest and the most positional arguments that a call may have."""
    count = len(arguments.posonlyargs) + len(arguments.args)
    if None in arguments.kw_defaults:  # no positional call can do without it
        return float("inf"), count
    return count - len(arguments.defaults), float("inf") if arguments.vararg else count


def add_missing_imports(code: str, offered: tuple[str, ...] = (), packages: Sequence[str] = ()) -> str:
    """The code, below the imports that it uses and nobody makes: of the standard library, and of `packages`, which are
    there. `offered` names are there already.
    """
    module = try_parse(code) or ast.Module([], [])
    nodes = list(ast.walk(module))
    bound = {*dir(builtins), *offered} | find_local_names(module)
    bound |= {name for node in nodes if isinstance(node, (*IMPORTS, *DEFINITIONS)) for name in find_bound_names(node)}
    bound |= {node.name for node in nodes if isinstance(node, ast.ExceptHandler) and node.name}
    missing = sorted({node.id for node in nodes if isinstance(node, ast.Name)} - bound)
    lines = [line for line in (_import_line(name, packages) for name in missing) if line]
    if not lines:
        return code
    # Python wants these above all other imports.
    future = [line for line in code.split("\n") if line.startswith("from __future__ import ")]
    rest = "\n".join(line for line in code.split("\n") if line not in future)
    below = f"\n{rest}" if rest.lstrip().startswith(("import ", "from ")) else f"\n\n\n{rest.lstrip()}"
    made = "\n".join([*future, *lines]) + below
    return made if try_parse(made) else code


def _import_line(name: str, packages: Sequence[str]) -> str:
    """The line that brings a name; empty where none is known."""
    if name in KNOWN or not packages:
        return KNOWN.get(name, "")
    there = module_provider(packages)
    if name in ALIASES:
        return f"import {ALIASES[name]} as {name}" if there(ALIASES[name]) else ""
    for home, classes in CLASSES.items():
        if name in classes.split() and there(home):
            return f"from {home} import {name}"
    is_module = bool(usual_package(name)) or (name.islower() and name not in PACKAGE_OF.values())
    return f"import {name}" if is_module and there(name) else ""
