"""What is known of a build: what was asked for, what has happened, and the files that follow from it.

Files are never stored: the same blueprint and functions give the same bytes, in milliseconds.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from burnish.apps.blueprint import Blueprint
from burnish.apps.functions import list_functions
from burnish.apps.generate import generate_module
from burnish.apps.modules import Module, list_modules
from burnish.events import (
    AppFacts,
    AppJudged,
    AppPlanned,
    Decided,
    Event,
    Evidence,
    FunctionWritten,
    ModuleBuilt,
    Stopped,
    Verdict,
)
from burnish.events.apps import Stage
from burnish.text import join_words, plural

CORRECT = "correct"
"""The choice to put something right."""
CHECKPOINTS = ("functional", "quality", "performance", "integration")
DECIDING = ("functional", "integration")
"""Checkpoints that make an app fail; the others only keep it from being proven."""


@dataclass(frozen=True)
class AppBrief:
    """What is to be built."""

    sentence: str
    facts: AppFacts = AppFacts()

    @cached_property
    def earlier(self) -> tuple[Blueprint, ...]:
        """Of a follow-up: what was built before, the oldest first."""
        return tuple(Blueprint.model_validate_json(text) for text in self.facts.earlier)


@dataclass(frozen=True)
class AppState:
    """A run as its nodes see it: all that happened so far, and what follows from it."""

    events: Sequence[Event]

    @cached_property
    def planned(self) -> AppPlanned | None:
        """What is being built."""
        return next((event for event in reversed(self.events) if isinstance(event, AppPlanned)), None)

    @cached_property
    def blueprint(self) -> Blueprint:
        """The same as a blueprint. Only where there is one."""
        assert self.planned
        return Blueprint.model_validate_json(self.planned.blueprint)

    @cached_property
    def modules(self) -> tuple[Module, ...]:
        """All there are to be, in the order of their levels."""
        return list_modules(self.blueprint)

    @cached_property
    def functions(self) -> dict[str, FunctionWritten]:
        """What came of each function last."""
        return {event.function: event for event in self.events if isinstance(event, FunctionWritten)}

    @cached_property
    def built(self) -> dict[str, ModuleBuilt]:
        """The modules that are there."""
        return {event.module: event for event in self.events if isinstance(event, ModuleBuilt)}

    @cached_property
    def judged(self) -> dict[tuple[str, str], AppJudged]:
        """What was last said of each module ("" is the whole), by the checkpoint."""
        said = (event for event in self.events if isinstance(event, AppJudged))
        return {(event.module, event.evidence.check): event for event in said}

    @cached_property
    def stopped(self) -> Stopped | None:
        """Why the work ended."""
        return next((event for event in self.events if isinstance(event, Stopped)), None)

    @property
    def stage(self) -> Stage:
        """What the next step is for."""
        failing = {check for (_, check), said in self.judged.items() if said.evidence.verdict == "failed"}
        if not any(isinstance(event, Decided) and event.choice == CORRECT for event in self.events):
            return "generate"
        return "optimise" if failing and failing <= {"quality", "performance"} else "debug"

    @property
    def next_level(self) -> list[Module]:
        """The modules to build next: those of the lowest level of which some are missing."""
        missing = [module for module in self.modules if module.name not in self.built]
        return [module for module in missing if module.level == missing[0].level]

    @property
    def whole(self) -> tuple[Evidence, ...]:
        """What the checkpoints said of the whole app."""
        return tuple(said.evidence for (module, _), said in self.judged.items() if not module)

    @property
    def failing(self) -> list[str]:
        """The modules whose contract tests fail."""
        return [name for (name, _), said in self.judged.items() if name and said.evidence.verdict == "failed"]

    @cached_property
    def used(self) -> dict[str, str]:
        """The functions that the app has, as their source."""
        return {name: written.code for name, written in self.functions.items() if written.code}

    @cached_property
    def suspects(self) -> list[str]:
        """Functions that may be why something fails: those of modules that fail, or all where only the whole does."""
        failing = self.failing
        is_bad = any(said.verdict == "failed" for said in self.whole)
        return [name for name in self.used if name.partition(".")[0] in failing or (is_bad and not failing)]


def hash_text(text: str) -> str:
    """The hash of a text as it is written to disk."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
