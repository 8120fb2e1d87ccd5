"""Pages that are made from code say what the code says."""

from pathlib import Path

from burnish.pages.rubric import load_case
from tests import help_page
from tests.support import ROOT
from tests.test_readme import blocks


def test_the_page_of_commands_is_what_the_commands_say() -> None:
    told = (ROOT / "docs" / "commands.md").read_text("utf-8")
    assert told == help_page.page(), "write it anew: python -m tests.help_page > docs/commands.md"


def test_the_rubric_that_is_shown_can_be_loaded(tmp_path: Path) -> None:
    (rubric,) = blocks((ROOT / "docs" / "pages.md").read_text("utf-8"), "toml")
    (tmp_path / "case.toml").write_text(rubric)
    assert [one.by for one in load_case(str(tmp_path)).criteria] == ["probe", "person"]
