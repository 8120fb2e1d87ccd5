"""Chromium in a cell of its own, for one run: no network, no files of the user's, its memory and processes counted.

There are three ways in: the pipe of its DevTools, a control socket, and a port on the cell's own loopback, whose
listener process 1 of the cell (`inside/browser.py`) hands out, so that Burnish serves pages there from outside.

Chromium's own sandbox works inside of ours where user namespaces nest; then the filter of system calls lets it make
them. Where they do not, the cell is the only sandbox, and its filter is as strict as everywhere.
"""

import json
import os
import select
import shutil
import socket
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from burnish.errors import SandboxError, SetupProblem
from burnish.sandbox import bubblewrap, cgroups, diagnosis, seccomp, start
from burnish.sandbox.cell import Cell
from burnish.sandbox.sandbox import MIB, JobLimits
from burnish.system import has_cells, make_memory_file, make_packet_pair

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PROGRAMS = (
    "/usr/lib/chromium/chromium",
    "/usr/lib64/chromium-browser/chromium-browser",
    "/usr/lib/chromium-browser/chromium-browser",
    "/opt/google/chrome/chrome",
)
"""Where distributions have the program itself; on the PATH there is a script, which reads files that no cell has."""
PLAYWRIGHT = ("chromium-*/chrome-linux*/chrome", "chromium_headless_shell-*/*/*headless*shell")
SNAP = b"/snap/"
"""Ubuntu's own package is a script that starts a snap, which works in no sandbox but its own."""
INSTALL = {
    "debian": "sudo apt-get install chromium",
    "fedora": "sudo dnf install chromium",
    "arch": "sudo pacman -S chromium",
}
ELSEWHERE = f"{sys.executable} -m pip install playwright && {sys.executable} -m playwright install chromium"
OS_RELEASE = Path("/etc/os-release")
CONFIGURATION = ("/etc/fonts", "/etc/chromium.d", "/etc/chromium")
PROCESSES = 800
"""Threads count too: Chromium has about 120 before it shows anything."""
BESIDE_PAGE_BYTES = 1024 * MIB
"""For all of the browser but the page."""
FLAGS = (
    "--headless",
    "--remote-debugging-pipe",
    "--user-data-dir=/work/profile",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-startup-window",
    "--no-pings",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-sync",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--disable-client-side-phishing-detection",
    "--disable-search-engine-choice-screen",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-features=Translate,MediaRouter,OptimizationHints,AutofillServerCommunication,InterestFeedContentSuggestions",
    "--enable-precise-memory-info",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
    "--metrics-recording-only",
    "--mute-audio",
    "--password-store=basic",
    "--use-mock-keychain",
    "--window-size=1024,768",
    "--log-level=3",
)
NO_OWN_SANDBOX = "--no-sandbox"


def find_chromium(release: Path = OS_RELEASE) -> Path:
    """The browser that BURNISH_CHROMIUM names, else the system's, else Playwright's. Raises SetupProblem for none."""
    named = os.environ.get("BURNISH_CHROMIUM", "")
    if named and not os.access(named, os.X_OK):
        raise SetupProblem(f"BURNISH_CHROMIUM names {named}, and no program is there. Type", "unset BURNISH_CHROMIUM")
    folder = os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache" / "ms-playwright"
    places = [named] if named else [*PROGRAMS, *filter(None, map(shutil.which, NAMES))]
    places += [str(path) for pattern in PLAYWRIGHT for path in sorted(Path(folder).glob(pattern), reverse=True)]
    for place in places:
        path = Path(place).resolve()
        if os.access(path, os.X_OK) and not is_snap(path):
            return path
    said = release.read_text() if release.exists() else ""
    here = next((line for name, line in INSTALL.items() if name in said and "ubuntu" not in said), ELSEWHERE)
    raise SetupProblem(
        "A page runs in Chromium, and none is found: neither Chromium nor Google Chrome on the PATH, nor one of "
        "Playwright's, nor BURNISH_CHROMIUM=/path/to/it. The package is called chromium on Debian (apt-get install "
        "chromium), Fedora (dnf install chromium) and Arch (pacman -S chromium); Ubuntu's is a snap, which works in no "
        "sandbox of ours: take Playwright's there, or Google's own package. Type",
        here,
    )


def is_snap(path: Path) -> bool:
    """Whether a program is a snap, or a script that starts one."""
    with path.open("rb") as file:
        head = file.read(4096)
    return path.name == "snap" or bytes(path).startswith(SNAP) or (head.startswith(b"#!") and SNAP in head)


@dataclass(frozen=True)
class BrowserCell:
    """A Chromium at work in its cell. Whoever opened it closes it."""

    cell: Cell
    listener: socket.socket
    """Of the cell's own loopback; whoever serves there may close it."""
    commands: int
    """The descriptor that DevTools commands are written to, each with a zero byte at its end."""
    answers: int
    is_nested: bool
    """Whether Chromium's own sandbox is at work inside the cell."""

    def wait_for_kill(self, seconds: float) -> bool | None:
        """True when the cell has ended a page for its memory since; None when it is gone; False when nothing was."""
        try:
            if not select.select([self.cell.control], [], [], seconds)[0]:
                return False
            return True if self.cell.control.recv(100) else None
        except (OSError, ValueError):
            return None

    def read_last_words(self) -> str:
        """What was said by a browser that ended by itself; this ends one that did not."""
        self.cell.process.kill()
        return self.cell.process.stderr.read().decode(errors="replace").strip() if self.cell.process.stderr else ""

    def close(self) -> None:
        """End every process; nothing is left of them. The pipe belongs to whoever speaks through it."""
        self.cell.close()
        self.listener.close()


def open_cell(page_bytes: int, servers: Sequence[str] = (), is_nested: bool = True) -> BrowserCell:
    """Start Chromium in a new cell, with plain HTTP servers at these addresses of the cell's loopback beside it.

    A page that holds more than `page_bytes` is ended. Raises SetupProblem where there is no browser, or no cell. That
    Chromium itself could not start, as its own sandbox cannot nest here, shows in its pipe.
    """
    if not has_cells():
        raise diagnosis.NoSandbox(diagnosis.NO_BROWSER_CELL)
    chromium, bwrap = find_chromium(), bubblewrap.find_bwrap()
    if bwrap is None:
        raise diagnosis.NoSandbox(diagnosis.NO_BUBBLEWRAP)
    cgroups.remove_leftovers(cgroups.find_places())
    limits = JobLimits(
        memory_bytes=page_bytes + BESIDE_PAGE_BYTES, processes=PROCESSES, folder_bytes=256 * MIB, loopback=True
    )
    settings = {"servers": list(servers), "page_bytes": page_bytes}
    try:
        return start_browser(bwrap, chromium, limits, settings, is_nested)
    except SandboxError as error:
        raise diagnosis.NoSandbox(diagnosis.explain_failure(error)) from error


def start_browser(
    bwrap: str, chromium: Path, limits: JobLimits, settings: Mapping[str, object], is_nested: bool
) -> BrowserCell:
    """The cell's process, its group and the pipe to the browser in it."""
    ours, theirs = make_packet_pair()
    (theirs_read, commands), (answers, theirs_write) = os.pipe(), os.pipe()
    settings = {
        **start.make_server_settings(limits, theirs.fileno()),
        **settings,
        "pipe": [theirs_read, theirs_write],
        "argv": [str(chromium), *([] if is_nested else [NO_OWN_SANDBOX]), *FLAGS],
    }
    program = seccomp.build_program(loopback=True, nesting=is_nested)
    passed = [theirs_read, theirs_write, *([make_memory_file(program)] if program else [])]
    inner = [
        str(bubblewrap.find_interpreter()),
        "-sSB",
        f"{bubblewrap.CELL_INSIDE}/browser.py",
        json.dumps(settings),
    ]
    group = cgroups.create_group(cgroups.find_places(), limits)
    is_system = any(chromium.is_relative_to(folder) for folder in bubblewrap.SYSTEM)
    folders = {} if is_system else {str(chromium.parent): str(chromium.parent)}
    plan = {
        "argv": build_command(bwrap, limits, passed[-1] if program else None, inner, folders),
        "folders": bubblewrap.list_staged_folders(bwrap, folders),
        "uid": bubblewrap.CELL_UID,
        "cgroups": [f"{folder}/cgroup.procs" for folder in group],
        "niceness": 0,
    }
    command = [sys.executable, "-IS", str(start.LAUNCH), json.dumps(plan)]
    try:
        cell = start.start_cell(command, ours, theirs, {}, lambda: cgroups.remove_group(group), passed)
        _, fds, _, _ = socket.recv_fds(cell.control, 100, 1)
    except BaseException:
        os.close(commands)
        os.close(answers)
        raise
    finally:
        for fd in passed:
            os.close(fd)
    return BrowserCell(cell, socket.socket(fileno=fds[0]), commands, answers, is_nested)


def build_command(
    bwrap: str, limits: JobLimits, filter_fd: int | None, inner: list[str], folders: Mapping[str, str]
) -> list[str]:
    """A cell as others are, but for a /proc in which Chromium can set up its own sandbox, and its configuration."""
    words = [bwrap, *bubblewrap.list_namespace_options(), *bubblewrap.list_system_options()]
    for name in bubblewrap.list_name_files(limits):
        words += ["--symlink", f"{bubblewrap.CELL_LOOPBACK}/{name}", f"/etc/{name}"]
    for source, place in folders.items():
        words += ["--ro-bind", source, place]
    for place in CONFIGURATION:
        words += ["--ro-bind-try", place, place]
    private = bubblewrap.list_private_options(limits)
    at = private.index("/proc", private.index("--remount-ro"))
    words += [*private[: at - 1], *private[at + 1 :], "--clearenv"]
    for pair in bubblewrap.make_environment().items():
        words += ["--setenv", *pair]
    return [*words, *(["--seccomp", str(filter_fd)] if filter_fd is not None else []), "--", *inner]
