"""Each rewrite at a place where it fits, and at one where it would change what the code does, or is no finding."""

import pytest

from burnish.agent.mending.heads import with_head
from burnish.agent.mending.mend import KINDS, mends_for, objection
from burnish.checks.behaviour import behave_all
from burnish.sandbox import Sandbox


def mended(check: str, code: str) -> str:
    """The code after every rewrite that fits."""
    for mend in mends_for(check):
        code = mend.on(code) or code
    return code


SAFER = {
    "eval": ("def f(t):\n    return eval(t)\n", "    return ast.literal_eval(t)\n"),
    "yaml": ("import yaml\ndef f(t):\n    return yaml.load(t, Loader=yaml.Loader)\n", "    return yaml.safe_load(t)\n"),
    "shell": (
        'import subprocess as s\ndef f(w):\n    return s.check_output("echo " + w, shell=True, text=True)\n',
        "    return s.check_output(['echo', w], text=True)\n",
    ),
    "shell without a value": (
        "import subprocess\ndef f():\n    return subprocess.call(\"echo 'a b'\", shell=True)\n",
        "    return subprocess.call(['echo', 'a b'])\n",
    ),
    "system": ('import os\ndef f(w):\n    os.system(f"touch {w}")\n', "    subprocess.call(['touch', str(w)])\n"),
    "popen": (
        'import os\ndef f(w):\n    return os.popen("echo " + w).read()\n',
        "    return subprocess.run(['echo', w], stdout=subprocess.PIPE, text=True, check=False).stdout\n",
    ),
    "query": (
        "import sqlite3\ndef f(c, n):\n    return c.execute(f\"SELECT a FROM t WHERE n = '{n}' AND b > {n}\")\n",
        "    return c.execute('SELECT a FROM t WHERE n = ? AND b > ?', (str(n), n,))\n",
    ),
    "query in a variable": (
        'import sqlite3\ndef f(c, n):\n    q = "DELETE FROM t WHERE n = %s" % n\n    c.execute(q)\n',
        "    c.execute(q, (n,))\n",
    ),
    "temporary file": (
        'import tempfile\ndef f():\n    return tempfile.mktemp(".txt")\n',
        '    return tempfile.NamedTemporaryFile(delete=False, suffix=".txt").name\n',
    ),
    "weak hash": (
        "import hashlib\ndef f(b):\n    return hashlib.md5(b)\n",
        "    return hashlib.md5(b, usedforsecurity=False)\n",
    ),
    "weak hashes that meet": (
        "import hashlib\ndef f(a, b):\n    x = hashlib.md5(a).digest()\n    return x == hashlib.md5(b).digest()\n",
        "    x = hashlib.sha256(a).digest()\n    return x == hashlib.sha256(b).digest()\n",
    ),
    "weak hash that meets what it was given": (
        "import hashlib\ndef f(a, b):\n    return hashlib.md5(a).hexdigest() == b\n",
        "    return hashlib.md5(a, usedforsecurity=False).hexdigest() == b\n",
    ),
    "weak hashes that meet and are handed out": (
        "import hashlib\ndef f(a, b):\n    x = hashlib.md5(a).digest()\n    return x, x == hashlib.md5(b).digest()\n",
        "hashlib.md5(a, usedforsecurity=False).digest()",
    ),
    "weak hash by name": (
        'import hashlib\nh = hashlib.new("sha1")\n',
        'h = hashlib.new("sha1", usedforsecurity=False)\n',
    ),
    "token": (
        "import random\ndef make_token():\n    return random.choice('ab')\n",
        "    return secrets.SystemRandom().choice('ab')\n",
    ),
    "assert": (
        'def f(n):\n    assert n > 0, "too small"\n    return n\n',
        '    if not (n > 0):\n        raise AssertionError("too small")\n',
    ),
}


@pytest.mark.parametrize(("code", "line"), SAFER.values(), ids=list(SAFER))
def test_a_door_that_was_left_open_is_closed(code: str, line: str) -> None:
    assert line in mended("security", code)


LEFT_OPEN = {
    "eval with its own names": "def f(t, names):\n    return eval(t, names)\n",
    "an eval of what the code wrote": "def f(t):\n    return eval(f'{t} + 1') + eval('t')\n",
    "an eval of a name that is called": "def f(t):\n    return eval(t)(1)\n",
    "an eval of one's own": "def eval_row(t):\n    return t\ndef f(t):\n    return eval_row(t)\n",
    "a list and no shell": 'import subprocess\ndef f(w):\n    return subprocess.call(["echo", w])\n',
    "what popen gives is kept": 'import os\ndef f(w):\n    return os.popen("echo " + w)\n',
    "a table's name": 'import sqlite3\ndef f(c, t):\n    return c.execute("SELECT 1")\n',
    "a query used twice": (
        'import sqlite3\ndef f(c, n):\n    q = f"SELECT a WHERE n = {n}"\n    print(q)\n    return c.execute(q)\n'
    ),
    "no query at all": 'import sqlite3\ndef f(c, n):\n    return c.execute(f"job {n}")\n',
    "a hash that is not for security": "import hashlib\nh = hashlib.md5(b'', usedforsecurity=False)\n",
    "a game of dice": "import random\ndef roll():\n    return random.randint(1, 6)\n",
    "a token that is to be repeated": "import random\nrandom.seed(1)\ndef token():\n    return random.random()\n",
    "two statements on a line": "def f(n):\n    assert n; return n\n",
}


@pytest.mark.parametrize("code", LEFT_OPEN.values(), ids=list(LEFT_OPEN))
def test_what_is_no_finding_or_needs_more_care_stays_as_it_is(code: str) -> None:
    assert mended("security", code) == code


SLOW = '''
def unique(items):
    seen = []
    for item in items:
        if item not in seen:
            seen.append(item)
    return seen


def common(a, b):
    return [x for x in a if x in b]


def highest(items):
    best = 0
    for item in items:
        best = max(best, items.count(item))
    return best


def firsts(items, wanted):
    found = []
    for one in wanted:
        found.append(items.index(one))
    return found


def sums(items):
    return [sum(items[:place]) - sum(items[place:]) for place in range(len(items) + 1)]


def tops(items):
    return [max(items[: place + 1]) for place in range(len(items))]


def two(items, total):
    for i in range(len(items)):
        for j in range(i + 1, len(items)):
            if items[i] + items[j] == total:
                return (i, j)
    return None


def gaps(items, gap):
    found = []
    for i in range(len(items)):
        for j in range(len(items)):
            if i != j and items[j] - items[i] == gap:
                found.append((i, j))
    return found


def matches(a, b):
    found = []
    for x in a:
        for y in b:
            if x == y:
                found.append((x, y))
    return found


def turns(items):
    rest = list(items)
    taken = []
    while rest:
        taken.append(rest.pop(0))
        if rest:
            taken.append(rest.pop())
    return taken


def front(items):
    made = []
    for item in items:
        made.insert(0, item)
    return made


def longer(items):
    made = []
    for item in items:
        made = made + [item]
    return made


def mirrored(text):
    out = ""
    for letter in text:
        out = letter + out
    return out


def spaced(text):
    out = ""
    for letter in text:
        out += letter + " "
    return out.strip()


def fib(n):
    """How rabbits grow."""
    if n < 2:
        return n

    return fib(n - 1) + fib(n - 2)
'''
LISTS = ("[]", "[3]", "[1, 2, 1, 3, 2]", "[5, 5, 5]", "[4, -1, 0, 7, 2, 9]")
CALLS = (
    *(f"{name}({items})" for items in LISTS for name in ("unique", "highest", "sums", "tops", "turns", "front")),
    *(f"longer({items})" for items in LISTS),
    *(f"{name}({a}, {b})" for a in LISTS for b in LISTS for name in ("common", "matches")),
    *(f"two({items}, {total})" for items in LISTS for total in (2, 3, 6, 10)),
    *(f"gaps({items}, {gap})" for items in LISTS for gap in (0, 1, -1, 2)),
    *("firsts([3, 1, 3], [3, 1])", "firsts([1, 1], [])", "mirrored('abc')", "mirrored('')", "spaced('ab')", "fib(15)"),
)


def test_faster_code_gives_the_same_answers_in_the_same_order(box: Sandbox) -> None:
    told = behave_all({0: SLOW, 1: mended("performance", SLOW)}, CALLS, box)
    assert len(told[0]) == len(CALLS)
    assert told[0] == told[1]


def test_every_rewrite_for_speed_finds_its_place() -> None:
    used = [mend.what for mend in mends_for("performance") if mend.on(SLOW)]
    assert used == list(KINDS["performance"])


LEFT_SLOW = {
    "a set already": "def f(a, b):\n    known = set(b)\n    return [x for x in a if x in known]\n",
    "looked for once": "def f(a, x):\n    return x in a\n",
    "what a loop goes over": "def f(a, b):\n    for x in [y for y in a]:\n        print(x in str(b))\n",
    "a list that shrinks in the loop": (
        "def f(a, b):\n    for x in a:\n        if x in b:\n            b.remove(x)\n    return b\n"
    ),
    "a list that is new each time": (
        "def f(rows):\n    for row in rows:\n        a = list(row)\n        if 1 in a:\n            return row\n"
    ),
    "a missing place that is awaited": (
        "def f(a, b):\n    for x in b:\n        try:\n            return a.index(x)\n        except ValueError:\n"
        "            pass\n"
    ),
    "the caller's own list": "def f(queue):\n    while queue:\n        queue.pop(0)\n",
    "a list that is sliced": (
        "def f(n):\n    a = [1, 2, 3]\n    while a:\n        a.pop(0)\n        print(a[1:])\n    return a\n"
    ),
    "a text that is looked at on the way": (
        'def f(t):\n    out = ""\n    for c in t:\n        if len(out) < 3:\n            out += c\n    return out\n'
    ),
    "pairs that must not match": (
        "def f(a):\n    for i in range(len(a)):\n        for j in range(i + 1, len(a)):\n            if a[i] < a[j]:\n"
        "                return i\n"
    ),
    "a list that the loop changes": (
        "def f(a):\n    for i in range(len(a)):\n        for j in range(len(a)):\n            if a[j] == i:\n"
        "                a[j] = 0\n    return a\n"
    ),
    "one call of itself": "def f(n):\n    return 1 if n < 1 else n * f(n - 1)\n",
}


@pytest.mark.parametrize("code", LEFT_SLOW.values(), ids=list(LEFT_SLOW))
def test_a_loop_that_is_no_search_or_changes_what_it_searches_is_left_alone(code: str) -> None:
    assert mended("performance", code) == code


UNTIDY = """import os
import sys


def f(a, items=[]):
    try:
        list = [1]
        if a == None:
            return list
            print("never")
    except:
        pass
    unused = 3
    items.append(a)
    return items


def _nobody():
    return 1
"""


def test_what_ruff_mends_and_what_it_leaves_to_people_is_mended() -> None:
    code = mended("quality", UNTIDY)
    gone = ("import", "print", "unused", "== None", "except:", "_nobody", "list =", "items=[]")
    assert [word for word in gone if word in code] == []
    assert "except Exception:" in code
    assert "def f(a, items=None):" in code


TIDY = {
    "an empty generator": "def f():\n    return\n    yield\n",
    "a private function that is used": "def _g():\n    return 1\n\n\ndef f():\n    return _g()\n",
    "a parameter that hides a builtin": "def f(list):\n    return list\n",
}


@pytest.mark.parametrize("code", TIDY.values(), ids=list(TIDY))
def test_what_is_there_for_a_reason_stays(code: str) -> None:
    assert mended("quality", code) == code


def test_code_that_does_not_parse_is_left_alone() -> None:
    assert all(mend.on("def f(:\n") is None for check in KINDS for mend in mends_for(check))


@pytest.mark.parametrize(
    ("after", "why"),
    [
        ("def f(a, c=1): return a", "signature"),
        ("def f(a, b=2): return a", "signature"),
        ("def f(a, *, b=1): return a", "signature"),
        ("async def f(a, b=1): return a", "signature"),
        ("import numpy\ndef f(a, b=1): return a", "numpy"),
        ("from . import x\ndef f(a, b=1): return a", "standard library"),
        ("def f(a, b=1: return a", "parse"),
        ("import os.path\ndef f(a, b=1): return b\ndef g(): pass", ""),
    ],
)
def test_a_signature_stays_and_nothing_comes_from_outside_the_standard_library(after: str, why: str) -> None:
    assert why in objection("def f(a, b=1): return a", after)
    assert bool(why) == bool(objection("def f(a, b=1): return a", after))


def test_a_list_as_default_may_become_none() -> None:
    assert objection("def f(a=[]): return a", "def f(a=None): return a") == ""


HEAD = 'def f(a: list[int], b: int = 1) -> int:\n    """Add."""\n'


def test_an_answer_keeps_the_types_and_the_docstring_that_it_leaves_out() -> None:
    said = "import math\n\n\ndef f(a, b=1):\n    return math.fsum(a) + b\n"
    assert with_head(f"{HEAD}    return sum(a) + b\n", said, "f") == (
        f"import math\n\n\n{HEAD}    return math.fsum(a) + b\n"
    )


@pytest.mark.parametrize(
    "said",
    [
        "def f(a):\n    return sum(a)\n",
        "def f(a, b=1):\n  return sum(a)\n",
        "def f(a, b=1): return sum(a)\n",
        "def g(a, b=1):\n    return sum(a)\n",
        "def f(a, b=1\n",
    ],
    ids=["other-parameters", "other-margin", "one-line", "other-name", "no-python"],
)
def test_an_answer_that_the_head_does_not_fit_stays_as_it_is(said: str) -> None:
    assert with_head(f"{HEAD}    return sum(a) + b\n", said, "f") == said
