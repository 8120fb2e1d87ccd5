"""`burnish models doctor`: good models pass, each planted weakness is named, and nothing costs more than was said."""

import json
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from burnish.agent import context_budget
from burnish.cli.setup import models_app
from burnish.commands.try_model import MARKER, ModelFault, ModelTrial, check_cost, estimate_cost, list_tasks, try_model
from burnish.errors import SetupProblem
from burnish.model_choice import TRIALS, last_speeds
from burnish.models.names import open_model
from burnish.models.scripted import ScriptedModel
from burnish.models.tokens import fewest_prompt_tokens
from burnish.runs import Store, read_record
from burnish.sandbox import Sandbox
from tests.models.peers import MODEL, Peer, Turn, serving
from tests.support import assert_words, refused

GOOD = {
    "context": [MARKER],
    "write": ["```python\ndef count_vowels(text):\n    return sum(c in 'aeiou' for c in text.lower())\n```"],
    "fix": ["    best = numbers[0]\n    for one in numbers:\n        best = min(best, one)\n    return best\n```"],
    "JSON": ['{"name": "Ada", "age": 36, "city": "London"}'],
    "form": ["```python\n" + "\n".join(f"assert count_vowels({'a' * n!r}) == {n}" for n in range(6)) + "\n```"],
    "stop": ["1\n2\n3\n4\n5"],
}
PHRASES = {
    "password": "context",
    "Complete this": "write",
    "has a bug": "fix",
    "JSON object": "JSON",
    "test cases": "form",
    "Count from": "stop",
}
"""What in a prompt shows which task it is."""


@pytest.fixture(autouse=True)
def one_box(box: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """The session's sandbox, which saves each test the second of opening its own."""
    monkeypatch.setattr("burnish.commands.try_model.open_sandbox", lambda *_, **__: nullcontext(box))


def tried(**replies: str) -> ModelTrial:
    """What is said of a model that is good but for these answers."""
    return try_model(ScriptedModel(GOOD | {name: [reply] for name, reply in replies.items()}))


@pytest.mark.slow
def test_a_good_model_is_good_enough_for_everything() -> None:
    found = tried()
    assert (found.good_for, found.not_for, found.changes) == (("write", "fix", "tests", "JSON"), (), ())
    assert found.dollars == 0


@pytest.mark.slow
def test_code_is_run_and_not_believed() -> None:
    found = tried(write="```python\ndef count_vowels(text):\n    return 2\n```")
    assert (found.is_enough, found.not_for) == (False, ("write",))
    assert "assert count_vowels" in found.tasks[1].why


@pytest.mark.slow
def test_prose_in_place_of_code_is_no_function() -> None:
    found = tried(write="I would loop over the letters and count each one that is a vowel.")
    assert not found.is_enough
    assert "write" in found.not_for


@pytest.mark.slow
@pytest.mark.parametrize(
    "reply",
    ["Ada is 36.", "{name: 'Ada'}", '{"name": "Ada"}', 'Here it is: {"name": "Ada", "age": 36, "city": "London"}', ""],
)
def test_wrong_json_is_said_to_be_so_and_write_stays_possible(reply: str) -> None:
    found = tried(JSON=reply)
    assert (found.is_enough, found.not_for) == (True, ("JSON",))


def test_json_in_a_block_is_json() -> None:
    assert "JSON" in tried(JSON='```json\n{"name": "Ada", "age": 36, "city": "London"}\n```').good_for


@pytest.mark.parametrize("reply", ["assert count_vowels('') == 0", "```python\nprint(1)\n```", ""])
def test_a_model_that_writes_no_tests_is_not_for_tests(reply: str) -> None:
    found = tried(form=reply)
    assert (found.is_enough, found.not_for) == (True, ("tests",))


def test_a_model_that_never_stops_is_good_for_nothing() -> None:
    found = tried(stop="1 2 3 4 5 " + "6 7 8 " * 60)
    assert found.good_for == ()
    assert found.not_for == ("write", "fix", "tests", "JSON")
    assert (found.fault, len(found.changes)) == (ModelFault.DOES_NOT_STOP, 1)


@pytest.mark.parametrize("leak", ["<|im_end|>\n<|im_start|>user", "[/INST]", "</s>", "<end_of_turn>", "\nUser: and 6?"])
def test_what_a_template_leaks_into_an_answer_is_named(leak: str) -> None:
    found = tried(stop=f"1\n2\n3\n4\n5{leak}")
    assert (found.fault, len(found.changes)) == (ModelFault.TEMPLATE_LEAKS, 1)


def test_code_with_odd_characters_leaks_no_template() -> None:
    code = "```python\ndef count_vowels(text):\n    # a <b> | c, [x], User: nobody\n"
    assert tried(write=code + "    return sum(c in 'aeiou' for c in text.lower())\n```").changes == ()


def test_an_embedded_model_has_the_room_that_it_is_given_and_need_not_show_it() -> None:
    model = ScriptedModel(GOOD, name="local:x")
    assert [answer.name for answer in try_model(model).tasks] == ["write", "fix", "JSON", "form", "stop"]


def test_the_long_prompt_is_as_long_as_any_and_no_longer() -> None:
    context = list_tasks("scripted:x")[0]
    assert sum(len(message.content) for message in context.ask.messages) == context_budget.MOST_CHARACTERS
    assert fewest_prompt_tokens(context.ask) > 2048


def test_what_was_said_is_on_record_and_no_run_of_the_user() -> None:
    long = GOOD["write"][0].replace("return", "# " + "well " * 60 + "\n    return")
    found = tried(write=long)
    kept = Store(Store().folder / TRIALS)
    events = read_record(kept.find("last"))
    assert [event.kind for event in events].count("model_replied") == 6
    assert Store().list() == []
    assert last_speeds()["scripted:inline"].tokens_per_second == found.tokens_per_second


Meet = Callable[..., str]


@pytest.fixture
def meet(tmp_path: Path) -> Iterator[Meet]:
    """The name of a model behind a server that is good but for what it is given."""
    with serving(Peer()) as peer:

        def named(kind: str = "openai", cut: int = 0, more: str = "", **turns: Turn) -> str:
            def script(_: str, question: dict[str, Any]) -> Turn:
                words = "\n".join(str(message["content"]) for message in question["messages"])[-cut:]
                name = next(task for phrase, task in PHRASES.items() if phrase in words)
                known = Turn(text=GOOD[name][0] if name != "fix" else f"```python\n{_fixed()}", written=40)
                lost = Turn(text="I see no password.")
                return turns.get(name) or (lost if name == "context" and MARKER not in words else known)

            peer.script = script
            settings = f'[models.lab]\nkind = "{kind}"\nbase_url = "{peer.base_url(kind)}"\n{more}'
            (tmp_path / "config.toml").write_text(settings)
            return f"lab:{MODEL}"

        yield named


def _fixed() -> str:
    return f"def smallest(numbers):\n{GOOD['fix'][0]}"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["openai", "anthropic", "ollama"])
def test_a_good_model_behind_a_server_is_good_whatever_it_speaks(meet: Meet, kind: str) -> None:
    found = try_model(open_model(meet(kind)))
    assert (found.not_for, found.changes) == ((), ())
    assert found.tokens_per_second
    assert found.first_token_seconds is not None


@pytest.mark.slow
def test_a_server_that_cuts_prompts_is_told_apart_from_one_that_forgets(meet: Meet) -> None:
    found = try_model(open_model(meet(cut=4000)))
    assert (found.fault, len(found.changes)) == (ModelFault.CONTEXT_TOO_SMALL, 1)
    assert found.is_enough


@pytest.mark.slow
def test_a_model_that_reads_everything_and_forgets_the_beginning_has_context_enough(meet: Meet) -> None:
    found = try_model(open_model(meet(context=Turn(text="What password?", read=5000))))
    assert (found.tasks[0].passed, found.is_enough, found.fault) == (False, True, None)


@pytest.mark.slow
def test_a_prompt_that_is_refused_as_too_long_means_the_same(meet: Meet) -> None:
    says = "the request (2810 tokens) exceeds the available context size (2048 tokens)"
    found = try_model(open_model(meet(context=Turn(status=400, says=says))))
    assert found.fault is ModelFault.CONTEXT_TOO_SMALL
    assert found.tasks[0].too_long


@pytest.mark.slow
def test_thoughts_that_leave_no_room_for_an_answer_are_named(meet: Meet) -> None:
    lost = Turn(text="", thoughts="let me see " * 20, length=True)
    found = try_model(open_model(meet(write=lost, fix=lost, stop=lost)))
    assert not found.is_enough
    assert found.fault is ModelFault.ONLY_THOUGHTS
    assert found.changes[0].endswith("burnish config set models.lab.thinking 4096")


@pytest.mark.slow
def test_a_server_that_never_ends_an_answer_is_left_in_time(meet: Meet) -> None:
    found = try_model(open_model(meet(stop=Turn(text="1 2 3 4 5 6 7 8", fault="endless"))))
    assert found.good_for == ()
    assert found.fault is ModelFault.DOES_NOT_STOP


def test_a_key_that_is_refused_is_a_problem_of_the_set_up(meet: Meet) -> None:
    with pytest.raises(SetupProblem, match="wants a key"):
        try_model(open_model(meet(context=Turn(status=401))))


def cloud(name: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "planted-key-1234567890")
    return open_model(f"anthropic:{name}")


def test_what_may_cost_more_than_a_few_cents_must_be_said_first(monkeypatch: pytest.MonkeyPatch) -> None:
    dear = cloud("claude-3-opus-20240229", monkeypatch)
    with refused() as problem:
        check_cost(dear, None)
    enough = float(str(problem.value).split()[-1])
    assert check_cost(dear, enough).dollars == enough
    with refused():
        check_cost(dear, 0.01)
    cheap = cloud("claude-3-5-haiku-20241022", monkeypatch)
    assert 0 < (estimate_cost(cheap)[1] or 0) < 0.05
    assert check_cost(cheap, None).dollars is None


def test_where_nobody_knows_the_price_the_user_must_agree_to_so_many_tokens(tmp_path: Path) -> None:
    settings = '[models.far]\nbase_url = "http://far.invalid/v1"\n'
    (tmp_path / "config.toml").write_text(settings)
    far = open_model("far:big")
    with refused() as problem:
        check_cost(far, None)
    most = check_cost(far, None, unpriced=True).tokens
    assert f" {most:,} " in str(problem.value)
    with refused():
        check_cost(far, 1.0, unpriced=True)
    (tmp_path / "config.toml").write_text(settings + "thinking = 1000\n")
    assert check_cost(open_model("far:big"), None, unpriced=True).tokens == most + 6 * 1000


@pytest.mark.slow
def test_of_a_model_that_was_never_heard_nothing_is_said_but_that(meet: Meet) -> None:
    refuses = Turn(status=400, says="no such luck")
    name = meet(**dict.fromkeys(GOOD, refuses))
    found = try_model(open_model(name))
    assert not found.was_heard
    assert found.line.startswith(f"{name}: ")
    assert refuses.says in found.line
    command = CliRunner().invoke(models_app, ["doctor", name, "--json"])
    assert (command.exit_code, json.loads(command.stdout)["was_heard"]) == (2, False)


@pytest.mark.slow
def test_a_silent_server_is_left_after_two_tasks(meet: Meet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("burnish.commands.try_model.TASK_SECONDS", 0.3)
    found = try_model(open_model(meet(**dict.fromkeys(GOOD, Turn(fault="silent")))))
    assert not found.was_heard
    first, second, *others = [answer.why for answer in found.tasks]
    assert first == second
    assert set(others) == {others[0]} != {first}


@pytest.mark.slow
def test_a_server_without_time_is_left_after_two_tasks_too_and_none_of_them_is_a_failure(
    meet: Meet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("burnish.models.chat.FIRST_PAUSE_SECONDS", 0.01)
    name = meet(**dict.fromkeys(GOOD, Turn(status=503, says="busy")))
    command = CliRunner().invoke(models_app, ["doctor", name])
    assert command.exit_code == 2
    marks = [line[:2] for line in command.stdout.splitlines()[1:7]]
    assert marks == ["--"] * 6, command.stdout
    assert command.stdout.count("asked 5 times") == 3, "two tasks, and the line at the end"
    assert_words(command.stdout.splitlines()[3])


@pytest.mark.slow
def test_a_task_that_was_not_answered_is_no_weakness_and_does_not_end_the_others(
    meet: Meet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("burnish.models.chat.FIRST_PAUSE_SECONDS", 0.01)
    busy = Turn(status=503, says="busy")
    found = try_model(open_model(meet(context=busy, fix=busy, form=busy, JSON=Turn(text="Ada"))))
    assert (found.good_for, found.not_for, found.untried) == (("write",), ("JSON",), ("fix", "tests"))


def test_models_are_tried_one_at_a_time() -> None:
    told = CliRunner().invoke(models_app, ["doctor", "scripted:demo,scripted:demo"]).exception
    assert isinstance(told, SetupProblem)
    assert str(told).endswith("Type: burnish models doctor scripted:demo")
    assert_words(str(told))


def test_who_leaves_is_told_that_nothing_is_known_of_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "good.json").write_text(json.dumps(GOOD))

    def ctrl_c(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("burnish.commands.try_model.ask", ctrl_c)
    left = CliRunner().invoke(models_app, ["doctor", name := f"scripted:{tmp_path / 'good.json'}"])
    assert left.exit_code == 130
    assert f"Again: burnish models doctor {name}" in left.stdout


def test_a_free_model_is_tried_where_no_money_may_be_spent() -> None:
    assert try_model(ScriptedModel(GOOD), dollars=0).is_enough


@pytest.mark.slow
def test_the_command_prints_a_line_a_task_and_says_with_its_exit_code_what_came_of_it(tmp_path: Path) -> None:
    script = tmp_path / "good.json"
    script.write_text(json.dumps(GOOD))
    good = CliRunner().invoke(models_app, ["doctor", f"scripted:{script}"])
    assert good.exit_code == 0, good.output
    assert good.stdout.count("ok ") == 6
    script.write_text(json.dumps(GOOD | {"write": ["[bold]I cannot[/bold] \x1b[31mdo that"]}))
    bad = CliRunner().invoke(models_app, ["doctor", f"scripted:{script}", "--json"])
    told = json.loads(bad.stdout)
    assert (bad.exit_code, told["is_enough"], told["not_for"]) == (1, False, ["write"])
    assert [task["name"] for task in told["tasks"]] == list(GOOD)
    assert_words(bad.stderr)
    assert "\x1b" not in bad.output


def test_a_model_that_is_not_there_is_a_problem_of_the_set_up() -> None:
    assert isinstance(CliRunner().invoke(models_app, ["doctor", "nobody:x"]).exception, SetupProblem)
