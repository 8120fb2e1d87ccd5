"""Whether a model is good enough: five tiny tasks, what their answers show, and what to change."""
