"""How it is done."""
