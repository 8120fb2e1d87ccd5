"""`burnish.write`: files where the user wants them, nothing overwritten, nothing lost."""

import errno
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import burnish
from burnish import Run, ScriptedModel, SetupProblem, Store
from burnish.agent.limits import Limits
from burnish.events import Asked, Event, RunFinished, Stopped
from burnish.report.deliverables import check_free, list_open_questions
from tests.evidence.delivered import edit
from tests.support import ASKING, DOUBLE, GOOD, OWN_TESTS, SQUARE, WRONG, block, refused, script

pytestmark = pytest.mark.usefixtures("open_box")


def written(sentence: str = DOUBLE, **options: object) -> Run:
    return burnish.write(sentence, ScriptedModel(script()), **{"fast": True, **options})  # type: ignore[arg-type]


@pytest.mark.slow
def test_solution_tests_and_report_are_put_into_the_folder(tmp_path: Path, store: Store) -> None:
    run = written(out=tmp_path / "new" / "double")
    folder = tmp_path / "new" / "double"
    assert run.folder == str(folder)
    assert sorted(path.name for path in folder.iterdir()) == [
        "evidence.json",
        "report.md",
        "solution.py",
        "test_solution.py",
    ]
    assert (folder / "solution.py").read_text() == run.code
    assert store.open("last").folder == str(folder)


@pytest.mark.slow
def test_the_written_tests_pass_for_a_user_who_runs_them(tmp_path: Path) -> None:
    written(out=tmp_path / "double")
    done = subprocess.run(
        [os.sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."],  # type: ignore[attr-defined]
        cwd=tmp_path / "double",
        capture_output=True,
        text=True,
    )
    assert "5 passed" in done.stdout, done.stdout


@pytest.mark.slow
def test_without_a_folder_nothing_is_written(work_folder: Path) -> None:
    assert written().folder is None
    assert list(work_folder.iterdir()) == []


def test_an_existing_folder_is_never_overwritten(tmp_path: Path, store: Store) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "solution.py").write_text("precious")
    with refused():
        written(out=tmp_path / "mine")
    assert (tmp_path / "mine" / "solution.py").read_text() == "precious"
    assert store.list() == [], "refused before any work was done"


@pytest.mark.parametrize("linked", [False, True])
def test_an_empty_folder_is_taken_and_a_link_to_one_too(tmp_path: Path, linked: bool) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    run = written(out=str(tmp_path / ("link" if linked else "empty")))
    assert (tmp_path / "empty" / "solution.py").read_text() == run.code


def test_a_link_to_nothing_is_refused_before_any_work(tmp_path: Path, store: Store) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(SetupProblem, match=r"--out DIR$"):
        written(out=tmp_path / "link")
    assert store.list() == []


def test_what_came_into_the_empty_folder_meanwhile_is_never_overwritten(tmp_path: Path, store: Store) -> None:
    mine = tmp_path / "empty" / "solution.py"
    mine.parent.mkdir()

    def put_a_file(event: Event) -> None:
        if isinstance(event, RunFinished):
            mine.write_text("precious")

    with pytest.raises(SetupProblem, match=r"burnish show \S+ --code$"):
        written(out=mine.parent, watch=put_a_file)
    assert [file.name for file in mine.parent.iterdir()] == ["solution.py"]
    assert mine.read_text() == "precious"
    run = burnish.resume(store.list()[0].id)
    assert run.folder == f"{mine.parent}-2"
    assert mine.read_text() == "precious"


def test_a_file_in_the_way_is_refused_before_any_work(tmp_path: Path, store: Store) -> None:
    (tmp_path / "file").touch()
    with refused():
        written(out=tmp_path / "file" / "double")
    assert store.list() == []


def test_a_name_that_is_too_long_is_refused_before_any_work(tmp_path: Path, store: Store) -> None:
    with pytest.raises(SetupProblem, match=r"--out DIR$"):
        written(out=tmp_path / ("x" * 300))
    assert store.list() == []


def test_a_read_only_folder_is_refused_before_any_work(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "locked").mkdir(mode=0o555)
    if os.geteuid() == 0:  # permission bits do not bind root

        def refuse(*given: Any) -> None:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

        monkeypatch.setattr(os, "mkdir", refuse)
    with refused():
        written(out=tmp_path / "locked" / "double")
    assert store.list() == []


@pytest.mark.parametrize("place", ["/proc/double", "/proc/self/deep/below", "/dev/null/double"])
def test_where_nothing_can_be_made_is_refused_before_any_work_whoever_asks(place: str, store: Store) -> None:
    with pytest.raises(SetupProblem, match=r"--out DIR$"):
        written(out=Path(place))
    assert store.list() == []


def test_looking_whether_a_folder_can_be_written_leaves_nothing_there(tmp_path: Path) -> None:
    assert check_free(tmp_path / "free" / "double") == tmp_path / "free" / "double"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_really_full_disk_loses_nothing(tiny_disk: Path, store: Store) -> None:
    (tiny_disk / "filler").write_bytes(b"x" * 24 * 1024)
    with refused():
        written(out=tiny_disk / "double")
    assert store.open("last").code == "def double(n):\n    return n * 2\n"


def test_a_read_only_disk_is_refused_before_any_work(tiny_disk: Path, store: Store) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(tiny_disk)], check=True)
    with refused():
        written(out=tiny_disk / "double")
    assert store.list() == []


@pytest.mark.slow
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EACCES])
def test_a_result_that_cannot_be_written_is_still_in_the_record(
    number: int, tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    really_open = Path.open

    def refuse(path: Path, *given: Any, **named: Any) -> Any:
        if path.is_relative_to(tmp_path / "double"):
            raise OSError(number, os.strerror(number))
        return really_open(path, *given, **named)

    with refused(), monkeypatch.context() as patched:
        patched.setattr(Path, "open", refuse)
        written(out=tmp_path / "double")
    assert store.open("last").verdict == "plausible"


@pytest.mark.slow
def test_going_on_keeps_the_earlier_tests_in_force(store: Store) -> None:
    first = written()
    model = ScriptedModel(script(tests=block("assert double('ab') == 'abab'"), draft=GOOD))
    second = burnish.write("also text, e.g. double('a') == 'aa'", model, from_run=first.id, fast=True)
    assert second.verdict == "proven"
    assert second.started.continues == first.id
    assert second.spec
    assert second.spec.given_tests == (
        "assert double(2) == 4",
        "assert double(5) == 10",
        "assert double('a') == 'aa'",
    )
    assert {case["name"].split("::")[-1] for case in second.evidence[0].details["cases"]} == {  # type: ignore[attr-defined]
        *(f"test_given_{number}" for number in (1, 2, 3)),
        *(f"test_model_{number}" for number in (1, 2, 3, 4)),
    }


@pytest.mark.slow
def test_code_that_breaks_an_earlier_test_is_not_proven() -> None:
    first = written()
    text_only = block("def double(n):\n    return ''.join(2 * letter for letter in n)")
    model = ScriptedModel({"": [text_only], "tests": [OWN_TESTS]})
    second = burnish.write("also text, e.g. double('a') == 'aa'", model, from_run=first.id, fast=True)
    assert second.verdict == "failed"


@pytest.mark.slow
def test_going_on_from_the_last_run_records_which_one_that_was() -> None:
    first = written()
    assert written("also zero, e.g. double(0) == 0", from_run="last", fast=True).started.continues == first.id


@pytest.mark.slow
def test_tests_stay_in_force_over_several_steps() -> None:
    model = ScriptedModel(script(tests="none"))
    written()
    burnish.write("also zero, e.g. double(0) == 0", model, from_run="last", fast=True)
    third = burnish.write("also one, e.g. double(1) == 2", model, from_run="last", fast=True)
    draft = next(ask for ask in third.all(Asked) if ask.purpose == "draft")
    assert third.versions[-1].graded
    assert len(third.versions[-1].graded.cases) == 6
    assert third.versions[-1].graded.all_passed
    assert "return n * 2" in draft.messages[1].content + third.all(Asked)[0].messages[1].content


@pytest.mark.slow
def test_disputed_tests_of_an_earlier_run_do_not_come_back() -> None:
    first = burnish.write(DOUBLE, ScriptedModel(script(tests=block("assert double(3) == 7\nassert double(1) == 2"))))
    assert first.disputed == ("assert double(3) == 7",)
    second = burnish.write(
        "also zero, e.g. double(0) == 0", ScriptedModel(script(tests=OWN_TESTS)), from_run=first.id, fast=True
    )
    assert second.disputed == ()
    assert second.verdict == "proven"


@pytest.mark.slow
def test_going_on_from_a_version_shows_that_one_and_keeps_the_tests_in_force() -> None:
    first = burnish.write(DOUBLE, ScriptedModel(script(draft=SQUARE)), fast=True)
    assert first.final
    assert first.final.number > 1
    again = burnish.write(
        "also zero, e.g. double(0) == 0", ScriptedModel(script()), from_run=f"{first.id}:1", fast=True
    )
    assert again.started.continues == f"{first.id}:1"
    assert again.settings.task["base_code"] == first.versions[0].code != first.code
    assert again.spec
    assert set(again.spec.given_tests) > {"assert double(2) == 4", "assert double(5) == 10"}
    with refused():
        written("more", from_run=f"{first.id}:99")


def test_a_run_without_code_cannot_be_gone_on_from() -> None:
    failed = burnish.write(DOUBLE, ScriptedModel(["no"]))
    with refused():
        written("more", from_run=failed.id)


def test_an_empty_sentence_is_refused_before_any_work(store: Store) -> None:
    with pytest.raises(SetupProblem, match="empty"):
        written("  ")
    assert store.list() == []


MINE = """import pytest
from doubling import double

@pytest.mark.parametrize(("n", "twice"), [(1, 2), (3, 6)])
def test_twice(n, twice):
    assert double(n) == twice
"""


@pytest.mark.slow
def test_the_users_own_tests_decide_and_name_the_module(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(MINE)
    model = ScriptedModel(script(draft=SQUARE, tests=block("assert double(0) == 0")))
    run = burnish.write("twice a number", model, with_tests=tmp_path / "test_mine.py", out=tmp_path / "out", fast=True)
    assert run.verdict == "plausible"
    assert "n * n" not in run.code
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == [
        "doubling.py",
        "evidence.json",
        "report.md",
        "test_doubling.py",
    ]
    assert (tmp_path / "out" / "test_doubling.py").read_text().startswith(MINE)
    assert "| `test_twice` | you | passed |" in (tmp_path / "out" / "report.md").read_text()
    further = burnish.write("also zero, e.g. double(0) == 0", ScriptedModel(script()), from_run=run.id, fast=True)
    assert further.spec is not None
    assert len(further.spec.given_tests) == 2
    assert further.verdict == "plausible"


@pytest.mark.slow
def test_code_that_fails_the_users_own_tests_is_not_proven(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(MINE)
    model = ScriptedModel({"": [WRONG], "tests": [OWN_TESTS]})
    assert burnish.write("twice a number", model, with_tests=tmp_path / "test_mine.py", fast=True).verdict == "failed"


@pytest.mark.slow
def test_a_module_of_two_functions_is_written_and_a_missing_one_is_named() -> None:
    both = block("def up(n):\n    return n + 1\n\n\ndef down(n):\n    return n - 1")
    sentence = "functions up(n) and down(n), e.g. up(1) == 2 and down(2) == 1"
    run = burnish.write(sentence, ScriptedModel(script(draft=both, tests=block("assert up(down(3)) == 3"))), fast=True)
    assert run.verdict == "plausible"
    assert run.versions[0].graded
    assert len(run.versions[0].graded.cases) == 3


@pytest.mark.slow
def test_a_class_is_written_against_short_stories() -> None:
    stack = block(
        "class Stack:\n    def __init__(self):\n        self.items = []\n\n    def push(self, item):\n"
        "        self.items.append(item)\n\n    def pop(self):\n        return self.items.pop()"
    )
    own = block("s = Stack()\ns.push(1)\ns.push(2)\nassert s.pop() == 2\nassert s.pop() == 1")
    sentence = "a class Stack with push and pop, e.g. s = Stack(); s.push(1); s.pop() == 1"
    run = burnish.write(sentence, ScriptedModel(script(draft=stack, tests=own)), fast=True)
    assert run.verdict == "plausible"
    assert len(run.model_tests) == 1


@pytest.mark.slow
def test_assumptions_are_on_record_and_answers_take_their_place() -> None:
    asked: list[str] = []

    def answer(assumption: str) -> str:
        asked.append(assumption)
        return "double(0) == 0"

    model = ScriptedModel(script(assume="- zero stays as it is"))
    run = burnish.write("a function double(n)", model, answer=answer, fast=True)
    assert asked == ["zero stays as it is"]
    assert run.spec is not None
    assert (run.spec.assumptions, run.spec.given_tests) == (("double(0) == 0",), ("assert double(0) == 0",))
    assert run.verdict == "plausible"


def test_an_assumption_that_the_code_does_not_follow_is_an_open_question_and_never_in_the_code(tmp_path: Path) -> None:
    said = "- It must decide the order\n" + block("assert double([]) == []\nassert double(0) == 7")
    sentence = "a function double(n) that doubles numbers and lists, e.g. double(2) == 4"
    run = burnish.write(sentence, ScriptedModel(script(assume=said)), fast=True, out=tmp_path / "new")
    assert run.verdict in ("proven", "plausible")
    assert run.spec is not None
    assert run.spec.assumptions == ("double([]) == []", "double(0) == 7")
    assert list_open_questions(run) == [
        "It must decide the order",
        "double(0) == 7 was assumed, and the code does something else",
    ]
    assert "## Open questions" in (tmp_path / "new" / "report.md").read_text()
    assert "assert double([]) == []  # assumed" in (tmp_path / "new" / "test_solution.py").read_text()
    assert "ssume" not in run.code
    assert burnish.verify(tmp_path / "new", fast=True).good


@pytest.mark.slow
def test_no_money_is_enough_for_a_model_that_is_free() -> None:
    assert written(limits=Limits(dollars=0), fast=True).verdict == "plausible"


@pytest.mark.parametrize("cap", ["calls", "tokens", "seconds"])
def test_a_limit_of_zero_ends_at_once_with_its_reason(cap: str) -> None:
    run = written(limits=Limits.model_validate({cap: 0}), fast=True)
    assert run.verdict == "failed"
    assert cap in {event.reason for event in run.all(Stopped)}
    assert run.calls == 0


@pytest.mark.slow
def test_no_rounds_means_the_first_draft_must_do() -> None:
    run = burnish.write(DOUBLE, ScriptedModel(script(draft=WRONG)), limits=Limits(rounds=0), fast=True)
    assert run.verdict == "failed"
    assert "rounds" in {event.reason for event in run.all(Stopped)}


def test_a_dollar_cap_on_an_unpriced_model_is_refused_before_any_work(store: Store) -> None:
    with pytest.raises(SetupProblem, match="--tokens 40000$"):
        burnish.write(DOUBLE, ScriptedModel(script(), name="openai:no-such-model"), limits=Limits(dollars=1))
    assert not list(store.runs.iterdir()) if store.runs.exists() else True


@pytest.mark.slow
def test_what_it_cost_is_on_record() -> None:
    assert written(fast=True).dollars == 0
    run = burnish.write(DOUBLE, ScriptedModel(script(), name="openai:gpt-4o"), fast=True)
    assert run.dollars
    assert 0 < run.dollars < 0.01


@pytest.mark.slow
def test_examples_that_contradict_each_other_are_refused_before_any_work(store: Store) -> None:
    with pytest.raises(SetupProblem, match=r"`double\(1\) == 2` and `double\(1\) == 3` cannot both hold"):
        written("a function double(n), e.g. double(1) == 2 and double(1) == 3")
    assert store.list() == []
    run = written()
    with refused():
        written("double(2) == 5", from_run=run.id)


@pytest.mark.slow
def test_code_that_reaches_for_tests_in_its_own_process_is_not_proven(tmp_path: Path) -> None:
    """Tests that patch share the code's process; what they say of code that looks at frames there proves nothing."""
    peek = "import sys\n\n\ndef double(n):\n    return sys._getframe(1).f_locals['expected']"
    tests = tmp_path / "test_mine.py"
    body = "expected = 4\n    assert double(2) == expected"
    tests.write_text(f"from solution import double\n\n\ndef test_it(monkeypatch):\n    {body}\n")
    models = {
        name: ScriptedModel(script(**dict.fromkeys(ASKING, draft), tests="none"))
        for name, draft in (("peek", block(peek)), ("good", GOOD))
    }
    runs = [
        burnish.write("twice a number", model, with_tests=tests, out=tmp_path / name, fast=True)
        for name, model in models.items()
    ]
    assert [run.verdict for run in runs] == ["plausible", "plausible"]
    assert ["line 5" in run.why for run in runs] == [True, False], [run.why for run in runs]
    for folder in (tmp_path / "peek", tmp_path / "good"):
        edit(folder, lambda data: data.update(verdict="proven", confidence=0.99))
    claims = {name: burnish.verify(tmp_path / name, fast=True).claims[0] for name in ("peek", "good")}
    assert {name: claim.answer for name, claim in claims.items()} == {"peek": "does_not_hold", "good": "holds"}
