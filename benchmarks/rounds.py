"""What the rounds for evidence add to `write`, in seconds and tokens, over `--fast`, which leaves them out.

    python benchmarks/rounds.py [local:qwen2.5-coder-1.5b] [SENTENCES]

Eight sentences, each written both ways by the same model with the same seeds; who comes first takes turns, because the
second finds prompts in the model's cache. Prints one line for each and the ratios of all: seconds, tokens, and how much
of it new tests and rounds for findings took by themselves. (`--fast` leaves out the two slow checks too.)
"""

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from burnish import write
from burnish.events import ModelReplied, Mutated, Refined, Strengthened
from burnish.models.catalog import DEFAULT_MODEL
from burnish.models.model import Model
from burnish.models.names import open_model
from burnish.runs import Run, Store

SENTENCES = (
    "a function roman(n) that turns 1..3999 into a Roman numeral, e.g. roman(1994) == 'MCMXCIV'; ValueError for "
    "anything else",
    "a function is_leap(year) that says whether a year is a leap year, e.g. is_leap(2000) == True and "
    "is_leap(1900) == False",
    "a function median(numbers) of a list, e.g. median([3, 1, 2]) == 2 and median([4, 1, 2, 3]) == 2.5",
    "a function flatten(items) that flattens nested lists of any depth, e.g. flatten([1, [2, [3]]]) == [1, 2, 3]",
    "a function caesar(text, shift) that shifts letters and leaves the rest, e.g. caesar('abz!', 1) == 'bca!'",
    "a function duplicates(items) that returns what occurs more than once, in order of first occurrence, e.g. "
    "duplicates([1, 2, 1, 3, 2]) == [1, 2]",
    "a function parse_duration(text) that turns '1h30m' into seconds, e.g. parse_duration('1h30m') == 5400",
    "a class Stack with push, pop and size, e.g. Stack().size() == 0",
)


class Spent(NamedTuple):
    """What one way of writing took."""

    seconds: float = 0.0
    tokens: int = 0
    added_seconds: float = 0.0
    """Of them for mutants, new tests and rounds for findings."""
    added_tokens: int = 0
    state: str = ""


def main(name: str, most: int) -> None:
    model = open_model(name)
    written(SENTENCES[0], open_model("scripted:demo"), fast=False)  # what is loaded once is loaded now
    model.warm_up()
    runs: list[dict[bool, Spent]] = []
    for turn, sentence in enumerate(SENTENCES[:most]):
        runs.append(both(sentence, model, fast_first=turn % 2 == 0))
        print(f"{sentence[:40]:<40} {line(runs[-1])}", flush=True)
    totals = {fast: together([run[fast] for run in runs]) for fast in (True, False)}
    print(f"{'all':<40} {line(totals)}")
    print("\n".join(ratios(totals)))


def together(spent: Sequence[Spent]) -> Spent:
    return Spent(
        sum(one.seconds for one in spent),
        sum(one.tokens for one in spent),
        sum(one.added_seconds for one in spent),
        sum(one.added_tokens for one in spent),
    )


def both(sentence: str, model: Model, fast_first: bool) -> dict[bool, Spent]:
    ways = (True, False) if fast_first else (False, True)
    return {fast: written(sentence, model, fast) for fast in ways}


def written(sentence: str, model: Model, fast: bool) -> Spent:
    with tempfile.TemporaryDirectory() as home:
        started = time.perf_counter()
        run = write(sentence, model, store=Store(Path(home)), fast=fast)
        return spent_in(run, time.perf_counter() - started)


def spent_in(run: Run, seconds: float) -> Spent:
    """The whole, and what was spent between the first broken version and the last round."""
    places = [place for place, event in enumerate(run.events) if isinstance(event, Mutated | Strengthened | Refined)]
    during = run.events[places[0] : places[-1]] if places else ()
    added = sum(event.seconds for event in run.events if isinstance(event, Mutated | Strengthened | Refined))
    return Spent(seconds, run.tokens_in + run.tokens_out, added, _tokens(during), run.state)


def _tokens(events: Sequence[object]) -> int:
    return sum(event.tokens_in + event.tokens_out for event in events if isinstance(event, ModelReplied))


def line(spent: dict[bool, Spent]) -> str:
    fast, full = spent[True], spent[False]
    return (
        f"--fast {fast.seconds:6.1f} s {fast.tokens:6d} tokens {fast.state}; "
        f"full {full.seconds:6.1f} s {full.tokens:6d} tokens {full.state}, "
        f"of them {full.added_seconds:.1f} s and {full.added_tokens} tokens for evidence"
    )


def ratios(totals: dict[bool, Spent]) -> list[str]:
    fast, full = totals[True], totals[False]
    return [
        f"seconds with these rounds over --fast: ratio {full.seconds / fast.seconds:.2f}",
        f"tokens with these rounds over --fast: ratio {full.tokens / max(1, fast.tokens):.2f}",
        f"share of the seconds that new tests and rounds took by themselves: {full.added_seconds / full.seconds:.2f}",
    ]


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else DEFAULT_MODEL, int(sys.argv[2]) if len(sys.argv) > 2 else len(SENTENCES))
