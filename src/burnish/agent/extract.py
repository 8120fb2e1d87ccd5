"""From an answer to code: small models wrap it in prose, examples and prints; what can be saved is saved."""

import ast
import re

from burnish.agent.stories import is_closed, stories_from
from burnish.agent.unwrap import blocks_of
from burnish.parsing import parse
from burnish.tasks.assemble import names_of
from burnish.tasks.examples import called_names
from burnish.tasks.syntax import parsed
from burnish.text import plain

_PYTHON = re.compile(r"(?:python3?|py)?(?!\w)")
_KEPT = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_TALK = {"print", "input", "exit", "quit"}


def code_from(answer: str, entry_point: str) -> str:
    """The module text in an answer: the block that defines the entry point, without prints, tests and examples."""
    blocks = _blocks(answer)
    chosen = next((block for block in blocks if _defines(block, entry_point)), blocks[0] if blocks else "")
    return cleaned(chosen, entry_point)


def cleaned(text: str, entry_point: str) -> str:
    """A block without prints, tests and examples; one that does not parse stays as it is."""
    tree = parsed(text)
    return _kept_lines(text, tree, entry_point) if tree else text.strip() + "\n" if text.strip() else ""


def asserts_from(
    answer: str, entry_point: str, also: tuple[str, ...] = (), stories: bool = False
) -> tuple[list[str], int]:
    """Test bodies that call the entry point or one of `also`, and how many other ones there were.

    One line each; with `stories`, also a few steps that build something and then assert. Of a method, "Cart.total", a
    test makes a Cart and uses what the method is called.
    """
    owner, _, method = entry_point.rpartition(".")
    names = {owner.partition(".")[0] or entry_point, *also}
    found = stories_from("\n".join(_blocks(answer)) or plain(answer), names) if stories else _lone(answer, names)
    kept = [test for test in dict.fromkeys(found) if test and (not owner or speaks_of(test, method))]
    return kept, len(found) - len(kept)


def speaks_of(test: str, method: str) -> bool:
    """Whether a test uses the method by name; one such as `__len__` is used by none."""
    return method.startswith("__") or bool(re.search(rf"\.{re.escape(method)}\b", test))


def _lone(answer: str, names: set[str]) -> list[str]:
    return [_usable(line, names) for line in _assert_lines(answer)]


def signature_from(answer: str) -> str:
    """The first `def` line in an answer as "name(parameters)"; empty if there is none."""
    for match in re.finditer(r"def\s+[A-Za-z_]\w*\s*\(.*", plain(answer)):
        line = match[0].rstrip("` ").rstrip(":") + ": pass"
        tree = parsed(line)
        if tree and isinstance(tree.body[0], ast.FunctionDef):
            return f"{tree.body[0].name}({ast.unparse(tree.body[0].args)})"
    return ""


def problem_with(code: str, signature: str, also: tuple[str, ...] = ()) -> str:
    """Why the code cannot be run as what was asked for; empty if it can. `also` must be defined in it as well."""
    if not code.strip():
        return "the answer holds no code"
    tree = parsed(code)
    if tree is None:
        return f"the code does not parse: {_complaint(code)}"
    name = signature.split("(")[0]
    found = next((node for node in tree.body if getattr(node, "name", None) == name), None)
    defined = {bound for node in tree.body for bound in names_of(node)}
    missing = [wanted for wanted in also if wanted not in defined]
    if found is None:
        return f"the code does not define {' and '.join([name, *missing])}"
    if missing:
        return f"the code does not define {' and '.join(missing)}"
    if isinstance(found, ast.FunctionDef) and "(" in signature:
        return _mismatch(found, signature)
    return ""


def _blocks(answer: str) -> list[str]:
    text = plain(answer)
    blocks = [block for language, block in blocks_of(text) if _PYTHON.match(language)]
    if blocks:
        return blocks
    starts = re.search(r"^(?:def |class |import |from |@|assert )", text, re.MULTILINE)
    return [text[starts.start() :]] if starts else []


def _defines(block: str, name: str) -> bool:
    return bool(re.search(rf"^(?:async\s+)?(?:def|class)\s+{re.escape(name)}\b", block, re.MULTILINE))


def _kept_lines(text: str, tree: ast.Module, entry_point: str) -> str:
    """The definitions and what they lean on, each with the comments right above it."""
    lines = text.split("\n")
    parts: list[str] = []
    for node in tree.body:
        if not isinstance(node, _KEPT) and _is_example(node, entry_point):
            continue
        start = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", []))]) - 1
        while start and lines[start - 1].startswith("#"):
            start -= 1
        apart = "\n\n" if parts and isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef) else ""
        parts.append(apart + "\n".join(lines[start : node.end_lineno]) + "\n")
    return "".join(parts)


def _is_example(node: ast.stmt, entry_point: str) -> bool:
    """Whether a statement only shows the code at work: prints, tests, calls of the entry point, a loose string."""
    if isinstance(node, ast.Assert) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        return True
    called = {part.func.id for part in ast.walk(node) if isinstance(part, ast.Call) and isinstance(part.func, ast.Name)}
    used = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return bool(called & {entry_point, *_TALK}) or "__name__" in used


def _assert_lines(answer: str) -> list[str]:
    text = "\n".join(_blocks(answer)) or plain(answer)
    lines = (re.sub(r"^\s*(?:\d+[.)]|[-*])\s*", "", line).strip().strip("`") for line in text.splitlines())
    return [line for line in lines if line.startswith("assert ")]


def _usable(line: str, names: set[str]) -> str:
    tree = parsed(line)
    node = tree.body[0] if tree and len(tree.body) == 1 else None
    if not isinstance(node, ast.Assert) or isinstance(node.test, ast.Tuple):
        return ""
    test = f"assert {ast.unparse(node.test)}"
    called = set(called_names(test))
    return test if called & names and called <= names and is_closed(node.test, names) else ""


def _mismatch(found: ast.FunctionDef, signature: str) -> str:
    wanted = parse(f"def {signature}: pass").body[0]
    assert isinstance(wanted, ast.FunctionDef)
    asked, most = _positional(wanted.args)
    least_found, most_found = _positional(found.args)
    if least_found <= asked and most <= most_found:
        return ""
    return f"the signature is {found.name}({ast.unparse(found.args)}), asked for was {signature}"


def _positional(arguments: ast.arguments) -> tuple[float, float]:
    """The fewest and the most positional arguments that a call may have."""
    count = len(arguments.posonlyargs) + len(arguments.args)
    if None in arguments.kw_defaults:  # no positional call can do without it
        return float("inf"), count
    return count - len(arguments.defaults), float("inf") if arguments.vararg else count


def _complaint(code: str) -> str:
    """What the parser says, in the words that models know best: its own, the line last."""
    try:
        parse(code)
    except SyntaxError as error:
        return f"{error.msg} (line {error.lineno})"
    except (ValueError, MemoryError, RecursionError) as error:
        return str(error) or type(error).__name__
    return ""
