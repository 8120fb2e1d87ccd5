"""No telemetry, ours or a library's: with every switch in the user's shell turned on, nobody is called."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import DOUBLE

SWITCHES = {
    "LANGSMITH_TRACING": "true",
    "LANGSMITH_TRACING_V2": "true",
    "LANGCHAIN_TRACING_V2": "true",
    "LANGCHAIN_TRACING": "true",
    "LANGCHAIN_HANDLER": "langchain",
    "LANGSMITH_API_KEY": "lsv2_a_key",
    "LANGCHAIN_API_KEY": "lsv2_a_key",
    "LANGSMITH_ENDPOINT": "http://192.0.2.1:9",
    "LANGCHAIN_ENDPOINT": "http://192.0.2.1:9",
    "LANGSMITH_PROJECT": "spied-on",
    "LANGCHAIN_CALLBACKS_BACKGROUND": "false",
    "OPENAI_API_KEY": "sk-not-ours",
    "OPENAI_BASE_URL": "http://192.0.2.1:9",
    "OPENAI_PROXY": "http://192.0.2.1:9",
    "HTTP_PROXY": "http://192.0.2.1:9",
    "HTTPS_PROXY": "http://192.0.2.1:9",
    "ALL_PROXY": "http://192.0.2.1:9",
}
SPY = """
import json, sys
seen = open(sys.argv.pop(1), "a", buffering=1)
def note(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto", "socket.gethostbyname"):
        where = arguments[1] if event != "socket.getaddrinfo" else arguments[0]
        seen.write(json.dumps([event, where if isinstance(where, (str, list, tuple)) else str(where)]) + "\\n")
sys.addaudithook(note)
from burnish.cli.main import main
try:
    main()
finally:
    from langchain_core.tracers.langchain import wait_for_all_tracers
    wait_for_all_tracers()
"""


def connections(folder: Path, *arguments: str) -> list[tuple[str, object]]:
    """Every attempt at a connection while the command runs."""
    done = subprocess.run(
        [sys.executable, "-c", SPY, str(folder / "seen"), *arguments],
        cwd=folder,
        env={**os.environ, **SWITCHES},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert any(word in done.stdout for word in ("PROVEN", "PLAUSIBLE", "FAILED")), done.stdout + done.stderr
    return [tuple(json.loads(line)) for line in (folder / "seen").read_text().splitlines()]


def is_local(where: object) -> bool:
    host = where[0] if isinstance(where, list | tuple) else where
    return str(host).startswith("/") or host in ("127.0.0.1", "::1", "localhost")


@pytest.mark.slow
def test_a_scripted_run_opens_no_connection(work_folder: Path) -> None:
    assert connections(work_folder, "write", DOUBLE, "--model", "scripted:demo") == []


@pytest.mark.slow
def test_a_connection_would_be_seen(work_folder: Path) -> None:
    program = SPY.split("from burnish")[0] + "import socket\ns = socket.socket()\ns.settimeout(0.01)\n"
    program += "try:\n    s.connect(('192.0.2.1', 9))\nexcept OSError:\n    pass\ns.close()\n"
    subprocess.run([sys.executable, "-c", program, str(work_folder / "seen")], check=True, timeout=30)
    [(event, where)] = [json.loads(line) for line in (work_folder / "seen").read_text().splitlines()]
    assert (event, is_local(where)) == ("socket.connect", False)


@pytest.mark.model
@pytest.mark.timeout(400)
def test_a_run_with_the_real_model_talks_to_this_machine_alone(work_folder: Path, model_weights: Path) -> None:
    arguments = ("write", DOUBLE, "--model", "local:qwen2.5-coder-0.5b", "--rounds", "0", "--fast")
    seen = connections(work_folder, *arguments)
    assert seen, "the model is spoken to through its own address"
    assert [where for _, where in seen if not is_local(where)] == []
