"""Does the way to the weights change the answer? Twenty greedy answers of the 0.5B, by each engine, word for word.

    .venv/bin/python -m experiments.same_answers [--engines local,openai,huggingface] [--save FILE] [--with FILE]

`local` asks the embedded engine, `openai` the same engine's own server through OpenAI's protocol, `huggingface`
Transformers (the extra [hf]; float32 on a processor, bfloat16 on a GPU). Each begins in a process of its own, as what
llama.cpp still holds of earlier prompts changes how the next one is summed up. `--save` keeps the answers, `--with`
reads those of another machine. Where two part, both ways to go on are shown, with what the engine itself thought of
its two best tokens there: a gap of a tenth is a near tie, which another rounding decides otherwise.
"""

import argparse
import json
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from itertools import combinations
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from experiments.own_settings import settings_in

from burnish.events import Message
from burnish.models.local import LlamaServer, LocalModel, server_for
from burnish.models.model import Ask, Chunk, Model
from burnish.models.names import open_model
from burnish.models.weights import ensure_weights
from burnish.paths import describe_origin

SMALL = "qwen2.5-coder-0.5b"
MOST_TOKENS = 120
LOAD_SECONDS, ANSWER_SECONDS = 300.0, 300.0
"""An engine that takes longer on two cores hangs."""
NEAR_TIE = 0.1
"""Of natural logarithms: the runner-up is then at least nine tenths as likely as the winner."""
SHOWN = 60
ORIGIN = "origin"
PROMPTS = (
    "Write a Python function `double(n)` that returns twice n. Only the code.",
    "Write a Python function `is_leap(year)` for the Gregorian calendar. Only the code.",
    "Write a Python function `vowels(text)` that counts the vowels in a text. Only the code.",
    "Write a Python function `flatten(lists)` that joins a list of lists into one list. Only the code.",
    "Write a Python function `gcd(a, b)` without importing anything. Only the code.",
    "Write a Python function `initials(name)`: the first letter of each word, in capitals. Only the code.",
    "Write a Python function `median(numbers)` for a list that is not empty. Only the code.",
    "Write a Python function `rotate(items, k)` that moves the last k items to the front. Only the code.",
    "Write a Python function `is_palindrome(text)` that ignores case and spaces. Only the code.",
    "Write a Python function `chunks(items, size)` that splits a list into lists of at most `size`. Only the code.",
    "Write a Python function `primes(limit)` with the sieve of Eratosthenes. Only the code.",
    "Write a Python class `Stack` with push, pop and peek; pop of an empty one raises IndexError. Only the code.",
    "Repair this function, it should sum the squares:\n\ndef f(xs):\n    return sum(xs) ** 2\n\nOnly the code.",
    "Repair this function, it forgets the last item:\n\ndef last_two(xs):\n    return xs[-3:-1]\n\nOnly the code.",
    "Write three assert statements that test a function `add(a, b)`. Only the code.",
    "Write four assert statements that test a function `reverse(text)`. Only the code.",
    "Explain in two sentences what a Python generator is.",
    "Name three differences between a list and a tuple in Python, one line each.",
    "Which exception does `int('x')` raise in Python, and why? Answer in one sentence.",
    'Answer with JSON only: an object with the keys "name" and "year" for the first version of Python.',
)


@dataclass(frozen=True)
class Step:
    """One token of an answer: how far ahead of which other one it was."""

    token: str
    other: str
    gap: float


@dataclass(frozen=True)
class Answer:
    """What an engine wrote, and its steps where it tells them."""

    text: str
    steps: tuple[Step, ...] = ()


Answers = dict[str, Answer]
"""By prompt."""


def ask_for(prompt: str) -> Ask:
    return Ask(purpose="experiment", messages=(Message(role="user", content=prompt),), max_tokens=MOST_TOKENS)


def text_of(model: Model, prompt: str, seconds: float = ANSWER_SECONDS) -> str:
    """The whole answer; one that does not come to its end in time is none."""
    late = threading.Event()
    timer = threading.Timer(seconds, late.set)
    timer.start()
    try:
        text = "".join(piece.text for piece in model.stream(ask_for(prompt), late) if isinstance(piece, Chunk))
    finally:
        timer.cancel()
    if late.is_set():
        raise TimeoutError(f"{model.name} did not answer within {seconds:g} seconds: {prompt!r}")
    return text


def by_local() -> Answers:
    model = open_model(f"local:{SMALL}")
    return {prompt: Answer(text_of(model, prompt)) for prompt in PROMPTS}


def by_openai() -> Answers:
    """Through the server's own door; the steps are asked for apart, so that the answers are those that users get."""
    model = LocalModel(f"local:{SMALL}", ensure_weights(f"local:{SMALL}"))
    server = server_for(model.settings)
    if not server.ready.wait(LOAD_SECONDS) or server.problem:
        raise TimeoutError(f"llama.cpp did not load {model.weights}: {server.problem or 'it takes too long'}")
    with tempfile.TemporaryDirectory() as folder, settings_in(file := Path(folder, "config.toml")):
        file.write_text(f'[models.lab]\nkind = "openai"\nbase_url = "{server.address}/v1"\n')
        served = open_model(f"lab:{SMALL}")
        texts = {prompt: text_of(served, prompt) for prompt in PROMPTS}
        return {prompt: _with_steps(text, server, prompt) for prompt, text in texts.items()}


def _with_steps(text: str, server: LlamaServer, prompt: str) -> Answer:
    question = {
        "messages": [{"role": "user", "content": prompt}],
        "max_tokens": MOST_TOKENS,
        "temperature": 0,
        "logprobs": True,
        "top_logprobs": 2,
    }
    choice = server.post("/v1/chat/completions", question, ANSWER_SECONDS)["choices"][0]
    if choice["message"]["content"] != text:
        return Answer(text)
    return Answer(text, tuple(_steps(choice["logprobs"]["content"])))


def _steps(told: Sequence[dict[str, Any]]) -> Iterator[Step]:
    for one in told:
        others = [top for top in one["top_logprobs"] if top["token"] != one["token"]]
        if others:
            yield Step(one["token"], others[0]["token"], one["logprob"] - others[0]["logprob"])


def by_huggingface() -> Answers:
    """Each answer alone, and then all its tokens looked at once more for how sure each was."""
    from burnish.models.huggingface.model import HuggingFaceModel, encode_prompt, engine_for
    from burnish.models.names import open_model

    model = open_model(f"huggingface:{SMALL}")
    assert isinstance(model, HuggingFaceModel)
    texts = {prompt: text_of(model, prompt) for prompt in PROMPTS}
    engine = engine_for(model.source, model.size)
    network = _plain_network(model.source)
    return {
        prompt: Answer(text, tuple(_looked_at(network, engine.loaded, encode_prompt(ask_for(prompt), engine), text)))
        for prompt, text in texts.items()
    }


def _plain_network(source: Any) -> Any:
    """The same weights with the attention that Transformers comes with: the engine's own needs its slots."""
    import torch
    from transformers import AutoModelForCausalLM

    where = {"gguf_file": source.gguf} if source.gguf else {}
    return AutoModelForCausalLM.from_pretrained(source.place, dtype=torch.float32, **where).eval()


def _looked_at(network: Any, loaded: Any, prompt: list[int], text: str) -> Iterator[Step]:
    import torch

    answer = loaded.tokenizer(text, add_special_tokens=False)["input_ids"]
    with torch.no_grad():
        rows = network(torch.tensor([[*prompt, *answer]])).logits[0, len(prompt) - 1 : -1].log_softmax(-1)
    for token, row in zip(answer, rows, strict=True):
        best = row.topk(2).indices.tolist()
        other = best[1] if best[0] == token else best[0]
        word, instead = (loaded.tokenizer.decode([one]) for one in (token, other))
        yield Step(word, instead, gap=float(row[token] - row[other]))


ENGINES: dict[str, Callable[[], Answers]] = {"local": by_local, "openai": by_openai, "huggingface": by_huggingface}


def parting(one: Answer, two: Answer) -> int:
    """The first character in which two answers differ; -1 where they are the same."""
    if one.text == two.text:
        return -1
    pairs = enumerate(zip(one.text, two.text, strict=False))
    return next((place for place, (left, right) in pairs if left != right), min(len(one.text), len(two.text)))


def step_at(answer: Answer, place: int) -> Step | None:
    """The token that wrote this character; None where the engine did not tell, or had come to its end."""
    end = 0
    for step in answer.steps:
        end += len(step.token)
        if end > place:
            return step
    return None


def compared(names: tuple[str, str], one: Answers, two: Answers) -> Iterator[str]:
    """How many are the same, and where the others part."""
    both = [prompt for prompt in PROMPTS if prompt in one and prompt in two]
    apart = [prompt for prompt in both if parting(one[prompt], two[prompt]) >= 0]
    near = [prompt for prompt in apart if _is_near(one[prompt], two[prompt])]
    yield f"{names[0]} and {names[1]}: {len(both) - len(apart)} of {len(both)} the same, word for word" + (
        f"; of the other {len(apart)}, {len(near)} part at a near tie" if apart else ""
    )
    for prompt in apart:
        place = parting(one[prompt], two[prompt])
        yield f"  {prompt.splitlines()[0]!r} parts at character {place}:"
        for name, answer in zip(names, (one[prompt], two[prompt]), strict=True):
            around = answer.text[max(0, place - SHOWN // 2) : place + SHOWN // 2]
            yield f"    {name}: {around!r}{_thought(answer, place)}"


def _is_near(one: Answer, two: Answer) -> bool:
    place = parting(one, two)
    steps = [step for answer in (one, two) if (step := step_at(answer, place))]
    return any(abs(step.gap) <= NEAR_TIE for step in steps)


def _thought(answer: Answer, place: int) -> str:
    step = step_at(answer, place)
    return f" ({step.token!r} before {step.other!r} by {step.gap:.3f})" if step else ""


def saved(path: Path, told: dict[str, Answers]) -> None:
    data = {name: {prompt: asdict(answer) for prompt, answer in by.items()} for name, by in told.items()}
    path.write_text(json.dumps({ORIGIN: describe_origin(), **data}, indent=1, ensure_ascii=False), "utf-8")


def read(path: Path) -> dict[str, Answers]:
    data = json.loads(path.read_text("utf-8"))
    return {
        name: {
            prompt: Answer(said["text"], tuple(Step(**step) for step in said["steps"])) for prompt, said in by.items()
        }
        for name, by in data.items()
        if name != ORIGIN
    }


def main(engines: Sequence[str], files: Sequence[Path], save: Path | None) -> None:
    told: dict[str, Answers] = {}
    for file in files:
        told |= read(file)
    for name in engines:
        with ProcessPoolExecutor(1, get_context("spawn")) as alone:
            told[name] = alone.submit(ENGINES[name]).result()
        print(f"{name}: {len(told[name])} answers", flush=True)
    if save:
        saved(save, told)
    for pair in combinations(told, 2):
        print(*compared(pair, told[pair[0]], told[pair[1]]), sep="\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", default="local,openai", help=f"who is asked now, of {', '.join(ENGINES)}; or none")
    parser.add_argument("--with", dest="files", action="append", type=Path, default=[], help="answers that were saved")
    parser.add_argument("--save", type=Path, help="a file for all answers")
    asked = parser.parse_args()
    main([name for name in asked.engines.split(",") if name in ENGINES], asked.files, asked.save)
