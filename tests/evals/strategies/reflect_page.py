"""The published agent's picture, drawn from our code of it.

Write it anew with: python -m tests.evals.strategies.reflect_page > docs/reflect-graph.md
"""

from typing import Any, cast

from burnish.evals.strategies.reflect import build_graph
from burnish.evals.strategies.strategy import show_task
from burnish.tasks import Task

HEAD = """# How the strategy `reflect` works

Drawn from `src/burnish/evals/strategies/reflect.py`; a test keeps the two alike. Each box is a function of the
same name there. Dotted lines are choices, made by `after_answer` and `after_test`. What is kept of
the published agent, and why: [strategies.md](strategies.md).

"""


def page() -> str:
    """The text of docs/reflect-graph.md."""
    puzzle = show_task(Task(id="any", prompt="any"), "visible")
    picture = build_graph(puzzle, 1, 0, cast(Any, None)).get_graph().draw_mermaid()
    return f"{HEAD}```mermaid\n{picture.strip()}\n```\n"


if __name__ == "__main__":
    print(page(), end="")
