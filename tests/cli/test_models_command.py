"""`burnish models` and `burnish models pull`, through the command line's own door."""

import hashlib
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from burnish import config
from burnish.cli.models import app
from burnish.errors import SetupProblem
from burnish.models import sources
from burnish.models.catalog import CATALOG, DEFAULT_MODEL, Weights
from burnish.models.sources import Source, Unavailable

BYTES = b"weights"
TINY = Weights("local:tiny", "tiny.gguf", 7, hashlib.sha256(BYTES).hexdigest(), "none", "a/b", "c", ())


def tiny_source(weights: Weights, folder: Path, report: sources.Report) -> Path:
    report(len(BYTES))
    (folder / "got").write_bytes(BYTES)
    return folder / "got"


def no_source(weights: Weights, folder: Path, report: sources.Report) -> Path:
    raise Unavailable("no route to host")


@pytest.fixture(autouse=True)
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path))
    monkeypatch.setitem(CATALOG, TINY.name, TINY)
    made = (Source("the moon", no_source, copies=1), Source("the shelf", tiny_source, copies=1))
    monkeypatch.setattr(sources, "SOURCES", made)


def test_the_list_says_what_is_on_disk_and_what_to_type(tmp_path: Path) -> None:
    listed = CliRunner().invoke(app, [])
    assert listed.exit_code == 0
    assert f"./burnish models pull {DEFAULT_MODEL}" in listed.stdout
    CliRunner().invoke(app, ["pull", TINY.name])
    assert str(tmp_path / "models" / "tiny.gguf") in CliRunner().invoke(app, []).stdout


def test_the_list_can_be_read_by_a_machine() -> None:
    rows = json.loads(CliRunner().invoke(app, ["--json"]).stdout)
    assert [row["name"] for row in rows] == list(CATALOG)
    assert [row["name"] for row in rows if row["default"]] == [DEFAULT_MODEL]
    assert not any(row["on_disk"] for row in rows)


def test_pull_tells_the_size_first_and_prints_nothing_but_the_path_on_stdout(tmp_path: Path) -> None:
    pulled = CliRunner().invoke(app, ["pull", TINY.name])
    assert pulled.exit_code == 0
    assert pulled.stdout == f"{tmp_path / 'models' / 'tiny.gguf'}\n"
    said = pulled.stderr.splitlines()
    assert "0 MB" in said[0]
    assert ["the moon" in said[1], "the shelf" in said[2], "SHA-256" in said[3]] == [True] * 3


def test_pull_without_a_name_fetches_whoever_answers_by_default(tmp_path: Path) -> None:
    config.put("model", f"{TINY.name},{TINY.name}")
    pulled = CliRunner().invoke(app, ["pull"])
    assert pulled.stdout.splitlines() == [str(tmp_path / "models" / "tiny.gguf")] * 2
    config.put("model", "auto")
    left_open = CliRunner().invoke(app, ["pull"])
    assert DEFAULT_MODEL in left_open.stderr


def test_pulling_what_is_here_fetches_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    CliRunner().invoke(app, ["pull", TINY.name])
    monkeypatch.setattr(sources, "SOURCES", ())
    again = CliRunner().invoke(app, ["pull", TINY.name])
    assert (again.exit_code, again.stderr) == (0, "")


def test_pulling_an_unknown_model_is_a_problem_with_the_nearest_name() -> None:
    refused = CliRunner().invoke(app, ["pull", "local:tinny"])
    assert isinstance(refused.exception, SetupProblem)
    assert str(refused.exception).endswith("./burnish models pull local:tiny")
