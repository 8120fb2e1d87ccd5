"""Tokens a second through Burnish over the bare xllamacpp server: same weights, same prompts, one and four at a time.

    python benchmarks/tokens.py [local:qwen2.5-coder-0.5b]

"Bare" posts to the embedded server with the standard library and reads the whole answer at once; "Burnish" asks
through `agent.ask` as every node does, with streaming, events and limits. The two take turns, so that a busy machine
slows both. Prints one ratio for each; at least 0.9 is wanted.
"""

import json
import sys
import threading
import time
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from burnish.agent.ask import Tools, ask
from burnish.agent.limits import Limits, Meter
from burnish.events import Message
from burnish.models.catalog import DEFAULT_MODEL
from burnish.models.local import server_for
from burnish.models.model import Ask
from burnish.models.names import open_model

TASKS = ["reverses a string", "counts vowels", "checks for a prime", "sorts by the second item", "merges two dicts"]
TURNS = 4
TOKENS = 128


def main(name: str) -> None:
    model = open_model(name)
    model.warm_up()
    server = server_for(model.settings)
    server.ready.wait()
    tools = Tools(
        model=model,
        sandbox=None,
        meter=Meter(Limits(calls=10_000, tokens=10**9, seconds=10**6)),
        cancel=threading.Event(),
    )

    def bare(question: Ask) -> int:
        body = {
            "messages": [message.model_dump() for message in question.messages],
            "temperature": 0,
            "max_tokens": TOKENS,
            "seed": question.seed,
        }
        request = urllib.request.Request(
            f"{server.address}/v1/chat/completions", json.dumps(body).encode(), {"content-type": "application/json"}
        )
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)["usage"]["completion_tokens"]

    def burnish(question: Ask) -> int:
        steps = ask(tools, "benchmark", question)
        while True:
            try:
                next(steps)
            except StopIteration as stop:
                return stop.value.tokens_out

    for at_once in (1, 4):
        ratio(at_once, bare, burnish)


def ratio(at_once: int, bare: Callable[[Ask], int], burnish: Callable[[Ask], int]) -> None:
    ways = [("bare", bare), ("burnish", burnish)]
    speeds: dict[str, list[float]] = {"bare": [], "burnish": []}
    for turn in range(TURNS):
        for name, way in ways if turn % 2 else reversed(ways):  # who comes second finds the prompt in the cache
            speeds[name].append(speed(way, [question(turn, place) for place in range(at_once)]))
    mean = {name: sum(found) / TURNS for name, found in speeds.items()}
    print(
        f"{at_once} at a time: bare {mean['bare']:.1f}, burnish {mean['burnish']:.1f} tokens/s; "
        f"ratio {mean['burnish'] / mean['bare']:.2f}",
        flush=True,
    )


def speed(way: Callable[[Ask], int], questions: list[Ask]) -> float:
    started = time.monotonic()
    with ThreadPoolExecutor(len(questions)) as pool:
        tokens = sum(pool.map(way, questions))
    return tokens / (time.monotonic() - started)


def question(turn: int, place: int) -> Ask:
    words = f"Variant {turn}.{place}: write a long, well commented Python function that {TASKS[place]}, with examples."
    return Ask(purpose="benchmark", messages=(Message(role="user", content=words),), max_tokens=TOKENS, seed=turn)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else DEFAULT_MODEL)
