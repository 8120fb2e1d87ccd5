"""Runs uv: finds versions that go together, and unpacks their wheels into a folder.

Wheels only: unpacking one runs nothing of it, while sources would run their own build. uv follows nothing that a wheel
names by an address. Of the user's settings it is told where packages come from (`index_settings`) and nothing else: its
configuration files, which could ask for builds or for other versions, are not read.
"""

import math
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from platform import machine
from typing import Any, Literal, Self
from urllib.parse import unquote, urlsplit

from packaging.tags import Tag, compatible_tags, cpython_tags, sys_tags
from packaging.utils import canonicalize_name, parse_wheel_filename

from burnish.errors import SetupProblem
from burnish.events import Frozen
from burnish.packages.index_settings import read_pip_settings, uv_index
from burnish.system import has_cells, has_ended, limit_memory, read_written_bytes
from burnish.text import one_line, strip_controls

Tell = Callable[[str], None]
MACHINE_VARIABLES = {
    *("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "NETRC"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
}
"""Variables that say what machine and network this is, and nothing about what to install."""
CLEANING_SECONDS = 10.0
MOST_MEMORY_BYTES = 2 << 30
"""uv reads what a wheel says of itself as a whole, and a packed megabyte may be a gigabyte of that."""
USUAL_BYTES, USUAL_RATIO = 100 << 20, 20
"""Unpacked, wheels have no more than this many bytes, and this many times their own besides; usual is five times."""
USUAL_PACKING = 5
"""How much larger a package is than its wheel, where nobody says how large the wheel is."""
UNANNOUNCED_BYTES = 1 << 20
"""uv says the size of a wheel that it downloads, unless it is smaller than this."""
_COMING = re.compile(r"^Downloading ([\w.-]+) \(([\d.]+)(B|KiB|MiB|GiB)\)$", re.MULTILINE)
_UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
LOOK_SECONDS = 0.02
"""Between two looks at whether the budget is spent."""

Why = Literal["", "stopped", "late", "large", "bomb"]


class InstalledPackage(Frozen):
    """One package of a layer."""

    name: str
    """In its normal form."""
    version: str
    wheel: str = ""
    """The file it came in."""
    sha256: str = ""


class Exceeded(Exception):
    """The budget is spent, so the work was broken off."""

    def __init__(self, why: Why) -> None:
        super().__init__(why)
        self.why = why


@dataclass(frozen=True)
class Budget:
    """What making a layer may take."""

    until: float = math.inf
    """In the time of `time.monotonic`."""
    cancel: threading.Event | None = None
    """Set by whoever does not want the packages any more."""
    most_bytes: float = math.inf
    """Of what is fetched."""

    @classmethod
    def within(cls, seconds: float, cancel: threading.Event | None = None, most_bytes: float = math.inf) -> Self:
        """From now on so many seconds."""
        return cls(time.monotonic() + seconds, cancel, most_bytes)

    def at_most(self, seconds: float) -> Self:
        """The same, and from now on no more than so many seconds."""
        return replace(self, until=min(time.monotonic() + seconds, self.until))

    def check(self, fetched_bytes: int = 0) -> None:
        """Raise Exceeded where the budget is spent."""
        if self.cancel is not None and self.cancel.is_set():
            raise Exceeded("stopped")
        if time.monotonic() >= self.until:
            raise Exceeded("late")
        if fetched_bytes > self.most_bytes:
            raise Exceeded("large")


@dataclass(frozen=True)
class UvResult:
    """What uv said, and whether it did what it was told."""

    ok: bool
    text: str


class Uv:
    """uv for the interpreter that runs Burnish, with a cache of its own: what it once fetched works offline.

    `scratch` is a folder for what it needs on the way. `lock` is an open file whose lock uv shares: one that outlives a
    killed Burnish still writes, and still has it. uv is ended, and Exceeded raised, once `budget` is spent.
    """

    def __init__(self, cache: Path, scratch: Path, lock: int, budget: Budget, tell: Tell = lambda _: None) -> None:
        self.cache, self.scratch, self.lock, self.budget, self.tell = cache, scratch, lock, budget, tell
        self.announced_bytes = self.written_bytes = 0
        self._coming: set[str] = set()
        self._index = uv_index(read_pip_settings())
        self._pylock = scratch / "pylock.toml"

    def resolve(self, requirements: Sequence[str], offline: bool = False) -> UvResult:
        """Choose a wheel for each requirement and for all that these need; `wheels` then knows them."""
        asked = self.scratch / "requirements.in"
        asked.write_text("".join(f"{one}\n" for one in requirements), "utf-8")
        self._pylock.unlink(missing_ok=True)
        options = ["--format", "pylock.toml", "--output-file", str(self._pylock), "--no-header"]
        return self._uv(["pip", "compile", *options, str(asked)], offline)

    def install(self, into: Path, offline: bool = False) -> UvResult:
        """Unpack the wheels that were chosen. uv checks each against the hash that the index gave for it.

        Hard links to uv's cache cost nothing, so what is written is what was fetched; who keeps the files copies them.
        """
        options = ["--preview-features", "pylock", "--link-mode", "hardlink", "--target", str(into)]
        return self._uv(["pip", "install", *options, "--no-deps", "--requirements", str(self._pylock)], offline)

    def wheels(self) -> tuple[InstalledPackage, ...]:
        """The wheels that were chosen, by name. Raises ValueError where something is no wheel."""
        found = [
            InstalledPackage(
                name=canonicalize_name(package["name"]),
                version=package["version"],
                wheel=wheel.get("name") or _place(wheel).name,
                sha256=wheel["hashes"].get("sha256", ""),
            )
            for package, wheel in self._read_pylock()
        ]
        return tuple(sorted(found, key=lambda one: one.name))

    def is_bomb(self) -> bool:
        """Whether uv has written far more than wheels of this size usually hold. Wheels in a folder say their own."""
        places = [_place(wheel) for _, wheel in self._read_pylock()]
        local_bytes = sum(place.stat().st_size for place in places if place.is_file())
        small_bytes = UNANNOUNCED_BYTES * len(places)
        return self.written_bytes > USUAL_BYTES + USUAL_RATIO * (self.announced_bytes + local_bytes + small_bytes)

    def forget(self, names: Sequence[str]) -> None:
        """Take these packages out of the cache, and what a uv that was ended has left there, whatever the budget."""
        self.budget = Budget.within(CLEANING_SECONDS)
        if names:
            self._run(["cache", "clean", *names], {})
        self._run(["cache", "prune"], {})

    def _read_pylock(self) -> list[tuple[dict[str, str], dict[str, Any]]]:
        """Each package with its wheel, as uv's lock file names them.

        Of several that fit (one compiled, one for every machine) the most special one is installed. Raises ValueError
        where there is none.
        """
        packages = tomllib.loads(self._pylock.read_text("utf-8")).get("packages", [])
        if not all(package.get("wheels") for package in packages):
            raise ValueError("there is a package without a wheel")
        return [(package, min(package["wheels"], key=_rank_wheel)) for package in packages]

    def _uv(self, arguments: list[str], offline: bool) -> UvResult:
        options, variables = self._index
        earlier = self.cache.parent / "wheels"
        if offline and earlier.is_dir():  # where Burnish kept wheels before it had uv
            links = ",".join(filter(None, (variables.get("UV_FIND_LINKS"), str(earlier))))
            variables = {**variables, "UV_FIND_LINKS": links}
        words = [*arguments, *options, "--only-binary", ":all:", "--python", sys.executable, "--no-python-downloads"]
        if platform := find_other_platform():
            words += ["--python-platform", platform]
        return self._run([*words, *(["--offline"] if offline else [])], variables, online=not offline)

    def _run(self, arguments: list[str], variables: dict[str, str], online: bool = False) -> UvResult:
        self.budget.check()
        options = ["--no-config", "--no-progress", "--color", "never", "--cache-dir", str(self.cache)]
        log, before_bytes = self.scratch / "said", self.written_bytes
        most_bytes = max(USUAL_BYTES, shutil.disk_usage(self.scratch).free // 2)

        def look(pid: int) -> None:
            with suppress(OSError):  # another system than Linux, or a process that is gone
                limit_memory(pid, MOST_MEMORY_BYTES)
                self.written_bytes = before_bytes + read_written_bytes(pid)
            self._hear(log.read_text("utf-8", "replace"))
            self.budget.check(max(self.announced_bytes, self.written_bytes // USUAL_PACKING) if online else 0)
            if self.written_bytes > most_bytes:
                raise Exceeded("bomb")

        environment = machine_environment() | variables | {"TMPDIR": str(self.scratch)}
        code = run_watched([find_uv(), *arguments, *options], environment, log, self.lock, look)
        return UvResult(code == 0, strip_controls(log.read_text("utf-8", "replace")))

    def _hear(self, said: str) -> None:
        """Tell which packages are coming, each once, and add up how large they are."""
        for name, size, unit in _COMING.findall(said):
            if name not in self._coming:
                self._coming.add(name)
                self.announced_bytes += int(float(size) * _UNITS[unit])
                self.tell(one_line(f"Downloading {name} ({size} {unit})"))


def machine_environment() -> dict[str, str]:
    """The variables of ours that say what machine and network this is."""
    return {name: value for name, value in os.environ.items() if name in MACHINE_VARIABLES}


def find_uv() -> str:
    """The program uv: the one that was installed with Burnish, else the user's own."""
    try:
        from uv import find_uv_bin

        return str(find_uv_bin())
    except (ImportError, FileNotFoundError) as error:
        if found := shutil.which("uv"):
            return found
        raise SetupProblem(
            f"Packages are prepared with uv, which is not there. Type: {sys.executable} -m pip install uv"
        ) from error


def find_other_platform() -> str:
    """What wheels must be for where code runs, as uv calls it: Linux in a container; "" where that is this system."""
    return "" if has_cells() else f"{'aarch64' if machine() in ('arm64', 'aarch64') else 'x86_64'}-manylinux_2_28"


def list_tags(platform: str) -> Iterator[Tag]:
    """What wheels may be called that fit where code runs, the most special first; "" is this system."""
    if not platform:
        yield from sys_tags()
        return
    cpu = platform.partition("-")[0]
    known = [f"manylinux_2_{minor}_{cpu}" for minor in range(28, 4, -1)] + [f"manylinux2014_{cpu}", f"linux_{cpu}"]
    yield from cpython_tags(platforms=known)
    yield from compatible_tags(platforms=known)


def _rank_wheel(wheel: dict[str, Any]) -> int:
    """How far from the most special tag of this machine a wheel is."""
    tags = list(list_tags(find_other_platform()))
    _, _, _, own = parse_wheel_filename(_place(wheel).name)
    return min((tags.index(tag) for tag in own if tag in tags), default=len(tags))


def _place(wheel: dict[str, Any]) -> Path:
    """The path of a wheel on its server, or on this disk."""
    return Path(unquote(urlsplit(wheel.get("url") or wheel["path"]).path))


def run_watched(
    command: list[str], environment: dict[str, str], log: Path, lock: int, look: Callable[[int], None]
) -> int:
    """The exit code of a program, whose words go into a file; `look` gets its number all the time, and once at its end.

    If `look` raises, or we are interrupted, the program is ended with all that it has started. It shares an open file,
    so that the lock on that file is held until the last of them is gone.
    """
    with (
        log.open("wb") as said,
        subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            pass_fds=(lock,),
            process_group=0,
        ) as process,
    ):
        try:
            # The number stays ours until the process is waited for, so a last look finds what the kernel knows of it.
            while not has_ended(process):
                look(process.pid)
                time.sleep(LOOK_SECONDS)
            look(process.pid)
        except BaseException:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            raise
    return process.returncode
