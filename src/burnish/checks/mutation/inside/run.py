"""The first file that runs: reads the job, loads pytest as the project has it, and lets the trials begin.

Facts go to the descriptor that was standard output at the start, a line of JSON each behind the job's number, without
which it is not heard; whatever the project prints goes to a file of which only the end is told, if something is wrong.
"""

# ruff: noqa: B905, PTH100, PTH102, PTH103, PTH108, PTH110, PTH109, PTH118, PTH123, SIM115, UP007, UP035, UP045

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import signal
import sys
from typing import Any

from ...inside.lent import lend
from .clocks import start_clocks

PACKAGE = "burnish_in_cell"
MODULE = f"{PACKAGE}.mutation.inside.run"
LAST_BYTES = 3000
NO_TESTS = 5
SLOW = (signal.SIGXCPU, signal.SIGPROF, signal.SIGALRM)
UNITTEST = ["-o", "python_files=test*.py *_test.py tests.py"]
"""How unittest names its files; asked for when pytest finds nothing under its own names."""


def main() -> None:
    """One job, from standard input or from its file."""
    home = os.getcwd()
    job = read_job()
    job.setdefault("home", home)
    job.setdefault("folder", os.path.join(home, "children"))
    os.makedirs(job["folder"], exist_ok=True)
    facts = os.dup(1)
    with open(os.path.join(job["folder"], "printed"), "w+b") as printed:
        for descriptor in (1, 2):
            os.dup2(printed.fileno(), descriptor)
        run(job, facts, printed)
    sys.stdout = sys.stderr = open(os.devnull, "w")
    os._exit(0)


def read_job() -> dict[str, Any]:
    """What to do; the file is removed, so that the project finds nothing of it."""
    if not os.path.exists("job.json"):
        job: dict[str, Any] = json.load(sys.stdin)
        return job
    with open("job.json", encoding="utf-8") as file:
        job = json.load(file)
    os.unlink("job.json")
    return job


def run(job: dict[str, Any], facts: int, printed: Any) -> None:
    """Let pytest collect; the plugin does the rest. If it never came to that, say why."""

    def say(fact: dict[str, Any]) -> None:
        data = f"\n{job['nonce']}{json.dumps(fact)}\n".encode()
        while data:
            data = data[os.write(facts, data) :]

    code: Any = "crash"
    spoke = False
    try:
        code, spoke = collected(job, say)
    except BaseException as error:  # `sys.exit` in a module that is being imported is one
        print(f"{type(error).__name__}: {error}")
    if not spoke:
        sys.stdout.flush()
        printed.seek(max(0, printed.seek(0, os.SEEK_END) - LAST_BYTES))
        say({"uncollected": code, "printed": printed.read().decode("utf-8", "replace")})
    say({"end": code})


def collected(job: dict[str, Any], say: Any) -> tuple[Any, bool]:
    """How pytest left, and whether the trials began."""
    start_clocks(job["test_seconds"])
    prepare(job)
    from .patch import Hook

    hook = Hook(job["functions"], job["root"])
    hook.active = job["alone"]["mutant"] if "alone" in job else None
    hook.be_first()
    import pytest

    from .trials import Trials

    functions = job["functions"]
    job["mutants"] = [{**functions[mutant["function"]], **mutant} for mutant in job["mutants"]]
    trials = Trials(job, hook, say)
    code = int(pytest.main(options(job), plugins=[trials]))
    if code == NO_TESTS and not trials.spoke:
        code = int(pytest.main([*options(job), *UNITTEST], plugins=[trials]))
    return code, trials.spoke


def prepare(job: dict[str, Any]) -> None:
    """The folder and the paths that `python -m pytest` would have in the project's root."""
    os.chdir(job["root"])
    sys.argv = ["pytest"]
    kept = [path for path in sys.path if path and path != job["home"] and path not in job["paths"]]
    sys.path[:] = [*job["paths"], *kept]
    os.environ["PYTHONPATH"] = os.pathsep.join(job["paths"])
    if lend("pytest", job["packages"], job["generated"]):
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"


def options(job: dict[str, Any]) -> list[str]:
    """What pytest is told besides what the project's own settings say; later words win over those."""
    words = ["-q", "--tb=native", "--capture=sys", "--color=no", "-p", "no:randomly", "-p", "no:random_order"]
    words += ["-o", f"cache_dir={job['folder']}/cache", "--rootdir", job["root"]]
    if "PYTEST_DISABLE_PLUGIN_AUTOLOAD" not in os.environ:
        words += ["--no-cov"] if importlib.util.find_spec("pytest_cov") else []
        words += ["-n", "0"] if importlib.util.find_spec("xdist") else []
    return [*words, *job["options"], *job["targets"]]


def last_word(output: bytes, code: int, nonce: str) -> str:
    """What a fresh process says of its mutant. One that cannot even be loaded is noticed by every test."""
    said = [line[len(nonce) :] for line in output.splitlines() if line.startswith(nonce.encode())]
    for line in said:
        with contextlib.suppress(ValueError, AttributeError):
            fact = json.loads(line)
            if "alone" in fact:
                return str(fact["alone"])
            if "uncollected" in fact:
                return "killed"
    return "timeout" if -code in SLOW else "crash"


if __name__ == "__main__":
    main()
