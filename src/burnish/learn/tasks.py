"""What may be learnt from: code and tests to write, bugs to repair, and the guard that keeps evaluation tasks out.

All come from MBPP 601-974 without the ids of MBPP+. They are written as a suite of JSON lines, so that sampling answers
to them is an evaluation like any other: resumable, on any model, graded by the one grader.
"""

import ast
import itertools
import json
import re
import sys
import textwrap
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import Any

from burnish.agent.answer.forms import FENCE
from burnish.checks import grade_script
from burnish.evals.suites import MUTANT_SECONDS, REFERENCE_SECONDS
from burnish.evals.validate import map_tasks, remember
from burnish.events import Frozen, Message
from burnish.parsing import parse
from burnish.paths import write_atomically
from burnish.sandbox.sandbox import Sandbox
from burnish.tasks.bug_planting import (
    PLANT_VERSION,
    PlantedBug,
    as_docs,
    as_file,
    as_tests,
    normalise_code,
    pick_neighbours,
    propose_bugs,
)
from burnish.tasks.data import Progress
from burnish.tasks.humanevalpack import load_humaneval, load_humanevalfix
from burnish.tasks.mbpp import load_mbpp, load_mbppplus
from burnish.tasks.task import Split, Task

WORDS_AT_ONCE, TOKENS_AT_ONCE = 6, 10
"""How long the pieces are of which two texts, or two programs, must not share much."""
MOST_SHARED = 0.5
"""Of the pieces of a training task that one evaluation task has too."""
MOST_HELD = 0.7
"""Of the pieces of an evaluation task's code that other code may hold. No reference of a training task holds more."""
FEWEST_HELD = 3
"""Pieces that code must have to be known by them; shorter code is written by everybody."""
SHORTEST_QUOTE = 40
"""Characters of a sentence that is looked for in prompts; shorter ones are said of many things."""
MOST_TRIES = 60
USUAL_WORDS = re.compile(r"(?i)^(write|find) (a|the)( python)? function (to|that|which|for)\s+")


class Removed(Frozen):
    """A task that may not be learnt from, and why."""

    id: str
    why: str


class EvaluationGuard:
    """Knows everything that is evaluated on."""

    def __init__(self, protected: Iterable[Task]) -> None:
        self._ids: set[str] = set()
        self._pieces: dict[tuple[str, ...], set[str]] = {}
        self._code_pieces: dict[tuple[str, ...], set[tuple[str, str]]] = {}
        self._code_sizes: dict[tuple[str, str], int] = {}
        self._sentences: dict[str, str] = {}
        for task in protected:
            self._ids.add(number_of(task.id))
            sentence = _plain(task.prompt)
            if len(sentence) >= SHORTEST_QUOTE:
                self._sentences[sentence] = task.id
            for piece in _pieces_of(task):
                self._pieces.setdefault(piece, set()).add(task.id)
            for code in filter(None, (task.gold, task.base_code)):
                pieces = {*_pieces_of_code(code)}
                if len(pieces) >= FEWEST_HELD:
                    self._code_sizes[task.id, code] = len(pieces)
                    for piece in pieces:
                        self._code_pieces.setdefault(piece, set()).add((task.id, code))

    def why_not(self, task: Task) -> str:
        """Why a task may not be learnt from; empty when it may."""
        if why := self.why_not_row(task.id, [Message(role="user", content=task.prompt)]):
            return why
        pieces = list(_pieces_of(task))
        hits: dict[str, int] = {}
        for piece in pieces:
            for name in self._pieces.get(piece, ()):
                hits[name] = hits.get(name, 0) + 1
        name, count = max(hits.items(), key=lambda hit: hit[1], default=("", 0))
        if pieces and count > MOST_SHARED * len(pieces):
            return f"{count} of its {len(pieces)} pieces of text and code are also in {name}"
        return self._why_not_code((task.gold, task.base_code))

    def why_not_row(self, task_id: str, messages: Sequence[Message], answers: Iterable[str] = ()) -> str:
        """Why a prompt, with answers to it, may not be learnt from; empty when it may."""
        if not self._ids.isdisjoint(number_of(task_id).split("+")):
            return "it is a task that evaluations use"
        words = " ".join(_plain(message.content) for message in messages)
        if name := next((name for sentence, name in self._sentences.items() if sentence in words), ""):
            return f"it quotes the words of {name}"
        begun = messages[-1].content if messages and messages[-1].role == "assistant" else ""
        texts = [*(message.content for message in messages), *(begun + answer for answer in answers)]
        return self._why_not_code(block[3] for text in texts for block in FENCE.finditer(text))

    def _why_not_code(self, codes: Iterable[str]) -> str:
        """Which evaluation task's code, right or broken, is in one of these programs; empty for none."""
        for code in codes:
            hits = Counter(one for piece in {*_pieces_of_code(code)} for one in self._code_pieces.get(piece, ()))
            for one, count in hits.items():
                if count > MOST_HELD * self._code_sizes[one]:
                    return f"it holds code of {one[0]}"
        return ""

    def sift(self, tasks: Iterable[Task]) -> tuple[list[Task], list[Removed]]:
        """The tasks that may be learnt from, and those that may not."""
        kept: list[Task] = []
        removed: list[Removed] = []
        for task in tasks:
            if why := self.why_not(task):
                removed.append(Removed(id=task.id, why=why))
            else:
                kept.append(task)
        return kept, removed


def number_of(task_id: str) -> str:
    """The source and number that all tasks made of one row share: mbpp-602 for mbppfix-602 and mbppplus-602.

    A task that was made of several rows has all of theirs, with a plus between them.
    """
    found = re.findall(r"(mbpp|humaneval)\D*?[-_/](\d+)", task_id.lower().replace("python", "humaneval"))
    return "+".join(f"{source}-{number}" for source, number in found) or task_id


def _plain(text: str) -> str:
    """The words of a text alone."""
    return " ".join(re.findall(r"\w+", USUAL_WORDS.sub("", text.strip()).lower()))


def _pieces_of(task: Task) -> Iterator[tuple[str, ...]]:
    """Overlapping runs of words of the sentence and of tokens of the reference."""
    yield from _cut(_plain(task.prompt).split(), WORDS_AT_ONCE)
    yield from _pieces_of_code(task.gold)


def _pieces_of_code(code: str) -> Iterator[tuple[str, ...]]:
    """Overlapping runs of tokens, whatever is said in comments; none of what is no Python."""
    tokens: list[str] = []
    with suppress(tokenize.TokenError, SyntaxError, ValueError, RecursionError):
        read = tokenize.generate_tokens(StringIO(normalise_code(code)).readline)
        tokens = [token.string for token in read if token.string.strip()]
    yield from _cut(tokens, TOKENS_AT_ONCE)


def _cut(texts: Sequence[str], size: int) -> Iterator[tuple[str, ...]]:
    for start in range(len(texts) - size + 1):
        yield tuple(texts[start : start + size])


def load_guard(data: Path | None = None, progress: Progress | None = None) -> EvaluationGuard:
    """The guard over all that is evaluated, tuned or calibrated on."""
    splits: tuple[Split, ...] = ("eval", "tune", "calibrate")
    plus = [task for split in splits for task in load_mbppplus(split, data, progress)]
    plain = [task for split in splits[:2] for task in load_mbpp(split, data, progress)]
    broken = load_humanevalfix("docs", data, progress)
    return EvaluationGuard([*load_humaneval(data, progress), *broken, *plain, *plus])


def load_writing(data: Path | None = None, progress: Progress | None = None) -> tuple[list[Task], list[Removed]]:
    """The tasks to write from words, and those that the guard removed."""
    return load_guard(data, progress).sift(load_mbpp("train", data, progress))


def plant_bugs(
    tasks: Sequence[Task], sandbox: Sandbox, bugs_each: int, progress: Progress | None = None
) -> list[PlantedBug]:
    """Up to so many proven bugs for each task: the reference passes the tests and none of them does."""

    def prove(task: Task) -> list[dict[str, Any]]:
        reference, found = normalise_code(task.gold), list[PlantedBug]()
        if grade_script(reference, task.hidden_tests, sandbox, REFERENCE_SECONDS).all_passed:
            for mutant in itertools.islice(propose_bugs(reference, task.entry_point, task.id), MOST_TRIES):
                graded = grade_script(mutant.code, task.hidden_tests, sandbox, MUTANT_SECONDS)
                numbers = [number for number, case in enumerate(graded.cases) if case.outcome != "passed"]
                if numbers:
                    found.append(PlantedBug(id=task.id, code=mutant.code, bug=mutant.bug, failing=numbers[0]))
                if len(found) >= bugs_each:
                    break
        return [bug.model_dump(mode="json") for bug in found]

    key = json.dumps([PLANT_VERSION, bugs_each, sys.version_info[:2], [(one.id, one.gold) for one in tasks]])
    rows = remember("train-bugs", key, lambda: map_tasks(prove, tasks, "planting bugs", progress))
    return [PlantedBug.model_validate(bug) for row in rows for bug in row]


def make_repairs(tasks: Sequence[Task], bugs: Sequence[PlantedBug]) -> list[Task]:
    """Each bug as a task to repair: with the task's words and without them in turns, so that reading code is learnt."""
    known, found = {task.id: task for task in tasks}, []
    for number, bug in enumerate(bugs):
        make = as_docs if number % 2 == 0 else as_tests
        repair = make(known[bug.id], bug)
        found.append(repair.model_copy(update={"id": f"{repair.id}-{number}"}))
    return found


def make_several(
    tasks: Sequence[Task], bugs: Sequence[PlantedBug], sandbox: Sandbox, progress: Progress | None = None
) -> list[Task]:
    """Tasks with several functions: two to write at once, and for each task its first bug in a file among others.

    Only those that the reference passes and the bug does not.
    """

    def prove(task: Task) -> bool:
        codes = (task.gold, task.base_code)
        good, bad = (grade_script(code, task.hidden_tests, sandbox, REFERENCE_SECONDS) for code in codes)
        return good.all_passed and not bad.all_passed

    known, found = {task.id: task for task in tasks}, []
    for first, second in zip(tasks[::2], tasks[1::2], strict=False):
        if first.entry_point == second.entry_point or first.prelude or second.prelude:
            continue
        words = f"{first.prompt.strip()}\n\nAlso write the function `{second.entry_point}`, beside it:\n"
        both = {
            "id": f"{first.id}+{second.id}",
            "prompt": words + second.prompt.strip(),
            "signature": "",  # a stub to complete would be one function
            "visible_tests": (*first.visible_tests, *second.visible_tests),
            "hidden_tests": f"{first.hidden_tests.rstrip()}\n{second.hidden_tests}",
            "gold": f"{first.gold.rstrip()}\n\n\n{second.gold}",
        }
        found.append(first.model_copy(update=both))
    for bug in {one.id: one for one in reversed(bugs)}.values():
        if around := pick_neighbours(known[bug.id], tasks):
            inside = as_file(known[bug.id], bug, around)
            found.append(inside.model_copy(update={"id": f"{inside.id}-file"}))
    return list(itertools.compress(found, map_tasks(prove, found, "several functions", progress)))


TEST_THE_TESTS = """\
def accepts(code):
    names = {{}}
    exec(code, names)
    try:
        {check}(names[{name!r}])
    except Exception:
        return False
    return True

RIGHT = {right!r}
{asserts}
"""


def make_test_tasks(
    tasks: Sequence[Task],
    bugs: Sequence[PlantedBug],
    right: Mapping[str, Sequence[str]],
    sandbox: Sandbox,
    progress: Progress | None = None,
) -> list[Task]:
    """Each task as one to write tests for, as a function that asserts things of the one that it is given.

    Each wrong sample is a case: those tests are right that accept all right samples and refuse this one, so those that
    refuse everything, or nothing, are worth nothing. `right` are samples beside the reference, by task. A task is left
    out where the tests that score it would not be right.
    """

    def make(task: Task) -> Task | None:
        name, check = task.entry_point, f"check_{task.entry_point}"
        wrong = [bug.code for bug in bugs if bug.id == task.id]
        if not wrong or not all(isinstance(node, ast.Assert) for node in parse(task.hidden_tests).body):
            return None
        asserts = "\n".join(f"assert all(map(accepts, RIGHT)) and not accepts({code!r})" for code in wrong)
        judge = TEST_THE_TESTS.format(
            check=check, name=name, right=[task.gold, *right.get(task.id, ())], asserts=asserts
        )
        gold = f"def {check}({name}):\n{textwrap.indent(task.hidden_tests, '    ')}"
        if not grade_script(gold, judge, sandbox, REFERENCE_SECONDS).all_passed:
            return None
        words = (
            f"Test the function `{name}`, which is given: assert what it returns for several arguments, so that one "
            f"that does something else fails. What it should do:\n{task.prompt.strip()}\n"
            f"For example: {task.visible_tests[0]}"
        )
        made = {"id": f"{task.id}-tests", "prompt": words, "entry_point": check, "signature": f"{check}({name})"}
        judged = {"visible_tests": (), "hidden_tests": judge, "gold": gold, "prelude": ""}
        return task.model_copy(update={**made, **judged})

    return list(filter(None, map_tasks(make, tasks, "tests to write", progress)))


def write_suite(tasks: Sequence[Task], file: Path) -> None:
    """The tasks as a suite of the user's own, which `burnish eval FILE` reads."""
    rows = []
    for task in tasks:
        row = {
            "id": task.id,
            "prompt": task.prompt,
            "entry_point": task.entry_point,
            "signature": task.signature,
            "buggy": task.base_code,
            "prelude": task.prelude,
            "visible_tests": list(task.visible_tests),
            "hidden_tests": task.hidden_tests,
            "gold": task.gold,
            "bug": task.bug,
        }
        rows.append(json.dumps({name: value for name, value in row.items() if value}))
    write_atomically(file, ("\n".join(rows) + "\n").encode())
