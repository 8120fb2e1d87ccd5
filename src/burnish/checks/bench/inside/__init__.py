"""What runs in a cell beside a project's tests: sent along with a job, under a name that no project uses.

Its rules: standard library only besides pytest and coverage, which may be the project's own; relative imports, because
the folder has another name there, beside a project that may be Burnish itself; words that Python 3.9 understands.
"""
