"""`burnish models doctor`: is a model good enough, for what, how fast, and what should be changed?

It is asked as every run asks, within limits, and its code is run where all generated code is. What it said stays on
record, so that its speed is known from then on.
"""

import threading

from burnish.agent import limits
from burnish.agent.ask import Tools
from burnish.agent.limits import Limits, Meter
from burnish.errors import SetupProblem
from burnish.events import BaseEvent, RunStarted, Stopped
from burnish.models.model import Ask, Model
from burnish.models.prices import context_of, price_of
from burnish.models.providers import Server, server_of
from burnish.places import home
from burnish.runs import Record, Store
from burnish.runs.speeds import EXAMINED, measured
from burnish.sandbox import Sandbox, open_sandbox
from burnish.verbs.trying.examination import Examination, Finished, Hear
from burnish.verbs.trying.symptoms import changes
from burnish.verbs.trying.trials import Trial, five, long_prompt
from burnish.verbs.trying.tried import Tried
from burnish.version import __version__

FREE_DOLLARS = 0.05
"""What may be spent without being asked for."""
ROOM_ENOUGH = 16_384
"""A cloud that is known to have this much context need not be paid to show it."""
EMBEDDED = ("local:", "huggingface:")
LIMITS = Limits(calls=8, tokens=200_000, seconds=900)


def try_model(
    model: Model,
    *,
    dollars: float | None = None,
    unpriced: bool = False,
    sandbox: str = "auto",
    watch: Hear | None = None,
    finished: Finished | None = None,
) -> Tried:
    """Put the tasks to the model. `finished` is told of each as it ends, `watch` of all that happens.

    Raises SetupProblem before the first word where it may cost more than `dollars`, or more than a few cents where
    nobody said how much; where nobody knows the price, unless `unpriced` says that this is fine; and where only the
    user can make the model answer at all.
    """
    caps = check_cost(model, dollars, unpriced)
    server = server_of(model.name)
    model.warm_up()
    with open_sandbox(sandbox, cells=1) as box:
        run_id, record = Store(home() / EXAMINED).begin(model.name)
        with record:
            hear = _both(record, watch)
            hear(_started(run_id, model, box, caps))
            meter = Meter(caps)
            examination = Examination(Tools(model, box, meter, threading.Event()), hear, finished)
            if model.name.startswith(EMBEDDED):
                examination.wake()
            answers = examination.answers(_trials(model.name, server))
            hear(Stopped(reason="done"))
    speeds = measured([record.path])
    return Tried(
        model=model.name,
        answers=tuple(answers),
        changes=changes(answers, model.name, server),
        tokens_per_second=speeds[0].tokens_per_second if speeds else None,
        dollars=meter.dollars if price_of(model.name) else None,
    )


def most_dollars(model: Model) -> float | None:
    """What it may cost at most; None where nobody knows the price."""
    return sum(limits.most_dollars(ask, model.name) or 0.0 for ask in _asks(model)) if price_of(model.name) else None


def most_tokens(model: Model) -> int:
    """Tokens that it may take at most, read and written."""
    return sum(limits.most_tokens(ask) for ask in _asks(model))


def check_cost(model: Model, dollars: float | None, unpriced: bool = False) -> Limits:
    """The limits of the examination. Raises SetupProblem where it may cost more than was said, or than goes unsaid."""
    most = most_dollars(model)
    if most is None:
        return _unpriced(model, dollars, unpriced)
    if most <= (FREE_DOLLARS if dollars is None else dollars):
        return LIMITS.model_copy(update={"dollars": dollars})
    cap = f"more than {dollars:g} dollars" if dollars is not None else "more than a few cents"
    raise SetupProblem(
        f"To try {model.name!r} may cost up to {most:.2f} dollars, {cap}. If that is fine, type:"
        f" burnish models doctor {model.name} --dollars {most + 0.005:.2f}"
    )


def _unpriced(model: Model, dollars: float | None, fine: bool) -> Limits:
    """As many tokens as the tasks may take, and not one more, if the user says so."""
    most = most_tokens(model)
    if fine and dollars is None:
        return LIMITS.model_copy(update={"tokens": most})
    cap = "" if dollars is None else f", so a cap of {dollars:g} dollars cannot be kept"
    raise SetupProblem(
        f"The price of {model.name!r} is not known{cap}. To try it takes up to {most:,} tokens. If that is fine, type:"
        f" burnish models doctor {model.name} --unpriced"
    )


def _asks(model: Model) -> list[Ask]:
    """All that may be asked, with the tokens for thoughts that the model has."""
    server = server_of(model.name)
    trials = (*_trials(model.name, server), long_prompt(short=True))
    return [trial.ask.model_copy(update={"thinking": getattr(model, "thinking", 0)}) for trial in trials]


def _trials(name: str, server: Server | None) -> tuple[Trial, ...]:
    """The tasks. Before them a long prompt where a server may have too little room for it, and not say so.

    While that is read the model loads, and no task has to wait for it. An embedded engine has the room that we give
    it, and refuses what is too long.
    """
    if name.startswith(EMBEDDED) or (server and server.is_official and context_of(name) >= ROOM_ENOUGH):
        return five()
    return (long_prompt(), *five())


def _both(record: Record, watch: Hear | None) -> Hear:
    def hear(event: BaseEvent) -> None:
        record.append(event)
        if watch:
            watch(event)

    return hear


def _started(run_id: str, model: Model, box: Sandbox, caps: Limits) -> RunStarted:
    return RunStarted(
        run_id=run_id,
        verb="models doctor",
        prompt="five tiny tasks",
        model=model.name,
        burnish=__version__,
        sandbox=box.level,
        settings={"limits": caps.model_dump(mode="json")},
    )
