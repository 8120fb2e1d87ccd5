"""From a run to what is said about it in `evidence.json`. Derived from the record alone, and the same each time."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Required, TypedDict

from packaging.requirements import Requirement

from burnish.agent.packages import recorded
from burnish.checks.suite import Suite
from burnish.events import Case, Decided, Event, Graded, Outcome, PackagesAdded, Rated, Resumed, Reviewed, UserAnswered
from burnish.evidence.form import (
    TEXT,
    Asked,
    Code,
    Cost,
    Dossier,
    GivenIn,
    Maker,
    Origin,
    Package,
    Said,
    Spent,
    Started,
    Test,
    Who,
    Word,
    files_of,
)
from burnish.evidence.given import given_in_words
from burnish.evidence.makers import Trail, sha256
from burnish.evidence.seal import sealed
from burnish.model_choice import read_choice
from burnish.models.catalog import CATALOG
from burnish.models.names import split_names
from burnish.redact import model_name, redact
from burnish.report import module_of, suite_of, task_of
from burnish.runs.accounts import Account
from burnish.runs.run import Run
from burnish.tasks.examples import find_examples
from burnish.tasks.test_file import name_in_file


def dossier_of(run: Run, files: Mapping[str, str], tools: Mapping[str, str] | None = None) -> Dossier:
    """What is known of a run and of the files that it delivers, by name and text; `tools` are versions, if known."""
    suite, trail = suite_of(run), Trail(run)
    return sealed(
        Dossier(
            run=_started(run),
            task=_task(run, suite),
            verdict=run.verdict,
            why=redact(run.why),
            code=_code(run, trail),
            tests=tuple(_tests(run, suite, trail)),
            checks=tuple(_checks(run)),
            models=tuple(map(_who, split_names(run.started.model))),
            packages=tuple(_packages(run)),
            tools=dict(tools or {}),
            files={name: sha256(text) for name, text in files.items()},
            cost=_cost(run),
            people=tuple(word for event in run.events for word in _words(event)),
        )
    )


def _started(run: Run) -> Started:
    started = run.started
    newest = [event.burnish for event in run.all(Resumed) if event.burnish]
    return Started(
        id=run.id,
        verb=started.verb,
        at=datetime.fromtimestamp(started.at, UTC).isoformat(timespec="milliseconds"),
        burnish=newest[-1] if newest else started.burnish,
        sandbox=redact(started.sandbox),
        continues=started.continues or "",
        chosen=redact(read_choice(started)),
    )


def _task(run: Run, suite: Suite) -> Asked:
    spec = run.spec
    return Asked(
        words=run.started.prompt[:TEXT],
        entry_point=suite.entry_point,
        signature=redact(spec.signature) if spec else "",
        module=module_of(run),
        imports=suite.imports,
        test_file=suite.file,
        assumptions=tuple(redact(point) for point in spec.assumptions) if spec else (),
        taken_back=tuple(_taken_back(run, suite)),
    )


def _taken_back(run: Run, suite: Suite) -> Iterator[str]:
    """Tests that are in the words and not in force, where a person has looked at the tests and wanted other ones."""
    if any(event.where == "tests" and event.said != "go_on" for event in run.all(Reviewed)):
        names = frozenset((suite.entry_point, *suite.imports))
        found = given_in_words(run.started.prompt, run.started.continues is not None, names)
        yield from (test for test in found if test not in suite.given)


def _code(run: Run, trail: Trail) -> Code | None:
    steps, decided = tuple(trail.steps()), run.last(Decided)
    chosen = redact(decided.reason) if decided else ""
    return Code(file=files_of(module_of(run))[0], steps=steps, chosen=chosen) if steps and run.code else None


def _tests(run: Run, suite: Suite, trail: Trail) -> Iterator[Test]:
    results = _results(run, suite)
    for name, test in suite.names.items():
        aside = test in run.disputed
        yield Test(
            name=name,
            test=test,
            disputed=aside,
            result="not_run" if aside else results.get(test, "not_run"),
            **_vouched(test, run, suite, trail),
        )


class Vouched(TypedDict, total=False):
    """Who says that a test is right."""

    origin: Required[Origin]
    made: Required[Maker]
    given_in: GivenIn
    why: str


def _vouched(test: str, run: Run, suite: Suite, trail: Trail) -> Vouched:
    if test in suite.given or test in suite.project:
        given_in = _given_in(test, run, suite)
        made = Maker(by="user" if given_in in ("review", "answer") else "given")
        return {"origin": "given", "given_in": given_in, "made": made}
    if test in suite.model:
        return {"origin": "model", "made": trail.of_tests(test)}
    made, new = trail.of_new(test)
    origin: Origin = "pinned" if test in suite.pinned else new.origin if new else "agreed"
    return {"origin": origin, "made": made, "why": redact(new.why) if new else ""}


def _given_in(test: str, run: Run, suite: Suite) -> GivenIn:
    """Where a given test was found."""
    if test in suite.project:
        return "project"
    if name_in_file(test):
        return "file"
    names = frozenset((suite.entry_point, *suite.imports))
    if test in given_in_words(run.started.prompt, run.started.continues is not None, names):
        return "words"
    if test in [found for event in run.all(UserAnswered) for found in find_examples(event.words)]:
        return "answer"
    reviewed = any(event.where == "tests" for event in run.all(Reviewed))
    earlier = test in task_of(run).visible_tests
    return "earlier run" if earlier and run.started.continues else "review" if reviewed else ""


def _results(run: Run, suite: Suite) -> Mapping[str, Outcome]:
    """What the judge's own run of the tests said, by test."""
    cases = next((item.details.get("cases") for item in run.evidence if item.check == "tests"), None)
    rows = [row for row in cases if isinstance(row, dict)] if isinstance(cases, list) else []
    return suite.outcomes(Graded(cases=tuple(Case.model_validate(row) for row in rows)))


def _checks(run: Run) -> Iterator[Said]:
    for item in run.evidence:
        yield Said(
            check=item.check,
            verdict=item.verdict,
            figure=redact(item.figure),
            threshold=redact(item.threshold),
            why=redact(item.why),
        )


def _packages(run: Run) -> Iterator[Package]:
    asked, last = _asked(run), run.last(PackagesAdded)
    named = {Requirement(text).name for text in task_of(run).named} if last else set()
    for one in recorded(last) if last else ():
        extras = tuple(sorted(asked.get(one.name, ())))
        yield Package(asked=one.name in asked, named=one.name in named, extras=extras, **one.model_dump())


def _asked(run: Run) -> dict[str, set[str]]:
    """The packages that were asked for, with their extras. A run that went on asks by name for all that was there."""
    asked: dict[str, set[str]] = {}
    there: set[str] = set()
    for event in run.all(PackagesAdded):
        new = [one for one in map(Requirement, event.asked) if one.name not in there or one.name in asked]
        for one in new:
            asked.setdefault(one.name, set()).update(one.extras)
        there = {name for name, _ in event.packages}
    return asked


def _who(name: str) -> Who:
    """A model as the catalogue knows it; of any other nothing is claimed."""
    known = CATALOG.get(name)
    return Who(
        name=model_name(name),
        licence=known.licence if known else "unknown",
        weights_sha256=known.sha256 if known else "unknown",
    )


def _cost(run: Run) -> Cost:
    return Cost(
        calls=run.calls,
        tokens_in=run.tokens_in,
        tokens_out=run.tokens_out,
        seconds=round(run.seconds, 3),
        dollars=run.dollars,
        by_model=tuple(map(_spent, run.accounts)),
    )


def _spent(account: Account) -> Spent:
    return Spent(
        model=model_name(account.model),
        answers=account.asks,
        seconds=round(account.seconds, 3),
        **account.model_dump(exclude={"model", "asks", "seconds", "lost", "tokens_lost"}),
    )


def _words(event: Event) -> Iterator[Word]:
    """What a person said, in their own words; a file that they edited is in what is delivered."""
    match event:
        case UserAnswered(assumption=assumption, words=words):
            yield Word(kind="answered", about=redact(assumption), words=words[:TEXT])
        case Reviewed():
            yield Word(kind="reviewed", about=event.where, said=event.said, words=event.words[:TEXT], line=event.line)
        case Rated():
            yield Word(kind="rated", words=event.comment[:TEXT], stars=event.stars)
