"""From a model's answer to the code of a version: a misunderstood protocol is repaired where that needs no guess.

What is asked for is one block of JavaScript. What small models give besides: a whole HTML page, JSON with the code in
it, code that returns such an object, TypeScript, modules, several blocks, thoughts, text that was escaped twice. Each
repair is told on the record; where there is none, the model is told why, once.
"""

import html
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from burnish.events import Frozen

CUT_OFF = "It was cut off before its end. Write shorter code."
NO_CODE = "There is no code in the answer."
NO_IMPORT = "It imports other files, and there are none. Write everything yourself, without import or require."
NO_LIBRARY = "Its page loads a library, and there is no network. Write everything yourself."
NOT_JAVASCRIPT = "That is {}. Write JavaScript that runs in a browser as it is."

CODE_KEYS = ("code", "javascript", "js", "script", "source", "html", "content", "text", "arguments", "input", "params")
"""Of JSON, under which code is looked for, in this order."""
START_NAMES = re.compile(
    r"main|init\w*|start\w*|setup\w*|run\w*|create\w*|draw\w*|render\w*|game\w*|app", re.IGNORECASE
)

_THOUGHTS = re.compile(r"<(think|thinking|thought|reasoning|scratchpad)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHTS_END = re.compile(r"\A(?:(?!<think).)*?</(?:think|thinking|thought|reasoning)>", re.DOTALL | re.IGNORECASE)
_TOKENS = re.compile(
    r"<\|[\w▁]+\|>|<｜[^｜]*｜>|\[/?INST\]|</?s>|</?(?:tool_call|function_call|answer|artifact|response|output)\b[^>]*>"
)
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
_LITERAL = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<string>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)"
    r"|(?<=[=(,:!&|?{};\n])[ \t]*(?P<regex>/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/[a-z]*)",
    re.DOTALL,
)
_CODE_LINE = re.compile(
    r"^\s*(?:(?:const|let|var|function|class|async|if|for|while|return|switch|case|try|throw|await|new|import|export|else"
    r"|interface|type|enum)\b[^.]*[\w({\[;=,>]|//|/\*|\*/|[}\])]|[\w$.\[\]'\"]+\s*(?:=|\+=|-=|\+\+|--|\()|[\"'`<.]|\.\.\.)"
    r"|[;{}(\[,]\s*$|=>"
)
_TYPE = (
    r"(?:typeof\s+)?(?:[A-Za-z_$][\w$.]*(?:<[^<>()=;]*(?:<[^<>]*>)?[^<>()=;]*>)?|\{[^{}]*\}|\[[^\[\]]*\]|\([^()]*\)\s*=>\s*\w+"
    r"|\"[^\"]*\"|'[^']*')(?:\[\])*"
)
_TYPES = rf"\|?\s*{_TYPE}(?:\s*[|&]\s*{_TYPE})*"


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
    repairs: list[str] = []
    said = _TOKENS.sub("", _THOUGHTS_END.sub("", _THOUGHTS.sub("", text))).strip("\ufeff\u200b \n")
    if given := _GAVE_UP.match(said):
        return PageAnswer(gave_up=given[1].strip() or "no reason given", why="The answer was to give up.")
    blocks = list(_FENCE.finditer(said))
    if ended == "length" and (not blocks or blocks[-1]["open"] is not None):
        return PageAnswer(why=CUT_OFF)
    try:
        code = _read_text(said, repairs)
    except _Unusable as error:
        return PageAnswer(why=str(error))
    return (
        PageAnswer(code=code, repaired="; ".join(dict.fromkeys(repairs))) if code.strip() else PageAnswer(why=NO_CODE)
    )


def _read_text(text: str, repairs: list[str]) -> str:
    """The code of a text in which it may lie in blocks, in a page, in JSON, or between sentences."""
    blocks = [(found["language"].lower(), _unquote(found)) for found in _FENCE.finditer(text) if found["code"].strip()]
    if not blocks:
        return _read_block("", _cut_prose(text, repairs), repairs)
    if len(blocks) == 1:
        return _read_block(*blocks[0], repairs)
    usable = {
        kind: [code for language, code in blocks if _find_kind(language, code) == kind]
        for kind in ("html", "css", "js")
    }
    scripts = _choose_scripts(usable["js"])
    if not scripts and not usable["html"]:
        return _read_block(*max(blocks, key=lambda block: len(block[1])), repairs)
    if scripts == [max(usable["js"], key=len, default="")] and not usable["html"] and not usable["css"]:
        if len(usable["js"]) > 1:
            repairs.append("the longest of several blocks was taken")
        return _read_block("js", scripts[0], repairs)
    repairs.append("several blocks were put together")
    page = max(usable["html"], key=len, default="")
    style = "".join(f"<style>{css}</style>" for css in usable["css"])
    script = "\n".join(_read_block("js", one, repairs) for one in scripts)
    return _read_page(page + style, repairs, script) if page or style else script


def _unquote(block: re.Match[str]) -> str:
    """The content of a block, which may lie in a quotation."""
    lines = block["code"].split("\n")
    quoted = all(line.lstrip().startswith(">") for line in lines if line.strip())
    return "\n".join(re.sub(r"^\s*> ?", "", line) for line in lines) if quoted else block["code"].removesuffix("\n")


def _find_kind(language: str, code: str) -> str:
    if language in ("css", "scss"):
        return "css"
    if re.match(r"\s*<", code) and _HTML.search(code):
        return "html"
    if language in ("", "html", "vue", "svg", "json") or re.fullmatch(
        r"(?:j|t)sx?|javascript|typescript|[mc]js|node", language
    ):
        return "js"
    return "other"


def _choose_scripts(scripts: Sequence[str]) -> list[str]:
    """Those that belong together: all, as the parts of one, or the longest where they declare the same names."""
    whole = [one for one in scripts if not any(one.strip() in other and one != other for other in scripts)]
    whole = list(dict.fromkeys(whole))
    names = [
        set(re.findall(r"^(?:export\s+)?(?:const|let|class|function|var)\s+([\w$]+)", one, re.MULTILINE))
        for one in whole
    ]
    is_apart = all(not (a & b) for place, a in enumerate(names) for b in names[:place])
    return whole if is_apart else [max(reversed(whole), key=len)]


def _read_block(language: str, code: str, repairs: list[str]) -> str:
    """The code of one block."""
    if language in ("python", "py", "bash", "sh", "java", "c", "cpp", "rust", "go"):
        raise _Unusable(NOT_JAVASCRIPT.format(language))
    code = _undo_escapes(code, repairs)
    if (given := _find_in_json(code)) is not None:
        repairs.append("the code was taken out of JSON")
        return _read_text(given, repairs)
    if re.match(r"\s*<", code) and _HTML.search(code):
        return _read_page(code, repairs)
    if (given := _find_in_object(code)) is not None:
        repairs.append("the code was taken out of the object that it returned")
        return _read_text(given, repairs)
    if re.search(r"^\s*(?:def \w+\(.*\):|from \w+ import )", code, re.MULTILINE):
        raise _Unusable(NOT_JAVASCRIPT.format("Python"))
    code = _strip_types(code, repairs, language in ("ts", "tsx", "typescript"))
    if re.search(r"(?:return|=>)\s*\(?\s*<[A-Za-z]+[\s/>]", _mask(code)):
        raise _Unusable(NOT_JAVASCRIPT.format("JSX, of React"))
    return _call_it(_strip_modules(code, repairs), repairs)


# --- Text that is no code yet ---


def _cut_prose(text: str, repairs: list[str]) -> str:
    """Without a block: sentences before, after and between code become comments, as they keep the lines in place."""
    stripped = text.strip()
    if stripped[:1] in "{[<" or _find_in_json(stripped) is not None:
        return stripped
    if found := re.search(r"<(?:!doctype|html|script)\b", text, re.IGNORECASE):
        end = max(text.lower().rfind("</html>") + 7, text.lower().rfind("</script>") + 9)
        repairs.append("text around the page was left out")
        return text[found.start() : end if end > found.start() + 9 else None]
    if start := re.search(r"[{\[]\s*\"", text):  # JSON with a word before it
        if _find_in_json(text[start.start() : text.rfind("}") + 1]) is not None:
            return text[start.start() : text.rfind("}") + 1]
    if inline := re.fullmatch(r"[^`]*?`([^`\n]{20,})`[^`]*", stripped):
        repairs.append("the code stood between sentences")
        return inline[1]
    lines, is_code, depth = text.split("\n"), list[bool](), 0
    for line in lines:
        masked = _mask(line)
        looks = bool(_CODE_LINE.search(line)) and not re.match(r"\s*(?:[-*]|\d+\.|#+)\s+\w", line)
        is_code.append(looks or depth > 0)
        depth = (
            max(0, depth + sum(masked.count(mark) for mark in "{([") - sum(masked.count(mark) for mark in "})]"))
            if looks or depth
            else 0
        )
    if not any(is_code) or not re.search(
        r"[;={(]", "\n".join(line for line, ok in zip(lines, is_code, strict=True) if ok)
    ):
        raise _Unusable(NO_CODE)
    if all(is_code[n] or not line.strip() for n, line in enumerate(lines)):
        repairs.append("the code stood in no block")
        return text
    repairs.append("the code stood between sentences")
    return "\n".join(line if ok or not line.strip() else f"// {line}" for line, ok in zip(lines, is_code, strict=True))


def _undo_escapes(code: str, repairs: list[str]) -> str:
    """Code whose line breaks, quotes or brackets were written as they are in another language, or in a listing."""
    outside = _mask(code)
    if "\\n" in outside and code.strip().count("\n") <= 1:
        repairs.append("escaped line breaks were undone")
        code = _unescape(code.strip().strip("\"'"))
    if re.search(r"&(?:lt|gt|amp|quot|#39);", _mask(code)) and not re.match(r"\s*<", code):
        repairs.append("HTML entities were undone")
        code = html.unescape(code)
    if re.search("[“”‘’]", _mask(code)):
        repairs.append("typographic quotes were replaced")
        code = re.sub("[“”]", '"', re.sub("[‘’]", "'", code))
    lines = [line for line in code.split("\n") if line.strip()]
    if len(lines) > 2 and [re.match(r"\s*(\d+)\s*[|:.)]?(?:\s|$)", line) for line in lines].count(None) == 0:
        repairs.append("line numbers were left out")
        code = re.sub(r"^\s*\d+\s*[|:.)]? ?", "", code, flags=re.MULTILINE)
    elif len(lines) > 2 and any(line.startswith("+") for line in lines) and all(line[0] in "+-@ " for line in lines):
        repairs.append("a diff was taken for what it adds")
        kept = (line for line in code.split("\n") if not re.match(r"-|@@|\+\+\+", line))
        code = "\n".join(line[1:] for line in kept)
    return code


def _unescape(text: str) -> str:
    marks = {"n": "\n", "t": "\t", "r": ""}
    return re.sub(r"\\(.)", lambda found: marks.get(found[1], found[1]), text, flags=re.DOTALL)


# --- JSON and objects ---


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
        return _unescape(body) if found["mark"] == '"' or "\\n" in _mask(body) else body
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
        literal = _LITERAL.match(code, found.end())
        if not literal or literal["string"] is None:
            continue
        rest = _mask(code[: found.start()] + code[literal.end() :])
        inner = literal["string"][1:-1]
        if len(inner) > 30 and not re.search(r"\b(?:getContext|createElement|addEventListener|getElementById)\b", rest):
            return _unescape(inner)
    return None


# --- A page ---


def _read_page(page: str, repairs: list[str], more: str = "") -> str:
    """JavaScript that puts the body of an HTML page into dyn-ui, with its styles, and then does what its scripts do."""
    scripts = [(found[1], found[2]) for found in _SCRIPT.finditer(page)]
    if not more and not any(body.strip() for _, body in scripts) and any("src" in about for about, _ in scripts):
        raise _Unusable(NO_LIBRARY)
    body = re.search(r"<body\b([^>]*)>", page, re.IGNORECASE)
    style = "\n".join(found.strip() for found in _STYLE.findall(page))
    markup = _NO_BODY.sub("", _STYLE.sub("", _SCRIPT.sub("", page))).strip()
    script = "\n".join(
        [*(_read_block("js", text, repairs) for _, text in scripts if text.strip()), *([more] if more else [])]
    )
    repairs.append("an HTML page was turned into code" if markup or style else "the code was taken out of <script>")
    handlers = " ".join(re.findall(r"\bon\w+\s*=\s*(\"[^\"]*\"|'[^']*')", markup))
    called = dict.fromkeys(re.findall(r"([\w$]+)\s*\(", handlers))
    exposed = [name for name in called if re.search(rf"\b(?:function|const|let|var)\s+{re.escape(name)}\b", script)]
    parts = []
    if markup or style:
        inserted = f"{f'<style>{style}</style>' if style else ''}{markup}"
        # A page with a canvas of its own wants it in place of the one that is there.
        how = "innerHTML = " if "<canvas" in markup.lower() else 'insertAdjacentHTML("beforeend", '
        end = ";" if how.endswith("= ") else ");"
        parts.append(f'document.getElementById("dyn-ui").{how}{json.dumps(inserted, ensure_ascii=False)}{end}')
    is_hoisted = all(re.search(rf"\bfunction\s+{re.escape(name)}\b", script) for name in exposed)
    expose = [f"Object.assign(window, {{ {', '.join(exposed)} }});"] if exposed else []
    parts += [*expose, script] if is_hoisted else [script, *expose]
    if body and (load := re.search(r"\bonload\s*=\s*[\"']([^\"']*)[\"']", body[1])):
        parts.append(f"{load[1].rstrip(';')};")
    return "\n".join(parts)


# --- JavaScript that is nearly right ---


def _mask(code: str) -> str:
    """The code with a blank for each character of its strings, comments and regular expressions."""
    return _LITERAL.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), code)


def _strip_modules(code: str, repairs: list[str]) -> str:
    """Without `export`; what only `import` could bring is told to the model."""
    masked = _mask(code)
    if re.search(r"^\s*import\b(?!\s*\()|\brequire\s*\(", masked, re.MULTILINE):
        raise _Unusable(NO_IMPORT)
    if not re.search(r"^\s*export\b|\bmodule\.exports\b|^\s*exports\.", masked, re.MULTILINE):
        return code
    repairs.append("`export` was left out")
    code = re.sub(r"^(\s*)export\s*\{[^}]*\}\s*;?", r"\1", code, flags=re.MULTILINE)
    code = re.sub(
        r"^\s*(?:export\s+default|module\.exports\s*=|exports\.\w+\s*=)\s*([\w$]+)\s*;?\s*$",
        "",
        code,
        flags=re.MULTILINE,
    )
    code = re.sub(
        r"^(\s*)export\s+default\s+((?:async\s+)?function\s*\*?\s*[\w$]+|class\s+[\w$]+)",
        r"\1\2",
        code,
        flags=re.MULTILINE,
    )
    code = re.sub(
        r"^(\s*)(?:export\s+default|module\.exports\s*=|exports\.\w+\s*=)\s*",
        r"\1const main = ",
        code,
        flags=re.MULTILINE,
    )
    return re.sub(r"^(\s*)export\s+(?=(?:async|function|class|const|let|var)\b)", r"\1", code, flags=re.MULTILINE)


def _call_it(code: str, repairs: list[str]) -> str:
    """Code that only declares, and calls nothing: its one function to begin with is called."""
    masked, depth, top = _mask(code), 0, []
    for mark in masked:
        depth -= mark in "})]"
        top.append(mark if depth == 0 and mark not in "})]" else " ")
        depth += mark in "{(["
    flat = "".join(top)
    rest = re.sub(
        r"\b(?:async\s+)?function\b\s*\*?\s*[\w$]*\s*[({ ]*|\bclass\s+[\w$]+(?:\s+extends\s+[\w$.]+)?|[({;\s]",
        " ",
        flat,
    )
    rest = re.sub(r"\b(?:const|let|var)\s+[^=;\n]*=\s*(?:async)?\s*[\w$]*\s*(?:=>)?[^;\n]*", " ", rest)
    declared = re.findall(
        r"\b(?:function\s*\*?\s*([\w$]+)\s*\(\s*\)|(?:const|let|var)\s+([\w$]+)\s*=\s*(?:async\s*)?(?:function\b[^(\n]*\(\s*\)|\(\s*\)\s*=>))",
        masked,
    )
    names = [one or other for one, other in declared]
    uncalled = [name for name in names if len(re.findall(rf"(?<![\w$]){re.escape(name)}(?![\w$])", masked)) == 1]
    starts = [name for name in uncalled if START_NAMES.fullmatch(name)] or uncalled
    does_something = rest.strip() or re.search(
        r"=\s*(?:new\b|await\b)|\w\s*\(\s*\)", re.sub(r"function\s*[\w$]*\s*\(", "", flat)
    )
    if does_something or len(starts) != 1:
        return code
    repairs.append(f"{starts[0]}() was called")
    return f"{code.rstrip()}\n{starts[0]}();"


def _strip_types(code: str, repairs: list[str], is_typed: bool) -> str:
    """TypeScript without its types."""
    masked = _mask(code)
    if not is_typed and not re.search(
        r"^\s*(?:interface\s+\w+|type\s+\w+\s*=)|\bas\s+(?:HTML\w+|any|const|number|string)\b"
        r"|\b(?:const|let|var)\s+\w+\s*:\s*\w|[(,]\s*\w+\??\s*:\s*(?:number|string|boolean|any|HTML\w+|\w+\[\])\s*[,)=]"
        r"|\)\s*:\s*(?:void|number|string|boolean|\w+\[\])\s*(?:\{|=>)",
        masked,
        re.MULTILINE,
    ):
        return code
    repairs.append("types of TypeScript were left out")
    kept, at = [], 0
    for begin, end in _find_types(masked):
        if begin >= at:
            kept.append(code[at:begin])
            at = end
    return "".join([*kept, code[at:]])


def _find_types(masked: str) -> Iterator[tuple[int, int]]:
    """Where types stand in code, in order."""
    places = [found.span(1) for pattern in (
        r"(?m)^[ \t]*((?:export\s+|declare\s+)*interface\s+\w+[^{]*\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\})",
        rf"(?m)^[ \t]*((?:export\s+|declare\s+)*type\s+\w+(?:<[^>]*>)?\s*=\s*{_TYPES}\s*;?)",
        rf"\b(?:const|let|var)\s+[\w$]+(\s*!?\s*:\s*{_TYPES})(?=\s*[=;\n]|\s+of\b)",
        rf"(\s+(?:as|satisfies)\s+(?:const\b|{_TYPES}))",
        rf"\)(\s*:\s*(?:\w+\s+is\s+)?{_TYPES})(?=\s*(?:\{{|=>))",
        r"(?m)^[ \t]*((?:(?:private|public|protected|readonly|declare|abstract)\s+)+)(?=[\w$#\[])",
        rf"(?m)^[ \t]*(?:(?:private|public|protected|readonly|static)\s+)*[\w$#]+([?!]?\s*:\s*{_TYPES})(?=\s*(?:;|=[^=>]))",
        r"(?<=[\w$)\]])(!)(?=[.;,)\[\s])(?!\s*=)",
        r"(?<=[\w$])(<[A-Z\w][\w\s,.\[\]|<>]*?>)(?=\s*\()",
    ) for found in re.finditer(pattern, masked)]  # fmt: skip
    for opened in re.finditer(r"\(", masked):
        depth = 0
        for at in range(opened.start(), len(masked)):
            depth += (masked[at] in "([{") - (masked[at] in ")]}")
            if not depth:
                break
        before, after = masked[: opened.start()].rstrip(), masked[at + 1 :]
        is_call = re.search(r"\b(?:if|for|while|switch|with)$", before)
        if not is_call and re.match(rf"\s*(?::\s*{_TYPES}\s*)?(?:\{{|=>)", after):
            inner = masked[opened.end() : at]
            for found in re.finditer(
                rf"(?:^|,)\s*(?:(?:private|public|readonly)\s+)*(?:\.\.\.)?[\w$]+(\??\s*:\s*{_TYPES})(?=\s*(?:[,=]|$))",
                inner,
            ):
                places.append((opened.end() + found.start(1), opened.end() + found.end(1)))
    yield from sorted(places)
