"""The spine: every event can be written down and read back, and nothing unknown slips in."""

from typing import get_args

import pytest
from pydantic import ValidationError

from burnish import events
from burnish.events import BaseEvent, Case, Evidence, Graded, Message, read_event
from burnish.events.feedback import Correction, Stars

SAMPLES: list[BaseEvent] = [
    events.RunStarted(run_id="double-1a2b", verb="write", prompt="é \u2028 \x1b[31m", model="scripted:x", burnish="0"),
    events.Asked(
        ask_id="draft-1",
        purpose="draft",
        messages=(Message(role="system", content="s"), Message(role="user", content="u")),
        temperature=0.2,
        top_p=0.95,
        max_tokens=5,
        seed=1,
    ),
    events.ModelChunk(ask_id="draft-1", text="de"),
    events.ModelThought(ask_id="draft-1", text="let me see"),
    events.Notice(text="reading the weights"),
    events.ModelReplied(
        ask_id="d", purpose="draft", text="```", tokens_in=1, tokens_out=2, seconds=0.5, ended="length"
    ),
    events.AnswerLost(ask_id="d", model="openai:x", tokens=90, dollars=0.01),
    events.PlaceChosen(function="g", version=4, why="nothing"),
    events.SpecAgreed(entry_point="f", signature="f(n)", given_tests=("assert f(1) == 1",)),
    events.PackagesAdded(asked=("numpy>=2",), packages=(("numpy", "2.3.1"),), why="version 1 imports it"),
    events.UserAnswered(assumption="n is whole", words="or a fraction"),
    events.TestsProposed(tests=("assert f(2) == 2",), dropped=3),
    events.CodeProposed(version=1, code="def f(n): ...\n", by="draft", problem="no"),
    events.TestsRan(
        version=1, graded=Graded(cases=(Case(name="test_1", outcome="failed", message="assert"),), problem="p")
    ),
    events.TestsFrozen(sha256="ab", given=1, model=2),
    events.Refused(what="an answer", why="it deletes a test"),
    events.Tweaked(base=1, tried=40, passed=1, seconds=0.5),
    events.QuestionAsked(
        id="question-1", call="f([2, 1])", options=(events.QuestionOption(value="[1, 2]", versions=(1, 3), votes=2.0),)
    ),
    events.QuestionAnswered(id="question-1", said="option", value="[1, 2]", test="assert f([2, 1]) == [1, 2]"),
    events.Compared(groups=((1, 3), (2,)), inputs=("f(1)",), apart="f(1): 1 or 2", likeness=(0.9, 0.4)),
    events.TestsProbed(version=1, tests=2, tried=40, noticed=36),
    events.Applied(file="shop.py", backup="shop.py.bak"),
    events.Resumed(answers=2, burnish="0", settings={"limits": {"calls": 32}}),
    events.CommandRan(command="ls", exit_code=0, output="a\nb"),
    events.Decided(choice="refine", reason="because"),
    events.CheckFinished(
        evidence=Evidence(check="tests", verdict="not_run", why="crash", details={"a": [1, {"b": 2}]})
    ),
    events.Mutated(
        version=1,
        mutants=9,
        noticed=8,
        survivors=(events.Survivor(key="f__mutmut_1", line=2, said="`<` becomes `<=`"),),
    ),
    events.Strengthened(
        version=1,
        tests=(
            events.NewTest(test="assert f(0) == 0", origin="agreed", notices=("f__mutmut_1",), why="3 of 3 say so"),
        ),
        noticed=9,
        alike=("f__mutmut_2",),
    ),
    events.Refined(check="security", base=1, version=4, kept=True, before="1 finding", after="no finding"),
    events.StepMeasured(after="first version", version=1, passed=3, tests=4, lines=5, mutation=88.9),
    events.Reviewed(where="tests", said="comment", words="should be 5", line=3),
    events.Stopped(reason="tokens", why="the limit"),
    events.Broke(error="ModelError", message="gone"),
    events.RunFinished(verdict="proven", why="all pass", version=2, disputed=("assert f(3) == 1",)),
    events.Answered(call=2, round=1, version=None),
    events.Scored(version=1, passed=False, timed_out=True, why="never ends", seconds=6.0),
    events.FilesWritten(folder="/somewhere", files=("a", "b")),
    events.Rated(stars=4, comment="fails on 0"),
    events.FeedbackGiven(id="f1", opinion=Correction(tests="assert f(0) == 0"), words="!", version=2, by="ann"),
    events.FeedbackTakenBack(id="f1", simulated=True),
    events.PageWritten(cycle=1, code="draw()", repaired="a fence without an end"),
    events.PageRefused(cycle=1, why="no code"),
    events.PageTold(cycle=1, tool="ask", text="which colour?"),
    events.PageObserved(
        cycle=1,
        errors=(events.PageError(kind="exception", message="draw is not defined", line=1, cycle=1),),
        console=(events.ConsoleLine(level="log", text="here"),),
        killed="busy",
    ),
    events.PageJudged(
        cycle=1, held=(events.CriterionHeld(name="grid", holds=None, why="gone"),), findings=("blank",), sent="blank"
    ),
    events.PageScored(
        case="life",
        criteria=(events.CriterionScore(name="grid", what="a grid", points=5, of=10, by="probe", holds=True, cycle=2),),
        points=5,
        of=10,
    ),
    events.CriterionTicked(case="life", name="grid", holds=True, by="ann"),
    events.AppPlanned(blueprint="{}", title="Books", entities=("Book",), assumptions=("done: yes",), made_by="both"),
    events.FunctionBegun(function="book.hours", run_id="hours-1a2b", attempt=2, stage="debug"),
    events.FunctionWritten(function="book.hours", run_id="hours-1a2b", verdict="proven", code="x", calls=3, tokens=9),
    events.ModuleBuilt(module="book", level=1, needs=("shell",), files=(events.AppFile(path="a.py", sha256="0" * 64),)),
    events.AppJudged(module="book", evidence=events.Evidence(check="functional", verdict="passed", why="5 tests")),
]


def test_every_kind_of_event_has_a_sample_here() -> None:
    union = get_args(get_args(events.Event)[0])
    assert {type(sample) for sample in SAMPLES} == set(union)


@pytest.mark.parametrize("event", SAMPLES, ids=lambda event: event.kind)
def test_an_event_survives_being_written_down(event: BaseEvent) -> None:
    line = event.model_dump_json()
    assert "\n" not in line
    assert read_event(line) == event


@pytest.mark.parametrize("event", SAMPLES, ids=lambda event: event.kind)
def test_an_event_refuses_a_field_it_does_not_know(event: BaseEvent) -> None:
    with pytest.raises(ValidationError) as refused:
        type(event).model_validate({**event.model_dump(), "surprise": 1})
    assert [(error["type"], error["loc"]) for error in refused.value.errors()] == [("extra_forbidden", ("surprise",))]


def test_a_kind_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValidationError):
        read_event('{"kind": "promoted", "at": 0}')


def test_an_event_never_changes() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        SAMPLES[0].at = 0.0  # type: ignore[misc]


@pytest.mark.parametrize("stars", [0, 6])
def test_stars_go_from_one_to_five(stars: int) -> None:
    with pytest.raises(ValidationError):
        events.Rated(stars=stars)
    with pytest.raises(ValidationError):
        Stars(stars=stars)


@pytest.mark.parametrize(
    ("graded", "answer"),
    [
        (Graded(), False),
        (Graded(cases=(Case(name="a", outcome="passed"),)), True),
        (Graded(cases=(Case(name="a", outcome="passed"), Case(name="b", outcome="not_run"))), False),
        (Graded(cases=(Case(name="a", outcome="passed"),), problem="the cell died"), False),
    ],
)
def test_silence_is_never_a_pass(graded: Graded, answer: bool) -> None:
    assert graded.all_passed is answer
