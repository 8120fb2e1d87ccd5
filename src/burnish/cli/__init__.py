"""Drive it: one small file a command."""
