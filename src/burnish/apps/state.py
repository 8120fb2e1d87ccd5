"""What is known of a build: what was asked for, what has happened, and the files that follow from it.

Files are never stored: the same blueprint and functions give the same bytes, in milliseconds.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from burnish.apps.blueprint import Blueprint
from burnish.apps.functions import list_functions
from burnish.apps.generate import generate_module
from burnish.apps.migrations import FOLDER, Earlier, read_earlier
from burnish.apps.modules import Module, list_modules
from burnish.events import (
    AppFacts,
    AppFile,
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
QUALITY = "quality"
DECIDING = ("functional", "integration")
"""Checkpoints that make an app fail; the others only keep it from being proven."""

ModuleFiles = dict[str, dict[str, str]]
"""Texts by module and path."""


@dataclass(frozen=True)
class BuildBrief:
    """What is to be built."""

    sentence: str
    facts: AppFacts = AppFacts()

    @cached_property
    def earlier(self) -> tuple[Blueprint, ...]:
        """Of a follow-up: what was built before, the oldest first."""
        return tuple(Blueprint.model_validate_json(text) for text in self.facts.earlier)

    @cached_property
    def files_before(self) -> ModuleFiles:
        """Of a follow-up: what was handed over before it, but for what the user changed since."""
        if not self.earlier:
            return {}
        before = BuildBrief(self.sentence, AppFacts(earlier=self.facts.earlier[:-1]))
        return make_files(self.earlier[-1], self.facts.functions, before.earlier)

    def keep_function(self, name: str, blueprint: Blueprint) -> str:
        """The source of a function from before that is asked for in the same words; empty where there is none."""
        if not self.earlier:
            return ""
        before, now = (
            {one.name: one.to_task() for one in list_functions(each)} for each in (self.earlier[-1], blueprint)
        )
        return self.facts.functions.get(name, "") if before.get(name) == now.get(name) else ""

    def list_rebuilt(self, blueprint: Blueprint, functions: Mapping[str, str]) -> tuple[str, ...]:
        """The modules that are other ones than before the follow-up, those that are new or gone among them."""
        now, before = make_files(blueprint, functions, self.earlier), self.files_before
        return tuple(name for name in {**now, **before} if now.get(name) != before.get(name))


def make_files(blueprint: Blueprint, functions: Mapping[str, str], earlier: Sequence[Blueprint] = ()) -> ModuleFiles:
    """All files of an app that was other apps before, the oldest first."""
    return {
        module.name: dict(
            _make_module(
                blueprint,
                module,
                tuple(one for one in sorted(functions.items()) if one[0].partition(".")[0] == module.name),
                tuple(earlier),
            )
        )
        for module in list_modules(blueprint)
    }


@lru_cache(maxsize=256)
def _make_module(
    blueprint: Blueprint, module: Module, functions: tuple[tuple[str, str], ...], earlier: tuple[Blueprint, ...]
) -> dict[str, str]:
    return generate_module(blueprint, module, dict(functions), _find_earlier(earlier))


@lru_cache(maxsize=16)
def _find_earlier(earlier: tuple[Blueprint, ...]) -> Earlier | None:
    """The app before: its migrations stay, and new ones lead on from it."""
    *before, last = earlier or (None,)
    return read_earlier(join_files(make_files(last, {}, [one for one in before if one]))) if last else None


def join_files(files: ModuleFiles) -> dict[str, str]:
    """The same by path alone: no two modules have the same file."""
    return {path: text for texts in files.values() for path, text in texts.items()}


def render_blueprint(blueprint: Blueprint) -> str:
    """A blueprint as people read and edit it: what is as usual is left out."""
    return json.dumps(blueprint.model_dump(mode="json", exclude_defaults=True), indent=2, ensure_ascii=False) + "\n"


def hash_text(text: str) -> str:
    """The hash of a text as it is written to disk."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class BuildState:
    """A run as its nodes see it: all that happened so far, and what follows from it."""

    events: Sequence[Event]
    brief: BuildBrief

    def after(self, events: Sequence[Event]) -> "BuildState":
        """Where it stands once these have happened, too."""
        return BuildState((*self.events, *events), self.brief)

    @cached_property
    def planned(self) -> AppPlanned | None:
        """What is being built."""
        return next((event for event in reversed(self.events) if isinstance(event, AppPlanned)), None)

    @cached_property
    def blueprint(self) -> Blueprint:
        """The same as a blueprint. Only where there is one."""
        assert self.planned, "nothing is planned yet"
        return Blueprint.model_validate_json(self.planned.blueprint)

    @cached_property
    def modules(self) -> dict[str, Module]:
        """All there are to be, in the order of their levels."""
        return {module.name: module for module in list_modules(self.blueprint)}

    @cached_property
    def functions(self) -> dict[str, FunctionWritten]:
        """What came of each function last."""
        return {event.function: event for event in self.events if isinstance(event, FunctionWritten)}

    @cached_property
    def used(self) -> dict[str, str]:
        """The functions that the app has, as their source."""
        return {name: written.code for name, written in self.functions.items() if written.code}

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
    def rounds(self) -> int:
        """Times that something was put right."""
        return sum(isinstance(event, Decided) and event.choice == CORRECT for event in self.events)

    @property
    def stage(self) -> Stage:
        """What a step is for that is taken now."""
        if not self.rounds:
            return "generate"
        failing = {check for (_, check), said in self.judged.items() if said.evidence.verdict == "failed"}
        return "optimise" if failing and not failing & {*DECIDING} else "debug"

    @property
    def next_level(self) -> list[str]:
        """The modules to build next: those of the lowest level of which some are missing."""
        missing = [module for module in self.modules.values() if module.name not in self.built]
        return [module.name for module in missing if module.level == missing[0].level]

    @property
    def untested(self) -> list[str]:
        """The modules that were built since they were last judged."""
        waiting: dict[str, None] = {}
        for event in self.events:
            if isinstance(event, ModuleBuilt):
                waiting[event.module] = None
            elif isinstance(event, AppJudged):
                waiting.pop(event.module, None)
        return list(waiting)

    @property
    def whole(self) -> tuple[Evidence, ...]:
        """What the checkpoints said of the whole app."""
        return tuple(said.evidence for (module, _), said in self.judged.items() if not module)

    @property
    def failing(self) -> list[str]:
        """The modules whose contract tests fail."""
        return [name for (name, _), said in self.judged.items() if name and said.evidence.verdict == "failed"]

    @property
    def suspects(self) -> list[str]:
        """Functions that may be why something fails: those of modules that fail, or all where only the whole does.

        Quality is found file by file: it speaks against a function only where it names its file.
        """
        failing, bad = self.failing, [said for said in self.whole if said.verdict == "failed"]
        if failing or any(said.check != QUALITY for said in bad):
            return [name for name in self.used if not failing or name.partition(".")[0] in failing]
        found = json.dumps([said.details for said in bad], default=str)
        return [name for name in self.used if f"app/{name.partition('.')[0]}/computed.py" in found]

    @cached_property
    def made(self) -> ModuleFiles:
        """The files of all modules, as they are generated."""
        return make_files(self.blueprint, self.used, self.brief.earlier)

    @cached_property
    def files(self) -> ModuleFiles:
        """The same as they are handed over: what the user changed stays where nothing else changes in its module.

        A migration always stays: there are data that it has been applied to.
        """
        own, before = self.brief.facts.edited, self.brief.files_before

        def choose(name: str, path: str, text: str) -> str:
            stays = before.get(name) == self.made[name] or path.startswith(FOLDER)
            return own.get(path, text) if stays else text

        return {
            name: {path: choose(name, path, text) for path, text in texts.items()} for name, texts in self.made.items()
        }

    @property
    def all_files(self) -> dict[str, str]:
        """The same by path alone."""
        return join_files(self.files)

    @property
    def replaced(self) -> dict[str, str]:
        """What the user had written into files that had to be made anew, or are gone, by path."""
        return {path: text for path, text in self.brief.facts.edited.items() if self.all_files.get(path) != text}

    def build_module(self, name: str, seconds: float) -> ModuleBuilt:
        """A module as the record has it."""
        module, files, own = self.modules[name], self.files[name], self.brief.facts.edited
        return ModuleBuilt(
            module=name,
            level=module.level,
            needs=module.needs,
            files=tuple(AppFile(path=path, sha256=hash_text(text)) for path, text in sorted(files.items())),
            kept=tuple(sorted(path for path in files if own.get(path) == files[path])),
            replaced=tuple(sorted(path for path in files if path in self.replaced)),
            made_by="both" if any(function.partition(".")[0] == name for function in self.used) else "rules",
            seconds=seconds,
            stage=self.stage,
        )

    @property
    def built_so_far(self) -> Blueprint | None:
        """The app without the entities that are not built yet; None where nothing would be left of it."""
        entities = tuple(one for one in self.blueprint.entities if one.name in self.built)
        if not entities:
            return None
        there = {one.name for one in entities}
        whole = all(field.target in there for one in entities for field in one.references)
        return self.blueprint.model_copy(update={"entities": entities}) if whole else None


def weigh(state: BuildState) -> tuple[Verdict, str]:
    """The verdict on an app whose checkpoints have all had their say, and its reason."""
    said = {evidence.check: evidence for evidence in state.whole}
    failed = [name for name in CHECKPOINTS if name in said and said[name].verdict == "failed"]
    if bad := [name for name in failed if name in DECIDING]:
        return "failed", f"{join_words(bad)} failed: {said[bad[0]].why}"
    if state.failing:
        return "failed", f"the contract tests of {join_words(state.failing)} fail"
    silent = [name for name in CHECKPOINTS if name not in said or said[name].verdict == "not_run"]
    without = sorted({*(one.name for one in list_functions(state.blueprint))} - {*state.used})
    unsure = [name for name in state.used if state.functions[name].verdict != "proven"]
    doubts = [
        f"{join_words(failed)} failed" if failed else "",
        f"{join_words(silent)} could not be run" if silent else "",
        f"it does without {join_words(without)}" if without else "",
        f"{join_words(unsure)} {'is' if len(unsure) == 1 else 'are'} not proven" if unsure else "",
        f"{plural(len(state.blueprint.left_out), 'wish')} left out" if state.blueprint.left_out else "",
    ]
    if why := "; ".join(filter(None, doubts)):
        return "plausible", why
    return "proven", "all four checkpoints passed"
