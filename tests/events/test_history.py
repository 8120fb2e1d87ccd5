"""What a run tells about itself, from its events alone."""

from burnish.events import Applied, Event, FilesWritten, Rated, Resumed, RunFinished, RunStarted
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
