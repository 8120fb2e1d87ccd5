"""The scripted demo: a broken page first, then the right one, for every shipped case."""

import json
import shutil
import threading
from pathlib import Path

import pytest
from typer.testing import CliRunner

from burnish.cli.main import app
from burnish.models.model import Ask, Chunk
from burnish.models.names import open_model
from burnish.pages import prompts, rubric, watched_page
from burnish.pages.answer import read_answer
from burnish.pages.graph import PURPOSE
from burnish.pages.rubric import SHIPPED, load_case
from tests.pages.shipped import read_code


@pytest.mark.parametrize("name", SHIPPED)
def test_the_demo_answers_each_case_with_a_broken_page_and_then_the_right_one(name: str) -> None:
    model = open_model("scripted:demo")
    messages = prompts.write(prompts.read_context(), load_case(name).sentence)
    asks = [Ask(purpose=PURPOSE, messages=messages, max_tokens=prompts.ANSWER_TOKENS)] * 2
    pieces = [list(model.stream(ask, threading.Event())) for ask in asks]
    said = ["".join(piece.text for piece in answer if isinstance(piece, Chunk)) for answer in pieces]
    answers = [read_answer(text) for text in said]
    assert [answer.code for answer in answers] == [read_code(f"{name}-broken"), read_code(name)]
    assert [answer.repaired for answer in answers] == ["", ""]


@pytest.mark.browser
def test_life_is_played_from_a_broken_page_to_one_that_holds_every_criterion(
    work_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole command, but for the minute of the memory criterion, of which four seconds are watched here."""
    cases = work_folder / "cases"
    shutil.copytree(load_case("life").folder or "", cases / "life")
    toml = cases / "life" / "case.toml"
    toml.write_text(toml.read_text("utf-8").replace("seconds = 60", "seconds = 4"), "utf-8")
    monkeypatch.setattr(rubric, "_CASES", cases)
    monkeypatch.setattr(watched_page, "RECORDING_SECONDS", 1.0)
    command = ["page", "--case", "life", "--headless", "--model", "scripted:demo", "--out", "life", "--json"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    row = json.loads(done.stdout)
    assert (row["verb"], row["folder"]) == ("page", str(work_folder / "life"))
    assert {file.name for file in (work_folder / "life").iterdir()} >= {
        "page.html",
        "page.js",
        "page-2.png",
        "report.md",
    }
    assert (work_folder / "life" / "page.js").read_text("utf-8").strip() == read_code("life").strip()
    evidence = json.loads((work_folder / "life" / "evidence.json").read_text("utf-8"))
    page = evidence["page"]
    assert [row["name"] for row in page["criteria"] if not row["holds"]] == []
    # What the broken page had right keeps all its points; what came with the second one, and decays, has half of them.
    late = {row["name"] for row in page["criteria"] if row["cycle"] == 2}
    assert late == {"rules", "rate", "memory"}
    expected = sum(row["of"] // 2 if row["name"] in late else row["of"] for row in page["criteria"])
    assert (page["points"], page["of"]) == (expected, sum(row["of"] for row in page["criteria"]))
    assert evidence["cost"]["calls"] == 2
