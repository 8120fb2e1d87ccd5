"""Answers written together are the answers each ask would get alone, and those that Transformers itself would write."""

import os
import re
import subprocess
import sys
import threading
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from burnish.errors import ModelError, PromptTooLong, SetupProblem
from burnish.events import Message
from burnish.json_schema import AnswerFlaw, NotBySchema, freeze_schema
from burnish.models.model import Ask, Chunk, Done
from burnish.models.names import open_model
from burnish.models.weights import TRANSFORMERS_EXTRA, TransformersSource, find_transformers_source
from tests.models.tiny_network import make_tiny
from tests.support import ROOT

try:
    import torch
    import transformers

    from burnish.models.huggingface.engine import EngineSize, load_weights, pack_prompts
    from burnish.models.huggingface.model import HuggingFaceModel, TokenDecoder, encode_prompt, engine_for
    from burnish.models.huggingface.slots import EngineRow, Slots, apply_penalty, draw_tokens, random_numbers
except ImportError:
    THERE = False
else:
    THERE = True

needs_torch = pytest.mark.skipif(not THERE, reason="torch and transformers are not installed: the extra [hf]")


def ask(words: str = "Say hello.", **settings: Any) -> Ask:
    message = Message(role="user", content=words)
    return Ask(**{"purpose": "test", "messages": (message,), "max_tokens": 24, **settings})


def answer(model: "HuggingFaceModel", question: Ask) -> tuple[str, Done]:
    pieces = list(model.stream(question, threading.Event()))
    done = pieces[-1]
    assert isinstance(done, Done)
    assert not any(isinstance(piece, Done) for piece in pieces[:-1])
    return "".join(piece.text for piece in pieces if isinstance(piece, Chunk)), done


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny(tmp_path_factory.mktemp("tiny"))


SIZES = {
    "burst of 1": {"burst": 1},
    "burst of 5": {"burst": 5},
    "short slots too": {"burst": 3, "short_slots": 2, "short_context": 64},
}


@pytest.fixture(params=SIZES)
def model(tiny: Path, request: pytest.FixtureRequest) -> "HuggingFaceModel":
    size = EngineSize(slots=4, context=256, reading_tokens=300, **SIZES[request.param])
    return HuggingFaceModel(f"huggingface:{tiny}", TransformersSource(str(tiny)), size)


def by_transformers(model: "HuggingFaceModel", question: Ask) -> list[int]:
    """The same answer from Transformers' own loop, on fresh weights."""
    network = transformers.AutoModelForCausalLM.from_pretrained(model.source.place, dtype=torch.float32)
    tokenizer = transformers.AutoTokenizer.from_pretrained(model.source.place)
    chat = [message.model_dump() for message in question.messages]
    text = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
    prompt = tokenizer(text, add_special_tokens=False, return_tensors="pt")
    out = network.generate(
        **prompt,
        max_new_tokens=question.max_tokens,
        do_sample=False,
        repetition_penalty=question.repetition_penalty,
        pad_token_id=tokenizer.eos_token_id,
    )
    return [token for token in out[0, prompt["input_ids"].shape[1] :].tolist() if token != tokenizer.eos_token_id]


def tokens(model: "HuggingFaceModel", question: Ask) -> list[int]:
    """The engine's answer as tokens, past the reader that would turn them into text."""
    list(model.stream(ask(max_tokens=1), threading.Event()))
    engine = engine_for(model.source, model.size)
    row = EngineRow(question, encode_prompt(question, engine), threading.Event())
    engine.submit(row)
    while not isinstance(news := row.news.get(timeout=30), Done):
        assert isinstance(news, list)
    return row.written


QUESTIONS = [ask("x" * length, max_tokens=20 + length // 3) for length in (1, 90, 7, 33, 150, 60, 2, 18, 45)]


@needs_torch
@pytest.mark.parametrize("penalty", [1.0, 1.3])
def test_asks_of_many_lengths_get_the_answers_that_transformers_would_write(
    model: "HuggingFaceModel", penalty: float
) -> None:
    questions = [question.model_copy(update={"repetition_penalty": penalty}) for question in QUESTIONS]

    def later(place: int) -> list[int]:
        time.sleep(place * 0.02)
        return tokens(model, questions[place])

    with ThreadPoolExecutor(len(questions)) as pool:
        together = list(pool.map(later, range(len(questions))))
    assert together == [by_transformers(model, question) for question in questions]
    assert len({tuple(found) for found in together}) > 5, "a model that always says the same proves little"


@needs_torch
def test_an_answer_depends_on_its_ask_and_seed_and_not_on_its_neighbours(model: "HuggingFaceModel") -> None:
    question = ask("abc", temperature=1.2, seed=7, max_tokens=40, top_k=30)
    alone = tokens(model, question)
    others = [
        ask("zz" * n, temperature=2.0, seed=n, max_tokens=60, top_k=0 if n == 3 else 40, repetition_penalty=1.1)
        for n in range(9)
    ]
    with ThreadPoolExecutor(10) as pool:
        busy = [pool.submit(tokens, model, other) for other in others]
        assert tokens(model, question) == alone
        assert all(found.result() for found in busy)
    assert tokens(model, question.model_copy(update={"seed": 8})) != alone


@needs_torch
def test_an_answer_keeps_the_promises_of_every_model(model: "HuggingFaceModel") -> None:
    text, done = answer(model, ask(temperature=0.8, max_tokens=9, seed=3))
    assert (text, done) == answer(model, ask(temperature=0.8, max_tokens=9, seed=3))
    assert done.tokens_out <= 9
    assert done.tokens_in > 10
    assert answer(model, ask(max_tokens=1))[1].tokens_out <= 1
    assert model.slots == 4
    assert re.fullmatch(r"transformers 5\S+ on (CPU, float32|\S.*, bfloat16), 4 slots", model.engine)
    model.warm_up()
    assert engine_for(model.source, model.size) is engine_for(model.source, model.size)
    model.close()


@needs_torch
def test_an_answer_ends_where_its_tokens_or_its_room_end(model: "HuggingFaceModel") -> None:
    found = [answer(model, ask("x" * 150, max_tokens=5000, seed=seed, temperature=3.0))[1] for seed in range(6)]
    for done in found:
        full = done.tokens_in + done.tokens_out == 256
        assert done.ended == "stop" or full
        assert done.tokens_in + done.tokens_out <= 256
    assert {done.ended for done in found} == {"length", "stop"}, "the samples show both"
    assert answer(model, ask("x", max_tokens=3))[1] == Done(
        tokens_in=found[0].tokens_in - 149, tokens_out=3, ended="length"
    )


@needs_torch
def test_a_prompt_that_does_not_fit_is_a_model_error_that_says_so(model: "HuggingFaceModel") -> None:
    with pytest.raises(PromptTooLong, match="256"):
        answer(model, ask("x" * 500))
    assert answer(model, ask())[1].tokens_out


@needs_torch
def test_a_cancel_ends_the_answer_soon_and_frees_its_slot(model: "HuggingFaceModel") -> None:
    answer(model, ask())
    engine = engine_for(model.source, model.size)
    cancels = [threading.Event() for _ in range(9)]
    streams = [model.stream(ask("q" * n, max_tokens=5000, temperature=9.0), cancel) for n, cancel in enumerate(cancels)]
    writers = [pool.write for pool in engine.pools]
    for pool, write in zip(engine.pools, writers, strict=True):
        pool.write = lambda *args, write=write: (time.sleep(0.02), write(*args))[1]  # type: ignore
    with ThreadPoolExecutor(9) as threads:
        readers = [threads.submit(list, stream) for stream in streams]
        time.sleep(0.3)
        asked = time.monotonic()
        for cancel in cancels:
            cancel.set()
        pieces = [reader.result() for reader in readers]
    assert time.monotonic() - asked < 1
    for pool, write in zip(engine.pools, writers, strict=True):
        pool.write = write  # type: ignore[method-assign]
    assert not all(isinstance(found[-1], Done) for found in pieces if found), "none of them had time to end"
    answer(model, ask())
    assert engine.under_way == []


@needs_torch
def test_a_reader_who_leaves_frees_the_slot(model: "HuggingFaceModel") -> None:
    stream = model.stream(ask("x", max_tokens=5000, temperature=9.0), threading.Event())
    next(stream)
    stream.close()
    answer(model, ask())
    assert engine_for(model.source, model.size).under_way == []


@needs_torch
def test_an_answer_that_is_left_costs_what_was_read(model: "HuggingFaceModel") -> None:
    whole = [piece for piece in model.stream(ask(), threading.Event()) if isinstance(piece, Done)][0]
    left = model.counted(ask(), "ab")
    assert (left.tokens_in, left.ended) == (whole.tokens_in, "enough")
    assert 0 < left.tokens_out <= 2


@needs_torch
def test_a_failure_reaches_every_ask_under_way_and_the_next_one_finds_a_fresh_engine(
    model: "HuggingFaceModel",
) -> None:
    before = answer(model, ask())
    engine = engine_for(model.source, model.size)

    def fails(*args: Any) -> Any:
        raise RuntimeError("the device went away")

    for pool in engine.pools:
        pool.write = fails  # type: ignore[assignment, method-assign]
    with ThreadPoolExecutor(9) as threads:
        futures = [threads.submit(answer, model, ask("a" * n)) for n in range(2)]
        problems = [future.exception() for future in futures]
    found = [problem for problem in problems if problem]
    assert found, "at least the ones that the broken engine had taken"
    assert all(isinstance(problem, ModelError) for problem in found)
    assert all("the device went away" in str(problem) for problem in found)
    assert isinstance(found[0].__cause__, RuntimeError)
    assert answer(model, ask()) == before
    assert engine_for(model.source, model.size) is not engine


@needs_torch
def test_weights_that_cannot_be_read_are_a_model_error(tmp_path: Path) -> None:
    (tmp_path / "empty.gguf").write_bytes(b"GGUF" + b"\0" * 100)
    model = HuggingFaceModel(
        "huggingface:empty.gguf", TransformersSource(str(tmp_path), "empty.gguf"), EngineSize(slots=1)
    )
    with pytest.raises(ModelError, match=r"huggingface:empty\.gguf"):
        answer(model, ask())


@needs_torch
def test_an_engine_that_computes_something_else_than_the_model_is_refused(tiny: Path) -> None:
    with torch.inference_mode():
        slots = Slots(load_weights(TransformersSource(str(tiny)), 256).network, 2, 256)
        slots.check()
        scaled = slots._network.lm_head.register_forward_hook(lambda head, given, scores: scores * 1.2)
        with pytest.raises(ModelError):
            slots.check()
        scaled.remove()
        slots.check()


@needs_torch
def test_layers_the_engine_cannot_run_are_refused(tiny: Path, tmp_path: Path) -> None:
    config = transformers.Qwen2Config.from_pretrained(tiny)
    config.use_sliding_window, config.sliding_window, config.layer_types = (
        True,
        16,
        ["full_attention", "sliding_attention"],
    )
    transformers.Qwen2ForCausalLM(config).save_pretrained(tmp_path)
    transformers.AutoTokenizer.from_pretrained(tiny).save_pretrained(tmp_path)
    model = HuggingFaceModel("huggingface:slides", TransformersSource(str(tmp_path)), EngineSize(slots=1, context=64))
    with pytest.raises(ModelError, match="sliding_attention"):
        answer(model, ask())


@needs_torch
def test_the_penalty_is_the_one_transformers_applies() -> None:
    torch.manual_seed(2)
    logits, ids = torch.randn(3, 50), torch.randint(0, 50, (3, 20))
    seen = torch.zeros(3, 50, dtype=torch.bool).scatter_(1, ids, True)
    wanted = transformers.RepetitionPenaltyLogitsProcessor(1.4)(ids, logits.clone())
    floats = torch.tensor([[0.0, 1.0, 0.0, 1.4]]).expand(3, -1)
    torch.testing.assert_close(apply_penalty(logits, seen, floats), wanted)


def drawn_often(scores: list[float], rows: int = 4000, wide: bool = False, **settings: float) -> set[int]:
    """All tokens that come up when a row with these settings is drawn often."""
    chosen = {"temperature": 1.0, "top_p": 1.0, "min_p": 0.0, "repetition_penalty": 1.0, **settings}
    top_k = torch.full((rows,), int(chosen.pop("top_k", 0)))
    floats = torch.tensor([list(chosen.values())]).expand(rows, -1)
    chance = random_numbers(torch.arange(rows), torch.arange(rows) * 3)
    return set(draw_tokens(torch.tensor([scores]).expand(rows, -1), floats, top_k, chance, wide).tolist())


@needs_torch
@pytest.mark.parametrize("wide", [False, True])
def test_each_setting_leaves_out_what_it_should(wide: bool) -> None:
    scores = [float(torch.tensor(share).log()) for share in (0.05, 0.5, 0.3, 0.15)]
    assert drawn_often(scores, wide=wide) == {0, 1, 2, 3}
    assert drawn_often(scores, wide=wide, temperature=0.0) == {1}
    assert drawn_often(scores, wide=wide, top_k=2) == {1, 2}
    assert drawn_often(scores, wide=wide, top_p=0.7) == {1, 2}
    assert drawn_often(scores, wide=wide, top_p=0.0) == {1}
    assert drawn_often(scores, wide=wide, min_p=0.2) == {1, 2, 3}


@needs_torch
def test_the_temperature_comes_last_as_in_llama_cpp() -> None:
    scores = [float(torch.tensor(share).log()) for share in (0.7, 0.2, 0.1)]
    assert drawn_often(scores, temperature=5.0, top_p=0.6) == {0}, "heated first, two tokens would have been needed"
    assert drawn_often(scores, temperature=9.0, min_p=0.5) == {0}, "heated first, all three would have been near"


@needs_torch
def test_chance_is_even_repeatable_and_different_for_each_seed_and_position() -> None:
    seeds, positions = torch.arange(200).repeat_interleave(100), torch.arange(100).repeat(200)
    found = random_numbers(seeds, positions)
    assert torch.equal(found, random_numbers(seeds, positions))
    assert 0 <= float(found.min()) < float(found.max()) < 1
    assert abs(float(found.mean()) - 0.5) < 0.01
    counts = torch.histc(found, 20, 0, 1)
    assert float(((counts - 1000) ** 2 / 1000).sum()) < 45, "chi-squared with 19 degrees of freedom"
    table = found.view(200, 100)
    for other in (table[1:] - table[:-1], table[:, 1:] - table[:, :-1]):
        assert abs(float(other.var()) - 1 / 6) < 0.01, "neighbours know nothing of each other"


@needs_torch
def test_draws_come_up_as_often_as_they_are_likely() -> None:
    shares = torch.tensor([0.6, 0.3, 0.1])
    rows = 20000
    floats = torch.tensor([[1.0, 1.0, 0.0, 1.0]]).expand(rows, -1)
    chance = random_numbers(torch.arange(rows), torch.full((rows,), 5))
    found = draw_tokens(shares.log().expand(rows, -1), floats, torch.full((rows,), 40), chance)
    assert torch.allclose(torch.bincount(found) / rows, shares, atol=0.015)


@needs_torch
def test_prompts_are_read_with_others_of_like_length_and_not_too_many_at_once() -> None:
    rows = [
        (slot, EngineRow(ask(), [0] * length, threading.Event())) for slot, length in enumerate([90, 10, 80, 12, 300])
    ]
    packs = [[slot for slot, _ in pack] for pack in pack_prompts(rows, 200)]
    assert packs == [[1, 3], [2, 0], [4]], "one that is too long alone is still read"


@needs_torch
def test_half_a_character_is_held_back_until_it_is_whole(tiny: Path) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny)
    found = tokenizer("héé€", add_special_tokens=False)["input_ids"]
    words = TokenDecoder(tokenizer)
    pieces = [words.add([token]) for token in found]
    assert "".join(pieces) + words.add([], last=True) == "héé€"
    assert not any("\ufffd" in piece for piece in pieces)
    cut = TokenDecoder(tokenizer)
    assert cut.add(found[:2]) + cut.add([], last=True) == "h\ufffd", (
        "an answer that ends there says that something is missing"
    )


@needs_torch
def test_a_folder_is_opened_by_its_name(tiny: Path) -> None:
    model = open_model(f"huggingface:{tiny}")
    assert model.name == f"huggingface:{tiny}"
    assert model.slots >= 4


@needs_torch
@pytest.mark.slow
def test_the_benchmark_runs_without_weights() -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "engine.py"), "tiny", "3"]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(ROOT / "src")}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^3 at a time: \d+ tokens/s; ratio \d", done.stdout, re.MULTILINE)


def test_names_mean_our_own_files_paths_folders_or_the_hub(tmp_path: Path) -> None:
    (tmp_path / "mine.Q5_K_M.gguf").touch()
    found = find_transformers_source(f"huggingface:{tmp_path}/mine.Q5_K_M.gguf")
    assert found == TransformersSource(str(tmp_path), "mine.Q5_K_M.gguf")
    assert found.quantisation == "weights dequantised from q5_k_m"
    assert TransformersSource("x", "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf").quantisation.endswith("q4_k_m")
    assert find_transformers_source(f"huggingface:{tmp_path}") == TransformersSource(str(tmp_path))
    assert find_transformers_source("huggingface:Qwen/Qwen2.5-Coder-0.5B-Instruct").quantisation == ""
    with pytest.raises(SetupProblem, match=r"gone\.gguf"):
        find_transformers_source(f"huggingface:{tmp_path}/gone.gguf")
    with pytest.raises(SetupProblem, match=r"--model huggingface:qwen2\.5-coder-0\.5b$"):
        find_transformers_source("huggingface:qwen2.5-coder-0.5")


def test_a_missing_extra_ends_with_the_line_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("burnish.models.weights.find_spec", lambda name: None)
    line = " ".join(f"'{package}'" for package in TRANSFORMERS_EXTRA)
    with pytest.raises(SetupProblem, match=re.escape(f"Type: {sys.executable} -m pip install {line}") + "$"):
        open_model("huggingface:qwen2.5-coder-0.5b")


def test_the_line_to_type_is_what_the_extra_asks_for() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert tuple(extras["hf"]) == TRANSFORMERS_EXTRA


TEAM = freeze_schema(
    {
        "type": "object",
        "properties": {
            "role": {"enum": ["cook", "pilot"]},
            "ages": {"type": "array", "minItems": 2, "maxItems": 3, "items": {"type": "integer"}},
            "next": {"anyOf": [{"$ref": "#/$defs/pair"}, {"type": "null"}]},
        },
        "required": ["role", "ages", "next"],
        "additionalProperties": False,
        "$defs": {
            "pair": {
                "type": "object",
                "properties": {"on": {"type": "boolean"}},
                "required": ["on"],
                "additionalProperties": False,
            }
        },
    }
)


@needs_torch
def test_a_model_that_writes_noise_writes_data_by_a_schema_beside_asks_without_one(model: "HuggingFaceModel") -> None:
    free = [ask(f"Say {number}.", seed=number, temperature=1.0) for number in range(3)]
    alone = [answer(model, question)[0] for question in free]
    bound = ask(json_schema=TEAM, max_tokens=120, temperature=0.7, seed=5)
    with ThreadPoolExecutor(4) as pool:
        (text, done), *others = pool.map(lambda question: answer(model, question), [bound, *free])
    assert [said for said, _ in others] == alone, "a neighbour with a schema changes nothing"
    if done.ended == "length":  # digits may go on for as long as they like
        with pytest.raises(NotBySchema) as broken:
            bound.read_data(text, done.ended)
        assert broken.value.flaw == AnswerFlaw.CUT
    else:
        assert bound.read_data(text, done.ended)["role"] in ("cook", "pilot")


@needs_torch
def test_an_answer_ends_before_its_stop_string_and_is_counted_to_there(model: "HuggingFaceModel") -> None:
    whole, _ = answer(model, ask())
    assert len(whole) > 6
    text, done = answer(model, ask(stop=(whole[3:6],)))
    assert text == whole[: whole.find(whole[3:6])]
    assert done.ended == "stop_string"


@needs_torch
def test_a_gguf_file_is_converted_once_and_read_from_what_was_kept(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from burnish.models.huggingface import engine

    monkeypatch.setattr(engine, "weights_folder", lambda: tmp_path)
    (tmp_path / "mine.gguf").write_bytes(b"GGUF")
    source = TransformersSource(str(tmp_path), "mine.gguf")
    kept = engine.find_converted(source, torch.float32)
    made = engine.load_weights(TransformersSource(str(tiny)), 256)
    engine.keep_converted(made.network, made.tokenizer, kept)
    again = engine.load_weights(source, 256)  # the file itself could not be read
    weights = again.network.state_dict()
    assert all(torch.equal(value, weights[name]) for name, value in made.network.state_dict().items())
    assert again.tokenizer("def f(x):\n")["input_ids"] == made.tokenizer("def f(x):\n")["input_ids"]

    (tmp_path / "mine.gguf").write_bytes(b"GGUF, another")
    newer = engine.find_converted(source, torch.float32)
    engine.keep_converted(made.network, made.tokenizer, newer)
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == [newer.name]


@needs_torch
def test_weights_that_cannot_be_kept_are_used_all_the_same(tiny: Path, tmp_path: Path) -> None:
    from burnish.models.huggingface import engine

    made = engine.load_weights(TransformersSource(str(tiny)), 256)
    tmp_path.joinpath("full").touch()
    engine.keep_converted(made.network, made.tokenizer, tmp_path / "full" / "mine-1-2")
