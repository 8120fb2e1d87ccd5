"""Settings: changed as the command line changes them, and the doctor's findings with what can be done."""

import html
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from burnish import config
from burnish.doctor import DoctorFinding
from burnish.web.views import settings


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("model", "local:qwen2.5-coder-0.5b"),
        ("may_spend", "true"),
        ("context.local", "8192"),
        ("gpu_layers", "0"),
        ("models.ollama.base_url", "http://127.0.0.1:5000"),
        ("checks.index_url", "http://127.0.0.1:8080/simple"),
    ],
)
def test_each_setting_is_saved_and_shown(client: httpx.Client, key: str, value: str) -> None:
    saved = client.post("/settings", data={"key": key, "value": value})
    assert saved.headers["location"] == f"/settings?saved={key}#saved"
    page = client.get(saved.headers["location"]).text
    assert "Saved." in page
    assert value in page
    assert settings._read_value(config.load(), key) == value


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("gpu_layers", "many", "it is auto, or a number of layers"),
        ("context.local", "3", "it is a number of tokens, from 512"),
        ("may_spend", "perhaps", "it is true or false"),
        ("models.openai.base_url", "ftp://x", "an address is http:// or https://"),
        ("models.openai.base_url", "http://me:secret@x", "looks like a key or a password"),
        ("model", "sk-abcdefgh12345678", "looks like a key or a password"),
        ("nothing", "x", "There is no setting"),
        ("models.local.base_url", "http://x", "cannot be the name of a server"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence_beside_what_was_typed(
    client: httpx.Client, key: str, value: str, why: str
) -> None:
    refused = client.post("/settings", data={"key": key, "value": value})
    assert refused.status_code == 400
    assert why in html.unescape(refused.text)
    assert not config.path().exists()


def test_what_was_typed_stays_and_is_text(client: httpx.Client) -> None:
    refused = client.post("/settings", data={"key": "gpu_layers", "value": '"><img src=x>'})
    assert "<img" not in refused.text
    assert 'value="&#34;&gt;&lt;img src=x&gt;"' in refused.text


def test_a_server_of_ones_own_needs_a_name_and_an_address(client: httpx.Client) -> None:
    assert client.post("/settings/servers", data={"name": "lab", "address": ""}).status_code == 400
    bad = client.post("/settings/servers", data={"name": "local", "address": "http://127.0.0.1:8000/v1"})
    assert bad.status_code == 400
    added = {"name": "lab", "address": "http://127.0.0.1:8000/v1", "variable": "LAB_KEY"}
    assert client.post("/settings/servers", data=added).status_code == 303
    assert config.load().models["lab"].key_env == "LAB_KEY"
    assert "LAB_KEY" in client.get("/settings").text


def test_a_key_is_never_shown_only_whether_it_is_there(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-very-secret-0123456789")
    page = client.get("/settings").text
    assert "ANTHROPIC_API_KEY" in page
    assert '<span class="good">✓ yes</span>' in page
    assert "very-secret" not in page


def test_a_broken_file_of_settings_is_named_and_the_page_still_opens(client: httpx.Client) -> None:
    config.path().write_text('modle = "<img src=x>"\n')
    page = client.get("/settings")
    assert page.status_code == 200
    assert "there is no key" in html.unescape(page.text)
    assert 'id="doctor"' in page.text


def test_settings_in_german_are_german(client: httpx.Client) -> None:
    page = client.get("/settings", headers={"Accept-Language": "de"}).text
    assert "Einstellungen" in page
    refused = client.post("/settings", data={"key": "may_spend", "value": "x"}, headers={"Accept-Language": "de"})
    assert "Das geht nicht: es ist true oder false." in refused.text


def test_the_doctor_offers_a_button_where_we_can_help_and_a_line_to_copy_elsewhere(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [
        DoctorFinding(thing="python", fine=True, says="3.11"),
        DoctorFinding(
            thing="local:x (default)", fine=False, says="<img src=x>", type_this="burnish models pull local:x"
        ),
        DoctorFinding(thing="embedded engine", fine=False, says="no", type_this="burnish config set gpu_layers auto"),
        DoctorFinding(thing="sandbox", fine=False, says="no", type_this="sudo apt-get install 'bubblewrap'"),
        DoctorFinding(thing="disk", fine=False, says="full", type_this="it's not a line", needed=False),
    ]
    monkeypatch.setattr(settings, "examine", lambda: found)
    page = client.get("/settings/doctor").text
    assert "Something is missing" in page
    assert page.count("<form") == 2
    assert 'name="name" value="local:x"' in page
    assert 'name="key" value="gpu_layers"' in page
    assert "sudo apt-get install &#39;bubblewrap&#39;" in page
    assert page.count("data-copy") == 2
    assert "<img" not in page


@pytest.mark.slow
def test_the_doctor_looks_for_real(client: httpx.Client) -> None:
    page = client.get("/settings/doctor").text
    assert "The closed room in which code of a model is tried" in page
    assert "local:qwen2.5-coder-1.5b (default)" in page


@pytest.mark.browser
@pytest.mark.slow
def test_a_setting_is_changed_and_the_doctor_answers_in_a_browser(open_page: Callable[..., Any]) -> None:
    page = open_page("/settings")
    page.select_option("#set-may_spend", "true")
    page.get_by_role("button", name="Save: May a model that costs money be chosen for you?").click()
    page.wait_for_selector("#saved")
    assert config.load().may_spend
    page.wait_for_selector(".finding", timeout=30_000)
