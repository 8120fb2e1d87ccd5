"""Who answers. Nothing is imported here: the command line reads the catalogue without paying for a model."""
