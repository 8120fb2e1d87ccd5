"""The reports: one page to read without a network, one file for machines, and nobody's text is markup."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from burnish.checks.check import Finding
from burnish.checks.project import CHECKS, Settings
from burnish.checks.verdict import CheckResults, ProjectSummary
from burnish.errors import SetupProblem
from burnish.events import Evidence, Outcome
from burnish.report import check_report
from burnish.report.check_page import MOST_FILES, MOST_LINES, read_marked_files, render_page, write_reports
from burnish.report.check_report import render_json, render_markdown
from tests.checks.stand_ins import checked, made, said
from tests.snapshots import assert_snapshot

DIFF = "--- a/code.py\n+++ b/code.py\n@@ -1,2 +1,2 @@\n def f():\n-    return a < b\n+    return a <= b\n"


def found(check: str, verdict: Outcome, *findings: Finding, **details: object) -> Evidence:
    return said(check, verdict, details={"findings": [one.model_dump() for one in findings], **details})


class Page(HTMLParser):
    """The tags and addresses of a page, and whether every tag that is opened is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "srcset", "action", "data")]
        assert not [name for name, _ in attrs if name.startswith("on")]
        if tag not in ("meta", "br"):
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag


SOME = checked(
    found(
        "tests",
        "failed",
        Finding(file="test_code.py", what="test_f failed: no", rule="failed"),
        tests=[{"id": "test_f", "outcome": "failed", "seconds": 0.25, "message": "no"}],
    ),
    found("coverage", "failed", files=[{"file": "code.py", "percent": 50.0, "missing": [2]}]),
    found("mutation", "failed", Finding(file="code.py", line=2, what="a change", diff=DIFF)),
    found("security", "passed", Finding(file="code.py", line=1, what="a shell", rule="B602", severity="high")),
    said("dependencies", "not_run"),
    required=("tests", "coverage"),
)


def test_the_page_stands_alone_and_needs_no_script() -> None:
    page = Page(render_page(SOME, {"code.py": "def f():\n    return a < b\n"}))
    assert not {"script", "link", "img", "iframe", "object", "form"} & set(page.tags)
    assert set(page.addresses) <= {f"#{name}" for name in CHECKS}


def test_every_check_has_a_row_with_a_word_a_symbol_and_a_plain_explanation() -> None:
    every = checked(*(said(name, "failed" if name == "tests" else "passed") for name in CHECKS))
    text = render_page(every, {})
    for name in CHECKS:
        assert check_report.MEANING[name].split(":")[0].replace("'", "&#x27;") in text
    assert text.count("<em>passed</em>") == 6
    assert text.count(">✓<") == 6


def test_changes_that_nobody_could_notice_are_shown_apart() -> None:
    same = Finding(file="code.py", line=2, what="No input tells it from the code when `<` becomes `<=`")
    page = render_page(checked(found("mutation", "passed", equivalents=[same.model_dump()], inputs=212)), {})
    assert "1 more behaves the same on 212 inputs and does not count" in page
    assert "`&lt;` becomes `&lt;=`" in page
    assert "do not count" not in render_page(SOME, {})


HEADLINES: list[tuple[dict[str, Outcome], tuple[str, ...]]] = [
    ({"tests": "passed"}, ("tests",)),
    ({"tests": "passed", "quality": "failed"}, ("tests",)),
    ({"tests": "failed", "quality": "failed"}, ("tests", "quality")),
    ({"tests": "failed", "quality": "not_run"}, ("tests", "quality")),
    ({}, ("tests",)),
    ({"tests": "failed"}, ()),
]


def test_the_headline_says_what_happened() -> None:
    lines = []
    for verdicts, required in HEADLINES:
        judged = checked(*(said(name, verdict) for name, verdict in verdicts.items()), required=required)
        lines.append(f"{verdicts}, required {required}: {check_report.render_headline(judged)}")
    assert_snapshot("\n".join(lines), "report/headlines")


def test_what_a_project_has_set_itself_is_said_to_be_its_own_word() -> None:
    lenient = Settings(required=(), coverage=1.0, network=True)
    summary = ProjectSummary(name="toy", sources=("code.py",), tests=(), settings=lenient)
    judged = CheckResults(project=summary, required=(), evidence=(said("tests"),), seconds={"tests": 0.5})
    (remark,) = check_report.list_remarks(judged)
    for part in ("required = []", "coverage = 1.0", "network = true"):
        assert part in remark
    assert_snapshot(remark, "report/what a project has set")
    assert not list(check_report.list_remarks(checked(said("tests"))))


def test_optional_checks_that_did_not_pass_are_remarked_on() -> None:
    made_up = checked(said("tests"), said("quality", "failed"), said("performance", "not_run"))
    assert_snapshot("\n".join(check_report.list_remarks(made_up)), "report/remarks")


def test_code_is_shown_with_findings_at_their_lines_and_uncovered_lines_marked() -> None:
    text = render_page(SOME, {"code.py": "def f():\n    return a < b\n"})
    assert re.search(
        r'<div class="line missed noted"><b>2</b><i [^>]*>not run</i><code>    return a &lt; b</code>', text
    )
    assert text.index("<b>1</b>") < text.index("B602</span> a shell") < text.index("<b>2</b><i title")


def test_surviving_mutants_are_diffs() -> None:
    text = render_page(SOME, {})
    lines = {"out": "-    return a &lt; b", "in": "+    return a &lt;= b"}
    assert "".join(f'<div translate="no" class="{kind}">{line}</div>' for kind, line in lines.items()) in text


def test_failed_tests_come_with_their_message_and_time() -> None:
    text = render_page(SOME, {})
    assert re.search(r"test_f</span><pre>no</pre></td><td><span class=\"bad\">✗ failed</span></td><td[^>]*>0.250", text)


def test_only_marked_files_inside_the_project_are_shown_and_not_without_end(tmp_path: Path) -> None:
    project = made(tmp_path / "project")
    (tmp_path / "secret.py").write_text("SECRET")
    for number in range(MOST_FILES + 10):
        (project.root / f"m{number}.py").write_text("x = 1\n")
    files = [f"m{number}.py" for number in range(MOST_FILES + 10)] + ["../secret.py", "/etc/passwd", "gone.py"]
    many = checked(found("security", "failed", *(Finding(file=name, line=1, what="x") for name in files)))
    texts = read_marked_files(many, project)
    assert len(texts) <= MOST_FILES
    assert not {"../secret.py", "/etc/passwd", "gone.py", "code.py"} & texts.keys()
    assert f"{len(files) - len(texts)} more" in render_page(many, texts)


def test_a_long_file_is_shown_around_its_marks() -> None:
    long = "\n".join(f"x{number} = {number}" for number in range(1, 5 * MOST_LINES))
    one = checked(found("security", "failed", Finding(file="long.py", line=1000, what="here")))
    text = render_page(one, {"long.py": long})
    assert "x996 = 996" in text
    assert "x1004 = 1004" in text
    assert "x900 =" not in text
    assert text.count('class="gap"') == 2


def test_details_of_another_form_do_not_break_the_page() -> None:
    odd: list[object] = [None, 3, "text", [1, None, "x"], {"a": 1}, [{}], {"a": {}}, {"a": {"missing": "x"}}]
    keys = (
        "tests",
        "flaky",
        "printed",
        "files",
        "parts",
        "packages",
        "functions",
        "findings",
        "not_known",
        "points",
        "duplicates",
    )
    for value in odd:
        details = dict.fromkeys(keys, value)
        Page(render_page(checked(*(said(name, details=details) for name in CHECKS)), {}))


def test_the_data_is_versioned_and_the_same_for_the_same_answers() -> None:
    data = json.loads(render_json(SOME))
    assert (data["version"], data["passed"]) == (1, False)
    assert [item["check"] for item in data["evidence"]] == [item.check for item in SOME.evidence]
    assert render_json(SOME) == render_json(CheckResults.model_validate(SOME.model_dump()))
    assert "bugs" not in data


def test_the_data_can_be_read_back() -> None:
    data = json.loads(render_json(SOME))
    assert CheckResults.model_validate({k: v for k, v in data.items() if k not in ("passed", "headline")}) == SOME


def test_the_text_has_the_same_table() -> None:
    text = render_markdown(SOME)
    assert "| tests | failed |" in text
    assert "| security | passed (not required) |" in text
    assert "```diff" in text


def test_reports_replace_themselves_and_touch_nothing_else(tmp_path: Path) -> None:
    project = made(tmp_path / "project")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    for _ in range(2):
        write_reports(SOME, project, tmp_path / "out")
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["mine.txt", "report.html", "report.json", "report.md"]


def test_a_place_that_cannot_be_written_is_the_users_to_change(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SetupProblem, match="--out DIR$"):
        write_reports(SOME, made(tmp_path / "project"), tmp_path / "file")
