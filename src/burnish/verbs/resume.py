"""`burnish.resume`: go on with a run where it was left. Nothing that was answered is asked again."""

import math
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from burnish.agent.ask import Reviewer
from burnish.agent.limits import PER_ANSWER, Limits
from burnish.attempt import attempt
from burnish.errors import SetupProblem
from burnish.events import Applied, Asked, FilesWritten, Resumed, Reviewed, Stopped
from burnish.models.names import Models
from burnish.runs import Run, Store, Watch
from burnish.sandbox.open import sandbox_again
from burnish.tasks import Task
from burnish.verbs import write

Way = Callable[[Run, Models, Limits, Store, Watch | None, str], Run]
"""How a verb takes up a run: the run, who answers, the caps, where runs are kept, who watches, which sandbox."""
ELSEWHERE = {"fix": "burnish.verbs.fix_resume"}
"""Verbs that take up their own runs, and the module whose `take_up` does it, a `Way`."""


def resume(
    run: str = "last",
    model: Models | None = None,
    *,
    raised: Mapping[str, float] | None = None,
    store: Store | None = None,
    watch: Watch | None = None,
    answer: Callable[[str], str] | None = None,
    review: Reviewer | None = None,
    sandbox: str | None = None,
) -> Run:
    """Start the run again from its beginning, with every answer that is on record given from there.

    Task, limits, models, sandbox and checks are those of the record, unless named; "process" has to be named.
    `raised` are caps that are higher now, e.g. {"calls": 32}: a run that stopped at one is taken further; one that is
    lower is a SetupProblem. Those of one answer, max_tokens and thinking, may be any other from now on.
    `answer` is who is asked about assumptions, where the run was to ask and had not yet; see `waits_for_answers`.
    `review` is who looks at what has not been looked at, where the run was to be reviewed.
    A finished run comes back as it is.
    """
    store = store or Store()
    opened = store.open(run)
    way = way_of(opened)
    if is_over(opened, raised):
        return opened
    if way is _write:
        way = partial(_write, answer=answer, review=review)
    place = sandbox_again(sandbox, str(settings_of(opened).get("sandbox", "auto")), f"burnish resume {opened.id}")
    return way(opened, model or opened.started.model, limits_of(opened, raised), store, watch, place)


def is_over(run: Run, raised: Mapping[str, float] | None = None) -> bool:
    """Whether nothing is left to do: there is a verdict, its files are where they were wanted, and no cap in its way
    is raised.
    """
    stopped = run.ending(Stopped)
    further = limits_of(run, raised) != limits_of(run) and stopped is not None and stopped.reason != "done"
    return run.verdict is not None and not further and not _undelivered(run)


def _undelivered(run: Run) -> bool:
    """Whether the verdict is there, and what was to follow it is not."""
    settings = settings_of(run)
    to_apply = settings.get("fix", {}).get("apply") and run.verdict in ("proven", "plausible") and run.code
    return bool((settings.get("out") and not run.ending(FilesWritten)) or (to_apply and not run.last(Applied)))


def settings_of(run: Run) -> dict[str, Any]:
    """What the run was last started with."""
    settings = dict(run.started.settings)
    for event in run.all(Resumed):
        settings |= event.settings
    return settings


def limits_of(run: Run, raised: Mapping[str, float] | None = None) -> Limits:
    """The caps of the run, some of them as they are from now on. A SetupProblem for one that would not be raised."""
    try:
        now = Limits(**settings_of(run).get("limits", {}))
    except (TypeError, ValidationError) as error:
        raise _unreadable(run) from error
    for name, cap in ((name, cap) for name, cap in (raised or {}).items() if name not in PER_ANSWER):
        _must_raise(run, name, getattr(now, name, math.nan), cap)
    return Limits(**(now.model_dump() | dict(raised or {})))


def _must_raise(run: Run, name: str, now: float | None, cap: float) -> None:
    """Calls that were made cannot be taken back, so a cap of a run only ever rises."""
    if now is None or math.isnan(now):
        raise SetupProblem(
            f"Run {run.id!r} has no limit on {name}, so none can be raised. Leave it out: burnish resume {run.id}"
        )
    if not now <= cap < math.inf:
        raise SetupProblem(
            f"Run {run.id!r} may use {now:.10g} {name} already, so {cap:.10g} would raise nothing. "
            f"Name a higher limit: burnish resume {run.id} --{name} {now * 2 or 1:.10g}"
        )


def task_of(run: Run) -> Task:
    """What the run was asked to do."""
    try:
        return Task(**settings_of(run)["task"])
    except (KeyError, TypeError, ValidationError) as error:
        raise _unreadable(run) from error


def way_of(run: Run) -> Way:
    """How this run can be taken up; a SetupProblem where it cannot."""
    if run.started.verb == "write":
        return _write
    if run.started.verb in ELSEWHERE:
        way: Way = import_module(ELSEWHERE[run.started.verb]).take_up
        return way
    raise SetupProblem(
        f"Run {run.id!r} is one of `burnish {run.started.verb}`; only runs of write and fix can be taken up again. "
        f"Look at it with: burnish show {run.id}"
    )


def waits_for_answers(run: Run) -> bool:
    """Whether the user wanted to be asked about assumptions, and the record does not hold all the answers."""
    return bool(settings_of(run).get("ask")) and run.spec is None


def _answerer(run: Run, answer: Callable[[str], str] | None) -> Callable[[str], str] | None:
    if not waits_for_answers(run):
        return _agree if run.spec and any(ask.purpose == "assume" for ask in run.all(Asked)) else None
    if answer is None:
        raise SetupProblem(
            f"Run {run.id!r} was to ask what you want where its words leave something open, and nobody is here to "
            f"answer. Go on with it in a terminal: burnish resume {run.id}"
        )
    return answer


def is_reviewed(run: Run) -> bool:
    """Whether a person wanted to see what there is on the way."""
    return bool(settings_of(run).get("review"))


def _looker(run: Run, review: Reviewer | None) -> Reviewer | None:
    """Who looks at the rest; needed unless all was looked at."""
    last = run.last(Reviewed)
    seen = last is not None and (last.where, last.said) == ("checks", "go_on")
    if not is_reviewed(run):
        return None
    if review is None and not seen:
        raise SetupProblem(
            f"Run {run.id!r} was to be shown to you on its way, and nobody is here to look. "
            f"Go on with it in a terminal: burnish resume {run.id}"
        )
    return review


def _write(
    run: Run,
    model: Models,
    limits: Limits,
    store: Store,
    watch: Watch | None,
    sandbox: str,
    answer: Callable[[str], str] | None = None,
    review: Reviewer | None = None,
) -> Run:
    settings = settings_of(run)
    if run.verdict is None or limits != limits_of(run):  # else it was killed just before its files were written
        run = attempt(
            task_of(run),
            model,
            limits=limits,
            sandbox=sandbox,
            store=store,
            watch=watch,
            checks=settings.get("checks", write.CHECKS_AT_END),
            replay=run.events,
            answer=_answerer(run, answer),
            afterwards=settings.get("afterwards", ()),
            review=_looker(run, review),
            packages=settings.get("packages", ()),
            allow_packages=settings.get("allow_packages", ()),
        )
    out = settings.get("out")  # a crash may have left half of the files there
    return write.deliver(run, write.free_folder(Path(out)), store, watch) if out else run


def _agree(assumption: str) -> str:
    """What was agreed on is on record, so nothing is said anew."""
    return ""


def _unreadable(run: Run) -> SetupProblem:
    return SetupProblem(
        f"The record of run {run.id!r} does not say what is needed to go on with it. Start anew with the same words; "
        f"they are in: burnish show {run.id}"
    )
