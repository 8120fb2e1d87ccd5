"""Adapters by name: found whole and for their base, or refused with what to type."""

import hashlib
from pathlib import Path

import pytest

import burnish
from burnish.commands.models import format_table, list_rows
from burnish.commands.train import export_adapter
from burnish.errors import SetupProblem
from burnish.events.history import Run
from burnish.evidence.build import build_dossier
from burnish.models.adapters import (
    CARD,
    GGUF,
    AdapterCard,
    adapters_home,
    find_adapter,
    list_adapters,
    remove_adapter,
    split_adapter,
)
from burnish.models.catalog import CATALOG
from burnish.models.names import open_model
from burnish.models.scripted import ScriptedModel
from burnish.runs import Store
from tests.support import DOUBLE, script

BASE = "qwen2.5-coder-0.5b"
BYTES = b"GGUF and more"


def keep(name: str = "mine", content: bytes = BYTES, **changes: object) -> Path:
    folder = adapters_home() / name
    (folder / "peft").mkdir(parents=True)
    (folder / GGUF).write_bytes(content)
    (folder / "peft" / "adapter_config.json").write_text("{}")
    facts = {"name": name, "base": BASE, "sha256": hashlib.sha256(content).hexdigest(), "recipe": "sft", **changes}
    (folder / CARD).write_text(AdapterCard.model_validate(facts).model_dump_json())
    return folder


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        (f"local:{BASE}+mine", (f"local:{BASE}", "mine")),
        (f"local:{BASE}", (f"local:{BASE}", "")),
        ("ollama:a+b:7b", ("ollama:a+b:7b", "")),
        ("local:/a+b/c.gguf", ("local:/a+b/c.gguf", "")),
    ],
)
def test_what_stands_behind_a_plus_is_an_adapter(name: str, parts: tuple[str, str]) -> None:
    assert split_adapter(name) == parts


def test_a_file_whose_name_has_a_plus_is_a_file(tmp_path: Path) -> None:
    file = tmp_path / "tiny+mine"
    file.touch()
    assert split_adapter(f"local:{file}") == (f"local:{file}", "")


def test_it_is_on_for_its_purposes_alone() -> None:
    keep("repairs", purposes=("fix", "repair"))
    keep("all")
    assert [one.answers("write") for one in list_adapters()] == [True, False]
    assert find_adapter("repairs", BASE).answers("fix")
    assert find_adapter("repairs").label.startswith("adapter repairs ")


def test_one_that_is_not_there_or_of_another_base_is_refused() -> None:
    keep()
    with pytest.raises(SetupProblem, match="Did you mean 'mine'"):
        find_adapter("mime")
    with pytest.raises(SetupProblem, match=f"--model local:{BASE}.mine"):
        find_adapter("mine", "qwen2.5-coder-1.5b")
    with pytest.raises(SetupProblem, match="no other model"):
        open_model("local:qwen2.5-coder-1.5b+mine")


@pytest.mark.parametrize("content", [b"", b"GGUF and less", b"MZ" + BYTES])
def test_a_broken_file_is_refused(content: bytes) -> None:
    (keep() / GGUF).write_bytes(content)
    with pytest.raises(SetupProblem, match="burnish adapters remove mine"):
        find_adapter("mine", BASE)


def test_a_card_that_cannot_be_read_is_named() -> None:
    (keep() / CARD).write_text("{")
    keep("fine")
    assert [one.folder.name for one in list_adapters()] == ["fine"], "the others can still be seen"
    with pytest.raises(SetupProblem, match="burnish adapters remove mine"):
        find_adapter("mine")
    remove_adapter("mine")


@pytest.mark.parametrize("name", ["", "..", "../mine", "other", "."])
def test_only_ones_own_can_be_removed(name: str) -> None:
    kept = keep()
    with pytest.raises(SetupProblem):
        remove_adapter(name)
    assert kept.is_dir()


def test_an_export_is_what_others_read(tmp_path: Path) -> None:
    keep()
    assert (export_adapter("mine", tmp_path / "hub") / "adapter_config.json").is_file()
    assert "license: apache-2.0" in (tmp_path / "hub" / "README.md").read_text()
    model_file = (export_adapter("mine", tmp_path / "o", "ollama") / "Modelfile").read_text()
    assert model_file == "FROM qwen2.5-coder:0.5b-instruct-q4_K_M\nADAPTER ./adapter.gguf\n"
    with pytest.raises(SetupProblem, match="not empty"):
        export_adapter("mine", tmp_path / "o")
    with pytest.raises(SetupProblem, match="--to hub"):
        export_adapter("mine", tmp_path / "new", "pytorch")


def test_models_are_listed_with_their_adapters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("burnish.commands.models.is_checked", lambda weights: weights.name == f"local:{BASE}")
    keep("larger", base="qwen2.5-coder-1.5b")
    keep(recipe="sft, rank 16")
    keep("stranger", base="some/other")
    rows = {row["name"]: row for row in list_rows((), {})}
    assert rows[f"local:{BASE}+mine"]["adapter"] == "sft, rank 16"
    assert "local:some/other+stranger" not in rows, "its base is none that is fetched by name"
    assert "local:qwen2.5-coder-1.5b+larger" not in rows, "the weights of its base are not here"
    assert any(f"local:{BASE}+mine" in line for line in format_table(list(rows.values()), ()))


def test_the_evidence_names_the_adapter_with_its_hash(store: Store) -> None:
    folder = keep()
    run = burnish.write(DOUBLE, model=ScriptedModel(script()), fast=True)
    started = run.started.model_copy(update={"model": f"local:{BASE}+mine"})
    models = build_dossier(Run((started, *run.events[1:])), {}).models
    assert [model.name for model in models] == [f"local:{BASE}+mine", "adapter mine"]
    assert models[0].weights_sha256 == CATALOG[f"local:{BASE}"].sha256
    assert models[1].weights_sha256 == hashlib.sha256((folder / GGUF).read_bytes()).hexdigest()
