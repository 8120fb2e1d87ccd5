"""Ten of the hundred sentences, drawn by lot and built: `experiments/apps/lot.py [MODEL] [--out FILE.jsonl]`.

Refused ones are no part of the lot. What counts is the verdict of the four checkpoints, whose checks come from the
blueprint; whether that is what was meant, a person has to say.
"""

import argparse
import json
import random
import time
from collections.abc import Iterator
from pathlib import Path

from plans import SENTENCES

from burnish.apps.planning.plan import plan_by_rules
from burnish.commands.build import build
from burnish.events import CheckFinished
from burnish.paths import describe_origin

SEED, DRAWN = 24, 10


def draw() -> list[str]:
    """The sentences, in the order in which they were drawn."""
    known = [one for one in SENTENCES.read_text("utf-8").splitlines() if plan_by_rules(one).blueprint]
    return random.Random(SEED).sample(known, DRAWN)


def build_all(model: str) -> Iterator[dict[str, object]]:
    """What became of each."""
    for sentence in draw():
        began = time.monotonic()
        run = build(sentence, model)
        checks = {event.evidence.check: event.evidence for event in run.all(CheckFinished)}
        yield {
            "sentence": sentence,
            "verdict": run.verdict,
            "why": run.why,
            "run": run.id,
            "seconds": round(time.monotonic() - began),
            "checkpoints": {name: [str(one.verdict), one.figure] for name, one in checks.items()},
            "model": model,
            **describe_origin(),
        }


def main() -> None:
    """A line each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", default="local:qwen2.5-coder-1.5b")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    for row in build_all(given.model):
        print(f"{row['verdict']:9} {row['seconds']:4} s  {row['sentence']}\n           {row['why']}", flush=True)
        if given.out:
            with given.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
