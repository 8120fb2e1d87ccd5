"""What runs and checks have said, in German: every sentence of ours that a page shows of them."""

import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from html import unescape
from importlib.resources import files
from itertools import chain
from pathlib import Path

import httpx
import pytest

import burnish
from burnish import Run, Store
from burnish.checks.check import read_findings
from burnish.evals.reports.report_text import list_warnings
from burnish.evals.schema import EvalLimits, LeftOut
from burnish.events import PageObserved
from burnish.events.pages import PageError
from burnish.models.scripted import ScriptedModel
from burnish.pages.answer import read_answer
from burnish.pages.findings import KILLED, find_troubles
from burnish.pages.rubric import SHIPPED, load_case
from burnish.report.deliverables import list_open_questions
from burnish.web.evaluation_view import measure, open_folder
from burnish.web.german import LONGEST, read_composed, split_literals, tell
from burnish.web.page import translator
from burnish.web.steps import tell_steps
from tests.commands.test_fix_from_test import RIGHT, TEST
from tests.commands.test_fix_from_test import project as project
from tests.support import ASKING, DOUBLE, GOOD, OWN_TESTS, SQUARE, WRONG, script
from tests.web.conftest import Served
from tests.web.test_accessible import list_all_texts, list_problems
from tests.web.test_check_page import keep_check, send, wait_for
from tests.web.test_evaluate_page import fake
from tests.web.test_uploads import make_zip

OWN_WORDS = ("task", "model", "function", "read", "assumed", "open", "files")
"""Labels of lines that hold what a user, a model or a file said, and nothing else."""
NOT_WORDS = re.compile(r"(assert .*|[\d .,%]*|got: .*)")

ENGLISH = re.compile(r"\b(the|of|and|are|with|that|which|they|not)\b")
QUOTED = re.compile(r"`[^`]*`|'[^']*'|“[^”]*”|TypeError: .*")


def list_said(run: Run) -> Iterator[str]:
    """All that the page of a run shows and that Burnish has composed."""
    yield from (run.why, *list_open_questions(run))
    for item in run.evidence:
        yield from (item.why, item.figure, *(one.what for one in read_findings(item)))
    for step in tell_steps(run.events, translator("en")):
        for line in step.lines:
            yield line.label
            is_printed = not line.label and line.tone == "bad"  # what a test said when it failed
            yield from [line.text] if line.tone != "test" and line.label not in OWN_WORDS and not is_printed else []


def find_english(texts: Iterator[str]) -> set[str]:
    """Those that have no German, or not of all that is in them."""
    told = {text: tell(text, "de") for text in texts if not NOT_WORDS.fullmatch(text)}
    return {text for text, german in told.items() if german == text or ENGLISH.search(QUOTED.sub("", german))}


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_all_that_a_run_says_is_said_in_german(store: Store, project: Path) -> None:
    runs = [
        burnish.write(DOUBLE, ScriptedModel(script(draft=SQUARE, repair=[GOOD, SQUARE])), store=store),
        burnish.write("a function double(n)", ScriptedModel(script()), store=store, fast=True),
        burnish.write(DOUBLE, ScriptedModel(script(**dict.fromkeys(ASKING, WRONG))), store=store, fast=True),
        burnish.write(DOUBLE, ScriptedModel(["no"]), store=store, fast=True),
        burnish.fix(f"{project}/{TEST}", ScriptedModel([RIGHT], whole=True), store=store),
    ]
    more = ScriptedModel(script(tests=OWN_TESTS))
    runs.append(burnish.write("also zero, e.g. double(0) == 0", more, from_run=runs[0].id, store=store, fast=True))
    assert {run.verdict for run in runs} == {"proven", "plausible", "failed"}
    assert not (english := find_english(text for run in runs for text in list_said(run))), "\n".join(sorted(english))


def test_a_sentence_that_has_no_german_is_found() -> None:
    planted = "the moon was full, so nothing was measured"
    half = "the moon was full of it gives 3 or 4"
    assert find_english(iter(["nothing was found", planted, half, "assert f(1) == 2", "75 of 100"])) == {planted, half}


def test_what_a_model_or_a_user_said_stays_as_it_is_within_a_sentence() -> None:
    said = tell("your example was not understood as a test (nothing was found)", "de")
    assert said == "Ihr Beispiel wurde nicht als Test verstanden (nothing was found)"
    assert tell("{n} tests pass {0} {said!r}", "de") == "{n} tests pass {0} {said!r}"
    assert tell("{said} has no docstring.", "de") == "{said} hat keine Beschreibung."
    assert tell("nothing was found", "en") == "nothing was found"


@pytest.mark.slow
def test_nothing_that_is_said_takes_long_to_look_through() -> None:
    for english in read_composed():
        almost = "1".join(split_literals(english.removesuffix(".")))[:-1]
        began = time.process_time()
        tell((almost * LONGEST)[: LONGEST - 1] + "\0", "de")
        assert time.process_time() - began < 3, english
    assert tell("nothing was found; " * LONGEST, "de").startswith("nothing was found")


def list_runs(text: str, words: int) -> set[str]:
    """Every so many words of a text that stand side by side."""
    said = re.findall(r"[^\s.,;:()·]+", text.lower())
    return {" ".join(said[at : at + words]) for at in range(len(said) - words + 1)}


def find_unsaid(keys: Iterable[str], said: set[str]) -> list[str]:
    """Keys that no source says: of the runs of three words in a longer one, most have to stand somewhere."""
    runs = {key: [run for part in split_literals(key) for run in list_runs(part, 3)] for key in keys}
    return [key for key, mine in runs.items() if len(mine) >= 7 and sum(run in said for run in mine) < 0.6 * len(mine)]


def find_untold(table: Mapping[str, str]) -> list[str]:
    """Keys that, with values filled in, are not told in German, or not with all the values that the German names."""
    untold = []
    for english, german in table.items():
        names = set(re.findall(r"\{(\w+)\}", english))
        values = {name: "nothing was found" if name.startswith("said") else f"<{name}>" for name in names}
        values |= {name: "7" for name in names if name.split("_")[0] == "n"}
        for plural in ("", r"\1"):
            sentence = re.sub(r"\((e?s)\)", plural, english).format(**values)
            told = tell(sentence, "de")
            lost = [value for name, value in values.items() if value[0] == "<" and f"{{{name}}}" in german]
            is_same = told == sentence and english != german
            untold += [sentence] if is_same or any(value not in told for value in lost) else []
    return untold


def test_every_composed_sentence_is_told_in_german_with_the_values_it_came_with() -> None:
    table = dict(read_composed())
    problems = [text for text in list_problems(*Path(str(files("burnish"))).rglob("*.py")) if tell(text, "de") != text]
    assert len(table) > 900
    assert len(problems) > 150, "of those that modules below the page have people put right, too"
    assert find_untold(table) == []
    planted = {"the moon is {n} days old, says {who}": "der Mond ist {n} Tage alt, sagt {who}"}
    assert len(find_untold(planted)) == 2, "in both forms"


def test_every_composed_sentence_is_one_that_is_said_and_holds_the_same_values() -> None:
    texts = list_all_texts()
    said, whole = {run for text in texts for run in list_runs(text, 3)}, "\n".join(texts).lower()
    unsaid = find_unsaid(read_composed(), said)
    for english, german in read_composed().items():
        names = set(re.findall(r"\{(\w+)\}", english))
        assert set(re.findall(r"\{(\w+)\}", german)) <= names, english
        longest = list_runs(max(split_literals(english), key=len), 2)
        unsaid += [] if len(longest) < 2 or any(run in whole for run in longest) else [english]
    assert unsaid == [], "nobody says these"
    reworded = "Run {id} has no question that anybody could answer now. Look how far it has come until today: {command}"
    assert find_unsaid([reworded], said) == [reworded]


def test_a_check_that_was_not_possible_says_so_in_german(served: Served, client: httpx.Client) -> None:
    client.headers["Accept-Language"] = "de"
    sent = client.post("/check", data={"kind": "quick"}, files={"file": ("a.zip", b"PK no zip")})
    assert "ist kein Zip, oder es ist beschädigt" in sent.text
    saved = keep_check(served, said="The moon was full.", state="problem")
    assert saved.said in client.get(f"/check/{saved.id}").text, "what is not known stays as it is"


# --- reports ---

FLAWED = {
    "shop/cart.py": "import os\nimport subprocess\n\nPASSWORD = 'hunter2secret'\n"
    "NOTE = '<img src=x>'  # nothing was found\n\n\ndef total(items, tax):\n"
    "    if tax > 3:\n        return 0\n    return sum(items) + tax\n\n\ndef run(cmd):\n"
    "    return subprocess.call(cmd, shell=True)\n",
    "shop/tests/test_cart.py": "from cart import total\n\n\ndef test_total():\n    assert total([1, 2], 0) == 3\n\n\n"
    "def test_wrong():\n    assert total([1], 1) == 3\n",
}
NAMES = re.compile(
    r"[✓✗–⋯←→ ]*|k|1970-.*|cart\.py(:\d+)?|shop|[BF]\d+(, [\w-]+)?|tests/test_cart\.py|[\d.]+ .?s|docstring|"
    r"`\w+` imported .*|Consider possible .*|Tests|Mutation|Burnish|pass@[1k]|reflect|toy/\d( · seed \d)?|"
    r"local:m|llama\.cpp"
)
"""What stands in a report and is no sentence of ours, or is the same in both languages."""


def list_texts(page: str) -> Iterator[str]:
    """What a report says that has no scripts, code or output in it."""
    shown = re.sub(r"<(style|script|pre|code|\w+(?= translate))\b.*?</\1>", "", page, flags=re.DOTALL)
    texts = (
        " ".join(unescape(text).split())
        for text in re.findall(r">([^<>]+)<|title=\"([^\"]+)\"", shown)
        for text in text
    )
    return (text for text in texts if not NAMES.fullmatch(text) and not NOT_WORDS.fullmatch(text))


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_the_report_of_a_check_is_in_german_and_code_in_it_stays_as_it_is(served: Served, client: httpx.Client) -> None:
    saved = wait_for(served, send(client, "shop.zip", make_zip(FLAWED)))
    report = client.get(f"/check/{saved.id}/report").text
    client.headers["Accept-Language"] = "de"
    german = client.get(f"/check/{saved.id}/report").text
    assert len(english := {*list_texts(report)}) > 40
    assert not (left := english & {*list_texts(german)}), "\n".join(sorted(left))
    assert not [text for text in list_texts(german) if ENGLISH.search(QUOTED.sub("", text))]
    code = [re.findall(r"<(?:code|pre)>.*?</(?:code|pre)>", page, re.DOTALL) for page in (report, german)]
    assert code[0] == code[1] != []
    assert "<img" not in german


def test_the_report_of_an_evaluation_and_its_warnings_are_in_german(client: httpx.Client) -> None:
    ids = [
        fake({"toy/1": [False, True], "toy/2": [False]}, seeds=(0, 1)),
        fake({"toy/1": [True]}, limit=5, split="tune"),
    ]
    for evaluation in ids:
        report = client.get(f"/evaluate/{evaluation}/report", headers={"Accept-Language": "en"}).text
        client.headers["Accept-Language"] = "de"
        german = client.get(f"/evaluate/{evaluation}/report").text
        assert not (left := {*list_texts(report)} & {*list_texts(german)}), "\n".join(sorted(left))
        assert not [text for text in list_texts(german) if ENGLISH.search(QUOTED.sub("", text))]
        words = json.loads(german.partition('id="words">')[2].partition("</script>")[0])
        assert words["The task"] == "Die Aufgabe"
    results = measure(open_folder(ids[0])).model_copy(
        update={
            "replayed": "x",
            "answers": 2,
            "not_recorded": 3,
            "stopped_by": "seconds",
            "dollars_unknown": "no price",
        }
        | {"limit": 3, "errors": 2, "broken": (LeftOut(id="a", why="b"),), "split": "calibrate"}
        | {"limits": EvalLimits(seconds=9.0)}
    )
    assert len(warnings := [*list_warnings(results)]) == 10
    assert not find_english(iter(warnings))


def test_all_that_a_live_page_is_judged_by_is_said_in_german() -> None:
    error = PageError(kind="exception", message="box is null", line=1, cycle=1)
    dull = PageObserved(cycle=1, errors=(error,), canvas="blank", heap_growth_bytes=1 << 30)
    seen = [dull, PageObserved(cycle=1, canvas="drawn"), *(PageObserved(cycle=1, killed=why) for why in KILLED)]
    found = [one.text for one in chain.from_iterable(find_troubles("an animation", "box.x", each) for each in seen)]
    assert len(found) >= len(KILLED) + 3
    criteria = [one for name in SHIPPED for one in load_case(name).criteria]
    answers = [
        "[1](2)",
        "<html><script>f()</script></html>",
        '{"code": "f()"}',
        "```js\nf()\n```\n```js\ng()\n```",
        "`",
    ]
    said = [read_answer(text) for text in answers]
    texts = [*found, *(one.what for one in criteria), *(one.repaired or one.why for one in said)]
    assert not (english := find_english(iter(filter(None, texts)))), "\n".join(sorted(english))
    whys = chain.from_iterable(re.findall(r"(?:\|\||\?|:) (['\"])(\w[^'\"]*)\1", one.script) for one in criteria)
    assert not (english := find_english(why for _, why in whys if len(why.split()) > 2)), "\n".join(sorted(english))
