"""Who is to blame is said once."""

import pytest

from burnish.errors import AttemptError, BurnishError, CheckError, ModelError, SandboxError, SetupProblem, blame
from tests.support import refused


def test_a_stray_exception_gains_a_name_and_keeps_its_cause() -> None:
    with (
        refused(CheckError) as caught,
        blame(CheckError, "running bandit"),
    ):
        raise ValueError("no such file")
    assert isinstance(caught.value.__cause__, ValueError)


@pytest.mark.parametrize("named", [SetupProblem("type this"), ModelError("no answer")])
def test_an_error_that_has_a_name_passes_through(named: BurnishError) -> None:
    with pytest.raises(type(named)) as caught, blame(SandboxError, "grading"):
        raise named
    assert caught.value is named


def test_ctrl_c_is_nobodys_fault() -> None:
    with pytest.raises(KeyboardInterrupt), blame(SandboxError, "grading"):
        raise KeyboardInterrupt


def test_what_the_user_can_fix_is_not_an_attempt_that_broke() -> None:
    assert not issubclass(SetupProblem, AttemptError)
    assert issubclass(SetupProblem, BurnishError)
