"""Every screen for everybody: read by a machine, by the keyboard alone, enlarged, on a phone, in the dark, in German.

`axe/axe.min.js` is axe-core 4.14.0 as it was published, under the MPL 2.0 (axe/LICENSE). It lies here, so that these
tests look for the same on every machine, without a network and without npm. No part of it is in the package.
"""

import ast
import re
import string
import tomllib
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import httpx
import pytest
from jinja2 import nodes

from burnish.config import RULES
from burnish.web import page as pages
from burnish.web.german import tell
from burnish.web.page import read_german, tell_reader, templates
from tests.support import script
from tests.web.conftest import HeldModel, Served
from tests.web.screens import EVIL_SENTENCE, Filled, evil_script, fill, list_screens

AXE = Path(__file__).parent / "axe" / "axe.min.js"
PHONE = {"width": 390, "height": 844}
LOOKS: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "german phone": {"locale": "de-DE", "viewport": PHONE},
    "dark phone": {"color_scheme": "dark", "viewport": PHONE},
}
OPEN_ALL = "document.querySelectorAll('details').forEach((one) => (one.open = true))"
OpenPage = Callable[..., Any]


@pytest.fixture
def filled(served: Served, client: httpx.Client) -> Filled:
    return fill(served, client)


def find_violations(page: Any) -> list[str]:
    """What axe-core finds, each with the elements it is about."""
    page.evaluate(AXE.read_text())
    found = page.evaluate("axe.run(document, {iframes: false})")["violations"]
    return [
        f"{page.url}: {one['id']}: {one['help']}: {node['html'][:160]} ({node['any'] and node['any'][0]['message']})"
        for one in found
        for node in one["nodes"]
    ]


def await_parts(page: Any) -> None:
    """Until what a page asks for by itself is there."""
    page.wait_for_load_state("load")
    page.wait_for_timeout(250)


@pytest.mark.browser
@pytest.mark.timeout(400)
@pytest.mark.parametrize("look", LOOKS)
def test_axe_finds_nothing_on_any_screen(
    open_page: OpenPage, served: Served, client: httpx.Client, filled: Filled, look: str
) -> None:
    page, found = open_page("/", **LOOKS[look]), list[str]()
    for path in list_screens(served, client, filled):
        page.goto(served.address + path)
        await_parts(page)
        found += find_violations(page)
        page.evaluate(OPEN_ALL)
        await_parts(page)
        found += find_violations(page)
    assert not found, "\n".join(sorted(set(found)))


@pytest.mark.browser
@pytest.mark.timeout(300)
@pytest.mark.parametrize("look", ["light", "dark"])
def test_axe_finds_nothing_while_a_run_is_at_work_or_asks(
    open_page: OpenPage, served: Served, client: httpx.Client, look: str
) -> None:
    page, found = open_page("/", **LOOKS[look]), list[str]()

    def look_at(run_id: str, selector: str) -> None:
        page.goto(f"{served.address}/runs/{run_id}")
        page.wait_for_selector(selector)
        page.evaluate(OPEN_ALL)
        found.extend(find_violations(page))

    model = HeldModel(evil_script())
    served.models = [model]
    run_id = served.begin(client, EVIL_SENTENCE)
    waits = served.begin(client, EVIL_SENTENCE)
    model.let(40)
    look_at(run_id, ".answer > pre:not(:empty)")
    look_at(waits, "#run[data-state=queued]")
    for one in (waits, run_id):
        client.post(f"/runs/{one}/stop")
    served.models = [HeldModel(script(assume="- n is a whole number"), held="")]
    for form, selector in (({"ask": "on"}, "#assumption"), ({"review": "on"}, "#review-text")):
        look_at(run_id := served.begin(client, **form), selector)
        client.post(f"/runs/{run_id}/stop")
    served.models = []
    look_at(served.begin(client, "a function double(n), e.g. double(2) == 4"), "#own-answer")
    assert not found, "\n".join(sorted(set(found)))


@pytest.mark.browser
def test_axe_finds_nothing_at_the_door(browser: Any, store: Any) -> None:
    server = Served(store, "a word")
    page = browser.new_page()
    page.goto(f"{server.address}/login")
    assert find_violations(page) == []
    page.fill("#password", "another")
    page.press("#password", "Enter")
    page.wait_for_selector(".problem")
    assert find_violations(page) == []
    page.context.close()
    server.end()


@pytest.mark.browser
def test_what_axe_would_find_is_found(open_page: OpenPage) -> None:
    """A planted violation: a check that cannot fail is none."""
    page = open_page("/")
    page.evaluate("document.querySelector('label[for=minutes]').remove(); document.documentElement.lang = ''")
    found = " ".join(find_violations(page))
    assert "html-has-lang" in found
    assert "select-name" in found


# --- keyboard, size ---


@pytest.mark.browser
def test_the_keyboard_alone_goes_from_opening_to_a_result(open_page: OpenPage) -> None:
    page = open_page("/")
    page.keyboard.type("a function double(n), e.g. double(2) == 4")  # the field has the focus from the start
    assert page.input_value("#sentence").startswith("a function double")
    seen = []
    for _ in range(40):
        page.keyboard.press("Tab")
        focused = page.evaluate("document.activeElement.id || document.activeElement.textContent.trim()")
        seen.append(focused)
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none", f"nobody sees that {focused} has the focus"
        if focused == "model":
            page.keyboard.type("scripted:demo")
        if focused == "Start":
            break
    assert "model" in seen
    page.keyboard.press("Enter")
    page.wait_for_selector("#run[data-state=waiting] .option", timeout=60_000)
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.classList.contains('option')"):
            break
    page.keyboard.press("Enter")
    page.wait_for_selector("#run[data-state=done] .verdict", timeout=60_000)


@pytest.mark.browser
def test_the_first_stop_of_the_keyboard_leads_past_the_menu(open_page: OpenPage) -> None:
    page = open_page("/runs")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


@pytest.mark.browser
@pytest.mark.timeout(300)
def test_at_400_percent_no_screen_scrolls_sideways(
    open_page: OpenPage, served: Served, client: httpx.Client, filled: Filled
) -> None:
    """A window of 1280 enlarged four times is 320 wide."""
    page = open_page("/", viewport={"width": 320, "height": 640})
    wide = []
    for language in ("en", "de"):
        page.context.set_extra_http_headers({"Accept-Language": language})
        for path in list_screens(served, client, filled):
            page.goto(served.address + path)
            await_parts(page)
            page.evaluate(OPEN_ALL)
            await_parts(page)
            width = page.evaluate("document.documentElement.scrollWidth")
            if width > 320:
                culprit = page.evaluate(
                    "[...document.querySelectorAll('main *, header *')].filter((one) => !one.closest('.wide, pre') && "
                    "one.getBoundingClientRect().right > 321).map((one) => one.outerHTML.slice(0, 90)).slice(-2)"
                )
                wide.append(f"{path} ({language}) is {width} wide: {culprit}")
    assert not wide, "\n".join(wide)
    page.evaluate("document.querySelector('h1').style.width = '500px'")
    assert page.evaluate("document.documentElement.scrollWidth") > 320, "planted, and found"


# --- German ---


def list_template_sentences() -> Iterator[tuple[str, str]]:
    """Every sentence that a template says itself, and where."""
    engine = templates()
    for name in engine.list_templates(filter_func=lambda name: name.endswith(".html")):
        assert engine.loader
        source = engine.loader.get_source(engine, name)[0]
        for call in engine.parse(source).find_all(nodes.Call):
            if isinstance(call.node, nodes.Name) and call.node.name == "t" and isinstance(call.args[0], nodes.Const):
                yield str(call.args[0].value), name


def list_python_sentences() -> Iterator[tuple[str, str]]:
    """Every sentence that our own code translates where it stands."""
    for name, tree in parse_sources():
        for call in ast.walk(tree):
            named = call.func.id if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else ""
            if named in ("t", "translate") and isinstance(call, ast.Call) and isinstance(call.args[0], ast.Constant):
                yield str(call.args[0].value), name


def parse_sources() -> Iterator[tuple[str, ast.Module]]:
    for file in Path(str(files("burnish"))).rglob("*.py"):
        yield file.name, ast.parse(file.read_text())


def list_all_texts() -> set[str]:
    """Every text that stands anywhere: what is translated by a variable is among them."""
    texts, engine = set(RULES.values()), templates()
    for _, tree in parse_sources():
        texts |= {str(node.value) for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    for name in engine.list_templates(filter_func=lambda name: name.endswith(".html")):
        assert engine.loader
        source = engine.loader.get_source(engine, name)[0]
        texts |= {str(one.value) for one in engine.parse(source).find_all(nodes.Const)}
    scripts = [*Path(str(files("burnish.pages"))).glob("*.js"), *Path(str(files("burnish.pages"))).glob("cases/*/*")]
    texts |= {file.read_text() for file in scripts}
    return texts | set(re.findall(r'\bsay\("([^"]+)"', (files("burnish.evals") / "page/script.js").read_text()))


def test_every_sentence_has_its_german_and_none_is_left_over() -> None:
    german = read_german()
    said = [*list_template_sentences(), *list_python_sentences()]
    assert len(said) > 100
    lacking = {f"{where}: {sentence}" for sentence, where in said if sentence not in german}
    assert not lacking, "\n".join(sorted(lacking))
    assert not (left := set(german) - list_all_texts()), "\n".join(sorted(left))


PLANTED = "The moon is full. Wait for 7 days, and try again."


def list_problems(*sources: Path) -> Iterator[str]:
    """What these files tell people to put right, each value that is filled in as a 7."""
    for file in sources:
        calls = [one for one in ast.walk(ast.parse(file.read_text())) if isinstance(one, ast.Call)]
        for call in calls if file.name != "server.py" else ():  # it speaks in a terminal
            if getattr(call.func, "id", "") == "SetupProblem" and isinstance(
                call.args[0], ast.Constant | ast.JoinedStr
            ):
                parts = call.args[0].values if isinstance(call.args[0], ast.JoinedStr) else [call.args[0]]
                yield "".join(str(one.value) if isinstance(one, ast.Constant) else "7" for one in parts)


def test_what_somebody_can_put_right_is_said_in_german_too(client: httpx.Client) -> None:
    said = [*list_problems(*Path(str(files("burnish.web"))).rglob("*.py"))]
    assert len(said) > 60
    lacking = {text for text in [*said, PLANTED] if tell(text, "de") == text}
    assert lacking == {PLANTED}, "\n".join(sorted(lacking))
    client.headers["Accept-Language"] = "de"
    assert "Sagen Sie in einem Satz" in client.post("/write", data={"sentence": ""}).text
    assert "Unter dieser Adresse ist nichts" in client.get("/nowhere/there").text


def test_what_somebody_can_put_right_ends_with_no_line_for_a_terminal(client: httpx.Client) -> None:
    problems = [*list_problems(*Path(str(files("burnish"))).rglob("*.py"))]
    typed = [text for text in problems if re.search(r": burnish [^\n]*\Z", text)]
    said = [tell_reader(text, "en") for text in typed]
    assert len(typed) > 100
    assert not [text for text in said if ": burnish" in text or not text.endswith((".", "!", "?"))]
    assert tell_reader("There is no run 'x'. See which there are with: burnish runs", "en") == "There is no run 'x'."
    assert tell_reader("No code. Choose another one from: burnish runs", "en") == "No code. Choose another one."
    assert tell_reader("The variable is empty. Type: export KEY=…", "en").endswith("Type: export KEY=…"), "no other way"
    both = {"sentence": "a clock", "case": "clock", "model": "scripted:demo", "where": "here"}
    assert "Leave one of the two out.</p>" in client.post("/pages", data=both).text


def test_german_fills_in_the_same_values() -> None:
    def fields(text: str) -> set[str | None]:
        return {name for _, name, _, _ in string.Formatter().parse(text)} - {None}

    wrong = [english for english, german in read_german().items() if fields(english) != fields(german)]
    assert wrong == []
    text = (files("burnish.web") / "german.toml").read_text("utf-8")
    assert tomllib.loads(text), "and no entry stands twice, which TOML refuses"


class Noting(dict[str, str]):
    """A table that remembers what was looked for in vain."""

    def __init__(self, table: Any) -> None:
        super().__init__(table)
        self.missed: set[str] = set()

    def get(self, key: str, default: Any = None) -> Any:
        if key not in self:
            self.missed.add(key)
        return super().get(key, default)


@pytest.mark.slow
def test_no_screen_in_german_says_a_sentence_that_has_no_german(
    served: Served, client: httpx.Client, filled: Filled, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = Noting(read_german())
    monkeypatch.setattr(pages, "read_german", lambda: table)
    client.headers["Accept-Language"] = "de"
    for path in list_screens(served, client, filled):
        assert '<html lang="de">' in client.get(path).text
    assert not table.missed, "\n".join(sorted(table.missed))
