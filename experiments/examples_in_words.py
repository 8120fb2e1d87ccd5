"""How many examples in words a model reads, and how many that nobody gave are taken.

    python experiments/examples_in_words.py local:qwen2.5-coder-0.5b [sentences.jsonl]
    python experiments/examples_in_words.py nobody    # only what is plain, without a model

The forty sentences beside this file were written before the first run. A row a sentence that was not read as it is
meant, then the figures.
"""

import json
import sys
import threading
import time
from pathlib import Path

from burnish.agent.worded_examples import ask_for_examples, choose_examples, find_readings
from burnish.json_schema import NotBySchema
from burnish.models.model import Chunk
from burnish.models.names import open_model
from burnish.tasks import from_sentence

SENTENCES = Path(__file__).parent / "examples_in_words" / "sentences.jsonl"


def main(name: str, file: Path) -> None:
    """Read every sentence with a model and compare with what it holds."""
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    model = open_model("scripted:demo" if name == "nobody" else name)
    meant, read, false, plain, asked, seconds = 0, 0, 0, 0, 0, 0.0
    for row in rows:
        signature = row["signature"]
        task = from_sentence(row["sentence"]).model_copy(update={"entry_point": signature.partition("(")[0]})
        wanted = [f"assert {task.entry_point}({', '.join(e['inputs'])}) == {e['output']}" for e in row["examples"]]
        readings = find_readings(task, signature)
        question = ask_for_examples(task, signature, readings)
        chosen, text = [], "(not asked)"
        if question and name != "nobody":
            began = time.monotonic()
            pieces = model.stream(question, threading.Event())
            text = "".join(piece.text for piece in pieces if isinstance(piece, Chunk))
            seconds, asked = seconds + time.monotonic() - began, asked + 1
            try:
                chosen = question.read_data(text)["examples"]
            except NotBySchema as problem:
                text = f"{problem}: {text}"
        found = choose_examples(task, readings, chosen)
        plain += sum(one.is_plain for one in readings)
        tests = [one.test for one in found]
        meant, read = meant + len(wanted), read + len({*wanted} & {*tests})
        false += len({*tests} - {*wanted})
        if {*tests} != {*wanted}:
            print(f"{row['sentence']}\n  read: {tests}\n  meant: {wanted}\n  answer: {' '.join(text.split())}")
    print(f"{name}: {read} of {meant} examples read, {false} that nobody gave; {plain} were plain")
    print(f"{asked} of {len(rows)} sentences needed a question, {seconds / max(1, asked):.1f} s each")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]) if len(sys.argv) > 2 else SENTENCES)
