"""The idea of a check: it looks at final files and says what it saw. Its kinds are this file's neighbours."""

from typing import Protocol

from burnish.checks.suite import Suite
from burnish.events import Evidence
from burnish.sandbox.sandbox import Sandbox


class Check(Protocol):
    """Something that can prove the code wrong.

    Judges the final files in a state that no earlier job could touch. A tool that crashed is "not_run";
    a suite that hangs on the code is "failed"; silence is never "passed".
    """

    name: str

    def judge(self, code: str, suite: Suite, sandbox: Sandbox) -> Evidence:
        """What this check says about the code."""
        ...
