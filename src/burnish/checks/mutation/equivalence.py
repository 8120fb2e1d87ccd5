"""Which survivors are mutants that nobody could notice: run on many inputs beside the code, they never differ.

Inputs come from the tests' own calls, the signature and the constants of the code. A function whose effect is not all
in what it gives, or that gives another value the second time, is not compared: its survivors stay survivors.
"""

import ast
import contextlib
import re
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from burnish.checks.bench.bench import ProjectBench
from burnish.checks.bench.check_context import CheckContext
from burnish.checks.bench.project_finder import python_files
from burnish.checks.mutation.mutant import Mutant
from burnish.checks.project import Project
from burnish.errors import BurnishError
from burnish.parsing import try_parse
from burnish.search.behaviour_groups import PREDICATES, AnswerKind, answer_kind, truth_as_number
from burnish.search.call_generator import (
    CallClues,
    find_constants,
    generate_calls,
    seeds_from_files,
    set_options,
    take_turns,
)
from burnish.search.seed_calls import SeedCall, find_signature
from burnish.tasks.repair import docstring_of
from burnish.tasks.source import find_definition, find_local_names
from burnish.tasks.static_analysis import find_nondeterminism, find_raised_errors
from burnish.text import one_line

NEAR_CALLS, CONSTANT_CALLS, TYPED_CALLS, OPTION_CALLS = 120, 80, 40, 40
"""Inputs like those of the tests, those at constants of the code, those that only the signature suggests, and those
that set an option.
"""
OPTION_BASES = 20
"""Calls that get an option set."""
REPEATED = 20
"""Calls that are made once more after all others: code that remembers earlier calls may answer them differently."""
LEAST_INPUTS = 8
"""On fewer inputs that give something, nothing is said of a mutant; a function may have fewer inputs at all."""
AT_ONCE = 40
"""Mutants in one job."""
MOST_FILES = 20
LONGEST_FILE = 20_000
"""In characters: in a longer file only the function's own constants are taken."""
LONGEST_VALUE = 60
SAMPLES: dict[str, object] = {
    **{"list": [1, 2], "tuple": (1, 2), "dict": {"a": 1}, "str": "ab", "bytes": b"ab"},
    **{"int": 3, "float": 2.5, "bool": True, "set": {1}},
}
"""A value of each type that code may ask for."""
HIDDEN = re.compile(r"…(?! #)|\ba (?:function|method|module)\b")
"""In an answer: what it holds is not all in sight, so that two which read alike may differ."""
CHANGING = {
    *("append", "extend", "insert", "add", "update", "setdefault", "sort", "reverse"),
    *("pop", "popitem", "remove", "discard", "clear", "write"),
}
"""Methods that change the object they belong to."""


@dataclass(frozen=True)
class TellingInput:
    """An input that tells a mutant from the code, and what each of them does with it."""

    call: str
    code: str
    mutant: str

    @property
    def rank(self) -> tuple[bool, int]:
        """Lower is better: two values say more than a value and an error, and a short call more than a long one."""
        return {answer_kind(self.code), answer_kind(self.mutant)} != {AnswerKind.VALUE}, len(self.call)

    def explain(self, mutant: Mutant) -> str:
        """In one sentence, but for how the tests take it: "clamp(5, 1, 3) gives 3; with `>` for `<` it gives 5"."""
        said = [
            PREDICATES.get(answer_kind(answer), "gives {}").format(one_line(answer, LONGEST_VALUE))
            for answer in (self.code, self.mutant)
        ]
        old, new = one_line(mutant.old, LONGEST_VALUE), one_line(mutant.new, LONGEST_VALUE)
        how = f"with `{new}` for `{old}`" if new else f"without `{old}`"
        return f"{one_line(self.call, 120)} {said[0]}; {how} it {said[1]}"


@dataclass
class ComparedSurvivors:
    """What is known of survivors once they have run beside the code, by their keys."""

    equivalent: dict[str, int] = field(default_factory=dict)
    """Those that behave the same, and on how many inputs."""
    apart: dict[str, TellingInput] = field(default_factory=dict)


def compare_survivors(
    project: Project, context: CheckContext, survivors: Sequence[Mutant], seconds: float
) -> ComparedSurvivors:
    """Run survivors beside the code, function by function, for so long; those that it is too short for stay unknown."""
    until, found = time.monotonic() + seconds, ComparedSurvivors()
    by_function: dict[tuple[str, str], list[Mutant]] = defaultdict(list)
    for mutant in survivors:
        by_function[mutant.file, mutant.name].append(mutant)
    tests = list(read_test_texts(project)) if survivors else []
    for (file, name), mutants in by_function.items():
        if time.monotonic() >= until:
            break
        with contextlib.suppress(BurnishError):  # what cannot be run cannot be compared
            _compare_function(ProjectBench(project, Path(file), context=context), name, mutants, tests, found)
    return found


def read_test_texts(project: Project) -> Iterator[str]:
    """The text of each test file; what cannot be read is left out."""
    for path in project.tests:
        place = project.root / path
        for file in [place] if place.is_file() else sorted(python_files(place)):
            with contextlib.suppress(OSError, SyntaxError, ValueError):
                yield project.text(file.relative_to(project.root))


def _compare_function(
    bench: ProjectBench, name: str, mutants: Sequence[Mutant], tests: Sequence[str], found: ComparedSurvivors
) -> None:
    """Compare the mutants of one function, and note what comes of it. Raises SandboxError."""
    text = bench.project.text(bench.source)
    if has_unseen_effects(text, name):
        return
    calls = sorted(propose_inputs(text, name, tests), key=len)
    if not calls:
        return
    own = bench.observe_calls(text, [*calls, *calls[:REPEATED]])
    if own.answers != own.again or own.answers[len(calls) :] != own.answers[: len(calls[:REPEATED])]:
        return  # the code does not agree with itself
    meant = {f"raises {error}" for error in find_raised_errors(mutants[0].was)}
    answered = zip(calls, own.answers, strict=False)
    expected = {call: said for call, said in answered if answer_kind(said) is AnswerKind.VALUE or said in meant}
    in_sight = sum(not HIDDEN.search(said) for said in expected.values())
    is_enough = in_sight >= max(1, min(LEAST_INPUTS, len(calls) // 4))
    for start in range(0, len(mutants) if expected else 0, AT_ONCE):
        batch = mutants[start : start + AT_ONCE]
        answers = bench.compare_calls([mutant.module(text) for mutant in batch], expected)
        for mutant, others in zip(batch, answers, strict=True):
            pairs = [(*one, other) for one, other in zip(expected.items(), others, strict=True) if other]
            differing = [TellingInput(*one) for one in pairs if truth_as_number(one[1]) != truth_as_number(one[2])]
            if differing:
                found.apart[mutant.key] = min(differing, key=lambda one: one.rank)
            elif is_enough and len(pairs) == len(expected) and own.lines & find_lines(text, mutant.changed):
                found.equivalent[mutant.key] = len(expected)


def find_lines(text: str, line: int) -> set[int]:
    """The lines of the smallest statement around a line, without the blocks inside of it: if one runs, that runs."""
    lines, tree = {line}, try_parse(text)
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = body[0].lineno - 1 if body else node.end_lineno or node.lineno
            if node.lineno <= line <= last:
                lines = set(range(node.lineno, last + 1))
    return lines


def propose_inputs(text: str, name: str, tests: Sequence[str]) -> list[str]:
    """Calls of a function: near those of its tests and docstring, and such as its signature suggests."""
    word = name.rpartition(".")[2]
    files = [test for test in tests if word in test][:MOST_FILES]
    seeds = seeds_from_files(name, CallClues(modules=[text], files=files))
    node, signature = find_definition(try_parse(text), name), find_signature(name, [text])
    is_short = len(text) <= LONGEST_FILE or "." in name or node is None
    constants = text if is_short or node is None else ast.unparse(node)
    clues = CallClues([seed.call() for seed in seeds], docstring_of(text, name), [constants])
    calls = [*generate_calls(name, signature, clues, NEAR_CALLS), *_calls_at_constants(seeds, constants)]
    if isinstance(node, ast.FunctionDef) and all(one.annotation for one in node.args.args) and "." not in name:
        calls += generate_calls(name, signature, CallClues(modules=[constants]), TYPED_CALLS)
    return list(dict.fromkeys([*calls, *set_options(calls[:OPTION_BASES], name, text, OPTION_CALLS)]))


def _calls_at_constants(seeds: Sequence[SeedCall], code: str) -> list[str]:
    """Known calls with one argument at a constant of the code, or beside it: that is where it decides.

    Where it decides by a type, with a value of that type as the argument, or as one item more of it.
    """
    named = find_constants([code])
    beside = [value + step for value in named if isinstance(value, int) for step in (1, -1)]
    asked = {kind for match in re.findall(r"isinstance\([^()]+, ([^:]+)\)", code) for kind in re.findall(r"\w+", match)}
    places = [(seed, at, old) for seed in seeds for at, old in enumerate(seed.values)]
    rows = [[(*place, value) for place in places if type(place[2]) is type(value)] for value in (*named, *beside)]
    for sample in (SAMPLES[kind] for kind in sorted(asked & SAMPLES.keys())):
        rows.append([(*place, sample) for place in places])
        rows.append([(seed, at, old, [*old, sample]) for seed, at, old in places if isinstance(old, list)])
    calls = [seed.call((*seed.values[:at], new, *seed.values[at + 1 :])) for seed, at, _, new in take_turns(rows)]
    return calls[:CONSTANT_CALLS]


def has_unseen_effects(text: str, name: str) -> bool:
    """Whether a function may do more than give a value, or gives one that does not come from its arguments alone.

    Such are functions that print, change what is outside of them, or look at the clock, at chance, or at files.
    """
    node = find_definition(try_parse(text), name)
    if not isinstance(node, ast.FunctionDef) or find_nondeterminism(text, name):
        return True
    own = find_local_names(node) - {"self", "cls"}

    def is_outside(place: ast.expr) -> bool:
        while isinstance(place, ast.Attribute | ast.Subscript):
            place = place.value
        return isinstance(place, ast.Name) and place.id not in own

    for part in ast.walk(node):
        match part:
            case ast.Global() | ast.Nonlocal() | ast.Call(func=ast.Name(id="print" | "setattr" | "delattr")):
                return True
            case ast.Attribute(ctx=ast.Store() | ast.Del()):
                return True
            case ast.Subscript(ctx=ast.Store() | ast.Del()) if is_outside(part):
                return True
            case ast.Call(func=ast.Attribute(attr=word) as called) if word in CHANGING and is_outside(called):
                return True
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self"))):
                return True
    return False
