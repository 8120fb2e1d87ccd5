"""What fits into a model's context: how much of a file a prompt shows.

The rule: where something is left out of a prompt, the prompt says so.
"""

import ast
import re
from collections.abc import Sequence
from itertools import groupby

from burnish import config
from burnish.models.model import Model
from burnish.models.tokens import context_tokens
from burnish.parsing import try_parse
from burnish.tasks.source import (
    FUNCTIONS,
    Definition,
    find_bound_names,
    find_definition,
    find_docstring,
    guess_line_span,
    line_span,
    source_of,
    split_lines,
)
from burnish.tasks.task import Task

MOST_CHARACTERS, LEAST_CHARACTERS = 8400, 1500
"""Of a prompt: 8400 are about 2800 tokens, which leaves room for the answer in a context of 4096."""
ANSWER_ROOM = 1296
"""Tokens of a context that are no prompt's."""
CHARACTERS_PER_TOKEN = 3
MOST_SURROUNDINGS = 2500
"""Characters of the code around a function."""
LONGEST_HELPER_LINES = 20
LEFT_OUT = "are not shown here ..."
"""How a comment ends that stands for lines of code."""
HEAD_SHARE = 3
"""One part in so many goes to the beginning: the head of a function, with its parameters."""
LEAST_QUOTED = 8
"""Characters of a line of code that do not occur in an error message by chance."""


def prompt_characters(models: Sequence[Model]) -> int:
    """Characters of a prompt that each of these models has room for: more or fewer only where the user's settings name
    its context, so that what a model is asked does not hang on what its server happens to say.
    """
    settings = config.load()
    rooms = [context_tokens(model) if settings.context_of(model.name) else 0 for model in models]
    sizes = [CHARACTERS_PER_TOKEN * (room - ANSWER_ROOM) if room else MOST_CHARACTERS for room in rooms]
    return max(LEAST_CHARACTERS, min(sizes))


def show_surroundings(task: Task) -> str:
    """What stands around the function to write: its prelude, or the imports, class and helpers that it leans on."""
    if task.prelude.strip():
        return task.prelude.strip()
    module = try_parse(task.base_code)
    own = find_definition(module, task.entry_point)
    if module is None or own is None:
        return ""
    used = {part.id for part in ast.walk(own) if isinstance(part, ast.Name)}
    parts = [_show_statement(task.base_code, node, used, task.entry_point) for node in module.body if node is not own]
    text = "\n".join(part for part in parts if part)
    return text if len(text) <= MOST_SURROUNDINGS else text[:MOST_SURROUNDINGS].rpartition("\n")[0]


def _show_statement(text: str, node: ast.stmt, used: set[str], entry_point: str) -> str:
    """One top-level statement, if the function can need it; of its own class, the parts that tell how it is made."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return source_of(text, node).rstrip()
    if isinstance(node, ast.ClassDef) and entry_point.startswith(f"{node.name}."):
        parts = [split_lines(text)[node.lineno - 1].rstrip()]
        for part in node.body:
            if isinstance(part, FUNCTIONS):
                if part.name != entry_point.rpartition(".")[2]:
                    whole = part.name == "__init__" and _count_lines(part) <= LONGEST_HELPER_LINES
                    parts.append(source_of(text, part).rstrip() if whole else _show_head(text, part))
            elif isinstance(part, ast.Assign | ast.AnnAssign):
                parts.append(source_of(text, part).rstrip())
        return "\n".join(parts)
    if not find_bound_names(node) & used:
        return ""
    return source_of(text, node).rstrip() if _count_lines(node) <= LONGEST_HELPER_LINES else _show_head(text, node)


def _show_head(text: str, node: ast.stmt) -> str:
    """The first line of a definition with dots for its body; empty where the head takes more than one line."""
    first = split_lines(text)[node.lineno - 1].rstrip()
    return f"{first} ..." if isinstance(node, (*FUNCTIONS, ast.ClassDef)) and first.endswith(":") else ""


def _count_lines(node: Definition | ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def function_text(code: str, name: str) -> str:
    """The function's own lines, without the indentation it has in a class; the whole text where it is not found."""
    node = find_definition(try_parse(code), name)
    place = line_span(node) if node else guess_line_span(code, name) if name else None
    if not place:
        return code.strip("\n")
    lines = split_lines(code)[place[0] : place[1]]
    margin = lines[0][: len(lines[0]) - len(lines[0].lstrip())] if lines else ""
    return "".join(line.removeprefix(margin) for line in lines).strip("\n")


def function_head(code: str, name: str) -> str:
    """The head of a function and its docstring, as far as an answer can be begun with; empty where that is unclear."""
    node = find_definition(try_parse(code), name)
    if not isinstance(node, FUNCTIONS) or node.decorator_list:
        return ""
    line, first = split_lines(code)[node.body[0].lineno - 1], node.body[0]
    if len(line) - len(line.lstrip()) != first.col_offset:  # the body begins on the line of its head
        return ""
    has_docstring = ast.get_docstring(node) is not None and len(node.body) > 1
    last = first.end_lineno if has_docstring else first.lineno - 1
    return "".join(line.rstrip("\r\n") + "\n" for line in split_lines(code)[node.lineno - 1 : last])


def strip_docstring(code: str, name: str) -> str:
    """The code without the docstring of a function, where that has its lines for itself and more comes after it."""
    node = find_definition(try_parse(code), name)
    doc = find_docstring(node) if node else None
    if node is None or doc is None or doc.end_lineno is None or len(node.body) < 2:
        return code
    lines = split_lines(code)
    alone = not lines[doc.lineno - 1].encode()[: doc.col_offset].strip() and node.body[1].lineno > doc.end_lineno
    return "".join([*lines[: doc.lineno - 1], *lines[doc.end_lineno :]]) if alone else code


def truncate_text(text: str, most: int) -> str:
    """At most about so many characters: the beginning and the end, where words say most."""
    if len(text) <= most:
        return text
    return f"{text[: most * 2 // 3].rstrip()}\n[... a part is left out here ...]\n{text[-(most // 3) :].lstrip()}"


def truncate_code(code: str, failure: str, most: int) -> str:
    """At most about so many characters of code: its beginning, and what lies around the line that a failure names.

    Where the failure names none it is the end, where results are given back.
    """
    if len(code) <= most:
        return code
    lines = [
        line if len(line) <= most // 8 else f"{line[: most // 8]}  # ... the rest of this line is not shown"
        for line in code.split("\n")
    ]
    named = [int(number) - 1 for number in re.findall(r"\bline (\d+)", failure)]
    quoted = [at for at, line in enumerate(lines) if len(line.strip()) >= LEAST_QUOTED and line.strip() in failure]
    # The last of these that there is counts: a line that the failure quotes says more than a number, which may be one
    # of the test's file.
    focus = [len(lines) - 1, *(at for at in named if 0 < at < len(lines)), *quoted[1:], *quoted[:1]][-1]
    head = _lines_around(lines, 0, most // HEAD_SHARE)
    shown = head | _lines_around(lines, focus, most - most // HEAD_SHARE)
    text: list[str] = []
    for is_shown, numbers in groupby(range(len(lines)), key=shown.__contains__):
        places = list(numbers)
        if is_shown:
            text += lines[places[0] : places[-1] + 1]
            continue
        below = lines[places[-1] + 1 :][:1]
        beside = (below or text[-1:] or [""])[0]
        margin = beside[: len(beside) - len(beside.lstrip())] or "    "
        text.append(f"{margin}# ... {len(places)} lines {LEFT_OUT}")
    return "\n".join(text)


def _lines_around(lines: list[str], at: int, most: int) -> set[int]:
    """Lines around a place, in both directions as far as they fit."""
    shown: set[int] = set()
    size = 0
    for near in sorted(range(len(lines)), key=lambda place: (abs(place - at), place)):
        size += len(lines[near]) + 1
        if size > most:
            break
        shown.add(near)
    return shown
