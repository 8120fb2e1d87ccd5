"""Many versions of one function, tried in one job: what passes is worth a grade of its own, the rest is not."""

import ast
import os
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from burnish.checks.lab import Lab
from burnish.checks.project import Project
from burnish.checks.project_run import INSIDE, Said, run_facts
from burnish.tasks.definitions import FUNCTIONS, lines_of, split
from burnish.tasks.syntax import parsed

SHIPPED = Path(__file__).parent / "mutation" / "inside"
FILES = {"versions": INSIDE, "children": SHIPPED, "patch": SHIPPED}
LOADING_SECONDS = 30.0

Function = ast.FunctionDef | ast.AsyncFunctionDef


def change_of(base: str, module: str, file: str) -> dict[str, Any] | None:
    """The one function in which a module differs from the base, as a cell puts it in place; None if it is not one."""
    before, after = parsed(base), parsed(module)
    if before is None or after is None:
        return None
    found = _differing(before.body, after.body, "")
    if found is None or not _is_swappable(found[0], found[1]):
        return None
    old, new, owner = found
    return {
        "number": 0,
        "file": file,
        "line": old.lineno,
        "first": lines_of(old)[0] + 1,
        "owner": owner,
        "was": _text(base, old),
        "text": _text(module, new),
    }


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


def _differing(
    before: Sequence[ast.stmt], after: Sequence[ast.stmt], owner: str
) -> tuple[Function, Function, str] | None:
    """The only pair of statements that differ, if they are functions, or classes of which the same is true."""
    if len(before) != len(after):
        return None
    pairs = [(old, new) for old, new in zip(before, after, strict=True) if ast.dump(old) != ast.dump(new)]
    if len(pairs) != 1:
        return None
    old, new = pairs[0]
    if isinstance(old, FUNCTIONS) and isinstance(new, FUNCTIONS):
        return old, new, owner
    if owner or not (isinstance(old, ast.ClassDef) and isinstance(new, ast.ClassDef)):
        return None
    heads = [[ast.dump(part) for part in (*one.bases, *one.keywords, *one.decorator_list)] for one in (old, new)]
    same = heads[0] == heads[1] and old.name == new.name
    return _differing(old.body, new.body, old.name) if same else None


def _is_swappable(old: Function, new: Function) -> bool:
    """Whether another code object will do: same name, decorators and parameters."""
    alike = type(old) is type(new) and old.name == new.name
    decorators = [[ast.dump(part) for part in one.decorator_list] for one in (old, new)]
    names = [[part.arg for part in ast.walk(one.args) if isinstance(part, ast.arg)] for one in (old, new)]
    counts = [(len(one.args.defaults), len(one.args.kw_defaults), len(one.args.posonlyargs)) for one in (old, new)]
    return alike and decorators[0] == decorators[1] and names[0] == names[1] and counts[0] == counts[1]


def _text(module: str, node: Function) -> str:
    first, last = lines_of(node)
    return textwrap.dedent("".join(split(module)[first:last]).replace("\r\n", "\n").replace("\f", ""))
