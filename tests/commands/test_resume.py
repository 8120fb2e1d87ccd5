"""Resume is replay: whatever a crash left on disk, the run goes on, and no answered question is asked again."""

import json
import re
import shutil
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from burnish.agent.graph import draw_mermaid
from burnish.agent.limits import Limits
from burnish.commands.resume import resume
from burnish.commands.write import write
from burnish.errors import ModelError, SetupProblem
from burnish.events import (
    Asked,
    BaseEvent,
    Broke,
    CheckFinished,
    ModelReplied,
    Notice,
    Resumed,
    RunFinished,
    RunStarted,
    Stopped,
    TestsRan,
    UserAnswered,
)
from burnish.events.replay import Replay
from burnish.models.model import Ask, Chunk, Done, Thought, Waiting
from burnish.models.scripted import ScriptedModel
from burnish.report.explain import explain
from burnish.runs import Record, Run, Store, read_record
from burnish.sandbox import Sandbox
from tests.support import ASKING, DOUBLE, ROOT, WRONG, assert_words, refused, script

ENDINGS = (Stopped, CheckFinished, RunFinished, Broke)
SAMPLE = ROOT / "tests" / "runs" / "samples" / "v1-reflect"
"""A run of an earlier version that asked `syntax`, `reflect` and `repeat`, and ended well."""


def model(**replies: str) -> ScriptedModel:
    """A first draft that is wrong, and good answers to what follows; the same to the same question at any time."""
    return ScriptedModel(script(draft=WRONG, **replies), name="scripted:demo")


def said(event: BaseEvent) -> str:
    """The event without its times; of a final check, whose figures are measured, its verdict."""
    if isinstance(event, CheckFinished):
        return f"{event.evidence.check} {event.evidence.verdict}"
    return re.sub(r'"(at|seconds)":[0-9.e-]+,?', "", event.model_dump_json())


def standing(run: Run) -> Counter[str]:
    """What the record says, the ends of earlier parts left out, and the questions that came to nothing there."""
    lost = [asked for asked, _ in Replay(run.events).lost]
    earlier = [
        event for part in run.parts[:-1] for event in part if not isinstance(event, ENDINGS) and event not in lost
    ]
    return Counter(said(event) for event in (*earlier, *run.parts[-1]) if not isinstance(event, Resumed | RunStarted))


def left_by_a_crash(store: Store, run: Run, lines: int, torn: bytes = b"") -> str:
    """A run of its own, of which only so many lines of the record are on disk."""
    crashed = store.runs / f"crashed-{lines}"
    crashed.mkdir()
    whole = (store.runs / run.id / "events.jsonl").read_bytes().replace(run.id.encode(), crashed.name.encode())
    (crashed / "events.jsonl").write_bytes(b"".join(whole.splitlines(keepends=True)[:lines]) + torn)
    return crashed.name


@pytest.fixture
def whole(open_box: Sandbox, store: Store) -> Run:
    """A run that nothing disturbed."""
    return write(DOUBLE, model(), store=store, fast=True)


@pytest.mark.slow
@pytest.mark.timeout(400)  # a resume for each line of the record
def test_a_run_killed_after_any_line_of_its_record_ends_as_if_it_had_not_been(whole: Run, store: Store) -> None:
    assert whole.verdict == "plausible"
    for lines in range(1, len(whole.events)):
        answering = model()
        killed = Run(whole.events[:lines])
        run = resume(left_by_a_crash(store, whole, lines), answering, store=store)
        assert (run.verdict, run.why, run.code) == (whole.verdict, whole.why, whole.code)
        assert standing(run) == standing(whole), f"killed after {killed.events[-1].kind}"
        answered = {reply.ask_id for reply in killed.all(ModelReplied)}
        asked = {event.ask_id for event in whole.all(Asked)}
        assert len(answering.asked) == len(asked - answered)
        assert run.all(Resumed)[0].answers == len(answered)
        assert run.calls == whole.calls + len(Replay(killed.events).lost), "what was asked twice may cost twice"


@pytest.mark.slow
def test_a_run_killed_amid_questions_that_are_no_longer_asked_goes_on_with_those_of_today(
    open_box: Sandbox, store: Store
) -> None:
    old = Run(read_record(SAMPLE))
    (store.runs / old.id).mkdir(parents=True)
    shutil.copy(SAMPLE / "events.jsonl", store.runs / old.id)
    before = (store.runs / old.id / "events.jsonl").read_bytes()
    assert resume(old.id, ScriptedModel([]), store=store).verdict == "proven", "a finished run comes back as it is"
    assert (store.runs / old.id / "events.jsonl").read_bytes() == before
    asked = [place for place, event in enumerate(old.events) if isinstance(event, Asked)]
    for place in (*asked[2:], len(old.events) - 3):
        answering = model(rewrite=WRONG)
        run = resume(left_by_a_crash(store, old, place + 1), answering, store=store)
        assert (run.verdict, run.final and run.final.by) == ("plausible", "repair")
        assert not {"draft", "tests"} & {ask.purpose for ask in answering.asked}, "those are on record"
        assert {ask.purpose for ask in answering.asked} <= {*ASKING}
        assert explain(run)
        assert draw_mermaid(run)


@pytest.mark.slow
def test_a_line_torn_by_the_crash_is_no_hindrance(whole: Run, store: Store) -> None:
    name = left_by_a_crash(store, whole, 6, torn=b'{"at":17947,"kind":"model_rep')
    assert resume(name, model(), store=store).verdict == "plausible"


@pytest.mark.slow
def test_a_test_that_was_run_is_not_run_again(whole: Run, store: Store, box: Sandbox) -> None:
    place = next(place for place, event in enumerate(whole.events) if isinstance(event, TestsRan))
    altered = left_by_a_crash(store, whole, place + 1)
    record = store.runs / altered / "events.jsonl"
    record.write_text(record.read_text().replace("got: 7", "got: by the record"))
    run = resume(altered, model(), store=store)
    assert "by the record" in str(run.versions[0].graded)
    assert any("by the record" in str(event.messages) for event in run.all(Asked))


@pytest.mark.slow
def test_an_answer_that_was_broken_off_is_asked_for_again(whole: Run, store: Store) -> None:
    place = next(place for place, event in enumerate(whole.events) if isinstance(event, ModelReplied))
    name = left_by_a_crash(store, whole, place)
    cut = whole.events[place].model_copy(update={"ended": "cut", "text": "```py"})
    with Record(store.runs / name) as record:
        record.append(cut)
        record.append(Stopped(reason="interrupted", why="stopped by the user"))
    run = resume(name, model(), store=store)
    assert (run.verdict, run.code) == ("plausible", whole.code)
    assert run.tokens_out > whole.tokens_out


@pytest.mark.slow
def test_a_finished_run_comes_back_as_it_is(whole: Run, store: Store) -> None:
    before = (store.runs / whole.id / "events.jsonl").read_bytes()
    assert resume(whole.id, ScriptedModel([]), store=store).verdict == "plausible"
    assert resume(whole.id, ScriptedModel([]), raised={"calls": 99}, store=store).verdict == "plausible"
    assert (store.runs / whole.id / "events.jsonl").read_bytes() == before


@pytest.mark.slow
def test_a_run_that_stopped_at_a_limit_is_taken_further_when_the_limit_is_raised(
    open_box: Sandbox, store: Store
) -> None:
    short = write(DOUBLE, model(), limits=Limits(calls=2), store=store, fast=True)
    assert (short.verdict, short.calls) == ("failed", 2)
    answering = model()
    run = resume(short.id, answering, raised={"calls": 16}, store=store)
    assert run.verdict == "plausible"
    assert not {"draft", "tests"} & {ask.purpose for ask in answering.asked}
    assert [event.settings["limits"] for event in run.all(Resumed)] == [Limits().on_record()]
    assert len(run.all(RunFinished)) == 2
    assert {item.verdict for item in run.evidence} == {"passed"}
    assert Run(read_record(store.runs / run.id)).state == "plausible"


@pytest.mark.slow
def test_a_question_that_was_killed_counts_as_a_call(whole: Run, store: Store) -> None:
    place = next(place for place, event in enumerate(whole.events) if isinstance(event, Asked))
    name = left_by_a_crash(store, whole, place + 1)
    record = store.runs / name / "events.jsonl"
    record.write_text(record.read_text().replace('"calls":16', '"calls":1', 1))
    answering = model()
    run = resume(name, answering, store=store)
    assert (answering.asked, run.verdict) == ([], "failed")
    assert (stopped := run.ending(Stopped))
    assert stopped.reason == "calls"


@pytest.mark.slow
def test_a_run_that_is_taken_up_again_and_again_comes_to_its_cap(whole: Run, store: Store) -> None:
    class BreaksOff(ScriptedModel):
        """Was heard by somebody who wants to be paid, and says no more."""

        def stream(self, ask: Ask, cancel: threading.Event) -> Iterator[Chunk | Thought | Waiting | Done]:
            self.asked.append(ask)
            error = ModelError("broke off")
            error.may_cost = True
            raise error

    place = next(place for place, event in enumerate(whole.events) if isinstance(event, Asked))
    name = left_by_a_crash(store, whole, place + 1)
    record = store.runs / name / "events.jsonl"
    record.write_text(record.read_text().replace('"calls":16', '"calls":4', 1))
    answering = BreaksOff([])
    for _ in range(6):
        run = resume(name, answering, store=store)
    assert len(answering.asked) == 3, "and one before the crash"
    assert run.calls == 4
    assert (stopped := run.ending(Stopped))
    assert stopped.reason == "calls"


@pytest.mark.slow
def test_caps_count_the_calls_of_all_parts(whole: Run, store: Store) -> None:
    place = next(place for place, event in enumerate(whole.events) if isinstance(event, TestsRan))
    name = left_by_a_crash(store, whole, place)
    before, answering = store.open(name), model()
    record = store.runs / name / "events.jsonl"
    record.write_text(record.read_text().replace('"calls":16', f'"calls":{before.calls}', 1))
    run = resume(name, answering, store=store)
    assert (answering.asked, run.calls, run.verdict) == ([], before.calls, "failed")
    assert (stopped := run.ending(Stopped))
    assert stopped.reason == "calls"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("raised", "words"),
    [
        ({"calls": 3}, "--calls 32"),
        ({"tokens": 39_999}, "--tokens 80000"),
        ({"seconds": float("nan")}, "--seconds 1200"),
        ({"seconds": float("inf")}, "--seconds 1200"),
        ({"dollars": 1.0}, "limit on dollars"),
        ({"cals": 99}, "limit on cals"),
    ],
)
def test_a_limit_that_would_not_rise_is_refused_with_what_to_type(
    raised: dict[str, float], words: str, whole: Run, store: Store
) -> None:
    for name in (whole.id, left_by_a_crash(store, whole, 5)):
        before = (store.runs / name / "events.jsonl").read_bytes()
        with pytest.raises(SetupProblem, match=f"burnish resume {name}") as problem:
            resume(name, model(), raised=raised, store=store)
        assert words in str(problem.value)
        assert (store.runs / name / "events.jsonl").read_bytes() == before


@pytest.mark.slow
def test_a_run_that_broke_is_taken_up(open_box: Sandbox, store: Store) -> None:
    silent = ScriptedModel({purpose: said if purpose == "tests" else [] for purpose, said in script().items()})
    broken = write(DOUBLE, silent, store=store, fast=True)
    assert (broken.state, broken.code) == ("broken", "")
    run = resume(broken.id, model(), store=store)
    assert (run.state, run.ending(Broke)) == ("plausible", None)
    assert ModelError.__name__ in {event.error for event in run.all(Broke)}


@pytest.mark.slow
def test_a_run_that_somebody_works_on_is_refused(whole: Run, store: Store) -> None:
    name = left_by_a_crash(store, whole, 5)
    busy = store.take_up(name)
    with refused():
        resume(name, model(), store=store)
    busy.close()
    assert resume(name, model(), store=store).verdict == "plausible"


@pytest.mark.slow
def test_a_question_that_reads_differently_now_is_asked_again(whole: Run, store: Store) -> None:
    name = left_by_a_crash(store, whole, len(whole.events) - 2)
    record = store.runs / name / "events.jsonl"
    record.write_text(record.read_text().replace("You are a careful", "You were a careful"))
    seen: list[BaseEvent] = []
    answering = model()
    run = resume(name, answering, store=store, watch=seen.append)
    assert (run.verdict, run.code) == ("plausible", whole.code)
    assert len(answering.asked) == whole.calls
    ids = {ask.ask_id for ask in whole.all(Asked)}
    notices = dict.fromkeys(event.text for event in seen if isinstance(event, Notice))
    # The first two questions are asked side by side, so either may be first.
    assert_words("\n".join(sorted(text for text in notices if text.split()[0] in ids)))


@pytest.mark.slow
def test_files_that_were_wanted_are_written_by_the_part_that_ends_the_run(
    open_box: Sandbox, store: Store, tmp_path: Path
) -> None:
    whole = write(DOUBLE, model(), out=tmp_path / "here", store=store, fast=True)
    shutil.rmtree(tmp_path / "here")
    for lines in (4, len(whole.events) - 1):
        run = resume(left_by_a_crash(store, whole, lines), model(), store=store)
        assert Path(run.folder or "").joinpath("solution.py").read_text() == whole.code
    assert sorted(path.name for path in tmp_path.glob("here*")) == ["here", "here-2"]


@pytest.mark.slow
def test_a_run_of_another_verb_is_refused_in_one_paragraph(whole: Run, store: Store) -> None:
    name = left_by_a_crash(store, whole, 5)
    record = store.runs / name / "events.jsonl"
    first, *rest = record.read_text().splitlines()
    record.write_text("\n".join([json.dumps(json.loads(first) | {"verb": "check"}), *rest]))
    with refused():
        resume(name, model(), store=store)


@pytest.mark.slow
def test_time_between_the_parts_does_not_count(whole: Run, store: Store) -> None:
    late = [event.model_copy(update={"at": event.at + 5000}) for event in whole.events[6:]]
    again = Resumed(answers=1, at=late[0].at)
    assert Run((*whole.events[:6], again, *late)).seconds == pytest.approx(whole.seconds, abs=1.0)


@pytest.mark.slow
def test_a_run_killed_at_a_question_to_the_user_asks_what_is_left_and_never_agrees_by_itself(
    open_box: Sandbox, store: Store
) -> None:
    points = "- zero stays zero\n- only whole numbers come"
    first = write(DOUBLE, model(assume=points), store=store, fast=True, answer=lambda point: "yes indeed")
    answered = [place for place, event in enumerate(first.events) if isinstance(event, UserAnswered)]
    assert len(answered) == 2
    name = left_by_a_crash(store, first, answered[0] + 1)
    with pytest.raises(SetupProblem, match=rf"in a terminal: burnish resume {name}$"):
        resume(name, model(), store=store)
    run = resume(name, model(), store=store, answer=lambda point: f"not {point}")
    assert run.spec is not None
    assert run.spec.assumptions == ("yes indeed", "not only whole numbers come")
    agreed = resume(left_by_a_crash(store, first, answered[1] + 2), model(), store=store)
    assert agreed.spec is not None
    assert agreed.spec.assumptions == ("yes indeed", "yes indeed"), "nobody is needed where all is answered"
