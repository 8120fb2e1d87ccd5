"""Attempts in several processes, where a model answers faster than one process could use what it says.

One interpreter runs one thread at a time, and up to Python 3.12 parses one text at a time: on a machine with many cores
that is the limit of an evaluation. So attempts go to workers, each with cells of its own, and every worker asks the one
model that lives here. All of it goes through a Unix socket in a folder that only this user can enter: a connection is
either a line of attempts (the next task, what happens in it, how it ended) or one question with its answer.
"""

import os
import queue
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from multiprocessing.connection import Client, Connection, Listener
from multiprocessing.reduction import ForkingPickler
from typing import Any, NamedTuple

from burnish.errors import SandboxError
from burnish.evals.replay import RecordedModel
from burnish.evals.schema import Plan
from burnish.events import Event, Stopped
from burnish.models.model import Ask, Done, Leavable, Model, Piece
from burnish.runs.attempt import Resources
from burnish.sandbox import open_sandbox, owner
from burnish.system import LONGEST_SOCKET, count_cores, open_local_socket
from burnish.tasks.task import Task

FEWEST_ATTEMPTS, FEWEST_AT_ONCE, FEWEST_CORES = 32, 16, 4
"""Below these, starting processes costs more than they bring."""
MOST_WORKERS = 12
FOLDER = "burnish-workers-"
"""How the folder of the socket is called."""
START = "import sys; from burnish.evals.runner import work_for; work_for(sys.argv[1])"
"""A worker. Not by `multiprocessing`: that would run the script of whoever calls us once more."""
KNOWN_OF_MODEL = ("name", "slots", "engine", "thinking", "least_thinking", "context")
RETRY_SECONDS = 0.1
GONE = (OSError, EOFError)
"""What using a connection raises whose other end is closed."""


class AttemptEnd(NamedTuple):
    """How one attempt ended. `bug` is an error of ours, which ends the run; `stopped` a limit that forbids to go on."""

    task_id: str
    seed: int
    events: Sequence[Event]
    bug: Exception | None = None
    stopped: Stopped | None = None


class WorkOrder(NamedTuple):
    """What a worker is told at its start."""

    plan: Plan
    model: dict[str, Any]
    """What is known of it: name, slots and so on."""
    is_leavable: bool
    sandbox: str
    threads: int
    cells: int


OnEvent = Callable[[Event], None]
Make = Callable[[Task, int, Plan, Resources, OnEvent], AttemptEnd]
"""Makes one attempt."""
FindModel = Callable[[Task, int], Model]
"""Who answers in an attempt at this task with this seed."""


def computes_here(model: Model) -> bool:
    """Whether llama.cpp computes the answers in this process, on the cores that grading wants too."""
    return model.name.startswith("local:") and not isinstance(model, RecordedModel)


def count_workers(model: Model, at_once: int, missing: int) -> int:
    """How many processes make attempts; 0: this one does, in threads.

    Beside llama.cpp the model itself wants all cores.
    """
    cores = count_cores()
    is_small = missing < FEWEST_ATTEMPTS or at_once < FEWEST_AT_ONCE or cores < FEWEST_CORES
    return 0 if is_small or computes_here(model) else min(MOST_WORKERS, cores - 2)


def write_order(plan: Plan, model: Model, sandbox: str, at_once: int, workers: int) -> WorkOrder:
    """What each of so many workers is told; together they keep so many attempts under way, and all cores at work."""
    known = {name: getattr(model, name) for name in KNOWN_OF_MODEL if hasattr(model, name)}
    threads, cells = -(-at_once // workers), 1 + -(-count_cores() // workers)
    return WorkOrder(plan, known, isinstance(model, Leavable), sandbox, threads, cells)


class Desk:
    """Where attempts are taken from, and where it is brought how they ended; workers get their answers here too."""

    def __init__(self, waiting: Sequence[tuple[Task, int]], find_model: FindModel, watch: OnEvent) -> None:
        self.waiting = list(reversed(waiting))
        self.find_model, self.watch = find_model, watch
        self.ends: queue.SimpleQueue[AttemptEnd] = queue.SimpleQueue()
        self.models: dict[tuple[str, int], Model] = {}
        """Of each attempt under way."""
        self.cancel = threading.Event()
        self.lock = threading.Lock()
        self.order: WorkOrder

    def take_next(self) -> tuple[Task, int] | None:
        """An attempt that nobody has begun."""
        with self.lock:
            while self.waiting:
                task, seed = self.waiting.pop()
                try:
                    self.models[task.id, seed] = self.find_model(task, seed)
                    return task, seed
                except Exception as error:
                    self.ends.put(AttemptEnd(task.id, seed, (), error))
        return None

    def end(self, end: AttemptEnd) -> None:
        """An attempt has ended."""
        del self.models[end.task_id, end.seed]
        self.ends.put(end)

    def drop_waiting(self) -> int:
        """Let no further attempt begin; how many had not."""
        with self.lock:
            count = len(self.waiting)
            self.waiting.clear()
            return count

    @contextmanager
    def employ(self, order: WorkOrder, workers: int) -> Iterator[None]:
        """Have so many processes make the attempts. They end with this context, whatever ends it."""
        self.order = order
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        owner.remove_left_folders(FOLDER)
        folder = owner.make_folder(FOLDER, LONGEST_SOCKET - len("/desk"))
        with ExitStack() as stack:
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
            address = str(folder / "desk")
            # -P: nothing is imported from the current folder, which may be a stranger's.
            command = [sys.executable, "-P", "-c", START, address]
            with closing(Listener(address, "AF_UNIX", backlog=workers * order.threads)) as listener:
                threading.Thread(target=self.receive, args=(listener,), name="burnish-desk", daemon=True).start()
                processes = [
                    subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL) for _ in range(workers)
                ]
                for process in processes:
                    threading.Thread(target=self.watch_over, args=(process,), daemon=True).start()
                try:
                    yield
                finally:
                    self.cancel.set()
                    # To close a listener wakes nobody who waits in `accept`; a connection does.
                    with open_local_socket() as waking, suppress(OSError):
                        waking.setblocking(False)
                        waking.connect(address)
                    for process in processes:
                        process.kill()  # cells end with the process that opened them
                        process.wait()

    def watch_over(self, process: "subprocess.Popen[bytes]") -> None:
        """Say so when a worker ends before its work does: what it had begun would never be heard of again."""
        if process.wait() and not self.cancel.is_set():
            why = f"a process that makes attempts ended with status {process.returncode}, perhaps for want of memory"
            self.ends.put(AttemptEnd("", 0, (), SandboxError(why)))

    def receive(self, listener: Listener) -> None:
        """Give every connection a thread, until the work is over."""
        while not self.cancel.is_set():
            try:
                connection = listener.accept()
            except OSError:  # too many open files, say; other connections end soon
                self.cancel.wait(RETRY_SECONDS)
                continue
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection: Connection) -> None:
        """One connection, until either side closes it."""
        with connection, suppress(*GONE):
            while True:
                match connection.recv():
                    case "order":
                        connection.send(self.order)
                    case "next":
                        connection.send(self.take_next())
                    case AttemptEnd() as end:
                        self.end(end)
                    case ("ask", attempt, ask):
                        self.answer(ask, self.models[attempt], connection)
                    case ("count", attempt, ask, text):
                        model = self.models[attempt]
                        assert isinstance(model, Leavable)
                        connection.send(model.counted(ask, text))
                    case event:
                        self.watch(event)

    def answer(self, ask: Ask, model: Model, connection: Connection) -> None:
        """The pieces of an answer, or why there is none. A worker that has enough of it closes the connection."""
        pieces = model.stream(ask, self.cancel)
        try:
            for piece in pieces:
                connection.send(piece)
            connection.send(None)
        except GONE:
            raise
        except Exception as error:
            connection.send(make_sendable(error))
        finally:
            if isinstance(pieces, Generator):
                pieces.close()


def make_sendable(error: Exception) -> Exception:
    """The error, or its name and words where it would not arrive as it was sent: not every class can be pickled."""
    try:
        ForkingPickler.loads(ForkingPickler.dumps(error))  # as a connection does
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


class RemoteModel:
    """The model of the process that started this one, in one attempt."""

    name: str
    slots: int

    def __init__(self, address: str, known: dict[str, Any], attempt: tuple[str, int]) -> None:
        self.address, self.attempt = address, attempt
        vars(self).update(known)

    def stream(self, ask: Ask, cancel: threading.Event) -> Iterator[Piece]:
        """The answer as it is written there; to leave it early is to close the connection."""
        with Client(self.address) as connection:
            connection.send(("ask", self.attempt, ask))
            while (piece := connection.recv()) is not None and not cancel.is_set():
                if isinstance(piece, Exception):
                    raise piece
                yield piece

    def warm_up(self) -> None:
        """It is loaded elsewhere."""

    def close(self) -> None:
        """It is not ours."""


class LeavableRemoteModel(RemoteModel):
    """One whose answers may be left at no cost."""

    def counted(self, ask: Ask, text: str) -> Done:
        """What such an answer cost, as the model itself counts."""
        with Client(self.address) as connection:
            connection.send(("count", self.attempt, ask, text))
            done: Done = connection.recv()
            return done


def work(address: str, make: Make) -> None:
    """One worker: attempt after attempt in several threads, until there is none left."""
    with Client(address) as connection:
        connection.send("order")
        order: WorkOrder = connection.recv()
    kind = LeavableRemoteModel if order.is_leavable else RemoteModel
    with open_sandbox(order.sandbox, cells=order.cells) as sandbox:

        def work_on() -> None:
            try:
                with Client(address) as connection:

                    def tell(event: Event) -> None:
                        if event.lasting:
                            connection.send(event)

                    connection.send("next")
                    while pair := connection.recv():
                        task, seed = pair
                        model = kind(address, order.model, (task.id, seed))
                        end = make(task, seed, order.plan, Resources([model], sandbox=sandbox), tell)
                        connection.send(end._replace(bug=end.bug and make_sendable(end.bug)))
                        connection.send("next")
            except GONE:
                os._exit(1)  # nobody is left who could use what this process does

        threads = [threading.Thread(target=work_on, daemon=True) for _ in range(order.threads)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
