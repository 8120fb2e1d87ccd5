"""The store: the folders are the truth, the index may go at any time, and a stranger's question gets an answer."""

import json
import shutil
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import pytest

import burnish
from burnish.errors import SetupProblem
from burnish.events import ModelReplied, RunFinished, RunStarted
from burnish.runs import Record, Store
from burnish.runs.record import FILE, is_running
from tests.support import refused


def keep(store: Store, name: str, at: float = 0.0, verdict: str = "proven") -> str:
    run_id, record = store.begin(name)
    with record:
        record.append(
            RunStarted(run_id=run_id, verb="write", prompt=f"task {name}", model="m", burnish="0", at=at or time.time())
        )
        record.append(RunFinished(verdict=verdict, why="it is so"))  # type: ignore[arg-type]
    return run_id


def plant(store: Store, run_id: str, text: str | bytes) -> Path:
    folder = store.runs / run_id
    folder.mkdir(parents=True)
    (folder / FILE).write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def test_runs_are_listed_newest_first(store: Store) -> None:
    old, new = keep(store, "old", at=1.0), keep(store, "new", at=2.0)
    assert [row.id for row in store.list()] == [new, old]
    assert store.list()[0].state == "proven"


def test_a_home_that_does_not_exist_yet_has_no_runs(store: Store) -> None:
    assert store.list() == []
    with refused():
        store.open("last")


def test_a_store_may_be_named_in_plain_text(tmp_path: Path) -> None:
    assert Store(str(tmp_path)).runs == Store(tmp_path).runs


def test_the_newest_run_is_called_last(store: Store) -> None:
    keep(store, "a", at=1.0)
    newest = keep(store, "b", at=2.0)
    assert store.open("last").id == newest


def test_a_run_is_found_by_the_beginning_of_its_id(store: Store) -> None:
    roman, double = keep(store, "roman"), keep(store, "double")
    assert store.open("rom").id == roman
    assert store.open(double).id == double


def test_a_whole_id_wins_over_one_that_goes_on(store: Store) -> None:
    shutil.copytree(store.runs / keep(store, "x"), store.runs / "x-11")
    shutil.copytree(store.runs / "x-11", store.runs / "x-1111")
    assert store.find("x-11").name == "x-11"


def test_an_ambiguous_beginning_names_the_candidates(store: Store) -> None:
    first, second = keep(store, "sum"), keep(store, "sum")
    with pytest.raises(SetupProblem) as caught:
        store.open("sum")
    assert first in str(caught.value)
    assert second in str(caught.value)


@pytest.mark.parametrize("name", ["nothing", "", "..", "/", "../runs"])
def test_a_name_that_is_no_run_says_where_to_look(store: Store, name: str) -> None:
    keep(store, "only")
    with pytest.raises(SetupProblem, match="burnish runs$"):
        store.open(name)


def test_a_rating_is_kept_with_the_run_and_the_newest_counts(store: Store) -> None:
    run_id = keep(store, "a")
    burnish.rate(run_id, stars=2, comment="fails on 0", store=store)
    rated = burnish.rate(run_id, stars=4, store=store)
    assert (rated.stars, store.list()[0].stars) == (4, 4)


def test_a_removed_run_is_gone_from_disk_and_list(store: Store) -> None:
    run_id, other = keep(store, "a"), keep(store, "b")
    assert store.remove(run_id) == run_id
    assert [row.id for row in store.list()] == [other]
    assert not (store.runs / run_id).exists()


def test_a_run_that_is_at_work_is_not_removed_under_it(store: Store) -> None:
    run_id = keep(store, "a")
    with store.take_up(run_id), refused():
        store.remove(run_id)
    assert store.remove(run_id) == run_id


def test_an_index_that_is_deleted_comes_back(store: Store) -> None:
    run_id = keep(store, "a")
    before = store.list()
    (store.folder / "index.json").unlink()
    assert store.list() == before
    assert before[0].id == run_id


@pytest.mark.parametrize("damage", [b"", b"not JSON at all" * 100, b"[]", b'{"a": {}}'])
def test_an_index_that_is_damaged_is_made_anew(store: Store, damage: bytes) -> None:
    keep(store, "a")
    before = store.list()
    (store.folder / "index.json").write_bytes(damage)
    assert store.list() == before
    assert store.list() == before


def test_an_index_that_is_damaged_in_the_middle_is_made_anew(store: Store) -> None:
    for number in range(40):
        keep(store, f"run{number}")
    before = store.list()
    index = store.folder / "index.json"
    content = index.read_bytes()
    index.write_bytes(content[:1024] + b"\xff" * (len(content) - 1024))
    assert store.list() == before
    assert store.list() == before


def answered(store: Store) -> str:
    run_id = keep(store, "a")
    with Record(store.runs / run_id) as record:
        for model, dollars in (("small:m", 0.0), ("large:m", None)):
            record.append(
                ModelReplied(
                    ask_id="d",
                    purpose="draft",
                    text="x",
                    tokens_in=7,
                    tokens_out=3,
                    seconds=1,
                    model=model,
                    dollars=dollars,
                )
            )
    return run_id


def test_a_list_says_what_each_model_took(store: Store) -> None:
    answered(store)
    small, large = store.list()[0].accounts
    assert (small.model, small.tokens_in, small.dollars) == ("small:m", 7, 0.0)
    assert (large.model, large.asks, large.dollars) == ("large:m", 1, None)


@pytest.mark.parametrize("damage", ["accounts", "state", "size"])
def test_an_index_of_another_version_is_made_anew(store: Store, damage: str) -> None:
    run_id = answered(store)
    before = store.list()
    index = store.folder / "index.json"
    known = json.loads(index.read_text())
    for part in (known[run_id], known[run_id]["row"]):
        if damage in part:
            part[damage] = [{}]
    index.write_text(json.dumps(known))
    assert store.list() == before
    assert before[0].accounts
    assert json.loads(index.read_text())[run_id]["row"]["id"] == run_id


def test_an_index_that_cannot_be_written_is_done_without(store: Store) -> None:
    keep(store, "a")
    (store.folder / "index.json").mkdir()
    assert len(store.list()) == 1


def test_a_home_that_cannot_be_made_is_named_with_the_variable(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with refused():
        Store(tmp_path / "file" / "home").begin("a")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "garbage\n",
        b"\xff\xfe\x00",
        '{"kind": "decided", "at": 1, "choice": "a", "reason": "b"}\n',
        '{"kind": "run_started", "version": null}\n',
        '{"kind": "run_started", "version": 99}\n',
        "[1, 2]\n",
    ],
)
def test_one_record_that_cannot_be_read_hides_no_other(store: Store, text: str | bytes) -> None:
    good = keep(store, "good")
    plant(store, "bad-0000", text)
    listed = {row.id: row.state for row in store.list()}
    assert listed.pop(good) == "proven"
    assert listed == ({"bad-0000": "unreadable"} if text else {}), "an empty record may have been begun just now"
    with pytest.raises(SetupProblem, match="bad-0000"):
        store.open("bad-0000")
    store.remove("bad-0000")
    assert not (store.runs / "bad-0000").exists()


def test_a_run_of_a_newer_burnish_says_so_when_opened(store: Store) -> None:
    plant(store, "new-0000", json.dumps({"kind": "run_started", "version": 99}) + "\n")
    with refused():
        store.open("new")


def test_a_run_that_was_killed_at_birth_says_so_when_opened(store: Store) -> None:
    plant(store, "dead-0000", "")
    with pytest.raises(SetupProblem, match=r"burnish rm dead-0000$"):
        store.open("dead-0000")


@pytest.mark.slow
def test_two_processes_may_write_and_list_at_once(store: Store) -> None:
    program = """
import sys
import threading
from pathlib import Path
from burnish.events import RunStarted
from burnish.runs import Store
store = Store(Path(sys.argv[1]))
for number in range(25):
    run_id, record = store.begin("same")
    with record:
        record.append(RunStarted(run_id=run_id, verb="write", prompt="p", model="m", burnish="0"))
    assert run_id in {row.id for row in store.list()}
"""
    processes = [subprocess.Popen([sys.executable, "-c", program, str(store.folder)]) for _ in range(3)]
    for _ in range(10):
        store.list()
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    assert len(store.list()) == 75


def test_a_run_is_running_as_long_as_somebody_works_on_it_and_then_unfinished(store: Store) -> None:
    run_id, record = store.begin("slow")
    with record:
        record.append(RunStarted(run_id=run_id, verb="write", prompt="p", model="m", burnish="0"))
        assert store.list()[0].state == "running"
    assert store.list()[0].state == "unfinished"
    with Record(store.runs / run_id) as record:
        record.append(RunFinished(verdict="failed", why="no"))
    assert store.list()[0].state == "failed"


def test_a_home_on_a_read_only_disk_can_be_read_and_says_why_it_cannot_be_changed(tiny_disk: Path) -> None:
    store = Store(tiny_disk)
    run_id = keep(store, "a")
    subprocess.run(["mount", "-o", "remount,ro", str(tiny_disk)], check=True)
    assert [row.id for row in store.list()] == [run_id]
    assert store.open("last").id == run_id
    rate = partial(burnish.rate, run_id, stars=3, store=store)
    for change in (rate, lambda: store.remove(run_id), lambda: store.begin("b")):
        with refused():
            change()
    assert store.open("last").id == run_id


def test_whoever_looks_whether_a_run_goes_on_is_not_in_the_way_of_who_takes_it_up(store: Store) -> None:
    run_id = keep(store, "a")
    looking = threading.Event()

    def look() -> None:
        while not looking.is_set():
            is_running(store.runs / run_id)
            time.sleep(0.001)

    lookers = [threading.Thread(target=look) for _ in range(2)]
    for looker in lookers:
        looker.start()
    for _ in range(20):
        store.take_up(run_id).close()
    looking.set()
    for looker in lookers:
        looker.join()
    with store.take_up(run_id), pytest.raises(SetupProblem, match=f"burnish resume {run_id}$"):
        store.take_up(run_id)
