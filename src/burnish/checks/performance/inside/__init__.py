"""What runs inside the cell, with the project's own interpreter: standard library only, Python 3.8 and newer."""
