"""The agent's picture, drawn from its code. Write it anew with: python -m tests.graph_page > docs/graph.md"""

import threading
from typing import Any, cast

from burnish.agent.ask import Tools
from burnish.agent.graph import build
from burnish.agent.limits import Limits, Meter
from burnish.models.scripted import ScriptedModel
from burnish.tasks import Task

HEAD = """# How the agent works

Drawn from `src/burnish/agent/graph.py`; a test keeps the two alike. Each box is a node: a function of the same name in
`src/burnish/agent/nodes/` (`decide` in `policy.py`; `draft` is `rewrite`, `tests` is `write_tests`, `survivors` is
`try_mutants`). Dotted lines are choices, made by the functions `after_…`.

"""


def page() -> str:
    """The text of docs/graph.md."""
    tools = Tools(ScriptedModel([]), cast(Any, None), Meter(Limits()), threading.Event())
    picture = build(Task(id="any", prompt="any"), tools, lambda event: None).get_graph().draw_mermaid()
    return f"{HEAD}```mermaid\n{picture.strip()}\n```\n"


if __name__ == "__main__":
    print(page(), end="")
