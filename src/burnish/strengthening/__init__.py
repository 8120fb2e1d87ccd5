"""Mutants that survive become tests: inputs that tell code and mutant apart, an oracle for what is right, a proof.

A run of the agent (`agent/nodes/strengthen.py`) and `burnish strengthen` on a project share the search, the oracle and
the choice of tests. What differs is handed in: a `Subject` with the place where versions run and the versions that have
a say, and a function that asks the model. The package has this name because `burnish.strengthen` is the command.
"""
