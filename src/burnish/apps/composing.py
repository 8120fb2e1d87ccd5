"""From a draft to a blueprint that can be built: whatever a draft holds, what comes out is valid.

Names are made safe, relations that lead nowhere get their other end, circles are broken, what is too much is cut and
said.
"""

from collections.abc import Container, Sequence

from burnish.apps.blueprint import (
    MOMENTS,
    NUMBERS,
    Blueprint,
    Computed,
    Entity,
    Field,
    FieldType,
)
from burnish.apps.drafts import Draft, EntityDraft, FieldDraft, Reserving, State
from burnish.apps.features import (
    MOST_FIELDS,
    add_due,
    add_fields,
    add_once,
    add_period,
    add_scarcity,
    add_state,
    find_field,
    is_least,
    name_new,
)
from burnish.apps.switches import MOST_ENTITIES, assign_rights, list_account_switches, list_switches, share_rights
from burnish.apps.vocabulary import (
    EVENTS,
    WRITINGS,
    find_plural,
    find_singular,
    fold,
    know,
    make_label,
    make_name,
    say,
)

_ACCOUNT_WORDS = {
    "user",
    "users",
    "account",
    "benutzer",
    "nutzer",
    "login",
    "profile",
    "admin",
    "konto",
    "session",
    "role",
}
_OWN_COLUMNS = {"id", "uuid", "created", "created_at", "updated_at", "updated", "created_by", "owner_id", "user_id"}
_OWN_COLUMNS |= {"password", "password_hash", "user", "username", "account", "timestamp", "created_on"}


def compose(sentence: str, draft: Draft) -> Blueprint:
    """The blueprint of a draft."""
    composer = _Composer(draft)
    composer.take_entities()
    composer.add_buttons(composer.names.values())
    composer.grant_wishes()
    composer.break_circles()
    wishes = draft.wishes
    blueprint = Blueprint(
        title=make_label(draft.title) or say("items", draft.german),
        sentence=sentence[:2000],
        entities=tuple(one.model_copy(update={"read": "everyone", "write": "everyone"}) for one in composer.entities),
        left_out=tuple(dict.fromkeys((*draft.left_out, *composer.left_out))),
    )
    if wishes.accounts:
        blueprint = assign_rights(blueprint, wishes)
    return blueprint.model_copy(update={"switches": tuple(list_switches(blueprint, draft))})


def extend(blueprint: Blueprint, draft: Draft) -> Blueprint:
    """The blueprint with what a draft adds: its first entity is one that is there, with new fields; others are new.

    What the draft does not speak of stays as it is.
    """
    composer = _Composer(draft)
    composer.take_over(blueprint)
    composer.add_new()
    composer.grant_wishes()
    composer.break_circles()
    old = {one.name for one in blueprint.entities}
    private = {one.id.partition(".")[2] for one in blueprint.switches if one.on and one.id.startswith("owner.")}
    entities = tuple(composer.entities)
    if blueprint.accounts:
        private |= {one.name for one in entities if one.name in old and one.read == "owner"}
        given = {one.name: one for one in share_rights(entities, private)}
        entities = tuple(one if one.name in old else given[one.name] for one in entities)
    left_out = tuple(dict.fromkeys((*blueprint.left_out, *draft.left_out, *composer.left_out)))
    changed = blueprint.model_copy(update={"entities": entities, "left_out": left_out})
    if draft.wishes.accounts and not blueprint.accounts:
        changed = assign_rights(changed, draft.wishes)
        kept = tuple(one for one in changed.switches if one.id != "accounts")
        changed = changed.model_copy(update={"switches": (*kept, *list_account_switches(changed))})
    return Blueprint.model_validate(changed.model_dump())


class _Composer:
    """A blueprint's entities while they are made."""

    def __init__(self, draft: Draft) -> None:
        self.draft, self.german = draft, draft.german
        self.entities: list[Entity] = []
        self.left_out: list[str] = []
        self.names: dict[str, str] = {}
        """By the label of a draft, folded: the name of its entity."""
        self.main = ""
        """The entity that wishes are about, where they name none."""

    def take_entities(self) -> None:
        """All entities with their fields; first those of the draft, then those that their references want."""
        drafts = list(map(self.add_claimed, self.draft.entities)) or [EntityDraft(label=say("item", self.german))]
        if self.draft.wishes.accounts:
            people = [one for one in drafts if fold(one.label) in _ACCOUNT_WORDS]
            drafts = [one for one in drafts if one not in people] or drafts[:1]
        drafts = list({fold(one.label): one for one in reversed(drafts)}.values())[::-1]
        known = {fold(one.label) for one in drafts}
        for field in [field for one in drafts for field in one.fields]:
            wanted = fold(field.target)
            is_account = self.draft.wishes.accounts and wanted in _ACCOUNT_WORDS
            if wanted and wanted not in known and not is_account:
                known.add(wanted)
                label = find_singular(field.target, self.german)
                drafts.append(EntityDraft(label=make_label(label), plural=find_plural(make_label(label), self.german)))
        self.left_out += [
            f"{one.label}: an app has at most {MOST_ENTITIES} kinds of things" for one in drafts[MOST_ENTITIES:]
        ]
        drafts = drafts[:MOST_ENTITIES]
        for one in drafts:
            self.names[fold(one.label)] = make_name(one.label, "entry", self.names.values())
        self.entities = [self.make_entity(one) for one in drafts]
        self.main = self.entities[0].name

    def take_over(self, blueprint: Blueprint) -> None:
        """Entities that are there already."""
        self.entities = list(blueprint.entities)
        self.names = {fold(one.label): one.name for one in blueprint.entities}
        self.main = self.names[fold(self.draft.entities[0].label)]

    def add_new(self) -> None:
        """New fields of the first entity of the draft, and new entities."""
        first, *others = self.draft.entities
        targets = [field.target for one in self.draft.entities for field in one.fields if field.target]
        others += [EntityDraft(label=one) for one in targets if fold(one) not in {fold(new.label) for new in others}]
        others = [one for one in others if fold(one.label) not in self.names]
        places = MOST_ENTITIES - len(self.entities)
        self.left_out += [f"{one.label}: an app has at most {MOST_ENTITIES} kinds of things" for one in others[places:]]
        for one in others[:places]:
            self.names[fold(one.label)] = make_name(one.label, "entry", self.names.values())
        made = [self.make_entity(one) for one in others[:places]]
        for field in first.fields:
            entity = self.find(self.main)
            used = {one.name for one in entity.fields} | {one.name for one in entity.computed}
            new = self.make_field(field, used, self.main)
            if new and fold(new.label) not in {fold(one.label) for one in entity.fields}:
                self.put(add_fields(entity, new))
        self.entities += [self.open_if_all_are(one) for one in made]
        self.add_buttons({self.main, *(one.name for one in made)})

    def open_if_all_are(self, entity: Entity) -> Entity:
        """A new entity without accounts, where there are none."""
        if self.entities[0].write != "everyone":
            return entity
        return entity.model_copy(update={"read": "everyone", "write": "everyone"})

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
            if made and not any(
                made.label == field.label or made.target and made.target == field.target for field in fields
            ):
                fields.append(made)
        parent = self.find_parent(draft, fields)
        fields = self.add_usual(draft, fields)
        self.left_out += [f"{draft.label}: {one.label}" for one in fields[MOST_FIELDS - 4 :]]
        plural = make_label(draft.plural or find_plural(draft.label, self.german))
        return Entity(
            name=name,
            label=make_label(draft.label),
            plural=plural,
            fields=tuple(fields[: MOST_FIELDS - 4]),  # the rest is for those that wishes add
            parent=parent,
            sort=next((one.name for one in fields if one.default == "today"), ""),
            descending=any(one.default == "today" for one in fields),
        )

    def add_usual(self, draft: EntityDraft, fields: list[Field]) -> list[Field]:
        """Fields with what an entity of this kind has anyway: a name, a day, a text."""
        german = self.german
        word = find_singular(draft.label.lower(), german).split()[-1]

        def make(word: str, kind: FieldType, required: bool = True, default: str = "") -> Field:
            name = make_name(say(word, german), used={field.name for field in fields})
            return Field(name=name, label=say(word, german), type=kind, required=required, default=default)

        claims = any(field.target and field.required for field in draft.fields) and self.find_claims(draft)
        is_joint = sum(field.required for field in fields if field.target) > 1
        has_day = any(field.type in ("date", "date_time") for field in fields)
        plain = [field for field in fields if not field.target]
        if claims and not self.draft.wishes.accounts:
            return [*fields, make("name", "text")]
        if claims and any(field.type == "time" for field in fields) and not has_day:
            return [*fields, make("date", "date")]
        if claims or any(field.default == "today" for field in fields):
            has_text = any(field.type in ("text", "long_text") for field in fields)
            is_told = claims or has_text or len(plain) > 3 or self.has_rows(draft)
            return fields if is_told else [*fields, make("notes", "long_text", False)]
        if word in WRITINGS and not any(field.type == "long_text" for field in fields):
            return [make("title", "text"), make("text", "long_text"), *fields]
        if draft.label.lower() in EVENTS and not has_day:
            fields = [*fields, make("date", "date", default="today" if draft.parent else "")]
            if any(field.target for field in fields):
                return [*fields, make("notes", "long_text", False)] if not plain else fields
        if self.writes(draft.parent) and not plain:
            return [*fields, make("text", "long_text")]
        if (plain and plain[0].type in ("text", "email", "link")) or (is_joint and plain):
            at = fields.index(plain[0])
            return [
                *fields[:at],
                plain[0].model_copy(update={"required": True}) if not is_joint else plain[0],
                *fields[at + 1 :],
            ]
        named = [make("name", "text"), *fields]
        return [*named, make("notes", "long_text", False)] if draft.is_general and not plain else named

    def writes(self, label: str) -> bool:
        """Whether rows of an entity are texts."""
        above = next((one for one in self.draft.entities if one.label == label), None)
        if not above:
            return False
        kinds = [field.type or getattr(know(field.label, self.german), "type", "") for field in above.fields]
        return "long_text" in kinds or find_singular(above.label.lower()).split()[-1] in WRITINGS

    def has_rows(self, draft: EntityDraft) -> bool:
        """Whether other rows are shown under those of an entity."""
        return any(one.parent == draft.label for one in self.draft.entities)

    def make_field(self, draft: FieldDraft, used: set[str], entity: str) -> Field | None:
        """A field; None for columns that every table has, and for references to accounts."""
        label = make_label(draft.label)
        if not label or fold(label).replace(" ", "_") in _OWN_COLUMNS - (
            {"username", "user"} if not self.draft.wishes.accounts else set()
        ):
            return None
        target = self.names.get(fold(draft.target), "") if draft.target else ""
        if draft.target and not target:
            return (
                None
                if fold(draft.target) in _ACCOUNT_WORDS
                else Field(name=make_name(label, used=used), label=label, type="text", required=False)
            )
        if not target and draft.type == "reference":
            target = self.names.get(fold(label), "")
        known = know(draft.label, self.german)
        kind = "reference" if target else draft.type or (known.type if known else "text")
        options = tuple(dict.fromkeys(filter(None, map(make_label, draft.options)))) or (known.options if known else ())
        if kind == "reference" and not target or kind == "choice" and len(options) < 2:
            kind = "text"
        required = kind in ("integer", "decimal", "date", "date_time", "time") and draft.default != "" or False
        if draft.required is not None:
            required = draft.required
        elif not used and kind in ("text", "long_text", "email", "link"):
            required = True
        bounds = (
            (draft.minimum, draft.maximum)
            if draft.minimum is not None
            else (known.minimum, known.maximum)
            if known
            else (None, None)
        )
        return Field(
            name=make_name(label, used=used),
            label=label,
            type=kind,
            required=required and kind != "yes_no" and target != entity,
            options=options if kind == "choice" else (),
            target=target,
            minimum=bounds[0] if kind in NUMBERS else None,
            maximum=bounds[1] if kind in NUMBERS else None,
            default=draft.default or (options[0] if kind == "choice" and known and known.options else ""),
        )

    def find_parent(self, draft: EntityDraft, fields: Sequence[Field]) -> str:
        wanted = self.names.get(fold(draft.parent), "") if draft.parent else ""
        return next((field.name for field in fields if field.target and field.target == wanted), "")

    def find_claims(self, draft: EntityDraft) -> bool:
        """Whether rows of an entity claim something for a time."""
        asked = self.draft.wishes.reserving
        named = asked is not None and fold(asked.entity) == fold(draft.label)
        return named or (
            draft is self.draft.entities[0] and (draft.claims or bool(asked and not asked.entity and asked.per))
        )

    # --- wishes

    def grant_wishes(self) -> None:
        """Everything that is asked for beside things and values, on the entity that it fits best."""
        wishes, german = self.draft.wishes, self.german
        for state in wishes.states:
            self.put(add_state(self.find_for_state(state), state.label, german))
        has_least = any(is_least(field) for entity in self.entities for field in entity.fields)
        if wishes.is_scarce or (has_least and not any(one.name == "low" for e in self.entities for one in e.views)):
            self.put(add_scarcity(self.find_with("integer", "decimal"), german))
        for kind in wishes.due:
            self.put(add_due(self.find_with("date", "date_time", last=True), german, kind))
        main = self.draft.entities[0] if self.draft.entities else EntityDraft(label="")
        if wishes.reserving:
            self.grant_reserving(wishes.reserving)
        elif main.claims and not any(field.type in MOMENTS for field in self.find(self.main).fields):
            self.grant_reserving(Reserving(entity=main.label))
        if main.is_ticked_off and not any(field.type == "yes_no" for field in self.find(self.main).fields):
            self.put(add_state(self.find(self.main), say("done", german), german))
        for phrase in wishes.computed:
            self.add_computed(phrase)
        if wishes.sort:
            self.sort_by(wishes.sort, wishes.descending)

    def add_buttons(self, names: Container[str]) -> None:
        """A button for each yes-or-no of these entities."""
        for entity in [one for one in self.entities if one.name in names]:
            for field in entity.fields:
                if field.type == "yes_no":
                    self.put(add_state(self.find(entity.name), field.label, self.german))

    def find(self, name: str) -> Entity:
        return next(one for one in self.entities if one.name == name)

    def put(self, entity: Entity) -> None:
        """An entity in place of the one of its name, unless it has become too large."""
        if len(entity.fields) <= MOST_FIELDS:
            self.entities = [entity if one.name == entity.name else one for one in self.entities]

    def find_with(self, *types: str, last: bool = False) -> Entity:
        """The entity that wishes are about, if it has a field of these types; else the first (or last) that has."""
        found = [one.name for one in self.entities if any(field.type in types for field in one.fields)]
        return self.find(self.main if self.main in found or not found else found[-1 if last else 0])

    def find_for_state(self, state: State) -> Entity:
        """The entity that was named beside a state; else one that has it already; else the main one."""
        named = [one.name for one in self.entities if state.entity and fold(state.entity) == fold(one.label)]
        named += [one.name for one in self.entities if find_field(one, state.label)]
        named += [
            one.name for one in self.entities if any(fold(state.label) in map(fold, f.options) for f in one.fields)
        ]
        return self.find(named[0] if named else self.main)

    def grant_reserving(self, asked: Reserving) -> None:
        """Claims: with the fields that they need, and the rule."""
        words = [word for word in asked.together if word] or [asked.per or ""]
        entity = self.find_claiming(asked, words)
        names: list[str] = []
        for word in filter(None, words):
            if fold(word) in (fold(entity.label), fold(entity.plural)):
                names.append(entity.title_field.name)
            else:
                entity = self.refer(entity, word)
                names.append(
                    next(
                        field.name
                        for field in entity.fields
                        if field.target == self.names[fold(find_singular(word, self.german))]
                    )
                )
        if not names:
            names = [field.name for field in entity.references if field.required][:1]
        moments = [field for field in entity.fields if field.type in MOMENTS]
        weekdays = [field.name for field in entity.fields if field.type == "choice" and len(field.options) == 7]
        if asked.together and not asked.by_day:
            self.put(add_once(entity, names))
        elif asked.by_day or len(moments) == 1:
            if not moments:
                day = Field(
                    name=name_new(entity, say("date", self.german)), label=say("date", self.german), type="date"
                )
                entity, moments = add_fields(entity, day), [day]
            self.put(add_once(entity, [*names, *weekdays, moments[0].name]))
        else:
            self.put(add_period(entity, names, self.german))

    def find_claiming(self, asked: Reserving, words: Sequence[str]) -> Entity:
        """The entity that claims: the one that was named, else the one that knows most of what is claimed."""
        wanted = {fold(find_singular(word, self.german)) for word in words}

        def count(one: Entity) -> int:
            return len(wanted & {fold(one.label), *(fold(field.label) for field in one.fields)})

        named = [one for one in self.entities if asked.entity and fold(asked.entity) == fold(one.label)]
        return named[0] if named else max(self.entities, key=count)

    def refer(self, entity: Entity, word: str) -> Entity:
        """The entity with a required reference to what a word names, which is made where there is none."""
        label = make_label(find_singular(word, self.german))
        if fold(label) not in self.names and len(self.entities) < MOST_ENTITIES:
            self.names[fold(label)] = make_name(label, "entry", self.names.values())
            self.entities.append(self.make_entity(EntityDraft(label=label)))
        target = self.names[fold(label)]
        old = next((one for one in entity.fields if one.target == target), None) or find_field(entity, label)
        name = old.name if old else name_new(entity, label)
        field = Field(name=name, label=old.label if old else label, type="reference", target=target)
        self.put(add_fields(entity, field))
        return self.find(entity.name)

    def add_computed(self, phrase: str) -> None:
        """What is worked out of the numbers of a row, where it has two or more; else it is left out, and said."""
        for entity in self.entities:
            numbers = tuple(field.name for field in entity.fields if field.type in NUMBERS)
            if len(numbers) > 1:
                label = make_label(" ".join(phrase.split()[-4:]))
                made = Computed(
                    name=name_new(entity, label), label=label, gives="decimal", sentence=phrase, takes=numbers
                )
                self.put(entity.model_copy(update={"computed": (*entity.computed, made)}))
                return
        self.left_out.append(f"working out {phrase}"[:200])

    def sort_by(self, word: str, descending: bool) -> None:
        for entity in self.entities:
            field = find_field(entity, word)
            if field or word == "created":
                name = field.name if field else "created"
                self.put(entity.model_copy(update={"sort": name, "descending": descending}))
                return

    def break_circles(self) -> None:
        """Makes references optional until every entity can have a first row."""
        free: set[str] = set()
        while len(free) < len(self.entities):
            ready = {one.name for one in self.entities if {f.target for f in one.references if f.required} <= free}
            if ready <= free:
                stuck = next(one for one in self.entities if one.name not in free)
                loose = [field.model_copy(update={"required": False}) for field in stuck.references]
                self.put(add_fields(stuck, *loose))
            free |= ready
