"""Which lines of a file of tests use a package of the layer, and which can do without it."""

from pathlib import Path

import pytest

from burnish.events import Case, Graded
from burnish.sandbox.verdict import blank_package_tests, merge_verdicts


@pytest.fixture
def layer(tmp_path: Path) -> Path:
    """A layer with a package, a module and an extension."""
    (tmp_path / "fruit").mkdir()
    (tmp_path / "plum.py").touch()
    (tmp_path / "fast.cpython-311-x86_64-linux-gnu.so").touch()
    return tmp_path


PLAIN = "def test_a():\n    assert f(2) == 4\n"


@pytest.mark.parametrize(
    "text",
    [
        "import json\nassert f(2) == 4\n",
        PLAIN,
        "fruit = 1\nassert f(fruit) == 4\n",
        "def test_a():\n    assert f('import fruit') == 4\n",
        "assert f(",
    ],
)
def test_a_text_that_uses_no_package_stays_as_it_is(layer: Path, text: str) -> None:
    assert blank_package_tests(text, layer) == text


@pytest.mark.parametrize(
    "test",
    [
        "def test_b():\n    import fruit\n    assert f(fruit) == 4",
        "def test_b():\n    from fruit.sweet import a\n    assert f(a) == 4",
        "def test_b():\n    if f(1): import plum\n    assert f(1) == 4",
        "def test_b():\n    import fast\n    assert f(1) == 4",
        "def test_b():\n    fruit = pytest.importorskip('fruit')\n    assert f(1) == 4",
        "import fruit as sweet\n\ndef test_b():\n    assert f(sweet) == 4",
        "import json, plum\n\n@pytest.mark.parametrize('n', [plum.STONE])\ndef test_b(n):\n    assert f(n) == 4",
        "import plum\n\n@pytest.fixture\ndef some():\n    return plum\n\ndef test_b(some):\n    assert f(some) == 4",
        "import plum\nSOME = plum.STONE\n\ndef help():\n    return SOME\n\ndef test_b():\n    assert f(help()) == 4",
        "import plum\nSOME = [f for f in plum.STONES]\n\ndef test_b():\n    assert f(SOME) == 4",
        "import plum\n\nclass TestB:\n    def test_b(self):\n        assert f(plum) == 4",
    ],
)
def test_only_the_lines_that_lead_to_a_package_are_left_out_and_none_moves(layer: Path, test: str) -> None:
    start = "import pytest\nfrom solution import f\n"
    left = blank_package_tests(f"{start}{test}\n{PLAIN}", layer)
    assert left.startswith(start)
    assert left.endswith(PLAIN)
    assert left.count("\n") == (start + test + PLAIN).count("\n") + 1
    assert "fruit" not in left
    assert "plum" not in left
    assert "test_b" not in left


@pytest.mark.parametrize(
    "text",
    [
        "import fruit\nassert f(fruit) == 4\n",
        "import plum\n\n@pytest.fixture(autouse=True)\ndef some():\n    plum.ripen()\n\n" + PLAIN,
        "import plum\npytestmark = plum.mark\n\n" + PLAIN,
        "import plum\nplum.ripen()\n\n" + PLAIN,
        "import plum; from solution import f\n\n" + PLAIN,
    ],
)
def test_what_bears_on_every_test_cannot_be_told_apart(layer: Path, text: str) -> None:
    assert blank_package_tests(text, layer) == ""


def test_what_was_decided_apart_stays_whatever_the_shared_process_says() -> None:
    apart = Graded(cases=(Case(name="a", outcome="failed"), Case(name="b", outcome="passed")))
    twice = Graded(cases=(Case(name="a", outcome="failed"), Case(name="a", outcome="passed")))
    lies = Graded(cases=(Case(name="a", outcome="passed"), Case(name="c", outcome="passed")), separated=False)
    assert [(case.name, case.outcome) for case in merge_verdicts(apart, lies).cases] == [
        ("a", "failed"),
        ("c", "passed"),
        ("b", "passed"),
    ]
    assert (merge_verdicts(apart, lies).shared, merge_verdicts(apart, lies).separated) == (1, False)
    assert not merge_verdicts(twice, lies).all_passed
