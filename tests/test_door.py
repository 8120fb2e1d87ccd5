"""The door: a dozen names, all true, and nothing happens on import."""

import subprocess
import sys

import pytest

import burnish
from tests.support import ROOT

HEAVY = ("pydantic", "langchain", "langchain_core", "langgraph", "langsmith", "rich", "xllamacpp", "torch", "gradio")
HEAVY += ("openai", "httpx", "sqlite3", "platformdirs")


def loaded_by(program: str, *arguments: str) -> set[str]:
    """Top-level modules in memory after a program, in an interpreter of its own."""
    told = "import atexit, sys; atexit.register(lambda: print('\\n' + ' '.join(sys.modules)))\n"
    done = subprocess.run(
        [sys.executable, "-c", told + program, *arguments], capture_output=True, text=True, check=True, timeout=60
    )
    return {name.split(".")[0] for name in done.stdout.splitlines()[-1].split()}


@pytest.mark.parametrize("name", burnish.__all__)
def test_every_name_on_the_door_is_there(name: str) -> None:
    assert getattr(burnish, name) is not None


def test_the_door_names_what_it_shows_and_nothing_else() -> None:
    assert sorted(burnish.__all__) == burnish.__all__
    assert dir(burnish) == burnish.__all__
    assert set(burnish._ROOMS) == set(burnish.__all__) - {"__version__"}


def test_a_name_that_is_not_on_the_door_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'wrote'"):
        _ = burnish.wrote


def test_importing_burnish_loads_nothing_heavy() -> None:
    assert not loaded_by("import burnish") & set(HEAVY)


def test_help_loads_nothing_heavy() -> None:
    program = "import sys; sys.argv = ['burnish', '--help']; from burnish.cli.main import main; main()"
    assert not loaded_by(program) & set(HEAVY)


def test_no_public_name_is_hidden_by_a_module_of_the_same_name() -> None:
    modules = {file.stem for file in (ROOT / "src" / "burnish").iterdir()}
    assert not modules & {*burnish.__all__}, "once imported, the module would stand in the name's place"
