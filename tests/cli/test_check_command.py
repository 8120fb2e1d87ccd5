"""`burnish check` as a user sees it: one table, one sentence, an exit code that means something."""

import json
from pathlib import Path

import pytest

from burnish.checks.check import Finding
from burnish.errors import CheckError
from tests.checks.stand_ins import Answer, said, stand_ins
from tests.cli.conftest import Call
from tests.report.test_run_report import outside_code
from tests.support import ESC, assert_words

WILD = f"{ESC}[31mred{ESC}]0;title\x07[bold red]markup[/bold red] <script>alert(1)</script> \x9b2J\u202e\r"


@pytest.fixture
def code(work_folder: Path) -> Path:
    """One file, to be named by its name."""
    path = work_folder / "code.py"
    path.write_text("def f():\n    return 1\n")
    return path


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> object:
    """`answer(tests="failed")`: what the checks will say."""

    def give(**answers: Answer) -> None:
        monkeypatch.setattr("burnish.checks.verdict.all_checks", stand_ins(**answers))

    give()
    return give


CHECK = ("check", "code.py", "--sandbox", "process")
TABLE = "\ncheck "
"""Where the table begins: what stands before it comes in any order."""


@pytest.mark.usefixtures("code", "answer")
def test_a_table_a_sentence_and_exit_code_0(call: Call) -> None:
    told = call(*CHECK)
    assert (told.code, told.err) == (0, "")
    assert "burnish check code.py --out report" in told.out
    assert_words(told.out[told.out.index(TABLE) :])


@pytest.mark.usefixtures("code")
def test_a_failed_check_is_exit_code_1_with_the_place_and_the_next_step(call: Call, answer: object) -> None:
    finding = Finding(file="code.py", line=2, what="a shell with input", rule="B602", severity="high")
    evidence = said(
        "security", "failed", "one finding", figure="1 finding", details={"findings": [finding.model_dump()]}
    )
    answer(security=evidence)  # type: ignore[operator]
    told = call(*CHECK)
    assert told.code == 1
    assert "code.py:2  a shell with input  (security B602)" in told.out
    assert "burnish check code.py --only security" in told.out
    assert_words(told.out[told.out.index(TABLE) :])


@pytest.mark.usefixtures("code")
def test_a_required_check_that_was_not_run_is_exit_code_1(call: Call, answer: object) -> None:
    answer(mutation=CheckError("mutmut is missing"))  # type: ignore[operator]
    told = call(*CHECK)
    assert told.code == 1
    assert_words(told.out[told.out.index(TABLE) :])


@pytest.mark.usefixtures("code")
def test_our_bug_is_raised_after_the_answers_and_the_reports(call: Call, answer: object, work_folder: Path) -> None:
    answer(quality=ZeroDivisionError("oops"))  # type: ignore[operator]
    with pytest.raises(ZeroDivisionError):
        call(*CHECK, "--out", "report")
    assert (work_folder / "report" / "report.html").is_file()
    evidence = json.loads((work_folder / "report" / "report.json").read_text())["evidence"]
    assert {item["check"]: item["verdict"] for item in evidence}["quality"] == "not_run"


@pytest.mark.usefixtures("code", "answer")
def test_only_runs_what_is_named(call: Call) -> None:
    told = call(*CHECK, "--only", "security,quality", "--json")
    assert [item["check"] for item in json.loads(told.out)["evidence"]] == ["security", "quality"]
    assert_words(told.err[told.err.index(TABLE) :])


@pytest.mark.usefixtures("code", "answer")
def test_reports_are_written_where_they_are_wanted_and_nowhere_else(call: Call, work_folder: Path) -> None:
    call(*CHECK)
    assert sorted(path.name for path in work_folder.iterdir()) == ["code.py"]
    told = call(*CHECK, "--out", "some/where")
    assert told.code == 0
    assert str(Path("some/where/report.html")) in told.out
    assert sorted(path.name for path in (work_folder / "some" / "where").iterdir()) == [
        "report.html",
        "report.json",
        "report.md",
    ]
    assert call(*CHECK, "--out", "some/where").code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("gone.py",),
        ("binary.py",),
        ("code.py", "--only", "mutations"),
        ("code.py", "--python", "nowhere/python"),
        ("code.py", "--sandbox", "moon"),
        ("code.py", "--out", "code.py/below"),
        ("code.py", "--tests", "gone"),
        (),
    ],
    ids=" ".join,
)
@pytest.mark.usefixtures("code", "answer")
def test_bad_input_is_one_paragraph_and_exit_code_2(call: Call, work_folder: Path, arguments: tuple[str, ...]) -> None:
    (work_folder / "binary.py").write_bytes(b"\x7fELF\x00\x00\xff")
    told = call("check", *arguments)
    assert (told.code, told.out) == (2, "")
    if told.err.startswith("burnish: "):
        assert_words(told.err)
    else:  # the parser of the command line has words of its own
        assert any(word.strip("-") in told.err for word in arguments or ("PATH",))
    assert "Traceback" not in told.err


@pytest.mark.parametrize(
    "settings",
    ["coverage = 180", 'required = ["tets"]', 'colour = "red"', "coverage = [", 'severity = "awful"'],
)
@pytest.mark.usefixtures("code", "answer")
def test_settings_that_cannot_be_meant_are_one_paragraph(call: Call, work_folder: Path, settings: str) -> None:
    (work_folder / "pyproject.toml").write_text(f"[tool.burnish]\n{settings}\n")
    told = call(*CHECK)
    assert (told.code, told.out) == (2, "")
    assert "pyproject.toml" in told.err


@pytest.mark.usefixtures("code")
def test_what_code_and_tools_say_is_shown_and_never_obeyed(call: Call, answer: object, work_folder: Path) -> None:
    finding = Finding(file=WILD, line=1, what=WILD, rule=WILD, diff=f"-{WILD}\n+{WILD}")
    cases = [{"name": WILD, "outcome": "failed", "message": WILD, "seconds": 0.1}]
    wild = said("tests", "failed", WILD, figure=WILD, threshold=WILD)
    wild = wild.model_copy(update={"details": {"findings": [finding.model_dump()], "cases": cases}})
    answer(tests=wild, mutation=wild.model_copy(update={"check": "mutation"}))  # type: ignore[operator]
    told = [call(*CHECK, "--out", "report"), call(*CHECK, "--json")]
    texts = [part for one in told for part in (one.out, one.err)]
    pages = {path.suffix: path.read_text() for path in (work_folder / "report").iterdir()}
    for text in (*texts, *pages.values()):
        assert not {ESC, "\x07", "\x9b", "\u202e"} & set(text)
    assert "<script" not in pages[".html"]
    assert not [line for line in outside_code(pages[".md"]) if "<script" in line or "[bold red]" in line]
    assert "[bold red]markup[/bold red]" in told[0].out
