"""Models: who can answer, fetched, stopped and chosen, whatever a server calls its models."""

import json
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from burnish import config
from burnish.models import weights
from burnish.models.catalog import Weights
from burnish.models.weights import Unavailable, WeightsSource, weights_path
from burnish.web.work import model_jobs
from tests.commands.test_try_model import GOOD
from tests.models.test_discovery import HALF, saying
from tests.web.conftest import HeldModel, Served
from tests.web.slow_weights import BYTES, TINY, SlowSource


def wait_for(look: Callable[[], bool], seconds: float = 20) -> None:
    until = time.monotonic() + seconds
    while not look():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_weights_are_listed_with_size_memory_and_what_they_are_good_for(client: httpx.Client, tiny: Weights) -> None:
    page = client.get("/models").text
    assert "local:qwen2.5-coder-1.5b" in page
    assert "needs about 1,987 MB of memory" in page
    assert "the best that is built in" in page
    assert "not on this disk" in page
    assert "answers by default" in page


def test_weights_are_fetched_with_their_progress_shown(
    client: httpx.Client, served: Served, tiny: Weights, source: SlowSource
) -> None:
    assert client.post("/models/fetch", data={"name": TINY}).status_code == 303
    source.may_go.release(5)
    wait_for(lambda: 'value="7000"' in client.get("/models/jobs").text)
    assert 'max="14000"' in client.get("/models/jobs").text
    assert "every 1s" in client.get("/models/jobs").text, "the page looks again by itself"
    source.may_go.release(5)
    wait_for(lambda: weights.is_checked(tiny))
    wait_for(lambda: not served.app.state.model_jobs.list())
    over = client.get("/models/jobs", params={"had": f"fetch.{TINY}.at_work"})
    assert over.headers["HX-Trigger"] == "models-changed"
    assert weights_path(tiny).read_bytes() == BYTES
    assert "on this disk" in client.get("/models/here").text


def test_a_fetch_that_is_stopped_keeps_what_it_has_and_goes_on_from_there(
    client: httpx.Client, tiny: Weights, source: SlowSource
) -> None:
    client.post("/models/fetch", data={"name": TINY})
    source.may_go.release(5)
    wait_for(lambda: 'value="7000"' in client.get("/models/jobs").text)
    client.post("/models/fetch/stop", data={"name": TINY})
    stopped = client.get("/models/jobs").text
    assert "fetching was stopped" in stopped
    assert "every 1s" not in stopped
    source.may_go.release(1)  # it hears of it with its next part
    wait_for(lambda: not any(thread.name == "burnish-fetch" for thread in threading.enumerate()))
    assert not weights.is_checked(tiny)
    source.may_go.release(20)
    client.post("/models/fetch", data={"name": TINY})
    wait_for(lambda: weights.is_checked(tiny))
    assert source.began_at == [0, 8400]


def test_two_clicks_fetch_once(client: httpx.Client, tiny: Weights, source: SlowSource) -> None:
    for _ in range(2):
        client.post("/models/fetch", data={"name": TINY})
    source.may_go.release(20)
    wait_for(lambda: weights.is_checked(tiny))
    assert source.began_at == [0]


def test_what_cannot_be_fetched_says_why(client: httpx.Client, tiny: Weights, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(entry: Weights, folder: Path, report: weights.Report) -> Path:
        raise Unavailable("no route to <b>host</b>")

    monkeypatch.setattr(weights, "SOURCES", (WeightsSource("hub", refuse, copies=1),))
    for name in (TINY, "local:<img src=x>"):
        client.post("/models/fetch", data={"name": name})
    wait_for(lambda: "no route to &lt;b&gt;host" in client.get("/models/jobs").text)
    wait_for(lambda: "There is no model" in client.get("/models/jobs").text)
    assert "<img" not in client.get("/models/jobs").text
    client.post("/models/fetch/stop", data={"name": TINY})
    assert "no route" not in client.get("/models/jobs").text, "it is put away"


def test_only_what_the_page_offers_can_be_done_with_a_model(client: httpx.Client) -> None:
    assert client.post("/models/remove", data={"name": TINY}).status_code == 400
    assert client.post("/models/fetch", data={"name": ""}).status_code == 400


def test_the_default_is_chosen_as_the_command_line_does_it(client: httpx.Client) -> None:
    assert client.post("/models/choose", data={"name": "auto"}).status_code == 303
    assert config.load().model == "auto"
    here = client.get("/models/here").text
    assert re.search(r"Let Burnish choose.*answers by default", here, re.DOTALL)


def test_a_file_of_ones_own_is_chosen_only_where_it_is_there(client: httpx.Client, tmp_path: Path) -> None:
    answer = client.post("/models/choose", data={"file": str(tmp_path / "no.gguf")})
    assert answer.status_code == 400
    assert "There is no file" in answer.text
    assert config.load().model == ""
    (tmp_path / "own.gguf").touch()
    client.post("/models/choose", data={"file": str(tmp_path / "own.gguf")})
    assert config.load().model == f"local:{tmp_path / 'own.gguf'}"


def test_a_key_is_never_taken_for_the_name_of_a_model(client: httpx.Client) -> None:
    answer = client.post("/models/choose", data={"name": "sk-abcdefgh12345678"})
    assert answer.status_code == 400
    assert config.load().model == ""


def test_a_provider_without_key_says_which_variable_to_set(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    assert "export OPENAI_API_KEY=…" in client.get("/models/servers").text
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-0123456789")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    page = client.get("/models/servers").text
    assert "the key is in OPENAI_API_KEY" in page
    assert "does not answer now" in page
    assert "very-secret" not in page


def test_ollamas_models_are_listed_as_text_and_another_is_had_by_its_name(
    client: httpx.Client, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    has = json.dumps({"models": [{"name": "<img src=x>:7b", "size": 5}]}).encode()
    pulls = b"".join(json.dumps(line).encode() + b"\n" for line in (HALF, {"status": "success"}))
    with saying(has, shows=pulls) as address:
        monkeypatch.setenv("OLLAMA_HOST", address)
        page = client.get("/models/servers").text
        assert "ollama:&lt;img src=x&gt;:7b" in page
        assert "<img" not in page
        assert 'action="/models/fetch"' in page
        client.post("/models/fetch", data={"name": "toy:1b", "provider": "ollama"})
        wait_for(lambda: not served.app.state.model_jobs.list())
    monkeypatch.setenv("OLLAMA_HOST", "http://127.0.0.1:9")
    assert "ollama serve" in client.get("/models/servers").text
    client.post("/models/fetch", data={"name": "toy:1b", "provider": "ollama"})
    wait_for(lambda: "No Ollama answers" in client.get("/models/jobs").text)


@pytest.mark.slow
def test_a_model_is_tried_and_what_came_of_it_is_shown(client: httpx.Client, tmp_path: Path) -> None:
    good = tmp_path / "good.json"
    bad = tmp_path / "bad.json"
    good.write_text(json.dumps(GOOD))
    bad.write_text(json.dumps(GOOD | {"write": ["I would rather not <b>."]}))
    for file, said in (good, "It is good enough to write functions."), (bad, "It is not good enough"):
        client.post("/models/try", data={"name": f"scripted:{file}"})
        wait_for(lambda: "every 1s" not in client.get("/models/jobs").text, 60)
        page = client.get("/models/jobs").text
        assert "was tried" in page
        assert said in page


@pytest.mark.slow
def test_a_trial_is_stopped(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    model = HeldModel(GOOD, held="write")
    monkeypatch.setattr(model_jobs, "open_model", lambda *_: model)
    client.post("/models/try", data={"name": "local:held"})
    wait_for(lambda: "read a long text" in client.get("/models/jobs").text)
    client.post("/models/try/stop", data={"name": "local:held"})
    assert "trying was stopped" in client.get("/models/jobs").text
    model.let(5)  # it hears of it with the next word
    wait_for(lambda: not any(thread.name == "burnish-try" for thread in threading.enumerate()))
    assert "write a function" not in client.get("/models/jobs").text


@pytest.mark.browser
@pytest.mark.slow
def test_a_fetch_is_watched_to_its_end_without_loading_the_page_anew(
    open_page: Callable[..., Any], source: SlowSource
) -> None:
    from playwright.sync_api import expect

    page = open_page("/models")
    row = page.locator("#here li", has_text=TINY)
    row.get_by_role("button", name="Get").click()
    expect(page.locator("#jobs h2")).to_contain_text("is being fetched")
    page.evaluate("() => { window.stays = true }")
    source.may_go.release(5)
    expect(page.locator("#jobs progress")).to_have_attribute("value", "7000")
    source.may_go.release(10)
    expect(page.locator("#jobs h2")).to_have_count(0)
    expect(row).to_contain_text("on this disk")
    assert page.evaluate("() => window.stays"), "the page was not loaded anew"
