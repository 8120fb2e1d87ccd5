"""The plots: right, the same each time, and deaf to what the data says."""

import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files

import pytest

from burnish.evals import metrics
from burnish.evals.metrics import compute_results
from burnish.evals.reports.plots import Series, draw_comparison, draw_curves, draw_plots
from burnish.evals.reports.svg import COLOURS, text_width, ticks, wrap_text
from burnish.evals.schema import Attempt
from tests.evals.fake_evaluations import Made, attempt, betting, plan, plausible, saying, solving

NASTY = "m$x^2$ </text><script>alert(1)</script> \x1b[31m & \uffff\ud83d"


def texts(svg: str) -> list[str]:
    return ["".join(node.itertext()) for node in ET.fromstring(svg).iter() if node.tag.endswith("}text")]


def outside(svg: str) -> list[str]:
    """The words that leave the paper, or lie nowhere."""
    root = ET.fromstring(svg)
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    found = []
    for node in root.iter():
        if not node.get("font-size") or node is root:
            continue
        for spot in list(node) or [node]:
            text, x, y = (spot.text or "").strip(), float(spot.get("x", -1)), float(spot.get("y", -1))
            wide = text_width(text, float(node.get("font-size", 0)))
            left = x - wide * {"middle": 0.5, "end": 1.0}.get(node.get("text-anchor", ""), 0.0)
            if left < 0 or left + wide > width or not 0 < y < height:
                found.append(text)
    return found


def test_every_plot_says_protocol_model_engine_and_n() -> None:
    drawn = draw_plots(compute_results(plausible(30)))
    assert drawn.keys() == {"pass_by_call", "solved_by_tokens", "grid"}
    for svg in drawn.values():
        (caption,) = [text for text in texts(svg) if "protocol visible" in text]
        assert "reflect · local:m" in caption
        assert "n = 30" in caption
        assert "llama.cpp" in caption


def test_the_curve_is_labelled_with_its_first_and_last_value() -> None:
    found = compute_results(solving([True], [False, True], [False, False], [False, False]))
    said = texts(draw_plots(found)["pass_by_call"])
    assert {"25.0", "50.0"} <= set(said)


def test_the_same_results_give_the_same_bytes() -> None:
    found = compute_results(plausible(12))
    drawn = draw_plots(found)
    assert drawn == draw_plots(found)


def test_other_peoples_words_stay_words() -> None:
    for svg in draw_plots(compute_results(solving([True], model=NASTY, engine=NASTY))).values():
        assert not [node for node in ET.fromstring(svg).iter() if "script" in node.tag]
        assert any("m$x^2$ </text><script>" in text for text in texts(svg))


def test_many_threads_draw_the_same_picture() -> None:
    found = compute_results(plausible(12))
    with ThreadPoolExecutor(4) as pool:
        drawn = list(pool.map(lambda _: draw_plots(found), range(8)))
    assert drawn == [draw_plots(found)] * 8


@pytest.mark.parametrize(
    "made",
    [
        solving([True]),
        solving([False]),
        solving([False] * 30),
        Made([("a", 0, attempt([True])), ("a", 1, attempt([], error="hung up"))], plan(seeds=[0, 1])),
        saying((1.0, True)),
        saying((0.0, False), (0.0, False)),
        betting(90),
    ],
    ids=["one solved", "one failed", "thirty rounds", "two seeds, one broke", "sure", "unsure", "all degrees"],
)
def test_small_and_odd_evaluations_can_be_drawn(made: Made) -> None:
    for svg in draw_plots(compute_results(made)).values():
        assert outside(svg) == []


def test_long_names_are_wrapped_and_stay_on_the_paper() -> None:
    found = compute_results(solving([True], model="local:" + "WM漢" * 60, engine="x" * 300, strategy="s " * 90))
    for svg in (*draw_plots(found).values(), draw_comparison([found], [compute_results(solving([False]))])):
        assert outside(svg) == []


def test_words_that_run_over_the_edge_would_be_seen() -> None:
    svg = draw_plots(compute_results(solving([True])))["pass_by_call"]
    assert outside(svg.replace("model calls, at most", "model calls, at most " * 9)) != []


def test_a_copy_for_the_page_has_no_caption_and_a_style_for_each_colour() -> None:
    drawn = draw_plots(compute_results(betting(30)), captioned=False)
    style = (files("burnish.evals") / "page" / "style.css").read_text("utf-8")
    for name in ("pass_by_call", "solved_by_tokens", "reliability", "risk_coverage"):
        assert "protocol visible" not in drawn[name]
        classes = {node.get("class") for node in ET.fromstring(drawn[name]).iter()} - {None}
        names = {one for found in classes for one in str(found).split()}
        assert {"fill-ink", "stroke-solved"} <= names
        assert all(f".{one} {{" in style for one in names), names


def test_a_line_to_compare_with_has_no_name_and_no_markers() -> None:
    curve, guide = Series("one", [1, 2], [0.2, 0.4]), Series("", [0, 2], [0.3, 0.3], is_guide=True)
    svg, alone = draw_curves([curve, guide], "x", from_zero=True), draw_curves([curve], "x", from_zero=True)
    assert svg.count("<title>") == alone.count("<title>")
    assert svg.count("stroke-dasharray") == 1 + alone.count("stroke-dasharray")


def test_a_file_needs_no_style_sheet() -> None:
    for svg in draw_plots(compute_results(plausible(30))).values():
        assert "var(" not in svg
        assert "<style" not in svg
        assert 'fill="#ffffff" class="fill-paper"' in svg.splitlines()[1]


def test_a_point_says_its_figures_under_a_pointer() -> None:
    svg = draw_plots(compute_results(solving([True], [False, True], [False, False], [False, False])))["pass_by_call"]
    tips = [node.text for node in ET.fromstring(svg).iter() if node.tag.endswith("}title")]
    assert tips[1] == "model calls, at most: 2\n50.0 % (95 % interval 15.0 to 85.0 %)"


def five_and_a_published_one() -> list[Series]:
    ours = [
        Series(f"model {place}", [1, 2, 3], [0.1 * place, 0.4, 0.5], [(0.05, 0.3), (0.3, 0.5), (0.4, 0.6)])
        for place in range(5)
    ]
    return [*ours, Series("published <b>", [1, 2, 3], [0.3, 0.5, 0.55], dashed=True)]


def test_several_curves_each_have_a_name_a_look_and_a_last_value() -> None:
    svg = draw_curves(five_and_a_published_one(), "calls", title="All", caption="n = 9")
    said = [text.strip() for text in texts(svg)]
    assert {f"model {place}" for place in range(5)} | {"published <b>", "All", "n = 9"} <= set(said)
    assert said.count("50.0") == 5
    assert svg.count("stroke-dasharray") == 2, "the line, and its sample in the legend"
    assert outside(svg) == []


def test_last_values_that_are_equal_do_not_lie_on_each_other() -> None:
    svg = draw_curves(five_and_a_published_one(), "calls")
    nodes = [node for node in ET.fromstring(svg).iter() if node.text == "50.0"]
    heights = sorted(float(node.get("y") or 0) for node in nodes)
    assert all(after - before >= 12 for before, after in zip(heights, heights[1:], strict=False))


def test_two_evaluations_are_drawn_over_the_tasks_that_both_finished() -> None:
    a = compute_results(solving([True], [False], [True], strategy="single"))
    b = compute_results(solving([False, True], [False, True]))
    svg = draw_comparison([a], [b])
    said = [text.strip() for text in texts(svg)]
    assert "A: local:m · single · visible · llama.cpp" in said
    assert "B: local:m · reflect · visible · llama.cpp" in said
    assert {"50.0", "100.0"} <= set(said)
    assert any(text.startswith("2 tasks that both finished") for text in said)


def test_no_curves_are_an_empty_picture() -> None:
    assert outside(draw_curves([], "calls")) == []
    assert outside(draw_curves([Series("none", [], []), Series("zero", [0], [0.0])], "calls")) == []


@pytest.mark.parametrize(
    ("low", "high", "least", "expected"),
    [
        (0, 0.5, 0, [0, 0.1, 0.2, 0.3, 0.4, 0.5]),
        (0, 3400, 0, [0, 1000, 2000, 3000]),
        (1, 4, 1, [1, 2, 3, 4]),
        (1, 1, 1, [1]),
    ],
)
def test_axes_have_round_numbers(low: float, high: float, least: float, expected: list[float]) -> None:
    assert ticks(low, high, least=least) == pytest.approx(expected)


def test_lines_fit_and_lose_nothing() -> None:
    text = "some words and " + "w" * 80 + " more"
    lines = wrap_text(text, 10, 120)
    assert all(text_width(line, 10) <= 120 for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_nothing_finished_is_nothing_drawn() -> None:
    assert draw_plots(compute_results(Made([], task_ids=("a",)))) == {}


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
    rows = draw_plots(compute_results(made))["grid"].split(">round <")[1]
    assert all(COLOURS[state] in rows for state in metrics.STATE_LABELS)


def test_states_and_groups() -> None:
    def made(*solved: bool, error: str = "") -> Attempt:
        end = solved[-1] and not error
        return Attempt(task_id="t", seed=0, solved=end, solved_by_round=solved, solved_by_call=solved, error=error)

    assert metrics.round_states(made(False, True), 3) == ["unsolved", "solved", "kept"]
    assert metrics.round_states(made(False), 2) == ["unsolved", "unreached"]
    assert metrics.round_states(made(False, error="x"), 2) == ["broke", "broke"]
    kinds = [made(True), made(False, True), made(True, False), made(False), made(False, error="x")]
    assert [metrics.attempt_group(one) for one in kinds] == ["solved", "solved", "lost", "unsolved", "broke"]
    assert sorted(reversed(kinds), key=metrics.sort_key) == kinds
