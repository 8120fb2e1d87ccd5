"""Stories of `burnish fix`: a file with a bug in a real project, from the question to the file in its place."""

import json
import sys
from pathlib import Path

import pytest

from burnish import Limits, ScriptedModel, SetupProblem, fix
from burnish.commands.apply import diff_of
from burnish.events import Applied, Refused
from tests.checks.project_support import python_outside_only
from tests.checks.shop import CART, ELSEWHERE, FIXED, shop
from tests.support import block, burnish, plan_for

ANSWER = block("    def total(self, tax=0.0):\n        return rounded(sum(self.prices) * (1.0 + tax))")
WRONG = block("def total(self, tax=0.0):\n    return 7")
WEIRD = "I am sorry, I cannot help with carts."
LOOP = CART[CART.index("        result = 1.0\n") : CART.index("\n\n\ndef count") + 1]
FAR = CART.replace(LOOP, "        return rounded(len(self.prices))\n")
"""A bug that no small edit mends."""


def model(*answers: str) -> ScriptedModel:
    return ScriptedModel({"": list(answers), "tests": [block("assert Cart([]).total() == 0")]})


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return shop(tmp_path / "shop")


@pytest.fixture
def far(tmp_path: Path) -> Path:
    return shop(tmp_path / "shop", {"shop/cart.py": FAR})


@pytest.mark.slow
def test_a_small_slip_is_mended_without_the_model_and_the_change_is_one_line(project, store):
    answering = model(WRONG)
    run = fix(project / "shop/cart.py", answering, store=store)
    assert run.verdict in ("proven", "plausible"), run.why
    changed = [line for line in diff_of(run).splitlines() if line[0] in "+-" and line[:3] not in ("+++", "---")]
    assert len(changed) == 2
    assert (project / "shop/cart.py").read_text() == CART, "nothing is written without being asked"


@pytest.mark.slow
def test_the_broken_method_is_found_repaired_and_put_in_place(far, store):
    project, file = far, far / "shop/cart.py"
    run = fix(file, model(WEIRD, WRONG, ANSWER), apply=True, store=store)
    assert run.verdict in ("proven", "plausible"), run.why
    assert run.started.verb == "fix"
    before, _, rest = FAR.partition("        return rounded(len(self.prices))\n")
    assert file.read_text() == before + "        return rounded(sum(self.prices) * (1.0 + tax))\n" + rest
    written = run.last(Applied)
    assert written is not None
    assert Path(written.backup).read_text() == FAR
    assert (project / "tests/test_cart.py").read_text().endswith('assert "the bug" == "elsewhere"\n')
    assert run.started.settings["fix"]["aside"] == [ELSEWHERE]  # type: ignore[index,call-overload]


@pytest.mark.slow
def test_a_model_that_is_never_right_leaves_the_file_alone(far, store):
    answers = [block(f"def total(self, tax=0.0):\n    return self.prices[{n}] * 100") for n in range(3)]
    run = fix(far / "shop/cart.py", model(*answers), apply=True, store=store, limits=Limits(rounds=1, calls=4))
    assert run.verdict == "failed", run.why
    assert (far / "shop/cart.py").read_text() == FAR
    assert not list(far.rglob("*.orig"))


@pytest.mark.slow
def test_the_command_shows_a_diff_and_the_line_that_applies_it(far):
    project = far
    script = project.parent / "script.json"
    script.write_text(json.dumps({"": [ANSWER]}))
    done = burnish("fix", "shop/cart.py", "--model", f"scripted:{script}", cwd=project)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "-        return rounded(len(self.prices))" in done.stdout
    assert "left aside" in done.stdout
    line = next(line for line in done.stdout.splitlines() if "burnish apply" in line)
    assert (project / "shop/cart.py").read_text() == FAR
    applied = burnish(*line.split()[-2:], cwd=project)
    assert applied.returncode == 0, applied.stderr
    assert "sum(self.prices)" in (project / "shop/cart.py").read_text()
    again = burnish(*line.split()[-2:], cwd=project)
    assert again.returncode == 2
    assert "already" in again.stderr


@pytest.mark.slow
def test_nothing_to_fix_is_said_plainly_and_asks_nobody(project, store):
    (project / "shop/cart.py").write_text(FIXED)
    (project / "tests/test_cart.py").write_text(
        "from shop.cart import Cart\n\ndef test_it():\n    assert Cart([1]).total() == 1\n"
    )
    answering = model(ANSWER)
    run = fix(project / "shop/cart.py", answering, store=store)
    assert run.verdict == "proven"
    assert "nothing to fix" in run.why
    assert not answering.asked
    assert diff_of(run) == ""


def test_a_file_with_no_test_no_example_and_no_spec_says_what_is_missing(tmp_path):
    (tmp_path / "lone.py").write_text("def f(n):\n    return n\n")
    with pytest.raises(SetupProblem, match="nothing says what is wrong"):
        plan_for(tmp_path / "lone.py")


@pytest.mark.slow
def test_tests_that_never_started_are_not_taken_for_none(project, tmp_path):
    with pytest.raises(SetupProblem, match="could not be run: the tests did not start"):
        plan_for(project / "shop/cart.py", python=python_outside_only(tmp_path / "environment"))


@pytest.mark.slow
def test_tests_that_hang_when_they_are_collected_are_not_taken_for_none(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.burnish]\ntest_seconds = 2\n")
    (tmp_path / "one.py").write_text("def one():\n    return 1\n")
    (tmp_path / "test_one.py").write_text("while True:\n    pass\n")
    with pytest.raises(SetupProblem, match="could not be run: the time limit was reached"):
        plan_for(tmp_path / "one.py")


@pytest.mark.slow
def test_where_only_examples_in_a_docstring_fail_their_function_is_the_one(tmp_path):
    text = (
        'def a(n):\n    """Gives a(1) == 1."""\n    return n\n\n\ndef b(n):\n    """Gives b(2) == 4."""\n    return n\n'
    )
    (tmp_path / "two.py").write_text(text)
    plan = plan_for(tmp_path / "two.py")
    assert plan.task.entry_point == "b"
    assert plan.task.visible_tests == ("assert b(2) == 4",)
    assert not plan.nothing


@pytest.mark.slow
def test_tests_that_fail_elsewhere_only_are_named(project):
    (project / "shop/cart.py").write_text(FIXED)
    with pytest.raises(SetupProblem, match=r"1 test fails: tests.*no function of shop/cart\.py was seen to run"):
        plan_for(project / "shop/cart.py")


def lacking(tmp_path: Path, module: str) -> Path:
    """A file that imports a module, and its test."""
    (tmp_path / "s.py").write_text(f"import {module}\n\n\ndef one():\n    return 2\n")
    (tmp_path / "test_s.py").write_text("from s import one\n\n\ndef test_one():\n    assert one() == 1\n")
    return tmp_path / "s.py"


@pytest.mark.slow
def test_a_package_that_is_not_there_is_named_with_what_to_type(tmp_path, monkeypatch):
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    with pytest.raises(SetupProblem, match="cannot be run: scipy is not installed") as refused:
        plan_for(lacking(tmp_path, "scipy"))
    assert str(refused.value).endswith("Type: burnish fix s.py --with scipy")
    with pytest.raises(SetupProblem) as refused:
        plan_for(tmp_path / "s.py", python=sys.executable)
    assert str(refused.value).endswith(f"Type: {sys.executable} -m pip install scipy")


@pytest.mark.slow
def test_a_module_that_nobody_knows_is_no_package_to_install(tmp_path):
    with pytest.raises(SetupProblem, match="No module named 'no_such_module_here'. Have the file found") as refused:
        plan_for(lacking(tmp_path, "no_such_module_here"))
    assert "--with" not in str(refused.value)


@pytest.mark.slow
def test_a_file_that_does_not_parse_is_planned_for_with_the_files_that_import_it(project):
    (project / "shop/cart.py").write_text(CART.replace("def count(cart):", "def count(cart:"))
    plan = plan_for(project / "shop/cart.py")
    assert plan.task.entry_point == "count"
    assert "tests/test_cart.py" in plan.task.project_tests


@pytest.mark.slow
def test_named_tests_and_a_named_function_are_taken_at_their_word(project):
    plan = plan_for(
        project / "shop/cart.py", tests=[f"{project}/tests/test_cart.py::test_total"], function="Cart.total"
    )
    assert plan.task.project_tests == ("tests/test_cart.py::test_total",)
    with pytest.raises(SetupProblem, match=r"Cart\.total"):
        plan_for(project / "shop/cart.py", function="Cart.totl")


@pytest.mark.slow
def test_a_file_in_which_pytest_finds_a_test_is_never_repaired_whatever_it_is_called(tmp_path):
    hook = (
        "import pytest\n\n\ndef pytest_collect_file(file_path, parent):\n"
        "    if file_path.stem == 'verify':\n        return pytest.Module.from_parent(parent, path=file_path)\n"
    )
    project = shop(tmp_path, {"conftest.py": hook, "shop/verify.py": "def test_cart():\n    assert False\n"})
    with pytest.raises(SetupProblem, match=r"shop/verify\.py holds a test \(test_cart\)"):
        plan_for(project / "shop/verify.py", tests=[project / "shop"])


@pytest.mark.slow
def test_examples_that_contradict_each_other_are_refused(project):
    with pytest.raises(SetupProblem, match="contradict each other"):
        plan_for(project / "shop/cart.py", function="count", spec="count(1) == 2, and count(1) == 3")


@pytest.mark.slow
def test_a_limit_of_zero_asks_nobody_and_changes_nothing(far, store):
    answering = model(ANSWER)
    run = fix(far / "shop/cart.py", answering, store=store, limits=Limits(calls=0), apply=True)
    assert not answering.asked
    assert run.verdict == "failed"
    assert (far / "shop/cart.py").read_text() == FAR


@pytest.mark.slow
def test_a_file_that_does_not_parse_is_repaired(project, store):
    file = project / "shop/cart.py"
    file.write_text(FIXED.replace("def count(cart):", "def count(cart:"))
    (project / "tests/test_cart.py").write_text(
        "from shop.cart import count\n\ndef test_it():\n    assert count(0) == 0\n"
    )
    run = fix(file, model(block("def count(cart):\n    return cart")), apply=True, store=store)
    assert run.verdict in ("proven", "plausible"), run.why
    assert file.read_text() == FIXED.replace("return len(cart.prices)", "return cart")


@pytest.mark.slow
def test_a_file_that_changes_while_the_model_thinks_is_not_overwritten(far, store):
    file = far / "shop/cart.py"

    class Slow(ScriptedModel):
        def stream(self, ask, cancel):  # type: ignore[no-untyped-def]
            file.write_text(FAR + "\n# mine\n")
            return super().stream(ask, cancel)

    with pytest.raises(SetupProblem, match=r"has changed on disk.*fix\.diff"):
        fix(file, Slow({"": [ANSWER]}), apply=True, store=store)
    assert file.read_text() == FAR + "\n# mine\n"


@pytest.mark.slow
@pytest.mark.parametrize("weakened", ["tests/test_cart.py", "tests/conftest.py"])
def test_tests_that_are_weakened_during_the_run_prove_nothing(far, store, weakened):
    class Weakening(ScriptedModel):
        def stream(self, ask, cancel):  # type: ignore[no-untyped-def]
            text = "".join(f"def test_{name}(*_):\n    pass\n\n" for name in ("total", "count", "elsewhere"))
            hook = "def pytest_runtest_call(item):\n    item.obj = lambda **_: None\n"
            (far / weakened).write_text(hook if "conftest" in weakened else text + "def test_tax():\n    pass\n")
            return super().stream(ask, cancel)

    run = fix(far / "shop/cart.py", Weakening({"": [WRONG]}), store=store, limits=Limits(rounds=0, calls=1))
    assert run.verdict == "failed"
    assert f"not those that were accepted ({weakened} changed)" in run.why
    assert run.all(Refused)


PEEK = """def total(self, tax=0.0):
    import sys
    frame = sys._getframe(1)
    lines = open(frame.f_code.co_filename).read().splitlines() if frame.f_code.co_filename.endswith("py") else [""]
    text = lines[frame.f_lineno - 1].partition("== ")[2]
    return eval(text, dict(frame.f_locals)) if text else 3.0
"""
EQUAL = """def total(self, tax=0.0):
    class Any(float):
        def __eq__(self, other):
            return True
    return Any(3.0)
"""


@pytest.mark.slow
@pytest.mark.parametrize("cheat", [PEEK, EQUAL], ids=["the test's frame", "an object equal to all"])
def test_a_repair_that_reaches_for_its_tests_is_not_proven_and_its_findings_are_data(far, store, cheat):
    run = fix(far / "shop/cart.py", model(block(cheat)), store=store, limits=Limits(rounds=0, calls=2))
    assert run.verdict in ("proven", "plausible"), run.why
    [tests] = [item for item in run.evidence if item.check == "tests"]
    found = tests.details["findings"]
    assert isinstance(found, list)
    assert {one["rule"] for one in found} == {"reaches-for-tests"}


@pytest.mark.slow
def test_a_repair_that_declares_its_tests_expected_failures_has_failed(far, store):
    leave = "def total(self, tax=0.0):\n    import pytest\n    pytest.xfail('known')"
    run = fix(far / "shop/cart.py", model(block(leave)), store=store, limits=Limits(rounds=0, calls=2))
    assert run.verdict == "failed", run.why


@pytest.mark.slow
def test_an_honest_repair_says_that_its_tests_shared_a_process_with_it(far, store):
    run = fix(far / "shop/cart.py", model(ANSWER), store=store)
    [tests] = [item for item in run.evidence if item.check == "tests"]
    assert run.verdict in ("proven", "plausible"), run.why
    assert (tests.details["separated"], tests.details.get("findings", [])) == (False, [])
    assert "shared a process with the code" in run.why
