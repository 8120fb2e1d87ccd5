"""What runs in the cell of a served app."""
