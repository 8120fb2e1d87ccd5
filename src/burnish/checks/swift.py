"""Many versions of one function, tried in one job: what passes is worth a grade of its own, the rest is not."""

import ast
import os
import textwrap
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from burnish.checks.lab import Lab
from burnish.checks.project import Project
from burnish.checks.project_run import INSIDE, Said, run_facts
from burnish.parsing import try_parse
from burnish.tasks.source import FUNCTIONS, line_span, split_lines

SHIPPED = Path(__file__).parent / "mutation" / "inside"
FILES = {"versions": INSIDE, "children": SHIPPED, "patch": SHIPPED}
LOADING_SECONDS = 30.0

Function = ast.FunctionDef | ast.AsyncFunctionDef


def change_of(base: str, module: str, file: str) -> dict[str, Any] | None:
    """The one function in which a module differs from the base, as a cell puts it in place; None if it is not one."""
    before, after = split_lines(base), split_lines(module)
    same = _alike(before, after)
    left = min(len(before), len(after)) - same
    end = len(before) - min(left, _alike(before[::-1], after[::-1]))
    for owner, old in _functions(base):
        first, last = line_span(old)
        if first <= same <= last and end <= last and base != module:
            was, text = _text(before[first:last]), _text(after[first : last + len(after) - len(before)])
            return _change(file, owner, old, was, text)
    return None


def _change(file: str, owner: str, old: Function, was: str, text: str) -> dict[str, Any] | None:
    module = try_parse(text)
    new = module.body[0] if module and len(module.body) == 1 else None
    if not isinstance(new, FUNCTIONS) or not _is_swappable(old, new):
        return None
    first = line_span(old)[0] + 1
    place = {"number": 0, "file": file, "line": old.lineno, "first": first, "owner": owner}
    return {**place, "was": was, "text": text}


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


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines from the beginning are the same."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


def try_versions(
    project: Project,
    lab: Lab,
    changes: Mapping[int, dict[str, Any]],
    more: Mapping[str, Any],
    files: Mapping[str, str],
    seconds: float,
) -> dict[int, list[Said] | None]:
    """For each change what the tests said, the first failure last; None for one that only a fresh process can try.

    Those that the time was too short for are missing. Raises CheckError.
    """
    places = list(changes)
    job = {
        **more,
        "versions": [changes[place] for place in places],
        "at_once": max(1, min(32, len(os.sched_getaffinity(0)))),
        "trying_seconds": seconds,
        "capture": "sys",
    }
    shipped = {name: (folder / f"{name}.py").read_text("utf-8") for name, folder in FILES.items()}
    limited = project.settings.model_copy(update={"test_seconds": seconds + LOADING_SECONDS})
    facts = run_facts(project.model_copy(update={"settings": limited}), lab, job, files, shipped)
    told = [fact["version"] for fact in facts if isinstance(fact.get("version"), dict)]
    return {places[one["place"]]: _said(one["said"]) for one in told if 0 <= one["place"] < len(places)}


def _said(said: Any) -> list[Said] | None:
    if isinstance(said, list):
        return [Said(**test) for test in said]
    if said == "anew":
        return None
    return [Said("", "failed", message=f"the tests ended with a {said}")]


def _is_swappable(old: Function, new: Function) -> bool:
    """Whether another code object will do: same name, decorators and parameters."""
    alike = type(old) is type(new) and old.name == new.name
    decorators = [[ast.dump(part) for part in one.decorator_list] for one in (old, new)]
    names = [[part.arg for part in ast.walk(one.args) if isinstance(part, ast.arg)] for one in (old, new)]
    counts = [(len(one.args.defaults), len(one.args.kw_defaults), len(one.args.posonlyargs)) for one in (old, new)]
    return alike and decorators[0] == decorators[1] and names[0] == names[1] and counts[0] == counts[1]


def _text(lines: Sequence[str]) -> str:
    return textwrap.dedent("".join(lines).replace("\r\n", "\n").replace("\f", ""))
