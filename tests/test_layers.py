"""Imports point one way, so that every part can be read without those above it."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.support import ROOT

SRC = ROOT / "src" / "burnish"
LAYERS = [
    "cli mcp",
    "web",
    "commands",
    "learn",
    "evals",
    "apps",
    "pages",
    "model_choice",
    "runs",
    "agent",
    "strengthening",
    "doctor",
    "evidence",
    "report",
    "checks",
    "models sandbox packages search",
    "tasks config",
    "events",
    "json_schema zips",
    "errors text paths no_telemetry version parsing intervals jsonlines redact",
    "system",
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names.split()}
DOORS = {"__init__", "__main__"}
"""The two files above all layers: they may name anything, and nothing may import them for what is below."""


def part_of(file: Path, src: Path) -> str:
    return file.relative_to(src).parts[0].removesuffix(".py")


def imported(file: Path) -> Iterator[str]:
    """The parts of Burnish that a file imports, inside functions too."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: our one import form is absolute"
            module = node.module or ""
            if module == "burnish":
                yield from (alias.name for alias in node.names)
            elif module.startswith("burnish."):
                yield module.split(".")[1]
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[1] for alias in node.names if alias.name.startswith("burnish."))


def uphill_imports(src: Path) -> list[str]:
    """Each entry reads "tasks imports cli"."""
    found = []
    for file in sorted(src.rglob("*.py")):
        part = part_of(file, src)
        if part in DOORS or "inside" in file.relative_to(src).parts:  # what runs in a cell imports nothing of ours
            continue
        found += [f"{part} imports {other}" for other in imported(file) if other != part and RANK[other] <= RANK[part]]
    return found


@pytest.mark.slow
def test_imports_only_point_down() -> None:
    assert uphill_imports(SRC) == []


def test_every_part_has_its_place() -> None:
    parts = {part_of(file, SRC) for file in SRC.rglob("*.py")} - DOORS
    assert parts <= RANK.keys(), "give the new part its place in LAYERS"


def test_an_uphill_import_would_be_seen(tmp_path: Path) -> None:
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "task.py").write_text("def later():\n    from burnish.cli.main import main\n")
    (tmp_path / "sandbox").mkdir()
    (tmp_path / "sandbox" / "box.py").write_text("from burnish import models\nimport burnish.agent.graph\n")
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "fine.py").write_text("from burnish.events import Event\nfrom burnish import paths\n")
    assert uphill_imports(tmp_path) == ["sandbox imports models", "sandbox imports agent", "tasks imports cli"]


def heavy(name: str) -> set[str]:
    """The files that import a package, by their path in src."""
    return {file for file, packages in packages_by_file().items() if name in packages}


@cache
def packages_by_file() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for file in SRC.rglob("*.py"):
        packages = found.setdefault(str(file.relative_to(SRC)), set())
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            packages |= {module.split(".")[0] for module in modules}
    return found


@pytest.mark.slow
def test_torch_stays_in_its_rooms() -> None:
    assert all(file.startswith(("learn/", "models/huggingface")) for file in heavy("torch") | heavy("transformers"))


@pytest.mark.slow
def test_langgraph_is_known_to_the_graph_alone_and_llama_cpp_to_the_local_model() -> None:
    assert heavy("langgraph") - {"apps/graph.py"} == {"agent/graph.py", "pages/graph.py"}
    assert heavy("xllamacpp") == {"models/local.py"}
    assert heavy("matplotlib") | heavy("numpy") == set(), "pictures are drawn by evals/reports/svg.py"
    assert heavy("pickle") == set(), "nothing a sandboxed process sends is ever unpickled"


def test_code_is_typed_for_its_users() -> None:
    assert (SRC / "py.typed").is_file()
