"""Takes a picture of every screen, light and dark, wide and narrow, one of them in German: python -m docs.screens.

All go into a temporary folder, or the one that is named; those in KEPT also to docs/images/web. With `pages` after the
folder, only those of live pages are taken; with `real`, only that of a run of the embedded 1.5B, which is in no other.
The server, its runs and checks are real; models answer from scripts elsewhere, and the evaluation is made of thin air,
as its name says.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from importlib.resources import files
from itertools import product
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright
from tests.evals.fake_evaluations import betting, plan
from tests.evals.toys import toy
from tests.support import block, script
from tests.web.conftest import BROWSERS, HeldModel, Served
from tests.web.screens import end_run
from tests.web.test_uploads import make_zip

from burnish.evals.eval_store import Folder, new_path
from burnish.models.model import Ask, Piece
from burnish.runs import Store
from burnish.web.views.write import EXAMPLES

IMAGES = Path(__file__).parent / "images" / "web"
KEPT = {
    "real-run-1200-light": "real-run",
    "result-1200-light": "result",
    "live-1200-light": "live",
    "write-1200-dark": "write",
    "evaluate-1200-light": "evaluate",
    "check-390-light": "check-phone",
    "result-390-dark": "result-phone",
    "write-1200-light-de": "write-de",
    "page-live-1200-light": "page-live",
    "page-live-1200-dark": "page-live-dark",
    "page-score-1200-light": "page-score",
    "page-score-390-dark": "page-score-phone",
    **{f"all-{width}-{theme}": f"all-{width}-{theme}" for width in (1200, 390) for theme in ("light", "dark")},
}
TALLEST = {
    "page-live": 1200,
    "page-live-dark": 1200,
    "page-score": 1750,
    "page-score-phone": 2000,
    "real-run": 1180,
    "result": 1320,
    "result-phone": 1400,
    "check-phone": 1400,
    "live": 1200,
    "evaluate": 1100,
}
"""Pixels of what is kept: the top of a page."""
GLIDERS = (
    "Conway's Game of Life: a glider gun in the lower left corner, its gliders fly to the upper right, and a button"
)
REAL_MODEL = "local:qwen2.5-coder-1.5b"
TRIED = {"result": "1999, 3", "real-run": "19.99, 7"}
"""What somebody calls the code with."""
SHARE = (
    "a function share(cents, people) for fair parts, larger first: share(100, 3) == [34, 33, 33], "
    "share(2, 4) == [1, 1, 0, 0], share(0, 2) == [0, 0]"
)
SHARE_CODE = '''def share(cents: int, people: int) -> list[int]:
    """The parts of an amount, in cents; larger ones first."""
    each, rest = divmod(cents, people)
    return [each + 1] * rest + [each] * (people - rest)'''
SHARE_LOOP = '''def share(cents: int, people: int) -> list[int]:
    """Every person's part in cents; the first ones pay what is left over."""
    each, rest = divmod(cents, people)
    return [each + (1 if person < rest else 0) for person in range(people)]'''
SHARE_WRONG = SHARE_CODE.replace("[each + 1] * rest + [each] * (people - rest)", "[each] * people")
SHARE_TESTS = "assert share(10, 1) == [10]\nassert share(7, 7) == [1] * 7\nassert share(1001, 2) == [501, 500]"
THOUGHT = "Each pays the same share, and what is left over goes to the first ones, a cent each."
SHOP = {
    "shop/cart.py": 'def total(prices: list[int]) -> int:\n    """The sum, in cents."""\n    return sum(prices)\n',
    "shop/test_cart.py": "from cart import total\n\n\ndef test_total():\n    assert total([150, 200]) == 350\n",
}


def share_script(**replies: str | list[str]) -> dict[str, list[str]]:
    """Versions that were written independently of each other, and agree; the first one is wrong."""
    good, loop = block(SHARE_CODE), block(SHARE_LOOP)
    drafts = f"Each pays the same, and the first ones a cent more:\n\n{block(SHARE_WRONG)}"
    usual = {"draft": drafts, "reflect": good, "repair": good, "tests": block(SHARE_TESTS), "rewrite": [loop, good]}
    return script(**{**usual, **replies})  # type: ignore[arg-type]


OTHERS = {
    "a function is_leap(year), e.g. is_leap(2024) is True": "def is_leap(year):\n    return year % 4 == 0",
    "a function initials(name), e.g. initials('Ada Lovelace') == 'A. L.'": "def initials(name):\n    return name[0]",
}


def glider_script() -> dict[str, list[str]]:
    """Answers for GLIDERS: the first version throws, the second one asks for a file, which no page may."""
    answer = (files("burnish.models") / "scripts" / "pages" / "life-direction.md").read_text("utf-8")
    code = answer.partition("```js\n")[2].rpartition("```")[0]
    ask = '\nbutton.click();\nconsole.log("generations a second", RATE);\n'
    ask += 'const pattern = await fetch("https://conwaylife.com/patterns/gosperglidergun.cells");\n'
    throw = code.replace("reset();\ndraw();", "reset();\ndrawCells();")
    thoughts = "<think>The page has no network, so the pattern of the gun has to be part of the code.</think>\n"
    return {"page": [block(throw, "js"), block(code + ask, "js"), f"{thoughts}{block(code, 'js')}"]}


def begin_pages(browser: Browser, served: Served) -> dict[str, str]:
    """A page that is over, with its score, and one that lives and is put right; the address of each."""
    client, tab = served.client(), browser.new_page(viewport={"width": 1200, "height": 900})
    common = {"model": "scripted:demo", "rounds": "4", "minutes": "5"}
    served.models = []
    said = client.post("/pages", data=common | {"case": "life", "where": "headless"})
    scored = said.headers["location"]
    served.wait_until(scored.removeprefix("/runs/"), "done", 400)
    served.models = [model := SteadyModel(glider_script(), held="")]
    live = client.post("/pages", data=common | {"sentence": GLIDERS, "where": "here"}).headers["location"]
    tab.goto(served.access.link)
    tab.goto(served.address + live)  # it lives where somebody looks
    tab.wait_for_selector("text=Version 2: to be put right", state="attached", timeout=120_000)
    model.held = "page"
    model.let(150)
    return {"page-live": live, "page-score": scored}


def write_for_real(served: Served) -> dict[str, str]:
    """A run of the embedded model that is over; the address of its result."""
    client = served.client()
    run = served.begin(client, EXAMPLES["A price with tax"], model=REAL_MODEL, fast="", minutes="10")
    end_run(served, client, run, 700)
    return {"real-run": f"/runs/{run}"}


class SteadyModel(HeldModel):
    """Writes as fast as a small model on a laptop."""

    def stream(self, ask: Ask, cancel: threading.Event) -> Iterator[Piece]:
        """The next reply, a word at a time."""
        for piece in super().stream(ask, cancel):
            time.sleep(0.03)
            yield piece


def evaluate() -> str:
    """The id of an evaluation on disk that nobody has made."""
    made = betting(60, honest=0.9)
    named = {task: f"example/{place}" for place, (task, _, _) in enumerate(made.tried, 1)}
    told = plan(suite="examples", variant="", model="scripted:example", strategy="burnish", seeds=(0,))
    tasks = [toy(place, name) for place, name in enumerate(named.values(), 1)]
    folder = Folder.create(new_path("example"), told, tasks)
    for task, seed, events in made.tried:
        folder.write(named[task], seed, events)
    return folder.path.name


def fill(served: Served) -> dict[str, str]:
    """Runs, a check and an evaluation; the address of each screen. One run goes on, and is in mid-answer."""
    client = served.client()
    for sentence, code in OTHERS.items():
        answers = dict.fromkeys(("draft", "rewrite", "repair", "reflect", "repeat", "syntax"), block(code))
        served.models = [HeldModel(script(**answers, tests=""), held="")]
        end_run(served, client, served.begin(client, sentence))
    served.models = [SteadyModel(share_script(), held="")]
    done = served.begin(client, SHARE, fast="")
    end_run(served, client, done)
    sent = client.post("/check", data={"kind": "quick"}, files={"file": ("shop.zip", make_zip(SHOP))})
    check = sent.headers["location"]
    while served.app.state.checks.find(check.removeprefix("/check/")):
        time.sleep(0.1)
    thinks = f"<think>{THOUGHT}</think>\nWith a loop over all people:\n\n{block(SHARE_LOOP)}"
    model = SteadyModel(share_script(rewrite=thinks), held="rewrite")
    served.models = [model]
    live = served.begin(client, SHARE)
    served.wait_until(live, "asking")
    model.let(2 * (len(THOUGHT.split()) + 24))  # two are asked for at once
    return {
        "write": "/",
        "fix": "/fix",
        "check": check,
        "results": "/runs",
        "result": f"/runs/{done}",
        "live": f"/runs/{live}",
        "evaluate": f"/evaluate/{evaluate()}",
        "models": "/models",
        "settings": "/settings",
    }


def photograph(page: Page, screen: str, file: Path) -> None:
    """The whole page, once it is quiet; of a result with one call that was tried."""
    page.wait_for_timeout(1500)
    # What is not in the window is not drawn there until somebody scrolls to it.
    page.evaluate(
        "document.querySelectorAll('.step > details').forEach((one) => (one.style.contentVisibility = 'visible'))"
    )
    if screen in TRIED:
        page.fill("#try-arguments", TRIED[screen])
        page.click("#try button.primary")
        page.wait_for_selector(".tried")
        page.evaluate("document.activeElement.blur()")
    if screen == "page-score":
        if page.locator("text=Run it here").count():
            page.click("text=Run it here")
        page.wait_for_selector("iframe").content_frame().click("button")
        page.wait_for_timeout(4000)
        page.evaluate("document.activeElement.blur()")
    if screen == "settings":  # what follows names folders of this machine
        page.locator("main .card").first.screenshot(path=file)
    else:
        most = TALLEST.get(KEPT.get(file.stem, ""), 20_000)
        width, height = page.evaluate("[innerWidth, document.documentElement.scrollHeight]")
        page.screenshot(path=file, full_page=True, clip={"x": 0, "y": 0, "width": width, "height": min(most, height)})


def visit(browser: Browser, served: Served, screens: dict[str, str], folder: Path) -> None:
    """Every screen in every look."""
    looks = [*product(("light", "dark"), (1200, 390), ("en",)), ("light", 1200, "de")]
    for (screen, path), (theme, width, language) in product(screens.items(), looks):
        if language == "de" and screen != "write":
            continue
        zoom = 1.2 if (screen, width) == ("result", 1200) else 1.0  # there is much to be seen at once
        page = browser.new_page(
            color_scheme=theme,
            viewport={"width": round(width * zoom), "height": 900},
            device_scale_factor=1 / zoom,
            locale=language,
        )
        page.goto(served.access.link)
        page.goto(served.address + path)
        photograph(page, screen, folder / f"{screen}-{width}-{theme}{'-de' if language == 'de' else ''}.png")
        page.close()


def compose_sheets(browser: Browser, screens: Sequence[str], folder: Path) -> None:
    """One picture of all screens for each look, small: their upper parts side by side."""
    for theme, width in product(("light", "dark"), (1200, 390)):
        box = "width: 400px; height: 460px" if width == 1200 else "width: 200px; height: 420px"
        files = [folder / f"{screen}-{width}-{theme}.png" for screen in screens]
        boxes = (f'<div style="{box}"><img src="{file.name}" style="width: 100%"></div>' for file in files)
        style = "<style>body { margin: 4px } div { float: left; margin: 4px; overflow: hidden }</style>"
        sheet = folder / f"all-{width}-{theme}.html"
        sheet.write_text(f"<!doctype html>{style}{''.join(boxes)}")
        page = browser.new_page(viewport={"width": 1232 if width == 1200 else 1048, "height": 400})
        page.goto(sheet.as_uri())
        page.screenshot(path=sheet.with_suffix(".png"), full_page=True)
        page.close()


def main(folder: Path, only: str = "") -> None:
    """All pictures into this folder, or `only` those of "pages" or of a "real" run, and the best beside the docs."""
    home = Path(tempfile.mkdtemp())
    os.environ.update(BURNISH_HOME=str(home), BURNISH_CONFIG=str(home / "config.toml"))
    served = Served(Store(home))
    chromium = next(filter(None, map(shutil.which, BROWSERS)))
    try:
        screens = write_for_real(served) if only == "real" else {} if only == "pages" else fill(served)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            screens |= begin_pages(browser, served) if only != "real" else {}
            visit(browser, served, screens, folder)
            if not only:
                compose_sheets(browser, list(screens), folder)
            browser.close()
    finally:
        served.end()
        shutil.rmtree(home)
    keep(folder)


def keep(folder: Path) -> None:
    """The best ones, smaller where pngquant is there."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    for name, kept in KEPT.items():
        if not (folder / f"{name}.png").is_file():
            continue
        target = shutil.copyfile(folder / f"{name}.png", IMAGES / f"{kept}.png")
        if shutil.which("pngquant"):
            subprocess.run(["pngquant", "--force", "--strip", "--output", target, "128", target], check=True)


if __name__ == "__main__":
    place = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
    place.mkdir(parents=True, exist_ok=True)
    main(place, sys.argv[2] if len(sys.argv) > 2 else "")
    print(place)
