"""From a blueprint to the files of an app, by rules: what an engineer would have written, ready to be read and changed.

The text stands in `skeleton/`, and what depends on types in `expressions.py`. Inside a skeleton [[ ]] and [% %] are
ours, as {{ }} and {% %} are the app's own templates'. Words that people or models wrote go through a filter for the
place where they land: `html`, `py`, `doc` or `literal`. Ruff formats the result and removes imports that this app does
not need. The same blueprint gives the same bytes.
"""

import ast
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from burnish.apps.blueprint import Blueprint, Computed, Entity
from burnish.apps.expressions import (
    SEARCHED,
    Wording,
    escape_html,
    name_class,
    quote_jinja,
    quote_python,
    tame_docstring,
)
from burnish.apps.migrations import Earlier, create_table, find_migrations, find_removals
from burnish.apps.modules import Module, list_modules
from burnish.apps.samples import TypedSamples
from burnish.errors import AttemptError
from burnish.events import Frozen

SKELETON = Path(__file__).parent / "skeleton"
HTMX = Path(__file__).parents[1] / "web" / "static" / "htmx.min.js"
"""The one that Burnish's own pages use (htmx.org 4.0.1, Zero-Clause BSD)."""
LOCK = (SKELETON / "shell" / "requirements.txt").read_text("utf-8")
REQUIREMENTS = tuple(re.findall(r"^([\w.-]+==[\w.]+)", LOCK, re.MULTILINE))
"""What an app needs, each at its version, for `packages.prepare_layer`."""
RUFF_SECONDS = 60


class Written(Frozen):
    """A computed field, as its function and its property are generated."""

    name: str
    label: str
    hint: str
    parameters: str = ""
    arguments: str
    expression: str = ""
    """Of one that follows from a condition."""
    imports: str = ""
    source: str = ""
    """Of one that somebody wrote."""


def generate_app(
    blueprint: Blueprint, functions: Mapping[str, str] | None = None, earlier: Earlier | None = None
) -> dict[str, str]:
    """Every file of an app, by path. With what was there `earlier`, migrations lead from it to this."""
    files: dict[str, str] = {}
    for module in list_modules(blueprint):
        files |= _render_module(blueprint, module, functions or {}, earlier)
    return _format(files)


def generate_module(
    blueprint: Blueprint, module: Module, functions: Mapping[str, str], earlier: Earlier | None = None
) -> dict[str, str]:
    """The files of one module. `functions` has the source of computed fields as "ENTITY.NAME"; others are left out."""
    return _format(_render_module(blueprint, module, functions, earlier))


def _render_module(
    blueprint: Blueprint, module: Module, functions: Mapping[str, str], earlier: Earlier | None
) -> dict[str, str]:
    match module.name:
        case "shell":
            copied = {
                "app/__init__.py": '"""A web app."""\n',
                "tests/__init__.py": "",
                "app/static/htmx.min.js": HTMX.read_text(),
            }
            return copied | _render_folder("shell", app=blueprint, colours=pick_colours(blueprint.accent))
        case "accounts":
            files = _render_folder("accounts", app=blueprint)
            first = files.pop("app/migrations/0001_accounts.sql")
            return files | find_migrations(blueprint, "accounts", first, earlier)
        case "app":
            files = _render_folder("app", app=blueprint, modules=list_modules(blueprint))
            files["blueprint.json"] = blueprint.model_dump_json(indent=2, exclude_defaults=True) + "\n"
            return files | find_removals(blueprint, earlier)
    entity = blueprint.entity(module.name)
    context = _describe(blueprint, entity, functions)
    folder, files = (
        f"app/{entity.name}",
        {f"app/{entity.name}/__init__.py": f'"""{tame_docstring(entity.plural)}."""\n'},
    )
    left_out = [*([] if entity.parent else ["children.html.j2"]), *([] if context["computed"] else ["computed.py.j2"])]
    for path, text in _render_folder("entity", left_out, **context).items():
        files[f"tests/test_{entity.name}.py" if path == "test.py" else f"{folder}/{path}"] = text
    return files | find_migrations(blueprint, entity.name, create_table(blueprint, entity), earlier)


def _describe(blueprint: Blueprint, entity: Entity, functions: Mapping[str, str]) -> dict[str, object]:
    """What the skeletons of an entity's module ask for."""
    words = Wording(blueprint, entity)
    members = blueprint.accounts
    parent = entity.field(entity.parent)
    unique = {field.name for field in entity.fields if field.unique}
    ruled = unique | {name for rule in entity.rules for name in (*rule.fields, *rule.per)}
    filters = [
        field
        for field in entity.fields
        if field.type in ("yes_no", "choice", "reference") and field.name not in ("page", "sort")  # ours in addresses
    ]
    child_of = (one.field(one.parent) for one in blueprint.entities)
    return {
        "app": blueprint,
        "entity": entity,
        "w": words,
        "cls": name_class(entity.name),
        "samples": TypedSamples(blueprint, entity),
        "computed": [one for computed in entity.computed if (one := _write_computed(words, computed, functions))],
        "choices": [field for field in entity.fields if field.options],
        "searched": [field for field in entity.fields if field.type in SEARCHED],
        "sortable": [field for field in entity.fields if field.type not in ("long_text", "reference")],
        "filters": filters,
        "reference_filters": [field for field in filters if field.target],
        "targets": list(dict.fromkeys(field.target for field in entity.references)),
        "parent": parent,
        "parent_entity": blueprint.entity(parent.target) if parent else None,
        "has_children": any(field and field.target == entity.name for field in child_of),
        "checks": bool(unique or entity.rules),
        "others": bool(unique) or any(rule.kind in ("no_overlap", "unique_together") for rule in entity.rules),
        "checked_actions": [one.name for one in entity.actions if ruled & {change.field for change in one.changes}],
        "own_only": members and entity.write == "owner" and entity.read != "owner",
        "getter": "get_changeable" if members and entity.write == "owner" and entity.read != "owner" else "get",
        "viewer_is": "viewer: int | None" if members else "",
        **{name: name if members else "" for name in ("viewer", "member")},
        **{f"{name}_": f"{name}, " if members else "" for name in ("viewer", "member")},
    }


def _write_computed(words: Wording, computed: Computed, functions: Mapping[str, str]) -> Written | None:
    """A computed field; None where its function is missing or is no such function."""
    hint = {"yes_no": "bool", "integer": "int", "decimal": "float", "text": "str"}[computed.gives]
    fields = words.list_parameters(computed)
    arguments = ", ".join(f"self.{field.name}" for field in fields)
    if computed.condition:
        return Written(
            name=computed.name,
            label=computed.label,
            hint=hint,
            parameters=", ".join(f"{field.name}: {words.write_hint(field)}" for field in fields),
            arguments=arguments,
            expression=words.write_condition(computed.condition, ""),
        )
    source = functions.get(f"{words.entity.name}.{computed.name}", "")
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return None
    if not any(isinstance(node, ast.FunctionDef) and node.name == computed.name for node in tree.body):
        return None
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    rest = [ast.get_source_segment(source, node) or "" for node in tree.body if node not in imports]
    return Written(
        name=computed.name,
        label=computed.label,
        hint=f"{hint} | None",
        arguments=arguments,
        imports="\n".join(map(ast.unparse, imports)),
        source="\n\n\n".join(rest),
    )


@cache
def _make_environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(SKELETON),
        variable_start_string="[[",
        variable_end_string="]]",
        block_start_string="[%",
        block_end_string="%]",
        comment_start_string="[#",
        comment_end_string="#]",
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "class_name": name_class,
        "doc": tame_docstring,
        "html": escape_html,
        "literal": quote_jinja,
        "py": quote_python,
    }
    return environment


def _render_folder(name: str, left_out: Sequence[str] = (), **context: object) -> dict[str, str]:
    """The files of a part of the skeleton: those that end in .j2 rendered, others as they are."""
    files = {}
    for file in sorted((SKELETON / name).rglob("*")):
        path = file.relative_to(SKELETON / name).as_posix()
        if file.name in left_out:
            continue
        if file.suffix == ".j2":
            template = _make_environment().get_template(f"{name}/{path}")
            files[path.removesuffix(".j2")] = template.render(context)
        elif file.is_file():
            files[".gitignore" if path == "gitignore" else path] = file.read_text("utf-8")
    return files


def _format(files: Mapping[str, str]) -> dict[str, str]:
    """The same files with Python as ruff formats it, and without imports that are not used."""
    ruff = [sys.executable, "-I", "-m", "ruff"]
    python = [path for path in files if path.endswith(".py") or path == "run"]
    with tempfile.TemporaryDirectory() as folder:
        for path in python:
            place = Path(folder, path).with_suffix(".py")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(files[path], "utf-8")
        ours = 'lint.isort.known-first-party=["app", "tests"]'  # of one module, ruff does not see the rest
        fix = ["check", "--fix", "--select", "F401,I", "--config", ours]
        for words in (fix, ["format"]):
            command = [*ruff, *words, "--quiet", "--isolated", "--no-cache", "--target-version", "py311", "."]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=RUFF_SECONDS)
            if done.returncode:
                raise AttemptError(f"ruff could not read generated code: {(done.stderr or done.stdout)[:500]}")
        formatted = {path: Path(folder, path).with_suffix(".py").read_text("utf-8") for path in python}
    return dict(sorted({**files, **formatted}.items()))


def pick_colours(accent: str) -> dict[str, str]:
    """Colours around an accent that can be read: text on it, and links of its hue on light and on dark paper."""
    black, white = "#14181d", "#ffffff"
    return {
        "on_accent": max((white, black), key=lambda ink: measure_contrast(ink, accent)),
        "link_light": _mix_until(accent, "#000000", "#f7f8fa"),
        "link_dark": _mix_until(accent, "#ffffff", "#1b2027"),
    }


def _mix_until(colour: str, towards: str, paper: str) -> str:
    """The first mix of two colours that can be read on a paper."""
    for part in range(21):
        mixed = "#" + "".join(
            f"{round(a + (b - a) * part / 20):02x}" for a, b in zip(_split(colour), _split(towards), strict=True)
        )
        if measure_contrast(mixed, paper) >= 5:
            break
    return mixed


def _split(colour: str) -> list[int]:
    return [int(colour[start : start + 2], 16) for start in (1, 3, 5)]


def measure_contrast(one: str, other: str) -> float:
    """The contrast of two colours as WCAG defines it, from 1 to 21."""

    def brightness(colour: str) -> float:
        parts = [value / 255 for value in _split(colour)]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    dark, light = sorted((brightness(one), brightness(other)))
    return (light + 0.05) / (dark + 0.05)
