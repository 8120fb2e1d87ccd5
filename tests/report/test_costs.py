"""What a run cost, said so that nobody takes an unknown price for nothing."""

import pytest

from burnish.events import AnswerLost, Event, ModelReplied, RunStarted
from burnish.report.costs import describe_cost, describe_cost_by_model, render_cost_table
from burnish.report.run_report import render_report
from burnish.runs import Run
from tests.support import ESC

SMALL, LARGE = "local:qwen2.5-coder-0.5b", "openai:gpt-4o"


def run_of(names: str, *replies: ModelReplied | AnswerLost) -> Run:
    events: list[Event] = [RunStarted(run_id="x", verb="write", prompt="p", model=names, burnish="0"), *replies]
    return Run(events)


def reply(model: str, dollars: float | None, **more: int) -> ModelReplied:
    told = {"tokens_in": 100, "tokens_out": 40, **more}
    return ModelReplied(
        ask_id="d", purpose="draft", text="THE THOUGHT", seconds=2.0, dollars=dollars, model=model, **told
    )


def test_cached_tokens_and_thoughts_are_told_where_there_are_any() -> None:
    assert "100 tokens read, 40 written, 20 tokens/s" in describe_cost(run_of(SMALL, reply(SMALL, 0.0)))
    told = describe_cost(run_of(LARGE, reply(LARGE, 0.0123, tokens_cached=60, tokens_thought=30)))
    assert "100 tokens read (60 from a cache), 40 written (30 of them thoughts)" in told
    assert told.endswith("0.0123 dollars")


@pytest.mark.parametrize(
    ("name", "dollars", "said"),
    [
        (SMALL, 0.0, "no money: the model ran on this machine"),
        (SMALL, None, "no money: the model ran on this machine"),
        ("lab:own", 0.0, "no money: the server asks for none"),
        ("ollama:qwen3:8b", 0.0, "no money: the server asks for none"),
        ("ollama:qwen3:8b", None, "no money: the server asks for none"),
        ("ollama:gpt-oss:120b-cloud", None, "no price known"),
        ("far:any", None, "no price known"),
        (LARGE, 0.25, "0.2500 dollars"),
    ],
)
def test_the_money_is_what_is_known(name: str, dollars: float | None, said: str) -> None:
    assert describe_cost(run_of(name, reply(name, dollars))).endswith(f"; {said}")


def test_a_price_that_is_known_for_a_part_only_is_said_to_be() -> None:
    told = describe_cost(run_of(f"{LARGE},far:any", reply(LARGE, 0.25), reply("far:any", None)))
    assert told.endswith("no price known for a part of it; 0.2500 dollars for the rest")


def test_answers_that_were_lost_are_told_with_what_they_were_booked_at_and_are_none() -> None:
    lost = AnswerLost(ask_id="d", model=LARGE, tokens=2100, dollars=0.01)
    cut = reply(LARGE, 0.02, tokens_in=0, tokens_out=0).model_copy(update={"text": "", "ended": "cut"})
    run = run_of(LARGE, lost, lost, cut)
    assert "; 2 answers were lost on the way, booked at 4,200 tokens; " in describe_cost(run)
    assert f"| `{LARGE}` | 0 | 0 |" in render_cost_table(run)
    assert "lost" not in describe_cost(run_of(LARGE, reply(LARGE, 0.25)))


def test_who_never_answered_cost_nothing() -> None:
    assert describe_cost(run_of(LARGE)).endswith("no money: nobody answered")
    assert render_cost_table(run_of(LARGE)) == ""


def test_several_models_get_a_line_each_and_one_gets_none() -> None:
    run = run_of(f"{SMALL},{LARGE}", reply(SMALL, 0.0), reply(LARGE, 0.5, tokens_thought=3), reply(SMALL, 0.0))
    assert describe_cost_by_model(run) == [
        f"{SMALL}: 2 answers; 200 tokens read, 80 written; 4.0 s; no money",
        f"{LARGE}: 1 answer; 100 tokens read, 40 written (3 of them thoughts); 2.0 s; 0.5000 dollars",
    ]
    assert describe_cost_by_model(run_of(SMALL, reply(SMALL, 0.0))) == []


def test_the_report_has_a_row_a_model() -> None:
    run = run_of(f"{SMALL},far:any", reply(SMALL, 0.0), reply("far:any", None, tokens_cached=9, tokens_thought=7))
    text = render_report(run)
    assert f"| `{SMALL}` | 1 | 100 | 0 | 40 | 0 | 2.0 | no money |" in text
    assert "| `far:any` | 1 | 100 | 9 | 40 | 7 | 2.0 | no price known |" in text


def test_the_name_of_a_model_is_no_markup_and_names_no_place() -> None:
    wild = f"local:/home/me/`x`|<b>{ESC}[31m.gguf"
    row = render_cost_table(run_of(wild, reply(wild, 0.0))).splitlines()[-1]
    assert row.startswith("| `local:'x'\\|<b>.gguf` | 1 |")
