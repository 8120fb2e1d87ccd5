"""`strengthen` asks whom the settings name, the first of several; and nobody where it is told so."""

from pathlib import Path

import pytest

import burnish
from burnish import config
from burnish.model_choice import Available, ModelCandidate
from burnish.runs import Run, Store
from tests.models.peers import MODEL, Peer, serving

pytestmark = pytest.mark.slow
SIZE = 'def size(n):\n    """In words."""\n    return "small" if n < 10 else "large"\n'
TESTS = "from sizes import size\n\n\ndef test_size():\n    assert size(9) == 'small'\n    assert size(10) == 'large'\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "pyproject.toml").touch()
    (root / "sizes.py").write_text(SIZE)
    (root / "test_sizes.py").write_text(TESTS)
    return root


def strengthened(root: Path, store: Store, model: str | None = None) -> Run:
    return burnish.strengthen(root / "test_sizes.py", root / "sizes.py", model, store=store)


def test_the_choice_that_the_settings_leave_open_is_made_and_its_reason_is_on_record(
    project: Path, store: Store
) -> None:
    with serving(Peer()) as peer:
        config.put("models.lab.base_url", peer.base_url("openai"))
        config.put("model", "auto")
        started = strengthened(project, store).started
    assert started.model == f"lab:{MODEL}"
    assert str(started.settings["chosen"]).startswith(f"lab:{MODEL}: ")


def test_one_model_is_chosen_where_one_is_asked(project: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    there = [
        ModelCandidate(name="scripted:demo", strength="middle"),
        ModelCandidate(name="scripted:large", strength="strong"),
    ]
    monkeypatch.setattr("burnish.model_choice.find_candidates", lambda records, may_spend: Available(there, [], []))
    started = strengthened(project, store, "auto").started
    assert started.model == "scripted:demo"
    assert started.settings["chosen"] == "scripted:demo: free, on this disk, never tried; not chosen: scripted:large"


def test_of_several_models_the_first_is_asked_and_nobody_where_nobody_is_named(project: Path, store: Store) -> None:
    config.put("model", "scripted:demo,local:large")
    assert strengthened(project, store).started.model == "scripted:demo"
    assert strengthened(project, store, "none").started.model == "none"
