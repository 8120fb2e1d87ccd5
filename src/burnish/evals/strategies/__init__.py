"""How a model is used on a task: the kinds that an evaluation compares."""
