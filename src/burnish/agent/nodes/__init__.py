"""One small file a node. A node reads the work, does one thing, and says what happened as events."""

from burnish.agent.nodes.draft import draft, reflect, rewrite, second_opinion
from burnish.agent.nodes.judge import judge
from burnish.agent.nodes.run import run
from burnish.agent.nodes.specify import specify
from burnish.agent.nodes.tests import tests

__all__ = ["draft", "judge", "reflect", "rewrite", "run", "second_opinion", "specify", "tests"]
