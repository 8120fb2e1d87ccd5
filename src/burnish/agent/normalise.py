"""When is code the same as before? Whatever a reader would not call a change is left out of the comparison."""

import ast
from functools import lru_cache

from burnish.parsing import try_parse
from burnish.tasks.source import FUNCTIONS

MOST_KNOWN = 512


@lru_cache(maxsize=MOST_KNOWN)
def normalise_code(code: str) -> str:
    """The code as it is compared: without layout, comments and docstrings, its local names numbered as they come.

    Names that others may use stay as they are: those of the module, of its functions and their parameters.
    Code that does not parse, or is nested too deep to walk, is compared line by line.
    """
    tree = try_parse(code)
    try:
        if tree is not None:
            for node in ast.walk(tree):
                if (
                    isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Module))
                    and ast.get_docstring(node, False) is not None
                ):
                    node.body[:1] = [] if len(node.body) > 1 else [ast.Pass()]
            _number_local_names(tree)
            return ast.dump(tree)
    except RecursionError:
        pass
    lines = (line.rstrip() for line in code.splitlines())
    return "\n".join(line for line in lines if line and not line.lstrip().startswith("#"))


def _number_local_names(tree: ast.AST) -> None:
    """Put numbers in the place of names that mean something inside one outermost function only."""
    for function in ast.iter_child_nodes(tree):
        if not isinstance(function, FUNCTIONS):
            _number_local_names(function)
            continue
        inside = [node for node in ast.walk(function) if node is not function]
        kept = {name for node in inside if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names}
        kept |= {node.arg for node in inside if isinstance(node, ast.arg)}
        local = {node.id for node in inside if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)} - kept
        numbers: dict[str, str] = {}
        for node in inside:
            if isinstance(node, ast.Name) and node.id in local:
                node.id = numbers.setdefault(node.id, f"#{len(numbers)}")
