"""What does mini-swe-agent make of the bugs of real_bugs.py, with the same weights and the same hidden judge?

    python -m venv PEER && PEER/bin/pip install mini-swe-agent
    python experiments/real_bugs_peer.py PREPARED PEER/bin/mini [--seconds 180] [--only ID …] [--out FILE.jsonl]

It is told more than `fix` is: the file, the tests that fail, and how to run them. A bubblewrap holds it and what it
runs; the one thing that it shares with the host is the network, for the address of the embedded model. That it submits
is its claim; the judge looks at the file in which upstream made the repair.
"""

import argparse
import json
import shlex
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from real_bugs import SEED, Bench, Bug, Row, _list_mounts, read_bugs, read_rows, render, render_totals

from burnish.models.local import LocalModel, server_for
from burnish.models.names import open_model
from burnish.paths import describe_origin
from burnish.sandbox.bubblewrap import find_bwrap

TASK = (
    "These tests fail: {tests}. The fault is in {file}. Repair it so that they pass and no other test fails. "
    "Do not change any test. Run them with: {command}"
)
CLAIM = "Submitted"
CONTEXT = 16_384
"""Tokens that its model reads at once: a conversation of forty steps outgrows what one prompt of ours may have."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prepared", type=Path)
    parser.add_argument("mini", type=Path)
    parser.add_argument("--model", default="local:qwen2.5-coder-1.5b")
    parser.add_argument("--seconds", type=float, default=180.0, help="for each repair")
    parser.add_argument("--only", nargs="+", metavar="ID")
    parser.add_argument("--out", type=Path, help="rows as JSON lines; those that are there are not made again")
    given = parser.parse_args()
    model = open_model(given.model)
    assert isinstance(model, LocalModel), "only an embedded model has an address of its own"
    server = server_for(replace(model.settings, context=CONTEXT))
    server.ready.wait()
    assert not server.problem, server.problem
    about = {"model": given.model, "peer": "mini-swe-agent", "limit_seconds": given.seconds, "seed": SEED}
    bench = PeerBench(
        given.prepared,
        given.seconds,
        None,
        False,
        {**about, **describe_origin()},
        mini=given.mini.absolute(),
        address=server.address,
    )
    rows = read_rows(given.out)
    known = {row.id for row in rows}
    for bug in read_bugs():
        if bug.id in known or (given.only and bug.id not in given.only):
            continue
        row = bench.attempt(bug)
        assert row is not None, "there is no last moment to begin"
        rows.append(row)
        print(render(row), flush=True)
        if given.out:
            with given.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(row)) + "\n")
    print(f"\n{render_totals(rows)}\n{render_claims(rows)}")


@dataclass(frozen=True)
class PeerBench(Bench):
    """Where the peer is tried."""

    mini: Path = Path()
    address: str = ""

    def _fix(self, bug: Bug, place: Path, python: Path, row: Row) -> Row:
        root, out = shutil.copytree(place / "before", place / "work", symlinks=True), place / "out"
        original = (root / bug.file).read_text("utf-8")
        out.mkdir()
        command = shlex.join([str(python), "-m", "pytest", "-q", "-o", "addopts=", *bug.tests[:3]])
        task = TASK.format(tests=", ".join(bug.tests[:3]), file=bug.file, command=command)
        began = time.monotonic()
        try:
            subprocess.run(self._list_words(root, python, out, task), capture_output=True, timeout=self.seconds)
        except subprocess.TimeoutExpired:
            row = replace(row, why="out of time")
        row = replace(row, seconds=time.monotonic() - began, verdict=read_status(out / "trajectory.json"))
        try:
            code = (root / bug.file).read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            return replace(row, why=f"{bug.file} cannot be read any more")
        return self.judge(bug, place, python, code, row) if code != original else row

    def _list_words(self, root: Path, python: Path, out: Path, task: str) -> list[str]:
        bwrap = find_bwrap()
        assert bwrap is not None, "no bubblewrap"
        kept = self.mini.parent.parent
        settings = {"MSWEA_CONFIGURED": "true", "MSWEA_COST_TRACKING": "ignore_errors", "OPENAI_API_KEY": "none"}
        settings |= {"LITELLM_LOCAL_MODEL_COST_MAP": "true"}  # else it looks for one in the network, for 8 s
        words = [str(bwrap), *_list_mounts(root, python, out), "--share-net", "--ro-bind", str(kept), str(kept)]
        words += [word for pair in settings.items() for word in ("--setenv", *pair)]
        specs = ["mini_textbased.yaml", f"model.model_kwargs.api_base={self.address}/v1"]
        specs += ["model.model_kwargs.temperature=0", "model.model_kwargs.max_tokens=1024", "agent.step_limit=40"]
        words += ["--", str(self.mini), "-y", "--exit-immediately", "-o", "/out/trajectory.json", "-t", task]
        words += ["-m", "openai/local", "--model-class", "litellm_textbased", "--cost-limit", "0"]
        return words + [word for spec in specs for word in ("-c", spec)]


def read_status(trajectory: Path) -> str:
    """How the peer says that it ended; it writes that down after every step."""
    try:
        said: Mapping[str, object] = json.loads(trajectory.read_text("utf-8"))["info"]
    except (OSError, ValueError, KeyError):
        return "nothing said"
    return str(said.get("exit_status") or "not ended")


def render_claims(rows: Sequence[Row]) -> str:
    claimed = [row for row in rows if row.verdict == CLAIM]
    return f"- claimed: {len(claimed)}, of which right: {sum(row.repaired for row in claimed)}"


if __name__ == "__main__":
    main()
