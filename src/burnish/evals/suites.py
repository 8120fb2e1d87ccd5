"""The suites by name. `burnish eval list` shows them; a path to a JSON-lines file is a suite too."""

import difflib
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from burnish.errors import SetupProblem
from burnish.evals.plan import Protocol
from burnish.evals.planting import planted
from burnish.evals.validate import Broken, Validation, tasks_hash, validate
from burnish.sandbox.open import open_sandbox
from burnish.sandbox.sandbox import Sandbox
from burnish.tasks import mbppfix
from burnish.tasks.data import Progress
from burnish.tasks.humanevalpack import load_humaneval, load_humanevalfix
from burnish.tasks.jsonl import load_jsonl
from burnish.tasks.mbpp import load_mbpp
from burnish.tasks.mbppplus import load_mbppplus
from burnish.tasks.task import Split, Task

__all__ = [
    "SUITES",
    "Broken",
    "SuiteInfo",
    "Validation",
    "describe",
    "is_file_suite",
    "load_suite",
    "tasks_hash",
    "validate",
    "variant_of",
]


@dataclass(frozen=True)
class Order:
    """What was asked for, once the names in it are known to be right."""

    variant: str
    split: Split
    data: Path | None
    sandbox: Sandbox | None
    progress: Progress | None


@dataclass(frozen=True)
class SuiteInfo:
    """One suite, as `burnish eval list` tells of it."""

    name: str
    what: str
    rows: int
    """Tasks of the split that is reported, before validation."""
    load: Callable[[Order], list[Task]] = field(repr=False)
    variants: tuple[str, ...] = ()
    """The first is taken when none is named."""
    splits: tuple[Split, ...] = ("eval",)
    protocols: tuple[Protocol, ...] = ("visible", "oracle")


def load_suite(
    name: str,
    *,
    variant: str = "",
    split: Split = "eval",
    protocol: Protocol = "visible",
    data: Path | None = None,
    limit: int | None = None,
    sandbox: Sandbox | None = None,
    progress: Progress | None = None,
) -> list[Task]:
    """The tasks of a suite, in its own order. Raises SetupProblem for a name, variant, split or row that is wrong.

    `protocol` is only checked: a suite whose scoring tests hold the answer cannot show them.
    `mbppfix` proves its bugs in a sandbox the first time; it opens one of its own unless one is given.
    """
    chosen = variant_of(name, variant)
    if is_file_suite(name):
        return load_jsonl(_existing(name))[:limit]
    suite = SUITES[name]
    if split not in suite.splits:
        raise SetupProblem(f"The suite {name!r} has no split {split!r}. It has: {', '.join(suite.splits)}.")
    if protocol not in suite.protocols:
        raise SetupProblem(
            f"The scoring tests of {name!r} hold the reference, so they cannot be shown under {protocol!r}. "
            f"Type: burnish eval {name} --protocol visible"
        )
    return suite.load(Order(chosen, split, data, sandbox, progress))[:limit]


def describe() -> list[SuiteInfo]:
    """Every suite with a name."""
    return list(SUITES.values())


def variant_of(name: str, variant: str = "") -> str:
    """The variant that is meant; empty for a suite that has none."""
    has = () if is_file_suite(name) else _known(name).variants
    if not variant:
        return has[0] if has else ""
    if not has:
        raise SetupProblem(f"The suite {name!r} has no variants. Leave the variant out: burnish eval {name}")
    if variant not in has:
        near = difflib.get_close_matches(variant, has, 1, 0.3) or has[:1]
        raise SetupProblem(
            f"The suite {name!r} has no variant {variant!r}; it has {' and '.join(has)}. "
            f"Did you mean this? burnish eval {name} --variant {near[0]}"
        )
    return variant


def is_file_suite(name: str) -> bool:
    """Whether a suite's name is the path of a file."""
    return name not in SUITES and (name.endswith(".jsonl") or Path(name).is_file())


def _existing(name: str) -> Path:
    path = Path(name).expanduser()
    if not path.is_file():
        raise SetupProblem(
            f"There is no file {name!r} to take tasks from. Name one that exists, or a suite of: burnish eval list"
        )
    return path


def _known(name: str) -> SuiteInfo:
    if name not in SUITES:
        near = difflib.get_close_matches(name.lower(), SUITES, 3, 0.4)
        meant = f" Did you mean {_either(near)}?" if near else ""
        raise SetupProblem(f"There is no suite {name!r}.{meant} See them with: burnish eval list")
    return SUITES[name]


def _either(names: Sequence[str]) -> str:
    return " or ".join(repr(name) for name in names)


def _mbppfix(order: Order) -> list[Task]:
    """The proven bugs as tasks of one variant."""
    tasks = {task.id: task for task in load_mbpp(order.split, order.data, order.progress)}
    with nullcontext(order.sandbox) if order.sandbox else open_sandbox() as box:
        bugs = planted(list(tasks.values()), box, order.progress)
    return list(_in_variant(order.variant, tasks, bugs))


def _in_variant(variant: str, tasks: dict[str, Task], bugs: Iterable[mbppfix.PlantedBug]) -> Iterable[Task]:
    for bug in bugs:
        around = [tasks[name] for name in bug.neighbours]
        if variant == "docs":
            yield mbppfix.as_docs(tasks[bug.id], bug)
        elif variant == "tests":
            yield mbppfix.as_tests(tasks[bug.id], bug)
        elif around:
            yield mbppfix.as_file(tasks[bug.id], bug, around)


SUITES = {
    suite.name: suite
    for suite in (
        SuiteInfo(
            "humanevalfix",
            "repair a function with a bug: with its docstring (docs), or with examples alone (tests)",
            164,
            lambda order: load_humanevalfix(order.variant, order.data, order.progress),
            ("docs", "tests"),
        ),
        SuiteInfo(
            "humaneval",
            "write a function from its docstring",
            164,
            lambda order: load_humaneval(order.data, order.progress),
        ),
        SuiteInfo(
            "mbpp",
            "write a function from a sentence and one assertion",
            500,
            lambda order: load_mbpp(order.split, order.data, order.progress),
            splits=("eval", "tune"),
        ),
        SuiteInfo(
            "mbppplus",
            "the same, scored with about a hundred inputs a task",
            224,
            lambda order: load_mbppplus(order.data, order.progress),
            protocols=("visible",),  # its scoring script computes what is expected with the reference
        ),
        SuiteInfo(
            "mbppfix",
            "repair a planted bug: with a docstring (docs), a failing test alone (tests), in a file of five (file)",
            499,
            _mbppfix,
            mbppfix.VARIANTS,
            ("eval", "tune"),
        ),
    )
}
