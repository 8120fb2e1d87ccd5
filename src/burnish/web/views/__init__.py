"""A file each. To add a view, write one with `TAB` (None: it is not in the menu) and `ROUTES`, and name it here."""

from burnish.web.views import run, write

VIEWS = (write, run)
