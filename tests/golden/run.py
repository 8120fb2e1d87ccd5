"""Runs one case with a given checkout, through its public doors only, and returns what is kept of each step."""

import os
import shlex
import subprocess
import sys
import tarfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.golden.case import Case, Step
from tests.golden.observe import Eye, digest
from tests.golden.server import Server, serving

SAMPLES = Path(__file__).parent / "samples"
SAMPLE_FOLDER = "/tmp/x"
"""Where the samples were made; their records name it."""
STEP_SECONDS = 900
"""More than any step needs on a busy machine; a step that takes longer is recorded as timed out."""
DROPPED = ("BURNISH_", "OPENAI_", "ANTHROPIC_", "OLLAMA_", "PIP_", "PYTEST_", "COLUMNS", "VIRTUAL_ENV", "EDITOR")
"""Variables of whoever starts this that the product would read."""
PRIVATE = {"home", "config.toml", "cache", ".coverage"}


@dataclass(frozen=True)
class Product:
    """A checkout and how to start it."""

    checkout: Path
    cache: Path
    coverage: Path | None = None
    """Where coverage data goes, with the file of its settings; None: not measured."""

    @property
    def python(self) -> str:
        own = self.checkout / ".venv" / "bin" / "python"
        return str(own) if own.exists() else sys.executable

    def command(self, step: Step, words: list[str]) -> list[str]:
        begin = [self.python]
        if self.coverage:
            begin += ["-m", "coverage", "run", f"--rcfile={self.coverage / 'rc'}"]
        return [*begin, "step.py"] if step.code else [*begin, "-m", "burnish", *words]

    def environment(self, case: Case, folder: Path, server: str) -> dict[str, str]:
        """No settings, keys or network of whoever starts this."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(DROPPED)}
        data = {"BURNISH_DATA": os.environ["BURNISH_DATA"]} if os.environ.get("BURNISH_DATA") else {}
        nowhere = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
        own = {
            "BURNISH_HOME": str(folder / "home"),
            "BURNISH_CONFIG": str(folder / "config.toml"),
            "BURNISH_CACHE": str(self.cache),
            "PYTHONPATH": str(self.checkout / "src"),
            "PIP_NO_INDEX": "1",
            "OLLAMA_HOST": "http://127.0.0.1:9",
            "NO_PROXY": "127.0.0.1",
            "no_proxy": "127.0.0.1",
        }
        named = {name: value.format(server=server, folder=folder) for name, value in case.env.items()}
        return kept | data | nowhere | own | named


def run_case(case: Case, product: Product, folder: Path) -> list[dict[str, Any]]:
    """Lay the case's files out in the empty folder, run its steps, and return what is kept of each."""
    if case.sample:
        with tarfile.open(SAMPLES / f"{case.sample}.tar.gz") as packed:
            packed.extractall(folder, filter="data")
        for path in folder.glob("home/runs/*/events.jsonl"):
            text = path.read_text("utf-8").replace(f"{SAMPLE_FOLDER}/.venv/bin/python", product.python)
            path.write_text(text.replace(SAMPLE_FOLDER, str(folder)), "utf-8")
    with serving(case.answers or ("no",)) as server:
        for name, content in case.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            data = content if isinstance(content, bytes) else content.replace("{server}", server.address).encode()
            path.write_bytes(data)
        marks = {str(folder): "FOLDER", server.address: "SERVER", product.python: "PYTHON", str(product.cache): "CACHE"}
        eye = Eye(folder, marks | {str(product.checkout): "CHECKOUT"})
        kept, before = [], state(folder)
        for step in case.steps:
            if step.edit:
                step.edit(folder)
                before = state(folder)
            told = perform(case, step, product, folder, server)
            after = state(folder)
            kept.append(look(step, told, eye, before, after))
            before = after
        return kept


def perform(
    case: Case, step: Step, product: Product, folder: Path, server: Server
) -> subprocess.CompletedProcess[bytes] | None:
    """Run one step to its end; None where that did not come."""
    marks = {"{s}": case.sentence, "{server}": server.address, "{folder}": str(folder)}
    words = shlex.split(step.line)
    for mark, value in marks.items():
        words = [word.replace(mark, value) for word in words]
    if step.code:
        (folder / "step.py").write_text(step.code)
    server.hold = server.asked + step.at if step.signal and isinstance(step.at, int) else 0
    process = subprocess.Popen(
        product.command(step, words),
        cwd=folder,
        env=product.environment(case, folder, server.address),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    if step.signal:
        threading.Thread(target=strike, args=(process, step, folder, server), daemon=True).start()
    try:
        out, err = process.communicate(step.stdin.encode("utf-8", "surrogateescape"), timeout=STEP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return None
    finally:
        (folder / "step.py").unlink(missing_ok=True)
    return subprocess.CompletedProcess(words, process.returncode, out, err)


def strike(process: subprocess.Popen[bytes], step: Step, folder: Path, server: Server) -> None:
    """Send the signal once its moment has come."""
    assert step.signal is not None
    if isinstance(step.at, int):
        server.held.wait()
    else:
        mark = f'"kind":"{step.at}"'
        while process.poll() is None and not any(
            mark in record.read_text("utf-8", "replace").replace(" ", "") for record in records(folder).values()
        ):
            time.sleep(0.02)
    if process.poll() is None:
        process.send_signal(step.signal)


def records(folder: Path) -> dict[str, Path]:
    """The records of the case's runs, oldest first."""
    found = sorted((folder / "home" / "runs").glob("*/events.jsonl"), key=lambda path: path.stat().st_mtime_ns)
    return {f"run {number}": path for number, path in enumerate(found)}


def state(folder: Path) -> dict[Path, str]:
    """A hash of every file that a step may change."""
    files = [p for p in folder.rglob("*") if p.is_file() and p.relative_to(folder).parts[0] not in PRIVATE]
    return {path: digest(path.read_bytes()) for path in [*files, *records(folder).values()]}


def look(
    step: Step,
    told: subprocess.CompletedProcess[bytes] | None,
    eye: Eye,
    before: dict[Path, str],
    after: dict[Path, str],
) -> dict[str, Any]:
    """What is kept of a step that ended."""
    if told is None:
        return {"exit": "timed out"}
    kept: dict[str, Any] = {"exit": told.returncode}
    out = told.stdout.decode("utf-8", "replace")
    words = set(step.line.split())
    if not step.loose:
        kept |= {"printed": bool(told.stdout.strip()), "errors": bool(told.stderr.strip())}
        kept |= {"traceback": True} if b"Traceback (most recent call last)" in told.stderr else {}
        if step.code or words & {"--json", "--events", "--evidence"}:
            kept["document"] = eye.document(out) if out.strip() else None
        elif words & {"--code", "--diff"}:
            kept["text"] = digest(eye.plain(out))
    changed = [path for path in after if before.get(path) != after[path]]
    for name, path in records(eye.folder).items():
        if path in changed:
            lines = path.read_text("utf-8").splitlines()
            kept[name] = eye.outcome(lines) if step.loose else eye.events(lines)
    home = eye.folder / "home"
    files = {path for path in changed if home not in path.parents}
    kept["files"] = {eye.plain(str(p.relative_to(eye.folder))): eye.file(p) for p in sorted(files)}
    gone = [path for path in before if path not in after]
    kept["gone"] = sorted("record" if home in path.parents else str(path.relative_to(eye.folder)) for path in gone)
    return {name: value for name, value in kept.items() if value or name in ("exit", "printed", "errors")}
