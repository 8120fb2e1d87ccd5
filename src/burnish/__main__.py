"""`python -m burnish` is the command line."""

from burnish.cli.main import main

if __name__ == "__main__":
    main()
