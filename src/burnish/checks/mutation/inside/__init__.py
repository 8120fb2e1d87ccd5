"""What runs in a cell: collects the tests once, then tries a mutant in each forked child.

Its rules: standard library and pytest only; words that Python 3.9 understands; relative imports, because in a cell this
folder is a package of another name, beside a project that may be Burnish itself.
"""
