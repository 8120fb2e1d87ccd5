"""Where versions disagree one question settles it: asked on the way, left open, and answered later."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import burnish
from burnish import Resources, ScriptedModel, SetupProblem, Store, apply, fix
from burnish.agent.questions import OpenQuestion
from burnish.commands.fix import FixOptions, start_fix
from burnish.commands.resume import answer, resume
from burnish.commands.verify import verify
from burnish.commands.write import build_request, write
from burnish.events import (
    Asked,
    Event,
    FilesWritten,
    ModelReplied,
    QuestionAnswered,
    QuestionAsked,
    Resumed,
    RunFinished,
    Strengthened,
)
from burnish.events.history import Run
from burnish.evidence import build_dossier
from burnish.report.deliverables import list_open_questions, render_tests
from burnish.report.explain import explain
from burnish.report.run_report import render_report
from burnish.runs import Record
from burnish.runs.request import Request
from burnish.tasks import Task
from tests.evidence.delivered import edit
from tests.support import block, refused

SENTENCE = 'a function rank(players) that ranks names by score, e.g. rank([("Ann", 3)]) == ["Ann"]'
NOTHING = block("def rank(players):\n    raise NotImplementedError")
UP, DOWN = (
    f"def rank(players):\n    return [name for name, _ in sorted(players, key=lambda player: {key})]\n"
    for key in ("player[1]", "-player[1]")
)
ZOE = "def rank(players):\n    return ['Zoe'] if len(players) > 1 else [name for name, _ in players]\n"


def model(*later: str) -> ScriptedModel:
    """A draft that fails, then one version that ranks upwards and one that ranks downwards, both of which pass."""
    return ScriptedModel(
        {
            "tests": [block("assert rank([]) == []")],
            "draft": [NOTHING],
            "rewrite": [block(UP), *map(block, later)],
            "repair": ["no code", block(DOWN)],
        },
        name="scripted:demo",
    )


def settle(*typed: str) -> Callable[[OpenQuestion], QuestionAnswered | None]:
    """A person who says these things in turn, and then nothing more."""
    left = [*typed]
    return lambda question: question.read(left.pop(0)) if left else None


def written(store: Store, *typed: str, **more: Any) -> Run:
    settles = settle(*typed) if typed else None
    return write(SENTENCE, more.pop("model", model()), store=store, fast=True, settle=settles, **more)


def answers(run: Run) -> list[tuple[str, str]]:
    return [(event.said, event.by) for event in run.all(QuestionAnswered)]


@pytest.mark.parametrize("letter", [pytest.param("A", marks=pytest.mark.slow), "B"])
def test_the_answer_is_a_given_test_and_decides_which_version_is_handed_over(letter: str, store: Store) -> None:
    run = written(store, letter)
    [asked] = run.all(QuestionAsked)
    [answered] = run.all(QuestionAnswered)
    assert sorted(option.value for option in asked.options) == sorted(["['Ann', 'Bob']", "['Bob', 'Ann']"])
    assert len(asked.call) < 40, "it is a small call"
    assert answered.value == asked.options["AB".index(letter)].value
    assert run.final is not None
    assert run.final.number in asked.options["AB".index(letter)].versions
    assert run.spec is not None
    assert answered.test in run.spec.given_tests
    assert answered.test in render_tests(run)
    assert run.open_question is None
    assert list_open_questions(run) == []


def test_an_answer_of_the_users_own_goes_back_to_the_model_until_a_version_gives_it(store: Store) -> None:
    writer = model(UP, UP, ZOE)
    run = written(store, "['Zoe']", model=writer)
    [asked] = run.all(QuestionAsked)
    assert answers(run) == [("value", "person")]
    assert (run.verdict, run.code) == ("plausible", ZOE)
    shown = "".join(message.content for message in writer.asked[-1].messages)
    assert asked.call in shown, "the model is shown the answer"


@pytest.mark.slow
def test_do_not_care_settles_nothing_and_ends_the_run_as_it_would_have_ended(store: Store) -> None:
    cared, not_asked = written(store, ""), written(store)
    assert answers(cared) == [("any", "person")]
    assert len(cared.all(QuestionAsked)) == 1, "another call that parts them alike is the same question"
    assert cared.code == not_asked.code
    assert cared.verdict == not_asked.verdict
    assert cared.spec is not None
    assert cared.spec.given_tests == (not_asked.spec and not_asked.spec.given_tests)


def test_where_nobody_is_there_the_question_stays_open_and_is_told_everywhere(store: Store, tmp_path: Path) -> None:
    run = written(store, out=tmp_path / "out")
    assert answers(run) == []
    asked = run.open_question
    assert asked is not None
    for told in (*list_open_questions(run), render_report(run).replace("\\", ""), " ".join(explain(run).split())):
        assert asked.call in told
        assert f"burnish answer {run.id}" in told
    [question] = build_dossier(run, {}).questions
    assert (question.call, question.said, len(question.options)) == (asked.call, "", 2)


@pytest.mark.parametrize("letter", [pytest.param("A", marks=pytest.mark.slow), "B"])
def test_an_open_question_is_answered_later_and_the_run_ends_anew(letter: str, store: Store, tmp_path: Path) -> None:
    before = written(store, out=tmp_path / "out")
    asked = before.open_question
    assert asked is not None
    run = answer(before.id, letter, model(), store=store)
    assert answers(run) == [("option", "later")]
    assert run.final is not None
    assert run.final.number in asked.options["AB".index(letter)].versions
    assert (run.open_question, run.last(Resumed) is not None) == (None, True)
    assert len(run.all(ModelReplied)) == len(before.all(ModelReplied)), "nothing was asked again"
    assert [Path(event.folder).name for event in run.all(FilesWritten)] == ["out", "out-2"]
    assert (tmp_path / "out-2" / "solution.py").read_text() == run.code
    answered = run.all(QuestionAnswered)[0]
    listed = {test.test: test for test in build_dossier(run, {}).tests}
    assert (listed[answered.test].given_in, listed[answered.test].result) == ("answer", "passed")
    assert Run(store.open(run.id).events).code == run.code
    claims = [verify(tmp_path / name, fast=True, store=store).claims[-1] for name in ("out", "out-2")]
    assert [(claim.what, claim.answer) for claim in claims] == [("record", "holds")] * 2
    assert ["out-2" in claim.why for claim in claims] == [True, False], "what was delivered before says where to look"
    edit(tmp_path / "out", lambda data: data.update(confidence=0.99))
    assert verify(tmp_path / "out", fast=True, store=store).claims[-1].answer == "does_not_hold"


@pytest.mark.slow
def test_what_followed_the_question_no_longer_counts_once_it_is_answered(store: Store) -> None:
    before = write(SENTENCE, model(), store=store)
    assert before.open_question is not None
    run = answer(before.id, "B", model(), store=store)
    assert run.final is not None
    suite = {*run.added_tests, *run.pinned_tests}
    assert suite == {new.test for event in run.parts[-1] if isinstance(event, Strengthened) for new in event.tests}
    assert len([event for event in run.events if isinstance(event, RunFinished)]) == 1
    assert run.verdict is not None
    assert len(run.all(Asked)) >= len(before.all(Asked)), "what it cost still counts"


def test_what_cannot_be_answered_later_is_refused(store: Store) -> None:
    settled = written(store, "A")
    with refused(name="commands/nothing_to_answer", run=settled.id):
        answer(settled.id, "A", model(), store=store)
    waits = written(store)
    with pytest.raises(SetupProblem, match="Type A, B"):
        answer(waits.id, "perhaps", model(), store=store)
    assert store.open(waits.id).events == waits.events, "nothing is on record of what was no answer"


@pytest.mark.slow
@pytest.mark.parametrize("last", [QuestionAsked, QuestionAnswered])
def test_a_run_that_was_killed_at_its_question_goes_on_there(
    last: type[Event], store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        """As if by kill -9: nothing more is written."""

    append, dead = Record.append, list[bool]()

    def deadly(self: Record, event: Any) -> None:
        if dead:
            raise Killed
        append(self, event)
        if isinstance(event, last):  # type: ignore[arg-type]
            dead.append(True)

    monkeypatch.setattr(Record, "append", deadly)
    with pytest.raises(BaseException):  # noqa: B017, PT011
        written(store, "B")
    monkeypatch.undo()
    killed = store.open("last")
    assert isinstance(killed.events[-1], last)  # type: ignore[arg-type]
    whole = written(store, "B")
    run = resume(killed.id, model(), store=store, settle=settle("B") if last is QuestionAsked else None)
    assert (run.verdict, run.code, run.spec and run.spec.given_tests) == (
        whole.verdict,
        whole.code,
        whole.spec and whole.spec.given_tests,
    )
    assert answers(run) == [("option", "person")]
    assert len(run.all(QuestionAsked)) == 1


def test_a_handle_waits_for_an_answer_and_takes_it_from_any_thread(store: Store) -> None:
    request = build_request(SENTENCE, "scripted:demo", store=store, fast=True)
    handle = burnish.start(request, Resources([model()], store, answer_seconds=60))
    for event in handle.events():
        if isinstance(event, QuestionAsked):
            while handle.question is None:
                threading.Event().wait(0.01)
            with pytest.raises(SetupProblem):
                handle.answer("no idea")
            handle.answer("B")
    run = handle.wait()
    assert answers(run) == [("option", "person")]
    with pytest.raises(SetupProblem):
        handle.answer("A")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "ranks.py").write_text('def rank(players):\n    """Rank names by score."""\n    return None\n')
    (tmp_path / "test_ranks.py").write_text(
        "from ranks import rank\n\n\ndef test_one():\n    assert rank([('Ann', 3)]) == ['Ann']\n"
    )
    return tmp_path / "ranks.py"


def repairer() -> ScriptedModel:
    return ScriptedModel({"": [NOTHING, block(UP), block(DOWN), block(UP)]}, name="scripted:demo")


def test_a_fix_finds_out_what_is_to_be_done_and_then_waits_for_an_answer(project: Path, store: Store) -> None:
    request = Request(task=Task(id="fix-ranks", prompt="Repair ranks.py"), verb="fix", model="demo", questions=3)
    resources = Resources((), store, answer_seconds=60)
    handle = start_fix(FixOptions(project), request, resources, lambda: [repairer()])
    for event in handle.events():
        if isinstance(event, QuestionAsked):
            while handle.question is None:
                threading.Event().wait(0.01)
            handle.answer("B")
    assert answers(handle.wait()) == [("option", "person")]


@pytest.mark.slow
def test_a_fix_that_goes_on_from_an_answered_one_keeps_the_answer(project: Path, store: Store) -> None:
    first = fix(project, repairer(), store=store, settle=settle("B"))
    [answered] = first.all(QuestionAnswered)
    apply(first.id, store=store)
    run = fix(from_run=first.id, spec="rank(None) == []", model=repairer(), store=store)
    assert run.spec is not None
    assert run.spec.given_tests == ("assert rank(None) == []", answered.test)
    listed = {test.test: test.given_in for test in build_dossier(run, {}).tests}
    assert listed[answered.test] == "earlier run"


@pytest.mark.slow
def test_a_handle_that_nobody_answers_goes_on_after_its_time(store: Store) -> None:
    request = build_request(SENTENCE, "scripted:demo", store=store, fast=True)
    for seconds in (0.0, 0.3):
        run = burnish.start(request, Resources([model()], store, answer_seconds=seconds)).wait()
        assert (answers(run), run.open_question is not None, run.verdict is not None) == ([], True, True)


@pytest.mark.slow
def test_a_handle_that_waits_for_an_answer_can_be_stopped(store: Store) -> None:
    request = build_request(SENTENCE, "scripted:demo", store=store, fast=True)
    handle = burnish.start(request, Resources([model()], store, answer_seconds=600))
    for event in handle.events():
        if isinstance(event, QuestionAsked):
            handle.stop()
    assert handle.wait().state == "interrupted"
