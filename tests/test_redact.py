"""What leaves this machine names no place of it, no person's home, and no secret."""

from pathlib import Path

import pytest

from burnish import Run
from burnish.redact import model_name, redact
from burnish.report.run_report import render_report
from tests.iterated import EVENTS


@pytest.fixture(autouse=True)
def _home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: Path("/data/people/anna"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("it is in /opt/models/big.gguf now", "it is in big.gguf now"),
        ("local:/opt/models/big.gguf", "local:big.gguf"),
        ("cannot open:/opt/models/big.gguf", "cannot open:big.gguf"),
        ("file:///opt/models/big.gguf", "file:big.gguf"),
        ("local:/home/anna/models/big.gguf", "local:big.gguf"),
        ("/home/anna", "~"),
        ("in '/Users/anna', line 3", "in '~', line 3"),
        ("/data/people/anna", "~"),
        ("at /data/people/anna.", "at ~."),
        ("at /data/people/anna/x/y.py:3", "at y.py:3"),
        ("ask http://10.0.0.7:8080/v1 again", "ask (an address) again"),
        ("92 of 100, n/2 each, 3/4", "92 of 100, n/2 each, 3/4"),
        ("double: linear, 12 ms at 65 536", "double: linear, 12 ms at 65 536"),
    ],
)
def test_of_a_place_only_its_last_name_is_told_and_of_a_home_nothing(text: str, said: str) -> None:
    assert redact(text) == said


def test_a_secret_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "very-long-and-secret")
    assert redact("with very-long-and-secret it works") == "with (secret) it works"


@pytest.mark.parametrize("name", ["local:/home/anna/models/big.gguf", "local:~/big.gguf", "local:models/anna/big.gguf"])
def test_a_model_that_is_a_file_is_called_by_its_own_name(name: str) -> None:
    assert model_name(name) == "local:big.gguf"


def test_the_report_leaves_with_the_folder_so_it_names_no_place_either() -> None:
    place = "/home/anna/models/big.gguf"
    started = EVENTS[0].model_copy(update={"model": f"local:{place},openai:gpt", "sandbox": f"bubblewrap: {place}"})
    ended = EVENTS[-1].model_copy(update={"why": f"it could not be read from {place}"})
    text = render_report(Run((started, *EVENTS[1:-1], ended)))
    assert "anna" not in text
    assert "calls to local:big.gguf,openai:gpt;" in text
    assert "read from big.gguf" in text
