"""Whatever was asked for, and however: what is delivered is what its evidence speaks of."""

from pathlib import Path

import pytest

import burnish
from burnish import Run, ScriptedModel, SetupProblem
from tests.evidence.delivered import evidence
from tests.support import DOUBLE, GOOD, block, script

pytestmark = pytest.mark.usefixtures("open_box")
MINE = """import pytest
from shop.doubling import double as twice

@pytest.mark.parametrize(("n", "twice_n"), [(1, 2), (3, 6)])
def test_twice(n, twice_n):
    assert twice(n) == twice_n


class TestMore:
    def test_zero(self):
        assert twice(0) == 0
"""
ROMAN = block("def half(n):\n    if n < 1 or n > 9:\n        raise ValueError(n)\n    return n / 2")
STACK = block(
    "class Stack:\n    def __init__(self):\n        self.items = []\n\n    def push(self, item):\n"
    "        self.items.append(item)\n\n    def pop(self):\n        return self.items.pop()"
)


def is_as_told(folder: Path) -> None:
    """All that is looked at before anything is run is right: only the sandbox is not there."""
    with pytest.raises(SetupProblem, match="'nowhere'"):
        burnish.verify(folder, sandbox="nowhere")


def wrote(folder: Path, sentence: str, **options: object) -> Run:
    replies = {name: options.pop(name) for name in ("draft", "tests", "rewrite", "assume") if name in options}
    return burnish.write(sentence, ScriptedModel(script(**replies)), out=folder, **{"fast": True, **options})  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_users_own_file_of_tests(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(MINE)
    run = wrote(tmp_path / "out", "twice a number, e.g. double(4) == 8", with_tests=tmp_path / "test_mine.py")
    assert run.verdict in ("proven", "plausible")
    told = {test["name"]: test["given_in"] for test in evidence(tmp_path / "out")["tests"]}
    assert told["test_twice"] == told["TestMore::test_zero"] == "file"
    assert sorted(evidence(tmp_path / "out")["files"]) == ["report.md", "shop/doubling.py", "test_doubling.py"]
    is_as_told(tmp_path / "out")


@pytest.mark.slow
def test_a_run_that_goes_on_from_another(tmp_path: Path) -> None:
    first = wrote(tmp_path / "first", DOUBLE)
    model = ScriptedModel(script(tests=block("assert double('ab') == 'abab'"), draft=GOOD))
    burnish.write("also text, e.g. double('a') == 'aa'", model, from_run=first.id, out=tmp_path / "second", fast=True)
    told = {test["test"]: test for test in evidence(tmp_path / "second")["tests"]}
    assert told["assert double('a') == 'aa'"]["given_in"] == told["assert double(2) == 4"]["given_in"] == "words"
    assert told["assert double(10) == 20"]["made"]["by"] == "earlier run"
    assert told["assert double('ab') == 'abab'"]["made"]["by"] == "tests"
    assert evidence(tmp_path / "second")["run"]["continues"] == first.id
    is_as_told(tmp_path / "first")
    is_as_told(tmp_path / "second")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sentence", "draft", "tests"),
    [
        ("a function half(n) for 1..9, e.g. half(4) == 2; ValueError for anything else", ROMAN, "none"),
        ("a class Stack with push and pop, e.g. s = Stack(); s.push(1); s.pop() == 1", STACK, "none"),
        (
            "functions up(n) and down(n), e.g. up(1) == 2 and down(2) == 1",
            block("def up(n):\n    return n + 1\n\n\ndef down(n):\n    return n - 1"),
            block("assert up(down(3)) == 3"),
        ),
    ],
)
def test_ranges_classes_and_several_functions(sentence: str, draft: str, tests: str, tmp_path: Path) -> None:
    run = wrote(tmp_path / "out", sentence, draft=draft, tests=tests, rewrite=draft)
    assert run.verdict in ("proven", "plausible")
    assert {test["given_in"] for test in evidence(tmp_path / "out")["tests"] if test["origin"] == "given"} == {"words"}
    is_as_told(tmp_path / "out")


@pytest.mark.slow
def test_what_the_user_answered(tmp_path: Path) -> None:
    options = {"answer": lambda assumption: "double(0) == 0", "assume": "- zero stays as it is"}
    wrote(tmp_path / "out", "a function double(n)", **options)
    [given] = [test for test in evidence(tmp_path / "out")["tests"] if test["origin"] == "given"]
    assert (given["given_in"], given["made"]["by"]) == ("answer", "user")
    assert evidence(tmp_path / "out")["people"][0]["about"] == "zero stays as it is"
    is_as_told(tmp_path / "out")
