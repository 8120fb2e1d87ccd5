"""The quality check: worsened code loses, layout does not matter, and a tool that broke is not a pass."""

import ast
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from burnish.checks.quality import QualityCheck
from burnish.checks.quality.check import IGNORE, OPTIONS, SELECT, WEIGHTS
from burnish.errors import CheckError
from burnish.events import Evidence
from tests.checks.static_support import SAMPLES, BrokenContext, findings, judged, project_in, sample
from tests.snapshots import assert_snapshot
from tests.support import ROOT

CLEAN = (SAMPLES / "clean.py.txt").read_text()
SLOPPY = (SAMPLES / "sloppy.py.txt").read_text()
Files = dict[str, str]


def judge(folder: Path, files: Files, **settings: object) -> Evidence:
    return judged(QualityCheck(), project_in(folder, files, **settings))


def score(evidence: Evidence) -> float:
    found = evidence.details["score"]
    assert isinstance(found, float)
    return found


def part(evidence: Evidence, name: str) -> float:
    parts = evidence.details["parts"]
    assert isinstance(parts, dict)
    return float(parts[name]["score"])


def formatted(files: Files, *options: str) -> Files:
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--no-cache", *options, "-"]
    return {
        n: subprocess.run(command, input=t, capture_output=True, text=True, check=True).stdout for n, t in files.items()
    }


def test_a_clean_typed_documented_module_scores_high(tmp_path: Path) -> None:
    evidence = judge(tmp_path, {"leap.py": CLEAN})
    assert (evidence.verdict, evidence.threshold) == ("passed", "at least 60")
    assert score(evidence) >= 95
    assert findings(evidence) == []


def test_a_sloppy_function_fails_and_the_weakest_part_is_named(tmp_path: Path) -> None:
    evidence = judge(tmp_path, {"sloppy.py": SLOPPY})
    assert evidence.verdict == "failed"
    assert score(evidence) <= 50
    assert evidence.figure == f"{score(evidence):g} of 100"
    assert "lint" in evidence.why
    rules = {str(finding["rule"]) for finding in findings(evidence)}
    assert {"E722", "B006", "E711", "F401", "F841", "types", "docstring", "dead-code"} <= rules


def test_the_parts_are_shown_and_add_up(tmp_path: Path) -> None:
    evidence = judge(tmp_path, sample("library"))
    parts = evidence.details["parts"]
    assert isinstance(parts, dict)
    assert {name: one["weight"] for name, one in parts.items()} == WEIGHTS
    assert sum(WEIGHTS.values()) == 100
    mean = sum(one["score"] * one["weight"] for one in parts.values()) / 100
    assert score(evidence) == pytest.approx(mean, abs=0.1)
    assert all(one["why"] for one in parts.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["library", "sloppy", "vulnerable"])
def test_reformatting_does_not_move_the_score(tmp_path: Path, name: str) -> None:
    files = sample(name) or {"app.py": SLOPPY}
    before = judge(tmp_path, files)
    copies = [
        formatted(
            files, "--line-length", "40", "--config", "format.quote-style='single'", "--config", "indent-width=2"
        ),
        formatted(files, "--line-length", "300"),
        {file: ast.unparse(ast.parse(text)) for file, text in files.items()},
        {file: "# a comment\n\n\n" + text.replace("\n", "\n\n").replace("    ", "\t") for file, text in files.items()},
    ]
    for number, copy in enumerate(copies):
        after = judge(tmp_path / str(number), copy)
        assert after.details["parts"] == before.details["parts"]
        assert len(findings(after)) == len(findings(before))


def without_docstrings_and_types(files: Files) -> Files:
    stripped = {}
    for file, text in files.items():
        tree = ast.parse(text)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                node.returns = None
                for argument in node.args.args:
                    argument.annotation = None
                node.body = node.body[1:] if ast.get_docstring(node) else node.body
        stripped[file] = ast.unparse(tree)
    return stripped


def with_a_copy(files: Files) -> Files:
    renamed = files["inventory.py"].replace("orders", "result").replace("lacking", "short").replace("name", "key")
    return files | {"stock.py": renamed}


def with_a_maze(files: Files) -> Files:
    branches = "".join(f"    if value == {n} and limit > {n}:\n        value += limit\n" for n in range(14))
    maze = f'\n\ndef maze(value: int, limit: int) -> int:\n    """Find a way."""\n{branches}    return value\n'
    return files | {"report.py": files["report.py"] + maze}


def with_dead_code(files: Files) -> Files:
    dead = "\n\ndef _old(x):\n    y = x\n    if y:\n        return _old(y - 1)\n    return y\n    y = 3\n"
    return files | {"report.py": "import os\nimport sys\n" + files["report.py"] + dead}


def with_traps(files: Files) -> Files:
    head = '\n\ndef trap(x: int, seen: list[int] = []) -> int:\n    """Fall in."""\n    try:\n'
    body = "        return undefined(x == None)\n    except:\n        pass\n"
    return files | {"report.py": files["report.py"] + head + body}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("worsen", "parts"),
    [
        (without_docstrings_and_types, ("types", "docstrings")),
        (with_a_copy, ("duplication",)),
        (with_a_maze, ("complexity",)),
        (with_dead_code, ("dead code",)),
        (with_traps, ("lint",)),
    ],
)
def test_worsened_code_loses_where_it_was_worsened(
    tmp_path: Path, worsen: Callable[[Files], Files], parts: tuple[str, ...]
) -> None:
    before, after = judge(tmp_path / "a", sample("library")), judge(tmp_path / "b", worsen(sample("library")))
    assert score(after) < score(before) - 1.5
    for name in parts:
        assert part(after, name) < part(before, name) - 20


def test_ruff_alone_has_the_same_findings(tmp_path: Path) -> None:
    evidence = judge(tmp_path, sample("vulnerable") | {"sloppy.py": SLOPPY})
    command = [sys.executable, "-m", "ruff", *OPTIONS, "."]
    alone = json.loads(subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stdout)
    theirs = sorted((str(Path(m["filename"]).relative_to(tmp_path)), m["location"]["row"], m["code"]) for m in alone)
    ours = sorted((str(f["file"]), f["line"], f["rule"]) for f in findings(evidence) if str(f["rule"])[0].isupper())
    assert ours == theirs
    assert len(theirs) > 10


def test_the_projects_own_configuration_of_ruff_has_no_say(tmp_path: Path) -> None:
    plain = judge(tmp_path / "a", {"sloppy.py": SLOPPY})
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "ruff.toml").write_text('exclude = ["*.py"]\n[lint]\nselect = []\n')
    excused = SLOPPY.replace("except:", "except:  # noqa")
    assert score(judge(tmp_path / "b", {"sloppy.py": excused})) == score(plain)


@pytest.mark.parametrize("said", ["", "error: panicked", "{}", '[{"code": 1}]'])
def test_a_linter_that_did_not_answer_is_not_a_pass(tmp_path: Path, said: str) -> None:
    project = project_in(tmp_path, {"leap.py": CLEAN})
    with BrokenContext(project, said) as context, pytest.raises(CheckError, match="ruff"):
        QualityCheck().judge(project, context)


@pytest.mark.parametrize("text", ["def f(:\n", "x = 1\x00", "x = " + "(" * 5000])
def test_a_file_that_does_not_parse_is_named(tmp_path: Path, text: str) -> None:
    with pytest.raises(CheckError, match=r"odd\.py"):
        judge(tmp_path, {"good.py": CLEAN, "odd.py": text})


@pytest.mark.parametrize("value", ["+".join(["x"] * 600), "+".join(["x"] * 3000), "0x" + "f" * 5000])
def test_code_that_cannot_be_walked_through_is_not_a_pass(tmp_path: Path, value: str) -> None:
    with pytest.raises(CheckError, match=r"^odd\.py"):
        judge(tmp_path, {"odd.py": f"def f(x):\n    return {value}\n"})


@pytest.mark.parametrize("files", [{}, {"a.py": ""}, {"a.py": "# nothing\n"}, {"a.py": '"""Only words."""\n'}])
def test_no_code_is_not_a_pass(tmp_path: Path, files: Files) -> None:
    with pytest.raises(CheckError) as caught:
        judge(tmp_path, files)
    assert_snapshot(str(caught.value), "quality/no code")


def test_an_empty_file_beside_others_changes_nothing(tmp_path: Path) -> None:
    alone = judge(tmp_path / "a", {"leap.py": CLEAN})
    assert judge(tmp_path / "b", {"leap.py": CLEAN, "__init__.py": ""}).details["parts"] == alone.details["parts"]


def test_code_without_functions_is_judged_by_the_other_parts(tmp_path: Path) -> None:
    evidence = judge(tmp_path, {"settings.py": "WIDTH = 3\nHEIGHT = 4\n"})
    parts = evidence.details["parts"]
    assert isinstance(parts, dict)
    assert [name for name, one in parts.items() if one["score"] is None] == ["complexity", "types", "docstrings"]
    assert score(evidence) == 100


def test_the_threshold_of_the_settings_decides(tmp_path: Path) -> None:
    assert judge(tmp_path, {"sloppy.py": SLOPPY}, quality=0).verdict == "passed"
    assert judge(tmp_path, {"leap.py": CLEAN.replace(": int", "")}, quality=99).verdict == "failed"


def test_names_that_are_reached_in_other_ways_are_not_called_dead(tmp_path: Path) -> None:
    code = '''
"""Ways to be used."""
import atexit
__all__ = ["_listed"]
def _listed() -> None: ...
def _called_elsewhere() -> None: ...
@atexit.register
def _registered() -> None: ...
class Screen:
    """Shows."""
    def show(self, kind: str) -> None:
        """By kind."""
        getattr(self, f"_{kind}")()
    def _page(self) -> None: ...
def _quoted(x: "_Later") -> None: ...
class _Later: ...
_quoted(_Later())
def empty():
    return
    yield
'''
    evidence = judge(tmp_path, {"a.py": code, "b.py": "from a import _called_elsewhere\n_called_elsewhere()\n"})
    assert [finding for finding in findings(evidence) if finding["rule"] == "dead-code"] == []


def test_hostile_text_in_names_and_strings_stays_text(tmp_path: Path) -> None:
    code = '[red]x = "[/]</script>\\x1b[31m"\n'.replace("[red]x", "x") + 'def Δ_функция(a):\n    return "<b>" * a\n'
    evidence = judge(tmp_path, {"[bold]<b>.py": code, "-rf.py": code})
    assert evidence.verdict in ("passed", "failed")
    assert {finding["file"] for finding in findings(evidence)} == {"[bold]<b>.py", "-rf.py"}


@pytest.mark.slow
def test_five_thousand_lines_take_a_few_seconds(tmp_path: Path) -> None:
    function = sample("library")["report.py"].partition("\n\n\n")[2]
    code = "import statistics\n\n\n" + "\n\n".join(function.replace("def ", f"def n{n}_") for n in range(220))
    assert code.count("\n") > 5000
    started = time.monotonic()
    evidence = judge(tmp_path, {"long.py": code})
    assert time.monotonic() - started < 30
    assert part(evidence, "duplication") < 60


def test_the_page_about_checks_names_the_rules_and_the_weights() -> None:
    page = (ROOT / "docs" / "checks.md").read_text("utf-8")
    flat = " ".join(page.split())
    assert f"select {', '.join(SELECT)} ignore {', '.join(IGNORE)}" in flat
    assert all(f"| {name} | {weight} |" in page for name, weight in WEIGHTS.items())
