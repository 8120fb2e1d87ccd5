"""What is kept of a step: data that a user or a program relies on. No times, ids, paths or English sentences."""

import ast
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

VARIES = re.compile(
    r"seconds|_at$|^at$|started$|per_second|burnish|^sandbox$|^machine|^commit|^seal$|^path$|^report.md$|^tools$|^slowest$"
)
"""Keys whose values differ from run to run, or from version to version: only the type of the value is kept."""
HASHED = {"code", "text", "messages", "diff", "tests_file", "output", "inputs"}
"""Long texts that are data: kept as a hash."""
VERBATIM = {"test", "tests", "given_tests", "entry_point", "signature", "disputed", "exposing", "prompt"}
"""Keys under which a text of several words is data."""
AT_ONCE = {"asked", "model_replied", "answer_lost", "code_proposed", "tests_proposed", "tests_frozen", "tests_ran"}
AT_ONCE |= {"stopped"}
"""Events of what is done side by side, so that their order is chance; one of them may meet a limit."""
TIMED = {"details", "figure", "why", "before", "after"}
"""What the performance check says in measured times."""
DOCUMENTS = {"evidence.json", "results.json", "report.json"}
ONLY_PRESENT = (".md", ".html", ".svg", ".lock", "eval.json")
"""Files for people: that they are there is kept, and not what they say."""


def digest(data: str | bytes) -> str:
    """The first twelve digits of a SHA-256."""
    return hashlib.sha256(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data).hexdigest()[:12]


class Eye:
    """Turns what a case left behind into facts; knows the texts that stand for nothing but this very run."""

    def __init__(self, folder: Path, marks: Mapping[str, str]) -> None:
        self.folder, self.marks = folder, marks

    def plain(self, text: str) -> str:
        """The text with marks in place of this run's ids, folders and addresses."""
        for name, mark in (*((run, "RUN") for run in self._ids()), *self.marks.items()):
            text = text.replace(name, mark)
        return re.sub(r"0x[0-9a-f]{6,}", "0xADDRESS", text)

    def _ids(self) -> list[str]:
        homes = (self.folder / "home" / kind for kind in ("runs", "evals"))
        return [entry.name for home in homes if home.is_dir() for entry in home.iterdir()]

    def facts(self, value: Any, key: str = "") -> Any:
        """A JSON value with only what must stay the same."""
        if VARIES.search(key):
            return type(value).__name__
        if isinstance(value, Mapping):
            if value.get("check") == "performance":  # its figures are measured times
                value = {name: held for name, held in value.items() if name not in TIMED}
            if {"base", "tried", "passed"} <= set(value):  # small edits are tried for so many seconds
                value = {name: held for name, held in value.items() if name != "tried"}
            return {self.plain(str(name)): self.facts(held, str(name)) for name, held in value.items()}
        if key in HASHED and value:
            return digest(self.plain(value if isinstance(value, str) else json.dumps(value)))
        if isinstance(value, list):
            return [self.facts(held, key) for held in value]
        if not isinstance(value, str):
            return round(value, 6) if isinstance(value, float) else value
        if key in ("figure", "before", "after") and any(map(str.isdigit, value)):
            return re.findall(r"\d+(?:\.\d+)?", value)
        if key == "figure":
            return "text" if value else ""
        text = self.plain(value)
        return text if key in VERBATIM or text.count(" ") < 2 else "text"

    def events(self, lines: Iterable[str]) -> dict[str, Any]:
        """The kinds of events in order, and the facts of each kind."""
        found = [json.loads(line) for line in lines if line.strip()]
        order: list[str] = []
        for at_once, group in groupby((event["kind"] for event in found), AT_ONCE.__contains__):
            counted = sorted(Counter(group).items()) if at_once else [(k, len([*g])) for k, g in groupby(group)]
            order += [kind if count == 1 else f"{kind}*{count}" for kind, count in counted]
        kinds: dict[str, list[Any]] = {}
        for event in found:
            kinds.setdefault(event["kind"], []).append(self.facts({k: v for k, v in event.items() if k != "kind"}))
        for kind in AT_ONCE & set(kinds):
            kinds[kind].sort(key=lambda fact: json.dumps(fact, sort_keys=True))
        return {"order": order, **kinds}

    def outcome(self, lines: Iterable[str]) -> dict[str, Any]:
        """How a run ended, whatever its way there was."""
        found = [json.loads(line) for line in lines if line.strip()]
        last = {event["kind"]: event for event in found}
        answered = Counter(e["ask_id"] for e in found if e["kind"] == "model_replied" and e["ended"] != "cut")
        return {
            "verdict": last.get("run_finished", {}).get("verdict"),
            "stopped": last.get("stopped", {}).get("reason"),
            "answered_twice": sorted(ask for ask, count in answered.items() if count > 1),
        }

    def document(self, text: str) -> Any:
        """A JSON document, or JSON lines; None where the text is neither."""
        try:
            return self.facts(json.loads(text))
        except ValueError:
            pass
        try:
            rows = [json.loads(line) for line in text.splitlines()]
        except ValueError:
            return None
        return self.events(json.dumps(row) for row in rows if row.get("kind") not in ("model_chunk", "notice"))

    def file(self, path: Path) -> Any:
        """What is kept of a file in the case's folder."""
        if path.name.endswith(ONLY_PRESENT) or path.parent.name == "attempts":
            return "present"
        if path.name in DOCUMENTS:
            return self.document(path.read_text("utf-8"))
        if path.name.startswith("test_") and path.suffix == ".py":
            return code_digest(path.read_text("utf-8"))
        data = path.read_bytes()
        return digest(self.plain(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape"))


def code_digest(code: str) -> str:
    """A hash of code that no comment and no docstring of the module changes."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError):
        return digest(code)
    if ast.get_docstring(tree) is not None:
        del tree.body[0]
    return digest(ast.dump(tree))


def flat(value: Any, path: str = "") -> dict[str, Any]:
    """A nested value as paths and leaves."""
    items: Iterable[tuple[Any, Any]]
    if isinstance(value, dict) and value:
        items = value.items()
    elif isinstance(value, list) and value:
        items = enumerate(value)
    else:
        return {path: value}
    return {place: leaf for key, held in items for place, leaf in flat(held, f"{path}/{key}").items()}
