"""How the model improves: examples from what runs and evaluations have on record, trainers, adapters."""
