"""What can be wrong with one block of code, and how it is put right without asking. Each mend returns "" if it does
not apply; whoever calls keeps only what then parses and defines what was asked for.
"""

import ast
import difflib
import re
import textwrap

from burnish.parsing import parse
from burnish.tasks.syntax import parsed

_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "‚": "'", "\u00a0": " ", "\u3000": " "})
_NUMBERED = re.compile(r"^[ \t]*(\d+)(?:[ \t]*[:|.)│])?(?=[ \t]|$)(.*)$")
_STARTS = re.compile(r"^[ \t]*(?:def |async def |class |import |from \w|@\w|[A-Z_]+\s*=)", re.MULTILINE)
ALIKE = 0.6
"""How much a line must resemble the one that it is to replace."""


def quotes(text: str) -> str:
    """Typographic quotes and spaces become plain ones."""
    return text.translate(_QUOTES)


def spaces(text: str) -> str:
    """Tabs become spaces, as wide as they must be for the code to parse."""
    if "\t" not in text:
        return ""
    widths = (text.expandtabs(width) for width in (4, 8, 2))
    return next((wide for wide in widths if parsed(wide)), "")


def dedented(text: str) -> str:
    """Code that is indented as a whole moves to the left."""
    return textwrap.dedent(text.expandtabs(4))


def prompts(text: str) -> str:
    """A session at Python's prompt without its prompts and answers."""
    lines = [line.lstrip() for line in text.split("\n")]
    if not any(line.startswith(">>> ") for line in lines):
        return ""
    typed = [re.sub(r"^(?:>>>|\.\.\.) ?", "", line) for line in lines if line.startswith((">>>", "..."))]
    return "\n".join(typed) + "\n"


def numbers(text: str) -> str:
    """Lines without the numbers in front of them."""
    lines = text.strip("\n").split("\n")
    found = [_NUMBERED.match(line) for line in lines]
    counted = [int(match[1]) for match in found if match]
    if len(counted) < 2 or len(counted) != len(lines) or counted != sorted(set(counted)):
        return ""
    return textwrap.dedent("\n".join(match[2] for match in found if match)) + "\n"


def without_prose(text: str) -> str:
    """The code between the sentences: from its first line to the last whole statement before prose begins."""
    starts = _STARTS.search(text)
    if not starts:
        return ""
    lines = text[starts.start() :].split("\n")
    for end in range(len(lines), 0, -1):
        if end < len(lines) and not _is_prose(lines[end]):
            continue
        piece = "\n".join(lines[:end])
        if parsed(piece):
            return piece.rstrip() + "\n"
    return ""


def patched(text: str, base: str) -> str:
    """A diff applied to the code that it speaks of; without that code, what the diff leaves standing."""
    hunks = _hunks(text)
    if not any(old != new for old, new in hunks):
        return ""
    if not base:
        return "\n".join(line for _, new in hunks for line in new) + "\n"
    lines = base.split("\n")
    for old, new in hunks:
        place = _place(lines, old)
        if place is None:
            return ""
        shift = " " * max(0, _depth(lines[place]) - _depth(old[0])) if old else ""
        lines[place : place + len(old)] = [shift + line if line.strip() else line for line in new]
    return "\n".join(lines)


def changed_lines(text: str, base: str) -> str:
    """The base with the few lines of the answer in the place of those that they resemble most."""
    new = [line for line in textwrap.dedent(text).strip("\n").split("\n") if line.strip()]
    lines = base.split("\n")
    if not new or 2 * len(new) >= sum(bool(line.strip()) for line in lines):
        return ""
    scores = [(_alike(lines[at : at + len(new)], new), at) for at in range(len(lines) - len(new) + 1)]
    best = sorted(scores, reverse=True)[:2]
    if not best or best[0][0] < ALIKE or (len(best) > 1 and best[0][0] == best[1][0]):
        return ""
    at = best[0][1]
    lines[at : at + len(new)] = [" " * _depth(lines[at]) + line for line in new]
    return "\n".join(lines)


def under(signature: str, text: str) -> str:
    """A body without its first line, put under the signature."""
    body = textwrap.dedent(text).strip("\n")
    first, *rest = body.split("\n")
    if rest and rest[0].startswith((" ", "\t")) and not first.rstrip().endswith((":", "(", "[", "{", ",")):
        body = first + "\n" + textwrap.dedent("\n".join(rest))  # the model went on where the stub ended
    tree = parsed(body)
    gives = tree and any(isinstance(node, ast.Return | ast.Yield | ast.Raise) for node in _own_nodes(tree))
    return f"def {signature}:\n{textwrap.indent(body, '    ')}\n" if gives else ""


def lifted(text: str, name: str) -> str:
    """A method that needs no object, taken out of its class; the rest of the class stays behind."""
    tree = parsed(text)
    for holder in tree.body if tree else []:
        methods = [node for node in getattr(holder, "body", []) if isinstance(node, ast.FunctionDef)]
        method = next((node for node in methods if node.name == name), None)
        if isinstance(holder, ast.ClassDef) and method and tree:
            free = _freed(method)
            others = [ast.unparse(node) for node in tree.body if node is not holder and node.lineno < holder.lineno]
            return "\n".join([*others, free]) + "\n" if free else ""
    return ""


def _freed(method: ast.FunctionDef) -> str:
    """The method as a function; empty where it leans on its object for more than calling itself."""
    static = any(ast.unparse(item) == "staticmethod" for item in method.decorator_list)
    kept = [item for item in method.decorator_list if ast.unparse(item) not in {"staticmethod", "classmethod"}]
    first = (method.args.posonlyargs + method.args.args)[:1]
    if not static and (not first or method.args.posonlyargs):
        return ""
    source = ast.unparse(method)
    copied = parse(source).body[0]
    assert isinstance(copied, ast.FunctionDef)
    copied.decorator_list = [item for item in copied.decorator_list if ast.unparse(item) in map(ast.unparse, kept)]
    if static:
        return ast.unparse(copied)
    own = first[0].arg
    copied.args.args = copied.args.args[1:]
    free = re.sub(rf"\b{own}\.{method.name}\(", f"{method.name}(", ast.unparse(copied))
    return "" if re.search(rf"\b{own}\b", free) else free


def _own_nodes(tree: ast.Module) -> list[ast.AST]:
    """All nodes that are not inside a function of their own."""
    waiting: list[ast.AST] = [tree]
    found: list[ast.AST] = []
    while waiting:
        node = waiting.pop()
        found.append(node)
        inner = [child for child in ast.iter_child_nodes(node)]
        waiting += [child for child in inner if not isinstance(child, ast.FunctionDef | ast.Lambda | ast.ClassDef)]
    return found


def _is_prose(line: str) -> bool:
    """Whether a line at the left edge can be no code: several words, and Python cannot read it."""
    if not line.strip():
        return False
    return not line[0].isspace() and len(line.split()) > 2 and parsed(line) is None and not line.endswith(":")


def _hunks(text: str) -> list[tuple[list[str], list[str]]]:
    """Lines before and after, for each hunk."""
    hunks: list[tuple[list[str], list[str]]] = [([], [])]
    for line in text.strip("\n").split("\n"):
        if line.startswith("@@"):
            hunks.append(([], []))
        elif not line.startswith(("--- ", "+++ ", "diff ", "index ", "\\ ")):
            old, new = hunks[-1]
            if not line.startswith("+"):
                old.append(line[1:] if line[:1] in {"-", " "} else line)
            if not line.startswith("-"):
                new.append(line[1:] if line[:1] in {"+", " "} else line)
    marked = any(line.startswith(("+", "-")) for line in text.split("\n"))
    return [hunk for hunk in hunks if hunk[0] or hunk[1]] if marked else []


def _place(lines: list[str], old: list[str]) -> int | None:
    """Where the old lines stand; the spaces in front of a line may differ, as models lose them."""
    for same in (str.rstrip, str.strip):
        wanted = [same(line) for line in old]
        spots = (
            at for at in range(len(lines) - len(old) + 1) if [same(x) for x in lines[at : at + len(old)]] == wanted
        )
        found = next(spots, None)
        if found is not None:
            return found
    return None


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _alike(old: list[str], new: list[str]) -> float:
    ratios = [difflib.SequenceMatcher(None, a.strip(), b.strip()).ratio() for a, b in zip(old, new, strict=True)]
    return sum(ratios) / len(ratios)
