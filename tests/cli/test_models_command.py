"""`burnish models` and `burnish models pull`, through the command line's own door."""

import hashlib
import json
import re
from datetime import datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from burnish import config
from burnish.cli.setup import models_app
from burnish.commands.models import format_table, list_rows
from burnish.errors import SetupProblem
from burnish.events import ModelReplied, RunStarted
from burnish.model_choice import Speed
from burnish.models import weights
from burnish.models.catalog import CATALOG, DEFAULT_MODEL, LARGER, Weights
from burnish.models.discovery import ListedModel, ServerModels
from burnish.models.tokens import Price
from burnish.models.weights import Unavailable, WeightsSource
from burnish.runs import Store

BYTES = b"weights"
TINY = Weights("local:tiny", "tiny.gguf", 7, hashlib.sha256(BYTES).hexdigest(), "none", "a/b", "c", ())


def tiny_source(entry: Weights, folder: Path, report: weights.Report) -> Path:
    report(len(BYTES))
    (folder / "got").write_bytes(BYTES)
    return folder / "got"


def no_source(entry: Weights, folder: Path, report: weights.Report) -> Path:
    raise Unavailable("no route to host")


@pytest.fixture(autouse=True)
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path))
    monkeypatch.setitem(CATALOG, TINY.name, TINY)
    made = (WeightsSource("the moon", no_source, copies=1), WeightsSource("the shelf", tiny_source, copies=1))
    monkeypatch.setattr(weights, "SOURCES", made)


def test_the_list_says_what_is_on_disk_and_what_to_type(tmp_path: Path) -> None:
    listed = CliRunner().invoke(models_app, [])
    assert listed.exit_code == 0
    assert f"burnish models pull {DEFAULT_MODEL}" in listed.stdout
    CliRunner().invoke(models_app, ["pull", TINY.name])
    assert str(tmp_path / "models" / "tiny.gguf") in CliRunner().invoke(models_app, []).stdout


def test_the_list_can_be_read_by_a_machine() -> None:
    rows = json.loads(CliRunner().invoke(models_app, ["--json"]).stdout)
    assert [row["name"] for row in rows] == [*CATALOG, *LARGER]
    assert [row["name"] for row in rows if row["default"]] == [DEFAULT_MODEL]
    assert not any(row["on_disk"] for row in rows)


def test_the_list_says_what_larger_models_need_and_which_do_not_fit_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sysconf", {"SC_PHYS_PAGES": 2_000_000, "SC_PAGE_SIZE": 4096}.get)  # some eight gigabytes
    rows = {row["name"]: row for row in list_rows((), {})}
    fits = {name: rows[name]["fits"] for name in ("local:qwen2.5-coder-1.5b", *LARGER)}
    assert [name for name, here in fits.items() if here] == [
        "local:qwen2.5-coder-1.5b",
        "local:qwen2.5-coder-3b",
        "local:qwen2.5-coder-7b",
    ]
    assert rows["local:qwen2.5-coder-14b"]["memory_bytes"] > 9e9
    assert sum("more than there is here" in line for line in format_table(list(rows.values()), ())) == 4
    config.put("context", "32768")
    assert not {row["name"]: row for row in list_rows((), {})}["local:qwen2.5-coder-7b"]["fits"]


def test_the_list_says_how_fast_a_model_last_was(store: Store) -> None:
    day = datetime(2024, 11, 5, 12).timestamp()
    run_id, record = store.begin("fast")
    with record:
        record.append(RunStarted(run_id=run_id, verb="write", prompt="p", model=TINY.name, burnish="0"))
        counts = {"tokens_in": 9, "tokens_out": 310, "seconds": 10.0}
        record.append(ModelReplied.model_validate({"ask_id": "a", "purpose": "x", "text": "", "at": day, **counts}))
    shown = CliRunner().invoke(models_app, []).stdout
    assert re.search(r"^local:tiny +4,096 +0 MB +free +31 \(2024-11-05\)$", shown, re.MULTILINE)
    rows = {row["name"]: row for row in json.loads(CliRunner().invoke(models_app, ["--json"]).stdout)}
    assert rows[TINY.name]["tokens_per_second"] == 31.0
    assert rows[TINY.name]["measured_at"].startswith("2024-11-05T12:00:00")
    assert rows[DEFAULT_MODEL]["tokens_per_second"] is None


def test_the_table_stays_within_eighty_columns_and_cuts_no_name() -> None:
    long = "lab:somebody/a-model-with-a-very-long-name-instruct-q4_k_m:latest"
    dear = ListedModel(name=long, context=1_048_576, price=Price(read=12.5, written=112.5), bytes=40_000_000_000)
    short = ListedModel(name="lab:\x1b[31mred", price=Price(read=0, written=0))
    shelf = ServerModels(provider="lab", address="http://127.0.0.1:1/v1", models=(dear, short))
    speeds = {
        long: Speed(model=long, tokens_per_second=1234.5, at=1e9),
        "local:/my/own.gguf": Speed(model="local:/my/own.gguf", tokens_per_second=3.14, at=1e9),
    }
    lines = list(format_table(list_rows([shelf], speeds), [shelf]))
    place = lines.index(long)
    assert re.fullmatch(r" +1,048,576 +40 GB +12.5 / 112.5 +1234 \(2001-09-0\d\)", lines[place + 1])
    assert any(line.startswith("local:/my/own.gguf") and "3.1 (2001-09" in line for line in lines)
    assert max(map(len, lines)) <= 80
    assert "\x1b" not in "".join(lines)


def test_the_name_of_a_model_forges_no_row() -> None:
    evil = ListedModel(name="lab:x\nlocal:evil                  4,096    free")
    shelf = ServerModels(provider="lab", address="http://127.0.0.1:1/v1", models=(evil,))
    own = "local:/my\nlocal:evil.gguf"
    rows = list_rows([shelf], {own: Speed(model=own, tokens_per_second=1, at=1e9)})
    lines = list(format_table(rows, [shelf]))
    assert not any("\n" in line or line.startswith("local:evil") for line in lines)


def test_a_shelf_of_hundreds_shows_those_that_were_used_first() -> None:
    models = tuple(ListedModel(name=f"lab:m{number}") for number in range(300))
    shelf = ServerModels(provider="lab", address="http://127.0.0.1:1/v1", models=models)
    rows = list_rows([shelf], {"lab:m299": Speed(model="lab:m299", tokens_per_second=50, at=1e9)})
    lines = list(format_table(rows, [shelf]))
    shown = [line.split()[0] for line in lines if line.startswith("lab:m")]
    assert (shown[0], len(shown)) == ("lab:m299", 12)
    assert any("288" in line and line.endswith("burnish models --json") for line in lines)


def test_pull_tells_the_size_first_and_prints_nothing_but_the_path_on_stdout(tmp_path: Path) -> None:
    pulled = CliRunner().invoke(models_app, ["pull", TINY.name])
    assert pulled.exit_code == 0
    assert pulled.stdout == f"{tmp_path / 'models' / 'tiny.gguf'}\n"
    said = pulled.stderr.splitlines()
    assert "0 MB" in said[0]
    assert ["the moon" in said[1], "the shelf" in said[2], "SHA-256" in said[3]] == [True] * 3


def test_pull_without_a_name_fetches_whoever_answers_by_default(tmp_path: Path) -> None:
    config.put("model", f"{TINY.name},{TINY.name}")
    pulled = CliRunner().invoke(models_app, ["pull"])
    assert pulled.stdout.splitlines() == [str(tmp_path / "models" / "tiny.gguf")] * 2
    config.put("model", "auto")
    left_open = CliRunner().invoke(models_app, ["pull"])
    assert DEFAULT_MODEL in left_open.stderr


def test_pulling_what_is_here_fetches_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    CliRunner().invoke(models_app, ["pull", TINY.name])
    monkeypatch.setattr(weights, "SOURCES", ())
    again = CliRunner().invoke(models_app, ["pull", TINY.name])
    assert (again.exit_code, again.stderr) == (0, "")


def test_pulling_an_unknown_model_is_a_problem_with_the_nearest_name() -> None:
    refused = CliRunner().invoke(models_app, ["pull", "local:tinny"])
    assert isinstance(refused.exception, SetupProblem)
    assert str(refused.exception).endswith("burnish models pull local:tiny")
