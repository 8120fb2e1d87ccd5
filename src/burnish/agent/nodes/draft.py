"""rewrite, repair: two ways to ask for code. Each is one prompt; the rest is shared.

rewrite asks for the code from its description, whatever code there is; the first draft does so at temperature zero.
repair shows a version.
"""

import ast
from collections.abc import Generator
from dataclasses import replace

from burnish.agent import prompts
from burnish.agent.answer.code import Answer, AnswerFault, add_missing_imports, read_answer, read_repair_elsewhere
from burnish.agent.ask import Tools, ask
from burnish.agent.context_budget import LEFT_OUT, function_text, prompt_characters
from burnish.agent.policy import NO_ANSWER
from burnish.agent.prompts import Messages, PromptInput
from burnish.agent.state import AgentState
from burnish.errors import ModelError
from burnish.events import CodeProposed, Event, ModelReplied, Move, PackagesAdded
from burnish.models.model import Ask
from burnish.parsing import try_parse
from burnish.tasks.assemble import assemble, offered_names
from burnish.tasks.examples import describe_test
from burnish.tasks.repair import move_to
from burnish.tasks.sentence import summarise
from burnish.tasks.source import find_definition, find_docstring, split_lines

MOST_TOKENS = 1024
TOP_P = 0.95
SAME = 60
"""Characters at the beginning of a docstring by which the user's sentence is known again."""


def rewrite(state: AgentState, tools: Tools, move: Move) -> Generator[Event, None, None]:
    """Ask for the code afresh, without the old one to lean on: small models write better than they repair."""
    yield from propose(state, tools, move, writing_prompt(state, tools))


def repair(state: AgentState, tools: Tools, move: Move) -> Generator[Event, None, None]:
    """Show a version and the one failure to speak of, and ask for the smallest change that mends it."""
    assert move.base is not None, "the policy asks for a repair only where there is code to show"
    failure, code = describe_failure(state, move.base), state.version(move.base).code
    # Small models often give a long function back as it was; to name the fault first makes them change something.
    explains = bool(state.task.failing_tests and move.temperature)
    messages = prompts.repair(prompt_input(state, tools), code, failure, explains)
    yield from propose(state, tools, move, messages)


def prompt_input(state: AgentState, tools: Tools) -> PromptInput:
    """What the prompts speak of, and how long they may be."""
    added = state.run.last(PackagesAdded)
    most = prompt_characters((tools.model, *tools.others))
    return PromptInput(task=state.task, spec=state.spec, added=added.asked if added else (), most_characters=most)


def describe_failure(state: AgentState, number: int) -> str:
    """What goes wrong with a version, for the model: what must hold, and what happened instead."""
    version = state.version(number)
    failure = state.first_failure(version)
    if failure is None:
        return version.graded.problem if version.graded else version.problem
    test, message = failure
    if source := dict(state.task.failing_tests).get(test):
        return f"{source}\n\n{message}"
    words = describe_test(test)
    if words == test or test in state.suite.project:
        return message
    if "DID NOT RAISE" not in message:  # pytest's words for an error that should have come
        return f"{words}, but: {message}"
    return f"{words}, but it does not. Check the arguments in the first lines of the function."


def writing_prompt(state: AgentState, tools: Tools) -> Messages:
    """The question for the code from its description."""
    goes_on = state.task.base_code and not state.task.broken
    return (prompts.go_on if goes_on else prompts.write)(prompt_input(state, tools))


def code_question(move: Move, messages: Messages) -> Ask:
    """How a move asks."""
    return Ask(
        purpose=move.kind,
        messages=messages,
        temperature=move.temperature,
        top_p=TOP_P if move.temperature else 1.0,
        max_tokens=MOST_TOKENS,
        seed=move.version,
    )


def propose(
    state: AgentState, tools: Tools, move: Move, messages: Messages
) -> Generator[Event, None, CodeProposed | None]:
    """Ask, take the code out of the answer, put it in its place, and say what is wrong if it cannot even be run.

    A model that fails here costs this one answer: the work goes on with the others. None where nobody was asked.
    """
    if move.model:
        tools = replace(tools, model=tools.others[move.model - 1], others=())
    try:
        answered = yield from _ask_for_code(state, tools, move, messages)
    except ModelError as error:
        if tools.errors_end:
            raise
        answered = Answer(code="", fault=AnswerFault.NO_ANSWER, problem=f"{NO_ANSWER}{error}"), ""
    if answered is None:
        return None
    answer, ask_id = answered
    code = answer.code
    if not answer.fault:
        layer = tools.packages.layer if tools.packages else None
        packages = [package.name for package in layer.packages] if layer else []
        task = move_to(state.task, answer.place) if answer.place else state.task
        code = assemble(task, add_missing_imports(code, offered_names(task), packages))
        code = shorten_docstring(code, state)
    made = CodeProposed(
        version=move.version,
        code=code,
        by=move.kind,
        ask_id=ask_id,
        problem=answer.problem,
        no_answer=answer.fault is AnswerFault.NO_ANSWER,
        round=move.round,
        base=move.base,
        mended=answer.mended,
    )
    yield made
    return made


def shorten_docstring(code: str, state: AgentState) -> str:
    """The code with one line in place of a docstring that repeats the user's whole sentence, as our prompts begin it.

    Only where a user asked for new code: words and examples that were there before stay as they are.
    """
    task = state.task
    if task.split != "user" or task.base_code:
        return code
    node = find_definition(try_parse(code), state.spec.entry_point)
    doc = find_docstring(node) if node else None
    said = (ast.get_source_segment(code, doc) or "").strip("\"'rR \n") if doc else ""
    same = [" ".join(words.replace('"""', "'''").split())[:SAME] for words in (task.prompt, said)]
    if doc is None or doc.end_lineno is None or same[0] != same[1]:
        return code
    lines, short = split_lines(code), f'"""{summarise(task.prompt)}"""'
    first, last = lines[doc.lineno - 1], lines[doc.end_lineno - 1]
    before = first.encode()[: doc.col_offset].decode()
    after = last.encode()[doc.end_col_offset :].decode()
    return "".join([*lines[: doc.lineno - 1], before + short + after, *lines[doc.end_lineno :]])


def _ask_for_code(
    state: AgentState, tools: Tools, move: Move, messages: Messages
) -> Generator[Event, None, tuple[Answer, str] | None]:
    """The code of the answer and which ask it answers; one that is in no usable form is asked for once more.

    Code that was made from a part and lacks the rest is not taken.
    """
    reply = yield from ask(tools, f"{move.kind}-{move.version}", code_question(move, messages))
    if reply is None:
        return None
    answer = _read_reply(reply, state, messages)
    name, goes_on = state.spec.entry_point.rpartition(".")[2], reply.text[:1].isspace()
    is_asked_for = not answer.fault and (goes_on or f"def {name}(" in reply.text)
    if not is_asked_for and state.task.suspects:  # without suspects the user named the function
        elsewhere = read_repair_elsewhere(reply.text, state.task.base_code)
        if elsewhere:
            return elsewhere, reply.ask_id
    # To be told of a syntax error rarely helps a small model; and an answer that was too long would be so again.
    if answer.fault not in (AnswerFault.NONE, AnswerFault.NOT_PARSED) and reply.ended != "length":
        again = prompts.form_again(messages, reply.text, answer.problem, prompt_input(state, tools))
        second = yield from ask(tools, f"form-{move.version}", code_question(move, again))
        if second:
            answer, reply = _read_reply(second, state, again), second
    if not answer.fault and move.base is not None and prompts.shows_a_part(messages):
        texts = (state.version(move.base).code, answer.code)
        before, after = (function_text(code, state.spec.entry_point) for code in texts)
        if LEFT_OUT in after or 2 * len(after.splitlines()) < len(before.splitlines()):
            problem = "the answer leaves out lines of the function that were not shown to it"
            answer = Answer(code=answer.code, fault=AnswerFault.LINES_MISSING, problem=problem)
    return answer, reply.ask_id


def _read_reply(reply: ModelReplied, state: AgentState, messages: Messages) -> Answer:
    """The code of an answer, of one that was begun for the model too."""
    task, spec = state.task, state.spec

    def read(text: str) -> Answer:
        base, also = task.base_code, task.also
        return read_answer(text, spec.entry_point, signature=spec.signature, base=base, also=also, ended=reply.ended)

    name = spec.entry_point.rpartition(".")[2]
    begun = messages[-1].content if messages[-1].role == "assistant" else ""
    # One that opens a block of its own does not go on with what was begun.
    if not begun or f"def {name}(" in reply.text or reply.text.lstrip().startswith("```python"):
        return read(reply.text)
    joined = read(begun + reply.text)
    node = find_definition(try_parse(joined.code), name)
    if node is not None and len(node.body) == (ast.get_docstring(node) is not None):
        # The function has nothing but its docstring: the answer added nothing to what was begun for it.
        return Answer(code="", fault=AnswerFault.NO_CODE, problem="the answer holds no code")
    alone = read(reply.text) if joined.fault else joined
    return alone if alone.fault in (AnswerFault.NONE, AnswerFault.OTHER_LANGUAGE) else joined
