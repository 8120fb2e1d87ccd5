"""A task from a sentence: what its words fix is taken from them, the rest is left to the model."""

import keyword
import re

from burnish.errors import SetupProblem
from burnish.parsing import parse
from burnish.tasks.examples import called_names, find_examples
from burnish.tasks.ranges import find_edges
from burnish.tasks.task import Task
from burnish.tasks.test_file import TestFile
from burnish.text import slug

_NAMED = re.compile(
    r"\b(?:function|class|def)\s+((?:called\s+|named\s+)?[`'\"]?)([A-Za-z_]\w*)\s*(\([^()]*\))?", re.ASCII
)
_AFTER_A_NAME = re.compile(r"\s*(?:$|[^\w\s]|(?:that|which|to|for|with|taking|returning|on|over|from)\b)")
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


def from_sentence(text: str) -> Task:
    """The task a user typed. Raises SetupProblem when there is nothing in it."""
    prompt = text.encode("utf-8", "replace").decode().strip()
    if not re.search(r"\w", prompt):
        raise SetupProblem(
            "There is no task: the sentence is empty. Say what to write, with an example if you can: "
            'burnish write "a function double(n) that doubles a number, e.g. double(2) == 4"'
        )
    examples = find_examples(prompt)
    listed = _listed(prompt)
    name, signature = listed[0] if listed else _name_and_signature(prompt, examples)
    also = tuple(further for further, _ in listed[1:]) or _beside(prompt, name)
    tests = [test for test in examples if not name or {name, *also} & set(called_names(test))]
    edges = [test for test in find_edges(prompt, signature) if test not in tests]
    return Task(
        id=slug(name or prompt),
        prompt=prompt,
        entry_point=name,
        also=also,
        signature=signature,
        visible_tests=(*tests, *edges),
    )


def go_on(earlier: Task, base_code: str, model_tests: tuple[str, ...], more: str) -> Task:
    """The task that adds a sentence to a finished one: all earlier tests stay in force."""
    new = from_sentence(more)
    asked = (new.entry_point, *new.also) if _asks_for_more(new) else ()
    also = tuple(name for name in dict.fromkeys((*earlier.also, *asked)) if name not in ("", earlier.entry_point))
    names = {earlier.entry_point, *also}
    fresh = tuple(test for test in find_examples(more) if names & set(called_names(test)))
    return earlier.model_copy(
        update={
            "also": also,
            "prompt": f"{earlier.prompt}\n\nAlso: {new.prompt}",
            "visible_tests": tuple(dict.fromkeys(earlier.visible_tests + fresh)),
            "earlier_tests": model_tests,
            "base_code": base_code,
        }
    )


def _asks_for_more(new: Task) -> bool:
    """Whether a sentence asks for its function to be written; "use the function sqrt" only speaks of one."""
    wanted = rf"\b(?:an?|another)\s+(?:\w+\s+)?(?:function|class)\s+(?:called\s+|named\s+)?[`'\"]?{new.entry_point}\b"
    return bool(new.also or new.signature or new.visible_tests or re.search(wanted, new.prompt))


def decided_by(task: Task, file: TestFile) -> Task:
    """The task with the user's own test file: its tests decide, and what it imports is what must be written."""
    name = task.entry_point if task.entry_point in file.names else file.names[0]
    also = [further for further in (*file.names, *task.also, task.entry_point) if further and further != name]
    return task.model_copy(
        update={
            "id": slug(file.module) if file.module != "solution" else task.id,
            "entry_point": name,
            "signature": task.signature if name == task.entry_point else _declared(task.prompt, name),
            "also": tuple(dict.fromkeys(also)),
            "visible_tests": (*task.visible_tests, *file.tests),
            "test_file": file.text,
            "module": file.module,
        }
    )


def _listed(prompt: str) -> list[tuple[str, str]]:
    """Names and signatures of "functions encode(s) and decode(s)"; empty unless there are at least two."""
    for match in _SEVERAL.finditer(prompt):
        found: list[tuple[str, str]] = []
        item = _ITEM.match(prompt, match.end())
        bare = item is not None and item[2] is None
        while item and item[1].lower() not in _NOT_NAMES and not keyword.iskeyword(item[1]):
            if (item[2] is None) != bare or not (bare or _signature(item[1], item[2])):
                break
            found.append((item[1], _signature(item[1], item[2])))
            joint = _JOINT.match(prompt, item.end())
            item = _ITEM.match(prompt, joint.end()) if joint else None
        if len(found) > 1:
            return found
    return []


def _beside(prompt: str, name: str) -> tuple[str, ...]:
    """Further things to write: "a class Stack and a function make(items)"."""
    found = [match[1] or match[2] for match in _FURTHER.finditer(prompt)]
    return tuple(further for further in dict.fromkeys(found) if name not in {"", further})


def _name_and_signature(prompt: str, examples: list[str]) -> tuple[str, str]:
    called = [name for test in examples for name in called_names(test)]
    for match in _NAMED.finditer(prompt):
        if _is_name(match, prompt, called):
            return match[2], _signature(match[2], match[3])
    if called:
        return called[0], _declared(prompt, called[0])
    return "", ""


def _is_name(match: re.Match[str], prompt: str, called: list[str]) -> bool:
    """Whether the word after "function" is a name and not the sentence going on: "a function computing the sum"."""
    marked, word, parameters = match.groups()
    if word.lower() in _NOT_NAMES or keyword.iskeyword(word):
        return False
    if marked or parameters or word in called:
        return True
    return not called and bool(_AFTER_A_NAME.match(prompt, match.end()))


def _declared(prompt: str, name: str) -> str:
    """The signature, where some mention of the function in the prompt can only be its declaration."""
    for match in _CALL_LIKE.finditer(prompt):
        if match[1] == name and (signature := _signature(name, match[2])):
            return signature
    return ""


def _signature(name: str, parameters: str | None) -> str:
    if parameters is None:
        return ""
    try:
        parse(f"def {name}{parameters}: pass")
    except (SyntaxError, ValueError):
        return ""
    return name + parameters
