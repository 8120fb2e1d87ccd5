"""What is done with models because somebody asked for it on a page: each is fetched, or tried, in a thread of its own.

What is there of one that was stopped while it was fetched is kept, and the next fetch goes on from there.
"""

import threading
from abc import ABC, abstractmethod
from contextlib import suppress
from typing import Literal

from burnish.commands.models import pull_model
from burnish.commands.try_model import ModelTrial, try_model
from burnish.errors import BurnishError
from burnish.events import BaseEvent, CheckFinished, Evidence
from burnish.models.names import open_model


class JobStopped(KeyboardInterrupt):
    """Somebody wants no more of it; to a run it is as Ctrl-C."""


class ModelJob(ABC):
    """One piece of work with one model."""

    kind: Literal["fetch", "try"]

    def __init__(self, name: str) -> None:
        self.name = name
        self.state: Literal["at_work", "done", "stopped", "failed"] = "at_work"
        self.problem = ""
        """What kept it from its end."""

    def run(self) -> None:
        """All of it, in this thread."""
        problem = ""
        try:
            with suppress(JobStopped):
                self._work()
        except BurnishError as error:
            problem = str(error)
        except Exception as error:  # a network has many ways to fail; the page says which it was
            problem = f"That did not work ({type(error).__name__}: {error}). Try again."
        if self.state == "at_work":
            self.state, self.problem = "failed" if problem else "done", problem

    def check_wanted(self) -> None:
        """Raises JobStopped once it was stopped."""
        if self.state != "at_work":
            raise JobStopped

    @abstractmethod
    def _work(self) -> None:
        """The work; it calls check_wanted often."""


class Fetch(ModelJob):
    """A model on its way to this machine."""

    kind = "fetch"
    done, total, source = 0, 0, ""
    """Bytes; and who is asked for them, or what is done with them, in a few words."""

    def _work(self) -> None:
        pull_model(self.name, self._note)

    def _note(self, done: int, total: int, source: str) -> None:
        self.check_wanted()
        self.done, self.total, self.source = done, total, source


class TryOut(ModelJob):
    """A few tiny tasks that show whether a model is good enough."""

    kind = "try"

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.tasks: tuple[Evidence, ...] = ()
        self.trial: ModelTrial | None = None
        self._is_ending = False

    def _work(self) -> None:
        model = open_model(self.name, lambda *_: self.check_wanted())
        self.trial = try_model(model, watch=self._note)

    def _note(self, event: BaseEvent) -> None:
        if not self._is_ending:
            self._is_ending = self.state != "at_work"  # said once: its last words are heard after that
            self.check_wanted()
        if isinstance(event, CheckFinished):
            self.tasks = (*self.tasks, event.evidence)


class ModelJobs:
    """All that were asked for since the server began, one of a kind for each model."""

    def __init__(self) -> None:
        self._jobs: dict[tuple[str, str], ModelJob] = {}
        self._lock = threading.Lock()

    def list(self) -> list[ModelJob]:
        """Those under way, and those that somebody may want to go on with or to read; the newest first."""
        return [job for job in reversed([*self._jobs.values()]) if job.state != "done" or isinstance(job, TryOut)]

    def find(self, kind: str, name: str) -> ModelJob | None:
        """The last one of this kind with this model."""
        return self._jobs.get((kind, name))

    def begin(self, job: ModelJob) -> None:
        """Do this in a thread of its own, unless it is under way."""
        key = (job.kind, job.name)
        with self._lock:
            if key in self._jobs and self._jobs[key].state == "at_work":
                return
            self._jobs.pop(key, None)
            self._jobs[key] = job
        threading.Thread(target=job.run, name=f"burnish-{job.kind}", daemon=True).start()

    def stop(self, kind: str, name: str) -> None:
        """Nothing more of it is wanted now; of what is over, nothing is to be seen either."""
        with self._lock:
            job = self._jobs.get((kind, name))
            if job and job.state == "at_work":
                job.state = "stopped"
            else:
                self._jobs.pop((kind, name), None)
