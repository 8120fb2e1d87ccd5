"""`burnish strengthen` as a user sees it: the diff of a new file, one line of figures, and what to type next."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Call

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


def test_the_new_file_is_shown_and_the_figures_are_one_line_and_the_run_is_there_to_look_at(
    call: Call, project: Path
) -> None:
    told = call("strengthen", "tests", "--for", "sizes.py")
    assert told.code == 0, told.err
    assert "+++ b/tests/test_sizes_more.py" in told.out
    assert "+    assert size(12) == 'large'" in told.out
    assert "3 of 8 mutants noticed; 2 new tests: 6 noticed (2 more only by pinned tests);" in told.out
    line = next(line for line in told.out.splitlines() if "burnish apply" in line)
    assert not (project / "tests/test_sizes_more.py").exists()
    assert "strengthen" in call("explain").out
    assert "3 of 8 mutants noticed" in call("show").out
    assert "Strengthen tests" in call("runs").out
    assert "from sizes import size\n" in call("show", "--tests").out
    assert "No model was asked." in call("explain").out
    assert call("resume").code == 2
    put = call(*line.split()[-2:])
    assert (put.code, "tests/test_sizes_more.py" in put.out) == (0, True)
    assert "size(12)" in (project / "tests/test_sizes_more.py").read_text()
    again = call(*line.split()[-2:])
    assert (again.code, "in place already" in again.err) == (2, True)


@pytest.mark.slow
def test_applied_for_a_program_that_reads_json(call: Call, project: Path) -> None:
    told = call("strengthen", "tests/test_sizes.py", "--for", ".", "--apply", "--no-pinned", "--json")
    assert told.code == 0, told.err
    said = json.loads(told.out)
    assert said["written"] == ["tests/test_sizes_more.py"]
    assert (said["mutants"], said["noticed_before"], said["noticed"], said["noticed_by_pinned"]) == (8, 3, 6, 0)
    assert (project / "tests/test_sizes_more.py").read_text() == said["files"]["tests/test_sizes_more.py"]
    assert {test["origin"] for test in said["tests"]} == {"spec"}
    assert (project / "tests/test_sizes.py").read_text() == TESTS


def test_a_docstring_that_the_code_contradicts_is_exit_code_1_and_names_the_next_step(
    call: Call, project: Path
) -> None:
    (project / "sizes.py").write_text(CODE.replace("'large'\n", "'huge'\n"))
    told = call("strengthen", "tests", "--for", "sizes.py", "--no-pinned")
    assert told.code == 1
    assert "found: the docstring of size says size(12) == 'huge', the code gives 'large'" in told.out
    assert "burnish fix sizes.py --function size" in told.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nosuch", "--for", "sizes.py"), "There is no file or folder 'nosuch'"),
        (("tests", "--for", "nosuch.py"), "There is no file or folder 'nosuch.py'"),
        (("notes.txt", "--for", "sizes.py"), "is no file of tests"),
        (("empty", "--for", "sizes.py"), "There is no Python file in 'empty'"),
        (("tests", "--for", "tests"), "Only tests were found"),
        (("tests", "--for", "sizes.py", "--function", "sise"), "--function size"),
        (("tests", "--for", "sizes.py", "--python", "nosuch"), "There is no interpreter at 'nosuch'"),
        (("tests", "--for", "sizes.py", "--seconds", "inf"), "inf seconds is no limit"),
    ],
)
def test_bad_input_is_one_paragraph_and_exit_code_2(
    call: Call, project: Path, words: tuple[str, ...], said: str
) -> None:
    (project / "notes.txt").write_text("tests\n")
    (project / "empty").mkdir()
    told = call("strengthen", *words)
    assert (told.code, told.out) == (2, "")
    assert said in told.err
    assert len(told.err.splitlines()) == 1
