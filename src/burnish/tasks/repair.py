"""A task from a file with a bug in it: which function, what it should do, which of its examples decide."""

import ast
import builtins
import difflib

from burnish.errors import SetupProblem
from burnish.parsing import parse
from burnish.tasks.definitions import FUNCTIONS, Definition, all_functions, find, guessed_lines, guessed_names, split
from burnish.tasks.examples import find_examples
from burnish.tasks.syntax import parsed
from burnish.tasks.task import NO_WORDS, Task
from burnish.text import slug, well_formed

CLOSE = 0.5
MOST_NAMES = 3


def from_file(
    text: str, function: str, spec: str = "", tests: tuple[str, ...] = (), suspects: tuple[str, ...] = ()
) -> Task:
    """The task of repairing one function of a file; "" for a file in which no function can be told from another.

    `tests` are those of the project that decide. Raises SetupProblem for a function that is not there.
    """
    if function and function not in function_names(text):
        raise SetupProblem(_not_found(text, function))
    spec, words = well_formed(spec), well_formed(docstring(text, function))
    shown = tuple(examples(f"{spec}\n\n{words}", function))
    return Task(
        id=slug(f"fix-{function or 'file'}"),
        prompt=_prompt(text, function, spec, words),
        entry_point=function,
        signature=signature(text, function),
        visible_tests=shown,
        own_tests=not (shown or tests),
        base_code=text,
        broken=True,
        project_tests=tests,
        suspects=suspects,
    )


def function_names(text: str) -> list[str]:
    """All that can be named in a file, dotted where it stands in a class; by its looks if it does not parse."""
    module = parsed(text)
    if module is None:
        return list(dict.fromkeys(guessed_names(text)))
    classes = [node.name for node in module.body if isinstance(node, ast.ClassDef)]
    return [*all_functions(module), *classes]


def repairable(text: str) -> list[str]:
    """The functions and methods among them."""
    module = parsed(text)
    if module is not None:
        return list(all_functions(module))
    names = guessed_names(text)
    return [name for name in dict.fromkeys(names) if not any(other.startswith(f"{name}.") for other in names)]


def docstring(text: str, function: str) -> str:
    """What the file itself says about a function."""
    node = find(parsed(text), function)
    return (ast.get_docstring(node) or "").strip() if node else ""


def signature(text: str, function: str) -> str:
    """The function's name and parameters, e.g. "Cart.total(self, tax=0)"."""
    node = find(parsed(text), function)
    if isinstance(node, FUNCTIONS):
        returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
        return f"{function}({ast.unparse(node.args)}){returns}"
    return function


def examples(text: str, function: str) -> list[str]:
    """Examples in the text that speak of the function and stand alone: no name that only a longer story explains."""
    own = function.partition(".")[0]
    last = function.rpartition(".")[2]
    found = [test for test in find_examples(text) if _names(test) <= {own, "pytest"} and last in mentioned(test)]
    return list(dict.fromkeys(found))


def _names(test: str) -> set[str]:
    tree = parse(test)
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return {name for name in used - bound if not hasattr(builtins, name)}


def mentioned(test: str) -> set[str]:
    """The names in a test, attributes too."""
    tree = parse(test)
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return names | {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


def _prompt(text: str, function: str, spec: str, words: str) -> str:
    said = "\n\n".join(part for part in (spec.strip(), words) if part)
    if said:
        return said
    if not function:
        return "Repair this file so that it is valid Python and its tests pass."
    return NO_WORDS.format(name=function)


def _not_found(text: str, function: str) -> str:
    known = function_names(text)
    near = difflib.get_close_matches(function, known, n=MOST_NAMES, cutoff=CLOSE)
    last = {name.rpartition(".")[2]: name for name in known}
    near += [last[name] for name in difflib.get_close_matches(function.rpartition(".")[2], last, n=1, cutoff=CLOSE)]
    if not known:
        return f"There is no function {function!r} in the file, and no other. Name a file that has functions."
    shown = list(dict.fromkeys(near)) or known[:MOST_NAMES]
    return f"There is no function {function!r} in the file. Name one that there is: --function {' or '.join(shown)}"


def lines_in(text: str, function: str) -> tuple[int, int] | None:
    """First and last line (from 1) of a function's body; of its guessed text in a file that does not parse."""
    node: Definition | None = find(parsed(text), function)
    if node is not None:
        return node.body[0].lineno, node.end_lineno or node.lineno
    guessed = guessed_lines(text, function) if split(text) else None
    return (guessed[0] + 1, guessed[1]) if guessed else None
