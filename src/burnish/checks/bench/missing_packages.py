"""Finds out which packages tests miss, from what they and pytest said, and says how those can be had.

What a test said is the code's own word, so only well-known packages and plugins in the table here are named.
"""

import re
import shlex
from collections.abc import Iterable, Iterator

from burnish.checks.project import Project
from burnish.packages import find_distribution
from burnish.packages.names import NAMESPACES, well_known_names
from burnish.text import join_words

PLUGIN_WORDS = {
    "anyio": "anyio anyio_backend",
    "faker": "faker",
    "hypothesis": "--hypothesis",
    "pytest-asyncio": "--asyncio-mode asyncio asyncio_mode asyncio_default_fixture_loop_scope event_loop",
    "pytest-benchmark": "--benchmark benchmark",
    "pytest-black": "--black",
    "pytest-cov": "--cov cov",
    "pytest-datadir": "datadir shared_datadir",
    "pytest-django": "--ds --reuse-db --nomigrations --create-db django_db DJANGO_SETTINGS_MODULE client",
    "pytest-doctestplus": "--doctest-plus --doctest-rst doctest_plus",
    "pytest-env": "env",
    "pytest-flake8": "--flake8",
    "pytest-freezer": "freezer",
    "pytest-html": "--html --self-contained-html",
    "pytest-httpserver": "httpserver",
    "pytest-httpx": "httpx_mock",
    "pytest-isort": "--isort",
    "pytest-mock": "mocker class_mocker module_mocker session_mocker",
    "pytest-mypy": "--mypy",
    "pytest-pycodestyle": "--pycodestyle",
    "pytest-pydocstyle": "--pydocstyle",
    "pytest-pylint": "--pylint",
    "pytest-recording": "--record-mode --block-network vcr",
    "pytest-regressions": "data_regression file_regression num_regression",
    "pytest-rerunfailures": "--reruns --only-rerun flaky",
    "pytest-ruff": "--ruff",
    "pytest-socket": "--disable-socket --allow-hosts --allow-unix-socket socket_enabled",
    "pytest-subtests": "subtests",
    "pytest-timeout": "--timeout timeout timeout_method",
    "pytest-trio": "trio trio_mode nursery",
    "requests-mock": "requests_mock",
    "respx": "respx_mock",
    "syrupy": "--snapshot snapshot",
}
"""Plugins of pytest: how their options begin, and their fixtures, marks and settings."""
PLUGIN_OF = {word: plugin for plugin, words in PLUGIN_WORDS.items() for word in words.split()}
PLUGIN_MODULES = {"xdist": "pytest-xdist", "randomly": "pytest-randomly"}
_MODULE = re.compile(
    r"\b(?:ModuleNotFoundError|Error importing plugin \"[\w.]+\"): No module named '([A-Za-z_]\w*(?:\.\w+)*)'"
)
_OPTIONS = re.compile(r"error: unrecognized arguments: (.+)")
_REQUIRED = re.compile(r"Missing required plugins: (.+)")
_WORD = re.compile(
    r"fixture '(\w+)' not found|'(\w+)' not found in `markers` configuration|Unknown config option: (\w+)|"
    r"(async) def functions are not natively supported"
)


def find_missing_packages(messages: Iterable[str], project: Project) -> tuple[str, ...]:
    """The packages that messages miss, each once, in the order in which they are missed."""
    return tuple(dict.fromkeys(name for message in messages for name in _find_in(message, project)))


def find_missing_package(messages: Iterable[str], project: Project) -> str:
    """The first package that a message misses; "" where none does."""
    return next(iter(find_missing_packages(messages, project)), "")


def _find_in(message: str, project: Project) -> Iterator[str]:
    """What one message misses.

    None that the project brings itself. A module inside another is missing in a package that is there, unless many
    packages share the outer one.
    """
    places = [project.root, project.root / "src"]
    for module in (found[1] for found in _MODULE.finditer(message)):
        top, inner, _ = module.partition(".")
        package = PLUGIN_MODULES.get(module) or (find_distribution(module) if top in NAMESPACES or not inner else None)
        if package and not any((place / name).exists() for place in places for name in (top, f"{top}.py")):
            yield package
    for option in (word for found in _OPTIONS.finditer(message) for word in found[1].split()):
        yield from (plugin for word, plugin in PLUGIN_OF.items() if word.startswith("--") and option.startswith(word))
    for name in (name for found in _REQUIRED.finditer(message) for name in re.findall(r"[a-z][\w.-]*", found[1])):
        if name in well_known_names() or name in PLUGIN_WORDS:
            yield name
    for found in _WORD.finditer(message):
        word = next(filter(None, found.groups()))
        if plugin := "pytest-asyncio" if word == "async" else PLUGIN_OF.get(word, ""):
            yield plugin


def explain_missing(packages: tuple[str, ...], project: Project) -> str:
    """Which packages are missing, and what to add to the command or to type; empty where none is."""
    if not packages:
        return ""
    said = f"; {join_words(packages)} {'is' if len(packages) == 1 else 'are'} not installed: "
    if project.has_environment:
        return f"{said}type {install_command(' '.join(packages), project)}"
    # What the project states for its tests is fetched without asking who knows it: its files are the user's own.
    unknown = [f"--allow-package {name}" for name in packages if name not in well_known_names()]
    return f"{said}add {' '.join(['--with', ','.join(packages), *unknown])}"


def install_command(packages: str, project: Project) -> str:
    """The command that puts packages, with spaces between them, into the project's environment."""
    return shlex.join([str(project.python), "-m", "pip", "install", *packages.split()])
