"""`burnish.resume`: go on with a run where it was left. Nothing that was answered is asked again."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from burnish.agent.ask import Reviewer
from burnish.agent.limits import PER_ANSWER, Limits
from burnish.agent.questions import Answerer, OpenQuestion
from burnish.apps.attempt import start_build
from burnish.commands import build, fix, page, write
from burnish.commands.apply import GOOD, fix_facts, is_in_place
from burnish.commands.fix import plan_again
from burnish.errors import SetupProblem
from burnish.evals.eval_store import list_evaluations
from burnish.events import (
    Applied,
    Asked,
    FilesWritten,
    QuestionAnswered,
    Reviewed,
    Stopped,
)
from burnish.events.history import count_until_question
from burnish.model_choice import Opener, select_models
from burnish.models.names import Models
from burnish.packages import Budget
from burnish.pages.attempt import start_page
from burnish.report.deliverables import read_suite
from burnish.runs import Run, Store, Watch
from burnish.runs.attempt import Begin, Resources, RunHandle, start
from burnish.runs.request import Request
from burnish.sandbox.open import choose_resumed_sandbox
from burnish.tasks import Task
from burnish.text import slug

START: dict[str, Callable[[Request, Resources], RunHandle]] = {"page": start_page, "build": start_build}
DELIVER = {"page": page.deliver, "build": build.deliver}
"""Of the verbs whose runs are no work of the agent, by their names."""


def resume(
    run: str = "last",
    model: Models | None = None,
    *,
    raised: Mapping[str, float] | None = None,
    store: Store | None = None,
    watch: Watch | None = None,
    answer: Callable[[str], str] | None = None,
    review: Reviewer | None = None,
    settle: Answerer | None = None,
    sandbox: str | None = None,
    beside: Path | str | None = None,
    opener: Opener | None = None,
    keep_thoughts: bool = False,
    question: str = "",
    begin: Begin = lambda handle: None,
) -> Run:
    """Start the run again from its beginning, with every answer that is on record given from there.

    Task, limits, models, sandbox and checks are those of the record, unless named; "process" has to be named.
    `raised` are caps that are higher now, e.g. {"calls": 32}: a run that stopped at one is taken further; one that is
    lower is a SetupProblem. Those of one answer, max_tokens and thinking, may be any other from now on.
    `answer` is who is asked about assumptions, where the run was to ask and had not yet.
    `review` is who looks at what has not been looked at, where the run was to be reviewed. `settle` is asked what is
    right where versions disagree, unless that is on record. `beside` is a folder for the result of a run of `write`
    that names none, as there. Thoughts are kept where they were, or from now on.
    `begin` is given the handle once there is one, to follow and to stop it. A page goes on in a Chromium without
    network, wherever it ran before.
    A finished run comes back as it is; `question` is the open one in it that is to be answered, by `burnish.answer`.
    """
    store = store or Store()
    opened = before = store.open(run)
    if question:
        before = Run(opened.events[: count_until_question(opened.events, question)])
    elif is_over(opened, raised, beside is not None):
        return opened
    if opened.started.verb == "fix" and opened.settings.fix is None:
        raise SetupProblem(
            f"Run {opened.id!r} was stopped before it was known what is to be repaired, so there is nothing to go on "
            "from. Begin anew: burnish fix FILE.py"
        )
    request = request_again(opened, limits_of(opened, raised), sandbox)
    request = request.model_copy(update={"keep_thoughts": request.keep_thoughts or keep_thoughts})
    has_model = not (request.app and request.app.without == "model")
    selection = select_models(model or opened.started.model, request.limits, store) if has_model else None
    out = Path(request.out) if request.out else Path(beside) / slug(request.task.id) if beside is not None else None
    if question:
        out = Path(opened.folder) if opened.folder else None
    elif request.verb == "write" and opened.verdict and request.limits == limits_of(opened):
        return _deliver(opened, out, store, watch)  # it was killed just before its delivery
    elif request.verb in DELIVER and opened.verdict and request.limits == limits_of(opened):
        return DELIVER[request.verb](opened, store, watch, numbered=True)
    elif request.verb == "fix" and fix_facts(opened).apply and is_in_place(opened):
        return fix.deliver(opened, store, watch)
    resources = Resources(
        selection.open(opener) if selection else (),
        store,
        watch,
        answer=_find_answerer(before, answer),
        review=_find_reviewer(before, review),
        settle=settle,
        settled=question,
        replay=before.events,
    )
    if request.verb == "fix":
        return fix.repair(plan_again(opened, Budget.within(request.limits.seconds)), request, resources, begin)
    begin(handle := START.get(request.verb, start)(request, resources))
    if request.verb in DELIVER:
        return DELIVER[request.verb](handle.wait(), store, watch, numbered=True)
    return _deliver(handle.wait(), out, store, watch)


def answer(
    run: str = "last", said: str | None = None, model: Models | None = None, store: Store | None = None, **options: Any
) -> Run:
    """Answer the open question of a run, which is taken up again there and ends with a new verdict.

    `said` is a letter of the options, a value as Python writes it, "raises ValueError", or "" for do not care; None:
    `settle` is asked, and so it is for further questions. `options` are those of `resume`: watch, review, settle,
    sandbox, opener, begin. What followed the question before no longer counts. Files are delivered anew, in a folder
    beside the earlier one. Raises SetupProblem where no question is open, and for what cannot be an answer.
    """
    store = store or Store()
    opened = store.open(run)
    is_over(opened)  # refuses runs of another kind
    asked = opened.open_question
    if asked is None or opened.verdict is None:
        todo = f"burnish {'resume' if asked else 'show'} {opened.id}"
        raise SetupProblem(f"Run {opened.id!r} has no question that waits for an answer. See how far it is: {todo}")
    first = OpenQuestion(asked, read_suite(opened).given).read(said, by="later") if said is not None else None
    settle: Answerer | None = options.pop("settle", None)

    def settle_first(question: OpenQuestion) -> QuestionAnswered | None:
        if first and question.asked.id == asked.id:  # it was read for this call, and for no other
            return first if question.asked.call == asked.call else None
        return settle(question) if settle else None

    return resume(opened.id, model, store=store, settle=settle_first, question=asked.id, **options)


def _deliver(run: Run, out: Path | None, store: Store, watch: Watch | None) -> Run:
    """Its files, unless they are there since it was last taken up; a crash may have left half of them."""
    if out is None or (not run.settings.out and run.ending(FilesWritten)):
        return run
    return write.deliver(run, out, store, watch, numbered=True)


def open_resumable(name: str) -> Run:
    """The run of this name. Raises SetupProblem with the other command where it names an evaluation."""
    try:
        return Store().open(name)
    except SetupProblem:
        found = [path.name for path in list_evaluations() if name != "last" and path.name.startswith(name)]
        if not found:
            raise
        raise SetupProblem(
            f"{name!r} is an evaluation, and those are gone on with by a command of their own: "
            f"burnish eval resume {found[0]}"
        ) from None


def is_over(run: Run, raised: Mapping[str, float] | None = None, deliver: bool = False) -> bool:
    """Whether nothing is left to do: there is a verdict, its files are where they were wanted, and no cap in its way
    is raised. With `deliver` the files of a run of `write` are wanted wherever they were to be.

    Raises SetupProblem for a run of a verb that cannot be taken up again.
    """
    if run.started.verb not in ("write", "fix", *DELIVER):
        raise SetupProblem(
            f"Run {run.id!r} is one of `burnish {run.started.verb}`; only runs of write, fix, page and build can be "
            f"taken up again. Look at it with: burnish show {run.id}"
        )
    stopped, settings = run.ending(Stopped), run.settings
    further = limits_of(run, raised) != limits_of(run) and stopped is not None and stopped.reason != "done"
    if run.verdict is None or further:
        return False
    to_apply = settings.fix and settings.fix.apply and run.verdict in GOOD and run.code
    is_wanted = settings.out or (settings.app and settings.app.into and run.evidence)
    undelivered = (is_wanted and not run.ending(FilesWritten)) or (to_apply and not run.last(Applied))
    unwritten = deliver and run.started.verb == "write" and run.folder is None
    return not undelivered and not unwritten


def request_again(run: Run, limits: Limits, sandbox: str | None = None) -> Request:
    """What the run was asked for, from its record. Raises SetupProblem where that does not say it."""
    settings, verb = run.settings, run.started.verb
    try:
        task = Task(**settings.task)
    except (TypeError, ValidationError) as error:
        raise _explain_unreadable(run) from error
    usual = write.CHECKS_AT_END if verb == "write" else ()
    return Request(
        task=task,
        verb=verb,
        limits=limits,
        sandbox=choose_resumed_sandbox(sandbox, settings.sandbox, f"burnish resume {run.id}"),
        checks=usual if settings.checks is None else settings.checks,
        afterwards=frozenset(settings.afterwards),
        packages=settings.packages,
        allow_packages=settings.allow_packages,
        out=settings.out,
        ask=settings.ask,
        review=settings.review,
        confidence=settings.confidence,
        questions=settings.questions,
        keep_thoughts=settings.keep_thoughts,
        fix=settings.fix,
        # Where nobody has to open a tab. What it may reach there is the cell's own, whoever wrote the record.
        page=settings.page.model_copy(update={"headless": True}) if settings.page else None,
        app=settings.app,
        part_of=settings.part_of,
    )


def limits_of(run: Run, raised: Mapping[str, float] | None = None) -> Limits:
    """The caps of the run, some of them as they are from now on. A SetupProblem for one that would not be raised."""
    try:
        now = Limits(**run.settings.limits)
    except (TypeError, ValidationError) as error:
        raise _explain_unreadable(run) from error
    for name, cap in (raised or {}).items():
        before = getattr(now, name, None)
        if name in PER_ANSWER:
            continue
        if before is None:
            raise SetupProblem(
                f"Run {run.id!r} has no limit on {name}, so none can be raised. Leave it out: burnish resume {run.id}"
            )
        if not before <= cap < math.inf:  # calls that were made cannot be taken back, so a cap only ever rises
            raise SetupProblem(
                f"Run {run.id!r} may use {before:.10g} {name} already, so {cap:.10g} would raise nothing. "
                f"Name a higher limit: burnish resume {run.id} --{name} {before * 2 or 1:.10g}"
            )
    return Limits(**(now.model_dump() | dict(raised or {})))


def _find_answerer(run: Run, answer: Callable[[str], str] | None) -> Callable[[str], str] | None:
    if not run.settings.ask or run.spec:  # nobody wanted to be asked, or the record holds all the answers
        # What was agreed on is on record, so nothing is said anew.
        return (lambda assumption: "") if run.spec and any(ask.purpose == "assume" for ask in run.all(Asked)) else None
    if answer is None:
        raise SetupProblem(
            f"Run {run.id!r} was to ask what you want where its words leave something open, and nobody is here to "
            f"answer. Go on with it in a terminal: burnish resume {run.id}"
        )
    return answer


def _find_reviewer(run: Run, review: Reviewer | None) -> Reviewer | None:
    """Who looks at the rest; needed unless all was looked at."""
    last = run.last(Reviewed)
    if not run.settings.review:
        return None
    if review is None and (last is None or (last.where, last.said) != ("checks", "go_on")):
        raise SetupProblem(
            f"Run {run.id!r} was to be shown to you on its way, and nobody is here to look. "
            f"Go on with it in a terminal: burnish resume {run.id}"
        )
    return review


def _explain_unreadable(run: Run) -> SetupProblem:
    return SetupProblem(
        f"The record of run {run.id!r} does not say what is needed to go on with it. Start anew with the same words; "
        f"they are in: burnish show {run.id}"
    )
