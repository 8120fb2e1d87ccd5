"""Who answers where the user leaves that open: `--model auto`, and the default."""
