"""`burnish explain`: the story of a run, or the picture of the agent."""

from typing import Annotated

import typer


def explain(
    run: Annotated[str, typer.Argument(help="A run's id, its beginning, or last.", show_default="last")] = "",
    graph: Annotated[
        bool, typer.Option("--graph", help="Print the agent's graph in Mermaid's words; with RUN, the road it took.")
    ] = False,
) -> None:
    """Tell the story of a run to someone who was not there."""
    from burnish.runs import Store

    opened = Store().open(run or "last") if run or not graph else None
    if graph:
        from burnish.agent.graph import draw_mermaid

        print(draw_mermaid(opened))
    elif opened:
        from burnish.report.explain import explain as explained

        print(explained(opened), end="")
