"""Which tasks GRPO asks next: those that the model sometimes solves, as answers of equal worth teach nothing."""

import ast
import random
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence

from burnish.parsing import try_parse
from burnish.tasks.source import DEFINITIONS
from burnish.tasks.task import Task

TOO_HARD, SOLVED = 0.1, 0.9
"""Shares of right answers below and from which a task is not asked."""
RECENT = 16
"""Answers by which is judged how well a task is solved now."""
WRITING = 0.25
"""Of every update, and one task at least: what repairs make a model forget is how to write."""


class Curriculum:
    """Picks tasks by how often they were solved lately.

    A stage opens when too few tasks of those before it can be learnt. A task that is never solved waits until nothing
    better is left; one that is solved has left, and comes again only when all have. A task that was never asked may be
    either, so it is asked.
    """

    def __init__(self, tasks: Sequence[Task], seed: int = 0) -> None:
        self._recent: dict[str, deque[bool]] = defaultdict(lambda: deque(maxlen=RECENT))
        self._stages = find_stages(tasks)
        self._writing = {task.id for task in tasks if not task.base_code and not task.bug}
        chance = random.Random(seed)
        self._asked = {task.id: chance.random() - 1 for task in tasks}
        """When it was asked last; a chance before that."""
        self._turn = self.stage = 0

    def record(self, task: str, solved: Iterable[bool]) -> None:
        """Keep whether answers to a task were right."""
        self._recent[task].extend(solved)

    def choose(self, count: int) -> list[str]:
        """The tasks of the next update. Of two or more, some are to write."""
        least = max(1, int(count * WRITING)) if count > 1 else 0
        chosen = self._pick(sorted(self._writing), least)
        chosen += self._pick([name for name in self._asked if name not in chosen], count - len(chosen))
        self._turn += 1
        self._asked |= dict.fromkeys(chosen, self._turn)
        return chosen

    def _pick(self, names: Sequence[str], count: int) -> list[str]:
        last = max(self._stages.values())
        while True:
            ranked = sorted((self._rank(name), self._asked[name], name) for name in names if self._is_open(name))
            if self.stage >= last or sum(rank == 0 for rank, _, _ in ranked) >= count:
                return [name for _, _, name in ranked[:count]]
            self.stage += 1

    def _is_open(self, name: str) -> bool:
        return self._stages[name] <= self.stage

    def _rank(self, name: str) -> int:
        recent = self._recent[name]
        rate = sum(recent) / len(recent) if recent else 0.5
        return 2 if rate >= SOLVED else 1 if rate < TOO_HARD else 0


def find_stages(tasks: Sequence[Task]) -> dict[str, int]:
    """The stage of each task: short references, long ones, and last several functions."""

    def has_several(task: Task) -> bool:
        tree = try_parse(task.gold) or ast.Module([], [])
        return sum(isinstance(node, DEFINITIONS) for node in tree.body) > 1

    single = sorted((len(task.gold), task.id) for task in tasks if not has_several(task))
    halves = {name: int(2 * place >= len(single)) for place, (_, name) in enumerate(single)}
    return {task.id: halves.get(task.id, 2) for task in tasks}
