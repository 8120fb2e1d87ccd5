"""What becomes of a version that imports a package: had, where it is well known; else said, with what to type."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from burnish.agent import prompts
from burnish.agent.nodes.draft import prompt_input
from burnish.agent.nodes.run import hash_basis, run
from burnish.agent.packages import RunPackages, missing_modules, prepare_run_layer
from burnish.agent.prompts import PromptInput
from burnish.agent.state import AgentState
from burnish.events import Case, CodeProposed, Graded, PackagesAdded, SpecAgreed, TestsRan
from burnish.events.replay import Replay
from burnish.packages import Budget, prepare_layer
from burnish.report.narrate import describe, list_new_packages
from burnish.sandbox import Sandbox
from burnish.tasks.task import Task
from tests.agent.nodes import at_work
from tests.packages.conftest import only
from tests.snapshots import assert_snapshot

IMPORTED = "the code cannot be imported: ModuleNotFoundError: No module named {!r} (line 1: import it)"


@pytest.fixture
def worn() -> list[Path]:
    """The layers that everybody who runs code was told of."""
    return []


@pytest.fixture(scope="module", autouse=True)
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """An index that has a few small packages under well-known names, and one cache for all tests here."""
    folder = tmp_path_factory.mktemp("index")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BURNISH_CACHE", str(folder / "cache"))
        shelf = only(folder / "shelf", patch)
        shelf.wheel("pyyaml", "9.1", files={"yaml.py": "VERSION = '9.1'\n"})
        shelf.wheel("quincetools", "1.0")
        yield


@pytest.fixture
def packages(worn: list[Path]) -> RunPackages:
    """A run's packages: none yet."""
    return RunPackages(None, ("quincetools",), worn.append)


def lacking(module: str) -> Graded:
    return Graded(problem=IMPORTED.format(module))


def added_to(packages: RunPackages, module: str, version: int = 1) -> PackagesAdded | Graded:
    """What becomes of a version that imports a module which is not there."""
    return packages.add(lacking(module), version, [f"import {module}"])


@pytest.mark.slow
def test_a_well_known_package_is_had_by_its_module_s_name(packages: RunPackages, worn: list[Path]) -> None:
    added = added_to(packages, "yaml")
    assert isinstance(added, PackagesAdded)
    assert (added.packages, added.for_version) == ((("pyyaml", "9.1"),), 1)
    assert [(folder / "yaml.py").exists() for folder in worn] == [True]


@pytest.mark.slow
def test_what_was_there_stays_when_more_comes_and_the_user_s_own_are_had_too(packages: RunPackages) -> None:
    added_to(packages, "yaml")
    late = Graded(cases=(Case(name="a", outcome="failed", message=lacking("quincetools.pie").problem),))
    added = packages.add(late, 2, ["import quincetools.pie"])
    assert isinstance(added, PackagesAdded)
    assert added.packages == (("pyyaml", "9.1"), ("quincetools", "1.0"))
    assert list_new_packages(added) == ["quincetools 1.0"], "what was there already did not come now"
    assert_snapshot(describe(added), "agent/packages: one more came")
    assert added_to(packages, "yaml.nodes", 3) == lacking("yaml.nodes"), "it is there; the module is not in it"


def test_a_stranger_is_not_had_and_it_is_said_what_to_type(packages: RunPackages, worn: list[Path]) -> None:
    told = added_to(packages, "medlartools")
    assert isinstance(told, Graded)
    assert_snapshot(told.problem, "agent/packages: a stranger")
    assert not worn


def test_a_misspelled_name_is_told_the_nearest_one(packages: RunPackages) -> None:
    told = added_to(packages, "numpi")
    assert isinstance(told, Graded)
    assert_snapshot(told.problem, "agent/packages: a misspelled name")


def test_where_a_package_cannot_be_had_the_version_fails_and_says_what_is_missing(packages: RunPackages) -> None:
    told = added_to(packages, "pandas")
    assert isinstance(told, Graded)
    assert told.problem.startswith(lacking("pandas").problem)
    assert told.problem != lacking("pandas").problem


def test_words_of_another_exception_are_no_missing_module(packages: RunPackages, worn: list[Path]) -> None:
    said = "the code cannot be imported: ImportError: ModuleNotFoundError: No module named 'yaml'"
    told = Graded(problem=said)
    assert packages.add(told, 1, ["import yaml"]) is told
    raised = lacking("yaml")
    assert packages.add(raised, 1, ["raise ModuleNotFoundError(\"No module named 'yaml'\")"]) is raised
    assert not worn


def test_one_package_comes_at_a_time(packages: RunPackages) -> None:
    cases = [Case(name=name, outcome="failed", message=lacking(name).problem) for name in ("yaml", "quincetools")]
    answer = packages.add(Graded(cases=tuple(cases)), 1, ["def f():\n    import yaml, quincetools"])
    assert isinstance(answer, PackagesAdded)
    assert answer.packages == (("pyyaml", "9.1"),)


def test_what_is_imported_from_a_shared_name_says_which_package_is_meant(packages: RunPackages) -> None:
    told = packages.add(lacking("google"), 1, ["from google.protobuf import message"])
    assert isinstance(told, Graded)
    assert "'protobuf'" in told.problem
    bare = packages.add(lacking("google"), 1, ["import google"])
    assert isinstance(bare, Graded)
    assert "--allow-package google" in bare.problem


def test_of_what_the_user_asks_for_all_is_told_and_so_it_is_of_older_records() -> None:
    packages = (("numpy", "2.0"), ("pandas", "3.0"), ("six", "1.0"))
    asked = PackagesAdded(asked=("numpy>=2", "pandas"), packages=packages)
    assert list_new_packages(asked) == ["numpy 2.0", "pandas 3.0"]
    older = asked.model_copy(update={"why": "version 1 imports it"})
    assert list_new_packages(older) == ["numpy 2.0", "pandas 3.0"]
    assert_snapshot(f"{describe(asked)}\n{describe(older)}", "agent/packages: asked for, and in an older record")


@pytest.mark.slow
def test_what_was_had_is_not_held_against_the_list_again(worn: list[Path]) -> None:
    packages = RunPackages(prepare_layer(["quincetools"]), (), worn.append)
    added = added_to(packages, "yaml")
    assert isinstance(added, PackagesAdded)
    assert added.asked == ("pyyaml", "quincetools")


def test_several_allowed_names_may_stand_in_one_text(worn: list[Path]) -> None:
    packages = RunPackages(None, ("medlartools,Quince_Tools , quincetools",), worn.append)
    assert isinstance(added_to(packages, "quincetools"), PackagesAdded)


def test_no_time_for_a_package_fails_the_version_and_says_so(worn: list[Path]) -> None:
    packages = RunPackages(None, (), worn.append, budget=lambda: Budget.within(0))
    told = added_to(packages, "attr")
    assert isinstance(told, Graded)
    assert "attrs" in told.problem.removeprefix(lacking("attr").problem)


def test_a_disk_that_fails_ends_no_run(packages: RunPackages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "file"))
    told = added_to(packages, "yaml")
    assert isinstance(told, Graded)
    assert "export BURNISH_CACHE=" in told.problem


def test_code_may_not_ask_for_ever(packages: RunPackages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("burnish.agent.packages.MOST_TIMES", 1)
    assert isinstance(added_to(packages, "yaml"), PackagesAdded)
    told = added_to(packages, "more_itertools", 2)
    assert isinstance(told, Graded)
    assert_snapshot(told.problem, "agent/packages: often enough")


@pytest.mark.parametrize("module", ["json", "distutils.core", "solution", "tests"])
def test_python_s_own_modules_and_the_task_s_are_no_packages(module: str) -> None:
    assert missing_modules(lacking(module), frozenset({module})) == ()


def test_where_nobody_may_add_packages_as_in_evaluations_a_version_just_fails(box: Sandbox) -> None:
    spec = SpecAgreed(entry_point="f", signature="f(n)", given_tests=("assert f(1) == 1",))
    version = CodeProposed(version=1, code="import yaml\n\n\ndef f(n):\n    return n\n", by="draft")
    *_, ran = run(AgentState(Task(id="f", prompt="f"), [spec, version]), at_work.tools(box))
    assert isinstance(ran, TestsRan)
    assert missing_modules(ran.graded, frozenset({"yaml"})) == ("yaml",)
    assert "--allow-package" not in ran.graded.problem, "nobody could type that"


def test_other_failures_are_left_as_they_are(packages: RunPackages) -> None:
    graded = Graded(cases=(Case(name="a", outcome="passed"), Case(name="b", outcome="failed", message="got 3")))
    assert packages.add(graded, 1, ["import yaml"]) is graded


@pytest.mark.slow
def test_a_run_that_goes_on_has_the_same_versions() -> None:
    layer = prepare_run_layer(("pyyaml",), PackagesAdded(asked=("pyyaml",), packages=(("pyyaml", "9.1"),)))
    assert layer
    assert layer.asked == ("pyyaml==9.1",)
    assert prepare_run_layer((), None) is None


def asked(*packages: str) -> str:
    task = Task(id="f", prompt="Add one.", entry_point="f", packages=packages)
    of = PromptInput(task=task, spec=SpecAgreed(entry_point="f", signature="f(n)"))
    told = (
        prompts.write(of),
        prompts.repair(of, "def f(n): 0", "x"),
        prompts.refine(of, "def f(n): 0", "x"),
    )
    return "\n".join(message.content for messages in told for message in messages)


def test_prompts_name_the_packages_that_the_user_asked_for() -> None:
    assert asked("numpy>=2").count("numpy>=2") == 3, "each prompt says so once"


def test_a_package_that_came_on_the_way_is_named_in_the_prompts_from_then_on(box: Sandbox) -> None:
    spec = SpecAgreed(entry_point="f", signature="f(n)", given_tests=("assert f(1) == 1",))
    version = CodeProposed(version=1, code="import yaml\n\n\ndef f(n):\n    return n\n", by="draft")
    came = PackagesAdded(asked=("pyyaml",), packages=(("pyyaml", "9.1"),), why="version 1 imports it")
    begun = AgentState(Task(id="f", prompt="f"), [spec, version])
    assert "package" not in prompts.refine(prompt_input(begun, at_work.tools(box)), version.code, "x")[-1].content
    graded = TestsRan(version=1, graded=Graded(), basis=hash_basis(begun.versions[0], begun.suite))
    told = list(run(begun, at_work.tools(box, replay=Replay([came, graded]))))
    assert told[-2:] == [came, told[-1]], "a run that is taken up again says it at the same place"
    asked = prompts.refine(prompt_input(begun.after([came]), at_work.tools(box)), version.code, "x")[-1].content
    assert "pyyaml" in asked


def test_without_packages_the_prompts_are_what_they_were() -> None:
    assert "package" not in asked()
