"""`page`: JavaScript that runs live, watched, corrected and scored."""

import sys
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
    Thinking,
    Tokens,
    Verbose,
)
from burnish.models.catalog import DEFAULT_MODEL

CASE = "A case with a rubric: counter, clock, life, life-direction, scan, or a folder of your own."
HEADLESS = "Run it in a Chromium without network, without a window, in place of a tab of your browser."
CONTEXT = "What the model is told about the page, in place of the text that ships."
GRANT = "Let the page in your browser reach the addresses on this machine that its case names."


def page(
    sentence: Annotated[str, typer.Argument(help="What you would like to see.")] = "",
    case: Annotated[str, typer.Option(help=CASE)] = "",
    from_run: Annotated[
        str | None, typer.Option("--from", metavar="RUN", help="Go on from the page of an earlier run, or RUN:VERSION.")
    ] = None,
    headless: Annotated[bool, typer.Option("--headless", help=HEADLESS)] = False,
    out: Annotated[Path | None, typer.Option(help="A new folder for the result.")] = None,
    context: Annotated[Path | None, typer.Option(metavar="FILE", help=CONTEXT)] = None,
    grant: Annotated[bool, typer.Option("--grant", help=GRANT)] = False,
    model: ModelName = DEFAULT_MODEL,
    rounds: Rounds = 4,
    calls: Calls = 12,
    tokens: Tokens = 120_000,
    seconds: Seconds = 900.0,
    dollars: Dollars = None,
    max_tokens: MaxTokens = None,
    thinking: Thinking = None,
    keep_thoughts: KeepThoughts = False,
    verbose: Verbose = False,
    events: Events = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the folder.")] = False,
    as_json: AsJson = False,
) -> None:
    """Have a page written that runs live in a browser, corrected until nothing is wrong with it."""
    from burnish.cli.session import CommandSession, exit_code, read_limits
    from burnish.commands.page import build_request, deliver
    from burnish.pages.attempt import start_page
    from burnish.pages.prompts import read_context
    from burnish.runs import Store
    from burnish.runs.attempt import Resources

    answer = {"max_tokens": max_tokens, "thinking": thinking}
    store = Store()
    request = build_request(
        sentence,
        model,
        case=case,
        context=read_context(context) if context else "",
        from_run=from_run,
        headless=headless,
        limits=read_limits(rounds=rounds, calls=calls, tokens=tokens, seconds=seconds, dollars=dollars, **answer),
        grant=grant,
        out=out,
        keep_thoughts=keep_thoughts,
        store=store,
    )
    with CommandSession(verbose, events, quiet, as_json=as_json) as session:
        if headless:
            models = session.open_models(request.model)
            run = start_page(request, Resources(models, store, session.watch)).wait()
            run = deliver(run, store, session.watch)
            session.finish(run)
        else:
            from burnish.web.server import serve_page

            run = serve_page(
                request,
                store,
                session.open_models,
                watch=session.watch,
                done=lambda run: session.finish(deliver(run, store, session.watch)),
                tell=lambda link: print(link, flush=True, file=sys.stderr if as_json else None),
            )
    raise typer.Exit(exit_code(run, strict=False))
