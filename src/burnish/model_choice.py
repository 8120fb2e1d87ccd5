"""Who answers where the user leaves that open (`--model auto`): what is there, how it did so far, and who is taken.

How each model did and how fast it wrote is read from what is on record: runs, `models doctor`, and evaluations. Free
comes before paid, and what is known of a model before what is hoped of it; docs/design/choosing.md has the rule.
"""

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import Field

from burnish.agent.limits import Limits, check_priced
from burnish.agent.policy import Strength, strength
from burnish.config import load
from burnish.errors import SetupProblem
from burnish.events import Frozen, ModelReplied
from burnish.intervals import wilson
from burnish.models.catalog import CATALOG, DEFAULT_MODEL
from burnish.models.discovery import ListedModel, list_models, run_together
from burnish.models.model import Model
from burnish.models.names import AUTO, Models, default_names, list_given, open_model, open_models, split_names
from burnish.models.providers import PACKAGES, ModelServer, list_servers
from burnish.models.weights import is_checked
from burnish.paths import home
from burnish.runs import Store
from burnish.runs.store import open_run
from burnish.system import read_total_memory
from burnish.text import plural

PRIORS: dict[Strength, float] = {"small": 0.5, "middle": 0.7, "strong": 0.8}
"""Shares that models of a size solve, between what they do on MBPP and on HumanEvalFix (docs/results.md)."""
FOR_CODE = 0.05
"""What a model that was made for code is better by."""
PRIOR_RUNS = 8
"""Runs that the share we expect of a size counts for: fewer than these say little against it."""
MOST_TASKS = 20
"""Tasks of evaluations that count: suites differ, and the user's own runs are nearer to what is asked next."""
WORTH_A_TRY = 0.6
"""The share from which on a cheaper model is asked first: more than the smallest reach, unless they did well here."""
SIZES = tuple(PRIORS)
LOOK_SECONDS = 1.0
MEMORY_SHARE = 0.8
"""Of this machine's memory, what weights may fill."""
SMALL_BYTES, MIDDLE_BYTES = 0.7e9, 4.2e9
"""How large weights of less than one and of less than seven billion numbers are, as servers keep them."""
LIGHT = re.compile(r"(?<![a-z])(?:nano|mini|lite|flash|haiku|small)(?![a-z])")
PLAIN_NAME = re.compile(r"[\w.:/@+-]{1,200}")
"""How names look. With a comma in a name, a server could otherwise name a second model of another server."""
NOT_FOR_CODE = re.compile(
    r"embed|minilm|\bbge|\bgte-|\be5-|paraphrase|rerank|colbert|\b(?:code|ro)?bert"  # numbers, no text
    r"|whisper|tts|audio|realtime|transcribe|image|dall-e|sora|moondream|llava|minicpm-v|\bocr\b"
    r"|moderation|guard|shield|search|computer-use|sqlcoder|nsql|reader-lm|nuextract"  # one trade that is not ours
    # base models, which continue a text and hold no conversation
    r"|\bbase\b|(?:\db-|:)(?:code|text|python|fim|pt)(?=$|-q\d|-fp\d)|(?:starcoder|stable-code)(?!.*instruct)"
    r"|babbage|davinci|turbo-instruct|gpt-3\.5|codex|(?:o|gpt-)\d(?:\.\d)?-pro"  # old, or another protocol
    r"|[-:]cloud$"  # listed by a local Ollama, and everything is sent elsewhere
)
LEAST_TOKENS = 16
"""Of an answer whose speed counts: a shorter one tells how fast a model reads, not how fast it writes."""
NEWEST_EVALUATIONS = 30
"""How many are read at most: a choice is made at every run and must be quick."""
TRIALS = "doctor"
"""The folder, in the home of runs, of what `models doctor` has on record."""

Opener = Callable[[str], Sequence[Model]]
"""Opens the models of `small,large`; the command line shows a bar while their weights are fetched."""


class ChoiceReason(StrEnum):
    """Why these models answer."""

    NAMED = "named"
    BEST = "best"
    CHEAPER_FIRST = "cheaper_first"
    """A cheaper one that is good enough answers; the best one helps, where two may be asked."""
    LARGER_HELPS = "larger_helps"
    """The best one answers; one that promises more, and is larger or dearer, helps where two may be asked."""
    NOTHING_FREE = "nothing_free"
    NOTHING_THERE = "nothing_there"


@dataclass(frozen=True)
class Choice:
    """Who answers: one name, or `small,large`; the names are enough where nobody has to be asked."""

    names: str
    reason: ChoiceReason = ChoiceReason.NAMED
    why: str = ""
    """The reason in one sentence, where they were chosen for the user; it goes on record with the run."""
    models: Sequence[Model] = ()
    """Those that were open already."""

    def open(self, opener: Opener | None = None) -> Sequence[Model]:
        """The models, opened unless they are."""
        return self.models or (opener or open_models)(self.names)

    def open_first(self) -> Model:
        """The first alone, for work where nobody is ever stuck."""
        return self.models[0] if self.models else open_model(split_names(self.names)[0])


class ModelCandidate(Frozen):
    """A model that could answer now."""

    name: str
    where: Literal["disk", "server"] = "disk"
    strength: Strength = "middle"
    dollars: float | None = 0.0
    """For a million tokens written; None where it is unknown."""

    @property
    def is_free(self) -> bool:
        """Whether an answer costs nothing, for sure."""
        return self.dollars == 0

    @property
    def price(self) -> float:
        """Its dollars; where they are unknown, more than any other's."""
        return float("inf") if self.dollars is None else self.dollars


class Available(NamedTuple):
    """Who could answer, and which servers were left out."""

    candidates: list[ModelCandidate]
    without_package: list[ModelServer]
    """They have models, and the package that speaks their protocol is not installed."""
    not_asked: list[ModelServer]
    """They may cost money, and none may be spent."""


class TrackRecord(Frozen):
    """How a model did for this user: in runs, and in tasks of evaluations."""

    runs: int = Field(default=0, ge=0)
    proven: int = Field(default=0, ge=0)
    """With plausible ones that are likelier right than wrong."""
    tasks: int = Field(default=0, ge=0)
    solved: float = Field(default=0.0, ge=0)


class Speed(Frozen):
    """How fast a model was once."""

    model: str
    tokens_per_second: float = Field(gt=0, allow_inf_nan=False)
    """Of one answer, as in a run's report; reading the prompt is part of its time."""
    at: float
    """When."""


def select_models(model: Models | None, limits: Limits, store: Store, *, alone: bool = False) -> Choice:
    """Who answers: named by the user, chosen for them, or models that are open already; one where it works `alone`.

    Raises SetupProblem where a cap in dollars cannot be kept, before anything is opened.
    """
    if model is None or isinstance(model, str):
        choice = choose_models(model, limits, store, alone=alone)
        check_priced(limits, *split_names(choice.names))
        return choice
    models = list_given(model)
    names = [one.name for one in models]
    check_priced(limits, *names)
    return Choice(",".join(names), models=models)


def choose_models(
    names: str | None, limits: Limits | None = None, store: Store | None = None, *, alone: bool = False
) -> Choice:
    """The names as they are; where there are none, the default; for `auto` a choice, with its reason.

    Money is spent only by what was named, or where a cap in dollars or the user's settings allow it. `alone` is for
    work that asks a single model, and has no cap in dollars.
    """
    names = (default_names() if names is None else names).strip()
    if names != AUTO and AUTO in [part.strip() for part in names.split(",")]:
        raise SetupProblem(
            f"{names!r} names a model and leaves the choice open as well; {AUTO!r} may choose two by itself, one that"
            f" answers and one that helps. Let it stand alone: --model {AUTO}"
        )
    if names != AUTO:
        return Choice(names=names)
    cap = limits.dollars if limits else None
    may_spend = load().may_spend if cap is None else cap > 0
    records = count_track_records(store)
    found = find_candidates(records, may_spend)
    # A cap cannot be kept where the price is unknown.
    candidates = [one for one in found.candidates if cap is None or one.dollars is not None]
    choice = pick_models(candidates, records, may_spend, alone=alone)
    # Which servers were left out, and what to type so that they are not.
    why = [choice.why]
    for server in found.without_package:
        install = f"{sys.executable} -m pip install '{PACKAGES[server.kind]}'"
        why.append(f"{server.provider}: has models, and its package is not installed (`{install}`)")
    for server in found.not_asked:
        allow = "--dollars 1" if server.is_official and not alone else "`burnish config set may_spend true`"
        why.append(f"{server.provider}: may cost money, so it was not asked ({allow} would allow it)")
    return replace(choice, why="; ".join(why))


def pick_models(
    candidates: Sequence[ModelCandidate],
    records: Mapping[str, TrackRecord],
    may_spend: bool = False,
    *,
    alone: bool = False,
) -> Choice:
    """The best of those that are there, perhaps two of them unless it is to work `alone`; the default where none is.

    What costs money, or may, is passed over unless it `may_spend`. The same facts give the same choice.
    """
    usable = [one for one in candidates if one.is_free or may_spend]
    if not usable:
        reason = ChoiceReason.NOTHING_FREE if candidates else ChoiceReason.NOTHING_THERE
        there = "no free model is there" if candidates else "no other model can be asked"
        size = f"{CATALOG[DEFAULT_MODEL].bytes / 1e6:,.0f} MB"
        why = f"{DEFAULT_MODEL}: {there}, so it is the default, fetched first ({size})"
        return Choice(names=DEFAULT_MODEL, reason=reason, why=why)
    share = {one.name: estimate_share(one, records.get(one.name)) for one in usable}
    # The surest first; of equals the cheapest, the one on this disk, the first in the alphabet.
    ranked = sorted(usable, key=lambda one: (-share[one.name].sure, one.price, one.where != "disk", one.name))
    best = ranked[0]
    cheaper = [one for one in ranked if _is_cheaper(one, best) and share[one.name].expected >= WORTH_A_TRY]
    larger = [one for one in ranked if _is_cheaper(best, one) and share[one.name].expected > share[best.name].expected]
    pair, reason = [best], ChoiceReason.BEST
    if cheaper:
        pair, reason = [cheaper[0], best], ChoiceReason.CHEAPER_FIRST
    elif larger:
        pair, reason = [best, max(larger, key=lambda one: share[one.name].expected)], ChoiceReason.LARGER_HELPS
    pair = pair[:1] if alone else pair
    parts = [_explain_candidate(one, records.get(one.name)) for one in pair]
    parts[1:] = [f"when it is stuck {part}" for part in parts[1:]]
    others = [one.name for one in ranked if one not in pair]
    parts += [f"not chosen: {', '.join(others[:2])}{' …' if others[2:] else ''}"] if others else []
    costly = len(candidates) - len(usable)
    parts += [f"not considered, as they cost money: {plural(costly, 'model')}"] if costly else []
    return Choice(names=",".join(one.name for one in pair), reason=reason, why="; ".join(parts))


class ShareEstimate(NamedTuple):
    """The share of tasks that a model will solve."""

    expected: float
    sure: float
    """The lower end of Wilson's interval."""


def estimate_share(candidate: ModelCandidate, record: TrackRecord | None) -> ShareEstimate:
    """What is usual for a model of its size, counted as a few runs, together with what it did here."""
    record = record or TrackRecord()
    tasks = min(record.tasks, MOST_TASKS)
    prior = PRIORS[candidate.strength] + FOR_CODE * ("code" in candidate.name.lower())
    solved = record.proven + (record.solved / record.tasks * tasks if tasks else 0.0) + PRIOR_RUNS * prior
    tries = record.runs + tasks + PRIOR_RUNS
    return ShareEstimate(solved / tries, round(wilson(solved, tries)[0], 6))


def _is_cheaper(one: ModelCandidate, other: ModelCandidate) -> bool:
    """Free and not paid; of two that are free the smaller, which is faster; of two others, at most half the price."""
    if one.is_free and other.is_free:
        return SIZES.index(one.strength) < SIZES.index(other.strength)
    return one.dollars is not None and 2 * one.dollars <= other.price


def find_candidates(records: Mapping[str, TrackRecord], may_spend: bool = False) -> Available:
    """Weights on this disk, files of the user's own that were used before, and models of servers that answer in time.

    A cloud is asked only where money may be spent; otherwise it need not even know of this run.
    """
    asked: list[ModelServer] = []
    not_asked: list[ModelServer] = []
    for server in list_servers().values():
        if server.is_here or server.kind == "ollama":
            asked.append(server)
        elif server.key or not server.is_official:
            (asked if may_spend else not_asked).append(server)
    # Weights that were fetched, and files of the user's own.
    sizes = {name: weights.bytes for name, weights in CATALOG.items() if is_checked(weights)}
    for name in records:
        own = Path(name.removeprefix("local:")).expanduser()
        if name.startswith("local:") and own.suffix == ".gguf" and own.is_file():
            sizes[name] = own.stat().st_size
    on_disk = [name for name, size in sizes.items() if _fits_memory(size)]
    candidates = [ModelCandidate(name=name, strength=strength(name)) for name in on_disk]
    without_package = []
    for server, shelf in zip(
        asked, run_together([partial(list_models, one) for one in asked], LOOK_SECONDS), strict=True
    ):
        fit = [model for model in (shelf.models if shelf else ()) if writes_code(model)]
        if not server.has_package:
            without_package += [server] if fit else []
            continue
        for model in fit:
            # A cloud asks nothing for what a model writes only where it writes no text: embeddings, for example.
            dollars = model.price.written if model.price else None
            writes_nothing = server.is_official and dollars == 0
            if not writes_nothing and not (server.is_here and not _fits_memory(model.bytes)):
                candidates.append(
                    ModelCandidate(name=model.name, where="server", strength=guess_strength(model), dollars=dollars)
                )
    return Available(candidates, without_package, not_asked)


def _fits_memory(weights_bytes: int) -> bool:
    return weights_bytes <= MEMORY_SHARE * read_total_memory()


def writes_code(model: ListedModel) -> bool:
    """Whether its name is one, and neither that nor its server says that it cannot talk or writes no code."""
    plain = PLAIN_NAME.fullmatch(model.name) is not None
    return plain and model.talks and not NOT_FOR_CODE.search(model.name.lower())


def guess_strength(model: ListedModel) -> Strength:
    """The size that its name says; else that of its weights, or what makers call their lighter models."""
    named = strength(model.name)
    if named != "strong" or re.search(r"\d+b\b", model.name.lower()):
        return named
    if 0 < model.bytes < MIDDLE_BYTES:
        return "small" if model.bytes < SMALL_BYTES else "middle"
    return "middle" if LIGHT.search(model.name.partition(":")[2].lower()) else named


def _explain_candidate(candidate: ModelCandidate, record: TrackRecord | None) -> str:
    """For people: "local:x: free, on this disk, 14 of 18 runs proven or likely"."""
    price = f"{candidate.dollars:g} dollars a million tokens written" if candidate.dollars else "free"
    facts = ["price unknown" if candidate.dollars is None else price]
    facts.append("on this disk" if candidate.where == "disk" else "on a server")
    if record and record.runs:
        facts.append(f"{record.proven} of {record.runs} runs proven or likely")
    if record and record.tasks:
        facts.append(f"{record.solved:.0f} of {record.tasks} tasks of evaluations solved")
    return f"{candidate.name}: {', '.join(facts if len(facts) > 2 else [*facts, 'never tried'])}"


def count_track_records(store: Store | None = None) -> dict[str, TrackRecord]:
    """How each model did. A run counts if it was decided and its model was heard; of several models, the last that
    answered has the result, and those before it were stuck. Of evaluations, those of the whole agent count.
    """
    runs, proven, tasks = Counter[str](), Counter[str](), Counter[str]()
    solved: dict[str, float] = defaultdict(float)
    for row in (store or Store()).list():
        likely = row.state == "proven" or (row.confidence or 0.0) >= 0.5
        decided = row.state in ("proven", "failed", "broken") or row.confidence is not None
        if row.verb in ("write", "fix") and row.tokens and decided:
            answered = {account.model for account in row.accounts}
            names = [name for name in split_names(row.model) if name in answered]
            runs.update(names)
            proven.update(names[-1:] if likely else [])
    for _, results in _read_evaluations(home()):
        try:
            finished, name = int(results["tasks_finished"]), str(results["model"])
            share = float(results["pass_at_1"][-1]) if finished else 0.0
            kind = (results["strategy"], results["protocol"], results["without"])
        except (LookupError, TypeError, ValueError):
            continue
        if kind == ("burnish", "visible", []):
            tasks[name] += finished
            solved[name] += share * finished
    return {
        name: TrackRecord(runs=runs[name], proven=proven[name], tasks=tasks[name], solved=solved[name])
        for name in {*runs, *tasks}
    }


def measure_speed(model: str, replies: Iterable[ModelReplied]) -> Speed | None:
    """The speed of one model's answers; None where none is whole and long enough to tell."""
    long = [reply for reply in replies if reply.ended != "cut" and reply.tokens_out >= LEAST_TOKENS and reply.seconds]
    if not long:
        return None
    rate = sum(reply.tokens_out for reply in long) / sum(reply.seconds for reply in long)
    return Speed(model=model, tokens_per_second=rate, at=max(reply.at for reply in long))


def last_speeds(folder: Path | None = None) -> dict[str, Speed]:
    """The newest speed of each model that has answered on this machine. The index says which records to read."""
    folder = folder or home()
    found: dict[str, Speed] = {}
    rows = [(row, store.runs / row.id) for store in (Store(folder), Store(folder / TRIALS)) for row in store.list()]
    for row, place in sorted(rows, key=lambda pair: pair[0].started_at, reverse=True):
        unknown = {one.model for one in row.accounts if one.tokens_out >= LEAST_TOKENS and "," not in one.model}
        unknown -= found.keys()
        try:
            replies = open_run(place).all(ModelReplied) if unknown else []
        except (SetupProblem, OSError):  # removed or altered meanwhile
            continue
        for model in unknown:
            own = [reply for reply in replies if (reply.model or row.model) == model]
            if speed := measure_speed(model, own):
                found[model] = speed
    for changed_at, results in _read_evaluations(folder):
        try:
            rate = results["cost"]["tokens_out"] / results["model_seconds"]
            speed = Speed(model=results["model"], tokens_per_second=rate, at=changed_at)
        except (LookupError, TypeError, ValueError, ArithmeticError):
            continue
        if speed.model not in found or found[speed.model].at < speed.at:
            found[speed.model] = speed
    return found


def _read_evaluations(folder: Path) -> Iterator[tuple[float, Any]]:
    """The newest files of results and when they were written; what is half-written or no JSON is passed over."""
    files = sorted(folder.glob("evals/*/results.json"), key=lambda file: -file.stat().st_mtime_ns)
    for file in files[:NEWEST_EVALUATIONS]:
        try:
            yield file.stat().st_mtime, json.loads(file.read_bytes())
        except (OSError, ValueError, RecursionError):
            continue
