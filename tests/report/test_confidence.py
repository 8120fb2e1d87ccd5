"""How sure one can be of a verdict: one wording everywhere, and never a number without what it rests on."""

import pytest

from burnish.events import RunFinished
from burnish.events.history import Run
from burnish.report.explain import explain
from burnish.report.narrate import add_confidence, narrate
from burnish.report.run_report import render_report
from burnish.report.summary import summarise
from burnish.runs import Store
from tests.iterated import EVENTS
from tests.support import ESC

BASIS = "2 examples; 3 of 3 independent versions agree on 180 inputs"


def ended(confidence: float | None = 0.97, calibrated: bool = True, basis: str = BASIS) -> RunFinished:
    return RunFinished(
        verdict="proven", why="it passes", version=2, confidence=confidence, calibrated=calibrated, basis=basis
    )


@pytest.mark.parametrize(
    ("end", "headline"),
    [
        (ended(), "proven (97 %)"),
        (ended(0.9499999), "proven (94 %)"),
        (ended(0.07), "proven (7 %)"),
        (ended(1.0), "proven (99 %)"),
        (ended(0.61, calibrated=False), "proven (61 %, not calibrated)"),
        (ended(None), "proven"),
        (ended(basis=""), "proven"),
        (ended(basis=" \n"), "proven"),
        (None, "proven"),
    ],
)
def test_a_number_is_rounded_down_and_never_stands_without_its_basis(end: RunFinished | None, headline: str) -> None:
    said, basis = add_confidence("proven", end)
    assert said == headline
    assert bool(basis) == ("%" in said)


def test_every_reader_tells_confidence_and_basis() -> None:
    run = Run((*EVENTS[:-1], ended()))
    screens = [
        "\n".join(f"{line.label} {line.text}" for line in narrate(ended())),
        "\n".join(f"{line.label} {line.text}" for line in summarise(run)),
        explain(run),
        render_report(run),
    ]
    for text in screens:
        assert "roven (97 %)" in text.replace("PROVEN", "Proven")
        assert BASIS in " ".join(text.split())


def test_a_list_of_runs_has_the_figures_as_data() -> None:
    store = Store()
    run_id, record = store.begin("double")
    with record:
        for event in (EVENTS[0].model_copy(update={"run_id": run_id}), *EVENTS[1:-1], ended()):
            record.append(event)
    [row] = store.list()
    assert (row.confidence, row.calibrated, row.basis) == (0.97, True, BASIS)
    assert add_confidence(row.state, row) == ("proven (97 %)", f"rests on {BASIS}")


def test_a_basis_from_a_stranger_is_one_harmless_line() -> None:
    _, basis = add_confidence("proven", ended(basis=f"one\ntwo{ESC}[31m" + "x" * 5000))
    assert ESC not in basis
    assert "\n" not in basis
    assert len(basis) < 400
