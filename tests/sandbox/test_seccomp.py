"""The filter, run step by step by a small interpreter of our own, on both architectures."""

import errno
import struct

import pytest

from burnish.sandbox import seccomp

ALLOWED, KILLED = seccomp.ALLOW, seccomp.KILL
REFUSED = seccomp.ERROR | errno.EPERM
COLUMNS = {"x86_64": 0, "aarch64": 1}


def verdict(machine: str, number: int, *arguments: int, architecture: int | None = None, loopback: bool = False) -> int:
    """What the filter says to one call."""
    program = seccomp.build_program(machine, loopback)
    assert program is not None
    steps = list(struct.iter_unpack("=HBBI", program))
    own = seccomp.ARCHITECTURES[machine][1]
    given = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("=IIQ6Q", number, own if architecture is None else architecture, 0, *given)
    value, at = 0, 0
    while True:
        code, yes, no, constant = steps[at]
        at += 1
        if code == seccomp.RETURN:
            return constant
        if code == seccomp.LOAD:
            value = struct.unpack_from("=I", data, constant)[0]
        elif code == seccomp.AND:
            value &= constant
        else:
            tests = {seccomp.EQUAL: value == constant, seccomp.AT_LEAST: value >= constant}
            at += yes if tests.get(code, bool(value & constant)) else no


@pytest.mark.parametrize("machine", COLUMNS)
@pytest.mark.parametrize("name", seccomp.DENIED)
def test_every_listed_call_is_refused(machine, name):
    number = seccomp.DENIED[name][COLUMNS[machine]]
    assert number is None or verdict(machine, number) == REFUSED


@pytest.mark.parametrize(("machine", "read"), [("x86_64", 0), ("aarch64", 63)])
def test_an_ordinary_call_is_allowed(machine, read):
    assert verdict(machine, read) == ALLOWED
    assert verdict(machine, read, architecture=0x40000003) == KILLED


@pytest.mark.parametrize("machine", COLUMNS)
def test_arguments_decide_where_they_must(machine):
    column = COLUMNS[machine]
    clone, socket, mknodat = (calls[column] for calls in (seccomp.CLONE, seccomp.SOCKET, seccomp.MKNODAT))
    assert verdict(machine, clone, 0x01200011) == ALLOWED
    assert verdict(machine, clone, 0x10000011) == REFUSED
    assert verdict(machine, seccomp.CLONE3[column]) == seccomp.ERROR | errno.ENOSYS
    assert verdict(machine, socket, 1) == ALLOWED
    assert [verdict(machine, socket, family) for family in (2, 10, 16, 17, 38, 40)] == [REFUSED] * 6
    assert verdict(machine, mknodat, 0, 0, 0o010600) == ALLOWED
    assert [verdict(machine, mknodat, 0, 0, kind) for kind in (0o020600, 0o060600)] == [REFUSED] * 2
    assert verdict(machine, seccomp.OTHERS["prlimit64"][1 + column], 0) == ALLOWED
    assert verdict(machine, seccomp.OTHERS["prlimit64"][1 + column], 17) == REFUSED
    priority = seccomp.SETPRIORITY[column]
    assert verdict(machine, priority, 0, 0, 5) == ALLOWED
    assert [verdict(machine, priority, *who, 5) for who in ((0, 17), (1, 0), (2, 0))] == [REFUSED] * 3
    assert verdict(machine, seccomp.IOCTL[column], 0, seccomp.TIOCSTI) == REFUSED
    assert verdict(machine, seccomp.IOCTL[column], 0, 0x5401) == ALLOWED


@pytest.mark.parametrize("machine", COLUMNS)
def test_with_a_loopback_there_is_tcp_and_udp_and_nothing_else(machine):
    def ask(number: int, *arguments: int) -> int:
        return verdict(machine, number, *arguments, loopback=True)

    column, flags = COLUMNS[machine], 0o2004000
    socket, option = seccomp.SOCKET[column], seccomp.SETSOCKOPT[column]
    wanted = [(family, kind | flags, 0) for family in (2, 10) for kind in (1, 2)] + [(2, 1, 6), (10, 2, 17), (1, 5, 0)]
    assert [ask(socket, *given) for given in wanted] == [ALLOWED] * len(wanted)
    raw, sctp, mptcp, ping, lite = (2, 3, 0), (2, 5, 0), (2, 1, 262), (2, 2, 1), (10, 2, 136)
    assert [ask(socket, *given) for given in (raw, sctp, mptcp, ping, lite)] == [REFUSED] * 5
    assert [ask(socket, family, 2, 0) for family in (0, 16, 17, 38, 40)] == [REFUSED] * 5
    assert [ask(option, 3, *refused) for refused in seccomp.SOCKET_OPTIONS.values()] == [REFUSED] * 2
    assert [ask(option, 3, *given) for given in ((6, 1), (1, 31), (41, 26))] == [ALLOWED] * 3
    assert ask(seccomp.IOCTL[column], 0, seccomp.TIOCSTI) == REFUSED, "what comes after is looked at as before"


def test_the_x32_convention_is_killed():
    assert verdict("x86_64", 0x40000000) == KILLED


def test_an_unknown_machine_has_no_filter():
    assert seccomp.build_program("pdp11") is None
