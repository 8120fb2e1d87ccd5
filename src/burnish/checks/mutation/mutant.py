"""Small changes to the code that the tests should notice, and who makes them: mutmut.

The process that has mutmut in it stays warm, so only the first file waits for it.
"""

import atexit
import contextlib
import difflib
import json
import signal
import subprocess
import sys
import threading
from pathlib import Path

from burnish.errors import CheckError
from burnish.events import Frozen
from burnish.text import one_line, strip_controls

MOST_CHARACTERS = 60
PROGRAM = Path(__file__).parent / "mutmut_worker.py"
SECONDS = 60.0
"""For one file. mutmut makes some hundred mutants a second."""


class Mutant(Frozen):
    """A function with one change in it, as mutmut made it."""

    key: str
    """mutmut's own name for it: module, function, number."""
    file: str
    function: str
    owner: str
    """The class the function is a method of; empty for a plain function."""
    line: int
    """Where the function's `def` stands."""
    first: int
    """Where the function's text begins, with the comments and decorators above it."""
    was: str
    text: str
    """The function before and after, without the indentation of its class."""
    old: str
    new: str
    """What was changed into what."""

    @property
    def name(self) -> str:
        """The function as people call it."""
        return f"{self.owner}.{self.function}" if self.owner else self.function

    @property
    def changed(self) -> int:
        """The first line of the file that is different."""
        pairs = zip(lines_of(self.was), lines_of(self.text), strict=False)
        same = next((number for number, (before, after) in enumerate(pairs) if before != after), 0)
        return self.first + same

    @property
    def lines(self) -> range:
        """The lines of the function in its file."""
        return range(self.first, self.first + len(lines_of(self.was)))

    def said(self) -> str:
        """The change in a few words."""
        becomes = f"becomes `{one_line(self.new, MOST_CHARACTERS)}`" if self.new else "is removed"
        return f"`{one_line(self.old, MOST_CHARACTERS)}` {becomes}"

    def diff(self, source: str) -> str:
        """The change as a unified diff of the file, not of what was made of it."""
        name = strip_controls(self.file)
        changed = difflib.unified_diff(lines_of(source), lines_of(self.module(source)), name, name, lineterm="")
        return strip_controls("\n".join(changed))

    def module(self, source: str) -> str:
        """The whole file with the change in it; lines of the function that are as before are the file's own."""
        lines, before, after = lines_of(source), lines_of(self.was), lines_of(self.text)
        start = self.first - 1
        head = "".join(lines[self.line - 1 : self.line])
        indent = head[: len(head) - len(head.lstrip())]
        made = lines[:start]
        for tag, a, b, c, d in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
            made += lines[start + a : start + b] if tag == "equal" else [indent + line for line in after[c:d]]
        return "\n".join([*made, *lines[start + len(before) :]]) + "\n"


def lines_of(text: str) -> list[str]:
    """The lines as Python counts them: a form feed or an odd separator ends none."""
    return text.removesuffix("\n").split("\n")


class MutmutClient:
    """One process that makes mutants, from any number of threads; one that hangs or dies is started again."""

    def __init__(self, program: Path = PROGRAM, seconds: float = SECONDS) -> None:
        self.program = program
        self.seconds = seconds
        self._turn = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def mutants(self, file: str, text: str, everything: bool = False) -> list[Mutant]:
        """The mutants of one file; `everything` takes no notice of comments that forbid them.

        Raises CheckError for text that is no Python, and when mutmut does not answer as it should.
        """
        question = json.dumps({"file": file, "text": text, "all": everything}).encode() + b"\n"
        with self._turn:
            try:
                answer = json.loads(self._exchange(question))
                if not isinstance(answer, dict):
                    raise ValueError("no object")
            except (OSError, ValueError) as error:
                self._end()
                raise CheckError(f"mutmut did not answer for {file}: {error or type(error).__name__}") from error
        if "unparsable" in answer:
            raise CheckError(f"{file} cannot be read as Python ({answer['unparsable']})")
        if "problem" in answer:
            raise CheckError(f"mutmut could not make mutants of {file}: {answer['problem']}")
        try:
            return [Mutant(file=file, **made) for made in answer["mutants"]]
        except (KeyError, TypeError, ValueError) as error:
            raise CheckError(f"mutmut answered with something that is no list of mutants: {error}") from error

    def _exchange(self, question: bytes) -> bytes:
        """One line for one line. Raises OSError when the process ended, TimeoutError when it had to be ended."""
        if self._process is None or self._process.poll() is not None:
            # By its path and isolated: nothing of Burnish or of the user's folder is imported there.
            command = [sys.executable, "-I", str(self.program)]
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, cwd="/")
            atexit.register(self._end)
        process = self._process
        assert process.stdin
        assert process.stdout
        clock = threading.Timer(self.seconds, process.kill)
        clock.start()
        try:
            process.stdin.write(question)
            process.stdin.flush()
            answer = process.stdout.readline()
        finally:
            clock.cancel()
        if not answer.endswith(b"\n"):
            code = process.wait()
            if code == -signal.SIGKILL:
                raise TimeoutError(f"it took longer than {self.seconds:.0f} seconds")
            raise OSError(f"it ended with code {code}")
        return answer

    def _end(self) -> None:
        """End the process, if there is one."""
        process, self._process = self._process, None
        atexit.unregister(self._end)
        if process:
            process.kill()
            with contextlib.suppress(OSError):
                process.communicate()


MUTMUT = MutmutClient()
"""The one that every check asks."""
