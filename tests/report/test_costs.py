"""What a run cost, said so that nobody takes an unknown price for nothing."""

from burnish.events import AnswerLost, Event, ModelReplied, RunStarted
from burnish.report.costs import describe_cost, describe_cost_by_model, render_cost_table
from burnish.report.run_report import render_report
from burnish.runs import Run
from tests.snapshots import assert_snapshot
from tests.support import ESC

SMALL, LARGE = "local:qwen2.5-coder-0.5b", "openai:gpt-4o"


def run_of(names: str, *replies: ModelReplied | AnswerLost) -> Run:
    started = RunStarted(run_id="x", verb="write", prompt="p", model=names, burnish="0")
    events: list[Event] = [started, *replies]
    return Run([event.model_copy(update={"at": 1.0}) for event in events])


def reply(model: str, dollars: float | None, **more: int) -> ModelReplied:
    told = {"tokens_in": 100, "tokens_out": 40, **more}
    return ModelReplied(
        ask_id="d", purpose="draft", text="THE THOUGHT", seconds=2.0, dollars=dollars, model=model, **told
    )


def test_cached_tokens_and_thoughts_are_told_where_there_are_any() -> None:
    plain, rich = reply(SMALL, 0.0), reply(LARGE, 0.0123, tokens_cached=60, tokens_thought=30)
    told = [describe_cost(run_of(one.model, one)) for one in (plain, rich)]
    assert ["60" in words and "30" in words for words in told] == [False, True]
    assert_snapshot("\n".join(told), "report/cost with a cache and thoughts")


PRICED = [
    (SMALL, 0.0),
    (SMALL, None),
    ("lab:own", 0.0),
    ("ollama:qwen3:8b", 0.0),
    ("ollama:qwen3:8b", None),
    ("ollama:gpt-oss:120b-cloud", None),
    ("far:any", None),
    (LARGE, 0.25),
]


def test_the_money_is_what_is_known() -> None:
    costs = [(f"{name} at {dollars}", run_of(name, reply(name, dollars))) for name, dollars in PRICED]
    assert_snapshot("\n".join(f"{what}: {describe_cost(run)}" for what, run in costs), "report/money")


def test_a_price_that_is_known_for_a_part_only_is_said_to_be() -> None:
    told = describe_cost(run_of(f"{LARGE},far:any", reply(LARGE, 0.25), reply("far:any", None)))
    assert "0.2500" in told
    assert_snapshot(told, "report/money for a part")


def test_answers_that_were_lost_are_told_with_what_they_were_booked_at_and_are_none() -> None:
    lost = AnswerLost(ask_id="d", model=LARGE, tokens=2100, dollars=0.01)
    cut = reply(LARGE, 0.02, tokens_in=0, tokens_out=0).model_copy(update={"text": "", "ended": "cut"})
    run = run_of(LARGE, lost, lost, cut)
    [account] = run.accounts
    assert (account.lost, account.tokens_lost, account.asks) == (2, 4200, 0)
    assert "4,200" in describe_cost(run)
    assert f"| `{LARGE}` | 0 | 0 |" in render_cost_table(run)
    assert_snapshot(describe_cost(run), "report/cost with lost answers")


def test_who_never_answered_cost_nothing() -> None:
    assert_snapshot(describe_cost(run_of(LARGE)), "report/cost of no answer")
    assert render_cost_table(run_of(LARGE)) == ""


def test_several_models_get_a_line_each_and_one_gets_none() -> None:
    run = run_of(f"{SMALL},{LARGE}", reply(SMALL, 0.0), reply(LARGE, 0.5, tokens_thought=3), reply(SMALL, 0.0))
    lines = describe_cost_by_model(run)
    assert [line.split(": ")[0] for line in lines] == [SMALL, LARGE]
    assert_snapshot("\n".join(lines), "report/cost by model")
    assert describe_cost_by_model(run_of(SMALL, reply(SMALL, 0.0))) == []


def test_the_report_has_a_row_a_model() -> None:
    run = run_of(f"{SMALL},far:any", reply(SMALL, 0.0), reply("far:any", None, tokens_cached=9, tokens_thought=7))
    rows = [line.strip("| ").split(" | ") for line in render_report(run).splitlines() if line.startswith("| `")]
    assert [row[:-1] for row in rows] == [
        [f"`{SMALL}`", "1", "100", "0", "40", "0", "2.0"],
        ["`far:any`", "1", "100", "9", "40", "7", "2.0"],
    ]
    assert rows[0][-1] != rows[1][-1], "an unknown price is not nothing"


def test_the_name_of_a_model_is_no_markup_and_names_no_place() -> None:
    wild = f"local:/home/me/`x`|<b>{ESC}[31m.gguf"
    row = render_cost_table(run_of(wild, reply(wild, 0.0))).splitlines()[-1]
    assert row.startswith("| `local:'x'\\|<b>.gguf` | 1 |")
