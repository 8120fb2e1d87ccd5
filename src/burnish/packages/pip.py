"""Runs pip with the user's index and none of the user's other settings, and never so that a package's code runs.

Wheels only: unpacking one runs nothing of it, while an sdist would run its own build. What pip is told elsewhere (to
build, to install to another place, to take other versions) is not heard: its files are shut out and its variables gone.
"""

import importlib.util
import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path

from burnish.errors import SetupProblem
from burnish.events import Frozen
from burnish.packages.bounds import Bounds, Fetching
from burnish.packages.pip_settings import settings
from burnish.text import one_line, strip_controls

Tell = Callable[[str], None]
ABOUT_THE_INDEX = (
    "index-url",
    "extra-index-url",
    "find-links",
    "no-index",
    "trusted-host",
    "cert",
    "client-cert",
    "proxy",
    "timeout",
    "default-timeout",
    "retries",
    "keyring-provider",
    "cache-dir",
)
ABOUT_THE_MACHINE = {
    *("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "NETRC"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
}
MANY = 200
"""Sources from which on it pays to compile on all cores."""
_COMING = re.compile(r"Downloading (?:\S*/)?([^/\s]+\.whl)( \([^)]*\))?$")
_WHEELS_ONLY = Path(__file__).with_name("wheels_only.py")
_IDENTITY = "import sys, sysconfig; print(sysconfig.get_config_var('SOABI') or sys.implementation.cache_tag)"


class Ran(Frozen):
    """What pip said, and whether it did what it was told."""

    ok: bool
    text: str


class Pip:
    """pip for one interpreter: fetches wheels from the user's index, and installs wheels from a folder."""

    def __init__(self, interpreter: Path | None, scratch: Path, lock: int, bounds: Bounds) -> None:
        """Without an interpreter it is the one that runs Burnish; `scratch` is a folder for what pip unpacks.

        `lock` is an open file whose lock pip shares: one that outlives a killed Burnish still writes, and still has it.
        A program that passes `bounds` is ended, and Passed is raised.
        """
        self.interpreter = interpreter
        self.scratch = scratch
        self.lock = lock
        self.bounds = bounds

    def fetch(self, requirements: Sequence[str], into: Path, tell: Tell | None = None) -> Ran:
        """Download wheels for the requirements and all they need into a folder."""
        options = ["--only-binary", ":all:", "--progress-bar", "off", "--dest", str(into)]
        return self._run(["download", *options, "--", *requirements], self._index, tell, Fetching((self.scratch, into)))

    def install(self, requirements: Sequence[str], wheels: Path, site: Path, report: Path) -> Ran:
        """Unpack the requirements and all they need from a folder of wheels, asking nobody else."""
        options = ["--no-index", "--find-links", str(wheels), "--only-binary", ":all:", "--no-compile"]
        options += ["--target", str(site), "--report", str(report), "--progress-bar", "off"]
        return self._run(["install", *options, "--", *requirements], {}, None)

    def versions(self, name: str) -> Ran:
        """Which versions the index has of a package, in whatever form, and how it answered; none is fetched."""
        return self._run(["index", "versions", "-vv", "--pre", name], self._index, None)

    def compile(self, site: Path) -> None:
        """Byte code beside each source, which is then never looked at again: a cell cannot write its own.

        Files that are no Python of this version stay as they are.
        """
        many = next(islice(site.rglob("*.py"), MANY, None), None) is not None
        words = ["-q", "-f", "-j", "0" if many else "1", "--invalidation-mode", "unchecked-hash", str(site)]
        self._started([str(self.interpreter or sys.executable), "-I", "-S", "-m", "compileall", *words], {})

    @cached_property
    def _index(self) -> dict[str, str]:
        """What pip's own files and variables say about where packages are."""
        command = [sys.executable, "-I", "-m", "pip", "--no-input", "config", "list"]
        listed = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        told = settings(listed.stdout.decode("utf-8", "replace"))
        kept = {_variable(name): " ".join(told[name].split()) for name in ABOUT_THE_INDEX if told.get(name)}
        return {"PIP_RETRIES": "2", **kept}

    def _run(
        self, arguments: list[str], index: dict[str, str], tell: Tell | None, fetching: Fetching | None = None
    ) -> Ran:
        start = [str(self.interpreter or sys.executable), "-I", "-X", "utf8", str(_WHEELS_ONLY), str(_runner())]
        words = ["--no-input", "--disable-pip-version-check", "--no-color", *arguments]
        return self._started([*start, *words], index, tell, fetching)

    def _started(
        self,
        command: list[str],
        index: dict[str, str],
        tell: Tell | None = None,
        fetching: Fetching | None = None,
    ) -> Ran:
        """What a program said that leads a group of its own, so that all it has started can be ended with it."""
        self.bounds.check()
        coming = fetching or Fetching()
        with (
            subprocess.Popen(
                command,
                env=self._environment(index),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="replace",
                pass_fds=(self.lock,),
                process_group=0,
            ) as process,
            self.bounds.kept_by(process, coming),
        ):
            lines = [_heard(line, tell, coming) for line in process.stdout or ()]
            process.wait()
        return Ran(ok=process.returncode == 0, text=strip_controls("".join(lines)))

    def _environment(self, index: dict[str, str]) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name in ABOUT_THE_MACHINE}
        return {**kept, **index, "PIP_CONFIG_FILE": os.devnull, "TMPDIR": str(self.scratch)}


def identity(interpreter: Path | None) -> str:
    """What tells interpreters apart whose packages differ: kind, version, machine and system."""
    if interpreter is None:
        return str(sysconfig.get_config_var("SOABI") or sys.implementation.cache_tag)
    command = [str(interpreter), "-I", "-S", "-c", _IDENTITY]
    try:
        return subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError) as error:
        raise SetupProblem(
            f"The Python for which packages are wanted does not start ({one_line(str(error))}). Try it: {command[0]} -V"
        ) from error


def _runner() -> Path:
    """The program of our own pip that runs it under any interpreter."""
    spec = importlib.util.find_spec("pip")
    if not spec or not spec.origin:
        raise SetupProblem(f"Packages are prepared with pip, which is not there. Type: {sys.executable} -m ensurepip")
    return Path(spec.origin).with_name("__pip-runner__.py")


def _variable(setting: str) -> str:
    return f"PIP_{setting.upper().replace('-', '_')}"


def _heard(line: str, tell: Tell | None, fetching: Fetching) -> str:
    """A line of pip's; one that says which wheel is coming is told on, without the address it comes from."""
    if coming := _COMING.match(line.strip()):
        fetching.announced_bytes += _bytes(coming[2] or "")
        if tell:
            tell(one_line(f"Downloading {coming[1]}{coming[2] or ''}"))
    return line


def _bytes(said: str) -> int:
    """A size as pip says it: " (797.2 MB)"; 0 where it says none."""
    size = re.fullmatch(r" \((\d+(?:\.\d+)?) (bytes|kB|MB|GB)\)", said)
    return int(float(size[1]) * {"bytes": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}[size[2]]) if size else 0
