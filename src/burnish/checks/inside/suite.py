"""The process of the tests: pytest as the project has it, with our reporter beside the project's own plugins."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any

from .guard import say
from .lent import lend
from .replaced import Replaced, replace
from .unchanged import find_changes, remember

NOTHING = 5
UNITTEST = ["-o", "python_files=test*.py *_test.py tests.py"]
"""How unittest names its files; asked for when pytest finds nothing under its own names."""


def main(report: int) -> None:
    """Run the suite that standard input describes, and leave as pytest would."""
    job = json.load(sys.stdin)
    nonce = job.pop("nonce")
    replaced = prepare(report, job)
    if lend("pytest", job["packages"], job["generated"]):
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    try:
        cover = start_coverage(job) if job["cover"] else None
        import pytest

        from .reporter import Reporter
    except ImportError as error:
        return say(report, nonce, {"no_tool": str(error)})

    def tell(**fact: Any) -> None:
        say(report, nonce, fact)

    reporter = versions(tell, job) if "versions" in job else Reporter(tell, job, cover, replaced)
    known = remember()
    code = int(pytest.main(options(job), plugins=[reporter]))
    if code == NOTHING:
        code = int(pytest.main([*options(job), *UNITTEST], plugins=[reporter]))
    if cover:
        cover.say_all(reporter)
    if changed := find_changes(known, job["root"]) + ([] if reporter.tell is tell else ["what reports the tests"]):
        tell(changed=changed)
    tell(end=code)
    sys.exit(code)


def prepare(report: int, job: dict[str, Any]) -> Replaced | None:
    """The folder, the paths and the name that `python -m pytest` would have in the project's root."""
    os.set_inheritable(report, False)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.argv = ["pytest"]
    folder = Path.cwd()
    os.environ.update({"COVERAGE_FILE": f"{folder}/coverage", "PYTHONPATH": os.pathsep.join(job["paths"])})
    os.chdir(job["root"])
    kept = [path for path in sys.path if path and Path(path) != folder and path not in job["paths"]]
    sys.path[:] = [*job["paths"], *kept]
    if job.get("own"):
        job["targets"] = [*job["targets"], f"{folder}/{job['own']}"]
        sys.path.append(str(Path(folder, job["own"]).parent))
    return replace(job, folder)


def versions(tell: Any, job: dict[str, Any]) -> Any:
    """What tries many versions, in place of what runs the tests once."""
    from .versions import Versions

    return Versions(tell, job)


def options(job: dict[str, Any]) -> list[str]:
    """What pytest is told besides what the project's own settings say; later words win over those."""
    words = ["-p", "no:cacheprovider", "--continue-on-collection-errors", "--maxfail=0", "--color=no", "--tb=short"]
    words += ["-p", "no:randomly", "-p", "no:random_order"]
    has = {name: importlib.util.find_spec(name) is not None for name in ("pytest_cov", "xdist")}
    if autoloads() and has["pytest_cov"]:
        words.append("--no-cov")
    if autoloads() and has["xdist"]:
        words += ["-n", "0"]
    words += [f"--capture={job['capture']}"] if "capture" in job else []
    return [*words, *job["off"], "--rootdir", job["root"], *job["targets"]]


def autoloads() -> bool:
    """True when pytest takes up the plugins that are installed."""
    return "PYTEST_DISABLE_PLUGIN_AUTOLOAD" not in os.environ


def start_coverage(job: dict[str, Any]) -> Any:
    """Begin to watch the sources, before anything of the project is imported."""
    lend("coverage", job["packages"], job["generated"])
    from .cover import Cover

    return Cover(job)
