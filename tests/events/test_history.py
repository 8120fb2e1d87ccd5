"""What a run tells about itself, from its events alone."""

from burnish.events import Applied, Event, FilesWritten, ModelReplied, Rated, Resumed, RunFinished, RunStarted
from burnish.runs import Run


def test_what_is_done_with_a_run_long_after_its_verdict_takes_none_of_its_time() -> None:
    start = RunStarted(run_id="x", verb="fix", prompt="p", model="m", burnish="0", at=100.0)
    end = RunFinished(verdict="proven", why="w", at=107.0)
    later: list[Event] = [
        FilesWritten(folder="f", files=("a.py",), at=900.0),
        Applied(file="a.py", backup="a.py.orig", at=5000.0),
        Rated(stars=5, at=9000.0),
    ]
    assert Run([start, end, *later]).seconds == 7.0
    again: list[Event] = [Resumed(answers=0, at=9100.0), RunFinished(verdict="proven", why="w", at=9102.0)]
    assert Run([start, end, *later, *again]).seconds == 9.0


def answer(at: float, waited: float) -> ModelReplied:
    counts = {"tokens_in": 1, "tokens_out": 1, "seconds": 1.0}
    return ModelReplied(ask_id="x", purpose="draft", text="x", at=at, waited_seconds=waited, **counts)


def test_what_several_questions_waited_for_another_process_counts_once_and_in_each_part_of_a_run() -> None:
    start = RunStarted(run_id="x", verb="fix", prompt="p", model="m", burnish="0", at=100.0)
    first = [start, answer(161.0, 50.0), answer(163.0, 52.0), answer(200.0, 10.0)]
    assert Run(first).seconds == 100.0 - 52.0 - 10.0
    again = [Resumed(answers=1, at=9000.0), answer(9041.0, 40.0)]
    assert Run([*first, *again]).seconds == 38.0 + 1.0
    given_anew = [Resumed(answers=1, at=9000.0), answer(9000.5, 40.0), answer(9007.0, 0.0)]
    assert Run([*first, *given_anew]).seconds == 38.0 + 7.0, "it was waited for in the first part"
