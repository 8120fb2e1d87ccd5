"""One number for how likely a version is right: what raises it, what lowers it, and what forbids to call it proven."""

import math
from collections.abc import Sequence

import pytest

from burnish.agent import confidence
from burnish.agent.confidence import SignalWeights, Support, load_weights, weigh
from burnish.agent.nodes.judge import judge
from burnish.agent.state import AgentState
from burnish.events import PROVEN, Compared, Event, ModelReplied, RunFinished, TestsProbed, TestsProposed
from burnish.sandbox import Sandbox
from burnish.tasks import Task
from tests.agent.history import REPAIR, WRITING, given, proposed, ran, work
from tests.agent.nodes.at_work import tools

RIGHT = "def f(n):\n    return n\n"
ONE_TEST = WRITING.model_copy(update={"visible_tests": WRITING.visible_tests[:1]})
THREE_TESTS = WRITING.model_copy(update={"visible_tests": (*WRITING.visible_tests, "assert f(-3) == -3")})


def answered(count: int, model: str = "local:measured-1b") -> list[Event]:
    """What a model said, as far as it matters who it was."""
    reply = {"purpose": "draft", "text": "", "tokens_in": 1, "tokens_out": 1, "seconds": 0.0, "model": model}
    return [ModelReplied(ask_id=f"draft-{n}", **reply) for n in range(1, 1 + count)]  # type: ignore[arg-type]


def state(
    groups: Sequence[tuple[int, ...]],
    *,
    task: Task = WRITING,
    edits: Sequence[int] = (),
    failing: int = 0,
    probed: float | None = None,
    likeness: float = 1.0,
    model: str = "local:measured-1b",
) -> AgentState:
    """Versions in groups that pass all that was given, some of them small edits, and answers that fail it."""
    passes, fails = "p" * len(task.visible_tests), "f" * len(task.visible_tests)
    numbers = sorted(number for group in groups for number in group)
    events: list[Event] = [given(), ran(0, fails)] if task.broken else []
    for number in numbers:
        by, base = ("tweak", 0) if number in edits else ("draft", None)
        events += [proposed(number, RIGHT + f"# {number}\n", by, base=base), ran(number, passes)]
    for number in range(max(numbers) + 1, max(numbers) + 1 + failing):
        events += [proposed(number), ran(number, fails)]
    events += [Compared(groups=tuple(groups), inputs=("f(7)",), apart="f(7) gives 7 or 0", likeness=(likeness,))]
    events += (
        [TestsProbed(version=groups[0][0], tests=2, tried=100, noticed=round(100 * probed))]
        if probed is not None
        else []
    )
    return work(*answered(len(numbers) - len(edits) + failing, model), *events, task=task)


def sure(found: AgentState) -> float:
    assert found.best is not None
    return weigh(found, found.best).share


@pytest.fixture
def fitted(monkeypatch: pytest.MonkeyPatch) -> None:
    """SignalWeights that were fitted on one model, and believe it easily."""
    weights = SignalWeights(bias=2.0, signals={"votes": 1.0}, models=("local:measured-1b",))
    monkeypatch.setattr(confidence, "load_weights", lambda: weights)


@pytest.mark.parametrize(
    ("less", "more"),
    [
        (state([(1,)]), state([(1, 2, 3)])),
        (state([(1, 2), (3, 4)]), state([(1, 2, 3, 4)])),
        (state([(1, 2, 3), (4,)]), state([(1, 2, 3, 4)])),
        (state([(1, 2)], failing=4), state([(1, 2)])),
        (state([(1, 2)], probed=0.1), state([(1, 2)], probed=1.0)),
        (state([(1, 2)], likeness=0.2), state([(1, 2)], likeness=1.0)),
        (state([(1, 2)], task=ONE_TEST), state([(1, 2)], task=THREE_TESTS)),
        (state([(1, 2)], task=REPAIR), state([(1, 2, 3)], task=REPAIR, edits=[3])),
    ],
    ids=["alone", "even-split", "a-rival", "failing", "weak-tests", "unlike", "fewer-tests", "no-edit"],
)
def test_what_speaks_for_a_version_raises_its_confidence(less: AgentState, more: AgentState) -> None:
    assert sure(less) < sure(more)


def test_tests_of_its_own_speak_for_it_and_against_it() -> None:
    own = TestsProposed(tests=("assert f(3) == 3", "assert f(4) == 4"))
    passing, failing = (work(own, proposed(1, RIGHT), ran(1, "pp", model=said)) for said in ("pp", "ff"))
    assert sure(failing) < sure(passing)


@pytest.mark.usefixtures("fitted")
@pytest.mark.parametrize(
    ("found", "word"),
    [
        (state([(1, 2)], task=REPAIR, edits=[1, 2], failing=3), "small edit"),
        (state([(1, 2, 3, 4, 5), (6,)]), "disagree on f(7)"),
        (state([(1,)], task=ONE_TEST, probed=1.0), "one example and one version"),
        (state([(1, 2, 3)], model="ollama:somebody-7b"), "was not measured"),
        (state([(1, 2, 3)], model="ollama:somebody-7b", task=THREE_TESTS, probed=0.5), "was not measured"),
    ],
    ids=["edits-alone", "groups-disagree", "one-example-alone", "unknown-model", "unknown-model-weak-tests"],
)
def test_no_number_is_enough_where_the_evidence_is_of_the_wrong_kind(found: AgentState, word: str) -> None:
    assert found.best is not None
    weighed = weigh(found, found.best)
    assert not weighed.proves
    assert word in weighed.obstacle


@pytest.mark.usefixtures("fitted")
@pytest.mark.parametrize(
    ("found", "calibrated"),
    [
        (state([(1, 2, 3)]), True),
        (state([(1, 2, 3)], task=ONE_TEST), True),
        (state([(1, 2, 3), (4,)], edits=[4], task=REPAIR), True),
        (state([(1, 2, 3)], model="ollama:somebody-7b", task=THREE_TESTS, probed=0.95), False),
    ],
    ids=["two-examples", "one-example-three-versions", "only-edits-differ", "strong-tests"],
)
def test_agreement_of_a_measured_model_or_strong_tests_prove(found: AgentState, calibrated: bool) -> None:
    assert found.best is not None
    weighed = weigh(found, found.best)
    assert (weighed.proves, weighed.calibrated, weighed.obstacle) == (True, calibrated, "")


@pytest.mark.usefixtures("fitted", "open_box")
def test_the_judge_says_verdict_confidence_and_basis(box: Sandbox) -> None:
    [*_, finished] = judge(state([(1, 2, 3)]), tools(box))
    assert isinstance(finished, RunFinished)
    assert (finished.verdict, finished.calibrated) == ("proven", True)
    assert finished.confidence == pytest.approx(1 / (1 + math.exp(-4.0)))
    assert finished.basis == "2 examples, 3 of 3 independent versions agree on 1 input"


def test_the_basis_counts_only_what_was_seen() -> None:
    found = state([(1, 2), (3,)], task=REPAIR, edits=[2], failing=1, probed=0.5)
    assert found.best is not None
    words = Support(found, found.best).describe()
    assert "2 examples that notice 50 % of small changes" in words
    assert "1 of 3 independent versions agrees" in words
    assert "a small edit agrees" in words


def test_the_weights_that_ship_are_whole_and_name_no_suite() -> None:
    weights = load_weights()
    signals = Support(state([(1,)]), state([(1,)]).versions[0]).signals()
    assert {*weights.signals} <= {*signals}
    assert all(math.isfinite(value) for value in (weights.bias, *weights.signals.values()))
    assert weights.fitted
    assert 0 < weights.estimate(dict.fromkeys(signals, 1e9)) < 1
    assert PROVEN == 0.95


def obstacle(found: AgentState) -> str:
    assert found.best is not None
    return weigh(found, found.best).obstacle


@pytest.mark.usefixtures("fitted")
def test_edits_alone_are_never_proof_and_it_is_said_how_many_groups_of_them_disagree() -> None:
    edits = [1, 2, 3]
    apart, alike = state([(1,), (2,), (3,)], task=REPAIR, edits=edits), state([(1, 2, 3)], task=REPAIR, edits=edits)
    assert "3 groups of edits disagree" in obstacle(apart)
    assert obstacle(alike)
    assert "groups" not in obstacle(alike)
    asked = state([(1,), (2,), (3, 4)], task=REPAIR, edits=[1, 2])
    assert "edits" not in obstacle(asked.after([Compared(groups=((3, 4), (1,), (2,)), inputs=("f(7)",))]))


BROKEN = REPAIR.model_copy(update={"base_code": "def f(n, m=0):\n    return n + m + 1\n"})


def repairs(*codes: str, unasked: tuple[tuple[int, str], ...] = (), compared: bool = True) -> AgentState:
    """Answers that repair it and pass all that was given, each in a group of its own if they were compared."""
    events: list[Event] = [given(BROKEN.base_code), ran(0, "ff")]
    for number, code in enumerate(codes, 1):
        events += [proposed(number, code), ran(number, "pp")]
    groups = tuple((number,) for number in range(1, 1 + len(codes)))
    events += [Compared(groups=groups, inputs=("f(7)",), unasked=unasked)] if compared else []
    return work(*answered(len(codes)), *events, task=BROKEN)


HONEST, CONSTANT = "def f(n, m=0):\n    return n + m\n", "def f(n, m=0):\n    return 1\n"
IGNORING, DEAD = "def f(n, m=0):\n    return n\n", "def f(n, m=0):\n    return n + m\n    return n + m + 1\n"
SINGLED = "def f(n, m=0):\n    return {5: 5}.get(n, n + m + 1)\n"


@pytest.mark.usefixtures("fitted")
@pytest.mark.parametrize("shortcut", [CONSTANT, IGNORING, DEAD])
def test_a_shortcut_loses_to_what_takes_none_and_lowers_the_confidence_by_itself(shortcut: str) -> None:
    best = repairs(shortcut, HONEST).best
    assert best is not None
    assert best.code == HONEST
    alone, honest = repairs(shortcut), repairs(HONEST)
    assert sure(alone) < sure(honest)
    assert obstacle(alone).startswith("it ")


@pytest.mark.usefixtures("fitted")
def test_a_change_that_no_test_asks_for_is_named_and_never_proven() -> None:
    found = repairs(HONEST, unasked=((1, "f('ß') gives 'ß' or 'SS'"),))
    assert "'SS'" in obstacle(found)
    assert sure(found) < sure(repairs(HONEST))


@pytest.mark.usefixtures("fitted")
def test_versions_that_could_not_be_compared_prove_nothing() -> None:
    assert "compared" in obstacle(repairs(HONEST, HONEST.replace("n + m", "m + n"), compared=False))
    assert "compared" not in obstacle(repairs(HONEST, HONEST, compared=False)), "there is nothing to compare"
