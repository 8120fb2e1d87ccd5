"""Built apps at work, for tests that judge them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from burnish.apps.judging.served_app import ServedApp
from tests.apps.hand_app import make_hand_app, prepare_hand_layer

Serve = Callable[..., ServedApp]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Serves the app written by hand, with holes in it, until the test is over."""
    with ExitStack() as served:
        yield lambda *holes: served.enter_context(ServedApp(make_hand_app(*holes), prepare_hand_layer()))
