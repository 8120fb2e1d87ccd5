"""llama.cpp's build needs libgomp.so.1: the system's, else the one that the set-up put with our packages."""

import ctypes
import sysconfig
from pathlib import Path

import pytest

from burnish.doctor import examine
from burnish.errors import SetupProblem
from burnish.models import local


@pytest.fixture(autouse=True)
def fresh() -> None:
    local.load_openmp.cache_clear()
    local.list_gpus.cache_clear()


def test_where_neither_is_there_the_line_to_type_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def load(name: str) -> None:
        asked.append(name)
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", load)
    settings = local.LlamaSettings(Path("/nowhere.gguf"))
    with pytest.raises(SetupProblem) as problem:
        local.server_for(settings)
    assert problem.value.type_this.endswith("libgomp1")
    assert asked == ["libgomp.so.1", str(Path(sysconfig.get_path("purelib"), "libgomp.so.1"))]
    engine = next(finding for finding in examine() if finding.thing == "embedded engine")
    assert (engine.fine, engine.needed, engine.type_this) == (False, True, problem.value.type_this)


def test_the_one_with_our_packages_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []

    def load(name: str) -> None:
        if not Path(name).is_absolute():
            raise OSError(name)
        loaded.append(Path(name).name)

    monkeypatch.setattr(ctypes, "CDLL", load)
    local.load_openmp()
    assert loaded == ["libgomp.so.1"]
