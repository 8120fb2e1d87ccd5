"""A model behind each protocol, whose server answers from a script."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from burnish.models.chat import ChatModel
from burnish.models.names import open_model
from tests.models.meeting import KEY, KINDS, Meet
from tests.models.peers import MODEL, Peer, Turn, serving


@pytest.fixture(params=KINDS)
def meet(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Meet]:
    """Opens a model of each kind, named in a file of settings, whose server answers from a script."""
    monkeypatch.setattr("burnish.models.chat.FIRST_PAUSE_SECONDS", 0.01)
    settings = tmp_path / "config.toml"
    monkeypatch.setenv("BURNISH_CONFIG", str(settings))
    monkeypatch.setenv("LAB_KEY", KEY)
    with ExitStack() as open_peers:

        def open_one(*turns: Turn, more: str = "", peer: Peer | None = None) -> tuple[ChatModel, Peer]:
            there = open_peers.enter_context(serving(peer or Peer(*turns)))
            settings.write_text(
                f'[models.lab]\nkind = "{request.param}"\nbase_url = "{there.base_url(request.param)}"\n'
                f'key_env = "LAB_KEY"\n{more}'
            )
            model = open_model(f"lab:{MODEL}")
            assert isinstance(model, ChatModel)
            return model, there

        yield open_one
