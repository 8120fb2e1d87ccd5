"""Which browser a page runs in, and what is said where there is none."""

import threading
from pathlib import Path

import pytest

from burnish.doctor import check_browser
from burnish.errors import SetupProblem
from burnish.models.scripted import ScriptedModel
from burnish.pages.headless import HeadlessPage
from burnish.pages.page import PageGone
from burnish.runs import Store
from burnish.sandbox import browser
from burnish.sandbox.browser import find_chromium
from tests.pages.live import SHORT, Heard
from tests.pages.made import GOOD, begin
from tests.support import burnish

NEEDS_NETWORK = """
sentence = "Find the servers."
targets = ["127.0.0.2:*"]
servers = ["127.0.0.2:8080"]
[[criteria]]
name = "found"
what = "It is found."
points = 1
script = "true"
"""


@pytest.fixture
def no_browser(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(browser, "PROGRAMS", ())
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    monkeypatch.delenv("BURNISH_CHROMIUM", raising=False)


def make_program(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.mark.usefixtures("no_browser")
@pytest.mark.parametrize(
    ("system", "install"),
    [
        ("ID=debian", "apt-get install chromium"),
        ("ID=fedora", "dnf install chromium"),
        ("ID=arch", "pacman -S chromium"),
        ("ID=ubuntu\nID_LIKE=debian", "playwright install chromium"),
        ("", "playwright install chromium"),
    ],
)
def test_where_no_browser_is_found_the_package_to_install_is_named(system: str, install: str, tmp_path: Path) -> None:
    release = tmp_path / "os-release"
    release.write_text(system)
    with pytest.raises(SetupProblem) as caught:
        find_chromium(release)
    assert install in caught.value.type_this


@pytest.mark.usefixtures("no_browser")
def test_without_a_browser_no_model_is_asked_and_nothing_is_recorded(store: Store) -> None:
    handle, model = begin([GOOD], store=store)
    with pytest.raises(SetupProblem):
        handle.wait()
    assert isinstance(model, ScriptedModel)
    assert (model.asked, [*store.runs.glob("*")]) == ([], [])


@pytest.mark.slow
def test_the_command_ends_with_2_where_the_named_browser_is_not_there(work_folder: Path) -> None:
    command = ["page", "a clock on a canvas", "--headless", "--model", "scripted:demo"]
    told = burnish(*command, cwd=work_folder, env={"BURNISH_CHROMIUM": "/nothing/here"})
    assert (told.returncode, "/nothing/here" in told.stderr) == (2, True)


@pytest.mark.usefixtures("no_browser")
def test_a_snap_is_no_browser_and_a_program_on_the_path_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_program(tmp_path / "chromium", "#!/bin/sh\nexec /snap/bin/chromium\n")
    with pytest.raises(SetupProblem):
        find_chromium()
    chrome = make_program(tmp_path / "google-chrome")
    assert find_chromium() == chrome
    own = make_program(tmp_path / "own")
    monkeypatch.setenv("BURNISH_CHROMIUM", str(own))
    assert find_chromium() == own


@pytest.mark.usefixtures("no_browser")
def test_one_of_playwrights_is_found(tmp_path: Path) -> None:
    program = make_program(tmp_path / "chromium-1200" / "chrome-linux" / "chrome")
    assert find_chromium() == program


def test_doctor_names_the_browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = make_program(tmp_path / "own")
    monkeypatch.setenv("BURNISH_CHROMIUM", str(own))
    found = check_browser()
    assert (found.thing, found.fine, found.says) == ("browser", True, str(own))


@pytest.mark.usefixtures("no_browser")
def test_doctor_says_what_to_type_where_there_is_none_which_is_no_harm() -> None:
    found = check_browser()
    assert (found.fine, found.needed, "install" in found.type_this) == (False, False, True)


def test_a_case_that_needs_the_network_is_refused_without_leave(tmp_path: Path, store: Store) -> None:
    folder = tmp_path / "net"
    folder.mkdir()
    folder.joinpath("case.toml").write_text(NEEDS_NETWORK)
    with pytest.raises(SetupProblem) as caught:
        begin([GOOD], sentence="", case=folder, headless=False, store=store)
    assert "--headless" in caught.value.type_this
    assert [*store.runs.glob("*")] == []


@pytest.mark.slow
def test_the_command_ends_with_2_before_the_first_call_for_a_case_that_needs_the_network(work_folder: Path) -> None:
    work_folder.joinpath("net").mkdir()
    work_folder.joinpath("net", "case.toml").write_text(NEEDS_NETWORK)
    told = burnish("page", "--case", "net", "--model", "scripted:demo", cwd=work_folder)
    assert (told.returncode, "127.0.0.2" in told.stderr, told.stdout) == (2, True, "")


@pytest.mark.browser
@pytest.mark.parametrize(("targets", "got"), [((), "false"), (("127.0.0.2:*",), "true")])
def test_a_page_reaches_a_server_in_its_cell_only_where_that_is_granted(targets: tuple[str, ...], got: str) -> None:
    page = HeadlessPage(Heard().tools, SHORT, targets, threading.Event(), ["127.0.0.2:8080"])
    asks = "const got = await fetch('http://127.0.0.2:8080/').then(() => true, () => false); burnish.done(); return got"
    seen = page.run(asks, 1)
    assert (seen.value, [error.kind for error in seen.errors if got == "false"]) == (
        got,
        [] if got == "true" else ["blocked"],
    )
    page.close()
    page.close()
    with pytest.raises(PageGone):
        page.run("1", 2)
