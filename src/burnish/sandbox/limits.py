"""How much one job may use. One job runs in a cell at a time, so a limit of the cell is a limit of the job."""

from pydantic import Field

from burnish.events import Frozen

MIB = 1024 * 1024


class Limits(Frozen):
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
