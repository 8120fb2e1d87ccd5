"""Pages that are made from code say what the code says."""

from tests import help_page
from tests.support import ROOT


def test_the_page_of_commands_is_what_the_commands_say() -> None:
    told = (ROOT / "docs" / "commands.md").read_text("utf-8")
    assert told == help_page.page(), "write it anew: python -m tests.help_page > docs/commands.md"
