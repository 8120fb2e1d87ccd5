"""A file each. To add a view, write one with `TAB` (None: it is not in the menu) and `ROUTES`, and name it here."""

from burnish.web.views import (
    check,
    evaluate,
    feedback,
    fix,
    login,
    models,
    page,
    result,
    run,
    runs,
    settings,
    train,
    write,
)

VIEWS = (write, fix, page, check, runs, evaluate, train, models, settings, run, result, feedback, login)
