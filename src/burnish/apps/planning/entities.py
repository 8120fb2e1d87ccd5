"""From the drafts of entities to entities that can be built, each with what rows of its kind have anyway.

Names are made safe, relations that lead nowhere get their other end, what is too much is cut and said.
"""

from collections.abc import Iterable

from burnish.apps.blueprint import NUMBERS, Entity, Field, FieldType
from burnish.apps.planning.drafts import Draft, EntityDraft, FieldDraft
from burnish.apps.planning.features import MOST_FIELDS
from burnish.apps.planning.switches import MOST_ENTITIES
from burnish.apps.planning.vocabulary import (
    ACCOUNT_WORDS,
    EVENTS,
    OWN_COLUMNS,
    STATEMENTS,
    WRITINGS,
    Knowledge,
    find_plural,
    find_singular,
    fold,
    is_person,
    know,
    make_label,
    make_name,
    say,
)

KEPT_FREE = 4
"""Fields that wishes may add to an entity that is full."""
_NOTHING = Knowledge(type="text")


class EntityMaker:
    """Makes entities of drafts, and knows the names of all."""

    def __init__(self, draft: Draft) -> None:
        self.draft, self.german = draft, draft.german
        self.names: dict[str, str] = {}
        """By the label of a draft, folded: the name of its entity."""
        self.left_out: list[str] = []

    def make_all(self, drafts: Iterable[EntityDraft]) -> list[Entity]:
        """New entities, and those that their references want beside them; users are none, where there are accounts."""
        wanted = {fold(one.label): self.add_claimed(one) for one in drafts if not self.is_account(one.label)}
        for field in [field for one in wanted.values() for field in one.fields if field.target]:
            if not self.is_account(field.target):
                label = make_label(find_singular(field.target, self.german))
                wanted.setdefault(fold(field.target), EntityDraft(label=label))
        new = [one for key, one in wanted.items() if key not in self.names]
        places = MOST_ENTITIES - len(self.names)
        self.left_out += [f"{one.label}: an app has at most {MOST_ENTITIES} kinds of things" for one in new[places:]]
        for one in new[:places]:
            self.names[fold(one.label)] = make_name(one.label, "entry", self.names.values())
        return [self.make_entity(one) for one in new[:places]]

    def is_account(self, label: str) -> bool:
        """Whether it names what every app with accounts has by itself."""
        return bool(self.draft.wishes.accounts) and fold(label) in ACCOUNT_WORDS

    def add_claimed(self, draft: EntityDraft) -> EntityDraft:
        """The claiming entity with what it claims."""
        asked = self.draft.wishes.reserving
        if not asked or not asked.per or fold(asked.entity) != fold(draft.label):
            return draft
        label = make_label(find_singular(asked.per, self.german))
        kept = tuple(field for field in draft.fields if fold(field.label) != fold(label))
        return draft.model_copy(update={"fields": (FieldDraft(label=label, target=label, required=True), *kept)})

    def make_entity(self, draft: EntityDraft) -> Entity:
        """One entity with its fields, of which one at least names a row."""
        name = self.names[fold(draft.label)]
        fields: list[Field] = []
        for one in draft.fields:
            made = self.make_field(one, {field.name for field in fields}, name)
            is_double = made and any(
                made.label == field.label or (made.target and made.target == field.target) for field in fields
            )
            if made and not is_double:
                fields.append(made)
        parent = self.names.get(fold(draft.parent), "")
        fields = self.add_usual(draft, fields)
        kept, cut = fields[: MOST_FIELDS - KEPT_FREE], fields[MOST_FIELDS - KEPT_FREE :]
        self.left_out += [f"{draft.label}: {one.label}" for one in cut]
        by_day = next((one.name for one in kept if one.default == "today"), "")
        return Entity(
            name=name,
            label=make_label(draft.label),
            plural=make_label(draft.plural or find_plural(draft.label, self.german)),
            fields=tuple(kept),
            parent=next((one.name for one in kept if parent and one.target == parent), ""),
            sort=by_day,
            descending=bool(by_day),
        )

    # --- fields

    def make_field(self, draft: FieldDraft, used: set[str], entity: str) -> Field | None:
        """A field; None for columns that every table has, and for references to accounts."""
        label = make_label(draft.label)
        is_own = fold(label).replace(" ", "_") in OWN_COLUMNS or self.is_account(label)
        if not label or is_own or self.is_account(draft.target):
            return None
        known = know(draft.label, self.german) or _NOTHING
        target = self.names.get(fold(draft.target), "") if draft.target else ""
        told = draft.type if draft.type != "text" else ""  # small models say "text" of anything
        kind: FieldType = "reference" if target else "text" if draft.target else told or known.type
        options = tuple(dict.fromkeys(filter(None, map(make_label, draft.options)))) or known.options
        if kind == "choice" and len(options) < 2:
            kind = "text"
        required = draft.default != "" if draft.required is None else draft.required
        bounds = draft if draft.minimum is not None else known
        return Field(
            name=make_name(label, used=used),
            label=label,
            type=kind,
            required=required and kind != "yes_no" and target != entity,
            options=options if kind == "choice" else (),
            target=target,
            minimum=bounds.minimum if kind in NUMBERS else None,
            maximum=bounds.maximum if kind in NUMBERS else None,
            default=draft.default or (options[0] if kind == "choice" and options == known.options else ""),
        )

    def add_usual(self, draft: EntityDraft, fields: list[Field]) -> list[Field]:
        """Fields with what an entity of this kind has anyway: a name, a day, a text."""
        word = find_singular(draft.label.lower(), self.german).split()[-1]
        plain = [field for field in fields if not field.target]
        has_day = any(field.type in ("date", "date_time") for field in fields)
        has_text = any(field.type in ("text", "long_text") for field in fields)
        notes = self.make_usual("notes", "long_text", fields, required=False)
        if self.is_claim(draft) and any(field.target and field.required for field in draft.fields):
            who = [] if self.draft.wishes.accounts else [self.make_usual("name", "text", fields)]
            needs_day = any(field.type == "time" for field in fields) and not has_day
            return [*fields, *who, *([self.make_usual("date", "date", fields)] if needs_day else [])]
        if any(field.default == "today" for field in fields):
            has_rows = any(one.parent == draft.label for one in self.draft.entities)
            fields = require_name(fields)
            return fields if has_text or has_rows or len(plain) > 3 else [*fields, notes]
        if word in WRITINGS and "long_text" not in {field.type for field in fields}:
            title, text = self.make_usual("title", "text", fields), self.make_usual("text", "long_text", fields)
            return [title, text, *fields]
        if draft.label.lower() in EVENTS and not has_day:
            fields = [*fields, self.make_usual("date", "date", fields, default="today" if draft.parent else "")]
            if draft.parent:
                return fields if plain else [*fields, notes]
        if is_answer(draft, self.draft):
            return [*fields, self.make_usual("text", "long_text", fields)]
        if plain and sum(field.required for field in fields if field.target) > 1:
            return fields  # what it leads to names it
        if plain and plain[0].type in ("text", "email", "link") and not is_person(plain[0].label):
            return require_name(fields)
        named = [self.make_usual("name", "text", fields), *fields]
        return [*named, notes] if draft.is_general and not plain else named

    def make_usual(
        self, word: str, kind: FieldType, fields: Iterable[Field], required: bool = True, default: str = ""
    ) -> Field:
        """A field that we name ourselves."""
        label = say(word, self.german)
        name = make_name(label, used={field.name for field in fields})
        return Field(name=name, label=label, type=kind, required=required, default=default)

    def is_claim(self, draft: EntityDraft) -> bool:
        """Whether rows of an entity claim something for a time."""
        asked = self.draft.wishes.reserving
        if asked and asked.entity:
            return fold(asked.entity) == fold(draft.label)
        is_main = bool(self.draft.entities) and draft.label == self.draft.entities[0].label
        return is_main and (draft.claims or bool(asked and asked.per))


def is_answer(one: EntityDraft, draft: Draft) -> bool:
    """Whether rows of an entity are texts about rows of another, of which the sentence says no more than that."""
    above = next((other for other in draft.entities if one.parent and other.label == one.parent), None)
    if not one.parent or any(not field.target for field in one.fields):
        return False
    if find_singular(one.label.lower(), draft.german).split()[-1] in STATEMENTS:
        return True
    if not above:
        return False
    kinds = {field.type or (know(field.label, draft.german) or _NOTHING).type for field in above.fields}
    return "long_text" in kinds or find_singular(above.label.lower()).split()[-1] in WRITINGS


def require_name(fields: Iterable[Field]) -> list[Field]:
    """The fields, of which the first one that is no reference has to be filled in if it is a text."""
    kept = list(fields)
    at = next((at for at, field in enumerate(kept) if not field.target), 0)
    if kept[at].type in ("text", "email", "link"):
        kept[at] = kept[at].model_copy(update={"required": True})
    return kept
