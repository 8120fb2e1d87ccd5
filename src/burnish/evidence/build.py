"""From a run to what is said about it in `evidence.json`. Derived from the record alone, and the same each time.

Who made each part is read from the record and never guessed.
"""

import hashlib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Required, TypedDict, TypeVar

from packaging.requirements import Requirement

from burnish.agent.packages import packages_in
from burnish.checks.suite import Suite
from burnish.checks.tests import SuiteDetails
from burnish.events import (
    Asked,
    BaseEvent,
    CodeProposed,
    Decided,
    Event,
    Graded,
    NewTest,
    Outcome,
    PackagesAdded,
    Rated,
    Resumed,
    Reviewed,
    Strengthened,
    TestsProposed,
    UserAnswered,
)
from burnish.events.history import Run
from burnish.evidence.given_tests import find_given_tests
from burnish.evidence.schema import (
    TEXT,
    Attribution,
    CheckAnswer,
    CodeStep,
    DeliveredCode,
    Dossier,
    EvidenceModel,
    EvidencePackage,
    EvidenceRun,
    EvidenceTask,
    GivenIn,
    ListedTest,
    ModelCost,
    Origin,
    Remark,
    RunCost,
    hash_content,
    name_files,
)
from burnish.model_choice import read_choice
from burnish.models.catalog import CATALOG
from burnish.models.names import split_names
from burnish.redact import model_name, redact
from burnish.report.deliverables import read_module_name, read_suite, read_task
from burnish.tasks.examples import find_examples
from burnish.tasks.test_file import name_in_file

E = TypeVar("E", bound=BaseEvent)


def build_dossier(run: Run, files: Mapping[str, str], tools: Mapping[str, str] | None = None) -> Dossier:
    """What is known of a run and of the files that it delivers, by name and text; `tools` are versions, if known."""
    suite = read_suite(run)
    dossier = Dossier(
        run=_build_run(run),
        task=_build_task(run, suite),
        verdict=run.verdict,
        why=redact(run.why),
        code=_build_code(run),
        tests=tuple(_build_tests(run, suite)),
        checks=tuple(
            CheckAnswer(
                check=item.check,
                verdict=item.verdict,
                figure=redact(item.figure),
                threshold=redact(item.threshold),
                why=redact(item.why),
            )
            for item in run.evidence
        ),
        models=tuple(map(_describe_model, split_names(run.started.model))),
        packages=tuple(_build_packages(run)),
        tools=dict(tools or {}),
        files={name: hash_text(text) for name, text in files.items()},
        cost=_build_cost(run),
        people=tuple(word for event in run.events for word in _quote_people(event)),
    )
    return dossier.model_copy(update={"seal": hash_content(dossier.model_dump(mode="json"))})


def hash_text(text: str) -> str:
    """The hash of a text as it is written to disk."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _build_run(run: Run) -> EvidenceRun:
    started = run.started
    newest = [event.burnish for event in run.all(Resumed) if event.burnish]
    return EvidenceRun(
        id=run.id,
        verb=started.verb,
        at=datetime.fromtimestamp(started.at, UTC).isoformat(timespec="milliseconds"),
        burnish=newest[-1] if newest else started.burnish,
        sandbox=redact(started.sandbox),
        continues=started.continues or "",
        chosen=redact(read_choice(started)),
    )


def _build_task(run: Run, suite: Suite) -> EvidenceTask:
    spec = run.spec
    taken_back: tuple[str, ...] = ()
    # Tests that are in the words and not in force, where a person has looked at the tests and wanted other ones.
    if any(event.where == "tests" and event.said != "go_on" for event in run.all(Reviewed)):
        taken_back = tuple(test for test in _find_in_words(run, suite) if test not in suite.given)
    return EvidenceTask(
        words=run.started.prompt[:TEXT],
        entry_point=suite.entry_point,
        signature=redact(spec.signature) if spec else "",
        module=read_module_name(run),
        imports=suite.imports,
        test_file=suite.file,
        assumptions=tuple(redact(point) for point in spec.assumptions) if spec else (),
        taken_back=taken_back,
    )


def _find_in_words(run: Run, suite: Suite) -> tuple[str, ...]:
    """The tests that the words of the task give."""
    names = frozenset((suite.entry_point, *suite.imports))
    return find_given_tests(run.started.prompt, run.started.continues is not None, names)


def _build_code(run: Run) -> DeliveredCode | None:
    """The delivered version, what it was made from, and so on back; None where no code came out."""
    number = run.final.number if run.final else None
    proposed = {event.version: event for event in run.all(CodeProposed)}
    steps: dict[int, CodeStep] = {}
    while number is not None and number in proposed and number not in steps:
        event = proposed[number]
        steps[number] = CodeStep(
            version=number,
            base=event.base,
            sha256=hash_text(event.code),
            mended=redact(event.mended),
            made=_attribute_code(run, event),
        )
        number = event.base
    decided = run.last(Decided)
    chosen = redact(decided.reason) if decided else ""
    file = name_files(read_module_name(run))[0]
    return DeliveredCode(file=file, steps=tuple(steps.values()), chosen=chosen) if steps and run.code else None


def _attribute_code(run: Run, event: CodeProposed) -> Attribution:
    """The decision that asked for this very version, else the last one before it; and the question that it answers."""
    decisions = _list_before(run, event, Decided)
    meant = ((one, move) for one in reversed(decisions) for move in one.moves if move.version == event.version)
    decided, move = next(meant, (decisions[-1] if decisions else None, None))
    questions = [one for one in _list_before(run, event, Asked) if event.ask_id and one.ask_id == event.ask_id]
    models = split_names(run.started.model)
    place = move.model if move else 0
    return Attribution(
        by=event.by,
        model=model_name(models[place]) if event.ask_id and place < len(models) else "",
        prompt_version=questions[-1].prompt_version if questions else "",
        ask_id=event.ask_id,
        round=event.round,
        decision=redact(decided.reason) if decided else "",
    )


def _list_before(run: Run, event: BaseEvent, kind: type[E]) -> list[E]:
    """All events of a kind that came before this one."""
    place = next(place for place, one in enumerate(run.events) if one is event)
    return [one for one in run.events[:place] if isinstance(one, kind)]


class Vouched(TypedDict, total=False):
    """Who says that a test is right."""

    origin: Required[Origin]
    made: Required[Attribution]
    given_in: GivenIn
    why: str


def _build_tests(run: Run, suite: Suite) -> Iterator[ListedTest]:
    # What the judge's own run of the tests said: nothing is taken from an earlier run.
    cases = next((SuiteDetails.read(item).cases for item in run.evidence if item.check == "tests"), ())
    results = suite.outcomes(Graded(cases=cases))
    for name, test in suite.names.items():
        disputed = test in run.disputed
        result: Outcome = "not_run" if disputed else results.get(test, "not_run")
        yield ListedTest(name=name, test=test, disputed=disputed, result=result, **_vouch(test, run, suite))


def _vouch(test: str, run: Run, suite: Suite) -> Vouched:
    """Where a test comes from, and who made it."""
    if test in suite.given or test in suite.project:
        given_in = _find_place(test, run, suite)
        made = Attribution(by="user" if given_in in ("review", "answer") else "given")
        return {"origin": "given", "given_in": given_in, "made": made}
    if test in suite.model:
        return {"origin": "model", "made": _attribute_model_test(run, test)}
    made, new = _attribute_new_test(run, test)
    origin: Origin = "pinned" if test in suite.pinned else new.origin if new else "agreed"
    return {"origin": origin, "made": made, "why": redact(new.why) if new else ""}


def _find_place(test: str, run: Run, suite: Suite) -> GivenIn:
    """Where a given test was found."""
    if test in suite.project:
        return "project"
    if name_in_file(test):
        return "file"
    if test in _find_in_words(run, suite):
        return "words"
    if test in [found for event in run.all(UserAnswered) for found in find_examples(event.words)]:
        return "answer"
    reviewed = any(event.where == "tests" for event in run.all(Reviewed))
    earlier = test in read_task(run).visible_tests
    return "earlier run" if earlier and run.started.continues else "review" if reviewed else ""


def _attribute_model_test(run: Run, test: str) -> Attribution:
    """Who wrote a test of the model's; one that was there before came from an earlier run."""
    event = next((event for event in run.all(TestsProposed) if test in event.tests), None)
    if event is None:
        return Attribution(by="earlier run")
    questions = [one for one in _list_before(run, event, Asked) if one.purpose == "tests"]
    decisions = _list_before(run, event, Decided)
    return Attribution(
        by="tests",
        model=model_name(split_names(run.started.model)[0]) if questions else "",
        prompt_version=questions[-1].prompt_version if questions else "",
        ask_id=questions[-1].ask_id if questions else "",
        decision=redact(decisions[-1].reason) if decisions else "",
    )


def _attribute_new_test(run: Run, test: str) -> tuple[Attribution, NewTest | None]:
    """How a test came about that was added for what went unnoticed."""
    for event in reversed(run.all(Strengthened)):
        for new in event.tests:
            if new.test == test:
                decisions = _list_before(run, event, Decided)
                reason = redact(decisions[-1].reason) if decisions else ""
                return Attribution(by="strengthen", decision=reason), new
    return Attribution(by="strengthen"), None


def _build_packages(run: Run) -> Iterator[EvidencePackage]:
    """The packages that were there, and which of them were asked for, with their extras."""
    asked: dict[str, set[str]] = {}
    there: set[str] = set()
    for event in run.all(PackagesAdded):
        # A run that went on from another asks by name for all that was there.
        new = [one for one in map(Requirement, event.asked) if one.name not in there or one.name in asked]
        for one in new:
            asked.setdefault(one.name, set()).update(one.extras)
        there = {name for name, _ in event.packages}
    if last := run.last(PackagesAdded):
        named = {Requirement(text).name for text in read_task(run).named}
        for installed in packages_in(last):
            name, extras = installed.name, tuple(sorted(asked.get(installed.name, ())))
            yield EvidencePackage(asked=name in asked, named=name in named, extras=extras, **installed.model_dump())


def _describe_model(name: str) -> EvidenceModel:
    """A model as the catalogue knows it; of any other nothing is claimed."""
    known = CATALOG.get(name)
    if known is None:
        return EvidenceModel(name=model_name(name))
    return EvidenceModel(name=model_name(name), licence=known.licence, weights_sha256=known.sha256)


def _build_cost(run: Run) -> RunCost:
    by_model = []
    for account in run.accounts:
        figures = account.model_dump(exclude={"model", "asks", "seconds", "lost", "tokens_lost"})
        seconds = round(account.seconds, 3)
        by_model.append(ModelCost(model=model_name(account.model), answers=account.asks, seconds=seconds, **figures))
    return RunCost(
        calls=run.calls,
        tokens_in=run.tokens_in,
        tokens_out=run.tokens_out,
        seconds=round(run.seconds, 3),
        dollars=run.dollars,
        by_model=tuple(by_model),
    )


def _quote_people(event: Event) -> Iterator[Remark]:
    """What a person said, in their own words; a file that they edited is in what is delivered."""
    match event:
        case UserAnswered(assumption=assumption, words=words):
            yield Remark(kind="answered", about=redact(assumption), words=words[:TEXT])
        case Reviewed():
            yield Remark(kind="reviewed", about=event.where, said=event.said, words=event.words[:TEXT], line=event.line)
        case Rated():
            yield Remark(kind="rated", words=event.comment[:TEXT], stars=event.stars)
