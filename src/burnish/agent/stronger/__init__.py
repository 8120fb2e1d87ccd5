"""Tests for small changes of the code that nobody notices: where code and change differ, and who says what is right."""
