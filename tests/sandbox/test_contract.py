"""What every kind of sandbox promises."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from burnish.errors import SandboxError, SetupProblem
from burnish.sandbox import JobLimits, Sandbox, open_sandbox
from burnish.sandbox.open import NO_ISOLATION
from tests.sandbox.kinds import EVERY, ISOLATED, must_be_there


@pytest.fixture(scope="module", params=EVERY)
def box(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    with open_sandbox(must_be_there(request.param), cells=2) as opened:
        yield opened


@pytest.mark.slow
def test_it_says_what_it_is(box):
    assert box.kind in ("bubblewrap", "docker", "process")
    assert (box.level == NO_ISOLATION) == (box.kind == "process")


def test_a_command_finds_its_files(box):
    ran = box.run(["python", "main.py"], files={"main.py": "print(open('data/x.txt').read())", "data/x.txt": "héllo"})
    assert (ran.exit_code, ran.output, ran.timed_out) == (0, "héllo\n", False)


def test_the_exit_code_is_the_command_s(box):
    assert box.run(["python", "-c", "raise SystemExit(7)"]).exit_code == 7
    assert box.run(["sh", "-c", "kill -9 $$"]).exit_code == -9


def test_output_and_errors_come_in_order(box):
    code = "import sys; print(1, flush=True); print(2, file=sys.stderr, flush=True); print(3)"
    assert box.run(["python", "-c", code]).output == "1\n2\n3\n"


def test_a_program_that_is_not_there_is_said(box):
    ran = box.run(["no-such-program"])
    assert ran.exit_code == 127
    assert "no-such-program" in ran.output


def test_a_file_cannot_be_put_outside_the_folder(box):
    ran = box.run(["true"], files={"../../etc/x": "x"})
    assert ran.exit_code == 127


@pytest.mark.slow
def test_pytest_can_be_run_as_a_command(box):
    ran = box.run(["python", "-m", "pytest", "-q", "test_a.py"], files={"test_a.py": "def test_a(): pass"})
    assert "1 passed" in ran.output


def test_there_is_nothing_on_standard_input(box):
    assert box.run(["python", "-c", "import sys; print(repr(sys.stdin.read()))"]).output == "''\n"


def test_right_code_passes(box):
    graded = box.grade("def f(x): return x + 1", "assert f(1) == 2\nassert f(2) == 3")
    assert graded.all_passed
    assert graded.separated
    assert [case.name for case in graded.cases] == ["line 1: f(1) == 2", "line 2: f(2) == 3"]


def test_wrong_code_fails_where_it_is_wrong(box):
    graded = box.grade("def f(x): return x + 1", "assert f(1) == 2\nassert f(2) == 4")
    assert [case.outcome for case in graded.cases] == ["passed", "failed"]
    assert graded.problem == ""


@pytest.mark.slow
def test_a_pytest_file_is_judged_test_by_test(box):
    tests = "from solution import f\ndef test_a(): assert f(1) == 2\ndef test_b(): assert f(1) == 3"
    graded = box.grade("def f(x): return x + 1", tests)
    assert [(case.name, case.outcome) for case in graded.cases] == [("test_a", "passed"), ("test_b", "failed")]


def test_code_that_does_not_parse_is_a_problem(box):
    graded = box.grade("def f(x) return x", "assert f(1) == 1")
    assert "SyntaxError" in graded.problem
    assert "line 1" in graded.problem
    assert not graded.all_passed


@pytest.mark.parametrize("code", ["", "\0", "\ud800", "x = '\ud800'", "1/0", "import nowhere", "raise SystemExit"])
def test_code_may_be_anything(box, code):
    assert not box.grade(code, "assert f(1) == 1").all_passed


@pytest.mark.parametrize("line", ["# coding: utf-7", "#!/bin/python\n# -*- coding: latin-1 -*-", "\f# coding=utf-16"])
def test_code_and_tests_in_another_encoding_are_a_problem(box, line):
    code, tests = "def f(x): return x\n", "assert f(1) == 1\n"
    told = [box.grade(f"{line}\n{code}", tests), box.grade(code, f"{line}\n{tests}")]
    told += [box.grade(code, f"{line}\nfrom solution import f\ndef test_f(): assert f(1) == 1\n")]
    assert all(graded.problem and not graded.cases for graded in told)
    assert box.grade(f"# coding: utf-8\n{code}", f"# coding: utf8\n{tests}").all_passed


def test_a_text_keeps_its_odd_line_ends(box):
    code = "# coding: utf-8\ndef f(): return 'é\u2028\x0c\x85'\n"
    assert box.grade(code, "assert f() == 'é\\u2028\\x0c\\x85'\n").all_passed


@pytest.mark.slow
def test_megabytes_of_code_are_still_code(box):
    assert box.grade("x = 1\n" * 300_000 + "def f(): return x", "assert f() == 1").all_passed


def test_tests_that_do_not_parse_are_a_problem(box):
    for tests in ("assert f(", "def test_a(:"):
        graded = box.grade("def f(): pass", tests)
        assert "SyntaxError" in graded.problem
        assert not graded.cases
        assert not graded.all_passed


def test_no_tests_prove_nothing(box):
    assert not box.grade("def f(): pass", "").all_passed
    assert not box.grade("def f(): pass", "import math").all_passed


@pytest.mark.slow
def test_a_loop_without_end_times_out_and_earlier_tests_count(box):
    code = "def f(x):\n    while x: pass\n    return x"
    graded = box.grade(code, "assert f(0) == 0\nassert f(1) == 1\nassert f(0) == 0", timeout_seconds=0.5)
    assert graded.timed_out
    assert [case.outcome for case in graded.cases] == ["passed", "failed", "not_run"]


@pytest.mark.slow
def test_many_threads_may_grade_at_once(box):
    with ThreadPoolExecutor(8) as pool:
        jobs = [pool.submit(box.grade, f"def f(): return {n}", f"assert f() == {n}") for n in range(40)]
    assert all(job.result().all_passed for job in jobs)


def test_a_closed_sandbox_says_so():
    box = open_sandbox("process")
    box.close()
    box.close()
    with pytest.raises(SandboxError):
        box.run(["true"])


def test_an_unknown_kind_is_refused():
    with pytest.raises(SetupProblem, match="bubblewrap, docker"):
        open_sandbox("submarine")


def test_auto_is_isolated():
    with open_sandbox() as box:
        assert box.kind == "bubblewrap"


@pytest.mark.slow
@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize("niceness", [0, 5])
def test_jobs_stand_back_as_far_as_they_are_told_to(kind: str, niceness: int) -> None:
    here = os.nice(0)
    with open_sandbox(must_be_there(kind), cells=1, limits=JobLimits(niceness=niceness)) as box:
        ran = box.run(["python", "-c", "import os; print(os.nice(0))"])
        graded = box.grade("import os", f"import os\nassert os.nice(0) == {min(19, here + niceness)}")
    assert ran.output.strip() == str(min(19, here + niceness))
    assert graded.all_passed


@pytest.mark.slow
@pytest.mark.parametrize("kind", ISOLATED)
def test_folders_are_seen_where_they_are_wanted_and_cannot_be_changed(kind: str, tmp_path: Path) -> None:
    for name in ("a project, with: odd name", "other"):
        (tmp_path / name).mkdir(mode=0o755)
        (tmp_path / name / "data.txt").write_text(name)
    folders = {str(tmp_path / "a project, with: odd name"): "/project", str(tmp_path / "other"): "/home/me/other"}
    with open_sandbox(must_be_there(kind), cells=1, folders=folders) as box:
        shown = box.run(["sh", "-c", "cat /project/data.txt /home/me/other/data.txt; touch /project/new /home/me/new"])
    assert shown.output.startswith("a project, with: odd nameother")
    assert shown.exit_code != 0
    assert not (tmp_path / "a project, with: odd name" / "new").exists()
