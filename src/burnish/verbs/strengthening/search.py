"""For one function: the tests that its docstring, its voices and its own answers give for changes nobody notices."""

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from burnish.agent.stronger.cover import Candidate, chosen
from burnish.agent.stronger.opinion import Opinion
from burnish.agent.stronger.search import Search
from burnish.agent.stronger.usual import Usual
from burnish.agent.stronger.values import RAISES, value_of
from burnish.checks.behaviour import NO_ANSWER
from burnish.checks.in_project import InProject
from burnish.checks.mutation.alone import whole
from burnish.events import NewTest
from burnish.parsing import parse
from burnish.tasks.steady import leans_on, lines_of_raises, reaches_out
from burnish.text import one_line
from burnish.verbs.strengthening.calls import calls_of, known_tests
from burnish.verbs.strengthening.pinning import Pinning
from burnish.verbs.strengthening.sayings import sayings_of
from burnish.verbs.strengthening.sessions import sessions_of
from burnish.verbs.strengthening.unnoticed import Spot

DRAWS = 4
"""Sets of calls that are tried, one after the other, as long as a change is not told apart."""
MOST_SAYINGS = 60
MOST_TESTS = 30
"""For one function."""
CONSTANTS = 4
"""Changed versions whose constants come in as values."""
UNCALLED = "no test and no docstring shows a call of it that could be varied"
UNCOMPARED = "its calls give nothing that a test could state"


@dataclass(frozen=True)
class Idea:
    """A test for a function that might be added."""

    spot: Spot
    new: NewTest


@dataclass
class Found:
    """What came of the search for one function."""

    spot: Spot
    ideas: list[Idea] = field(default_factory=list)
    against: list[str] = field(default_factory=list)
    """Where those who wrote it anew from its docstring say something else than the code."""
    alike: list[str] = field(default_factory=list)
    """Changes that no call told apart. In a large function that says little: the right call may not have been tried."""
    in_words: int = 0
    """How many of the others stand where an error is raised: they may change no more than its words."""
    beyond: str = ""
    """Why nothing could be tried, in a few words."""


def search(
    spot: Spot, ground: InProject, files: Sequence[str], voices: Mapping[int, str], until: float, pinned: bool
) -> Found:
    """Look until every change is told apart, the calls are used up, or the time is. Raises SandboxError."""
    found = Found(spot)
    if kind := leans_on(spot.text, spot.function):
        found.beyond = f"what it gives depends on {kind}"
        return found
    looked = _looked(spot, ground, files, voices, until)
    candidates = [*_by_words(spot, ground), *looked.candidates]
    own = {spot.function, spot.function.rpartition(".")[2]}
    meant = [one for one in candidates if pinned or one.opinion.origin != "pinned"]
    usable = [one for one in meant if not _is_local(one.test) and not reaches_out(parse(one.test), own)]
    picked = chosen(usable, MOST_TESTS)
    found.ideas = [Idea(spot, _new(one)) for one in picked if not one.opinion.exposes]
    found.against = [_against(one, looked) for one in picked if one.opinion.exposes]
    told = {key for one in candidates for key in one.notices} | looked.hung
    if looked.said and not looked.is_over:
        words = lines_of_raises(spot.text)
        left = [mutant for mutant in spot.survivors if mutant.key not in told]
        found.alike = [mutant.key for mutant in left if mutant.changed not in words]
        found.in_words = len(left) - len(found.alike)
    elif not told:
        found.beyond = UNCOMPARED if looked.own else UNCALLED
    return found


def _looked(spot: Spot, ground: InProject, files: Sequence[str], voices: Mapping[int, str], until: float) -> Search:
    """Calls near those of the tests and of the docstring, tried on the code and on its changes."""
    mutants = [whole(mutant, spot.text) for mutant in spot.survivors]
    usual = Usual((spot.function,), known_tests(spot, files))
    made = Pinning(ground, spot.text, list(voices.values()), mutants, until, threading.Event(), usual)
    for draw in range(DRAWS):
        left = [mutant for mutant in mutants if voices or mutant.key not in made.apart]
        calls = calls_of(spot, files, draw, [spot.text, *(mutant.module for mutant in left[:CONSTANTS])])
        if not left or not calls or time.monotonic() >= until:
            break
        made.mutants = left
        made.hear(calls)
    return made


def _by_words(spot: Spot, ground: InProject) -> Iterator[Candidate]:
    """The examples in docstrings that the code agrees with, and which changes each of them notices."""
    told = {one.body: one for one in (*sessions_of(spot.text, spot.function), *sayings_of(spot.text, spot.function))}
    sayings = list(told.values())[:MOST_SAYINGS]
    modules = {mutant.key: mutant.module(spot.text) for mutant in spot.survivors}
    keys = ["", *modules]
    given = ground.behave_all(dict(enumerate([spot.text, *modules.values()])), [saying.check for saying in sayings])
    for place, saying in enumerate(sayings):
        answers = {key: given[number][place] for number, key in enumerate(keys)}
        if saying.holds(answers.pop("")):
            notices = {key for key, answer in answers.items() if answer != NO_ANSWER and not saying.holds(answer)}
            yield Candidate(saying.call, saying.body, Opinion("", "spec", "its docstring says so"), frozenset(notices))


def _is_local(test: str) -> bool:
    """Whether a test speaks of where it was made: it would fail elsewhere."""
    return any(place in test for place in ("/project/", "/venv/", "/tmp/", "/home/"))


def _new(candidate: Candidate) -> NewTest:
    test = candidate.test
    for word in ("None", "True", "False"):
        test = f"{test.removesuffix(f' == {word}')} is {word}" if test.endswith(f" == {word}") else test
    said = candidate.opinion
    return NewTest(test=test, origin=said.origin, notices=tuple(sorted(candidate.notices)), why=said.why)


def _against(candidate: Candidate, looked: Search) -> str:
    own, said = value_of(looked.own[candidate.call]), value_of(candidate.opinion.answer)
    code = own if own.startswith(RAISES) else f"gives {own}"
    return (
        f"{len(looked.voices)} versions written from the docstring give {one_line(said, 80)} for "
        f"{one_line(candidate.call, 120)}, the code {one_line(code, 80)}"
    )


def only_new(ideas: Sequence[Idea]) -> list[Idea]:
    """Each idea with the changes that no idea before it notices."""
    seen: set[str] = set()
    made = []
    for idea in ideas:
        fresh = tuple(key for key in idea.new.notices if key not in seen)
        seen |= set(fresh)
        made.append(replace(idea, new=idea.new.model_copy(update={"notices": fresh})))
    return made
