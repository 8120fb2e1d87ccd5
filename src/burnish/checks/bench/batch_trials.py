"""Many versions of one function, tried in one job: what passes is worth a grade of its own, the rest is not."""

import ast
import os
import textwrap
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from burnish.checks.bench.check_context import CheckContext
from burnish.checks.bench.project_run import OPTIONS, describe_job, run_job
from burnish.checks.project import Project
from burnish.parsing import try_parse
from burnish.tasks.source import FUNCTIONS, line_span, split_lines

LOADING_SECONDS, GRACE_SECONDS = 30.0, 2.0
"""For all imports, and for what is under way when the time is up."""
MOST_AT_ONCE = 32

Function = ast.FunctionDef | ast.AsyncFunctionDef


def processes_at_once() -> int:
    """How many children try versions at a time."""
    return max(1, min(MOST_AT_ONCE, len(os.sched_getaffinity(0))))


def change_of(base: str, module: str, file: str) -> dict[str, Any] | None:
    """The one function in which a module differs from the base, as a cell puts it in place; None if it is not one."""
    before, after = split_lines(base), split_lines(module)
    same = _count_alike(before, after)
    left = min(len(before), len(after)) - same
    end = len(before) - min(left, _count_alike(before[::-1], after[::-1]))
    for owner, old in _functions(base):
        first, last = line_span(old)
        if first <= same <= last and end <= last and base != module:
            was, text = _text(before[first:last]), _text(after[first : last + len(after) - len(before)])
            tree = try_parse(text)
            new = tree.body[0] if tree and len(tree.body) == 1 else None
            if not isinstance(new, FUNCTIONS) or not _is_swappable(old, new):
                return None
            place = {"file": file, "line": old.lineno, "first": first + 1, "owner": owner}
            return {**place, "was": was, "text": text}
    return None


@lru_cache(maxsize=4)
def _functions(base: str) -> tuple[tuple[str, Function], ...]:
    """Functions at the top of a module, and methods of classes there, with the name of the class."""
    module = try_parse(base)
    found: list[tuple[str, Function]] = []
    for node in module.body if module else []:
        owner = node.name if isinstance(node, ast.ClassDef) else ""
        members = node.body if isinstance(node, ast.ClassDef) else [node]
        found += [(owner, member) for member in members if isinstance(member, FUNCTIONS)]
    return tuple(found)


def _count_alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines from the beginning are the same."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


def _text(lines: Sequence[str]) -> str:
    return textwrap.dedent("".join(lines).replace("\r\n", "\n").replace("\f", ""))


def _is_swappable(old: Function, new: Function) -> bool:
    """Whether another code object will do: same name, decorators and parameters."""
    alike = type(old) is type(new) and old.name == new.name
    decorators = [[ast.dump(part) for part in one.decorator_list] for one in (old, new)]
    names = [[part.arg for part in ast.walk(one.args) if isinstance(part, ast.arg)] for one in (old, new)]
    counts = [(len(one.args.defaults), len(one.args.kw_defaults), len(one.args.posonlyargs)) for one in (old, new)]
    return alike and decorators[0] == decorators[1] and names[0] == names[1] and counts[0] == counts[1]


def try_versions(
    project: Project,
    context: CheckContext,
    changes: Mapping[int, dict[str, Any]],
    more: Mapping[str, Any],
    files: Mapping[str, str],
    seconds: float,
) -> tuple[set[int], int]:
    """The places of the changes that pass all tests of the job, and how many tests that are. Raises CheckError.

    Not among them: one that only a fresh process can try, and those that the time was too short for.
    """
    places = list(changes)
    job = {
        **describe_job(project, context, options=[*OPTIONS, "--capture=sys"]),
        **more,
        "functions": [{**changes[place], "number": number} for number, place in enumerate(places)],
        "versions": [{"key": place, "function": number} for number, place in enumerate(places)],
        "baseline": False,
        "at_once": processes_at_once(),
        "trying_seconds": seconds,
        "grace_seconds": GRACE_SECONDS,
        "seconds": seconds + LOADING_SECONDS,
    }
    _, facts = run_job(project, context, job, files, cpu_seconds=4 * (seconds + LOADING_SECONDS) + 10)
    passed = {fact.get("mutant") for fact in facts if fact.get("was") == "survived"}
    planned = [fact["plan"] for fact in facts if isinstance(fact.get("plan"), list)]
    return {place for place in places if place in passed}, len(planned[-1]) if planned else 0
