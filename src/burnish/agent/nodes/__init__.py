"""A node reads the state, does one thing, and says what happened as events."""

from burnish.agent.nodes.draft import repair, rewrite
from burnish.agent.nodes.judge import judge
from burnish.agent.nodes.question import question
from burnish.agent.nodes.refine import refine
from burnish.agent.nodes.review import review
from burnish.agent.nodes.run import probe, run, select, tweak
from burnish.agent.nodes.specify import specify
from burnish.agent.nodes.strengthen import strengthen, try_mutants
from burnish.agent.nodes.write_tests import write_tests

__all__ = [
    "judge",
    "probe",
    "question",
    "refine",
    "repair",
    "review",
    "rewrite",
    "run",
    "select",
    "specify",
    "strengthen",
    "try_mutants",
    "tweak",
    "write_tests",
]
