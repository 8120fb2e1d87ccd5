"""Who can answer, in a menu: each with what it costs, how fast it is, and what it is good for."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import NamedTuple

from burnish.agent.limits import Limits
from burnish.agent.policy import Strength, strength
from burnish.commands.models import ModelRow, format_size, list_rows
from burnish.model_choice import Speed, last_speeds
from burnish.models.discovery import ServerModels
from burnish.models.names import default_names
from burnish.models.tokens import Price, price_of
from burnish.runs import Store
from burnish.web.page import Translate, format_seconds

DEMO = "scripted:demo"
USUAL_SPEEDS = {"local:qwen2.5-coder-0.5b": 25.0, "local:qwen2.5-coder-1.5b": 12.0}
"""Tokens a second on two cores (docs/numbers.md), where nothing was measured here yet."""
OTHER_SPEED = 40.0
USUAL_TOKENS = 1_200
"""That are written for a function: six answers and tests together."""
MOST_RUNS = 200
GOOD_FOR = {
    "local:qwen2.5-coder-0.5b": "short functions; the fastest on this machine",
    "local:qwen2.5-coder-1.5b": "short, well described functions; the best that is built in",
    DEMO: "no model, a rehearsal: it only knows the examples to click",
}
GOOD_BY_SIZE: dict[Strength, str] = {
    "small": "short functions",
    "middle": "functions that are well described",
    "strong": "harder tasks too",
}
"""What others are good for, as far as their size tells."""


class MenuModel(NamedTuple):
    """One line of the menu."""

    name: str
    note: str
    is_ready: bool
    """Whether it can answer at once; if not, its weights are fetched first."""


def list_menu(servers: Sequence[ServerModels], speeds: Mapping[str, Speed], t: Translate) -> list[MenuModel]:
    """Every model that can be had, the default first. A demo that needs no weights stands last."""
    rows = [row for row in list_rows(servers, speeds) if "file" not in row and row.get("fits", True)]
    found = [MenuModel(row["name"], describe_model(row, t), bool(row.get("on_disk", True))) for row in rows]
    chosen = default_names()
    if chosen not in {model.name for model in found}:
        found.append(MenuModel(chosen, t("your own choice, from the settings"), True))
    found.sort(key=lambda model: model.name != chosen)
    return [*found, MenuModel(DEMO, t(GOOD_FOR[DEMO]), True)]


def describe_model(row: ModelRow, t: Translate) -> str:
    """What speaks for it, in a few words."""
    name = row["name"]
    parts = [t(GOOD_FOR.get(name) or GOOD_BY_SIZE[strength(name)])]
    if row.get("on_disk") is False:
        parts.append(t("has to be fetched once: {size}", size=format_size(row["bytes"])))
    if speed := row.get("tokens_per_second"):
        words = round(speed * 0.75)
        parts.append(t("{n} words a second here", n=words or "< 1"))
    elif usual := USUAL_SPEEDS.get(name):
        parts.append(t("about {n} words a second", n=round(usual * 0.75)))
    read, written = row.get("dollars_per_million_read", 0), row.get("dollars_per_million_written", 0)
    if read is None or written is None:
        parts.append(t("its price is not known"))
    elif read or written:
        parts.append(t("${price} for a million words written", price=f"{written / 0.75:.2f}"))
    else:
        parts.append(t("free"))
    return ", ".join(parts)


class RunEstimate(NamedTuple):
    """What a run is likely to take, and the most that it can."""

    seconds: float
    most_seconds: float
    most_dollars: float | None
    """None: the price is not known."""
    is_measured: bool
    """Whether it is from runs of this model here."""


def estimate(model: str, limits: Limits, store: Store, verb: str = "write") -> RunEstimate:
    """About how long a run of this model takes, from its earlier runs or from its speed; and what it costs at most."""
    first = model.partition(",")[0]
    took = [
        row.seconds
        for row in store.list()[:MOST_RUNS]
        if row.model == model and row.verb == verb and row.state in ("proven", "plausible", "failed")
    ]
    usual = USUAL_TOKENS / USUAL_SPEEDS.get(first, OTHER_SPEED) if not first.startswith("scripted:") else 5.0
    if not took and (speed := last_speeds().get(first)):
        usual = USUAL_TOKENS / max(0.1, speed.tokens_per_second)
    prices = [price_of(name) for name in model.split(",")]
    known = [price for price in prices if price is not None]
    dollars = max((_most(price, limits) for price in known), default=0.0) if len(known) == len(prices) else None
    seconds = min(median(took) if took else usual, limits.seconds)
    return RunEstimate(seconds, limits.seconds, dollars, bool(took))


def _most(price: Price, limits: Limits) -> float:
    most = max(price.read, price.written) * limits.tokens / 1e6
    return most if limits.dollars is None else min(most, limits.dollars)


def describe_estimate(found: RunEstimate, t: Translate) -> str:
    """The estimate as a sentence."""
    money = t("it costs nothing")
    if found.most_dollars is None:
        money = t("what it costs is not known")
    elif found.most_dollars:
        money = t("it costs at most ${most}", most=f"{found.most_dollars:.2f}")
    about, most = format_seconds(found.seconds), format_seconds(found.most_seconds)
    return t("About {about}, at most {most}; {money}.", about=about, most=most, money=money)
