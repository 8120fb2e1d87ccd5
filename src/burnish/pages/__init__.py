"""JavaScript that a model wrote, run live in an isolated browser page, watched, corrected and scored."""
