"""The scripted model says exactly what it was told to say."""

import json
import threading
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from burnish.errors import ModelError, SetupProblem
from burnish.events import Message
from burnish.json_schema import NotBySchema, freeze_schema
from burnish.models.model import Ask, Chunk, Done, Thought
from burnish.models.names import open_model
from burnish.models.scripted import ScriptedModel
from tests.support import ESC


def said(model: ScriptedModel, purpose: str = "draft", **more: Any) -> str:
    pieces = list(model.stream(Ask(purpose=purpose, **({"messages": ()} | more)), threading.Event()))
    assert isinstance(pieces[-1], Done)
    assert not any(isinstance(piece, Done) for piece in pieces[:-1])
    return "".join(piece.text for piece in pieces if isinstance(piece, Chunk))


def test_replies_come_in_order_and_the_last_one_again() -> None:
    model = ScriptedModel(["one", "two  words\n"])
    assert [said(model) for _ in range(3)] == ["one", "two  words\n", "two  words\n"]


def test_each_purpose_has_its_own_replies() -> None:
    model = ScriptedModel({"tests": ["t"], "draft": ["d1", "d2"]})
    assert [said(model, "draft"), said(model, "tests"), said(model, "draft")] == ["d1", "t", "d2"]


@pytest.mark.parametrize("script", [[], {}, {"tests": ["t"]}, {"draft": []}])
def test_a_script_without_an_answer_is_a_model_error(script: dict[str, list[str]]) -> None:
    with pytest.raises(ModelError, match="'draft'"):
        said(ScriptedModel(script))


def test_a_reply_ends_before_a_stop_string_and_is_counted_to_there() -> None:
    ask = Ask(purpose="draft", messages=(), stop=("d e",))
    pieces = list(ScriptedModel(["a b c d e f"]).stream(ask, threading.Event()))
    assert "".join(piece.text for piece in pieces if isinstance(piece, Chunk)) == "a b c "
    assert pieces[-1] == Done(tokens_in=0, tokens_out=4, ended="stop_string")


@pytest.mark.parametrize(("reply", "right"), [("[1, 2]", True), ('[1, "2"]', False)])
def test_a_reply_is_judged_by_the_schema_like_any_other(reply: str, right: bool) -> None:
    schema = freeze_schema({"type": "array", "items": {"type": "integer"}})
    ask = Ask(purpose="draft", messages=(), json_schema=schema)
    text = said(ScriptedModel([reply]), json_schema=schema)
    with nullcontext() if right else pytest.raises(NotBySchema):
        assert ask.read_data(text) == [1, 2]


def test_setting_cancel_ends_the_answer_without_a_done() -> None:
    cancel = threading.Event()
    stream = ScriptedModel(["a b c d"]).stream(Ask(purpose="draft", messages=()), cancel)
    assert next(stream) == Chunk(text="a ")
    cancel.set()
    assert list(stream) == []


def test_what_was_asked_can_be_looked_at() -> None:
    model = ScriptedModel(["x"])
    said(model)
    assert [ask.purpose for ask in model.asked] == ["draft"]


def test_a_script_may_be_a_file_of_the_users(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({"draft": [f"{ESC}[31m"]}))
    model = open_model(f"scripted:{path}")
    assert model.name == f"scripted:{path}"
    assert said(model) == f"{ESC}[31m"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text", [b"", b"{", b"\xff\xfe", b"3", b'"text"', b'{"draft": "text"}', b'{"draft": [1]}', b"[null]"]
)
def test_a_file_that_is_no_script_is_refused_with_what_one_is(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(text)
    with pytest.raises(SetupProblem, match=r"broken\.json.*--model scripted:demo$"):
        open_model(f"scripted:{path}")


def test_a_script_that_does_not_exist_names_those_that_do() -> None:
    with pytest.raises(SetupProblem, match=r"'nope'.*--model scripted:demo$"):
        open_model("scripted:nope")


def test_a_reply_may_begin_with_thoughts_as_long_as_there_are_tokens_for_them() -> None:
    model = ScriptedModel(["<think>one two three</think>\nthe answer"])
    for tokens, thoughts in ((0, ""), (2, "one two "), (9, "one two three ")):
        ask = Ask(purpose="draft", messages=(), thinking=tokens)
        pieces = list(model.stream(ask, threading.Event()))
        assert "".join(piece.text for piece in pieces if isinstance(piece, Thought)) == thoughts
        assert "".join(piece.text for piece in pieces if isinstance(piece, Chunk)) == "the answer"
        assert pieces[-1] == Done(tokens_in=0, tokens_out=2 + min(tokens, 3), tokens_thought=min(tokens, 3))
    assert said(ScriptedModel(["see <think>x</think>"])) == "see <think>x</think>"


def test_a_purpose_may_be_narrowed_to_asks_that_say_something() -> None:
    model = ScriptedModel(
        {"page": ["any"], "page: a gun": ["gun"], "page: a gun that shoots": ["shoots"], "tests": ["t"]}
    )
    answers = {
        words: said(model, "page", messages=(Message(role="user", content=words),))
        for words in ("a ball", "draw a gun", "draw a gun that shoots", "tests")
    }
    assert list(answers.values()) == ["any", "gun", "shoots", "any"]


def test_a_reply_may_be_a_file_beside_the_script(tmp_path: Path) -> None:
    (tmp_path / "answer.md").write_text("from a file", "utf-8")
    script = tmp_path / "mine.json"
    script.write_text('["file:answer.md", "a file: answer.md"]')
    model = open_model(f"scripted:{script}")
    assert [said(model), said(model)] == ["from a file", "a file: answer.md"]  # type: ignore[arg-type]
    script.write_text('["file:missing.md"]')
    with pytest.raises(SetupProblem, match=r"mine\.json"):
        open_model(f"scripted:{script}")
