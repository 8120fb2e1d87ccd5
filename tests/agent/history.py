"""What a run may have seen so far, in a few words: events without a sandbox or a model."""

from collections.abc import Mapping

from burnish.agent.state import GIVEN, AgentState
from burnish.events import Case, CodeProposed, Event, Graded, SpecAgreed, TestsRan
from burnish.tasks import Task

BROKEN = "def f(n):\n    a = 1\n    b = 2\n    return a - b\n"
GIVEN_TESTS = ("assert f(1) == 1", "assert f(2) == 2")
WRITING = Task(id="f", prompt="Give n back.", entry_point="f", signature="f(n)", visible_tests=GIVEN_TESTS)
REPAIR = WRITING.model_copy(update={"base_code": BROKEN, "broken": True})


def spec(task: Task = WRITING) -> SpecAgreed:
    return SpecAgreed(entry_point=task.entry_point, signature=task.signature, given_tests=task.visible_tests)


def given(code: str = BROKEN) -> CodeProposed:
    return CodeProposed(version=0, code=code, by=GIVEN)


def proposed(
    number: int, code: str | None = None, by: str = "draft", round: int = 0, problem: str = "", base: int | None = None
) -> CodeProposed:
    text = f"def f(n):\n    return {number}\n" if code is None else code
    return CodeProposed(version=number, code=text, by=by, round=round, problem=problem, base=base)


def ran(number: int, outcomes: str, message: str = "got: 0", model: str = "") -> TestsRan:
    """Results as letters, "pf" for one passed and one failed: of the given tests, then of the model's."""
    said = {"p": "passed", "f": "failed", "n": "not_run"}
    names = [*(f"test_given_{place}" for place in range(1, len(outcomes) + 1))]
    names += [f"test_model_{place}" for place in range(1, len(model) + 1)]
    cases = tuple(
        Case.model_validate({"name": name, "outcome": said[one], "message": message if one == "f" else ""})
        for name, one in zip(names, outcomes + model, strict=True)
    )
    return TestsRan(version=number, graded=Graded(cases=cases))


def work(*events: Event, task: Task = WRITING) -> AgentState:
    return AgentState(task, [spec(task), *events])


def graded_versions(versions: Mapping[int, str]) -> list[Event]:
    """Versions that were proposed and met the tests."""
    return [event for number, said in versions.items() for event in (proposed(number), ran(number, said))]
