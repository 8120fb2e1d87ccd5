"""The one narrator: what an event means to a person. A new event is described here, and nowhere else.

The live screen and `burnish show` print the lines; `explain` and `report.md` print the first one's text, which is a
sentence wherever they do. Text of models in it is one line; whoever prints it makes it harmless for the medium.
"""

import math
import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, Protocol

from burnish.events import (
    AnswerLost,
    AppJudged,
    Applied,
    AppPlanned,
    Asked,
    BaseEvent,
    Broke,
    CheckFinished,
    CodeProposed,
    Compared,
    CriterionScore,
    CriterionTicked,
    Decided,
    FeedbackGiven,
    FeedbackTakenBack,
    FilesWritten,
    FunctionBegun,
    FunctionWritten,
    ModelReplied,
    ModuleBuilt,
    Mutated,
    NewTest,
    Notice,
    PackagesAdded,
    PageJudged,
    PageObserved,
    PageRefused,
    PageScored,
    PageTold,
    PageWritten,
    Place,
    PlaceChosen,
    QuestionAnswered,
    QuestionAsked,
    Rated,
    Refined,
    Refused,
    Resumed,
    Reviewed,
    RunFinished,
    RunStarted,
    SpecAgreed,
    StepMeasured,
    Stopped,
    Strengthened,
    TestsFrozen,
    TestsProbed,
    TestsProposed,
    TestsRan,
    Tweaked,
    UserAnswered,
)
from burnish.events.checks import describe_equivalent
from burnish.events.feedback import USER, Comment, Correction, Preference, Stars, Thumbs
from burnish.report.costs import read_choice
from burnish.tasks.test_file import name_in_file
from burnish.text import join_words, one_line, plural, strip_controls

Tone = Literal["", "good", "bad", "warning", "quiet", "test", "strong", "broken", "proven", "plausible", "failed"]
ORIGINS = {
    "spec": "from the words of the task",
    "agreed": "on which versions written independently agree",
    "pinned": "pinned to what the code does",
}
"""Who says what is right in a new test."""
PLACE_REASONS = {
    "edits": "On with {name}: small edits that pass are in it.",
    "answer": "On with {name}: the model repaired it instead, and the tests pass.",
    "nothing": "On with {name}: answers for the place before brought no failing test to pass.",
    "again": "Back to {name}: no other place brought a failing test to pass.",
}
CLUES = {
    "example": "an example in its docstring fails",
    "refused": "a failing test calls it with arguments that it does not take",
    "raised": "a failing test ended in it",
    "traceback": "a failure came through it",
    "named": "the line that fails speaks of it",
    "tested": "a failing test names it",
    "called": "a suspected function calls it",
    "coverage": "failing tests run it more than passing ones",
}
"""What speaks against a function, by the values of `fault_localisation.Clue`."""
KILLS = {
    "busy": "it answered no more, and was killed",
    "memory": "it took too much memory, and was killed",
    "left": "it went to another address, and was ended",
    "closed": "its tab was closed",
    "crashed": "it crashed",
    "time": "its time was over",
}
"""Why a page was ended, by the values of `events.pages.Kill`."""
CANVASES = {"blank": "its canvas is blank", "drawn": "its canvas is drawn on", "moving": "its canvas moves"}
TOLD = {
    "log": "The page said",
    "done": "The page said that it is done",
    "give_up": "The page gave up",
    "ask": "The page asked the model",
    "answer": "The model answered the page",
}
MOST_FILES = 20
"""That are named one by one."""
MOST_CONSOLE = 3
"""Lines of a page's console that are shown; all are on record."""
REVIEWED_PLACES = {"tests": "the tests", "checks": "the code and its checks", "plan": "the plan"}
CHECK_TONES: dict[str, Tone] = {"passed": "", "failed": "bad", "not_run": "warning"}


class Line(NamedTuple):
    """One line of a screen. The label stands in the margin; empty: the line belongs to the one above."""

    label: str
    text: str
    tone: Tone = ""


class Weighed(Protocol):
    """What says how likely a verdict is right: the end of a run, a row of a list, evidence."""

    @property
    def confidence(self) -> float | None:
        """From 0 to 1; None where nobody said."""

    @property
    def calibrated(self) -> bool:
        """Whether it was fitted for the models that answered."""

    @property
    def basis(self) -> str:
        """What it rests on."""


def add_confidence(verdict: str, weighed: Weighed | None) -> tuple[str, str]:
    """The verdict with its confidence, "proven (97 %)", and what that rests on. Without a basis there is no number.

    The only place that words it. A number is rounded down, and none says that nothing is left to doubt.
    """
    basis = one_line(weighed.basis, 300).strip() if weighed else ""
    if weighed is None or weighed.confidence is None or not basis:
        return verdict, ""
    percent = min(99, math.floor(100 * weighed.confidence + 1e-9))
    return f"{verdict} ({percent} %{'' if weighed.calibrated else ', not calibrated'})", f"rests on {basis}"


def narrate(event: BaseEvent) -> list[Line]:
    """The event in words: first what happened, then what belongs to it. Empty for what only programs read."""
    families = (
        *(_narrate_task, _narrate_answers, _narrate_code, _narrate_new_tests, _narrate_rounds, _narrate_page),
        *(_narrate_app, _narrate_end),
    )
    return [line for family in families for line in family(event)]


def describe(event: BaseEvent) -> str:
    """The event as a sentence; empty where there is nothing to say."""
    if isinstance(event, PackagesAdded):
        return describe_packages(event)
    return next((line.text for line in narrate(event)), "")


def describe_question(asked: QuestionAsked) -> str:
    """What is asked where versions differ: the call, and each answer with the letter to type for it."""
    answers = [
        f"`{one_line(option.value, 100)}` [{letter}]" for letter, option in zip("ABCD", asked.options, strict=False)
    ]
    return f"`{one_line(asked.call, 120)}`: {', '.join(answers)}, something else, or do not care?"


def describe_place(place: Place) -> str:
    """A function that may hold the fault, and the three clues that say most against it."""
    why = join_words([CLUES[clue] for clue in place.clues[:3] if clue in CLUES])
    return f"{one_line(place.function, 80)} in {one_line(place.file, 120)}{f': {why}' if why else ''}"


def as_sentence(text: str) -> str:
    """One line that begins and ends as a sentence does."""
    flat = one_line(text, 600).rstrip(".")
    return f"{flat[:1].upper()}{flat[1:]}."


def name_version(number: int) -> str:
    """What a version is called; 0 is the code that there was before the run."""
    return f"version {number}" if number else "the code that was there"


def count_results(passed: int, total: int) -> str:
    """What the tests said, in figures."""
    return f"{passed} passed, {total - passed} failed"


def _clause(text: str, most: int = 160) -> str:
    """A text as part of a longer sentence."""
    return one_line(text, most).rstrip(".")


def _narrate_task(event: BaseEvent) -> Iterator[Line]:
    """How a run begins: what was asked for, what it was taken to mean, and which tests and packages there are."""
    match event:
        case RunStarted():
            yield Line("task", one_line(event.prompt, 200))
            yield Line("model", event.model)
            if why := read_choice(event):
                yield Line("chosen", why, "quiet")
            if event.sandbox:
                yield Line("sandbox", event.sandbox)
        case Resumed():
            answers = plural(event.answers, "answer")
            yield Line("resumed", f"Taken up again, with {answers} on record that need no asking.")
        case SpecAgreed():
            yield Line("function", event.signature)
            yield from (Line("given", name_in_file(test) or one_line(test), "test") for test in event.given_tests)
            for one in event.worded:
                yield Line("read", f"{one_line(one.test)} (from your words: “{one_line(one.quote, 120)}”)", "test")
            yield from (Line("assumed", one_line(point, 160), "warning") for point in event.assumptions)
            yield from (Line("open", one_line(point, 160), "warning") for point in event.open_questions)
        case UserAnswered():
            said = f"the answer was: {one_line(event.words, 200)}" if event.words else "the user agreed"
            yield Line("", f"Asked whether to assume that {one_line(event.assumption, 120)}: {said}.")
        case PackagesAdded():
            shown = ", ".join(list_new_packages(event))
            yield Line("packages", f"{shown} added: {event.why}" if event.why else shown)
        case TestsProposed():
            dropped = f" ({event.dropped} more could not be used)" if event.dropped else ""
            yield Line("tests", f"{plural(len(event.tests), 'test')} written by the model{dropped}")
            yield from (Line("", one_line(test), "test") for test in event.tests)
        case TestsFrozen() if event.given + event.model + event.more:
            yield Line("frozen", f"From here on the tests stand as they are (hash {event.sha256[:12]}).", "quiet")


def describe_packages(event: PackagesAdded) -> str:
    """All that code may import, and why; the screen shows only what is new."""
    names = [one_line(f"{name} {version}", 80) for name, version in event.packages] or ["nothing"]
    because = f"because {one_line(event.why, 100)}" if event.why else ""
    if event.new and len(names) > 1:
        return f"Code may import {join_words(names)} ({one_line(event.new, 80)} {because})."
    return f"Code may import {join_words(names)}{because and f', {because}'}."


def list_new_packages(event: PackagesAdded) -> list[str]:
    """What came: "pandas 2.3.1". What it needs, and what was there before, is in the report and not on the screen."""
    asked = {event.new} if event.new else asked_names(event)
    return [one_line(f"{name} {version}", 80) for name, version in event.packages if name in asked]


def asked_names(event: PackagesAdded) -> set[str]:
    """The names of the packages that were asked for."""
    return {re.split(r"[^\w.-]", asked)[0] for asked in event.asked}


def _narrate_answers(event: BaseEvent) -> Iterator[Line]:
    """What models were asked, what their answers took, and what somebody who waits would like to know."""
    match event:
        case Notice():
            yield Line("note", event.text, "warning") if event.stays else Line("wait", event.text, "quiet")
        case Asked():
            settings = f"temperature {event.temperature:g}, seed {event.seed}, prompt version {event.prompt_version}"
            yield Line("", f"asked {event.ask_id} ({settings})")
        case ModelReplied():
            parts = (
                event.model,
                f"{event.tokens_in} tokens read",
                f"{event.tokens_cached} from a cache" if event.tokens_cached else "",
                f"{event.tokens_out} written",
                f"{event.tokens_thought} of them thoughts" if event.tokens_thought else "",
                f"{event.seconds:.1f} s",
                f"{event.tokens_out / event.seconds:.0f} tokens/s" if event.seconds else "",
                f"{event.dollars:.6f} dollars" if event.dollars else "",
            )
            cut = {"length": ", cut at its token limit", "cut": ", broken off"}.get(event.ended, "")
            yield Line("answer", f"{event.ask_id}: {', '.join(filter(None, parts))}{cut}", "quiet")
        case AnswerLost():
            most = f"; it cost {event.dollars:.6f} dollars at most" if event.dollars else ""
            yield Line("", f"The answer to {event.ask_id} was lost on its way, and is asked for again{most}.")


def _narrate_code(event: BaseEvent) -> Iterator[Line]:
    """Versions of the code, what the tests and other versions say of them, and what is decided on that."""
    match event:
        case CodeProposed():
            mended = f" ({event.mended})" if event.mended else ""
            said = event.problem or f"{plural(len(event.code.splitlines()), 'line')}{mended}"
            tone: Tone = "bad" if event.problem else "strong"
            yield Line(f"version {event.version}", f"{event.by}: {one_line(said, 160)}", tone)
        case TestsRan(graded=graded):
            said = f"version {event.version}: {count_results(graded.passed, len(graded.cases))}"
            yield Line("ran", said, "good" if graded.all_passed else "bad")
            if graded.problem:
                yield Line("", one_line(graded.problem, 160), "bad")
            failure = next((case.message for case in graded.cases if case.outcome != "passed"), "")
            yield from (Line("", one_line(line, 160), "bad") for line in strip_controls(failure).splitlines()[:4])
        case Tweaked():
            edits = f"{plural(event.tried, 'small edit')} of {name_version(event.base)}"
            tried = f"{edits} {'was' if event.tried == 1 else 'were'} tried without asking the model"
            passed = f"{event.passed or 'none'} of them passed every given test"
            yield Line("edits", f"{tried}: {passed}.", "good" if event.passed else "quiet")
        case Compared():
            inputs = plural(len(event.inputs), "input")
            groups = [join_words([str(number) for number in group]) for group in event.groups]
            apart = f"; they differ at {_clause(event.apart, 200)}" if event.apart else ""
            alike = f"the versions fall into {len(groups)} groups that behave alike: {'; '.join(groups)}{apart}"
            versions = "Version" if len(event.groups[0]) == 1 else "Versions"
            same = f"{versions} {groups[0]} gave the same answers on {inputs}."
            yield Line("compared", same if len(groups) == 1 else f"Run on {inputs}, {alike}.", "quiet")
            if event.preferred:
                number, _ = max(event.preferred, key=lambda rated: rated[1])
                liked = f"Where nothing else tells them apart, {event.preferred_by} prefers {name_version(number)}."
                yield Line("compared", liked, "quiet")
        case TestsProbed():
            changes = f"{plural(event.tried, 'small change')} to {name_version(event.version)}"
            yield Line("tests", f"Of {changes}, what was given notices {event.noticed}.", "quiet")
        case Refused():
            why = f"because {_clause(event.why, 200)}"
            yield Line("refused", f"Refused: {_clause(event.what)}, {why}.", "warning")
        case PlaceChosen():
            name = one_line(event.function, 80)
            yield Line("place", PLACE_REASONS[event.why].format(name=name), "strong")
        case Decided():
            yield Line("next", as_sentence(event.reason))


def _narrate_new_tests(event: BaseEvent) -> Iterator[Line]:
    """Which small changes of the code its tests notice, and which tests were added for the others."""
    match event:
        case Mutated() if not event.mutants:
            why = _clause(event.why, 200) or "there was nothing to change"
            yield Line("changes", f"What the tests would notice was not tried: {why}.", "quiet")
        case Mutated():
            changes = f"{plural(event.mutants, 'small change')} of version {event.version}"
            missed = event.mutants - event.noticed
            goes = "goes" if missed == 1 else "go"
            were, each = ("was", "it") if event.mutants == 1 else ("were", "every one")
            all_seen = f"{changes} {were} tried, and its tests notice {each}."
            text = f"{missed} of {changes} {goes} unnoticed by its tests." if missed else all_seen
            same = describe_equivalent(event.equivalent, event.inputs)
            text += f" {as_sentence(same)}" if same else ""
            yield Line("changes", text, "warning" if missed else "good")
        case Strengthened(tests=tests):
            were = "was" if len(tests) == 1 else "were"
            aside = ", and as none passes them and all others they were set aside" if event.aside else ""
            alike = plural(len(event.alike), "change")
            parts = (
                f"{plural(len(tests), 'test')} {were} added: {count_origins(tests)}" if tests else "",
                f"{len(event.exposing)} of them version {event.version} fails{aside}" if event.exposing else "",
                f"{plural(event.pinned, 'change')} only pinned tests notice" if event.pinned else "",
                f"{alike} no input told from the code (probably equivalent)" if event.alike else "",
            )
            nothing = f"No test was added{f': {one_line(event.why, 200)}' if event.why else ''}"
            text = as_sentence("; ".join(filter(None, parts)) or nothing)
            yield Line("changes", text, "good" if tests else "warning")
            for new in tests:
                why = f" ({one_line(new.why, 80)})" if new.why else ""
                yield Line(new.origin, f"{one_line(new.test)}{why}", "quiet" if new.origin == "pinned" else "test")
            wrong = f"version {event.version} fails"
            yield from (Line("wrong", f"{wrong} {one_line(test)}", "bad") for test in event.exposing)


def count_origins(tests: Sequence[NewTest]) -> str:
    """How many new tests there are of each kind: "2 on which versions written independently agree and 1 pinned …"."""
    counts = [(sum(new.origin == origin for new in tests), words) for origin, words in ORIGINS.items()]
    return join_words([f"{count} {words}" for count, words in counts if count])


def _narrate_rounds(event: BaseEvent) -> Iterator[Line]:
    """What else is done once the tests pass: rounds for findings, a person's word; and the figures after each step."""
    match event:
        case Refined():
            before, after, why = (_clause(text) for text in (event.before, event.after, event.why))
            found = f" ({before})" if before else ""
            said = f"{found} was not kept: {why or 'nothing came of it'}"
            if event.kept:
                how = f" ({why})" if why else ""
                said = f": {before} before, {after} after; version {event.version} is kept{how}"
            yield Line("round", f"A round for {one_line(event.check, 40)}{said}.", "good" if event.kept else "warning")
        case StepMeasured():
            figures = (
                f"{event.passed} of {plural(event.tests, 'test')} passed",
                "" if event.mutation is None else f"{math.floor(event.mutation)} % of small changes noticed",
                "" if event.quality is None else f"maintainability {event.quality:.0f} of 100",
                plural(event.lines, "line"),
                f"{event.seconds:.1f} s",
                f"{event.tokens} tokens so far",
            )
            after = f"After {one_line(event.after, 40)}, version {event.version}"
            yield Line("", f"{after}: {', '.join(filter(None, figures))}.", "quiet")
        case QuestionAsked():
            yield Line("question", f"{as_sentence(event.why or 'versions differ')} {describe_question(event)}")
        case QuestionAnswered():
            who = {"simulated": "The reference", "later": "The user, later,"}.get(event.by, "The user")
            said = f"that it should be {one_line(event.value, 120)}" if event.value else "that any will do"
            said = f"that it {one_line(event.value, 120)}" if event.value.startswith("raises ") else said
            yield Line("answer", f"{who} said {said}.", "test")
        case Reviewed():
            said = {
                "go_on": "said: go on",
                "change": "wanted something changed",
                "comment": "made a comment" + (f" about line {event.line}" if event.line is not None else ""),
                "edited": "edited the file",
                "stop": "stopped the work",
            }[event.said]
            words = _clause(event.words, 400)
            text = f"A person looked at {REVIEWED_PLACES[event.where]} and {said}{f': {words}' if words else ''}"
            yield Line("you", text if text.endswith(("?", "!")) else f"{text}.")


def _narrate_page(event: BaseEvent) -> Iterator[Line]:
    """A live page: its versions, what each did, what was found, what is said between page and model, and the score."""
    match event:
        case PageWritten():
            repaired = f" ({one_line(event.repaired, 120)})" if event.repaired else ""
            lines = plural(len(event.code.splitlines()), "line")
            yield Line(f"cycle {event.cycle}", f"A version of {lines} was put into the page{repaired}.", "strong")
        case PageRefused():
            yield Line(f"cycle {event.cycle}", f"The answer was no page: {_clause(event.why, 300)}.", "bad")
        case PageTold():
            said = f": {_clause(event.text, 300)}" if event.text else ""
            yield Line("page", f"{TOLD[event.tool]}{said}.", "warning" if event.tool == "give_up" else "quiet")
        case PageObserved():
            text = f"Version {event.cycle} ran for {event.seconds:.1f} s: {describe_observed(event)}."
            yield Line("ran", text, "bad" if event.errors or event.killed else "good")
            for error in event.errors[:MOST_CONSOLE]:
                where = f" in line {error.line}" if error.line else ""
                yield Line("", f"{error.kind}{where}: {one_line(error.message, 200)}", "bad")
            yield from (
                Line("", f"console.{said.level}: {one_line(said.text, 160)}", "quiet")
                for said in event.console[:MOST_CONSOLE]
            )
            if event.value:
                yield Line("", f"it returned {one_line(event.value, 160)}", "quiet")
        case PageJudged():
            found = "; ".join(_clause(finding, 200) for finding in event.findings)
            said = f"To be put right in version {event.cycle}: {found}." if found else "Nothing is to be put right."
            yield Line("found", said, "warning" if found else "good")
        case PageScored():
            yield Line("score", f"{describe_score(event)}.", "strong")
            for one in event.criteria:
                tone: Tone = "quiet" if one.holds is None else "good" if one.holds else "bad"
                yield Line("", describe_criterion(one), tone)
        case CriterionTicked():
            who = "The user" if event.by in ("", USER) else one_line(event.by, 80)
            what, holds = one_line(event.name, 80), "holds" if event.holds else "does not hold"
            taken_back = f"{who} took back what was said of {what}."
            yield Line("you", taken_back if event.holds is None else f"{who} said that {what} {holds}.")


def _narrate_app(event: BaseEvent) -> Iterator[Line]:
    """A small web app: its plan, its modules as they come, functions of the model's, and what checkpoints say."""
    match event:
        case AppPlanned():
            who = {"rules": "rules", "model": "the model", "both": "the model and rules"}[event.made_by]
            entities = join_words([one_line(label, 60) for label in event.entities])
            yield Line("plan", f"{one_line(event.title, 80)}, planned by {who}: {entities}.", "strong")
            yield from (Line("assumed", one_line(point, 200), "warning") for point in event.assumptions)
            yield from (Line("left out", one_line(point, 200), "bad") for point in event.left_out)
            if event.rebuilt:
                yield Line("", f"Made anew: {join_words(event.rebuilt)}; the rest stays as it is.")
        case FunctionBegun():
            again = " once more" if event.attempt > 1 else ""
            yield Line("writing", f"{event.function} is written{again}, in run {event.run_id}.", "quiet")
        case FunctionWritten():
            why = f" ({_clause(event.why, 200)})" if event.why else ""
            said = f"{event.verdict or 'kept'}{why}" if event.code else f"the app does without it{why}"
            yield Line("written", f"{event.function}: {said}.", "good" if event.code else "warning")
        case ModuleBuilt():
            text = f"{event.module}: {plural(len(event.files), 'file')}, by {event.made_by}"
            yield Line(f"level {event.level}", text.replace("by both", "by rules and the model"), "good")
            if event.replaced:
                yield Line("", f"what you had written stays beside it: {', '.join(event.replaced)}", "warning")
        case AppJudged(evidence=item):
            what = f"{event.module}, " if event.module else ""
            figure = f" {one_line(item.figure, 40)}:" if item.figure else ""
            said = f"{what}{item.check}: {item.verdict.replace('_', ' ')},{figure} {one_line(item.why, 160)}"
            yield Line("tested" if event.module else "judged", said, CHECK_TONES[item.verdict])


def describe_observed(seen: PageObserved) -> str:
    """What a version of a page did while it was watched, in a few words."""
    parts = (
        KILLS.get(seen.killed, ""),
        plural(len(seen.errors), "error") if seen.errors else "" if seen.killed else "no error",
        CANVASES.get(seen.canvas, ""),
        "" if seen.frames_per_second is None else f"{seen.frames_per_second:.0f} frames a second",
        "" if seen.heap_bytes is None else f"{seen.heap_bytes / 1e6:.1f} MB of memory",
    )
    return ", ".join(filter(None, parts))


def describe_score(scored: PageScored) -> str:
    """The points of a page, those of probes and of people apart, and what nobody has judged yet."""
    kinds = {"probe": "by probes", "person": "by a person"}
    parts = []
    for by, words in kinds.items():
        rows = [one for one in scored.criteria if one.by == by]
        waiting = sum(one.of for one in rows if one.holds is None)
        waits = f", {waiting} of them not judged" if waiting else ""
        parts += [f"{sum(one.points for one in rows)} of {sum(one.of for one in rows)} {words}{waits}"] if rows else []
    total = f"{scored.points} of {plural(scored.of, 'point')} for the case {one_line(scored.case, 60)}"
    return f"{total}: {'; '.join(parts)}" if parts else total


def describe_criterion(one: CriterionScore) -> str:
    """One criterion of a rubric: its points, what it asks for, and why it got no more."""
    name, what = one_line(one.name, 60), _clause(one.what, 200)
    if one.holds is None:
        why = "a person ticks it" if one.by == "person" else f"not judged{f': {_clause(one.why)}' if one.why else ''}"
        return f"–/{one.of} {name}: {what} ({why})"
    since = f" (from version {one.cycle} on)" if one.holds and one.cycle and one.cycle > 1 else ""
    why = f" ({_clause(one.why)})" if one.why and not one.holds else since
    return f"{one.points}/{one.of} {name}: {what}{why}"


def _narrate_end(event: BaseEvent) -> Iterator[Line]:
    """What the checks said, how the work ended, what became of the result, and what people think of it."""
    match event:
        case CheckFinished(evidence=item):
            figure = f" {one_line(item.figure, 40)}:" if item.figure else ""
            said = f"{item.check}: {item.verdict.replace('_', ' ')},{figure} {one_line(item.why, 160)}"
            yield Line("check", said, CHECK_TONES[item.verdict])
        case Stopped():
            yield Line("stopped", f"The work stopped: {as_sentence(event.why or event.reason)}", "warning")
        case Broke():
            yield Line("broke", f"It broke ({event.error}): {as_sentence(one_line(event.message, 400))}", "broken")
        case RunFinished():
            yield from (Line("disputed", f"{one_line(test)} (set aside)", "warning") for test in event.disputed)
            headline, basis = add_confidence(event.verdict.upper(), event)
            yield Line(headline, one_line(event.why, 400), event.verdict)
            if basis:
                yield Line("", basis)
        case FilesWritten():
            shown = "  ".join(f"{event.folder}/{name}" for name in event.files)
            many = f"{event.folder}: {plural(len(event.files), 'file')}"
            yield Line("files", shown if len(event.files) <= MOST_FILES else many)
        case Applied():
            file, backup = one_line(event.file, 300), one_line(event.backup, 300)
            yield Line("applied", f"{file} was replaced; the old one is kept as {backup}.")
        case Rated():
            comment = f": {event.comment}" if event.comment else ""
            yield Line("", f"Somebody gave it {plural(event.stars, 'star')} of 5{comment}.")
        case FeedbackGiven():
            yield Line("feedback", describe_feedback(event))
        case FeedbackTakenBack():
            yield Line("feedback", f"{_name_person(event)} took back {one_line(event.id, 40)}.", "quiet")


def describe_feedback(given: FeedbackGiven) -> str:
    """What somebody thinks of a run, as a sentence."""
    it = "it" if given.version is None else name_version(given.version)
    match given.opinion:
        case Stars(stars=stars):
            said = f"gave {it} {plural(stars, 'star')} of 5"
        case Thumbs(up=up):
            said = f"gave {it} a thumb {'up' if up else 'down'}"
        case Preference() as other:
            version = "" if other.than_version is None else f" version {other.than_version} of"
            said = f"finds {it} better than{version} {one_line(other.than_run, 60)}"
        case Correction(code="", tests=tests):
            said = f"says that this should hold: {_clause(tests, 200)}"
        case Correction(code=code):
            said = f"says what the code should have been ({plural(len(code.splitlines()), 'line')})"
        case Comment(line=line, about=about):
            what = {"": it if given.version is not None else "the code", "tests": "the tests"}.get(about, "")
            assumed = "" if what else f"the assumption that {_clause(about, 120)}"
            said = f"commented on {assumed or (f'line {line} of {what}' if line is not None else what)}"
    words = _clause(given.words, 400)
    text = f"{_name_person(given)} {said}{f': {words}' if words else ''}"
    return text if text.endswith(("?", "!")) else f"{text}."


def _name_person(event: FeedbackGiven | FeedbackTakenBack) -> str:
    who = "The user" if event.by == USER else one_line(event.by, 80)
    return f"{who} (simulated)" if event.simulated else who
