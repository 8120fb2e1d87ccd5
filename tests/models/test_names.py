"""One string says who answers; one that nobody answers to gets the nearest names."""

import re
from pathlib import Path

import pytest

from burnish.errors import SetupProblem
from burnish.models.catalog import CATALOG
from burnish.models.names import open_model, split_names

NAMES = "|".join(map(re.escape, [*CATALOG, "scripted:demo"]))


@pytest.mark.parametrize(
    "name", ["", "local", "local:", "scripted:", "qwen2.5-coder-0.5b", "locl:qwen2.5-coder-0.5b", "x:y"]
)
def test_an_unknown_model_is_answered_with_names_that_exist(name: str) -> None:
    with pytest.raises(SetupProblem, match=rf"({NAMES}).*: burnish models$"):
        open_model(name)


@pytest.mark.parametrize("name", ["local:qwen2.5-coder-0.5", "local:qwen-coder-0.5b"])
def test_a_slip_of_the_pen_finds_the_model_that_was_meant(name: str) -> None:
    with pytest.raises(SetupProblem, match=r"local:qwen2\.5-coder-0\.5b"):
        open_model(name)


def test_a_weights_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SetupProblem, match=r"gone\.gguf.*--model local:"):
        open_model(f"local:{tmp_path / 'gone.gguf'}")


def test_a_list_of_models_is_split_where_the_next_provider_begins() -> None:
    assert split_names("local:a, huggingface:b/c") == ["local:a", "huggingface:b/c"]
    assert split_names("local:/weights/a,b.gguf,local:c") == ["local:/weights/a,b.gguf", "local:c"]
