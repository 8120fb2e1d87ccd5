"""`--max-tokens` and `--thinking` where a model is asked, and what each model took where costs are told."""

import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Call
from tests.evals.toys import jsonl, toys
from tests.support import DOUBLE, GOOD, assert_words, script


def thinker(folder: Path) -> tuple[str, ...]:
    path = folder / "thinker.json"
    path.write_text(json.dumps(script(draft=f"<think>hm hm hm [bold]hm[/bold]</think>{GOOD}")))
    return ("--model", f"scripted:{path}")


@pytest.mark.slow
def test_a_person_sees_thoughts_folded_and_what_they_cost(call: Call, tmp_path: Path) -> None:
    told = call("write", DOUBLE, "--fast", *thinker(tmp_path), "--thinking", "50", "--max-tokens", "400")
    assert told.code == 0
    [line] = [line for line in told.out.splitlines() if "(draft-1)" in line]
    assert_words(line)
    assert "hm hm" not in told.out
    assert re.search(r"\(4 of .* thoughts\)", told.out)


@pytest.mark.slow
def test_verbose_shows_them_in_full_and_marked(call: Call, tmp_path: Path) -> None:
    told = call("write", DOUBLE, "--fast", *thinker(tmp_path), "--thinking", "50", "--verbose")
    assert "┊ hm hm hm [bold]hm[/bold]" in told.out


@pytest.mark.slow
def test_a_program_gets_them_as_events(call: Call, tmp_path: Path) -> None:
    told = call("write", DOUBLE, "--fast", *thinker(tmp_path), "--thinking", "2", "--events")
    events = [json.loads(line) for line in told.out.splitlines()]
    assert [event["text"] for event in events if event["kind"] == "model_thought"] == ["hm ", "hm "]
    assert events[0]["settings"]["limits"]["thinking"] == 2


@pytest.mark.slow
def test_no_tokens_for_thoughts_means_no_thoughts(call: Call, tmp_path: Path) -> None:
    assert "thought  " not in call("write", DOUBLE, "--fast", *thinker(tmp_path), "--thinking", "0").out


@pytest.mark.slow
def test_lists_stories_and_evidence_say_what_each_model_took(call: Call, tmp_path: Path) -> None:
    model = thinker(tmp_path)
    call("write", DOUBLE, "--fast", *model, "--thinking", "50")
    [row] = json.loads(call("runs", "--json").out)
    [account] = row["accounts"]
    assert (account["model"], account["tokens_thought"], account["dollars"]) == (model[1], 4, 0.0)
    assert re.search(r"\(4 of .* thoughts\)", call("show", "last").out)
    [spent] = json.loads(call("show", "last", "--evidence").out)["cost"]["by_model"]
    assert (spent["answers"], spent["tokens_thought"]) == (account["asks"], 4)
    assert spent["model"] == "scripted:thinker.json"


@pytest.mark.slow
def test_a_repair_is_asked_for_with_the_same_lengths(call: Call, tmp_path: Path, work_folder: Path) -> None:
    (work_folder / "twice.py").write_text(
        'def double(n):\n    """Twice n.\n\n    >>> double(2)\n    4\n    """\n    return 7\n'
    )
    told = call("fix", "twice.py", *thinker(tmp_path), "--thinking", "2", "--max-tokens", "77", "--events")
    assert told.code == 0, told.err
    asked = [event for event in map(json.loads, told.out.splitlines()) if event["kind"] == "asked"]
    assert {(event["max_tokens"], event["thinking"]) for event in asked if event["purpose"] != "tests"} == {(77, 2)}


@pytest.mark.parametrize("words", [("--max-tokens", "0"), ("--thinking", "-1"), ("--max-tokens", "many")])
def test_what_is_no_length_is_refused(call: Call, words: tuple[str, str]) -> None:
    told = call("write", DOUBLE, "--fast", "--model", "scripted:demo", *words)
    assert told.code == 2
    assert words[0] in told.err


@pytest.mark.slow
def test_a_length_that_the_model_has_no_room_for_is_refused_with_one_that_fits(call: Call, tmp_path: Path) -> None:
    model = thinker(tmp_path)
    (tmp_path / "config.toml").write_text(f'[context]\n"{model[1]}" = 2048\n')
    suite = jsonl(tmp_path / "mine.jsonl", toys(2))
    for verb in (("write", DOUBLE), ("eval", str(suite))):
        told = call(*verb, *model, "--max-tokens", "2000")
        assert told.code == 2
        assert told.err.rstrip().endswith("--max-tokens 1024")
