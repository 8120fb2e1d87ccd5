"""Burnish writes code and hands you the evidence."""
