"""Does everything work with everything? `write` and `fix`, end to end, for each kind of model and each kind of sandbox.

    .venv/bin/python -m experiments.every_kind [--models local:,openai:] [--sandboxes bubblewrap,docker] [--seconds 300]

The model is always the 0.5B, so that only the way to it differs: inside the process, behind llama.cpp's own server in
two protocols, behind Ollama's, and in Transformers. One line for each pair as it ends, then what was not tried and
why, then the table in Markdown. A pair takes about a minute on two cores. It counts as working when `fix` and `write`
come to their verdict; what a 0.5B proves is beside the point, and shown.
"""

import argparse
import json
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from experiments.own_settings import settings_in
from tests.models.peers import MODEL as PEERS_MODEL
from tests.models.peers import Peer, answered_by, serving

from burnish import Limits, fix, write
from burnish.errors import BurnishError, SetupProblem
from burnish.models.discovery import list_ollama_models
from burnish.models.local import LlamaSettings, LocalModel, server_for
from burnish.models.model import Model
from burnish.models.names import open_model
from burnish.models.providers import ollama_address
from burnish.models.weights import ensure_weights
from burnish.runs import Run, Store
from burnish.sandbox import open_sandbox

SMALL = "qwen2.5-coder-0.5b"
OLLAMAS = "qwen2.5-coder:0.5b"
SANDBOXES = ("bubblewrap", "docker", "process")
LIMITS = Limits(rounds=2, calls=6, tokens=12_000, seconds=40)
SENTENCE = "a function vowels(text) that counts the vowels in a text, e.g. vowels('banana') == 3 and vowels('') == 0"
BROKEN = '''def initials(name):
    """The first letter of each word of a name, in capitals."""
    return name
'''
"""No small edit mends it: the model has to be asked."""
TESTS = """from people import initials


def test_two_words():
    assert initials("ada lovelace") == "AL"


def test_three_words():
    assert initials("grace brewster hopper") == "GBH"
"""


Verb = Callable[[Model, str, Path, Limits], Run]


@dataclass(frozen=True)
class Kind:
    """One way to reach a model; `missing` says why it cannot be taken here."""

    prefix: str
    server: str
    open: Callable[[], Model]
    missing: str = ""


@dataclass(frozen=True)
class Row:
    """What became of one pair."""

    kind: Kind
    sandbox: str
    write: str
    fix: str
    seconds: float
    tokens: int

    @property
    def line(self) -> str:
        """For the screen."""
        cells = (self.kind.prefix, self.kind.server, self.sandbox, f"write {self.write}", f"fix {self.fix}")
        return f"{' | '.join(cells)} | {self.seconds:.0f} s | {self.tokens} tokens"

    @property
    def cell(self) -> str:
        """For the table."""
        return f"write {self.write}, fix {self.fix}, {self.seconds:.0f} s, {self.tokens:,} tokens"


def main(models: Sequence[str], sandboxes: Sequence[str], limits: Limits = LIMITS) -> None:
    with ExitStack() as open_ones, tempfile.TemporaryDirectory() as folder:
        open_ones.enter_context(settings_in(Path(folder) / "config.toml"))
        kinds = [kind for kind in every_kind(open_ones, Path(folder)) if not models or kind.prefix in models]
        boxes, not_tried = usable(sandboxes or SANDBOXES)
        rows = []
        for kind in kinds:
            if kind.missing:
                not_tried.append(f"{kind.prefix} {kind.missing}")
                continue
            for name, level in boxes.items():
                rows.append(tried(kind, name, level, Path(folder), limits))
                print(rows[-1].line, flush=True)
    print("\nNot tried:", *(not_tried or ["nothing was left out"]), sep="\n- ")
    print(f"\n{table(rows)}")


def every_kind(open_ones: ExitStack, folder: Path) -> Iterator[Kind]:
    """All ways to the same weights. Servers that are started for it end with `open_ones`."""
    weights = ensure_weights(f"local:{SMALL}")
    server = server_for(LlamaSettings(weights))
    if not server.ready.wait(300) or server.problem:
        raise SetupProblem(
            f"llama.cpp did not load {weights}: {server.problem}. Try: burnish models pull local:{SMALL}"
        )
    local = LocalModel(f"local:{SMALL}", weights)
    peer = open_ones.enter_context(serving(Peer(script=answered_by(local))))
    (folder / "config.toml").write_text(settings(server.address, peer.address))
    engine = local.engine
    yield named("local:", SMALL, engine)
    yield named("openai:", SMALL, f"its own server, OpenAI protocol: {engine}")
    yield named("anthropic:", SMALL, f"its own server, Anthropic protocol: {engine}")
    yield named("lab:", SMALL, f"`[models.lab]`, a server of one's own: {engine}")
    yield named("ollama:", PEERS_MODEL, "Ollama's protocol from its documentation, not Ollama itself", "peer_ollama")
    yield ollama()
    yield transformers()


def settings(llama: str, peer: str) -> str:
    """The user's file that names all of them."""
    return (
        f'[models.openai]\nbase_url = "{llama}/v1"\ncontinues = true\n'
        f'[models.anthropic]\nbase_url = "{llama}"\n'
        f'[models.lab]\nkind = "openai"\nbase_url = "{llama}/v1"\ncontinues = true\n'
        f'[models.peer_ollama]\nkind = "ollama"\nbase_url = "{peer}"\n'
    )


def named(prefix: str, model: str, server: str, provider: str = "", missing: str = "") -> Kind:
    name = f"{provider}:{model}" if provider else f"{prefix}{model}"
    return Kind(prefix, server, lambda: open_model(name), missing)


def ollama() -> Kind:
    """The real one, where it runs and has the model."""
    if OLLAMAS not in [model.name for model in list_ollama_models(ollama_address()) or []]:
        missing = f"itself: none answers here that has {OLLAMAS}; burnish models pull ollama:{OLLAMAS}"
        return named("ollama:", OLLAMAS, "", missing=missing)
    with urllib.request.urlopen(f"{ollama_address()}/api/version", timeout=5) as answer:
        return named("ollama:", OLLAMAS, f"Ollama {json.load(answer)['version']}")


def transformers() -> Kind:
    """Weights in Transformers, where the extra is installed."""
    there = all(find_spec(package) for package in ("torch", "transformers", "gguf", "accelerate"))
    server = f"transformers {version('transformers')}" if there else ""
    return named("huggingface:", SMALL, server, missing="" if there else "needs the extra burnish[hf]")


def usable(names: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """The sandboxes that open here, each with its version, and why the others do not."""
    boxes, not_tried = {}, []
    for name in names:
        try:
            with open_sandbox(name, cells=1) as box:
                boxes[name] = box.level.partition(":")[0] if name != "process" else "process, no isolation"
        except SetupProblem as problem:
            not_tried.append(f"sandbox {name}: {problem}")
    return boxes, not_tried


def tried(kind: Kind, sandbox: str, level: str, folder: Path, limits: Limits = LIMITS) -> Row:
    """A sentence and a bug, with this model in this sandbox."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(dir=folder) as place:
        runs = [_run(one, kind, sandbox, Path(place), limits) for one in (_write, _fix)]
    tokens = sum(run.tokens_in + run.tokens_out for run in runs if isinstance(run, Run))
    wrote, fixed = (run if isinstance(run, str) else run.state for run in runs)
    return Row(kind, level, wrote, fixed, time.monotonic() - started, tokens)


def _run(verb: Verb, kind: Kind, sandbox: str, place: Path, limits: Limits) -> Run | str:
    """The run, or in one word why there is none."""
    try:
        return verb(kind.open(), sandbox, place, limits)
    except BurnishError as error:
        print(f"  {kind.prefix} in {sandbox}: {error}", flush=True)
        return "broken"


def _write(model: Model, sandbox: str, place: Path, limits: Limits) -> Run:
    return write(SENTENCE, model, fast=True, sandbox=sandbox, limits=limits, store=Store(place / "home"))


def _fix(model: Model, sandbox: str, place: Path, limits: Limits) -> Run:
    project = place / "project"
    project.mkdir()
    (project / "people.py").write_text(BROKEN)
    (project / "test_people.py").write_text(TESTS)
    return fix(project / "people.py", model, sandbox=sandbox, limits=limits, store=Store(place / "home"))


def table(rows: Sequence[Row]) -> str:
    """A line for each way to the model and a column for each sandbox, in Markdown."""
    boxes = list(dict.fromkeys(row.sandbox for row in rows))
    lines = [f"| model | through | {' | '.join(boxes)} |", "|---|---|" + "---|" * len(boxes)]
    for kind in dict.fromkeys((row.kind.prefix, row.kind.server) for row in rows):
        cells = {row.sandbox: row.cell for row in rows if (row.kind.prefix, row.kind.server) == kind}
        lines.append(f"| `{kind[0]}` | {kind[1]} | {' | '.join(cells.get(box, 'not tried') for box in boxes)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="", help="only these, as they begin: local:,openai:")
    parser.add_argument("--sandboxes", default="", help="only these: bubblewrap,docker")
    parser.add_argument("--seconds", type=float, default=LIMITS.seconds, help="for each run, where an engine is slow")
    asked = parser.parse_args()
    chosen = ([word for word in text.split(",") if word] for text in (asked.models, asked.sandboxes))
    main(*chosen, limits=LIMITS.model_copy(update={"seconds": asked.seconds}))
