"""Asks mutmut for mutants. The process that has mutmut in it stays warm, so only the first file waits for it."""

import atexit
import contextlib
import json
import select
import subprocess
import sys
import threading
import time
from pathlib import Path

from burnish.checks.mutation.mutant import Mutant
from burnish.errors import CheckError

PROGRAM = Path(__file__).parent / "mutmut_worker.py"
SECONDS = 60.0
"""For one file. mutmut makes some hundred mutants a second."""


class MutmutClient:
    """One process that makes mutants, from any number of threads; one that hangs or dies is started again."""

    def __init__(self, program: Path = PROGRAM, seconds: float = SECONDS) -> None:
        self.program = program
        self.seconds = seconds
        self._turn = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Let it load while there is something else to do."""
        with self._turn:
            self._ensure_process()

    def mutants(self, file: str, text: str, everything: bool = False) -> list[Mutant]:
        """The mutants of one file; `everything` takes no notice of comments that forbid them.

        Raises CheckError for text that is no Python, and when mutmut does not answer as it should.
        """
        asked = json.dumps({"file": file, "text": text, "all": everything}).encode() + b"\n"
        with self._turn:
            try:
                said = json.loads(self._exchange(self._ensure_process(), asked))
                if not isinstance(said, dict):
                    raise ValueError("no object")
            except (OSError, ValueError, TimeoutError) as error:
                self._end()
                raise CheckError(f"mutmut did not answer for {file}: {error or type(error).__name__}") from error
        if "unparsable" in said:
            raise CheckError(f"{file} cannot be read as Python ({said['unparsable']})")
        if "problem" in said:
            raise CheckError(f"mutmut could not make mutants of {file}: {said['problem']}")
        try:
            return [Mutant(file=file, **made) for made in said["mutants"]]
        except (KeyError, TypeError, ValueError) as error:
            raise CheckError(f"mutmut answered with something that is no list of mutants: {error}") from error

    def _exchange(self, process: subprocess.Popen[bytes], asked: bytes) -> bytes:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(asked)
        process.stdin.flush()
        deadline = time.monotonic() + self.seconds
        heard = bytearray()
        while not heard.endswith(b"\n"):
            if not select.select([process.stdout], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise TimeoutError(f"it took longer than {self.seconds:.0f} seconds")
            more = process.stdout.read1(1 << 20)  # type: ignore[attr-defined]
            if not more:
                raise OSError(f"it ended with code {process.wait()}")
            heard += more
        return bytes(heard)

    def _ensure_process(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            # By its path and isolated: nothing of Burnish or of the user's folder is imported there.
            command = [sys.executable, "-I", str(self.program)]
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, cwd="/")
            atexit.register(self._end)
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        atexit.unregister(self._end)
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


MUTMUT = MutmutClient()
"""The one that every check asks."""
