"""Whole runs in which changes that go unnoticed become tests: a scripted model, the real sandbox, real mutants."""

from collections.abc import Sequence
from functools import cache

import pytest

from burnish import Limits, Run, ScriptedModel, Store
from burnish.checks.mutation.mutate_module import Mutations
from burnish.events import Asked, Decided, Event, Mutated, Resumed, Stopped, Strengthened, TestsFrozen
from burnish.events.replay import Replay
from burnish.report.deliverables import read_suite
from burnish.report.deliverables import render_tests as delivered
from burnish.runs.record import FILE
from burnish.tasks import from_sentence
from tests.snapshots import assert_snapshot
from tests.support import attempt, block

pytestmark = pytest.mark.usefixtures("open_box")

FEE = "a function fee(age): under 6 nothing is paid, else 10, e.g. fee(2) == 0 and fee(30) == 10"
LEAN = block("def fee(age):\n    if age < 6:\n        return 0\n    return 10")
OTHER = block("def fee(age):\n    return 0 if age <= 5 else 10")
THIRD = block("def fee(age):\n    if age >= 6:\n        return 10\n    return 0")
ADDED = "assert fee(6) == 10"
MUTANTS = Mutations.of
AT_ONCE = 0.01
"""A confidence that the first version reaches if it passes: further ones are asked for only by what goes unnoticed."""


def model(name: str = "local:tiny-0.5b", **replies: str | list[str]) -> ScriptedModel:
    usual: dict[str, str | list[str]] = {
        "": LEAN,
        "rewrite": [OTHER, THIRD, LEAN],
        "tests": block("assert fee(3) == 0"),
    }
    chosen = usual | {"inputs": "none", "assume": "none"} | replies
    return ScriptedModel({purpose: [said] if isinstance(said, str) else said for purpose, said in chosen.items()}, name)


def ran(
    sentence: str = FEE,
    answers: ScriptedModel | None = None,
    limits: Limits | None = None,
    replay: Sequence[Event] = (),
    confidence: float | None = None,
) -> Run:
    asked = {"limits": limits, "confidence": confidence, "afterwards": ("strengthen",), "replay": replay}
    return attempt(from_sentence(sentence), answers or model(), **asked)


tried = cache(lambda code, tests: MUTANTS(Mutations(), code, tests))
"""What becomes of the same mutants on the same tests is found out once for all runs here."""


@pytest.fixture(autouse=True)
def shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs begin with the same code and the same tests, most of them."""
    monkeypatch.setattr(Mutations, "of", lambda self, code, tests: tried(code, tests))


@cache
def usual() -> Run:
    """A run in which all goes well, with one version before its mutants; several tests look at it."""
    return ran(confidence=AT_ONCE)


def only(run: Run) -> Strengthened:
    [made] = run.all(Strengthened)
    return made


@pytest.mark.slow
def test_what_a_weak_suite_does_not_notice_is_noticed_afterwards() -> None:
    run = usual()
    [mutated], made = run.all(Mutated), only(run)
    assert (mutated.mutants, mutated.noticed, len(mutated.survivors)) == (7, 5, 2)
    assert [(new.test, new.origin, len(new.notices)) for new in made.tests] == [(ADDED, "agreed", 2)]
    assert (made.noticed, made.pinned, made.alike) == (7, 0, ())
    assert run.verdict == "plausible"
    assert_snapshot(run.why, "agent/verdict: an added test passes")
    assert [stop.reason for stop in run.all(Stopped)] == ["done"]
    frozen = run.all(TestsFrozen)
    assert len(frozen) == 2
    assert frozen[-1].sha256 == read_suite(run).sha256
    assert ADDED in delivered(run)
    assert Mutations().of(run.code, read_suite(run).render(run.disputed, pinned=False)).unnoticed == ()


@pytest.mark.slow
def test_the_further_voices_are_asked_for_once_and_are_no_new_round() -> None:
    run = usual()
    [asked] = [decision for decision in run.all(Decided) if decision.choice == "voices"]
    assert_snapshot(asked.reason, "agent/strengthen: why further versions are asked for")
    assert [move.temperature for move in asked.moves] == [0.7, 0.7, 0.7]
    assert {version.round for version in run.versions} == {0}
    assert run.final
    assert run.final.number == 1


@pytest.mark.slow
def test_versions_that_were_asked_for_to_be_sure_are_voices_too_and_no_more_are_asked_for() -> None:
    run = ran()
    assert not [decision for decision in run.all(Decided) if decision.choice == "voices"]
    assert {version.round for version in run.versions} > {0}
    assert [(new.test, new.origin, len(new.notices)) for new in only(run).tests] == [(ADDED, "agreed", 2)]
    assert run.code == usual().code


@pytest.mark.slow
def test_a_value_that_only_the_code_vouches_for_is_pinned_and_raises_nothing() -> None:
    run = ran(answers=model(rewrite=LEAN))
    [mutated], made = run.all(Mutated), only(run)
    assert [(new.test, new.origin) for new in made.tests] == [(ADDED, "pinned")]
    assert (made.noticed, made.pinned) == (mutated.noticed, 2)
    assert_snapshot(run.why, "agent/verdict: examples and a test of the model's pass")
    told = delivered(run)
    assert told.index("def test_pinned_1") < told.index(ADDED)
    without = read_suite(run).render(run.disputed, pinned=False)
    assert ADDED not in without
    assert len(Mutations().of(run.code, without).unnoticed) == 2


@pytest.mark.slow
def test_a_change_that_changes_nothing_does_not_count_and_nobody_is_asked_about_it() -> None:
    sentence = "a function low(x) that is never more than 5, e.g. low(3) == 3 and low(9) == 5"
    code = block("def low(x):\n    if x > 5:\n        return 5\n    return x")
    run = ran(sentence, model(**{"": code, "rewrite": code, "tests": block("assert low(5) == 5")}))
    mutated = run.all(Mutated)[0]
    assert mutated.equivalent >= 1
    assert mutated.inputs > 20
    assert "`> 5` becomes `>= 5`" not in [one.said for one in mutated.survivors]
    assert not [ask for ask in run.all(Asked) if ask.purpose == "inputs"]


@pytest.mark.slow
def test_a_change_that_no_input_reaches_is_listed_as_alike_after_the_model_was_asked_too() -> None:
    sentence = "a function low(x) that is never more than 98764, e.g. low(3) == 3"
    code = block("def low(x):\n    if x > 98764:\n        return 98764\n    return x")
    answers = model(
        **{"": code, "rewrite": code, "tests": block("assert low(5) == 5"), "inputs": block("low(5)\nlow(6)")}
    )
    run = ran(sentence, answers)
    made = only(run)
    survivors = {one.key: one.said for event in run.all(Mutated) for one in event.survivors}
    assert "`98764` becomes `98765`" in [survivors[key] for key in made.alike]
    [asked] = [ask for ask in run.all(Asked) if ask.purpose == "inputs"]
    assert "`98764` becomes `98765`" in asked.messages[1].content
    assert asked.max_tokens <= 200


@pytest.mark.slow
def test_a_function_that_leans_on_chance_gets_no_test() -> None:
    sentence = "a function roll(sides) that throws dice, e.g. roll(1) == 1"
    code = block("import random\n\n\ndef roll(sides):\n    return 6 if sides > 6 else random.randint(1, sides)")
    run = ran(sentence, model(**{"": code, "rewrite": code, "tests": "none"}))
    made = only(run)
    assert made.tests == ()
    assert_snapshot(made.why, "agent/strengthen: no test of what depends on chance")
    assert run.verdict == "plausible"


@pytest.mark.slow
def test_where_nothing_goes_unnoticed_nobody_is_asked() -> None:
    answers = model(tests=block("assert fee(5) == 0\nassert fee(6) == 10"))
    run = ran(answers=answers, confidence=AT_ONCE)
    assert run.all(Mutated)[0].survivors == ()
    assert only(run).tests == ()
    assert (run.calls, run.verdict) == (2, "plausible")


@pytest.mark.slow
@pytest.mark.parametrize("limits", [Limits(calls=3), Limits(tokens=4000), Limits(rounds=0)])
def test_a_limit_leaves_out_what_is_more_and_ends_no_run_that_is_done(limits: Limits) -> None:
    run = ran(limits=limits, confidence=AT_ONCE)
    assert (run.verdict, [stop.reason for stop in run.all(Stopped)]) == ("plausible", ["done"])
    assert run.calls <= limits.calls
    heard = [decision for decision in run.all(Decided) if decision.choice == "voices"]
    assert bool(heard) == (limits.rounds == 0), "voices are no round, but they are calls"


def cut(run: Run, moment: int, store: Store) -> Run:
    """The record as it was when the run was killed there."""
    folder = store.runs / run.id
    folder.mkdir(parents=True, exist_ok=True)
    lines = [event.model_dump_json() + "\n" for event in run.events[:moment]]
    (folder / FILE).write_text("".join(lines))
    return store.open(run.id)


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["mutated", "voices", "first voice", "strengthened", "frozen anew"])
def test_a_run_that_was_killed_anywhere_in_it_ends_as_an_undisturbed_one(moment: str, store: Store) -> None:
    whole = usual()
    kinds = [event.kind for event in whole.events]
    places = {
        "mutated": kinds.index("mutated"),
        "voices": next(n for n, event in enumerate(whole.events) if getattr(event, "choice", "") == "voices"),
        "first voice": [n for n, kind in enumerate(kinds) if kind == "code_proposed"][1],
        "strengthened": kinds.index("strengthened"),
        "frozen anew": [n for n, kind in enumerate(kinds) if kind == "tests_frozen"][1],
    }
    killed = cut(whole, places[moment] + 1, store)
    again = ran(answers=model(), replay=killed.events, confidence=AT_ONCE)
    assert again.all(Resumed)
    assert (again.verdict, again.why, again.code) == (whole.verdict, whole.why, whole.code)
    assert only(again).tests == only(whole).tests
    assert len(again.all(Mutated)) == len([one for one in again.all(Decided) if one.choice == "voices"]) == 1
    wanted = [*whole.all(Asked), *(asked for asked, _ in Replay(killed.events).lost)]
    assert sorted(ask.ask_id for ask in again.all(Asked)) == sorted(ask.ask_id for ask in wanted)
