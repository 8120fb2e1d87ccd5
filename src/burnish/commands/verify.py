"""`burnish.verify`: does somebody's evidence hold? Hashes are looked at first, then everything is run again here.

The rule: a folder that is not what its evidence speaks of is refused, and nothing of it is run.
"""

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

from burnish.checks.bench.bench import Bench, ModuleBench, ProjectBench
from burnish.checks.bench.check_context import CheckContext
from burnish.checks.bench.project_finder import find_project
from burnish.checks.bench.run_calls import find_set_order_dependence
from burnish.checks.check import Finding
from burnish.checks.final import CODE, TESTS, RepairPlace, solution_project
from burnish.checks.project import CHECKS, Project
from burnish.checks.security.reach import find_added_reaches
from burnish.checks.verdict import BESIDE, Watcher, judge_all
from burnish.commands.fix import evidence_folder
from burnish.commands.project_packages import Tell
from burnish.commands.verify_app import claim_app, find_app_changes
from burnish.commands.write import SLOW_CHECKS
from burnish.errors import BurnishError, CheckError, SandboxError, SetupProblem
from burnish.events import Evidence, FilesWritten, Frozen, Graded, Outcome
from burnish.evidence.build import build_dossier
from burnish.evidence.claims import (
    Claim,
    claim_check,
    claim_nothing,
    claim_record,
    claim_tests,
    claim_verdict,
    read_versions,
)
from burnish.evidence.folder import DeliveredFolder, parse_dossier, read_bytes, read_evidence, read_folder
from burnish.evidence.schema import FILE, CheckAnswer, Dossier, EvidencePackage, EvidenceRepair, hash_content
from burnish.evidence.suite import (
    build_suite,
    build_suite_of_words,
    compare_given_tests,
    compare_project_tests,
    compare_test_file,
    find_hidden_characters,
    list_disputed,
)
from burnish.packages import InstalledPackage, Layer, prepare_layer
from burnish.packages.layer import check_same_wheels
from burnish.packages.names import well_known_names
from burnish.packages.requirements import parse_allowed
from burnish.report.deliverables import read_task
from burnish.runs import Run, Store, read_record
from burnish.sandbox import Sandbox
from burnish.tasks.test_file import why_no_module
from burnish.text import one_line

MOST_ROUNDS = 4
"""Another version of one package may need others, and these have other versions again."""
OF_A_START = (".venv", "data", "vendor")
"""Folders that an app makes where it runs. Those of somebody else's could hold anything, a key of theirs too."""
Ending = Literal["holds", "does not hold", "refused"]


class Verified(Frozen):
    """What became of everything that a folder's evidence says."""

    version: int = 1
    folder: str
    run: str = ""
    verdict: str = ""
    """What the evidence says of the run."""
    changed: tuple[str, ...] = ()
    """Why the folder was refused; nothing of it was run then."""
    unseen: tuple[str, ...] = ()
    """What lies in the folder, is not in the evidence, and was not looked at."""
    claims: tuple[Claim, ...] = ()
    sandbox: str = ""
    """Where it was run again."""

    @property
    def ending(self) -> Ending:
        """Whether all holds that could be tried, the tests among it."""
        if self.changed:
            return "refused"
        tests = [claim for claim in self.claims if claim.what in ("tests", "verdict")]
        bad = any(claim.answer == "does_not_hold" for claim in self.claims)
        return "does not hold" if bad or any(claim.answer != "holds" for claim in tests) else "holds"

    @property
    def good(self) -> bool:
        """Whether it holds, and what holds is that the code passes its tests."""
        return self.ending == "holds" and self.verdict in ("proven", "plausible")


def verify(
    folder: str | Path,
    *,
    fast: bool = False,
    sandbox: str = "auto",
    store: Store | None = None,
    watch: Watcher | None = None,
    allow_packages: Sequence[str] = (),
    project: str | Path | None = None,
) -> Verified:
    """Look at a delivered folder, or at that of a run, and run its tests and checks again, in the sandbox, on a copy.

    The packages that the evidence names are prepared again, the same versions: well-known ones, and `allow_packages`,
    with what these need.
    A repair is tried in its `project`: the folder that is named, or the one that it was made in if the user's `store`
    has the run; else the delivered files alone are the project.
    `fast` leaves out mutation and performance. Of a run in the user's own `store` the record is compared too. Raises
    SetupProblem for a folder without evidence, or with a file in its place that is none.
    """
    store = store or Store()
    place = _find_folder(folder, store)
    raw = read_evidence(place)
    if raw.get("seal") != hash_content(raw):
        return Verified(folder=place.name, changed=("evidence.json has changed since it was sealed",))
    dossier = parse_dossier(raw)
    recorded = read_recorded_dossier(dossier.run.id, store)
    own = store.open(dossier.run.id) if recorded and recorded.run.at == dossier.run.at else None
    held = read_folder(dossier, place, OF_A_START if own else ())
    found = Verified(folder=place.name, run=dossier.run.id, verdict=dossier.verdict or "", unseen=held.unseen)
    root = _find_root(dossier, own, project)
    if changed := _find_changes(dossier, held, root):
        return found.model_copy(update={"changed": changed})
    record = claim_record(dossier, recorded)
    if record.answer == "does_not_hold" and (newer := find_newer_folder(dossier, store)):
        why = f"the run was gone on with since, and its newest files are in {one_line(newer)}"
        record = record.model_copy(update={"answer": "holds", "found": "the same, when it was delivered", "why": why})
    if dossier.app:
        prepare = partial(prepare_evidence_layer, dossier.packages, allow_packages, watch.notice if watch else None)
        return found.model_copy(
            update={"claims": (*claim_app(dossier, dossier.app, held, prepare, fast, sandbox), record)}
        )
    if dossier.code is None:
        silent = _claim_untried("no code was delivered, so nothing is claimed")
        return found.model_copy(update={"claims": (claim_verdict(dossier, silent, {}), record)})
    try:
        tell = watch.notice if watch else None
        layer = prepare_evidence_layer(dossier.packages, allow_packages, tell).folder if dossier.packages else None
    except SetupProblem as problem:
        silent = _claim_untried(f"its packages could not be prepared: {one_line(str(problem), 400)}")
        return found.model_copy(update={"claims": (claim_verdict(dossier, silent, {}), silent, record)})
    code = held.text(dossier.code_file)
    with tempfile.TemporaryDirectory(prefix="burnish-verify-") as copy, ExitStack() as opened:
        place = Path(copy).resolve()
        open_checks: Callable[[], AbstractContextManager[CheckContext]]
        bench: Bench
        if dossier.repair:
            at = _find_repaired(dossier, dossier.repair, held, root or place, own, layer)
            bench = opened.enter_context(ProjectBench(at.project, at.source, sandbox))
            again = _run_repaired(dossier, code, bench, own, root)
            open_checks = partial(at.open, code, _render_own(dossier), dossier.repair.functions, sandbox)
        else:
            (place / CODE).write_text(code, "utf-8")
            (place / TESTS).write_text(_render_own(dossier), "utf-8")
            alone = solution_project(place, layer, [one.name for one in dossier.packages if one.named])
            lab = opened.enter_context(CheckContext(alone, sandbox))
            bench, open_checks = ModuleBench(lab.sandbox), lambda: nullcontext(lab)
            again = _run_tests(dossier, code, bench, lab.sandbox)
        left_out = {said.check: _why_left_out(said, fast, again.claim.answer == "holds") for said in dossier.checks}
        evidence: tuple[Evidence, ...] = ()
        if names := [name for name, why in left_out.items() if not why]:
            try:
                with open_checks() as context:
                    evidence = judge_all(context.project, context, names, watch).evidence
            except CheckError as error:
                left_out |= dict.fromkeys(names, str(error))
        level = bench.level
    now, answers = read_versions(), {item.check: item for item in evidence}
    checks = [
        claim_check(said, answers[said.check], dossier.tools, now)
        if said.check in answers
        else claim_nothing(said, left_out[said.check])
        for said in dossier.checks
        if said.check != "tests"
    ]
    verdict = claim_verdict(dossier, again.claim, again.results, again.doubts)
    return found.model_copy(update={"claims": (verdict, again.claim, *checks, record), "sandbox": level})


def _find_folder(folder: str | Path, store: Store) -> Path:
    """The folder of this name, else what the run of this name delivered."""
    place = Path(folder).expanduser()
    if os.path.isdir(place):  # noqa: PTH112 (a name that is too long is no folder, and no error)
        return place.resolve()
    try:
        run = store.open(str(folder))
        kept = evidence_folder(run, store)
        delivered = kept if kept.is_dir() else Path(run.folder or "")
        if (delivered / FILE).is_file():
            return delivered.resolve()
    except (SetupProblem, OSError, ValueError):
        pass
    raise SetupProblem(
        f"{str(folder)!r} is not a folder, and no run with evidence. Name one that `burnish write` or `burnish fix` "
        "delivered: burnish verify FOLDER"
    )


def _find_root(dossier: Dossier, own: Run | None, named: str | Path | None) -> Path | None:
    """The project that a repair is tried in, as named, or as the user's own record has it; None where it has none.

    Raises SetupProblem for a folder that is named and is not that project.
    """
    repair = dossier.repair
    if repair is None:
        return None
    if named is not None:
        root = Path(named).expanduser().resolve()
        if not (root / repair.file).is_file():
            raise SetupProblem(
                f"There is no {one_line(repair.file, 200)} in {str(named)!r}, so this is not the project that was "
                "repaired. Name its root: burnish verify FOLDER --project DIR"
            )
        return root
    facts = own.settings.fix if own else None
    file = Path(facts.file) if facts else Path()
    parts = Path(repair.file).parts
    is_there = facts is not None and file.parts[-len(parts) :] == parts and file.is_file()
    return file.parents[len(parts) - 1].resolve() if is_there else None


def _find_repaired(
    dossier: Dossier, repair: EvidenceRepair, held: DeliveredFolder, root: Path, own: Run | None, layer: Path | None
) -> RepairPlace:
    """The project that a repair is tried in; a folder that is empty gets the delivered files, and is all of it."""
    deciding = build_suite(dossier).project
    file, tests = Path(repair.file), [name for name in repair.test_files if Path(name).name != "conftest.py"]
    if not any(root.iterdir()):
        for name in (repair.file, *repair.test_files):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(held.files[name])
        project = Project(root=root, sources=(file,), tests=tuple(map(Path, tests)), python=Path(sys.executable))
    else:
        facts = own.settings.fix if own else None
        project = find_project([root / file], [root / name for name in tests], facts.python if facts else None)
    if project.root.resolve() != root:
        raise SetupProblem(
            f"The project of {one_line(repair.file, 200)} has its root in {str(project.root)!r}. Name that one: "
            "burnish verify FOLDER --project DIR"
        )
    if layer and not project.has_environment:
        project = project.model_copy(update={"layer": layer, "alone": True})
    return RepairPlace(project, file, deciding)


def _run_repaired(dossier: Dossier, code: str, bench: ProjectBench, own: Run | None, root: Path | None) -> "Rerun":
    """Run each test of a repair again, in its project or, where there is none, with the delivered files alone."""
    base = read_task(own).base_code if own else None
    again = _run_tests(dossier, code, bench, base=base)
    if root is None and again.claim.answer != "holds":
        hint = "its tests may need the rest of the project; name its root: --project DIR"
        return again._replace(claim=_claim_untried(f"{one_line(again.claim.why, 200)}: {hint}"))
    return again


def _render_own(dossier: Dossier) -> str:
    """The tests that may speak for the code, as the checks had them."""
    return build_suite(dossier).render(list_disputed(dossier), pinned=False)


def read_recorded_dossier(run_id: str, store: Store) -> Dossier | None:
    """What the user's own record says of a run; None where there is none that can be read."""
    try:
        return build_dossier(Run(read_record(store.runs / run_id)), {})
    except (OSError, BurnishError, IndexError, ValueError):
        return None


def find_newer_folder(dossier: Dossier, store: Store) -> str:
    """Where a run put its newest files, if this is what it had delivered before that; empty if it never was."""
    events = read_record(store.runs / dossier.run.id)
    places = [place for place, event in enumerate(events) if isinstance(event, FilesWritten)]
    for place in places[:-1]:
        if claim_record(dossier, build_dossier(Run(events[: place + 1]), {})).answer == "holds":
            return next(event.folder for event in reversed(events) if isinstance(event, FilesWritten))
    return ""


def _find_changes(dossier: Dossier, held: DeliveredFolder, root: Path | None) -> tuple[str, ...]:
    """All that is not as the evidence has it; the tests are looked at once the files are those that are listed."""
    if dossier.app and not held.changed:
        return find_app_changes(dossier.app, held)
    if held.changed or dossier.code is None:
        return held.changed
    code, tests = dossier.code_file, dossier.test_file
    found = [*find_hidden_characters(dossier), *compare_given_tests(dossier)]
    found += compare_test_file(dossier, held.text(tests)) if tests else compare_project_tests(dossier)
    for name, sha256 in dossier.repair.test_files.items() if dossier.repair else ():
        try:  # those of the project at `root` are the ones that will run
            there = hashlib.sha256(read_bytes(root / name)).hexdigest() if root else sha256
        except ValueError as error:
            found.append(f"{name} in the project {error}")
            continue
        if sha256 != dossier.files[name] or sha256 != there:
            where = "" if sha256 == there else " in the project"
            found.append(f"{name}{where} is not the file of tests that decided")
    if dossier.files[code] != dossier.code.steps[0].sha256:
        found.append(f"{code} is not the version that the evidence speaks of")
    if dossier.code.file != code:
        found.append(f"the evidence speaks of {dossier.code.file} as the code, and {code} is it")
    module = "" if dossier.repair else dossier.task.module  # a project calls its modules what it likes
    if why := why_no_module(module, [package.name for package in dossier.packages]) if module else "":
        found.append(f"{code} {why}")
    return tuple(found)


def _claim_untried(why: str) -> Claim:
    return Claim(what="tests", answer="not_tried", said="", why=why)


class Rerun(NamedTuple):
    """What the tests say here, and what speaks against it: that code could have fooled them, or the order of a set."""

    results: Mapping[str, Outcome]
    claim: Claim
    doubts: list[Finding]


def _run_tests(
    dossier: Dossier, code: str, bench: Bench, sandbox: Sandbox | None = None, base: str | None = ""
) -> Rerun:
    """Run each test again. Code that hangs or crashes does not do what was said.

    Code that stands alone has a `sandbox` to try the order of sets in. `base` is the code before it; None: not known.
    All tests share one file, and text in it could replace what is tested: those of the task's words run once more
    without any other, and only what passes both times has passed.
    """
    suite, words, disputed = build_suite(dossier), build_suite_of_words(dossier), list_disputed(dossier)
    try:
        graded = bench.grade(code, suite, disputed)
        alone = bench.grade(code, words) if words.given else Graded()
    except SandboxError as error:
        return Rerun({}, _claim_untried(f"the tests could not be run: {one_line(str(error), 200)}"), [])
    bad = {test: said for test, said in words.outcomes(alone).items() if said != "passed"} if words.given else {}
    problem = (alone.problem or "the task's own examples, run without the other tests") if bad else ""
    results = suite.outcomes(graded) | bad
    doubts: list[Finding] = []
    had_code = dossier.run.continues and not dossier.repair
    if graded.all_passed and not graded.separated and not had_code and base is not None:
        texts = (suite.render(disputed), *bench.test_texts(suite))
        doubts += find_added_reaches(base, code, dossier.code_file if dossier.repair else CODE, "\n".join(texts))
    if graded.all_passed and sandbox:
        doubts += find_set_order_dependence(code, suite, disputed, sandbox)
    return Rerun(results, claim_tests(dossier, results, graded.problem or problem), doubts)


def _why_left_out(said: CheckAnswer, fast: bool, sound: bool) -> str:
    """Why a check is not run again; empty where it is."""
    if said.check not in CHECKS:
        return "this Burnish does not know the check"
    if said.verdict == "not_run":
        return "it was not run then either, so nothing is claimed"
    if said.check == "tests":
        return "the tests are run one by one"
    if not sound and said.check not in BESIDE:
        return "the tests do not say what they said, so it was not measured"
    return "left out with --fast" if fast and said.check in SLOW_CHECKS else ""


def prepare_evidence_layer(
    packages: Sequence[EvidencePackage], allow: Sequence[str] = (), tell: Tell | None = None
) -> Layer:
    """The layer that the code had: the same versions, out of the same wheels.

    Raises SetupProblem where it cannot, or may not, be had. A name in a file from anybody is not taken on trust: what
    is well known or allowed may be had, and what these turn out to need, and no other, whatever the evidence says.
    """
    known = well_known_names() | parse_allowed(allow)
    pinned = {one.name: one for one in packages if one.name in known}
    if strangers := [one.name for one in packages if one.asked and one.name not in pinned]:
        names, typed = ", ".join(map(repr, strangers)), " ".join(f"--allow-package {name}" for name in strangers)
        are, them = ("is", "it") if len(strangers) == 1 else ("are", "them")
        raise SetupProblem(
            f"{names} {are} not on the list of well-known packages, and a name that nobody knows may be a trap. "
            f"If you are sure of {them}, add: {typed}"
        )
    named = {one.name: one for one in packages}
    layer = prepare_layer([*map(_pin, pinned.values())], tell=tell)
    for _ in range(MOST_ROUNDS):  # all that they need, in the versions that are named, as far as these are
        needed = [(one, named[one.name]) for one in layer.packages if one.name in named and one.name not in pinned]
        if all(there.version == meant.version for there, meant in needed):
            break
        pinned = pinned | {meant.name: meant for _, meant in needed}
        layer = prepare_layer([*map(_pin, pinned.values())], tell=tell)
    recorded = [
        InstalledPackage(name=one.name, version=one.version, wheel=one.wheel, sha256=one.sha256) for one in packages
    ]
    check_same_wheels(layer, recorded)
    return layer


def _pin(one: EvidencePackage) -> str:
    extras = f"[{','.join(one.extras)}]" if one.extras else ""
    return f"{one.name}{extras}=={one.version}"
