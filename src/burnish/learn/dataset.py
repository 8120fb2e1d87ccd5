"""Examples and preference pairs, from what evaluations and runs have on record.

A target is always an answer that tests have verified, the model's own, or what a person gave: never a reference, which
makes a small model forget how it writes. What a simulated reviewer says is labelled and kept apart.
"""

import difflib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

from burnish.agent.answer.code import extract_code
from burnish.evals.eval_store import Folder
from burnish.evals.strategies import prompts
from burnish.evals.strategies.strategy import Puzzle
from burnish.events import Asked, CodeProposed, Event, Frozen, Message, ModelReplied, Scored, SpecAgreed
from burnish.events.feedback import Correction, FeedbackGiven, Preference, Stars, Thumbs
from burnish.events.history import Run, Version
from burnish.learn.tasks import number_of
from burnish.paths import write_atomically
from burnish.runs.store import Store
from burnish.tasks.bug_planting import normalise_code
from burnish.tasks.task import Task
from burnish.text import fence_code

EXAMPLES, PAIRS, SUMMARY = "examples.jsonl", "pairs.jsonl", "summary.json"
GO_ON = "go_on"
"""The purpose of a question that is put after a wrong answer, with the test that it fails."""
REPAIRS = ("fix", "repair", "reflect", GO_ON)
"""Purposes of asks that show broken code."""
MOST_EACH = 4
"""Examples for one prompt: more of the same teach nothing new."""
MOST_PAIRS = 2
LIKED = 4
"""Stars from which a run is an example."""
T = TypeVar("T", bound=Frozen)
By = Literal["tests", "person", "simulated"]


class SampledAnswer(Frozen):
    """One answer to a training task, and whether the tests that score pass it."""

    task: str
    """The id that all tasks made of one row share."""
    purpose: str
    messages: tuple[Message, ...]
    text: str
    """As the model wrote it."""
    code: str
    """What it says, without the module around it."""
    module: str
    """The same in its place, as it was run."""
    entry_point: str
    passed: bool
    problem: str = ""
    source: str = ""
    suite_task: str = ""
    """The id of the task in its suite."""


class Example(Frozen):
    """A prompt and an answer that was verified."""

    task: str
    purpose: str
    messages: tuple[Message, ...]
    completion: str
    by: By = "tests"
    source: str = ""

    @property
    def answers(self) -> tuple[str, ...]:
        """What it shows of answers."""
        return (self.completion,)


class Pair(Frozen):
    """Two answers to one prompt, the first of them better."""

    task: str
    purpose: str
    messages: tuple[Message, ...]
    chosen: str
    rejected: str
    by: By = "tests"
    source: str = ""

    @property
    def answers(self) -> tuple[str, ...]:
        """What it shows of answers."""
        return (self.chosen, self.rejected)


class Dataset(Frozen):
    """What a model is trained on."""

    examples: tuple[Example, ...] = ()
    pairs: tuple[Pair, ...] = ()


# What evaluations have on record


def read_answers(folder: Folder) -> Iterator[SampledAnswer]:
    """Every answer with code in an evaluation that was scored."""
    for task_id, _, events in folder.attempts():
        yield from _read_attempt(task_id, events, folder.name)


def _read_attempt(task_id: str, events: Sequence[Event], source: str) -> Iterator[SampledAnswer]:
    entry_point = Task.model_validate(Run(events).settings.task).entry_point
    asked = {event.ask_id: event for event in events if isinstance(event, Asked)}
    replied = {event.ask_id: event for event in events if isinstance(event, ModelReplied)}
    passed = {event.version: event.passed for event in events if isinstance(event, Scored)}
    for event in events:
        if not isinstance(event, CodeProposed) or event.version not in passed or event.ask_id not in replied:
            continue
        question, reply = asked[event.ask_id], replied[event.ask_id]
        if reply.ended in ("length", "cut"):
            continue
        begun = question.messages[-1].content if question.messages[-1].role == "assistant" else ""
        yield SampledAnswer(
            task=number_of(task_id),
            purpose=question.purpose,
            messages=question.messages,
            text=reply.text,
            code=extract_code(begun + reply.text, entry_point),
            module=event.code,
            entry_point=entry_point,
            passed=passed[event.version],
            problem=event.problem,
            source=source,
            suite_task=task_id,
        )


def choose_examples(answers: Iterable[SampledAnswer], most_each: int = MOST_EACH) -> list[Example]:
    """Verified answers as examples: to write, some that differ; to repair, the one nearest to the broken code.

    The nearest answer to a bug may be one to the task itself, so that most bugs have one.
    """
    answers = list(answers)
    verified: dict[tuple[str, str], dict[str, SampledAnswer]] = defaultdict(dict)
    prompts_seen: dict[tuple[Message, ...], list[SampledAnswer]] = defaultdict(list)
    for answer in answers:
        prompts_seen[answer.messages].append(answer)
        if answer.passed and answer.code:
            verified[answer.task, answer.entry_point].setdefault(_normalise(answer.code), answer)
    found: list[Example] = []
    for messages, given in prompts_seen.items():
        first = given[0]
        if first.purpose in ("fix", GO_ON):
            shown = messages[-2 if first.purpose == GO_ON else -1].content
            right = verified[first.task, first.entry_point].values()
            nearest = _find_nearest(extract_code(shown, first.entry_point), right)
            targets = [fence_code(nearest.code, "python")] if nearest else []
        else:
            distinct = {_normalise(one.code): _tidy(one) for one in reversed(given) if one.passed and one.code}
            targets = list(distinct.values())[-most_each:]
        found += [
            Example(task=first.task, purpose=first.purpose, messages=messages, completion=target, source=first.source)
            for target in targets
        ]
    return found


def go_on(answer: SampledAnswer, failing: str) -> SampledAnswer:
    """The question that goes on from a wrong answer, not answered yet: it says what test fails."""
    said = (
        f"This test fails:\n{fence_code(failing, 'python')}\n\nFind out why. Answer with one ```python block that "
        "holds the complete corrected code, and nothing else."
    )
    transcript = (Message(role="assistant", content=answer.text), Message(role="user", content=said))
    asked = {"purpose": GO_ON, "messages": (*answer.messages, *transcript), "text": "", "code": ""}
    return answer.model_copy(update=asked)


def choose_pairs(answers: Iterable[SampledAnswer], most_each: int = MOST_PAIRS) -> list[Pair]:
    """Answers to one prompt of which one passes and the other does not."""
    by_prompt: dict[tuple[Message, ...], list[SampledAnswer]] = defaultdict(list)
    for answer in answers:
        by_prompt[answer.messages].append(answer)
    found: list[Pair] = []
    for messages, given in by_prompt.items():
        good = list({one.text: one for one in given if one.passed}.values())
        bad = list({one.text: one for one in given if not one.passed and one.text.strip()}.values())
        found += [
            Pair(
                task=better.task,
                purpose=better.purpose,
                messages=messages,
                chosen=better.text,
                rejected=worse.text,
                source=better.source,
            )
            for better, worse in zip(good[:most_each], bad[:most_each], strict=False)
        ]
    return found


def _find_nearest(broken: str, verified: Iterable[SampledAnswer]) -> SampledAnswer | None:
    """The verified answer that is most like some code, and is not that code."""
    others = [answer for answer in verified if _normalise(answer.code) != _normalise(broken)]
    like = difflib.SequenceMatcher(b=broken, autojunk=False)

    def likeness(answer: SampledAnswer) -> float:
        like.set_seq1(answer.code)
        return like.ratio()

    return max(others, key=likeness, default=None)


def _tidy(answer: SampledAnswer) -> str:
    """The answer as it should have been given: the block alone, without words around it."""
    return answer.text if answer.messages[-1].role == "assistant" else fence_code(answer.code, "python")


def _normalise(code: str) -> str:
    try:
        return normalise_code(code)
    except (SyntaxError, ValueError):
        return code.strip()


# What people said of runs


def read_feedback(store: Store, reviewer: bool = False) -> Dataset:
    """What people, and programs in their place, said of the runs of a store.

    The `reviewer` is a program that gives stars to runs of which nobody has said anything.
    """
    examples: list[Example] = []
    pairs: list[Pair] = []
    stars: dict[tuple[Message, ...], list[tuple[int, str, Run, bool]]] = defaultdict(list)
    runs = {row.id: store.open(row.id) for row in store.list()}
    for run in runs.values():
        messages = ask_for(run)
        if not messages:
            continue
        about: dict[str, Any] = {"task": run.id, "purpose": "write", "messages": messages, "source": run.id}
        said = run.feedback
        if reviewer and not said and run.verdict:
            opinion = Stars(stars=review(run))
            said = (FeedbackGiven(id="reviewer", opinion=opinion, by="reviewer", simulated=True),)
        for given in said:
            by: By = "simulated" if given.simulated else "person"
            version = _find_version(run, given.version)
            if version is None:
                continue
            match given.opinion:
                case Correction(code=code) if code:
                    examples.append(Example(**about, completion=fence_code(code, "python"), by=by))
                    if version.code != code:
                        pairs.append(_pair(about, code, version.code, by))
                case Preference(than_run=name, than_version=number):
                    other = _find_version(runs.get(name), number)
                    if other and other.code != version.code:
                        pairs.append(_pair(about, version.code, other.code, by))
                case Stars(stars=count):
                    stars[messages].append((count, version.code, run, given.simulated))
                case Thumbs(up=up):
                    stars[messages].append((5 if up else 1, version.code, run, given.simulated))
    for messages, rated in stars.items():
        rated.sort(key=lambda one: one[0])
        for count, code, run, simulated in rated:
            about = {"task": run.id, "purpose": "write", "messages": messages, "source": run.id}
            by = "simulated" if simulated else "person"
            if count >= LIKED and run.verdict in ("proven", "plausible"):
                examples.append(Example(**about, completion=fence_code(code, "python"), by=by))
            worse = next((one for one in rated if one[0] < count and one[1] != code), None)
            if worse:
                pairs.append(_pair(about, code, worse[1], "simulated" if simulated or worse[3] else "person"))
    return Dataset(examples=tuple(examples), pairs=tuple(pairs))


def review(run: Run) -> int:
    """The stars that a simulated reviewer gives: for the verdict, less where a check failed."""
    failed = sum(one.verdict == "failed" for one in run.evidence if one.check != "tests")
    return max(1, {"proven": 5, "plausible": 4, "failed": 1}.get(run.verdict or "failed", 1) - failed)


def ask_for(run: Run) -> tuple[Message, ...]:
    """The plain question for what a run was asked to write; empty where that was no code of its own."""
    task = Task.model_validate(run.settings.task) if run.settings.task else None
    spec = run.spec
    return () if task is None or spec is None or run.started.verb != "write" else show_spec(task, spec)


def show_spec(task: Task, spec: SpecAgreed) -> tuple[Message, ...]:
    """The plain question for a task, as far as its words and the agent have made clear what it is."""
    named = {"entry_point": spec.entry_point, "signature": spec.signature, "visible_tests": spec.given_tests}
    shown = task.model_copy(update={**named, "hidden_tests": "", "gold": ""})
    return prompts.messages(Puzzle(task=shown, tests="\n".join(spec.given_tests)), "write")


def _find_version(run: Run | None, number: int | None) -> Version | None:
    """A version of a run by its number, or what the run delivered; None where the run or the version is gone."""
    if run is None or number is None:
        return run.final if run else None
    return next((version for version in run.versions if version.number == number), None)


def _pair(about: Mapping[str, Any], chosen: str, rejected: str, by: By) -> Pair:
    codes = {"chosen": fence_code(chosen, "python"), "rejected": fence_code(rejected, "python")}
    return Pair.model_validate({**about, **codes, "by": by})


# On disk


def save_dataset(dataset: Dataset, folder: Path, **more: object) -> dict[str, object]:
    """Write a dataset and its summary, which is returned."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in ((EXAMPLES, dataset.examples), (PAIRS, dataset.pairs)):
        text = "".join(f"{row.model_dump_json()}\n" for row in rows)
        write_atomically(folder / name, text.encode())
    summary = {**summarise(dataset), **more}
    write_atomically(folder / SUMMARY, (json.dumps(summary, indent=1) + "\n").encode())
    return summary


def load_dataset(folder: Path) -> Dataset:
    """The dataset of a folder."""
    return Dataset(examples=tuple(_read(folder / EXAMPLES, Example)), pairs=tuple(_read(folder / PAIRS, Pair)))


def _read(file: Path, kind: type[T]) -> Iterator[T]:
    lines = file.read_text("utf-8").splitlines() if file.exists() else ()
    for line in lines:
        yield kind.model_validate_json(line)


def summarise(dataset: Dataset) -> dict[str, object]:
    """What is in a dataset, in numbers."""

    def count(rows: Iterable[Example | Pair], key: Callable[[Example | Pair], str]) -> dict[str, int]:
        return dict(Counter(map(key, rows)).most_common())

    return {
        "examples": len(dataset.examples),
        "examples by purpose": count(dataset.examples, lambda row: row.purpose),
        "examples by who vouches": count(dataset.examples, lambda row: row.by),
        "pairs": len(dataset.pairs),
        "pairs by who judged": count(dataset.pairs, lambda row: row.by),
        "tasks": len({row.task for row in dataset.examples} | {row.task for row in dataset.pairs}),
        "characters of an answer, mean": round(
            sum(len(row.completion) for row in dataset.examples) / max(1, len(dataset.examples))
        ),
    }
