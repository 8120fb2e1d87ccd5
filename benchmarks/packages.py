"""What a layer that is in the cache costs. Run: .venv/bin/python benchmarks/packages.py [REQUIREMENT …]

Prints, in bare interpreter starts, the seconds in which a cached layer is found, and how many times longer it takes to
make an environment and install the same from pip's warm cache. The layer is made first if it is not there.
"""

import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

from burnish.packages import parse_requirements, prepare_layer

TURNS = 20
INSTALLS = 3


def bare() -> float:
    """One start of an interpreter."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    return time.perf_counter() - start


def found(requirements: tuple[str, ...]) -> float:
    """The layer from the cache."""
    start = time.perf_counter()
    prepare_layer(requirements)
    return time.perf_counter() - start


def installed(requirements: tuple[str, ...]) -> float:
    """A new environment with the same packages, from wheels that pip need not fetch again."""
    with tempfile.TemporaryDirectory(prefix="burnish-benchmark-") as folder:
        start = time.perf_counter()
        venv.create(folder, with_pip=False)
        pip = [sys.executable, "-m", "pip", "--python", str(Path(folder) / "bin" / "python")]
        subprocess.run([*pip, "install", "--quiet", "--only-binary=:all:", *requirements], check=True)
        return time.perf_counter() - start


def main() -> int:
    requirements = parse_requirements(sys.argv[1:] or ["numpy"])
    prepare_layer(requirements, tell=print)
    turns = [(bare(), found(requirements)) for _ in range(TURNS)]
    start, layer = (min(times) for times in zip(*turns, strict=True))
    installed(requirements)
    fresh = min(installed(requirements) for _ in range(INSTALLS))
    print(f"interpreter {start * 1000:.1f} ms, cached layer {layer * 1000:.1f} ms, new environment {fresh:.1f} s")
    print(f"cached layer over interpreter {layer / start:.2f}; new environment over cached layer {fresh / layer:.0f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
