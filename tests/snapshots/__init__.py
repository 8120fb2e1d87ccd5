"""Sentences that people read, kept in one text file per area so that they are easy to read, reword and renew.

A test asserts on data wherever there is data. Where the sentence itself is the behaviour, it is compared with its
section in `tests/snapshots/AREA.txt`. After rewording, renew them and look at the diff:

    BURNISH_SNAPSHOTS=renew python -m pytest -p no:xdist tests/…
"""

import os
import re
from pathlib import Path

FOLDER = Path(__file__).parent
HEAD = re.compile(r"^=== (.+)\n", re.MULTILINE)


def assert_snapshot(text: str, name: str, **varying: object) -> None:
    """Assert that a text is the one kept as "AREA/NAME"; a varying value in it, such as a folder, stands as <KEYWORD>.

    With BURNISH_SNAPSHOTS=renew the text is written down instead.
    """
    for keyword, value in varying.items():
        text = text.replace(str(value), f"<{keyword}>")
    text = "\n".join(line.rstrip() for line in text.strip("\n").splitlines())
    area, _, key = name.partition("/")
    file = FOLDER / f"{area}.txt"
    kept = read_snapshots(file)
    if os.environ.get("BURNISH_SNAPSHOTS") == "renew":
        kept[key] = text
        file.write_text("\n".join(f"=== {name}\n{kept[name]}\n" for name in sorted(kept)))
    assert key in kept, f"No snapshot {name} yet: run this test with BURNISH_SNAPSHOTS=renew and read what it wrote."
    assert text == kept[key]


def read_snapshots(file: Path) -> dict[str, str]:
    """The texts in one file by their names."""
    parts = HEAD.split(file.read_text()) if file.exists() else [""]
    return {name: text.strip("\n") for name, text in zip(parts[1::2], parts[2::2], strict=True)}
