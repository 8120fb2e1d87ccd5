"""How sure a share is: one interval for evaluations and for mutants."""

import math
from statistics import NormalDist

CONFIDENCE = 0.95


def wilson(successes: float, n: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The interval for a share that stays honest near 0 and 1 and for small n (Wilson 1927).

    `successes` may be a fraction: a task that one of two seeds solved counts as half.
    """
    if n == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share, shrink = successes / n, 1 + z * z / n
    middle = (share + z * z / (2 * n)) / shrink
    half = z / shrink * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    low = 0.0 if successes <= 0 else max(0.0, middle - half)
    return low, 1.0 if successes >= n else min(1.0, middle + half)
