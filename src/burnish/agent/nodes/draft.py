"""draft, rewrite, second opinion: code from the task alone. reflect: code from the best version and its failure."""

from collections.abc import Iterator

from burnish.agent import prompts
from burnish.agent.ask import Tools, ask
from burnish.agent.extract import code_from, problem_with
from burnish.agent.work import Work
from burnish.events import CodeProposed, Event, Message
from burnish.models.model import Ask
from burnish.runs.run import Version
from burnish.tasks.examples import in_words

MOST_TOKENS = 1024


def draft(work: Work, tools: Tools) -> Iterator[Event]:
    """The first version: the likeliest answer, at temperature zero."""
    yield from propose(work, tools, "draft", 1, _from_task(work), temperature=0.0)


def reflect(work: Work, tools: Tools) -> Iterator[Event]:
    """Show the model its best version and the one assertion that fails, and ask for a better version."""
    code, failure = _best_and_failure(work)
    messages = prompts.reflect(work.task, work.spec.signature, code, failure) if code else _from_task(work)
    number = 2 * (work.round + 1)
    yield from propose(work, tools, "reflect", number, messages, temperature=warmer(work.round))


def rewrite(work: Work, tools: Tools) -> Iterator[Event]:
    """Ask for the code afresh, without the old one to lean on: small models write better than they repair."""
    number = 2 * (work.round + 1) + 1
    yield from propose(work, tools, "rewrite", number, _from_task(work), temperature=max(0.6, warmer(work.round)))


def second_opinion(work: Work, tools: Tools) -> Iterator[Event]:
    """Beside a rewrite, one more: where only the model's own tests fail, independent versions vote on who is right."""
    number = 2 * (work.round + 1)
    yield from propose(work, tools, "second opinion", number, _from_task(work), temperature=0.8)


def propose(
    work: Work, tools: Tools, by: str, number: int, messages: tuple[Message, ...], temperature: float
) -> Iterator[Event]:
    """Ask, take the code out of the answer, and say what is wrong with it if it cannot even be run."""
    question = Ask(
        purpose=by, messages=messages, temperature=temperature, top_p=0.95, max_tokens=MOST_TOKENS, seed=number
    )
    reply = yield from ask(tools, f"{by.replace(' ', '-')}-{number}", question)
    if reply is None:
        return
    code = code_from(reply.text, work.spec.entry_point)
    problem = problem_with(code, work.spec.signature)
    if problem and reply.ended == "length":
        problem += "; the answer was cut off at its token limit"
    yield CodeProposed(version=number, code=code, by=by, ask_id=reply.ask_id, problem=problem)


def warmer(rounds: int) -> float:
    """Zero at first, higher with each round, so that asking again can say something new."""
    return min(0.2 + 0.2 * rounds, 0.9)


def _from_task(work: Work) -> tuple[Message, ...]:
    return prompts.draft(work.task, work.spec.signature, work.spec.given_tests)


def _best_and_failure(work: Work) -> tuple[str, str]:
    if work.best:
        failure = work.first_failure(work.best)
        return work.best.code, _told(*failure) if failure else _problem(work.best)
    latest = work.versions[-1]
    return latest.code, latest.problem


def _told(test: str, message: str) -> str:
    """A failure for the model: what must hold, and what happened instead."""
    words = in_words(test)
    if words == test:
        return message
    if "DID NOT RAISE" not in message:
        return f"{words}, but: {message}"
    return f"{words}, but it does not. Check the arguments in the first lines of the function."


def _problem(version: Version) -> str:
    return version.graded.problem if version.graded else version.problem
