"""JavaScript that is nearly right: types of TypeScript, `export`, and a function that nobody calls.

There is no parser here. What is done is found by its words, outside of strings and comments, and only where code could
not run as it is.
"""

import re
from collections.abc import Iterator

START_NAMES = re.compile(
    r"main|init\w*|start\w*|setup\w*|run\w*|create\w*|draw\w*|render\w*|game\w*|app", re.IGNORECASE
)
LITERAL = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<string>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)"
    r"|(?<=[=(,:!&|?{};\n])[ \t]*(?P<regex>/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/[a-z]*)",
    re.DOTALL,
)
_TYPE = (
    r"(?:typeof\s+)?(?:[A-Za-z_$][\w$.]*(?:<[^<>()=;]*(?:<[^<>]*>)?[^<>()=;]*>)?|\{[^{}]*\}|\[[^\[\]]*\]|\([^()]*\)\s*=>\s*\w+"
    r"|\"[^\"]*\"|'[^']*')(?:\[\])*"
)
_MODIFIERS = r"(?:(?:private|public|protected|readonly|static)\s+)*"
_TYPES = rf"\|?\s*{_TYPE}(?:\s*[|&]\s*{_TYPE})*"
_DEEPEST, _LONGEST = 100, 200
"""Of brackets within brackets, and of what stands before and after a list of parameters."""
_TYPED = re.compile(
    r"^\s*(?:interface\s+\w+|type\s+\w+\s*=)|\bas\s+(?:HTML\w+|any|const|number|string)\b"
    r"|\b(?:const|let|var)\s+\w+\s*:\s*\w|[(,]\s*\w+\??\s*:\s*(?:number|string|boolean|any|HTML\w+|\w+\[\])\s*[,)=]"
    r"|\)\s*:\s*(?:void|number|string|boolean|\w+\[\])\s*(?:\{|=>)",
    re.MULTILINE,
)
_DECLARED = re.compile(
    r"\bfunction\s+([\w$]+)\s*\(\s*\)"
    r"|\b(?:const|let|var)\s+([\w$]+)\s*=\s*(?:async\b\s*)?(?:function\s*\w*\s*)?\(\s*\)\s*(?:=>|\{)"
)
"""Functions without parameters."""


def mask(code: str) -> str:
    """The code with a blank for each character of its strings, comments and regular expressions."""
    return LITERAL.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), code)


def strip_modules(code: str) -> str:
    """Without `export`: what a module gives by default is called `main`, unless it has a name."""
    default = r"(?:export\s+default|module\.exports\s*=|exports\.\w+\s*=)"
    for pattern, instead in (
        (r"^([ \t]*)export\s*\{[^}]*\}[ \t]*;?", r"\1"),
        (rf"^[ \t]*{default}\s*[\w$]+[ \t]*;?[ \t]*$", ""),
        (rf"^([ \t]*){default}\s*((?:async\s+)?function\s*\*?\s*[\w$]+|class\s+[\w$]+)", r"\1\2"),
        (rf"^([ \t]*){default}\s*", r"\1const main = "),
        (r"^([ \t]*)export\s+(?=(?:async|function|class|const|let|var)\b)", r"\1"),
    ):
        code = re.sub(pattern, instead, code, flags=re.MULTILINE)
    return code


def find_uncalled_start(code: str) -> str:
    """The one function to begin with of code that only declares things, and calls none; empty for all other code."""
    masked = flat = mask(code)
    for _ in range(_DEEPEST):  # what lies in brackets is nobody's top level
        flat, changes = re.subn(r"\{[^{}()]*\}", "§", flat)
        flat, more = re.subn(r"\([^{}()]*\)", "¶", flat)
        if not changes and not more:
            break
    function = r"(?:async\s+)?(?:function\b\s*[\w$]*\s*¶\s*§|(?:¶|[\w$]+)\s*=>\s*(?:§|[^;\n]*))"
    rest = re.sub(rf"\b(?:const|let|var)\s+[\w$]+\s*=\s*{function}|\bclass\s[^§]*§|{function}", "", flat)
    if re.sub(r"\b(?:const|let|var)\b[^;\n]*", "", rest).strip(" \n\t;"):
        return ""
    names = [found[1] or found[2] for found in _DECLARED.finditer(masked)]
    uncalled = [name for name in names if len(re.findall(rf"(?<![\w$]){re.escape(name)}(?![\w$])", masked)) == 1]
    starts = [name for name in uncalled if START_NAMES.fullmatch(name)] or uncalled
    return starts[0] if len(starts) == 1 else ""


def strip_types(code: str, is_typed: bool = False) -> str:
    """TypeScript without its types; other code as it is, unless `is_typed` says that it is TypeScript."""
    masked = mask(code)
    if not is_typed and not _TYPED.search(masked):
        return code
    kept, at = [], 0
    for begin, end in _find_types(masked):
        if begin >= at:
            kept.append(code[at:begin])
            at = end
    return "".join([*kept, code[at:]])


_PLACES = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^[ \t]*((?:export\s+|declare\s+)*interface\s+\w+[^{]*\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\})",
        rf"^[ \t]*((?:export\s+|declare\s+)*type\s+\w+(?:<[^>]*>)?\s*=\s*{_TYPES}\s*;?)",
        rf"\b(?:const|let|var)\s+[\w$]+(\s*!?\s*:\s*{_TYPES})(?=\s*[=;\n]|\s+of\b)",
        rf"(?<=\S)(\s+(?:as|satisfies)\s+(?:const\b|{_TYPES}))",
        rf"\)(\s*:\s*(?:\w+\s+is\s+)?{_TYPES})(?=\s*(?:\{{|=>))",
        r"^[ \t]*((?:(?:private|public|protected|readonly|declare|abstract)\s+)+)(?=[\w$#\[])",
        rf"^[ \t]*{_MODIFIERS}(?!default\b)[\w$#]+([?!]?\s*:\s*{_TYPES})(?=\s*(?:;|=[^=>]))",
        r"(?<=[\w$)\]])(!)(?=[.;,)\[\s])(?!\s*=)",
        r"\b(?:class|function)\s+[\w$]+(<[^<>(){}]*>)",
        r"(?<=[\w$])(<[A-Z\w][\w\s,.\[\]|<>]*?>)(?=\s*\()",
    )
)
"""Of types, each in the pattern's group."""
_STATEMENT = re.compile(r"\b(?:if|for|while|switch|with)\s*\($")
_PARAMETER = re.compile(rf"(?:^|,)\s*({_MODIFIERS})(?:\.\.\.)?[\w$]+(\??\s*:\s*{_TYPES}|)(?=\s*(?:[,=]|$))")


def _find_types(masked: str) -> Iterator[tuple[int, int]]:
    """Where types stand in code, in order."""
    places = [found.span(1) for pattern in _PLACES for found in pattern.finditer(masked)]
    opened: list[int] = []
    for found in re.finditer(r"[()]", masked):
        if found[0] == "(":
            opened.append(found.start())
        elif opened and re.match(rf"\s*(?::\s*{_TYPES}\s*)?(?:\{{|=>)", masked[found.end() : found.end() + _LONGEST]):
            begin = opened.pop() + 1
            if not _STATEMENT.search(masked[max(0, begin - _LONGEST) : begin]):
                for one in _PARAMETER.finditer(masked[begin : found.start()]):
                    places += [(begin + first, begin + last) for first, last in (one.span(1), one.span(2))]
        elif opened:
            opened.pop()
    yield from sorted(places)
