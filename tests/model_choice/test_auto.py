"""Who answers: what was named, what was decided once and for all, or what is chosen now; money only where allowed."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import burnish
from burnish import config
from burnish.agent.limits import Limits
from burnish.errors import SetupProblem
from burnish.events import RunStarted
from burnish.model_choice import Available, Choice, ChoiceReason, choose_models
from burnish.models import weights
from burnish.models.catalog import DEFAULT_MODEL, Weights
from burnish.models.names import default_names, open_model
from burnish.models.providers import PACKAGES
from burnish.models.scripted import ScriptedModel
from burnish.report.costs import explain_who_answered
from burnish.report.explain import explain
from burnish.runs import Store
from tests.cli.conftest import Call, call
from tests.models.peers import MODEL, Peer, Turn, serving
from tests.snapshots import assert_snapshot
from tests.support import DOUBLE, GOOD, WRONG, script

__all__ = ["call"]
LAB = f"lab:{MODEL}"


@pytest.fixture
def lab() -> Iterator[Peer]:
    """A server of the user's own that writes a good `double`."""
    with serving(Peer(Turn(text=GOOD))) as peer:
        config.put("models.lab.base_url", peer.base_url("openai"))
        yield peer


def test_a_name_is_taken_as_it_is() -> None:
    assert choose_models("a:b,c:d") == Choice(names="a:b,c:d")


def test_who_answers_by_default_is_in_one_place() -> None:
    assert default_names() == choose_models(None).names == DEFAULT_MODEL
    config.put("model", "scripted:demo")
    assert default_names() == choose_models(None).names == "scripted:demo"


@pytest.mark.parametrize("names", ["auto,large", "auto,local:x", "local:x,auto", "auto, auto"])
def test_auto_stands_alone(names: str) -> None:
    with pytest.raises(SetupProblem, match=r": --model auto$"):
        choose_models(names)


def test_auto_is_the_name_of_no_model() -> None:
    with pytest.raises(SetupProblem, match=r"'auto'.*: burnish models$"):
        open_model("auto")


def test_where_nothing_is_there_auto_is_the_default_with_its_download(lab: Peer) -> None:
    lab.stop()
    lab.stop = lambda: None
    choice = choose_models("auto")
    assert choice.names == DEFAULT_MODEL
    assert choice.reason is ChoiceReason.NOTHING_THERE


def test_a_key_that_is_set_is_mentioned_and_not_used(lab: Peer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nobody")
    choice = choose_models("auto")
    assert choice.names == LAB
    assert_snapshot(choice.why, "model_choice/key-is-set")


def test_work_without_a_cap_in_dollars_is_told_of_the_setting(lab: Peer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nobody")
    why = choose_models("auto", alone=True).why
    assert_snapshot(why, "model_choice/key-is-set-and-no-cap")


def test_a_server_that_has_models_and_lacks_its_package_is_named_with_the_line_that_installs_it(
    lab: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", lab.address)
    monkeypatch.setitem(PACKAGES, "ollama", "langchain-nowhere>=1.0")
    choice = choose_models("auto")
    assert choice.names == LAB
    assert_snapshot(choice.why, "model_choice/package-is-missing", python=sys.executable)
    lab.talks = False
    assert "ollama" not in choose_models("auto").why, "what it has is of no use here"


def test_a_server_of_ones_own_elsewhere_is_mentioned_and_not_used(lab: Peer) -> None:
    config.put("models.far.base_url", "http://192.0.2.1:8000/v1")
    assert_snapshot(choose_models("auto").why, "model_choice/server-elsewhere")


@pytest.mark.parametrize(
    ("limits", "settings", "may"),
    [
        (None, "false", False),
        (None, "true", True),
        (Limits(), "true", True),
        (Limits(dollars=1), "false", True),
        (Limits(dollars=0), "true", False),
    ],
)
def test_money_may_be_spent_where_a_cap_or_else_the_settings_say_so(
    limits: Limits | None, settings: str, may: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    config.put("may_spend", settings)
    asked: list[bool] = []

    def nobody(records: object, may_spend: bool) -> Available:
        asked.append(may_spend)
        return Available([], [], [])

    monkeypatch.setattr("burnish.model_choice.find_candidates", nobody)
    choose_models("auto", limits)
    assert asked == [may]


def test_with_a_cap_in_dollars_nobody_is_chosen_whose_price_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(Peer()) as peer:
        config.put("models.lab.base_url", peer.base_url("openai"))
        monkeypatch.setattr("burnish.models.discovery.price_of", lambda name: None)
        config.put("may_spend", "true")
        assert choose_models("auto").names == LAB
        assert choose_models("auto", Limits(dollars=1)).names == DEFAULT_MODEL


@pytest.mark.slow
def test_who_is_free_answers_where_no_money_may_be_spent(lab: Peer, call: Call, store: Store) -> None:
    assert call("write", DOUBLE, "--fast", "--model", "auto", "--dollars", "0").code == 0
    assert store.open("last").started.model == LAB


@pytest.mark.slow
def test_the_choice_and_its_reason_are_everywhere_a_reader_looks(
    lab: Peer, call: Call, store: Store, work_folder: Path
) -> None:
    told = call("write", DOUBLE, "--fast", "--model", "auto")
    run = store.open("last")
    reason = choose_models("auto", store=Store(work_folder / "nothing-yet")).why
    assert_snapshot(reason, "model_choice/free-on-a-server")
    assert told.code == 0
    assert reason in told.out
    assert run.started.model == LAB
    assert run.started.settings["chosen"] == reason
    assert reason in (work_folder / "double" / "report.md").read_text()
    assert json.loads((work_folder / "double" / "evidence.json").read_text())["run"]["chosen"] == reason
    assert reason in " ".join(explain(run).split())
    assert reason in call("show", "last").out
    again = call("write", DOUBLE, "--fast", "--model", "auto")
    assert "1 of 1" in again.out


@pytest.mark.slow
def test_what_was_chosen_stays_with_a_run_that_goes_on(lab: Peer, call: Call, store: Store) -> None:
    call("write", DOUBLE, "--fast", "--model", "auto", "--calls", "0")
    first = store.open("last")
    config.put("model", "scripted:demo")
    assert call("resume", first.id, "--calls", "9").code == 0
    run = store.open(first.id)
    assert (run.started.model, run.verdict) == (LAB, "plausible")
    assert "chosen" in run.started.settings


@pytest.mark.slow
def test_auto_in_the_settings_is_what_commands_and_python_do(lab: Peer, call: Call, store: Store) -> None:
    config.put("model", "auto")
    assert f"{LAB}: " in call("write", DOUBLE, "--fast").out
    assert burnish.write(DOUBLE, store=store, fast=True).started.model == LAB


def test_offline_and_with_nothing_there_it_is_said_what_to_do(
    call: Call, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(entry: Weights, folder: Path, report: weights.Report) -> Path:
        raise weights.Unavailable("no route to host")

    monkeypatch.setattr(weights, "SOURCES", (weights.WeightsSource("the moon", gone, copies=1),))
    config.put("model", "auto")
    told = call("write", DOUBLE, "--fast")
    assert told.code == 2
    assert "no route to host" in told.err
    assert f"burnish models pull {DEFAULT_MODEL}" in told.err
    assert not list(store.runs.glob("*"))


@pytest.mark.slow
def test_python_asks_whom_the_settings_name(open_box: object) -> None:
    config.put("model", "scripted:demo")
    run = burnish.write(DOUBLE, fast=True)
    assert run.started.model == "scripted:demo"
    assert "chosen" not in run.started.settings


def test_an_evaluation_needs_a_name(call: Call) -> None:
    told = call("eval", "humanevalfix", "--model", "auto")
    assert told.code == 2
    assert f"burnish eval humanevalfix --model {DEFAULT_MODEL}" in told.err
    config.put("model", "auto")
    with pytest.raises(SetupProblem, match="--model "):
        burnish.evaluate("humanevalfix")


@pytest.mark.parametrize("names", ["auto,large", "local:x,auto"])
@pytest.mark.parametrize("command", [("write", DOUBLE), ("fix", "cart.py")])
def test_a_choice_that_contradicts_itself_is_said_and_nothing_begins(
    names: str, command: tuple[str, ...], call: Call, store: Store
) -> None:
    told = call(*command, "--model", names)
    assert (told.code, told.out) == (2, "")
    assert "--model auto" in told.err
    assert not list(store.runs.glob("*"))


def test_the_settings_say_that_the_choice_can_be_left_open(call: Call) -> None:
    assert "burnish config set model auto" in call("config").out
    call("config", "set", "model", "auto")
    assert "burnish config set model" not in call("config").out


SMALL, LARGE = "scripted:small", "scripted:large"


@pytest.mark.slow
def test_the_report_says_when_and_why_the_larger_model_was_asked(open_box: object, tmp_path: Path) -> None:
    wrong = ScriptedModel(script(**dict.fromkeys(("draft", "rewrite", "repair"), WRONG)), SMALL)
    run = burnish.write(DOUBLE, [wrong, ScriptedModel(script(), LARGE)], out=tmp_path / "out", fast=True)
    report = (tmp_path / "out" / "report.md").read_text()
    assert run.verdict == "plausible"
    said = explain_who_answered(run)
    assert_snapshot("\n".join(said), "model_choice/larger-was-asked")
    assert all(words in report for words in said)
    assert all(words in " ".join(explain(run).split()) for words in said)


@pytest.mark.slow
def test_the_report_says_that_the_larger_model_was_not_needed(open_box: object, tmp_path: Path) -> None:
    models = [ScriptedModel(script(), SMALL), ScriptedModel(script(), LARGE)]
    said = explain_who_answered(burnish.write(DOUBLE, models, out=tmp_path / "out", fast=True))
    assert_snapshot("\n".join(said), "model_choice/larger-was-not-needed")
    assert all(words in (tmp_path / "out" / "report.md").read_text() for words in said)


@pytest.mark.slow
def test_a_run_that_ended_before_the_larger_model_was_asked_says_so(open_box: object, tmp_path: Path) -> None:
    wrong = ScriptedModel(script(**dict.fromkeys(("draft", "rewrite", "repair"), WRONG)), SMALL)
    models = [wrong, ScriptedModel(script(), LARGE)]
    run = burnish.write(DOUBLE, models, limits=Limits(calls=2), out=tmp_path / "out", fast=True)
    assert run.verdict == "failed"
    said = explain_who_answered(run)
    assert_snapshot("\n".join(said), "model_choice/larger-was-not-reached")
    assert all(words in (tmp_path / "out" / "report.md").read_text() for words in said)


@pytest.mark.slow
def test_of_one_model_that_was_named_nothing_more_is_said(open_box: object, tmp_path: Path) -> None:
    assert explain_who_answered(burnish.write(DOUBLE, ScriptedModel(script(), SMALL))) == []


def test_the_reason_in_a_record_of_an_earlier_version_is_still_told() -> None:
    why = "local:x: free, on this disk, 14 of 18 of your runs proven (55 to 91 %); ollama:y is there too, never tried"
    old = {"version": 1, "run_id": "r", "verb": "write", "prompt": "p", "model": "local:x", "burnish": "0.1"}
    run = burnish.Run([RunStarted.model_validate(old | {"settings": {"chosen": why}})])
    [said] = explain_who_answered(run)
    assert why in said
