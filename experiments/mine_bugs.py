"""Finds the bugs of real_bugs/bugs.jsonl: commits that repair one function, judged by their own tests.

    python experiments/mine_bugs.py REPOS FOLDER [PACKAGE …]

For each package of real_bugs/packages.toml history is walked newest first, merges aside, and three commits are taken,
each of another function, that meet all of this, none of which asks what `fix` can do:

1. Its first line says that something was wrong (SAYS_WRONG).
2. It changes one Python file besides tests, and there the body of one function or method, in at most thirty lines.
   Docstrings and comments do not count, imports may change, documents and other files may.
3. Tests in the files it changes fail before and pass after, with Python 3.11, and these files take under half a minute
   of a processor. (`real_bugs.py prepare` looks again, at the whole suite, which may take a minute.)

Five of a package are looked at, and those come first of which a later revision of their test files has a test that
passes with the fix, runs the function and is not in the tests of the fix: it is hidden from who repairs it.

Whether a test runs a function is found by making the function raise. FOLDER keeps wheels and environments, and the bugs
found in it as PACKAGE.jsonl; a package that has its file there is not looked at again. Of later revisions the newest
and the middle one are tried.
"""

import ast
import copy
import json
import re
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path

from real_bugs import (
    Bug,
    Package,
    git,
    holds_tests,
    is_test,
    lay_out,
    list_passing,
    make_environment,
    read_packages,
    run_tests,
    trees_with,
)

from burnish.tasks.source import find_definition

SAYS_WRONG = re.compile(r"\b(?:fix|bug|crash|regress|incorrect|wrong|broken?|raise)", re.IGNORECASE)
NOT_SOURCE = re.compile(
    r"(?:^|/)(?:docs?|examples?|benchmarks?|\.github)/|^(?:setup|noxfile|tasks|conf|run_tests)\.py$"
)
MOST_LINES = 30
TAKEN, MOST_LOOKED_AT, MOST_TRIED = 3, 5, 12
LATER_TRIED = 2
FILE_SECONDS = 30
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LOG = "%x01%H%x02%P%x02%cs%x02%s%x03"


def main() -> None:
    repos, folder, names = Path(sys.argv[1]), Path(sys.argv[2]).resolve(), sys.argv[3:]
    (folder / "wheels").mkdir(parents=True, exist_ok=True)
    for package in read_packages().values():
        kept = folder / f"{package.name}.jsonl"
        if (names and package.name not in names) or kept.exists():
            continue
        repository = repos / package.repository.replace("/", "+") / "repo"
        python = make_environment(package, folder / "environments", folder / "wheels", fetch=True)
        found = find_bugs(package, repository, python)
        kept.write_text("".join(json.dumps(asdict(bug)) + "\n" for bug in found), "utf-8")


def find_bugs(package: Package, repository: Path, python: Path) -> list[Bug]:
    """A few of the newest commits that meet the criteria, those with hidden tests first."""
    found: dict[str, Bug] = {}
    for number, candidate in enumerate(find_candidates(package, repository)):
        if (
            len(found) == MOST_LOOKED_AT
            or number == MOST_TRIED
            or sum(bug.hidden > 0 for bug in found.values()) == TAKEN
        ):
            break
        if candidate.function in found:
            continue
        bug, why = verify(candidate, package, repository, python)
        print(f"{package.name} {candidate.commit[:10]} {candidate.function}: {why}", flush=True)
        if bug:
            found[bug.function] = bug
    chosen = sorted(found.values(), key=lambda bug: bug.hidden == 0)[:TAKEN]  # else newest first, as they came
    return [replace(bug, id=f"{package.name}-{number}") for number, bug in enumerate(chosen, 1)]


def find_candidates(package: Package, repository: Path) -> Iterator[Bug]:
    """Commits that meet the first two criteria, newest first; nothing is run."""
    log = git(repository, "log", "--no-merges", "--no-renames", f"--format={LOG}", "--name-status")
    for record in log.decode("utf-8", "replace").split("\x01")[1:]:
        head, _, listed = record.partition("\x03")
        commit, parent, date, subject = head.split("\x02")
        if not parent or not SAYS_WRONG.search(subject):
            continue
        files = [line.split("\t") for line in listed.splitlines() if line.endswith(".py") and "\t" in line]
        sources = [(kind, name) for kind, name in files if not is_test(name) and not NOT_SOURCE.search(name)]
        if [kind for kind, _ in sources] != ["M"] or not any(holds_tests(name) for kind, name in files if kind != "D"):
            continue
        file = sources[0][1]
        added, removed, _ = git(repository, "diff", "--numstat", parent, commit, "--", file).decode().split(None, 2)
        if int(added) + int(removed) > MOST_LINES:
            continue
        old, new = (git(repository, "show", f"{one}:{file}").decode("utf-8", "replace") for one in (parent, commit))
        if function := find_changed_function(old, new):
            yield Bug("", package.name, commit, parent, date, file, function, (), commit, 0)


def find_changed_function(old: str, new: str) -> str:
    """The one function whose body differs; empty where more differs, or less, or a text is no Python of today."""
    try:
        (before, rest), (after, same) = split_functions(old), split_functions(new)
    except (SyntaxError, ValueError):
        return ""
    changed = [name for name in before if name in after and before[name] != after[name]]
    if rest != same or list(before) != list(after) or len(changed) != 1:
        return ""
    return changed[0] if before[changed[0]][0] == after[changed[0]][0] else ""


def split_functions(text: str) -> tuple[dict[str, tuple[str, str]], list[str]]:
    """Heads and bodies of functions by their names, and all else but imports; docstrings are left out."""
    module = ast.parse(text)
    for node in ast.walk(module):
        if (
            isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Module))
            and ast.get_docstring(node, clean=False) is not None
        ):
            node.body = node.body[1:] or [ast.Pass()]
    functions: dict[str, tuple[str, str]] = {}

    def take(body: list[ast.stmt], prefix: str) -> Iterator[str]:
        for node in body:
            bare = copy.copy(node)
            if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
                bare.body = []  # type: ignore[attr-defined]
            if isinstance(node, FUNCTIONS) and f"{prefix}{node.name}" not in functions:
                functions[f"{prefix}{node.name}"] = ast.dump(bare), ast.dump(ast.Module(node.body, []))
            elif isinstance(node, ast.ClassDef):
                yield ast.dump(bare)
                yield from take(node.body, f"{prefix}{node.name}.")
            elif not isinstance(node, ast.Import | ast.ImportFrom):
                yield ast.dump(node)

    rest = list(take(module.body, ""))
    return functions, rest


def verify(bug: Bug, package: Package, repository: Path, python: Path) -> tuple[Bug | None, str]:
    """The bug with its tests and its later revision where it meets the other criteria, and how that came out."""
    changed = git(repository, "diff", "--name-only", "--diff-filter=d", bug.parent, bug.commit).decode().split()
    files = [name for name in changed if holds_tests(name)]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        lay_out(bug, package, repository, place)
        old, fixed = (place / "before" / bug.file).read_text("utf-8"), (place / "upstream.py").read_text("utf-8")
        after = try_text(place, bug, fixed, python, files)
        before = try_text(place, bug, old, python, files) if list_passing(after) else {}
    tests = [id for id in list_passing(after) if before.get(id) != "passed"]
    if not before or not tests:
        return None, f"no test of {', '.join(files)} fails before and passes after ({len(list_passing(after))} pass)"
    later, hidden = find_later(bug, package, repository, python, after)
    count = f"{len(tests)} of {len(after)} tests, {hidden} hidden"
    return replace(bug, tests=tuple(tests), later=later, hidden=hidden), count


def try_text(
    place: Path, bug: Bug, text: str, python: Path, files: Collection[str], later: bool = False
) -> dict[str, str]:
    """What some test files say of a text, as the fix has them or as the later revision has them."""
    with trees_with(place, bug.file, text) as both:
        return run_tests(both[later], python, [name for name in files if (both[later] / name).exists()], FILE_SECONDS)


def find_later(bug: Bug, package: Package, repository: Path, python: Path, known: Mapping[str, str]) -> tuple[str, int]:
    """The newest later revision in which tests of the same files pass, and how many are new and run the function."""
    files = {id.partition("::")[0] for id in known}
    listed = git(repository, "log", "--format=%H", f"{bug.commit}..HEAD", "--", *files).decode().split()
    for revision in dict.fromkeys(listed[len(listed) * part // LATER_TRIED] for part in range(LATER_TRIED) if listed):
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            lay_out(replace(bug, later=revision), package, repository, place)
            fixed = (place / "upstream.py").read_text("utf-8")
            passing = list_passing(try_text(place, bug, fixed, python, files, later=True))
            if new := [id for id in passing if known.get(id) != "passed"]:
                broken = try_text(place, bug, make_raise(fixed, bug.function), python, files, later=True)
                if count := sum(broken.get(id) != "passed" for id in new):
                    return revision, count
    return (listed or [bug.commit])[0], 0


def make_raise(text: str, name: str) -> str:
    """The module with a function that does nothing but raise."""
    module = ast.parse(text)
    node = find_definition(module, name)
    assert isinstance(node, FUNCTIONS)
    node.body = ast.parse("raise SystemError('made to fail')").body
    return ast.unparse(module)


if __name__ == "__main__":
    main()
