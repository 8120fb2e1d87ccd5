"""What `fix` ends with: checks on what it changed, a report, and evidence that holds until somebody changes it."""

import json
import shutil
from pathlib import Path

import pytest

from burnish import ScriptedModel, SetupProblem, Store, apply, fix, verify, write
from burnish.agent.ask import Checkpoint
from burnish.checks.coverage import CoverageDetails
from burnish.checks.mutation.check import MutationDetails
from burnish.commands.fix import evidence_folder
from burnish.events import Reviewed
from burnish.evidence.schema import hash_content
from burnish.runs import Run
from tests.support import GOOD, OWN_TESTS, block, script

BUGGY = """import os


def stranger(command):
    os.system(command)


def total(prices):
    result = 1
    for price in prices:
        result += price
    return result
"""
TESTS = """from buggy import total


def test_some():
    assert total([1, 2, 3]) == 6


def test_none():
    assert total([]) == 0
"""
ANSWER = block("def total(prices):\n    return sum(prices)")


def model(*answers: str) -> ScriptedModel:
    return ScriptedModel({"": list(answers or [ANSWER]), "tests": [OWN_TESTS]})


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "buggy.py").write_text(BUGGY)
    (folder / "test_buggy.py").write_text(TESTS)
    return folder


@pytest.fixture
def repaired(project: Path, store: Store) -> Run:
    return fix(project / "buggy.py", model(), store=store)


def reseal(folder: Path, **changes: object) -> None:
    """Change what the evidence says, and its seal with it."""
    file = folder / "evidence.json"
    data = json.loads(file.read_text()) | changes
    file.write_text(json.dumps(data | {"seal": hash_content(data)}))


def test_checks_speak_of_the_function_that_changed_and_not_of_strangers_code(repaired: Run) -> None:
    found = {item.check: item for item in repaired.evidence}
    assert {name: item.verdict for name, item in found.items()} == dict.fromkeys(
        ("tests", "coverage", "mutation", "security", "quality"), "passed"
    )
    assert CoverageDetails.read(found["coverage"]).percent == 100, "stranger() is run by no test"
    assert {row.function for row in MutationDetails.read(found["mutation"]).functions} == {"total"}
    assert found["security"].figure == "no findings", "os.system is the stranger's"


def test_the_evidence_holds_in_the_project_and_by_itself(repaired: Run, project: Path, store: Store) -> None:
    folder = evidence_folder(repaired, store)
    assert {file.name for file in folder.iterdir()} == {
        *("buggy.py", "test_buggy.py", "fix.diff", "report.md", "evidence.json")
    }
    again = verify(repaired.id, store=store)
    assert (again.ending, again.good) == ("holds", True), again
    assert {claim.what: claim.answer for claim in again.claims} == dict.fromkeys(
        ("verdict", "tests", "coverage", "mutation", "security", "quality", "record"), "holds"
    )
    shutil.rmtree(project)
    assert verify(folder, store=Store(project / "empty"), fast=True).ending == "holds", "the files alone are enough"


@pytest.mark.slow
def test_a_changed_file_test_or_verdict_is_refused(repaired: Run, project: Path, store: Store, tmp_path: Path) -> None:
    kept = evidence_folder(repaired, store)
    for number, (name, text) in enumerate(
        {"buggy.py": BUGGY, "test_buggy.py": TESTS + "\n", "fix.diff": "", "report.md": "fine"}.items()
    ):
        folder = shutil.copytree(kept, tmp_path / f"tampered-{number}")
        (folder / name).write_text(text)
        assert verify(folder, store=store).ending == "refused", name
    folder = shutil.copytree(kept, tmp_path / "verdict")
    (folder / "evidence.json").write_text((folder / "evidence.json").read_text().replace('"plausible"', '"proven"'))
    assert verify(folder, store=store).ending == "refused"
    folder = shutil.copytree(kept, tmp_path / "confidence")
    reseal(folder, confidence=0.99, calibrated=True, basis="the word of a stranger")
    assert verify(folder, store=store, fast=True).ending == "does not hold", "the record says otherwise"
    (project / "test_buggy.py").write_text(TESTS.replace("== 6", "== 7"))
    refused = verify(kept, store=store)
    assert (refused.ending, [why.split()[0] for why in refused.changed]) == ("refused", ["test_buggy.py"])


@pytest.mark.slow
def test_evidence_for_wrong_code_does_not_hold(repaired: Run, store: Store, tmp_path: Path) -> None:
    folder = shutil.copytree(evidence_folder(repaired, store), tmp_path / "wrong")
    data = json.loads((folder / "evidence.json").read_text())
    data["files"]["buggy.py"] = data["code"]["steps"][0]["sha256"] = data["repair"]["base_sha256"]
    (folder / "buggy.py").write_text(BUGGY)
    reseal(folder, **data)
    assert verify(folder, store=Store(tmp_path / "none"), fast=True).ending == "does not hold"


@pytest.mark.slow
def test_examples_decide_and_are_delivered_as_tests(tmp_path: Path, store: Store) -> None:
    (tmp_path / "buggy.py").write_text(BUGGY)
    out = tmp_path / "out"
    run = fix(
        tmp_path / "buggy.py",
        model(),
        function="total",
        spec="The sum of the prices: total([1, 2]) == 3, total([]) == 0",
        store=store,
        out=out,
    )
    assert run.verdict in ("proven", "plausible"), run.why
    assert run.folder == str(out)
    assert "from buggy import total" in (out / "test_burnish_examples.py").read_text()
    again = verify(out, store=store)
    assert again.ending == "holds", again
    assert {item.check: item.verdict for item in run.evidence}["coverage"] == "passed"
    (out / "test_burnish_examples.py").write_text("from buggy import total\n")
    assert verify(out, store=store).ending == "refused"


@pytest.mark.slow
def test_a_person_looks_at_the_code_and_has_it_changed(project: Path, store: Store) -> None:
    seen: list[Checkpoint] = []

    def look(shown: Checkpoint) -> Reviewed:
        seen.append(shown)
        said = "change" if len(seen) == 1 else "go_on"
        return Reviewed(where=shown.where, said=said, words="use the built-in sum" if len(seen) == 1 else "")

    answers = model(ANSWER, block("def total(prices):\n    return sum(prices, 0)"))
    run = fix(project / "buggy.py", answers, store=store, review=look)
    assert run.verdict in ("proven", "plausible"), run.why
    assert [shown.where for shown in seen][-1] == "checks"
    assert {item.check for item in seen[0].evidence} >= {"tests", "coverage", "security"}
    assert len(run.all(Reviewed)) == len(seen)
    assert verify(run.id, store=store, fast=True).ending == "holds"


@pytest.mark.slow
def test_a_fix_goes_on_from_an_earlier_fix(repaired: Run, project: Path, store: Store) -> None:
    with pytest.raises(SetupProblem, match=f"burnish apply {repaired.id}"):
        fix(from_run=repaired.id, spec="total([-1]) raises ValueError", model=model(), store=store)
    apply(repaired.id, store=store)
    words = "No price is below zero: total([-1]) raises ValueError"
    stricter = block(
        "def total(prices):\n    if any(p < 0 for p in prices):\n        raise ValueError\n    return sum(prices)"
    )
    run = fix(from_run=repaired.id, spec=words, model=model(stricter), store=store)
    assert run.verdict in ("proven", "plausible"), run.why
    assert run.started.continues == repaired.id
    assert [test for test in run.spec.given_tests if "ValueError" in test]  # type: ignore[union-attr]
    assert run.settings.task["project_tests"], "the tests of the earlier run decide, too"
    assert verify(run.id, store=store, fast=True).ending == "holds"


@pytest.mark.slow
def test_a_fix_goes_on_from_what_write_delivered(tmp_path: Path, store: Store) -> None:
    made = write(
        "double(n), e.g. double(2) == 4",
        ScriptedModel(script(draft=[GOOD])),
        out=tmp_path / "d",
        store=store,
        fast=True,
    )
    better = block("def double(n):\n    if n is None:\n        raise ValueError\n    return n * 2")
    run = fix(from_run=made.id, spec="double(None) raises ValueError", model=model(better), store=store)
    assert run.started.continues == made.id
    assert run.verdict in ("proven", "plausible"), run.why
    shutil.rmtree(tmp_path / "d")
    with pytest.raises(SetupProblem, match="not there any more"):
        fix(from_run=made.id, spec="more", model=model(), store=store)


@pytest.mark.parametrize("name", ["nothing-here", ""])
def test_evidence_of_nothing_is_asked_for_by_its_name(name: str, store: Store) -> None:
    with pytest.raises(SetupProblem, match="burnish verify FOLDER"):
        verify(name or "\x00", store=store)
