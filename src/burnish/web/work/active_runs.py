"""The runs that this server works on: who has the next turn, what waits for a person, and how each is stopped.

A run goes on in threads of its own whether or not anybody looks. Whoever looks reads its log, and slows nobody.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import burnish
from burnish.commands import fix as fixes
from burnish.errors import AttemptError, BurnishError, SetupProblem
from burnish.model_choice import Opener
from burnish.models.model import Model
from burnish.models.names import open_models
from burnish.pages.page import LivePage, PageLimits, PageTools
from burnish.runs import Run, Store
from burnish.runs.attempt import Keep, Resources, RunHandle, start
from burnish.runs.request import Request
from burnish.runs.store import open_run
from burnish.web.work.live_pages import LivePages
from burnish.web.work.person import Person
from burnish.web.work.turns import Ticket, Turns

if TYPE_CHECKING:
    from burnish.pages.own_browser import UserPage

MOST_WAITING = 50
"""Runs that may wait for their turn: more than that is a mistake, or somebody who means no good."""


@dataclass
class ActiveRun:
    """One run that waits for its turn or is at work."""

    id: str
    prompt: str
    ticket: Ticket
    verb: str
    person: Person
    handle: RunHandle | None = None
    """None for a run that is taken up again, until its turn has come."""
    opened: "Sequence[UserPage]" = ()
    """Pages that it has opened in the user's browser."""
    problem: str = ""
    """What kept it from its work, where the user can put that right."""
    is_stopped: bool = False
    is_over: bool = False

    @property
    def frame(self) -> str:
        """The address of what of it runs in the user's browser right now; empty: nothing does."""
        return self.opened[-1].frame if self.opened else ""

    def stop(self) -> None:
        """End it within two seconds, whatever it does or waits for."""
        self.is_stopped = True
        self.ticket.close()
        self.person.leave()
        if self.handle:
            self.handle.stop()


class ActiveRuns:
    """All of them, by id."""

    def __init__(self, store: Store, turns: Turns, pages: LivePages, opener: Opener | None = None) -> None:
        self.store, self.turns, self.pages = store, turns, pages
        self._opener: Opener = opener or open_models
        self._own_opener = opener is not None
        self._runs: dict[str, ActiveRun] = {}
        self._lock = threading.Lock()

    def find(self, run_id: str) -> ActiveRun | None:
        """The run, if it is at work here, or could not begin."""
        return self._runs.get(run_id)

    @property
    def at_work(self) -> list[ActiveRun]:
        """Those that are not over."""
        return [run for run in list(self._runs.values()) if not run.is_over]

    def write(self, request: Request, owner: str) -> ActiveRun:
        """Begin to write what is asked for, in its turn."""
        ticket = self._join(owner)
        person = Person(ticket)

        def prepare(keep: Keep) -> tuple[Request, Resources]:
            keep(ticket)
            ticket.wait()
            return request, replace(resources, models=self._open_models(request.model))

        resources = self._resources(request, person)
        return self._follow(start(request, resources, prepare=prepare), request, ticket, person)

    def fix(self, options: fixes.FixOptions, request: Request, owner: str) -> ActiveRun:
        """Begin to repair a file, in its turn."""
        ticket = self._join(owner)
        person = Person(ticket)

        def wait(keep: Keep) -> None:
            keep(ticket)
            ticket.wait()

        resources = self._resources(request, person)
        handle = fixes.start_fix(options, request, resources, lambda: self._opener(request.model), wait)
        return self._follow(handle, request, ticket, person)

    def page(self, request: Request, owner: str) -> ActiveRun:
        """Begin a live page, in its turn: in the tab that looks at it, or in a browser without a window."""
        from burnish.pages.attempt import start_page

        ticket, opened = self._join(owner), list["UserPage"]()
        person = Person(ticket)

        def open_here(
            tools: PageTools, limits: PageLimits, targets: tuple[str, ...], cancel: threading.Event
        ) -> LivePage:
            opened.append(self.pages.open(tools, limits, targets, cancel))
            return opened[-1]

        def prepare(keep: Keep) -> tuple[Request, Resources]:
            keep(ticket)
            ticket.wait()
            return request, replace(resources, models=self._open_models(request.model))

        resources = self._resources(request, person)
        is_here = request.page is not None and not request.page.headless
        handle = start_page(request, resources, open_here if is_here else None, prepare)
        return self._follow(handle, request, ticket, person, opened)

    def resume(self, run: Run, owner: str) -> ActiveRun:
        """Go on with a run that was left, in its turn."""
        return self._take_up(run, owner, lambda **common: burnish.resume(run.id, **common))

    def answer(self, run: Run, said: str, owner: str) -> ActiveRun:
        """Answer the question that a run left open, and have it go on with that."""
        return self._take_up(run, owner, lambda **common: burnish.answer(run.id, said, **common))

    def _join(self, owner: str) -> Ticket:
        if len(self.at_work) >= MOST_WAITING:
            raise SetupProblem("Too many runs wait for their turn already. Stop one of them, or wait for one to end.")
        return self.turns.join(owner)

    def _resources(self, request: Request, person: Person) -> Resources:
        return Resources(
            store=self.store,
            answer=person.assume if request.ask else None,
            review=person.review if request.review else None,
            settle=person.settle if request.questions else None,
        )

    def _open_models(self, names: str) -> Sequence[Model]:
        """None where the run opens them itself, and tells how far their weights are."""
        return self._opener(names) if self._own_opener else ()

    def _follow(
        self, handle: RunHandle, request: Request, ticket: Ticket, person: Person, opened: "Sequence[UserPage]" = ()
    ) -> ActiveRun:
        active = ActiveRun(handle.id, request.task.prompt, ticket, request.verb, person, handle, opened)

        def finish() -> None:
            run = handle.wait()
            if run.settings.fix:
                fixes.deliver(run, self.store, None)
            if opened and run.final and run.verdict != "failed":  # it goes on running where it is looked at
                self.pages.play(run, run.final, request.page.targets if request.page else ())

        return self._watch(active, finish)

    def _take_up(self, run: Run, owner: str, go_on: Callable[..., Run]) -> ActiveRun:
        with self._lock:  # two clicks are one
            known = self.find(run.id)
            if known and not known.is_over:
                return known
            ticket = self._join(owner)
            active = self._runs[run.id] = ActiveRun(
                run.id, run.started.prompt, ticket, run.started.verb, Person(ticket)
            )

        def begin(handle: RunHandle) -> None:
            active.handle = handle
            if active.is_stopped:
                handle.stop()

        def work() -> None:
            active.ticket.wait()
            go_on(
                store=self.store,
                settle=active.person.settle,
                review=active.person.review if run.settings.review else None,
                opener=self._opener,
                begin=begin,
                **({"answer": active.person.assume} if run.settings.ask else {}),
            )

        return self._watch(active, work)

    def _watch(self, active: ActiveRun, work: Callable[[], None]) -> ActiveRun:
        """Wait for its end in a thread, and keep what the user can put right."""

        def follow() -> None:
            try:
                work()
            except (SetupProblem, AttemptError) as problem:
                active.problem = str(problem)
            except Exception as error:  # our bug: it is said on the page, and the server goes on
                active.problem = f"Something broke in Burnish itself ({type(error).__name__}: {error})."
            finally:
                active.ticket.close()
                active.is_over = True
                if not active.problem or self._is_on_record(active.id):
                    self._runs.pop(active.id, None)

        with self._lock:
            self._runs[active.id] = active
        threading.Thread(target=follow, name="burnish-follow", daemon=True).start()
        return active

    def _is_on_record(self, run_id: str) -> bool:
        """Whether the record itself says what became of the run."""
        try:
            return open_run(self.store.runs / run_id).state != "unfinished"
        except (BurnishError, OSError):
            return False
