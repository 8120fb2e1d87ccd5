"""A record: what was appended stays, whatever happens to the process that wrote it."""

import errno
import json
import signal
import subprocess
import sys
import threading
from collections import deque
from pathlib import Path

import pytest

from burnish.errors import SetupProblem
from burnish.events import Decided, ModelChunk, Notice, RunStarted
from burnish.runs import Record, Run, read_record, record
from burnish.runs.record import FILE
from tests.support import refused

SAMPLES = Path(__file__).parent / "samples"
START = RunStarted(run_id="x-0000", verb="write", prompt="p", model="scripted:x", burnish="0.1.0")


def said(number: int) -> Decided:
    return Decided(choice=str(number), reason="because")


def test_what_is_appended_is_read_back_in_order(tmp_path: Path) -> None:
    events = [START, *map(said, range(5))]
    with Record(tmp_path) as open_record:
        for event in events:
            open_record.append(event)
    assert read_record(tmp_path) == events


def test_an_event_is_on_disk_before_append_returns(tmp_path: Path) -> None:
    with Record(tmp_path) as open_record:
        open_record.append(START)
        assert read_record(tmp_path) == [START]


def test_what_only_a_live_reader_wants_is_not_stored(tmp_path: Path) -> None:
    with Record(tmp_path) as open_record:
        open_record.append(ModelChunk(ask_id="a", text="x"))
        open_record.append(Notice(text="wait"))
    assert read_record(tmp_path) == []


def test_unusual_line_ends_in_a_text_lose_nothing(tmp_path: Path) -> None:
    wild = START.model_copy(update={"prompt": "a\u2028b\u2029c\x85d\x0be\x0cf\x1cg\r\nh\ri"})
    with Record(tmp_path) as open_record:
        open_record.append(wild)
        open_record.append(said(1))
    assert read_record(tmp_path) == [wild, said(1).model_copy(update={"at": read_record(tmp_path)[1].at})]


def test_a_line_torn_by_a_crash_costs_only_itself(tmp_path: Path) -> None:
    with Record(tmp_path) as open_record:
        open_record.append(START)
    with (tmp_path / FILE).open("a") as file:
        file.write('{"kind":"decided","at":1,"cho')
    assert read_record(tmp_path) == [START]
    with Record(tmp_path) as open_record:
        open_record.append(said(2))
    assert [event.kind for event in read_record(tmp_path)] == ["run_started", "decided"]


def test_a_line_torn_by_another_process_while_this_one_waits_costs_only_itself(tmp_path: Path) -> None:
    with Record(tmp_path) as first, Record(tmp_path) as waiting:
        first.append(START)
        with (tmp_path / FILE).open("a") as file:
            file.write('{"kind":"decided","at":1,"cho')
        waiting.append(said(2))
        first.append(said(3))
    assert [event.kind for event in read_record(tmp_path)] == ["run_started", "decided", "decided"]


def test_many_threads_may_append_at_once(tmp_path: Path) -> None:
    with Record(tmp_path) as open_record:
        open_record.append(START)

        def many() -> None:
            for number in range(50):
                open_record.append(said(number))

        threads = [threading.Thread(target=many) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(read_record(tmp_path)) == 401


def test_appending_to_a_closed_record_is_harmless(tmp_path: Path) -> None:
    open_record = Record(tmp_path)
    open_record.close()
    open_record.close()
    open_record.append(START)
    assert read_record(tmp_path) == []


@pytest.mark.slow
def test_kill_9_loses_nothing_that_was_appended(tmp_path: Path) -> None:
    program = """
import sys
from pathlib import Path
from burnish.events import Decided, RunStarted
from burnish.runs import Record
record = Record(Path(sys.argv[1]))
record.append(RunStarted(run_id="x", verb="write", prompt="p", model="m", burnish="0"))
for number in range(10**9):
    record.append(Decided(choice=str(number), reason="r" * 500))
    print(number, flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        for _ in range(200):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        told = [int(line) for line in process.stdout if line.endswith("\n")]
    events = read_record(tmp_path)
    assert process.returncode == -signal.SIGKILL
    assert len(events) >= 1 + max(told, default=199) + 1
    assert [event.choice for event in events[1:]] == [str(number) for number in range(len(events) - 1)]


def test_a_record_that_every_burnish_must_open() -> None:
    """A real run of the first version. This file never changes."""
    run = Run(read_record(SAMPLES / "v1"))
    assert (run.verdict, run.id, run.calls, len(run.versions)) == ("proven", "double-f00d", 4, 3)
    assert run.code == 'def double(n):\n    """Twice the number."""\n    return n * 2\n'
    assert run.stars == 4
    assert [evidence.verdict for evidence in run.evidence] == ["passed"]


def test_a_record_with_questions_that_are_no_longer_asked_opens_as_it_was() -> None:
    """A real run that asked `syntax`, `reflect` and `repeat` at rising temperatures. This file never changes."""
    run = Run(read_record(SAMPLES / "v1-reflect"))
    assert (run.verdict, run.calls) == ("proven", 7)
    assert [version.by for version in run.versions] == ["draft", "syntax", "reflect", "rewrite", "repeat", "reflect"]
    assert run.final
    assert run.final.by == "reflect"
    assert [decision.choice for decision in run.all(Decided)] == ["begin", "ask", "ask", "turn", "judge"]


def test_a_record_of_an_older_version_is_brought_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def first_step(row: dict[str, object]) -> dict[str, object]:
        """Version 0 said "request" where version 1 says "prompt"."""
        return {("prompt" if key == "request" else key): value for key, value in row.items()} | {"at": 0.0}

    old = {"kind": "run_started", "version": 0, "run_id": "x", "verb": "write", "request": "p", "model": "m"}
    (tmp_path / FILE).write_text(json.dumps({**old, "burnish": "0"}) + "\n")
    monkeypatch.setitem(record.UPGRADES, 0, first_step)
    assert Run(read_record(tmp_path)).started.prompt == "p"


def test_a_record_of_a_newer_version_is_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(json.dumps({"kind": "run_started", "version": 99}) + "\n")
    with refused():
        read_record(tmp_path)


@pytest.mark.parametrize("version", [None, "one", [1], -5])
def test_a_version_that_is_no_version_is_an_altered_record(tmp_path: Path, version: object) -> None:
    row = json.loads(START.model_dump_json()) | {"version": version}
    (tmp_path / FILE).write_text(json.dumps(row) + "\n")
    with pytest.raises(SetupProblem, match="altered"):
        read_record(tmp_path)


def test_an_altered_record_is_named_with_the_line_to_look_at_it(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(START.model_dump_json() + '\n{"kind": "run_finished", "verdict": "splendid"}\n')
    with refused():
        read_record(tmp_path)


def test_a_full_disk_is_one_paragraph_that_ends_with_what_to_do(tiny_disk: Path) -> None:
    with (
        Record(tiny_disk) as open_record,
        refused() as no,
    ):
        deque(map(open_record.append, [START] * 1000))
    assert isinstance(no.value.__cause__, OSError)
    assert no.value.__cause__.errno == errno.ENOSPC
