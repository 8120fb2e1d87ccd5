"""A task from a sentence: what its words fix is taken from them, the rest is left to the model."""

import keyword
import re

from burnish.errors import SetupProblem
from burnish.parsing import parse
from burnish.tasks.examples import called_names, find_examples
from burnish.tasks.ranges import find_edges
from burnish.tasks.task import Task
from burnish.text import slug

_NAMED = re.compile(
    r"\b(?:function|class|def)\s+((?:called\s+|named\s+)?[`'\"]?)([A-Za-z_]\w*)\s*(\([^()]*\))?", re.ASCII
)
_AFTER_A_NAME = re.compile(r"\s*(?:$|[^\w\s]|(?:that|which|to|for|with|taking|returning|on|over|from)\b)")
_CALL_LIKE = re.compile(r"[`'\"]?\b([A-Za-z_]\w*)\s*(\([^()]*\))")
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
    name, signature = _name_and_signature(prompt, examples)
    tests = [test for test in examples if not name or name in called_names(test)]
    edges = [test for test in find_edges(prompt, signature) if test not in tests]
    return Task(
        id=slug(name or prompt),
        prompt=prompt,
        entry_point=name,
        signature=signature,
        visible_tests=(*tests, *edges),
    )


def go_on(earlier: Task, base_code: str, model_tests: tuple[str, ...], more: str) -> Task:
    """The task that adds a sentence to a finished one: all earlier tests stay in force."""
    new = from_sentence(more)
    name = earlier.entry_point
    fresh = tuple(test for test in find_examples(more) if name in called_names(test))
    return earlier.model_copy(
        update={
            "prompt": f"{earlier.prompt}\n\nAlso: {new.prompt}",
            "visible_tests": tuple(dict.fromkeys(earlier.visible_tests + fresh)),
            "earlier_tests": model_tests,
            "base_code": base_code,
        }
    )


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
