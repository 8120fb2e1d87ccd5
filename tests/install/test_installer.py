"""The installer on a small source: what it brings, that it can be repeated and undone, and how it refuses."""

import json
import os
import re
import select
import shutil
import signal
import socket
import socketserver
import subprocess
import sys
import tarfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

import pytest
from tree_sitter import Language, Parser

from burnish.commands import bundle
from burnish.packages.uv import find_uv

ROOT = Path(__file__).resolve().parents[2]
SAYS = "import sys\n\n\ndef enter():\n    print('burnish says', *sys.argv[1:])\n"
DOCTOR = "def explain_sandbox():\n    return ''\n"
SLOW_PULL = "import time\n\ntime.sleep(60)\n"
FAKE_PULL = (
    "import os, pathlib, sys\n"
    "folder = pathlib.Path(os.environ['BURNISH_CACHE'], 'models')\n"
    "folder.mkdir(parents=True, exist_ok=True)\n"
    "for name in ('tiny.gguf', 'tiny.gguf.checked', '.lock-tiny.gguf'):\n    (folder / name).touch()\n"
)


class Machine:
    """A home with an umlaut and a space, a source with no packages, and the install.sh in it."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "Jürgen Groß"
        self.home.mkdir()
        self.source = folder / "the source"
        self.app = self.home / ".local" / "share" / "burnish-app"
        (self.source / "src" / "burnish").mkdir(parents=True)
        for name in ("burnish", "bootstrap.py", "installer.py", "install.sh"):
            shutil.copy(ROOT / name, self.source / name)
        (self.source / "requirements").mkdir()
        for lock in ("core", "uv", "openmp"):
            self.write(f"requirements/{lock}.txt", "")
        self.write("src/burnish/__init__.py", "")
        self.write("src/burnish/version.py", "__version__ = '9.9'\n")
        self.write("src/burnish/cli/main.py", SAYS)
        self.write("src/burnish/doctor.py", DOCTOR)
        self.write("src/burnish/__main__.py", FAKE_PULL)
        weights = "types.SimpleNamespace(file='tiny.gguf', bytes=7)"
        names = ("local:qwen2.5-coder-1.5b", "local:qwen2.5-coder-0.5b")
        catalog = f"import types\n\nCATALOG = dict.fromkeys({names}, {weights})\n"
        self.write("src/burnish/models/catalog.py", catalog)
        settings = "src/burnish/packages/index_settings.py"
        self.write(settings, (ROOT / settings).read_text("utf-8"))
        tools = folder / "tools"
        tools.mkdir()
        (tools / "uv").symlink_to(find_uv())
        (tools / "python3").symlink_to(os.path.realpath(sys.executable))
        self.variables = {
            "HOME": str(self.home),
            "PATH": f"{self.home}/.local/bin:{tools}:/usr/bin:/bin",
            "BURNISH_CACHE": str(self.home / ".cache" / "burnish"),
            "LANG": "C.UTF-8",
        }

    def write(self, name: str, text: str) -> None:
        (self.source / name).parent.mkdir(parents=True, exist_ok=True)
        (self.source / name).write_text(text, "utf-8")

    def start(self, *args: str, **variables: str) -> subprocess.Popen[str]:
        command = ["sh", str(self.source / "install.sh"), *args]
        return subprocess.Popen(
            command,
            env=self.variables | variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def install(self, *args: str, **variables: str) -> tuple[int, str, str]:
        run = self.start(*args, **variables)
        out, err = run.communicate(timeout=100)
        return run.returncode, out, err

    def files(self) -> set[str]:
        return {
            str(path.relative_to(self.home)) for path in self.home.rglob("*") if not path.is_dir() or path.is_symlink()
        }

    def burnish(self, *args: str) -> str:
        command = [self.home / ".local" / "bin" / "burnish", *args]
        return subprocess.run(command, env=self.variables, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def steps(out: str, sign: str = "✓") -> list[str]:
    return [line.split()[1] for line in out.splitlines() if line.startswith(f" {sign} ")]


def refusal(err: str) -> str:
    """The one paragraph that says what is wrong; it ends with something to type."""
    said = err.strip().splitlines()[-1]
    assert said.startswith("burnish: ")
    assert "type" in said.lower()
    return said


def test_every_step_is_a_line_and_the_command_works(machine: Machine) -> None:
    code, out, err = machine.install("--no-open")
    assert code == 0, out + err
    assert steps(out) == [
        *("uv", "Python", "machine", "Burnish", "packages", "command", "sandbox", "model", "desktop"),
    ]
    assert steps(out, "–") == ["docker", "ollama"]
    assert machine.burnish("hello") == "burnish says hello\n"
    entry = (machine.app.parent / "applications" / "burnish.desktop").read_text("utf-8")
    assert f'Exec="{machine.app}/source/burnish" ui\n' in entry


def test_the_page_is_opened_at_the_end(machine: Machine) -> None:
    assert machine.install("--without", "model")[1].endswith("burnish says ui\n")
    assert "says" not in machine.install("--without", "model,page")[1]


def test_a_second_install_changes_nothing(machine: Machine) -> None:
    machine.install("--no-open")
    before = {name: os.lstat(machine.home / name).st_mtime_ns for name in machine.files() if not name.endswith("lock")}
    code, out, _ = machine.install("--no-open")
    after = {name: os.lstat(machine.home / name).st_mtime_ns for name in machine.files() if not name.endswith("lock")}
    assert (code, after) == (0, before)
    assert out.count("there already") == 7


def test_uninstall_removes_what_was_brought_and_nothing_else(machine: Machine) -> None:
    own = (".local/bin/mine", ".local/share/applications/mine.desktop", ".local/share/burnish/runs/1", ".config/mine")
    for name in own:
        (machine.home / name).parent.mkdir(parents=True, exist_ok=True)
        (machine.home / name).touch()
    machine.install("--no-open")
    uninstall = [machine.home / ".local" / "bin" / "burnish-uninstall"]
    done = subprocess.run(uninstall, env=machine.variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert machine.files() == set(own)


def test_runs_and_settings_go_only_when_that_is_asked_for_and_agreed_to(machine: Machine) -> None:
    for name in (".local/share/burnish/runs/1", ".config/burnish/config.toml"):
        (machine.home / name).parent.mkdir(parents=True)
        (machine.home / name).touch()
    machine.install("--no-open", "--without", "model")
    everything = machine.files()
    assert machine.install("uninstall", "--all")[0] == 2  # nobody there to agree
    assert machine.files() == everything
    assert machine.install("uninstall", "--all", "--yes")[0] == 0
    assert machine.files() == set()


def test_weights_that_were_there_before_stay(machine: Machine) -> None:
    folder = machine.home / ".cache" / "burnish" / "models"
    folder.mkdir(parents=True)
    for name in ("tiny.gguf", "tiny.gguf.checked"):
        (folder / name).touch()
    machine.install("--no-open")
    machine.install("uninstall")
    assert machine.files() == {".cache/burnish/models/tiny.gguf", ".cache/burnish/models/tiny.gguf.checked"}


def test_a_program_of_the_same_name_is_left_alone(machine: Machine) -> None:
    other = machine.home / ".local" / "bin" / "burnish"
    other.parent.mkdir(parents=True)
    other.write_text("#!/bin/sh\necho other\n")
    code, out, _ = machine.install("--no-open", "--without", "model")
    assert (code, steps(out, "–")[0]) == (0, "command")
    machine.install("uninstall")
    assert machine.files() == {".local/bin/burnish"}


def test_a_newer_source_takes_the_place_of_the_older_and_keeps_the_packages(machine: Machine) -> None:
    machine.install("--no-open")
    stamp = machine.app / "source" / ".venv" / "stamps" / "core"
    before = stamp.stat().st_mtime_ns
    machine.write("src/burnish/cli/main.py", SAYS.replace("burnish says", "the newer says"))
    assert machine.install("--no-open")[0] == 0
    assert machine.burnish("hello") == "the newer says hello\n"
    assert stamp.stat().st_mtime_ns == before


@pytest.mark.parametrize(
    "args",
    [("--frobnicate",), ("--with", "dokcer"), ("--without", "everything"), ("--model", "gpt"), ("--from", "/nowhere")],
)
def test_what_it_does_not_know_is_one_sentence_and_leaves_nothing(machine: Machine, args: tuple[str, ...]) -> None:
    code, _, err = machine.install("--no-open", *args)
    assert code == 2
    assert args[-1] in refusal(err)
    assert machine.files() == set()


def test_without_a_network_nothing_is_left(machine: Machine) -> None:
    machine.write("requirements/core.txt", f"one==1.0 --hash=sha256:{'0' * 64}\n")
    nowhere = {"PIP_CONFIG_FILE": os.devnull, "PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_RETRIES": "1"}
    code, out, err = machine.install("--no-open", **nowhere)
    assert (code, steps(out)[-1]) == (2, "Burnish")
    assert "network" in refusal(err)
    assert machine.files() == set()


def test_a_package_that_arrives_broken_is_refused(machine: Machine, tmp_path: Path) -> None:
    wheel = tmp_path / "one-1.0-py3-none-any.whl"
    shutil.make_archive(str(tmp_path / "one"), "zip", machine.source / "requirements")
    (tmp_path / "one.zip").rename(wheel)
    machine.write("requirements/core.txt", f"one==1.0 --hash=sha256:{'0' * 64}\n")
    variables = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path)}
    code, _, err = machine.install("--no-open", **variables)
    assert code == 2
    assert "SHA-256" in refusal(err)
    assert machine.files() == set()


def test_an_archive_that_was_cut_short_is_refused_and_a_whole_one_installed(machine: Machine, tmp_path: Path) -> None:
    whole, broken = tmp_path / "burnish.tar.gz", tmp_path / "broken.tar.gz"
    with tarfile.open(whole, "w:gz") as archive:
        archive.add(machine.source, "burnish-9.9")
    broken.write_bytes(whole.read_bytes()[:5000])
    code, _, err = machine.install("--no-open", "--from", str(broken))
    assert (code, machine.files()) == (2, set())
    assert str(broken) in refusal(err)
    piped = ["sh", "-s", "--", "--no-open", "--without", "model", "--from", whole.as_uri()]
    script = (machine.source / "install.sh").read_text("utf-8")
    done = subprocess.run(piped, input=script, env=machine.variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not list(machine.app.glob("unpacked*"))


def test_a_processor_that_no_package_is_for_is_named(machine: Machine) -> None:
    if not shutil.which("setarch"):
        pytest.skip("needs the program setarch")
    command = ["setarch", "i686", "sh", machine.source / "install.sh", "--no-open"]
    done = subprocess.run(command, env=machine.variables, capture_output=True, text=True)
    assert done.returncode == 2
    assert "i686" in refusal(done.stderr)
    assert machine.files() == set()


def test_a_step_that_needs_root_says_why_and_does_nothing_unasked(machine: Machine, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    for name in ("sudo", "apt-get", "usermod", "gpasswd"):
        stand_in = tmp_path / "tools" / name
        stand_in.write_text(f'#!/bin/sh\necho {name} "$@" >> {ran}\n' + ('exec "$@"\n' if name == "sudo" else ""))
        stand_in.chmod(0o755)
    path = machine.variables["PATH"].replace(":/usr/bin:/bin", "")
    for name in ("sh", "dirname", "readlink", "mkdir", "mktemp", "rm", "rmdir", "df", "tail", "cat", "sed"):
        (tmp_path / "tools" / name).symlink_to(shutil.which(name) or "/")
    asked = ("--no-open", "--without", "model", "--with", "docker")
    code, out, _ = machine.install(*asked, PATH=path)
    assert (code, ran.exists()) == (0, False)
    assert "root was not given" in out
    machine.install(*asked, "--yes", PATH=path)
    assert "apt-get install -y -qq docker.io" in ran.read_text()
    code, _, err = machine.install("uninstall", PATH=path)  # it was brought as root, and nobody agrees
    assert (code, machine.files()) == (2, set())
    assert "apt-get remove -y -qq docker.io" in refusal(err)
    machine.install(*asked, "--yes", PATH=path)
    assert "apt-get remove" not in ran.read_text()
    assert machine.install("uninstall", "--yes", PATH=path)[0] == 0
    assert "apt-get remove -y -qq docker.io" in ran.read_text()


def test_two_installs_at_once_do_not_meet(machine: Machine) -> None:
    machine.write("src/burnish/__main__.py", SLOW_PULL)
    first = machine.start("--no-open")
    try:
        wait_for(lambda: "burnish/models" in str(manifest(machine)))
        code, _, err = machine.install("--no-open")
    finally:
        os.killpg(first.pid, signal.SIGKILL)
        first.communicate()
    assert code == 2
    assert "under way" in refusal(err)


@pytest.mark.parametrize("place", ["unpacked.*", "manifest.json", "source/.venv/stamps", "source/.venv/bin/python"])
def test_after_a_kill_the_next_install_finishes_and_uninstall_leaves_nothing(machine: Machine, place: str) -> None:
    run = machine.start("--no-open")
    wait_for(lambda: any(machine.app.glob(place)))
    os.killpg(run.pid, signal.SIGKILL)
    run.communicate()
    code, out, err = machine.install("--no-open")
    assert code == 0, out + err
    assert machine.burnish("hello") == "burnish says hello\n"
    machine.install("uninstall")
    assert machine.files() == set()


def test_after_a_kill_while_weights_are_fetched_they_are_on_the_manifest(machine: Machine) -> None:
    machine.write("src/burnish/__main__.py", FAKE_PULL + SLOW_PULL)
    run = machine.start("--no-open")
    wait_for(lambda: (machine.home / ".cache/burnish/models/.lock-tiny.gguf").exists())
    os.killpg(run.pid, signal.SIGKILL)
    run.communicate()
    machine.install("uninstall")
    assert machine.files() == set()


def test_a_kill_between_the_two_moves_of_an_update_loses_nothing(machine: Machine) -> None:
    machine.install("--no-open")
    (machine.app / "source").rename(machine.app / "source.old")
    assert machine.install("--no-open")[0] == 0
    assert machine.burnish("hello") == "burnish says hello\n"


@pytest.mark.parametrize(
    ("name", "grammar"), [("install.ps1", "tree_sitter_powershell"), ("install.bat", "tree_sitter_batch")]
)
def test_what_windows_runs_can_be_parsed(name: str, grammar: str) -> None:
    parser = Parser(Language(pytest.importorskip(grammar).language()))
    script = (ROOT / name).read_bytes()
    assert not parser.parse(script).root_node.has_error
    assert parser.parse(script.replace(b")", b"", 1)).root_node.has_error
    if name.endswith(".bat"):
        assert script.count(b"\n") == script.count(b"\r\n")  # cmd.exe loses labels in files with Unix line ends


@pytest.mark.skipif(not shutil.which("shellcheck"), reason="needs the program shellcheck")
def test_the_shell_part_is_clean_to_shellcheck(tmp_path: Path) -> None:
    check = ["shellcheck", "--shell=sh"]
    said = subprocess.run([*check, ROOT / "install.sh"], capture_output=True, text=True)
    assert said.returncode == 0, said.stdout
    (tmp_path / "bad.sh").write_text("rm -rf $1/*\n")
    assert subprocess.run([*check, tmp_path / "bad.sh"], capture_output=True).returncode


def test_every_file_that_is_installed_is_there_and_every_option_is_explained() -> None:
    sys.path.insert(0, str(ROOT))
    import installer

    assert all((ROOT / name).exists() for name in installer.SOURCE)
    page = subprocess.run(["sh", ROOT / "install.sh", "--help"], capture_output=True, text=True, check=True).stdout
    for word in (*installer.OPTIONAL, *installer.EXTRAS, *installer.MODELS, "--from", "--no-open", "--yes", "--all"):
        assert word in page


def wait_for(seen: object) -> None:
    assert callable(seen)
    deadline = time.monotonic() + 60
    while not seen():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def manifest(machine: Machine) -> list[dict[str, str]]:
    file = machine.app / "manifest.json"
    return json.loads(file.read_text())["brought"] if file.exists() else []


def one_real_package(machine: Machine) -> None:
    """The locked iniconfig, which the index has to give."""
    lock = (ROOT / "requirements" / "core.txt").read_text()
    machine.write("requirements/core.txt", next(pin for pin in re.split(r"\n(?=[a-z])", lock) if "iniconfig" in pin))
    machine.write("src/burnish/cli/main.py", f"import iniconfig\n{SAYS}")


@pytest.mark.slow
def test_a_bundle_installs_without_any_network(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_real_package(machine)
    for name in ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "SECURITY.md"):
        shutil.copy(ROOT / name, machine.source)
    monkeypatch.setattr(bundle, "ROOT", machine.source)
    monkeypatch.setattr(bundle, "fetch_python", lambda stage: "")
    made = bundle.make_bundle(tmp_path / "bundle.tar", "", lambda what: None)
    assert made.bytes == (tmp_path / "bundle.tar").stat().st_size
    nowhere = {"PIP_CONFIG_FILE": os.devnull, "PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_RETRIES": "1"}
    assert machine.install("--no-open", "--without", "model", **nowhere)[0] == 2
    subprocess.run(["tar", "-xf", tmp_path / "bundle.tar", "-C", tmp_path], check=True)
    machine.source = tmp_path / "burnish"
    code, out, err = machine.install("--no-open", "--without", "model", **nowhere)
    assert code == 0, out + err
    shutil.rmtree(machine.source)
    assert machine.burnish("hello") == "burnish says hello\n"


class Tunnel(socketserver.StreamRequestHandler):
    """A proxy as companies have it, which keeps a list of where people go."""

    seen: ClassVar[list[str]] = []

    def handle(self) -> None:
        verb, target, _ = self.rfile.readline().decode().split()
        while self.rfile.readline().strip():
            pass
        self.seen.append(f"{verb} {target}")
        host, _, port = target.partition(":")
        with suppress(OSError), socket.create_connection((host, int(port))) as there:
            self.wfile.write(b"HTTP/1.0 200 OK\r\n\r\n")
            while True:
                for end in select.select([self.connection, there], [], [])[0]:
                    if not (data := end.recv(65536)):
                        return
                    (there if end is self.connection else self.connection).sendall(data)


@pytest.mark.slow
def test_packages_come_through_the_proxy_that_the_variables_name(machine: Machine) -> None:
    one_real_package(machine)
    certificates = {name: os.environ[name] for name in ("SSL_CERT_FILE", "PIP_CERT") if name in os.environ}
    asked = ("--no-open", "--without", "model")
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Tunnel) as proxy:
        proxy.daemon_threads = True
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{proxy.server_address[1]}"
        code, out, err = machine.install(*asked, https_proxy=address, HTTPS_PROXY=address, **certificates)
        proxy.shutdown()
    assert code == 0, out + err
    assert Tunnel.seen
    assert all(line.startswith("CONNECT ") for line in Tunnel.seen)
    machine.install("uninstall")
    code, _, err = machine.install(*asked, https_proxy=address, HTTPS_PROXY=address, **certificates)  # nobody listens
    assert (code, machine.files()) == (2, set())
    assert "network" in refusal(err)
