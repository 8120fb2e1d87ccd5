"""Process 1 of a cell: forks one process a job, watches its time, ends whatever it started, proves the cell unchanged.

Its one rule: what a job is about never enters this process. Code and tests arrive as descriptors that are passed on,
so no later job can find them in the memory it was forked from.
"""

import contextlib
import gc
import os
import signal
import socket
import sys
from typing import Any

from burnish.sandbox.inside import bounds, candidate, clock, command, cores, packets, traces, warm
from burnish.sandbox.inside.channel import Channel
from burnish.sandbox.inside.helper import Helpers

PATIENCE = 1.0
"""Seconds a judge has to finish once the code it judged was ended."""


def serve(settings: dict[str, Any]) -> None:
    """Answer one job after the other until Burnish hangs up."""
    control = socket.socket(fileno=settings["control"])
    bounds.hide_memory()
    bounds.apply(settings["limits"])
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    warm.up()
    gc.collect()
    gc.freeze()
    gc.disable()
    if not settings["debug"]:
        os.dup2(1, 2)  # what we could say at the start went to Burnish; nobody reads what jobs write there
    server = Server(control, settings)
    packets.send(control, {"ready": True, "python": sys.version.split()[0]})
    with contextlib.suppress(clock.HungUp):
        while (received := packets.receive(control)) is not None:
            packets.send(control, server.perform(*received))
    server.cell.end()
    os._exit(0)


class Server:
    """Knows the cell as it was at its start, and the helpers that judge."""

    def __init__(self, control: socket.socket, settings: dict[str, Any]) -> None:
        self.control = control
        self.settings = settings
        self.helpers = Helpers()
        self.cell = traces.Cell(settings, self.helpers)

    def perform(self, job: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        """Do a job and say how it ended, once everything it started is gone."""
        folder = self.cell.new_folder()
        try:
            ended = self.grade(job, fds, folder) if job["job"] == "grade" else self.run(job, fds, folder)
        finally:
            for fd in fds:
                os.close(fd)
        self.helpers.revive(PATIENCE)
        ended["clean"] = self.cell.is_restored(folder)
        return ended

    def run(self, job: dict[str, Any], fds: list[int], folder: str) -> dict[str, Any]:
        """One command in a process of its own."""
        spent = clock.Spent(self.cell)
        child = self.fork(lambda: command.become(fds, self.settings), folder)
        with clock.ending_of(child) as handle:
            over = clock.watch(handle, self.control, job["timeout"], spent)
        status = self.cell.sweep(child)
        return {"exit_code": os.waitstatus_to_exitcode(status), "over": over, "cpu": spent.seconds()}

    def grade(self, job: dict[str, Any], fds: list[int], folder: str) -> dict[str, Any]:
        """The code in a process of its own, the tests with a helper that may talk to it and nothing else."""
        code, tests, verdict = fds
        helper = self.helpers.get("pytest" if job["pytest"] else "forking" if job["shared"] else "asserts")
        spent = clock.Spent(self.cell, helper.pid)
        core = cores.current()
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                child = 0 if job["shared"] else self.fork(lambda: run_code(code, theirs.fileno(), core), folder)
            question = {"shared": job["shared"], "folder": folder}
            given = [tests, verdict, code if job["shared"] else ours.fileno()]
            while True:
                cores.pin(helper.pid, core)
                helper.ask(question, given)
                over = clock.watch(helper.link.fileno(), self.control, job["timeout"], spent)
                answer = None if over else self.helpers.settle(helper, 0.0)
                if not answer or not answer.get("needs_fork"):
                    break
                helper = self.helpers.get("forking")
                os.lseek(tests, 0, os.SEEK_SET)
        status = self.cell.sweep(child)
        if over:
            self.helpers.settle(helper, PATIENCE)
        return {"exit_code": os.waitstatus_to_exitcode(status), "over": over, "cpu": spent.seconds()}

    def fork(self, live: Any, folder: str) -> int:
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
        except BaseException:
            if self.settings["debug"]:
                sys.excepthook(*sys.exc_info())
        finally:
            os._exit(code)


def run_code(code: int, channel: int, core: int) -> None:
    """The life of the process in which code is judged: of all descriptors it keeps only its end of the channel."""
    cores.pin(0, core)
    bounds.close_all_but(code, channel)
    bounds.renew_standard_files()
    candidate.main(command.read_all(code), Channel(channel))
