"""From a model's answer to the code of a version: a misunderstood protocol is repaired where that needs no guess.

What is asked for is one block of JavaScript. What small models give besides: a whole HTML page, JSON with the code in
it, code that returns such an object, modules, several blocks, thoughts, text that was escaped twice, code for a page
that is not there: elements that it looks up and never makes (of which only the tag has to be guessed). Each repair is
told on the record; where there is none, the model is told why, once.
"""

import html
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from burnish.events import Frozen
from burnish.pages.javascript import (
    LITERAL,
    find_missing_elements,
    find_uncalled_start,
    has_types,
    mask,
    separate_text,
    strip_modules,
)

CUT_OFF = "It was cut off before its end. Write shorter code."
NO_CODE = "There is no code in the answer."
NO_IMPORT = "It imports other files, and there are none. Write everything yourself, without import or require."
NO_LIBRARY = "Its page loads a library, and there is no network. Write everything yourself."
NOT_JAVASCRIPT = "That is {}. Write JavaScript that runs in a browser as it is."

CODE_KEYS = ("code", "javascript", "js", "script", "source", "html", "content", "text", "arguments", "input", "params")
"""Of JSON, under which code is looked for, in this order."""

SCRIPT_LANGUAGES = (
    "",
    "js",
    "javascript",
    "jsx",
    "mjs",
    "cjs",
    "node",
    "ts",
    "tsx",
    "typescript",
    "html",
    "vue",
    "json",
)
OTHER_LANGUAGES = ("python", "py", "bash", "sh", "java", "c", "cpp", "rust", "go", "php", "ruby")

_THOUGHTS = re.compile(r"<(think|thinking|thought|reasoning|scratchpad)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHTS_END = re.compile(r"\A(?:(?!<think).)*?</(?:think|thinking|thought|reasoning)>", re.DOTALL | re.IGNORECASE)
_MARKS = re.compile(r"<\|[\w▁]+\|>|<｜[^｜]*｜>")
_TAG = r"(?:\[/?INST\]|</?(?:s|tool_call|function_call|answer|artifact|response|output|code)\b[^>]*>)"
_TAGS = re.compile(rf"\A(?:\s*{_TAG})+|(?:{_TAG}\s*)+\Z", re.IGNORECASE)
"""Around a whole answer; within code they may be meant."""
_GAVE_UP = re.compile(r"^\W*GIVE UP\b[:\s]*(.*)", re.IGNORECASE)
_FENCE = re.compile(
    r"^[ \t>]*(?P<mark>`{3,}|~{3,}|'{3}|\"{3})[ \t]*(?P<language>[\w+#-]*)[^\n]*\n(?P<code>.*?)"
    r"(?:^[ \t>]*(?P=mark)[ \t]*$|(?P<open>\Z))",
    re.DOTALL | re.MULTILINE,
)
_HTML = re.compile(r"<(?:!doctype|html|head|body|script|canvas|div|button|style|svg|p|h1|input|span)\b", re.IGNORECASE)
_SCRIPT = re.compile(r"<script\b([^>]*)>(.*?)(?:</script\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_STYLE = re.compile(r"<style\b[^>]*>(.*?)</style\s*>", re.DOTALL | re.IGNORECASE)
_NO_BODY = re.compile(
    r"<!--.*?-->|<!doctype[^>]*>|<(title)\b.*?</\1\s*>|</?(?:html|head|body|meta|link|base)\b[^>]*>",
    re.DOTALL | re.IGNORECASE,
)
_CODE_LINE = re.compile(
    r"^\s*(?:(?:const|let|var|function|class|async|if|for|while|return|switch|case|try|throw|await|new|import|export|else"
    r"|interface|type|enum)\b[^.]*[\w({\[;=,>]|//|/\*|\*/|[}\])]|[\w$.\[\]'\"]+\s*(?:=|\+=|-=|\+\+|--|\()|[\"'`<.]|\.\.\.)"
    r"|[;{}(\[,]\s*$|=>"
)


_LIST_LINE = re.compile(r"\s*(?:[-*]|\d+\.|#+)\s+\w")
_NUMBERED = re.compile(r"^[ \t]*\d+[ \t]*[|:.)]?(?: |\t|$)")
_NAMES = re.compile(r"^(?:export\s+)?(?:const|let|class|function|var)\s+([\w$]+)", re.MULTILINE)
_PYTHON = re.compile(r"^(?:def \w+\(.*\):|from \w+ import )", re.MULTILINE)
_JSX = re.compile(r"(?:return|=>)\s*\(?\s*<[A-Za-z]+[\s/>]")
_IMPORT = re.compile(r"^\s*import\b(?!\s*\()|\brequire\s*\(", re.MULTILINE)
_EXPORT = re.compile(r"^\s*export\b|\bmodule\.exports\b|^\s*exports\.", re.MULTILINE)


class PageAnswer(Frozen):
    """What an answer comes to: code, or why there is none."""

    code: str = ""
    repaired: str = ""
    """What had to be done to the answer before it was code; empty: nothing."""
    why: str = ""
    """Why there is no code, as it is sent back to the model."""
    gave_up: str = ""
    """The reason, where the model gave up."""


class _Unusable(Exception):
    """An answer that cannot be repaired; its text is what the model is told."""


def read_answer(text: str, ended: str = "stop") -> PageAnswer:
    """The code in an answer, put right where it can be without a call. `ended` is how the answer ended."""
    repairs: dict[str, None] = {}
    said = _THOUGHTS_END.sub("", _THOUGHTS.sub("", _MARKS.sub("", text))).strip("\ufeff\u200b \n")
    said = _TAGS.sub("", said)
    if len(said) < len(text.strip()):
        repairs["thoughts and marks of a chat were left out"] = None
    if given := _GAVE_UP.match(said):
        return PageAnswer(gave_up=given[1].strip() or "no reason given", why="The answer was to give up.")
    blocks = list(_FENCE.finditer(said))
    if ended == "length" and (not blocks or blocks[-1]["open"] is not None):
        return PageAnswer(why=CUT_OFF)
    try:
        code = _Reader(repairs).read_text(said)
    except _Unusable as error:
        return PageAnswer(why=str(error))
    except RecursionError:
        return PageAnswer(why=NO_CODE)
    if start := find_uncalled_start(code):
        repairs[f"{start}() was called"] = None
        code = f"{code.rstrip()}\n{start}();"
    if missing := find_missing_elements(code):
        repairs[f"{', '.join(missing)}: looked up and never made, so made first"] = None
        code = f"{_make_elements(missing, code)}\n{code}"
    if (separated := separate_text(code)) != code:
        repairs["text that would have removed a button or box has an element of its own"] = None
        code = separated
    return PageAnswer(code=code, repaired="; ".join(repairs)) if code.strip() else PageAnswer(why=NO_CODE)


class _Reader:
    """Looks for code, and notes what it had to do for that."""

    def __init__(self, repairs: dict[str, None]) -> None:
        self.repairs = repairs

    def note(self, repair: str) -> None:
        """That something was done to the answer; each is told once."""
        self.repairs[repair] = None

    def read_text(self, text: str) -> str:
        """The code of a text in which it may lie in blocks, in a page, in JSON, or between sentences."""
        found = [(block["language"].lower(), _unquote(block)) for block in _FENCE.finditer(text)]
        blocks = [(language, code) for language, code in found if code.strip()]
        kinds: dict[str, list[str]] = {}
        for language, code in blocks:
            kinds.setdefault(_find_kind(language, code), []).append(code)
        if not blocks:
            return self.read_block("", self.cut_prose(text))
        if len(blocks) == 1 or not ({"js", "html"} & kinds.keys()):
            return self.read_block(*max(blocks, key=lambda block: len(block[1])))
        scripts = _choose_scripts(kinds.get("js", []))
        self.note("several blocks were put together" if len(scripts) > 1 else "one of several blocks was taken")
        script = "\n".join(self.read_block("ts" if ("ts", one) in blocks else "js", one) for one in scripts)
        page = max(kinds.get("html", []), key=len, default="")
        style = "".join(f"<style>{css}</style>" for css in kinds.get("css", []))
        return self.read_page(page + style, script) if page or style else script

    def read_block(self, language: str, code: str) -> str:
        """The code of one block."""
        if language in OTHER_LANGUAGES or _PYTHON.search(code):
            raise _Unusable(NOT_JAVASCRIPT.format(language if language in OTHER_LANGUAGES else "Python"))
        code = self.undo_escapes(code)
        if (given := _find_in_json(code)) is not None:
            self.note("the code was taken out of JSON")
            return self.read_text(given)
        with suppress(ValueError):
            json.loads(code)
            raise _Unusable(NO_CODE)  # JSON, and no code is in it
        if _find_kind(language, code) == "html":
            return self.read_page(code)
        if (given := _find_in_object(code)) is not None:
            self.note("the code was taken out of an object")
            return self.read_text(given)
        if language in ("ts", "tsx", "typescript") and has_types(code):
            raise _Unusable(NOT_JAVASCRIPT.format("TypeScript"))
        masked = mask(code)
        if _JSX.search(masked):
            raise _Unusable(NOT_JAVASCRIPT.format("JSX, of React"))
        if _IMPORT.search(masked):
            raise _Unusable(NO_IMPORT)
        if _EXPORT.search(masked):
            self.note("`export` was left out")
            return strip_modules(code)
        return code

    def cut_prose(self, text: str) -> str:
        """Text without a block: the page or JSON in it, or code, with sentences as comments that keep its lines."""
        stripped = text.strip()
        if stripped[:1] in "{[<" or _find_in_json(stripped) is not None:
            return stripped
        if page := re.search(r"<(?:!doctype|html|script)\b.*(?:</html>|</script>|\Z)", text, re.DOTALL | re.IGNORECASE):
            self.note("text around the page was left out")
            return page[0]
        data = re.search(r"[{\[]\s*\".*[}\]]", text, re.DOTALL)  # JSON with a word before it
        if data and _find_in_json(data[0]) is not None:
            return data[0]
        if inline := re.fullmatch(r"[^`]*`([^`\n]{20,})`[^`]*", stripped):
            self.note("the code stood between sentences")
            return inline[1]
        lines, depth = [], 0
        for line in text.split("\n"):
            is_code = depth > 0 or bool(_CODE_LINE.search(line) and not _LIST_LINE.match(line))
            if is_code:
                masked = mask(line)
                depth += sum(map(masked.count, "{([")) - sum(map(masked.count, "})]"))
            lines.append(line if is_code or not line.strip() else f"// {line}")
        if not re.search(r"[;={(]", mask("\n".join(lines))):
            raise _Unusable(NO_CODE)
        code = "\n".join(lines)
        self.note("the code stood in no block" if code == text else "the code stood between sentences")
        return code

    def undo_escapes(self, code: str) -> str:
        """Code whose line breaks, quotes or brackets were written as in another language, or in a listing."""
        if "\\n" in mask(code) and code.strip().count("\n") <= 1:
            self.note("escaped line breaks were undone")
            code = _unescape(code.strip().strip("\"'"))
        if re.search(r"&(?:lt|gt|amp|quot|#39);", mask(code)) and not re.match(r"\s*<", code):
            self.note("HTML entities were undone")
            code = html.unescape(code)
        if re.search("[“”‘’]", mask(code)):
            self.note("typographic quotes were replaced")
            code = re.sub("[“”]", '"', re.sub("[‘’]", "'", code))
        lines = [line for line in code.split("\n") if line.strip()]
        if len(lines) > 2 and all(map(_NUMBERED.match, lines)):
            self.note("line numbers were left out")
            code = "\n".join(_NUMBERED.sub("", line) for line in code.split("\n"))
        elif len(lines) > 2 and any(line[0] == "+" for line in lines) and all(line[0] in "+-@ " for line in lines):
            self.note("a diff was taken for what it adds")
            code = "\n".join(line[1:] for line in code.split("\n") if not re.match(r"-|@@|\+\+\+", line))
        return code

    def read_page(self, page: str, more: str = "") -> str:
        """JavaScript that puts the body of an HTML page into dyn-ui, and then does what its scripts do, and `more`."""
        found = [(script[1], script[2]) for script in _SCRIPT.finditer(page)]
        if not more and not any(text.strip() for _, text in found) and any("src" in about for about, _ in found):
            raise _Unusable(NO_LIBRARY)
        script = "\n".join([*(self.read_block("js", text) for _, text in found if text.strip()), *filter(None, [more])])
        style = "".join(f"<style>{text.strip()}</style>" for text in _STYLE.findall(page))
        markup = _NO_BODY.sub("", _STYLE.sub("", _SCRIPT.sub("", page))).strip()
        if not style + markup:
            self.note("the code was taken out of <script>")
            return script
        self.note("an HTML page was turned into code")
        # A page with a canvas of its own wants it in place of the one that is there.
        verb = "replaceChildren(); ui.insertAdjacentHTML" if "<canvas" in markup.lower() else "insertAdjacentHTML"
        parts = [f'const ui = document.getElementById("dyn-ui"); ui.{verb}("beforeend", {json.dumps(style + markup)});']
        parts = [f"{{ {parts[0]} }}"]
        # What `onclick="…"` in markup calls must be known everywhere.
        handlers = " ".join(re.findall(r"\bon\w+\s*=\s*(\"[^\"]*\"|'[^']*')", markup))
        names = [
            name
            for name in dict.fromkeys(re.findall(r"([\w$]+)\s*\(", handlers))
            if re.search(rf"\b(?:function|const|let|var)\s+{re.escape(name)}\b", script)
        ]
        parts += [script, *([f"Object.assign(window, {{ {', '.join(names)} }});"] if names else [])]
        if load := re.search(r"<body\b[^>]*\bonload\s*=\s*[\"']([^\"']*)[\"']", page, re.IGNORECASE):
            parts.append(f"{load[1].rstrip(';')};")
        return "\n".join(parts)


def _make_elements(tags: Mapping[str, str], code: str) -> str:
    """A line that makes these elements, as the page that the model had in mind would have had them."""
    markup = ""
    for name, tag in tags.items():
        words = re.sub(r"([a-z])([A-Z])|[-_]+", r"\1 \2", name).lower()
        label = (re.sub(r"\b(?:button|btn)\b", "", words).strip() or words).capitalize() if tag == "button" else ""
        size = ' width="800" height="600"' if tag == "canvas" else ""
        markup += f'<{tag} id="{name}"{size}>{label}' + ("" if tag == "input" else f"</{tag}>")
    # A canvas by another name is meant in place of the one that is there.
    is_other = "canvas" in tags.values() and not re.search(r"[\"'`#]canvas[\"'`]", code)
    put = "innerHTML = " if is_other else 'insertAdjacentHTML("beforeend", '
    return f"document.getElementById(\"dyn-ui\").{put}'{markup}'{';' if is_other else ');'}"


def _unquote(block: re.Match[str]) -> str:
    """The content of a block, which may lie in a quotation."""
    lines = block["code"].removesuffix("\n").split("\n")
    is_quoted = all(line.lstrip().startswith(">") for line in lines if line.strip())
    return "\n".join(re.sub(r"^\s*> ?", "", line) for line in lines) if is_quoted else "\n".join(lines)


def _find_kind(language: str, code: str) -> str:
    if language in ("css", "scss"):
        return "css"
    if re.match(r"\s*<", code) and _HTML.search(code):
        return "html"
    return "js" if language in SCRIPT_LANGUAGES else "other"


def _choose_scripts(scripts: Sequence[str]) -> list[str]:
    """Those that belong together: all, as the parts of one, or the longest where they declare the same names."""
    parts = [
        one for one in dict.fromkeys(scripts) if not any(one.strip() in other and one != other for other in scripts)
    ]
    names = [set(_NAMES.findall(one)) for one in parts]
    is_apart = all(not (a & b) for place, a in enumerate(names) for b in names[:place])
    return parts if is_apart else [max(reversed(parts), key=len)]


def _unescape(text: str) -> str:
    marks = {"n": "\n", "t": "\t", "r": ""}
    return re.sub(r"\\(.)", lambda found: marks.get(found[1], found[1]), text, flags=re.DOTALL)


def _find_in_json(text: str) -> str | None:
    """The code in a JSON value, however deep; None where the text is no JSON, or holds none."""
    text = text.strip().rstrip(";")
    if not text.startswith(("{", "[", '"')) or text.startswith(('"use strict"', "[...")):
        return None
    try:
        return _find_code(json.loads(text, strict=False))
    except ValueError:
        pass
    # Nearly JSON: quotes or line breaks in the code are not escaped, or it stands between backticks.
    keys = "|".join(CODE_KEYS[:8])
    if found := re.search(
        rf'"(?:{keys})"\s*:\s*(?P<mark>"|`|\'\'\'|""")(?P<code>.*)(?P=mark)\s*[,}}\]]', text, re.DOTALL
    ):
        body = re.split(r'(?<!\\)"\s*,\s*"\w+"\s*:', found["code"])[0]
        return _unescape(body) if found["mark"] == '"' or "\\n" in mask(body) else body
    return None


def _find_code(value: Any) -> str | None:
    if isinstance(value, str):
        inner = _find_in_json(value)
        return inner if inner is not None else value if re.search(r"[;={(<]", value) else None
    if isinstance(value, dict):
        keys = sorted(
            value, key=lambda key: CODE_KEYS.index(key.lower()) if key.lower() in CODE_KEYS else len(CODE_KEYS)
        )
        parts = {key: found for key in keys if (found := _find_code(value[key])) is not None}
        by_kind = {kind: parts[key] for key in parts if (kind := key.lower()) in ("html", "css", "js", "javascript")}
        if len(by_kind) > 1:  # a page in three parts
            js = by_kind.get("js") or by_kind.get("javascript", "")
            style = f"<style>{by_kind['css']}</style>" if "css" in by_kind else ""
            return f"{by_kind.get('html', '')}{style}<script>{js}</script>"
        return next(iter(parts.values()), None)
    if isinstance(value, list):
        if value and all(isinstance(line, str) for line in value):
            return "\n".join(value)
        return max((found for one in value if (found := _find_code(one)) is not None), key=len, default=None)
    return None


def _find_in_object(code: str) -> str | None:
    """The code in an object that code returns, or only makes, where that is all it does."""
    keys = "|".join(CODE_KEYS[:8])
    for found in re.finditer(rf"\b(?:{keys})[\"']?\s*:\s*(?=[\"'`])", code):
        literal = LITERAL.match(code, found.end())
        if not literal or literal["string"] is None:
            continue
        rest = mask(code[: found.start()] + code[literal.end() :])
        inner = literal["string"][1:-1]
        if len(inner) > 30 and not re.search(r"\b(?:getContext|createElement|addEventListener|getElementById)\b", rest):
            return _unescape(inner)
    return None
