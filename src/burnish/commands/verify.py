"""`burnish.verify`: does somebody's evidence hold? Hashes are looked at first, then everything is run again here.

The rule: a folder that is not what its evidence speaks of is refused, and nothing of it is run.
"""

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from burnish.checks.bench.bench import ModuleBench
from burnish.checks.bench.check_context import CheckContext
from burnish.checks.bench.run_calls import find_set_order_dependence
from burnish.checks.check import Finding
from burnish.checks.final import CODE, TESTS, solution_project
from burnish.checks.project import CHECKS
from burnish.checks.security.reach import find_added_reaches
from burnish.checks.verdict import BESIDE, Watcher, judge_all
from burnish.commands.project_packages import Tell
from burnish.commands.write import SLOW_CHECKS
from burnish.errors import BurnishError, SandboxError, SetupProblem
from burnish.events import Frozen, Graded, Outcome
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
from burnish.evidence.folder import DeliveredFolder, parse_dossier, read_evidence, read_folder
from burnish.evidence.schema import CheckAnswer, Dossier, EvidencePackage, hash_content, name_files
from burnish.evidence.suite import (
    build_suite,
    build_suite_of_words,
    compare_given_tests,
    compare_test_file,
    find_hidden_characters,
    list_disputed,
)
from burnish.packages import InstalledPackage, Layer, prepare_layer
from burnish.packages.layer import check_same_wheels
from burnish.packages.names import well_known_names
from burnish.packages.requirements import parse_allowed
from burnish.runs import Run, Store, read_record
from burnish.tasks.test_file import why_no_module
from burnish.text import one_line

MOST_ROUNDS = 4
"""Another version of one package may need others, and these have other versions again."""
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
) -> Verified:
    """Look at a delivered folder and run its tests and checks again, in the sandbox and on a copy.

    The packages that the evidence names are prepared again, the same versions: well-known ones, and `allow_packages`,
    with what these need.
    `fast` leaves out mutation and performance. Of a run in the user's own `store` the record is compared too. Raises
    SetupProblem for a folder without evidence, or with a file in its place that is none.
    """
    place = _find_folder(folder)
    raw = read_evidence(place)
    if raw.get("seal") != hash_content(raw):
        return Verified(folder=place.name, changed=("evidence.json has changed since it was sealed",))
    dossier = parse_dossier(raw)
    held = read_folder(dossier, place)
    found = Verified(folder=place.name, run=dossier.run.id, verdict=dossier.verdict or "", unseen=held.unseen)
    if changed := _find_changes(dossier, held):
        return found.model_copy(update={"changed": changed})
    record = claim_record(dossier, read_recorded_dossier(dossier.run.id, store or Store()))
    if dossier.code is None:
        silent = _claim_untried("no code was delivered, so nothing is claimed")
        return found.model_copy(update={"claims": (claim_verdict(dossier, silent, {}), record)})
    try:
        tell = watch.notice if watch else None
        layer = prepare_evidence_layer(dossier.packages, allow_packages, tell).folder if dossier.packages else None
    except SetupProblem as problem:
        silent = _claim_untried(f"its packages could not be prepared: {one_line(str(problem), 400)}")
        return found.model_copy(update={"claims": (claim_verdict(dossier, silent, {}), silent, record)})
    code = held.text(name_files(dossier.task.module)[0])
    with tempfile.TemporaryDirectory(prefix="burnish-verify-") as copy:
        root = Path(copy).resolve()
        (root / CODE).write_text(code, "utf-8")
        (root / TESTS).write_text(build_suite(dossier).render(list_disputed(dossier), pinned=False), "utf-8")
        project = solution_project(root, layer, [one.name for one in dossier.packages if one.named])
        with CheckContext(project, sandbox) as lab:
            again = _run_tests(dossier, code, lab)
            left_out = {said.check: _why_left_out(said, fast, again.claim.answer == "holds") for said in dossier.checks}
            names = [name for name, why in left_out.items() if not why]
            evidence = judge_all(project, lab, names, watch).evidence if names else ()
            level = lab.sandbox.level
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


def _find_folder(folder: str | Path) -> Path:
    place = Path(folder).expanduser()
    if not os.path.isdir(place):  # noqa: PTH112 (a name that is too long is no folder, and no error)
        raise SetupProblem(
            f"{str(folder)!r} is not a folder. Name one that `burnish write` delivered: burnish verify FOLDER"
        )
    return place.resolve()


def read_recorded_dossier(run_id: str, store: Store) -> Dossier | None:
    """What the user's own record says of a run; None where there is none that can be read."""
    try:
        return build_dossier(Run(read_record(store.runs / run_id)), {})
    except (OSError, BurnishError, IndexError, ValueError):
        return None


def _find_changes(dossier: Dossier, held: DeliveredFolder) -> tuple[str, ...]:
    """All that is not as the evidence has it; the tests are looked at once the files are those that are listed."""
    if held.changed or dossier.code is None:
        return held.changed
    code, tests = name_files(dossier.task.module)
    found = [
        *find_hidden_characters(dossier),
        *compare_test_file(dossier, held.text(tests)),
        *compare_given_tests(dossier),
    ]
    if dossier.files[code] != dossier.code.steps[0].sha256:
        found.append(f"{code} is not the version that the evidence speaks of")
    if dossier.code.file != code:
        found.append(f"the evidence speaks of {dossier.code.file} as the code, and {code} is it")
    if why := why_no_module(dossier.task.module, [package.name for package in dossier.packages]):
        found.append(f"{code} {why}")
    return tuple(found)


def _claim_untried(why: str) -> Claim:
    return Claim(what="tests", answer="not_tried", said="", why=why)


class Rerun(NamedTuple):
    """What the tests say here, and what speaks against it: that code could have fooled them, or the order of a set."""

    results: Mapping[str, Outcome]
    claim: Claim
    doubts: list[Finding]


def _run_tests(dossier: Dossier, code: str, lab: CheckContext) -> Rerun:
    """Run each test again. Code that hangs or crashes does not do what was said.

    All tests share one file, and text in it could replace what is tested: those of the task's words run once more
    without any other, and only what passes both times has passed.
    """
    suite, words, bench, disputed = (
        build_suite(dossier),
        build_suite_of_words(dossier),
        ModuleBench(lab.sandbox),
        list_disputed(dossier),
    )
    try:
        graded = bench.grade(code, suite, disputed)
        alone = bench.grade(code, words) if words.given else Graded()
    except SandboxError as error:
        return Rerun({}, _claim_untried(f"the tests could not be run: {one_line(str(error), 200)}"), [])
    bad = {test: said for test, said in words.outcomes(alone).items() if said != "passed"} if words.given else {}
    problem = (alone.problem or "the task's own examples, run without the other tests") if bad else ""
    results = suite.outcomes(graded) | bad
    doubts: list[Finding] = []
    if graded.all_passed and not graded.separated and not dossier.run.continues:  # that one had code before
        doubts += find_added_reaches("", code, CODE, suite.render(disputed))
    if graded.all_passed:
        doubts += find_set_order_dependence(code, suite, disputed, lab.sandbox)
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
