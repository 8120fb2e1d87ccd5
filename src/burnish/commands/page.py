"""`burnish.page`: JavaScript for a sentence or a case, run live. The Python twin of the command of the same name."""

from pathlib import Path

from burnish.agent.limits import Limits
from burnish.commands.write import name_earlier, put_files
from burnish.errors import SetupProblem
from burnish.events import CriterionTicked, PageFacts
from burnish.model_choice import Opener, select_models
from burnish.models.names import Models, list_given, open_models
from burnish.pages.attempt import VERB, start_page
from burnish.pages.folder import list_page_files, read_score
from burnish.pages.prompts import read_context
from burnish.pages.rubric import load_case
from burnish.report.deliverables import check_free
from burnish.runs import Run, Store, Watch
from burnish.runs.attempt import Resources
from burnish.runs.request import Request
from burnish.tasks import Task
from burnish.text import slug

LIMITS = Limits(rounds=4, calls=12, tokens=120_000, seconds=900.0)
"""Unless said otherwise: answers are longer than functions are, and each is shown again to be corrected."""
MOST_SENTENCE = 4000
TICKER = "user"


def page(
    sentence: str = "",
    model: Models | None = None,
    *,
    case: Path | str = "",
    context: Path | str | None = None,
    from_run: str | None = None,
    out: Path | str | None = None,
    limits: Limits | None = None,
    grant: bool = False,
    store: Store | None = None,
    watch: Watch | None = None,
    opener: Opener | None = None,
    keep_thoughts: bool = False,
) -> Run:
    """Have a page written and run in a Chromium without network, corrected until nothing is to be put right.

    `case` names a shipped case or the folder of one's own, whose rubric scores the page; it brings the sentence, unless
    the run goes on from an earlier one (`from_run`). `context` is a file of what the model is told about the page.
    `out` names a new or empty folder for the result. All else is as in `burnish.write`.
    """
    store = store or Store()
    request = build_request(
        sentence,
        model,
        case=case,
        context=read_context(Path(context)) if context is not None else "",
        from_run=from_run,
        limits=limits or LIMITS,
        grant=grant,
        out=out,
        keep_thoughts=keep_thoughts,
        store=store,
    )
    models = list_given(model) or (opener or open_models)(request.model)
    return deliver(start_page(request, Resources(models, store, watch)).wait(), store, watch)


def build_request(
    sentence: str,
    model: Models | None = None,
    *,
    case: Path | str = "",
    context: str = "",
    from_run: str | None = None,
    headless: bool = True,
    limits: Limits = LIMITS,
    grant: bool = False,
    out: Path | str | None = None,
    keep_thoughts: bool = False,
    store: Store | None = None,
) -> Request:
    """What is asked of the run of a page. Raises SetupProblem for what cannot be one, before anything begins.

    `grant` lets a page in the user's own browser reach the loopback addresses that its case names; a headless one
    reaches those of its own cell, where nothing listens but the case's servers.
    """
    store = store or Store()
    earlier, version = store.open_version(from_run) if from_run else (None, None)
    before = earlier.settings.page if earlier else None
    code = version.code if version else earlier.code if earlier else ""
    if earlier and (before is None or not code):
        why = "it is no page" if before is None else "no version has come of it"
        raise SetupProblem(f"Run {earlier.id!r} cannot be gone on from: {why}. Choose another one from: burnish runs")
    name = str(case) or (before.case if before else "")
    chosen = load_case(name) if name else None
    words = sentence.strip()
    if words and chosen and not earlier:
        raise SetupProblem("A case brings its own sentence. Leave one of the two out: burnish page --case NAME")
    if not words and (earlier or not chosen):
        todo = f'burnish page --from {earlier.id} "make it green"' if earlier else 'burnish page "a clock on a canvas"'
        raise SetupProblem("Say in a sentence what you would like to see", todo)
    if len(words) > MOST_SENTENCE:
        raise SetupProblem(
            f"The sentence has {len(words)} characters, and {MOST_SENTENCE} are the most. Put what is general into a "
            "file: burnish page … --context FILE"
        )
    if chosen and chosen.targets and not (headless or grant):
        raise SetupProblem(
            f"The case {chosen.name!r} wants its page to reach {', '.join(chosen.targets)} on this machine, and nobody "
            "has allowed that. Run it in a browser without network, or allow it with --grant",
            f"burnish page --case {name} --headless",
        )
    if out is not None:
        check_free(Path(out))
    selection = select_models(model, limits, store)
    facts = PageFacts(
        case=name if not chosen or not chosen.folder or name == chosen.name else str(chosen.folder),
        context=context or (before.context if before else "") or read_context(),
        targets=chosen.targets if chosen else (),
        headless=headless,
        before=code,
        follow_ups=before.follow_ups + 1 if before else 0,
    )
    prompt = words or (chosen.sentence if chosen else "")
    return Request(
        task=Task(id=slug(chosen.name if chosen else words), prompt=prompt, language="javascript", own_tests=False),
        verb=VERB,
        model=selection.names,
        chosen=selection.why,
        limits=limits,
        continues=name_earlier(earlier, version),
        out=str(Path(out).absolute()) if out is not None else "",
        keep_thoughts=keep_thoughts,
        page=facts,
    )


def deliver(run: Run, store: Store, watch: Watch | None = None, numbered: bool = False) -> Run:
    """Put page, code, pictures, report and evidence into the folder that the run names, if it names one.

    With `numbered` into one beside it where that is not empty.
    """
    if not run.settings.out or run.verdict is None:
        return run
    files = list_page_files(run, store.runs / run.id)
    return store.add(run, put_files(run, files, Path(run.settings.out), numbered), watch)


def tick(run: str, criterion: str, holds: bool | None, *, by: str = TICKER, store: Store | None = None) -> Run:
    """Put on a run's record whether a person says that a criterion of its case holds; None takes back what was said.

    Those of probes may be judged too: their points stay, and the agreement of probes and people is shown.
    """
    store = store or Store()
    opened = store.open(run)
    scored = read_score(opened)
    names = [one.name for one in scored.criteria] if scored else []
    if scored is None or criterion not in names:
        known = f"it has {', '.join(names)}" if names else "it has no score"
        raise SetupProblem(f"Run {opened.id!r} has no criterion {criterion!r}: {known}. See: burnish show {opened.id}")
    return store.add(opened, CriterionTicked(case=scored.case, name=criterion, holds=holds, by=by))
