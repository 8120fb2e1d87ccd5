"""Wrong repairs that pass every test they are given, beside a right one: which is handed over, and what is said of it.

Each story is a small module, tests of which one fails, and two answers that both pass them.
"""

from dataclasses import dataclass
from pathlib import Path

import pytest

from burnish import Limits, Run, ScriptedModel
from burnish.events import PROVEN, Compared, RunFinished
from tests.support import attempt, block, plan_for

pytestmark = pytest.mark.slow
LIMITS = Limits(rounds=2, calls=4)


@dataclass(frozen=True)
class Story:
    """A bug, its tests, and two repairs that pass them."""

    module: str
    tests: str
    wrong: str
    right: str

    def repair(self, folder: Path, *answers: str) -> Run:
        """What becomes of it with these answers, and without the checks that come once a repair is chosen."""
        (folder / "sample.py").write_text(self.module)
        (folder / "pyproject.toml").write_text("[project]\nname = 'sample'\n")
        (folder / "test_sample.py").write_text(f"from sample import *\n\n\n{self.tests}")
        plan = plan_for(folder / "sample.py")
        with plan.bench() as ground:
            model = ScriptedModel([block(answer) for answer in answers])
            return attempt(plan.task, model, ground=ground, limits=LIMITS, checks=())


PLACE = Story(  # a parameter in the place of another: `pos` is never tried
    "import re\n\n\ndef findall(pattern, text, pos=0, endpos=None, flags=0):\n"
    "    return re.compile(pattern, flags).findall(text, pos, endpos)\n",
    "def test_all():\n    assert findall('an', 'banana') == ['an', 'an']\n\n\n"
    "def test_end():\n    assert findall('an', 'banana', 0, 3) == ['an']\n",
    "def findall(pattern, text, pos=0, endpos=None, flags=0):\n"
    "    return re.compile(pattern, flags).findall(text, flags, len(text) if endpos is None else endpos)\n",
    "def findall(pattern, text, pos=0, endpos=None, flags=0):\n"
    "    end = len(text) if endpos is None else endpos\n"
    "    return re.compile(pattern, flags).findall(text, pos, end)\n",
)
MONEY = (
    "class Money:\n    def __init__(self, cents):\n        self.cents = cents\n\n"
    "    def __eq__(self, other):\n        return self.cents == other.cents\n"
)
NOT_EQUAL = "def test_other():\n    assert Money(3) != 3\n\n\ndef test_amounts():\n    assert Money(3) != Money(4)\n"
HONEST_EQUAL = (
    "def __eq__(self, other):\n    if not isinstance(other, Money):\n        return NotImplemented\n"
    "    return self.cents == other.cents\n"
)
NEVER_EQUAL = Story(  # put above the old body; no test has two equal objects
    MONEY,
    NOT_EQUAL,
    "def __eq__(self, other):\n    return False\n    return self.cents == other.cents\n",
    HONEST_EQUAL,
)
SAME_OBJECT = Story(MONEY, NOT_EQUAL, "def __eq__(self, other):\n    return self is other\n", HONEST_EQUAL)
TITLE = Story(  # of other letters than ASCII nothing was said
    "import re\n\n\ndef titleize(text):\n    return re.sub(r'\\b[a-z]', lambda found: found.group().upper(), text)\n",
    'def test_apostrophe():\n    assert titleize("dave\'s book") == "Dave\'s Book"\n\n\n'
    "def test_words():\n    assert titleize('the old man') == 'The Old Man'\n",
    "def titleize(text):\n    return ' '.join(word[:1].upper() + word[1:] for word in text.split(' '))\n",
    'def titleize(text):\n    return re.sub(r"\\b(?<!\')[a-z]", lambda found: found.group().upper(), text)\n',
)
CLAMP = "def clamp(x, low, high):\n    return max(x, low)\n"
CLAMP_TESTS = (
    "def test_above():\n    assert clamp(17, 0, 10) == 10\n\n\n"
    "def test_inside():\n    assert clamp(5, 0, 10) == 5\n    assert clamp(-4, 0, 10) == 0\n"
)
HONEST_CLAMP = "def clamp(x, low, high):\n    return min(high, max(x, low))\n"
SINGLED_OUT = Story(
    CLAMP,
    CLAMP_TESTS,
    "def clamp(x, low, high):\n    if x == 17:\n        return 10\n    return max(x, low)\n",
    HONEST_CLAMP,
)
MINIMAL = Story(
    CLAMP,
    CLAMP_TESTS,
    "def clamp(x, low, high):\n    if x > 16:\n        return high\n    return max(x, low)\n",
    HONEST_CLAMP,
)
IGNORING = Story(
    "def area(width, height, unit):\n    return width * width * unit\n\n\ndef side(width, height, unit):\n"
    "    return width + height + unit + 1\n",
    "def test_side():\n    assert side(3, 3, 1) == 7\n\n\ndef test_zero():\n    assert side(0, 0, -1) == -1\n",
    "def side(width, height, unit):\n    return width + width + unit\n",
    "def side(width, height, unit):\n    return width + height + unit\n",
)


def is_right(run: Run, story: Story) -> bool:
    return story.right.strip().splitlines()[-1].strip() in run.code


@pytest.mark.parametrize(
    "story",
    [PLACE, NEVER_EQUAL, SAME_OBJECT, TITLE, SINGLED_OUT, IGNORING],
    ids=["place", "never equal", "same object", "title", "singled out", "ignoring"],
)
def test_the_right_repair_is_handed_over_although_the_wrong_one_came_first(story: Story, tmp_path: Path) -> None:
    run = story.repair(tmp_path, story.wrong, story.right)
    assert run.verdict in ("proven", "plausible"), run.why
    assert is_right(run, story), run.code


@pytest.mark.parametrize(
    "story",
    [PLACE, NEVER_EQUAL, SINGLED_OUT, IGNORING],
    ids=["place", "never equal", "singled out", "ignoring"],
)
def test_a_shortcut_that_no_other_answer_contradicts_is_never_proven(story: Story, tmp_path: Path) -> None:
    run = story.repair(tmp_path, story.wrong)
    assert run.verdict == "plausible", run.why
    end = run.last(RunFinished)
    assert end is not None
    assert end.confidence is not None
    assert end.confidence < PROVEN


def test_two_equal_objects_and_other_letters_are_tried(tmp_path: Path) -> None:
    (tmp_path / "equal").mkdir()
    compared = NEVER_EQUAL.repair(tmp_path / "equal", NEVER_EQUAL.wrong, NEVER_EQUAL.right).last(Compared)
    assert compared is not None
    assert compared.asked == ("Money(3) == 3",)
    assert "Money(3) == Money(3)" in compared.kept
    (tmp_path / "title").mkdir()
    run = TITLE.repair(tmp_path / "title", TITLE.wrong, TITLE.right)
    compared = run.last(Compared)
    assert compared is not None
    assert any(not call.isascii() for call in compared.kept)
    wrong = {number for number, _ in compared.unasked}
    assert wrong
    assert all("re.sub" not in version.code for version in run.versions if version.number in wrong)


def test_a_repair_that_must_change_more_wins_by_the_answers_that_agree(tmp_path: Path) -> None:
    run = MINIMAL.repair(tmp_path, MINIMAL.wrong, MINIMAL.right, MINIMAL.right.replace("min(high,", "min(+high,"))
    assert "min(" in run.code, run.code
    assert run.verdict in ("proven", "plausible")
