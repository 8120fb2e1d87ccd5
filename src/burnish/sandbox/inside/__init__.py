"""What runs in a cell: the fork server, the judge and the candidate. Standard library and pytest only."""
