"""The idea of a check: it looks at final files and says what it saw. Its kinds are this file's neighbours."""

from typing import Protocol

from burnish.checks.lab import Lab
from burnish.checks.project import Project
from burnish.events import Evidence


class Check(Protocol):
    """Something that can prove the code wrong.

    Judges the final files in a state that no earlier job could touch. A tool that is missing or crashed, and a service
    that did not answer, is "not_run" (raise CheckError, or say so); a suite that hangs on the code is "failed"; silence
    is never "passed". `Evidence.details["findings"]` holds `Finding`s as plain data, worst first.
    """

    name: str

    def judge(self, project: Project, lab: Lab) -> Evidence:
        """What this check says about the project. Long ones say how far they are through `lab.tell`."""
        ...
