"""A sandbox made of cells: jobs from any number of threads, each in a cell of its own, opened when first needed."""

import json
import os
import platform
import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from burnish.errors import SandboxError, SetupProblem
from burnish.events import CommandRan, Graded
from burnish.parsing import explain_refusal
from burnish.sandbox import diagnosis, start, verdict
from burnish.sandbox.cell import Cell, CellGone, JobEnd, OutputListener
from burnish.sandbox.sandbox import NO_KINDS, JobLimits, Kinds, ServeLimits
from burnish.sandbox.serve import Served, check_port

Open = Callable[[Path | None, JobLimits], Cell]
"""Opens a cell that sees a layer of packages, or none, with these limits."""


class Box:
    """The `Sandbox` behind every kind: what differs is how a cell is opened."""

    def __init__(
        self,
        kind: str,
        level: str,
        open_cell: Open,
        limits: JobLimits,
        cells: int | None = None,
        layer: Path | None = None,
    ) -> None:
        self.kind = kind
        self.level = level
        self.limits = limits
        self.layer = layer
        """The packages that cells see besides pytest: a folder of this machine."""
        self.python = ""
        """The version in its cells, once there was one."""
        self.has_own_python = False
        """Whether that is an image's, and this machine's cannot be seen."""
        self._open_cell = open_cell
        self._places = threading.Semaphore(cells or os.cpu_count() or 1)
        self._lock = threading.Lock()
        self._idle: list[Cell] = []
        self._all: set[Cell] = set()
        self._closed = False

    def run(
        self,
        argv: Sequence[str],
        files: Mapping[str, str] | None = None,
        timeout_seconds: float = 10.0,
        heard: OutputListener | None = None,
    ) -> CommandRan:
        """Run one command in a fresh folder that holds `files`, and say how it ended."""
        given, most = encode_command(argv, files), self.limits.output_bytes
        ended = self._perform({"job": "run", "timeout": timeout_seconds}, [given], most, heard)
        return CommandRan(
            command=" ".join(argv),
            exit_code=ended.exit_code,
            output=ended.output.decode(errors="replace")
            + (f"\n{verdict.ENDED_BY['cell']}\n" if ended.broke_cell else ""),
            timed_out=ended.timed_out,
            broke_cell=ended.broke_cell,
            seconds=ended.seconds,
        )

    def grade(self, code: str, tests: str, timeout_seconds: float = 10.0, kinds: Kinds = NO_KINDS) -> Graded:
        """Run `tests` against `code` (importable as `solution`) and say what each test said."""
        for what, text in (("code", code), ("tests", tests)):
            if why := explain_refusal(text):
                return Graded(problem=f"the {what} cannot be read: {why}")
        is_pytest = verdict.is_pytest_file(tests)
        message = {"job": "grade", "timeout": timeout_seconds, "pytest": is_pytest}
        alone, apart = tests if self.layer is None else verdict.blank_package_tests(tests, self.layer), Graded()
        is_alike = alone == tests or (alone and verdict.is_pytest_file(alone) == is_pytest)
        if is_alike and not verdict.REACHES_IN.search(alone):
            report = self._judge(message | {"shared": False}, code, alone, kinds)
            if alone == tests and not report.must_share:
                return report.read_verdict()
            apart = report.read_decided()
        # These cannot be told apart from the code: both run in one process, and the verdict is labelled.
        report = self._judge(message | {"shared": True}, code, tests, kinds)
        shared = report.read_verdict(verdict.count_expected_cases(tests, is_pytest))
        return verdict.merge_verdicts(apart, shared)

    def serve(
        self,
        argv: Sequence[str],
        port: int,
        files: Mapping[str, str] | None = None,
        limits: ServeLimits | None = None,
    ) -> Served:
        """Start a program in a new cell, in a fresh folder that holds `files`, and wait until it listens on the port.

        Its cell takes no job's place, and has a loopback of its own and nothing beyond. The port is the cell's: any
        number of programs may have the same. Raises ServeError when it does not listen, SetupProblem without isolation.
        """
        if self.kind == "process":
            raise SetupProblem(
                "A program can serve only in a network of its own, and --sandbox process isolates nothing. Leave it "
                "out, or choose one of: bubblewrap, docker."
            )
        check_port(port)
        limits = limits or ServeLimits()
        cell = self._open(limits)
        try:
            served = Served(cell, encode_command(argv, files), port, limits, lambda: self._discard(cell))
            served.wait_until_ready()
            return served
        except BaseException as error:
            self._discard(cell)
            if isinstance(error, OSError):
                raise SandboxError(f"the socket of a served program cannot be made: {error}") from error
            raise

    def _judge(self, message: dict[str, Any], code: str, tests: str, kinds: Kinds) -> verdict.JudgeReport:
        """One grading job. The number that ends its report is told to its judge and to nobody else."""
        nonce = secrets.token_hex(16)
        sealed = json.dumps({"tests": tests, "nonce": nonce, "kinds": dict(kinds)}).encode()
        return verdict.JudgeReport(self._perform(message, [code.encode(), sealed], verdict.MOST_BYTES), nonce)

    def _perform(
        self, message: dict[str, Any], inputs: Sequence[bytes], keep_bytes: int, heard: OutputListener | None = None
    ) -> JobEnd:
        """One job in a cell of its own; the cell is kept only if it is as it was before.

        A job runs once, whatever it does to its cell. But a cell that was dead when the job came is replaced.
        """
        with self._places:
            while True:
                cell, clean = self._take(), False
                try:
                    ended = cell.perform(message, inputs, keep_bytes, heard)
                    clean = ended.clean
                    return ended
                except CellGone:
                    if not cell.has_waited:
                        raise
                finally:
                    self._give_back(cell, clean)

    def use_layer(self, layer: Path | None) -> None:
        """From now on every job sees this layer: cells that were opened with another take no more jobs.

        Raises SetupProblem, and changes nothing, where the cells have another Python than the one it is made for.
        """
        with self._lock:
            self._check_python(layer)
            self.layer = layer
            old = [cell for cell in self._idle if cell.layer != layer]
            self._idle = [cell for cell in self._idle if cell.layer == layer]
        for cell in old:
            self._discard(cell)

    def warm_up(self) -> None:
        """Open the first cell now."""
        self._give_back(self._take(), clean=True)

    def _take(self) -> Cell:
        """An idle cell, or a new one."""
        with self._lock:
            self._check_open()
            if self._idle:
                return self._idle.pop()
        return self._open(self.limits)

    def _open(self, limits: JobLimits) -> Cell:
        """A new cell."""
        layer = self.layer
        start.check_layer(layer)
        cell = self._open_cell(layer, limits)
        cell.layer = layer
        with self._lock:
            self._all.add(cell)
            self.python = cell.python
        try:
            self._check_open()
            self._check_python(layer)
        except (SandboxError, SetupProblem):
            self._discard(cell)
            raise
        return cell

    def _give_back(self, cell: Cell, clean: bool) -> None:
        """Keep a clean cell for the next job, throw away any other."""
        with self._lock:
            if clean and not self._closed and cell.layer == self.layer:
                cell.has_waited = True
                self._idle.append(cell)
                return
        self._discard(cell)

    def _discard(self, cell: Cell) -> None:
        """End a cell for good."""
        with self._lock:
            self._all.discard(cell)
        cell.close()

    def _check_python(self, layer: Path | None) -> None:
        """Packages are made for the Python that runs Burnish; an image of the user's own may have another."""
        ours = platform.python_version()
        if layer and self.python and self.python.split(".")[:2] != ours.split(".")[:2]:
            raise diagnosis.NoSandbox(diagnosis.explain_other_python(self.python, ours))

    def _check_open(self) -> None:
        if self._closed:
            raise SandboxError("the sandbox was closed")

    def close(self) -> None:
        """End every process and remove every folder of this sandbox. Safe to call twice and from another thread."""
        with self._lock:
            self._closed = True
            cells = list(self._all)
        for cell in cells:
            self._discard(cell)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def encode_command(argv: Sequence[str], files: Mapping[str, str] | None) -> bytes:
    """A command and its files, as the server in a cell reads them."""
    return json.dumps({"argv": list(argv), "files": dict(files or {})}).encode()
