"""The seccomp filter of a cell, assembled here into the classic BPF program that bubblewrap loads.

Everything is allowed but what `syscalls` lists. A call in a foreign calling convention ends the process: its numbers
mean other things.
"""

import platform
import struct

from burnish.sandbox import syscalls as calls

ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""Our column in the table, and what the kernel calls the architecture."""
LOAD, EQUAL, AT_LEAST, ANY_BIT, AND, RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16
KILL, ERROR, ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
X32 = 0x40000000

Step = tuple[int, int, int, int]
"""One instruction: code, steps to jump if true, if false, and its constant."""


def program(machine: str | None = None) -> bytes | None:
    """The filter for a machine, this one unless said; None when we do not know its system calls."""
    known = ARCHITECTURES.get(machine or platform.machine())
    if known is None:
        return None
    column, architecture = known
    steps = [*guard(architecture, has_x32=column == 0), *denials(column), *conditions(column), (RETURN, 0, 0, ALLOW)]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def guard(architecture: int, has_x32: bool) -> list[Step]:
    """End the process unless the call is in the machine's own convention; then load the call's number."""
    steps = [(LOAD, 0, 0, ARCHITECTURE), (EQUAL, 1, 0, architecture), (RETURN, 0, 0, KILL), (LOAD, 0, 0, NUMBER)]
    return [*steps, (AT_LEAST, 0, 1, X32), (RETURN, 0, 0, KILL)] if has_x32 else steps


def denials(column: int) -> list[Step]:
    """Refuse each call of the list."""
    numbers = [pair[column] for pair in calls.DENIED.values()]
    steps = [refuse(number, calls.REFUSED) for number in numbers if number is not None]
    steps += [refuse(numbers[column], calls.UNKNOWN) for numbers in (calls.CLONE3, calls.PREADV2)]
    return [step for pair in steps for step in pair]


def refuse(number: int, error: int) -> list[Step]:
    """Refuse one call with one error."""
    return [(EQUAL, 0, 1, number), (RETURN, 0, 0, ERROR | error)]


def conditions(column: int) -> list[Step]:
    """Calls that depend on an argument."""
    error = (RETURN, 0, 0, ERROR | calls.REFUSED)
    devices = [(AND, 0, 0, calls.FILE_KIND), (EQUAL, 1, 0, calls.CHARACTER_DEVICE), (EQUAL, 0, 1, calls.BLOCK_DEVICE)]
    ways = [
        (calls.CLONE[column], 0, [(ANY_BIT, 0, 1, calls.NEW_NAMESPACES), error]),
        (calls.SOCKET[column], 0, [(EQUAL, 1, 0, calls.AF_UNIX), error]),
        (calls.IOCTL[column], 1, [(EQUAL, 1, 0, calls.TIOCSTI), (EQUAL, 0, 1, calls.TIOCLINUX), error]),
        (calls.MKNOD[column], 1, [*devices, error]),
        (calls.MKNODAT[column], 2, [*devices, error]),
    ]
    ways += [(calls.SETPRIORITY[column], argument, [(EQUAL, 1, 0, 0), error]) for argument in (0, 1)]
    others = [(numbers[column], argument, [(EQUAL, 1, 0, 0), error]) for argument, *numbers in calls.OTHERS.values()]
    return [
        step
        for number, argument, steps in [*ways, *others]
        if number is not None
        for step in when(number, argument, steps)
    ]


def when(number: int, argument: int, steps: list[Step]) -> list[Step]:
    """Look at one argument of one call; the call's number is loaded again after."""
    load = (LOAD, 0, 0, ARGUMENTS + 8 * argument)
    body = [load, *steps, (LOAD, 0, 0, NUMBER)]
    return [(EQUAL, 0, len(body), number), *body]
