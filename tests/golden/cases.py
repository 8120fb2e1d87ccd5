"""Reads the table of golden cases: `cases.toml`, with projects and other files from `texts.toml`.

Fields of a case: `use` (tables of texts.toml) and `files` are laid out; `say` is a scripted model's answers by purpose
(`all`: whenever code is asked for) and `model` the same in a row; `answers` are the server's, and `config` the protocol
that it is set up with; `env` is added to the environment; `data` marks what needs benchmark files; `each` makes a case
of every row. Steps are command lines, or tables: `line` or `python`, `stdin`, an edit of the folder before it (`put`
files, `remove` them, `swap` a text in one, `cut` the record after an event) and a signal (`kill`, `interrupt`).
"""

import io
import json
import shutil
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from signal import Signals
from typing import Any

from tests.golden.case import Case, Step

HERE = Path(__file__).parent
TEXTS: dict[str, dict[str, str]] = tomllib.loads((HERE / "texts.toml").read_text("utf-8"))
TABLE: dict[str, Any] = tomllib.loads((HERE / "cases.toml").read_text("utf-8"))
ASKING = ("draft", "rewrite", "reflect", "repair", "syntax", "repeat")
SIGNALS = {"kill": Signals.SIGKILL, "interrupt": Signals.SIGINT}
BINARY = {"latin.txt": "é".encode("latin-1"), "binary.py": b"\x7fELF\x00\x00\xff"}


def read_cases() -> Iterator[Case]:
    """All cases."""
    lines = {"write": "write {s} --model scripted:model.json --out out", "fix": "fix --model scripted:model.json"}
    for verb, line in lines.items():
        defaults = TABLE[verb]["defaults"]
        for name, spec in expand(TABLE[verb]["case"]):
            spec["say"] = defaults["say"] | spec.get("say", {})
            spec = ({} if "files" in spec else {"use": defaults.get("use", [])}) | defaults | spec
            first = {"line": f"{line} {spec['options']}", "stdin": spec.get("stdin", "")}
            yield make_case(f"{verb}/{name}", spec | {"do": [first, *spec.get("then", [])]})
    for name, spec in expand(TABLE["lines"]["case"]):
        yield make_case(name, spec)
    for verb, words in TABLE["input"].items():
        if verb == "help":
            words, verb = [f"{word} --help" for word in words], ""
        name = f"input/{verb or words[0] or 'burnish'}"
        spec = {"use": ["trash", "sizes", "toys"], "files": BINARY, "do": [f"{verb} {one}" for one in words]}
        yield make_case(name, spec)
    for sample in sorted(path.name.removesuffix(".tar.gz") for path in (HERE / "samples").glob("*.tar.gz")):
        yield real_case(sample)


def expand(cases: dict[str, dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The name and the fields of each case, for every row of its `each`."""
    for name, spec in cases.items():
        for row in spec.get("each", [[]]):
            yield fill(name, row), fill(spec, row)


def fill(value: Any, row: list[Any]) -> Any:
    """The value with the row's values in place of {0}, {1} … and named texts in place of @NAME."""
    if isinstance(value, dict):
        return {fill(key, row): fill(held, row) for key, held in value.items() if key != "each"}
    if isinstance(value, list):
        return [fill(held, row) for held in value]
    if not isinstance(value, str):
        return value
    for number, held in enumerate(row):
        value = value.replace(f"{{{number}}}", str(held))
    return TABLE["text"].get(value[1:], value) if value.startswith("@") else value


def make_case(name: str, spec: dict[str, Any]) -> Case:
    """A case from its fields."""
    files: dict[str, str | bytes] = {}
    for used in spec.get("use", []):
        files |= TEXTS[used]
    files |= spec.get("files", {})
    files |= {path: make_wheel(path, str(text)) for path, text in files.items() if path.endswith(".whl")}
    sentence, say = fill(spec.get("sentence", ""), []), fill(spec.get("say", {}), [])
    if "weakness" in spec:
        sentence, code = weakness(spec["weakness"])
        say |= {"": code, "all": code}
    if say:
        said = dict.fromkeys(ASKING, say.pop("all")) | say if "all" in say else say
        files["model.json"] = json.dumps({who: [one] if isinstance(one, str) else one for who, one in said.items()})
    elif "model" in spec:
        files["model.json"] = json.dumps(spec["model"])
    if "config" in spec:
        path = "/v1" if spec["config"] == "openai" else ""
        files["config.toml"] = f'[models.lab]\nkind = "{spec["config"]}"\nbase_url = "{{server}}{path}"\n'
    steps = tuple(make_step(one) for one in spec["do"])
    return Case(name, steps, sentence, files, tuple(spec.get("answers", ())), spec.get("env", {}), data="data" in spec)


def make_step(spec: str | dict[str, Any]) -> Step:
    """A step from a line, or from its fields."""
    if isinstance(spec, str):
        spec = {"line": spec}
    kind = next((kind for kind in SIGNALS if kind in spec), "")
    at = str(spec.get(kind, "0"))
    return Step(
        line=spec.get("line", "").replace("{long}", "x" * 30_000),
        code=TEXTS["python"][spec["python"]] if "python" in spec else "",
        stdin=spec.get("stdin", ""),
        edit=lambda folder: edit(folder, spec),
        signal=SIGNALS.get(kind),
        at=int(at) if at.isdigit() else at,
        loose="loose" in spec,
    )


def edit(folder: Path, spec: dict[str, Any]) -> None:
    """Change files before a step."""
    for name, text in spec.get("put", {}).items():
        (folder / name).write_text(text, "utf-8")
    for pattern in spec.get("remove", []):
        for path in list(folder.glob(pattern)):
            path.unlink()
    if "swap" in spec:
        name, old, new = spec["swap"]
        text = (folder / name).read_text("utf-8")
        assert old in text, (name, old)
        (folder / name).write_text(text.replace(old, new), "utf-8")
    if "cut" in spec:
        (record,) = (folder / "home/runs").glob("*/events.jsonl")
        rows = record.read_text("utf-8").splitlines(keepends=True)
        last = max(number for number, row in enumerate(rows) if json.loads(row)["kind"] == spec["cut"])
        record.write_text("".join(rows[: last + 1]), "utf-8")
        shutil.rmtree(folder / "out", ignore_errors=True)


def weakness(name: str) -> tuple[str, str]:
    """A sentence, and an answer that passes its examples and has one weakness that a check finds."""
    rows = TEXTS["weaknesses"][name].splitlines()
    said = [row.partition(": ")[2] for row in rows if row.startswith(("# prompt:", "# given:"))]
    code = "\n".join(row for row in rows if not row.startswith("# "))
    return said[0] + ", e.g.\n" + "\n".join(said[1:]), f"```python\n{code}\n```"


def make_wheel(path: str, code: str) -> bytes:
    """A wheel with one module; the same code makes the same bytes."""
    name, version = Path(path).name.split("-")[:2]
    info = f"{name}-{version}.dist-info"
    held = {
        f"{name}.py": code,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: golden\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    held[f"{info}/RECORD"] = "".join(f"{file},,\n" for file in [*held, f"{info}/RECORD"])
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as packed:
        for file, text in held.items():
            packed.writestr(zipfile.ZipInfo(file), text)
    return data.getvalue()


def real_case(sample: str) -> Case:
    """The record of a real model's run is looked at, and gone on with after its last answer by a model without any."""
    looks = ["show", "show --json", "show --code", "explain", "explain last --graph", "resume"]
    looks += ["verify out --fast --json", "show --evidence"] if sample.startswith("write") else ["show --tests"]
    again = [{"python": "go on", "cut": "model_replied"}, "explain", "show --json"]
    return Case(f"real/{sample}", tuple(make_step(one) for one in [*looks, *again]), sample=sample)


CASES = list(read_cases())
assert len({case.name for case in CASES}) == len(CASES), "two cases have the same name"
