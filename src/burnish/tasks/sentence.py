"""A task from a sentence: what its words fix is taken from them, the rest is left to the model.

Words can fix names, signatures, examples, what happens outside a range, and whether a function or a class is meant.
"""

import ast
import keyword
import re
from collections.abc import Iterable
from typing import Literal

from burnish.errors import SetupProblem
from burnish.parsing import parse, try_parse
from burnish.tasks.examples import find_called_names, find_examples, is_error
from burnish.tasks.source import FUNCTIONS, find_definition
from burnish.tasks.task import Task
from burnish.tasks.test_file import TestFile
from burnish.text import one_line, slug

AskedKinds = tuple[tuple[str, Literal["function", "class"]], ...]
"""Names, each with what it is to be; one of which nothing is known is left out."""

_NAMED = re.compile(
    r"\b(?:function|class|def|Funktion|Klasse)\s+((?:called\s+|named\s+|namens\s+)?[`'\"]?)([A-Za-z_]\w*)\s*(\([^()]*\))?",
    re.ASCII,
)
_AFTER_A_NAME = re.compile(r"\s*(?:$|[^\w\s]|(?:that|which|to|for|with|taking|returning|on|over|from|mit)\b)")
_CALL_LIKE = re.compile(r"[`'\"]?\b([A-Za-z_]\w*)\s*(\([^()]*\))")
_SEVERAL = re.compile(r"\b(?:functions|classes)\s*(?:called\s+|named\s+|[:,]\s*)?(?=[`'\"\w])")
_ITEM = re.compile(r"[`'\"]?([A-Za-z_]\w*)\b(?!\.\w)(\([^()]*\))?[`'\"]?", re.ASCII)
_JOINT = re.compile(r"\s*(?:,\s*and|,|and|&)\s+")
_FURTHER = re.compile(
    r"\b(?:and|plus)\s+(?:an?\s+|another\s+)?(?:function|class)\s+[`'\"]?([A-Za-z_]\w*)\s*\("
    r"|\bclass\s+([A-Z]\w*)\s+and\s+(?:an?\s+)?function\b",
    re.ASCII,
)
_NOT_NAMES = {"that", "which", "to", "for", "of", "with", "in", "is", "returning", "taking", "and", "from", "like"}
_NOT_NAMES |= {"die", "der", "das", "zum", "zur", "mit", "von", "welche", "aus"}
_KIND_OF_ONE = r"\b(?P<one>class|Klasse|function|Funktion|def)\s+"
_KIND_OF_SEVERAL = (
    r"\b(?P<several>classes|Klassen|functions|Funktionen):?\s+"
    r"(?:[`'\"]?\w+(?:\([^()]*\))?[`'\"]?(?:\s*,\s*and\s+|\s*,\s*|\s+and\s+))*"
)
_RANGE = re.compile(
    r"(?:\b(?:from|between)\s+)?(?<![\w.])(-?\d{1,18})\s*(?:\.\.\.?|…|–|to|and|through)\s*(-?\d{1,18})(?![\w.]*\w)",
    re.ASCII,
)
_ELSE = re.compile(
    r"\b([A-Z]\w*(?:Error|Exception))\b\s+(?:for|on|if|when)\s+"
    r"(?:anything\s+else|everything\s+else|any(?:thing)?\s+other|all\s+other|other|outside|out\s+of\s+range)"
    r"|(?:otherwise|anything\s+else|everything\s+else)[,:]?\s+(?:it\s+)?(?:raises?|is|throws?)\s+(?:an?\s+)?"
    r"([A-Z]\w*(?:Error|Exception))\b",
    re.IGNORECASE,
)
_EDGED = re.compile(
    r"\b(?:lists?|strings?|texts?|words?|sequences?|arrays?|tuples?|sets?|dict(?:ionar(?:y|ies))?s?|numbers?|integers?|"
    r"items?|elements?|characters?|letters?|files?|dates?|range|between|from \S+ to)\b",
    re.IGNORECASE,
)
"""What has edges: it can be empty, too small, of the wrong kind."""
_SETTLED = re.compile(
    r"\b(?:empty|invalid|otherwise|anything else|everything else|missing|none|null|negative|zero|non-empty|"
    r"at least one|raises?|errors?|\w+Error|exception|default)\b",
    re.IGNORECASE,
)
"""Words that say what happens at an edge."""
_FILE = re.compile(r"\b(?:files?|csv|\w*datei(?:en)?)\b", re.IGNORECASE)
_FILE_NAME_ONLY = re.compile(
    r"\bfile ?names?\b|\bextensions?\b|\b(?:writes?|saves?|stores?|deletes?|renames?|moves?|copies|creates?)\b"
    r"|\b(?:folders?|director(?:y|ies)|Ordner|Dateinamen?|Endung|schreib(?:t|en)|speicher(?:t|n)|löscht|benennt)\b"
    r"|\bfiles\b(?! (?:lines|content))",
    re.IGNORECASE,
)
FILE_PARAMETER = re.compile(r"(?:\w+_)?(?:path|file|filename|filepath|pfad|datei|dateipfad|dateiname)", re.IGNORECASE)
FILE_WITH = "file_with"
"""In tests and generated calls: makes a file that holds a text, and gives its path."""
LANGUAGES = {
    "JavaScript": (
        "(?i:javascript|node\\.?js|react|js|npm|deno|node(?=[\\s-]*(?:s[ck]ript|program|$)))|Vue",
        "js mjs cjs jsx",
    ),
    "TypeScript": ("(?i:typescript)|TS", "ts tsx"),
    "Java": ("[Jj]ava", "java"),
    "Kotlin": ("(?i:kotlin)", "kt"),
    "C++": ("[Cc]\\+\\+", "cpp cc hpp"),
    "C#": ("[Cc]#", "cs"),
    "C": ("C", "c h"),
    "Go": ("Go|(?i:golang)", "go"),
    "Rust": ("[Rr]ust", "rs"),
    "Ruby": ("[Rr]uby", "rb"),
    "PHP": ("(?i:php)", "php"),
    "Swift": ("Swift", "swift"),
    "Scala": ("Scala", "scala"),
    "Haskell": ("(?i:haskell)", "hs"),
    "R": ("R", "r"),
    "Lua": ("Lua", "lua"),
    "Perl": ("(?i:perl)", "pl"),
    "PowerShell": ("(?i:powershell)", "ps1"),
    "Bash": ("(?i:bash|shell)", "sh bash"),
    "SQL": ("SQL|sql", "sql"),
    "HTML": ("(?i:html)", "html"),
}
"""Languages that are not written here: how a request names them, and how their files end. Words that mean other things
too, as Go and Swift do, count only with their capital letter.
"""
LONGEST_SUMMARY = 99
_HEAD_ENDS = re.compile(
    r"\n|[.!?](?=\s|$)|[,;:(\s]+(?:e\.\s?g\.|for (?:example|instance)\b|examples?:|such as\b|z\.\s?B\.|>>>)|"
    r"[,;:]\s+(?=`?[A-Za-z_]\w*\([^()]*\)\s*(?:==|=|->|→|raises|is|returns)\s?)"
)
"""Where a sentence stops to say what is asked for: at its end, and where examples begin."""
_REQUEST = re.compile(
    r"^(?:please\s+)?(?:(?:write|create|make|implement|give)\s+(?:me\s+)?)?an?\s+(?:\w+\s+){0,2}(?:function|method)\s+"
    r"(?:(?:called\s+|named\s+)?[`'\"]?[A-Za-z_]\w*(?:\([^()]*\))?[`'\"]?,?\s+)?(?:that|which|to)\s+(?:should\s+)?"
    r"|^[`'\"]?[A-Za-z_]\w*\([^()]*\)[`'\"]?\s+(?=\w)",
    re.IGNORECASE,
)
_LANGUAGE = f"(?P<language>{'|'.join(pattern for pattern, _ in LANGUAGES.values())})"
_ASKING = (
    r"(?:(?:please|bitte|i (?:need|want)|i(?:'d| would) like|ich (?:brauche|will|möchte|hätte gerne?)|"
    r"(?:can|could) you|kannst du|könntest du|write|create|make|build|implement|code|give|schreib\w*|erstell\w*|"
    r"implementier\w*|programmier\w*|mach\w*|bau\w*|me|us|mir|uns)[,\s]+)*"
    r"(?:(?:an?|eine?n?)\s+(?:(?!(?:of|for|from|to|in|with|that|like|von|für|aus|mit)\b)[\w-]+\s+){0,2})?"
)
_PROGRAM = (
    r"(?:function|method|class|program|script|module|package|component|code|query|page|"
    r"funktion|methode|klasse|programm|skript|modul|paket|komponente|abfrage|seite)\b"
)
_GOES_ON = r"(?=\s*(?:$|[,.;:()!?`]|(?:that|which|to|for|with|taking|returning|die|das|der|um|zum|zur|für|mit)\b))"
_ITS_NAME = r"(?:\s+(?:(?:called|named|namens)\s+[`'\"]?\w+|(?-i:\w*[A-Z_]\w*)|\w+(?=\())(?:\([^()]*\))?[`'\"]?)?"
_AT_END = r"(?:,?\s*(?:please|bitte))?\s*[.!?]?$"
_NO_LETTER = r"(?!(?:C|R|HTML|SQL)\b(?![+#]))"
_FOR_BROWSERS = r"(?=(?:javascript|js|typescript|ts|node(?:\.?js)?)\b)"
_ABOUT_CODE = (
    r".*\b(?:that|which|like|what|how|whether|die|das|der|wie|functions?|funktion\w*|methods?|code|keywords?|"
    r"comments?|files?|syntax|variables?|lines?|class(?:es)?|imports?|statements?|sources?|snippets?|tokens?|"
    r"scripts?|errors?|values?|strings|literals?|arrays|objects|operators?)\b"
)
"""What stands in sentences that speak of a program's text, or of what it does: "count the comments in JavaScript"."""
_OTHER_LANGUAGE = [
    re.compile(rf"(?i:{start})(?-i:{_LANGUAGE})(?i:{end})")
    for start, end in (
        (rf"^{_ASKING}", rf"(?:[\s-]+|(?<=shell)){_PROGRAM}{_ITS_NAME}{_GOES_ON}"),
        (rf"^{_ASKING}{_PROGRAM}{_ITS_NAME},?\s+(?:written\s+|implemented\s+)?(?:in|auf)\s+", _GOES_ON),
        (rf"^{_ASKING}in\s+", rf"\s+(?:geschrieben\w*|written)\s+{_PROGRAM}"),
        (r"^(?:in|using|mit)\s+", r"[,:]\s+(?:please\s+)?(?:write|create|implement|make|build|an?\s|schreib|eine?\s)"),
        (r",\s*(?:written\s+)?in\s+(?!(?:C|R)\b(?![+#]))", r"\s*[.!]?$"),
        (
            r"^(?:please\s+)?(?:implement|write|code|schreibe?|implementiere)\s+"
            r"(?:(?!(?:that|which|like|as|for|to|from|wie|die|das|der)\b)[^\s.]+\s+){1,6}in\s+(?!(?:C|R)\b(?![+#]))",
            r"\s*[.!]?$",
        ),
        (
            rf"^(?:{_ASKING}(?:this|it|das|es)\s+)?(?:(?:in|auf|using|mit)\s+)?{_NO_LETTER}",
            r"(?:,?\s*(?:please|bitte))?:\s+\w",
        ),
        (rf"[.!?]\s+(?:please\s+|bitte\s+)?(?:use|(?:do|write) it in|in|auf|nimm|verwende)\s+{_NO_LETTER}", _AT_END),
        (rf"\((?:in\s+)?{_FOR_BROWSERS}", r"\)[.!]?$"),
        (rf"^(?!{_ABOUT_CODE})[^.:]+\s(?:in|using|with|mit|auf)\s+{_FOR_BROWSERS}", _AT_END),
    )
]
"""A request for another language says so of the thing to write, at its head or at its end: "a Go program that …", "a
function in Rust", "…, in Java". What the thing does may speak of any language.
"""


def find_other_language(text: str) -> str:
    """The language that a sentence asks for, if that is another one than Python; empty where that is not plain."""
    words = text.strip()
    if re.search(r"\bpython", words, re.IGNORECASE):
        return ""
    named = next((found["language"] for form in _OTHER_LANGUAGE if (found := form.search(words))), None)
    return next((name for name, (form, _) in LANGUAGES.items() if named and re.fullmatch(form, named)), "")


def refuse_other_language(text: str) -> None:
    """Raise SetupProblem for a sentence that asks for another language."""
    if language := find_other_language(text):
        raise SetupProblem(
            f"Burnish writes Python, and this asks for {language}. Ask for it in Python, or leave the language out: "
            'burnish write "a Python function that …"'
        )


def from_sentence(text: str) -> Task:
    """The task a user typed. Raises SetupProblem when there is nothing in it."""
    prompt = text.encode("utf-8", "replace").decode().strip()
    if not re.search(r"\w", prompt):
        raise SetupProblem(
            "There is no task: the sentence is empty. Say what to write, with an example if you can: "
            'burnish write "a function double(n) that doubles a number, e.g. double(2) == 4"'
        )
    examples = find_examples(prompt)
    listed = _find_listed_names(prompt)
    name, signature = listed[0] if listed else _name_and_signature(prompt, examples)
    if dict(find_kinds_in_words(prompt, [name])).get(name) == "class":
        signature = ""  # what stands in brackets is for its constructor, and no function is to be completed
    # "a class Stack and a function make(items)"
    further = [match[1] or match[2] for match in _FURTHER.finditer(prompt)]
    also = tuple(other for other, _ in listed[1:]) or tuple(o for o in dict.fromkeys(further) if name not in {"", o})
    tests = [test for test in examples if not name or {name, *also} & set(find_called_names(test))]
    edges = [test for test in _range_tests(prompt, signature) if test not in tests]
    return Task(
        id=slug(name or prompt),
        prompt=prompt,
        entry_point=name,
        also=also,
        signature=signature,
        visible_tests=(*tests, *edges),
    )


def go_on(earlier: Task, base_code: str, model_tests: tuple[str, ...], more: str) -> Task:
    """The task that adds a sentence to a finished one: all earlier tests stay in force.

    A sentence asks for its function to be written where it says "a function"; "use the function sqrt" only names one.
    """
    new = from_sentence(more)
    wanted = rf"\b(?:an?|another)\s+(?:\w+\s+)?(?:function|class)\s+(?:called\s+|named\s+)?[`'\"]?{new.entry_point}\b"
    asks = new.also or new.signature or new.visible_tests or re.search(wanted, new.prompt)
    asked = (new.entry_point, *new.also) if asks else ()
    also = tuple(name for name in dict.fromkeys((*earlier.also, *asked)) if name not in ("", earlier.entry_point))
    names = {earlier.entry_point, *also}
    fresh = tuple(test for test in find_examples(more) if names & set(find_called_names(test)))
    return earlier.model_copy(
        update={
            "also": also,
            "prompt": f"{earlier.prompt}\n\nAlso: {new.prompt}",
            "visible_tests": tuple(dict.fromkeys(earlier.visible_tests + fresh)),
            "earlier_tests": model_tests,
            "base_code": base_code,
        }
    )


def with_test_file(task: Task, file: TestFile) -> Task:
    """The task with the user's own test file: its tests decide, and what it imports is what must be written."""
    name = task.entry_point if task.entry_point in file.names else file.names[0]
    also = [further for further in (*file.names, *task.also, task.entry_point) if further and further != name]
    return task.model_copy(
        update={
            "id": slug(file.module) if file.module != "solution" else task.id,
            "entry_point": name,
            "signature": task.signature if name == task.entry_point else _find_signature(task.prompt, name),
            "also": tuple(dict.fromkeys(also)),
            "visible_tests": (*task.visible_tests, *file.tests),
            "test_file": file.text,
            "module": file.module,
        }
    )


def summarise(words: str) -> str:
    """What the words ask for, as the one line of a docstring: no examples, no "a function that", no more than that."""
    head = _HEAD_ENDS.split(words.strip(), maxsplit=1)[0]
    head = _REQUEST.sub("", head, count=1) or head
    line = one_line(head, LONGEST_SUMMARY).rstrip(" ,;:.-–(").replace("\\", "\\\\").replace('"""', "'''")
    return f"{line[:1].upper()}{line[1:]}" + ("" if line.endswith("…") else ".")


def is_ambiguous(task: Task) -> bool:
    """Whether there is no example, or nothing is said about the edges of what the sentence speaks of.

    A test file of the user's own says enough. Plain rules decide: no model is asked to find that out.
    """
    if task.test_file or not task.visible_tests:
        return not task.test_file
    return bool(_EDGED.search(task.prompt)) and not _SETTLED.search(task.prompt)


def reads_file(words: str) -> bool:
    """Whether the words ask for something that is found in a file, and not by its name or for one that is written."""
    return bool(_FILE.search(words)) and not _FILE_NAME_ONLY.search(words)


def find_kinds(task: Task) -> AskedKinds:
    """What the names to write are to be; a name that the words and the code do not settle is left out."""
    names = [name.partition(".")[0] for name in (task.entry_point, *task.also) if name]
    found = dict(find_kinds_in_words(task.prompt, names))
    for module in map(try_parse, (task.prelude, task.base_code, task.gold)):
        for name in names:
            if node := find_definition(module, name):
                found[name] = "function" if isinstance(node, FUNCTIONS) else "class"
    return tuple(found.items())


def find_kinds_in_words(words: str, names: Iterable[str]) -> AskedKinds:
    """What a sentence calls each name: "a function mean(xs)", "classes Stack and Queue", "def mean(xs):"."""
    found: dict[str, Literal["function", "class"]] = {}
    for name in names:
        kinds = rf"(?:{_KIND_OF_ONE}|{_KIND_OF_SEVERAL})(?:called\s+|named\s+)?[`'\"]?{re.escape(name)}\b"
        if match := re.search(kinds, words):
            is_class = {match["one"], match["several"]} & {"class", "Klasse", "classes", "Klassen"}
            found[name] = "class" if is_class else "function"
    return tuple(found.items())


def _range_tests(prompt: str, signature: str) -> list[str]:
    """Tests that the numbers next to a range raise, as "1..3999 …; ValueError for anything else" has it.

    None unless range, error and single parameter are plain.
    """
    ranges = {(int(low), int(high)) for low, high in _RANGE.findall(prompt) if int(low) < int(high)}
    errors = [named for first, second in _ELSE.findall(prompt) if is_error(named := first or second)]
    if len(ranges) != 1 or len(errors) != 1 or "(" not in signature:
        return []
    match parse(f"def {signature}: pass").body[0]:
        case ast.FunctionDef(args=ast.arguments(vararg=None, kwonlyargs=[], kwarg=None) as taken):
            if len(taken.posonlyargs) + len(taken.args) == 1:
                name = signature.split("(")[0]
                ((low, high),) = ranges
                return [f"with pytest.raises({errors[0]}):\n    {name}({value})" for value in (low - 1, high + 1)]
    return []


def _find_listed_names(prompt: str) -> list[tuple[str, str]]:
    """Names and signatures of "functions encode(s) and decode(s)"; empty unless there are at least two."""
    for match in _SEVERAL.finditer(prompt):
        found: list[tuple[str, str]] = []
        item = _ITEM.match(prompt, match.end())
        bare = item is not None and item[2] is None
        while item and item[1].lower() not in _NOT_NAMES and not keyword.iskeyword(item[1]):
            if (item[2] is None) != bare or not (bare or _valid_signature(item[1], item[2])):
                break
            found.append((item[1], _valid_signature(item[1], item[2])))
            joint = _JOINT.match(prompt, item.end())
            item = _ITEM.match(prompt, joint.end()) if joint else None
        if len(found) > 1:
            return found
    return []


def _name_and_signature(prompt: str, examples: list[str]) -> tuple[str, str]:
    called = [name for test in examples for name in find_called_names(test)]
    for match in _NAMED.finditer(prompt):
        marked, word, parameters = match.groups()
        if word.lower() in _NOT_NAMES or keyword.iskeyword(word):
            continue
        # Else it is the sentence going on: "a function computing the sum".
        is_name = marked or parameters or word in called
        if is_name or (not called and _AFTER_A_NAME.match(prompt, match.end())):
            return word, _valid_signature(word, parameters)
    if called:
        return called[0], _find_signature(prompt, called[0])
    return "", ""


def _find_signature(prompt: str, name: str) -> str:
    """The signature, where some mention of the function in the prompt can only be its declaration."""
    for match in _CALL_LIKE.finditer(prompt):
        if match[1] == name and (signature := _valid_signature(name, match[2])):
            return signature
    return ""


def _valid_signature(name: str, parameters: str | None) -> str:
    """The two together if they declare a function; "" where the brackets hold something else."""
    declares = parameters is not None and try_parse(f"def {name}{parameters}: pass")
    return f"{name}{parameters}" if declares else ""
