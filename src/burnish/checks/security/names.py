"""What the names in a module stand for: `o.system` is `os.system` after `import os as o`.

Looks at bindings anywhere in the file and in any order, so a name that stands for a dangerous thing once is taken to do
so everywhere. What is put together at run time, from input or in another file, it does not see.
"""

import ast
import builtins
from collections import Counter, defaultdict
from collections.abc import Iterator

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
PASSES = 4
"""How many names may stand between a thing and its use: `a = os; b = a; c = b.system`."""
IMPORTERS = {"builtins.__import__", "importlib.import_module", "importlib.__import__"}
NEVER_HIDDEN = {"eval", "exec", "__import__", "getattr"}
"""Builtins that a parameter or variable of the same name elsewhere in the file does not take out of sight."""
MOST_MEANINGS, MOST_DOTS = 32, 4


class Names:
    """The bindings of one module."""

    def __init__(self, tree: ast.Module) -> None:
        self._meanings: dict[str, set[str]] = defaultdict(set)
        nodes = list(ast.walk(tree))
        for node in nodes:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    meaning = alias.name if alias.asname else alias.name.split(".")[0]
                    self._meanings[alias.asname or meaning].add(meaning)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                for alias in node.names:
                    self._meanings[alias.asname or alias.name].add(f"{node.module}.{alias.name}")
        self._own = {node.name for node in tree.body if isinstance(node, DEFINITIONS)} | set(self._meanings)
        # How often each name is bound by something other than an import or a definition.
        stored = [node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)]
        self._stored = Counter(stored + [node.arg for node in nodes if isinstance(node, ast.arg)])
        assigned = [pair for node in nodes for pair in list_assigned(node)]
        bindings = [binding for target, value in assigned for binding in _pair_up(target, value)]
        self._constants = {
            name: value.value
            for name, value in bindings
            if self._stored[name] == 1 and isinstance(value, ast.Constant) and isinstance(value.value, str | bytes)
        }
        for _ in range(PASSES):
            for name, value in bindings:
                meanings = self.of(value)
                if len(self._meanings[name]) < MOST_MEANINGS:
                    self._meanings[name] |= {one for one in meanings if one.count(".") <= MOST_DOTS}

    def of(self, node: ast.AST) -> set[str]:
        """Every dotted name an expression may stand for: `{"os.system"}`, `{"builtins.eval"}`; empty when unknown."""
        match node:
            case ast.Name(id=name):
                return self._of_name(name)
            case ast.Attribute(value=owner, attr=attribute):
                return _list_members(self.of(owner), attribute)
            case ast.Call():
                return self._of_call(node)
            case ast.Subscript():
                return self._of_subscript(node)
            case ast.NamedExpr(value=value):
                return self.of(value)
            case ast.IfExp(body=body, orelse=orelse):
                return self.of(body) | self.of(orelse)
            case ast.BoolOp(values=values):
                return {name for value in values for name in self.of(value)}
        return set()

    def constant(self, node: ast.AST | None) -> str | bytes | int | None:
        """The text or number an expression always has, or None: literals, sums of them, names bound once to one."""
        match node:
            case ast.Constant(value=value):
                return value if isinstance(value, str | bytes | int) else None
            case ast.Name(id=name):
                return self._constants.get(name)
            case ast.BinOp(left=first, op=ast.Add(), right=second):
                left, right = self.constant(first), self.constant(second)
                if isinstance(left, str) and isinstance(right, str):
                    return left + right
                return left + right if isinstance(left, bytes) and isinstance(right, bytes) else None
            case ast.JoinedStr(values=values):
                parts = [self.constant(part) for part in values]
                return "".join(str(part) for part in parts) if None not in parts else None
            case ast.FormattedValue(value=value):
                return self.constant(value)
        return None

    def beginning(self, node: ast.AST | None) -> str:
        """The part of a text that is known before anything runs: "/home/" of `f"/home/{name}"`."""
        whole = self.constant(node)
        if isinstance(whole, str):
            return whole
        match node:
            case ast.JoinedStr(values=[first, *_]):
                return self.beginning(first)
            case ast.BinOp(left=left, op=ast.Add() | ast.Mod() | ast.Div()):
                return self.beginning(left)
            case ast.Call(func=ast.Attribute(value=text, attr="format")):
                return self.beginning(text)
        return ""

    def _of_name(self, name: str) -> set[str]:
        stars = self._meanings.get("*", set())  # "os.*" of `from os import *`
        found = self._meanings.get(name, set()) | {star.removesuffix("*") + name for star in stars}
        if name == "__builtins__":
            found.add("builtins")
        hidden = name in self._own or (name in self._stored and name not in NEVER_HIDDEN)
        if hasattr(builtins, name) and not hidden:
            found.add(f"builtins.{name}")
        return found

    def _of_call(self, node: ast.Call) -> set[str]:
        called = self.of(node.func)
        if "builtins.getattr" in called and len(node.args) >= 2:
            attribute = self.constant(node.args[1])
            return _list_members(self.of(node.args[0]), attribute) if isinstance(attribute, str) else set()
        if called & IMPORTERS and node.args:
            module = self.constant(node.args[0])
            return {module} if isinstance(module, str) else set()
        if "builtins.vars" in called and node.args:
            return {f"{name}.__dict__" for name in self.of(node.args[0])}
        return {"globals"} if "builtins.globals" in called else set()

    def _of_subscript(self, node: ast.Subscript) -> set[str]:
        key = self.constant(node.slice)
        if not isinstance(key, str):
            return set()
        found: set[str] = set()
        for name in self.of(node.value):
            if name == "globals":
                found |= self._of_name(key)
            elif name == "sys.modules":
                found.add(key)
            elif name == "builtins" or name.endswith(".__dict__"):
                found.add(f"{name.removesuffix('.__dict__')}.{key}")
        return found


def list_assigned(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What a node gives a value to as it is, with that: targets of assignments, and parameters that have a default."""
    match node:
        case ast.Assign(targets=targets, value=value):
            yield from ((target, value) for target in targets)
        case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
            yield target, value
        case ast.FunctionDef(args=given) | ast.AsyncFunctionDef(args=given) | ast.Lambda(args=given):
            last = [*given.posonlyargs, *given.args][::-1]
            pairs = [
                *zip(last, given.defaults[::-1], strict=False),
                *zip(given.kwonlyargs, given.kw_defaults, strict=True),
            ]
            yield from ((ast.Name(one.arg, ast.Store()), default) for one, default in pairs if default is not None)


def _pair_up(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
        for one, its in zip(target.elts, value.elts, strict=False):
            yield from _pair_up(one, its)


def _list_members(owners: set[str], attribute: str) -> set[str]:
    return {f"{owner}.{attribute}" for owner in owners if not owner.startswith("globals")}
