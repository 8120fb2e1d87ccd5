"""A case: a sentence, and what a person tries in the app that was built from it, check by check.

A check is a function whose docstring is its promise. It adds what it needs itself, so that none leans on another and
what is broken in an app fails the checks that are about it.
"""

from collections.abc import Callable
from dataclasses import dataclass

from burnish.apps.judging.browsing import BrowserTab, Browsing
from burnish.apps.judging.served_app import Client, ServedApp
from burnish.errors import SandboxError
from burnish.evals.app_cases.app_user import REGISTER, AppUser, Missed, Thing, require
from burnish.events import Frozen
from burnish.events.checks import Outcome


class NoBrowser(Exception):
    """A check needs a browser and there is none."""


class Scene:
    """An app at work, and those who use it. Without a browser, people see it by plain forms and links."""

    def __init__(self, app: ServedApp, browser: Browsing | None, thing: Thing) -> None:
        self.app, self.browser, self.thing = app, browser, thing
        self._titles = 0
        self._members: dict[int, AppUser] = {}

    def make_title(self) -> str:
        """One that nothing else has."""
        self._titles += 1
        return f"Walnut {self._titles:03}"

    def call_stranger(self) -> AppUser:
        """Somebody whom the app has never seen."""
        return AppUser(self.browser.visit() if self.browser else Client(self.app))

    def call_member(self, number: int = 0) -> AppUser:
        """Somebody who may use all of it: with an account, where the app has accounts. Always the same by number."""
        if number not in self._members:
            person = self.call_stranger()
            person.goto("/")
            if person.offers(*REGISTER):
                complaints = person.register(f"member{number}@example.org")
                require(not complaints, f"an account was refused: {complaints[:1]}")
            self._members[number] = person
        person = self._members[number]
        person.goto("/")
        if person.email and not person.is_inside:
            person.log_in()
        return person

    def show_tab(self, person: AppUser) -> BrowserTab:
        """The real page that somebody sees. Raises NoBrowser."""
        if not isinstance(person.visitor, BrowserTab):
            raise NoBrowser
        return person.visitor


AppCheck = Callable[[Scene], None]


@dataclass(frozen=True)
class AppCase:
    """A sentence with its checks."""

    name: str
    sentence: str
    thing: Thing
    checks: tuple[AppCheck, ...]


class CheckResult(Frozen):
    """What became of a check."""

    check: str
    promise: str
    verdict: Outcome
    why: str = ""


def try_case(
    case: AppCase, app: ServedApp, browser: Browsing | None, tell: Callable[[str], None] = lambda check: None
) -> tuple[CheckResult, ...]:
    """All checks of a case, in order; those that only a browser shows are not run without one.

    `tell` is told which begins; what it raises ends it.
    """
    scene, results = Scene(app, browser, case.thing), []
    for check in case.checks:
        tell(check.__name__)
        verdict, why = _try_check(check, scene)
        promise = (check.__doc__ or "").strip()
        results.append(CheckResult(check=check.__name__, promise=promise, verdict=verdict, why=why))
    return tuple(results)


def _try_check(check: AppCheck, scene: Scene) -> tuple[Outcome, str]:
    try:
        check(scene)
    except NoBrowser:
        return "not_run", "there is no browser"
    except (Missed, SandboxError) as error:
        return "failed", str(error)
    return "passed", ""
