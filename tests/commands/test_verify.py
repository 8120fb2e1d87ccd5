"""`burnish.verify`: an honest folder holds, and a tampered one is refused with what changed, before anything is run."""

import json
import py_compile
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import burnish
from burnish import Run, SetupProblem, Store
from burnish.commands.verify import Verified
from burnish.evidence.schema import hash_content
from tests.evidence.delivered import FAST, copy, deliver, edit, evidence, replace, sha256
from tests.support import assert_snapshot, assert_words, refused

NOWHERE = "a place that does not exist"
"""Opening this sandbox is an error, so whoever gets an answer has run nothing."""


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Run]:
    """A folder as it was delivered, and its run."""
    folder = tmp_path_factory.mktemp("delivered") / "double"
    return folder, deliver(folder)


@pytest.fixture
def folder(honest: tuple[Path, Run], tmp_path: Path) -> Path:
    """A copy that may be tampered with."""
    return copy(honest[0], tmp_path)


def answers(verified: Verified) -> dict[str, str]:
    return {claim.what: claim.answer for claim in verified.claims}


def refusal(folder: Path) -> str:
    """What is said of a folder that is refused before anything is run."""
    verified = burnish.verify(folder, sandbox=NOWHERE)
    assert verified.ending == "refused"
    assert not verified.good
    assert verified.claims == ()
    return "; ".join(verified.changed)


@pytest.mark.slow
def test_an_honest_folder_holds_and_the_record_agrees(honest: tuple[Path, Run]) -> None:
    folder, run = honest
    verified = burnish.verify(folder, store=Store(folder.parent / "home"))
    assert verified.ending == "holds"
    assert verified.good
    assert (verified.run, verified.verdict) == (run.id, "plausible")
    assert answers(verified) == dict.fromkeys(("verdict", *FAST, "record"), "holds")
    assert verified.sandbox.startswith("bubblewrap")


@pytest.mark.slow
def test_elsewhere_it_holds_without_the_record(folder: Path) -> None:
    verified = burnish.verify(folder)
    assert verified.ending == "holds"
    assert answers(verified)["record"] == "not_tried"


@pytest.mark.slow
def test_evidence_of_the_first_form_still_holds(honest: tuple[Path, Run], folder: Path) -> None:
    def older(data: dict[str, Any]) -> None:
        data["version"] = 1
        del data["packages"], data["run"]["chosen"], data["cost"]["by_model"], data["feedback"]
        del data["confidence"], data["calibrated"], data["basis"], data["repair"], data["page"], data["app"]
        for check in data["checks"]:
            del check["value"]

    assert evidence(folder)["version"] == 6, "a Burnish that knows none of these must not take them for forged"
    edit(folder, older)
    verified = burnish.verify(folder, store=Store(honest[0].parent / "home"))
    assert verified.ending == "holds"
    assert answers(verified)["record"] == "holds"


@pytest.mark.slow
def test_what_looking_at_a_folder_leaves_behind_does_no_harm(folder: Path) -> None:
    (folder / ".pytest_cache").mkdir()
    (folder / ".pytest_cache" / "README.md").write_text("of pytest")
    (folder / "notes.txt").write_text("read it")
    (folder / "evidence.json").write_text(json.dumps(evidence(folder), indent=4, sort_keys=True))
    verified = burnish.verify(folder)
    assert (verified.ending, sorted(verified.unseen)) == ("holds", [".pytest_cache/README.md", "notes.txt"])


@pytest.mark.slow
def test_code_planted_where_python_keeps_what_it_compiled_is_refused(folder: Path) -> None:
    """Python believes such a file and never looks at the source again."""
    (folder / "planted.py").write_text("def double(n):\n    return 0\n")
    there = folder / "__pycache__" / f"solution.{sys.implementation.cache_tag}.pyc"
    py_compile.compile(
        str(folder / "planted.py"), str(there), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH
    )
    (folder / "planted.py").unlink()
    assert f"__pycache__/{there.name}" in refusal(folder)


@pytest.mark.slow
def test_a_folder_of_git_is_named_and_refused_where_it_has_hooks(folder: Path) -> None:
    (folder / ".git" / "hooks").mkdir(parents=True)
    verified = burnish.verify(folder)
    assert (verified.ending, verified.unseen) == ("holds", (".git",))
    (folder / ".git" / "hooks" / "pre-commit").touch()
    assert_words(refusal(folder))


def deceived(folder: Path) -> dict[str, str]:
    """What is said of a folder in which the code is wrong, and all else was made anew by somebody who knows how."""
    edit(folder, lambda data: data["code"]["steps"][0].update(sha256=sha256(folder / "solution.py")))
    found = answers(burnish.verify(folder))
    assert found["verdict"] == "does_not_hold"
    return found


RIGHT = "lambda n: n * 2"


@pytest.mark.slow
def test_the_words_examples_are_out_of_reach_of_a_file_of_tests_that_replaces_the_function(folder: Path) -> None:
    replace(folder / "solution.py", "n * 2", "n + 2")
    more = f"import solution\nsolution.double = {RIGHT}\nfrom solution import double\n"
    replace(folder / "test_solution.py", "from solution import double\n", more)
    indented = (folder / "test_solution.py").read_text().replace(":\n    ", ":\n    from solution import double\n    ")
    (folder / "test_solution.py").write_text(indented)
    edit(folder, lambda data: data["task"].update(test_file=more))
    assert deceived(folder)["tests"] == "does_not_hold"


@pytest.mark.slow
def test_the_words_examples_are_out_of_reach_of_a_given_test_that_replaces_the_function(folder: Path) -> None:
    replace(folder / "solution.py", "n * 2", "n + 2")
    planted = f"global double\ndouble = {RIGHT}"
    body = planted.replace("\n", "\n    ")
    text = (folder / "test_solution.py").read_text()
    text = text.replace("test_given_2", "test_given_3").replace("test_given_1", "test_given_2")
    text = text.replace("\n\ndef test_given_2", f"\n\ndef test_given_1():\n    {body}\n\n\ndef test_given_2")
    (folder / "test_solution.py").write_text(text)

    def plant(data: dict[str, Any]) -> None:
        first = data["tests"][0]
        data["tests"].insert(0, {**first, "test": planted, "given_in": "review"})
        for place, given in enumerate(data["tests"][:3], 1):
            given["name"] = f"test_given_{place}"

    edit(folder, plant)
    assert deceived(folder)["tests"] == "does_not_hold"


@pytest.mark.slow
@pytest.mark.parametrize("mark", ["\r", "\x0c", "\x1b", "\x00", "\x85", "\u2028", "\u202e"])
def test_a_test_with_signs_that_hide_something_is_refused(mark: str, folder: Path) -> None:
    planted = f"assert double(9) == 9{mark}import solution; solution.double = {RIGHT}"
    edit(folder, lambda data: data["tests"][2].update(test=planted))
    assert_words(refusal(folder))


@pytest.mark.slow
def test_a_file_of_tests_that_is_said_to_be_the_users_is_told(folder: Path) -> None:
    own = "from solution import double\n"
    inside = (folder / "test_solution.py").read_text().replace(":\n    ", ":\n    from solution import double\n    ")
    (folder / "test_solution.py").write_text(inside)
    edit(folder, lambda data: data["task"].update(test_file=own))
    verified = burnish.verify(folder)
    why = next(claim.why for claim in verified.claims if claim.what == "verdict")
    assert_words(why)


def code_edited(folder: Path) -> None:
    replace(folder / "solution.py", "n * 2", "n + n")


def test_edited(folder: Path) -> None:
    replace(folder / "test_solution.py", "double(2) == 4", "double(2) == 4 or True")


def file_deleted(folder: Path) -> None:
    (folder / "test_solution.py").unlink()


def conftest_added(folder: Path) -> None:
    (folder / "conftest.py").write_text("def pytest_collection_modifyitems(items): items.clear()\n")


def settings_added(folder: Path) -> None:
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --co\n")


def verdict_edited(folder: Path) -> None:
    edit(folder, lambda data: data.update(verdict="failed"), seal=False)


def link_out(folder: Path) -> None:
    other = folder.parent / "other.py"
    other.write_bytes((folder / "solution.py").read_bytes())
    (folder / "solution.py").unlink()
    (folder / "solution.py").symlink_to(other)


def extra_link(folder: Path) -> None:
    (folder / "more").symlink_to(folder.parent)


def report_edited(folder: Path) -> None:
    replace(folder / "report.md", "**Plausible", "**PROVEN")


TAMPERED: list[Callable[[Path], None]] = [
    code_edited,
    test_edited,
    file_deleted,
    conftest_added,
    settings_added,
    verdict_edited,
    link_out,
    extra_link,
    report_edited,
]
test_edited.__test__ = False  # type: ignore[attr-defined]


@pytest.mark.parametrize("tamper", TAMPERED, ids=lambda tamper: tamper.__name__)
def test_a_tampered_folder_is_refused_with_what_changed(tamper: Callable[[Path], None], folder: Path) -> None:
    tamper(folder)
    assert_words(refusal(folder))


@pytest.mark.slow
def test_evidence_of_another_folder_does_not_fit(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / "double"
    deliver(other, "a function double(n), e.g. double(7) == 14")
    (folder / "evidence.json").write_bytes((other / "evidence.json").read_bytes())
    assert_words(refusal(folder))


def test_a_test_that_is_deleted_is_missed_even_where_hashes_are_made_anew(folder: Path) -> None:
    replace(folder / "test_solution.py", "\n\ndef test_given_2():\n    assert double(5) == 10\n", "")
    edit(folder, lambda data: None)
    assert_words(refusal(folder))


def test_a_given_test_that_is_loosened_is_seen_even_where_hashes_are_made_anew(folder: Path) -> None:
    replace(folder / "test_solution.py", "double(2) == 4", "double(2) == 4 or True")
    edit(folder, lambda data: None)
    assert_words(refusal(folder))


def test_a_given_test_that_is_loosened_in_the_evidence_too_is_not_what_the_words_give(folder: Path) -> None:
    replace(folder / "test_solution.py", "double(2) == 4", "double(2) < 400")
    edit(folder, lambda data: data["tests"][0].update(test="assert double(2) < 400"))
    assert_words(refusal(folder))


def test_a_given_test_cannot_be_set_aside(folder: Path) -> None:
    replace(folder / "test_solution.py", "\n\ndef test_given_2():\n    assert double(5) == 10\n", "")
    edit(folder, lambda data: data["tests"][1].update(disputed=True, result="not_run"))
    assert_words(refusal(folder))


def test_a_given_test_cannot_be_taken_back_by_nobody(folder: Path) -> None:
    replace(folder / "test_solution.py", "\n\ndef test_given_2():\n    assert double(5) == 10\n", "")

    def drop(data: dict[str, Any]) -> None:
        data["task"]["taken_back"] = [data["tests"].pop(1)["test"]]

    edit(folder, drop)
    assert_words(refusal(folder))


def test_words_that_take_for_ever_to_read_are_given_up(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("burnish.evidence.suite.SECONDS", 0.01)
    edit(folder, lambda data: data["task"].update(words="f(" * 10_000))
    assert_words(refusal(folder))


def test_code_that_runs_when_tests_are_collected_is_seen(folder: Path) -> None:
    replace(folder / "test_solution.py", "from solution", "import os\nfrom solution")
    edit(folder, lambda data: None)
    assert_words(refusal(folder))


def test_other_code_with_fresh_hashes_is_not_the_version_that_is_spoken_of(folder: Path) -> None:
    replace(folder / "solution.py", "n * 2", "n + 2")
    edit(folder, lambda data: None)
    assert_words(refusal(folder))


@pytest.mark.slow
def test_other_code_with_all_hashes_made_anew_fails_its_tests_here(folder: Path) -> None:
    replace(folder / "solution.py", "n * 2", "n + 2")
    edit(folder, lambda data: data["code"]["steps"][0].update(sha256=sha256(folder / "solution.py")))
    verified = burnish.verify(folder)
    assert verified.ending == "does not hold"
    claims = {claim.what: claim for claim in verified.claims}
    assert "test_given_2" in claims["tests"].why
    assert (claims["tests"].said.split()[0], claims["tests"].found.split()[:3]) == ("3", ["1", "of", "3"])
    assert (claims["verdict"].said, claims["verdict"].found) == ("plausible", "failed")


@pytest.mark.slow
def test_code_that_leaves_before_its_tests_does_not_hold_either(folder: Path) -> None:
    replace(folder / "solution.py", "    return n * 2", "    import os\n    os._exit(0)")
    edit(folder, lambda data: data["code"]["steps"][0].update(sha256=sha256(folder / "solution.py")))
    assert answers(burnish.verify(folder))["tests"] == "does_not_hold"


@pytest.mark.slow
@pytest.mark.parametrize("change", [{"figure": "99 of 100"}, {"figure": "99 of 100", "value": 99.0}])
def test_a_figure_that_was_edited_does_not_hold_and_both_are_told(
    folder: Path, honest: tuple[Path, Run], change: dict[str, object]
) -> None:
    true = next(item.figure for item in honest[1].evidence if item.check == "quality")
    edit(folder, lambda data: data["checks"][-1].update(change))
    verified = burnish.verify(folder, store=Store(honest[0].parent / "home"))
    claims = {claim.what: claim for claim in verified.claims}
    assert verified.ending == "does not hold"
    assert (claims["quality"].answer, true in claims["quality"].why) == ("does_not_hold", True)
    assert claims["security"].answer == "holds"
    assert_snapshot(claims["record"].why, "commands/verify: a_figure_that_was_edited_does_not_hold_and_both_are_told")


@pytest.mark.slow
def test_a_verdict_that_the_tests_do_not_bear_does_not_hold(tmp_path: Path) -> None:
    folder = tmp_path / "plausible"
    assert deliver(folder, "a function double(n) that doubles", tests=block_of_tests()).verdict == "plausible"
    edit(folder, lambda data: data.update(verdict="proven"))
    claims = {claim.what: claim for claim in burnish.verify(folder).claims}
    assert_words(claims["verdict"].why)
    assert claims["tests"].answer == "holds"


def block_of_tests() -> str:
    return "```python\nassert double(1) == 2\nassert double(4) == 8\n```"


@pytest.mark.slow
def test_a_failed_run_claims_nothing_and_is_not_good(tmp_path: Path) -> None:
    folder = tmp_path / "failed"
    assert deliver(folder, draft="no", rewrite="no", repair="no", tests="no").verdict == "failed"
    verified = burnish.verify(folder)
    assert verified.ending == "holds"
    assert not verified.good


BAD: dict[str, tuple[bytes, str]] = {
    "not JSON": (b"{", r"is not JSON: .* in line 1"),
    "not text": (b"\xff\xfe\x00", "is not text"),
    "nothing": (b"", "is not JSON"),
    "a list": (b"[]", "is not an object"),
    "deep": (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "is nested too deeply"),
    "rather deep": (b'{"a":' * 20 + b"1" + b"}" * 20, "is nested too deeply"),
    "huge": (b'{"a":"' + b"x" * 50_000_000 + b'"}', "is larger than 8 MB"),
    "a huge number": (b'{"a":' + b"9" * 5000 + b"}", "a number that is too large"),
    "an endless number": (b'{"a":1e999}', "a number that is too large"),
    "no number": (b'{"a":NaN}', "NaN, which is no number"),
    "said twice": (b'{"a":1,"a":2}', "says something twice"),
    "another's": (b'{"format":"spdx","version":1}', "does not begin as evidence does"),
    "of a newer version": (b'{"format":"burnish evidence","version":7}', "newer Burnish.*git pull$"),
    "of no version": (b'{"format":"burnish evidence","version":0}', "a version that never was"),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", BAD)
def test_what_is_no_evidence_is_said_in_one_paragraph(kind: str, tmp_path: Path) -> None:
    data, said = BAD[kind]
    (tmp_path / "evidence.json").write_bytes(data)
    with pytest.raises(SetupProblem, match=said):
        burnish.verify(tmp_path, sandbox=NOWHERE)


def unknown_field(data: dict[str, Any]) -> None:
    data["trust"] = "me"


def way_out(data: dict[str, Any]) -> None:
    data["task"]["module"] = "..secret"


def wrong_kind(data: dict[str, Any]) -> None:
    data["cost"]["calls"] = "3"


def negative(data: dict[str, Any]) -> None:
    data["cost"]["calls"] = -1


@pytest.mark.parametrize("change", [unknown_field, way_out, wrong_kind, negative], ids=lambda change: change.__name__)
def test_evidence_of_a_wrong_form_is_refused(change: Callable[[dict[str, Any]], None], folder: Path) -> None:
    edit(folder, change)
    with refused():
        burnish.verify(folder, sandbox=NOWHERE)


@pytest.mark.parametrize("name", ["../solution.py", "/etc/hostname.py", "a/../../x.py", "conftest.py", "x\x1b[31m.py"])
def test_a_listed_file_that_burnish_never_delivers_is_refused(name: str, folder: Path) -> None:
    data = evidence(folder)
    data["files"][name] = data["files"]["solution.py"]
    data["seal"] = hash_content(data)
    (folder / "evidence.json").write_text(json.dumps(data))
    with refused():
        burnish.verify(folder, sandbox=NOWHERE)


def test_evidence_behind_a_link_is_not_read(folder: Path) -> None:
    (folder / "evidence.json").rename(folder.parent / "evidence.json")
    (folder / "evidence.json").symlink_to(folder.parent / "evidence.json")
    with refused():
        burnish.verify(folder, sandbox=NOWHERE)


def test_a_folder_in_the_place_of_the_evidence_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "evidence.json").mkdir()
    with refused():
        burnish.verify(tmp_path, sandbox=NOWHERE)


@pytest.mark.parametrize("name", ["nothing", "file", "\0"])
def test_what_is_no_folder_is_said(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with refused():
        burnish.verify(tmp_path / name)


def test_a_folder_without_evidence_is_told_what_to_do_instead(tmp_path: Path) -> None:
    with refused():
        burnish.verify(tmp_path)
