"""SQL that makes the tables of an app, and that leads from one blueprint to the next without losing a row.

A migration that was written stays as it is, byte for byte. A table that changes is made anew beside the old one and its
rows are copied. What old rows may not keep, such as a field that is now unique, the new table does not demand either:
the app asks for it whenever a row is written.
"""

import re
from collections.abc import Mapping
from typing import Literal

from burnish.apps.blueprint import Blueprint, Entity, Field
from burnish.events import Frozen

FOLDER = "app/migrations/"
TEXTS = ("text", "long_text", "email", "link", "choice")
SQL_TYPES = {"integer": "INTEGER", "decimal": "REAL", "yes_no": "INTEGER", "reference": "INTEGER"}
"""All others are text; so are days and moments, as SQLAlchemy keeps them."""
NOW = {
    "date": "date('now', 'localtime')",
    "date_time": "strftime('%Y-%m-%d %H:%M:00.000000', 'now', 'localtime')",
    "time": "strftime('%H:%M:00.000000', 'now', 'localtime')",
}


class Earlier(Frozen):
    """An app as it was before a follow-up."""

    blueprint: Blueprint
    migrations: Mapping[str, str]
    """Path and text of each one there is."""

    @property
    def next_number(self) -> int:
        """The number of the migrations that follow."""
        return 1 + max((int(name.removeprefix(FOLDER)[:4]) for name in self.migrations), default=0)

    def entity(self, name: str) -> Entity | None:
        """The entity as it was; None if it is new."""
        return next((entity for entity in self.blueprint.entities if entity.name == name), None)


def read_earlier(files: Mapping[str, str]) -> Earlier:
    """The app that lies in a folder."""
    migrations = {path: text for path, text in files.items() if re.fullmatch(rf"{FOLDER}\d{{4}}_\w+\.sql", path)}
    return Earlier(blueprint=Blueprint.model_validate_json(files["blueprint.json"]), migrations=migrations)


def find_migrations(blueprint: Blueprint, module: str, first: str, earlier: Earlier | None) -> dict[str, str]:
    """The migrations of a module: those it had, and one more where its table is new or another; `first` makes it."""
    if earlier is None:
        return {f"{FOLDER}0001_{module}.sql": first}
    kept = {path: text for path, text in earlier.migrations.items() if path[len(FOLDER) + 5 : -4] == module}
    was_there = earlier.blueprint.accounts if module == "accounts" else earlier.entity(module) is not None
    text = "" if was_there else first
    if was_there and module != "accounts":
        text = change_table(blueprint, blueprint.entity(module), earlier)
    return kept | ({f"{FOLDER}{earlier.next_number:04}_{module}.sql": text} if text else {})


def find_removals(blueprint: Blueprint, earlier: Earlier | None) -> dict[str, str]:
    """Migrations of entities that are no more: what they had, and one that puts their rows aside."""
    if earlier is None:
        return {}
    modules = {*(entity.name for entity in blueprint.entities), *(["accounts"] if blueprint.accounts else [])}
    files = {path: text for path, text in earlier.migrations.items() if path[len(FOLDER) + 5 : -4] not in modules}
    number = earlier.next_number
    for entity in earlier.blueprint.entities:
        if entity.name not in modules:
            lines = [f"DROP INDEX IF EXISTS {name};" for name in _list_indexes(earlier.blueprint, entity)]
            lines.append(f'ALTER TABLE "{entity.name}" RENAME TO "_removed_{number:04}_{entity.name}";')
            files[f"{FOLDER}{number:04}_{entity.name}.sql"] = "\n".join(lines) + "\n"
    return files


def create_table(blueprint: Blueprint, entity: Entity) -> str:
    """The first migration of an entity."""
    return _write_table(blueprint, entity, entity.name) + _write_indexes(blueprint, entity)


def change_table(blueprint: Blueprint, entity: Entity, earlier: Earlier) -> str:
    """What leads from the table as it was to what it is now; empty where it is the same."""
    was = earlier.entity(entity.name)
    assert was is not None
    is_same = create_table(blueprint, entity) == create_table(earlier.blueprint, was)
    if is_same and [field.type for field in entity.fields] == [field.type for field in was.fields]:
        return ""  # days and moments have the same SQL type, and their texts differ
    copied = [("id", "id"), ("created", "created")]
    if blueprint.accounts and earlier.blueprint.accounts:
        copied.insert(1, ("owner", "owner"))
    copied += [(f'"{field.name}"', _convert(was.field(field.name), field)) for field in entity.fields]
    made = _write_table(blueprint, entity, f"_new_{entity.name}", keeps_old_rows=True)
    into, values = ", ".join(name for name, _ in copied), ",\n    ".join(value for _, value in copied)
    return (
        f'{made}\nINSERT INTO "_new_{entity.name}" ({into})\nSELECT\n    {values}\nFROM "{entity.name}";\n\n'
        f'DROP TABLE "{entity.name}";\n\nALTER TABLE "_new_{entity.name}" RENAME TO "{entity.name}";\n'
        + _write_indexes(blueprint, entity, keeps_old_rows=True)
    )


def _write_table(blueprint: Blueprint, entity: Entity, name: str, keeps_old_rows: bool = False) -> str:
    must = "" if keeps_old_rows else " NOT NULL"
    lines = ["id INTEGER PRIMARY KEY"]
    if blueprint.accounts:
        lines.append(f"owner INTEGER{must} REFERENCES account (id) ON DELETE CASCADE")
    lines.append("created TEXT NOT NULL")
    for field in entity.fields:
        line = f'"{field.name}" {SQL_TYPES.get(field.type, "TEXT")}'
        if field.type == "yes_no" or (field.required and not (keeps_old_rows and field.target)):
            line += " NOT NULL"
        if field.target:
            goes = "CASCADE" if field.name == entity.parent else "RESTRICT" if field.required else "SET NULL"
            line += f' REFERENCES "{field.target}" (id) ON DELETE {goes}'
        lines.append(line)
    columns = ",\n    ".join(lines)
    return f'CREATE TABLE "{name}" (\n    {columns}\n);\n'


def _list_indexes(blueprint: Blueprint, entity: Entity) -> dict[str, tuple[Literal["", "UNIQUE "], str]]:
    """Indexes by name: what is looked up, sorted by or referred to, and what must be unique."""
    found: dict[str, tuple[Literal["", "UNIQUE "], str]] = {}
    if blueprint.accounts:
        found[f'"{entity.name}.owner"'] = ("", "owner")
    for field in entity.fields:
        if field.unique:
            columns = f'owner, "{field.name}"' if entity.read == "owner" else f'"{field.name}"'
            found[f'"{entity.name}.{field.name}"'] = ("UNIQUE ", columns)
        elif field.target or field.name == entity.sort or field == entity.title_field:
            found[f'"{entity.name}.{field.name}"'] = ("", f'"{field.name}"')
    return found


def _write_indexes(blueprint: Blueprint, entity: Entity, keeps_old_rows: bool = False) -> str:
    return "".join(
        f'\nCREATE {"" if keeps_old_rows else kind}INDEX {name} ON "{entity.name}" ({columns});\n'
        for name, (kind, columns) in _list_indexes(blueprint, entity).items()
    )


def _convert(was: Field | None, field: Field) -> str:
    """The value of an old row for a field: its own where that can be read as the new type, else a stand-in."""
    old = f'"{field.name}"'
    otherwise = _stand_in(field)
    match was.type if was else "", field.type:
        case before, after if before == after or (before in TEXTS and after in TEXTS):
            value = old if field.target == (was.target if was else "") else "NULL"
        case "integer" | "decimal", after if after in TEXTS:
            value = f"CAST({old} AS TEXT)"
        case "integer", "decimal":
            value = old
        case "decimal", "integer":
            value = f"CAST(round({old}) AS INTEGER)"
        case "date", "date_time":
            value = f"{old} || ' 00:00:00.000000'"
        case "date_time", "date":
            value = f"substr({old}, 1, 10)"
        case _:
            return otherwise
    return value if otherwise == "NULL" else f"coalesce({value}, {otherwise})"


def _stand_in(field: Field) -> str:
    """What a row gets that has no value: the default; else, where there must be one, the least of its type."""
    if field.type == "yes_no":
        return "1" if field.default == "yes" else "0"
    if field.type in NOW:
        return NOW[field.type] if field.required or field.default in ("today", "now") else "NULL"
    if field.type == "reference":
        return "NULL"
    if field.type in ("integer", "decimal"):
        default = field.default if re.fullmatch(r"-?\d+(\.\d+)?", field.default) else f"{field.minimum or 0:g}"
        return default if field.required else "NULL"
    text = (field.default or next(iter(field.options), "")).replace("'", "''")
    return f"'{text}'" if field.required else "NULL"
