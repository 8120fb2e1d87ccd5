"""Burnish writes code and hands you the evidence.

import burnish
run = burnish.write("a function double(n), e.g. double(2) == 4", model="scripted:demo")
print(run.verdict, run.code, run.evidence)
"""

from typing import TYPE_CHECKING, Any

from burnish.version import __version__

if TYPE_CHECKING:
    from burnish.agent.limits import Limits
    from burnish.commands.apply import apply
    from burnish.commands.check import check
    from burnish.commands.fix import fix
    from burnish.commands.rate import rate
    from burnish.commands.resume import answer, resume
    from burnish.commands.strengthen import strengthen
    from burnish.commands.verify import verify
    from burnish.commands.write import build_request, write
    from burnish.errors import AttemptError, BurnishError, SetupProblem
    from burnish.evals.compare import compare
    from burnish.evals.evaluate import evaluate
    from burnish.evals.handle import start_evaluation
    from burnish.events import Evidence
    from burnish.events.history import Run
    from burnish.models.scripted import ScriptedModel
    from burnish.report.explain import explain
    from burnish.runs.attempt import Resources, start
    from burnish.runs.request import Request
    from burnish.runs.store import Store
    from burnish.sandbox import open_sandbox
    from burnish.tasks.task import Task

_ROOMS = {
    "AttemptError": "burnish.errors",
    "BurnishError": "burnish.errors",
    "Evidence": "burnish.events",
    "Limits": "burnish.agent.limits",
    "Request": "burnish.runs.request",
    "Resources": "burnish.runs.attempt",
    "Run": "burnish.events.history",
    "ScriptedModel": "burnish.models.scripted",
    "SetupProblem": "burnish.errors",
    "Store": "burnish.runs.store",
    "Task": "burnish.tasks.task",
    "answer": "burnish.commands.resume",
    "apply": "burnish.commands.apply",
    "build_request": "burnish.commands.write",
    "check": "burnish.commands.check",
    "compare": "burnish.evals.compare",
    "evaluate": "burnish.evals.evaluate",
    "explain": "burnish.report.explain",
    "fix": "burnish.commands.fix",
    "open_sandbox": "burnish.sandbox",
    "rate": "burnish.commands.rate",
    "resume": "burnish.commands.resume",
    "start": "burnish.runs.attempt",
    "start_evaluation": "burnish.evals.handle",
    "strengthen": "burnish.commands.strengthen",
    "verify": "burnish.commands.verify",
    "write": "burnish.commands.write",
}
"""Where each public name lives; fetched at first use, so that importing the door costs nothing."""

__all__ = [
    "AttemptError",
    "BurnishError",
    "Evidence",
    "Limits",
    "Request",
    "Resources",
    "Run",
    "ScriptedModel",
    "SetupProblem",
    "Store",
    "Task",
    "__version__",
    "answer",
    "apply",
    "build_request",
    "check",
    "compare",
    "evaluate",
    "explain",
    "fix",
    "open_sandbox",
    "rate",
    "resume",
    "start",
    "start_evaluation",
    "strengthen",
    "verify",
    "write",
]


def __getattr__(name: str) -> Any:
    if name not in _ROOMS:
        raise AttributeError(f"module 'burnish' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_ROOMS[name]), name)


def __dir__() -> list[str]:
    return __all__
