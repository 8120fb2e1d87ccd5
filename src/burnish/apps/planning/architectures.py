"""Two ways to build the app of a blueprint, with its own figures: what is built here, and what others would build."""

from burnish.apps.blueprint import Blueprint
from burnish.events import Frozen
from burnish.text import plural


class Architecture(Frozen):
    """A way to build an app, and what speaks for it."""

    name: str
    summary: str
    modules: tuple[str, ...]
    files: int
    """About so many, without tests."""
    advantages: tuple[str, ...]
    drawbacks: tuple[str, ...]
    is_built: bool
    """Whether `burnish build` builds it."""


SHELL_FILES, ACCOUNT_FILES, ENTITY_FILES = 15, 4, 9
"""Of a generated app: what all have, what accounts take, what each entity takes (docs/design/apps.md)."""


def sketch_architectures(blueprint: Blueprint) -> tuple[Architecture, Architecture]:
    """What is built, and the usual other one: an API, a front end of its own and a database server."""
    names = [one.name for one in blueprint.entities]
    accounts = ["accounts"] if blueprint.accounts else []
    forms = sum(len(one.fields) for one in blueprint.entities)
    routes = 7 * len(names) + sum(len(one.actions) for one in blueprint.entities) + 5 * len(accounts)
    one_process = Architecture(
        name="one process, pages from the server",
        summary="FastAPI, Jinja and htmx serve pages; SQLAlchemy keeps the data in one SQLite file.",
        modules=("shell", *accounts, *names, "app"),
        files=SHELL_FILES + ACCOUNT_FILES * len(accounts) + ENTITY_FILES * len(names),
        advantages=(
            "It starts with Python alone: nothing to install beside it, no build step.",
            f"A form and its rules are written once: {plural(forms, 'field')} in {plural(len(names), 'table')}.",
            "A backup is a copy of one file.",
        ),
        drawbacks=(
            "One machine: it serves a team, not a continent.",
            "It needs a connection to its server; there is no offline app.",
        ),
        is_built=True,
    )
    apart = Architecture(
        name="an API, a front end of its own, a database server",
        summary="A JSON API, a JavaScript front end that is built by itself, and PostgreSQL.",
        modules=("api", *(["authentication"] if accounts else []), *(f"api-{one}" for one in names), "client")
        + tuple(f"client-{one}" for one in names),
        files=24 + 7 * len(accounts) + 12 * len(names),
        advantages=(
            f"Other programs can use the same {plural(routes, 'route')}; a mobile app could follow.",
            "Several servers can share the work.",
        ),
        drawbacks=(
            "Three programs to run, and a build with Node.",
            f"Each of {plural(forms, 'field')} is checked twice, in two languages.",
        ),
        is_built=False,
    )
    return one_process, apart
