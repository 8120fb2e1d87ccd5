"""A repair is taken up again like any run, on the file as it was; a file that has changed is refused."""

import json
import shutil
from pathlib import Path

import pytest

from burnish.agent.limits import Limits
from burnish.commands.apply import put_in_place, read_target
from burnish.commands.fix import fix, plan_again
from burnish.commands.resume import resume
from burnish.events import Applied, CodeProposed, ModelReplied, RunFinished, RunStarted, Stopped, TestsRan
from burnish.models.scripted import ScriptedModel
from burnish.runs import Run, Store
from burnish.sandbox import Sandbox
from burnish.tasks.repair import from_file
from tests.support import GOOD, OWN_TESTS, WRONG, plan_for, refused

BROKEN = 'def double(n):\n    """Twice n.\n\n    >>> double(5)\n    10\n    """\n    return None\n'
"""No small edit mends it."""


def model() -> ScriptedModel:
    """Wrong at first, then right; the same to the same question at any time."""
    first = {"draft": [WRONG], "repair": [WRONG]}
    return ScriptedModel({"": [GOOD], **first, "tests": [OWN_TESTS]}, name="scripted:demo")


@pytest.fixture(scope="module")
def repaired(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Run, Store]:
    """A file and its repair, made once: each test begins with the file as it was and a record of its own."""
    folder = tmp_path_factory.mktemp("repaired")
    file, store = folder / "shop.py", Store(folder / "home")
    file.write_text(BROKEN)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BURNISH_CONFIG", str(folder / "config.toml"))
        return file, fix(file, model(), store=store), store


@pytest.fixture
def file(repaired: tuple[Path, Run, Store]) -> Path:
    """The broken file."""
    repaired[0].write_text(BROKEN)
    return repaired[0]


@pytest.fixture
def whole(open_box: Sandbox, store: Store, file: Path, repaired: tuple[Path, Run, Store]) -> Run:
    """A repair that nothing disturbed."""
    _, run, made = repaired
    shutil.copytree(made.runs / run.id, store.runs / run.id)
    return run


def killed(store: Store, run: Run, after: type) -> str:
    """A run that ends with the first event of this type."""
    lines = 1 + next(place for place, event in enumerate(run.events) if isinstance(event, after))
    folder = store.runs / "crashed"
    folder.mkdir()
    whole = (store.runs / run.id / "events.jsonl").read_bytes().replace(run.id.encode(), b"crashed")
    (folder / "events.jsonl").write_bytes(b"".join(whole.splitlines(keepends=True)[:lines]))
    return "crashed"


@pytest.mark.slow
@pytest.mark.parametrize("after", [ModelReplied, TestsRan])
def test_a_killed_repair_ends_as_if_it_had_not_been(whole: Run, after: type, store: Store) -> None:
    name = killed(store, whole, after)
    answered = len(store.open(name).all(ModelReplied))
    answering = model()
    run = resume(name, answering, store=store)
    assert (run.verdict, run.why, run.code) == (whole.verdict, whole.why, whole.code)
    assert len(answering.asked) == whole.calls - answered


@pytest.mark.slow
@pytest.mark.parametrize("waited", [1000.0, 0.0], ids=["for another process", "for its own model"])
def test_a_repair_that_had_waited_for_another_process_still_has_its_seconds(
    whole: Run, store: Store, waited: float
) -> None:
    record = store.runs / killed(store, whole, ModelReplied) / "events.jsonl"
    *before, reply = (json.loads(line) for line in record.read_text().splitlines())
    earlier = [event | {"at": event["at"] - 1000} for event in before]
    lines = [json.dumps(event) for event in (*earlier, reply | {"waited_seconds": waited})]
    record.write_text("\n".join(lines) + "\n")
    run = resume("crashed", model(), store=store)
    ends = {event.reason for event in run.all(Stopped)}
    assert (run.verdict == whole.verdict, "seconds" in ends) == ((True, False) if waited else (False, True))


@pytest.mark.slow
def test_a_file_that_has_changed_since_is_refused(whole: Run, store: Store, file: Path) -> None:
    name = killed(store, whole, TestsRan)
    file.write_text(BROKEN + "\n")
    with refused():
        resume(name, model(), store=store)


@pytest.mark.slow
def test_a_finished_repair_comes_back_as_it_is(whole: Run, store: Store) -> None:
    assert resume(whole.id, ScriptedModel([]), store=store).events == store.open(whole.id).events


@pytest.mark.slow
def test_tests_that_have_changed_since_are_refused(open_box: Sandbox, store: Store, work_folder: Path) -> None:
    (work_folder / "shop.py").write_text(BROKEN)
    tests = work_folder / "test_shop.py"
    tests.write_text("from shop import double\n\n\ndef test_double():\n    assert double(5) == 10\n")
    plan = plan_for("shop.py")
    settings = {"task": plan.task.model_dump(), "fix": plan.settings(False).to_json()}
    started = RunStarted(run_id="cut", verb="fix", prompt="p", model="scripted:x", burnish="0", settings=settings)
    assert plan_again(Run([started])).task == plan.task
    tests.write_text(tests.read_text().replace("== 10", "!= 10"))
    with refused():
        plan_again(Run([started]))


@pytest.mark.slow
def test_a_run_that_was_killed_after_the_file_was_written_is_only_put_on_record(
    store: Store, work_folder: Path
) -> None:
    (work_folder / "shop.py").write_text(BROKEN)
    target, code = read_target("shop.py"), BROKEN.replace("None", "2 * n")
    facts = {"file": str(target.path), "name": "shop.py", "sha256": target.sha256, "encoding": "utf-8", "apply": True}
    settings = {"task": from_file(BROKEN, "double").model_dump(), "fix": facts, "limits": Limits().model_dump()}
    run_id, record = store.begin("fix")
    with record:
        record.append(
            RunStarted(run_id=run_id, verb="fix", prompt="p", model="scripted:x", burnish="0", settings=settings)
        )
        record.append(CodeProposed(version=1, code=code, by="draft"))
        record.append(RunFinished(verdict="proven", why="because", version=1))
    put_in_place(target.path, target.sha256, code.encode())
    run = resume(run_id, ScriptedModel([]), store=store)
    assert len(run.all(Applied)) == 1
    assert (work_folder / "shop.py").read_text() == code
