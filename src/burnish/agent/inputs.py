"""Many calls of one function, from the few that its tests make: near them, at the edges, and drawn afresh.

The same question gives the same calls on every machine. No call is tried here: what it gives is for the sandbox to say.
"""

import ast
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, zip_longest
from typing import Any

from burnish.agent.bodies import bodies_of
from burnish.agent.guesses import guessed, guessed_inside, shown, signature_of
from burnish.agent.relations import Repair, relations_of, signs_of
from burnish.agent.seeds import Seed, seeds_of
from burnish.agent.stories import is_closed
from burnish.agent.variations import LARGEST, drawn, edges, near
from burnish.parsing import parse, parse_expression
from burnish.tasks.assemble import names_of
from burnish.tasks.syntax import parsed

LONGEST_CALL = 120
TRIES = 30
"""How many draws may be in vain for each call that is wanted."""
KEPT = 0.85
"""The share of new calls that keep a relation which the known ones show."""
MOST_NAMED = 8
_QUOTED = re.compile(r"(?<!\w)(['\"`])([^'\"`\n]{1,20})\1(?!\w)")
_NUMBER = re.compile(r"(?<![\w.])\d{1,4}(?![\w.]*\d)")
_NOTHING = object()
_BROKEN = (SyntaxError, ValueError, MemoryError, RecursionError)


@dataclass(frozen=True)
class Clues:
    """What is known of how a function is called."""

    tests: Sequence[str] = ()
    prompt: str = ""
    modules: Sequence[str] = ()
    """Versions of the code, whose constants may come in as values."""
    files: Sequence[str] = ()
    """Whole files of tests, for where neither tests nor prompt show a call."""


def calls_for(entry_point: str, signature: str, clues: Clues, most: int = 40, draw: int = 0) -> tuple[str, ...]:
    """Up to `most` distinct calls, expressions that parse; those of the tests come first, then those of the prompt.

    Where there is none, those in files of tests are taken, else what the types and names of parameters suggest.
    Another `draw` gives other calls, and not the known ones again. A new call is at most 120 characters long; a known
    one is kept as it is.
    """
    seeds = (
        [*seeds_of(entry_point, clues.tests), *shown(entry_point, clues.prompt)]
        or _seeds_in(clues.files, entry_point, clues.modules)
        or guessed_inside(entry_point, clues.modules)
        or guessed(entry_point, signature, clues.prompt)
    )
    dice = random.Random(f"{entry_point}\0{signature}\0{chr(0).join(clues.tests)}\0{draw}")
    known = dict.fromkeys(seed.call() for seed in seeds)
    found = dict.fromkeys(list(known)[:most]) if not draw else {}
    extra = [*constants(clues.modules), *named_in(clues.prompt)]
    forms: dict[str, list[Seed]] = {}
    for seed in seeds:
        forms.setdefault(seed.form, []).append(seed)
    streams = [_Stream(alike, dice, extra).calls(draw) for alike in forms.values() if alike[0].values]
    for turn in range(most * TRIES if streams else 0):
        if len(found) >= most:
            break
        call = next(streams[turn % len(streams)])
        if len(call) <= LONGEST_CALL and call not in known and call not in found and _parses(call):
            found[call] = None
    return tuple(found)


def calls_of_all(names: Sequence[str], signature: str, clues: Clues, most: int = 40, draw: int = 0) -> tuple[str, ...]:
    """Calls of each of several names in turn; the signature is that of the first."""
    share = -(-most // len(names))
    signatures = [signature, *(signature_of(name, clues.modules) for name in names[1:])]
    parts = [calls_for(name, head, clues, share, draw) for name, head in zip(names, signatures, strict=True)]
    turns = chain(*zip_longest(*parts, fillvalue=""))
    return tuple(call for call in dict.fromkeys(turns) if call)[:most]


def _seeds_in(files: Sequence[str], entry_point: str, modules: Sequence[str]) -> list[Seed]:
    """The calls in files of tests that need nothing but the module."""
    trees = [tree for module in modules[:1] if (tree := parsed(module))] if files else []
    names = {name for tree in trees for node in tree.body for name in names_of(node)}
    seeds = seeds_of(entry_point, (body for text in files for body in bodies_of(text, names)))
    return [seed for seed in seeds if is_closed(parse_expression(seed.call()), names)]


def constants(modules: Sequence[str]) -> list[Any]:
    """The numbers and texts that stand in the code: where it decides, it often decides by one of them."""
    found: dict[str, Any] = {}
    for module in modules:
        try:
            nodes = list(ast.walk(parse(module)))
        except _BROKEN:
            continue
        for node in nodes:
            if isinstance(node, ast.Constant) and _is_useful(node.value):
                found[repr(node.value)] = node.value
    return list(found.values())


def named_in(prompt: str) -> list[Any]:
    """The numbers, and the texts in quotes, that a prompt speaks of."""
    texts = [text for _, text in _QUOTED.findall(prompt)]
    numbers = [int(number) for number in _NUMBER.findall(prompt)]
    return [one for one in dict.fromkeys([*numbers, *texts]) if _is_useful(one)][:MOST_NAMED]


def _is_useful(value: object) -> bool:
    if isinstance(value, str):
        return 0 < len(value) <= 30 and "\n" not in value
    return type(value) is int and abs(value) <= LARGEST


def _parses(call: str) -> bool:
    try:
        parse_expression(call)
    except _BROKEN:
        return False
    return True


class _Stream:
    """An endless stream of calls of one form."""

    def __init__(self, seeds: Sequence[Seed], dice: random.Random, extra: Sequence[Any]) -> None:
        self.seeds = seeds
        self.dice = dice
        self.extra = extra
        self.columns: list[tuple[Any, ...]] = list(zip(*(seed.values for seed in seeds), strict=True))
        rows = [seed.values for seed in seeds]
        self.signs, self.relations = signs_of(rows), relations_of(rows)
        self.largest = max(LARGEST, *(2 * abs(n) for column in self.columns for n in column if type(n) is int), 0)

    def calls(self, draw: int) -> Iterator[str]:
        """Edges, small steps and fresh draws in turn; later draws have seen the edges already."""
        edge = self.at_edges(draw == 0)
        while True:
            for row in (next(edge, None), next(edge, None)):
                yield from self.written(row, self.relations)
            for row in (self.stepped(), self.fresh(), self.fresh(), self.mixed()):
                yield from self.written(row, [*self.signs, *self.relations])

    def at_edges(self, usual: bool) -> Iterator[list[Any]]:
        """One argument at an edge, the others as in a known call; the arguments take turns."""
        yield from self.doubled() if usual else ()
        lists = [self.edges_of(column, usual) for column in self.columns]
        for number in range(max(map(len, lists))):
            for at, values in enumerate(lists):
                if number < len(values):
                    row = list(self.dice.choice(self.seeds).values)
                    row[at] = values[number]
                    yield row

    def doubled(self) -> Iterator[list[Any]]:
        """Two arguments of one kind with the same value."""
        first = self.seeds[0].values
        for one, other in combinations(range(len(first)), 2):
            if type(first[one]) is type(first[other]) and first[one] != first[other]:
                yield [first[one] if at == other else value for at, value in enumerate(first)]

    def edges_of(self, column: Sequence[Any], usual: bool) -> list[Any]:
        """The usual edges of a value and, in turn with them, what the code itself names."""
        known = edges(sorted(column, key=lambda one: len(repr(one)))) if usual else []
        kinds = {type(one) for one in column}
        named = [one for one in self.extra if type(one) in kinds]
        beside = [one + step for step in (1, -1) for one in named if type(one) is int]
        turns = chain(*zip_longest(known, [*named, *beside], fillvalue=_NOTHING))
        return [one for one in turns if one is not _NOTHING]

    def stepped(self) -> list[Any]:
        """A known call with a small change, or two."""
        row = list(self.dice.choice(self.seeds).values)
        for _ in range(self.dice.choice((1, 1, 2))):
            at = self.dice.randrange(len(row))
            row[at] = near(row[at], self.dice)
        return row

    def fresh(self) -> list[Any]:
        """Every argument drawn anew, or all but one."""
        row = [drawn(column, self.dice, self.extra) for column in self.columns]
        if self.dice.random() < 0.2:
            at = self.dice.randrange(len(row))
            row[at] = self.dice.choice(self.columns[at])
        return row

    def mixed(self) -> list[Any] | None:
        """The arguments of several known calls together."""
        return [self.dice.choice(column) for column in self.columns] if len(self.seeds) > 1 else None

    def written(self, row: list[Any] | None, repairs: Sequence[Repair]) -> Iterator[str]:
        """The call, mostly made to keep what the known ones keep, and never with a number that makes it dear."""
        if row is None:
            return
        for repair in repairs:
            if self.dice.random() < KEPT:
                repair(row, self.dice)
        cheap = [one % self.largest if type(one) is int and abs(one) > self.largest else one for one in row]
        yield self.seeds[0].call(tuple(cheap))
