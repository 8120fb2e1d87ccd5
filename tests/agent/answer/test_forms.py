"""Wrong shape: what can be put right without a call is, and the rest is named in one sentence."""

import json
import random
import re

import pytest

from burnish.agent.answer.code import AnswerFault, extract_code, find_fault, find_problem, read_answer
from tests.agent.answer.test_code import PIECES
from tests.snapshots import assert_snapshot
from tests.support import ESC, block

CODE = "def f(n):\n    return n * 2\n"
PAGE = "<!DOCTYPE html><html><head><title>f</title></head><body><h1>f</h1><p>Here:</p>{}</body></html>"
LOOP = "def f(n):\n    total = 0\n    for i in range(n):\n        total -= i\n    return total\n"
RIGHT = LOOP.replace("-=", "+=")


@pytest.mark.parametrize("quotes", ['"""', "'''"])
def test_a_fence_inside_a_docstring_does_not_end_the_code(quotes: str) -> None:
    code = (
        f"def f(n):\n    {quotes}Twice.\n\n    ```pycon\n    >>> f(1)\n    2\n    ```\n    {quotes}\n    return n * 2\n"
    )
    answer = f"{block(code)}\n\nAnother:\n\n{block('x = 1')}"
    assert extract_code(answer, "f") == code
    cut = answer[: answer.index("    return")]
    assert find_problem(extract_code(cut, "f"), "f(n)"), "what is cut is not taken for whole"


@pytest.mark.parametrize(
    ("answer", "mended"),
    [
        (json.dumps({"code": CODE}), "JSON"),
        (json.dumps({"explanation": "It doubles.", "solution": {"python": CODE}}), "JSON"),
        (block(json.dumps({"answer": CODE}, indent=1), "json"), "JSON"),
        (json.dumps({"code": block(CODE)}), "JSON"),
        (json.dumps({"code": json.dumps(CODE)[1:-1]}), "JSON"),
        ('{"code": "' + CODE + '"}', "JSON"),
        (json.dumps({"lines": CODE.splitlines()}), "JSON"),
        (json.dumps(CODE), "JSON"),
        (json.dumps(CODE)[1:-1], "escaped"),
        (PAGE.format(f"<pre><code class='python'>{CODE}</code></pre>"), "web page"),
        (PAGE.format("<pre>def f(n):<br>    return n * 2</pre>"), "web page"),
        (f"Sure, here it is:\n\n{CODE}\nThis works because the number is doubled.", "prose"),
        (">>> def f(n):\n...     return n * 2\n...\n>>> f(2)\n4\n", "prompts"),
        (block(">>> def f(n):\n...     return n * 2\n>>> f(2)\n4\n", "pycon"), "prompts"),
        (block("1 def f(n):\n2     return n * 2"), "numbers"),
        (block("1: def f(n):\n2:     return n * 2"), "numbers"),
        (" 9| def f(n):\n10|     return n * 2", "numbers"),
        (block("    def f(n):\n        return n * 2"), "left edge"),
        (block("def f(n):\n\u00a0\u00a0\u00a0\u00a0return n * 2"), "typographic"),
        (block("class Solution:\n    def f(self, n):\n        return n * 2"), "class"),
        (block("class Solution:\n    @staticmethod\n    def f(n):\n        return n * 2"), "class"),
        (block("    return n * 2"), "body"),
        ("return n * 2", "body"),
        (block(" def f(n):\n-    return n\n+    return n * 2", "diff"), "diff"),
    ],
)
def test_a_wrong_form_is_put_right_and_said_so(answer: str, mended: str) -> None:
    found = read_answer(answer, "f", signature="f(n)")
    assert (found.code, found.problem) == (CODE, "")
    assert mended in found.mended


@pytest.mark.parametrize("answer", [block(CODE), block(CODE, ""), block(CODE + "\nprint(f(2))")])
def test_an_answer_in_the_right_form_is_what_it_was(answer: str) -> None:
    found = read_answer(answer, "f", signature="f(n)")
    assert (found.code, found.mended) == (extract_code(answer, "f"), "")


def test_of_two_versions_the_last_whole_one_is_taken() -> None:
    wrong = block("def f(n):\n    return 1")
    assert read_answer(wrong + "\nWait, that is wrong:\n" + block(CODE), "f").code == CODE
    assert read_answer(block(CODE) + "\nIn short:\n" + block("def f(n):\n    ..."), "f").code == CODE
    assert read_answer(block(CODE) + "\n" + block("def f(n):\n    return ("), "f").code == CODE


@pytest.mark.parametrize(
    "use", ["print(f(2))", "from mine import f\nprint(f(2))", "def test_f():\n    assert f(1) == 2"]
)
def test_a_block_that_only_uses_the_code_is_not_the_code(use: str) -> None:
    found = read_answer(f"{block(CODE)}\nUse it like this:\n{block(use)}", "f", signature="f(n)")
    assert (found.code, found.problem) == (CODE, "")


def test_code_in_the_middle_of_a_sentence_is_code() -> None:
    assert read_answer("The answer is `def f(n): return n * 2`.", "f").code == "def f(n): return n * 2\n"


def test_blocks_that_the_chosen_one_leans_on_are_joined() -> None:
    helper = "import math\n\n\ndef g(n):\n    return math.floor(n)\n"
    found = read_answer(
        block(helper) + "\nand then\n" + block("def f(n):\n    return g(n)") + block("def h(): pass"), "f"
    )
    assert "def g(n)" in found.code
    assert "def h" not in found.code
    assert "joined" in found.mended


def test_all_names_of_a_module_are_asked_for() -> None:
    one, two = "def f(n):\n    return n\n", "def g(n):\n    return n\n"
    assert read_answer(block(one) + "\n" + block(two), "f", also=("g",)).problem == ""
    found = read_answer(block(one), "f", also=("g", "h"))
    assert (found.fault, re.findall(r"\b[fgh]\b", found.problem)) == (AnswerFault.NOT_DEFINED, ["g", "h"])
    fault, problem = find_fault("x = 1\n", "f(n)", ("g",))
    assert (fault, re.findall(r"\b[fgh]\b", problem)) == (AnswerFault.NOT_DEFINED, ["f", "g"])


def test_mixed_tabs_are_made_spaces() -> None:
    found = read_answer(block("def f(n):\n    if n:\n\treturn 1\n    return 2"), "f")
    assert found.code == "def f(n):\n    if n:\n        return 1\n    return 2\n"


def test_a_method_that_needs_its_object_stays_in_its_class() -> None:
    found = read_answer(block("class A:\n    def f(self, n):\n        return self.k"), "f")
    assert found.fault is AnswerFault.NOT_DEFINED


def test_a_method_that_calls_itself_is_lifted_all_the_same() -> None:
    method = "class A:\n    def f(self, n):\n        return self.f(n - 1) if n else 0"
    assert "return f(n - 1)" in read_answer(block(method), "f").code


def test_thoughts_are_not_the_answer() -> None:
    assert read_answer(f"<think>\n{block('def f(n): return 9')}\n</think>\n{CODE}", "f").code == CODE


@pytest.mark.parametrize(
    "answer",
    [
        block("@@ -3,2 +3,2 @@\n     for i in range(n):\n-        total -= i\n+        total += i", "diff"),
        block("--- a.py\n+++ b.py\n@@ -4 +4 @@\n-total -= i\n+total += i", "diff"),
        "Change one line:\n" + block("total += i"),
        block("        total += i"),
    ],
)
def test_a_diff_and_changed_lines_are_applied_to_the_code_that_was_shown(answer: str) -> None:
    assert read_answer(answer, "f", signature="f(n)", base=LOOP).code == RIGHT


def test_a_diff_of_other_code_is_not_forced_on() -> None:
    found = read_answer(block("-    x = 1\n+    x = 2", "diff"), "f", base=LOOP)
    assert found.problem


def test_a_cut_answer_is_never_passed_off_as_whole() -> None:
    for cut in ("```python\ndef f(n):\n    if n:\n        return 1\n", f"```python\n{CODE}", CODE, '{"code": "def f(n'):
        assert read_answer(cut, "f", signature="f(n)", ended="length").fault is AnswerFault.CUT


def test_of_a_cut_answer_the_part_above_its_examples_is_whole() -> None:
    found = read_answer(f"```python\n{CODE}\nprint(f(2))\nprint(f(", "f", ended="length")
    assert (found.code, found.problem) == (CODE, "")
    assert_snapshot(found.mended, "agent/answer: what was done to one that was cut")
    assert read_answer(f"{block(CODE)}\nIt doubles the", "f", ended="length").problem == ""


@pytest.mark.parametrize(
    ("answer", "language"),
    [
        (block("function f(n) { return n * 2; }", "javascript"), "JavaScript"),
        (block("function f(n) {\n  return n * 2;\n}", ""), "JavaScript"),
        (block("const f = (n) => n * 2;"), "JavaScript"),
        (block("function f(n: number): number { return n; }", "ts"), "TypeScript"),
        (block("public static int f(int n) {\n  return n;\n}"), "Java"),
        (block("#include <vector>\nint f(int n) { return n; }", ""), "C++"),
        (block("func f(n int) int {\n return n\n}", "go"), "Go"),
        (block("fn f(n: i32) -> i32 { n * 2 }", ""), "Rust"),
        (block("def f(n)\n  n * 2\nend", ""), "Ruby"),
    ],
)
def test_another_language_is_named(answer: str, language: str) -> None:
    found = read_answer(answer, "f")
    assert found.fault is AnswerFault.OTHER_LANGUAGE
    assert f" {language}," in found.problem


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("You should double the number.", "the answer holds no code"),
        ("", "the answer holds no code"),
        ("I'm sorry, but I can't help with that.", "the model declined to answer"),
        ("I cannot write this.", "the model declined to answer"),
        (block("def g(n):\n    return n"), "the code does not define f"),
        (block("def f(n:\n    return"), "the code does not parse: '(' was never closed (line 1)"),
        (block("def f():\n    return 1"), "the signature is f(), asked for was f(n)"),
    ],
)
def test_what_cannot_be_mended_is_named(answer: str, problem: str) -> None:
    assert read_answer(answer, "f", signature="f(n)").problem == problem


def test_a_function_that_does_nothing_may_be_what_was_asked_for() -> None:
    assert read_answer(block("def f():\n    pass"), "f", signature="f()").problem == ""


MORE = [
    '{"code": "',
    '"}',
    "<pre>",
    "</pre>",
    ">>> ",
    "+",
    "-",
    "@@",
    "1 ",
    "\t",
    "“",
    "</think>",
    "\\n",
    "    ",
    "self",
]


@pytest.mark.parametrize("seed", range(400))
def test_no_answer_whatever_makes_it_stumble(seed: int) -> None:
    chance = random.Random(seed)
    answer = "".join(chance.choices(PIECES + MORE, k=chance.randrange(30)))
    found = read_answer(answer, "f", signature="f(n)", base=LOOP, ended=chance.choice(["stop", "length"]))
    assert ESC not in found.code
    if not found.problem:
        compile(found.code, "code", "exec")
    if not find_problem(extract_code(answer, "f"), "f(n)"):
        assert not read_answer(answer, "f", signature="f(n)").problem


def test_code_that_is_nested_too_deep_is_no_accident() -> None:
    deep = "class A:\n    def f(self, n):\n        return " + "+".join(["n"] * 5000)
    assert read_answer(block(deep), "f").problem


@pytest.mark.parametrize(
    "answer",
    [
        json.dumps({"code": f"def f(n):\n    return n  # {ESC}]0;owned\u0007\u202e"}),
        PAGE.format("<pre>def f(n):\n    return n  # &#27;[2J&#x202e;</pre>"),
        json.dumps(block(f"def f(n):\n    return n  # {ESC}[2J")),
    ],
)
def test_escape_codes_that_a_wrapping_spells_out_stay_out(answer: str) -> None:
    code = read_answer(answer, "f").code
    assert code.startswith("def f(n):")
    assert not {ESC, "\u0007", "\u202e"} & set(code)
