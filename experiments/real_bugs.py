"""Are bugs that people made in real packages found and repaired, and is what `fix` calls proven right?

    python experiments/real_bugs.py prepare REPOS PREPARED [--only ID …]
    python experiments/real_bugs.py run PREPARED [--model MODEL | --scripted-upstream | --locate] [--seconds 180]
                                        [--only ID …] [--at-once N] [--begin-for SECONDS] [--out FILE.jsonl]

REPOS holds a bare clone of every repository in real_bugs/packages.toml, as OWNER+NAME/repo. `prepare` takes what is
needed from them: the tree before each fix with the tests of the fix put in, upstream's file, the tests of a later
revision, and wheels; what it leaves in PREPARED can be packed, moved and used offline. `run` tells `fix` the file and
nothing else. The hidden judge is plain pytest in a bubblewrap of its own: the suite of the fixing commit, then the
tests of the later revision, each as far as it passes with upstream's fix. How bugs were chosen: mine_bugs.py.
"""

import argparse
import ast
import difflib
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
import textwrap
import threading
import time
import tomllib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path, PurePosixPath
from xml.etree import ElementTree

from burnish import Limits, ScriptedModel, fix
from burnish.commands.fix import FixOptions, plan_fix
from burnish.errors import BurnishError, SetupProblem
from burnish.events import FixFacts, RunFinished
from burnish.models.model import Model
from burnish.models.names import open_model
from burnish.paths import describe_origin
from burnish.sandbox.bubblewrap import find_bwrap
from burnish.tasks import Task
from burnish.tasks.source import find_definition
from burnish.text import one_line

FACTS = Path(__file__).parent / "real_bugs"
SUITE_SECONDS = 60
"""Suites that take longer, of a processor, are none of ours; on the wall it may be longer by WAITING."""
WAITING = 8
WHEELS_FOR = ("3.11", "3.12")
PYTHON = ".".join(map(str, sys.version_info[:2]))
SEED = 0
SEEN_AT = "/project"
TEST_FOLDERS = ("tests", "test", "testing")
NOT_NEEDED = ("docs", "doc", ".github", "benchmarks", "artwork")
HEAD = ("bug", "place", "verdict", "confidence", "repaired", "regressions", "hidden tests", "seconds", "why")
FIRST_PLACES = 3


@dataclass(frozen=True)
class Package:
    """A repository, and what its tests need."""

    name: str
    repository: str
    needs: tuple[str, ...]
    """Wheels by name and version, all that there are."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Files that a release has and the repository has not, such as the number of a version."""


@dataclass(frozen=True)
class Bug:
    """The facts of one fix."""

    id: str
    package: str
    commit: str
    parent: str
    date: str
    file: str
    function: str
    tests: tuple[str, ...]
    """What fails before and passes after."""
    later: str
    """The revision whose tests judge as well."""
    hidden: int
    """How many of its tests run the function and are not among those of the fix."""


@dataclass(frozen=True)
class Expected:
    """Ids of tests that pass."""

    before: tuple[str, ...]
    """As long as nothing is repaired."""
    fixed: tuple[str, ...]
    """With upstream's fix."""
    later: tuple[str, ...]
    """Of the later revision, with upstream's fix."""
    later_before: tuple[str, ...]
    python: str = WHEELS_FOR[0]


@dataclass(frozen=True)
class Row:
    """What came of one bug."""

    id: str
    function: str
    place: int | None = None
    """The rank of the function that upstream changed; None where it is not among the places."""
    places: tuple[str, ...] = ()
    verdict: str = ""
    confidence: float | None = None
    repaired: bool = False
    failing: tuple[str, ...] = ()
    """Of the tests that pass with upstream's fix, those that do not with ours."""
    regressions: tuple[str, ...] = ()
    """Those among them that passed before."""
    hidden: int = 0
    """How many tests that run the function only the judge knows."""
    seconds: float = 0.0
    why: str = ""
    run: str = ""
    diff: str = ""
    about: Mapping[str, object] = field(default_factory=dict)


def main() -> None:
    given = read_arguments()
    bugs = [bug for bug in read_bugs() if not given.only or bug.id in given.only]
    if given.mode == "prepare":
        prepare(bugs, given.repos, given.prepared)
    else:
        run(bugs, given)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    modes = parser.add_subparsers(dest="mode", required=True)
    first, second = modes.add_parser("prepare"), modes.add_parser("run")
    first.add_argument("repos", type=Path)
    for mode in (first, second):
        mode.add_argument("prepared", type=Path)
        mode.add_argument("--only", nargs="+", metavar="ID")
    second.add_argument("--model", default="local:qwen2.5-coder-1.5b")
    second.add_argument("--scripted-upstream", action="store_true", help="a model that answers upstream's function")
    second.add_argument("--locate", action="store_true", help="rank the places and ask no model")
    second.add_argument("--seconds", type=float, default=180.0, help="for each repair")
    second.add_argument("--at-once", type=int, default=1, help="repairs at a time")
    second.add_argument("--begin-for", type=float, metavar="SECONDS", help="begin none after; the next command does")
    second.add_argument("--out", type=Path, help="rows as JSON lines; those that are there are not made again")
    return parser.parse_args()


def read_packages() -> dict[str, Package]:
    known = tomllib.loads((FACTS / "packages.toml").read_text("utf-8"))
    base = known.pop("needs")
    return {
        name: Package(name, facts["repository"], (*base, *facts.get("needs", ())), facts.get("files", {}))
        for name, facts in known.items()
    }


def read_bugs() -> list[Bug]:
    rows = map(json.loads, (FACTS / "bugs.jsonl").read_text("utf-8").splitlines())
    return [Bug(**{**row, "tests": tuple(row["tests"])}) for row in rows]


# What is taken from a repository


def git(repository: Path, *words: str) -> bytes:
    return subprocess.run(["git", "--git-dir", repository, *words], capture_output=True, check=True).stdout


def is_test(path: str) -> bool:
    """Whether a file belongs to the tests: by its folder, or by its name."""
    name = PurePosixPath(path).name
    named = name.startswith("test_") or name.endswith("_test.py") or name in ("tests.py", "conftest.py")
    return named or any(part in TEST_FOLDERS for part in PurePosixPath(path).parts[:-1])


def holds_tests(path: str) -> bool:
    """Whether pytest may be asked for a file."""
    name = PurePosixPath(path).name
    return is_test(path) and name.endswith(".py") and (name.startswith("test") or name.endswith("_test.py"))


def extract(repository: Path, revision: str, folder: Path, only_tests: bool = False) -> None:
    """Put the files of a revision below a folder."""
    listed = git(repository, "ls-tree", "-r", "-z", "--name-only", revision).decode().rstrip("\0").split("\0")
    wanted = [name for name in listed if is_test(name) or not only_tests]
    wanted = [name for name in wanted if is_test(name) or PurePosixPath(name).parts[0] not in NOT_NEEDED]
    packed = git(repository, "archive", "--format=tar", revision, *(f":(literal){name}" for name in wanted))
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["tar", "-x", "-C", folder], input=packed, check=True)


def lay_out(bug: Bug, package: Package, repository: Path, folder: Path) -> None:
    """`before`, with the tests of the fix; `later`, the tests of a later revision; `upstream.py`, the fixed file."""
    before = folder / "before"
    extract(repository, bug.parent, before)
    changed = git(repository, "diff", "--name-only", "-z", "--no-renames", "--diff-filter=d", bug.parent, bug.commit)
    for name in filter(is_test, changed.decode().rstrip("\0").split("\0")):
        (before / name).parent.mkdir(parents=True, exist_ok=True)
        (before / name).write_bytes(git(repository, "show", f"{bug.commit}:{name}"))
    for name, text in package.files.items():
        if (before / name).parent.is_dir() and not (before / name).exists():
            (before / name).write_text(text, "utf-8")
    extract(repository, bug.later, folder / "later", only_tests=True)
    (folder / "upstream.py").write_bytes(git(repository, "show", f"{bug.commit}:{bug.file}"))


def make_environment(package: Package, folder: Path, wheels: Path, fetch: bool = False) -> Path:
    """The Python of an environment that has the wheels, and a name and version of the package but not its code.

    Nothing of the package is built or run for that: its code is found in the tree.
    """
    place = folder / package.name
    python = place / "bin" / "python"
    if python.exists() and (place / "ready").exists():
        return python
    words: list[str | Path]
    uv = [sys.executable, "-m", "uv"]
    for version in WHEELS_FOR if fetch else ():
        words = ["download", "-q", "--no-deps", "--only-binary", ":all:", "--python-version", version, "-d", wheels]
        _command([sys.executable, "-m", "pip", *words, *package.needs])
    shutil.rmtree(place, ignore_errors=True)
    _command([*uv, "venv", "-q", "--python", sys.executable, place])
    words = ["install", "-q", "--python", python, "--offline", "--no-index", "--no-deps", "--find-links", wheels]
    _command([*uv, "pip", *words, *package.needs])
    [site] = place.glob("lib/python*/site-packages")
    facts = site / f"{package.name.replace('-', '_')}-0.dist-info"
    facts.mkdir(exist_ok=True)
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package.name}\nVersion: 0\n", "utf-8")
    (place / "ready").touch()
    return python


def _command(words: Sequence[str | Path]) -> None:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode:
        raise SetupProblem(f"{' '.join(map(str, words[:8]))} … did not work: {done.stderr[-600:]}")


# The judge


def run_tests(root: Path, python: Path, files: Collection[str], cpu_seconds: int = SUITE_SECONDS) -> dict[str, str]:
    """Plain pytest on some test files of a tree, in a bubblewrap without network: the outcome of each test by its id.

    The tree may be written to by what runs there.
    """
    bwrap = find_bwrap()
    if bwrap is None:
        raise SetupProblem("There is no bubblewrap, and foreign code runs nowhere else. Type: burnish doctor")
    with tempfile.TemporaryDirectory() as out:
        report = Path(out) / "junit.xml"
        # Coverage, warnings and plugins that a project asks for in addopts are no part of a judgement.
        pytest = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "addopts=", "-o"]
        pytest += ["junit_family=xunit1", "--junitxml=/out/junit.xml", "--continue-on-collection-errors", *files]
        words = [
            bwrap,
            *_list_mounts(root, python, Path(out)),
            "--",
            "/bin/sh",
            "-c",
            f'ulimit -t {cpu_seconds}; exec "$@"',
            "sh",
            *pytest,
        ]
        try:
            subprocess.run(words, capture_output=True, timeout=WAITING * cpu_seconds, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return {}
        return read_report(report) if report.exists() else {}


def _list_mounts(root: Path, python: Path, out: Path) -> list[str]:
    words = ["--unshare-all", "--die-with-parent", "--new-session", "--clearenv", "--proc", "/proc", "--dev", "/dev"]
    for folder in ("/usr", "/lib", "/lib64", "/bin", "/etc/passwd", "/etc/localtime", sys.base_prefix):
        words += ["--ro-bind-try", folder, folder]
    words += ["--tmpfs", "/tmp", "--ro-bind", str(python.parent.parent), str(python.parent.parent)]
    words += ["--bind", str(root), SEEN_AT, "--bind", str(out), "/out", "--chdir", SEEN_AT]
    settings = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
    settings |= {"PYTHONPATH": f"{SEEN_AT}:{SEEN_AT}/src", "PYTHONHASHSEED": "0", "TZ": "UTC"}
    return words + [word for pair in settings.items() for word in ("--setenv", *pair)]


def read_report(file: Path) -> dict[str, str]:
    """Outcomes by id, as pytest names tests; a test that said two things has failed."""
    outcomes: dict[str, str] = {}
    for case in ElementTree.parse(file).iter("testcase"):
        path = case.get("file") or ""
        module = path.removesuffix(".py").replace("/", ".")
        inner = (case.get("classname") or "").removeprefix(module).strip(".")
        id = "::".join([path, *filter(None, inner.split(".")), case.get("name") or ""])
        tags = {child.tag for child in case}
        outcome = "failed" if tags & {"failure", "error"} else "skipped" if "skipped" in tags else "passed"
        outcomes[id] = "failed" if outcomes.get(id) == "failed" else outcome
    return outcomes


def list_passing(outcomes: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(id for id, outcome in outcomes.items() if outcome == "passed")


@contextmanager
def trees_with(place: Path, file: str, text: str) -> Iterator[tuple[Path, Path]]:
    """Copies of `before`, without and with the later tests, in which a file has this text."""
    with tempfile.TemporaryDirectory() as folder:
        first = shutil.copytree(place / "before", Path(folder) / "first", symlinks=True)
        (first / file).write_text(text, "utf-8")
        second = shutil.copytree(first, Path(folder) / "second", symlinks=True)
        shutil.copytree(place / "later", second, symlinks=True, dirs_exist_ok=True)
        yield first, second


def list_test_files(root: Path) -> list[str]:
    """All that pytest is asked for in a tree."""
    return sorted(name for path in root.rglob("*.py") if holds_tests(name := str(path.relative_to(root))))


def list_judging_files(bug: Bug) -> list[str]:
    """The test files that tell the fix from what was before."""
    return sorted({id.partition("::")[0] for id in bug.tests})


def judge(place: Path, bug: Bug, text: str, python: Path) -> tuple[dict[str, str], dict[str, str]]:
    """What the suite of the fix, and the same test files as a later revision has them, say of a file's text."""
    with trees_with(place, bug.file, text) as (first, second):
        # An id of a changed test file says something else in the later revision, so the two are never mixed.
        suite = run_tests(first, python, list_test_files(first))
        return suite, run_tests(second, python, list_judging_files(bug))


# Preparing


def prepare(bugs: Sequence[Bug], repos: Path, prepared: Path) -> None:
    """Everything that `run` needs, each bug looked at once more; one that is not as its facts say is left out.

    What is there already is not made again.
    """
    packages, wheels = read_packages(), prepared / "wheels"
    wheels.mkdir(parents=True, exist_ok=True)
    for number, bug in enumerate(bugs, 1):
        archive = prepared / f"{bug.id}.tar.xz"
        if archive.exists():
            continue
        package = packages[bug.package]
        python = make_environment(package, prepared / "environments", wheels, fetch=True)
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / bug.id
            lay_out(bug, package, repos / package.repository.replace("/", "+") / "repo", place)
            expected = look_at(bug, place, python)
            good = set(bug.tests) <= set(expected.fixed) and not set(bug.tests) & set(expected.before)
            count = f"{len(expected.fixed)} tests, {len(expected.later)} later"
            print(f"{number:3} {bug.id}: {count}{'' if good else ', LEFT OUT'}", flush=True)
            if good:
                (place / "expected.json").write_text(json.dumps(asdict(expected)), "utf-8")
                with tarfile.open(archive.with_suffix(".part"), "w:xz") as packed:
                    packed.add(place, ".")
                archive.with_suffix(".part").replace(archive)


def look_at(bug: Bug, place: Path, python: Path) -> Expected:
    """What passes before and after. Tests in files that the fix leaves alone passed before, if they pass after."""
    after = judge(place, bug, (place / "upstream.py").read_text("utf-8"), python)
    with trees_with(place, bug.file, (place / "before" / bug.file).read_text("utf-8")) as trees:
        before = [run_tests(root, python, list_judging_files(bug)) for root in trees]
    fixed, later = map(list_passing, after)
    was_right = [id for id in fixed if id not in before[0]] + list(list_passing(before[0]))
    return Expected(tuple(was_right), fixed, later, list_passing(before[1]), PYTHON)


# Running


def unpack(archive: Path, place: Path) -> None:
    with tarfile.open(archive) as packed:
        packed.extractall(place, filter="data")


def run(bugs: Sequence[Bug], given: argparse.Namespace) -> None:
    """A row for each bug, those of an earlier run first; then the counts."""
    name = "scripted:upstream" if given.scripted_upstream else "" if given.locate else given.model
    about = {"model": name, "limit_seconds": given.seconds, "seed": SEED}
    known = {row.id: row for row in read_rows(given.out) if about.items() <= row.about.items()}
    wanted = [bug for bug in bugs if (given.prepared / f"{bug.id}.tar.xz").exists()]
    waiting = [bug for bug in wanted if bug.id not in known]
    rows = [known[bug.id] for bug in wanted if bug.id in known]
    print(f"{len(wanted)} bugs, {len(rows)} of them known; {name or 'no model'}, {given.seconds:g} s each\n")
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
    for row in rows:
        print(render(row), flush=True)
    with ExitStack() as stack:
        model = None
        if not given.scripted_upstream and not given.locate:
            model = stack.enter_context(closing(open_model(name)))
            model.warm_up()  # else the first repair would pay for loading the weights
        pool = stack.enter_context(ThreadPoolExecutor(given.at_once))
        bench = Bench(given.prepared, given.seconds, model, given.locate, {**about, **describe_origin()})
        last = time.monotonic() + (given.begin_for or float("inf"))
        for done in as_completed([pool.submit(bench.attempt, bug, last) for bug in waiting]):
            if (row := done.result()) is None:
                continue
            rows.append(row)
            print(render(row), flush=True)
            if given.out:
                with given.out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(row)) + "\n")
    print(f"\n{render_totals(rows)}")


def read_rows(file: Path | None) -> list[Row]:
    lines = file.read_text("utf-8").splitlines() if file and file.exists() else []
    return [Row(**json.loads(line)) for line in lines]


@dataclass(frozen=True)
class Bench:
    """Where bugs are tried, several at a time."""

    prepared: Path
    seconds: float
    model: Model | None
    """None: a script that answers upstream's own function."""
    only_places: bool
    about: Mapping[str, object]
    lock: threading.Lock = field(default_factory=threading.Lock)

    def attempt(self, bug: Bug, last: float = float("inf")) -> Row | None:
        """One bug in a fresh copy; what breaks stands in the row. None where it is too late to begin."""
        if time.monotonic() > last:
            return None
        with tempfile.TemporaryDirectory(prefix="real-bug-") as folder:
            place = Path(folder)
            place.chmod(0o755)
            began, row = time.monotonic(), Row(bug.id, bug.function, hidden=bug.hidden, about=self.about)
            try:
                unpack(self.prepared / f"{bug.id}.tar.xz", place)
                with self.lock:
                    package = read_packages()[bug.package]
                    python = make_environment(package, self.prepared / "environments", self.prepared / "wheels")
                return self._locate(bug, place, python, row) if self.only_places else self._fix(bug, place, python, row)
            except BurnishError as error:
                verdict = "refused" if isinstance(error, SetupProblem) else "broken"
                why = f"{type(error).__name__}: {error}"
            except Exception as error:  # noqa: BLE001 the others must go on, and the row says it
                verdict, why = "crashed", f"{type(error).__name__}: {error}"
            return replace(row, verdict=verdict, why=why, seconds=time.monotonic() - began)

    def _locate(self, bug: Bug, place: Path, python: Path, row: Row) -> Row:
        began = time.monotonic()
        plan = plan_fix(FixOptions(path=place / "before" / bug.file, python=python))
        row = replace(row, verdict="located", why=plan.nothing, seconds=time.monotonic() - began)
        return rank(row, list_places(plan.settings(apply=False), plan.task))

    def _fix(self, bug: Bug, place: Path, python: Path, row: Row) -> Row:
        path, upstream = place / "before" / bug.file, (place / "upstream.py").read_text("utf-8")
        original = path.read_text("utf-8")
        answer = cut_function(original, upstream, bug.function)
        model = self.model or ScriptedModel([answer], "scripted:upstream", whole=True)
        began = time.monotonic()
        done = fix(path, model, python=python, limits=Limits(seconds=self.seconds))
        row = replace(row, seconds=time.monotonic() - began, verdict=str(done.verdict or done.state), run=done.id)
        finished = done.ending(RunFinished)
        row = replace(row, why=done.why, confidence=finished.confidence if finished else None)
        row = rank(row, list_places(done.settings.fix, Task.model_validate(done.settings.task)))
        return self.judge(bug, place, python, done.code, row) if done.code and done.code != original else row

    def judge(self, bug: Bug, place: Path, python: Path, code: str, row: Row) -> Row:
        """The row with what the hidden judge says of a file's text."""
        expected = Expected(**json.loads((place / "expected.json").read_text("utf-8")))
        if expected.python != PYTHON:  # other tests pass there
            expected = look_at(bug, place, python)
        suite, later = judge(place, bug, code, python)
        failing = [id for id in expected.fixed if suite.get(id) != "passed"]
        more = [id for id in expected.later if later.get(id) != "passed"]
        if failing or more:  # a test that measures time may fail on a busy machine, whatever the code is
            suite, later = judge(place, bug, (place / "upstream.py").read_text("utf-8"), python)
            failing = [id for id in failing if suite.get(id) == "passed"]
            more = [id for id in more if later.get(id) == "passed"]
        worse = {*(set(failing) & set(expected.before)), *(set(more) & set(expected.later_before))}
        return replace(
            row,
            repaired=not failing and not more,
            failing=tuple(dict.fromkeys((*failing, *more))),
            regressions=tuple(sorted(worse)),
            diff=describe_change((place / "before" / bug.file).read_text("utf-8"), code),
        )


def list_places(facts: FixFacts | None, task: Task) -> tuple[str, ...]:
    """The functions that `fix` takes for broken, the likeliest first."""
    ranked = tuple(place.function for place in getattr(facts, "places", ()))  # older records have the task's alone
    return ranked or (task.entry_point, *task.suspects)


def rank(row: Row, places: Sequence[str]) -> Row:
    """The row with where the function that upstream changed stands among them, from 1."""
    found = places.index(row.function) + 1 if row.function in places else None
    return replace(row, place=found, places=tuple(places)[:10])


def cut_function(original: str, fixed: str, name: str) -> str:
    """An answer with upstream's function, and the imports that the fix added."""
    node = find_definition(ast.parse(fixed), name)
    assert node is not None, name
    first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
    code = textwrap.dedent("\n".join(fixed.splitlines()[first - 1 : node.end_lineno]))
    known = {ast.unparse(line) for line in _list_imports(original)}
    added = [text for line in _list_imports(fixed) if (text := ast.unparse(line)) not in known]
    return "```python\n" + "\n".join([*added, code]) + "\n```"


def _list_imports(text: str) -> list[ast.stmt]:
    return [line for line in ast.parse(text).body if isinstance(line, ast.Import | ast.ImportFrom)]


def describe_change(old: str, new: str) -> str:
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=1)
    return "\n".join(list(lines)[2:])


def render(row: Row) -> str:
    judged = "yes" if row.repaired else f"no ({len(row.failing)} fail)" if row.failing else "no"
    sure = "" if row.confidence is None else f"{row.confidence:.0%}"
    cells = (
        row.id,
        row.place or "-",
        row.verdict,
        sure,
        judged,
        len(row.regressions),
        row.hidden,
        f"{row.seconds:.0f}",
    )
    return f"| {' | '.join(map(str, cells))} | {one_line(row.why, 160).replace('|', '/')} |"


def render_totals(rows: Sequence[Row]) -> str:
    proven, right = [row for row in rows if row.verdict == "proven"], [row for row in rows if row.repaired]
    verdicts = Counter(row.verdict for row in rows)
    lines = (
        f"bugs: {len(rows)} in {len({row.id.rpartition('-')[0] for row in rows})} packages",
        f"place first: {sum(row.place == 1 for row in rows)}, among the first {FIRST_PLACES}: "
        f"{sum(row.place is not None and row.place <= FIRST_PLACES for row in rows)}",
        f"repaired: {len(right)}; verdicts: {', '.join(f'{count} {name}' for name, count in verdicts.most_common())}",
        f"proven and right: {sum(row.repaired for row in proven)} of {len(right)} right",
        f"proven and wrong, at most one: {sum(not row.repaired for row in proven)}",
        f"with regressions: {sum(bool(row.regressions) for row in rows)}, proven among them, which must be none: "
        f"{sum(bool(row.regressions) for row in proven)}",
        f"seconds: {sum(row.seconds for row in rows):.0f}",
    )
    return "\n".join(f"- {line}" for line in lines)


if __name__ == "__main__":
    main()
