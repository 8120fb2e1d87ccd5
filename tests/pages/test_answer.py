"""Answers that misunderstand the protocol are repaired without a call, and the repaired code does what it should."""

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from burnish.agent.limits import Limits
from burnish.events import PageFacts, PageRefused
from burnish.models.scripted import ScriptedModel
from burnish.pages.answer import CUT_OFF, NO_CODE, NO_IMPORT, NO_LIBRARY, PageAnswer, read_answer
from burnish.pages.attempt import start_page
from burnish.pages.headless import HeadlessPage
from burnish.pages.page import ProbeError
from burnish.runs import Store
from burnish.runs.attempt import Resources
from burnish.runs.request import Request
from burnish.tasks import Task
from tests.pages.fake_page import FakePage
from tests.pages.shipped import ANSWERS, open_page

FOLDER = Path(__file__).parent / "answers"
DOES = {
    "square": """(() => {
      const canvas = [...document.querySelectorAll("canvas")].at(-1);
      return canvas.getContext("2d").getImageData(50, 50, 1, 1).data.join() === "255,0,0,255";
    })()""",
    "counter": """(async () => {
      const button = [...document.querySelectorAll("button")].find((one) => /add/i.test(one.textContent));
      const shows = (number) => RegExp(`(^|\\\\D)${number}(\\\\D|$)`).test(document.body.innerText);
      const isZero = shows(0);
      button.click();
      button.click();
      await new Promise((done) => setTimeout(done, 30));
      return isZero && shows(2);
    })()""",
}
"""What each answer was asked for, as an expression that is true in a page that does it."""
RIGHT = '```js\nconst ctx = document.getElementById("canvas").getContext("2d");\nctx.fillStyle = "red";\n```'


def read_samples(name: str) -> dict[str, tuple[str, str]]:
    """By name what it shall do, and the answer."""
    parts = re.split(r"^=== (.+) :: (\w+)\n", (FOLDER / name).read_text("utf-8"), flags=re.MULTILINE)[1:]
    return {name: (does, text) for name, does, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True)}


@pytest.fixture(scope="module")
def page() -> Iterator[HeadlessPage]:
    opened = open_page(settle_seconds=0.1)
    yield opened
    opened.close()


def find_unrepaired(page: HeadlessPage, samples: dict[str, tuple[str, str]]) -> dict[str, str]:
    """The answers whose code does not do in a real page what it should, and why."""
    failed = {}
    for name, (does, text) in samples.items():
        answer = read_answer(text)
        if not answer.code:
            failed[name] = answer.why
            continue
        observed = page.run(answer.code, 1)
        if observed.errors:
            failed[name] = observed.errors[0].message
        elif not answer.repaired and "block" not in name:
            failed[name] = "its repair is not told"
        else:
            try:
                does_it = page.evaluate(DOES[does])
            except ProbeError as error:
                does_it = str(error)
            if does_it is not True:
                failed[name] = f"it runs, and does nothing of the kind: {does_it}"
    return failed


@pytest.mark.browser
def test_at_least_nine_in_ten_planted_wrong_answers_are_repaired_without_a_call(page: HeadlessPage) -> None:
    samples = read_samples("planted.txt")
    failed = find_unrepaired(page, samples)
    assert (len(samples), failed.keys()) == (43, {"TypeScript", "types in a block of JavaScript"})


@pytest.mark.browser
def test_most_of_those_are_repaired_too_that_nobody_had_in_mind(page: HeadlessPage) -> None:
    """Written once the code was finished: 12 of 15 worked at once, and two more after it was extended for them."""
    samples = read_samples("held_out.txt")
    failed = find_unrepaired(page, samples)
    assert (len(samples), failed.keys()) == (
        15,
        {"React from a global", "TypeScript with an enum of types and generics"},
    )


TRICKY = (
    'const html = `<div onclick="a()">${1 < 2 ? "x" : "y"}</div>`;\nui.innerHTML = html;',
    'const data = { code: "a long text that is no code; it is only shown" };\nshow(document.createElement("p"));',
    "const pattern = /[\"'`]/g;\nconst text = \"it's\".replace(pattern, '');\nui.textContent = text + '\\n';",
    "switch (kind) {\n  case 1: draw(a ? (b) : c, d);\n    break;\n  default: stop();\n}",
    "outer: for (const [x, y] of cells) for (;;) if (!x != !y) continue outer;",
    "const point = { x: 1, y: number, z: text };\nlet wide = a < b && c > (d);\nplot(point);",
    "function draw() {\n  requestAnimationFrame(draw);\n}\ndraw();",
    "class Game {\n  size = 3;\n  static of() { return new Game(); }\n}\nGame.of();",
    "const draw = () => {};\nbutton.addEventListener('click', draw);",
    "setInterval(() => {\n  show();\n}, 1000);\nfunction show() {}",
    "// export default of nothing; import nothing\nconst text = 'export const x: number = 1 as any';\nlog(text);",
    "return { done: true, code: 'ok' };",
    "const as = 1, type = 2;\nlet interfaces = as + type;\nshow(interfaces);",
    "ui.innerHTML = '&lt;b&gt; &amp; \\u201cquoted\\u201d';",
    "// 1 “quoted” &lt; comment\nshow();",
    "[1, 2].forEach((n) => show(n));",
    "({ a: 1 }).a;",
    '"use strict";\nshow();',
    "ui.innerHTML = `\n<code>1</code>\n<output>2</output>\n<s>3</s>\n`;",
)
"""Code as it is asked for, in which something looks like a mistake."""


@pytest.mark.parametrize("code", TRICKY)
def test_code_that_only_looks_wrong_is_left_as_it_is(code: str) -> None:
    assert read_answer(f"```js\n{code}\n```") == PageAnswer(code=code)


LOOK_UP = "document.getElementById"
MISSING = {
    "a button by a click": (f"{LOOK_UP}('add').addEventListener('click', show);", {"add": "button"}),
    "a button by its handler": (f"const one = {LOOK_UP}('add');\none.onclick = show;", {"add": "button"}),
    "a button by its name": (f"const one = {LOOK_UP}('startButton');\none.disabled = true;", {"startButton": "button"}),
    "a box by its value": (f"const box = {LOOK_UP}('rate');\nshow(Number(box.value));", {"rate": "input"}),
    "a box that is heard": (f"{LOOK_UP}(`rate`).addEventListener('input', show);", {"rate": "input"}),
    "a canvas by its context": (f"let pen = {LOOK_UP}('game').getContext('2d');", {"game": "canvas"}),
    "text": (f"function show() {{\n  {LOOK_UP}('count').textContent = count;\n}}\nshow();", {"count": "div"}),
    "found by a selector": ("document.querySelector('#count').textContent = 1;", {"count": "div"}),
    "kept in a property": (f"this.add = {LOOK_UP}('add');\nthis.add.onclick = show;", {"add": "button"}),
    "tested only by its value": (f"const box = {LOOK_UP}('rate');\nif (box.value > 1) show();", {"rate": "input"}),
    "beside one that is made": (
        f"ui.innerHTML = '<p id=\"a\"></p>';\n{LOOK_UP}('a').textContent = 1;\n{LOOK_UP}('b').onclick = show;",
        {"b": "button"},
    ),
}
"""Code that looks up elements it never makes, and their tags."""
MADE = (
    f"one.id = 'count';\nui.append(one);\n{LOOK_UP}('count').textContent = 1;",
    f"one.setAttribute('id', 'count');\n{LOOK_UP}('count').textContent = 1;",
    f"ui.innerHTML = '<p id=\"count\"></p>';\n{LOOK_UP}('count').textContent = 1;",
    f"ui.innerHTML = '<p id=count></p>';\n{LOOK_UP}('count').textContent = 1;",
    f'ui.insertAdjacentHTML("beforeend", "<p id=\\"count\\"></p>");\n{LOOK_UP}("count").textContent = 1;',
    f"Object.assign(one, {{ id: 'count' }});\n{LOOK_UP}('count').textContent = 1;",
    f"make('p', 'count');\n{LOOK_UP}('count').textContent = 1;",
    f"for (const name of ['count', 'rate']) make(name);\n{LOOK_UP}('count').textContent = 1;",
    f"one.id = name;\n{LOOK_UP}('count').textContent = 1;",
    f"one.id = `cell-${{x}}`;\n{LOOK_UP}('cell-1').textContent = 1;",
    f"ui.innerHTML = `<p id=\"cell-${{x}}\"></p>`;\n{LOOK_UP}('cell-1').textContent = 1;",
    f"ui.innerHTML = '<p id=\"' + name + '\"></p>';\n{LOOK_UP}('cell-1').textContent = 1;",
    f"Object.assign(one, {{ id, className }});\n{LOOK_UP}('count').textContent = 1;",
    f"{LOOK_UP}('dyn-ui').append({LOOK_UP}('canvas'));",
    f"const one = {LOOK_UP}('count');\nif (one) one.textContent = 1;",
    f"let one = {LOOK_UP}('count');\nif (!one) {{\n  one = make();\n}}",
    f"if (!{LOOK_UP}('count')) make();\n{LOOK_UP}('count').textContent = 1;",
    f"const one = {LOOK_UP}('count') || make();",
    f"const one = {LOOK_UP}('count') ?? make();",
    f"{LOOK_UP}('count')?.remove();",
    f"const one = {LOOK_UP}('count');\none?.remove();",
    f"const one = {LOOK_UP}('count');\nif (one === null) make();",
    f"const one = {LOOK_UP}('count');\nif (null != one && isOpen) one.remove();",
    f"while ({LOOK_UP}('count')) make();",
    f"// {LOOK_UP}('count').textContent = 1;\nshow('{LOOK_UP}(\\'count\\')');",
    f"{LOOK_UP}(name).textContent = 1;",
)
"""Code that makes what it looks up, or can do without it."""


@pytest.mark.parametrize(("code", "tags"), MISSING.values(), ids=MISSING)
def test_an_element_that_is_looked_up_and_never_made_is_made_first(code: str, tags: dict[str, str]) -> None:
    answer = read_answer(f"```js\n{code}\n```")
    line, _, rest = answer.code.partition("\n")
    assert dict(re.findall(r'<(\w+) id="([\w-]+)"', line)) == {tag: name for name, tag in tags.items()}
    assert rest == code
    assert all(name in answer.repaired for name in tags)
    assert read_answer(f"```js\n{answer.code}\n```") == PageAnswer(code=answer.code), "and once only"


@pytest.mark.parametrize("code", MADE)
def test_an_element_that_code_makes_or_can_do_without_is_not_made_for_it(code: str) -> None:
    assert read_answer(f"```js\n{code}\n```") == PageAnswer(code=code)


UI = "const ui = document.getElementById('dyn-ui');\n"
BUTTON = "const button = document.createElement('button');\nui.append(button);\n"
REMOVES = (
    f"{UI}{BUTTON}button.onclick = () => {{ ui.textContent = count; }};",
    f"{UI}{BUTTON}function show() {{\n  ui.innerText = `${{count}}`;\n}}\nbutton.addEventListener('click', show);",
    f"{UI}{BUTTON}button.onclick = () => {{\n  ui.innerHTML = `Count: ${{count}}`;\n}};",
    f"{UI}ui.textContent = '0';\n{BUTTON}button.onclick = () => {{ ui.textContent = Number(ui.textContent) + 1; }};",
    "document.getElementById('add').onclick = () => { document.getElementById('dyn-ui').textContent = count; };",
)
"""Code whose text removes its own button."""
STAYS = (
    f"{UI}{BUTTON}const text = document.createElement('p');\nui.append(text);\ntext.textContent = count;",
    f"{UI}function show() {{\n  ui.textContent = count;\n  {BUTTON}}}\nshow();",
    f"{UI}{BUTTON}function show() {{\n  ui.textContent = '';\n  build();\n}}\nshow();",
    f"{UI}{BUTTON}function show() {{\n  ui.innerHTML = '';\n  build();\n  ui.textContent = 1;\n}}\nshow();",
    f"{UI}{BUTTON}function show() {{\n  ui.innerHTML = `<p>${{count}}</p>`;\n}}\nshow();",
    f"{UI}{BUTTON}if (ui.textContent === 'Add') show();",
    f"{UI}ui.append(document.createElement('p'));\nui.textContent = 'all of it';",
    f"{UI}ui.textContent = 'on a page with no more than text, <button> among the words';",
    f"{UI}{BUTTON}gui.textContent = 1;\nmy.ui.textContent = 2;",
)
"""Code whose text removes nothing, or all of it on purpose."""


@pytest.mark.parametrize("code", REMOVES)
def test_text_that_removes_a_button_gets_an_element_of_its_own(code: str) -> None:
    answer = read_answer(f"```js\n{code}\n```")
    assert re.search(r"uiText\.(?:textContent|innerText|innerHTML) = ", answer.code)
    assert not re.search(r"(?:ui|\))\.(?:textContent|innerText)", answer.code)
    assert answer.repaired
    assert read_answer(f"```js\n{answer.code}\n```") == PageAnswer(code=answer.code), "and once only"


@pytest.mark.parametrize("code", STAYS)
def test_text_that_removes_no_button_stays_where_it_is(code: str) -> None:
    assert read_answer(f"```js\n{code}\n```") == PageAnswer(code=code)


@pytest.mark.browser
def test_code_for_a_page_that_was_only_imagined_works_in_a_real_one(page: HeadlessPage) -> None:
    """As small models write it: none of the elements is there, and all of them work."""
    samples = read_samples("imagined.txt")
    assert (len(samples), find_unrepaired(page, samples)) == (7, {})


@pytest.mark.parametrize("file", sorted(ANSWERS.iterdir(), key=str), ids=lambda file: file.name)
def test_the_answers_of_the_demo_need_no_repair(file: Path) -> None:
    answer = read_answer(file.read_text("utf-8"))
    assert answer.code
    assert not answer.repaired


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", NO_CODE),
        ("```js\n```", NO_CODE),
        ("I am sorry, I cannot do that.", NO_CODE),
        ("<think>const a = 1; what else is there", NO_CODE),
        ("```python\nprint('hello')\n```", "python"),
        ("```\ndef draw():\n    pass\n```", "Python"),
        ('```js\nimport * as THREE from "three";\nnew THREE.Scene();\n```', NO_IMPORT),
        ('```js\nconst fs = require("fs");\nfs.readFile("x");\n```', NO_IMPORT),
        ('<html><body><script src="https://cdn.example/p5.js"></script></body></html>', NO_LIBRARY),
        ("```ts\nconst a: number = 1;\n```", "TypeScript"),
        ("```jsx\nfunction App() { return <div>hello</div>; }\n```", "JSX"),
        ('{"error": "no idea"}', NO_CODE),
    ],
)
def test_what_cannot_be_repaired_is_told_to_the_model(text: str, why: str) -> None:
    answer = read_answer(text)
    assert not answer.code
    assert why in answer.why


@pytest.mark.parametrize("text", ["```js\nconst a = 1;\nfor (", "const a = 1;\nfor ("])
def test_an_answer_that_was_cut_off_is_not_run(text: str) -> None:
    assert read_answer(text, ended="length") == PageAnswer(why=CUT_OFF)
    assert read_answer(f"{RIGHT}\nAnd now", ended="length").code


@pytest.mark.parametrize(
    "text", ["GIVE UP: no canvas", "<think>hm</think>\nGIVE UP: no canvas", "**Give up**: no canvas"]
)
def test_giving_up_is_heard_with_its_reason(text: str) -> None:
    answer = read_answer(text)
    assert answer.gave_up.strip("* :") == "no canvas"
    assert not answer.code


HOSTILE = (
    "(",
    "{",
    "[",
    "`",
    "```\n",
    '{"a":',
    "'",
    "<script>",
    "document.getElementById('a",
    "a=document.getElementById('a');",
    "<think>",
    "/*",
    "a<",
    "x: y, ",
    "export ",
    "\\n",
    "interface A {",
)


@pytest.mark.parametrize("piece", HOSTILE)
@pytest.mark.parametrize("around", ["{}", "```ts\n{}\n```", "const a: number = 1;\n{}"])
def test_no_answer_takes_long_to_be_read(piece: str, around: str) -> None:
    began = time.process_time()
    read_answer(around.replace("{}", piece * (20_000 // len(piece))))
    assert time.process_time() - began < 2


def test_a_form_that_cannot_be_repaired_is_explained_in_the_next_question(store: Store) -> None:
    model = ScriptedModel(["I would use a library for that.", RIGHT])
    task = Task(id="square", prompt="A red square.", language="javascript", own_tests=False)
    request = Request(task=task, verb="page", model=model.name, limits=Limits(rounds=3), page=PageFacts())
    run = start_page(request, Resources((model,), store), FakePage().open).wait()
    assert [refused.why for refused in run.all(PageRefused)] == [NO_CODE]
    assert [NO_CODE in ask.messages[-1].content for ask in model.asked] == [False, True]
    assert run.verdict == "plausible"
