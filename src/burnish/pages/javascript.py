"""JavaScript that is nearly right: `export`, a function that nobody calls, elements that nobody makes, text that
removes them.

There is no parser here. What is done is found by its words, outside of strings and comments, and only where code could
not run as it is.
"""

import re
from collections.abc import Sequence

START_NAMES = re.compile(
    r"main|init\w*|start\w*|setup\w*|run\w*|create\w*|draw\w*|render\w*|game\w*|app", re.IGNORECASE
)
LITERAL = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<string>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)"
    r"|(?<=[=(,:!&|?{};\n])[ \t]*(?P<regex>/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/[a-z]*)",
    re.DOTALL,
)
_LOOKED_UP = re.compile(
    r"(?:(?<![\w$.])(?P<variable>[\w$.]+)\s*=\s*)?"
    r"(?P<call>document\.(?:getElementById\(\s*[\"'`]|querySelector\(\s*[\"'`]#)(?P<id>[A-Za-z][\w-]*)[\"'`]\s*\))"
)
_COMPUTED_ID = re.compile(
    r"\.id\s*=(?!=)\s*(?![\"'\s])|\bid\s*:\s*(?![\"'\s])|[{,]\s*id\s*[,}]|\"id\"\s*,\s*(?![\"'\s])|'id'\s*,\s*(?![\"'\s])"
    r"|\bid=\\?[\"'`]?(?:[\w-]*\$\{|[\w-]*[\"'`]\s*\+)"
)
"""Of an id that is made while the code runs nobody can say beforehand what it is."""
OURS = ("dyn-ui", "canvas")
"""The elements of an empty page."""
_CONTROL = re.compile(r"createElement\(\s*[\"'`](?:button|input|select|textarea)|<(?:button|input|select|textarea)\b")
_PUTS = r"(?:append|appendChild|prepend|insertBefore|insertAdjacent\w+|replaceChildren)\s*\(|innerHTML\s*\+?=(?!=)"
_TEXT = (
    r"\s*\.\s*(?:textContent|innerText)\b"
    r"|\s*\.\s*innerHTML\b(?=\s*\+?=\s*(?:`[^`<]*`|\"[^\"<\n]*\"|'[^'<\n]*')\s*(?:[;}\n]|\Z))"
)
"""Of an element: its text; its markup too where only words are set."""
TEXT = "uiText"
"""The name of the element for text that was to be the text of dyn-ui."""
_DEEPEST = 100
"""Of brackets within brackets."""
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


def has_types(code: str) -> bool:
    """Whether code looks like TypeScript."""
    return _TYPED.search(mask(code)) is not None


def find_missing_elements(code: str) -> dict[str, str]:
    """By id the tag of each element that code looks up and never makes; how it is used tells the tag.

    Left out are those that may be missing (`if (box)`, `box?.`), and those whose id stands anywhere else in the code.
    """
    masked, rest = mask(code), _LOOKED_UP.sub(" ", code)
    found = [one for one in _LOOKED_UP.finditer(code) if masked[one.start("call")] == "d"]
    tags: dict[str, str] = {}
    for name in dict.fromkeys(one["id"] for one in found if not _COMPUTED_ID.search(rest)):
        if name in OURS or re.search(rf"[\"'`]{name}[\"'`]|\bid\s*=\s*\\?[\"']?{name}(?![\w-])", rest):
            continue
        element = _match_element([one for one in found if one["id"] == name])
        is_tested = rf"(?:!|\b(?:if|while)\s*\(|null\s*[!=]==?)\s*{element}(?!\s*[.\[])"
        if not re.search(rf"{is_tested}|{element}\s*(?:\?|&&|\|\||[!=]==?)", code):
            uses = re.findall(rf"{element}\s*(\.\s*\w+(?:\(\s*[\"']\w+)?)", code)
            tags[name] = _tell_tag(name, "".join(uses))
    return tags


def _match_element(found: Sequence[re.Match[str]]) -> str:
    """A pattern for an element, from where it was looked up: those calls, and the variables that hold it."""
    variables = [rf"(?<![\w$.]){re.escape(one['variable'])}(?![\w$])" for one in found if one["variable"]]
    return f"(?:{'|'.join([*(re.escape(one['call']) for one in found), *variables])})"


def _tell_tag(name: str, uses: str) -> str:
    """The tag that is meant by an id whose element has these members."""
    if "getContext" in uses:
        return "canvas"
    if re.search(r"\.\s*(?:value|checked|oninput|onchange)\b|[\"'](?:input|change)\b", uses):
        return "input"
    is_button = re.search(r"\.\s*onclick\b|[\"']click\b", uses) or re.search(r"button|btn", name, re.IGNORECASE)
    return "button" if is_button else "div"


def separate_text(code: str) -> str:
    """With an element of its own for text that is set on all of dyn-ui once a button or box is in it, and removes it.

    Code that empties dyn-ui, or puts something into it afterwards, builds it anew each time and stays as it is.
    """
    found = [one for one in _LOOKED_UP.finditer(code) if one["id"] == OURS[0]]
    if not found or not _CONTROL.search(code) or TEXT in code:
        return code
    element = _match_element(found)
    text = rf"{element}({_TEXT})"
    put = [one.start() for one in re.finditer(rf"{element}\s*\.\s*(?:{_PUTS})", code)]
    told = [one.start() for one in re.finditer(rf"{text}\s*\+?=(?!=)", code)]
    if not put or not told or put[-1] > told[-1] or re.search(rf"{text}\s*=\s*([\"'`])\2", code):
        return code
    line = f'const {TEXT} = document.getElementById("{OURS[0]}").appendChild(document.createElement("p"));'
    return line + "\n" + re.sub(text, TEXT + r"\1", code)
