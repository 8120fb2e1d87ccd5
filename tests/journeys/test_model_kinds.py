"""Whole stories with a model behind each protocol, and no trace of its key anywhere."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from burnish import fix, write
from burnish.runs import Store
from tests.checks.shop import CART, shop
from tests.journeys.test_fix import ANSWER, FAR
from tests.models.peers import MODEL, Peer, Turn, serving
from tests.support import DOUBLE, GOOD, OWN_TESTS, burnish
from tests.test_no_telemetry import connections

KINDS = ["openai", "anthropic", "ollama"]
KEY = "sk-planted-0123456789abcdef"
pytestmark = pytest.mark.timeout(90)


def coder(code: str) -> Callable[[str, dict[str, Any]], Turn]:
    """Writes tests where tests are wanted, says nothing where assumptions are, and else this code."""

    def turn(_: str, question: dict[str, Any]) -> Turn:
        asked = str(question["messages"])
        text = OWN_TESTS if "test cases" in asked else "none" if "answer: none" in asked else code
        return Turn(text=text, thoughts="Let me think.", read=100, written=20)

    return turn


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("LAB_KEY", KEY)
    return str(request.param)


@pytest.fixture
def settings(tmp_path: Path) -> Callable[[str, Peer], str]:
    """Names the peer in the user's file, and returns what to call its model."""

    def name(kind: str, peer: Peer) -> str:
        text = f'[models.lab]\nkind = "{kind}"\nbase_url = "{peer.base_url(kind)}"\nkey_env = "LAB_KEY"\n'
        (tmp_path / "config.toml").write_text(text)
        return f"lab:{MODEL}"

    return name


@pytest.mark.slow
@pytest.mark.usefixtures("open_box")
def test_write_is_proven_with_a_model_behind_each_protocol(
    kind: str, settings: Callable[[str, Peer], str], store: Store
) -> None:
    with serving(Peer(script=coder(GOOD))) as peer:
        run = write(DOUBLE, settings(kind, peer), store=store)
    assert run.verdict in ("proven", "plausible"), run.why
    assert run.started.model == f"lab:{MODEL}"
    assert peer.asked
    assert all(KEY not in path.read_text("utf-8", "replace") for path in files(store.folder))


@pytest.mark.slow
@pytest.mark.usefixtures("open_box")
def test_fix_repairs_a_project_with_a_model_behind_each_protocol(
    kind: str, settings: Callable[[str, Peer], str], store: Store, tmp_path: Path
) -> None:
    project = shop(tmp_path / "shop", {"shop/cart.py": FAR})
    with serving(Peer(script=coder(ANSWER))) as peer:
        run = fix(project / "shop/cart.py", settings(kind, peer), apply=True, store=store)
    assert run.verdict in ("proven", "plausible"), run.why
    assert (project / "shop/cart.py").read_text() not in (FAR, CART)


@pytest.mark.slow
def test_a_key_reaches_the_server_and_nothing_else(
    kind: str, settings: Callable[[str, Peer], str], work_folder: Path, home: Path
) -> None:
    """Not the record, not the files, not the screen, not the prompt; not even when the server says it back."""

    def echo(path: str, question: dict[str, Any]) -> Turn:
        if len(peer.asked) == 3:
            return Turn(status=400, says=f"no good: Authorization: Bearer {KEY}, x-api-key: {KEY}")
        return coder(GOOD)(path, question)

    peer = Peer(script=echo)
    with serving(peer):
        name = settings(kind, peer)
        done = burnish("write", DOUBLE, "--model", name, "--fast", "--verbose", cwd=work_folder, seconds=80)
    assert "PLAUSIBLE (" in done.stdout, done.stdout + done.stderr
    assert KEY not in done.stdout + done.stderr
    assert all(KEY not in path.read_text("utf-8", "replace") for path in [*files(home), *files(work_folder)])
    assert all(KEY not in str(question) for _, question, _ in peer.asked)
    if kind != "ollama":
        assert all(KEY in str(headers) for _, _, headers in peer.asked)


@pytest.mark.slow
def test_a_model_behind_a_server_is_all_that_is_called(
    kind: str, settings: Callable[[str, Peer], str], work_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANGSMITH_GATEWAY", "http://192.0.2.1:9")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://192.0.2.1:9")
    with serving(Peer(script=coder(GOOD))) as peer:
        seen = connections(work_folder, "write", DOUBLE, "--model", settings(kind, peer), "--fast")
    port = int(peer.address.rpartition(":")[2])
    called = [where for event, where in seen if event == "socket.connect"]
    assert called
    assert all(where == ["127.0.0.1", port] for where in called)


def files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file())
