"""From answers to what is wrong with how a model is set up, and what to change. A pure function of the answers."""

import re
from collections.abc import Iterator, Sequence

from burnish.models.counting import fewest_read
from burnish.models.providers import Server
from burnish.verbs.trying.answer import Answer
from burnish.verbs.trying.trials import least_tokens, long_prompt

TEMPLATE = re.compile(
    r"<[|｜][^|｜<>\n]{1,40}[|｜]>|\[/?INST\]|<</?SYS>>|</?s>|<(?:start|end)_of_turn>|^#{2,} (?:Instruction|Response)\b"
    r"|\[/?(?:SYSTEM_PROMPT|AVAILABLE_TOOLS)\]",
    re.MULTILINE,
)
"""What chat templates put between turns; none of it belongs into an answer."""
OTHER_SIDE = re.compile(r"^(?:#+ ?)?(?:\*\*)?(?:User|Human|USER|HUMAN|Question)(?:\*\*)?:", re.MULTILINE)
"""How an answer goes on that speaks for the user, too."""
LONG_CHARACTERS = 100
"""Of an answer that must come in more than one piece, if it comes as it is written."""


def changes(answers: Sequence[Answer], name: str, server: Server | None = None) -> tuple[str, ...]:
    """What to change, one sentence for each thing that was found; `server` is who answers for `name`, if one does."""
    found = (
        *_template(answers, name, server),
        *_context(answers, name, server),
        *_thoughts(answers, name, server),
        *_endless(answers),
        *_whole(answers, server),
    )
    return tuple(found)


def _template(answers: Sequence[Answer], name: str, server: Server | None) -> Iterator[str]:
    for answer in answers:
        leaked, other = TEMPLATE.search(answer.text), OTHER_SIDE.search(answer.text)
        if leaked or other:
            seen = f"{leaked[0]!r} is in an answer" if leaked else "an answer goes on as the user"
            yield f"The chat template is missing or wrong: {seen}. {_about_template(name, server)}"
            return


def _about_template(name: str, server: Server | None) -> str:
    if server is None:
        return "Take weights that were made for talk (their names end in instruct or chat), with their own template."
    if server.kind == "ollama":
        return f"Look at it, and set TEMPLATE in a Modelfile: ollama show --modelfile {name.partition(':')[2]}"
    return (
        "Start the server with the model's own: llama-server --jinja (or --chat-template NAME), vllm --chat-template"
        " FILE; or take a model that was made for talk."
    )


def _context(answers: Sequence[Answer], name: str, server: Server | None) -> Iterator[str]:
    """Said where a prompt was refused as too long, or where its beginning is lost and would not be in a short one."""
    refused = [answer.why for answer in answers if answer.too_long]
    long = [answer for answer in answers if answer.name == "context" and not answer.passed and answer.ended]
    if refused:
        yield f"The context is too small: {refused[0]}. {_about_context(name, server)}"
    elif long and _read_all(long[0], server):
        yield (
            "It reads a long prompt to its end, and forgets how it began: nothing is wrong with the context. For long"
            " files take a larger model."
        )
    elif long:
        yield (
            f"The context is too small: the beginning of a prompt of {least_tokens(long_prompt()):,} words is lost."
            f" {_about_context(name, server)}"
        )


def _read_all(answer: Answer, server: Server | None) -> bool:
    """Whether the whole long prompt was read. A server's count that is too small was raised by `Reading` to the fewest
    that there can be, so that very number says nothing; whoever reads all of it counts what marks a message as well.
    """
    if server:
        return answer.tokens_in > fewest_read(long_prompt().ask)
    return answer.tokens_in >= least_tokens(long_prompt())


def _about_context(name: str, server: Server | None) -> str:
    if server is None:
        return "Take a model that can have at least 4,096 tokens in mind."
    if server.kind == "ollama":
        return f"Give it 8,192 tokens, if it was made for as many: burnish config set context.{name} 8192"
    if server.is_official:
        return "Take a model that can have more in mind; see: burnish models"
    return (
        "Start the server with more: llama-server -c 16384 -np 2 (all its slots share them), vllm --max-model-len 8192"
    )


def _thoughts(answers: Sequence[Answer], name: str, server: Server | None) -> Iterator[str]:
    if not any(answer.thoughts and not answer.text.strip() and answer.ended == "length" for answer in answers):
        return
    how = (
        f"Give it more: burnish config set models.{server.provider}.thinking 4096"
        if server
        else "Take a model that answers without thinking first."
    )
    yield f"Its thoughts take all the tokens, and no answer is left. {how}"


def _endless(answers: Sequence[Answer]) -> Iterator[str]:
    """Said of those who go on in more than one answer; who thinks too long is told so elsewhere."""
    cut = [answer.name for answer in answers if answer.ended == "length" and answer.text.strip()]
    if "stop" in cut or len(cut) > 1:
        yield (
            f"It does not stop when it is done ({', '.join(cut)}): the token that ends a turn is not set, or these are"
            " weights that were never made for talk. Take the instruct version of this model."
        )


def _whole(answers: Sequence[Answer], server: Server | None) -> Iterator[str]:
    long = [answer for answer in answers if len(answer.text) > LONG_CHARACTERS]
    if long and all(answer.pieces == 1 for answer in long):
        where = " The server, or a proxy before it, keeps them back: turn streaming on there." if server else ""
        yield f"Answers come whole and not as they are written: a limit of time cannot break one off.{where}"
