"""The loop of a live page: what goes wrong is sent back in few words, until nothing does or it goes nowhere."""

from pathlib import Path
from typing import Any

import pytest

from burnish.errors import SetupProblem
from burnish.events import (
    Asked,
    Broke,
    Decided,
    Event,
    ModelReplied,
    PageJudged,
    PageObserved,
    PageRefused,
    PageTold,
    PageWritten,
    Stopped,
)
from burnish.events.pages import ConsoleLine, CriterionHeld, PageError
from burnish.models.scripted import ScriptedModel
from burnish.pages.graph import PageBrief, PageState
from burnish.pages.page import PageGone
from burnish.pages.prompts import MOST_CONTEXT, read_context
from burnish.pages.rubric import Case, Criterion
from burnish.runs import Run, Store
from tests.pages.fake_page import PNG, WEBP, FakePage, Turn, seen
from tests.pages.made import GOOD, SENTENCE, js, make, rounds

WRONG = js("let a = 1;", "nothing();")
THROWS = seen(error="nothing is not defined", line=2)
MOVES = "an animation on a canvas"


def sent(run: Run) -> list[str]:
    """What the model was told, one text a question."""
    return [asked.messages[-1].content for asked in run.all(Asked)]


def ended(run: Run) -> str:
    stopped = run.last(Stopped)
    return stopped.reason if stopped else ""


def test_a_page_that_throws_is_corrected_with_the_line_that_threw() -> None:
    page = FakePage([THROWS, seen()])
    run = make([WRONG, GOOD], page)
    assert (run.verdict, ended(run), [cycle for cycle, _ in page.ran]) == ("plausible", "done", [1, 2])
    first, second = sent(run)
    assert SENTENCE in first
    assert "Line 2, `nothing();`: nothing is not defined" in second
    assert page.ran[0][1] in second, "the code that it is about is shown"
    assert run.code.split() == page.ran[1][1].split()
    error = next(one for observed in run.all(PageObserved) for one in observed.errors)
    assert (error.line, error.cycle) == (2, 1)


@pytest.mark.parametrize(
    ("sentence", "bad"),
    [
        (SENTENCE, seen("blank")),
        (SENTENCE, seen("none")),
        (MOVES, seen("drawn")),
        (SENTENCE, seen(heap_growth_bytes=200 << 20)),
        (SENTENCE, seen(console=(ConsoleLine(level="error", text="no data"),))),
        (SENTENCE, seen(errors=(PageError(kind="rejection", message="no", cycle=1),))),
        (SENTENCE, seen(errors=(PageError(kind="blocked", message="connect-src: http://a", cycle=1),))),
        (SENTENCE, seen(killed="busy")),
        (SENTENCE, seen(killed="memory")),
        (SENTENCE, seen(killed="left")),
    ],
    ids=["blank", "no canvas", "still", "heap", "console", "rejection", "blocked", "busy", "memory", "left"],
)
def test_what_is_wrong_with_a_page_is_sent_back_in_few_words(sentence: str, bad: PageObserved) -> None:
    run = make([WRONG, GOOD], FakePage([bad, seen("moving")]), sentence)
    judged, good = run.all(PageJudged)[:2]
    assert (len(judged.findings), good.findings, ended(run)) == (1, (), "done")
    assert judged.sent in sent(run)[1]
    assert len(judged.sent) < 200


def test_of_many_things_only_the_heaviest_are_sent() -> None:
    errors = tuple(PageError(kind="exception", message=f"fault {n}", line=n, cycle=1) for n in range(1, 60))
    run = make(
        [WRONG, GOOD], FakePage([seen(errors=errors, console=(ConsoleLine(level="log", text="x" * 9999),)), seen()])
    )
    assert len(run.all(PageJudged)[0].sent) < 400


def test_console_lines_that_are_no_errors_are_recorded_and_not_sent() -> None:
    observed = seen(console=(ConsoleLine(level="log", text="hello"),))
    run = make([GOOD], FakePage([observed]))
    assert (ended(run), run.all(PageObserved)[0].console[0].text) == ("done", "hello")


def test_the_last_code_is_handed_over_with_a_picture_and_a_recording(store: Store) -> None:
    run = make([GOOD], FakePage(), store=store)
    observed = run.all(PageObserved)[0]
    folder = store.runs / run.id
    assert folder.joinpath(observed.screenshot).read_bytes() == PNG
    assert folder.joinpath(observed.recording).read_bytes() == WEBP
    assert observed.own_memory_bytes
    assert observed.context_tokens


def test_a_version_that_is_better_than_those_after_it_is_handed_over() -> None:
    page = FakePage(lambda code: seen(console=(ConsoleLine(level="error", text="small"),)) if "ok" in code else THROWS)
    run = make([js("ok()"), js("a()"), js("b()"), js("c()")], page, limits=rounds(2))
    assert (run.verdict, run.code.strip(), ended(run)) == ("plausible", "ok()", "rounds")


@pytest.mark.parametrize(("second", "chosen"), [(seen(), 2), (THROWS, 1)], ids=["runs", "throws"])
def test_what_could_not_be_judged_yet_speaks_against_no_version_that_runs(second: PageObserved, chosen: int) -> None:
    what = [Criterion(name=name, what="It does.", points=4, script="true") for name in ("fast", "slow")]
    brief = PageBrief(SENTENCE, "", Case(name="two", sentence=SENTENCE, criteria=tuple(what)))
    events: list[Event] = []
    for cycle, observed, known in ((1, seen(), (True, False)), (2, second, (None, None))):
        held = [CriterionHeld(name=one.name, holds=holds) for one, holds in zip(what, known, strict=True)]
        events += [PageWritten(cycle=cycle, code=f"go({cycle})"), observed.model_copy(update={"cycle": cycle})]
        events += [PageJudged(cycle=cycle, held=tuple(held))]
    best = PageState(events).best(brief)
    assert best is not None
    assert best.cycle == chosen


def test_the_same_code_again_is_written_afresh_and_then_given_up() -> None:
    page = FakePage([THROWS])
    run = make([WRONG], page, limits=rounds(20, calls=20))
    assert (run.verdict, ended(run)) == ("failed", "stuck")
    assert [decided.choice for decided in run.all(Decided)] == ["correct", "afresh", "afresh", "afresh"]
    assert len(sent(run)) == 5
    assert "nothing();" not in sent(run)[2].replace("`nothing();`", ""), "afresh means without the code that failed"
    assert len(page.ran) == 1, "code that ran already is not run again"
    assert [written.cycle for written in run.all(PageWritten)] == [1, 2], "and costs no cycle"


def test_the_same_code_again_is_asked_for_anew_within_its_cycle_and_more_freely() -> None:
    page = FakePage(lambda code: seen() if "fillRect" in code else THROWS)
    run = make([WRONG, WRONG, GOOD], page, limits=rounds(1))
    assert (run.verdict, ended(run), [cycle for cycle, _ in page.ran]) == ("plausible", "done", [1, 2])
    first, same, other = run.all(Asked)
    assert first.temperature < same.temperature < other.temperature
    assert len({asked.seed for asked in (first, same, other)}) == 3
    assert [decided.choice for decided in run.all(Decided)] == ["correct", "afresh"]


def test_code_laid_out_in_another_way_is_the_same_and_other_code_is_not() -> None:
    again, other = js("  let a = 1;", "", "nothing();"), js("let a = 2;", "nothing();")
    assert len(make([WRONG, again, GOOD], FakePage([THROWS, seen()])).all(Asked)) == 3
    assert [one.choice for one in make([WRONG, other], FakePage([THROWS, seen()])).all(Decided)] == ["correct"]


def test_a_limit_of_calls_ends_a_run_that_asks_anew() -> None:
    run = make([WRONG], FakePage([THROWS]), limits=rounds(9, calls=3))
    assert (ended(run), len(sent(run)), len(run.all(PageWritten))) == ("calls", 3, 1)


@pytest.mark.parametrize("kept", [1, 2, 3])
def test_a_run_that_was_left_while_it_asked_anew_asks_nothing_twice(kept: int, store: Store) -> None:
    answers = [WRONG, WRONG, WRONG, GOOD]

    def open_page(*given: Any) -> FakePage:
        return FakePage(lambda code: seen() if "fillRect" in code else THROWS).open(*given)

    whole = make(answers, open_page, store=store)
    places = [place for place, event in enumerate(whole.events) if isinstance(event, ModelReplied)]
    lines = [f"{event.model_dump_json()}\n" for event in whole.events[: places[kept] + 1]]
    store.runs.joinpath(whole.id, "events.jsonl").write_text("".join(lines))
    model = ScriptedModel(answers[kept + 1 :])
    run = make(model, open_page, store=store, replay=store.open(whole.id).events)
    assert (len(model.asked), run.code, ended(run)) == (3 - kept, whole.code, "done")
    assert [one.choice for one in run.all(Decided)][-3:] == ["correct", "afresh", "afresh"]


def test_the_same_error_three_times_is_written_afresh_and_then_given_up() -> None:
    answers = [js(f"let a{n};", "nothing();") for n in range(20)]
    run = make(answers, FakePage([THROWS]), limits=rounds(20, calls=20))
    assert ended(run) == "stuck"
    assert [decided.choice for decided in run.all(Decided)] == ["correct", "correct", "afresh", "afresh", "afresh"]
    assert len(run.all(PageWritten)) == 6


def test_answers_without_code_are_explained_once_and_then_given_up() -> None:
    run = make(["I would rather not."], FakePage(), limits=rounds(20, calls=20))
    assert (run.verdict, ended(run), run.code) == ("failed", "stuck", "")
    assert run.all(PageRefused)[0].why in sent(run)[1]


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ('make("add"); document.getElementById("add").onclick = 1;', "'add'"),
        ("document.body.a.b.c = 1;", "dyn-ui and canvas"),
    ],
)
def test_an_element_that_was_never_made_is_named(line: str, named: str) -> None:
    error = seen(error="TypeError: Cannot read properties of null", line=1)
    assert named in sent(make([js(line), GOOD], FakePage([error, seen()])))[1]


def test_a_browser_that_dies_between_versions_is_replaced_and_the_version_runs_in_the_new_one() -> None:
    opened: list[FakePage] = []

    def open_page(*given: Any) -> FakePage:
        dies = Turn(seen(), raises=PageGone("the browser is gone"))
        opened.append(FakePage([seen(error="x is not defined"), dies] if not opened else [seen()]))
        return opened[-1].open(*given)

    run = make([js("x()"), GOOD], open_page)
    assert (run.verdict, ended(run)) == ("plausible", "done")
    assert [[cycle for cycle, _ in page.ran] for page in opened] == [[1, 2], [2]]
    assert opened[0].closed.is_set()


def test_a_page_that_gives_up_ends_the_run_with_its_reason() -> None:
    run = make([GOOD], FakePage([Turn(seen(), (("give_up", "no camera here"),))]))
    stopped = run.last(Stopped)
    assert stopped
    assert (run.verdict, stopped.reason, "no camera here" in stopped.why) == ("failed", "stuck", True)


def test_a_model_that_gives_up_is_asked_nothing_more() -> None:
    run = make(["GIVE UP: there is no camera"], FakePage())
    assert (run.verdict, len(sent(run)), run.all(PageTold)[0].tool) == ("failed", 1, "give_up")


@pytest.mark.parametrize(
    ("limits", "reason", "asked"),
    [(rounds(0), "rounds", 1), (rounds(9, calls=2), "calls", 2), (rounds(9, tokens=8500), "tokens", 1)],
    ids=["rounds", "calls", "tokens"],
)
def test_a_limit_ends_the_run_with_the_best_version(limits, reason, asked) -> None:
    answers = [js(f"f{n}()") for n in range(9)]
    errors = [seen(error=name) for name in ("a", "b", "c", "d")]
    run = make(answers, FakePage(errors), limits=limits)
    assert (ended(run), len(sent(run)), run.verdict) == (reason, asked, "failed")
    assert run.code


def test_what_a_page_asks_is_answered_by_the_model_once() -> None:
    calls = (("log", "begun"), ("ask", "Which colour?"), ("ask", "Which colour?"), ("done", "drawn"))
    page = FakePage([Turn(seen(), calls)])
    run = make({"page": [GOOD], "page-question": ["green"]}, page)
    assert page.answers == ["green", "green"]
    assert [asked.purpose for asked in run.all(Asked)] == ["page", "page-question"]
    told = [(one.tool, one.text) for one in run.all(PageTold)]
    assert told[:3] == [("log", "begun"), ("ask", "Which colour?"), ("answer", "green")]


def test_a_page_that_asks_without_end_costs_five_calls() -> None:
    calls = tuple(("ask", f"What is {n}?") for n in range(50))
    page = FakePage([Turn(seen(), calls)])
    run = make({"page": [GOOD], "page-question": ["x"]}, page)
    assert (len(sent(run)), len(page.answers), run.verdict) == (6, 50, "plausible")


def test_a_page_whose_tab_is_closed_ends_as_a_broken_attempt_with_a_record(store: Store) -> None:
    with pytest.raises(PageGone):
        make([GOOD], FakePage([Turn(seen(), raises=PageGone("no tab shows this page"))]), store=store)
    run = store.open("last")
    assert (run.verdict, len(run.all(PageWritten))) == (None, 1)
    assert run.last(Broke)


def test_the_context_file_is_told_to_the_model_and_is_part_of_the_record(tmp_path: Path, store: Store) -> None:
    file = tmp_path / "context.md"
    file.write_text("<!-- mine 3 -->\nThe canvas is called stage.\n")
    run = make([GOOD], FakePage(), context=read_context(file), store=store)
    told = run.all(Asked)[0].messages[0]
    assert told.content == "The canvas is called stage."
    file.write_text("Something else.")
    kept = store.open(run.id).settings.page
    assert kept
    assert "<!-- mine 3 -->" in kept.context, "its version is kept, and not told"

    after = make([GOOD], FakePage(), "make it green", from_run=run.id, store=store)
    assert after.all(Asked)[0].messages[0] == told, "a follow-up goes on with the text that its run had"
    other = make([GOOD], FakePage(), "make it red", from_run=run.id, context=read_context(file), store=store)
    assert other.all(Asked)[0].messages[0].content == "Something else."


@pytest.mark.parametrize("text", ["", " \n", "x" * (MOST_CONTEXT + 1), b"\xff\xfe", None])
def test_a_context_file_that_is_none_is_refused(text: str | bytes | None, tmp_path: Path) -> None:
    file = tmp_path / "context.md"
    if text is not None:
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(SetupProblem):
        read_context(file)


def test_a_follow_up_goes_on_from_the_code_that_is_there(store: Store) -> None:
    first = make([GOOD], FakePage(), store=store)
    second = make([js("green()")], FakePage(), "make it green", from_run=first.id, store=store)
    third = make([js("red()")], FakePage(), "now red", from_run=second.id, store=store)
    asked = sent(second)[0]
    assert (first.code.strip() in asked, "make it green" in asked, second.started.continues) == (True, True, first.id)
    assert [run.settings.page.follow_ups for run in (first, second, third) if run.settings.page] == [0, 1, 2]


def test_a_follow_up_goes_on_from_the_version_that_is_named(store: Store) -> None:
    first = make([WRONG, GOOD], FakePage([THROWS, seen()]), store=store)
    second = make([GOOD], FakePage(), "make it green", from_run=f"{first.id}:1", store=store)
    assert second.settings.page
    assert (second.settings.page.before, second.started.continues) == (first.versions[0].code, f"{first.id}:1")
    with pytest.raises(SetupProblem):
        make([GOOD], FakePage(), "make it green", from_run=f"{first.id}:9", store=store)


def test_what_is_no_page_cannot_be_gone_on_from(store: Store) -> None:
    nothing = make(["no code"], FakePage(), store=store, limits=rounds(0))
    with pytest.raises(SetupProblem):
        make([GOOD], FakePage(), "make it green", from_run=nothing.id, store=store)


@pytest.mark.browser
def test_a_page_is_written_run_observed_and_corrected_in_a_real_browser(store: Store) -> None:
    asks = js(
        "const colour = await burnish.ask('Which colour?');",
        "const context = document.getElementById('canvas').getContext('2d');",
        "context.fillStyle = colour.trim();",
        "context.fillRect(0, 0, 300, 200);",
        "await burnish.log(`it is ${colour}`);",
        "burnish.done('drawn');",
        "return context.getImageData(9, 9, 1, 1).data[1];",
    )
    answers = {"page": [js("const a = 1;", "a.b.c = 2;"), asks], "page-question": ["rgb(0, 200, 0)"]}
    run = make(answers, store=store)
    broken, right = run.all(PageObserved)
    assert (run.verdict, len(run.all(PageObserved))) == ("plausible", 2)
    assert [(error.kind, error.line) for error in broken.errors] == [("exception", 2)]
    assert (right.errors, right.canvas, right.value) == ((), "drawn", "200")
    assert [one.tool for one in run.all(PageTold)] == ["ask", "answer", "log", "done"]
    picture = store.runs.joinpath(run.id, right.screenshot).read_bytes()
    moving = store.runs.joinpath(run.id, right.recording).read_bytes()
    assert (picture[:4], moving[:4], moving[8:12]) == (b"\x89PNG", b"RIFF", b"WEBP")
    assert right.own_memory_bytes
    assert right.heap_bytes
    assert right.context_tokens
