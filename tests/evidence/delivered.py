"""Folders as `write` delivers them, and what somebody may do to them."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import burnish
from burnish import Run, ScriptedModel, Store
from burnish.evidence.schema import hash_content
from tests.support import DOUBLE, block, script

TESTS = block("assert double(3) == 7\nassert double(1) == 2")
"""The first of them is wrong, and good versions dispute it."""
FAST = ("tests", "coverage", "security", "dependencies", "quality")
"""The checks of a run that was made in a hurry."""
Change = Callable[[dict[str, Any]], object]


def deliver(folder: Path, sentence: str = DOUBLE, **replies: str | list[str]) -> Run:
    """A run as `write --fast` makes it, delivered to `folder`; its record lies beside it."""
    model = ScriptedModel(script(**({"tests": TESTS} | replies)))
    return burnish.write(sentence, model, out=folder, store=Store(folder.parent / "home"), fast=True)


def copy(folder: Path, to: Path) -> Path:
    """The same folder once more, to be tampered with."""
    return Path(shutil.copytree(folder, to / "double", symlinks=True))


def evidence(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "evidence.json").read_text())
    return found


def edit(folder: Path, change: Change, seal: bool = True) -> None:
    """Change what the evidence says; with `seal`, as somebody would who knows how it is made."""
    data = evidence(folder)
    change(data)
    if seal:
        data["files"] = {name: sha256(folder / name) for name in data["files"]}
        data["seal"] = hash_content(data)
    (folder / "evidence.json").write_text(json.dumps(data))


def sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def replace(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
