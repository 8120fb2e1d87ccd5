"""The modules of an app: what each promises, what it needs, which files are its own and nobody else's.

A module is built when all it needs has passed. The shell carries the rest; entities stand on those they refer to; "app"
joins them.
"""

from collections.abc import Iterator
from typing import Literal

from burnish.apps.blueprint import Blueprint, Entity
from burnish.apps.migrations import Earlier, create_table, find_migrations, find_removals
from burnish.events import Frozen


class Module(Frozen):
    """A part of an app behind a contract."""

    name: str
    level: int
    """One more than that of the highest module it needs: those of one level do not know each other."""
    needs: tuple[str, ...]
    contract: tuple[str, ...]
    """What others may count on: tables, addresses, functions, errors."""
    files: tuple[str, ...]
    made_by: Literal["rules", "model"]


SHELL_FILES = (
    *(".gitignore", "README.md", "requirements.txt", "run", "app/__init__.py", "app/database.py", "app/forms.py"),
    *("app/pages.py", "app/security.py", "app/settings.py", "app/static/app.css", "app/static/htmx.min.js"),
    *("app/static/icon.svg", "app/templates/base.html", "app/templates/error.html", "app/templates/macros.html"),
    *("tests/__init__.py", "tests/conftest.py"),
)
ACCOUNT_FILES = (
    *("app/accounts.py", "app/templates/login.html", "app/templates/register.html", "tests/test_accounts.py"),
)
APP_FILES = ("app/main.py", "blueprint.json", "tests/test_app.py")


def list_modules(blueprint: Blueprint, earlier: Earlier | None = None) -> tuple[Module, ...]:
    """All modules in an order in which they can be built; with the migrations of what was there `earlier`."""
    shell_contract = ("forms.Reader: raises Invalid", "pages.render", "security.check_form: POST without csrf is 403")
    modules = [_make("shell", (), shell_contract, SHELL_FILES, [])]
    if blueprint.accounts:
        migrations = find_migrations(blueprint, "accounts", "-", earlier)
        contract = ("table account", "/register", "/login", "POST /logout", "accounts.Viewer", "accounts.Member")
        modules.append(_make("accounts", ("shell",), contract, (*ACCOUNT_FILES, *migrations), modules))
    for entity in _order(blueprint):
        known = {module.name for module in modules}
        targets = [target for target in dict.fromkeys(field.target for field in entity.references) if target in known]
        needs = ("shell", *(["accounts"] if blueprint.accounts else []), *targets)
        migrations = find_migrations(blueprint, entity.name, create_table(blueprint, entity), earlier)
        files = (*_list_files(entity), *migrations)
        modules.append(_make(entity.name, needs, tuple(_promise(blueprint, entity)), files, modules))
    everything, files = tuple(module.name for module in modules), (*APP_FILES, *find_removals(blueprint, earlier))
    modules.append(_make("app", everything, ("/ leads to the first list", "main.app", "the menu"), files, modules))
    return tuple(modules)


def _make(
    name: str, needs: tuple[str, ...], contract: tuple[str, ...], files: tuple[str, ...], earlier: list[Module]
) -> Module:
    level = max((module.level + 1 for module in earlier if module.name in needs), default=0)
    return Module(name=name, level=level, needs=needs, contract=contract, files=files, made_by="rules")


def _order(blueprint: Blueprint) -> Iterator[Entity]:
    """Entities after those they refer to; where optional references lead in a circle, after those they require."""
    left = {entity.name: entity for entity in blueprint.entities}
    while left:
        free = [one for one in left.values() if not {f.target for f in one.references} & (left.keys() - {one.name})]
        required = ({f.target for f in one.references if f.required} & left.keys() for one in left.values())
        chosen = free or [next(one for one, needs in zip(left.values(), required, strict=True) if not needs)]
        for entity in chosen:
            yield left.pop(entity.name)


def _promise(blueprint: Blueprint, entity: Entity) -> Iterator[str]:
    """The contract of an entity's module."""
    name = entity.name
    columns = ", ".join(f"{field.name} {field.target or field.type}" for field in entity.fields)
    yield f"table {name}: {columns}"
    yield from (f"/{name}", f"/{name}/new", f"/{name}/ID", f"/{name}/ID/edit", f"POST /{name}/ID/delete")
    yield from (f"POST /{name}/ID/do/{action.name}" for action in entity.actions)
    yield from (f"/{name}?view={view.name}" for view in entity.views)
    yield from (f"{rule.kind}: {', '.join(rule.fields)}: 422" for rule in entity.rules)
    if blueprint.accounts:
        yield f"read: {entity.read}, write: {entity.write}: 404, 403"


def _list_files(entity: Entity) -> tuple[str, ...]:
    """The files of an entity's module, its migrations apart."""
    folder = f"app/{entity.name}"
    code = ["__init__", *(["computed"] if entity.computed else []), "form", "routes", "service", "table"]
    pages = ["fields", "form", "list", "rows", "show", *(["children"] if entity.parent else [])]
    return (
        *(f"{folder}/{name}.py" for name in code),
        *(f"{folder}/templates/{name}.html" for name in pages),
        f"tests/test_{entity.name}.py",
    )
