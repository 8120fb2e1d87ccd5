"""`python -m burnish` is the command line."""

from burnish.cli.main import enter

if __name__ == "__main__":
    enter()
