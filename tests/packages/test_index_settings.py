"""Where packages come from: what pip is told, and what uv itself is told, which counts more."""

import os
from pathlib import Path

import pytest

from burnish.packages.index_settings import read_pip_settings, uv_index

PIP = """
[global]
index-url = http://192.0.2.1/simple
extra-index-url =
    http://192.0.2.2/simple
    http://192.0.2.3/simple
timeout = 7
no-binary = :all:

[install]
find-links = /a /b
"""
UV = """
no-binary = true
target = "/elsewhere"

[[index]]
url = "http://192.0.2.4/simple"
default = true

[[index]]
name = "ours"
url = "http://192.0.2.5/simple"

[[index]]
name = "torch"
url = "http://192.0.2.6/simple"
explicit = true
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without settings."""
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_DIRS", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    for folder in ("pip", "uv"):
        (tmp_path / folder).mkdir()
    return tmp_path


def test_what_pip_is_told_about_its_index_uv_is_told_and_nothing_else(home: Path) -> None:
    (home / "pip" / "pip.conf").write_text(PIP)
    options, variables = uv_index(read_pip_settings())
    assert (options, variables["UV_DEFAULT_INDEX"]) == ([], "http://192.0.2.1/simple")
    assert variables["UV_EXTRA_INDEX_URL"].split()[-2:] == ["http://192.0.2.2/simple", "http://192.0.2.3/simple"]
    assert (variables["UV_FIND_LINKS"], variables["UV_HTTP_TIMEOUT"]) == ("/a,/b", "7")
    assert not [name for name in variables if "BINARY" in name]


def test_a_variable_outweighs_a_file_and_uv_s_own_settings_outweigh_pip_s(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "pip" / "pip.conf").write_text(PIP)
    monkeypatch.setenv("PIP_INDEX_URL", "http://192.0.2.9/simple")
    assert uv_index(read_pip_settings())[1]["UV_DEFAULT_INDEX"] == "http://192.0.2.9/simple"
    (home / "uv" / "uv.toml").write_text(UV)
    variables = uv_index(read_pip_settings())[1]
    assert variables["UV_DEFAULT_INDEX"] == "http://192.0.2.4/simple"
    assert variables["UV_INDEX"] == "ours=http://192.0.2.5/simple"
    assert not [name for name in variables if name in {"UV_TARGET", "UV_NO_BINARY"}]
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://192.0.2.8/simple")
    monkeypatch.setenv("UV_NO_BINARY", "1")
    variables = uv_index(read_pip_settings())[1]
    assert variables["UV_DEFAULT_INDEX"] == "http://192.0.2.8/simple"
    assert "UV_NO_BINARY" not in variables


@pytest.mark.parametrize("text", ["[global", "\xff", "index = 3", "[[index]]\nname = 'x'"])
def test_files_that_cannot_be_read_are_left_out(home: Path, text: str) -> None:
    for file in ("pip/pip.conf", "uv/uv.toml"):
        (home / file).write_bytes(text.encode("latin-1"))
    assert "UV_DEFAULT_INDEX" not in uv_index(read_pip_settings())[1]


def test_no_index_is_an_option(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    assert uv_index(read_pip_settings())[0] == ["--no-index"]
