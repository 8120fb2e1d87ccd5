"""`burnish doctor`: it tries each thing for real, and what is missing comes with the line to type."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from burnish import config
from burnish import doctor as examination
from burnish.cli.setup import doctor
from burnish.doctor import DoctorFinding, is_healthy
from burnish.errors import SandboxError
from burnish.models.catalog import CATALOG, DEFAULT_MODEL
from burnish.sandbox.diagnosis import Machine
from burnish.sandbox.docker.engine import Engine
from tests.models.peers import MODEL, Peer, serving
from tests.support import assert_words

WELL = DoctorFinding(thing="a", fine=True, says="here")


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("BURNISH_HOME", str(tmp_path / "home"))


def call(*args: str) -> Result:
    app = typer.Typer()
    app.command()(doctor)
    return CliRunner().invoke(app, args)


def found(thing: str) -> DoctorFinding:
    """What the examination says of one thing other than the sandbox, which would take its time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(examination, "check_sandbox", lambda: WELL)
        return next(finding for finding in examination.examine() if finding.thing.startswith(thing))


@pytest.mark.slow
def test_a_real_cell_is_opened_and_its_level_is_named() -> None:
    finding = examination.check_sandbox()
    assert finding.fine, finding.says
    assert finding.says.startswith("bubblewrap ")


@pytest.fixture
def no_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise SandboxError("bwrap: setting up uid map: Permission denied")

    monkeypatch.setattr("burnish.sandbox.open_sandbox", refuse)
    monkeypatch.setattr("burnish.sandbox.bubblewrap.find_bwrap", lambda: "/usr/bin/bwrap")


@pytest.mark.usefixtures("no_cell")
def test_apparmor_gets_a_profile_for_this_one_program(tmp_path: Path) -> None:
    (tmp_path / "kernel").mkdir()
    (tmp_path / "kernel" / "apparmor_restrict_unprivileged_userns").write_text("1\n")
    finding = examination.check_sandbox(Machine(sysctl=tmp_path))
    assert_words(finding.says)
    assert "profile burnish-bwrap /usr/bin/bwrap flags=(unconfined) { userns, }" in finding.type_this
    assert finding.type_this.endswith("apparmor_parser -r /etc/apparmor.d/burnish-bwrap")


@pytest.mark.usefixtures("no_cell")
def test_a_kernel_that_forbids_namespaces_gets_its_switch(tmp_path: Path) -> None:
    (tmp_path / "kernel").mkdir()
    (tmp_path / "kernel" / "unprivileged_userns_clone").write_text("0\n")
    finding = examination.check_sandbox(Machine(sysctl=tmp_path))
    assert finding.type_this.endswith("sysctl -w kernel.unprivileged_userns_clone=1")


@pytest.mark.usefixtures("no_cell")
def test_a_cell_that_fails_for_another_reason_repeats_it(tmp_path: Path) -> None:
    finding = examination.check_sandbox(Machine(sysctl=tmp_path))
    assert "bwrap: setting up uid map: Permission denied" in finding.says, "the words of bubblewrap"
    assert finding.type_this.startswith("/usr/bin/bwrap --unshare-user")


@pytest.mark.usefixtures("no_cell")
def test_no_bubblewrap_at_all_is_said_with_the_line_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("burnish.sandbox.bubblewrap.find_bwrap", lambda: None)
    finding = examination.check_sandbox()
    assert not finding.fine
    assert finding.type_this.endswith("apt-get install bubblewrap")


def test_an_engine_for_containers_is_named_and_none_is_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("burnish.sandbox.docker.engine.list_commands", lambda: iter(()))
    none = found("containers")
    assert (none.fine, none.needed) == (False, False)
    assert {"`docker`", "`podman`"} <= set(none.says.split())
    engine = Engine(("podman",), "podman", "4.3.1", True, True, True, "2", False, "", "debian")
    monkeypatch.setattr("burnish.sandbox.docker.engine.find_engine", lambda: engine)
    assert found("containers").says == "podman 4.3.1 (rootless engine)"


def test_missing_weights_matter_only_for_the_default_model() -> None:
    for name in CATALOG:
        finding = found(name)
        assert not finding.fine
        assert finding.type_this == f"burnish models pull {name}"
        assert finding.needed == (name == DEFAULT_MODEL)


@pytest.mark.parametrize(
    ("gpus", "layers", "fine"),
    [((), "auto", True), ((), "0", True), ((), "20", False), (("Vulkan0 (a card)",), "20", True)],
)
def test_layers_for_a_gpu_that_the_build_has_no_backend_for_are_said_and_stop_nothing(
    gpus: tuple[str, ...], layers: str, fine: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("burnish.models.local.list_gpus", lambda: gpus)
    config.put("gpu_layers", layers)
    config.put("context", "8192")
    finding = examination._check_engine()
    assert (finding.fine, finding.needed, bool(finding.type_this)) == (fine, False, not fine)
    assert "8,192" in finding.says


def named(text: str, tmp_path: Path) -> tuple[DoctorFinding, bool]:
    """What is said of the model that the settings name, and whether weights are needed beside it."""
    (tmp_path / "config.toml").write_text(text)
    return found(text.split('"')[1]), found(DEFAULT_MODEL).needed


@pytest.fixture
def no_look_at_containers(monkeypatch: pytest.MonkeyPatch) -> None:
    """They take a second each time."""
    monkeypatch.setattr(examination, "check_containers", lambda: WELL)


@pytest.fixture
def peer(no_look_at_containers: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Peer]:
    with serving(Peer()) as there:
        monkeypatch.setenv("OLLAMA_HOST", there.address)
        yield there


@pytest.mark.slow
def test_a_model_of_a_server_is_looked_for_there_and_no_weights_are_missed(peer: Peer, tmp_path: Path) -> None:
    well, weights = named(f'model = "ollama:{MODEL}"\n', tmp_path)
    assert (well.fine, well.needed, weights) == (True, True, False)
    assert well.thing.endswith("(default)")
    lab = f'[models.lab]\nbase_url = "{peer.address}/v1"\n'
    assert named(f'model = "lab:{MODEL}"\n{lab}', tmp_path)[0].fine
    gone, _ = named(f'model = "lab:other"\n{lab}', tmp_path)
    assert (gone.fine, gone.needed) == (False, True)
    assert gone.says.split()[-1] == f"lab:{MODEL}"


@pytest.mark.slow
def test_a_server_that_lacks_the_model_or_does_not_answer_ends_with_the_line_to_type(
    peer: Peer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lacks, _ = named('model = "ollama:nope"\n', tmp_path)
    assert lacks.type_this.endswith("burnish models pull ollama:nope")
    monkeypatch.setenv("OLLAMA_HOST", "http://127.0.0.1:9")
    silent, _ = named(f'model = "ollama:{MODEL}"\n', tmp_path)
    assert "http://127.0.0.1:9" in silent.says
    assert silent.type_this == "ollama serve"
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    keyless, _ = named('model = "openai:gpt-4o"\n', tmp_path)
    assert keyless.type_this == "export OPENAI_API_KEY=…"


@pytest.mark.usefixtures("no_look_at_containers")
def test_other_weights_a_file_of_ones_own_and_a_choice_are_understood(tmp_path: Path) -> None:
    small = "local:qwen2.5-coder-0.5b"
    finding, default = named(f'model = "{small}"\n', tmp_path)
    assert (finding.needed, default) == (True, False)
    assert found(f"{small} (default)").type_this == f"burnish models pull {small}"
    missing, _ = named('model = "local:/nowhere/x.gguf"\n', tmp_path)
    assert not missing.fine
    assert named('model = "scripted:demo"\n', tmp_path)[0].fine
    (tmp_path / "config.toml").write_text('model = "huggingface:qwen2.5-coder-0.5b"\n')
    assert found(f"{small} (default)").type_this == f"burnish models pull {small}"
    (tmp_path / "config.toml").write_text('model = "auto"\n')
    assert found(DEFAULT_MODEL).needed


@pytest.mark.usefixtures("no_look_at_containers")
def test_settings_that_cannot_be_read_are_a_finding_and_no_crash(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("model = \n")
    finding = found("settings")
    assert not finding.fine
    assert finding.type_this.startswith("${EDITOR:-nano}")


def test_a_folder_that_cannot_be_written_names_its_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("BURNISH_HOME", str(tmp_path / "file" / "home"))
    finding = found("home")
    assert not finding.fine
    assert finding.type_this.startswith("export BURNISH_HOME=")


def test_too_little_room_names_the_variable_that_moves_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examination, "LEAST_FREE_BYTES", 1 << 62)
    finding = found("disk")
    assert not finding.fine
    assert finding.type_this.startswith("export BURNISH_CACHE=")


def test_the_exit_code_says_whether_write_would_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        examination, "examine", lambda: [WELL, DoctorFinding(thing="b", fine=False, says="", needed=False)]
    )
    well = call()
    assert (well.exit_code, well.stdout.splitlines()[-1]) == (0, "Ready.")
    monkeypatch.setattr(
        examination, "examine", lambda: [WELL, DoctorFinding(thing="b", fine=False, says="", type_this="x")]
    )
    ill = call()
    assert ill.exit_code == 2
    assert "type: x" in ill.stdout


def test_the_findings_can_be_read_by_a_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examination, "check_sandbox", lambda: WELL)
    told = call("--json")
    findings = [DoctorFinding(**row) for row in json.loads(told.stdout)]
    assert [finding.thing for finding in findings][:2] == ["python", "a"]
    assert told.exit_code == (0 if is_healthy(findings) else 2)
