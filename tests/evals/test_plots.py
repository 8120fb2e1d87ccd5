"""The plots: right, the same each time, and deaf to what the data says."""

import sys
import xml.etree.ElementTree as ET

import matplotlib
import pytest

from burnish.evals import states
from burnish.evals.plots import COLOURS, plots
from burnish.evals.results import results
from burnish.evals.tally import Attempt
from tests.evals.made import Made, attempt, plan, plausible, solving

NASTY = "m$x^2$ </text><script>alert(1)</script> \x1b[31m &"


def texts(svg: str) -> list[str]:
    return ["".join(node.itertext()) for node in ET.fromstring(svg).iter() if node.tag.endswith("}text")]


def test_every_plot_says_protocol_model_engine_and_n() -> None:
    drawn = plots(results(plausible(30)))
    assert drawn.keys() == {"pass_by_call", "solved_by_tokens", "grid"}
    for svg in drawn.values():
        (caption,) = [text for text in texts(svg) if "protocol visible" in text]
        assert "reflect · local:m" in caption
        assert "n = 30" in caption
        assert "llama.cpp" in caption


def test_the_curve_is_labelled_with_its_first_and_last_value() -> None:
    found = results(solving([True], [False, True], [False, False], [False, False]))
    said = texts(plots(found)["pass_by_call"])
    assert {"25.0", "50.0"} <= set(said)


def test_the_same_results_give_the_same_bytes_without_a_date() -> None:
    found = results(plausible(12))
    drawn = plots(found)
    assert drawn == plots(found)
    assert "<dc:date>" not in drawn["grid"]


def test_other_peoples_words_stay_words() -> None:
    for svg in plots(results(solving([True], model=NASTY, engine=NASTY))).values():
        assert not [node for node in ET.fromstring(svg).iter() if "script" in node.tag]
        assert any("m$x^2$ </text><script>" in text for text in texts(svg))


def test_drawing_leaves_no_trace_in_the_process() -> None:
    before = matplotlib.rcParams.copy()
    plots(results(plausible(5)))
    assert "matplotlib.pyplot" not in sys.modules
    assert all(matplotlib.rcParams[name] == before[name] for name in before if name != "backend")


@pytest.mark.parametrize(
    "made",
    [
        solving([True]),
        solving([False]),
        solving([False] * 30),
        Made([("a", 0, attempt([True])), ("a", 1, attempt([], error="hung up"))], plan(seeds=[0, 1])),
    ],
    ids=["one solved", "one failed", "thirty rounds", "two seeds, one broke"],
)
def test_small_and_odd_evaluations_can_be_drawn(made: Made) -> None:
    assert all(ET.fromstring(svg) is not None for svg in plots(results(made)).values())


def test_nothing_finished_is_nothing_drawn() -> None:
    assert plots(results(Made([], task_ids=("a",)))) == {}


def test_the_grid_tells_five_states_apart() -> None:
    made = Made(
        [
            ("soon", 0, attempt([True])),
            ("late", 0, attempt([False, True])),
            ("lost", 0, attempt([True, False])),
            ("never", 0, attempt([False])),
            ("broke", 0, attempt([], error="hung up")),
        ]
    )
    svg = plots(results(made))["grid"]
    assert all(colour in svg for colour in COLOURS.values())


def test_states_and_groups() -> None:
    def made(*solved: bool, error: str = "") -> Attempt:
        end = solved[-1] and not error
        return Attempt(task_id="t", seed=0, solved=end, solved_by_round=solved, solved_by_call=solved, error=error)

    assert states.states(made(False, True), 3) == ["unsolved", "solved", "kept"]
    assert states.states(made(False), 2) == ["unsolved", "unreached"]
    assert states.states(made(False, error="x"), 2) == ["broke", "broke"]
    kinds = [made(True), made(False, True), made(True, False), made(False), made(False, error="x")]
    assert [states.group(one) for one in kinds] == ["solved", "solved", "lost", "unsolved", "broke"]
    assert sorted(reversed(kinds), key=states.order) == kinds
