"""A rubric: points that decay, criteria of probes and of people apart, and mistakes in the file."""

from pathlib import Path

import pytest

from burnish.agent.limits import Limits
from burnish.commands.page import build_request, tick
from burnish.errors import SetupProblem
from burnish.events import CriterionHeld, CriterionTicked
from burnish.models.scripted import ScriptedModel
from burnish.pages.attempt import start_page
from burnish.pages.folder import measure_agreement, read_score
from burnish.pages.rubric import SHIPPED, Case, Criterion, add_ticks, agreement, load_case, score
from burnish.runs import Store
from burnish.runs.attempt import Resources
from tests.pages.fake_page import FakePage

OWN = """\
sentence = "A red square."

[[criteria]]
name = "red"
what = "It is red."
points = 10
script = "document.querySelector('canvas') !== null"

[[criteria]]
name = "nice"
what = "It looks nice."
points = 5
by = "person"
"""


def make_case(points: int = 10, decay: float = 0.5) -> Case:
    probed = Criterion(name="red", what="It is red.", points=points, decay=decay, script="true")
    return Case("own", "A red square.", (probed, Criterion(name="nice", what="Nice.", points=5, by="person")))


def hold(*cycles: bool | None) -> dict[int, tuple[CriterionHeld, ...]]:
    """Whether `red` held, cycle by cycle."""
    return {cycle: (CriterionHeld(name="red", holds=holds),) for cycle, holds in enumerate(cycles, 1)}


@pytest.mark.parametrize(
    ("points", "decay", "given"),
    [
        (10, 0.5, [10, 5, 2, 1, 0]),
        (10, 1.0, [10, 10, 10]),
        (10, 0.1, [10, 1, 0]),
        (7, 0.0, [7, 0]),
        (3, 0.7, [3, 2, 1, 1]),
    ],
)
def test_points_decay_by_a_factor_for_each_cycle_and_are_floored(points: int, decay: float, given: list[int]) -> None:
    case = make_case(points, decay)
    assert [score(case, hold(*[False] * cycle, True)).points for cycle in range(len(given))] == given


@pytest.mark.parametrize(
    ("cycles", "points", "since"),
    [
        ((True, True), 10, 1),
        ((True, False, True), 2, 3),
        ((True, False), 0, None),
        ((True, None), 0, None),
        ((False, False), 0, None),
        ((), 0, None),
    ],
)
def test_a_criterion_counts_from_the_cycle_after_which_it_always_held(
    cycles: tuple[bool | None, ...], points: int, since: int | None
) -> None:
    row = score(make_case(), hold(*cycles)).criteria[0]
    assert (row.points, row.of, row.cycle) == (points, 10, since)
    assert row.holds == (cycles[-1] if cycles else None)


@pytest.mark.parametrize(("follow_ups", "points"), [(0, 2), (1, 0), (3, 0)])
def test_points_for_no_follow_up_are_there_as_long_as_there_was_none(follow_ups: int, points: int) -> None:
    criterion = Criterion(name="alone", what="No follow-up.", points=2, decay=1.0, function="no_follow_up")
    assert score(Case("own", "x", (criterion,)), {}, follow_ups).points == points


def test_what_a_person_judges_is_open_until_it_is_ticked_and_the_last_tick_counts() -> None:
    scored = score(make_case(), hold(True))
    assert [(row.by, row.holds, row.points) for row in scored.criteria] == [("probe", True, 10), ("person", None, 0)]

    def tick(name: str, holds: bool, case: str = "own") -> CriterionTicked:
        return CriterionTicked(case=case, name=name, holds=holds)

    assert add_ticks(scored, [tick("nice", True)]).points == 15
    assert add_ticks(scored, [tick("nice", True), tick("nice", False)]).points == 10
    assert add_ticks(scored, [tick("nice", True, case="another")]).points == 10
    said_against = add_ticks(scored, [tick("red", False)])
    assert said_against.points == 10, "a person's word on a probe's criterion changes no points"


@pytest.mark.parametrize(
    ("pairs", "kappa"),
    [
        ([(True, True)] * 3 + [(False, False)] * 3, 1.0),
        ([(True, False)] * 3 + [(False, True)] * 3, -1.0),
        ([(True, True), (True, False), (False, True), (False, False)] * 2, 0.0),
        ([(True, True)] * 20 + [(True, False)] * 5 + [(False, True)] * 10 + [(False, False)] * 15, 0.4),
        ([(True, True)] * 6, None),
        ([(True, True), (False, False)] * 2, None),
    ],
)
def test_agreement_is_cohens_kappa_and_is_not_made_of_too_little(
    pairs: list[tuple[bool, bool]], kappa: float | None
) -> None:
    assert agreement(pairs) == (None if kappa is None else pytest.approx(kappa))


@pytest.mark.parametrize("name", SHIPPED)
def test_each_shipped_case_can_be_loaded_and_its_sentence_is_the_known_one(name: str) -> None:
    case = load_case(name)
    assert case.name == name
    assert "\n" not in case.sentence
    assert case.measure
    assert sum(one.points for one in case.criteria) >= 20


def test_only_the_scan_may_reach_an_address_and_only_those_of_its_own_network() -> None:
    granted = {name: load_case(name).targets for name in SHIPPED}
    assert {name for name, targets in granted.items() if targets} == {"scan"}
    assert all(target.startswith("127.0.0.") and not target.startswith("127.0.0.1:") for target in granted["scan"])
    assert all(target.partition(":")[0] in load_case("scan").context for target in granted["scan"])


def test_a_case_of_ones_own_is_a_folder_with_a_sentence_and_a_rubric(tmp_path: Path) -> None:
    (tmp_path / "case.toml").write_text(f'measure = "use.js"\n{OWN}', "utf-8")
    (tmp_path / "use.js").write_text("return 1;", "utf-8")
    case = load_case(str(tmp_path))
    assert (case.name, case.sentence, case.measure) == (tmp_path.name, "A red square.", "return 1;")
    assert [(one.name, one.by) for one in case.criteria] == [("red", "probe"), ("nice", "person")]


@pytest.mark.parametrize(
    ("old", "new", "line", "allowed"),
    [
        ("points = 10", "points = 0", 6, "1 to 1000"),
        ("points = 10", 'points = "ten"', 6, "1 to 1000"),
        ("points = 5", "points = 5\ndecay = 2", 13, "0 to 1"),
        ("points = 10", "point = 10", 6, "'points'"),
        ("points = 10", "points = 10\ncolour = 3", 7, "known: name"),
        ('sentence = "A red square."', 'sentence = "x"\nsentense = "y"', 2, "'sentence'"),
        ("points = 10\n", "", 3, "1 to 1000"),
        ('"red"', '"Red!"', 4, "small letters"),
        ('"nice"', '"red"', 10, "'red'"),
        ('by = "person"', 'by = "dog"', 13, '"person"'),
        ('by = "person"', "", 10, "script"),
        ('script = "doc', 'function = "no_exception"\nscript = "doc', 7, "`script`"),
        ('sentence = "A red square."', "sentence = 3", 1, "a text"),
        ('sentence = "A red square."', 'sentence = "x"\ntargets = ["10.0.0.1:80"]', 2, "127.0.0.2"),
        ('sentence = "A red square."', 'sentence = "x"\nservers = ["127.0.0.2:80"]', 2, "`targets`"),
        ('sentence = "A red square."', 'sentence = "x"\nmeasure = "../out.js"', 2, "folder"),
        ('sentence = "A red square."', 'sentence = "x"\nname = "mine"', 2, "folder"),
        ("[[criteria]]", "[[criteria", 3, "no TOML"),
    ],
)
def test_a_mistake_in_a_rubric_is_told_with_file_line_and_what_is_allowed(
    tmp_path: Path, old: str, new: str, line: int, allowed: str
) -> None:
    file = tmp_path / "case.toml"
    file.write_text(OWN.replace(old, new, 1), "utf-8")
    with pytest.raises(SetupProblem) as caught:
        load_case(str(tmp_path))
    assert str(file) in str(caught.value)
    assert f"line {line}" in str(caught.value)
    assert allowed in str(caught.value)


@pytest.mark.parametrize("make", [Path.mkdir, lambda path: path.write_text("x", "utf-8"), lambda path: None])
def test_a_name_that_is_no_case_names_those_that_are(tmp_path: Path, make: object) -> None:
    make(tmp_path / "mine")  # type: ignore[operator]
    with pytest.raises(SetupProblem) as caught:
        load_case(str(tmp_path / "mine"))
    assert all(name in str(caught.value) for name in SHIPPED)


def test_a_case_of_ones_own_is_scored_and_what_people_say_is_kept_apart(store: Store, tmp_path: Path) -> None:
    names = ("red", "round", "large", "still", "alone")
    rows = "".join(
        f'[[criteria]]\nname = "{name}"\nwhat = "It."\npoints = 10\nscript = "is_{name}"\n' for name in names
    )
    (tmp_path / "case.toml").write_text(f"{OWN}{rows.replace('red', 'bright')}", "utf-8")
    model = ScriptedModel(["```js\nconst a = 1;\n```", "```js\nconst a = 2;\n```"])
    # The first version is not round, and none is large.
    fake = FakePage(values=lambda script: not ("is_large" in script or ("is_round" in script and len(fake.ran) < 2)))
    request = build_request("", model, case=str(tmp_path), limits=Limits(rounds=1), store=store)
    run = start_page(request, Resources((model,), store), fake.open).wait()
    scored = read_score(run)
    assert scored
    points = {row.name: row.points for row in scored.criteria}
    assert points == {"red": 10, "nice": 0, "bright": 10, "round": 5, "large": 0, "still": 10, "alone": 10}
    assert measure_agreement(run) is None
    for name, holds in {
        "nice": True,
        "red": True,
        "bright": True,
        "round": True,
        "large": False,
        "still": False,
    }.items():
        run = tick(run.id, name, holds, store=store)
    ticked = read_score(run)
    assert ticked
    assert (scored.points, ticked.points, ticked.of) == (45, 50, 65), "only what is theirs gives points"
    # Of five, they agree on four: 3 yes and 1 no; by chance it would be 0.8 * 0.6 + 0.2 * 0.4.
    assert measure_agreement(run) == pytest.approx((0.8 - 0.56) / (1 - 0.56))
