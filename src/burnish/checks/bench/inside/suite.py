"""The process of the tests: pytest as the project has it, with one plugin of ours beside the project's own.

The plugin runs the tests once (`reporter`), or once for each of many versions of a function (`trials`). An interpreter
that has no pytest or coverage is lent ours, and nothing else of our packages. At the end it is looked whether what
judges is still what it was before the code was imported: pytest, coverage, what tests compare with, and what answers
are written with. That makes cheating harder and no more: code that shares this process could change what looks as well.
"""

from __future__ import annotations

import builtins
import importlib.util
import json
import math
import os
import signal
import sys
from collections.abc import Iterable
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import Distribution, DistributionFinder, MetadataPathFinder
from pathlib import Path
from types import BuiltinFunctionType, FunctionType
from typing import Any

from .facts import say
from .import_override import TextOverride, start_override

NOTHING = 5
UNITTEST = ["-o", "python_files=test*.py *_test.py tests.py"]
"""How unittest names its files; asked for when pytest finds nothing under its own names."""
SETTINGS = {
    "pytest.ini": "",
    ".pytest.ini": "",
    "pyproject.toml": "[tool.pytest",
    "tox.ini": "[pytest]",
    "setup.cfg": "[tool:pytest]",
}
"""Files of pytest's settings in the order in which it looks, with the section that makes them such."""
LOADING_CLOCKS = ((signal.SIGPROF, signal.ITIMER_PROF, 1), (signal.SIGALRM, signal.ITIMER_REAL, 2))
"""CPU seconds, and twice as many on the wall."""
NAMES = {
    "pytest": ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "exceptiongroup", "tomli", "py"),
    "coverage": ("coverage", "tomli"),
}
FIRST = ("pytest", "_pytest", "pluggy", "coverage")
JUDGES = ("pytest", "_pytest", "pluggy", "coverage", "json", __name__.partition(".")[0])
OFTEN_REPLACED = ("print", "input", "open", "__import__", "breakpoint")
"""Builtins that honest programs put others in the place of."""
WRITERS = ((os, "write"), (os, "_exit"), (sys, "exit"))
Known = dict[tuple[str, str, str], tuple[Any, Any]]


def main(report: int) -> None:
    """Do the job that standard input describes, and leave as pytest would."""
    job = json.load(sys.stdin)
    nonce = job.pop("nonce")

    def tell(**fact: Any) -> None:
        say(report, nonce, fact)

    override = prepare(report, job)
    if borrow("pytest", job["packages"], job["generated"]):
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    try:
        plugin = make_plugin(tell, job, override)
        import pytest
    except ImportError as error:
        return tell(no_tool=str(error))
    # As under `python -m pytest`: code asks whether there is such a file to tell a program from a prompt.
    sys.modules["__main__"].__file__ = str(Path(pytest.__file__).with_name("__main__.py"))
    judges = record_judges()
    # Whatever goes by pytest's name, what it returns must be a number that our exit code can be compared with.
    code = int(pytest.main(options(job), plugins=[plugin]))
    if code == NOTHING:
        code = int(pytest.main([*options(job), *UNITTEST], plugins=[plugin]))
    if code == NOTHING and job["instead"]:
        plugin.name_examples(job["instead"])
        code = int(pytest.main(options({**job, "targets": job["instead"]}), plugins=[plugin]))
    if job["cover"]:
        plugin.cover.say_all(plugin)
    if changed := find_changes(judges, job["root"]) + ([] if plugin.tell is tell else ["what reports the tests"]):
        tell(changed=changed)
    tell(end=code)
    sys.exit(code)


def prepare(report: int, job: dict[str, Any]) -> TextOverride | None:
    """The folder, the paths and the name that `python -m pytest` would have in the project's root."""
    os.set_inheritable(report, False)  # a process that the tests start has no way to report
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.argv = ["pytest"]
    folder = Path.cwd()
    job["home"] = str(folder)
    os.environ.update({"COVERAGE_FILE": f"{folder}/coverage", "PYTHONPATH": os.pathsep.join(job["paths"])})
    os.chdir(job["root"])
    kept = [path for path in sys.path if path and Path(path) != folder and path not in job["paths"]]
    sys.path[:] = [*job["paths"], *kept]
    if job.get("own"):
        job["targets"] = [*job["targets"], f"{folder}/{job['own']}"]
        sys.path.append(str(Path(folder, job["own"]).parent))
    return start_override(job, str(folder))


def make_plugin(tell: Any, job: dict[str, Any], override: TextOverride | None) -> Any:
    """What runs the tests once, or for many versions. Coverage watches before anything of the project is imported."""
    if "versions" in job:
        for number, timer, times in LOADING_CLOCKS if "load_seconds" in job else ():
            signal.signal(number, signal.SIG_DFL)
            signal.setitimer(timer, times * job["load_seconds"])
        from .trials import Trials

        return Trials(tell, job)
    cover = None
    if job["cover"]:
        borrow("coverage", job["packages"], job["generated"])
        from .cover import Cover

        cover = Cover(job)
    from .recorder import CallRecorder
    from .reporter import Reporter

    recorder = CallRecorder(job["recorded"]) if job.get("recorded") else None
    return Reporter(tell, job, cover, override, recorder)


def options(job: dict[str, Any]) -> list[str]:
    """What pytest is told besides what the project's own settings say; later words win over those."""
    words = [*job["options"], "--color=no", "-p", "no:randomly", "-p", "no:random_order"]
    words += ["-o", f"cache_dir={job.get('cache', job['home'])}/cache", "--rootdir", job["root"]]
    if "PYTEST_DISABLE_PLUGIN_AUTOLOAD" not in os.environ:
        words += ["--no-cov"] if importlib.util.find_spec("pytest_cov") else []
        words += ["-n", "0"] if importlib.util.find_spec("xdist") else []
    if job.get("own"):  # a file outside of the root: pytest looks for settings above all files, and would find none
        settings = find_settings(Path(job["root"]))
        words += ["-c", settings[0]] if settings else []
    return [*words, *job["targets"]]


def find_settings(root: Path) -> list[str]:
    """The files that pytest takes its settings from in a folder; it takes the first."""
    found = []
    for name, section in SETTINGS.items():
        file = root / name
        if file.is_file() and section in file.read_text("utf-8", "replace"):
            found.append(str(file))
    return found


class Lender:
    """Finds a few modules in one folder."""

    def __init__(self, folder: str, names: tuple[str, ...]) -> None:
        self.folder = folder
        self.names = set(names)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Where the module is, if it is one that we lend."""
        return PathFinder.find_spec(name, [self.folder]) if name in self.names else None

    def find_distributions(self, context: DistributionFinder.Context) -> Iterable[Distribution]:
        """What is known about a package that we lend, when it is asked for by name; no plugin is found this way."""
        if context.name not in self.names:
            return []
        return MetadataPathFinder.find_distributions(DistributionFinder.Context(name=context.name, path=[self.folder]))


def borrow(name: str, folder: str, first: bool = False) -> bool:
    """Make a package importable; True when it had to be lent.

    `first`: ours judges in any case, whatever goes by its name among the packages of the code.
    """
    if first:
        sys.meta_path.insert(0, Lender(folder, FIRST))
    elif importlib.util.find_spec(name) is not None:
        return False
    sys.meta_path.append(Lender(folder, NAMES[name]))
    return True


def record_judges() -> Known:
    """The functions and methods of what judges, each with its code."""
    found: Known = {}
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in JUDGES:
            for word, value in list(vars(module).items()):
                if isinstance(value, FunctionType):
                    found[name, "", word] = (value, code_of(value))
                elif isinstance(value, type) and value.__module__ == name:
                    methods = {key: one for key, one in vars(value).items() if code_of(one) is not None}
                    found.update({(name, word, key): (one, code_of(one)) for key, one in methods.items()})
    for module in (builtins, math):
        for word, value in vars(module).items():
            if isinstance(value, (BuiltinFunctionType, type)) and word not in OFTEN_REPLACED:
                found[module.__name__, "", word] = (value, None)
    return found | {(module.__name__, "", word): (getattr(module, word), None) for module, word in WRITERS}


def find_changes(known: Known, root: str) -> list[str]:
    """Names of what was replaced by something that is not an installed plugin's."""
    changed = []
    for (module, owner, word), (value, code) in known.items():
        holder = vars(sys.modules[module]).get(owner) if owner and module in sys.modules else sys.modules.get(module)
        now = getattr(holder, "__dict__", {}).get(word)
        if (now is not value or code_of(now) is not code) and not is_installed(now, root):
            changed.append(".".join(filter(None, (module, owner, word))))
    return changed


def code_of(value: Any) -> Any:
    """The code of a function, or of the function in a method, a class method or a property; else None."""
    inner = getattr(value, "__func__", None) or getattr(value, "fget", None) or value
    return getattr(inner, "__code__", None)


def is_installed(value: Any, root: str) -> bool:
    """True for a function from a file outside of the project, or of its environment."""
    file = getattr(code_of(value), "co_filename", "")
    return file.startswith("/") and (not file.startswith(f"{root}/") or "/site-packages/" in file)
