"""The seccomp filter of a cell, assembled here into the classic BPF program that bubblewrap loads.

Everything is allowed but the calls listed here, with their numbers on the two architectures we know. A call in a
foreign calling convention ends the process: its numbers mean other things.
"""

import errno
import platform
import struct

DENIED: dict[str, tuple[int | None, int | None]] = {
    # name: (x86_64, aarch64)
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "mount_setattr": (442, 442),
    "unshare": (272, 97),
    "setns": (308, 268),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "userfaultfd": (323, 282),
    "memfd_secret": (447, 447),
    "fanotify_init": (300, 262),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "syslog": (103, 116),
    "quotactl": (179, 60),
    "vhangup": (153, 58),
    "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264),
    "personality": (135, 92),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "iopl": (172, None),
    "ioperm": (173, None),
    "modify_ldt": (154, None),
    "mbind": (237, 235),
    "set_mempolicy": (238, 237),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    "ioprio_set": (251, 30),
    "process_mrelease": (448, 448),
    # What these make stays in the cell after the process that made it, so the next job would find it.
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    # These tell which pages of a file are in memory, so a job could tell the next one something by what it reads.
    "mincore": (27, 232),
    "cachestat": (451, 451),
}
NESTING = frozenset({"unshare", "chroot"})
"""With `clone`: how a browser makes the sandbox of its own around each page."""
CLONE = (56, 220)
CLONE3 = (435, 435)
PREADV2 = (327, 286)
SOCKET = (41, 198)
SETSOCKOPT = (54, 208)
IOCTL = (16, 29)
MKNOD = (133, None)
MKNODAT = (259, 33)

OTHERS = {
    # name: (number of the argument that names a process, x86_64, aarch64)
    "prlimit64": (0, 302, 261),
    "sched_setscheduler": (0, 144, 119),
    "sched_setparam": (0, 142, 118),
    "sched_setattr": (0, 314, 274),
}
"""Calls that a process may make for itself (0) but not for another."""
SETPRIORITY = (141, 140)
"""For itself only, too: its first argument says what the second names, 0 for a process (2 is everybody of a user)."""

NEW_NAMESPACES = 0x7E020000
"""Every CLONE_NEW… flag that `clone` takes."""
AF_UNIX, AF_INET, AF_INET6 = 1, 2, 10
STREAM, DATAGRAM, TYPE = 1, 2, 0xF
"""Types of sockets, and where the type is in a word that holds flags too."""
ANY_PROTOCOL, TCP, UDP = 0, 6, 17
SOCKET_OPTIONS = {"TCP_ULP": (6, 31), "IPV6_FLOWLABEL_MGR": (41, 32)}
"""Refused options, each with its level: kernel TLS, a large thing to be wrong; and labels that outlive their socket."""
TIOCSTI, TIOCLINUX = 0x5412, 0x541C
FILE_KIND, CHARACTER_DEVICE, BLOCK_DEVICE = 0xF000, 0x2000, 0x6000
REFUSED = errno.EPERM
UNKNOWN = errno.ENOSYS
"""For `clone3`, whose flags a filter cannot see: programs then use `clone`; and for `preadv2`, which can be asked
whether a page is in memory: programs that do not ask then use `preadv`.
"""

ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""Our column in the table, and what the kernel calls the architecture."""
LOAD, EQUAL, AT_LEAST, ANY_BIT, AND, RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16
KILL, ERROR, ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
X32 = 0x40000000

Step = tuple[int, int, int, int]
"""One instruction: code, steps to jump if true, if false, and its constant."""


def build_program(machine: str | None = None, loopback: bool = False, nesting: bool = False) -> bytes | None:
    """The filter for a machine, this one unless said; None when we do not know its system calls.

    With `nesting`, a program may make namespaces of its own in the cell, as the sandbox within Chromium does.
    """
    known = ARCHITECTURES.get(machine or platform.machine())
    if known is None:
        return None
    column, architecture = known
    # End the process unless the call is in the machine's own convention; then load the call's number.
    steps = [(LOAD, 0, 0, ARCHITECTURE), (EQUAL, 1, 0, architecture), (RETURN, 0, 0, KILL), (LOAD, 0, 0, NUMBER)]
    if column == 0:
        steps += [(AT_LEAST, 0, 1, X32), (RETURN, 0, 0, KILL)]
    denied = DENIED.keys() - NESTING if nesting else DENIED.keys()
    refused = [(numbers[column], REFUSED) for name, numbers in DENIED.items() if name in denied]
    for number, error in (*refused, (CLONE3[column], UNKNOWN), (PREADV2[column], UNKNOWN)):
        if number is not None:
            steps += [(EQUAL, 0, 1, number), (RETURN, 0, 0, ERROR | error)]
    steps += [*check_arguments(column, loopback, nesting), (RETURN, 0, 0, ALLOW)]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def check_arguments(column: int, loopback: bool, nesting: bool) -> list[Step]:
    """Refuse calls by one of their arguments. The call's number is loaded again after each look at one."""
    error = (RETURN, 0, 0, ERROR | REFUSED)
    devices = [(AND, 0, 0, FILE_KIND), (EQUAL, 1, 0, CHARACTER_DEVICE), (EQUAL, 0, 1, BLOCK_DEVICE)]
    own_only = [(EQUAL, 1, 0, 0), error]
    # TCP and UDP, of both families; the rest of what a kernel may know (SCTP, MPTCP, raw, ping) is refused.
    internet_too = [
        *((EQUAL, 11, 0, AF_UNIX), (EQUAL, 1, 0, AF_INET), (EQUAL, 0, 8, AF_INET6)),
        *((LOAD, 0, 0, ARGUMENTS + 8), (AND, 0, 0, TYPE), (EQUAL, 1, 0, STREAM), (EQUAL, 0, 4, DATAGRAM)),
        *((LOAD, 0, 0, ARGUMENTS + 16), (EQUAL, 3, 0, ANY_PROTOCOL), (EQUAL, 2, 0, TCP), (EQUAL, 1, 0, UDP)),
        error,
    ]
    refused_options = [
        (SETSOCKOPT[column], 1, [(EQUAL, 0, 3, level), (LOAD, 0, 0, ARGUMENTS + 16), (EQUAL, 0, 1, option), error])
        for level, option in SOCKET_OPTIONS.values()
    ]
    ways = [
        *([] if nesting else [(CLONE[column], 0, [(ANY_BIT, 0, 1, NEW_NAMESPACES), error])]),
        (SOCKET[column], 0, internet_too if loopback else [(EQUAL, 1, 0, AF_UNIX), error]),
        *(refused_options if loopback else []),
        (IOCTL[column], 1, [(EQUAL, 1, 0, TIOCSTI), (EQUAL, 0, 1, TIOCLINUX), error]),
        (MKNOD[column], 1, [*devices, error]),
        (MKNODAT[column], 2, [*devices, error]),
        *((SETPRIORITY[column], argument, own_only) for argument in (0, 1)),
        *((numbers[column], argument, own_only) for argument, *numbers in OTHERS.values()),
    ]
    found: list[Step] = []
    for number, argument, steps in ways:
        if number is not None:
            body = [(LOAD, 0, 0, ARGUMENTS + 8 * argument), *steps, (LOAD, 0, 0, NUMBER)]
            found += [(EQUAL, 0, len(body), number), *body]
    return found
