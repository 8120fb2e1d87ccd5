"""The idea of a sandbox: `run` a command, `grade` code against tests. Its kinds are this file's neighbours."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType, TracebackType
from typing import Literal, Protocol, Self

from pydantic import Field

from burnish.events import CommandRan, Frozen, Graded

MIB = 1024 * 1024


class JobLimits(Frozen):
    """What a job may use besides its time."""

    memory_bytes: int = 1024 * MIB
    """Memory of all processes of a job together (cgroup), and address space of each one (rlimit)."""
    processes: int = 64
    """Processes and threads alive at once."""
    open_files: int = 256
    """Descriptors a process may hold."""
    file_bytes: int = 64 * MIB
    """Size of one file."""
    folder_bytes: int = 128 * MIB
    """Everything in the work folder together; `/tmp` and `/dev/shm` have as much each."""
    output_bytes: int = 1 * MIB
    """How much of a command's output is kept: the first and the last half of it."""
    niceness: int = Field(default=0, ge=0, le=19)
    """How far jobs stand back where others want the processors too: 0 not at all, 19 as far as can be.

    A job's wall limit is four times its CPU limit, so one that gets less than a quarter of a processor may run out of
    time through no fault of its own. At 5 that quarter is just kept beside one thread that never rests.
    """
    loopback: bool = False
    """Whether a job may open TCP and UDP sockets, which reach nothing but its own cell: for tests that start a server.

    Cells that grade generated code do without: what is not there need not be proven unchanged for the next job.
    """


class ServeLimits(JobLimits):
    """What a served program may use. It may be idle for as long as it lives, so no CPU time ends it."""

    loopback: Literal[True] = True
    seconds: float = Field(default=600.0, gt=0, le=86400)
    """How long it may live."""
    start_seconds: float = Field(default=20.0, gt=0, le=600)
    """How long it may take to listen."""
    connections: int = Field(default=32, ge=1, le=128)
    """Connections at once; more wait until one of them ends."""


Kinds = Mapping[str, Literal["function", "class"]]
"""What the names of a module are to be."""
NO_KINDS: Kinds = MappingProxyType({})


class Sandbox(Protocol):
    """A place where untrusted code may run, from any number of threads.

    Stops: reading or writing the user's files, using the network, seeing or signalling other processes, outliving its
    time limit, using more than its share of memory, processes and disk, reaching a later job, and choosing its own
    verdict. Does not stop: a kernel exploit, measuring time, reading what is installed in `/usr`, or a class under
    test that lies about itself. Kind "process" stops only long and large jobs. See docs/design/sandbox.md.
    """

    kind: str
    """"bubblewrap", "docker" or "process"."""
    level: str
    """One line for reports: which protections are active."""

    def run(
        self,
        argv: Sequence[str],
        files: Mapping[str, str] | None = None,
        timeout_seconds: float = 10.0,
        heard: Callable[[bytes], None] | None = None,
    ) -> CommandRan:
        """Run one command in a fresh folder that holds `files`, and say how it ended.

        `heard` is told what the command writes, as it comes.
        """
        ...

    def grade(self, code: str, tests: str, timeout_seconds: float = 10.0, kinds: Kinds = NO_KINDS) -> Graded:
        """Run `tests` against `code` (importable as `solution`) and say what each test said.

        `kinds` says what the task asks for, by name. A class in the place of a function is not accepted; a class of the
        code answers for its own operators where the task or the tests name it, and nowhere else.
        """
        ...

    def close(self) -> None:
        """End every process and remove every folder of this sandbox. Safe to call twice and from another thread."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
