"""The forms an answer can have: what wraps it as a whole, what is wrong with one block, and which language it is in.

Each `fix_…` works on one block and returns "" if it does not apply; whoever calls keeps only what then parses and
defines what was asked for.
"""

import ast
import copy
import difflib
import html
import json
import re
import textwrap
from collections.abc import Iterator

from burnish.parsing import try_parse
from burnish.text import strip_controls

FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*([\w+#.-]*)[^\n]*\n(.*?)(?:^[ \t]*\1|\Z)", re.DOTALL | re.MULTILINE)
_PRE = re.compile(r"<(pre|code|textarea)\b[^>]*>(.*?)</\1>", re.DOTALL | re.IGNORECASE)
_INLINE = re.compile(r"(?<!`)`((?:async )?def [^`]+)`(?!`)")
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]*>")
_KEYS = ("code", "solution", "answer", "python", "function", "content", "implementation", "text", "result", "output")
_CODE = re.compile(r"\b(?:def|class|return|import)\b")
PLAIN_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "‚": "'", "\u00a0": " ", "\u3000": " "})
_NUMBERED = re.compile(r"^[ \t]*(\d+)(?:[ \t]*[:|.)│])?(?=[ \t]|$)(.*)$")
_STARTS = re.compile(r"^[ \t]*(?:def |async def |class |import |from \w|@\w|[A-Z_]+\s*=)", re.MULTILINE)
ALIKE = 0.6
"""How much a line must resemble the one that it is to replace."""
MOST_CHANGED_LINES = 20
"""More are no few changed lines, and in a long file it would take seconds to look for their place."""
_LANGUAGES = {
    "JavaScript": "js javascript jsx node",
    "TypeScript": "ts typescript",
    "Java": "java",
    "Kotlin": "kotlin",
    "C": "c",
    "C++": "cpp c++",
    "C#": "csharp c# cs",
    "Go": "go golang",
    "Rust": "rust rs",
    "Ruby": "ruby rb",
    "PHP": "php",
    "Swift": "swift",
    "Scala": "scala",
    "Haskell": "haskell",
    "SQL": "sql",
    "R": "r",
    "Julia": "julia",
    "Lua": "lua",
    "Perl": "perl",
    "HTML": "html",
}
_TAGS = {tag: language for language, tags in _LANGUAGES.items() for tag in tags.split()}
_SIGNS = (
    ("PHP", r"<\?php|^\s*function\s+\w+\(\s*\$"),
    ("TypeScript", r"^\s*(?:export\s+)?function\s+\w+\([^)]*:\s*(?:string|number|boolean|any)\b"),
    ("JavaScript", r"^\s*(?:export\s+|async\s+)*function\s*\w*\s*\([^)]*\)\s*\{|^\s*(?:const|let|var)\s+\w+\s*="),
    ("C++", r"^\s*#include\s*<\w+>|\bstd::"),
    ("C", r"^\s*#include\s*[<\"]\w+\.h"),
    ("C#", r"^\s*using\s+System\b|\bnamespace\s+\w+\s*\{"),
    ("Java", r"^\s*(?:public|private|protected)\s+(?:static\s+|final\s+)*[\w<>\[\]]+\s+\w+.*\{|System\.out\.print"),
    ("Go", r"^\s*func\s+(?:\([^)]*\)\s*)?\w+\(|^package\s+\w+"),
    ("Rust", r"^\s*(?:pub\s+)?fn\s+\w+\s*(?:<[^>]*>)?\("),
    ("Swift", r"^\s*func\s+\w+\([^)]*:\s*\w+[^)]*\)\s*->"),
    ("HTML", r"^\s*<(?:!DOCTYPE html|html|head|body)\b"),
    ("Ruby", r"^\s*def\s+\w+(?:\([^)]*\))?\s*$(?:.|\n)*^\s*end\s*$"),
)


def readings(answer: str) -> Iterator[tuple[str, str]]:
    """The answer as it is, then each way to unwrap it that applies, with what was done to it in words.

    None holds an escape code, not even one that the wrapping had spelled out.
    """
    text = strip_controls(answer)
    if "</think>" in text:
        yield strip_controls(text.rsplit("</think>", 1)[1]), ""  # what stands above are thoughts
    yield strip_controls(text), ""
    for inner in _json_strings(text):
        yield strip_controls(inner), "taken out of a JSON wrapper"
    blocks = []
    for match in _PRE.finditer(text):
        inner = _TAG.sub("", re.sub(r"<br\s*/?>", "\n", match[2], flags=re.IGNORECASE))
        if _CODE.search(inner):
            blocks.append(f"```python\n{html.unescape(inner).strip(chr(10))}\n```")
    if blocks:
        yield strip_controls("\n".join(blocks)), "taken out of a web page"
    for span in _INLINE.findall(text):
        yield strip_controls(span), "taken out of a sentence"
    if _is_escaped(text):
        yield strip_controls(_unescape(text)), "escaped line ends put right"


def find_blocks(text: str) -> list[tuple[str, str]]:
    """Every fenced block: its language in small letters, and what it holds."""
    return [(language, body) for language, body, _ in _scan_blocks(text)]


def is_open(text: str) -> bool:
    """Whether the last fenced block never ends; an answer without any block has no end either."""
    found = [is_closed for _, _, is_closed in _scan_blocks(text)]
    return not found or not found[-1]


def _scan_blocks(text: str) -> Iterator[tuple[str, str, bool]]:
    """Every fenced block, and whether it ends. A fence inside a docstring does not end the block around it."""
    place = 0
    while match := FENCE.search(text, place):
        start, end, place = match.start(3), match.end(3), match.end()
        if _is_in_docstring(match[3]):
            closing = re.compile(rf"^[ \t]*{match[1]}[ \t]*$", re.MULTILINE)
            for found in closing.finditer(text, start):
                if not _is_in_docstring(text[start : found.start()]):
                    end, place = found.span()
                    break
        yield match[2].lower(), text[start:end], place > end


def _is_in_docstring(code: str) -> bool:
    """Whether code breaks off inside a text of several lines."""
    return any(code.count(quotes) % 2 for quotes in ('"""', "'''"))


def detect_language(text: str, tags: list[str]) -> str:
    """The language, by the name on a block or by words that only it has; empty when it may be Python."""
    named = next((_TAGS[tag] for tag in tags if tag in _TAGS), "")
    return named or next((name for name, sign in _SIGNS if re.search(sign, text, re.MULTILINE)), "")


def _json_strings(text: str) -> Iterator[str]:
    """The strings that hold code in what is JSON in a text."""
    for body in [text, *(block for _, block in find_blocks(text))]:
        is_listed = body.strip().startswith(("[", '"'))
        piece = body.strip() if is_listed else body[body.find("{") : body.rfind("}") + 1] if "{" in body else ""
        try:
            value = json.loads(piece, strict=False) if piece else None
        except (ValueError, RecursionError):
            continue
        yield from (_unescape(found) if _is_escaped(found) else found for found in _code_strings(value))


def _code_strings(value: object, depth: int = 0) -> list[str]:
    """The strings in a JSON value that hold code, those under a telling name first."""
    if isinstance(value, list) and depth <= 4 and value and all(isinstance(line, str) for line in value):
        value = "\n".join(str(line).rstrip("\n") for line in value)
    if isinstance(value, str):
        return [value] if _CODE.search(value) else []
    if isinstance(value, dict):
        value = [item for _, item in sorted(value.items(), key=lambda item: str(item[0]).lower() not in _KEYS)]
    if not isinstance(value, list) or depth > 4:
        return []
    return [found for item in value for found in _code_strings(item, depth + 1)]


def _is_escaped(text: str) -> bool:
    """Whether line ends are written out, as in a string that was escaped once too often."""
    return text.count("\\n") > text.strip().count("\n") and bool(re.search(r"\b(?:def|class)\s.*:\s*\\n", text))


def _unescape(text: str) -> str:
    swaps = {"\\n": "\n", "\\t": "\t", '\\"': '"', "\\'": "'", "\\\\": "\\"}
    return re.sub(r"\\[nt\"'\\]", lambda match: swaps[match[0]], text.strip().strip('"'))


def fix_tabs(text: str) -> str:
    """Tabs become spaces, as wide as they must be for the code to parse."""
    widths = (text.expandtabs(width) for width in ((4, 8, 2) if "\t" in text else ()))
    return next((wide for wide in widths if try_parse(wide)), "")


def fix_margin(text: str) -> str:
    """Code that is indented as a whole moves to the left."""
    return textwrap.dedent(text.expandtabs(4))


def fix_session(text: str) -> str:
    """A session at Python's prompt without its prompts and answers."""
    lines = [line.lstrip() for line in text.split("\n")]
    if not any(line.startswith(">>> ") for line in lines):
        return ""
    typed = [re.sub(r"^(?:>>>|\.\.\.) ?", "", line) for line in lines if line.startswith((">>>", "..."))]
    return "\n".join(typed) + "\n"


def fix_line_numbers(text: str) -> str:
    """Lines without the numbers in front of them."""
    lines = text.strip("\n").split("\n")
    found = [match for match in map(_NUMBERED.match, lines) if match]
    numbers = [int(match[1]) for match in found]
    if len(numbers) < 2 or len(numbers) != len(lines) or numbers != sorted(set(numbers)):
        return ""
    return textwrap.dedent("\n".join(match[2] for match in found)) + "\n"


def fix_prose(text: str) -> str:
    """The code between the sentences: from its first line to the last whole statement before prose begins."""
    starts = _STARTS.search(text)
    lines = text[starts.start() :].split("\n") if starts else []
    for end in range(len(lines), 0, -1):
        below = lines[end] if end < len(lines) else ""
        at_edge = bool(below.strip()) and not below[0].isspace() and not below.endswith(":")
        # A line of prose has several words, stands at the left edge, and Python cannot read it.
        is_prose = at_edge and len(below.split()) > 2 and try_parse(below) is None
        if end < len(lines) and not is_prose:
            continue
        piece = "\n".join(lines[:end])
        if try_parse(piece):
            return piece.rstrip() + "\n"
    return ""


def fix_diff(text: str, base: str) -> str:
    """A diff applied to the code that it speaks of; without that code, what the diff leaves standing."""
    hunks = _read_hunks(text)
    if not any(old != new for old, new in hunks):
        return ""
    if not base:
        return "\n".join(line for _, new in hunks for line in new) + "\n"
    lines = base.split("\n")
    for old, new in hunks:
        place = _find_lines(lines, old)
        if place is None:
            return ""
        shift = " " * max(0, _indent(lines[place]) - _indent(old[0])) if old else ""
        lines[place : place + len(old)] = [shift + line if line.strip() else line for line in new]
    return "\n".join(lines)


def _read_hunks(text: str) -> list[tuple[list[str], list[str]]]:
    """Lines before and after, for each hunk; none where no line is marked."""
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
    is_marked = any(line.startswith(("+", "-")) for line in text.split("\n"))
    return [hunk for hunk in hunks if is_marked and (hunk[0] or hunk[1])]


def _find_lines(lines: list[str], old: list[str]) -> int | None:
    """Where the old lines stand; the spaces in front of a line may differ, as models lose them."""
    for strip in (str.rstrip, str.strip):  # exact indentation first: the same words may stand in two places
        wanted, there = list(map(strip, old)), list(map(strip, lines))
        for at in range(len(lines) - len(old) + 1):
            if there[at : at + len(old)] == wanted:
                return at
    return None


def fix_changed_lines(text: str, base: str) -> str:
    """The base with the few lines of the answer in the place of those that they resemble most."""
    new = [line for line in textwrap.dedent(text).strip("\n").split("\n") if line.strip()]
    lines = base.split("\n")
    if not new or len(new) > MOST_CHANGED_LINES or 2 * len(new) >= sum(bool(line.strip()) for line in lines):
        return ""
    alike = [_compare_lines(line, lines) for line in new]
    scores = []
    for at in range(len(lines) - len(new) + 1):
        ratios = [known[old] for known, old in zip(alike, lines[at : at + len(new)], strict=True)]
        scores.append((sum(ratios) / len(ratios), at))
    best = sorted(scores, reverse=True)[:2]
    # Two places that are equally alike leave open which is meant.
    if not best or best[0][0] < ALIKE or (len(best) > 1 and best[0][0] == best[1][0]):
        return ""
    at = best[0][1]
    lines[at : at + len(new)] = [" " * _indent(lines[at]) + line for line in new]
    return "\n".join(lines)


def _compare_lines(line: str, lines: list[str]) -> dict[str, float]:
    """How much each line resembles one."""
    matcher = difflib.SequenceMatcher(None, b=line.strip())  # it keeps what it knows of b
    ratios = {}
    for old in {*lines}:
        matcher.set_seq1(old.strip())
        ratios[old] = matcher.ratio()
    return ratios


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def fix_body(text: str, signature: str) -> str:
    """A body without its first line, put under the signature; it must give something back or raise."""
    body = textwrap.dedent(text).strip("\n")
    first, *rest = body.split("\n")
    if rest and rest[0].startswith((" ", "\t")) and not first.rstrip().endswith((":", "(", "[", "{", ",")):
        body = first + "\n" + textwrap.dedent("\n".join(rest))  # the model went on where the stub ended
    waiting: list[ast.AST] = [tree for tree in [try_parse(body)] if tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Return | ast.Yield | ast.Raise):
            return f"def {signature}:\n{textwrap.indent(body, '    ')}\n"
        inner = ast.iter_child_nodes(node)
        waiting += [child for child in inner if not isinstance(child, ast.FunctionDef | ast.Lambda | ast.ClassDef)]
    return ""


def fix_method(text: str, name: str) -> str:
    """A method that needs no object, taken out of its class; the rest of the class stays behind."""
    tree = try_parse(text)
    above: list[str] = []
    try:
        for holder in tree.body if tree else []:
            for node in holder.body if isinstance(holder, ast.ClassDef) else []:
                if isinstance(node, ast.FunctionDef) and node.name == name:
                    free = _free_method(node)
                    return "\n".join([*above, free]) + "\n" if free else ""
            above.append(ast.unparse(holder))
    except RecursionError:  # code that is nested deeper than Python can write it down again
        pass
    return ""


def _free_method(method: ast.FunctionDef) -> str:
    """The method as a function; empty where it leans on its object for more than calling itself."""
    made = copy.deepcopy(method)
    kinds = [ast.unparse(item) for item in method.decorator_list]
    made.decorator_list = [
        item
        for item, kind in zip(made.decorator_list, kinds, strict=True)
        if kind not in {"staticmethod", "classmethod"}
    ]
    if "staticmethod" in kinds:
        return ast.unparse(made)
    if not made.args.args or made.args.posonlyargs:
        return ""
    own = made.args.args.pop(0).arg
    free = re.sub(rf"\b{own}\.{method.name}\(", f"{method.name}(", ast.unparse(made))
    return "" if re.search(rf"\b{own}\b", free) else free
