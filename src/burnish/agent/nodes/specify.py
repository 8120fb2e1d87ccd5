"""specify: agree on a name, a signature and the given tests before anything is written."""

from collections.abc import Iterator

from burnish.agent import prompts
from burnish.agent.ask import Tools, ask
from burnish.agent.extract import signature_from
from burnish.agent.work import Work
from burnish.events import Decided, Event, SpecAgreed
from burnish.models.model import Ask

FALLBACK = "solve"


def specify(work: Work, tools: Tools) -> Iterator[Event]:
    """Take what the sentence fixes; ask the model for a name only where it gives none."""
    task = work.task
    signature = task.signature or task.entry_point
    if not signature:
        yield Decided(choice="specify", reason="The sentence names no function, so the model is asked for a name.")
        question = Ask(purpose="specify", messages=prompts.specify(task), max_tokens=80)
        reply = yield from ask(tools, "specify-0", question)
        signature = signature_from(reply.text) if reply else ""
    signature = signature or FALLBACK
    yield SpecAgreed(entry_point=signature.split("(")[0], signature=signature, given_tests=task.visible_tests)
