"""Small rewrites for well-known findings, tried without asking a model.

The rule: a mend is a guess. It keeps the signature, stays in one module and in the standard library; whether it keeps
the behaviour the tests say, and whether it helps the check says.
"""

import ast
import sys
from collections.abc import Callable, Iterable

from burnish.agent.mending.performance import PERFORMANCE
from burnish.agent.mending.quality import QUALITY
from burnish.agent.mending.security import SECURITY
from burnish.agent.mending.source import Change, Source
from burnish.events import Frozen
from burnish.tasks.definitions import FUNCTIONS, all_functions
from burnish.tasks.syntax import parsed

Rewrite = Callable[[Source], Iterable[Change]]
KINDS: dict[str, dict[str, Rewrite]] = {"security": SECURITY, "performance": PERFORMANCE, "quality": QUALITY}
MUTABLE = (ast.List, ast.Dict, ast.Set, ast.Call)


class Mend(Frozen):
    """One kind of rewrite, at every place where it fits."""

    what: str
    """In a few words: "a list that is searched in a loop becomes a set"."""
    check: str
    inside: str = ""
    """The function or class at the top of the module that it keeps to; empty: the whole module."""

    def on(self, code: str) -> str | None:
        """The whole module after the rewrite; None where there is nothing to do, or it cannot be done with care.

        A fault in a rewrite is a rewrite that does not fit: what passed its tests already must not break on it.
        """
        try:
            source = Source(code)
            changes = [one for one in self._changes(source) if not self.inside or source.top_of(one) == self.inside]
            text = source.with_changes(changes)
            return text if text is not None and text != code and not objection(code, text) else None
        except Exception:
            return None

    def parts(self, code: str) -> "tuple[Mend, ...]":
        """The same rewrite for each function or class by itself; where it changes anything else, as it is."""
        try:
            source = Source(code)
            tops = list(dict.fromkeys(source.top_of(change) for change in self._changes(source)))
        except Exception:
            return ()
        return (self,) if "" in tops else tuple(self.model_copy(update={"inside": top}) for top in tops)

    def _changes(self, source: Source) -> Iterable[Change]:
        return KINDS[self.check][self.what](source)


def mends_for(check: str) -> tuple[Mend, ...]:
    """What may help with the findings of a check, in the order to try it."""
    return tuple(Mend(what=what, check=check) for what in KINDS.get(check, {}))


def objection(before: str, after: str) -> str:
    """Why one module may not stand in the place of another; empty where it may.

    Every function that was there keeps its parameters, and nothing is imported from outside the standard library that
    was not there before.
    """
    old, new = parsed(before), parsed(after)
    if old is None or new is None:
        return "it does not parse"
    there = {name: node for name, node in all_functions(new).items() if isinstance(node, FUNCTIONS)}
    for name, node in all_functions(old).items():
        if name in there and isinstance(node, FUNCTIONS) and _parameters(node) != _parameters(there[name]):
            return f"it changes the signature of {name}"
    foreign = sorted(_modules(new) - _modules(old) - sys.stdlib_module_names)
    return f"it imports {foreign[0]}, which is not in the standard library" if foreign else ""


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """Names, kinds and defaults as text; a list or dictionary as default is said as None, which stands for it."""
    told = node.args
    named = [argument.arg for argument in (*told.posonlyargs, *told.args)]
    rest = [f"*{told.vararg.arg}" if told.vararg else "*", *(argument.arg for argument in told.kwonlyargs)]
    more = [f"**{told.kwarg.arg}"] if told.kwarg else []
    defaults = [_default(one) for one in (*told.defaults, *told.kw_defaults)]
    return [type(node).__name__, *named, f"/{len(told.posonlyargs)}", *rest, *more, *defaults]


def _default(node: ast.expr | None) -> str:
    if node is None:
        return "required"
    return "None" if isinstance(node, MUTABLE) else ast.unparse(node)


def _modules(tree: ast.Module) -> set[str]:
    """The packages that a module imports, by their first names."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add("." if node.level else (node.module or "").partition(".")[0])
    return found
