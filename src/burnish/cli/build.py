"""`plan` and `build`: a small web app from a sentence."""

from pathlib import Path
from typing import Annotated

import typer

from burnish.cli.options import (
    AsJson,
    Calls,
    Dollars,
    Events,
    KeepThoughts,
    MaxTokens,
    ModelName,
    Rounds,
    Seconds,
    Strict,
    Thinking,
    Tokens,
    Verbose,
)
from burnish.models.catalog import DEFAULT_MODEL

FLIP = "Turn an assumption; `burnish plan` lists its switches."
FROM = "Go on from a run, or from the folder of an app; without --out that folder is changed where it lies."


def plan(
    sentence: Annotated[str, typer.Argument(help="What the app should do.")],
    flip: Annotated[list[str] | None, typer.Option("--flip", metavar="SWITCH", help=FLIP)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the blueprint as JSON.")] = False,
) -> None:
    """Show what an app of this sentence would be, and two ways to build it. No model is asked, nothing is written."""
    from burnish.apps.state import render_blueprint
    from burnish.cli.io import print_json
    from burnish.commands import build as twin
    from burnish.text import strip_controls

    blueprint = twin.plan(sentence, flip or ())
    if as_json:
        print_json(render_blueprint(blueprint).rstrip())
        return
    print(strip_controls("\n".join(twin.describe_plan(blueprint))))


def build(
    sentence: Annotated[str, typer.Argument(help="What the app should do; after --from, what is to change.")] = "",
    out: Annotated[Path | None, typer.Option(help="A new folder for the app.")] = None,
    source: Annotated[str, typer.Option("--from", metavar="RUN|FOLDER", help=FROM)] = "",
    flip: Annotated[list[str] | None, typer.Option("--flip", metavar="SWITCH", help=FLIP)] = None,
    without: Annotated[str, typer.Option(metavar="model|rules", help="Leave one of them out.")] = "",
    review: Annotated[bool, typer.Option("--review", help="Look at the plan, and change it, before it is built.")] = (
        False
    ),
    model: ModelName = DEFAULT_MODEL,
    rounds: Rounds = 3,
    calls: Calls = 40,
    tokens: Tokens = 200_000,
    seconds: Seconds = 900.0,
    dollars: Dollars = None,
    max_tokens: MaxTokens = None,
    thinking: Thinking = None,
    strict: Strict = False,
    keep_thoughts: KeepThoughts = False,
    verbose: Verbose = False,
    events: Events = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the folder.")] = False,
    as_json: AsJson = False,
) -> None:
    """Build a small web app from a sentence: planned, made module by module, tried in a browser, handed over."""
    from burnish.apps.attempt import start_build
    from burnish.cli.review import check_somebody_is_there
    from burnish.cli.session import CommandSession, exit_code, read_limits
    from burnish.commands import build as twin
    from burnish.errors import SetupProblem
    from burnish.runs import Store
    from burnish.runs.attempt import Resources

    if without not in ("", "model", "rules"):
        raise SetupProblem(f"{without!r} cannot be left out. Name one of: --without model, --without rules")
    check_somebody_is_there(False, review, silent=quiet or events or as_json, command='burnish build "…"')
    answer = {"max_tokens": max_tokens, "thinking": thinking}
    store = Store()
    request = twin.build_request(
        twin.BuildOptions(sentence, source, out, tuple(flip or ()), without),  # type: ignore[arg-type]
        model,
        limits=read_limits(rounds=rounds, calls=calls, tokens=tokens, seconds=seconds, dollars=dollars, **answer),
        store=store,
        review=review,
        keep_thoughts=keep_thoughts,
    )
    with CommandSession(verbose, events, quiet, as_json=as_json) as session:
        models = session.open_models(request.model) if without != "model" else ()
        resources = Resources(models, store, session.watch, review=session.review if review else None)
        run = twin.deliver(start_build(request, resources).wait(), store, session.watch)
        session.finish(run)
    raise typer.Exit(exit_code(run, strict))
