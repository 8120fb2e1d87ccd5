"""A built app is used as people and attackers would use it."""
