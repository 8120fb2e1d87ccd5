"""From a draft to a blueprint that can be built: whatever a draft holds, what comes out is valid."""

from collections.abc import Container, Iterable, Iterator, Sequence

from burnish.apps.blueprint import MOMENTS, NUMBERS, Blueprint, Computed, Entity, Field
from burnish.apps.planning.drafts import Draft, EntityDraft, FieldDraft, Reserving, State
from burnish.apps.planning.entities import EntityMaker
from burnish.apps.planning.features import (
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
from burnish.apps.planning.switches import (
    assign_rights,
    has_answers,
    list_account_switches,
    list_switches,
    share_rights,
)
from burnish.apps.planning.vocabulary import find_singular, fold, make_label, say


def compose(sentence: str, draft: Draft) -> Blueprint:
    """The blueprint of a draft."""
    maker = EntityMaker(draft)
    things = draft.entities or (EntityDraft(label=say("item", draft.german)),)
    entities = maker.make_all(things) or maker.make_all(
        [things[0].model_copy(update={"label": say("item", draft.german)})]
    )
    composer = _Composer(maker, entities, entities[0].name)
    composer.add_buttons({one.name for one in entities})
    composer.grant_wishes()
    composer.break_circles()
    wishes = draft.wishes
    blueprint = Blueprint(
        title=make_label(draft.title) or say("items", draft.german),
        sentence=sentence[:2000],
        entities=tuple(one.model_copy(update={"read": "everyone", "write": "everyone"}) for one in composer.entities),
        left_out=tuple(dict.fromkeys((*draft.left_out, *maker.left_out))),
    )
    if wishes.accounts or (wishes.accounts is None and has_answers(blueprint)):
        blueprint = assign_rights(blueprint, wishes)
    return blueprint.model_copy(update={"switches": tuple(list_switches(blueprint, draft))})


def extend(blueprint: Blueprint, draft: Draft) -> Blueprint:
    """The blueprint with what a draft adds: its first entity is one that is there, with new fields; others are new.

    What the draft does not speak of stays as it is.
    """
    maker = EntityMaker(draft)
    maker.names = {fold(one.label): one.name for one in blueprint.entities}
    about, *others = draft.entities
    wanted = [EntityDraft(label=field.target) for field in about.fields if field.target]
    new = [
        one.model_copy(update={"read": "everyone", "write": "everyone"}) for one in maker.make_all([*others, *wanted])
    ]
    composer = _Composer(maker, [*blueprint.entities, *new], maker.names[fold(about.label)])
    composer.add_to_main(about.fields)
    composer.add_buttons({composer.main, *(one.name for one in new)})
    composer.grant_wishes()
    composer.break_circles()
    entities = tuple(composer.entities)
    if blueprint.accounts:
        entities = tuple(_share_new(blueprint, entities))
    left_out = tuple(dict.fromkeys((*blueprint.left_out, *draft.left_out, *maker.left_out)))
    changed = blueprint.model_copy(update={"entities": entities, "left_out": left_out})
    if draft.wishes.accounts and not blueprint.accounts:
        changed = assign_rights(changed, draft.wishes)
        kept = tuple(one for one in changed.switches if one.id != "accounts")
        changed = changed.model_copy(update={"switches": (*kept, *list_account_switches(changed))})
    return Blueprint.model_validate(changed.model_dump())


def _share_new(blueprint: Blueprint, entities: Sequence[Entity]) -> Iterator[Entity]:
    """Entities of which new ones, and those whose rows claim something now, get their rights; others keep theirs."""
    old = {one.name: one for one in blueprint.entities}
    shared = {one.name for one in blueprint.entities if one.read != "owner"}
    given = share_rights(entities, {one.name for one in entities if one.name not in shared})
    for one, shown in zip(entities, given, strict=True):
        is_same = one.name in old and one.rules == old[one.name].rules
        yield one if is_same else shown


class _Composer:
    """Gives entities what is asked for beside things and values."""

    def __init__(self, maker: EntityMaker, entities: list[Entity], main: str) -> None:
        self.maker, self.wishes, self.german = maker, maker.draft.wishes, maker.german
        self.entities, self.main = entities, main
        """`main`: the entity that wishes are about, where they name none."""

    def add_to_main(self, drafts: Iterable[FieldDraft]) -> None:
        """New fields for an entity that is there."""
        for draft in drafts:
            entity = self.find(self.main)
            used = {one.name for one in entity.fields} | {one.name for one in entity.computed}
            field = self.maker.make_field(draft, used, self.main)
            if field and fold(field.label) not in {fold(one.label) for one in entity.fields}:
                self.put(add_fields(entity, field))

    def grant_wishes(self) -> None:
        """Everything that is asked for beside things and values, on the entity that it fits best."""
        wishes, german = self.wishes, self.german
        for state in wishes.states:
            self.put(add_state(self.find_for_state(state), state.label, german))
        has_least = any(is_least(field) for entity in self.entities for field in entity.fields)
        if wishes.is_scarce or (has_least and not any(one.name == "low" for e in self.entities for one in e.views)):
            self.put(add_scarcity(self.find_with("integer", "decimal"), german))
        for kind in wishes.due:
            self.put(add_due(self.find_with("date", "date_time", last=True), german, kind))
        main = self.maker.draft.entities[0] if self.maker.draft.entities else EntityDraft(label="")
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
                entity, name = self.refer(entity, word)
                names.append(name)
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

    def refer(self, entity: Entity, word: str) -> tuple[Entity, str]:
        """The entity with a required reference to what a word names, which is made where there is none; its name."""
        label = make_label(find_singular(word, self.german))
        if fold(label) not in self.maker.names:
            self.entities += self.maker.make_all([EntityDraft(label=label)])
        target = self.maker.names.get(fold(label), "")
        old = next((one for one in entity.fields if target and one.target == target), None) or find_field(entity, label)
        field = Field(
            name=old.name if old else name_new(entity, label),
            label=old.label if old else label,
            type="reference" if target else "text",
            target=target,
        )
        self.put(add_fields(entity, field))
        return self.find(entity.name), field.name

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
        self.maker.left_out.append(f"working out {phrase}"[:200])

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
