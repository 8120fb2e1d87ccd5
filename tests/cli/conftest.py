"""The command line without the second that a new process costs: `main` itself, with its exit code and its words."""

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from burnish.cli.main import main


class Told(NamedTuple):
    """What a user sees of one command."""

    code: int
    out: str
    err: str


Call = Callable[..., Told]


@pytest.fixture
def call(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, work_folder: Path, open_box: object
) -> Call:
    """`call("write", "…", stdin=b"…")` in an empty folder."""

    def run(*arguments: str, stdin: bytes = b"") -> Told:
        monkeypatch.setattr(sys, "argv", ["burnish", *arguments])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), "utf-8"))
        code: object = 0
        try:
            main()
        except SystemExit as end:
            code = end.code
        told = capsys.readouterr()
        return Told(int(str(code or 0)), told.out, told.err)

    return run
