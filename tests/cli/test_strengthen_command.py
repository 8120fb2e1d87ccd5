"""`burnish strengthen` as a user sees it: the diff of a new file, one line of figures, and what to type next."""

import json
from pathlib import Path

import pytest

from burnish.runs import Store
from tests.cli.conftest import Call
from tests.support import assert_words

CODE = '''def size(n):
    """In words.

    >>> size(12)
    'large'
    """
    return "small" if n < 10 else "large"
'''
TESTS = "from sizes import size\n\n\ndef test_size():\n    assert size(3) == 'small'\n"


@pytest.fixture
def project(work_folder: Path) -> Path:
    """A module, and tests that see little of it; the current folder."""
    (work_folder / "tests").mkdir()
    (work_folder / "pyproject.toml").write_text("")
    (work_folder / "sizes.py").write_text(CODE)
    (work_folder / "tests/test_sizes.py").write_text(TESTS)
    return work_folder


@pytest.mark.slow
def test_the_new_file_is_shown_and_the_figures_are_one_line_and_the_run_is_there_to_look_at(
    call: Call, project: Path, store: Store
) -> None:
    told = call("strengthen", "tests", "--for", "sizes.py")
    assert told.code == 0, told.err
    assert "+++ b/tests/test_sizes_more.py" in told.out
    assert "+    assert size(12) == 'large'" in told.out
    assert_words([line for line in told.out.splitlines() if "small changes" in line][-1])
    line = next(line for line in told.out.splitlines() if "burnish apply" in line)
    assert not (project / "tests/test_sizes_more.py").exists()
    assert "strengthen" in call("explain").out
    assert store.open("last").why in call("show").out
    assert store.open("last").started.prompt[:16] in call("runs").out
    assert "from sizes import size\n" in call("show", "--tests").out
    assert store.open("last").accounts == (), "no model was asked"
    assert call("resume").code == 2
    put = call(*line.split()[-2:])
    assert (put.code, "tests/test_sizes_more.py" in put.out) == (0, True)
    assert "size(12)" in (project / "tests/test_sizes_more.py").read_text()
    again = call(*line.split()[-2:])
    assert again.code == 2
    assert_words(again.err)


@pytest.mark.slow
def test_applied_for_a_program_that_reads_json(call: Call, project: Path) -> None:
    told = call("strengthen", "tests/test_sizes.py", "--for", ".", "--apply", "--no-pinned", "--json")
    assert told.code == 0, told.err
    said = json.loads(told.out)
    assert said["written"] == ["tests/test_sizes_more.py"]
    assert (said["mutants"], said["noticed_before"], said["noticed"], said["noticed_by_pinned"]) == (9, 4, 7, 0)
    assert (project / "tests/test_sizes_more.py").read_text() == said["files"]["tests/test_sizes_more.py"]
    assert {test["origin"] for test in said["tests"]} == {"spec"}
    assert (project / "tests/test_sizes.py").read_text() == TESTS


@pytest.mark.slow
def test_a_docstring_that_the_code_contradicts_is_exit_code_1_and_names_the_next_step(
    call: Call, project: Path
) -> None:
    (project / "sizes.py").write_text(CODE.replace("'large'\n", "'huge'\n"))
    told = call("strengthen", "tests", "--for", "sizes.py", "--no-pinned")
    assert told.code == 1
    assert_words(next(line for line in told.out.splitlines() if "size(12) ==" in line))
    assert "burnish fix sizes.py --function size" in told.out


@pytest.mark.parametrize(
    "words",
    [
        ("nosuch", "--for", "sizes.py"),
        ("tests", "--for", "nosuch.py"),
        ("notes.txt", "--for", "sizes.py"),
        ("empty", "--for", "sizes.py"),
        ("tests", "--for", "tests"),
        ("tests", "--for", "sizes.py", "--function", "sise"),
        ("tests", "--for", "sizes.py", "--python", "nosuch"),
        ("tests", "--for", "sizes.py", "--seconds", "inf"),
    ],
    ids=" ".join,
)
def test_bad_input_is_one_paragraph_and_exit_code_2(call: Call, project: Path, words: tuple[str, ...]) -> None:
    (project / "notes.txt").write_text("tests\n")
    (project / "empty").mkdir()
    told = call("strengthen", *words)
    assert (told.code, told.out) == (2, "")
    assert_words(told.err)
    assert len(told.err.splitlines()) == 1
