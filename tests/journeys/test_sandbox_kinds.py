"""Whole stories in a container: what works in a bubblewrap cell works there the same."""

from pathlib import Path

import pytest

from burnish import fix, write
from tests.checks.shop import shop
from tests.journeys.test_fix import ANSWER, FAR, WRONG, model
from tests.sandbox.kinds import must_be_there

pytestmark = [pytest.mark.docker, pytest.mark.slow, pytest.mark.timeout(240)]


@pytest.fixture(autouse=True)
def _engine() -> None:
    must_be_there("docker")


def test_write_proves_a_sentence_in_a_container_with_every_check(tmp_path: Path, store) -> None:
    run = write(
        "a function double(n), e.g. double(3) == 6",
        model="scripted:demo",
        sandbox="docker",
        out=tmp_path / "out",
        store=store,
    )
    assert run.verdict in ("proven", "plausible"), run.why
    assert run.started.sandbox.startswith(("docker ", "podman ")), "the report says where the code ran"
    assert not [evidence for evidence in run.evidence if evidence.verdict == "failed"]


def test_fix_mends_a_file_of_a_project_in_a_container(tmp_path: Path, store) -> None:
    project = shop(tmp_path / "shop", {"shop/cart.py": FAR})
    run = fix(project / "shop/cart.py", model(WRONG, ANSWER), apply=True, sandbox="docker", store=store)
    assert run.verdict in ("proven", "plausible"), run.why
    assert "sum(self.prices)" in (project / "shop/cart.py").read_text()
