"""A file each. To add a view, write one with `TAB` (None: it is not in the menu) and `ROUTES`, and name it here."""

from burnish.web.views import evaluate, login, models, run, runs, write

VIEWS = (write, runs, models, run, evaluate, login)
