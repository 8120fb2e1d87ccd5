"""What fits into a context: the function and what it leans on are shown; an answer too long is refused beforehand."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from burnish.agent.context_budget import MOST_SURROUNDINGS, function_head, function_text, show_surroundings
from burnish.agent.limits import Limits, check_answer_fits
from burnish.errors import SetupProblem
from burnish.models.model import Ask, Piece
from burnish.models.names import open_model
from burnish.models.scripted import ScriptedModel
from burnish.models.tokens import context_tokens
from burnish.tasks import Task

FILE = '''"""A shop."""
import math
from decimal import Decimal

RATE = 7
UNUSED = 8


def rounded(amount):
    return math.floor(amount)


def unused(amount):
    return amount


class Cart:
    """Holds prices."""

    limit = 10

    def __init__(self, prices):
        self.prices = prices

    def count(self):
        """How many."""
        return len(self.prices)

    def total(self, tax):
        return rounded(sum(self.prices) * tax) * RATE


def price(n):
    """The price."""
    return rounded(n) * RATE
'''


def of(entry_point: str, base_code: str = FILE, prelude: str = "") -> Task:
    return Task(id="t", prompt="p", entry_point=entry_point, base_code=base_code, prelude=prelude)


def test_the_imports_and_the_helpers_that_the_function_uses_are_shown() -> None:
    shown = show_surroundings(of("price"))
    assert shown == (
        "import math\nfrom decimal import Decimal\nRATE = 7\ndef rounded(amount):\n    return math.floor(amount)"
    )


def test_of_a_method_its_class_is_shown_with_how_it_is_made_and_the_heads_of_the_others() -> None:
    shown = show_surroundings(of("Cart.total"))
    assert "class Cart:\n    limit = 10\n    def __init__(self, prices):\n        self.prices = prices" in shown
    assert "    def count(self): ..." in shown
    assert "return len" not in shown
    assert "def total" not in shown
    assert "def rounded" in shown
    assert "unused" not in shown.lower()


def test_a_prelude_is_shown_as_it_is() -> None:
    assert show_surroundings(of("f", "", "import math\n\n")) == "import math"


@pytest.mark.parametrize("task", [of("f", ""), of("nothing"), of("price", "def price(n:\n"), of("")])
def test_where_there_is_nothing_to_show_nothing_is_shown(task: Task) -> None:
    assert show_surroundings(task) == ""


def test_a_long_helper_is_shown_by_its_head_and_a_long_file_is_cut_at_a_line() -> None:
    long = "def helper(n):\n" + "    n += 1\n" * 40 + "    return n\n\n\n"
    assert show_surroundings(of("f", long + "def f(n):\n    return helper(n)\n")) == "def helper(n): ..."
    many = "".join(f"NAME_{n} = {n}\n" for n in range(500))
    body = "def f(n):\n    return (" + ", ".join(f"NAME_{n}" for n in range(500)) + ")\n"
    shown = show_surroundings(of("f", many + body))
    assert len(shown) <= MOST_SURROUNDINGS
    assert shown.splitlines()[-1] in many.splitlines(), "no half lines"


def test_a_function_is_taken_out_of_its_file_and_moved_to_the_left() -> None:
    assert function_text(FILE, "rounded") == "def rounded(amount):\n    return math.floor(amount)"
    assert function_text(FILE, "Cart.count") == 'def count(self):\n    """How many."""\n    return len(self.prices)'
    assert function_text("x = 1\n", "f") == "x = 1", "the whole text where there is none"


def test_a_function_is_found_in_a_file_that_does_not_parse() -> None:
    code = "def g(n):\n    return n\n\n\ndef f(n):\n    return (n\n\n\ndef h(n):\n    return n\n"
    assert function_text(code, "f") == "def f(n):\n    return (n"


@pytest.mark.parametrize(
    ("code", "begun"),
    [
        ('def f(x):\n    """Words."""\n    return x\n', 'def f(x):\n    """Words."""\n'),
        ('def f(x):\n    """Words\n\n    and more.\n    """\n    return x\n', None),
        ("def f(x):\n    return x\n", "def f(x):\n"),
        ("async def f(x):\n    return x\n", "async def f(x):\n"),
        (
            "def f(\n    x: int,\n    y: int = 1,\n) -> int:\n    return x\n",
            "def f(\n    x: int,\n    y: int = 1,\n) -> int:\n",
        ),
        ('def f(x):\n    """Words and nothing else."""\n', "def f(x):\n"),
        ("import re\n\n\ndef f(x):\n    return x\n", "def f(x):\n"),
        ("def f(x):\r\n    return x\r\n", "def f(x):\n"),
        ("@cache\ndef f(x):\n    return x\n", ""),
        ("def f(x): return x\n", ""),
        ('def f(x): "words"; return x\n', ""),
        ("def f(x,\n      y): return x\n", ""),
        ("class f:\n    pass\n", ""),
        ("def g(x):\n    return x\n", ""),
        ("def f(x:\n", ""),
        ("", ""),
    ],
    ids=[
        "words",
        "long-words",
        "no-words",
        "async",
        "long-head",
        "only-words",
        "import-above",
        "crlf",
        "decorated",
        "one-line",
        "one-line-words",
        "body-beside-its-head",
        "class",
        "other-name",
        "broken",
        "empty",
    ],
)
def test_an_answer_is_begun_with_the_head_and_the_docstring_where_that_is_clear(code: str, begun: str | None) -> None:
    assert function_head(code, "f") == (code.replace("    return x\n", "") if begun is None else begun)


class Narrow(ScriptedModel):
    """A model that has 4096 tokens in mind."""

    context = 4096

    def stream(self, ask: Ask, cancel: threading.Event) -> Iterator[Piece]:  # type: ignore[override]
        raise AssertionError("nobody is to be asked")


NARROW = Narrow([], name="local:narrow")


@pytest.mark.parametrize(
    ("limits", "change"),
    [
        (Limits(max_tokens=3073), "--max-tokens 3072"),
        (Limits(max_tokens=100_000), "--max-tokens 3072"),
        (Limits(max_tokens=3000, thinking=1000), "--max-tokens 2072"),
        (Limits(thinking=3000), "--thinking 2048"),
        (Limits(max_tokens=500, thinking=3000), "--thinking 2572"),
        (Limits(max_tokens=9000, thinking=9000), "--thinking 0 --max-tokens 3072"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_does(limits: Limits, change: str) -> None:
    with pytest.raises(SetupProblem, match=r"\b4096\b") as problem:
        check_answer_fits(limits, [NARROW])
    assert str(problem.value).endswith(f": {change}")
    words = change.replace("--", "").replace("-", "_").split()
    said = {name: int(number) for name, number in zip(words[::2], words[1::2], strict=True)}
    check_answer_fits(limits.model_copy(update=said), [NARROW])


@pytest.mark.parametrize("limits", [Limits(), Limits(max_tokens=3072), Limits(max_tokens=1024, thinking=2048)])
def test_what_fits_is_taken(limits: Limits) -> None:
    check_answer_fits(limits, [NARROW])


@pytest.mark.slow
def test_too_few_tokens_for_thoughts_are_refused_where_a_model_needs_more_or_none() -> None:
    choosy = ScriptedModel([], name="anthropic:older")
    choosy.least_thinking = 1024  # type: ignore[attr-defined]
    with pytest.raises(SetupProblem, match=r" --thinking 1024$"):
        check_answer_fits(Limits(thinking=1023), [choosy])
    for enough in (0, 1024, 5000):
        check_answer_fits(Limits(thinking=enough), [choosy])


def test_what_the_settings_say_of_thoughts_is_looked_at_where_no_option_does() -> None:
    choosy = ScriptedModel([], name="anthropic:older")
    choosy.least_thinking, choosy.thinking = 1024, 300  # type: ignore[attr-defined]
    for limits in (Limits(), Limits(max_tokens=500)):
        with pytest.raises(SetupProblem, match=r"\b300\b"):
            check_answer_fits(limits, [choosy])
    check_answer_fits(Limits(thinking=0), [choosy])
    wide = Narrow([], name="local:narrow")
    wide.thinking = 3000  # type: ignore[attr-defined]
    with pytest.raises(SetupProblem, match=r"\b3000\b"):
        check_answer_fits(Limits(), [wide])


@pytest.mark.slow
@pytest.mark.parametrize(("name", "least"), [("claude-3-7-sonnet-20250219", 1024), ("claude-opus-4-6", 0)])
def test_older_models_of_anthropic_think_much_or_not_at_all(
    name: str, least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "planted-key-1234567890")
    assert getattr(open_model(f"anthropic:{name}"), "least_thinking", None) == least


def test_each_model_of_several_must_have_the_room() -> None:
    with pytest.raises(SetupProblem, match="'local:narrow'"):
        check_answer_fits(Limits(max_tokens=8000), [ScriptedModel([]), NARROW])


def test_nobody_is_refused_for_a_model_of_which_nobody_knows_the_room() -> None:
    assert context_tokens(ScriptedModel([])) == 0
    check_answer_fits(Limits(max_tokens=10**6), [ScriptedModel([])])


def test_the_users_file_and_the_list_of_prices_know_what_the_model_does_not_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config.toml").write_text('[context]\n"scripted:inline" = 2048\n')
    assert context_tokens(ScriptedModel([])) == 2048
    assert context_tokens(ScriptedModel([], name="openai:gpt-4o")) == 128_000
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    assert context_tokens(ScriptedModel([], name="openai:gpt-4o")) == 0, (
        "another server may run anything under that name"
    )
