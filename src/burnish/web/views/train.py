"""Training: how each one goes or went, and the adapters that came of them. They are begun in a terminal."""

import time
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from burnish.commands.train import list_trainings, trainings_home
from burnish.errors import SetupProblem
from burnish.learn.recipe import METRICS, RECIPE, Recipe, read_metrics, read_recipe
from burnish.learn.report import draw_metrics
from burnish.models.adapters import list_adapters, remove_adapter
from burnish.web.forms import read_form, read_text
from burnish.web.page import Tab, go_to, render

TAB = Tab("Training", "/train")
AT_WORK_SECONDS = 120.0
"""After an update this old, nobody is at work on a training any more."""
KINDS = {
    "sft": "Learns verified answers.",
    "dpo": "Learns to prefer the better of two answers.",
    "reward": "Learns to tell which of two answers is better.",
    "grpo": "Learns from what its own answers are worth.",
}


class TrainingView(NamedTuple):
    """What a page says of one training."""

    name: str
    recipe: Recipe
    updates: int
    is_at_work: bool
    began: float


def open_training(folder: Path) -> TrainingView:
    """The training in a folder."""
    rows, file = read_metrics(folder), folder / METRICS
    fresh = file.exists() and time.time() - file.stat().st_mtime < AT_WORK_SECONDS
    ended = (folder / "adapter").is_dir()
    updates = int(max((row.get("step", 0) for row in rows), default=0))
    began = (folder / RECIPE).stat().st_mtime
    return TrainingView(folder.name, read_recipe(folder), updates, fresh and not ended, began)


async def show_list(request: Request) -> Response:
    """All trainings, newest first, and all adapters."""

    def build() -> Response:
        found = [open_training(folder) for folder in list_trainings()]
        return render(request, "train.html", trainings=found, adapters=list(list_adapters()), kinds=KINDS)

    return await run_in_threadpool(build)


async def show(request: Request) -> Response:
    """One training, as it is now."""
    return await run_in_threadpool(_render_training, request, "train/page.html")


async def show_now(request: Request) -> Response:
    """The part of its page that changes."""
    return await run_in_threadpool(_render_training, request, "train/now.html")


def _render_training(request: Request, template: str) -> Response:
    name = request.path_params["training"]
    folder = next((one for one in list_trainings() if one.name == name), None)
    if folder is None:
        raise SetupProblem(f"There is no training {name!r} in {trainings_home()}.")
    curves = [(curve, Markup(curve.svg)) for curve in draw_metrics(folder)]
    return render(request, template, one=open_training(folder), curves=curves, kinds=KINDS)


async def ask_remove(request: Request) -> Response:
    """Is that really meant?"""
    name = request.query_params.get("name", "")
    one = next((one for one in await run_in_threadpool(list, list_adapters()) if one.folder.name == name), None)
    if one is None:
        raise SetupProblem("There is no such model any more.")
    return render(request, "train/remove.html", one=one)


async def remove(request: Request) -> Response:
    """Take an adapter away."""
    form = await read_form(request)
    await run_in_threadpool(remove_adapter, read_text(form, "name"))
    return go_to(request, "/train")


ROUTES = [
    Route("/train", show_list),
    Route("/train/remove", ask_remove),
    Route("/train/remove", remove, methods=["POST"]),
    Route("/train/{training}", show),
    Route("/train/{training}/now", show_now),
]
