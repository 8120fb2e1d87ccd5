"""What happens in a run, told to somebody who does not program; what the terminal would say stands folded below it.

`report.narrate` is the narrator for people who know what a test run is. Here only what is worth a line of its own in
the timeline is said in other words, in the reader's language; all else is in the report.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from burnish.events import (
    Asked,
    BaseEvent,
    Broke,
    CheckFinished,
    CodeProposed,
    Compared,
    CriterionTicked,
    Mutated,
    PackagesAdded,
    PageJudged,
    PageObserved,
    PageRefused,
    PageScored,
    PageTold,
    PageWritten,
    PlaceChosen,
    QuestionAnswered,
    QuestionAsked,
    Refined,
    Resumed,
    Reviewed,
    RunFinished,
    RunStarted,
    SpecAgreed,
    Stopped,
    Strengthened,
    TestsFrozen,
    TestsProbed,
    TestsProposed,
    TestsRan,
    Tweaked,
    UserAnswered,
)
from burnish.models.names import split_names
from burnish.redact import model_name
from burnish.report.narrate import Line, Tone, narrate
from burnish.text import one_line
from burnish.web.page import Translate

PURPOSES = {
    "draft": "Asking for a version of the code",
    "rewrite": "Asking for the code written anew",
    "repair": "Asking for a repair",
    "reflect": "Asking what is wrong, and for a repair",
    "tests": "Asking for tests",
    "specify": "Asking how the function should be called",
    "assume": "Asking what the sentence leaves open",
    "examples": "Asking which examples the sentence gives",
    "inputs": "Asking for things to try",
    "review": "Asking for what you want changed",
    "refine": "Asking for something better",
    "page": "Asking for a page",
    "page-question": "The page asks the model something",
}
CHECKS = {
    "tests": "Do the tests pass?",
    "coverage": "Do the tests run every line?",
    "mutation": "Would the tests notice a mistake?",
    "security": "Is it free of anything dangerous?",
    "dependencies": "Are the packages it uses safe?",
    "quality": "Is it easy to read and change?",
    "performance": "Does it stay fast with more data?",
}
"""What each check asks, in plain words."""
APP_CHECKS = {
    "functional": "Does it do what its plan says?",
    "quality": CHECKS["quality"],
    "performance": CHECKS["performance"],
    "integration": "Can people use it, and do attacks on it fail?",
}
"""What the checkpoints of an app ask."""
NOTICES = {
    "reading the weights": "The model is being loaded.",
    "weights: ": "The model is being fetched: {rest}",
    "Fetching ": "Packages are being fetched: {rest}",
    "Waiting for another Burnish": "Another Burnish is fetching the same packages.",
    "running the project's tests": "The tests that came with the code are run.",
    "checking ": "The result is looked at from all sides.",
    "looking at ": "Something better is looked for.",
    "trying small changes": "Small mistakes are put in, to see whether the tests notice them.",
    "looking for tests": "Tests are looked for that notice more mistakes.",
}
"""By their beginnings, what may be told to somebody who waits; the rest is told as it is."""
VERDICTS = {"proven": "Proven", "plausible": "Plausible", "failed": "Failed"}
MEANINGS = {
    "proven": "All tests pass, and what was observed makes it at least 95 % likely to be right.",
    "plausible": "The tests pass, but the evidence is thinner than we would bet on.",
    "failed": "A test that has to pass fails.",
}


class Step(NamedTuple):
    """One line of the timeline."""

    kind: str
    """What it is about: you, model, tests, code, compare, check, end."""
    text: str
    tone: Tone
    at: float
    lines: tuple[Line, ...] = ()
    """The same, and what followed from it, as the terminal says it."""


def tell_steps(events: Iterable[BaseEvent], t: Translate) -> Iterator[Step]:
    """The timeline of these events."""
    for event in events:
        told = describe_step(event, t)
        if told:
            kind, text, tone = told
            yield Step(kind, one_line(text, 300), tone, event.at, tuple(narrate(event)))


def describe_notice(text: str, t: Translate) -> str:
    """What goes on, for somebody who waits: in plain words where there are some."""
    for beginning, plain in NOTICES.items():
        if text.startswith(beginning):
            return t(plain, rest=text.removeprefix(beginning))
    return text


def describe_step(event: BaseEvent, t: Translate) -> tuple[str, str, Tone] | None:
    """Kind, words and tone of an event that has a line of its own."""
    for describe in (_describe_beginning, _describe_work, _describe_page, _describe_end):
        if told := describe(event, t):
            return told
    return None


def _describe_beginning(event: BaseEvent, t: Translate) -> tuple[str, str, Tone] | None:
    match event:
        case RunStarted():
            who = ", ".join(model_name(name) for name in split_names(event.model))
            if event.continues:
                earlier, _, number = event.continues.partition(":")
                start = t("version {n} of {id}", n=number, id=earlier) if number else earlier
                return "you", t("The work goes on from {earlier}. {who} writes.", earlier=start, who=who), ""
            return "you", t("The work begins. {who} writes.", who=who), ""
        case Resumed():
            return "you", t("The work goes on where it was left."), ""
        case PackagesAdded():
            return "code", t("Packages are there: {names}", names=", ".join(event.asked) or "–"), "quiet"
        case SpecAgreed():
            given = t("examples of yours that decide: {n}", n=len(event.given_tests) + len(event.worded))
            return "you", t("Understood: {name}; {given}", name=event.signature or event.entry_point, given=given), ""
        case UserAnswered():
            return "you", t("You said what should hold.") if event.words else t("You agreed."), ""
        case TestsProposed():
            return "tests", t("The model has written tests: {n}", n=len(event.tests)), ""
        case TestsFrozen() if count := event.given + event.model + event.more:
            return "tests", t("From here on nobody can change the tests: {n}", n=count), "quiet"
        case PlaceChosen():
            return "code", t("The fault may be in {name}: on with that.", name=event.function), ""
        case Asked():
            return "model", t(PURPOSES.get(event.purpose, "Asking the model")), "quiet"
    return None


def _describe_work(event: BaseEvent, t: Translate) -> tuple[str, str, Tone] | None:
    match event:
        case CodeProposed(problem=problem) if problem:
            return "code", t("Version {n} cannot be run: {why}", n=event.version, why=problem), "bad"
        case CodeProposed():
            return "code", t("Version {n} is written.", n=event.version), ""
        case TestsRan(graded=graded):
            count, of = graded.passed, len(graded.cases)
            text = t("Version {n}: {count} of {of} tests pass.", n=event.version, count=count, of=of)
            return "tests", text, "good" if graded.all_passed else "bad"
        case Tweaked():
            text = t("Small changes tried without the model: {n}; passing all your examples: {ok}")
            return "code", text.format(n=event.tried, ok=event.passed), "good" if event.passed else "quiet"
        case Compared(groups=groups):
            if len(groups) == 1:
                return "compare", t("The versions do the same on {n} inputs.", n=len(event.inputs)), "good"
            text = t("The versions do not all do the same: {groups} groups on {n} inputs.")
            return "compare", text.format(groups=len(groups), n=len(event.inputs)), "warning"
        case TestsProbed():
            text = t("Of {n} small mistakes, what was given notices {ok}.", n=event.tried, ok=event.noticed)
            return "tests", text, "quiet"
        case Mutated() if event.mutants:
            missed = event.mutants - event.noticed
            text = t("Of {n} small mistakes, the tests miss {missed}.", n=event.mutants, missed=missed)
            return "tests", text, "warning" if missed else "good"
        case Strengthened(tests=tests) if tests:
            return "tests", t("Tests were added for what went unnoticed: {n}", n=len(tests)), "good"
        case Refined():
            text = t("It was made better: {check}") if event.kept else t("Nothing better was found: {check}")
            return "code", text.format(check=t(CHECKS.get(event.check, event.check))), "good" if event.kept else "quiet"
    return None


def _describe_page(event: BaseEvent, t: Translate) -> tuple[str, str, Tone] | None:
    match event:
        case PageWritten():
            return "code", t("Version {n} is written.", n=event.cycle), ""
        case PageRefused():
            return "code", t("An answer held no code that could be run."), "bad"
        case PageTold(tool="give_up"):
            return "code", t("The page gives up: {why}", why=event.text), "bad"
        case PageObserved(killed=killed) if killed:
            return "code", t("Version {n} was ended.", n=event.cycle), "bad"
        case PageObserved(errors=errors) if errors:
            return "code", t("Version {n} ran, with errors: {count}", n=event.cycle, count=len(errors)), "bad"
        case PageObserved():
            return "code", t("Version {n} runs.", n=event.cycle), "good"
        case PageJudged(findings=findings) if findings:
            return "check", t("Version {n}: to be put right: {count}", n=event.cycle, count=len(findings)), "warning"
        case PageScored():
            return "check", t("Points: {n} of {of}", n=event.points, of=event.of), ""
        case CriterionTicked():
            if event.holds is None:
                return "you", t("A person takes back: {what}", what=event.name), ""
            text = t("A person says that this holds: {what}") if event.holds else t("A person says no to: {what}")
            return "you", text.format(what=event.name), ""
    return None


def _describe_end(event: BaseEvent, t: Translate) -> tuple[str, str, Tone] | None:
    match event:
        case QuestionAsked():
            return "you", t("One question is open: what should {call} give?", call=event.call), "warning"
        case QuestionAnswered():
            who = t("The reference") if event.by == "simulated" else t("You")
            value = event.value or t("do not care")
            return "you", t("{who} answered: {value}", who=who, value=value), ""
        case Reviewed():
            return "you", t("You looked at it."), ""
        case CheckFinished(evidence=item):
            word = {"passed": t("yes"), "failed": t("no"), "not_run": t("not looked at")}[item.verdict]
            tone: Tone = {"passed": "good", "failed": "bad", "not_run": "warning"}[item.verdict]  # type: ignore[assignment]
            return "check", f"{t({**CHECKS, **APP_CHECKS}.get(item.check, item.check))} {word}", tone
        case Stopped(reason="interrupted"):
            return "end", t("It was stopped."), "warning"
        case Stopped(reason=reason) if reason != "done":
            return "end", t("The work ended: {why}", why=event.why or reason), "quiet"
        case Broke():
            return "end", t("It broke: {why}", why=event.message), "broken"
        case RunFinished():
            percent = "" if event.confidence is None else f" ({min(99, int(100 * event.confidence + 1e-9))} %)"
            return "end", f"{t(VERDICTS[event.verdict])}{percent}", event.verdict
    return None
