"""Process 1 of a cell: forks one process a job, watches its time, ends whatever it started, proves the cell unchanged.

Its one rule: what a job is about never enters this process. Code and tests arrive as descriptors that are passed on,
so no later job can find them in the memory it was forked from.
"""

# ruff: noqa: PTH103, PTH120, PTH123

import contextlib
import ctypes
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable
from typing import Any

from burnish.sandbox.inside import candidate, limits
from burnish.sandbox.inside.allowed_types import split_words
from burnish.sandbox.inside.bounds import WALL
from burnish.sandbox.inside.cleanup import CellState, Helpers
from burnish.sandbox.inside.codec import Channel, read_all, send_packet
from burnish.sandbox.inside.control import PacketControl, StreamControl

PATIENCE = 1.0
"""Seconds a judge has to finish once the code it judged was ended."""
PRELOADED = split_words(
    "bisect collections copy dataclasses datetime decimal enum fractions functools heapq itertools json math operator "
    "random re string typing"
)
"""Modules that small programs use, imported before the first job, so that no job pays for them."""
PYTHONS = ("python", "python3")
BURIAL_SECONDS = 1.0
GIVEN_TO_COMMAND = 2
"""Descriptors: the files of a command, and where its output goes."""
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, FILTER = 22, 38, 2


class FilterProgram(ctypes.Structure):
    """A system call filter as the kernel takes it."""

    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def serve(settings: dict[str, Any]) -> None:
    """Answer one job after the other until Burnish hangs up."""
    control = enter_container(settings) if "filter" in settings else PacketControl(settings["control"])
    # From now on no other process of the cell can read this one's memory, descriptors or environment.
    limits.libc.prctl(limits.PR_SET_DUMPABLE, 0, 0, 0, 0)
    limits.apply_limits(settings["limits"])
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    for name in PRELOADED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    gc.disable()
    os.dup2(1, 2)  # what we could say at the start went to Burnish; nobody reads what jobs write there
    server = JobServer(control, settings)
    control.say({"ready": True, "python": sys.version.split()[0]})
    with contextlib.suppress(limits.HungUp, BrokenPipeError):
        while (received := control.receive()) is not None:
            ended = server.perform(*received)
            while control.pass_on():  # nobody is left who could write
                pass
            control.say(ended)
    server.cell.close()
    os._exit(0)


def enter_container(settings: dict[str, Any]) -> limits.JobControl:
    """The first steps in a container: call Burnish, or take the engine's pipes; then our own system call filter.

    A bubblewrap cell is born with all of this. The filter comes on top of the engine's own; whichever refuses, wins.
    What goes wrong can still be said on standard error.
    """
    import base64  # no other cell needs it

    control: limits.JobControl
    if settings["call"]:
        caller = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        caller.connect(settings["call"])
        control = PacketControl(caller.detach())
        limits.renew_standard_files((0, 1))
    else:
        control = StreamControl()
    if settings["filter"]:
        steps = base64.b64decode(settings["filter"])
        program = FilterProgram(len(steps) // 8, steps)
        limits.libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        if limits.libc.prctl(PR_SET_SECCOMP, FILTER, ctypes.byref(program), 0, 0):
            raise OSError(ctypes.get_errno(), "the system call filter was not accepted")
    return control


class JobServer:
    """Knows the cell as it was at its start, and the helpers that judge."""

    def __init__(self, control: limits.JobControl, settings: dict[str, Any]) -> None:
        self.control = control
        self.settings = settings
        self.helpers = Helpers()
        self.cell = CellState(settings, self.helpers)

    def perform(self, job: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        """Do a job and say how it ended, once everything it started is gone."""
        folder = self.cell.make_folder()
        try:
            perform = {"run": self.run, "grade": self.grade, "serve": self.keep_serving}[job["job"]]
            status, over = perform(job, fds, folder)
        finally:
            for fd in fds:
                os.close(fd)
        self.helpers.revive(PATIENCE)
        return {"exit_code": os.waitstatus_to_exitcode(status), "over": over, "clean": self.cell.restore(folder)}

    def run(self, job: dict[str, Any], fds: list[int], folder: str) -> tuple[int, str]:
        """One command in a process of its own: its wait status, and which limit ended it, if one did."""
        child = self.fork(lambda: become_command(fds, self.settings), folder)
        with limits.open_pidfd(child) as handle:
            over = limits.wait_for_end(handle, self.control, job["timeout"], self.cell.find_strangers)
        return self.cell.end_processes(child), over

    def keep_serving(self, job: dict[str, Any], fds: list[int], folder: str) -> tuple[int, str]:
        """A command that listens on a port, and a relay to it, until one of them or the time ends: see `run`.

        The command may be idle for as long as it likes. What it leaves behind when it forks twice is buried here.
        """
        if len(fds) == GIVEN_TO_COMMAND:
            return self.keep_answering(job, fds, folder)
        given, listener, ready, output = fds
        most = self.settings["limits"]["connections"]
        child = self.fork(lambda: become_command([given, output], self.settings), folder)
        relay = self.fork(lambda: become_relay(listener, ready, job["port"], most), folder)
        os.close(ready)
        fds.remove(ready)
        deadline = time.monotonic() + WALL * job["timeout"]
        with limits.open_pidfd(child) as program, limits.open_pidfd(relay) as carrier:
            watched = [program, carrier, self.control.fileno()]
            while not (ended := select.select(watched, [], [], BURIAL_SECONDS)[0]):
                if time.monotonic() >= deadline:
                    break
                self.bury_but(child, relay)
        if self.control.fileno() in ended:
            raise limits.HungUp
        return self.cell.end_processes(child), "" if ended else "wall"

    def keep_answering(self, job: dict[str, Any], fds: list[int], folder: str) -> tuple[int, str]:
        """The same where no listener can be handed in: whoever wants to connect starts a relay of its own in here.

        A relay is another user's, whom we cannot end. It ends with this process, which has no other job.
        """
        from burnish.sandbox.inside.loopback.relay import LOOK_SECONDS, is_listening

        child = self.fork(lambda: become_command(fds, self.settings), folder)
        deadline, is_told = time.monotonic() + WALL * job["timeout"], False
        over = "wall"
        with limits.open_pidfd(child) as program:
            while time.monotonic() < deadline:
                watched = [program, self.control.fileno(), self.control.output]
                ready = select.select(watched, [], [], BURIAL_SECONDS if is_told else LOOK_SECONDS)[0]
                if program in ready:
                    over = ""
                    break
                if self.control.fileno() in ready:
                    raise limits.HungUp
                self.control.pass_on()
                if not is_told and is_listening(job["port"]):
                    is_told = True
                    self.control.say({"listening": True})
                self.bury_but(child)
        os.kill(child, signal.SIGKILL)
        return os.waitpid(child, 0)[1], over

    def bury_but(self, *living: int) -> None:
        """Bury whoever ended after its parent did."""
        for pid in {*self.cell.find_strangers()} - {*living}:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)

    def grade(self, job: dict[str, Any], fds: list[int], folder: str) -> tuple[int, str]:
        """The code in a process of its own, the tests with a helper that may talk to it and nothing else.

        Says of the code what `run` says of a command.
        """
        code, tests, verdict = fds
        helper = self.helpers.get("pytest" if job["pytest"] else "forking" if job["shared"] else "asserts")
        core = int(limits.libc.sched_getcpu())  # the scheduler chose it because it is free
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                child = 0 if job["shared"] else self.fork(lambda: run_code(code, theirs.fileno(), core), folder)
            question = {"shared": job["shared"], "folder": folder}
            given = [tests, verdict, code if job["shared"] else ours.fileno()]
            while True:
                limits.set_cores((helper.pid,), {core})
                send_packet(helper.link, question, given)
                over = limits.wait_for_end(
                    helper.link.fileno(), self.control, job["timeout"], self.cell.find_strangers, helper.pid
                )
                answer = None if over else self.helpers.await_answer(helper, 0.0)
                if not answer or not answer.get("needs_fork"):
                    break
                helper = self.helpers.get("forking")
                os.lseek(tests, 0, os.SEEK_SET)
        status = self.cell.end_processes(child)
        if over:
            self.helpers.await_answer(helper, PATIENCE)
        return status, over

    def fork(self, live: Callable[[], None], folder: str) -> int:
        """A new process that does one thing in its folder and never returns."""
        child = os.fork()
        if child:
            return child
        code = 70
        try:
            os.setpgid(0, 0)  # not a session: some kernels make a scheduling group for each
            os.chdir(folder)
            live()
            code = 0
        finally:
            os._exit(code)


def run_code(code: int, channel: int, core: int) -> None:
    """The life of the process in which code is judged: of all descriptors it keeps only its end of the channel."""
    limits.set_cores((0,), {core})
    limits.close_all_but(code, channel)
    limits.renew_standard_files()
    candidate.serve_code(read_all(code), Channel(channel))


def become_relay(listener: int, ready: int, port: int, connections: int) -> None:
    """The life of the process that carries bytes to a served command. It may hold more descriptors than a job."""
    limits.JOB_FILES.clear()
    limits.close_all_but(listener, ready)
    limits.renew_standard_files()
    from burnish.sandbox.inside.loopback.relay import run_relay  # only here: no other process needs asyncio

    run_relay(listener, ready, port, connections)


def become_command(fds: list[int], settings: dict[str, Any]) -> None:
    """Write the files of a command, connect its output, and turn into it. Returns only if that fails."""
    content, output = fds
    given = json.loads(read_all(content))
    limits.renew_standard_files((0,))
    os.dup2(output, 1)
    os.dup2(output, 2)
    limits.close_all_but()
    argv = given["argv"]
    os.environ["PYTHONPATH"] = settings["commands"]
    os.environ["PYTHONNOUSERSITE"] = "1"  # else a `usercustomize` in a layer would run at every start
    os.environ["CELL_PACKAGES"] = os.pathsep.join(filter(None, (settings["layer"], settings["packages"])))
    try:
        for name, text in given["files"].items():
            path = os.path.normpath(name)
            if path.startswith(("/", "..")):
                raise ValueError(f"{name!r} is not below the job's folder")
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            with open(path, "w", encoding="utf-8", errors="surrogatepass", newline="") as file:
                file.write(text)
        os.execvp(sys.executable if argv[0] in PYTHONS else argv[0], argv)
    except (OSError, ValueError) as error:
        os.write(2, f"cannot run {argv[0]!r}: {error}\n".encode(errors="replace"))
        os._exit(127)
