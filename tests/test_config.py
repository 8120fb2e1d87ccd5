"""The user's one file of settings: read with care, changed a line at a time, and never the place of a secret."""

from pathlib import Path

import pytest

from burnish import config
from burnish.errors import SetupProblem
from tests.support import assert_words, burnish, refused

OWN = '[models.lab]\nkind = "openai"\nbase_url = "http://127.0.0.1:8000/v1"\nkey_env = "LAB_KEY"\n'


def test_no_file_is_no_setting() -> None:
    assert config.load() == config.Config()


def test_a_file_says_who_answers_and_where() -> None:
    settings = config.parse(f'model = "lab:big"\n{OWN}[context]\n"ollama:a.b:7b" = 8192\n')
    assert settings.model == "lab:big"
    assert settings.models["lab"].key_env == "LAB_KEY"
    assert settings.context == {"ollama:a.b:7b": 8192}


def test_the_servers_that_checks_ask_are_set_here() -> None:
    config.put("checks.index_url", "file:///srv/packages/simple")
    config.put("checks.advisories_url", "http://127.0.0.1:8080/v1/query")
    assert config.load().checks == config.CheckServices(
        index_url="file:///srv/packages/simple", advisories_url="http://127.0.0.1:8080/v1/query"
    )
    for key, value in (("checks.index_url", "ftp://box"), ("checks.advisories_url", "file:///srv/x")):
        with pytest.raises(SetupProblem, match=f"burnish config set {key}"):
            config.put(key, value)


@pytest.mark.parametrize(
    "text",
    [
        'model = "a:b"\nmodel = \n',
        '\nmodle = "a:b"\n',
        '[models.openai]\nbase_ulr = "http://x"\n',
        "model = 3\n",
        '[models.lab]\nkind = "openai"\n',
        '[models.lab]\nkind = "grpc"\nbase_url = "http://x"\n',
        '[models.openai]\nkind = "ollama"\n',
        '[models.openai]\nbase_url = "file:///etc/passwd"\n',
        '[models.lab]\nbase_url = "http://[::1/v1"\n',
        '[models.lab]\nbase_url = "http://box:abc/v1"\n',
        '[checks]\nindex_urls = "http://x"\n',
        '[checks]\nindex_url = "ftp://x/simple"\n',
        '[checks]\nadvisories_url = "file:///srv/x"\n',
        '[checks]\nindex_url = "https://me:word@box/simple"\n',
        '[models.local]\nbase_url = "http://x"\n',
        '[models."a b"]\nbase_url = "http://x"\n',
        '[context]\n"a:b" = 12\n',
        '[context]\n"a:b" = "many"\n',
    ],
)
def test_what_cannot_be_right_is_refused_with_its_line(text: str) -> None:
    with refused():
        config.parse(text)


@pytest.mark.parametrize(
    "line",
    [
        'key_env = "sk-proj-1234567890abcdef"',
        'key_env = "0123456789abcdef0123456789abcdef"',
        'api_key = "anything"',
        'base_url = "http://me:secret@host/v1"',
        'base_url = "http://host/v1?api_key=abc"',
    ],
)
def test_a_secret_is_refused_and_not_said_again(line: str) -> None:
    with refused() as caught:
        config.parse(f"[models.openai]\n{line}\n")
    assert line.split('"')[1] not in str(caught.value)


def test_set_changes_one_line_and_leaves_the_rest_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(f"# mine\n{OWN}# end\n")
    config.put("models.lab.key_env", "OTHER")
    config.put("model", "lab:small")
    config.put("context.ollama:qwen2.5-coder:7b", "8192")
    config.put("context.ollama:qwen2.5-coder:7b", "16384")
    config.put("models.lab.continues", "true")
    assert file.read_text().count("# mine") == file.read_text().count("# end") == 1
    settings = config.load()
    assert settings.model == "lab:small"
    assert settings.models["lab"].key_env == "OTHER"
    assert settings.models["lab"].continues is True
    assert settings.context == {"ollama:qwen2.5-coder:7b": 16384}


def test_a_server_of_ones_own_begins_with_its_address() -> None:
    for address in ("http://127.0.0.1:8000/v1", "http://[::1]:8000/v1", "https://example.org"):
        config.put("models.lab.base_url", address)
        assert config.load().models["lab"].base_url == address


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("modell", "a:b"),
        ("models.lab", "x"),
        ("models.lab.nothing", "x"),
        ("models.lab.kind", "grpc"),
        ("models.lab.kind", "openai"),
        ("context.a:b", "lots"),
        ("models.openai.key_env", "sk-1234567890abcdef"),
        ("models.openai.key_env", "not a name"),
        ("models.lab.base_url", "http://[::1/v1"),
        ("models.lab.base_url", "http://127.0.0.1:abc/v1"),
        ("models.lab.base_url", "http://127.0.0.1:99999/v1"),
        ("models.lab.base_url", "http://:8000/v1"),
    ],
)
def test_set_refuses_what_the_file_cannot_hold_and_writes_nothing(tmp_path: Path, key: str, value: str) -> None:
    with pytest.raises(SetupProblem):
        config.put(key, value)
    assert not (tmp_path / "config.toml").exists()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("models.lab.thinking", "abc"),
        ("may_spend", "maybe"),
        ("context.ollama:x", "100"),
        ("context.ollama:x", "0512"),
        ("context", "9999999"),
        ("gpu_layers", "many"),
        ("gpu-layers", "-1"),
        ("gpu_layers", "1001"),
        ("gpu_layers", "1.5"),
        ("gpu_layers", ""),
        ("models.lab.base_url", "ftp://x"),
        ("models.lab.base_url", "http://hunter@x"),
        ("models.lab.kind", "grpc"),
        ("models.lab.key_env", "a b"),
        ("models.new.thinking", "3"),
        ("models.local.base_url", "http://x"),
        ("models.a b.base_url", "http://x"),
        ("models.openai.kind", "ollama"),
        ("model", "a\udcff:b"),
    ],
)
def test_a_refused_value_is_named_and_not_the_file_which_is_fine(tmp_path: Path, key: str, value: str) -> None:
    (tmp_path / "config.toml").write_text(OWN)
    with refused() as caught:
        config.put(key, value)
    assert not any(word in str(caught.value) for word in ("config.toml", "hunter"))
    assert "^" not in str(caught.value), "no pattern is shown"
    assert (tmp_path / "config.toml").read_text() == OWN


def test_a_file_that_was_wrong_before_is_told_of_and_may_be_mended_by_its_own_key(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('may_spend = "perhaps"\n')
    with refused():
        config.put("model", "auto")
    config.put("may_spend", "true")
    assert config.load().may_spend


def test_context_and_gpu_layers_of_embedded_models_are_set_for_all_or_for_one() -> None:
    assert (config.load().gpu_layers, config.load().context_of("local:a")) == ("auto", 0)
    config.put("context", "16384")
    config.put("context.local:b", "2048")
    config.put("gpu-layers", "20")
    settings = config.load()
    names = ("local:a", "local:b", "local:/my/file.gguf", "ollama:a")
    assert [settings.context_of(name) for name in names] == [16384, 2048, 16384, 0]
    assert settings.gpu_layers == 20
    config.put("gpu_layers", "auto")
    assert config.load().gpu_layers == "auto"


@pytest.mark.slow
def test_the_command_shows_sets_and_says_where(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    assert burnish("config", "path", cwd=tmp_path).stdout.strip() == str(file)
    assert_words(burnish("config", cwd=tmp_path).stdout)
    assert burnish("config", "set", "model", "scripted:demo", cwd=tmp_path).returncode == 0
    assert 'model = "scripted:demo"' in burnish("config", cwd=tmp_path).stdout
    assert "scripted:demo" in burnish("write", "--help", cwd=tmp_path).stdout
    file.write_text("model = [")
    wrong = burnish("config", cwd=tmp_path)
    assert wrong.returncode == 2
    assert "Traceback" not in wrong.stderr
    assert burnish("--help", cwd=tmp_path).returncode == 0, "help is there even when the settings are broken"
