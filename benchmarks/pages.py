"""What a cycle of a live page costs beside the model, and what 200 of them leave behind.

Run: .venv/bin/python benchmarks/pages.py [time|memory]

A scripted model that never gets it right writes version after version into a real headless Chromium, so all that a
cycle takes is ours: from the end of an answer to the next question. Versions that say that they are done are timed
whole, the watching included; of those that do not, the two seconds for which they are meant to be watched are taken
off. Prints median and p90 of both, how much memory this process took on in 200 cycles, the limits, and their ratios;
fails where one is above.
"""

import statistics
import sys
import tempfile
from pathlib import Path

from burnish.agent.limits import Limits
from burnish.commands.page import build_request
from burnish.events import Asked, ModelReplied, PageObserved
from burnish.models.scripted import ScriptedModel
from burnish.pages.attempt import start_page
from burnish.pages.page import PageLimits
from burnish.runs import Run, Store
from burnish.runs.attempt import Resources

TIMED, MANY = 25, 200
SECONDS, GROWTH_MB = 1.5, 50.0
WARM = 3
"""Cycles until everything is loaded."""
CODE = """const context = document.getElementById("canvas").getContext("2d");
let n = 0;
const draw = () => {{ context.fillRect(n++ % 800, 0, 1, 600); requestAnimationFrame(draw); }};
draw();
{done}
fault_{name}();"""


def run_stuck(cycles: int, done: str = "") -> Run:
    """A run of so many cycles, each of which fails in a way of its own: nobody sees that it goes nowhere."""
    names = [f"{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(cycles)]
    model = ScriptedModel([f"```js\n{CODE.format(done=done, name=name)}\n```" for name in names], whole=True)
    with tempfile.TemporaryDirectory() as home:
        store = Store(Path(home))
        limits = Limits(rounds=cycles - 1, calls=cycles, tokens=10**8, seconds=3600)
        request = build_request("a bar that moves on a canvas", (model,), limits=limits, store=store)
        run = start_page(request, Resources((model,), store)).wait()
    seen = len(run.all(PageObserved))
    assert seen >= cycles, f"only {seen} of {cycles} cycles"
    return run


def time_cycles(run: Run, watched_seconds: float) -> list[float]:
    """Seconds of each cycle from the end of an answer to the next question, without so many of watching."""
    ends = [reply.at for reply in run.all(ModelReplied)]
    begins = [asked.at for asked in run.all(Asked)][1:]
    return [begin - end - watched_seconds for end, begin in zip(ends, begins, strict=False)][WARM:]


def tell(what: str, seconds: list[float]) -> float:
    """Print the figures of some cycles; the ratio of the slow ones to the limit."""
    median, slow = statistics.median(seconds), statistics.quantiles(seconds, n=10)[-1]
    print(f"{what}: median {median:.2f} s, p90 {slow:.2f} s over {len(seconds)} cycles (limit {SECONDS} s)")
    return slow / SECONDS


def measure_time() -> float:
    """The ratio of the slower kind of cycle."""
    settle = PageLimits().settle_seconds
    watched = tell(f"a cycle without its {settle:g} s of watching", time_cycles(run_stuck(TIMED + WARM), settle))
    done = tell("a cycle of a page that says it is done", time_cycles(run_stuck(TIMED + WARM, "burnish.done();"), 0))
    return max(watched, done)


def measure_memory() -> float:
    """The ratio of what this process took on, from the first cycle to its largest."""
    held = [seen.own_memory_bytes or 0 for seen in run_stuck(MANY, "burnish.done();").all(PageObserved)]
    growth = (max(held) - held[0]) / 2**20
    print(f"our memory: {held[0] / 2**20:.0f} MB, {growth:.1f} MB more in {len(held)} cycles (limit {GROWTH_MB:g} MB)")
    return growth / GROWTH_MB


def main() -> int:
    parts = {"time": measure_time, "memory": measure_memory}
    chosen = [parts[sys.argv[1]]] if sys.argv[1:] else [*parts.values()]
    ratio = max(measure() for measure in chosen)
    print(f"ratio {ratio:.2f} (limit 1)")
    return int(ratio > 1)


if __name__ == "__main__":
    sys.exit(main())
