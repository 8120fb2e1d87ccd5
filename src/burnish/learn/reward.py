"""What an answer is worth to a trainer: a pure function of what the grader and the checks say, in named parts.

The grader is the one that evaluations and verdicts use, so what cheats it there earns nothing here. Attempts to cheat
are found by reading, and counted; they change no reward, as a rule that did would be the next thing to be fooled.
"""

import ast
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, field_validator

from burnish.errors import SetupProblem
from burnish.events import Evidence, Frozen, Graded
from burnish.parsing import try_parse

PARTS = (
    *("correctness", "complete", "form", "quality", "performance", "security", "modularity", "reuse", "rounds"),
    "preference",
)
WANTED_FORM = re.compile(r"\s*```python\n.*\n```\s*", re.DOTALL)


class RewardRule(Frozen):
    """A rule of the user's own."""

    name: str
    pattern: str
    """A regular expression that is looked for in the code."""
    worth: float
    """Added where it is found."""


class RewardWeights(Frozen):
    """What each of the PARTS counts. One that the evidence does not have is left out, and counts neither way."""

    domain: str = "default"
    weights: dict[str, float] = Field(default_factory=lambda: dict(DOMAINS["default"]))
    rules: tuple[RewardRule, ...] = ()
    partial: bool = True
    """Whether some passing tests are worth something; else only all of them are."""

    @field_validator("weights")
    @classmethod
    def _refuse_others(cls, weights: dict[str, float]) -> dict[str, float]:
        if odd := weights.keys() - set(PARTS):
            raise ValueError(f"there is no part {min(odd)!r}")
        return weights


DOMAINS: Mapping[str, Mapping[str, float]] = {
    "default": {"correctness": 1.0, "complete": 1.0, "form": 0.2, "quality": 0.2, "performance": 0.1, "security": 0.2,
                "preference": 0.5, "rounds": 0.1},
    "scientific": {"correctness": 1.5, "complete": 1.5, "form": 0.2, "performance": 0.4, "quality": 0.1},
    "web": {"correctness": 1.0, "complete": 0.5, "form": 0.2, "security": 0.8, "quality": 0.2, "modularity": 0.2},
    "strict": {"complete": 1.0, "form": 0.1},
}  # fmt: skip


class Reward(Frozen):
    """What one answer is worth, and why."""

    total: float
    """Between 0 and 1 where no rule of the user's own applies."""
    parts: dict[str, float]
    """Each between 0 and 1; only those that there is evidence for."""
    cheat: str = ""
    """What it did that looks like an attempt to fool its judge; empty for nothing."""


def reward(
    graded: Graded | None,
    answer: str,
    code: str,
    weights: RewardWeights,
    evidence: Iterable[Evidence] = (),
    further: Mapping[str, float] | None = None,
) -> Reward:
    """What an answer is worth. None for `graded`: it could not even be run.

    `further` parts are between 0 and 1: how few rounds it took, what people prefer. Form, quality and the rest are
    worth as much as the share of tests that pass: a tidy wrong answer earns little.
    """
    right = graded.passed / len(graded.cases) if graded and graded.cases and not graded.problem else 0.0
    complete = float(graded is not None and graded.all_passed)
    share = right if weights.partial else complete
    found: dict[str, float] = {
        "correctness": share,
        "complete": complete,
        "form": float(bool(WANTED_FORM.fullmatch(answer))) * (1.0 if graded else 0.0),
        **{name: value * share for name, value in read_evidence(evidence).items()},
    }
    found |= {name: value * (1.0 if name == "preference" else share) for name, value in (further or {}).items()}
    counted = {name: weight for name, weight in weights.weights.items() if name in found and weight}
    total = sum(found[name] * weight for name, weight in counted.items()) / (sum(counted.values()) or 1.0)
    own = sum(rule.worth for rule in weights.rules if complete and re.search(rule.pattern, code))
    return Reward(total=total + own, parts=found, cheat=find_cheat(code))


def read_evidence(evidence: Iterable[Evidence]) -> dict[str, float]:
    """The parts that final checks give, each between 0 and 1. A check that did not run gives none."""
    found: dict[str, float] = {}
    for one in evidence:
        if one.verdict == "not_run":
            continue
        match one.check:
            case "quality":
                found["quality"] = _number(one.details.get("score")) / 100
                parts = one.details.get("parts")
                if isinstance(parts, Mapping):
                    found |= _read_quality(parts)
            case "performance" | "security":
                found[one.check] = float(one.verdict == "passed")
    return found


def _read_quality(parts: Mapping[str, Any]) -> dict[str, float]:
    """Modularity is that nothing is hard to follow, reuse that nothing is said twice."""
    named = {"modularity": "complexity", "reuse": "duplication"}
    scores = {name: dict(parts.get(part) or {}).get("score") for name, part in named.items()}
    return {name: _number(score) / 100 for name, score in scores.items() if score is not None}


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


ENDING = {"exit", "_exit", "quit", "abort", "kill"}
REACHING = {"inspect", "gc", "_pytest", "pytest", "unittest", "ctypes", "sys.settrace", "builtins"}


def find_cheat(code: str) -> str:
    """What in some code looks like an attempt to fool its judge; empty for nothing."""
    for node in ast.walk(try_parse(code) or ast.Module([], [])):
        match node:
            case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)) if name in ENDING:
                return f"ends the process: {name}"
            case ast.FunctionDef(name="__eq__" | "__ne__" as name, body=[ast.Return(value=ast.Constant(value=True))]):
                return f"equals everything: {name}"
            case ast.Import(names=names) if hit := {one.name.split(".")[0] for one in names} & REACHING:
                return f"reaches for its judge: {min(hit)}"
            case ast.ImportFrom(module=str(module)) if module.split(".")[0] in REACHING:
                return f"reaches for its judge: {module}"
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="builtins" | "sys" as name))]):
                return f"changes {name}"
    return ""


def read_weights(name: str) -> RewardWeights:
    """The weights of a domain by name, or of a TOML file. Raises SetupProblem with what is allowed."""
    if name in DOMAINS:
        return RewardWeights(domain=name, weights=dict(DOMAINS[name]))
    file = Path(name).expanduser()
    try:
        text = file.read_text("utf-8")
        return RewardWeights.model_validate(tomllib.loads(text))
    except FileNotFoundError as error:
        raise SetupProblem(
            f"There is no reward {name!r}. Name one of {', '.join(DOMAINS)}, or a TOML file: --reward FILE.toml"
        ) from error
    except (OSError, ValueError, ValidationError) as error:
        raise SetupProblem(
            f"The reward in {name!r} cannot be read: {error}. It has [weights] with some of {', '.join(PARTS)}, and"
            " [[rules]] with name, pattern and worth"
        ) from error
