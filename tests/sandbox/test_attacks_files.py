"""Code in a cell wants the user's files, or to leave something in them."""

import os
import sys
from pathlib import Path

import pytest

from burnish.sandbox import open_sandbox
from tests.sandbox.attack import is_healthy
from tests.sandbox.kinds import is_streamed

needs_root = pytest.mark.skipif(os.getuid() != 0, reason="outside a cell only root can do this")


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file of the user's."""
    file = tmp_path / "id_rsa"
    file.write_text("a private key")
    return file


@pytest.mark.slow
def test_a_file_of_the_user_cannot_be_read(fails_inside, secret):
    fails_inside(f"open({str(secret)!r}).read()")


def test_the_user_s_folder_cannot_be_listed(fails_inside, secret):
    fails_inside(f"import os; os.listdir({str(secret.parent)!r})")


def test_the_users_of_the_machine_are_not_told(fails_inside):
    fails_inside("assert 'root' in open('/etc/passwd').read()")


@pytest.mark.slow
def test_the_source_of_burnish_is_not_there(fails_inside):
    import burnish

    fails_inside(f"open({burnish.__file__!r}).read()")


def test_the_environment_of_burnish_cannot_be_read(fails_inside):
    fails_inside(f"assert open('/proc/{os.getpid()}/environ', 'rb').read()")


@pytest.mark.slow
def test_other_processes_are_not_seen(fails_inside):
    fails_inside(f"import os; assert '{os.getpid()}' in os.listdir('/proc')")


def test_nothing_is_written_outside_the_work_folder(fails_inside, tmp_path):
    target = tmp_path / "planted"
    fails_inside(f"open({str(target)!r}, 'w').write('x')")


@pytest.mark.skipif(
    not os.access(f"{sys.base_prefix}/lib", os.W_OK), reason="outside a cell only its owner can do this"
)
def test_the_interpreter_cannot_be_changed(fails_inside):
    target = Path(sys.base_prefix) / "lib" / "burnish-attack.txt"
    fails_inside(f"import os; open({str(target)!r}, 'w').close(); os.unlink({str(target)!r})")


@pytest.mark.slow
def test_a_symbolic_link_leads_nowhere(fails_inside, secret):
    fails_inside(f"import os; os.symlink({str(secret)!r}, 'link'); open('link').read()")


@pytest.mark.slow
def test_a_hard_link_cannot_be_made(fails_inside, secret):
    fails_inside(f"import os; os.link({str(secret)!r}, 'link'); open('link').read()")


def test_climbing_up_leads_nowhere(fails_inside, secret):
    fails_inside(f"open('../' * 30 + {str(secret)[1:]!r}).read()")


@needs_root
def test_a_device_node_cannot_be_made(fails_inside):
    fails_inside("import os, stat; os.mknod('disk', 0o600 | stat.S_IFBLK, os.makedev(254, 0))")


@needs_root
def test_the_kernel_log_cannot_be_read(fails_inside):
    fails_inside("open('/dev/kmsg', 'rb').close()")


def test_the_control_groups_cannot_be_reached(fails_inside):
    fails_inside("import os; assert os.listdir('/sys/fs/cgroup')")


def test_a_sparse_terabyte_is_refused(fails_inside):
    fails_inside("open('big', 'wb').truncate(1 << 40)")


@pytest.mark.slow
def test_the_work_folder_has_a_size(fails_inside):
    fails_inside("for n in range(4): open(f'{n}', 'wb').write(bytes(50 << 20))")


@pytest.mark.slow
def test_shared_memory_has_a_size(fails_inside):
    write = "open('/dev/shm/burnish-attack', 'wb').write(bytes(150 << 20))"
    fails_inside(f"import os\ntry:\n    {write}\nfinally:\n    os.unlink('/dev/shm/burnish-attack')")


def test_the_root_of_the_cell_is_read_only(cell):
    assert cell.run(["touch", "/here"]).exit_code != 0
    assert cell.run(["touch", "/dev/here"]).exit_code != 0


def test_the_environment_is_empty_but_for_what_a_program_needs(cell, monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "hush")
    shown = cell.run(["python", "-c", "import os; print(sorted(os.environ))"]).output
    assert "SECRET" not in shown
    assert "HOME" in shown


WRITABLE = """
import os
found = []
for line in open("/proc/self/mounts"):
    place, kind, options = line.split()[1:4]
    if "ro" in options.split(",") or kind in ("proc", "devpts") or not os.path.isdir(place): continue
    found += [here for here, _, _ in os.walk(place) if os.access(here, os.W_OK)]
print(*sorted({here for here in found if here != os.getcwd()}))
"""


def test_three_places_can_be_written_and_no_other(cell):
    assert cell.run(["python", "-c", WRITABLE]).output.split() == ["/dev/shm", "/tmp", "/work"]


SOCKETS = """
import os, socket, stat
for top in (name for name in os.listdir("/") if name not in ("proc", "usr", "packages")):
    for here, _, names in os.walk("/" + top):
        for name in names:
            path = os.path.join(here, name)
            if stat.S_ISSOCK(os.lstat(path).st_mode): print(path)
path = "/control"
try: socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).connect(path)
except OSError as error: print(type(error).__name__)
"""


@pytest.mark.slow
def test_no_socket_answers_not_even_the_one_a_container_was_born_with(cell):
    said = cell.run(["python", "-c", SOCKETS]).output.split()
    has_called = cell.kind == "docker" and not is_streamed(cell.kind)
    assert said == (["ConnectionRefusedError"] if has_called else ["FileNotFoundError"])


MESS = {
    "deep folders": "for d in ('.', '/tmp', '/dev/shm'):\n os.chdir(d)\n"
    " for n in range(5000): os.mkdir('d' * 100); os.chdir('d' * 100)",
    "folders without permissions": "os.makedirs('a/b/c'); open('a/b/f', 'w')\n"
    "for d in ('a/b/c', 'a/b', 'a', '.'): os.chmod(d, 0)",
    "a work folder without permissions": "os.mkdir('/work/mine'); os.chmod('/work/mine', 0); os.chmod('/work', 0)",
    "places without permissions": "for d in ('/tmp', '/dev/shm'): os.mkdir(d + '/x'); os.chmod(d, 0)",
    "a work folder that is gone": "os.rmdir(os.getcwd())",
    "a work folder that is a file": "here = os.getcwd(); os.rmdir(here); open(here, 'w')",
    "a work folder that is a link": "here = os.getcwd(); os.rmdir(here); os.symlink('/usr', here)",
    "names that are no text": "open(b'\\xff\\xfe\\n' + b'x' * 250, 'w'); os.mkdir(b'\\xed\\xa0\\x80'); os.mkdir('-rf')",
    "other kinds of files": "os.mkfifo('pipe'); socket.socket(socket.AF_UNIX).bind('here'); os.symlink('loop', 'loop')",
    "names of our own": "os.makedirs('/tmp/a/b/c'); open('/tmp/.burnish-1', 'w'); os.makedirs('/tmp/.burnish-2/x')",
    "many files": "for n in range(60_000): open(f'/tmp/{n}', 'w').close()",
    "full places": "for d in ('.', '/tmp', '/dev/shm'):\n"
    " for n in range(9):\n  try: open(f'{d}/{n}', 'wb').write(bytes(60 << 20))\n  except OSError: pass",
}


@pytest.mark.slow
@pytest.mark.parametrize("mess", MESS)
def test_a_mess_of_files_hurts_neither_its_own_job_nor_the_next(cell, mess):
    ran = cell.run(["python", "-c", f"import os, socket\n{MESS[mess]}"])
    assert (ran.exit_code, ran.broke_cell) == (0, False), ran.output
    assert cell.run(["ls", "-A", "/tmp", "/dev/shm"]).output.split() == ["/dev/shm:", "/tmp:"]
    assert is_healthy(cell)


@pytest.mark.slow
@pytest.mark.parametrize("mess", MESS)
def test_graded_code_that_makes_a_mess_gets_its_verdict(cell, mess):
    body = MESS[mess].replace("\n", "\n    ")
    graded = cell.grade(f"import os, socket\ndef f():\n    {body}\n    return 1", "assert f() == 1")
    assert graded.all_passed, graded
    assert is_healthy(cell)


@pytest.mark.slow
@pytest.mark.parametrize("mess", ["deep folders", "folders without permissions", "names that are no text"])
def test_a_mess_is_removed_where_there_is_no_cell_too(mess, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    code = MESS[mess].replace("('.', '/tmp', '/dev/shm')", "('.',)")
    with open_sandbox("process", cells=1) as box:
        assert box.run(["python", "-c", f"import os\n{code}"]).exit_code == 0
        assert is_healthy(box)
    assert list(tmp_path.iterdir()) == []
