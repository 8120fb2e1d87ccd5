"""Benchmark files of a few rows each, and a model that answers their tasks."""

import gzip
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from burnish.evals.strategies.baselines import MOST_CALLS
from burnish.models.model import Ask, Chunk, Done, Piece
from tests.support import block

MBPP = (
    (11, "Write a function to remove the first and the last occurrence of a letter from a string.", "trim", "return s"),
    (511, "Write a function to add the squares of all numbers that are smaller than a limit.", "squares", "return 0"),
    (601, "Write a function to double a number and to add one.", "odd", "n = n * 2\n    return n + 1"),
    (602, "Write a python function to count how often a number is in a list.", "often", "return xs.count(x)"),
    (603, "Write a function to add the squares of all numbers that are smaller than the limit.", "near", "return 0"),
    (604, "Write a function that MBPP+ has, too.", "plus", "return 1"),
    (
        605,
        "Write a function to remove the first and the last occurrence of a letter from a string of any kind, and "
        "to leave all others, those that stand between two equal ones included, where they are.",
        "cut",
        "return s[1:]",
    ),
)
CALLS = {
    "odd": ("n", ["odd(1) == 3", "odd(5) == 11"]),
    "often": ("xs, x", ["often([1, 1], 1) == 2", "often([2], 1) == 0"]),
}
PLUS = {
    "task_id": "Mbpp/604",
    "prompt": '"""\nWrite a function that MBPP+ has, too.\nassert plus() == 1\n"""\n',
    "entry_point": "plus",
    "canonical_solution": "\ndef plus():\n    return 1\n",
    "base_input": [[]],
    "plus_input": [],
    "atol": 0,
    "contract": "",
    "assertion": "\nassert plus() == 1\n",
}
HUMANEVAL = {
    "task_id": "Python/0",
    "prompt": 'def pairs(xs):\n    """Say how many pairs of equal neighbours a list of numbers has in all."""\n',
    "declaration": "def pairs(xs):\n",
    "canonical_solution": "    return sum(a == b for a, b in zip(xs, xs[1:]))\n",
    "buggy_solution": "    return sum(a != b for a, b in zip(xs, xs[1:]))\n",
    "bug_type": "operator misuse",
    "failure_symptoms": "incorrect output",
    "entry_point": "pairs",
    "import": "",
    "test_setup": "",
    "test": "\ndef check(pairs):\n    assert pairs([1, 1]) == 1\n\ncheck(pairs)",
    "example_test": "",
    "signature": "pairs(xs)",
    "docstring": "Say how many pairs of equal neighbours a list of numbers has in all.",
    "instruction": "",
}


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the benchmark files."""
    folder = tmp_path / "data"
    folder.mkdir()
    rows = []
    for number, text, name, body in MBPP:
        takes, calls = CALLS.get(name, ("s=0", [f"{name}() is not None"]))
        code = f"def {name}({takes}):\n    {body}\n"
        tests = [f"assert {call}" for call in calls]
        rows.append({"task_id": number, "text": text, "code": code, "test_setup_code": "", "test_list": tests,
                     "challenge_test_list": []})  # fmt: skip
    (folder / "mbpp.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    with gzip.open(folder / "MbppPlus.jsonl.gz", "wt") as file:
        file.write(f"{json.dumps(PLUS)}\n")
    (folder / "humanevalpack-python.jsonl").write_text(f"{json.dumps(HUMANEVAL)}\n")
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "cache"))
    return folder


class Learner:
    """Right at even seeds and wrong at odd ones; a broken function is given back as it is."""

    name, slots = "scripted:learner", 4

    def stream(self, ask: Ask, cancel: threading.Event) -> Iterator[Piece]:
        text, number = ask.messages[-1].content, ask.seed // MOST_CALLS
        if ask.purpose == "fix":
            yield Chunk(text=block(text.split("```python\n")[1].split("\n```")[0]))
        elif "odd" in text:
            value = "n * 2 + 2" if number % 2 else f"n * 2 + {number + 1} - {number}"
            code = block(f"def odd(n):\n    return {value}")
            yield Chunk(text=f"Here it is:\n{code}\nHope it helps.")
        else:
            value = "len(xs)" if number % 2 else "xs.count(x)"
            yield Chunk(text=block(f"def often(xs, x):\n    return {value}"))
        yield Done(tokens_in=10, tokens_out=10)

    def warm_up(self) -> None:
        """Nothing to load."""

    def close(self) -> None:
        """Nothing to let go of."""
