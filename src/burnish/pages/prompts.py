"""Every prompt of a page's run. Short on purpose: small models lose the thread in long ones.

Change a word, raise VERSION: the version is recorded with each ask.
"""

import re
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from burnish.agent.prompts import Messages
from burnish.errors import SetupProblem
from burnish.events import Message
from burnish.models.model import Model
from burnish.models.tokens import context_tokens, estimate_tokens

VERSION = "pages 2"
FORM = "Answer with one ```js block that holds the whole code, and nothing else."
MOST_CONTEXT = 20_000
"""Characters of a context file."""
SMALL_CONTEXT, ANSWER_TOKENS, QUESTION_TOKENS = 16_384, 6144, 1100
"""Up to so many tokens a context has to be shared out; the longest answer; what a question takes without the code."""
_HEAD = re.compile(r"\A\s*<!--.*?-->\s*", re.DOTALL)


def read_context(file: Path | None = None) -> str:
    """What the model is told about its surroundings: the shipped text, or a file of the user's, whole.

    Raises SetupProblem where there is no such text.
    """
    if file is None:
        return (files("burnish.pages") / "context.md").read_text("utf-8")
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        raise SetupProblem(
            f"The context file {str(file)!r} cannot be read ({why}). Name another one", "--context FILE"
        ) from error
    if not text.strip() or len(text) > MOST_CONTEXT:
        raise SetupProblem(
            f"The context file {str(file)!r} has {len(text)} characters; 1 to {MOST_CONTEXT} are allowed. Name another "
            "one",
            "--context FILE",
        )
    return text


def answer_tokens(model: Model) -> int:
    """How long an answer may be: of a small context not quite half, as the code is shown in the question too."""
    room = context_tokens(model)
    return 3 * room // 8 if 0 < room < SMALL_CONTEXT else ANSWER_TOKENS


def has_room(model: Model, code: str) -> bool:
    """Whether the code can be shown to the model, with room left to write it again."""
    room = context_tokens(model)
    return not room or estimate_tokens(code) + QUESTION_TOKENS + answer_tokens(model) <= room


def write(context: str, task: str, before: str = "") -> Messages:
    """Ask for the first version; of a follow-up, by what is there."""
    shown = f"This code runs in the page now:\n{_block(before)}\n\nChange it: {task}" if before else f"Task: {task}"
    return _messages(context, f"{shown}\n\n{FORM}")


def correct(context: str, task: str, code: str, sent: str) -> Messages:
    """Show a version and what came of it."""
    return _messages(
        context, f"Task: {task}\n\nThis code was run:\n{_block(code)}\n\n{sent}\n\nCorrect the code. {FORM}"
    )


def write_afresh(context: str, task: str, sent: str) -> Messages:
    """Ask for another way, without showing what did not work."""
    told = f"Earlier code did not work. {sent}\n\nWrite it afresh in another, simpler way."
    return _messages(context, f"Task: {task}\n\n{told} {FORM}")


def explain_form(context: str, task: str, code: str, why: str) -> Messages:
    """Say why an answer could not be used; the last version that ran is shown, if there is one."""
    shown = f"\n\nThis code runs in the page now:\n{_block(code)}" if code else ""
    return _messages(context, f"Task: {task}{shown}\n\nYour last answer could not be used: {why}\n{FORM}")


def answer_page(task: str, question: str) -> Messages:
    """Pass on a question that the page asks while it runs."""
    rule = "A web page asks you something while it runs. Answer with the text that it needs, short, and nothing else."
    return _messages(rule, f"The page does this: {task}\n\nIt asks: {question}")


def tell_findings(findings: Sequence[str]) -> str:
    """What is sent back of a version; empty where nothing is to be put right."""
    return "What is wrong:\n" + "\n".join(f"- {finding}" for finding in findings) if findings else ""


def _block(code: str) -> str:
    return f"```js\n{code}\n```"


def _messages(system: str, text: str) -> Messages:
    told = _HEAD.sub("", system).strip()
    return (Message(role="system", content=told), Message(role="user", content=text))
