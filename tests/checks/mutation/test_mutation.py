"""Strong tests notice every change, weak ones leave the right survivors, and whatever goes wrong is said."""

import re
import subprocess
from pathlib import Path

import pytest

from burnish.checks.mutation.changed_code import find_changed_lines
from burnish.checks.mutation.mutant import MutmutClient
from burnish.errors import CheckError
from tests.checks.mutation.support import findings, judged, project_of
from tests.snapshots import assert_snapshot

CLAMP = """\
def clamp(x, low, high):
    \"\"\"x, but not below low and not above high.\"\"\"
    if x < low:
        return low
    return high if x > high else x


def fee(age):
    # children pay nothing
    if age < 6:
        return 0
    return 10
"""
STRONG = """\
from clamp import clamp, fee

def test_clamp():
    assert clamp(1, 0, 5) == 1 and clamp(-1, 0, 5) == 0 and clamp(9, 0, 5) == 5
    assert type(clamp(0, 0.0, 5)) is int and type(clamp(5, 0, 5.0)) is int

def test_fee():
    assert fee(5) == 0 and fee(6) == 10
"""


@pytest.mark.slow
def test_a_strong_suite_notices_every_change(tmp_path: Path) -> None:
    evidence = judged(tmp_path, {"clamp.py": CLAMP, "test_clamp.py": STRONG})
    assert (evidence.check, evidence.verdict, evidence.figure) == ("mutation", "passed", "100 %")
    assert evidence.threshold == "at least 60 %"
    assert findings(evidence) == []
    assert evidence.details["killed"] == evidence.details["mutants"] == 17
    assert sum("__mutmut_" in key for key in evidence.details["outcomes"]) == 8


def test_the_lines_that_differ_from_the_last_commit_are_found(tmp_path: Path) -> None:
    project = project_of(tmp_path, {"clamp.py": CLAMP, "new.py": "x = 1\n"})
    texts = {"clamp.py": CLAMP.replace("return 10", "return 11"), "new.py": "x = 1\n"}
    assert find_changed_lines(project, texts) == {}, "there is no repository"
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c"]
    trap = tmp_path / "trap"
    for words in (["init", "-q"], ["add", "clamp.py"], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], cwd=tmp_path, check=True)
    for key in ("core.fsmonitor", "diff.external", "filter.x.clean", "core.pager"):
        subprocess.run([*git, "config", key, f"touch {trap}"], cwd=tmp_path, check=True)
    (tmp_path / ".gitattributes").write_text("*.py filter=x\n")
    assert find_changed_lines(project, texts) == {"clamp.py": {12}, "new.py": {1}}
    assert not trap.exists(), "nothing that a repository's settings name is run"


@pytest.mark.slow
def test_so_many_mutants_as_asked_for_those_of_changed_code_first(tmp_path: Path) -> None:
    files = {"clamp.py": CLAMP, "test_clamp.py": STRONG}
    project_of(tmp_path, files)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], cwd=tmp_path, check=True)
    evidence = judged(tmp_path, files | {"clamp.py": CLAMP.replace("age < 6", "6 > age")}, mutants=3)
    tried = [key for key, outcome in evidence.details["outcomes"].items() if outcome != "not_tried"]
    assert len(tried) == 3
    assert all("fee" in key for key in tried)
    assert "last commit" in evidence.why


@pytest.mark.slow
def test_a_test_without_asserts_leaves_every_mutant_alive(tmp_path: Path) -> None:
    weak = "from clamp import clamp, fee\n\ndef test_it_runs():\n    clamp(1, 0, 5), fee(3), fee(8)\n"
    evidence = judged(tmp_path, {"clamp.py": CLAMP, "test_clamp.py": weak})
    assert (evidence.verdict, evidence.figure) == ("failed", "0 %")
    noticed = [key for key, was in evidence.details["outcomes"].items() if was == "killed"]
    assert noticed == []
    assert_snapshot(evidence.why, "mutation/nothing noticed")


@pytest.mark.slow
def test_one_branch_without_a_test_is_where_the_survivors_are(tmp_path: Path) -> None:
    weak = STRONG.replace(" and fee(6) == 10", "")
    evidence = judged(tmp_path, {"clamp.py": CLAMP, "test_clamp.py": weak})
    assert [(found.file, found.line) for found in findings(evidence)] == [
        ("clamp.py", 12),  # that the last line may go fails the check by itself
        ("clamp.py", 10),
        ("clamp.py", 10),
        ("clamp.py", 12),
    ]
    assert evidence.verdict == "failed"
    assert_snapshot("\n".join(found.what for found in findings(evidence)), "mutation/unnoticed changes")


@pytest.mark.slow
def test_an_off_by_one_that_nobody_tests_is_shown_as_a_diff_of_the_source(tmp_path: Path) -> None:
    weak = STRONG.replace("fee(6)", "fee(7)")
    evidence = judged(
        tmp_path,
        {"pkg/__init__.py": "", "pkg/clamp.py": CLAMP, "test_clamp.py": weak.replace("clamp i", "pkg.clamp i")},
    )
    found = findings(evidence)[0]
    assert found.rule == "pkg.clamp.x_fee__mutmut_1"
    assert found.diff.splitlines() == [
        "--- pkg/clamp.py",
        "+++ pkg/clamp.py",
        "@@ -7,6 +7,6 @@",
        " ",
        " def fee(age):",
        "     # children pay nothing",
        "-    if age < 6:",
        "+    if age <= 6:",
        "         return 0",
        "     return 10",
    ]


@pytest.mark.slow
def test_a_function_that_no_test_runs_is_named_so(tmp_path: Path) -> None:
    evidence = judged(tmp_path, {"clamp.py": CLAMP, "test_clamp.py": STRONG.split("def test_fee")[0]})
    assert evidence.details["no_tests"] == 7
    assert_snapshot(f"{evidence.why}\n{findings(evidence)[0].what}", "mutation/function without tests")


@pytest.mark.slow
def test_a_mutant_that_never_ends_is_noticed_by_the_clock(tmp_path: Path) -> None:
    code = "def digits(n):\n    count = 1\n    while n >= 10:\n        n //= 10\n        count += 1\n    return count\n"
    tests = "from digits import digits\n\ndef test_it():\n    assert [digits(n) for n in (1234, 10, 9)] == [4, 2, 1]\n"
    evidence = judged(tmp_path, {"digits.py": code, "test_digits.py": tests})
    assert evidence.verdict == "passed"
    assert isinstance(evidence.details["timeout"], int)
    assert evidence.details["timeout"] >= 1
    assert evidence.details["not_tried"] == 0


@pytest.mark.slow
def test_a_mutant_that_kills_the_process_is_noticed(tmp_path: Path) -> None:
    code = "import os\n\ndef leave(n):\n    if n > 3:\n        os._exit(0)\n    return n\n"
    tests = "from leave import leave\n\ndef test_leave():\n    assert leave(3) == 3 and leave(1) == 1\n"
    evidence = judged(tmp_path, {"leave.py": code, "test_leave.py": tests})
    assert evidence.details["suspicious"] == 2, "the comparison changed, and the condition negated"


@pytest.mark.slow
def test_a_short_budget_stops_early_with_an_interval(tmp_path: Path) -> None:
    code = "".join(f"def f{n}(x):\n    return x + {n} if x > {n} else x * 2\n\n" for n in range(40))
    tests = "import time, many\n\ndef test_all():\n    time.sleep(0.05)\n    for n in range(40):\n"
    tests += "        assert getattr(many, f'f{n}')(n + 1) == 2 * n + 1\n"
    evidence = judged(tmp_path, {"many.py": code, "test_many.py": tests}, mutation_seconds=1.0)
    assert re.fullmatch(r"\d+ % \(\d+ to \d+\), \d+ of \d+ tried", evidence.figure)
    tried, left = evidence.details["tried"], evidence.details["not_tried"]
    assert isinstance(tried, int)
    assert isinstance(left, int)
    assert tried > 5
    assert left > 5
    assert str(left) in evidence.why
    assert isinstance(evidence.details["seconds"], float)
    assert evidence.details["seconds"] < 12


@pytest.mark.slow
def test_tests_that_fail_by_themselves_judge_nothing(tmp_path: Path) -> None:
    evidence = judged(tmp_path, {"clamp.py": CLAMP, "test_clamp.py": STRONG.replace("fee(5) == 0", "fee(5) == 1")})
    assert evidence.verdict == "not_run"
    assert_snapshot(evidence.why, "mutation/tests that fail")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("test", "said"),
    [
        ("assert double(3) == 7", "test_it: assert 6 == 7"),
        ("assert [double(n) for n in range(9)] == list(range(9))", "test_it: assert [0, 2, 4, 6, 8, 10, ...] == [0, 1"),
        ("raise ValueError('first\\nsecond')", "test_it: ValueError: first second"),
    ],
)
def test_a_test_that_fails_without_a_mutant_says_so_from_its_first_line_on(
    tmp_path: Path, test: str, said: str
) -> None:
    tests = f"from code_ import double\n\n\ndef test_it():\n    {test}\n"
    evidence = judged(tmp_path, {"code_.py": "def double(n):\n    return n * 2\n", "test_code.py": tests})
    assert evidence.verdict == "not_run"
    assert f"test_code.py::{said}" in evidence.why
    assert "Use -v" not in evidence.why


@pytest.mark.slow
def test_tests_that_cannot_be_imported_judge_nothing(tmp_path: Path) -> None:
    evidence = judged(tmp_path, {"clamp.py": CLAMP, "test_clamp.py": "import no_such_thing\n"})
    assert evidence.verdict == "not_run"
    assert "no_such_thing" in evidence.why


@pytest.mark.slow
@pytest.mark.parametrize("hang", ["while True: pass", "import time; time.sleep(60)"])
def test_a_project_that_hangs_when_imported_ends_in_time(tmp_path: Path, hang: str) -> None:
    evidence = judged(tmp_path, {"clamp.py": CLAMP + f"\n{hang}\n", "test_clamp.py": STRONG}, test_seconds=1)
    assert evidence.verdict == "not_run"
    assert_snapshot(evidence.why, "mutation/import that hangs")


@pytest.mark.slow
def test_a_suite_that_hangs_by_itself_judges_nothing(tmp_path: Path) -> None:
    tests = STRONG.replace("assert fee", "while True: pass\n    assert fee")
    evidence = judged(tmp_path, {"clamp.py": CLAMP, "test_clamp.py": tests}, test_seconds=1)
    assert (evidence.verdict, "timeout" in evidence.why) == ("not_run", True)


@pytest.mark.slow
@pytest.mark.parametrize("code", ["", "X = 1\n", "def f():\n    pass\n"])
def test_where_nothing_can_be_mutated_nothing_is_proven(tmp_path: Path, code: str) -> None:
    evidence = judged(tmp_path, {"nothing.py": code, "test_nothing.py": "def test_it():\n    pass\n"})
    assert evidence.verdict == "not_run"
    assert_snapshot(evidence.why, "mutation/nothing to mutate")


@pytest.mark.slow
def test_without_tests_nothing_is_tried(tmp_path: Path) -> None:
    for tests in ({}, {"test_clamp.py": "X = 1\n"}):
        evidence = judged(tmp_path, {"clamp.py": CLAMP} | tests)
        assert evidence.verdict == "not_run"
        assert_snapshot(evidence.why, "mutation/no tests")


@pytest.mark.slow
def test_a_source_that_does_not_parse_is_named(tmp_path: Path) -> None:
    with pytest.raises(CheckError, match=r"broken\.py"):
        judged(tmp_path, {"broken.py": "def f(:\n", "test_clamp.py": STRONG})


@pytest.mark.slow
@pytest.mark.parametrize(
    "program",
    ["raise SystemExit(3)", "print('no json', flush=True); input()", "import time; time.sleep(60)", "print([1])"],
)
def test_a_broken_mutmut_is_not_a_pass(tmp_path: Path, program: str) -> None:
    (tmp_path / "broken.py").write_text(program)
    with pytest.raises(CheckError, match=r"mutmut.*clamp\.py"):
        judged(
            tmp_path,
            {"clamp.py": CLAMP, "test_clamp.py": STRONG},
            maker=MutmutClient(tmp_path / "broken.py", seconds=1),
        )


@pytest.mark.slow
def test_an_answer_of_another_shape_is_not_a_pass(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text('input(); print(\'{"mutants": [{"key": 1}]}\', flush=True); input()')
    with pytest.raises(CheckError) as caught:
        judged(tmp_path, {"clamp.py": CLAMP, "test_clamp.py": STRONG}, maker=MutmutClient(tmp_path / "odd.py"))
    assert_snapshot(str(caught.value).partition(":")[0], "mutation/odd answer of mutmut")


@pytest.mark.slow
def test_progress_is_told_to_the_end(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    judged(tmp_path, {"clamp.py": CLAMP, "test_clamp.py": STRONG}, tell=lambda done, total: told.append((done, total)))
    assert told[-1] == (17, 17)
    assert told == sorted(told)
