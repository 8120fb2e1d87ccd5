"""One small file a node. A node reads the work, does one thing, and says what happened as events."""

from burnish.agent.nodes.draft import draft, repair, rewrite
from burnish.agent.nodes.judge import judge
from burnish.agent.nodes.refine import refine
from burnish.agent.nodes.review import review
from burnish.agent.nodes.run import run
from burnish.agent.nodes.select import select
from burnish.agent.nodes.specify import specify, write_tests
from burnish.agent.nodes.strengthen import strengthen
from burnish.agent.nodes.survivors import survivors
from burnish.agent.nodes.tweak import tweak

__all__ = [
    "draft",
    "judge",
    "refine",
    "repair",
    "review",
    "rewrite",
    "run",
    "select",
    "specify",
    "strengthen",
    "survivors",
    "write_tests",
    "tweak",
]
