"""draft, rewrite, repair: three ways to ask for code. Each is one prompt; the rest is shared.

draft and rewrite ask for the code from its description, whatever code there is; repair shows a version.
"""

import ast
from collections.abc import Generator, Iterator
from dataclasses import replace

from burnish.agent import prompts
from burnish.agent.ask import Tools, ask
from burnish.agent.context import function_in
from burnish.agent.excerpt import LEFT_OUT
from burnish.agent.imports import with_imports
from burnish.agent.prompts import Messages, Wanted
from burnish.agent.shape import Shaped, shaped
from burnish.agent.work import SILENT, Work
from burnish.errors import ModelError
from burnish.events import CodeProposed, Event, ModelReplied, Move
from burnish.models.model import Ask
from burnish.tasks.assemble import assemble
from burnish.tasks.definitions import find
from burnish.tasks.examples import in_words
from burnish.tasks.offered import offered_names
from burnish.tasks.syntax import parsed

MOST_TOKENS = 1024
TOP_P = 0.95


def draft(work: Work, tools: Tools, move: Move) -> Iterator[Event]:
    """The first version: the likeliest answer, at temperature zero."""
    yield from propose(work, tools, move, from_words(work))


def rewrite(work: Work, tools: Tools, move: Move) -> Iterator[Event]:
    """Ask for the code afresh, without the old one to lean on: small models write better than they repair."""
    yield from propose(work, tools, move, from_words(work))


def repair(work: Work, tools: Tools, move: Move) -> Iterator[Event]:
    """Show a version and the one failure to speak of, and ask for the smallest change that mends it."""
    assert move.base is not None, "the policy asks for a repair only where there is code to show"
    messages = prompts.repair(wanted(work), work.version(move.base).code, told(work, move.base))
    yield from propose(work, tools, move, messages)


def wanted(work: Work) -> Wanted:
    """What the prompts speak of."""
    return Wanted(task=work.task, spec=work.spec, added=work.packages)


def told(work: Work, number: int) -> str:
    """What goes wrong with a version, for the model: what must hold, and what happened instead."""
    version = work.version(number)
    failure = work.first_failure(version)
    if failure is None:
        return version.graded.problem if version.graded else version.problem
    test, message = failure
    words = in_words(test)
    if words == test or test in work.suite.project:
        return message
    if "DID NOT RAISE" not in message:
        return f"{words}, but: {message}"
    return f"{words}, but it does not. Check the arguments in the first lines of the function."


def from_words(work: Work) -> Messages:
    """The question for the code from its description."""
    task = work.task
    return prompts.go_on(wanted(work)) if task.base_code and not task.broken else prompts.write(wanted(work))


def propose(work: Work, tools: Tools, move: Move, messages: Messages) -> Iterator[Event]:
    """Ask, take the code out of the answer, put it in its place, and say what is wrong if it cannot even be run.

    A model that fails here costs this one answer: the work goes on with the others.
    """
    if move.model:
        tools = replace(tools, model=tools.others[move.model - 1], others=())
    try:
        answered = yield from _answered(work, tools, move, messages)
    except ModelError as error:
        if tools.errors_end:
            raise
        answered = Shaped(code="", problem=f"{SILENT}{error}"), ""
    if answered is None:
        return
    found, ask_id = answered
    code = found.code if found.problem else assemble(work.task, _with_imports(found.code, work, tools))
    yield CodeProposed(
        version=move.version,
        code=code,
        by=move.kind,
        ask_id=ask_id,
        problem=found.problem,
        round=move.round,
        base=move.base,
        mended=found.mended,
    )


def _with_imports(code: str, work: Work, tools: Tools) -> str:
    """The code with the imports that it forgot, as far as they can be had."""
    layer = tools.packages.layer if tools.packages else None
    there = [package.name for package in layer.packages] if layer else []
    return with_imports(code, offered_names(work.task), there)


def _answered(
    work: Work, tools: Tools, move: Move, messages: Messages
) -> Generator[Event, None, tuple[Shaped, str] | None]:
    """The code of the answer and which ask it answers; one that is in no usable form is asked for once more."""
    reply = yield from _ask(tools, move, messages, f"{move.kind}-{move.version}")
    if reply is None:
        return None
    found = _code_in(reply, work, messages)
    if found.problem and "does not parse" not in found.problem and reply.ended != "length":
        asked = prompts.form_again(messages, reply.text, found.problem, wanted(work))
        again = yield from _ask(tools, move, asked, f"form-{move.version}")
        found, reply = (_code_in(again, work, asked), again) if again else (found, reply)
    return _with_all_lines(found, work, move, messages), reply.ask_id


def _with_all_lines(found: Shaped, work: Work, move: Move, messages: Messages) -> Shaped:
    """The code, or what is wrong with it where it was made from a part and lacks the rest."""
    if found.problem or move.base is None or not prompts.shows_a_part(messages):
        return found
    name = work.spec.entry_point
    before, after = (function_in(code, name) for code in (work.version(move.base).code, found.code))
    if LEFT_OUT in after or 2 * len(after.splitlines()) < len(before.splitlines()):
        return Shaped(code=found.code, problem="the answer leaves out lines of the function that were not shown to it")
    return found


def question(move: Move, messages: Messages) -> Ask:
    """How a move asks."""
    return Ask(
        purpose=move.kind,
        messages=messages,
        temperature=move.temperature,
        top_p=TOP_P if move.temperature else 1.0,
        max_tokens=MOST_TOKENS,
        seed=move.version,
    )


def _ask(tools: Tools, move: Move, messages: Messages, ask_id: str) -> Generator[Event, None, ModelReplied | None]:
    return (yield from ask(tools, ask_id, question(move, messages)))


def _code_in(reply: ModelReplied, work: Work, messages: Messages) -> Shaped:
    """The code of an answer, of one that was begun for the model too."""
    begun = messages[-1].content if messages[-1].role == "assistant" else ""
    goes_on = begun and f"def {wanted(work).name}(" not in reply.text
    if not goes_on:
        return _shaped(reply.text, reply, work)
    found = _shaped(begun + reply.text, reply, work)
    if _is_empty(found.code, work):
        return Shaped(code="", problem="the answer holds no code")
    alone = _shaped(reply.text, reply, work) if found.problem else found
    return alone if not alone.problem or "not Python" in alone.problem else found


def _shaped(text: str, reply: ModelReplied, work: Work) -> Shaped:
    task, spec = work.task, work.spec
    return shaped(
        text, spec.entry_point, signature=spec.signature, base=task.base_code, also=task.also, ended=reply.ended
    )


def _is_empty(code: str, work: Work) -> bool:
    """Whether a function has nothing but its docstring: then the answer added nothing to what was begun for it."""
    node = find(parsed(code), wanted(work).name)
    return node is not None and len(node.body) == (ast.get_docstring(node) is not None)
