"""`burnish train`: datasets, trainings and what came of them; `burnish adapters`: what was trained."""

import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Annotated, Any

import typer

from burnish.errors import SetupProblem
from burnish.text import one_line, strip_controls

train_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
adapters_app = typer.Typer(invoke_without_command=True, rich_markup_mode=None)
BASE = "Who is trained: a model whose weights are here, with an adapter behind a plus to go on from it."
LINE_SECONDS = 5.0
"""How often a line of progress comes where there is no terminal."""

TRAINERS = {
    "sft": "Learn verified answers.",
    "dpo": "Learn to prefer the better of two answers.",
    "reward": "Learn to tell which of two answers is better.",
    "grpo": "Sample answers, grade them in the sandbox, and learn from what each is worth.",
}
GOING_ON = " The same command goes on from the last checkpoint of a training that was stopped."
ONLY_FOR: dict[str, tuple[str, ...]] = {"beta": ("dpo", "grpo"), "rounds": ("sft",), "only": ("sft", "dpo", "grpo")}
ONLY_FOR |= dict.fromkeys(("answers", "temperature", "partial", "curriculum", "own_engine", "reward"), ("grpo",))
ONLY_FOR |= dict.fromkeys(("flipped", "held_out"), ("dpo", "reward"))
"""Options that say nothing to the other trainers."""
MORE = "Also tasks of several functions, tests to write, and wrong answers to go on from."
OWN_ENGINE = "GRPO: answers come from the batch engine and are graded meanwhile; takes the weights twice."
REWARD = "What counts for GRPO: default, scientific, web, strict, or a TOML file."


@train_app.callback()
def train() -> None:
    """Train the model on verified answers and on what people say about runs."""


@train_app.command("data")
def make_data(
    out: Annotated[Path, typer.Option(help="The folder of the dataset.")],
    sample: Annotated[str, typer.Option(metavar="MODEL", help="Have this model answer the training tasks.")] = "",
    samples: Annotated[int, typer.Option(min=1, help="Answers to each task to write.")] = 10,
    repairs: Annotated[int, typer.Option(min=1, help="Answers to each bug.")] = 2,
    bugs: Annotated[int, typer.Option(min=0, help="Bugs planted in each task.")] = 4,
    more: Annotated[bool, typer.Option("--more", help=MORE)] = False,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first so many tasks.")] = None,
    evaluation: Annotated[
        list[str] | None, typer.Option("--from", metavar="EVAL", help="Answers of an evaluation, too.")
    ] = None,
    feedback: Annotated[bool, typer.Option(help="What people said about runs.")] = True,
    simulated: Annotated[bool, typer.Option(help="Also what programs said in a person's place.")] = False,
    data: Annotated[Path | None, typer.Option(help="The folder of benchmark files.")] = None,
    at_once: Annotated[int, typer.Option(min=0, help="Attempts under way; 0: as many as keep the model busy.")] = 0,
) -> None:
    """Make a dataset of runs, evaluations and sampled answers. Nothing that is evaluated on gets in."""
    from burnish.commands.train import Sampling, make_dataset

    sampling = Sampling(sample, samples, repairs, bugs, limit, at_once, more) if sample else None
    summary = _watched(
        lambda watch: make_dataset(
            out,
            sampling=sampling,
            evaluations=evaluation or (),
            feedback=feedback,
            simulated=simulated,
            data=data,
            watch=watch,
        )
    )
    for name, value in summary.items():
        shown = ", ".join(f"{key} {count}" for key, count in value.items()) if isinstance(value, dict) else value
        print(f"{name}: {len(shown) if isinstance(shown, list) else shown}")
    print(f"Train on it: burnish train sft --data {out}")


def train_model(
    context: typer.Context,
    data: Annotated[
        Path, typer.Option("--data", "--tasks", help="The folder of `burnish train data`; for GRPO, or a suite in it.")
    ],
    base: Annotated[str, typer.Option(help=BASE)] = "local:qwen2.5-coder-0.5b",
    name: Annotated[str, typer.Option(help="What the adapter is called, and its training.")] = "mine",
    epochs: Annotated[float | None, typer.Option(min=0.01, help="How often each example is seen.")] = None,
    steps: Annotated[int | None, typer.Option(min=1, help="Updates in all, in place of epochs.")] = None,
    rate: Annotated[float | None, typer.Option(help="The learning rate.")] = None,
    rank: Annotated[int | None, typer.Option(min=1, max=256, help="The rank of the LoRA.")] = None,
    batch: Annotated[int | None, typer.Option(min=1, help="Examples of one update.")] = None,
    at_once: Annotated[int | None, typer.Option(min=1, help="Examples in memory at the same time.")] = None,
    longest: Annotated[int | None, typer.Option(min=16, help="Tokens; longer examples are left out.")] = None,
    seed: Annotated[int | None, typer.Option(min=0)] = None,
    rounds: Annotated[int | None, typer.Option(min=2, help="SFT: answers sampled anew from each result.")] = None,
    beta: Annotated[float | None, typer.Option(min=0, help="How strongly the model is held to what it was.")] = None,
    flipped: Annotated[float | None, typer.Option(min=0, max=0.5, help="Share of the pairs turned round.")] = None,
    held_out: Annotated[float | None, typer.Option(min=0, max=0.9, help="Share of the tasks not learnt.")] = None,
    answers: Annotated[int | None, typer.Option(min=2, help="GRPO: answers to one prompt.")] = None,
    temperature: Annotated[float | None, typer.Option(min=0.01, help="GRPO: of these answers.")] = None,
    partial: Annotated[bool | None, typer.Option(help="GRPO: some passing tests are worth something.")] = None,
    own_engine: Annotated[bool | None, typer.Option("--own-engine", help=OWN_ENGINE)] = None,
    curriculum: Annotated[bool | None, typer.Option(help="GRPO: ask what is sometimes solved.")] = None,
    reward: Annotated[str, typer.Option(help=REWARD)] = "default",
    only: Annotated[str, typer.Option(help="Purposes that the adapter answers, e.g. fix,repair; empty: all.")] = "",
    out: Annotated[Path | None, typer.Option(help="Keep the training in this folder.")] = None,
) -> None:
    """Train an adapter; the same command goes on from the last checkpoint of one that was stopped."""
    from burnish.commands.train import train as run_training
    from burnish.commands.train import train_rounds
    from burnish.learn.recipe import Recipe, is_first_process

    kind: Any = context.info_name
    typed = {key: context.params[key] for key in context.params if context.params[key] not in (None, "")}
    for option, kinds in ONLY_FOR.items():
        if option in typed and kind not in kinds and typed[option] != "default":
            named = option.replace("_", "-")
            raise SetupProblem(f"--{named} says nothing to {kind}. Leave it out, or type: burnish train {kinds[0]}")
    settings = {key: typed[key] for key in Recipe.model_fields if key in typed and key not in ("base", "data")}
    if rank:
        settings["alpha"] = 2 * rank
    purposes = tuple(filter(None, (word.strip() for word in only.split(","))))
    told = {"data": data, "base": base, "name": name, "purposes": purposes, **settings}
    if rounds:
        made = _watched(lambda watch: train_rounds(rounds, watch=watch, **told))
    else:
        made = _watched(lambda watch: run_training(kind, out=out, reward_weights=reward, watch=watch, **told))
    if not is_first_process():
        return
    if made:
        print(f'Trained. Use it: burnish write "…" --model {made.model_name}')
    else:
        print("Trained." if kind == "reward" else "Stopped at a checkpoint. The same command goes on.")


for name, words in TRAINERS.items():
    train_app.command(name, help=words + GOING_ON)(train_model)


@train_app.command()
def report(
    run: Annotated[str, typer.Argument(help="The name of a training, or its folder.")],
    before: Annotated[list[str] | None, typer.Option(help="An evaluation of the base.")] = None,
    after: Annotated[list[str] | None, typer.Option(help="The same with the adapter, in the same order.")] = None,
    kl: Annotated[bool, typer.Option("--kl", help="Also load the weights and measure how far they moved.")] = False,
) -> None:
    """Draw how a training went, and what it made better and worse."""
    from burnish.commands.train import report as write_report

    print(write_report(run, before or (), after or (), kl))


@adapters_app.callback()
def adapters(context: typer.Context) -> None:
    """List the adapters: what training made of a model, used as --model local:NAME+ADAPTER."""
    if context.invoked_subcommand:
        return
    from burnish.models.adapters import list_adapters

    found = list(list_adapters())
    for one in found:
        print(f"{one.model_name}  {one.card.recipe}  {one.card.sha256[:12]}")
    if not found:
        print("There is none yet. Train one: burnish train data --out DIR --sample local:qwen2.5-coder-0.5b")


@adapters_app.command()
def show(name: str) -> None:
    """Show where an adapter comes from and what it is worth."""
    from burnish.models.adapters import find_adapter

    for field, value in find_adapter(name).card.model_dump().items():
        if field == "scores":
            for score in value:
                print(f"  {score['what']}: {score['base']:g} -> {score['adapter']:g} %  {score['command']}")
        elif value:
            print(f"{field}: {strip_controls(str(value))}")


@adapters_app.command()
def remove(name: str) -> None:
    """Take an adapter away."""
    from burnish.models.adapters import remove_adapter

    remove_adapter(name)
    print(f"Removed {name}.")


@adapters_app.command()
def export(
    name: str,
    out: Annotated[Path, typer.Option(help="A new folder.")],
    to: Annotated[str, typer.Option(help="hub or ollama.")] = "hub",
) -> None:
    """Copy an adapter in the form that others read."""
    from burnish.commands.train import export_adapter

    print(export_adapter(name, out, to))


def _watched(work: Callable[[Any], Any]) -> Any:
    """Do the work and say how far it is. Ctrl-C ends it where it can go on."""
    import signal

    from burnish.learn.recipe import TrainingWatch

    class Lines(TrainingWatch):
        """A line now and then, over the last one where there is a terminal."""

        said_at = 0.0

        def say(self, text: str, at_once: bool = False) -> None:
            is_terminal = sys.stderr.isatty()
            if at_once or time.monotonic() - self.said_at > (0.2 if is_terminal else LINE_SECONDS):
                self.said_at = time.monotonic()
                begin, end = ("\r\x1b[K", "") if is_terminal and not at_once else ("", "\n")
                print(f"{begin}burnish: {one_line(text, 150)}", file=sys.stderr, end=end, flush=True)

        def on_stage(self, what: str) -> None:
            self.say(what, at_once=True)

        def on_fetch(self, done: int, total: int, source: str) -> None:
            self.say(f"weights: {done / max(1, total):.0%} from {source}")

        def on_prepare(self, done: int, total: int, what: str) -> None:
            self.say(f"{what}: {done} of {total}")

        def on_begin(self, folder: Any) -> None:
            self.finished, self.total = len(folder.finished_attempts()), folder.total

        def on_finish(self, task_id: str, seed: int, events: Any) -> None:
            self.finished += 1
            self.say(f"answers: {self.finished} of {self.total}")

        def on_training(self, total: int, done: int) -> None:
            going_on = f", going on after {done}" if done else ""
            self.say(f"training: {total} updates{going_on}", at_once=True)

        def on_step(self, done: int, total: int, metrics: Mapping[str, float], seconds_left: float) -> None:
            shown = ", ".join(f"{key} {metrics[key]:.3f}" for key in ("loss", "reward", "accuracy") if key in metrics)
            self.say(f"update {done} of {total}: {shown}; about {seconds_left / 60:.1f} min left")

    watch = Lines()
    before = signal.signal(signal.SIGINT, lambda *_: watch.stop())
    try:
        return work(watch)
    except CancelledError as stopped:
        print("Stopped. What was finished is kept, and the same command goes on.", file=sys.stderr)
        raise typer.Exit(130) from stopped
    finally:
        signal.signal(signal.SIGINT, before)
