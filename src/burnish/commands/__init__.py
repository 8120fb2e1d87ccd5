"""What a user can say from Python: each command has its twin here."""
