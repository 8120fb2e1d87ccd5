"""How pip is spoken to."""

import pytest

from burnish.packages.bounds import Fetching
from burnish.packages.pip import _heard


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("  Downloading apple-1.0-py3-none-any.whl (12 kB)\n", ["Downloading apple-1.0-py3-none-any.whl (12 kB)"]),
        ("Downloading https://u:p@192.0.2.1/x/apple-1.0-py3-none-any.whl", ["Downloading apple-1.0-py3-none-any.whl"]),
        ("Downloading apple-1.0-py3-none-any.whl.metadata (2 kB)", []),
        ("Collecting apple", []),
    ],
)
def test_what_comes_down_the_wire_is_told_without_its_address(line: str, told: list[str]) -> None:
    heard: list[str] = []
    assert _heard(line, heard.append, Fetching()) == line
    assert heard == told
