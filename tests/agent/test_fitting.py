"""A length that leaves no room for the question is refused before anybody is asked, with one that fits."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from burnish.agent.fitting import check_fits
from burnish.agent.limits import Limits
from burnish.errors import SetupProblem
from burnish.models.model import Ask, Piece
from burnish.models.names import open_model
from burnish.models.scripted import ScriptedModel
from burnish.models.tokens import context_tokens


class Narrow(ScriptedModel):
    """A model that has 4096 tokens in mind."""

    context = 4096

    def stream(self, ask: Ask, cancel: threading.Event) -> Iterator[Piece]:  # type: ignore[override]
        raise AssertionError("nobody is to be asked")


NARROW = Narrow([], name="local:narrow")


@pytest.mark.parametrize(
    ("limits", "change"),
    [
        (Limits(max_tokens=3073), "--max-tokens 3072"),
        (Limits(max_tokens=100_000), "--max-tokens 3072"),
        (Limits(max_tokens=3000, thinking=1000), "--max-tokens 2072"),
        (Limits(thinking=3000), "--thinking 2048"),
        (Limits(max_tokens=500, thinking=3000), "--thinking 2572"),
        (Limits(max_tokens=9000, thinking=9000), "--thinking 0 --max-tokens 3072"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_does(limits: Limits, change: str) -> None:
    with pytest.raises(SetupProblem, match="4096 tokens in mind") as problem:
        check_fits(limits, [NARROW])
    assert str(problem.value).endswith(f": {change}")
    words = change.replace("--", "").replace("-", "_").split()
    said = {name: int(number) for name, number in zip(words[::2], words[1::2], strict=True)}
    check_fits(limits.model_copy(update=said), [NARROW])


@pytest.mark.parametrize("limits", [Limits(), Limits(max_tokens=3072), Limits(max_tokens=1024, thinking=2048)])
def test_what_fits_is_taken(limits: Limits) -> None:
    check_fits(limits, [NARROW])


def test_too_few_tokens_for_thoughts_are_refused_where_a_model_needs_more_or_none() -> None:
    choosy = ScriptedModel([], name="anthropic:older")
    choosy.least_thinking = 1024  # type: ignore[attr-defined]
    with pytest.raises(SetupProblem, match=r"1024 tokens at least, or not at all, .* --thinking 1024$"):
        check_fits(Limits(thinking=1023), [choosy])
    for enough in (0, 1024, 5000):
        check_fits(Limits(thinking=enough), [choosy])


def test_what_the_settings_say_of_thoughts_is_looked_at_where_no_option_does() -> None:
    choosy = ScriptedModel([], name="anthropic:older")
    choosy.least_thinking, choosy.thinking = 1024, 300  # type: ignore[attr-defined]
    for limits in (Limits(), Limits(max_tokens=500)):
        with pytest.raises(SetupProblem, match="so 300 are too few"):
            check_fits(limits, [choosy])
    check_fits(Limits(thinking=0), [choosy])
    wide = Narrow([], name="local:narrow")
    wide.thinking = 3000  # type: ignore[attr-defined]
    with pytest.raises(SetupProblem, match="3000 for its thoughts"):
        check_fits(Limits(), [wide])


@pytest.mark.parametrize(("name", "least"), [("claude-3-7-sonnet-20250219", 1024), ("claude-opus-4-6", 0)])
def test_older_models_of_anthropic_think_much_or_not_at_all(
    name: str, least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "planted-key-1234567890")
    assert getattr(open_model(f"anthropic:{name}"), "least_thinking", None) == least


def test_each_model_of_several_must_have_the_room() -> None:
    with pytest.raises(SetupProblem, match="'local:narrow'"):
        check_fits(Limits(max_tokens=8000), [ScriptedModel([]), NARROW])


def test_nobody_is_refused_for_a_model_of_which_nobody_knows_the_room() -> None:
    assert context_tokens(ScriptedModel([])) == 0
    check_fits(Limits(max_tokens=10**6), [ScriptedModel([])])


def test_the_users_file_and_the_list_of_prices_know_what_the_model_does_not_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config.toml").write_text('[context]\n"scripted:inline" = 2048\n')
    assert context_tokens(ScriptedModel([])) == 2048
    assert context_tokens(ScriptedModel([], name="openai:gpt-4o")) == 128_000
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    assert context_tokens(ScriptedModel([], name="openai:gpt-4o")) == 0, (
        "another server may run anything under that name"
    )
