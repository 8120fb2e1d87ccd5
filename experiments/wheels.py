"""Which locked packages have no wheel for some system that Burnish is to be installed on?

    .venv/bin/python -m experiments.wheels

Asks the index, by uv, for the files of every package of requirements/core.txt, and holds their tags against those that
each system takes. A package behind a marker counts only where its marker holds. Exit code 1 where a wheel is missing.
"""

import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from packaging.markers import Marker
from packaging.tags import Tag, compatible_tags, cpython_tags, mac_platforms
from packaging.utils import parse_wheel_filename

from burnish.packages.uv import find_uv

ROOT = Path(__file__).resolve().parent.parent
PYTHONS = ((3, 11), (3, 12), (3, 13), (3, 14))
OLDEST_GLIBC, NEWEST_GLIBC = 17, 36
"""2.17 to 2.36: what pip of Debian 12 takes."""


def list_platforms() -> dict[str, tuple[list[str], dict[str, str]]]:
    """A system's name, the platform tags of its wheels, and what markers see there."""
    found: dict[str, tuple[list[str], dict[str, str]]] = {}
    for machine in ("x86_64", "aarch64"):
        tags = [f"manylinux_2_{minor}_{machine}" for minor in range(NEWEST_GLIBC, OLDEST_GLIBC - 1, -1)]
        seen = {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix", "platform_machine": machine}
        found[f"Linux {machine}"] = ([*tags, f"manylinux2014_{machine}", f"linux_{machine}"], seen)
    for machine in ("arm64", "x86_64"):
        seen = {"sys_platform": "darwin", "platform_system": "Darwin", "os_name": "posix", "platform_machine": machine}
        found[f"macOS 14 {machine}"] = ([*mac_platforms((14, 0), machine)], seen)
    seen = {"sys_platform": "win32", "platform_system": "Windows", "os_name": "nt", "platform_machine": "AMD64"}
    found["Windows AMD64"] = (["win_amd64"], seen)
    return found


def list_tags(python: tuple[int, int], platforms: list[str]) -> set[Tag]:
    """The tags of wheels that this Python takes there."""
    return {
        *cpython_tags(python, platforms=platforms),
        *compatible_tags(python, f"cp{python[0]}{python[1]}", platforms),
    }


def read_packages() -> list[dict[str, Any]]:
    """Every locked package with its wheels and its marker."""
    with tempfile.TemporaryDirectory() as folder:
        lock = Path(folder) / "pylock.toml"
        command = [find_uv(), "pip", "compile", "--quiet", "--universal", "--no-deps", "--python-version", "3.11"]
        subprocess.run([*command, ROOT / "requirements/core.txt", "--output-file", lock], check=True)
        return list(tomllib.loads(lock.read_text("utf-8"))["packages"])


def find_gaps(package: dict[str, Any], platforms: list[str], seen: dict[str, str]) -> Iterator[str]:
    """The Pythons for which a package has no wheel there, though its marker asks for it."""
    wheels = [parse_wheel_filename(wheel["url"].rpartition("/")[2])[3] for wheel in package.get("wheels", [])]
    for python in PYTHONS:
        version = f"{python[0]}.{python[1]}"
        variables = seen | {"python_version": version, "python_full_version": f"{version}.0"}
        wanted = "marker" not in package or Marker(package["marker"]).evaluate(variables)
        if wanted and not any(tags & list_tags(python, platforms) for tags in wheels):
            yield version


def main() -> int:
    """Print the table; only packages with a gap have a line of their own."""
    packages = read_packages()
    print("| system | packages | without a wheel |\n|---|---|---|")
    missing = 0
    for name, (platforms, seen) in list_platforms().items():
        gaps = {package["name"]: list(find_gaps(package, platforms, seen)) for package in packages}
        lacking = [f"{package} ({', '.join(pythons)})" for package, pythons in gaps.items() if pythons]
        missing += len(lacking)
        print(f"| {name} | {len(packages)} | {', '.join(lacking) or 'none'} |")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
