"""Generates tests for one function of a project: from its docstring, from samples, and from what the code itself gives.

Calls are those that the project's tests and the docstring make, and others near them.
"""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from burnish.checks.bench.bench import Bench, ProjectBench
from burnish.checks.mutation.mutate_module import make_survivor
from burnish.errors import AttemptError
from burnish.events import NewTest
from burnish.parsing import parse
from burnish.search.behaviour_groups import NO_ANSWER
from burnish.search.call_generator import CallClues, generate_calls, seeds_from_files, set_options
from burnish.strengthening.docstring_examples import read_call_examples, read_session_examples
from burnish.strengthening.oracle import CallFilter, Expectation, Samples
from burnish.strengthening.project import WeakFunction
from burnish.strengthening.render_assert import describe_answer, value_in
from burnish.strengthening.search import ProjectSearch, Subject
from burnish.strengthening.set_cover import Candidate, choose_tests
from burnish.tasks.repair import docstring_of, examples_of, signature_of
from burnish.tasks.static_analysis import find_nondeterminism, find_raise_lines, has_side_effects
from burnish.text import one_line

MOST_CALLS, MOST_OF_WORDS, MOST_OPTIONS = 60, 30, 40
"""Calls for one draw: near those of the tests, near those of the docstring, and those with options set."""
MOST_EXAMPLES = 60
MOST_TESTS = 30
"""For one function."""
CONSTANTS = 4
"""Mutants whose constants come in as values."""
LOCAL_PLACES = ("/project/", "/venv/", "/tmp/", "/home/")
"""A test that speaks of where it was made would fail elsewhere."""


class Obstacle(StrEnum):
    """Why a function is passed over, as the sum of the run says it."""

    UNCALLABLE = "that could not be called"
    UNSTATABLE = "whose answers no test could state"
    NO_TIME = "that there was no time for"
    OTHER = "that were passed over"


@dataclass(frozen=True)
class PassedOver:
    """Why nothing could be tried for a function."""

    obstacle: Obstacle
    why: str


NO_TIME = PassedOver(Obstacle.NO_TIME, "the time was up")
NO_NAME = PassedOver(Obstacle.OTHER, "its file or a folder above it has a name that no import can say")
UNCALLED = PassedOver(Obstacle.UNCALLABLE, "no test and no docstring shows a call of it that could be varied")
UNSTATED = PassedOver(Obstacle.UNSTATABLE, "its calls give nothing that a test could state")


@dataclass(frozen=True)
class ProposedTest:
    """A test that might be added for a function."""

    function: WeakFunction
    new: NewTest


@dataclass
class FunctionTests:
    """What came of the search for one function."""

    function: WeakFunction
    proposed: list[ProposedTest] = field(default_factory=list)
    against: list[str] = field(default_factory=list)
    """Where samples written from its docstring give something else than the code."""
    alike: list[str] = field(default_factory=list)
    """Mutants that no call told apart. In a large function that says little: the right call may not have been tried."""
    in_words: int = 0
    """How many of the others stand where an error is raised: they may change no more than its words."""
    passed_over: PassedOver | None = None


AskSamples = Callable[[WeakFunction, ProjectBench], Samples]
"""Has a function written anew, in whole sources that pass the project's tests. Raises AttemptError."""


def generate_tests(
    function: WeakFunction,
    ground: ProjectBench,
    files: Sequence[str],
    ask_samples: AskSamples,
    until: float,
    pinned: bool,
) -> FunctionTests:
    """Look until every mutant is told apart, the calls are used up, or the time is; or say why nothing could be tried.

    `files` are the texts of the project's tests. Tests that say what the code gives now are proposed only where they
    may be `pinned`.
    """
    if time.monotonic() >= until:
        return FunctionTests(function, passed_over=NO_TIME)
    if not all(part.isidentifier() for part in ground.import_name()[0].split(".")):
        return FunctionTests(function, passed_over=NO_NAME)
    try:
        samples = ask_samples(function, ground)
        if kind := find_nondeterminism(function.text, function.name):
            return FunctionTests(function, passed_over=PassedOver(Obstacle.OTHER, f"what it gives depends on {kind}"))
        search = _search(function, ground, files, samples, until)
        candidates = [*_try_examples(function, ground), *search.candidates]
    except AttemptError as error:
        return FunctionTests(function, passed_over=PassedOver(Obstacle.OTHER, str(error)))
    result = FunctionTests(function)
    own = {function.name, function.name.rpartition(".")[2]}
    usable = [
        one
        for one in candidates
        if (pinned or not one.is_pinned)
        and not any(place in one.test for place in LOCAL_PLACES)
        and not has_side_effects(parse(one.test), own)
    ]
    for one in choose_tests(usable, MOST_TESTS):
        if one.expectation.exposes:
            other, own_answer = value_in(one.expectation.answer), describe_answer(search.own[one.call])
            result.against.append(
                f"{len(samples.codes)} versions written from the docstring give {one_line(other, 80)} for "
                f"{one_line(one.call, 120)}, the code {one_line(own_answer, 80)}"
            )
        else:
            test = re.sub(r" == (None|True|False)\Z", r" is \1", one.test)
            result.proposed.append(ProposedTest(function, replace(one, test=test).as_new_test()))
    told = {key for one in candidates for key in one.notices} | search.hung
    if search.expected and not search.is_over:
        words = find_raise_lines(function.text)
        left = [mutant for mutant in function.survivors if mutant.key not in told]
        result.alike = [mutant.key for mutant in left if mutant.changed not in words]
        result.in_words = len(left) - len(result.alike)
    elif not told:
        result.passed_over = UNSTATED if search.own else UNCALLED
    return result


def only_new(proposed: Sequence[ProposedTest]) -> list[ProposedTest]:
    """Each test with the mutants that no test before it notices."""
    seen: set[str] = set()
    made = []
    for one in proposed:
        fresh = tuple(key for key in one.new.notices if key not in seen)
        seen |= set(fresh)
        made.append(replace(one, new=one.new.model_copy(update={"notices": fresh})))
    return made


def _search(
    function: WeakFunction, ground: Bench, files: Sequence[str], samples: Samples, until: float
) -> ProjectSearch:
    """Calls near those of the tests and of the docstring, tried on the code and on its mutants."""
    mutants = tuple(make_survivor(mutant, function.text) for mutant in function.survivors)
    shown = examples_of(docstring_of(function.text, function.name), function.name)
    seeds = seeds_from_files(function.name, CallClues(modules=[function.text], files=files))
    known = (*(seed.call() for seed in seeds), *shown)
    subject = Subject(ground, function.text, samples, mutants, CallFilter((function.name,), known))
    search = ProjectSearch(subject, until)
    search.draw(lambda draw, modules: propose_calls(function, files, draw, modules[: CONSTANTS + 1]))
    return search


def _try_examples(function: WeakFunction, ground: Bench) -> Iterator[Candidate]:
    """The examples in docstrings that the code agrees with, and which mutants each of them notices."""
    text, name = function.text, function.name
    read = {one.body: one for one in (*read_session_examples(text, name), *read_call_examples(text, name))}
    found = list(read.values())[:MOST_EXAMPLES]
    modules = dict(enumerate([text, *(mutant.module(text) for mutant in function.survivors)]))
    answers = ground.run_calls(modules, [example.check for example in found])
    for place, example in enumerate(found):
        if example.holds(answers[0][place]):
            given = [(mutant.key, answers[number][place]) for number, mutant in enumerate(function.survivors, 1)]
            notices = frozenset(key for key, answer in given if answer != NO_ANSWER and not example.holds(answer))
            yield Candidate(example.call, example.body, Expectation("", "spec", "its docstring says so"), notices)


def propose_calls(function: WeakFunction, files: Sequence[str], draw: int, modules: Sequence[str]) -> tuple[str, ...]:
    """Calls to tell the code and its mutants apart by; another `draw` gives others.

    `modules` are the code and mutants of it. A method is called only as tests call it: nobody else knows how its object
    is made.
    """
    is_method = "." in function.name
    if is_method and not seeds_from_files(function.name, CallClues(modules=[function.text], files=files)):
        return ()
    head, words = signature_of(function.text, function.name), docstring_of(function.text, function.name)
    near = generate_calls(function.name, head, CallClues(modules=modules, files=files), MOST_CALLS, draw)
    told = CallClues(prompt=words, modules=modules)
    said = () if is_method else generate_calls(function.name, head, told, MOST_OF_WORDS, draw)
    known = list(dict.fromkeys([*near, *said]))
    options = set_options(known[: MOST_CALLS // 3], function.name, function.text, MOST_OPTIONS)
    return tuple(dict.fromkeys([*known, *options]))
