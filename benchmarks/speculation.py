"""How much faster repairs are written when the embedded model guesses ahead from the code it was shown.

    python benchmarks/speculation.py [local:qwen2.5-coder-0.5b] [repairs]

Each repair is a function of MBPP (the tuning half, never the one that is reported) with a planted bug. The same
prompts go to two servers in this process, one that guesses and one that does not, greedily, one and four at a time.
The two take turns, and who is first changes, so that a busy machine slows both. A prompt goes to each server once, so
none is found in a cache. Prints tokens a second, their ratio, and how many answers are the same word for word: guessed
tokens are computed together, which rounds a little differently, so near ties may fall otherwise.
"""

import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from burnish.evals.suites import load_suite
from burnish.events import Message
from burnish.models.local import LocalModel
from burnish.models.model import Ask, Chunk, Done
from burnish.models.weights import ensure_weights
from burnish.tasks.task import Task

MODEL = "local:qwen2.5-coder-0.5b"
REPAIRS = 40
TOKENS = 400
WORDS = """\
Task: {prompt}

This code is wrong:
```python
{code}
```

It must pass:
{tests}

Find the mistake and write the corrected code. Answer with the whole function in one Python code block."""


def main(name: str, repairs: int) -> None:
    weights = ensure_weights(name)
    models = [LocalModel(name, weights, speculate=False), LocalModel(name, weights, speculate=True)]
    for model in models:
        answered(model, Ask(purpose="warm-up", messages=(Message(role="user", content="Say hello."),), max_tokens=4))
    asks = [question(task) for task in load_suite("mbppfix", split="tune")[: 2 * repairs]]
    compare(models, asks[:repairs], 1)
    compare(models, asks[repairs:], 4)


def compare(models: Sequence[LocalModel], asks: Sequence[Ask], at_once: int) -> None:
    seconds = dict.fromkeys(models, 0.0)
    tokens = dict.fromkeys(models, 0)
    said: dict[LocalModel, list[str]] = {model: [] for model in models}
    for turn, first in enumerate(range(0, len(asks), at_once)):
        group = asks[first : first + at_once]
        for model in models if turn % 2 else reversed(models):
            started = time.monotonic()
            with ThreadPoolExecutor(at_once) as pool:
                answers = list(pool.map(lambda ask, model=model: answered(model, ask), group))
            seconds[model] += time.monotonic() - started
            tokens[model] += sum(count for _, count in answers)
            said[model] += [text for text, _ in answers]
    without, guessing = (tokens[model] / seconds[model] for model in models)
    same = sum(a == b for a, b in zip(*said.values(), strict=True))
    print(
        f"{at_once} at a time: without {without:.1f}, guessing {guessing:.1f} tokens/s; "
        f"ratio {guessing / without:.2f}; {same} of {len(asks)} answers the same",
        flush=True,
    )


def answered(model: LocalModel, ask: Ask) -> tuple[str, int]:
    pieces = list(model.stream(ask, threading.Event()))
    count = next(piece.tokens_out for piece in pieces if isinstance(piece, Done))
    return "".join(piece.text for piece in pieces if isinstance(piece, Chunk)), count


def question(task: Task) -> Ask:
    words = WORDS.format(prompt=task.prompt, code=task.base_code.rstrip(), tests="\n".join(task.visible_tests))
    return Ask(purpose="benchmark", messages=(Message(role="user", content=words),), max_tokens=TOKENS)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else MODEL, int(sys.argv[2]) if len(sys.argv) > 2 else REPAIRS)
