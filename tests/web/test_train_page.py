"""Training: each one with its curves as they grow, and adapters that can be taken away."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from burnish.commands.train import trainings_home
from burnish.learn.recipe import METRICS, Recipe, write_recipe
from burnish.models.adapters import adapters_home
from tests.models.test_adapters import keep


def begin(name: str = "mine", updates: int = 3) -> Path:
    folder = trainings_home() / name
    folder.mkdir(parents=True)
    write_recipe(Recipe(kind="sft", base="huggingface:qwen2.5-coder-0.5b", data="ds"), folder)
    add(folder, range(1, updates + 1))
    return folder


def add(folder: Path, steps: range) -> None:
    with (folder / METRICS).open("a") as file:
        file.writelines(f"{json.dumps({'step': step, 'loss': 1 / step})}\n" for step in steps)


def test_trainings_are_listed_and_one_at_work_looks_again_by_itself(client: httpx.Client) -> None:
    folder = begin()
    assert "mine" in (page := client.get("/train").text)
    assert "Learns verified answers." in page
    assert "every 2s" in client.get("/train/mine").text
    (folder / "adapter").mkdir()
    assert "every 2s" not in client.get("/train/mine").text, "it has ended"
    assert "<svg" in client.get("/train/mine/now").text


@pytest.mark.parametrize("name", ["nowhere", "%2e%2e%2fhome", "<img>"])
def test_a_training_that_is_not_there_is_said(client: httpx.Client, name: str) -> None:
    begin()
    assert client.get(f"/train/{name}").status_code in (400, 404)


def test_taking_an_adapter_away_is_asked_first_by_a_page_that_takes_nothing_away(client: httpx.Client) -> None:
    folder = keep("mine")
    assert 'href="/train/remove?name=mine"' in (page := client.get("/train").text)
    assert "<form" not in page.partition("<main")[2], "no click on the list takes anything away"
    asked = client.get("/train/remove", params={"name": "mine"})
    assert 'action="/train/remove"' in asked.text
    assert folder.is_dir()
    assert client.get("/train/remove", params={"name": "nobody"}).status_code == 400


def test_an_adapter_is_taken_away_and_nothing_else_can_be(client: httpx.Client) -> None:
    keep("mine")
    kept = keep("other")
    assert client.post("/train/remove", data={"name": "mine"}).status_code == 303
    assert [one.name for one in adapters_home().iterdir()] == ["other"]
    for name in ("", "..", "../adapters/other", "nobody"):
        assert client.post("/train/remove", data={"name": name}).status_code == 400
    assert kept.is_dir()


@pytest.mark.browser
def test_a_curve_grows_while_one_watches(open_page: Callable[..., Any]) -> None:
    folder = begin()
    page = open_page("/train/mine")
    page.wait_for_selector("text=3 updates")
    add(folder, range(4, 9))
    page.wait_for_selector("text=8 updates")
    assert page.locator("figure svg").count() == 1
