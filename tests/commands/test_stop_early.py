"""A stop ends fix and strengthen at once, also while the project's tests run before anybody is asked."""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from burnish import ScriptedModel, SetupProblem, Store, fix, resume, strengthen
from burnish.commands.fix import FixOptions, start_fix
from burnish.events import Notice
from burnish.events.base import BaseEvent
from burnish.runs.attempt import Resources
from burnish.runs.request import Request
from burnish.tasks import Task

SECONDS = 2.0


@pytest.fixture
def slow(tmp_path: Path) -> Path:
    """A project whose tests take a minute."""
    (tmp_path / "buggy.py").write_text("def double(n):\n    return n + 1\n")
    (tmp_path / "test_buggy.py").write_text(
        "import time\nfrom buggy import double\n\n\ndef test_it():\n    time.sleep(60)\n    assert double(2) == 4\n"
    )
    return tmp_path


@pytest.fixture
def interrupt_after() -> Iterator[Callable[[float], None]]:
    """Ctrl-C after so many seconds."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds) and None
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def test_a_handle_stops_a_fix_before_its_first_question(slow: Path, store: Store) -> None:
    under_way = threading.Event()

    def watch(event: BaseEvent) -> None:
        if isinstance(event, Notice):
            under_way.set()

    request = Request(task=Task(id="fix-buggy", prompt="Repair buggy.py"), verb="fix", model="scripted:demo")
    model = ScriptedModel([])
    handle = start_fix(FixOptions(slow / "buggy.py"), request, Resources((), store, watch), lambda: [model])
    assert under_way.wait(20)
    time.sleep(0.5)
    began = time.monotonic()
    handle.stop()
    run = handle.wait()
    assert time.monotonic() - began < SECONDS
    assert (run.state, run.settings.fix, run.calls) == ("interrupted", None, 0)
    assert list(handle.events())[-1].kind == "stopped"
    with pytest.raises(SetupProblem, match="burnish fix FILE"):
        resume(run.id, store=store)


@pytest.mark.parametrize("verb", ["fix", "strengthen"])
def test_ctrl_c_ends_it_while_the_projects_tests_run(
    verb: str, slow: Path, store: Store, interrupt_after: Callable[[float], None]
) -> None:
    work = {
        "fix": lambda: fix(slow / "buggy.py", ScriptedModel([]), store=store),
        "strengthen": lambda: strengthen(slow / "test_buggy.py", slow / "buggy.py", "none", store=store),
    }[verb]
    began = time.monotonic()
    interrupt_after(4.0)
    with pytest.raises(KeyboardInterrupt):
        work()
    assert time.monotonic() - began < 4.0 + SECONDS
    [row] = store.list()
    assert row.state == "interrupted"


def test_what_the_user_has_to_put_right_leaves_no_record(tmp_path: Path, store: Store) -> None:
    (tmp_path / "empty.py").write_text("A = 1\n")
    with pytest.raises(SetupProblem, match="no function"):
        fix(tmp_path / "empty.py", ScriptedModel([]), store=store)
    assert store.list() == []
