"""Where a run of the agent stands, derived from its events: what nodes read and routes decide on."""

import ast
import difflib
import math
from collections.abc import Collection, Sequence
from functools import cached_property, lru_cache

from burnish.agent.worded_examples import confirm_examples
from burnish.checks.suite import Suite
from burnish.events import (
    CodeProposed,
    Compared,
    Decided,
    Event,
    Graded,
    Mutated,
    PlaceChosen,
    QuestionAnswered,
    Refined,
    SpecAgreed,
    Stopped,
    Strengthened,
)
from burnish.events.history import Run, Version
from burnish.parsing import try_parse
from burnish.search.shortcuts import Shortcut, find_shortcuts
from burnish.tasks.contradiction import allow_one_answer
from burnish.tasks.repair import move_to
from burnish.tasks.source import DEFINITIONS, FUNCTIONS, split_lines
from burnish.tasks.task import Task

GIVEN, TWEAK, REFINE, REVIEW, USER = "given", "tweak", "refine", "review", "user"
"""Who made a version that has no vote: it was there before, it is a small edit of another one, or it was made from one
that stands: in a round for what a check found, for what a person said of it, or by that person.
"""
BY_PERSON = (REVIEW, USER)
DERIVED = (REFINE, *BY_PERSON)
MORE_VERSIONS = "voices"
"""The choice to ask for further versions, written independently, before tests are made for what goes unnoticed."""
VOTES_WITH_GIVEN, VOTES_WITHOUT = 2, 3
"""Versions that must have a vote before they outvote a test of the model's, where tests were given and where none."""
SECOND_OPINIONS = 1
"""Rounds after which, with given tests, the votes there are have to do."""


def not_run(error: Exception) -> Graded:
    """The result of a job that broke in the sandbox: it says nothing about the code."""
    return Graded(problem=f"the tests could not be run: {error}", not_run=True)


class AgentState:
    """Where a run stands. Read-only; a new event means a new state."""

    def __init__(self, task: Task, events: Sequence[Event]) -> None:
        self.given_task = task
        self.run = Run(events)
        self.place = self.run.last(PlaceChosen)
        """Where the repair has gone from the function that was suspected first."""
        self.task = move_to(task, self.place.function) if self.place else task

    def after(self, events: Sequence[Event]) -> "AgentState":
        """Where the run stands once these have happened too."""
        return AgentState(self.given_task, (*self.run.events, *events))

    @property
    def spec(self) -> SpecAgreed:
        """Name, signature and given tests; agreed on before anything else."""
        agreed = self.run.spec
        assert agreed is not None, "specify comes first in the graph"
        if self.place is None:
            return agreed
        return agreed.model_copy(update={"entry_point": self.place.function, "signature": self.task.signature})

    @cached_property
    def suite(self) -> Suite:
        """All tests there are."""
        return self.suite_with((), self.run.pinned_tests)

    def suite_with(self, added: tuple[str, ...], pinned: tuple[str, ...] = ()) -> Suite:
        """The same tests and more; those that were pinned so far fall."""
        run = self.run  # the tests are those of the task as it was given, wherever the repair has gone
        return Suite.for_task(self.given_task, run.spec, run.model_tests, (*run.added_tests, *added), pinned)

    @property
    def deciding_tests(self) -> tuple[str, ...]:
        """The tests that decide: given ones, those of the project, and examples in words that versions confirm."""
        return (*self._certain_tests, *self.confirmed)

    @property
    def _certain_tests(self) -> tuple[str, ...]:
        return (*self.suite.given, *self.suite.project)

    @cached_property
    def confirmed(self) -> tuple[str, ...]:
        """Examples in words that versions bear out which were written independently, before all tests first passed."""
        fresh = [version for version in self.answers if version.base is None and version.graded]
        passed = [self.passed_tests(version) for version in fresh if version.number in self._early]
        return confirm_examples(self.suite.worded, [(tests, {*self._certain_tests} <= tests) for tests in passed])

    @property
    def ranking_tests(self) -> tuple[str, ...]:
        """Tests that rank versions: the model's, those that were added, examples in words that are not confirmed."""
        unsure = [test for test in self.suite.worded if test not in self.confirmed]
        return (*unsure, *self.suite.model, *self.suite.added)

    @cached_property
    def _early(self) -> set[int]:
        """The versions that were there when all tests first passed."""
        events = self.run.events
        first = next((place for place, event in enumerate(events) if isinstance(event, Mutated)), len(events))
        return {event.version for event in events[:first] if isinstance(event, CodeProposed)}

    @property
    def broken(self) -> bool:
        """Whether there is code that is known to be wrong."""
        return self.task.broken and bool(self.task.base_code)

    @property
    def versions(self) -> tuple[Version, ...]:
        """Every version so far; number 0 is the code that was there before."""
        return self.run.versions

    def version(self, number: int) -> Version:
        """The version of that number."""
        return next(version for version in self.versions if version.number == number)

    @cached_property
    def answers(self) -> tuple[Version, ...]:
        """What the model made of it."""
        return tuple(version for version in self.versions if version.by not in (GIVEN, TWEAK, *DERIVED))

    @property
    def answers_here(self) -> tuple[Version, ...]:
        """Those for the function that is being repaired now."""
        return tuple(one for one in self.answers if self.place is None or one.number >= self.place.version)

    @cached_property
    def rivals(self) -> list[Version]:
        """Versions that pass all that was given: the tests alone cannot tell which of them is right."""
        return [
            version
            for version in self.versions
            if version.number
            and version.graded
            and version.by not in DERIVED
            and (self.passes_given(version) if self.deciding_tests else not version.graded.problem)
        ]

    @property
    def next_version(self) -> int:
        """The first number that is free."""
        return max((version.number for version in self.versions), default=0) + 1

    @property
    def round(self) -> int:
        """0 for the first draft; each time the agent went back to the code adds one."""
        return max((version.round for version in self.versions), default=0)

    @property
    def mutated(self) -> Mutated | None:
        """What became of small changes to the best version; None where it was not looked at, or is another one now."""
        found = [event for event in self.run.all(Mutated) if self.best and event.version == self.best.number]
        return found[-1] if found else None

    @property
    def stopped(self) -> Stopped | None:
        """Set once a limit or the user has ended the work."""
        return self.run.last(Stopped)

    # Outcomes of tests

    def passed_tests(self, version: Version) -> set[str]:
        """The tests that a version passes, by their bodies."""
        outcomes = self.suite.outcomes(version.graded) if version.graded else {}
        return {test for test, outcome in outcomes.items() if outcome == "passed"}

    def passes_given(self, version: Version) -> bool:
        """Whether the version passes every given test."""
        return {*self.deciding_tests} <= self.passed_tests(version)

    def passes_all(self, version: Version) -> bool:
        """Whether a version passes every test but those of the model's that were voted down, and pinned ones."""
        counting = {*self.deciding_tests, *self.ranking_tests} - {*self._outvoted}
        return version.graded is not None and counting <= self.passed_tests(version)

    def score(self, version: Version, aside: tuple[str, ...] | None = None) -> tuple[int, int, int]:
        """Passed tests: given, undisputed with those that were added, all of the model's. Pinned ones do not count.

        `aside` are the tests that count as disputed, where those that are now would lead in a circle.
        """
        aside = self.disputed if aside is None else aside
        passed = self.passed_tests(version)
        undisputed = [test for test in self.ranking_tests if test not in aside]
        given, counting, model = (
            sum(test in passed for test in tests) for tests in (self.deciding_tests, undisputed, self.suite.model)
        )
        return given, counting, model

    def first_failure(self, version: Version) -> tuple[str, str] | None:
        """The one failure to speak of, a given test's first: the test's body, and what was said."""
        if version.graded is None:
            return None
        failures = self.suite.failures(version.graded)
        counting = (body for body in self.suite.names.values() if body not in self.disputed)
        return next(((body, failures[body]) for body in counting if body in failures), None)

    # Tests that are set aside. What was settled when all tests first passed stays settled: versions that are written
    # later have no vote on the model's tests, so they can make nothing worse.

    @cached_property
    def disputed(self) -> tuple[str, ...]:
        """Tests that are set aside: the versions speak against them, nothing passes them with all others, or a person's
        own code fails them.
        """
        return (*self._settled, *self._overruled)

    @cached_property
    def _settled(self) -> tuple[str, ...]:
        """What is set aside whatever a person says."""
        return (*self._outvoted, *self._given_up)

    @cached_property
    def _outvoted(self) -> tuple[str, ...]:
        """Model-made tests, and examples in words, that the versions themselves speak against.

        Every answer that passes the given tests has a vote; a test is set aside when most of them fail it.
        Too few votes settle nothing, unless there are given tests and no more versions can be had.
        """
        early = self._early
        voters = [one for one in self.answers if one.number in early and one.graded and self.passes_given(one)]
        round_ = max((version.round for version in self.versions if version.number in early), default=0)
        # A limit that ends a run after all tests had passed takes nothing back: the vote was over by then.
        ended = self.stopped is not None and self.run.last(Mutated) is None
        no_more = bool(self.deciding_tests) and (ended or round_ >= SECOND_OPINIONS)
        needed = VOTES_WITH_GIVEN if self.deciding_tests else VOTES_WITHOUT
        if not voters or (len(voters) < needed and not no_more):
            return ()
        passed = [self.passed_tests(voter) for voter in voters]
        votes = {test: sum(test in some for some in passed) for test in self.ranking_tests}
        open_ = [test for test in self.ranking_tests if test not in self.suite.added]
        aside = tuple(test for test in open_ if 2 * votes[test] < len(voters))
        left = [test for test in self.ranking_tests if test not in aside]
        if self.deciding_tests or 2 * len(left) < len(open_) or not allow_one_answer(left):
            return aside
        # What is left would vouch for code that always says no. So the best of those that expect another answer stay.
        others = [test for test in aside if not allow_one_answer([*left, test])]
        most = max((votes[test] for test in others), default=0)
        return tuple(test for test in aside if test not in others or votes[test] < most)

    @cached_property
    def _given_up(self) -> tuple[str, ...]:
        """Added tests that speak against a version, where no version passes them with all the others.

        That is said once another round was tried for them, or could not be.
        """
        events = self.run.events
        places = [place for place, event in enumerate(events) if isinstance(event, Strengthened) and event.exposing]
        later = events[places[-1] :] if places else ()
        tried = any(
            (isinstance(event, Decided) and event.moves and event.choice != MORE_VERSIONS)
            or (isinstance(event, Strengthened) and event.aside)
            for event in later
        )
        if not places or not (tried or self.stopped) or any(map(self.passes_all, self.versions)):
            return ()
        return tuple(dict.fromkeys(test for event in self.run.all(Strengthened) for test in event.exposing))

    @cached_property
    def _overruled(self) -> tuple[str, ...]:
        """Tests that nobody gave and that a person's own code fails, the last that they wrote and that may overrule."""
        theirs = [version for version in self.versions if version.by == USER and self._overrules(version)]
        tests = [test for test in self.ranking_tests if test not in self._settled]
        return tuple(test for test in tests if test not in self.passed_tests(theirs[-1])) if theirs else ()

    def _overrules(self, version: Version) -> bool:
        """Whether code that a person wrote stands above tests that they did not give: it runs and passes what they
        gave. Where they gave none, it must pass half of the model's, so that something vouches for it.
        """
        if version.graded is None or version.graded.problem or not self.passes_given(version):
            return False
        failed = {*self.suite.model} - self.passed_tests(version)
        return bool(self.deciding_tests) or 2 * len(failed) <= len(self.suite.model)

    # The best version

    @cached_property
    def best(self) -> Version | None:
        """The version that passes most: given tests, then undisputed ones; then the one whose behaviour most share.

        A repair that takes a shortcut is behind all that do not and pass as many given tests. Of versions that behave
        alike, a repair that changes least, then the one that a reward model likes better, if one is asked, else the
        earlier one. Code that is known to be wrong is never the best. What a round for a check made of a version, and
        was kept, or what a person wanted in its place, stands there as long as it passes as much; what was not kept
        never does.
        """
        ran = [version for version in self.versions if version.graded and version.number and version.by not in DERIVED]
        best = max(ran, key=self._rank, default=None)
        # A refined version may itself have been refined, or changed at a person's word.
        while best and (successors := self._successors(best)):
            best = successors[-1]
        return best

    def _rank(self, version: Version) -> tuple[float, ...]:
        place = self._group_place(version)
        changed = self.changed_lines(version) if self.broken and place is not None else 0
        behind = place if place is not None else len(self.groups)
        given, *others = self.score(version, self._settled)
        shortcuts = len(self.shortcuts(version))
        compared = self.run.last(Compared)
        liked = dict(compared.preferred).get(version.number, -math.inf) if compared else -math.inf
        return (given, -bool(shortcuts), *others, -behind, -shortcuts, -changed, liked, -version.number)

    def shortcuts(self, version: Version, asked: tuple[str, ...] = ()) -> tuple[Shortcut, ...]:
        """By what a repair may please the tests without being one; `asked` are calls of failing tests, if known."""
        if not self.broken:
            return ()
        compared = self.run.last(Compared)
        calls = asked or (compared.asked if compared else ())
        return find_shortcuts(self.task.base_code, version.code, (*self.suite.given, *calls), self.task.prompt)

    @property
    def unasked(self) -> dict[int, str]:
        """Repairs that change what no failing test asks for, each with a call that shows it."""
        compared = self.run.last(Compared)
        return dict(compared.unasked) if compared else {}

    def changed_lines(self, version: Version) -> int:
        """How many lines of the code that was there a version changes, adds or leaves out."""
        old, new = split_lines(self.task.base_code), split_lines(version.code)
        blocks = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        return sum(max(b - a, d - c) for tag, a, b, c, d in blocks if tag != "equal")

    def _successors(self, base: Version) -> list[Version]:
        """What was made of a version, in a round for a check that was kept or for a person, and loses nothing that
        counts to it: a person need not please tests that are disputed, and with code that they wrote themselves none
        but those that they gave.
        """
        kept = {event.version for event in self.run.all(Refined) if event.kept and event.base == base.number}
        found = []
        for version in self.versions:
            by_person = version.by in BY_PERSON and version.base == base.number
            if version.number <= base.number or not (version.number in kept or by_person):
                continue
            counting = 2 if version.by in BY_PERSON else 3
            overrules = version.by == USER and self._overrules(version)
            if overrules or self.score(version)[:counting] >= self.score(base)[:counting]:
                found.append(version)
        return found

    @property
    def best_passes(self) -> bool:
        """Whether the best version passes all that counts, and something does count.

        Where there is no test at all, versions that agree with each other are what counts.
        """
        if self.best is None:
            return False
        if {*self.suite.names.values()} <= {*self.suite.worded} & {*self.disputed}:
            return len([number for number in self.group_of(self.best) if self.version(number) in self.answers]) > 1
        given, undisputed, _ = self.score(self.best)
        own = sum(test not in self.disputed for test in self.suite.model)
        enough = bool(self.deciding_tests) or own * 2 >= len(self.suite.model) > 0
        counting = sum(test not in self.disputed for test in self.ranking_tests)
        return enough and (given, undisputed) == (len(self.deciding_tests), counting)

    @property
    def is_one_sided(self) -> bool:
        """Whether one answer to every call would pass all that counts, and what expects another one was set aside."""
        counting = [test for test in (*self.deciding_tests, *self.ranking_tests) if test not in self.disputed]
        return allow_one_answer(counting) and not allow_one_answer((*counting, *self.disputed))

    # What behaves alike

    @cached_property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Versions that behave alike, the likeliest group first; empty before they were compared. An answer of the
        user's may have shown some of them to be wrong since.
        """
        compared, answered = self.run.last(Compared), self.run.last(QuestionAnswered)
        if compared is None or answered is None or not self.rivals:
            return compared.groups if compared else ()
        standing = {version.number for version in self.rivals}
        groups = (tuple(number for number in group if number in standing) for group in compared.groups)
        return tuple(group for group in groups if group)

    @property
    def differing_groups(self) -> tuple[tuple[int, ...], ...]:
        """The groups of versions that behave differently, without those that do what the broken code did."""
        compared = self.run.last(Compared)
        unchanged = {*compared.unchanged} if compared else set()
        return tuple(group for group in self.groups if not unchanged & {*group} or self.shown_changed(group))

    def shown_changed(self, group: Collection[int]) -> bool:
        """Whether an answer of the model in a group passes what the broken code fails.

        Then the two differ, though on no input that was compared. Of a small edit that says less: it was found by
        trying until the tests pass.
        """
        return self.shown_wrong and any(version.number in group for version in self.answers)

    def group_of(self, version: Version) -> tuple[int, ...]:
        """The versions that behave as this one does, itself included."""
        place = self._group_place(version)
        return self.groups[place] if place is not None else (version.number,)

    def _group_place(self, version: Version) -> int | None:
        while version.by in DERIVED and version.base:
            version = self.version(version.base)
        return next((place for place, group in enumerate(self.groups) if version.number in group), None)

    def is_repeat(self, version: Version) -> bool:
        """Whether its code was there before, or code that differs in nothing but layout, words and local names."""
        if version.no_answer:
            return False
        text = normalise_code(version.code)
        return any(normalise_code(other.code) == text for other in self.versions if other.number < version.number)

    # The code that was there before

    @property
    def base_version(self) -> Version | None:
        """The code that was there, where it is known to be wrong."""
        return next((version for version in self.versions if version.number == 0), None)

    @property
    def base_was_tried(self) -> bool:
        """Whether it could be seen what the tests say of the code that was there."""
        base = self.base_version
        return base is not None and (bool(base.problem) if base.graded is None else not base.graded.not_run)

    @property
    def shown_wrong(self) -> bool:
        """Whether a test that decides fails on the code that was there: then passing it says something.

        Code that could not be tried is not shown to be anything.
        """
        base = self.base_version
        return base is not None and self.base_was_tried and not self.passes_given(base)

    @property
    def is_unchanged(self) -> bool:
        """Whether the best version does what the broken code does, as far as anybody could see."""
        compared = self.run.last(Compared)
        alike = self.best is not None and compared is not None and self.best.number in compared.unchanged
        return self.broken and alike and not self.shown_wrong


@lru_cache(maxsize=512)
def normalise_code(code: str) -> str:
    """The code as it is compared: without layout, comments and docstrings, its local names numbered as they come.

    Names that others may use stay as they are: those of the module, of its functions and their parameters.
    Code that does not parse, or is nested too deep to walk, is compared line by line.
    """
    tree = try_parse(code)
    try:
        if tree is not None:
            for node in ast.walk(tree):
                if isinstance(node, (*DEFINITIONS, ast.Module)) and ast.get_docstring(node, False) is not None:
                    node.body[:1] = [] if len(node.body) > 1 else [ast.Pass()]
            _number_local_names(tree)
            return ast.dump(tree)
    except RecursionError:
        pass
    lines = (line.rstrip() for line in code.splitlines())
    return "\n".join(line for line in lines if line and not line.lstrip().startswith("#"))


def _number_local_names(tree: ast.AST) -> None:
    """Put numbers in the place of names that mean something inside one outermost function only."""
    for function in ast.iter_child_nodes(tree):
        if not isinstance(function, FUNCTIONS):
            _number_local_names(function)
            continue
        inside = [node for node in ast.walk(function) if node is not function]
        kept = {name for node in inside if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names}
        kept |= {node.arg for node in inside if isinstance(node, ast.arg)}
        local = {node.id for node in inside if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)} - kept
        numbers: dict[str, str] = {}
        for node in inside:
            if isinstance(node, ast.Name) and node.id in local:
                node.id = numbers.setdefault(node.id, f"#{len(numbers)}")
