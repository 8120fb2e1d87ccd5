"""A served program, or a job with a loopback, wants more than to answer who calls it."""

import contextlib
import socket
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from burnish.sandbox import JobLimits, Sandbox, Served, ServeLimits, open_sandbox, seccomp
from burnish.sandbox.box import Box
from tests.sandbox.attack import works
from tests.sandbox.kinds import ISOLATED, must_be_there, skip_streamed
from tests.sandbox.served import ask, find_processes, serve_shell, works_served
from tests.sandbox.test_attacks_network import listening
from tests.sandbox.test_owner import family, remaining

MIB = 1 << 20
CALL = "import ctypes; call = ctypes.CDLL(None, use_errno=True).syscall; "
OTHERS = "import os\npids = [int(n) for n in os.listdir('/proc') if n.isdigit() and int(n) != os.getpid()]\n"
"""In a served cell these are process 1 and the relay."""


@pytest.fixture(scope="module", params=ISOLATED)
def box(request: pytest.FixtureRequest) -> Iterator[Box]:
    with open_sandbox(must_be_there(request.param), cells=1) as opened:
        yield opened


@pytest.fixture(scope="module")
def shell(box: Box) -> Iterator[Served]:
    with serve_shell(box) as served:
        yield served


@pytest.fixture
def fails_served(shell: Served, outside: Sandbox) -> Callable[[str], None]:
    """The attack works outside, fails in a served program, and that still answers."""

    def check(code: str) -> None:
        assert works(outside, code), "outside the cell this attack must work"
        assert not works_served(shell, code)
        assert ask(shell, "print(1)") == "1\n"

    return check


def test_the_shell_of_these_tests_would_tell_of_a_success(shell):
    assert works_served(shell, "import socket; socket.create_connection(('127.0.0.1', 8000)).close()")


def test_a_service_on_the_machine_s_loopback_cannot_be_reached(fails_served):
    with socket.create_server(("127.0.0.1", 0)) as service:
        fails_served(f"import socket; socket.create_connection(('127.0.0.1', {service.getsockname()[1]}), 2)")


def test_unix_sockets_of_the_user_cannot_be_reached(fails_served, tmp_path):
    for address in (str(tmp_path / "s"), "\0burnish-serve-attack"):
        with listening(address):
            fails_served(f"import socket; socket.socket(socket.AF_UNIX).connect({address!r})")


def test_there_is_no_way_out_and_nobody_to_ask_for_a_name(shell):
    code = """
import socket, time
began = time.monotonic()
for address in ("192.0.2.1", "10.0.0.1", "169.254.169.254", "2001:db8::1", "255.255.255.255", "example.org"):
    try:
        socket.create_connection((address, 80), 5)
        print("reached", address)
    except OSError:
        pass
print(len(open("/proc/net/route").readlines()), len(open("/proc/net/dev").readlines()), time.monotonic() - began < 2)
"""
    assert ask(shell, code) == "1 3 True\n", "no route, no device but the loopback, and no waiting"


@pytest.mark.slow
def test_packets_cannot_be_made_by_hand_nor_the_network_be_changed(shell):
    for family_, kind in (("AF_INET", "SOCK_RAW"), ("AF_PACKET", "SOCK_RAW"), ("AF_NETLINK", "SOCK_RAW")):
        assert not works_served(shell, f"import socket; socket.socket(socket.{family_}, socket.{kind})")
    assert not works_served(shell, "open('/proc/sys/net/ipv4/ip_forward', 'w').write('1')")
    up = "import fcntl, socket, struct; s = socket.socket(); "
    assert not works_served(shell, f"{up}fcntl.ioctl(s, 0x8914, struct.pack('16sh22x', b'lo', 0))")


@pytest.mark.slow
def test_the_user_s_files_are_not_there(fails_served, shell, tmp_path):
    (tmp_path / "secret").write_text("x")
    fails_served(f"open({str(tmp_path / 'secret')!r}).read()")
    # Of the home folder only what leads to the interpreter may be there, if that is where it lives.
    ours = Path(sys.base_prefix).parts[: len(Path.home().parts) + 1][-1:]
    code = f"import os; print(*(os.listdir({str(Path.home())!r}) if os.path.exists({str(Path.home())!r}) else []))"
    assert {*ask(shell, code).split()} <= {*ours}


def test_its_socket_cannot_be_seen_replaced_or_called_from_inside(shell):
    path = str(shell.socket)
    assert Path(path).is_socket()
    for attack in (f"os.unlink({path!r})", f"os.listdir({str(shell.folder)!r})", f"os.rename({path!r}, '/tmp/x')"):
        assert not works_served(shell, f"import os; {attack}")
    assert not works_served(shell, f"import socket; socket.socket(socket.AF_UNIX).connect({path!r})")
    # It may make a folder of that name in its own /tmp; nobody outside comes there.
    own = f"import os, socket; os.makedirs({str(shell.folder)!r}); s = socket.socket(socket.AF_UNIX); s.bind({path!r})"
    assert works_served(shell, f"{own}; s.listen()") or box_has_other_tmp(shell)
    assert ask(shell, "print(1)") == "1\n"


def box_has_other_tmp(served: Served) -> bool:
    """True where the folder of sockets is not below a folder that a cell could write to."""
    return not served.folder.is_relative_to("/tmp")


def test_the_program_holds_nothing_of_the_relay_and_cannot_take_it(shell):
    code = "import os; print(sorted(os.readlink(f'/proc/self/fd/{n}')[:6] for n in (0, 1, 2, 3, 4)))"
    assert ask(shell, code) == "['/dev/n', 'pipe:[', 'pipe:[', 'socket', 'socket']\n", "its listener, and this call"
    assert not works_served(shell, "import os; os.fstat(6)")
    for look in (
        "os.listdir(f'/proc/{pid}/fd')",
        "open(f'/proc/{pid}/mem', 'r+b')",
        "open(f'/proc/{pid}/environ').read()",
    ):
        assert not works_served(shell, f"{OTHERS}done = []\nfor pid in pids: done.append({look})")
    numbers = {name: seccomp.DENIED[name][0] for name in ("ptrace", "pidfd_getfd", "process_vm_writev")}
    trace = f"{OTHERS}{CALL}assert any(call({numbers['ptrace']}, 16, pid, 0, 0) == 0 for pid in pids)"
    fetch = f"call({numbers['pidfd_getfd']}, os.pidfd_open(pid), n, 0)"
    take = f"{OTHERS}{CALL}assert any({fetch} >= 0 for pid in pids for n in range(9))"
    assert not works_served(shell, trace)
    assert not works_served(shell, take)


def test_a_client_s_connection_tells_nothing_of_who_calls(shell):
    """What the program accepts is the relay's own connection, in the cell's network."""
    assert ask(shell, "print(request.family.name, request.getpeername()[0])") == "AF_INET 127.0.0.1\n"


@pytest.mark.slow
def test_who_kills_the_relay_is_gone_with_it(box):
    skip_streamed(box.kind, "its relays are another user's")
    with serve_shell(box) as served:
        members = family(served._cell.process.pid)
        with contextlib.suppress(OSError):
            ask(served, f"{OTHERS}import signal\nfor pid in pids:\n    if pid != 1: os.kill(pid, signal.SIGKILL)", 5)
        served._thread.join(30)
        assert not served.alive
        assert not served.folder.exists()
    assert not remaining(members, 2.0)


@pytest.mark.slow
def test_who_stops_the_relay_cannot_keep_stop_from_coming(box):
    skip_streamed(box.kind, "its relays are another user's")
    with serve_shell(box) as served:
        with pytest.raises(TimeoutError):
            ask(served, f"{OTHERS}import signal\nfor pid in pids:\n    os.kill(pid, signal.SIGSTOP)", 1)
        began = time.monotonic()
        served.stop()
        assert time.monotonic() - began < 2


@pytest.mark.slow
def test_nothing_that_it_started_outlives_stop(box):
    code = """
import os, signal, subprocess, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in range(1, 32):
            try: signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError): pass
        os.execvp("sleep", ["sleep", "98.7654"])
    os._exit(0)
os.wait(); time.sleep(0.3)
"""
    with serve_shell(box) as served:
        ask(served, code.replace("signal.signal(number, signal.SIG_IGN)", "pass"))
        assert find_processes("sleep 98.7654")
    assert not remaining(find_processes("sleep 98.7654"), 1.0)


SMALL = ServeLimits(memory_bytes=256 * MIB, folder_bytes=8 * MIB, file_bytes=4 * MIB, processes=16)


@pytest.mark.slow
def test_memory_disk_files_and_processes_have_the_limits_of_a_job(box):
    with serve_shell(box, limits=SMALL) as served:
        assert not works_served(served, "x = bytearray(600 << 20)")
        fill = (
            "n = 0\nwhile True:\n    open(f'{folder}/file-{n}', 'wb').write(bytes(1 << 20)); n += 1\n    assert n < 64"
        )
        for folder in ("/work", "/tmp", "/dev/shm"):
            assert "No space left" in ask(served, f"folder = {folder!r}\n{fill}"), folder
        assert "File too large" in ask(served, "open('/work/x', 'wb').truncate(5 << 20)")
        assert "Too many open files" in ask(served, "files = [open('/dev/null') for _ in range(600)]")
        forks = "import os, time\nfor n in range(64):\n    if os.fork() == 0: time.sleep(3); os._exit(0)"
        assert "BlockingIOError" in ask(served, forks)


@pytest.mark.slow
def test_a_fork_bomb_ends_with_stop(box):
    served = serve_shell(box, "bomb", limits=SMALL)
    members = family(served._cell.process.pid)
    with contextlib.suppress(OSError):
        ask(served, "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass", 2)
    began = time.monotonic()
    served.stop()
    assert time.monotonic() - began < 5
    assert not remaining([*members, *find_processes("shell.py bomb")], 2.0)


def memory_of(served: Served) -> int:
    """Bytes that the processes of a cell have for themselves."""
    total = 0
    for pid in family(served._cell.process.pid):
        rows = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        total += sum(int(row.split()[1]) for row in rows if row.startswith("Private_"))
    return total * 1024


ENDLESS = """
import socket, threading
def talk(client):
    client.sendall(b"HTTP/1.1 200 OK\\r\\n")
    while True: client.sendall(b"X-Header: " + b"x" * 60000)
def listen(client):
    client.recv(1)  # and never more
    threading.Event().wait()
server = socket.create_server(("127.0.0.1", 8000), backlog=64)
while True:
    client, _ = server.accept()
    threading.Thread(target=KIND, args=(client,), daemon=True).start()
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["talk", "listen"])
def test_neither_endless_answers_nor_requests_that_nobody_reads_fill_the_relay(box, kind):
    skip_streamed(box.kind, "its processes have no numbers here")
    files = {"endless.py": ENDLESS.replace("KIND", kind)}
    served = box.serve(["python", "endless.py"], 8000, files)
    with served, contextlib.ExitStack() as opened:
        before = memory_of(served)
        clients = [opened.enter_context(served.connect(1)) for _ in range(8)]
        for client in clients:
            if kind == "talk":
                assert client.recv(10)
            else:
                with pytest.raises(TimeoutError):
                    client.sendall(bytes(64 * MIB))
        time.sleep(1)
        assert memory_of(served) - before < 24 * MIB
        if kind == "talk":
            assert sum(len(clients[0].recv(65536)) for _ in range(200)) > MIB, "who reads gets as much as wanted"
        with served.connect() as another:
            another.sendall(b"x")


@pytest.mark.slow
def test_clients_that_gave_up_on_a_silent_program_leave_their_places(box):
    with serve_shell(box, limits=ServeLimits(connections=2)) as served:
        for _ in range(4):
            with pytest.raises(TimeoutError):
                ask(served, "import time; time.sleep(60)", 1)
            time.sleep(0.6)
        assert ask(served, "print(1)") == "1\n"


@pytest.mark.slow
def test_output_without_end_is_kept_in_part(box):
    with serve_shell(box, limits=ServeLimits(output_bytes=100_000)) as served:
        ask(served, "import os\nfor _ in range(500): os.write(1, b'x' * 10000)\nos.write(1, b'last')")
        time.sleep(0.5)
        assert len(served.output) <= 100_000
        assert served.output.endswith("last")


# What a loopback could keep from one job for the next, in the cells of a project.


@pytest.fixture(scope="module", params=ISOLATED)
def open_cell(request: pytest.FixtureRequest) -> Iterator[Box]:
    with open_sandbox(must_be_there(request.param), cells=1, limits=JobLimits(loopback=True)) as opened:
        yield opened


BOUND = "import socket; s = socket.socket(); s.bind(('127.0.0.1', 7000)); s.listen(); "
TALK = f"{BOUND}c = socket.create_connection(('127.0.0.1', 7000)); a, _ = s.accept(); a.close(); c.close(); s.close()"
SENT = "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b'x', ('127.0.0.1', 9))"
COUNTS = "print([open(f'/proc/net/{n}').read() for n in ('dev', 'snmp', 'snmp6', 'netstat', 'tcp', 'udp')])"
UNROUTED = "import socket\nwith socket.socket() as s: s.connect_ex(('192.0.2.1', 80))"


@pytest.mark.slow
@pytest.mark.parametrize("attack", [TALK, SENT, UNROUTED, f"{TALK}; import os; os.kill(os.getpid(), 9)"])
def test_a_job_that_used_the_network_leaves_no_trace_of_it_for_the_next(open_cell, attack):
    clean = open_cell.run(["python", "-c", COUNTS]).output
    (cell,) = open_cell._all
    assert open_cell.run(["python", "-c", COUNTS]).output == clean
    assert cell in open_cell._all, "a job that did not is no reason for a new cell"
    assert "Error" not in open_cell.run(["python", "-c", attack]).output
    assert cell not in open_cell._all
    assert open_cell.run(["python", "-c", COUNTS]).output == clean
    assert open_cell.run(["python", "-c", TALK]).exit_code == 0, "the port is free, without any option"


@pytest.mark.slow
def test_a_port_that_was_bound_and_never_used_is_free_for_the_next_job(open_cell):
    for _ in range(3):
        assert open_cell.run(["python", "-c", BOUND]).exit_code == 0


@pytest.mark.slow
def test_two_jobs_at_once_do_not_meet(open_cell):
    with open_sandbox(open_cell.kind, cells=2, limits=JobLimits(loopback=True)) as box, serve_shell(box):
        assert box.run(["python", "-c", BOUND.replace("7000", "8000")]).exit_code == 0
        refused = "import socket; print(socket.socket().connect_ex(('127.0.0.1', 8000)))"
        assert box.run(["python", "-c", refused]).output == "111\n"


def test_cells_that_grade_code_have_no_loopback(cell):
    assert not works(cell, "import socket; socket.socket()")
    code = "import socket\ndef f():\n    socket.socket()\n    return 1"
    assert not cell.grade(code, "assert f() == 1").all_passed
