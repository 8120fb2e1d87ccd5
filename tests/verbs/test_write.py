"""`burnish.write`: files where the user wants them, nothing overwritten, nothing lost."""

import errno
import os
import subprocess
from pathlib import Path

import pytest

import burnish
from burnish import Run, ScriptedModel, SetupProblem, Store
from burnish.events import Asked
from tests.support import DOUBLE, GOOD, OWN_TESTS, block, script

pytestmark = pytest.mark.usefixtures("open_box")


def written(sentence: str = DOUBLE, **options: object) -> Run:
    return burnish.write(sentence, ScriptedModel(script()), **options)  # type: ignore[arg-type]


def test_solution_tests_and_report_are_put_into_the_folder(tmp_path: Path, store: Store) -> None:
    run = written(out=tmp_path / "new" / "double")
    folder = tmp_path / "new" / "double"
    assert run.folder == str(folder)
    assert sorted(path.name for path in folder.iterdir()) == ["report.md", "solution.py", "test_solution.py"]
    assert (folder / "solution.py").read_text() == run.code
    assert store.open("last").folder == str(folder)


def test_the_written_tests_pass_for_a_user_who_runs_them(tmp_path: Path) -> None:
    written(out=tmp_path / "double")
    done = subprocess.run(
        [os.sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."],  # type: ignore[attr-defined]
        cwd=tmp_path / "double",
        capture_output=True,
        text=True,
    )
    assert "5 passed" in done.stdout, done.stdout


def test_without_a_folder_nothing_is_written(work_folder: Path) -> None:
    assert written().folder is None
    assert list(work_folder.iterdir()) == []


def test_an_existing_folder_is_never_overwritten(tmp_path: Path, store: Store) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "solution.py").write_text("precious")
    with pytest.raises(SetupProblem, match=r"never overwrites.*--out DIR$"):
        written(out=tmp_path / "mine")
    assert (tmp_path / "mine" / "solution.py").read_text() == "precious"
    assert store.list() == [], "refused before any work was done"


def test_a_file_in_the_way_is_refused_before_any_work(tmp_path: Path, store: Store) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SetupProblem, match=r"cannot be written.*--out DIR$"):
        written(out=tmp_path / "file" / "double")
    assert store.list() == []


def test_a_name_that_is_too_long_is_refused_before_any_work(tmp_path: Path, store: Store) -> None:
    with pytest.raises(SetupProblem, match=r"--out DIR$"):
        written(out=tmp_path / ("x" * 300))
    assert store.list() == []


def test_a_read_only_folder_is_refused_before_any_work(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "locked").mkdir(mode=0o555)
    if os.geteuid() == 0:  # permission bits do not bind root, so the question itself is answered
        real = os.access
        monkeypatch.setattr(os, "access", lambda path, mode: "locked" not in str(path) and real(path, mode))
    with pytest.raises(SetupProblem, match=r"locked' cannot be written.*--out DIR$"):
        written(out=tmp_path / "locked" / "double")
    assert store.list() == []


def test_a_really_full_disk_loses_nothing(tiny_disk: Path, store: Store) -> None:
    (tiny_disk / "filler").write_bytes(b"x" * 24 * 1024)
    with pytest.raises(SetupProblem, match=r"the disk is full.*Nothing is lost.*burnish show double-\w+ --code$"):
        written(out=tiny_disk / "double")
    assert store.open("last").code == "def double(n):\n    return n * 2\n"


def test_a_read_only_disk_is_refused_before_any_work(tiny_disk: Path, store: Store) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(tiny_disk)], check=True)
    with pytest.raises(SetupProblem, match=r"cannot be written.*--out DIR$"):
        written(out=tiny_disk / "double")
    assert store.list() == []


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EACCES])
def test_a_result_that_cannot_be_written_is_still_in_the_record(
    number: int, tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, *_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "write_text", refuse)
    with pytest.raises(SetupProblem, match=r"could not be written.*Nothing is lost"):
        written(out=tmp_path / "double")
    assert store.open("last").verdict == "proven"


def test_going_on_keeps_the_earlier_tests_in_force(store: Store) -> None:
    first = written()
    model = ScriptedModel(script(tests=block("assert double('ab') == 'abab'"), draft=GOOD))
    second = burnish.write("also text, e.g. double('a') == 'aa'", model, from_run=first.id)
    assert second.verdict == "proven"
    assert second.started.continues == first.id
    assert second.spec
    assert second.spec.given_tests == (
        "assert double(2) == 4",
        "assert double(5) == 10",
        "assert double('a') == 'aa'",
    )
    assert {case["name"].split("::")[-1] for case in second.evidence[0].details["cases"]} == {  # type: ignore[attr-defined]
        *(f"test_given_{number}" for number in (1, 2, 3)),
        *(f"test_model_{number}" for number in (1, 2, 3, 4)),
    }


def test_code_that_breaks_an_earlier_test_is_not_proven() -> None:
    first = written()
    text_only = block("def double(n):\n    return n + n if isinstance(n, str) else 0")
    model = ScriptedModel(script(draft=text_only, reflect=text_only, rewrite=text_only))
    second = burnish.write("also text, e.g. double('a') == 'aa'", model, from_run=first.id)
    assert second.verdict == "failed"


def test_going_on_from_the_last_run_records_which_one_that_was() -> None:
    first = written()
    assert written("also zero, e.g. double(0) == 0", from_run="last").started.continues == first.id


def test_tests_stay_in_force_over_several_steps() -> None:
    model = ScriptedModel(script(tests="none"))
    written()
    burnish.write("also zero, e.g. double(0) == 0", model, from_run="last")
    third = burnish.write("also one, e.g. double(1) == 2", model, from_run="last")
    [_, draft] = third.all(Asked)
    assert third.evidence[0].why == "all 6 tests passed"
    assert "return n * 2" in draft.messages[-1].content + third.all(Asked)[0].messages[-1].content


def test_disputed_tests_of_an_earlier_run_do_not_come_back() -> None:
    first = burnish.write(DOUBLE, ScriptedModel(script(tests=block("assert double(3) == 7\nassert double(1) == 2"))))
    assert first.disputed == ("assert double(3) == 7",)
    second = burnish.write("also zero, e.g. double(0) == 0", ScriptedModel(script(tests=OWN_TESTS)), from_run=first.id)
    assert second.disputed == ()
    assert second.verdict == "proven"


def test_a_run_without_code_cannot_be_gone_on_from() -> None:
    failed = burnish.write(DOUBLE, ScriptedModel(["no"]))
    with pytest.raises(SetupProblem, match=r"has no code to go on from.*burnish runs$"):
        written("more", from_run=failed.id)


def test_an_empty_sentence_is_refused_before_any_work(store: Store) -> None:
    with pytest.raises(SetupProblem, match="empty"):
        written("  ")
    assert store.list() == []
