"""What people read about runs and checks. `narrate` puts events into words; everything else here arranges its words."""
