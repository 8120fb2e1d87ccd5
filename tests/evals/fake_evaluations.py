"""Evaluations made of thin air: events as a strategy and the scorer would leave them, with no model and no sandbox."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

from burnish.evals.schema import Contents, LeftOut, Plan
from burnish.events import (
    Answered,
    Asked,
    Broke,
    Case,
    CodeProposed,
    Event,
    Graded,
    Message,
    ModelReplied,
    RunStarted,
    Scored,
    Stopped,
    TestsRan,
    Verdict,
)


def attempt(
    passes: Sequence[bool], *, at: float = 0.0, text: str = "", name: str = "f", error: str = ""
) -> list[Event]:
    """One call a round; `passes`: what the scoring tests say of each version. A call takes two seconds."""
    events: list[Event] = [RunStarted(at=at, run_id=name, verb="eval", prompt=text, model="scripted:x", burnish="0")]
    for place, passed in enumerate(passes):
        events += _call(place, passed, at + 2 * place, text or f"def {name}():\n    return {place}")
    if error:
        events.append(Broke(at=at + 2 * len(passes), error="ModelError", message=error))
        return events
    events += [
        Scored(
            at=at + 2 * len(passes), version=place + 1, passed=passed, why="" if passed else f"assert f() == {place}"
        )
        for place, passed in enumerate(passes)
    ]
    return events


def _call(place: int, passed: bool, at: float, code: str) -> Iterator[Event]:
    case = Case(name="t1", outcome="passed" if passed else "failed", message="" if passed else f"{code}\ngot None")
    asked = (Message(role="user", content=f"Fix this.\n{code}"),)
    yield Asked(
        at=at, ask_id=f"a{place}", purpose="draft", messages=asked, temperature=0, top_p=1, max_tokens=512, seed=0
    )
    yield ModelReplied(
        at=at + 1, ask_id=f"a{place}", purpose="draft", text=code, tokens_in=100, tokens_out=50, seconds=1.0
    )
    yield CodeProposed(at=at + 1, version=place + 1, code=f"{code}  # {place}", by="draft", ask_id=f"a{place}")
    yield TestsRan(at=at + 1, version=place + 1, graded=Graded(cases=(case,)))
    yield Answered(at=at + 2, call=place + 1, round=place, version=place + 1)
    if passed:
        yield Stopped(at=at + 2, reason="done", why="every test it may see passes")


@dataclass
class Made:
    """What `results` needs of a folder, in memory."""

    tried: list[tuple[str, int, list[Event]]]
    plan: Plan = field(default_factory=lambda: plan())
    task_ids: tuple[str, ...] = ()
    bugs: dict[str, str] = field(default_factory=dict)
    broken: tuple[LeftOut, ...] = ()

    def __post_init__(self) -> None:
        self.task_ids = self.task_ids or tuple(dict.fromkeys(task for task, _, _ in self.tried))
        self.contents = Contents(plan=self.plan, tasks=())

    def attempts(self) -> Iterator[tuple[str, int, list[Event]]]:
        return iter(self.tried)


def plan(**changes: object) -> Plan:
    """A plan that says something in every field a report shows."""
    usual = {
        "suite": "humanevalfix",
        "variant": "docs",
        "model": "local:m",
        "engine": "llama.cpp",
        "strategy": "reflect",
    }
    return Plan.model_validate(usual | changes)


def solving(*rows: Sequence[bool], **changes: object) -> Made:
    """One attempt a row, task ids t/0, t/1 …"""
    return Made([(f"t/{place}", 0, attempt(row)) for place, row in enumerate(rows)], plan(**changes))


def saying(*rows: tuple[float | None, bool], seeds: int = 1, proven: float = 0.95) -> Made:
    """One attempt a row that says how sure it is and is right or not; each task in turn has `seeds` of them."""
    tried = []
    for place, (sure, passed) in enumerate(rows):
        verdict: Verdict | None = None if sure is None else "proven" if sure >= proven else "plausible"
        events: list[Event] = [
            event.model_copy(update={"confidence": sure, "verdict": verdict}) if isinstance(event, Answered) else event
            for event in attempt([passed])
        ]
        tried.append((f"t/{place // seeds}", place % seeds, events))
    return Made(tried, plan(seeds=list(range(seeds)), strategy="burnish"))


def betting(tasks: int = 200, honest: float = 1.0, seed: int = 1) -> Made:
    """Answers that say too much the less honest they are: at 1 confidence means what it says, at 0 it is 99 %."""
    draw = Random(seed).random
    rows: list[tuple[float | None, bool]] = []
    for _ in range(tasks):
        chance = 1 - draw() ** 2
        rows.append((round(honest * chance + (1 - honest) * 0.99, 3), draw() < chance))
    return saying(*rows)


BUGS = ("operator misuse", "missing logic", "value misuse", "excess logic", "variable misuse", "function misuse")


def plausible(tasks: int = 164, rounds: int = 5, first: float = 0.2, later: float = 0.08, seed: int = 1) -> Made:
    """A whole evaluation with a curve such as small models draw; some break, some are solved and then lost."""
    draw = Random(seed).random
    tried = []
    for place in range(tasks):
        passes: list[bool] = []
        while len(passes) <= rounds and not (passes and passes[-1]):
            passes.append(draw() < (later if passes else first))
        if draw() < 0.03 and len(passes) <= rounds:
            passes += [False]
        code = f"def solve_{place}(values):\n    total = 0\n    for value in values:\n        total += value"
        error = "the server hung up" if draw() < 0.02 else ""
        tried.append((f"Python/{place}", 0, attempt(passes, at=3.0 * place, text=code, error=error)))
    bugs = {task: BUGS[place % len(BUGS)] for place, (task, _, _) in enumerate(tried)}
    return Made(tried, plan(rounds=rounds), bugs=bugs, broken=(LeftOut(id="Python/200", why="its gold fails"),))
