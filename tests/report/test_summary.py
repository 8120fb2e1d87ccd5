"""A run on one screen, however long it was."""

from burnish.events import Decided, Event, FeedbackGiven, RunFinished, RunStarted, SpecAgreed, Stopped
from burnish.events.feedback import Comment, Preference, Stars
from burnish.events.history import Run
from burnish.report.explain import explain
from burnish.report.narrate import describe
from burnish.report.summary import summarise
from tests.iterated import EVENTS, iterated
from tests.support import ESC

LIMIT = "the limit of 600 seconds is reached"
WILD = f"{ESC}[31m\x07\u202ewild"


def tell(*events: Event) -> dict[str, list[str]]:
    """The texts of each group, by its label."""
    groups: dict[str, list[str]] = {}
    for line in summarise(Run(events)):
        groups.setdefault(line.label or next(reversed(groups)), []).append(line.text)
    return groups


def test_the_screen_says_verdict_grounds_cost_and_where_the_rest_is() -> None:
    run, told = iterated(), tell(*EVENTS)
    assert told[run.state.upper()] == [run.why]
    assert len(told["checks"]) == len(run.evidence)
    assert {"run", "task", "tests", "happened", "code", "cost", "more"} <= told.keys()
    assert sum(map(len, told.values())) <= 40


def test_a_long_story_is_told_by_its_beginning_and_its_end() -> None:
    steps = [Decided(choice="again", reason=f"Step {number}.") for number in range(300)]
    told = tell(EVENTS[0], *steps)["happened"]
    assert (told[0], told[-1], len(told)) == ("Step 0.", "Step 299.", 6)
    assert "295" in told[2]


def test_a_limit_at_which_several_stopped_is_said_once() -> None:
    stop = Stopped(reason="seconds", why=LIMIT)
    end = Decided(choice="judge", reason=f"The work ends here: {LIMIT}.")
    events = (EVENTS[0], Decided(choice="begin", reason="Begun."), stop, stop, end)
    finished = RunFinished(verdict="failed", why=LIMIT)
    assert explain(Run((*events, finished))).lower().count(LIMIT) == 1
    assert sum(text.lower().count(LIMIT) for texts in tell(*events, finished).values() for text in texts) == 1
    other = explain(Run((*events, RunFinished(verdict="failed", why="no test passed"))))
    assert other.count(describe(stop)) == 1, "a limit that the verdict does not name is told"


def test_words_on_a_record_are_shown_and_never_obeyed() -> None:
    opinions = (Stars(stars=1), Comment(about=WILD, line=3), Comment(about=WILD), Preference(than_run=WILD))
    wild = [
        FeedbackGiven(id=f"{WILD}{place}", opinion=opinion, words=WILD, by=WILD)
        for place, opinion in enumerate(opinions)
    ]
    started = RunStarted(run_id="a-0000", verb="write", prompt=WILD, model="m", burnish="0")
    told = tell(started, *wild)
    assert len(told["feedback"]) == 4
    assert not [text for text in told["feedback"] if ESC in text or "\x07" in text or "\u202e" in text]


def test_what_is_open_is_said_on_the_screen_and_in_the_story() -> None:
    open_ = "the order of names that are alike"
    spec = SpecAgreed(entry_point="f", signature="f(x)", open_questions=(open_,))
    assert tell(EVENTS[0], spec)["open"] == [open_]
    assert open_ in explain(Run((EVENTS[0], spec)))
    assert "open" not in tell(EVENTS[0])


def test_a_run_that_somebody_works_on_is_not_called_unfinished() -> None:
    labels = [[line.label for line in summarise(Run(EVENTS[:1]), is_running)] for is_running in (True, False)]
    assert ("running" in labels[0], "unfinished" in labels[0]) == (True, False)
    assert ("running" in labels[1], "unfinished" in labels[1]) == (False, True)
