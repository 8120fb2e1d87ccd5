"""How the source stands: size, fragments, names, knots. Run it on two checkouts to see what a change did to them.

    python benchmarks/house.py [CHECKOUT …]

Prints one column a checkout (this one alone by default). Nothing is imported from what is measured.
"""

import ast
import re
import statistics
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
IRREGULAR = re.compile(
    r"begun|born|bought|bound|broken|brought|caught|chosen|drawn|driven|eaten|fallen|felt|forgotten|found|given|grown"
    r"|heard|held|hidden|kept|known|laid|left|lent|made|meant|met|paid|said|seen|sent|shown|sold|sought|spent|spoken"
    r"|swept|taken|taught|thought|thrown|told|torn|worn|wound|written"
)
NO_PARTICIPLES = {"embed", "exceed", "feed", "need", "proceed", "red", "seed", "shed", "shred", "speed"}


def measure(src: Path) -> dict[str, str]:
    """The figures of one source tree, by what they say."""
    texts = {file: file.read_text("utf-8") for file in sorted(src.rglob("*.py"))}
    trees = {file: ast.parse(text) for file, text in texts.items()}
    lines = sum(text.count("\n") for text in texts.values())
    comments = sum(line.lstrip().startswith("#") or "  # " in line for t in texts.values() for line in t.splitlines())
    functions = [(file, node) for file, tree in trees.items() for node in functions_of(tree)]
    lengths = [(node.end_lineno or 0) - node.lineno + 1 for _, node in functions]
    words = {file: Counter(re.findall(r"[A-Za-z_]\w*", text)) for file, text in texts.items()}
    alone = sum(node.name.startswith("_") and words[file][node.name] == 2 for file, node in functions)
    participles = sum(is_participle(node.name) and not is_property(node) for _, node in functions)
    described = [n for tree in trees.values() for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.ClassDef)]
    classes = Counter(n.name for tree in trees.values() for n in ast.walk(tree) if isinstance(n, ast.ClassDef))
    folders = Counter(file.parent for file in texts)
    wide = [node for file, node in functions if parameters(node) > 6 and "cli" not in file.relative_to(src).parts]
    return {
        "files": str(len(texts)),
        "lines": str(lines),
        "statements": str(sum(isinstance(n, ast.stmt) for tree in trees.values() for n in ast.walk(tree))),
        "function length, median / 90 % / longest": spread(lengths),
        "private functions with one caller": share(alone, len(functions)),
        "functions named by a participle": share(participles, len(functions)),
        "definitions with a docstring": share(sum(bool(ast.get_docstring(n)) for n in described), len(described)),
        "lines with a comment": f"{100 * comments / lines:.1f} %",
        "class names used twice": str(sum(count > 1 for count in classes.values())),
        "functions of more than six parameters, outside cli": str(len(wide)),
        "most files in a folder": str(max(folders.values())),
        "files of 40 lines or fewer": str(sum(0 < text.count("\n") <= 40 for text in texts.values())),
        "modules with one importer": str(sum(len(who) == 1 for who in importers(trees, src).values())),
        "modules in import cycles": str(len(in_cycles(importers(trees, src)))),
    }


def functions_of(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """All functions and methods but those that Python calls itself."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("__"):
            yield node


def parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """How many parameters a caller can give."""
    names = [arg.arg for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def is_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """A property is read as a noun, so its name may be anything."""
    return any("property" in ast.dump(decorator) for decorator in node.decorator_list)


def is_participle(name: str) -> bool:
    """Whether a name begins with a word such as told or opened."""
    word = name.lstrip("_").split("_")[0]
    return bool(IRREGULAR.fullmatch(word)) or (word.endswith("ed") and word not in NO_PARTICIPLES)


def importers(trees: dict[Path, ast.Module], src: Path) -> dict[str, set[str]]:
    """For each module those that import it, inside functions too."""
    names = {file: ".".join(("burnish", *file.relative_to(src).with_suffix("").parts)) for file in trees}
    names = {file: name.removesuffix(".__init__") for file, name in names.items()}
    found: dict[str, set[str]] = {name: set() for name in names.values()}
    for file, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    target = f"{node.module}.{alias.name}"
                    target = target if target in found else node.module
                    if target in found and target != names[file]:
                        found[target].add(names[file])
    return found


def in_cycles(imported_by: dict[str, set[str]]) -> set[str]:
    """Modules that import themselves by way of others."""

    def reach(start: str) -> set[str]:
        known: set[str] = set()
        todo = list(imported_by[start])
        while todo:
            if (module := todo.pop()) not in known:
                known.add(module)
                todo += imported_by[module]
        return known

    return {module for module in imported_by if module in reach(module)}


def spread(lengths: list[int]) -> str:
    """Median, ninth decile and largest."""
    return f"{statistics.median(lengths):.0f} / {statistics.quantiles(lengths, n=10)[-1]:.0f} / {max(lengths)}"


def share(part: int, whole: int) -> str:
    """A share in percent."""
    return f"{100 * part / whole:.1f} %"


def main() -> None:
    """Print the table."""
    checkouts = [Path(name) for name in sys.argv[1:]] or [HERE]
    columns = [measure(checkout / "src" / "burnish") for checkout in checkouts]
    for figure in columns[0]:
        print(f"| {figure} | {' | '.join(column[figure] for column in columns)} |")


if __name__ == "__main__":
    main()
