"""The table of everything with everything: it tells what came of each pair, and what was not tried."""

from pathlib import Path
from typing import Any

import pytest
from experiments.every_kind import Kind, Row, settings, table, tried, usable

from burnish.models.model import Model
from burnish.models.names import open_model
from burnish.models.scripted import ScriptedModel
from tests.models.contract import HELLO, answer
from tests.models.peers import MODEL, Peer, Turn, answered_by, serving
from tests.support import block

VOWELS = block("def vowels(text):\n    return sum(text.count(letter) for letter in 'aeiou')")
INITIALS = block("def initials(name):\n    return ''.join(word[0].upper() for word in name.split())")


def coder(_: str, question: dict[str, Any]) -> Turn:
    return Turn(text=INITIALS if "initials" in str(question["messages"]) else VOWELS, read=100, written=20)


@pytest.mark.slow
@pytest.mark.usefixtures("open_box")
def test_a_pair_is_a_sentence_and_a_bug_and_says_what_they_cost(tmp_path: Path) -> None:
    with serving(Peer(script=coder)) as peer:
        (tmp_path / "config.toml").write_text(settings(peer.address, peer.address))
        kind = Kind("openai:", "a peer", lambda: open_model(f"openai:{MODEL}"))
        row = tried(kind, "bubblewrap", "bubblewrap 1", tmp_path)
    assert (row.write, row.fix) == ("plausible", "plausible")
    assert row.tokens >= 240, "the bug is one that the model has to be asked about"
    assert row.line.startswith("openai: | a peer | bubblewrap 1 | write plausible | fix plausible | ")


def test_a_model_that_cannot_be_opened_is_a_row_and_not_the_end(tmp_path: Path) -> None:
    kind = Kind("lab:", "nobody", lambda: open_model("lab:none"))
    row = tried(kind, "bubblewrap", "bubblewrap 1", tmp_path)
    assert (row.write, row.fix, row.tokens) == ("broken", "broken", 0)


def test_a_sandbox_that_does_not_open_is_named_with_its_reason() -> None:
    boxes, not_tried = usable(["process", "teapot"])
    assert boxes == {"process": "process, no isolation"}
    assert not_tried == [f"sandbox teapot: There is no sandbox 'teapot'. {not_tried[0].partition('. ')[2]}"]


def test_the_table_has_a_line_for_each_way_to_the_model_and_a_column_for_each_sandbox() -> None:
    one, two = (Kind(prefix, "llama.cpp 1", lambda: ScriptedModel([])) for prefix in ("local:", "openai:"))
    rows = [
        Row(one, "bubblewrap 1", "proven", "failed", 61.4, 12345),
        Row(one, "docker 2", "proven", "proven", 50.0, 900),
        Row(two, "docker 2", "broken", "proven", 5.0, 90),
    ]
    assert table(rows).splitlines() == [
        "| model | through | bubblewrap 1 | docker 2 |",
        "|---|---|---|---|",
        "| `local:` | llama.cpp 1 | write proven, fix failed, 61 s, 12,345 tokens"
        " | write proven, fix proven, 50 s, 900 tokens |",
        "| `openai:` | llama.cpp 1 | not tried | write broken, fix proven, 5 s, 90 tokens |",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["openai", "anthropic", "ollama"])
def test_any_model_can_answer_behind_a_protocol(kind: str, tmp_path: Path) -> None:
    """So a real one stands behind Ollama's, where there is no Ollama."""
    model: Model = ScriptedModel(["Good morning!"])
    with serving(Peer(script=answered_by(model))) as peer:
        (tmp_path / "config.toml").write_text(f'[models.lab]\nkind = "{kind}"\nbase_url = "{peer.base_url(kind)}"\n')
        text, done = answer(open_model(f"lab:{MODEL}"), HELLO)
    assert text == "Good morning!"
    assert done.tokens_in > 0
