"""A run on one screen: its verdict, what that rests on, what happened in a few lines, and what people think of it."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from burnish.events import (
    Applied,
    AppPlanned,
    Broke,
    Compared,
    CriterionTicked,
    Decided,
    FunctionWritten,
    ModuleBuilt,
    Mutated,
    PackagesAdded,
    PageJudged,
    PageObserved,
    PageScored,
    QuestionAnswered,
    Refined,
    Refused,
    Resumed,
    Reviewed,
    RunFinished,
    Stopped,
    Strengthened,
    Tweaked,
)
from burnish.events.history import Run
from burnish.report.costs import describe_cost, describe_cost_by_model, read_choice
from burnish.report.deliverables import list_open_questions, read_suite
from burnish.report.narrate import CHECK_TONES, Line, Tone, add_confidence, describe, describe_feedback, narrate
from burnish.text import join_words, one_line, plural

STEPS = (
    *(Decided, Tweaked, Compared, QuestionAnswered, Refused, Resumed, Mutated, Strengthened),
    *(Refined, PackagesAdded, Reviewed, Stopped, Broke, Applied),
)
"""Events that tell how the result came about."""
FIRST_STEPS, LAST_STEPS = 2, 3
"""What is shown of a long story: its beginning and its end."""
MOST_FEEDBACK = 5


def summarise(run: Run, is_running: bool = False, scored: PageScored | None = None) -> Iterator[Line]:
    """The lines of the screen, about thirty; a label stands at the first of each group.

    `scored` is the score of a page, with what people ticked.
    """
    started, suite, final = run.started, read_suite(run), run.final
    when = datetime.fromtimestamp(started.at).strftime("%d %b %Y %H:%M").lstrip("0")
    yield Line("run", f"{run.id}, burnish {started.verb} on {when}", "strong")
    if is_running:
        yield Line("running", f"somebody works on it right now: burnish show {run.id} --follow", "strong")
    else:
        headline, basis = add_confidence(run.state.upper() if run.verdict else run.state, run.ending(RunFinished))
        yield Line(headline, one_line(run.why, 400), run.verdict or "bad")
        yield from [Line("", basis)] if basis else []
    yield Line("task", one_line(started.prompt, 300))
    if chosen := read_choice(started):
        yield Line("model", f"{one_line(started.model)}, because {chosen}")
    counts = {
        "given by you": suite.given,
        "read from your words": suite.worded,
        "of the project": suite.project,
        "by the model": suite.model,
        "added": suite.added,
        "pinned": suite.pinned,
    }
    aside = f"; {len(run.disputed)} of them disputed and set aside" if run.disputed else ""
    tests = join_words([f"{len(these)} {words}" for words, these in counts.items() if these])
    if run.settings.page:
        cycles = [describe(event) for event in run.events if isinstance(event, PageObserved | PageJudged)]
        yield from group_lines("cycles", shorten([one_line(text, 200) for text in cycles]))
        yield from narrate(scored) if scored else ()
        yield from group_lines("ticked", [describe(tick) for tick in run.all(CriterionTicked)])
    elif run.settings.app:
        planned = [line.text for one in run.all(AppPlanned)[-1:] for line in narrate(one)]
        yield from group_lines("plan", [one_line(text, 200) for text in planned])
        modules = {one.module: describe(one) for one in run.all(ModuleBuilt)}
        written = {one.function: describe(one) for one in run.all(FunctionWritten)}
        yield from group_lines("modules", list(modules.values()))
        yield from group_lines("written", list(written.values()))
    else:
        yield Line("tests", f"{tests or 'none'}{aside}")
    yield from group_lines("open", [one_line(question, 400) for question in list_open_questions(run)])
    for place, item in enumerate(run.evidence):
        figure = f"{one_line(item.figure, 40)}: " if item.figure else ""
        said = f"{item.check} {item.verdict.replace('_', ' ')}, {figure}{one_line(item.why, 80)}"
        yield Line("" if place else "checks", said, CHECK_TONES[item.verdict])
    yield from group_lines("happened", _tell_steps(run), "quiet")
    if final:
        lines = plural(len(final.code.splitlines()), "line")
        yield Line("code", f"version {final.number} of {len(run.versions)}, {lines}")
    if run.folder:
        yield Line("files", run.folder)
    yield from group_lines("cost", [describe_cost(run), *describe_cost_by_model(run)])
    yield from group_lines("feedback", list_feedback(run, MOST_FEEDBACK))
    yield Line("more", f"burnish explain {run.id} tells the story; burnish show {run.id} --all has every event in full")
    yield Line("", "also: --code, --tests, --evidence, --json")


def group_lines(label: str, texts: Sequence[str], tone: Tone = "") -> Iterator[Line]:
    """The texts as lines of which the first has the label."""
    yield from (Line("" if place else label, text, tone) for place, text in enumerate(texts))


def list_feedback(run: Run, most: int | None = None) -> list[str]:
    """What people think of it, newest last, each with the id by which it can be changed."""
    said = [f"{one_line(given.id, 20)}: {describe_feedback(given)}" for given in run.feedback]
    if most is None or len(said) <= most:
        return said
    return [f"{len(said) - most} earlier ones: burnish rate {run.id} --list", *said[-most:]]


def _tell_steps(run: Run) -> list[str]:
    """The steps in a line each, without repeats and without what the verdict says."""
    stopped = any(event.reason != "done" for event in run.all(Stopped))
    words = []
    for event in run.events:
        match event:
            case Stopped(reason="done") | Decided(choice="judge") if stopped or isinstance(event, Stopped):
                continue
            case Stopped(why=why) if why == run.why:
                continue
            case _ if isinstance(event, STEPS):
                words.append(describe(event))
    return shorten([one_line(text, 130) for text in dict.fromkeys(filter(None, words))])


def shorten(steps: list[str]) -> list[str]:
    """Of many the first and the last."""
    left = len(steps) - FIRST_STEPS - LAST_STEPS
    return [*steps[:FIRST_STEPS], f"… {left} more steps …", *steps[-LAST_STEPS:]] if left > 1 else steps
