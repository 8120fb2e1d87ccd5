"""What is asked for."""

from burnish.tasks.sentence import from_sentence, go_on
from burnish.tasks.task import Task

__all__ = ["Task", "from_sentence", "go_on"]
