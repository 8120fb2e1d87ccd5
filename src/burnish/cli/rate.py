"""`burnish rate`: say what you think of a run; it is kept with the run, and nowhere else."""

from typing import Annotated

import typer


def rate(
    run: Annotated[str, typer.Argument(help="A run's id, its beginning, or last.")],
    stars: Annotated[int, typer.Argument(min=1, max=5, help="From 1 (useless) to 5 (just right).")],
    comment: Annotated[str, typer.Argument(help="Why, in your words.")] = "",
) -> None:
    """Say what you think of a run."""
    from burnish.runs import Store

    rated = Store().rate(run, stars, comment)
    print(f"{rated.id}: {'★' * stars}{'☆' * (5 - stars)} {comment}".rstrip())
