"""How good it is: suites, strategies, protocols, numbers."""
