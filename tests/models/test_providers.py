"""Who is behind a name: where the server is, which key opens it, and what to type when something is missing."""

import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from burnish.errors import PromptTooLong, SetupProblem
from burnish.events import Message
from burnish.models import discovery
from burnish.models.model import Ask, Chunk
from burnish.models.names import open_model
from burnish.models.protocols import OllamaModel, OpenAIModel
from burnish.models.providers import ModelServer, is_this_machine, list_servers, ollama_address
from burnish.models.tokens import Price, context_tokens, price_of
from tests.models.peers import MODEL, Peer, Turn, serving
from tests.support import burnish

NOWHERE = "http://127.0.0.1:9"


@pytest.fixture(autouse=True)
def bare_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key and no address of the person who starts the tests."""
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OLLAMA_HOST", NOWHERE)


@pytest.fixture
def ollama(monkeypatch: pytest.MonkeyPatch) -> Iterator[Peer]:
    with serving(Peer()) as peer:
        monkeypatch.setenv("OLLAMA_HOST", peer.address)
        yield peer


def ask(words: int, max_tokens: int = 100) -> Ask:
    return Ask(purpose="t", messages=(Message(role="user", content="word " * words),), max_tokens=max_tokens)


@pytest.mark.parametrize(
    ("said", "means"),
    [
        ("", "http://127.0.0.1:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("box:1234", "http://box:1234"),
        ("https://box", "https://box:11434"),
        ("[::1]:99", "http://[::1]:99"),
    ],
)
def test_ollama_is_where_its_own_variable_says(monkeypatch: pytest.MonkeyPatch, said: str, means: str) -> None:
    monkeypatch.setenv("OLLAMA_HOST", said)
    assert ollama_address() == means


@pytest.mark.parametrize("said", ["localhost:abc", "localhost:99999", "[::1", "ftp://box", "a b"])
def test_an_address_of_ollama_that_cannot_be_read_is_for_the_user_to_change(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said: str
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", said)
    for wanting in (ollama_address, list_servers, lambda: open_model("ollama:any")):
        with pytest.raises(SetupProblem, match=r"OLLAMA_HOST.*: export OLLAMA_HOST=127.0.0.1:11434$"):
            wanting()


@pytest.mark.slow
def test_a_slip_in_one_address_is_no_business_of_who_asks_elsewhere(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "localhost:abc")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://[::1/v1")
    with serving(Peer()) as peer:
        (tmp_path / "config.toml").write_text(f'[models.lab]\nbase_url = "{peer.address}/v1"\n')
        assert any(isinstance(piece, Chunk) for piece in open_model("lab:any").stream(ask(1), threading.Event()))
        assert price_of("lab:any") == Price(read=0, written=0)
    with pytest.raises(SetupProblem, match="lab:any"):
        open_model("labb:any")
    told = burnish("models", cwd=tmp_path)
    assert told.returncode == 2
    assert "Traceback" not in told.stderr


@pytest.mark.parametrize(("name", "key"), [("openai:gpt-4o", "OPENAI_API_KEY"), ("anthropic:c", "ANTHROPIC_API_KEY")])
def test_a_cloud_without_a_key_says_which_variable_holds_it(name: str, key: str) -> None:
    with pytest.raises(SetupProblem, match=rf"{name}.*: export {key}=…$"):
        open_model(name)


def test_a_missing_extra_ends_with_the_line_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(SetupProblem, match=r"burnish\[anthropic\].*-m pip install 'langchain-anthropic>=1\.0'$"):
        open_model("anthropic:claude-x")


def test_a_server_of_ones_own_that_is_not_running_is_named(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(f'[models.lab]\nbase_url = "{NOWHERE}/v1"\n')
    with pytest.raises(SetupProblem, match=r"http://127\.0\.0\.1:9/v1"):
        open_model("lab:any")


def test_the_cloud_key_is_not_sent_to_a_server_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secrets = {"OPENAI_API_KEY": "sk-cloud-1234567890", "ANTHROPIC_API_KEY": "sk-ant-1234567890"}
    for variable, secret in secrets.items():
        monkeypatch.setenv(variable, secret)
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "auth-token-1234567")
    for kind in ("openai", "anthropic"):
        with serving(Peer()) as peer:
            (tmp_path / "config.toml").write_text(
                f'[models.lab]\nkind = "{kind}"\nbase_url = "{peer.base_url(kind)}"\n'
            )
            list(open_model("lab:any").stream(ask(1), threading.Event()))
            sent = str(peer.asked[0][2])
        assert not any(secret in sent for secret in (*secrets.values(), "auth-token-1234567"))


def test_no_ollama_says_how_to_start_one() -> None:
    with pytest.raises(SetupProblem, match=r"http://127\.0\.0\.1:9 .*: ollama serve$"):
        open_model("ollama:qwen2.5-coder:7b")


def test_a_model_that_ollama_lacks_is_answered_with_those_it_has(ollama: Peer) -> None:
    with pytest.raises(SetupProblem, match=r"'toy:2b'.*ollama:toy:1b.*models pull ollama:toy:2b$"):
        open_model("ollama:toy:2b")


def test_a_slip_in_the_providers_name_finds_it() -> None:
    with pytest.raises(SetupProblem, match="ollama:qwen3"):
        open_model("olama:qwen3")


def test_ollamas_context_is_set_to_what_is_needed(ollama: Peer) -> None:
    model = open_model(f"ollama:{MODEL}")
    assert isinstance(model, OllamaModel)
    pieces = list(model.stream(ask(10), threading.Event()))
    assert any(isinstance(piece, Chunk) for piece in pieces)
    assert ollama.last["options"]["num_ctx"] == 4096
    assert ollama.last["options"]["num_predict"] == 100
    assert model.context_for(ask(3000)) == 8192
    assert model.context_for(ask(10)) == 8192, "a smaller one would load the model anew"
    assert model.context_for(ask(20_000)) == 32768, "never more than the model has"
    with pytest.raises(PromptTooLong, match="32768"):
        model.context_for(ask(40_000))


def test_dense_code_is_not_handed_to_an_ollama_that_would_cut_it(ollama: Peer) -> None:
    dense = Message(role="user", content="x=[[1,2],[3,4]];" * 500)
    question = ask(1, max_tokens=1024).model_copy(update={"messages": (dense,)})
    model = open_model(f"ollama:{MODEL}")
    assert isinstance(model, OllamaModel)
    assert model.context_for(question) == 16384, "these are some 6,500 tokens"
    ollama.context = 2048
    with pytest.raises(PromptTooLong, match="2048"):
        list(open_model(f"ollama:{MODEL}").stream(question, threading.Event()))
    assert not ollama.asked


def test_the_settings_may_say_how_much_context_there_is(ollama: Peer, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(f'[context]\n"ollama:{MODEL}" = 8192\n')
    model = open_model(f"ollama:{MODEL}")
    assert isinstance(model, OllamaModel)
    assert model.context_for(ask(5000)) == 8192
    assert not [piece for piece in model.stream(ask(1), threading.Event()) if getattr(piece, "why", "")]


def test_settings_of_more_context_than_a_model_has_give_it_no_more_and_that_is_said_once(
    ollama: Peer, tmp_path: Path
) -> None:
    (tmp_path / "config.toml").write_text(f'[context]\n"ollama:{MODEL}" = 16384\n')
    ollama.context = 2048
    model = open_model(f"ollama:{MODEL}")
    assert context_tokens(model) == 2048
    told = [
        [piece.why for piece in model.stream(ask(10), threading.Event()) if getattr(piece, "why", "")] for _ in "12"
    ]
    assert [len(words) for words in told] == [1, 0]
    assert re.search(rf"ollama:{MODEL} .*2,048.*16,384", told[0][0])
    assert ollama.last["options"]["num_ctx"] == 2048
    [shelf] = discovery.list_all_models()
    assert shelf.models[0].context == 2048


def test_settings_say_how_much_context_there_is_where_ollama_does_not(ollama: Peer, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(f'[context]\n"ollama:{MODEL}" = 16384\n')
    ollama.context = 0
    assert context_tokens(open_model(f"ollama:{MODEL}")) == 16384
    assert discovery.list_all_models()[0].models[0].context == 16384


def test_a_model_that_thinks_is_told_not_to(ollama: Peer) -> None:
    ollama.thinks = True
    list(open_model(f"ollama:{MODEL}").stream(ask(1), threading.Event()))
    assert ollama.last["think"] is False


@pytest.mark.slow
def test_pull_has_ollama_fetch_a_model_and_shows_how_far_it_is(ollama: Peer, tmp_path: Path) -> None:
    seen: list[tuple[int, int, str]] = []
    discovery.pull_ollama_model(ollama.address, f"ollama:{MODEL}", lambda *now: seen.append(now))
    assert (50, 100, "pulling abc") in seen
    done = burnish("models", "pull", f"ollama:{MODEL}", cwd=tmp_path)
    assert (done.returncode, done.stdout.strip()) == (0, f"ollama:{MODEL}")
    gone = burnish("models", "pull", "ollama:nope", cwd=tmp_path)
    assert gone.returncode == 2
    assert "file does not exist" in gone.stderr


@pytest.mark.slow
def test_the_list_has_what_servers_really_have(ollama: Peer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-listed-1234567890")
    (tmp_path / "config.toml").write_text(
        f'[models.lab]\nbase_url = "{ollama.address}/v1"\nkey_env = "MY_KEY"\n[context]\n"lab:{MODEL}" = 4096\n'
        f'[models.off]\nbase_url = "{NOWHERE}/v1"\n'
    )
    there = {shelf.provider: shelf for shelf in discovery.list_all_models()}
    assert [model.name for model in there["ollama"].models] == [f"ollama:{MODEL}"]
    assert there["lab"].models[0].context == 4096
    assert not there["off"].answers
    shown = burnish("models", cwd=tmp_path)
    assert re.search(rf"^ollama:{MODEL} +32,768 +986 MB +free$", shown.stdout, re.MULTILINE)
    assert re.search(rf"^lab:{MODEL} +4,096 +free$", shown.stdout, re.MULTILINE)
    assert f"{NOWHERE}/v1" in shown.stdout
    assert "sk-listed" not in shown.stdout + shown.stderr
    assert f'"lab:{MODEL}"' in burnish("models", "--json", cwd=tmp_path).stdout


def test_the_list_is_short_where_no_server_is_set_up() -> None:
    assert discovery.list_all_models() == []


@pytest.mark.parametrize(
    ("address", "here"),
    [
        ("http://127.0.0.1:1", True),
        ("http://[::1]:1", True),
        ("http://localhost/v1", True),
        ("http://0.0.0.0:1/v1", True),
        ("http://[::]:1", True),
        ("https://x.org", False),
        ("http://10.0.0.1", False),
    ],
)
def test_an_address_of_this_machine_is_known(address: str, here: bool) -> None:
    assert is_this_machine(address) is here


@pytest.mark.slow
def test_a_model_that_thinks_is_told_to_think_little_and_its_temperature_is_its_own() -> None:
    official = ModelServer("openai", "openai", "https://api.openai.com/v1", "OPENAI_API_KEY")
    told = OpenAIModel("openai:gpt-5", "gpt-5", official).parameters(ask(1))
    assert told["reasoning_effort"] == "minimal"
    assert "temperature" not in told
    assert OpenAIModel("openai:gpt-4o", "gpt-4o", official).parameters(ask(1))["temperature"] == 0
    with_thoughts = ask(1).model_copy(update={"thinking": 4000})
    assert "reasoning_effort" not in OpenAIModel("openai:gpt-5", "gpt-5", official).parameters(with_thoughts)


def test_a_server_of_ones_own_tells_its_model_not_to_think_unless_it_may(tmp_path: Path) -> None:
    with serving(Peer()) as peer:
        (tmp_path / "config.toml").write_text(f'[models.lab]\nbase_url = "{peer.address}/v1"\n')
        model = open_model("lab:Qwen/Qwen3-8B")
        list(model.stream(ask(1), threading.Event()))
        assert peer.last["chat_template_kwargs"] == {"enable_thinking": False}
        list(model.stream(ask(1).model_copy(update={"thinking": 500}), threading.Event()))
        assert "chat_template_kwargs" not in peer.last


@pytest.mark.slow
@pytest.mark.parametrize("says", ["chat_template_kwargs: not permitted", "chat_template is not supported for Mistral"])
def test_a_server_that_cannot_be_told_so_is_told_once(tmp_path: Path, says: str) -> None:
    with serving(Peer(Turn(status=400, says=says), Turn())) as peer:
        (tmp_path / "config.toml").write_text(f'[models.lab]\nbase_url = "{peer.address}/v1"\n')
        model = open_model("lab:any")
        for _ in range(2):
            assert any(isinstance(piece, Chunk) for piece in model.stream(ask(1), threading.Event()))
    assert ["chat_template_kwargs" in question for _, question, _ in peer.asked] == [True, False, False]


def test_one_that_cannot_be_told_not_to_think_is_asked_to_think_little(tmp_path: Path) -> None:
    with serving(Peer()) as peer:
        (tmp_path / "config.toml").write_text(f'[models.lab]\nkind = "anthropic"\nbase_url = "{peer.address}"\n')
        list(open_model("lab:claude-fable-5").stream(ask(1), threading.Event()))
    assert peer.last["output_config"] == {"effort": "low"}
    assert "temperature" not in peer.last


def test_tokens_for_thoughts_come_beside_those_for_the_answer(tmp_path: Path) -> None:
    with serving(Peer()) as peer:
        (tmp_path / "config.toml").write_text(
            f'[models.lab]\nkind = "anthropic"\nbase_url = "{peer.address}"\nthinking = 2000\n'
        )
        model = open_model("lab:claude-haiku-5-5")
        assert getattr(model, "thinking", 0) == 2000
        list(model.stream(ask(1).model_copy(update={"thinking": 2000}), threading.Event()))
    assert peer.last["thinking"] == {"type": "enabled", "budget_tokens": 2000}
    assert peer.last["max_tokens"] == 2100


@pytest.mark.parametrize("variable", ["OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"])
@pytest.mark.parametrize(
    "address",
    [
        "http://me:secret@127.0.0.1:1/v1",
        "http://secret@box",
        "https://box/v1?key=secret",
        "secret",
        "http://[::secret/v1",
    ],
)
def test_an_address_in_the_shell_holds_no_password(
    monkeypatch: pytest.MonkeyPatch, variable: str, address: str
) -> None:
    monkeypatch.setenv(variable, address)
    with pytest.raises(SetupProblem, match=rf": export {variable}=https://api") as told:
        list_servers()
    assert "secret" not in str(told.value)


def test_the_usual_variables_name_another_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:8000/v1/")
    assert list_servers()["openai"].address == "http://127.0.0.1:8000/v1"
    assert not list_servers()["openai"].is_official
