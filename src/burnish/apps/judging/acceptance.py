"""What a person would try in a built app, derived from its blueprint: steps, each with what must come of it.

In a browser where there is one, else by plain forms; what only a browser can show is then not run. Every app is judged
by the same steps, and no step knows what the app is about.
"""

import ast
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from urllib.parse import quote

from burnish.apps.blueprint import Action, Blueprint, Computed, Entity, Field, RowRule, View
from burnish.apps.judging import rows
from burnish.apps.judging.browsing import BrowserTab, Browsing
from burnish.apps.judging.page_reader import Form, Page, ShownRow
from burnish.apps.judging.rows import Typed
from burnish.apps.judging.served_app import Client, ServedApp, Visitor
from burnish.errors import SandboxError
from burnish.events import Frozen, Outcome

FIRST = "first@example.org"
"""Who comes first to a new app; where nobody else can register, the only one."""
PASSWORD = "correct horse 7"  # noqa: S105
NARROW, WIDE = 375, 1280
IN_BROWSER = ("reach_by_keyboard", "fit_375_and_1280", "darken", "update_without_reload", "name_controls", "be_quiet")


class AppStep(Frozen):
    """One thing that a person would try."""

    name: str
    entity: str = ""
    part: str = ""
    """The view, action or computed value, or the number of the rule."""
    needs_browser: bool = False

    @property
    def id(self) -> str:
        """What it is called in reports: "search tool", "view tool few"."""
        return " ".join(filter(None, (self.name, self.entity, self.part)))


class StepResult(Frozen):
    """What came of it."""

    step: str
    verdict: Outcome
    why: str = ""
    seconds: float = 0.0


class StepFailed(Exception):
    """What should have come of a step did not."""


class NotTried(Exception):
    """A step could not be tried: what it needs is not there."""


def derive_steps(blueprint: Blueprint) -> tuple[AppStep, ...]:
    """What is tried, in this order."""
    return tuple(_list_steps(blueprint))


def _list_steps(blueprint: Blueprint) -> Iterator[AppStep]:
    if blueprint.accounts:
        yield from (AppStep(name=name) for name in ("register", "refuse_wrong_password", "log_in"))
    entities = rows.order_entities(blueprint)
    for entity in entities:
        of = entity.name
        yield AppStep(name="add", entity=of)
        if any(_is_typed(field) and field.required for field in entity.fields):
            yield AppStep(name="refuse_missing", entity=of)
        if any(rows.derive_invalid(field) for field in entity.fields):
            yield AppStep(name="refuse_invalid", entity=of)
        if any(field.unique for field in entity.fields):
            yield AppStep(name="refuse_double", entity=of)
        yield AppStep(name="show", entity=of)
        yield AppStep(name="edit", entity=of)
        if any(field.type in ("text", "long_text") for field in entity.fields):
            yield AppStep(name="search", entity=of)
        yield from (
            AppStep(name="filter", entity=of, part=field.name)
            for field in entity.fields
            if field.type in ("yes_no", "choice", "reference")
        )
        yield AppStep(name="sort", entity=of)
        for kind, parts in (("view", entity.views), ("computed", entity.computed), ("action", entity.actions)):
            yield from (AppStep(name=kind, entity=of, part=part.name) for part in parts)
        yield from (AppStep(name="rule", entity=of, part=str(number)) for number in range(len(entity.rules)))
        if entity.parent:
            yield AppStep(name="add_on_parent", entity=of)
        yield from (AppStep(name="delete_referred", entity=of, part=field.name) for field in entity.references)
    if blueprint.accounts:
        for entity in entities:
            if blueprint.registration:
                yield AppStep(name="keep_from_others", entity=entity.name)
            yield AppStep(name="keep_from_strangers", entity=entity.name)
    yield AppStep(name="use_plain_forms")
    yield AppStep(name="stay_in_step_in_two_tabs")
    yield AppStep(name="survive_restart")
    yield from (AppStep(name=name, needs_browser=True) for name in IN_BROWSER)
    yield from (AppStep(name="delete", entity=entity.name) for entity in reversed(entities))
    if blueprint.accounts:
        yield AppStep(name="log_out")


def accept(
    blueprint: Blueprint,
    app: ServedApp,
    browser: Browsing | None = None,
    tell: Callable[[str], None] = lambda step: None,
) -> tuple[StepResult, ...]:
    """Try every step, each told before it begins. Without a browser the steps that need one are not run."""
    trial, results = Trial(blueprint, app, browser), []
    for step in derive_steps(blueprint):
        tell(step.id)
        began, verdict, why = time.monotonic(), "passed", ""
        try:
            if step.needs_browser and browser is None:
                raise NotTried("there is no browser")
            ACTS[step.name](trial, step)
        except NotTried as missing:
            verdict, why = "not_run", str(missing)
        except (StepFailed, SandboxError) as unmet:
            verdict, why = "failed", str(unmet)
        seconds = round(time.monotonic() - began, 2)
        results.append(StepResult.model_validate({"step": step.id, "verdict": verdict, "why": why, "seconds": seconds}))
    return tuple(results)


class Trial:
    """People in front of one app, and the rows that they have added."""

    def __init__(self, blueprint: Blueprint, app: ServedApp, browser: Browsing | None) -> None:
        self.blueprint, self.app, self.browser = blueprint, app, browser
        self.salt = "".join(secrets.choice("npqrstvw") for _ in range(5))
        self.rows: dict[str, dict[str, Typed]] = {entity.name: {} for entity in blueprint.entities}
        self.number = 0
        self.me = self.visit()

    def visit(self) -> Visitor:
        """Somebody whom the app has never seen."""
        return self.browser.visit() if self.browser else Client(self.app)

    def entity(self, step: AppStep) -> Entity:
        """That of the step."""
        return self.blueprint.entity(step.entity)

    def derive(self, entity: Entity) -> Typed:
        """A valid row like no other. Raises NotTried where what it must refer to could not be added."""
        self.number += 1
        references = {}
        for field in entity.references:
            there = [*self.rows[field.target]]
            if not there and field.required:
                raise NotTried(f"there is no {field.target} that it could refer to")
            references[field.name] = there[self.number % len(there)] if there else ""
        return rows.derive_row(entity, self.number, self.salt, references)

    def add(self, entity: Entity, typed: Typed | None = None, visitor: Visitor | None = None) -> tuple[str, Typed]:
        """Add a row as a person would; its id, and what was typed."""
        visitor, typed = visitor or self.me, typed or self.derive(entity)
        known = self.list_rows(entity, visitor)
        page = self.send(visitor, f"/{entity.name}/new", f"/{entity.name}", typed)
        if page.errors:
            raise StepFailed(f"a valid row was refused: {page.errors}")
        new = [*self.list_rows(entity, visitor).keys() - known.keys()]
        if len(new) != 1:
            raise StepFailed(f"the list shows {len(new)} new rows after one was added (status {visitor.status})")
        self.rows[entity.name][new[0]] = typed
        return new[0], typed

    def send(self, visitor: Visitor, path: str, action: str, typed: Mapping[str, str]) -> Page:
        """What comes of filling in the form at an address."""
        form = visitor.goto(path).find_form(action)
        if form is None:
            raise StepFailed(f"{path} has no form that posts to {action} (status {visitor.status})")
        if missing := sorted(typed.keys() - form.values.keys() - form.boxes):
            raise StepFailed(f"the form at {path} has no {', '.join(missing)}")
        return visitor.submit(form, typed)

    def list_rows(self, entity: Entity, visitor: Visitor | None = None, asked: str = "") -> dict[str, ShownRow]:
        """What the list of an entity shows, newest included: 50 rows are a page, and no trial adds as many."""
        visitor = visitor or self.me
        page = visitor.goto(f"/{entity.name}{asked}")
        if visitor.status != 200:
            raise StepFailed(f"/{entity.name}{asked} answers {visitor.status}")
        return page.rows()

    def two_rows(self, entity: Entity) -> dict[str, Typed]:
        """Those that are there. Raises NotTried for fewer than two."""
        if len(there := self.rows[entity.name]) < 2:
            raise NotTried(f"no two rows of {entity.name} could be added")
        return there

    def require(self, entity: Entity, id: str, row: ShownRow | None, typed: Typed) -> None:
        """Raise StepFailed where a row is not shown, or not as it was typed."""
        if row is None:
            raise StepFailed(f"row {id} of {entity.name} is not in the list")
        for field in entity.fields:
            shown = row.values.get(field.name)
            if shown is not None and not rows.shows(field.type, typed.get(field.name, ""), shown):
                raise StepFailed(f"{entity.name}.{field.name} shows {shown!r}, and {typed.get(field.name)!r} was typed")

    def require_error(self, page: Page, names: Iterator[str] | tuple[str, ...], entity: Entity, before: int) -> None:
        """Raise StepFailed where nothing is said beside one of the fields, or a row was added all the same."""
        wanted = {*names}
        if not wanted & page.errors.keys():
            raise StepFailed(f"nothing is said at {' or '.join(sorted(wanted))}; errors: {page.errors or 'none'}")
        if len(self.list_rows(entity)) != before:
            raise StepFailed("the row was added all the same")


def _is_typed(field: Field) -> bool:
    return field.type not in ("yes_no", "choice", "reference")


def register(trial: Trial, visitor: Visitor, email: str) -> None:
    """Make an account. Raises StepFailed where that does not lead into the app."""
    page = trial.send(visitor, "/register", "/register", {"email": email, "password": PASSWORD})
    if page.errors or visitor.path.startswith(("/register", "/login")):
        raise StepFailed(f"registering led to {visitor.path}, errors: {page.errors or 'none'}")


def come_in(trial: Trial, visitor: Visitor, name: str) -> None:
    """Register under this name; where only the first one could, log in as that one; nothing without accounts."""
    if trial.blueprint.registration and trial.blueprint.accounts:
        register(trial, visitor, f"{name}{trial.salt}@example.org")
    elif trial.blueprint.accounts:
        _log_in(trial, visitor)


def _register(trial: Trial, step: AppStep) -> None:
    register(trial, trial.me, FIRST)


def _log_in(trial: Trial, visitor: Visitor, password: str = PASSWORD) -> Page:
    return trial.send(visitor, "/login", "/login", {"email": FIRST, "password": password})


def refuse_wrong_password(trial: Trial, step: AppStep) -> None:
    """A wrong password lets nobody in, and what was wrong is said."""
    visitor = trial.visit()
    page = _log_in(trial, visitor, "wrong horse 8")
    if not page.errors:
        raise StepFailed("a wrong password is not said to be wrong")
    first = trial.blueprint.entities[0]
    if first.read != "everyone" and visitor.goto(f"/{first.name}") and not visitor.path.startswith("/login"):
        raise StepFailed("a wrong password lets in")


def _come_in(trial: Trial, step: AppStep) -> None:
    visitor = trial.visit()
    page = _log_in(trial, visitor)
    if page.errors or visitor.path.startswith("/login"):
        raise StepFailed(f"the right password is refused: {page.errors or visitor.path}")
    missing = [one.name for one in trial.blueprint.entities if f"/{one.name}" not in page.links]
    if missing:
        raise StepFailed(f"no link leads to {', '.join(missing)}")


def _add(trial: Trial, step: AppStep) -> None:
    entity = trial.entity(step)
    for _ in range(2):
        id, typed = trial.add(entity)
        trial.require(entity, id, trial.list_rows(entity).get(id), typed)


def _refuse(trial: Trial, entity: Entity, field: Field, value: str) -> None:
    """A row with a wrong value in one field is refused beside it, and what else was typed is kept."""
    typed = {**trial.derive(entity), field.name: value}
    before = len(trial.list_rows(entity))
    page = trial.send(trial.me, f"/{entity.name}/new", f"/{entity.name}", typed)
    form = page.find_form(f"/{entity.name}")
    kept = form.values if form else {}
    lost = [one.name for one in entity.fields if one is not field and kept.get(one.name, "") != typed.get(one.name, "")]
    trial.require_error(page, (field.name,), entity, before)
    if lost:
        raise StepFailed(f"what was typed into {', '.join(lost)} is lost")


def refuse_missing(trial: Trial, step: AppStep) -> None:
    """A required field that stays empty is said beside it."""
    entity = trial.entity(step)
    _refuse(trial, entity, next(one for one in entity.fields if one.required and _is_typed(one)), "")


def refuse_invalid(trial: Trial, step: AppStep) -> None:
    """What is no value of a field is said beside it."""
    entity = trial.entity(step)
    for field in entity.fields:
        if value := rows.derive_invalid(field):
            _refuse(trial, entity, field, value)


def refuse_double(trial: Trial, step: AppStep) -> None:
    """A value that has to be the only one is refused where it is there already."""
    entity = trial.entity(step)
    there = next(iter(trial.two_rows(entity).values()))
    for field in entity.fields:
        if field.unique and there.get(field.name):
            _refuse(trial, entity, field, there[field.name])


def _show(trial: Trial, step: AppStep) -> None:
    entity = trial.entity(step)
    id, typed = next(iter(trial.two_rows(entity).items()))
    text = trial.me.goto(f"/{entity.name}/{id}").text
    unseen = [
        field.name
        for field in entity.fields
        if field.type in ("text", "email", "choice", "integer") and typed.get(field.name, "") not in text
    ]
    if unseen or trial.me.status != 200:
        raise StepFailed(f"the page of a row does not show {', '.join(unseen)} (status {trial.me.status})")


def _edit(trial: Trial, step: AppStep) -> None:
    entity = trial.entity(step)
    id, typed = next(iter(trial.two_rows(entity).items()))
    path = f"/{entity.name}/{id}"
    form = trial.me.goto(f"{path}/edit").find_form(path)
    if form is None:
        raise StepFailed(f"{path}/edit has no form that posts to {path}")
    other = {**trial.derive(entity), **{field.name: typed.get(field.name, "") for field in entity.references}}
    wrong = [
        field.name
        for field in entity.fields
        if not _is_alike(field, typed.get(field.name, ""), form.values.get(field.name, ""))
    ]
    if wrong:
        raise StepFailed(f"the form does not hold what {', '.join(wrong)} was")
    page = trial.me.submit(form, other)
    if page.errors:
        raise StepFailed(f"a valid change was refused: {page.errors}")
    trial.rows[entity.name][id] = other
    trial.require(entity, id, trial.list_rows(entity).get(id), other)


def _is_alike(field: Field, typed: str, held: str) -> bool:
    return typed == held or rows.parse_value(field, typed) == rows.parse_value(field, held)


def search(trial: Trial, step: AppStep) -> None:
    """A search finds a row by its text, and leaves others out."""
    entity = trial.entity(step)
    name = next(one.name for one in entity.fields if one.type in ("text", "long_text"))
    there = trial.two_rows(entity)
    sought = next(iter(there.values()))[name].rpartition(" ")[2]
    wanted = {id for id, typed in there.items() if sought in typed[name]}
    _compare(trial.list_rows(entity, asked=f"?q={sought}"), wanted, there, f"searching for {sought}")


def _filter(trial: Trial, step: AppStep) -> None:
    entity = trial.entity(step)
    field, there = entity.field(step.part), trial.two_rows(entity)
    for _ in range(3):
        if len({typed.get(step.part, "") for typed in there.values()}) < 2:
            trial.add(entity)
    values = {typed.get(step.part, "") for typed in there.values()}
    if len(values) < 2:
        raise NotTried(f"all rows have the same {step.part}")
    for value in values:
        wanted = {id for id, typed in there.items() if typed.get(step.part, "") == value}
        asked = value or ("no" if field and field.type == "yes_no" else "")
        if asked:
            shown = trial.list_rows(entity, asked=f"?{step.part}={quote(asked)}")
            _compare(shown, wanted, there, f"{step.part}={asked}")


def _compare(shown: Mapping[str, ShownRow], wanted: set[str], there: Mapping[str, Typed], asked: str) -> None:
    if missing := wanted - shown.keys():
        raise StepFailed(f"{asked}: row {min(missing)} is not shown")
    if extra := (there.keys() & shown.keys()) - wanted:
        raise StepFailed(f"{asked}: row {min(extra)} is shown, and does not belong there")


def _sort(trial: Trial, step: AppStep) -> None:
    entity = trial.entity(step)
    there = trial.two_rows(entity)
    for field in entity.fields:
        if field.type in rows.SORTABLE and len({typed.get(field.name, "") for typed in there.values()}) > 1:
            for sign in ("", "-"):
                shown = [id for id in trial.list_rows(entity, asked=f"?sort={sign}{field.name}") if id in there]
                values = [rows.parse_value(field, there[id].get(field.name, "")) for id in shown]
                if values != sorted(values, reverse=bool(sign)) or len(shown) != len(there):
                    raise StepFailed(f"sort={sign}{field.name} shows {values}")
            return
    raise NotTried("no field tells its rows apart")


def _view(trial: Trial, step: AppStep) -> None:
    entity = trial.entity(step)
    view: View = next(one for one in entity.views if one.name == step.part)
    for wanted in (True, False):
        typed = rows.bend(entity, view.conditions, trial.derive(entity), wanted)
        if typed is None:
            continue
        id, _ = trial.add(entity, typed)
        if (id in trial.list_rows(entity, asked=f"?view={view.name}")) != wanted:
            raise StepFailed(f"a row that {'belongs' if wanted else 'does not belong'} there is {'not ' * wanted}shown")


def _computed(trial: Trial, step: AppStep) -> None:
    entity = trial.entity(step)
    computed: Computed = next(one for one in entity.computed if one.name == step.part)
    expected = [*_expect_computed(trial, entity, computed)]
    if not expected:
        raise NotTried("no example of it can be typed into a form")
    for typed, wanted in expected:
        id, _ = trial.add(entity, typed)
        shown = trial.list_rows(entity)[id].values.get(computed.name)
        if shown is None or not rows.shows(computed.gives, wanted, shown):
            raise StepFailed(f"{computed.name} shows {shown!r} in place of {wanted!r}, for {typed}")


def _expect_computed(trial: Trial, entity: Entity, computed: Computed) -> Iterator[tuple[Typed, str]]:
    """Rows, and what must be computed of each."""
    if computed.condition:
        for wanted in (True, False):
            if typed := rows.bend(entity, (computed.condition,), trial.derive(entity), wanted):
                yield typed, "yes" if wanted else "no"
    for example in computed.examples:
        with suppress(SyntaxError, ValueError, AttributeError, IndexError):
            test = ast.parse(example.removeprefix("assert ").strip(), mode="eval").body
            assert isinstance(test, ast.Compare)
            assert isinstance(test.left, ast.Call)
            given = [ast.literal_eval(one) for one in test.left.args]
            typed = trial.derive(entity) | dict(zip(computed.takes, map(_write, given), strict=True))
            if rows.is_valid(entity, typed):
                yield typed, _write(ast.literal_eval(test.comparators[0]))


def _write(value: object) -> str:
    """A Python value as it is typed."""
    return ("yes" if value else "") if isinstance(value, bool) else "" if value is None else str(value)


def act(trial: Trial, step: AppStep) -> None:
    """An action is offered where it applies, and does what the plan says."""
    entity = trial.entity(step)
    action: Action = next(one for one in entity.actions if one.name == step.part)
    offered = rows.bend(entity, (action.when,) if action.when else (), trial.derive(entity))
    if offered is None:
        raise NotTried("no row for which it is offered can be typed")
    id, typed = trial.add(entity, offered)
    page = trial.me.goto(f"/{entity.name}")
    form = page.find_form(f"/{entity.name}/{id}/do/{action.name}", data_action=action.name)
    if form is None:
        raise StepFailed("it is not offered")
    trial.me.submit(form, {})
    after = dict(typed)
    row = trial.list_rows(entity).get(id)
    for change in action.changes:
        field = entity.field(change.field)
        assert field
        before = typed.get(change.field, "")
        if change.how == "toggle":
            after[change.field] = "" if before == "yes" else "yes"
        elif change.how == "add":
            after[change.field] = str(rows.parse_value(field, before or "0") + rows.parse_value(field, change.value))
        elif change.value in ("now", "today"):
            after[change.field] = row.values.get(change.field, "") if row else ""
            if not after[change.field]:
                raise StepFailed(f"{change.field} is still empty")
        else:
            after[change.field] = "" if (field.type, change.value) == ("yes_no", "no") else change.value
    trial.require(entity, id, row, after)
    trial.rows[entity.name][id] = after
    if action.when and (typed := rows.bend(entity, (action.when,), trial.derive(entity), False) or {}):
        other, _ = trial.add(entity, typed)
        if trial.me.goto(f"/{entity.name}").find_form(f"/{entity.name}/{other}/do/{action.name}"):
            raise StepFailed("it is offered where it must not be")


def _rule(trial: Trial, step: AppStep) -> None:
    entity = trial.entity(step)
    rule: RowRule = entity.rules[int(step.part)]
    _, there = trial.add(entity)
    typed = rows.derive_breach(entity, rule, trial.derive(entity), there)
    if typed is None:
        raise NotTried("no row that breaks it can be typed")
    before = len(trial.list_rows(entity))
    page = trial.send(trial.me, f"/{entity.name}/new", f"/{entity.name}", typed)
    trial.require_error(page, ("form", *rule.fields, *rule.per), entity, before)


def add_on_parent(trial: Trial, step: AppStep) -> None:
    """A row is added on the page of what it belongs to, and shown there."""
    entity = trial.entity(step)
    target = next(field.target for field in entity.references if field.name == entity.parent)
    typed = trial.derive(entity)
    path = f"/{target}/{typed[entity.parent]}"
    page = trial.me.goto(path)
    known = page.rows(entity.name)
    form = _find_child_form(page, entity)
    if form is None:
        raise StepFailed(f"{path} has no form that adds a {entity.name}")
    typed = {name: value for name, value in typed.items() if name != entity.parent}
    page = trial.me.submit(form, typed)
    new = trial.me.goto(path).rows(entity.name).keys() - known.keys()
    if len(new) != 1:
        raise StepFailed(f"{path} shows {len(new)} new rows after one was added there: {page.errors or 'no error'}")


def _find_child_form(page: Page, entity: Entity) -> Form | None:
    inside = {id(one) for part in page.root.find(data_children=entity.name) for one in part.find("form")}
    fitting = (one for one in page.forms if id(one.element) in inside and one.action == f"/{entity.name}")
    return next(fitting, None)


def keep_from_others(trial: Trial, step: AppStep) -> None:
    """A second person sees, and may change, what the blueprint says."""
    entity = trial.entity(step)
    mine = trial.rows[entity.name].keys()
    if not mine:
        raise NotTried("there is no row to look for")
    other = trial.visit()
    come_in(trial, other, f"other{step.entity}")
    shown = trial.list_rows(entity, other)
    seen = mine & shown.keys()
    if entity.read == "owner" and seen:
        raise StepFailed(f"somebody else sees row {min(seen)} of {entity.name}")
    if entity.read != "owner" and seen != mine:
        raise StepFailed(f"somebody else does not see row {min(mine - seen)} of {entity.name}")
    for id in sorted(mine)[:2]:
        other.goto(f"/{entity.name}/{id}")
        if (other.status == 404) != (entity.read == "owner"):
            raise StepFailed(f"row {id} of {entity.name} answers {other.status} to somebody else")
    if entity.read != "owner":
        may = {id for id in mine if shown[id].can_edit or shown[id].can_delete}
        if (entity.write == "owner" and may) or (entity.write == "members" and may != mine):
            raise StepFailed(f"somebody else is {'' if may else 'not '}offered to change rows of {entity.name}")


def keep_from_strangers(trial: Trial, step: AppStep) -> None:
    """Without an account: led to log in, or to the list that everybody may read."""
    entity = trial.entity(step)
    stranger = trial.visit()
    stranger.goto(f"/{entity.name}")
    is_led_away = stranger.path.startswith("/login")
    if is_led_away == (entity.read == "everyone"):
        raise StepFailed(f"without an account /{entity.name} leads to {stranger.path}")
    stranger.goto(f"/{entity.name}/new")
    if not stranger.path.startswith("/login"):
        raise StepFailed(f"without an account /{entity.name}/new leads to {stranger.path}")


def use_plain_forms(trial: Trial, step: AppStep) -> None:
    """What needs no JavaScript: a person comes in, adds, and deletes."""
    client = Client(trial.app)
    if trial.blueprint.accounts:
        _log_in(trial, client)
    entity = rows.order_entities(trial.blueprint)[0]
    id, _ = trial.add(entity, visitor=client)
    _remove(trial, entity, id, client)


def stay_in_step_in_two_tabs(trial: Trial, step: AppStep) -> None:
    """A second tab sees what the first one changed."""
    entity = rows.order_entities(trial.blueprint)[0]
    trial.list_rows(entity)
    second: Visitor = trial.me.open_tab() if isinstance(trial.me, BrowserTab) else trial.me
    id, typed = trial.add(entity, visitor=second)
    trial.require(entity, id, trial.list_rows(entity).get(id), typed)


def survive_restart(trial: Trial, step: AppStep) -> None:
    """A crash of the app loses no row."""
    before = {entity.name: trial.list_rows(entity).keys() for entity in trial.blueprint.entities}
    trial.app.restart()
    for entity in trial.blueprint.entities:
        if (after := trial.list_rows(entity).keys()) != before[entity.name]:
            raise StepFailed(f"after a restart {entity.name} has {len(after)} rows, before {len(before[entity.name])}")


def delete(trial: Trial, step: AppStep) -> None:
    """A deleted row is gone from the list, and has no page."""
    entity = trial.entity(step)
    id, _ = trial.add(entity)
    _remove(trial, entity, id, trial.me)


def _remove(trial: Trial, entity: Entity, id: str, visitor: Visitor) -> None:
    """Delete a row as a person would."""
    path = f"/{entity.name}/{id}"
    form = visitor.goto(f"/{entity.name}").find_form(f"{path}/delete") or visitor.goto(path).find_form(f"{path}/delete")
    if form is None:
        raise StepFailed(f"no form deletes {path}")
    visitor.submit(form, {})
    if id in trial.list_rows(entity, visitor):
        raise StepFailed(f"{path} is still in the list")
    trial.rows[entity.name].pop(id, None)
    visitor.goto(path)
    if visitor.status != 404:
        raise StepFailed(f"{path} answers {visitor.status} once it is deleted")


def delete_referred(trial: Trial, step: AppStep) -> None:
    """A row that another one refers to stays, or goes with it; no reference leads nowhere."""
    entity = trial.entity(step)
    field = entity.field(step.part)
    assert field
    target = trial.blueprint.entity(field.target)
    kept = dict(trial.rows[target.name])
    there, _ = trial.add(target)
    referring, _ = trial.add(entity, {**trial.derive(entity), field.name: there})
    path = f"/{target.name}/{there}"
    form = trial.me.goto(f"/{target.name}").find_form(f"{path}/delete") or trial.me.goto(path).find_form(
        f"{path}/delete"
    )
    if form:
        trial.me.submit(form, {})
    trial.me.goto(path)
    is_there = trial.me.status == 200
    row = trial.list_rows(entity).get(referring)
    shown = row.values.get(field.name, "") if row else ""
    is_empty = bool(rows.shows("text", "", shown))
    # Where what it referred to is gone, a row may only stay if its reference may be empty, and is.
    if row and (is_empty if is_there else field.required or not is_empty):
        raise StepFailed(f"{path} is {'there' if is_there else 'deleted'}, and row {referring} shows {shown!r}")
    if not is_there:
        trial.rows[target.name] = kept
    if row is None:
        trial.rows[entity.name].pop(referring)


def log_out(trial: Trial, step: AppStep) -> None:
    """Who logs out sees nothing more, in the other tab either."""
    second: Visitor = trial.me.open_tab() if isinstance(trial.me, BrowserTab) else trial.me
    page = second.goto(f"/{trial.blueprint.entities[0].name}")
    form = page.find_form("/logout")
    if form is None:
        raise StepFailed("there is no way to log out")
    second.submit(form, {})
    trial.me.goto(f"/{trial.blueprint.entities[0].name}/new")
    if not trial.me.path.startswith("/login"):
        raise StepFailed(f"after logging out, /{trial.blueprint.entities[0].name}/new leads to {trial.me.path}")


def _list_screens(trial: Trial) -> Iterator[str]:
    """Addresses of one screen of each kind."""
    for entity in trial.blueprint.entities:
        yield from (f"/{entity.name}", f"/{entity.name}/new")
        yield from (f"/{entity.name}/{id}" for id in [*trial.rows[entity.name]][:1])


def _look(trial: Trial, find: Callable[[BrowserTab], list[str]]) -> None:
    """Raise StepFailed with what is found on the first screen on which something is."""
    assert isinstance(trial.me, BrowserTab)
    for path in _list_screens(trial):
        trial.me.goto(path)
        if found := find(trial.me):
            raise StepFailed(f"{path}: {'; '.join(found[:3])}")


def fit(trial: Trial, step: AppStep) -> None:
    """Nothing runs over the edge, on a phone or on a wide screen."""
    assert isinstance(trial.me, BrowserTab)
    try:
        for width in (NARROW, WIDE):
            trial.me.resize(width)
            _look(trial, lambda tab: [f"wider than {tab.width} pixels by {over}"] if (over := tab.overflow) else [])
    finally:
        trial.me.resize(WIDE)


def darken(trial: Trial, step: AppStep) -> None:
    """The app follows the dark scheme of the system."""
    assert isinstance(trial.me, BrowserTab)
    trial.me.goto(f"/{trial.blueprint.entities[0].name}")
    light, dark = trial.me.measure_brightness("light"), trial.me.measure_brightness("dark")
    if not dark + 0.3 < light:
        raise StepFailed(f"the page's brightness is {light:.2f}, and {dark:.2f} where the system is dark")


def update_without_reload(trial: Trial, step: AppStep) -> None:
    """A change is shown without the page being loaded anew."""
    assert isinstance(trial.me, BrowserTab)
    entity = rows.order_entities(trial.blueprint)[0]
    form = trial.me.goto(f"/{entity.name}/new").find_form(f"/{entity.name}")
    trial.me.evaluate("window.burnishSeen = true")
    if form is None or trial.me.submit(form, trial.derive(entity)).errors:
        raise StepFailed(f"no row of {entity.name} can be added")
    if not trial.me.evaluate("window.burnishSeen === true"):
        raise StepFailed("adding a row loads the whole page anew")


def be_quiet(trial: Trial, step: AppStep) -> None:
    """The browser had nothing to complain of, and nothing was fetched from elsewhere."""
    assert trial.browser
    if trial.browser.problems:
        raise StepFailed("; ".join(trial.browser.problems[:3]))


ACTS: dict[str, Callable[[Trial, AppStep], None]] = {
    "register": _register,
    "refuse_wrong_password": refuse_wrong_password,
    "log_in": _come_in,
    "add": _add,
    "refuse_missing": refuse_missing,
    "refuse_invalid": refuse_invalid,
    "refuse_double": refuse_double,
    "show": _show,
    "edit": _edit,
    "search": search,
    "filter": _filter,
    "sort": _sort,
    "view": _view,
    "computed": _computed,
    "action": act,
    "rule": _rule,
    "add_on_parent": add_on_parent,
    "keep_from_others": keep_from_others,
    "keep_from_strangers": keep_from_strangers,
    "use_plain_forms": use_plain_forms,
    "stay_in_step_in_two_tabs": stay_in_step_in_two_tabs,
    "survive_restart": survive_restart,
    "reach_by_keyboard": lambda trial, step: _look(trial, BrowserTab.find_unreached),
    "fit_375_and_1280": fit,
    "darken": darken,
    "update_without_reload": update_without_reload,
    "name_controls": lambda trial, step: _look(trial, BrowserTab.find_unnamed),
    "be_quiet": be_quiet,
    "delete": delete,
    "delete_referred": delete_referred,
    "log_out": log_out,
}
