"""Where a rewrite could do something else than what was there, be it where no test looks, it stays away."""

import pytest

from burnish.agent.mending.mend import KINDS, Mend, mends_for
from burnish.checks.behaviour import behave_all
from burnish.sandbox import Sandbox
from tests.agent.mending.test_rewrites import mended

SLOW = {
    "a queue compared with a list": (
        "def f(xs):\n    q = list(xs)\n    while q != []:\n        q.pop(0)\n    return 1\n"
    ),
    "a queue or something else": (
        "def f(xs):\n    q = list(xs)\n    while len(q) > 2:\n        q.pop(0)\n    return q or None\n"
    ),
    "a queue that is printed": 'def f(xs):\n    q = list(xs)\n    while xs:\n        q.pop(0)\n        print(f"{q}")\n',
    "a queue turned round": (
        "def f(xs):\n    q = list(xs)\n    for _ in xs:\n        q.insert(0, q.pop(0))\n    return q\n"
    ),
    "a queue that grows while a loop goes over it": (
        "def f(xs):\n    q = list(xs)\n    for x in q:\n        if x:\n            q.append(q.pop(0))\n    return q\n"
    ),
    "a queue that everybody sees": (
        "q = []\n\n\ndef f(xs):\n    global q\n    q = list(xs)\n    while q:\n        q.pop(0)\n"
    ),
    "the caller's list copied to grow": (
        "def f(xs, base):\n    for x in xs:\n        base = base + [x]\n    return base\n"
    ),
    "a list that has another name too": (
        "def f(xs):\n    a = []\n    b = a\n    for x in xs:\n        a = a + [x]\n    return a, b\n"
    ),
    "a list that is kept as it was": (
        "def f(xs):\n    a = []\n    rows = []\n    for x in xs:\n        a = a + [x]\n        rows.append(a)\n"
        "    return rows\n"
    ),
    "a list that a loop goes over as it was": (
        "def f():\n    a = [1, 2]\n    for x in a:\n        a = a + [x]\n    return a\n"
    ),
    "the largest of nothing": "def f(xs):\n    return [max(xs[:i]) for i in range(len(xs))]\n",
    "the largest of another list": "def f(xs, ys):\n    return [max(ys[: i + 1]) for i in range(len(xs))]\n",
    "sums of what may be fractions": "def f(xs):\n    return [sum(xs[i:]) for i in range(len(xs))]\n",
    "a slice that may end before its beginning": (
        "def f(xs: list[int], n: int):\n    return [sum(xs[i:n]) for i in range(len(xs))]\n"
    ),
    "a slice that may end at a negative place": (
        "def f(xs: list[int]):\n    return [sum(xs[: i - 1]) for i in range(len(xs))]\n"
    ),
    "words in a text": "def f(words, text: str):\n    return [w for w in words if w in text]\n",
    "words in what becomes a text": (
        "def f(words, t):\n    t = t.lower()\n    return [t.count(w) + t.index(w) for w in words if w in t]\n"
    ),
    "an append that is handed on": (
        "def f(xs):\n    seen = []\n    for x in xs:\n        if x not in seen:\n"
        "            list(map(seen.append, [x, -x]))\n    return seen\n"
    ),
    "an append by another name": (
        "def f(xs):\n    seen = []\n    for x in xs:\n        add = seen.append\n"
        "        if x not in seen:\n            add(x)\n    return seen\n"
    ),
    "an append inside a condition": (
        "def f(xs):\n    seen = []\n    for x in xs:\n        if x not in seen and not seen.append(x):\n"
        "            break\n    return seen\n"
    ),
    "a list that a helper may change": (
        "def g(a, x):\n    a.append(x)\n\n\ndef f(xs):\n    seen = []\n    for x in xs:\n        if x not in seen:\n"
        "            g(seen, x)\n    return seen\n"
    ),
    "a generator that calls itself": (
        "def f(n):\n    if n > 0:\n        yield n\n        yield from f(n - 1)\n        yield from f(n - 2)\n"
    ),
    "answers that somebody may change": (
        "def f(n):\n    if n < 2:\n        return [n]\n    left = f(n - 1)\n    left.append(f(n - 2))\n"
        "    return left\n"
    ),
    "a call of itself that prints": (
        "def f(n):\n    print(n)\n    if n < 2:\n        return n\n    return f(n - 1) + f(n - 2)\n"
    ),
    "a text that an error leaves half done": (
        'def f(t):\n    out = ""\n    try:\n        for c in t:\n            out += chr(c)\n    except ValueError:\n'
        "        pass\n    return out\n"
    ),
    "a set of one's own": ("def f(a, b, set):\n    return [x for x in a if x in b]\n"),
}


@pytest.mark.parametrize("code", SLOW.values(), ids=list(SLOW))
def test_a_faster_way_that_may_do_something_else_is_not_taken(code: str) -> None:
    assert mended("performance", code) == code


BROKE = {
    "a sum with its module": "import builtins\n\n\ndef f(xs):\n    return [builtins.sum(xs[i:]) for i in range(9)]\n",
    "an append of nothing": (
        "def f(xs):\n    seen = []\n    for x in xs:\n        if x not in seen:\n            seen.append()\n"
    ),
    "a sum of nothing": "def f(xs):\n    return [sum() for x in xs if x in xs]\n",
}


@pytest.mark.parametrize("code", BROKE.values(), ids=list(BROKE))
def test_odd_code_stops_no_rewrite(code: str) -> None:
    assert all((mend.on(code) or code) for check in KINDS for mend in mends_for(check))


def test_a_rewrite_with_a_fault_of_its_own_is_no_rewrite(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(source: object) -> list[object]:
        raise AssertionError(source)

    monkeypatch.setitem(KINDS, "quality", {"breaks": breaks})
    [mend] = mends_for("quality")
    assert mend.on("x = 1\n") is None


SAME = '''
def flags(a, b, xs):
    found = []
    for i in range(len(xs)):
        for j in range(len(xs)):
            if xs[i] + xs[j] == a & b:
                found.append((i, j))
    return found


def paths(n):
    """paths( is how it is called."""
    if n < 2:
        return "paths(" * n
    return paths(n - 1) + paths(n - 2)


def firsts(items, wanted):
    return [items.index(one) for one in wanted]


def means(xs):
    return [sum(xs[: i + 1]) / (i + 1) for i in range(len(xs))]


def rests(xs: list[int]):
    return [sum(xs[i:]) for i in range(len(xs) + 3)]


def windows(xs: list[int]):
    return [sum(xs[i : i + 3]) for i in range(len(xs) + 3)]


def grown(xs):
    made = []
    for x in xs:
        made = made + [x + len(made)]
    return made
'''
CALLS = (
    *(f"flags({a}, {b}, [0, 1, 2, 3, 4])" for a in (1, 3, 7) for b in (2, 3, 6)),
    *("paths(5)", "firsts([3, 1, 3], [3, 1])", "firsts([1], [2])", "means([0.1, 0.2, 0.3, 1e16, -1e16])"),
    *("means([])", "rests([1, 2, 3])", "rests([])", "windows([1, 2, 3, 4])", "windows([])", "grown([1, 2, 3])"),
)


def test_what_is_rewritten_gives_the_same_values_and_the_same_errors(box: Sandbox) -> None:
    code = mended("performance", SAME)
    assert "sums" in code
    assert "known" in code
    assert "made.append" in code
    told = behave_all({0: SAME, 1: code}, CALLS, box)
    assert dict(zip(CALLS, told[0], strict=True)) == dict(zip(CALLS, told[1], strict=True))


def shell(command: str) -> str:
    return f"import subprocess\ndef f(w, args):\n    return subprocess.call({command}, shell=True)\n"


def query(text: str) -> str:
    return f"import sqlite3\ndef f(c, n):\n    return c.execute({text})\n"


OPEN = {
    "a pattern for files": shell('"rm -f *.txt " + w'),
    "a quoted value": shell("f\"echo '{w}'\""),
    "a whole command line": shell("w"),
    "several arguments in one": shell('"ls " + args'),
    "what only a shell knows": shell('"cd " + w'),
    "a variable before the program": shell('"A=1 env " + w'),
    "a home folder": shell('"ls ~ " + w'),
    "a status that is looked at": 'import os\ndef f(w):\n    return os.system("touch " + w) >> 8\n',
    "pickled data": "import pickle\ndef f(t):\n    return pickle.loads(t)\n",
    "a hash of passwords": "import hashlib\ndef hash_password(b):\n    return hashlib.md5(b).hexdigest()\n",
    "a hash of what is called a password": "import hashlib\ndef f(password):\n    return hashlib.sha1(password)\n",
    "a query for another driver": query('f"SELECT a FROM t WHERE n = {n}"').replace("sqlite3", "pymysql"),
    "a table": query('f"SELECT a FROM {n}"'),
    "a table to fill": query('f"INSERT INTO {n} VALUES (1)"'),
    "an order": query('f"SELECT a FROM t ORDER BY {n}"'),
    "a column": query('f"SELECT a, {n} FROM t"'),
    "several values in one": query('f"SELECT a FROM t WHERE a IN ({n})"'),
    "a part of a text": query("f\"SELECT a FROM t WHERE n LIKE '%{n}%'\""),
    "a value after a text that stays open": query("f\"SELECT a FROM t WHERE n = 'a {n}'\""),
    "a value in two quotes": query("f'SELECT a FROM t WHERE n = \"{n}\"'"),
    "a value made safe already": query("f\"SELECT a FROM t WHERE n = '{n.replace(chr(39), '')}'\""),
    "a value as Python writes it": query('f"SELECT a FROM t WHERE n = {n!r}"'),
    "a value that changes before the query is sent": (
        'import sqlite3\ndef f(c, n):\n    q = f"SELECT a FROM t WHERE n = {n}"\n    n = 3\n    c.execute(q)\n'
    ),
}


@pytest.mark.parametrize("code", OPEN.values(), ids=list(OPEN))
def test_a_door_that_cannot_be_closed_with_care_is_left_to_others(code: str) -> None:
    assert mended("security", code) == code


def test_a_digest_stays_what_it_was(box: Sandbox) -> None:
    code = 'import hashlib\n\n\ndef digest(b):\n    """The MD5."""\n    return hashlib.md5(b.encode()).hexdigest()\n'
    safer = mended("security", code)
    assert "usedforsecurity=False" in safer
    assert behave_all({0: code, 1: safer}, ["digest('abc')"], box)[1] == ("'900150983cd24fb0d6963f7d28e17f72'",)


def test_errors_of_a_program_are_still_part_of_its_output() -> None:
    code = mended("security", 'import subprocess\ndef f(w):\n    return subprocess.getoutput("ls " + w)\n')
    assert "stderr=subprocess.STDOUT" in code
    assert 'removesuffix("\\n")' in code


HIDING = "variables that hide a builtin get another name"
UNTIDY = {
    "a name of the module": ("id = 1\n\n\ndef f():\n    global id\n    id = 2\n\n\ndef g():\n    return id\n"),
    "a name of the function around it": (
        "def f():\n    id = 1\n\n    def g():\n        nonlocal id\n        id += 1\n\n    g()\n    return id\n"
    ),
    "a name in a comprehension only": "def f(rows):\n    return id(rows), [id for id in rows]\n",
}


@pytest.mark.parametrize("code", UNTIDY.values(), ids=list(UNTIDY))
def test_a_name_that_others_may_see_keeps_its_name(code: str) -> None:
    assert Mend(what=HIDING, check="quality").on(code) is None


def test_only_the_function_with_the_variable_is_changed() -> None:
    code = "def f(rows):\n    def g():\n        list = 1\n        return list\n\n    return list(rows), g()\n"
    other = Mend(what=HIDING, check="quality").on(code) or ""
    assert "        list_ = 1\n        return list_\n" in other
    assert "return list(rows), g()" in other


def test_values_in_a_query_become_parameters_where_only_a_value_can_stand() -> None:
    code = mended("security", query("f\"INSERT INTO t VALUES ('{n}', {n})\""))
    assert "c.execute('INSERT INTO t VALUES (?, ?)', (str(n), n,))" in code
