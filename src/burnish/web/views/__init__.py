"""A file each. To add a view, write one with `TAB` (None: it is not in the menu) and `ROUTES`, and name it here."""

from burnish.web.views import login, run, runs, write

VIEWS = (write, runs, run, login)
