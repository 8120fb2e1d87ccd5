"""`burnish.rate`: feedback is given, changed and taken back, and a record that two write at once stays whole."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import burnish
from burnish import Run, SetupProblem, Store
from burnish.commands.rate import MOST_CODE, MOST_WORDS
from burnish.events import CodeProposed, FeedbackGiven, FilesWritten, RunFinished, RunStarted, SpecAgreed
from burnish.events.feedback import Comment, Correction, Preference, Stars, Thumbs
from burnish.evidence import build_dossier
from burnish.evidence.folder import parse_dossier
from burnish.evidence.schema import render_dossier
from burnish.report.explain import explain
from burnish.report.run_report import render_report
from tests.support import ESC, ROOT, refused

GIVEN = "assert double(2) == 4"
CODE = "def double(n):\n    return n * 2\n"


def keep(store: Store, name: str = "double") -> Run:
    """A run of two versions, on record."""
    run_id, record = store.begin(name)
    with record:
        record.append(RunStarted(run_id=run_id, verb="write", prompt="double", model="m", burnish="0"))
        record.append(SpecAgreed(entry_point="double", signature="double(n)", given_tests=(GIVEN,)))
        record.append(CodeProposed(version=1, code="def double(n): return n + n\n", by="draft"))
        record.append(CodeProposed(version=2, code=CODE, by="rewrite"))
        record.append(RunFinished(verdict="proven", why="all pass", version=2))
    return store.open(run_id)


def test_each_kind_of_feedback_is_kept_with_who_said_it(store: Store) -> None:
    run, other = keep(store), keep(store, "other")
    burnish.rate(run.id, stars=4, comment="no docstring", store=store)
    burnish.rate(run.id, thumbs="down", by="ann", store=store)
    burnish.rate(run.id, comment="why not n + n?", line=2, store=store)
    burnish.rate(run.id, correct="double('a') == 'aa' and double(0) -> 0", store=store)
    burnish.rate(run.id, better_than=other.id, simulated=True, by="judge", store=store)
    burnish.rate(f"{run.id}:1", better_than=f"{run.id}:2", store=store)
    said = store.open(run.id).feedback
    assert [(one.opinion, one.version, one.by, one.simulated, one.words) for one in said] == [
        (Stars(stars=4), None, "user", False, "no docstring"),
        (Thumbs(up=False), None, "ann", False, ""),
        (Comment(line=2), 2, "user", False, "why not n + n?"),
        (Correction(tests="assert double('a') == 'aa'\nassert double(0) == 0"), None, "user", False, ""),
        (Preference(than_run=other.id), None, "judge", True, ""),
        (Preference(than_run=run.id, than_version=2), 1, "user", False, ""),
    ]


def test_a_change_replaces_and_what_is_taken_back_no_longer_stands(store: Store) -> None:
    run = keep(store)
    first = burnish.rate(run.id, comment="wrong line", line=1, by="ann", store=store).feedback[0].id
    burnish.rate(run.id, thumbs="up", store=store)
    burnish.rate(run.id, change=first, comment="right line", line=2, store=store)
    burnish.rate(run.id, change=first, comment="better words", store=store)
    changed = store.open(run.id).feedback[-1]
    assert (changed.id, changed.opinion, changed.words, changed.by) == (first, Comment(line=2), "better words", "ann")
    left = burnish.rate(run.id, take_back=first, store=store)
    assert [one.opinion for one in left.feedback] == [Thumbs(up=True)]
    assert len(left.all(FeedbackGiven)) == 4, "the record forgets nothing"
    with pytest.raises(SetupProblem):
        burnish.rate(run.id, take_back=first, store=store)


def test_who_gives_stars_again_has_changed_their_mind_and_nobody_elses(store: Store) -> None:
    run = keep(store)
    for stars, by, simulated in ((2, "", False), (5, "", True), (3, "ann", False), (4, "", False)):
        burnish.rate(run.id, stars=stars, by=by, simulated=simulated, store=store)
    found = store.open(run.id)
    assert [one.opinion for one in found.feedback] == [Stars(stars=5), Stars(stars=3), Stars(stars=4)]
    assert (found.stars, store.list()[0].stars) == (4, 4), "a program's stars are no person's"


WRONG: dict[str, dict[str, Any]] = {
    "nothing": {},
    "no stars": {"stars": 0},
    "too many stars": {"stars": 6},
    "stars that are no number": {"stars": "4"},
    "a thumb aside": {"thumbs": "sideways"},
    "two things": {"stars": 3, "thumbs": "up"},
    "take back and say": {"take_back": "f1", "comment": "x"},
    "a line alone": {"line": 2},
    "line 0": {"comment": "x", "line": 0},
    "a line too far": {"comment": "x", "line": 3},
    "control characters": {"comment": f"{ESC}]0;title\x07"},
    "a huge comment": {"comment": "x" * (MOST_WORDS + 1)},
    "an unknown id": {"change": "f0000", "stars": 1},
    "a huge name": {"stars": 1, "by": "x" * 81},
    "a name of two lines": {"stars": 1, "by": "a\nb"},
    "prose": {"correct": "it should be faster"},
    "another function": {"correct": "print(2) == 4"},
    "a contradiction": {"correct": "double(2) == 5"},
    "itself": {"better_than": "last"},
    "its own final version": {"better_than": "last:2"},
    "an unknown run": {"better_than": "nope"},
    "an unknown version": {"better_than": "last:7"},
    "no such file": {"correct": "/gone.py"},
    "a name that cannot be": {"correct": Path("a\0b.py")},
}


@pytest.mark.parametrize("said", WRONG.values(), ids=list(WRONG))
def test_what_cannot_be_kept_is_refused_with_what_to_type(
    store: Store, work_folder: Path, said: dict[str, Any]
) -> None:
    run = keep(store)
    with refused():
        burnish.rate("last", store=store, **said)
    assert store.open(run.id).events == run.events


def test_a_word_that_rate_does_not_know_is_an_error_and_not_passed_over(store: Store) -> None:
    keep(store)
    with pytest.raises(TypeError, match="'star'"):
        burnish.rate("last", comment="x", star=4, store=store)  # type: ignore[call-arg]


@pytest.mark.parametrize("said", [{"correct": 3}, {"better_than": 3}])
def test_what_is_of_the_wrong_type_is_not_kept_as_an_empty_comment(store: Store, said: dict[str, Any]) -> None:
    run = keep(store)
    with pytest.raises((TypeError, AttributeError)):
        burnish.rate("last", store=store, **said)
    assert store.open(run.id).events == run.events


FILES = {
    "no Python": "def double(n:\n",
    "empty": " \n",
    "not text": b"\xff\xfe",
    "contradicts the example": "def double(n):\n    return n * 3\n",
    "ends before it begins": "raise SystemExit\n" + CODE,
    "too large": "#" * (MOST_CODE + 1),
    "hidden": "# \u202e\n" + CODE,
}


@pytest.mark.parametrize("text", FILES.values(), ids=list(FILES))
def test_a_file_that_is_no_correction_is_refused(store: Store, work_folder: Path, text: str | bytes) -> None:
    run = keep(store)
    Path("right.py").write_bytes(text.encode() if isinstance(text, str) else text)
    with refused():
        burnish.rate("last", correct="right.py", store=store)
    assert store.open(run.id).events == run.events


def test_a_file_that_passes_what_was_given_is_a_correction(store: Store, work_folder: Path) -> None:
    Path("right.py").write_text(CODE + "# better\n")
    run = burnish.rate(keep(store).id, correct=Path("right.py"), store=store)
    assert run.feedback[0].opinion == Correction(code=CODE + "# better\n")


def test_text_is_a_correction_too_and_never_the_name_of_a_file(store: Store, work_folder: Path) -> None:
    run = keep(store)
    Path("right.py").write_text(CODE)
    assert burnish.rate(run.id, code=CODE, store=store).feedback[0].opinion == Correction(code=CODE)
    said = burnish.rate(run.id, example="double(3) == 6", store=store).feedback[1].opinion
    assert said == Correction(tests="assert double(3) == 6")
    for wrong in ({"code": "def double(n): return 0"}, {"code": "def"}, {"example": "right.py"}):
        with pytest.raises(SetupProblem):
            burnish.rate(run.id, store=store, **wrong)  # type: ignore[arg-type]


def test_a_run_that_is_at_work_is_not_rated(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("burnish.commands.rate.WAIT_SECONDS", 0.1)
    run = keep(store)
    with store.take_up(run.id), refused():
        burnish.rate(run.id, stars=3, store=store)
    assert burnish.rate(run.id, stars=3, store=store).stars == 3


@pytest.mark.slow
def test_several_processes_that_rate_at_once_leave_a_whole_record(store: Store) -> None:
    run, words = keep(store), "x" * 3_000
    program = (
        "import burnish, sys\n"
        f"for number in range(10): burnish.rate({run.id!r}, comment=f'{{sys.argv[1]}} {{number}} {words}')\n"
        f"burnish.rate({run.id!r}, stars=int(sys.argv[1]))\n"
    )
    started = [subprocess.Popen([sys.executable, "-c", program, str(one)], cwd=ROOT) for one in (1, 2, 3)]
    assert [one.wait(60) for one in started] == [0, 0, 0]
    lines = (store.runs / run.id / "events.jsonl").read_text().splitlines()
    assert len([json.loads(line) for line in lines]) == len(run.events) + 33
    said = store.open(run.id).feedback
    assert len([one for one in said if isinstance(one.opinion, Comment)]) == 30
    assert len([one for one in said if isinstance(one.opinion, Stars)]) == 1, "one person has one opinion in stars"


def test_feedback_is_told_in_report_story_and_evidence_and_changes_no_delivered_file(store: Store) -> None:
    run = keep(store)
    delivered = FilesWritten(folder="/nowhere", files=("solution.py",))
    store.add(run, delivered)
    before = store.open(run.id)
    after = burnish.rate(run.id, stars=2, comment="[bold]`no` <b>types</b>", by="ann", store=store)
    assert after.events[:-1] == before.events
    assert (after.seconds, after.verdict) == (before.seconds, "proven")
    assert "ann gave it 2 stars of 5: \\[bold]'no' &lt;b>types&lt;/b>." in render_report(after)
    assert "ann gave it 2 stars of 5" in explain(after)
    dossier = build_dossier(after, {"solution.py": CODE, "test_solution.py": "", "report.md": ""})
    assert dossier.feedback == after.feedback
    assert parse_dossier(json.loads(render_dossier(dossier))) == dossier
