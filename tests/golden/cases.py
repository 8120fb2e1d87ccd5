"""The table of golden cases. Most are variations of one line: another option, another answer, another file."""

import json
import signal
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.golden.case import Case, Step

TEXTS: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_name("texts.toml").read_text("utf-8"))
SHOP, SIZES, WEAK, STRONG = TEXTS["shop"], TEXTS["sizes"], TEXTS["weak"], TEXTS["strong"]
FAR = SHOP | TEXTS["far"]
"""The shop with a bug that no small edit mends."""
DOUBLE = "a function double(n), e.g. double(2) == 4 and double(5) == 10"
VAGUE = "a function double(n) that doubles a number"
ASKING = ("draft", "rewrite", "reflect", "repair", "syntax", "repeat")
MODEL = "--model scripted:model.json"


def block(code: str, language: str = "python") -> str:
    """An answer as models write them: one fenced block."""
    return f"```{language}\n{code}\n```"


GOOD, SQUARE = block("def double(n):\n    return n * 2"), block("def double(n):\n    return n * n")
WRONG, SYNTAX = block("def double(n):\n    return 7"), block("def double(n)\n    return n * 2")
OWN = block("assert double(0) == 0\nassert double(-3) == -6\nassert double(10) == 20")
BOTH = block("def double(n):\n    return n * 2\n\n\nassert double(0) == 0\nassert double(-3) == -6")
"""Right whatever the question is: code, and tests."""
TOTAL = block("    def total(self, tax=0.0):\n        return rounded(sum(self.prices) * (1.0 + tax))")
KILL, INTERRUPT = signal.SIGKILL, signal.SIGINT


def script(replies: Mapping[str, str | list[str]]) -> str:
    """The file of a scripted model: a good `double` where nothing else is said."""
    usual: dict[str, Any] = dict.fromkeys(ASKING, GOOD) | {"tests": OWN, "specify": "def double(n):", "assume": "none"}
    return json.dumps({who: [said] if isinstance(said, str) else said for who, said in (usual | replies).items()})


def write(
    name: str,
    options: str = "--fast",
    *then: Step | str,
    sentence: str = DOUBLE,
    stdin: str = "",
    files: Mapping[str, str | bytes] | None = None,
    **replies: str | list[str],
) -> Case:
    """`write` with a scripted model, and steps that follow."""
    first = Step(f"write {{s}} {MODEL} --out out {options}", stdin=stdin)
    laid = {"model.json": script(replies)} | dict(files or {})
    return Case(f"write/{name}", (first, *steps(then)), sentence, laid)


def fix(
    name: str,
    options: str = "shop/cart.py",
    *then: Step | str,
    files: Mapping[str, str | bytes] = FAR,
    **replies: str | list[str],
) -> Case:
    """`fix` with a scripted model, and steps that follow."""
    usual: dict[str, str | list[str]] = {"": TOTAL, "tests": block("assert Cart([]).total() == 0")} | replies
    said = json.dumps({who: [one] if isinstance(one, str) else one for who, one in usual.items()})
    first = Step(f"fix {options} {MODEL}")
    return Case(f"fix/{name}", (first, *steps(then)), files={"model.json": said} | dict(files))


def lines(name: str, *then: Step | str, **more: Any) -> Case:
    """Any command lines in a row."""
    return Case(name, steps(then), **more)


def steps(then: tuple[Step | str, ...]) -> tuple[Step, ...]:
    return tuple(Step(one) if isinstance(one, str) else one for one in then)


def put(**files: str | None) -> Any:
    """An edit that writes files, or removes those that are None; `__` in a name is a slash, a last `_x` a suffix."""

    def edit(folder: Path) -> None:
        for name, text in files.items():
            stem, _, suffix = name.replace("__", "/").rpartition("_")
            path = folder / f"{stem}.{suffix}"
            path.unlink() if text is None else path.write_text(text)

    return edit


def swap(file: str, old: str, new: str) -> Any:
    """An edit that replaces a text in a file."""

    def edit(folder: Path) -> None:
        text = (folder / file).read_text("utf-8")
        assert old in text, (file, old)
        (folder / file).write_text(text.replace(old, new), "utf-8")

    return edit


# ---------------------------------------------------------------- write
LOOKS = ("show", "show --json", "show --code", "show --tests", "show --evidence", "explain", "explain last --graph")
STACK = block(
    "class Stack:\n    def __init__(self):\n        self.items = []\n\n    def push(self, x):\n"
    "        self.items.append(x)\n\n    def pop(self):\n        return self.items.pop()"
)
MODULE = block("def up(n):\n    return n + 1\n\n\ndef down(n):\n    return n - 1")
LEAP = "a function leap(year) that says whether a year is a leap year, e.g. leap(2024) == True and leap(1900) == False"
LEAPS = {
    "draft": block("def leap(year):\n    return 'leap' if str(year).endswith('0') else 'no'"),
    "rewrite": [
        block("def leap(year):\n    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)"),
        block("import calendar\n\n\ndef leap(year):\n    return calendar.isleap(year)"),
    ],
    "tests": block("assert leap(2023) == False\nassert leap(2000) == True\nassert leap(2100) == False"),
}
TEST_FILE = "from mine import double\n\n\ndef test_it():\n    assert double(4) == 8\n"
NUMBER = {"draft": WRONG, "rewrite": WRONG, "reflect": SQUARE, "repair": WRONG, "syntax": WRONG, "repeat": WRONG}


def weakness(name: str) -> Case:
    """A full `write` whose first version is one of the planted weaknesses: passes its tests, and a check minds it."""
    code = TEXTS["weaknesses"][name]
    said = [line.partition(": ")[2] for line in code.splitlines() if line.startswith(("# prompt:", "# given:"))]
    sentence = said[0] + ", e.g.\n" + "\n".join(said[1:])
    bare = "\n".join(line for line in code.splitlines() if not line.startswith("# "))
    return write(f"weakness/{name}", "", sentence=sentence, tests="none", **dict.fromkeys(("", *ASKING), block(bare)))


WRITE = [
    write("proven", "--fast", *LOOKS, "runs", "runs --json", "rate last 4 fine", "show", "resume", "rm last --yes"),
    write("all checks", "", "show --evidence", "explain"),
    lines(
        "write/demo",
        "write {s} --model scripted:demo --out out",
        "write --from last 'also zero, e.g. double(0) == 0' --model scripted:demo --fast --out more",
        "runs --json",
        "explain",
        sentence=DOUBLE,
    ),
    write("plausible", sentence=VAGUE),
    write("plausible is not enough for strict", "--fast --strict", sentence=VAGUE),
    write("strict and proven", "--fast --strict"),
    write("failed", "--fast --rounds 2", "explain", "resume", "resume --rounds 3", **NUMBER),
    write("failed with a larger model", "--fast --model scripted:model.json,scripted:demo --calls 6", **NUMBER),
    write("a small edit", draft=SQUARE),
    write("through edits and fresh versions", "--fast --rounds 4", "explain", "show", sentence=LEAP, **LEAPS),
    write("reflect", "--fast", draft=WRONG, rewrite=WRONG, reflect=[WRONG, GOOD]),
    write("class", sentence="a class Stack with push and pop, e.g. s = Stack(); s.push(1); s.pop() == 1",
          tests=block("s = Stack()\ns.push(2)\nassert s.pop() == 2"), **dict.fromkeys(ASKING, STACK)),
    write("module", sentence="functions up(n) and down(n), e.g. up(1) == 2 and down(2) == 1",
          tests=block("assert up(0) == 1\nassert down(0) == -1"), **dict.fromkeys(ASKING, MODULE)),
    write("raises", sentence="a function root(n), e.g. root(4) == 2.0; root(-1) raises ValueError", tests="none",
          **dict.fromkeys(ASKING, block("def root(n):\n    if n < 0:\n        raise ValueError(n)\n    return n**0.5"))),
    write("numbers out of range", sentence="a function half(n) for 1..9, e.g. half(4) == 2; ValueError for all else",
          tests="none", **dict.fromkeys(ASKING, block(
              "def half(n):\n    if not 1 <= n <= 9:\n        raise ValueError(n)\n    return n // 2"))),
    write("doctests", sentence="a function double(n)\n>>> double(3)\n6\n"),
    write("arrows", sentence="a function double(n): double(3) -> 6, double('a') -> 'aa'"),
    write("own tests decide", "--fast --with-tests mine.py", files={"mine.py": TEST_FILE}),
    write("own tests fail", "--fast --with-tests mine.py --rounds 0",
          files={"mine.py": TEST_FILE.replace("8", "9")}),
    write("disputed test", tests=block("assert double(3) == 7\nassert double(1) == 2")),
    write("tests are no tests", tests="I would test it with care."),
    write("tests do not end", tests=block("while True:\n    pass\nassert double(1) == 2")),
    write("loop", "--fast --rounds 1", draft=block("def double(n):\n    while True:\n        pass"), rewrite=GOOD),
    write("exits", "--fast --rounds 0", draft=block("import os\n\n\ndef double(n):\n    os._exit(0)"), rewrite=GOOD),
    write("does not parse", "--fast", draft=SYNTAX, syntax=GOOD),
    write("never parses", "--fast --rounds 2", **dict.fromkeys(ASKING, SYNTAX)),
    write("no code", "--fast --rounds 1", **dict.fromkeys(ASKING, "I am sorry, I cannot help with that.")),
    write("wrong language", "--fast --rounds 1", draft=block("function double(n) { return n * 2 }", "javascript")),
    write("json wrapper", draft=json.dumps({"code": "def double(n):\n    return n * 2"})),
    write("without a fence", draft="def double(n):\n    return n * 2"),
    write("prose around it", draft=f"Sure!\n\n{GOOD}\n\nIt doubles."),
    write("other name", "--fast --rounds 1", draft=block("def twice(n):\n    return n * 2")),
    write("body only", draft=block("    return n * 2")),
    write("main and prints", draft=block("def double(n):\n    return n * 2\n\n\nprint(double(4))\ninput()")),
    write("thoughts", "--fast --thinking 50 -v", draft=f"<think>Twice is two times.</think>{GOOD}"),
    write("thoughts alone", "--fast --rounds 0", draft="<think>Twice is two times."),
    write("repeats itself", "--fast --rounds 4 --calls 8", "explain", **dict.fromkeys(ASKING, WRONG)),
    write("contradiction", sentence="a function double(n), e.g. double(2) == 4 and double(2) == 5"),
    write("impossible", "--fast --rounds 1", sentence="a function both(n), e.g. both(1) == 1 and both(2 - 1) == 2",
          **dict.fromkeys(ASKING, block("def both(n):\n    return n"))),
    write("no name", sentence="something that doubles", specify=["def double(n):"]),
    write("no name at all", "--fast --rounds 0", sentence="something that doubles", specify=["I do not know."]),
    write("assumptions", sentence="a function double(n) that doubles many things",
          assume=["It takes text too.\nIt takes lists too."]),
    write("model has no answer", "--fast", draft=[]),
    write("model has no tests", "--fast", tests=[]),
    write("quiet", "--fast --quiet"),
    write("verbose", "--fast --verbose"),
    write("events", "--fast --events"),
    write("process sandbox", "--fast --sandbox process"),
    write("max tokens", "--fast --max-tokens 3 --rounds 0"),
    *(write(f"limit/{name} {most}", f"--fast --{name} {most}", draft=WRONG, rewrite=WRONG, reflect=WRONG, repair=WRONG)
      for name, most in (("rounds", 0), ("rounds", 1), ("calls", 0), ("calls", 1), ("calls", 3), ("tokens", 0),
                         ("tokens", 400), ("seconds", 0), ("dollars", 0))),
    write("limit raised", "--fast --calls 1", "resume --calls 8", draft=WRONG, rewrite=GOOD),
    write("review/go on", "--fast --review", stdin="\n\n"),
    write("review/change and comment", "--fast --review", stdin="what?\n7: should be 4\nc more tests\n\nc a docstring\n\n",
          review=block('def double(n):\n    """Twice the number."""\n    return n + n')),
    write("review/stop at tests", "--fast --review", "resume", stdin="q\n"),
    write("review/stop at code", "--fast --review", "show", stdin="\nq\n"),
    write("review/edited tests", "--fast --review", stdin="e mine.py\n\n\n",
          files={"mine.py": "from solution import double\n\n\ndef test_mine():\n    assert double(8) == 16\n"}),
    write("review/edited code", "--fast --review", stdin="\ne mine.py\n\n",
          files={"mine.py": "def double(n):\n    return n + n\n"}),
    write("review/answers end", "--fast --review", Step("resume --quiet"), Step("resume", stdin="\n"), stdin="\n"),
    write("review/no answer", "--fast --review", stdin="hello\n" * 50),
    write("full with loops and lists", "", "explain", sentence="a function size(n) in words, e.g. size(3) == 'small'",
          tests="none", **dict.fromkeys(("", *ASKING), block(
              "def size(n):\n    return 'small' if n < 10 else 'large'"))),
    *map(weakness, TEXTS["weaknesses"]),
]

# ---------------------------------------------------------------- fix
ADD = 'def add(a, b):\n    """The sum, e.g. add(2, 2) == 4 and add(0, 5) == 5."""\n    return a * b\n'
ODD = 'def odd(xs):\n    """Odd numbers, e.g. odd([1, 2]) == [1]."""\n    return {str(x) for x in xs}\n'
FIX = [
    fix("far bug", "shop/cart.py", "show", "explain", "show --code", "apply", "apply", "runs --json"),
    fix("small slip", files=SHOP),
    fix("apply", "shop/cart.py --apply"),
    fix("out", "shop/cart.py --out fix.diff --quiet"),
    fix("never right", "shop/cart.py --apply --rounds 1 --calls 4", "apply",
        **{"": [block(f"def total(self, tax=0.0):\n    return self.prices[{n}] * 100") for n in range(3)]}),
    fix("weird answers first", "shop/cart.py --verbose", **{"": ["I am sorry.", WRONG, TOTAL]}),
    fix("named function and tests", "shop/cart.py --function Cart.total --tests tests/test_cart.py::test_total"),
    fix("no such function", "shop/cart.py --function Cart.totl"),
    fix("nothing to fix", files=SHOP | TEXTS["sound"]),
    fix("tests fail elsewhere", files=SHOP | {"shop/cart.py": TEXTS["sound"]["shop/cart.py"]}),
    fix("does not parse", "shop/cart.py --apply", **{"": block("def count(cart):\n    return cart")}, files=SHOP | {
        "shop/cart.py": TEXTS["sound"]["shop/cart.py"].replace("def count(cart):", "def count(cart:"),
        "tests/test_cart.py": "from shop.cart import count\n\n\ndef test_it():\n    assert count(0) == 0\n"}),
    fix("docstring", "add.py", files={"add.py": ADD}),
    fix("docstring with the model", "known.py --apply", files=TEXTS["known"],
        **{"": block("def above(xs, least):\n    return [x for x in xs if x > least]"), "tests": "none"}),
    fix("spec", "lone.py --spec 'f(1) == 2 and f(5) == 6'", files={"lone.py": "def f(n):\n    return n\n"}),
    fix("spec in words", "lone.py --spec 'one more than n' --strict", files={"lone.py": "def f(n):\n    return n\n"},
        **{"": block("def f(n):\n    return n + 1"), "tests": block("assert f(1) == 2\nassert f(0) == 1")}),
    fix("nothing says what is wrong", "lone.py", files={"lone.py": "def f(n):\n    return n\n"}),
    fix("spec contradicts", "shop/cart.py --function count --spec 'count(1) == 2, and count(1) == 3'"),
    fix("file changed before apply", "shop/cart.py", Step("apply", edit=put(shop__cart_py="# mine\n"))),
    fix("package is missing", "s.py", files={
        "s.py": "import pandas\n\n\ndef one():\n    return 2\n",
        "test_s.py": "from s import one\n\n\ndef test_one():\n    assert one() == 1\n"}),
    fix("test file", "tests/test_cart.py"),
    fix("events", "odd.py --events", files={"odd.py": ODD}, **{"": block("def odd(xs):\n    return [x for x in xs if x % 2]")}),
    fix("process sandbox", "add.py --sandbox process", files={"add.py": ADD}),
    *(fix(f"limit/{name} {most}", f"odd.py --{name} {most}", files={"odd.py": ODD},
          **{"": block("def odd(xs):\n    return xs")})
      for name, most in (("rounds", 0), ("calls", 0), ("calls", 1), ("tokens", 0), ("seconds", 0))),
]

# ---------------------------------------------------------------- check
SLOW = "def pairs(xs):\n    found = []\n    for x in xs:\n        for y in xs:\n            for z in xs:\n" \
       "                if x == y == z:\n                    found.append(x)\n    return found\n"
UGLY = "def f(a,b,c,d,e,g,h):\n" + "".join(f"{' ' * 4 * n}if a > {n}:\n" for n in range(1, 9)) + " " * 36 + "return b\n"
NEEDS = '[project]\nname = "m"\ndependencies = ["requests=={}"]\n[tool.burnish]\nadvisories_url = "{{server}}/v1/query"\n' \
        'index_url = "{{server}}/simple"\n'


def check(name: str, options: str, files: Mapping[str, str | bytes], *then: str) -> Case:
    return Case(f"check/{name}", (Step(f"check {options}"), *steps(then)), files=files)


def settings(text: str) -> dict[str, str]:
    return {"pyproject.toml": f"[tool.burnish]\n{text}\n"}


CHECK = [
    check("good", "money.py --json --out report", STRONG),
    check("bad", "money.py --out report", WEAK),
    *(check(f"{kind}/{name}", f"money.py --only {name} --json", files)
      for name in ("tests", "coverage", "mutation", "security", "dependencies", "quality", "performance")
      for kind, files in (("good", STRONG), ("bad", WEAK))),
    check("bad/tests fail", "money.py --only tests --json", STRONG | {"money.py": STRONG["money.py"].replace("2)", "1)")}),
    check("bad/flaky tests", "money.py --only tests --json", STRONG | {
        "test_more.py": "seen = []\n\n\ndef test_a():\n    seen.append(1)\n\n\ndef test_b():\n    assert seen\n"}),
    check("bad/slow code", "pairs.py --only performance --json", {"pairs.py": SLOW}),
    check("bad/ugly code", "f.py --only quality --json", {"f.py": UGLY}),
    check("bad/does not parse", "f.py --only quality,tests,security --json", {"f.py": "def f(:\n"}),
    check("dependencies/advisory", "money.py --only dependencies --json",
          {"money.py": "import requests\n", "pyproject.toml": NEEDS.format("2.19.0")}),
    check("dependencies/fine", "money.py --only dependencies --json",
          {"money.py": "import requests\n", "pyproject.toml": NEEDS.format("2.32.0")}),
    check("dependencies/unknown", "m.py --only dependencies --json", {"m.py": "import numpi\nimport reqeusts\n"}),
    check("project", "shop --tests tests --json --only tests,coverage,security,quality", SHOP),
    check("no tests", "money.py --only tests,coverage --json", {"money.py": STRONG["money.py"]}),
    check("test command good", "money.py --only tests --json --test-command 'python -m pytest -q'", STRONG),
    check("test command bad", "money.py --only tests --json --test-command 'python -c 1/0'", STRONG),
    check("settings/required", "money.py --only tests,coverage --json",
          WEAK | settings('required = ["tests"]\ncoverage = 10')),
    check("settings/higher", "money.py --only coverage,quality --json", STRONG | settings("coverage = 100\nquality = 99")),
    check("settings/severity", "money.py --only security --json", WEAK | settings('severity = "low"')),
    check("settings/time", "money.py --only tests --json", settings("test_seconds = 2") | {
        "money.py": STRONG["money.py"], "test_money.py": "import time\n\n\ndef test_a():\n    time.sleep(60)\n"}),
    *(check(f"settings/refused {number}", "money.py --only quality", STRONG | settings(text)) for number, text in enumerate(
        ("coverage = 180", 'required = ["tets"]', 'colour = "red"', "coverage = [", 'severity = "awful"'))),
    check("process sandbox", "money.py --only tests,coverage --sandbox process --json", STRONG),
]

# ---------------------------------------------------------------- eval, compare
SINGLE = "--model scripted:gold --strategy single"


def toys(count: int, **more: Any) -> str:
    """So many rows of a suite: a bug each, one visible and two hidden tests."""
    rows = [
        {
            "id": f"toy-{n}",
            "prompt": f"Add {n} to x.",
            "entry_point": f"add_{n}",
            "buggy": f"def add_{n}(x):\n    return x - {n}\n",
            "visible_tests": [f"assert add_{n}(1) == {n + 1}"],
            "hidden_tests": f"assert add_{n}(2) == {n + 2}\nassert add_{n}(-5) == {n - 5}",
            "gold": f"def add_{n}(x):\n    return x + {n}\n",
        }
        | more
        for n in range(1, count + 1)
    ]
    return "".join(json.dumps(row) + "\n" for row in rows)


def eval_(name: str, options: str, *then: Step | str, files: Mapping[str, str] | None = None, data: bool = False) -> Case:
    laid = {"mine.jsonl": toys(4), "model.json": json.dumps([block("def add_1(x):\n    return x + 1")])}
    return Case(f"eval/{name}", (Step(f"eval {options}"), *steps(then)), files=laid | dict(files or {}), data=data)


EVAL = [
    *(eval_(f"{suite}{variant}", f"{suite} {SINGLE} --limit 3 --out e --json".replace(suite, suite + variant, 1), data=True)
      for suite, variant in (("humanevalfix", ""), ("humanevalfix", " --variant tests"), ("humaneval", ""), ("mbpp", ""),
                             ("mbpp", " --split tune"), ("mbppplus", ""), ("mbppfix", " --variant docs --split tune"))),
    *(eval_(f"strategy/{strategy} {model} {protocol}",
            f"mine.jsonl --model scripted:{model} --strategy {strategy} --protocol {protocol} --rounds 2 --out e --json")
      for strategy in ("single", "retry", "reflect", "burnish") for model in ("gold", "buggy", "model.json")
      for protocol in ("visible", "oracle") if (model == "model.json" or protocol == "visible")),
    eval_("without parts", "mine.jsonl --model scripted:model.json --without tweak,agreement --rounds 2 --out e --json"),
    eval_("ask write", "mine.jsonl --model scripted:model.json --strategy retry --ask write --rounds 1 --out e --json"),
    eval_("ask fix", "mine.jsonl --model scripted:model.json --strategy retry --ask fix --rounds 1 --out e --json"),
    eval_("seeds", f"mine.jsonl {SINGLE} --seeds 3 --limit 2 --at-once 1 --out e -v", "eval resume e"),
    eval_("one seed", f"mine.jsonl {SINGLE} --seed 7 --limit 2 --temperature 0.5 --out e --json"),
    eval_("resume", f"mine.jsonl {SINGLE} --out e", Step(
        "eval resume e --json", edit=lambda folder: [*(folder / "e/attempts").iterdir()][0].unlink())),
    eval_("resume with other data", f"mine.jsonl {SINGLE} --out e", Step("eval resume e", edit=lambda folder: (
        sorted((folder / "e/attempts").iterdir())[0].unlink(), (folder / "mine.jsonl").write_text(toys(5))))),
    eval_("same folder again", f"mine.jsonl {SINGLE} --out e", f"eval mine.jsonl {SINGLE} --out e --rounds 1"),
    eval_("kept in the home", f"mine.jsonl {SINGLE}", "eval resume --json", "compare last last --json"),
    eval_("model without answers", "mine.jsonl --model scripted:none.json --strategy single --out e --json",
          files={"none.json": "[]"}),
    eval_("write tasks", f"mine.jsonl {SINGLE} --out e --json", files={"mine.jsonl": toys(3, buggy="")}),
    *(eval_(f"broken row {number}", f"mine.jsonl {SINGLE} --out e --json", files={"mine.jsonl": text})
      for number, text in enumerate(("", "{", toys(2) + "[1]\n", toys(2) + '{"prompt": "x"}\n', toys(2, gold="def f(:"),
                                     toys(1) * 2, toys(2, hidden_tests="assert True"), toys(2, entry_point="gone")))),
    eval_("killed", f"mine.jsonl {SINGLE} --out e"),
    eval_("list", "list"),
    eval_("compare", "mine.jsonl --model scripted:gold --strategy single --out a",
          "eval mine.jsonl --model scripted:buggy --strategy single --out b", "compare a b --json", "compare b a",
          "compare a b/results.json --plot both.svg", "compare a,b a", "compare a nowhere", "compare a b --plot x.png"),
]

# ---------------------------------------------------------------- strengthen
STRENGTHEN = [
    lines("strengthen/sizes", "strengthen tests --for sizes.py", "show", "explain", "show --tests", "runs --json", "resume",
          "apply", "apply", files=SIZES),
    lines("strengthen/apply", "strengthen tests/test_sizes.py --for . --apply --no-pinned --json", files=SIZES),
    lines("strengthen/docstring is wrong", "strengthen tests --for sizes.py --no-pinned --json",
          files=SIZES | {"sizes.py": SIZES["sizes.py"].replace("'large'\n", "'huge'\n")}),
    lines("strengthen/prices", "strengthen tests --for shop --json", files=TEXTS["prices"]),
    lines("strengthen/one method", "strengthen tests --for shop --function Cart.total --json", files=TEXTS["prices"]),
    lines("strengthen/model", f"strengthen tests --for sizes.py --json {MODEL}", "explain", files=SIZES | {"model.json": json.dumps(
        [block('def size(n):\n    return "small" if n < 10 else "large"')])}),
    lines("strengthen/model disagrees", f"strengthen tests --for sizes.py --json {MODEL}", files=SIZES | {
        "model.json": json.dumps([block('def size(n):\n    return "small" if n <= 10 else "large"')])}),
    lines("strengthen/tests fail", "strengthen tests --for sizes.py --json", files=SIZES | {
        "tests/test_sizes.py": SIZES["tests/test_sizes.py"].replace("small", "tiny")}),
]

# ---------------------------------------------------------------- servers, kills, resume
LAB = '[models.lab]\nbase_url = "{server}/v1"\n'


def kind(name: str) -> str:
    return f'[models.lab]\nkind = "{name}"\nbase_url = "{{server}}{"/v1" if name == "openai" else ""}"\n'


def served(name: str, *then: Step | str, config: str = LAB, answers: tuple[str, ...] = (BOTH,), **more: Any) -> Case:
    return Case(name, steps(then), DOUBLE, {"config.toml": config}, answers, **more)


ASK = "write {s} --model lab:toy:1b --out out --fast"
PRICED = {"OPENAI_BASE_URL": "{server}/v1", "OPENAI_API_KEY": "planted"}
SERVERS = [
    *(served(f"server/{name}", ASK, "models --json", "models", "config", "models doctor lab:toy:1b --json", config=kind(name))
      for name in ("openai", "anthropic", "ollama")),
    served("server/thinking", ASK + " --thinking 100", answers=(f"<think>twice</think>{BOTH}",)),
    *(served(f"server/refuses with {status}", ASK, "show", answers=(status,)) for status in ("400", "401", "404")),
    served("server/recovers", ASK, answers=("500", BOTH)),
    served("server/gone", Step("write {s} --model gone:x --fast"), config='[models.gone]\nbase_url = "http://127.0.0.1:9/v1"\n'),
    served("server/dollars", "write {s} --model openai:gpt-4o-mini --fast --out out --dollars 0.0001", "show --evidence",
           "models doctor openai:gpt-4o-mini --json", env=PRICED, config=""),
    served("server/price unknown", "write {s} --model openai:nobody-knows --fast --dollars 1", env=PRICED, config=""),
    served("server/key is missing", "write {s} --model anthropic:claude-sonnet-4-5 --fast", config=""),
    served("server/auto", "config set model lab:toy:1b", "write {s} --model auto --out out --fast", "explain"),
    served("server/pull", "models pull lab:toy:1b", "models pull ollama:toy:1b", env={"OLLAMA_HOST": "{server}"}),
    served("server/context", "config set context.lab:toy:1b 2048", "config", ASK),
    *(served(f"resume/{how} at question {at}", Step(ASK, signal=sent, at=at, loose=True), Step("resume", loose=True),
             "show", "resume") for how, sent in (("killed", KILL), ("interrupted", INTERRUPT)) for at in (1, 2)),
    *(Case(f"resume/{how} after {at}", (Step(f"write {{s}} {MODEL} --out out --fast", signal=sent, at=at, loose=True),
                                        Step("resume", loose=True)), DOUBLE, {"model.json": script({"draft": SQUARE})})
      for how, sent, at in (("killed", KILL, "tests_ran"), ("killed", KILL, "check_finished"),
                            ("interrupted", INTERRUPT, "tests_ran"), ("interrupted", INTERRUPT, "check_finished"))),
    Case("resume/fix killed", (Step(f"fix shop/cart.py {MODEL} --apply", signal=KILL, at="code_proposed", loose=True),
                               Step("resume", loose=True)), files=FAR | {"model.json": json.dumps([TOTAL])}),
]
# ---------------------------------------------------------------- verify
VERIFY = [
    write("verify/holds", "--fast", "verify out --fast --json", "verify out --fast",
          Step("verify out --fast --json", edit=put(out__conftest_py="")),
          Step("verify out --fast --json", edit=put(out__conftest_py=None, out__solution_py="def double(n):\n    return n\n"))),
    write("verify/all checks", "", "verify out --json"),
    write("verify/test removed", "--fast",
          Step("verify out --json --fast", edit=swap("out/test_solution.py", "double(5) == 10", "double(0) == 0"))),
    write("verify/verdict rewritten", "--fast --rounds 0",
          Step("verify out --json --fast", edit=swap("out/evidence.json", '"failed"', '"proven"')), draft=WRONG),
    write("verify/failed run", "--fast --rounds 0", "verify out --json --fast", draft=WRONG),
    write("verify/figure rewritten", "--fast",
          Step("verify out --json --fast", edit=swap("out/evidence.json", "75 of 100", "99 of 100"))),
    write("verify/not json", "--fast", Step("verify out --json", edit=put(out__evidence_json="{"))),
    write("verify/file gone", "--fast", Step("verify out --json", edit=put(out__solution_py=None))),
    write("verify/plausible", "--fast", "verify out --fast --json", sentence=VAGUE),
]

# ---------------------------------------------------------------- bad input: exit code 2
TRASH = {"latin.txt": "é".encode("latin-1"), "binary.py": b"\x7fELF\x00\x00\xff", "notes.txt": "tests\n", "full/thesis.tex": "",
         "empty/notes": "", "mine.jsonl": toys(2), "broken.json": "{", "code.py": "def f():\n    return 1\n", **SIZES}
BAD = {
    "write": ["", "''", "- ", "--task-file latin.txt", "--task-file gone.txt", "--task-file .", "'a task' --task-file latin.txt",
              "x" * 30000, "'a f' --model gpt-17", "'a f' --model local:qwen2.5-coder-5b", "'a f' --model scripted:nope",
              "'a f' --model scripted:broken.json", "'a f' --from nope", "'a f' --rounds -1", "'a f' --with-tests gone.py",
              "'a f' --with-tests latin.txt", "'a f' --ask", "'a f' --review", "'a f' --rounds many", "'a f' --colour",
              "'a f' --out full", "'a f' --sandbox moon", "'a f' --model scripted:gold", "'a f' --with '!!'",
              "'a f' --with nosuchpackage", "'a f' --seconds nan"],
    "fix": ["", "nosuch.py", "binary.py", "full", "sizes.py --tests gone", "sizes.py --python nosuch", "sizes.py --out full/thesis.tex",
            "sizes.py --dollars 1 --model nobody:knows", "notes.txt", "sizes.py --function gone"],
    "check": ["", "gone.py", "binary.py", "code.py --only mutations", "code.py --python nowhere", "code.py --sandbox moon",
              "code.py --out code.py/below", "code.py --tests gone", "empty"],
    "strengthen": ["", "nosuch --for sizes.py", "tests --for nosuch.py", "notes.txt --for sizes.py", "empty --for sizes.py",
                   "tests --for tests", "tests --for sizes.py --function sise", "tests --for sizes.py --python nosuch",
                   "tests --for sizes.py --seconds inf"],
    "eval": ["", "humanevalfixx", "mine.jsonl --strategy retyr", "mine.jsonl --model gpt-17", "mine.jsonl --model scripted:golf",
             "mine.jsonl --protocol secret", "mine.jsonl --ask nicely", "mine.jsonl --split train", "mine.jsonl --sandbox bath",
             "mine.jsonl --rounds -1", "mine.jsonl --seeds 0", "mine.jsonl --model scripted:gold --out full", "nowhere.jsonl",
             "resume nope", "resume", "resume --rounds 9", "mine.jsonl other.jsonl", "list extra", "list --rounds 3",
             "mine.jsonl --without tweek", "humaneval --data empty"],
    "verify": ["", "gone", "full", "notes.txt"],
    "show": ["nope", "last"], "explain": ["nope", "last"], "resume": ["nope", "last"], "apply": ["nope", "last"],
    "rate": ["", "last 4", "nope 9"], "rm": ["", "nope --yes"], "runs": ["", "--json", "--limit 0"],
    "compare": ["", "a b", "notes.txt broken.json"],
    "models": ["--json", "doctor", "doctor a,b", "pull local:tinny", "doctor scripted:demo --json", "doctor gpt-17"],
    "config": ["", "path", "set model scripted:demo", "set model nobody", "set colour red", "set models.lab.base_url nonsense",
               "set models.lab.key_env sk-planted-key", "set may_spend lots"],
    "doctor": ["--json"],
}
LIGHT = [lines(f"input/{verb}", *(f"{verb} {words}" for words in many), files=TRASH) for verb, many in BAD.items()] + [
    lines("input/help", "", "--help", "--version", "nonsense", "explain --graph", *(f"{verb} --help" for verb in BAD)),
]

# ---------------------------------------------------------------- the README's Python
API = """
import json
import burnish

run = burnish.write({sentence!r}, model="scripted:demo", fast=True, out="out")
again = burnish.resume(run.id)
told = {{"verdict": run.verdict, "code": run.code, "evidence": [[one.check, one.verdict] for one in run.evidence],
        "again": again.verdict, "explained": bool(burnish.explain(run)), "ending": burnish.verify("out", fast=True).ending}}
print(json.dumps(told))
"""
BOX = """
import json
from burnish.sandbox import open_sandbox

with open_sandbox() as box:
    graded = box.grade(code="def f(x): return x + 1", tests="assert f(1) == 2\\nassert f(2) == 4")
    print(json.dumps([[case.name, case.outcome] for case in graded.cases]))
"""
REST = """
import json
import burnish

fixed = burnish.fix("add.py", model="scripted:model.json", limits=burnish.Limits(calls=4))
result = burnish.evaluate("mine.jsonl", model="scripted:gold", strategy="single", out="e")
try:
    burnish.check("nowhere.py")
except burnish.SetupProblem as problem:
    refused = type(problem).__name__
print(json.dumps({"fixed": fixed.verdict, "names": burnish.__all__, "refused": refused}))
"""
PYTHON = [
    lines("python/write", Step(code=API.format(sentence=DOUBLE))),
    lines("python/sandbox", Step(code=BOX)),
    lines("python/rest", Step(code=REST), files={"add.py": ADD, "mine.jsonl": toys(2), "model.json": json.dumps([GOOD])}),
]

# ---------------------------------------------------------------- records of real models
SAMPLES = sorted(path.name.removesuffix(".tar.gz") for path in (Path(__file__).parent / "samples").glob("*.tar.gz"))
REAL: list[Case] = []

CASES: list[Case] = [*WRITE, *FIX, *CHECK, *EVAL, *STRENGTHEN, *SERVERS, *VERIFY, *LIGHT, *PYTHON, *REAL]
assert len({case.name for case in CASES}) == len(CASES), "two cases have the same name"
