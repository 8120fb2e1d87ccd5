"""A task from a file with a bug in it: which function, what it should do, which of its examples decide."""

import ast
import difflib
from functools import lru_cache

from burnish.errors import SetupProblem
from burnish.parsing import parse, try_parse
from burnish.tasks.examples import find_examples
from burnish.tasks.source import (
    FUNCTIONS,
    all_functions,
    find_definition,
    guess_line_span,
    guess_names,
    list_functions,
)
from burnish.tasks.task import NO_WORDS, Task
from burnish.tasks.test_file import find_used_names
from burnish.text import replace_surrogates, slug

CLOSE = 0.5
MOST_NAMES = 3


def from_file(
    text: str, function: str, spec: str = "", tests: tuple[str, ...] = (), suspects: tuple[str, ...] = ()
) -> Task:
    """The task of repairing one function of a file; "" for a file in which no function can be told from another.

    `tests` are those of the project that decide. Raises SetupProblem for a function that is not there.
    """
    if function and function not in function_names(text):
        raise SetupProblem(_explain_not_found(text, function))
    spec, words = replace_surrogates(spec), replace_surrogates(docstring_of(text, function))
    prompt = "\n\n".join(part for part in (spec.strip(), words) if part)
    if not prompt and function:
        prompt = NO_WORDS.format(name=function)
    shown = tuple(examples_of(f"{spec}\n\n{words}", function))
    return Task(
        id=slug(f"fix-{function or 'file'}"),
        prompt=prompt or "Repair this file so that it is valid Python and its tests pass.",
        entry_point=function,
        signature=signature_of(text, function),
        visible_tests=shown,
        own_tests=not (shown or tests),
        base_code=text,
        broken=True,
        project_tests=tests,
        suspects=suspects,
    )


@lru_cache(maxsize=8)
def move_to(task: Task, function: str) -> Task:
    """The same task at another function of the file: its words are those of the user and of that function."""
    words = task.prompt.removesuffix(replace_surrogates(docstring_of(task.base_code, task.entry_point)))
    there = from_file(task.base_code, function, words if task.described else "")
    update = {"entry_point": function, "signature": there.signature, "prompt": there.prompt}
    return task.model_copy(update=update)


def find_changed(before: str, after: str) -> list[str]:
    """The functions that differ between two texts of a file, in the order of the first."""
    old, new = (all_functions(try_parse(text) or ast.Module([], [])) for text in (before, after))
    return [name for name, node in old.items() if name not in new or ast.dump(new[name]) != ast.dump(node)]


def function_names(text: str) -> list[str]:
    """All that can be named in a file, dotted where it stands in a class; by its looks if it does not parse."""
    module = try_parse(text)
    if module is None:
        return list(dict.fromkeys(guess_names(text)))
    classes = [node.name for node in module.body if isinstance(node, ast.ClassDef)]
    return [*all_functions(module), *classes]


def repairable_names(text: str) -> list[str]:
    """The functions and methods among them."""
    module = try_parse(text)
    if module is not None:
        return list(all_functions(module))
    names = guess_names(text)
    return [name for name in dict.fromkeys(names) if not any(other.startswith(f"{name}.") for other in names)]


def docstring_of(text: str, function: str) -> str:
    """What the file itself says about a function."""
    node = find_definition(try_parse(text), function)
    return (ast.get_docstring(node) or "").strip() if node else ""


def signature_of(text: str, function: str) -> str:
    """The function's name and parameters, e.g. "Cart.total(self, tax=0)"."""
    node = find_definition(try_parse(text), function)
    if isinstance(node, FUNCTIONS):
        returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
        return f"{function}({ast.unparse(node.args)}){returns}"
    return function


def lines_of_body(text: str, function: str) -> tuple[int, int] | None:
    """First and last line (from 1) of a function's body; of its guessed text in a file that does not parse."""
    node = find_definition(try_parse(text), function)
    if node is not None:
        return node.body[0].lineno, node.end_lineno or node.lineno
    guess = guess_line_span(text, function)
    return (guess[0] + 1, guess[1]) if guess else None


def function_spans(text: str) -> dict[str, list[tuple[int, int]]]:
    """First and last line of every body that goes by each function's name: of overloads, setters and others too."""
    module = try_parse(text)
    if module is not None:
        found: dict[str, list[tuple[int, int]]] = {}
        for name, node in list_functions(module):
            found.setdefault(name, []).append((node.body[0].lineno, node.end_lineno or node.lineno))
        return found
    guesses = {name: guess_line_span(text, name) for name in repairable_names(text)}
    return {name: [(span[0] + 1, span[1])] for name, span in guesses.items() if span}


def examples_of(text: str, function: str) -> list[str]:
    """Examples in the text that speak of the function and stand alone: no name that only a longer story explains."""
    known = {function.partition(".")[0], "pytest"}
    last = function.rpartition(".")[2]
    alone = [test for test in find_examples(text) if find_used_names([test]) <= known]
    return [test for test in alone if last in mentioned_names(test)]


def mentioned_names(test: str) -> set[str]:
    """The names in a test, attributes too."""
    parts = list(ast.walk(parse(test)))
    names = {node.id for node in parts if isinstance(node, ast.Name)}
    return names | {node.attr for node in parts if isinstance(node, ast.Attribute)}


def _explain_not_found(text: str, function: str) -> str:
    known = function_names(text)
    near = difflib.get_close_matches(function, known, n=MOST_NAMES, cutoff=CLOSE)
    last = {name.rpartition(".")[2]: name for name in known}
    near += [last[name] for name in difflib.get_close_matches(function.rpartition(".")[2], last, n=1, cutoff=CLOSE)]
    if not known:
        return f"There is no function {function!r} in the file, and no other. Name a file that has functions."
    shown = list(dict.fromkeys(near)) or known[:MOST_NAMES]
    return f"There is no function {function!r} in the file. Name one that there is: --function {' or '.join(shown)}"
