"""A blueprint becomes an app whose own tests pass, and fail as soon as one of its guards is gone."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from burnish.apps.blueprint import Blueprint
from burnish.apps.expressions import escape_html, quote_jinja
from burnish.apps.generate import REQUIREMENTS, generate_app, generate_module, measure_contrast, pick_colours
from burnish.apps.migrations import Earlier, read_earlier
from burnish.apps.modules import list_modules
from burnish.packages import prepare_layer
from burnish.sandbox import open_sandbox
from burnish.sandbox.box import Box
from tests.apps.blueprints import MEMBERS, NASTY, OPEN, SINGLE, TOTAL
from tests.apps.test_blueprint import GOOD, changed

LENDING = Blueprint.model_validate(GOOD)


@pytest.fixture(scope="module")
def app_box() -> Iterator[Box]:
    """A sandbox with what apps need."""
    with open_sandbox("auto", cells=1, layer=prepare_layer(REQUIREMENTS).folder) as box:
        yield box


def run_tests(box: Box, files: dict[str, str], *words: str) -> tuple[int | None, str]:
    """Run an app's own tests; its exit code, and what they said."""
    command = ["python", "-W", "error", "-m", "pytest", "-q", "-x", "--tb=short", "-p", "no:cacheprovider", *words]
    done = box.run(command, files, timeout_seconds=110)
    return done.exit_code, done.output


def test_the_same_blueprint_gives_the_same_bytes() -> None:
    assert generate_app(LENDING) == generate_app(Blueprint.model_validate(GOOD))


def test_modules_own_all_files_and_share_none() -> None:
    modules, apart = list_modules(LENDING), dict[str, str]()
    for module in modules:
        files = generate_module(LENDING, module, {})
        assert {*files} == {*module.files}
        assert not apart.keys() & files.keys()
        apart |= files
    assert apart == generate_app(LENDING)
    levels = {module.name: module.level for module in modules}
    assert all(levels[need] < module.level for module in modules for need in module.needs)
    assert [module.name for module in modules] == ["shell", "accounts", "tool", "loan", "app"]


def test_a_changed_field_changes_the_module_of_its_entity_and_no_other() -> None:
    other = Blueprint.model_validate(changed("entities.1.fields.1.label", "Since"))
    before, after = generate_app(LENDING), generate_app(other)
    assert {path for path in after if before.get(path) != after[path]} == {
        *("app/loan/service.py", "app/loan/templates/fields.html", "app/loan/templates/rows.html"),
        *("app/loan/templates/show.html", "blueprint.json"),
    }


def test_what_an_app_does_not_need_is_not_there() -> None:
    files = generate_app(Blueprint.model_validate(OPEN))
    assert not [path for path in files if "account" in path or "login" in path]
    assert "owner" not in files["app/migrations/0001_wide.sql"]
    assert "computed" not in files["app/group/table.py"]
    assert "query.q" not in files["app/table/service.py"]


def test_a_function_that_nobody_wrote_is_left_out_and_the_rest_stays() -> None:
    blueprint = Blueprint.model_validate(MEMBERS)
    for source in ("", "def other(): pass", "this is no Python"):
        assert "total" not in generate_app(blueprint, {"wide.total": source})["app/wide/table.py"]
    written = generate_app(blueprint, {"wide.total": TOTAL})
    assert "math.fsum([r_integer, r_decimal])" in written["app/wide/computed.py"]
    assert "gone" not in written["app/wide/table.py"]


def test_words_are_harmless_wherever_they_land() -> None:
    assert "{{" not in escape_html(NASTY)
    assert "<" not in quote_jinja(NASTY)
    files = generate_app(Blueprint.model_validate(MEMBERS))
    assert not [
        path for path, text in files.items() if path.endswith(".html") and ("<b>" in text or "7 * 7 }}" in text)
    ]
    assert json.loads(files["blueprint.json"])["entities"][0]["label"] == f"Wide {NASTY}"


@pytest.mark.parametrize("accent", ["#ffe066", "#000000", "#ffffff", "#2257bf", "#888888"])
def test_text_can_be_read_whatever_the_accent(accent: str) -> None:
    colours = pick_colours(accent)
    assert measure_contrast(colours["on_accent"], accent) >= 4.5
    assert measure_contrast(colours["link_light"], "#f7f8fa") >= 4.5
    assert measure_contrast(colours["link_dark"], "#1b2027") >= 4.5


@pytest.mark.parametrize("data", [GOOD, MEMBERS, OPEN, SINGLE])
def test_ruff_has_nothing_to_say_about_an_app(data: dict[str, Any], tmp_path: Path) -> None:
    write(tmp_path, generate_app(Blueprint.model_validate(data), {"wide.total": TOTAL}))
    for words in (["check"], ["format", "--check"]):
        command = [sys.executable, "-I", "-m", "ruff", *words, "--isolated", "--no-cache", "."]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


def write(folder: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


@pytest.mark.slow
@pytest.mark.parametrize("data", [GOOD, MEMBERS, OPEN, SINGLE], ids=["good", "members", "open", "single"])
def test_the_tests_of_an_app_pass(app_box: Box, data: dict[str, Any]) -> None:
    code, said = run_tests(app_box, generate_app(Blueprint.model_validate(data), {"wide.total": TOTAL}))
    assert code == 0, said


GUARDS = {
    "csrf": ("app/security.py", "    if not hmac.compare_digest(", "    if False and not hmac.compare_digest("),
    "who sees": ("app/loan/service.py", "select(Loan).where(Loan.owner == viewer)", "select(Loan)"),
    "who changes": ("app/request/service.py", "if row.owner != member:", "if False:"),
    "no_overlap": ("app/loan/service.py", "elif session.scalar(overlapping) is not None:", "elif False:"),
    "in_order": ("app/loan/service.py", "if not form.starts < form.ends:", "if False:"),
    "unique": ("app/tool/service.py", "is not None:\n        errors", "is not None and False:\n        errors"),
    "not_past": ("app/wide/service.py", "< earliest", "< dt.datetime.min"),
    "required": ("app/forms.py", "elif not value:", "elif False:"),
    "login": ("app/accounts.py", "if viewer is None:", "if False:"),
    "fixation": (
        "app/accounts.py",
        "    request.state.session = secrets.token_urlsafe(32)\n    expires",
        "    expires",
    ),
    "guesses": ("app/accounts.py", "MOST_WRONG = 10\n", "MOST_WRONG = 1000\n"),
    "elsewhere": ("app/accounts.py", "goes_to if is_local(goes_to) else", "goes_to if True else"),
    "escaping": ("app/pages.py", "autoescape=True", "autoescape=False"),
    "size": ("app/security.py", "if len(body) > LARGEST_BODY:", "if False:"),
    "mass assignment": ("app/tool/service.py", "    row.name = form.name", "    row.id, row.name = 77, form.name"),
}


@pytest.mark.slow
@pytest.mark.parametrize("guard", GUARDS)
def test_an_app_without_one_of_its_guards_fails_its_own_tests(app_box: Box, guard: str) -> None:
    path, there, gone = GUARDS[guard]
    files = generate_app(
        LENDING if path.split("/")[1] not in ("wide", "request") else Blueprint.model_validate(MEMBERS)
    )
    assert files[path].count(there) == 1
    tests = f"tests/test_{path.split('/')[1]}.py"
    only = [tests] if tests in files else []
    code, said = run_tests(app_box, files | {path: files[path].replace(there, gone)}, *only)
    assert code == 1, said


FOLLOW_UP = """
import pathlib, sqlite3, sys
from app.database import migrate
from app.settings import DATABASE

later = {file: file.read_text() for file in pathlib.Path("app/migrations").glob("0002*")}
for file in later:
    file.unlink()
migrate()
database = sqlite3.connect(DATABASE)
database.execute("INSERT INTO account VALUES (7, 'a@example.org', '', '2026-01-01 00:00:00.000000')")
database.execute("INSERT INTO tool VALUES (3, 7, '2026-01-01 00:00:00.000000', 'Saw', 'whole', 5, 2)")
database.execute("INSERT INTO loan VALUES (4, 7, '2026-01-01 00:00:00.000000', 3, '2026-01-01', '2026-01-03')")
database.commit()
for file, text in later.items():
    file.write_text(text)
migrate()
migrate()
assert not database.execute("PRAGMA foreign_key_check").fetchall()
for question in sys.argv[1:]:
    print(*database.execute(question))
"""


def follow(box: Box, entities: list[dict[str, Any]], *questions: str) -> list[str]:
    """What the database answers after a follow-up, where there was a row of each kind before it."""
    blueprint = Blueprint.model_validate(GOOD | {"entities": entities})
    first = generate_app(LENDING)
    earlier = read_earlier(first)
    files = generate_app(blueprint, earlier=earlier)
    assert {*files} == {path for module in list_modules(blueprint, earlier) for path in module.files}
    kept = [path for path in first if path.startswith("app/migrations/")]
    assert all(files[path] == first[path] for path in kept), "a migration that was applied never changes"
    done = box.run(["python", "follow_up.py", *questions], files | {"follow_up.py": FOLLOW_UP}, timeout_seconds=60)
    assert done.exit_code == 0, done.output
    return done.output.splitlines()


@pytest.mark.slow
def test_rows_survive_new_fields_and_other_types(app_box: Box) -> None:
    tool, loan = changed("entities.0.fields.2.type", "decimal")["entities"]
    tool["fields"][3]["type"] = "decimal"
    tool["fields"] += [
        {"name": "bought", "label": "Bought", "type": "date"},
        {"name": "place", "label": "Place", "type": "text", "default": "Anna's shed"},
        {"name": "lent", "label": "Lent", "type": "yes_no"},
    ]
    loan["fields"][1]["type"] = loan["fields"][2]["type"] = "date_time"
    told = follow(
        *(app_box, [tool, loan]),
        "SELECT id, owner, name, pieces, place, lent, bought IS NOT NULL FROM tool",
        "SELECT id, tool, starts FROM loan",
        "SELECT count(*) FROM sqlite_master WHERE type = 'index' AND name LIKE 'tool.%'",
    )
    assert told == ["(3, 7, 'Saw', 5.0, \"Anna's shed\", 0, 1)", "(4, 3, '2026-01-01 00:00:00.000000')", "(2,)"]


@pytest.mark.slow
def test_rows_of_a_table_that_goes_are_put_aside_and_a_new_one_begins_empty(app_box: Box) -> None:
    tool, loan = GOOD["entities"]
    visit = loan | {"name": "visit", "fields": loan["fields"], "rules": []}
    told = follow(app_box, [tool, visit], "SELECT id, tool FROM _removed_0002_loan", "SELECT count(*) FROM visit")
    assert told == ["(4, 3)", "(0,)"]


def test_an_app_that_stays_the_same_gets_no_migration() -> None:
    files = generate_app(LENDING)
    assert generate_app(LENDING, earlier=read_earlier(files)) == files
    relabelled = Blueprint.model_validate(changed("entities.0.fields.0.label", "Called"))
    again = generate_app(relabelled, earlier=Earlier(blueprint=LENDING, migrations=read_earlier(files).migrations))
    assert {*again} == {*files}
