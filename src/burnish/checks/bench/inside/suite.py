"""The process of the tests: pytest as the project has it, with one plugin of ours beside the project's own.

The plugin runs the tests once (`reporter`), or once for each of many versions of a function (`trials`).
"""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from .borrowed_pytest import borrow
from .guard import say
from .import_override import TextOverride, start_override
from .integrity import find_changes, record_judges

NOTHING = 5
UNITTEST = ["-o", "python_files=test*.py *_test.py tests.py"]
"""How unittest names its files; asked for when pytest finds nothing under its own names."""
LOADING_CLOCKS = ((signal.SIGPROF, signal.ITIMER_PROF, 1), (signal.SIGALRM, signal.ITIMER_REAL, 2))
"""CPU seconds, and twice as many on the wall."""


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
    judges = record_judges()
    # Whatever goes by pytest's name, what it returns must be a number that our exit code can be compared with.
    code = int(pytest.main(options(job), plugins=[plugin]))
    if code == NOTHING:
        code = int(pytest.main([*options(job), *UNITTEST], plugins=[plugin]))
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
    return start_override(job, folder)


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
    from .reporter import Reporter

    return Reporter(tell, job, cover, override)


def options(job: dict[str, Any]) -> list[str]:
    """What pytest is told besides what the project's own settings say; later words win over those."""
    words = [*job["options"], "--color=no", "-p", "no:randomly", "-p", "no:random_order"]
    words += ["-o", f"cache_dir={job.get('cache', job['home'])}/cache", "--rootdir", job["root"]]
    if "PYTEST_DISABLE_PLUGIN_AUTOLOAD" not in os.environ:
        words += ["--no-cov"] if importlib.util.find_spec("pytest_cov") else []
        words += ["-n", "0"] if importlib.util.find_spec("xdist") else []
    return [*words, *job["targets"]]
