"""The reports: complete, the same each time, and safe whatever a model or a data file said."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import pytest

from burnish.evals.eval_store import Folder
from burnish.evals.metrics import compute_results, read_results
from burnish.evals.reports.plots import draw_plots
from burnish.evals.reports.report import render_html, render_transcripts, write_reports
from burnish.evals.reports.report_text import (
    PLOTS,
    PROTOCOLS,
    curve_tables,
    headline,
    list_warnings,
    markdown_table,
    render_markdown,
    repeat_command,
)
from burnish.evals.schema import LeftOut
from burnish.tasks.task import Task
from tests.evals.fake_evaluations import Made, attempt, plan, plausible, solving
from tests.snapshots import assert_snapshot

NASTY = (
    "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'><svg onload=alert(3)>"
    "<!-- --><b>\x1b[31mred\x1b]0;title\x07 [bold]rich[/bold] `x` | pipe | ${y} \u202e"
)


class Page(HTMLParser):
    """What a browser would find in a page: elements, attributes, and the text of scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.cdata_elem == "script":
            self.scripts[-1] += data
        else:
            self.words += data

    def dangers(self) -> list[str]:
        """What must not be there: a foreign script, an event handler, an address, an element that loads something."""
        found = [f"<{tag}>" for tag, _ in self.elements if tag in {"img", "iframe", "link", "object", "embed", "base"}]
        for tag, attributes in self.elements:
            found += [f"<{tag} {name}>" for name in attributes if name.startswith("on") or name in {"src", "action"}]
            links = [value or "" for name, value in attributes.items() if name.endswith("href")]
            found += [f"<{tag} {link}>" for link in links if not link.startswith("#")]
        return found + [script[:20] for script in self.scripts[2:]]


def nasty(text: str = NASTY) -> Made:
    tried = [(f"task {text}", 0, attempt([False, True], text=text)), ("b", 0, attempt([], error=text))]
    made = Made(tried, plan(model=f"local:{text}", engine=text, suite=text, strategy=text))
    made.bugs, made.broken = {f"task {text}": text}, (LeftOut(id=text, why=text),)
    return made


def page(made: Made, drawn: bool = False) -> str:
    found = compute_results(made)
    return render_html(found, made, draw_plots(found) if drawn else {})


def test_a_malicious_transcript_stays_text() -> None:
    text = page(nasty(), drawn=True)
    seen = Page(text)
    assert seen.dangers() == []
    assert [tag for tag, _ in seen.elements].count("svg") == 2
    assert len(seen.scripts) == 2
    assert "alert(1)" in seen.words, "it is shown, and it is not obeyed"
    assert "\x1b" not in text
    assert "\u202e" not in text


@pytest.mark.parametrize("place", ["in the page", "in the data"])
def test_unescaped_text_would_be_noticed(place: str) -> None:
    text = page(nasty("calm"))
    mark = "<footer>" if place == "in the page" else '"texts":["'
    assert Page(text).dangers() == []
    assert Page(text.replace(mark, mark + NASTY)).dangers() != []


def test_the_data_survives_as_it_was_said() -> None:
    data = json.loads(Page(page(nasty("</script> & <!-- ]]>"))).scripts[0])
    assert any("</script> & <!-- ]]>" in text for text in data["texts"])


def test_the_policy_allows_our_script_alone() -> None:
    seen = Page(page(plausible(3)))
    (policy,) = [found["content"] or "" for tag, found in seen.elements if found.get("http-equiv")]
    digest = base64.b64encode(hashlib.sha256(seen.scripts[1].encode()).digest()).decode()
    assert policy.startswith("default-src 'none'")
    assert f"script-src 'sha256-{digest}'" in policy
    assert "http" not in policy


def test_the_script_only_ever_makes_text() -> None:
    script = (files("burnish.evals") / "page" / "script.js").read_text()
    assert (
        re.findall(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|Function\(|fetch|XMLHttp", script) == []
    )
    assert "textContent" in script


def test_the_page_begins_with_the_result_in_a_sentence() -> None:
    found = compute_results(solving([True], [False], [True]))
    words = Page(page(solving([True], [False], [True]))).words
    places = [words.index(part) for part in (headline(found), "66.7 %", PROTOCOLS["visible"])]
    assert places == sorted(places)


def test_every_attempt_can_be_opened() -> None:
    made = plausible(25)
    seen = Page(page(made))
    tiles = [found for tag, found in seen.elements if tag == "button" and found.get("title")]
    data = json.loads(seen.scripts[0])
    assert len(tiles) == len(data["attempts"]) == 25
    assert str(tiles[7]["title"]).startswith("Python/7 · ")
    kinds = [step[0] for step in data["attempts"][7]]
    assert kinds[:6] == ["task", "ask", "reply", "code", "tests", "answer"]
    assert "score" in kinds


@pytest.mark.slow
def test_a_text_is_held_once_and_a_long_one_is_cut_when_the_page_would_be_too_big() -> None:
    made = Made([(str(place), 0, attempt([False] * 6, text=f"x{place}" * 3000)) for place in range(20)])
    whole = render_transcripts(made)
    assert len(set(json.loads(whole)["texts"])) == len(json.loads(whole)["texts"])
    small = render_transcripts(made, most_bytes=200_000)
    assert len(small) < 200_000 < len(whole)
    assert any(re.search(r"\n… 4000 ", text) for text in json.loads(small)["texts"]), (
        "of 6000 characters 2000 are shown"
    )
    assert len(json.loads(small)["attempts"]) == 20


def test_one_endless_line_makes_no_endless_page() -> None:
    assert len(page(Made([("t", 0, attempt([True], text="x" * 3_000_000))]))) < 400_000


def test_half_a_character_does_not_stop_a_report(tmp_path: Path) -> None:
    made = Kept(Made([("t", 0, attempt([True], text="half: \ud83d"))]), tmp_path)
    write_reports(made)
    assert (tmp_path / "report.html").stat().st_size > 1000


def test_an_unfinished_evaluation_says_so_first() -> None:
    made = Made([("a", 0, attempt([True]))], plan(limit=3), task_ids=("a", "b", "c"))
    unfinished, few = list_warnings(compute_results(made))
    assert ("1 of 3" in unfinished, "3 rows" in few) == (True, True)
    for text in (Page(page(made)).words, render_markdown(compute_results(made))):
        assert unfinished in text
        assert few in text


def test_an_evaluation_that_has_not_begun_has_a_report_too() -> None:
    made = Made([], task_ids=("a",))
    said = headline(compute_results(made))
    assert said in Page(page(made)).words
    assert said in render_markdown(compute_results(made))


def test_the_markdown_holds_what_a_reader_needs() -> None:
    found = compute_results(plausible(30))
    assert_snapshot(render_markdown(found), "evals/report.md", version=found.burnish)


def test_rounds_and_calls_have_a_table_each_where_they_differ() -> None:
    from burnish.events import Answered

    events = [event for event in attempt([False, True]) if not isinstance(event, Answered)]
    events.append(Answered(call=2, round=0, version=2))
    made, usual = compute_results(Made([("t", 0, events)])), compute_results(solving([False, True]))
    assert [(name, len(rows)) for name, (_, rows) in curve_tables(made)] == [("By round", 1), ("By model call", 2)]
    assert [(name, len(rows)) for name, (_, rows) in curve_tables(usual)] == [("By round and call", 2)]


def test_a_cell_cannot_break_out_of_its_table() -> None:
    lines = markdown_table((["a", "b"], [[NASTY, "x | y\nz"]])).splitlines()
    assert len(lines) == 3
    assert len(re.findall(r"(?<!\\)\|", lines[2])) == 3
    assert re.findall(r"(?<!\\)[<`\[]", lines[2]) == []


def test_no_markdown_of_the_data_is_obeyed() -> None:
    text = render_markdown(compute_results(nasty()))
    outside = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    assert re.findall(r"(?<!\\)<", outside) == []
    assert "\x1b" not in text


def test_the_command_repeats_the_plan() -> None:
    found = compute_results(
        solving([True], seeds=[0, 1, 2], temperature=0.7, limit=5, ask="write", split="tune", suite="a b.jsonl")
    )
    assert repeat_command(found) == (
        "burnish eval 'a b.jsonl' --variant docs --split tune --model local:m --strategy reflect --ask write "
        "--protocol visible --rounds 5 --temperature 0.7 --seeds 3 --limit 5"
    )
    assert repeat_command(compute_results(solving([True], seeds=[4]))).endswith("--rounds 5 --seed 4")


def test_several_seeds_are_said_in_the_headline_and_have_pass_at_k() -> None:
    tried = [("a", seed, attempt([seed == 0])) for seed in (0, 1)]
    found = compute_results(Made(tried, plan(seeds=[0, 1])))
    assert_snapshot(headline(found), "evals/headline of two seeds")
    assert "| 2 | 100.0 % |" in render_markdown(found)


class Kept(Made):
    """A made evaluation with a folder."""

    def __init__(self, made: Made, path: Path) -> None:
        super().__init__(made.tried, made.plan, made.task_ids, made.bugs, made.broken)
        self.path = path


def test_all_files_are_written_from_a_folder_and_are_the_same_when_written_again(tmp_path: Path) -> None:
    made = plausible(8)
    folder = Folder.create(
        tmp_path / "e", made.plan, [Task(id=task, prompt="p") for task in made.task_ids], made.broken
    )
    for task, seed, events in made.attempts():
        folder.write(task, seed, events)
    found = write_reports(folder)
    names = ["results.json", "report.md", "report.html", *(f"plots/{name}.svg" for name in PLOTS)]
    first = [(folder.path / name).read_bytes() for name in names]
    assert read_results(folder.path) == found
    for name in names:
        (folder.path / name).unlink()
    write_reports(Folder.open(folder.path))
    assert [(folder.path / name).read_bytes() for name in names] == first
