"""The installer for real: an ordinary user of a bare, read-only Debian without venv, pip, bubblewrap and libgomp."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from burnish.packages.uv import find_uv

ROOT = Path(__file__).resolve().parents[2]
NEEDED = ("debootstrap", "unshare", "setpriv", "pivot_root")
ENTER = """
set -eu
mount --make-rprivate /
mount --bind "$root" "$root"
for place in home tmp run mnt; do mount -t tmpfs tmpfs "$root/$place"; done
chmod 1777 "$root/tmp"
mkdir -p "$root/home/Jürgen Groß" "$root/mnt/old" "$root/mnt/source"
mount --bind "$home" "$root/home/Jürgen Groß"
mount --bind "$source" "$root/mnt/source"
mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"
mount --bind "$(readlink -f /etc/resolv.conf)" "$root/etc/resolv.conf"
[ ! -e "$root/$certificates" ] || [ ! -e "$certificates" ] || mount --bind "$certificates" "$root/$certificates"
mount -o remount,ro,bind "$root"
cd "$root"
pivot_root . mnt/old
umount -l /mnt/old
cd "/home/Jürgen Groß"
exec setpriv --reuid 1000 --regid 1000 --clear-groups --inh-caps=-all env -i HOME="$PWD" USER=u LANG=C.UTF-8 \\
    PATH="$PWD/.local/bin:$PWD/tools:/usr/bin:/bin" SSL_CERT_FILE="$certificates" sh -c "$line"
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(
        os.geteuid() != 0 or not all(map(shutil.which, NEEDED)), reason=f"needs root and the programs {NEEDED}"
    ),
]


@pytest.fixture(scope="module")
def root() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="burnish-root-", ignore_cleanup_errors=True) as folder:
        make = ["debootstrap", "--variant=minbase", "--include=ca-certificates,python3", "bookworm", f"{folder}/root"]
        made = subprocess.run(make, capture_output=True, text=True)
        if made.returncode:
            pytest.skip(f"debootstrap: {made.stdout.strip().splitlines()[-1]}")
        with Path(folder, "root/etc/passwd").open("a") as users:
            users.write("u:x:1000:1000::/home/u:/bin/sh\n")
        yield Path(folder, "root")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with uv in it, which the network could bring, too."""
    tools = tmp_path / "home" / "tools"
    tools.mkdir(parents=True)
    shutil.copy(find_uv(), tools / "uv")
    for path in (tmp_path / "home", tools, tools / "uv"):
        os.chown(path, 1000, 1000)
    return tmp_path / "home"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """What an archive of the source would hold, readable to everybody."""
    import installer

    source = tmp_path / "source"
    source.mkdir(mode=0o755)
    for name in installer.SOURCE:
        subprocess.run(["cp", "-R", ROOT / name, source / name], check=True)
    subprocess.run(["chmod", "-R", "a+rX", source], check=True)
    return source


def enter(root: Path, home: Path, source: Path, line: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run a line of shell in the root, as a user without any rights."""
    certificates = "/etc/ssl/certs/ca-certificates.crt"
    places = {"root": str(root), "home": str(home), "source": str(source), "line": line, "certificates": certificates}
    command = ["unshare", "--mount", "--pid", "--fork", *options, "sh", "-c", ENTER]
    return subprocess.run(command, env=dict(os.environ) | places, capture_output=True, text=True)


def files(home: Path) -> set[str]:
    found = {path.relative_to(home) for path in home.rglob("*") if not path.is_dir() or path.is_symlink()}
    return {str(path) for path in found if path.parts[0] != "tools"}


def test_a_function_is_written_on_a_bare_system_and_nothing_of_burnish_is_left(
    root: Path, home: Path, source: Path
) -> None:
    install = "sh /mnt/source/install.sh --no-open --without model"
    write = 'burnish write "a function double(n), e.g. double(2) == 4" --model scripted:demo --json'
    done = enter(root, home, source, f"{install} && {write} && burnish doctor")
    assert "plausible" in done.stdout, done.stdout + done.stderr
    assert "ok sandbox" in done.stdout
    assert "ok embedded engine" in done.stdout  # libgomp came along
    assert (home / ".local/share/burnish-app/source/.venv").exists()
    assert enter(root, home, source, "burnish-uninstall").returncode == 0
    kept = {
        name for name in files(home) if not name.startswith((".local/share/burnish/", ".cache/python-entrypoints/"))
    }
    assert {name for name in kept if "burnish" in name and not name.startswith(".cache/burnish/")} == set()


def test_with_the_network_taken_away_nothing_is_left(root: Path, home: Path, source: Path) -> None:
    done = enter(root, home, source, "sh /mnt/source/install.sh --no-open", "--net")
    assert done.returncode == 2
    assert done.stderr.strip().endswith("sh install.sh --no-open")
    assert files(home) == set()


def test_a_disk_that_is_too_small_is_named_and_nothing_is_left(root: Path, home: Path, source: Path) -> None:
    small = "mount -t tmpfs -o size=350m,uid=1000,gid=1000 tmpfs"
    line = "sh /mnt/source/install.sh --no-open; code=$?; find . -type f | grep -v tools; exit $code"
    places = {"root": str(root), "home": str(home), "source": str(source), "line": line}
    command = [
        "unshare",
        "--mount",
        "--pid",
        "--fork",
        "sh",
        "-c",
        f'cp -R "$home/tools" "$source"; {small} "$home"; {ENTER}',
    ]
    variables = dict(os.environ) | places | {"certificates": "/etc/ssl/certs/ca-certificates.crt"}
    variables["line"] = f"PATH=/mnt/source/tools:$PATH; {line}"
    done = subprocess.run(command, env=variables, capture_output=True, text=True)
    assert (done.returncode, done.stdout.count("✓")) == (2, 2), done.stdout + done.stderr
    assert "GB are needed" in done.stderr
    assert not [line for line in done.stdout.splitlines() if line.startswith("./")]
