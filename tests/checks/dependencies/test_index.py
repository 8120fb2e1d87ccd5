"""The package index: on a server, in a folder, as pip is set up; what nobody can tell stays unknown."""

import json
import socket
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from burnish.checks.dependencies import services as index_module
from burnish.checks.dependencies.services import PackageIndex, configured_index
from burnish.checks.project import Project
from tests.checks.dependencies.conftest import Make, Tools
from tests.checks.dependencies.services import Babbling, Broken, Services, page, serving
from tests.snapshots import assert_snapshot

HTML = '<html><a href="../../files/thing-1.0-py3-none-any.whl#sha256=0">thing</a></html>'


def test_a_server_tells_what_exists_and_since_when(services: Services) -> None:
    told = PackageIndex([services.index]).look(["requests", "nobody-has-this"])
    assert told["nobody-has-this"].exists is False
    assert told["requests"].exists is True
    assert told["requests"].first_release == (datetime.now(UTC) - timedelta(days=5000)).date()


def test_a_folder_is_an_index_too(tmp_path: Path) -> None:
    for name, file, text in [
        ("a", "index.json", json.dumps(page("a", 3))),
        ("b", "index.html", HTML),
        ("c", "c.whl", ""),
    ]:
        (tmp_path / name).mkdir()
        (tmp_path / name / file).write_text(text)
    told = PackageIndex([tmp_path.as_uri()]).look("abcd")
    assert [told[name].exists for name in "abcd"] == [True, True, True, False]
    assert [told[name].first_release is not None for name in "abcd"] == [True, False, False, False]
    assert PackageIndex([(tmp_path / "gone").as_uri()]).listing("a").exists is None


def test_one_of_several_that_has_it_is_enough_and_one_that_is_silent_leaves_it_open(
    services: Services, tmp_path: Path
) -> None:
    silent, empty = "http://127.0.0.1:9/simple", tmp_path.as_uri()
    assert PackageIndex([silent, services.index]).listing("requests").exists is True
    assert PackageIndex([silent, empty]).listing("requests").exists is None
    assert PackageIndex([empty, services.index]).listing("nobody-has-this").exists is False
    assert PackageIndex([]).listing("requests").exists is None


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Broken, Babbling])
def test_trouble_is_neither_there_nor_not_there(kind: type[Broken]) -> None:
    with serving(kind) as trouble:
        told = PackageIndex([trouble.index]).listing("requests")
    assert told.exists is None
    assert_snapshot(told.why, f"dependencies/index that is {kind.__name__.lower()}")


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"files": 3}', '{"files": [{"upload-time": "soon"}]}', '{"files": ["a"]}', "[" * 100_000]
)
def test_a_page_that_is_not_as_it_should_be_is_unknown(tmp_path: Path, text: str) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "index.json").write_text(text)
    assert PackageIndex([tmp_path.as_uri()]).listing("a").exists is None


def test_a_package_without_files_or_under_quarantine_is_told(tmp_path: Path) -> None:
    told = {"a": {"files": []}, "b": {**page("b", 99), "project-status": {"status": "quarantined"}}}
    for name, text in told.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "index.json").write_text(json.dumps(text))
    index = PackageIndex([tmp_path.as_uri()])
    assert index.listing("a").exists is False
    assert index.listing("b").quarantined


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/simple", "data:text/html,hello", "nonsense", "http://[bad/simple"])
def test_odd_addresses_are_not_called(url: str) -> None:
    assert PackageIndex([url]).listing("requests").exists is None


@pytest.mark.slow
def test_a_server_that_never_answers_costs_a_few_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_module, "SOCKET_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        began = time.monotonic()
        told = PackageIndex([f"http://127.0.0.1:{deaf.getsockname()[1]}/simple"]).look(["requests", "pyyaml"])
        assert time.monotonic() - began < 3
    assert [one.exists for one in told.values()] == [None, None]


def test_a_login_goes_into_a_header_and_not_into_words(services: Services) -> None:
    secret = services.index.replace("//", "//me:hush@")
    assert PackageIndex([secret]).listing("requests").exists is True
    assert "hush" not in PackageIndex(["http://me:hush@127.0.0.1:9/simple"]).listing("requests").why


@pytest.fixture
def project(make: Make) -> Project:
    return make({"app.py": ""})


def test_the_index_is_the_one_that_pip_is_set_up_with(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pip.conf").write_text("[global]\nindex-url = http://global.invalid/simple\ncert = /some/ca.pem\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    monkeypatch.delenv("PIP_CERT", raising=False)
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "file:///a http://b.invalid/simple")
    index = configured_index(Tools(project))
    assert index.urls == ("http://global.invalid/simple", "file:///a", "http://b.invalid/simple")
    assert index.cert == "/some/ca.pem"
    monkeypatch.setenv("PIP_INDEX_URL", "http://env.invalid/simple")
    assert configured_index(Tools(project)).urls[0] == "http://env.invalid/simple"
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    assert configured_index(Tools(project)).urls == ()


@pytest.mark.slow
def test_where_nobody_said_otherwise_pip_knows_its_index(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX"):
        monkeypatch.delenv(name, raising=False)
    (url,) = configured_index(Tools(project)).urls
    assert url.startswith("https://")
    assert url.endswith("/simple")
