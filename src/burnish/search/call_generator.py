"""Many calls of one function, from the few that its tests make: near them, at the edges, and drawn afresh.

The same question gives the same calls on every machine. No call is tried here: what it gives is for the sandbox to say.
"""

import ast
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from burnish.parsing import parse_expression, try_parse, try_parse_expression
from burnish.search.argument_invariants import Invariant, find_relations, find_signs
from burnish.search.seed_calls import (
    SeedCall,
    find_signature,
    seeds_from_class,
    seeds_from_prompt,
    seeds_from_tests,
    seeds_from_types,
    split_call,
)
from burnish.search.standalone_tests import extract_bodies, is_standalone
from burnish.search.value_mutation import LARGEST, draw_value, edge_values, step_value, unusual_values
from burnish.tasks.source import find_bound_names, find_definition

LONGEST_CALL, LONGEST_KNOWN = 120, 300
STEPS = 12
"""Small steps that are made from one known call."""
TRIES = 30
"""How many draws may be in vain for each call that is wanted."""
KEPT = 0.85
"""The share of new calls that keep a relation which the known ones show."""
MOST_NAMED = 8
_QUOTED = re.compile(r"(?<!\w)(['\"`])([^'\"`\n]{1,20})\1(?!\w)")
_NUMBER = re.compile(r"(?<![\w.])\d{1,4}(?![\w.]*\d)")


@dataclass(frozen=True)
class CallClues:
    """What is known of how a function is called."""

    tests: Sequence[str] = ()
    prompt: str = ""
    modules: Sequence[str] = ()
    """Versions of the code, whose constants may come in as values."""
    files: Sequence[str] = ()
    """Whole files of tests, for where neither tests nor prompt show a call."""
    calls: Sequence[str] = ()
    """Expressions that tests were seen to evaluate."""


def generate_calls(
    entry_point: str, signature: str, clues: CallClues, most: int = 40, draw: int = 0
) -> tuple[str, ...]:
    """Up to `most` distinct calls, expressions that parse; those of the tests come first, then those of the prompt.

    Where there is none, those in files of tests are taken, else what the types and names of parameters suggest.
    Another `draw` gives other calls, and not the known ones again. A new call is at most 120 characters long; a known
    one is kept as it is.
    """
    seen = [split_call(tree) for call in clues.calls if (tree := try_parse_expression(call))]
    seeds = (
        [*seeds_from_tests(entry_point, clues.tests), *seeds_from_prompt(entry_point, clues.prompt), *seen]
        or seeds_from_files(entry_point, clues)
        or seeds_from_class(entry_point, clues.modules)
        or seeds_from_types(entry_point, signature, clues.prompt)
    )
    dice = random.Random(f"{entry_point}\0{signature}\0{chr(0).join(clues.tests)}\0{draw}")
    known = dict.fromkeys(seed.call() for seed in seeds)
    found = dict.fromkeys(list(known)[:most]) if not draw else {}
    extra = [*find_constants(clues.modules), *find_named_values(clues.prompt)]
    forms: dict[str, list[SeedCall]] = {}
    for seed in seeds:
        forms.setdefault(seed.form, []).append(seed)
    streams = [_CallStream(alike, dice, extra).calls(draw) for alike in forms.values() if alike[0].values]
    for turn in range(most * TRIES if streams else 0):
        if len(found) >= most:
            break
        call = next(streams[turn % len(streams)])
        if len(call) <= LONGEST_CALL and call not in known and call not in found and try_parse_expression(call):
            found[call] = None
    return tuple(found)


def generate_calls_of_all(
    names: Sequence[str], signature: str, clues: CallClues, most: int = 40, draw: int = 0
) -> tuple[str, ...]:
    """Calls of each of several names in turn; the signature is that of the first."""
    share = -(-most // len(names))
    signatures = [signature, *(find_signature(name, clues.modules) for name in names[1:])]
    parts = [generate_calls(name, head, clues, share, draw) for name, head in zip(names, signatures, strict=True)]
    return tuple(dict.fromkeys(take_turns(parts)))[:most]


def vary_calls(calls: Sequence[str], most: int = 40) -> tuple[str, ...]:
    """Known calls, then calls near them: with values that are equal, swapped, empty, not ASCII, or a step away.

    Of an operator, both of its objects made alike, and in the other order. Each known call gets its turn.
    """
    dice = random.Random("\0".join(calls))
    seeds = [split_call(tree) for call in calls if (tree := try_parse_expression(call))]
    near = [[*vary_operands(seed.call()), *map(seed.call, _vary_values(seed.values, dice))] for seed in seeds]
    found = dict.fromkeys([*(seed.call() for seed in seeds[: most // 2]), *take_turns(near)])
    return tuple(call for call in found if len(call) <= LONGEST_KNOWN and try_parse_expression(call))[:most]


def vary_operands(call: str) -> list[str]:
    """Of `a == b`, or another operator: `a == a`, `b == b` and `b == a`; else nothing."""
    tree = try_parse_expression(call)
    match tree:
        case ast.Compare(left=left, comparators=[right]):
            pairs = [(left, left), (right, right), (right, left)]
            varied: list[ast.expr] = [ast.Compare(one, tree.ops, [other]) for one, other in pairs]
        case ast.BinOp(left=left, right=right):
            varied = [ast.BinOp(one, tree.op, other) for one, other in ((left, left), (right, right), (right, left))]
        case _:
            return []
    return [ast.unparse(ast.fix_missing_locations(one)) for one in varied]


def _vary_values(values: tuple[Any, ...], dice: random.Random) -> Iterator[tuple[Any, ...]]:
    """Rows of values near one row: two of a kind equal and swapped, one empty or in other letters, then small steps."""
    for one, other in combinations(range(len(values)), 2):
        if type(values[one]) is type(values[other]) and values[one] != values[other]:
            row = list(values)
            row[one] = row[other]
            yield tuple(row)
            row[one], row[other] = values[other], values[one]
            yield tuple(row)
    for at, value in take_turns([[(at, one) for one in unusual_values(value)] for at, value in enumerate(values)]):
        yield (*values[:at], value, *values[at + 1 :])
    for _ in range(STEPS if values else 0):
        at = dice.randrange(len(values))
        yield (*values[:at], step_value(values[at], dice), *values[at + 1 :])


def set_options(calls: Sequence[str], function: str, text: str, most: int) -> list[str]:
    """Calls with each parameter that has a plain default set to something else: tests seldom do that."""
    node = find_definition(try_parse(text), function)
    if not isinstance(node, ast.FunctionDef):
        return []
    arguments = node.args
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    defaults = [*zip(names[len(names) - len(arguments.defaults) :], arguments.defaults, strict=True)]
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    defaults += [(argument.arg, value) for argument, value in named if value]
    positional = [name for name in names if name not in ("self", "cls")]
    made: list[str] = []
    for name, default in defaults:
        others: list[object] = []
        match default:
            case ast.Constant(value=bool(value)):
                others = [not value]
            case ast.Constant(value=int(value) | float(value)):
                others = [value + 1, value + 3, value - 1]
            case ast.Constant(value=str()):
                others = ["x", "", ", "]
        keywords = [(call, ast.keyword(name, parse_expression(repr(other)))) for other in others for call in calls]
        made += [_add_keyword(call, function, keyword, positional) for call, keyword in keywords]
    return [call for call in dict.fromkeys(made) if call][:most]


def _add_keyword(call: str, function: str, keyword: ast.keyword, positional: Sequence[str]) -> str:
    """The call with one more keyword; empty where it has that argument already, or is no such call."""
    tree = parse_expression(call)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    last = function.rpartition(".")[2]
    own = [node for node in calls if last in (getattr(node.func, "id", ""), getattr(node.func, "attr", ""))]
    if len(own) != 1 or any(isinstance(part, ast.Starred) for part in own[0].args):
        return ""
    given = {*positional[: len(own[0].args)], *(word.arg for word in own[0].keywords)}
    if keyword.arg in given or None in given:
        return ""
    own[0].keywords.append(keyword)
    return ast.unparse(tree)


def take_turns(lists: Sequence[Sequence[Any]]) -> list[Any]:
    """The first of each list, then the second of each, and so on."""
    return [one[place] for place in range(max(map(len, lists), default=0)) for one in lists if place < len(one)]


def seeds_from_files(entry_point: str, clues: CallClues) -> list[SeedCall]:
    """The calls in files of tests that need nothing but the module."""
    if not clues.files:
        return []
    tree = try_parse(clues.modules[0]) if clues.modules else None
    names = {name for node in (tree.body if tree else []) for name in find_bound_names(node)}
    seeds = seeds_from_tests(entry_point, (body for text in clues.files for body in extract_bodies(text, names)))
    return [seed for seed in seeds if is_standalone(parse_expression(seed.call()), names)]


def find_constants(modules: Sequence[str]) -> list[Any]:
    """The numbers and texts that stand in the code: where it decides, it often decides by one of them."""
    trees = [tree for module in modules if (tree := try_parse(module))]
    constants = [node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    return list({repr(value): value for value in constants if _is_useful(value)}.values())


def find_named_values(prompt: str) -> list[Any]:
    """The numbers, and the texts in quotes, that a prompt speaks of."""
    texts = [text for _, text in _QUOTED.findall(prompt)]
    numbers = [int(number) for number in _NUMBER.findall(prompt)]
    return [one for one in dict.fromkeys([*numbers, *texts]) if _is_useful(one)][:MOST_NAMED]


def _is_useful(value: object) -> bool:
    if isinstance(value, str):
        return 0 < len(value) <= 30 and "\n" not in value
    return type(value) is int and abs(value) <= LARGEST


class _CallStream:
    """An endless stream of calls of one form."""

    def __init__(self, seeds: Sequence[SeedCall], dice: random.Random, extra: Sequence[Any]) -> None:
        self.seeds, self.dice, self.extra = seeds, dice, extra
        rows = [seed.values for seed in seeds]
        self.columns: list[tuple[Any, ...]] = list(zip(*rows, strict=True))
        self.signs, self.relations = find_signs(rows), find_relations(rows)
        self.largest = max(LARGEST, *(2 * abs(n) for column in self.columns for n in column if type(n) is int), 0)

    def calls(self, draw: int) -> Iterator[str]:
        """Edges, small steps and fresh draws in turn; later draws have seen the edges already."""
        edges = self.rows_at_edges(draw == 0)
        while True:
            for row in (next(edges, None), next(edges, None)):
                if row is not None:
                    yield self.write(row, self.relations)
            mixed = [self.step(), self.draw(), self.draw()]
            if len(self.seeds) > 1:  # the arguments of several known calls together
                mixed.append([self.dice.choice(column) for column in self.columns])
            for row in mixed:
                yield self.write(row, [*self.signs, *self.relations])

    def rows_at_edges(self, usual: bool) -> Iterator[list[Any]]:
        """One argument at an edge, the others as in a known call; the arguments take turns.

        First come two arguments of one kind with the same value.
        """
        first = self.seeds[0].values
        for one, other in combinations(range(len(first)), 2):
            if usual and type(first[one]) is type(first[other]) and first[one] != first[other]:
                yield [first[one] if at == other else value for at, value in enumerate(first)]
        edges = [[(at, value) for value in self.edges_of(column, usual)] for at, column in enumerate(self.columns)]
        for at, value in take_turns(edges):
            row = list(self.dice.choice(self.seeds).values)
            row[at] = value
            yield row

    def edges_of(self, column: Sequence[Any], usual: bool) -> list[Any]:
        """The usual edges of a value and, in turn with them, what the code itself names."""
        known = edge_values(sorted(column, key=lambda one: len(repr(one)))) if usual else []
        kinds = {type(one) for one in column}
        named = [one for one in self.extra if type(one) in kinds]
        beside = [one + step for step in (1, -1) for one in named if type(one) is int]
        return take_turns([known, [*named, *beside]])

    def step(self) -> list[Any]:
        """A known call with a small change, or two."""
        row = list(self.dice.choice(self.seeds).values)
        for _ in range(self.dice.choice((1, 1, 2))):
            at = self.dice.randrange(len(row))
            row[at] = step_value(row[at], self.dice)
        return row

    def draw(self) -> list[Any]:
        """Every argument drawn anew, or all but one."""
        row = [draw_value(column, self.dice, self.extra) for column in self.columns]
        if self.dice.random() < 0.2:
            at = self.dice.randrange(len(row))
            row[at] = self.dice.choice(self.columns[at])
        return row

    def write(self, row: list[Any], invariants: Sequence[Invariant]) -> str:
        """The call, mostly made to keep what the known ones keep, and never with a number that makes it dear."""
        for invariant in invariants:
            if self.dice.random() < KEPT:
                invariant.repair(row, self.dice)
        cheap = [one % self.largest if type(one) is int and abs(one) > self.largest else one for one in row]
        return self.seeds[0].call(tuple(cheap))
