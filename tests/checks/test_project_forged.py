"""Code of a project that goes after the tests which share its process: what is noticed, and what is said."""

from pathlib import Path

import pytest

from burnish.checks.bench.check_context import CheckContext
from burnish.checks.tests import describe_sharing
from burnish.checks.verdict import judge_all
from burnish.report.check_report import render_json, render_markdown
from tests.checks.project_support import CODE, TEST, judged, made

WRONG = CODE.replace("n * 2", "0")
PATCHES = {
    "reports": (
        "import _pytest.reports as r\nmake = r.TestReport.from_item_and_call\n"
        "def always(item, call):\n    call.excinfo = None\n    return make(item, call)\n"
        "r.TestReport.from_item_and_call = staticmethod(always)\n"
    ),
    "calls": ("import _pytest.python as p\ndef run(self): pass\np.Function.runtest = run\n"),
    "the code of a function": (
        "import _pytest.python as p\np.Function.runtest.__code__ = (lambda self: None).__code__\n"
    ),
    "a builtin": "import builtins\nbuiltins.abs = lambda x: 0\n",
    "the reporter": (
        "import gc\nfor one in gc.get_objects():\n    if type(one).__name__ == 'Reporter':\n"
        "        said = one.tell\n"
        "        def tell(**fact):\n            if 'test' in fact: fact['test'].update(outcome='passed')\n"
        "            said(**fact)\n"
        "        one.tell = tell\n"
    ),
    "the reporter's class": (
        "import sys\nkind = sys.modules['burnish_suite_in_cell.reporter'].Reporter\n"
        "kind.pytest_runtest_logfinish = lambda self, nodeid: self.tell(test={'id': nodeid, 'outcome': 'passed'})\n"
    ),
}
PATCHES["what writes the answers"] = (
    "import json, os, sys\nplain = json.dumps\ndef dumps(fact, **more):\n"
    "    if 'test' in fact: fact['test'].update(outcome='passed')\n"
    "    return plain({'end': 0} if 'end' in fact else fact, **more)\n"
    "json.dumps = dumps\nsys.exit = lambda code: os._exit(0)\n"
)
CLOSE = "from code_ import double\n\n\ndef test_double():\n    assert abs(double(2) - 4) < 1\n"


@pytest.mark.slow
@pytest.mark.parametrize("patch", PATCHES.values(), ids=PATCHES.keys())
def test_code_that_changes_what_judges_it_has_failed(tmp_path: Path, patch: str) -> None:
    evidence = judged(made(tmp_path, {"code_.py": patch + WRONG, "tests/test_it.py": CLOSE}))
    assert evidence.verdict == "failed", evidence.why


HALF = CODE + "\n\ndef never(a):\n    if a:\n        return 1\n    return 2\n\n\n"
UNMEASURED = {
    "lines that coverage is told to leave out": (
        "import sys\nif 'coverage' in sys.modules:\n"
        "    sys.modules['coverage'].Coverage.current().exclude('def never')\n"
    ),
    "the text of its report": (
        "import json\nplain = json.loads\ndef loads(text, **more):\n    found = plain(text, **more)\n"
        "    for one in found['files'].values(): one.update(missing_lines=[], missing_branches=[])\n"
        "    return found\njson.loads = loads\n"
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("patch", UNMEASURED.values(), ids=UNMEASURED.keys())
def test_code_that_changes_what_measures_it_is_not_measured(tmp_path: Path, patch: str) -> None:
    project = made(tmp_path, {"code_.py": HALF + patch, "tests/test_it.py": TEST})
    with CheckContext(project) as context:
        checked = judge_all(project, context, ["coverage"])
    assert checked["coverage"].verdict == "not_run"
    assert not checked.passed


LIKE_ANY_OTHER = {
    "a test that patches and restores": (
        "from code_ import double\n\n\ndef test_it(monkeypatch):\n    monkeypatch.setattr('builtins.abs', len)\n"
        "    monkeypatch.setattr('_pytest.python.Function.runtest', None)\n    assert double(2) == 4\n"
    ),
    "another print": "import builtins\nfrom code_ import double\nbuiltins.print = lambda *a: None\n\n\n"
    "def test_it():\n    assert double(2) == 4\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("tests", LIKE_ANY_OTHER.values(), ids=LIKE_ANY_OTHER.keys())
def test_what_is_as_it_was_at_the_end_was_not_changed(tmp_path: Path, tests: str) -> None:
    evidence = judged(made(tmp_path, {"tests/test_it.py": tests}))
    assert evidence.verdict == "passed", evidence.why


@pytest.mark.slow
def test_that_tests_share_a_process_with_the_code_is_said_in_every_report(tmp_path: Path) -> None:
    project = made(tmp_path, {"tests/test_it.py": TEST})
    with CheckContext(project) as context:
        checked = judge_all(project, context, ["tests"])
    assert checked.passed
    assert checked["tests"].details["shared"] == 1
    answer, headline = describe_sharing(1, 1), describe_sharing(1, 1, "the tests")
    assert answer in checked["tests"].why
    assert headline in render_markdown(checked).partition("\n")[0]
    assert [render_json(checked).count(said) for said in (answer, headline)] == [1, 1]
