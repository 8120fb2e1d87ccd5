"""What goes on behind the pages: runs, checks, evaluations and fetches, each in its turn, and whoever answers them."""
