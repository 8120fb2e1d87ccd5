"""What people read of an evaluation: a page, a text, and plots; all drawn from its results."""
