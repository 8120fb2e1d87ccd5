"""A case to be measured on: a sentence, what the model is told besides, and a rubric of criteria with points.

A case is a folder with a `case.toml`. Shipped ones may use probes in Python; those of a user only JavaScript, which
runs in the page's isolated world and reaches nothing that the page itself does not.
"""

import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from burnish.errors import SetupProblem
from burnish.events import CriterionHeld, CriterionScore, CriterionTicked, PageObserved, PageScored
from burnish.pages.page import LivePage
from burnish.pages.probes import NO_FOLLOW_UP, PROBES, Prober

SHIPPED = ("counter", "clock", "life", "life-direction", "scan")
"""The cases that come with Burnish, the easiest first."""
FEWEST_PAIRS = 5
"""Below so many judgements an agreement says nothing."""
_CASES = Path(__file__).parent / "cases"
_STRICT = ConfigDict(extra="forbid", strict=True)
_LOOPBACK = r"127(?:\.\d{1,3}){3}"


@dataclass(frozen=True)
class Criterion:
    """One thing that a page must do, and what it is worth."""

    __pydantic_config__ = _STRICT

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")]
    what: Annotated[str, Field(pattern=r"\S", max_length=400)]
    """A sentence for people, and for the model where the criterion does not hold."""
    points: Annotated[int, Field(ge=1, le=1000)]
    decay: Annotated[float, Field(ge=0, le=1)] = 0.5
    """The factor for each cycle after the first; 1.0: it does not decay."""
    by: Literal["probe", "person"] = "probe"
    script: str = ""
    """JavaScript: an expression that is true where the criterion holds, or says in a text why it does not. It sees
    `facts`, which the case's `measure` returned, and what `probes.js` defines."""
    function: str = ""
    """In place of a script: the name of a probe in Python, from `probes.PROBES`."""
    seconds: Annotated[float, Field(gt=0, le=600)] = 10.0
    """How long its probe may take; for one that watches for a while: how long it watches."""
    at_end: bool = False
    """Whether it is judged on the last version alone, as its probe takes long."""


@dataclass(frozen=True)
class Case:
    """A sentence with its rubric."""

    __pydantic_config__ = _STRICT

    name: str
    sentence: Annotated[str, Field(pattern=r"\S", max_length=4000)]
    criteria: Annotated[tuple[Criterion, ...], Field(min_length=1, max_length=100)]
    context: str = ""
    """Told to the model besides the usual context."""
    targets: tuple[Annotated[str, Field(pattern=rf"^{_LOOPBACK}:(?:\d{{1,5}}|\*)$")], ...] = ()
    """Loopback addresses (`127.0.0.2:*`) that the page may reach; none unless the case grants them."""
    servers: tuple[Annotated[str, Field(pattern=rf"^{_LOOPBACK}:\d{{1,5}}$")], ...] = ()
    """Where plain HTTP servers listen for the page (`127.0.0.2:8080`)."""
    measure: str = ""
    """JavaScript, the body of an async function, run once a version before its criteria are judged, as most of them
    need the page to be used in the same way. It returns `facts`; `isLast` is true on the last version, `servers` are
    those of the case. In the file: the name of a file in the case's folder."""
    measure_seconds: Annotated[float, Field(gt=0, le=600)] = 15.0
    folder: Path | None = None


_FILE = TypeAdapter(Case)
_UNKNOWN_KEY = "unexpected_keyword_argument"
"""What pydantic calls it for a dataclass."""
_ALLOWED = {
    "name": "small letters, digits and -, at most 40",
    "what": "a sentence",
    "points": "a whole number from 1 to 1000",
    "decay": "a number from 0 to 1: the factor for each further round (1 does not decay)",
    "by": '"probe" or "person"',
    "script": "a text: an expression in JavaScript",
    "function": "the name of a probe that ships with Burnish",
    "seconds": "a number above 0, up to 600",
    "at_end": "true or false",
    "sentence": "a text: what the page shall be",
    "context": "a text",
    "targets": 'a list of loopback addresses with ports, such as "127.0.0.2:*"',
    "servers": 'a list of loopback addresses with ports, such as "127.0.0.2:8080"',
    "measure": "the name of a file in the case's folder",
    "measure_seconds": "a number above 0, up to 600",
    "criteria": "at least one [[criteria]] table, each with name, what and points",
}
"""What each key of a case.toml may hold."""


def load_case(name: str) -> Case:
    """A shipped case by its name, or one's own by its folder. Raises SetupProblem with file, line, what is allowed."""
    folder = _CASES / name if name in SHIPPED else Path(name)
    file = folder / "case.toml"
    try:
        text = file.read_text("utf-8")
    except (OSError, ValueError) as error:
        raise SetupProblem(
            f"There is no case {name!r}: shipped are {', '.join(SHIPPED)}; one of your own is a folder with a"
            f" case.toml that can be read ({type(error).__name__})",
            f"burnish page --case {SHIPPED[0]}",
        ) from error
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SetupProblem(f"The rubric {file} is no TOML: {error}. Mend it", f"${{EDITOR:-nano}} {file}") from error
    for key in {"name", "folder"} & data.keys():
        raise _refuse(file, text, (key,), f"there is no key {key!r}: a case is called as its folder is")
    try:
        # By way of JSON, as a strict check of Python's own values would want tuples for TOML's lists.
        case = _FILE.validate_json(json.dumps(data | {"name": folder.resolve().name}, default=str))
    except ValidationError as error:
        mistakes = error.errors(include_url=False, include_input=False)
        # A key that is misspelt is missing, too, and that is the lesser half of the story.
        first = min(mistakes, key=lambda mistake: mistake["type"] != _UNKNOWN_KEY)
        raise _refuse(file, text, first["loc"], _explain(first["loc"], first["type"])) from error
    for where, why in _find_mistakes(case, is_own=name not in SHIPPED):
        raise _refuse(file, text, where, why)
    if case.measure:
        script = folder / case.measure
        try:
            if not script.resolve().is_relative_to(folder.resolve()):
                raise OSError("it lies outside")
            case = replace(case, measure=script.read_text("utf-8"))
        except (OSError, ValueError) as error:
            why = f"`measure` must be {_ALLOWED['measure']} ({type(error).__name__})"
            raise _refuse(file, text, ("measure",), why) from error
    return replace(case, folder=folder.resolve())


def _explain(where: tuple[int | str, ...], kind: str) -> str:
    key = next((str(part) for part in reversed(where) if isinstance(part, str)), "")
    if kind == "missing":
        return f"`{key}` is missing: {_ALLOWED[key]}"
    if kind == _UNKNOWN_KEY:
        table = Criterion if where[0] == "criteria" else Case
        known = [
            name for name in table.__dataclass_fields__ if name in _ALLOWED and (table is Criterion or name != "name")
        ]
        near = get_close_matches(key, known, n=1, cutoff=0.6)
        return f"there is no key {key!r}; " + (
            f"perhaps {near[0]!r} is meant" if near else f"known: {', '.join(known)}"
        )
    return f"`{key}` must be {_ALLOWED[key]}"


def _find_mistakes(case: Case, is_own: bool) -> Iterable[tuple[tuple[int | str, ...], str]]:
    """What is wrong with a rubric in which each value by itself is right: the key, and why."""
    seen = set[str]()
    for place, criterion in enumerate(case.criteria):
        here = ("criteria", place)
        if criterion.name in seen:
            yield (*here, "name"), f"two criteria are called {criterion.name!r}; give each a name of its own"
        seen.add(criterion.name)
        if criterion.function and is_own:
            yield (*here, "function"), "a case of your own is judged by a `script` in JavaScript, not by a `function`"
        if criterion.script and criterion.function:
            yield (*here, "function"), f"{criterion.name!r} has both a `script` and a `function`; keep one of them"
        if criterion.function and criterion.function not in PROBES:
            yield (*here, "function"), f"there is no probe {criterion.function!r}; known: {', '.join(PROBES)}"
        has_probe = bool(criterion.script.strip() or criterion.function)
        if criterion.by == "probe" and not has_probe:
            yield (*here, "name"), f'{criterion.name!r} has no probe: give it a `script`, or say by = "person"'
        if criterion.by == "person" and (has_probe or criterion.at_end):
            yield (*here, "by"), f"{criterion.name!r} is judged by a person; leave out `script`, `function`, `at_end`"
        if criterion.by == "person" and criterion.decay != Criterion.decay:
            yield (*here, "decay"), f"{criterion.name!r} is judged by a person, once; leave out `decay`"
    for server in case.servers:
        if not {server, f"{server.partition(':')[0]}:*"} & set(case.targets):
            yield ("servers",), f"the page could not reach {server}: name it in `targets` too"


def _refuse(file: Path, text: str, where: tuple[int | str, ...], why: str) -> SetupProblem:
    """Says in which line: that of the key in its table, else where the table begins."""
    lines = text.splitlines()
    keys = [part for part in where if isinstance(part, str)]
    begin = 0
    if len(where) > 1 and where[0] == "criteria" and isinstance(where[1], int):
        headers = [number for number, line in enumerate(lines) if re.match(r"\s*\[\[\s*criteria\s*\]\]", line)]
        begin = headers[where[1]] if where[1] < len(headers) else 0
    found = begin
    for number, line in enumerate(lines[begin:], begin):
        if number > begin and line.lstrip().startswith("[[") and begin:
            break
        if keys and re.match(rf"""\s*["']?{re.escape(keys[-1])}["']?\s*=""", line):
            found = number
            break
    return SetupProblem(
        f"The rubric {file} cannot be used: line {found + 1}: {why}. Mend it", f"${{EDITOR:-nano}} +{found + 1} {file}"
    )


def judge_version(
    case: Case, page: LivePage, is_last: bool, observed: PageObserved | None = None
) -> tuple[CriterionHeld, ...]:
    """What the probes say of the version that runs; those that are `at_end` only of the last one.

    `observed` is what came of running it: without that, whether it threw is not judged. The page is used as a person
    would use it, and is left running.
    """
    prober = Prober(page, case.measure, case.measure_seconds, is_last, case.servers)
    prober.observed = observed
    return tuple(
        prober.judge(criterion.name, criterion.script, criterion.function, criterion.seconds)
        for criterion in case.criteria
        if criterion.by == "probe" and criterion.function != NO_FOLLOW_UP and (is_last or not criterion.at_end)
    )


def score(case: Case, held: Mapping[int, Sequence[CriterionHeld]], follow_ups: int = 0) -> PageScored:
    """The points, from what held in which cycle: a criterion counts from the first cycle after which it always held.

    Points that decay are floored: 10 at 0.5 give 10, 5, 2, 1, 0. A person's criteria are open (None) until ticked.
    """
    rows = []
    for criterion in case.criteria:
        row = CriterionScore(
            name=criterion.name, what=criterion.what, points=0, of=criterion.points, by=criterion.by, holds=None
        )
        if criterion.function == NO_FOLLOW_UP:
            points = criterion.points if not follow_ups else 0
            rows.append(row.model_copy(update={"points": points, "holds": not follow_ups}))
            continue
        since = None
        judged = [(cycle, of) for cycle in sorted(held) for of in held[cycle] if of.name == criterion.name]
        for cycle, of in reversed(judged):
            if not of.holds:
                break
            since = cycle
        if judged:
            row = row.model_copy(update={"holds": judged[-1][1].holds, "why": judged[-1][1].why, "cycle": since})
        if since is not None:
            # As decimals, since 0.1 of 10 would else be floored to 0 now and then.
            factor = (
                Decimal(str(criterion.decay)) ** (since - 1) if since > 1 else 1
            )  # of decimals, 0 ** 0 is no number
            points = int(criterion.points * factor)
            row = row.model_copy(update={"points": points})
        rows.append(row)
    return _sum_up(PageScored(case=case.name, criteria=(), points=0, of=0, follow_ups=follow_ups), rows)


def add_ticks(scored: PageScored, ticks: Sequence[CriterionTicked]) -> PageScored:
    """The same with what a person said of each criterion that is theirs; the last word of each counts."""
    said = {tick.name: tick.holds for tick in ticks if tick.case == scored.case}
    rows = [
        row.model_copy(update={"holds": said[row.name], "points": row.of if said[row.name] else 0})
        if row.by == "person" and row.name in said
        else row
        for row in scored.criteria
    ]
    return _sum_up(scored, rows)


def _sum_up(scored: PageScored, rows: Sequence[CriterionScore]) -> PageScored:
    return scored.model_copy(
        update={
            "criteria": tuple(rows),
            "points": sum(row.points for row in rows),
            "of": sum(row.of for row in rows),
        }
    )


def agreement(pairs: Iterable[tuple[bool, bool]]) -> float | None:
    """Cohen's κ between what probes and people said of the same criteria.

    None with fewer than five pairs, or where both always said the same one thing: chance alone would agree then.
    """
    both = list(pairs)
    if len(both) < FEWEST_PAIRS:
        return None
    observed = sum(probe == person for probe, person in both) / len(both)
    probes, people = (sum(column) / len(both) for column in zip(*both, strict=True))
    by_chance = probes * people + (1 - probes) * (1 - people)
    return None if by_chance == 1 else (observed - by_chance) / (1 - by_chance)
