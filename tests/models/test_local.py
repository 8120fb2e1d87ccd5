"""The embedded model keeps every model's promises, and its server talks to nobody else."""

import re
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from burnish import config
from burnish.errors import ModelError, PromptTooLong
from burnish.events import Message
from burnish.json_schema import AnswerFlaw, NotBySchema, freeze_schema
from burnish.models import local
from burnish.models.http import read_prompt_too_long
from burnish.models.local import LlamaSettings, LocalModel, server_for
from burnish.models.model import Ask, Chunk, Done, Waiting
from tests.snapshots import assert_snapshot

HELLO = Ask(purpose="test", messages=(Message(role="user", content="Say hello in one word."),), max_tokens=8, seed=1)
LONG = HELLO.model_copy(update={"max_tokens": 2000, "messages": (Message(role="user", content="Count to 1000."),)})


def answer(model: LocalModel, ask: Ask) -> tuple[str, Done]:
    pieces = list(model.stream(ask, threading.Event()))
    done = pieces[-1]
    assert isinstance(done, Done)
    return "".join(piece.text for piece in pieces if isinstance(piece, Chunk)), done


def test_a_file_that_is_no_model_is_a_model_error(tmp_path: Path) -> None:
    path = tmp_path / "empty.gguf"
    path.write_bytes(b"GGUF" + b"\0" * 100)
    with pytest.raises(ModelError, match=r"empty\.gguf"):
        list(LocalModel("local:empty", path).stream(HELLO, threading.Event()))


@pytest.mark.parametrize(
    ("file", "bits"),
    [("qwen2.5-coder-0.5b-instruct-q4_k_m.gguf", ", q4_k_m"), ("mine.Q8_0.gguf", ", q8_0"), ("my-model.gguf", "")],
)
def test_the_engine_is_named_with_its_version_and_how_coarse_the_weights_are(file: str, bits: str) -> None:
    engine = LocalModel("local:any", Path(file)).engine
    assert re.fullmatch(rf"llama\.cpp \(xllamacpp [\d.]+\){bits}", engine)


def test_a_prompt_over_the_context_is_refused_in_the_words_of_every_engine() -> None:
    said = "Error code: 400 - request (5030 tokens) exceeds the available context size (4096 tokens), try increasing it"
    refused = read_prompt_too_long(ValueError(said))
    assert_snapshot(str(refused), "models/prompt-too-long")
    assert read_prompt_too_long(ValueError("Error code: 500 - something else")) is None


def test_an_engine_that_guesses_ahead_says_so() -> None:
    assert LocalModel("local:any", Path("mine.Q8_0.gguf"), speculate=True).engine.endswith(", guessing ahead), q8_0")


def test_context_and_layers_are_those_of_the_settings_and_no_more_than_the_model_was_made_for() -> None:
    path = Path("mine.gguf")
    assert LocalModel("local:any", path).settings == LlamaSettings(path, context=4096, gpu_layers="auto")
    config.put("context", "65536")
    config.put("gpu_layers", "7")
    assert LocalModel("local:any", path).settings == LlamaSettings(path, context=65536, gpu_layers=7)
    assert LocalModel("local:qwen2.5-coder-0.5b", path).context == 32768


def test_layers_go_to_a_gpu_only_where_the_build_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = {"auto": -1, 12: 12, 0: 0}
    for gpus in ((), ("Vulkan0 (some card)",)):
        monkeypatch.setattr(local, "list_gpus", lambda gpus=gpus: gpus)
        for layers, computed in wanted.items():
            settings = LlamaSettings(Path("mine.gguf"), gpu_layers=layers)
            assert settings.layers_on_gpu == (computed if gpus else 0)
    assert LocalModel("local:any", Path("my.gguf")).engine.endswith(", all layers on Vulkan0 (some card)")


CREW = freeze_schema(
    {
        "type": "object",
        "properties": {
            "people": {
                "type": "array",
                "minItems": 2,
                "maxItems": 2,
                "items": {
                    "type": "object",
                    "properties": {"name": {"type": "string", "maxLength": 20}, "role": {"enum": ["cook", "pilot"]}},
                    "required": ["name", "role"],
                    "additionalProperties": False,
                },
            }
        },
        "required": ["people"],
        "additionalProperties": False,
    }
)


@pytest.mark.model
@pytest.mark.timeout(300)
def test_the_real_model_answers_by_a_nested_schema_what_it_would_answer_in_verse(model_weights: Path) -> None:
    poem = Message(role="user", content="Write a poem about Ada, who flies the plane, and Bob, who cooks.")
    free = Ask(purpose="test", messages=(poem,), max_tokens=60, json_schema="")
    bound = free.model_copy(update={"json_schema": CREW, "max_tokens": 120})
    model = LocalModel("local:small", model_weights)
    text, done = answer(model, bound)
    assert {person["role"] for person in bound.read_data(text, done.ended)["people"]} <= {"cook", "pilot"}
    with pytest.raises(NotBySchema):
        bound.read_data(*answer(model, free)[:1])
    text, done = answer(model, bound.model_copy(update={"max_tokens": 8}))
    with pytest.raises(NotBySchema) as broken:
        bound.read_data(text, done.ended)
    assert broken.value.flaw == AnswerFlaw.CUT


@pytest.mark.model
@pytest.mark.timeout(300)
def test_the_real_model_stops_before_a_string_that_comes_in_several_tokens(model_weights: Path) -> None:
    model = LocalModel("local:small", model_weights)
    ask = LONG.model_copy(update={"max_tokens": 40})
    whole, _ = answer(model, ask)
    stop = whole[len(whole) // 2 : len(whole) // 2 + 6]
    text, done = answer(model, ask.model_copy(update={"stop": (stop,)}))
    assert text == whole[: whole.find(stop)], "token for token the same up to there"
    assert done.ended == "stop_string"


@pytest.mark.model
@pytest.mark.timeout(300)
def test_the_real_model_keeps_its_promises(model_weights: Path) -> None:
    model = LocalModel("local:small", model_weights)
    text, done = answer(model, HELLO)
    assert text.strip()
    assert 0 < done.tokens_out <= 8
    assert done.tokens_in > 5
    assert answer(model, HELLO)[0] == text, "the same ask, seed and temperature give the same answer"
    assert server_for(LlamaSettings(model_weights)) is server_for(LlamaSettings(model_weights))

    left = model.counted(HELLO, text)
    assert (left.tokens_in, left.ended) == (done.tokens_in, "enough"), "an answer that is left is counted alike"
    assert abs(left.tokens_out - done.tokens_out) <= 1, "but for the token that says that it is the end"

    with ThreadPoolExecutor(4) as pool:
        assert all(said for said, _ in pool.map(lambda _: answer(model, HELLO), range(4)))

    cut = LONG.model_copy(update={"max_tokens": 3})
    assert answer(model, cut)[1].ended == "length"

    too_long = HELLO.model_copy(update={"messages": (Message(role="user", content="word " * 5000),)})
    with pytest.raises(PromptTooLong, match=r"50\d\d .*4096"):
        answer(model, too_long)

    cancel = threading.Event()
    for piece in model.stream(LONG, cancel):
        if isinstance(piece, Chunk) and not cancel.is_set():
            cancel.set()
            asked = time.monotonic()
        assert not isinstance(piece, Done)
        assert isinstance(piece, Chunk | Waiting)
    assert time.monotonic() - asked < 1


LEAVES = """
import sys, threading
from pathlib import Path
from burnish.events import Message
from burnish.models.local import LocalModel
from burnish.models.model import Ask, Chunk
ask = Ask(purpose="test", messages=(Message(role="user", content="Count to 1000."),), max_tokens=900)
for piece in LocalModel("local:small", Path(sys.argv[1])).stream(ask, threading.Event()):
    if isinstance(piece, Chunk):
        break
"""


@pytest.mark.model
@pytest.mark.timeout(300)
def test_python_ends_well_while_an_answer_that_was_left_is_still_written(model_weights: Path) -> None:
    assert subprocess.run([sys.executable, "-c", LEAVES, str(model_weights)], check=False, timeout=280).returncode == 0
