"""From a run to what is said about it in `evidence.json`. Derived from the record alone, and the same each time.

Who made each part is read from the record and never guessed.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import PurePath
from typing import TypeVar

from packaging.requirements import Requirement
from pydantic import ValidationError

from burnish.checks.final import OWN_TESTS, find_changed_functions
from burnish.checks.mutation.check import MutationDetails
from burnish.checks.suite import Suite
from burnish.checks.tests import SuiteDetails
from burnish.events import (
    AppJudged,
    AppPlanned,
    Asked,
    BaseEvent,
    CodeProposed,
    CriterionTicked,
    Decided,
    Event,
    FunctionWritten,
    Graded,
    ModuleBuilt,
    PackagesAdded,
    PageJudged,
    PageObserved,
    PageScored,
    PageWritten,
    QuestionAnswered,
    QuestionAsked,
    Rated,
    Resumed,
    Reviewed,
    RunFinished,
    Strengthened,
    TestsProposed,
    UserAnswered,
)
from burnish.events.feedback import Comment
from burnish.events.history import Run
from burnish.evidence.claims import read_value
from burnish.evidence.schema import (
    BESIDE,
    PAGE_JS,
    TEXT,
    UNKNOWN,
    Attribution,
    CheckAnswer,
    CodeStep,
    DeliveredCode,
    Dossier,
    EvidenceApp,
    EvidenceCriterion,
    EvidenceCycle,
    EvidenceFunction,
    EvidenceModel,
    EvidenceModule,
    EvidencePackage,
    EvidencePage,
    EvidenceRepair,
    EvidenceRun,
    EvidenceTask,
    GivenIn,
    ListedTest,
    ModelCost,
    Origin,
    Remark,
    RunCost,
    SettlingQuestion,
    hash_content,
    name_files,
)
from burnish.evidence.suite import find_given_tests
from burnish.models.adapters import list_adapters, split_adapter
from burnish.models.catalog import CATALOG
from burnish.models.names import split_names
from burnish.packages.layer import list_recorded_packages
from burnish.redact import model_name, redact
from burnish.report.costs import read_choice
from burnish.report.deliverables import list_open_questions, read_module_name, read_suite, read_task
from burnish.tasks.examples import find_examples
from burnish.tasks.test_file import name_in_file

E = TypeVar("E", bound=BaseEvent)


def _describe_model(name: str) -> Iterator[EvidenceModel]:
    """A model, and after it its adapter. Of what is not in the catalogue nothing is claimed."""
    base, adapter = split_adapter(name)
    known = CATALOG.get(base)
    licence, weights = (known.licence, known.sha256) if known else (UNKNOWN, UNKNOWN)
    yield EvidenceModel(name=model_name(name), licence=licence, weights_sha256=weights)
    for one in list_adapters() if adapter else ():
        if one.folder.name == adapter:
            card = one.card
            yield EvidenceModel(name=f"adapter {adapter}", licence=card.licence, weights_sha256=card.sha256)


def build_dossier(run: Run, files: Mapping[str, str | bytes], tools: Mapping[str, str] | None = None) -> Dossier:
    """What is known of a run and of the files that it delivers, by name; `tools` are versions, if known."""
    suite, started, finished = read_suite(run), run.started, run.ending(RunFinished)
    newest = [event.burnish for event in run.all(Resumed) if event.burnish]
    models = [model for name in split_names(started.model) for model in _describe_model(name)]
    answers = {event.id: event for event in run.all(QuestionAnswered)}
    dossier = Dossier(
        run=EvidenceRun(
            id=run.id,
            verb=started.verb,
            at=datetime.fromtimestamp(started.at, UTC).isoformat(timespec="milliseconds"),
            burnish=newest[-1] if newest else started.burnish,
            sandbox=redact(run.sandbox),
            continues=started.continues or "",
            chosen=redact(read_choice(started)),
        ),
        task=_build_task(run, suite),
        verdict=run.verdict,
        why=redact(run.why),
        confidence=finished.confidence if finished else None,
        calibrated=bool(finished and finished.calibrated),
        basis=redact(finished.basis) if finished else "",
        repair=build_repair(run),
        page=_build_page(run, files),
        app=_build_app(run, files),
        code=_build_page_code(run) if run.settings.page else _build_code(run),
        tests=tuple(_build_tests(run, suite)),
        checks=tuple(
            CheckAnswer(
                check=item.check,
                verdict=item.verdict,
                figure=redact(item.figure),
                threshold=redact(item.threshold),
                why=redact(item.why),
                value=read_value(item),
                equivalent=MutationDetails.read(item).equivalent if "equivalent" in item.details else None,
            )
            for item in run.evidence
        ),
        models=tuple(models),
        packages=tuple(_build_packages(run)),
        tools=dict(tools or {}),
        files={name: hash_text(text) for name, text in files.items()},
        cost=_build_cost(run),
        people=tuple(word for event in run.events for word in _quote_people(event)),
        feedback=tuple(
            # The assumption that an answer was about is a model's text; what people say is as they wrote it.
            given.model_copy(update={"opinion": Comment(line=said.line, about=redact(said.about))})
            if isinstance(said := given.opinion, Comment)
            else given
            for given in run.feedback
        ),
        questions=tuple(
            SettlingQuestion(
                call=redact(asked.call),
                options=tuple(redact(option.value) for option in asked.options),
                said=answers[asked.id].said if asked.id in answers else "",
                value=redact(answers[asked.id].value) if asked.id in answers else "",
                by=answers[asked.id].by if asked.id in answers else "",
            )
            for asked in run.all(QuestionAsked)
        ),
    )
    return dossier.model_copy(update={"seal": hash_content(dossier.model_dump(mode="json"))})


def hash_text(text: str | bytes) -> str:
    """The hash of a text as it is written to disk."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return hashlib.sha256(data).hexdigest()


def build_repair(run: Run) -> EvidenceRepair | None:
    """What was repaired; None for a run that wrote code anew, and for files whose names evidence cannot hold."""
    facts, task = run.settings.fix, read_task(run)
    if facts is None:
        return None
    suite = read_suite(run)
    has_own = any(test not in suite.project for test in suite.names.values())
    with suppress(ValidationError):  # a path that no evidence can have: it begins with a dot, or is not shown whole
        return EvidenceRepair(
            file=facts.name,
            base_sha256=facts.sha256,
            functions=find_changed_functions(task.base_code, run.code) if run.code else (),
            test_files=dict(task.project_files),
            own_tests=OWN_TESTS if has_own else "",
        )
    return None


def _build_app(run: Run, files: Iterable[str]) -> EvidenceApp | None:
    """What an app was made from, and how its modules and functions came about; None for a run of another kind."""
    planned = run.last(AppPlanned)
    if planned is None or run.settings.app is None:
        return None
    judged = {event.module: event.evidence.verdict for event in run.all(AppJudged)}
    built = {event.module: event for event in run.all(ModuleBuilt)}
    modules = tuple(
        EvidenceModule(
            name=name,
            level=event.level,
            needs=event.needs,
            files=tuple(file.path for file in event.files),
            kept=event.kept,
            made_by=event.made_by,
            tests=judged.get(name),
        )
        for name, event in built.items()
    )
    written = {event.function: event for event in run.all(FunctionWritten)}
    functions = tuple(
        EvidenceFunction(name=name, run=one.run_id, verdict=one.verdict, code=one.code, why=redact(one.why))
        for name, one in written.items()
    )
    return EvidenceApp(
        blueprint=planned.blueprint,
        earlier=run.settings.app.earlier,
        made_by=planned.made_by,
        modules=modules,
        functions=functions,
        beside=tuple(name for name in files if name.startswith(f"{BESIDE}/")),
    )


def _build_page(run: Run, files: Iterable[str]) -> EvidencePage | None:
    """What a live page did in each cycle, and what the probes of its case gave; None for a run of another kind."""
    facts, scored = run.settings.page, run.last(PageScored)
    if facts is None:
        return None
    seen = {event.cycle: event for event in run.all(PageObserved)}
    judged = {event.cycle: event for event in run.all(PageJudged)}
    written = {event.cycle: event for event in run.all(PageWritten)}
    cycles = tuple(
        EvidenceCycle(
            cycle=cycle,
            sha256=hash_text(event.code),
            repaired=redact(event.repaired),
            killed=seen[cycle].killed if cycle in seen else "",
            errors=len(seen[cycle].errors) if cycle in seen else 0,
            findings=tuple(redact(finding) for finding in judged[cycle].findings[:100]) if cycle in judged else (),
        )
        for cycle, event in written.items()
    )
    criteria = tuple(
        EvidenceCriterion(**one.model_dump() | {key: redact(getattr(one, key)) for key in ("name", "what", "why")})
        for one in (scored.criteria if scored else ())
    )
    return EvidencePage(
        case=redact(PurePath(facts.case).name),
        criteria=criteria,
        points=scored.points if scored else 0,
        of=scored.of if scored else 0,
        cycles=cycles,
        browser="headless" if facts.headless else "own",
        targets=facts.targets,
        follow_ups=facts.follow_ups,
        context_sha256=hash_text(facts.context),
        pictures=tuple(name for name in files if name.endswith((".png", ".webp"))),
    )


def _build_page_code(run: Run) -> DeliveredCode | None:
    """The version of a page that is delivered. All that came before it is among the cycles."""
    number = run.final.number if run.final else None
    event = next((one for one in reversed(run.all(PageWritten)) if one.cycle == number), None)
    if event is None:
        return None
    asked = next((one for one in reversed(run.all(Asked)) if event.ask_id and one.ask_id == event.ask_id), None)
    made = Attribution(
        by="page",
        model=model_name(split_names(run.started.model)[0]) if asked else "",
        prompt_version=asked.prompt_version if asked else "",
        ask_id=event.ask_id,
        round=event.cycle - 1,
    )
    sha256, mended = hash_text(event.code), redact(event.repaired)
    step = CodeStep(version=event.cycle, sha256=sha256, mended=mended, made=made)
    return DeliveredCode(file=PAGE_JS, steps=(step,), chosen=redact(run.why))


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
        open_questions=tuple(redact(question) for question in list_open_questions(run)),
        taken_back=taken_back,
    )


def _find_in_words(run: Run, suite: Suite) -> tuple[str, ...]:
    """The tests that the words of the task give."""
    names = frozenset((suite.entry_point, *suite.imports))
    function = suite.entry_point if run.settings.fix else ""
    return find_given_tests(run.started.prompt, run.started.continues is not None, names, function)


def _build_code(run: Run) -> DeliveredCode | None:
    """The delivered version, what it was made from, and so on back; None where no code came out."""
    number = run.final.number if run.final else None
    proposed = {event.version: event for event in run.all(CodeProposed)}
    models = split_names(run.started.model)
    steps: dict[int, CodeStep] = {}
    while number is not None and number in proposed and number not in steps:
        event = proposed[number]
        # The decision that asked for this very version, else the last one before it; and the question that it answers.
        decisions = _list_before(run, event, Decided)
        meant = ((one, move) for one in reversed(decisions) for move in one.moves if move.version == number)
        decided, move = next(meant, (decisions[-1] if decisions else None, None))
        questions = [one for one in _list_before(run, event, Asked) if event.ask_id and one.ask_id == event.ask_id]
        place = move.model if move else 0
        made = Attribution(
            by=event.by,
            model=model_name(models[place]) if event.ask_id and place < len(models) else "",
            prompt_version=questions[-1].prompt_version if questions else "",
            ask_id=event.ask_id,
            round=event.round,
            decision=redact(decided.reason) if decided else "",
        )
        sha256, mended = hash_text(event.code), redact(event.mended)
        steps[number] = CodeStep(version=number, base=event.base, sha256=sha256, mended=mended, made=made)
        number = event.base
    last = run.last(Decided)
    chosen = redact(last.reason) if last else ""
    repaired = run.settings.fix
    file = repaired.name if repaired else name_files(read_module_name(run))[0]
    return DeliveredCode(file=file, steps=tuple(steps.values()), chosen=chosen) if steps and run.code else None


def _list_before(run: Run, event: BaseEvent, kind: type[E]) -> list[E]:
    """All events of a kind that came before this one."""
    place = next(place for place, one in enumerate(run.events) if one is event)
    return [one for one in run.events[:place] if isinstance(one, kind)]


def _last_reason(run: Run, event: BaseEvent) -> str:
    """Why the agent did what it did when this happened, in its own words."""
    decisions = _list_before(run, event, Decided)
    return redact(decisions[-1].reason) if decisions else ""


def _build_tests(run: Run, suite: Suite) -> Iterator[ListedTest]:
    """Every test, who says that it is right, and what the judge's own run said; no earlier run counts."""
    cases = next((SuiteDetails.read(item).cases for item in run.evidence if item.check == "tests"), ())
    results = suite.outcomes(Graded(cases=cases))
    # The last time that a test was added for what went unnoticed.
    added = {new.test: (event, new) for event in run.all(Strengthened) for new in reversed(event.tests)}
    for name, test in suite.names.items():
        disputed, given_in, why = test in run.disputed, "", ""
        origin: Origin
        if test in suite.given or test in suite.project:
            origin, given_in = "given", _find_place(test, run, suite)
            made = Attribution(by="user" if given_in in ("review", "answer") else "given")
        elif test in suite.worded:
            quotes = {one.test: one.quote for one in (run.spec.worded if run.spec else ())}
            questions = [one for one in run.all(Asked) if one.purpose == "examples"]
            origin, why, made = "worded", quotes[test], Attribution(by="words")
            if questions:  # a model had its say
                model = model_name(split_names(run.started.model)[0])
                asked = questions[-1]
                made = Attribution(by="words", model=model, prompt_version=asked.prompt_version, ask_id=asked.ask_id)
        elif test in suite.model:
            # One that nobody proposed in this run came from an earlier one.
            origin, made = "model", Attribution(by="earlier run")
            if proposed := next((event for event in run.all(TestsProposed) if test in event.tests), None):
                questions = [one for one in _list_before(run, proposed, Asked) if one.purpose == "tests"]
                made = Attribution(
                    by="tests",
                    model=model_name(split_names(run.started.model)[0]) if questions else "",
                    prompt_version=questions[-1].prompt_version if questions else "",
                    ask_id=questions[-1].ask_id if questions else "",
                    decision=_last_reason(run, proposed),
                )
        else:
            origin, made = "pinned" if test in suite.pinned else "agreed", Attribution(by="strengthen")
            if test in added:
                event, new = added[test]
                origin, why = "pinned" if test in suite.pinned else new.origin, redact(new.why)
                made = Attribution(by="strengthen", decision=_last_reason(run, event))
        yield ListedTest(
            name=name,
            test=test,
            origin=origin,
            disputed=disputed,
            given_in=given_in,
            why=why,
            result="not_run" if disputed else results.get(test, "not_run"),
            made=made,
        )


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
    if test in [event.test for event in run.all(QuestionAnswered)]:
        return "answer"
    reviewed = any(event.where == "tests" for event in run.all(Reviewed))
    earlier = test in read_task(run).visible_tests
    return "earlier run" if earlier and run.started.continues else "review" if reviewed else ""


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
        for installed in list_recorded_packages(last):
            name, extras = installed.name, tuple(sorted(asked.get(installed.name, ())))
            yield EvidencePackage(asked=name in asked, named=name in named, extras=extras, **installed.model_dump())


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
        case CriterionTicked():
            said = {True: "yes", False: "no", None: "taken back"}[event.holds]
            yield Remark(kind="ticked", about=redact(event.name), said=said)
        case Rated():
            yield Remark(kind="rated", words=event.comment[:TEXT], stars=event.stars)
